"""``keras.ops``: NumPy's names for operations on tensors, and on symbolic ones, which makes layers of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....tape.nest import flatten, map_nested
from ... import tensorflow as tf
from . import activations
from .functional import KerasTensor
from .names import public

_TABLE: dict[str, Callable[..., Any]] = {}


def _symbolic(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which on symbolic tensors is a layer's call."""

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        found = [x for x in flatten([list(args), kwargs]) if isinstance(x, KerasTensor)]
        if not found:
            return function(*args, **kwargs)
        from .layers.core import Lambda

        places = {id(x): k for k, x in enumerate(found)}

        def compute(xs: Any) -> Any:
            given, named = map_nested(lambda a: xs[places[id(a)]] if id(a) in places else a, [list(args), kwargs])
            return function(*given, **named)

        return Lambda(compute, name=None)(found)

    return either


def _operation(function: Callable[..., Any]) -> Callable[..., Any]:
    made = _TABLE[function.__name__.rstrip("_")] = _symbolic(function)
    return made


def _axis(axis: Any) -> Any:
    return list(axis) if isinstance(axis, tuple) else axis


for _name, _function in {
    "abs": tf.abs, "absolute": tf.abs, "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply,
    "divide": tf.divide, "true_divide": tf.divide, "negative": tf.negative, "power": tf.pow, "exp": tf.exp,
    "log": tf.math.log, "log1p": tf.math.log1p, "expm1": tf.math.expm1, "sqrt": tf.sqrt, "rsqrt": tf.math.rsqrt,
    "square": tf.square, "sin": tf.sin, "cos": tf.cos, "tan": tf.tan, "sinh": tf.sinh, "cosh": tf.cosh,
    "arctan": tf.atan, "arcsin": tf.asin, "arccos": tf.acos, "arctan2": tf.atan2, "floor": tf.floor,
    "ceil": tf.math.ceil, "round": tf.round, "sign": tf.sign, "erf": tf.math.erf, "maximum": tf.maximum,
    "minimum": tf.minimum, "equal": tf.equal, "not_equal": tf.not_equal, "less": tf.less,
    "less_equal": tf.less_equal, "greater": tf.greater, "greater_equal": tf.greater_equal,
    "logical_and": tf.logical_and, "logical_or": tf.logical_or, "logical_not": tf.logical_not,
    "isnan": tf.math.is_nan, "isfinite": tf.math.is_finite, "isinf": tf.math.is_inf, "matmul": tf.matmul,
    "reshape": tf.reshape, "broadcast_to": tf.broadcast_to, "tile": tf.tile, "repeat": tf.repeat,
    "stop_gradient": tf.stop_gradient, "ones_like": tf.ones_like, "zeros_like": tf.zeros_like, "roll": tf.roll,
    "mod": tf.math.mod, "floor_divide": tf.math.floordiv, "logsumexp": tf.reduce_logsumexp, "sigmoid": tf.sigmoid,
    "tanh": tf.tanh, "softplus": tf.math.softplus, "relu": activations.relu, "relu6": activations.relu6,
    "elu": activations.elu, "selu": activations.selu, "gelu": activations.gelu, "silu": activations.silu,
    "leaky_relu": activations.leaky_relu, "softmax": activations.softmax, "log_softmax": activations.log_softmax,
    "while_loop": tf.while_loop, "cond": tf.cond, "vectorized_map": tf.vectorized_map,
}.items():  # fmt: skip
    _TABLE[_name] = _symbolic(_function)


@_operation
def sum_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_sum(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_mean(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.math.reduce_variance(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.math.reduce_std(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_prod(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def max_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_max(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def min_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_min(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def any_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_any(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def all_(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_all(x, axis=_axis(axis), keepdims=keepdims)


@_operation
def argmax(x: Any, axis: int | None = None) -> Any:
    return tf.argmax(tf.reshape(x, [-1]) if axis is None else x, axis or 0, output_type=tf.int32)


@_operation
def argmin(x: Any, axis: int | None = None) -> Any:
    return tf.argmin(tf.reshape(x, [-1]) if axis is None else x, axis or 0, output_type=tf.int32)


@_operation
def concatenate(xs: Any, axis: int = 0) -> Any:
    return tf.concat(xs, axis)


@_operation
def stack(x: Any, axis: int = 0) -> Any:
    return tf.stack(x, axis)


@_operation
def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    if isinstance(indices_or_sections, int):
        return tf.split(x, indices_or_sections, axis)
    ends = [0, *indices_or_sections, int(x.shape[axis])]
    return tf.split(x, [b - a for a, b in itertools.pairwise(ends)], axis)


@_operation
def expand_dims(x: Any, axis: int) -> Any:
    return tf.expand_dims(x, axis)


@_operation
def squeeze(x: Any, axis: Any = None) -> Any:
    return tf.squeeze(x, _axis(axis))


@_operation
def transpose(x: Any, axes: Any = None) -> Any:
    return tf.transpose(x, _axis(axes))


@_operation
def flip(x: Any, axis: Any = None) -> Any:
    axes = range(len(x.shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    return tf.reverse(x, list(axes))


@_operation
def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    return tf.where(condition, x1, x2)


@_operation
def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    return tf.clip_by_value(x, x_min, x_max)


@_operation
def cast(x: Any, dtype: Any) -> Any:
    return tf.cast(x, dtype)


@_operation
def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    return tf.gather(tf.reshape(x, [-1]) if axis is None else x, indices, axis=axis or 0)


@_operation
def einsum(subscripts: str, *operands: Any) -> Any:
    return tf.einsum(subscripts, *operands)


@_operation
def dot(x1: Any, x2: Any) -> Any:
    x, y = tf.convert_to_tensor(x1), tf.convert_to_tensor(x2)
    if not len(x.shape) or not len(y.shape):
        return x * y
    return tf.tensordot(x, y, [[-1], [0 if len(y.shape) == 1 else len(y.shape) - 2]])


@_operation
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.norm(x, "euclidean" if ord is None else ord, _axis(axis), keepdims)


@_operation
def one_hot(x: Any, num_classes: int, axis: int = -1, dtype: Any = None) -> Any:
    return tf.one_hot(tf.cast(x, tf.int64), num_classes, axis=axis, dtype=dtype or "float32")


def shape(x: Any) -> tuple[int | None, ...]:
    """The lengths of the axes, as a tuple."""
    return tuple(x.shape if isinstance(x, KerasTensor) else tf.convert_to_tensor(x).shape)


def convert_to_tensor(x: Any, dtype: Any = None) -> Any:
    """A tensor, cast to a dtype."""
    made = tf.convert_to_tensor(x)
    return made if dtype is None else tf.cast(made, dtype)


def convert_to_numpy(x: Any) -> Any:
    """An array."""
    return np.asarray(x)


def ones(shape: Any, dtype: Any = None) -> Any:
    return tf.ones(shape, dtype or "float32")


def zeros(shape: Any, dtype: Any = None) -> Any:
    return tf.zeros(shape, dtype or "float32")


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    return tf.cast(tf.fill(shape, fill_value), dtype or "float32")


def eye(N: int, M: int | None = None, dtype: Any = None) -> Any:
    return tf.eye(N, M, dtype=dtype or "float32")


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    given = [start] if stop is None else [start, stop]
    return tf.range(*given, **({} if step is None else {"delta": step}), dtype=dtype)


_TABLE |= {
    f.__name__: f for f in (shape, convert_to_tensor, convert_to_numpy, ones, zeros, full, eye, arange)
}  # fmt: skip
globals().update(_TABLE)

__getattr__, __dir__ = public("tf.keras.ops", _TABLE)
