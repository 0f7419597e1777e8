"""``torch.autograd``: backward passes, gradients, functions with gradients of one's own."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.engine import Gradient, gradients, modified
from ..graph.record import GraphRecord, Var, give, record_barrier, recording
from ..module_tables import public
from .core import FREED, TORCH, Base, listed, make, view
from .modes import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .tensor import method


def _seed(k: int, t: Any, g: Any) -> Any:
    """The gradient that is given for an output, by default 1."""
    if g is None:
        v = t._value
        if v.size != 1 and t._var is not None:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return make(np.ones(v.shape, v.dtype) if v.ndim else np.array(1, v.dtype))  # the latter is the faster
    if not isinstance(g, Base):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    if g._value.shape != t._value.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{k}] has a shape of {g.shape} and output[{k}] has a shape of {t.shape}."
        )
    return g


def _pass(outputs: Any, grads: Any, inputs: Any, retain_graph: bool | None, create_graph: bool) -> list[Any]:
    """The gradients of the outputs, with their `Var`s: of the inputs, or of all leaves."""
    outputs = listed(outputs)
    given = [None] * len(outputs) if grads is None else listed(grads)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    seeds = [_seed(k, t, g) for k, (t, g) in enumerate(zip(outputs, given))]
    for k, t in enumerate(outputs):
        if t._var is None:
            raise RuntimeError(f"element {k} of tensors does not require grad and does not have a grad_fn")
    if inputs is not None and any(t._var is None for t in inputs):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    sources = None if inputs is None else [t._var for t in inputs]
    retain = create_graph if retain_graph is None else retain_graph
    return gradients([t._var for t in outputs], seeds, sources, retain, create_graph)


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradient of the tensors to the ``grad`` of every leaf that they depend on, or of `inputs` only.

    Raises RuntimeError if a tensor has more than one element and no gradient is given for it, if it does not require a
    gradient, and if an earlier pass freed the graph.
    """
    chosen = None if inputs is None else listed(inputs)
    if chosen == []:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    for t in chosen or ():
        if t._var is not None:
            t.retain_grad()
    for var, g in _pass(tensors, grad_tensors, chosen, retain_graph, create_graph):
        tensor = var.owner()
        if g is not None and tensor is not None:
            _accumulate(tensor, g, var, create_graph)


