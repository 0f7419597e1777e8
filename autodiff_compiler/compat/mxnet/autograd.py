"""``mxnet.autograd``: blocks whose operations are recorded, backward passes, functions with gradients of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.core import Base, listed
from ..graph.engine import Gradient, behind, gradients
from ..graph.record import give, record_barrier, recording
from ..module_tables import public
from .arrays import make, ndarray
from .base import MODE, MXNET, NOT_RECORDED, MXNetError


class _Scope:
    """A block in which the modes given are in force; None leaves one as it is."""

    def __init__(self, recording: bool | None, training: bool | None):
        self.recording, self.training = recording, training

    def __enter__(self) -> None:
        self.saved = MODE.grad, MODE.training
        if self.recording is not None:
            MODE.grad = self.recording
        if self.training is not None:
            MODE.training = self.training

    def __exit__(self, *error: Any) -> None:
        MODE.grad, MODE.training = self.saved


def record(train_mode: bool = True) -> _Scope:
    """``with record():`` operations are recorded; layers are in training mode unless told otherwise."""
    return _Scope(True, train_mode)


def pause(train_mode: bool = False) -> _Scope:
    """``with pause():`` operations are not recorded, and layers are not in training mode."""
    return _Scope(False, train_mode)


def train_mode() -> _Scope:
    """``with train_mode():`` layers are in training mode."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """``with predict_mode():`` layers are not in training mode."""
    return _Scope(None, False)


def is_recording() -> bool:
    """Whether operations are recorded now, in this thread."""
    return MODE.grad


def is_training() -> bool:
    """Whether layers are in training mode now, in this thread."""
    return MODE.training


def _pass(heads: Any, head_grads: Any, sources: Any, retain_graph: bool, create_graph: bool) -> list[Any]:
    """The gradients of the heads, with their `Var`s: of the sources, or of all arrays with a gradient."""
    outs = listed(heads)
    given = [None] * len(outs) if head_grads is None else listed(head_grads)
    targets = [t._var for t in outs]
    if any(var is None or var.record is None for var in targets) or any(r.freed for r in behind(targets)):
        raise MXNetError(NOT_RECORDED)
    seeds = [make(np.ones_like(t._value)) if g is None else g for t, g in zip(outs, given)]
    return gradients(targets, seeds, sources, retain_graph, create_graph)


def backward(heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:
    """Fill the gradients of all arrays that the heads were recorded from.

    Raises MXNetError for what was not recorded, and for a graph that a pass without `retain_graph` has freed.
    """
    for var, g in _pass(heads, head_grads, None, retain_graph, False):
        x = var.owner()
        if x is None or g is None or x._grad is None or x._var is not var:
            continue
        x._grad._value[...] = x._grad._value + g._value if x._req == "add" else g._value
        x._grad._memory.written()


def _backward(self: Any, out_grad: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:
    """Fill the gradients of the arrays that this one was recorded from: those of the sum of its elements, or of its
    product with `out_grad`."""
    backward([self], None if out_grad is None else [out_grad], retain_graph, train_mode)


_backward.__name__, _backward.__qualname__ = "backward", "ndarray.backward"
setattr(ndarray, "backward", _backward)


def grad(
    heads: Any, variables: Any, head_grads: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    train_mode: bool = True,
) -> list[Any]:  # fmt: skip
    """The gradients of the heads by the variables, as a list; the variables' own gradients stay as they are."""
    given = listed(variables)
    if not given:
        raise AssertionError("variables cannot be an empty list.")
    if any(x._var is None for x in given):
        raise MXNetError(NOT_RECORDED)
    retain = create_graph if retain_graph is None else retain_graph
    out = _pass(heads, head_grads, [x._var for x in given], retain, create_graph)
    return [make(np.zeros_like(x._value)) if g is None else g for x, (_, g) in zip(given, out)]


class Function:
    """An operation with a gradient of one's own: a subclass has ``forward(self, *inputs)`` and ``backward(self,
    *output_grads)``, and an instance is called.

    >>> from autodiff_compiler.compat.mxnet import autograd, np
    >>> class Double(autograd.Function):
    ...     def forward(self, x):
    ...         return x * 2
    ...     def backward(self, dy):
    ...         return dy * 2
    >>> x = np.array([3.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = Double()(x)
    >>> y.backward()
    >>> x.grad
    array([2.])
    """

    saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *args: Any) -> None:
        """Keep arrays for `backward`, which finds them in ``saved_tensors``."""
        self.saved_tensors = args

    def forward(self, *inputs: Any) -> Any:
        raise NotImplementedError("a Function has a method forward")

    def backward(self, *output_grads: Any) -> Any:
        raise NotImplementedError("a Function has a method backward")

    def __call__(self, *inputs: Any) -> Any:
        places = [k for k, a in enumerate(inputs) if isinstance(a, Base)]
        arrays = [inputs[k] for k in places]
        recorded = recording(arrays)
        with pause(MODE.training):
            out = self.forward(*inputs)
        for t in listed(out):
            if not isinstance(t, Base):
                raise MXNetError(f"{type(self).__name__}.forward must return arrays, not {type(t).__name__}")
        outs = [t.copy() if any(t is a for a in arrays) else t for t in listed(out)]
        if recorded:
            shapes = [a._value.shape if isinstance(a, Base) else None for a in inputs]
            back = Gradient(MXNET, lambda *given: self._gradients(given, shapes, places))
            made, first = record_barrier(type(self).__name__, arrays, outs, back)
            for k, t in enumerate(outs):
                give(t, made, first + k)
        return tuple(outs) if isinstance(out, (tuple, list)) else outs[0]

    def _gradients(self, given: tuple[Any, ...], shapes: list[Any], places: list[int]) -> list[Any]:
        """What `backward` gives for the arrays among the arguments. Raises MXNetError for gradients that are not one
        array, or None, of the right shape for each argument."""
        found = listed(self.backward(*given))
        name = f"{type(self).__name__}.backward must return"
        if len(found) != len(shapes):
            wrong = f"the number of arguments of forward: {len(shapes)}, not {len(found)}"
            raise MXNetError(f"{name} exactly the same number of arrays as {wrong}")
        for k, (g, shape) in enumerate(zip(found, shapes)):
            if g is None or shape is None:
                continue
            if not isinstance(g, Base):
                raise MXNetError(f"{name} arrays, not {type(g).__name__} for argument {k} of forward")
            if g._value.shape != shape:
                wrong = f"{shape} for argument {k}, not {g._value.shape}"
                raise MXNetError(f"{name} a gradient of the shape of each argument of forward: {wrong}")
        return [found[k] for k in places]


_PUBLIC = (
    "record", "pause", "train_mode", "predict_mode", "is_recording", "is_training", "backward", "grad", "Function",
)  # fmt: skip
__all__ = list(_PUBLIC)
__getattr__, __dir__ = public(__name__, _PUBLIC)
