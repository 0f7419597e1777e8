"""Settings: the dtype of weights and inputs, and how near to 0 and 1 a probability may come."""

from __future__ import annotations

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


__getattr__, __dir__ = public(
    "tf.keras.backend", ["floatx", "set_floatx", "epsilon", "set_epsilon", "image_data_format", "clear_session"]
)
