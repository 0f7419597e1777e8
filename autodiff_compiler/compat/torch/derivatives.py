"""``torch.autograd.functional``: Jacobians, Hessians and products with them, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...tape.jacobians import MAX_ELEMENTS, basis
from ...tape.pullback import NotBatchedError
from ..graph.engine import gradients
from ..module_tables import namespace
from . import autograd
from .autograd import grad
from .core import Base, listed, make
from .modes import enable_grad
from .shaping import stack


def leaf(t: Any, connected: bool) -> Any:
    """A fresh tensor to differentiate by; `connected`: it depends on the one given."""
    return t.view_as(t) if connected and t._var is not None else t.detach().clone().requires_grad_()


def _run(func: Callable[..., Any], inputs: Any, create_graph: bool) -> tuple[list[Any], list[Any], Callable[..., Any]]:
    """Fresh inputs, the outputs, and what makes a result of a list: it or its one item, as the function does."""
    for t in listed(inputs):
        if not isinstance(t, Base):
            raise TypeError(
                f"The inputs given to the function must be either a Tensor or a tuple of Tensors, got {t!r}"
            )
    with enable_grad():
        leaves = [leaf(t, create_graph) for t in listed(inputs)]
        out = func(*leaves)
    outs = listed(out)
    if not all(isinstance(t, Base) for t in outs):
        raise TypeError("The outputs of the user-provided function must be either a Tensor or a tuple of Tensors")
    return leaves, outs, tuple if isinstance(out, (tuple, list)) else lambda found: next(iter(found))


def _zeros(t: Any, lead: tuple[int, ...] = ()) -> Any:
    return make(np.zeros(lead + t._value.shape, t._value.dtype))


def _rows(out: Any, leaves: list[Any], create_graph: bool) -> list[Any]:
    """For each leaf, the derivatives of each element of `out`, in out's shape and then the leaf's."""
    v = out._value
    if out._var is None or not v.size:
        return [_zeros(t, v.shape) for t in leaves]
    rows: Any = None
    with enable_grad():
        if v.size > 1 and v.size * max(v.size, *[t._value.size for t in leaves]) <= MAX_ELEMENTS:
            seed, sources = make(basis(v, 0, v.size)), [t._var for t in leaves]
            try:
                rows = [g for _, g in gradients([out._var], [seed], sources, True, create_graph, True)]
            except NotBatchedError:
                pass
        if rows is None:
            flat = np.eye(v.size, dtype=v.dtype).reshape(-1, *v.shape)
            options: Any = {"retain_graph": True, "create_graph": create_graph, "materialize_grads": True}
            rows = [stack(column) for column in zip(*[grad(out, leaves, make(e), **options) for e in flat])]
        shapes = [v.shape + t._value.shape for t in leaves]
        return [_zeros(t, v.shape) if g is None else g.reshape(s) for g, t, s in zip(rows, leaves, shapes)]


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian of ``func(*inputs)``, of shape output + input; tuples of them for tuples of outputs and inputs.

    It takes one backward pass for all elements of the output where each operation has a rule for that, and else one
    for each of them.

    >>> from autodiff_compiler.compat import torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    leaves, outs, packed = _run(func, inputs, create_graph)
    if strict and any(t._var is None for t in outs):
        raise RuntimeError("The output of the user-provided function is independent of the inputs.")
    rows = [_rows(out, leaves, create_graph) for out in outs]
    if not create_graph:
        rows = [[t.detach() for t in row] for row in rows]
    return packed([row[0] if isinstance(inputs, Base) else tuple(row) for row in rows])


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Hessian of a function with one number as its result: the Jacobian of its gradient."""

    def gradient(*leaves: Any) -> Any:
        out = func(*leaves)
        if not isinstance(out, Base):
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if out._value.size != 1:
            raise RuntimeError("The output of the function given to hessian should contain a single element")
        if out._var is None:
            return tuple([t * 0 for t in leaves])
        found = grad(out.reshape(()), leaves, create_graph=True, materialize_grads=True)
        return tuple([g if g._var is not None else g + 0 * t for g, t in zip(found, leaves)])

    found = jacobian(gradient, inputs, create_graph, strict)
    return found[0] if isinstance(inputs, Base) else found


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The results, and the product of `v` with the Jacobian."""
    leaves, outs, packed = _run(func, inputs, create_graph)
    with enable_grad():
        found = grad(outs, leaves, v, create_graph=create_graph, materialize_grads=True)
    results = [t if create_graph else t.detach() for t in outs]
    return packed(results), found[0] if isinstance(inputs, Base) else found


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The results, and the product of the Jacobian with `v`: the gradient, by u, of the product of u with the
    Jacobian."""
    leaves, outs, packed = _run(func, inputs, create_graph)
    tangents = listed(v) if v is not None else [t.new_ones(t.shape) for t in leaves]
    with enable_grad():
        u = [_zeros(t).requires_grad_() for t in outs]
        pulled = grad(outs, leaves, u, create_graph=True, materialize_grads=True)
        live = [k for k, g in enumerate(pulled) if g._var is not None]
        heads, given = [pulled[k] for k in live], [tangents[k] for k in live]
        found: Any = [_zeros(t) for t in outs]
        if live:
            found = grad(heads, u, given, create_graph=create_graph, materialize_grads=True)
    return packed([t if create_graph else t.detach() for t in outs]), packed(found)


autograd.functional = namespace(
    f"{autograd.__name__}.functional",
    "Jacobians, Hessians and products with them.",
    {"jacobian": jacobian, "hessian": hessian, "vjp": vjp, "jvp": jvp},
)
