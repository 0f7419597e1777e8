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
from .core import Base, make
from .modes import enable_grad


def _tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _leaves(inputs: tuple[Any, ...], create_graph: bool) -> list[Any]:
    """Fresh tensors to differentiate by; with `create_graph` they depend on what was given."""
    if create_graph:
        return [t.view_as(t) if t._var is not None else t.detach().clone().requires_grad_() for t in inputs]
    return [t.detach().clone().requires_grad_() for t in inputs]


def _run(func: Callable[..., Any], inputs: Any, create_graph: bool) -> tuple[list[Any], tuple[Any, ...], bool]:
    given = _tuple(inputs)
    for t in given:
        if not isinstance(t, Base):
            raise TypeError(
                f"The inputs given to the function must be either a Tensor or a tuple of Tensors, got {t!r}"
            )
    with enable_grad():
        leaves = _leaves(given, create_graph)
        out = func(*leaves)
    many = isinstance(out, (tuple, list))
    for t in _tuple(out):
        if not isinstance(t, Base):
            raise TypeError("The outputs of the user-provided function must be either a Tensor or a tuple of Tensors")
    return leaves, _tuple(out), many


def _shaped(rows: Any, out: Any, leaf: Any) -> Any:
    shape = tuple(out._value.shape) + tuple(leaf._value.shape)
    return make(np.zeros(shape, leaf._value.dtype)) if rows is None else rows.reshape(shape)


def _rows(out: Any, leaves: list[Any], create_graph: bool, strict: bool) -> list[Any]:
    """For each leaf, the derivatives of each element of `out`, in out's shape and then the leaf's."""
    from .shaping import stack

    if out._var is None:
        if strict:
            raise RuntimeError("The output of the user-provided function is independent of the inputs.")
        return [make(np.zeros(out._value.shape + t._value.shape, t._value.dtype)) for t in leaves]
    size = out._value.size
    rows = []
    with enable_grad():
        if size > 1 and size * max(out._value.size, *[t._value.size for t in leaves]) <= MAX_ELEMENTS:
            try:
                found = gradients(
                    [out._var], [make(basis(out._value, 0, size))], [t._var for t in leaves], True, create_graph, True
                )
                return [_shaped(g, out, t) for (_, g), t in zip(found, leaves)]
            except NotBatchedError:
                pass
        for k in range(size):
            seed = np.zeros(size, out._value.dtype)
            seed[k] = 1
            rows.append(
                grad(
                    out, leaves, make(seed.reshape(out._value.shape)), retain_graph=True, create_graph=create_graph,
                    materialize_grads=True,
                )
            )  # fmt: skip
        return [
            stack([row[k] for row in rows]).reshape(tuple(out._value.shape) + tuple(t._value.shape))
            if rows
            else make(np.zeros(out._value.shape + t._value.shape, t._value.dtype))
            for k, t in enumerate(leaves)
        ]


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
    leaves, outs, many = _run(func, inputs, create_graph)
    single = isinstance(inputs, Base)
    rows = [_rows(out, leaves, create_graph, strict) for out in outs]
    if not create_graph:
        rows = [[t.detach() for t in row] for row in rows]
    found = tuple([row[0] if single else tuple(row) for row in rows])
    return found if many else found[0]


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Hessian of a function with one number as its result: the Jacobian of its gradient."""

    def gradient(*leaves: Any) -> Any:
        out = func(*leaves)
        if not isinstance(out, Base) or out._value.size != 1:
            raise RuntimeError(
                "The output of the function given to hessian should contain a single element"
                if isinstance(out, Base)
                else "The function given to hessian should return a single Tensor"
            )
        if out._var is None:
            return tuple([t * 0 for t in leaves])
        found = grad(out.reshape(()), leaves, create_graph=True, materialize_grads=True)
        return tuple([g if g._var is not None else g + 0 * t for g, t in zip(found, leaves)])

    single = isinstance(inputs, Base)
    found = jacobian(gradient, inputs, create_graph, strict)
    return found[0] if single else found


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The results, and the product of `v` with the Jacobian."""
    leaves, outs, many = _run(func, inputs, create_graph)
    with enable_grad():
        seeds = list(_tuple(v)) if v is not None else [None] * len(outs)
        found = grad(list(outs), leaves, seeds, create_graph=create_graph, materialize_grads=True)
    out = tuple([t if create_graph else t.detach() for t in outs])
    return out if many else out[0], found[0] if isinstance(inputs, Base) else found


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The results, and the product of the Jacobian with `v`: the gradient, by u, of the product of u with the
    Jacobian."""
    leaves, outs, many = _run(func, inputs, create_graph)
    tangents = _tuple(v) if v is not None else tuple([make(np.ones_like(t._value)) for t in leaves])
    with enable_grad():
        u = [make(np.zeros_like(t._value)).requires_grad_() for t in outs]
        pulled = grad(list(outs), leaves, u, create_graph=True, materialize_grads=True)
        live = [(g, t) for g, t in zip(pulled, tangents) if g._var is not None]
        found = (
            grad([g for g, _ in live], u, [t for _, t in live], create_graph=create_graph, materialize_grads=True)
            if live
            else tuple([make(np.zeros_like(t._value)) for t in outs])
        )
    out = tuple([t if create_graph else t.detach() for t in outs])
    return (out, found) if many else (out[0], found[0])


autograd.functional = namespace(
    f"{autograd.__name__}.functional",
    "Jacobians, Hessians and products with them.",
    {"jacobian": jacobian, "hessian": hessian, "vjp": vjp, "jvp": jvp},
)