def _backward_of(
    self: Any, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Add the gradient of this tensor to the ``grad`` of every leaf that it depends on."""
    backward(self, gradient, retain_graph, create_graph, inputs)


method("backward", _backward_of)


def _accumulate(tensor: Any, g: Any, var: Var, create_graph: bool) -> None:
    if var.retained and tensor._var is not var:
        return
    known = tensor._grad
    if known is None:
        tensor._grad = g
    elif create_graph:
        tensor._grad = known + g
    elif var.retained:
        tensor._grad = make(known._value + g._value)
    else:
        np.add(known._value, g._value, out=known._value)
        known._memory.written()
    for hook in list(tensor._post_hooks.values()) if tensor._post_hooks else ():
        hook(tensor)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool | None = None, *, materialize_grads: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of the (sum of the) outputs with respect to each of the inputs, as a tuple.

    `create_graph`: the gradients can be differentiated again. Raises RuntimeError for an input that does not require a
    gradient. An input that the outputs do not depend on gets None with `allow_unused` and zeros with
    `materialize_grads`; otherwise it raises RuntimeError too.

    >>> from autodiff_compiler.compat import torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(x**2, x)
    (tensor(6.),)
    """
    ins = listed(inputs)
    out = []
    for k, (t, (_, g)) in enumerate(zip(ins, _pass(outputs, grad_outputs, ins, retain_graph, create_graph))):
        if g is None and materialize_grads:
            g = make(np.zeros_like(t._value))
        elif g is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {k} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior. (One of the differentiated Tensors appears to not "
                "have been used in the graph.)"
            )
        out.append(g)
    return tuple(out)


# --- functions with a gradient of one's own ---------------------------------------------------------------------------


class FunctionCtx:
    """What `forward` hands to `backward`."""

    needs_input_grad: tuple[bool, ...] = ()
    _to_save: tuple[Any, ...] = ()
    _saved: Any = ()  # None once the graph is freed
    _nondifferentiable: tuple[Any, ...] = ()
    _materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for `backward`, which finds them in ``saved_tensors``."""
        self._to_save = tensors

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """These results do not require a gradient."""
        self._nondifferentiable = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros, and not None, for results that nothing depends on."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if self._saved is None:
            raise RuntimeError(FREED)
        return tuple([None if s is None else s() for s in self._saved])

    def _release(self) -> None:
        self._saved = None


class _Saved:
    """A saved tensor: the value and where it stands in the graph, checked when it is taken out. A result of the
    function itself is held weakly."""

    def __init__(self, t: Any, record: GraphRecord | None):
        self.value, self.version, self.count = t._value, t._memory, t._memory.count
        var = t._var
        own = record is not None and var is not None and var.record is record
        self.var = functools.partial(_result, weakref.ref(record), var.slot) if own else lambda: var

    def __call__(self) -> Any:
        var = self.var()
        if self.version.count != self.count:
            raise modified(TORCH, self.value, self.version, self.count, var)
        t = make(self.value, self.version)
        t._own = var
        return t


def _result(record: Callable[[], GraphRecord | None], slot: int) -> Var | None:
    made = record()
    return None if made is None else made.var(slot)


class Function:
    """An operation with a gradient of one's own: a subclass has the static methods ``forward(ctx, *args)`` and
    ``backward(ctx, *grad_outputs)``, and is called by ``apply``.

    >>> from autodiff_compiler.compat import torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor(2.)
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    def __init__(self, *args: Any) -> None:
        raise RuntimeError(f"{type(self).__name__}: call the function by its apply method; instances are not used")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run `forward`, and record the operation."""
        ctx = FunctionCtx()
        places = [k for k, a in enumerate(args) if isinstance(a, Base)]
        tensors = [args[k] for k in places]
        ctx.needs_input_grad = tuple([isinstance(a, Base) and a._var is not None for a in args])
        recorded = recording(tensors)
        separate = getattr(cls, "setup_context", None)
        with no_grad():
            if separate is None:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                separate(ctx, args, result)
        outs = listed(result)
        for t in outs:
            if not isinstance(t, Base) and t is not None:
                raise TypeError(f"{cls.__name__}.forward: expected Tensor or tuple of Tensor for the result")
        outs = [view(cls.__name__, lambda a: a, t) if any(t is a for a in tensors) else t for t in outs]
        made = None
        if recorded:
            back = Gradient(TORCH, cls._pullback(ctx, places, len(args)), lambda: ctx._materialize, ctx._release)
            made, first = record_barrier(f"{cls.__name__}Backward", tensors, outs, back)
            for k, t in enumerate(outs, first):
                if t is None or t._value.dtype.kind not in "fc" or any(t is n for n in ctx._nondifferentiable):
                    continue
                t._base = None
                give(t, made, k)
        ctx._saved = [None if t is None else _Saved(t, made) for t in ctx._to_save]
        ctx._to_save = ()
        return tuple(outs) if isinstance(result, (tuple, list)) else outs[0]

    @classmethod
    def _pullback(cls, ctx: FunctionCtx, places: list[int], count: int) -> Callable[..., list[Any]]:
        """`backward` as a function from cotangents to the gradients of the tensors among so many arguments."""
        name = f"function {cls.__name__}Backward returned"

        def back(*given: Any) -> list[Any]:
            found = listed(cls.backward(ctx, *given))
            if len(found) > count and all(g is None for g in found[count:]):
                found = found[:count]
            if len(found) != count:
                raise RuntimeError(f"{name} an incorrect number of gradients (expected {count}, got {len(found)})")
            for k in places:
                if found[k] is not None and not isinstance(found[k], Base):
                    raise TypeError(
                        f"{name} an object of type {type(found[k]).__name__} as the gradient of argument {k}: expected "
                        "a Tensor or None"
                    )
            return [found[k] for k in places]

        return back


functional: Any  # the package makes it of the functions of `transforms`

__all__ = [
    "Function", "backward", "enable_grad", "functional", "grad", "inference_mode", "is_grad_enabled",
    "no_grad", "set_grad_enabled",
]  # fmt: skip
__getattr__, __dir__ = public(__name__, __all__)
