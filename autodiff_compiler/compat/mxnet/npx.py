"""``mxnet.npx``: what networks need beyond NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import nn
from ..graph.array import value_of
from ..graph.core import run
from ..module_tables import public
from ..operations.creation import rng
from ..operations.signatures import named
from .arrays import make
from .base import MODE
from .creation import made

# What has nothing to do here: what it returns, and why.
_TRIVIAL: dict[str, tuple[Any, str]] = {
    "set_np": (None, "Nothing is left to do: arrays are NumPy's always."), "reset_np": (None, "Nothing is left to do."),
    "is_np_array": (True, "Whether arrays are NumPy's: they are."),
    "waitall": (None, "Nothing is left to do: operations are done when they return."),
    "num_gpus": (0, "How many GPUs there are: none."), "cpu": ("cpu(0)", "Where arrays are."),
}  # fmt: skip


_MADE = made("npx")
ACTIVATIONS = {**made("activation"), "sigmoid": _MADE["sigmoid"], "tanh": _MADE["tanh"]}


def _known(what: str, name: str, known: dict[str, Any]) -> Any:
    """What a name stands for. Raises ValueError for others."""
    if name not in known:
        raise ValueError(f"{what}={name!r} is not there. Instead: {', '.join(known)}")
    return known[name]


def leaky_relu(data: Any, act_type: str = "leaky", slope: float = 0.25) -> Any:
    """`data` where it is positive, else ``slope * data``; `act_type` "elu", "selu" or "gelu" for these."""
    known: dict[str, Callable[[Any], Any]] = {
        "leaky": lambda a: np.where(value_of(a) > 0, a, a * slope), "elu": lambda a: nn.elu(a, slope), "selu": nn.selu,
        "gelu": nn.gelu,
    }  # fmt: skip
    return run(act_type, _known("leaky_relu: act_type", act_type, known), data)


def activation(data: Any, act_type: str = "relu") -> Any:
    """An activation by its name."""
    return _known("activation: act_type", act_type, ACTIVATIONS)(data)


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
    *_TRIVIAL, *_MADE, "leaky_relu", "activation", "one_hot", "pick", "dropout", "stop_gradient",
)  # fmt: skip
for _name, (_value, _doc) in _TRIVIAL.items():
    globals()[_name] = named(_name, lambda *args, _value=_value, **options: _value, _doc)
globals().update(_MADE)
__all__ = list(_PUBLIC)
__getattr__, __dir__ = public(__name__, _PUBLIC)
