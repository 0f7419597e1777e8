"""``mxnet.npx``: what networks need beyond NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import nn
from ..graph.array import value_of
from ..graph.core import run
from ..module_tables import public
from ..operations import windows
from ..operations.sorting import order
from .arrays import make
from .base import MODE
from .creation import rng
from .made import made

# What has nothing to do here: what it returns, and why.
_TRIVIAL: dict[str, tuple[Any, str]] = {
    "set_np": (None, "Nothing is left to do: arrays are NumPy's always."), "reset_np": (None, "Nothing is left to do."),
    "is_np_array": (True, "Whether arrays are NumPy's: they are."),
    "waitall": (None, "Nothing is left to do: operations are done when they return."),
    "num_gpus": (0, "How many GPUs there are: none."), "cpu": ("cpu(0)", "Where arrays are."),
}  # fmt: skip


def _named(name: str, f: Callable[..., Any], doc: str) -> Callable[..., Any]:
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f


_MADE = made("npx")
ACTIVATIONS = {**made("activation"), "sigmoid": _MADE["sigmoid"], "tanh": _MADE["tanh"]}


def leaky_relu(data: Any, act_type: str = "leaky", slope: float = 0.25) -> Any:
    """`data` where it is positive, else ``slope * data``; `act_type` "elu", "selu" or "gelu" for these."""
    if act_type == "leaky":
        return run("leaky_relu", lambda a: np.where(value_of(a) > 0, a, a * slope), data)
    if act_type == "elu":
        return run("elu", lambda a: nn.elu(a, slope), data)
    if act_type in ("selu", "gelu"):
        return run(act_type, nn.selu if act_type == "selu" else nn.gelu, data)
    raise ValueError(f"leaky_relu: act_type={act_type!r} is not there. Instead: 'leaky', 'elu', 'selu' or 'gelu'")


def activation(data: Any, act_type: str = "relu") -> Any:
    """An activation by its name."""
    if act_type not in ACTIVATIONS:
        raise ValueError(f"activation: {act_type!r} is not there. Instead: {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[act_type](data)


def one_hot(data: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = "float32") -> Any:
    """Ones at classes along a new last axis."""
    ids = data._value.astype(np.int64)
    hit = np.expand_dims(ids, -1) == np.arange(depth)
    return make(np.where(hit, on_value, off_value).astype(dtype))


def pick(data: Any, index: Any, axis: int = -1, mode: str = "clip", keepdims: bool = False) -> Any:
    """The element of each row at an index."""
    where = np.clip(index._value.astype(np.int64), 0, data._value.shape[axis] - 1)
    if where.ndim < data._value.ndim:
        where = np.expand_dims(where, axis)

    def picked(a: Any) -> Any:
        out = np.take_along_axis(a, where, axis)
        return out if keepdims else np.squeeze(out, axis=axis)

    return run("pick", picked, data)


def topk(data: Any, k: int = 1, axis: int = -1, ret_typ: str = "indices", is_ascend: bool = False) -> Any:
    """The places of the largest elements along an axis, or with ``ret_typ="value"`` the elements."""
    where = np.take(order(data._value, axis, not is_ascend), range(k), axis=axis)
    if ret_typ == "indices":
        return make(where.astype(np.float32))
    if ret_typ == "value":
        return run("topk", lambda a: np.take_along_axis(a, where, axis), data)
    raise ValueError(f"topk: ret_typ={ret_typ!r} is not there. Instead: 'indices' or 'value'")


def fully_connected(
    x: Any, weight: Any, bias: Any = None, num_hidden: int = 0, no_bias: bool = False, flatten: bool = True
) -> Any:
    """``x @ weight.T + bias``; with `flatten`, all axes but the first are one."""

    def computed(a: Any, w: Any, *b: Any) -> Any:
        rows = np.reshape(a, (value_of(a).shape[0], -1)) if flatten else a
        out = np.matmul(rows, w.T)
        return out + b[0] if b else out

    return run("fully_connected", computed, x, weight, *(() if bias is None or no_bias else (bias,)))


def _each(x: Any) -> tuple[int, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x, x)


def convolution(
    data: Any, weight: Any, bias: Any = None, kernel: Any = None, stride: Any = (1, 1), dilate: Any = (1, 1),
    pad: Any = (0, 0), num_filter: int = 0, num_group: int = 1, no_bias: bool = False,
) -> Any:  # fmt: skip
    """The products of filters with windows of images, channels first."""

    pads = [(p, p) for p in _each(pad)]

    def computed(a: Any, w: Any, b: Any = None) -> Any:
        return windows.convolution(a, w, b, _each(stride), pads, _each(dilate), num_group)

    return run("convolution", computed, data, weight, *(() if bias is None or no_bias else (bias,)))


def pooling(
    data: Any, kernel: Any = (1, 1), stride: Any = None, pad: Any = (0, 0), pool_type: str = "max",
    global_pool: bool = False,
) -> Any:  # fmt: skip
    """The maximum ("max") or the mean ("avg") of each window of images, channels first."""
    if pool_type not in ("max", "avg"):
        raise ValueError(f"pooling: pool_type={pool_type!r} is not there. Instead: 'max' or 'avg'")
    if global_pool:
        f = np.max if pool_type == "max" else np.mean
        return run("pooling", lambda a: f(a, axis=(2, 3), keepdims=True), data)
    size, steps, pads = _each(kernel), _each(1 if stride is None else stride), [(p, p) for p in _each(pad)]

    def computed(a: Any) -> Any:
        if pool_type == "max":
            return windows.first(windows.largest(windows.last(a), size, steps, pads))
        return windows.first(windows.average(windows.last(a), size, steps, pads, float(np.prod(size))))

    return run("pooling", computed, data)


def dropout(data: Any, p: float = 0.5, mode: str = "training") -> Any:
    """In training mode, elements are zero with probability `p`, the others divided by ``1 - p``."""
    if not (MODE.training or mode == "always") or p == 0:
        return data
    kept = (rng().random(data._value.shape) >= p).astype(data._value.dtype) / data._value.dtype.type(1 - p)
    return run("dropout", lambda a: a * kept, data)


def stop_gradient(data: Any) -> Any:
    """The array, cut off from what it was computed from."""
    return data.detach()


_PUBLIC = (
    *_TRIVIAL, *_MADE, "leaky_relu", "activation", "one_hot", "pick", "topk",
    "fully_connected", "convolution", "pooling", "dropout", "stop_gradient", "seed",
)  # fmt: skip
for _name, (_value, _doc) in _TRIVIAL.items():
    globals()[_name] = _named(_name, lambda *args, _value=_value, **options: _value, _doc)
globals().update(_MADE)
__all__ = list(_PUBLIC)
__getattr__, __dir__ = public(__name__, _PUBLIC)
