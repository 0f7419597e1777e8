"""Settings: the dtype of weights and inputs, and how near to 0 and 1 a probability may come."""

from __future__ import annotations

from typing import Any

from . import names
from .names import public

_floatx = "float32"
_epsilon = 1e-7


def floatx() -> str:
    """The dtype of weights and inputs where none is given: "float32" at first."""
    return _floatx


def set_floatx(value: str) -> None:
    """Change it. Raises ValueError for what is no floating dtype that there is.

    >>> set_floatx("float64")
    >>> floatx()
    'float64'
    >>> set_floatx("float32")
    """
    global _floatx
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of {{'float16', 'float32', 'float64'}}")
    _floatx = value


def epsilon() -> float:
    """What probabilities are kept away from 0 and 1, and what is divided by away from 0."""
    return _epsilon


def set_epsilon(value: float) -> None:
    """Change it."""
    global _epsilon
    _epsilon = value


def image_data_format() -> str:
    """The order of the axes of images, "channels_last": there is no other."""
    return "channels_last"


def clear_session() -> None:
    """Count the names of layers from the start."""
    names.clear()


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Tensors after each other along an axis."""
    return _ops("concatenate")(tensors, axis)


def expand_dims(x: Any, axis: int = -1) -> Any:
    """The tensor with a new axis of length 1."""
    return _ops("expand_dims")(x, axis)


def flatten(x: Any) -> Any:
    """All elements along one axis."""
    return _ops("reshape")(x, [-1])


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """The axes in another order."""
    return _ops("transpose")(x, pattern)


def int_shape(x: Any) -> tuple[Any, ...]:
    """The lengths of the axes."""
    return tuple(x.shape)


def ndim(x: Any) -> int:
    """How many axes there are."""
    return len(x.shape)


def get_value(x: Any) -> Any:
    """The value as an array."""
    return x.numpy()


def set_value(x: Any, value: Any) -> None:
    """Assign to a variable."""
    x.assign(value)


def _ops(name: str) -> Any:
    from . import ops  # which needs this module

    return getattr(ops, name)


_FROM_OPS = [
    "abs", "all", "any", "argmax", "argmin", "cast", "clip", "cos", "dot", "elu", "equal", "exp", "eye", "greater",
    "greater_equal", "less", "less_equal", "log", "max", "maximum", "mean", "min", "minimum", "not_equal", "one_hot",
    "ones", "ones_like", "prod", "relu", "reshape", "round", "sigmoid", "sign", "sin", "softmax", "softplus", "sqrt",
    "square", "squeeze", "stack", "std", "stop_gradient", "sum", "tanh", "tile", "transpose", "var", "zeros",
    "zeros_like",
]  # fmt: skip
_OWN = [
    "floatx", "set_floatx", "epsilon", "set_epsilon", "image_data_format", "clear_session", "concatenate",
    "expand_dims", "flatten", "permute_dimensions", "int_shape", "ndim", "get_value", "set_value",
]  # fmt: skip
_missing, __dir__ = public("tf.keras.backend", [*_OWN, *_FROM_OPS, "pow"])


def __getattr__(name: str) -> Any:
    if name in _FROM_OPS or name == "pow":
        return _ops("power" if name == "pow" else name)
    return _missing(name)
