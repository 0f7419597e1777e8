"""Derivatives of functions of tensors: ``torch.func``, and ``torch.autograd.functional``."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...tape.jacobians import MAX_ELEMENTS, basis
from ...tape.nest import flatten, map_nested, pack_like
from ...tape.pullback import NotBatchedError
from ..graph.engine import behind, gradients
from ..graph.record import Var
from . import autograd
from .core import Base, listed, make
from .modes import MODE, enable_grad
from .shaping import stack


def _leaf(t: Any, connected: bool) -> Any:
    """A fresh tensor to differentiate by; `connected`: it depends on the one given."""
    return t.view_as(t) if connected and t._var is not None else t.detach().clone().requires_grad_()


def _zeros(t: Any, lead: tuple[int, ...] = ()) -> Any:
    return make(np.zeros(lead + t._value.shape, t._value.dtype))


# Leaves of derivatives that are done: nobody differentiates by them any more.
_DONE: weakref.WeakSet[Var] = weakref.WeakSet()


def _done(leaves: list[Any]) -> None:
    _DONE.update([t._var for t in leaves if t._var is not None and t._var.record is None])


def _connected(tensors: list[Any]) -> bool:
    """Whether what is made of the tensors is to be recorded: they depend on tensors that require a gradient, other than
    the leaves that are done."""
    if not MODE.grad:
        return False
    ends = [t._var for t in tensors if t._var is not None]
    used = [*ends, *[var for record in behind(ends) for var in record.operands]]
    return any(var is not None and var.record is None and var not in _DONE for var in used)


def _released(x: Any) -> Any:
    """The nest, whose tensors require gradients only where that is of use."""
    return map_nested(lambda t: t.detach() if isinstance(t, Base) and not _connected([t]) else t, x)


def _pulled(outs: list[Any], leaves: list[Any], seeds: list[Any], **options: Any) -> list[Any]:
    """The gradients of the outputs, which may be constant."""
    live = [(t, g) for t, g in zip(outs, seeds, strict=True) if t._var is not None]
    if not live:
        return [_zeros(t) for t in leaves]
    heads, given = zip(*live)
    return list(autograd.grad(heads, leaves, given, materialize_grads=True, **options))


# --- Jacobians --------------------------------------------------------------------------------------------------------


def _run(func: Callable[..., Any], inputs: Any, connected: bool) -> tuple[list[Any], list[Any], Callable[..., Any]]:
    """Fresh inputs, the outputs, and what makes a result of a list: it or its one item, as the function does."""
    for t in listed(inputs):
        if not isinstance(t, Base):
            raise TypeError(
                f"The inputs given to the function must be either a Tensor or a tuple of Tensors, got {t!r}"
            )
    with enable_grad():
        leaves = [_leaf(t, connected) for t in listed(inputs)]
        out = func(*leaves)
    outs = listed(out)
    if not all(isinstance(t, Base) for t in outs):
        raise TypeError("The outputs of the user-provided function must be either a Tensor or a tuple of Tensors")
    return leaves, outs, tuple if isinstance(out, (tuple, list)) else lambda found: next(iter(found))


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
            rows = [stack(column) for column in zip(*[autograd.grad(out, leaves, make(e), **options) for e in flat])]
        shapes = [v.shape + t._value.shape for t in leaves]
        return [_zeros(t, v.shape) if g is None else g.reshape(s) for g, t, s in zip(rows, leaves, shapes)]


def jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool | None = False, vectorize: bool = False) -> Any:
    """The Jacobian of ``func(*inputs)``, of shape output + input; tuples of them for tuples of outputs and inputs.

    It takes one backward pass for all elements of the output where each operation has a rule for that, and else one
    for each of them. `create_graph`: the result is recorded; None: if it depends on other tensors with gradients.

    >>> from autodiff_compiler.compat import torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    leaves, outs, packed = _run(func, inputs, create_graph is not False)
    _done(leaves)
    graph = _connected(outs) if create_graph is None else create_graph
    rows = [[t if graph else t.detach() for t in _rows(out, leaves, graph)] for out in outs]
    return packed([row[0] if isinstance(inputs, Base) else tuple(row) for row in rows])


def hessian(func: Callable[..., Any], inputs: Any, create_graph: bool | None = False, vectorize: bool = False) -> Any:
    """The Hessian of a function with one number as its result: the Jacobian of its gradient."""

    def gradient(*leaves: Any) -> Any:
        out = func(*leaves)
        if not isinstance(out, Base):
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if out._value.size != 1:
            raise RuntimeError("The output of the function given to hessian should contain a single element")
        if out._var is None:
            return tuple([t * 0 for t in leaves])
        found = autograd.grad(out.reshape(()), leaves, create_graph=True, materialize_grads=True)
        return tuple([g if g._var is not None else g + 0 * t for g, t in zip(found, leaves)])

    found = jacobian(gradient, inputs, create_graph)
    return found[0] if isinstance(inputs, Base) else found


# --- torch.func -------------------------------------------------------------------------------------------------------


def _tensors(x: Any) -> list[Any]:
    """The tensors in a nest."""
    return [t for t in flatten(x) if isinstance(t, Base)]


def _rebuilt(x: Any, tensors: Iterator[Any]) -> Any:
    """The nest with other tensors, in order."""
    return map_nested(lambda t: next(tensors) if isinstance(t, Base) else t, x)


def _picked(args: tuple[Any, ...], numbers: list[int]) -> tuple[list[Any], list[Any]]:
    """Fresh tensors for those in the arguments of these numbers, and all arguments with them."""
    leaves: list[Any] = []
    full = list(args)
    for k in numbers:
        found = [_leaf(t, True) for t in _tensors(args[k])]
        leaves += found
        full[k] = _rebuilt(args[k], iter(found))
    return leaves, full


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient and the value; of a function with one number as its result."""

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        with enable_grad():
            leaves, full = _picked(args, listed(argnums))
            out = func(*full, **kwargs)
        value, aux = out if has_aux else (out, None)
        if not isinstance(value, Base) or value._value.ndim:
            raise RuntimeError("Expected function differentiated by grad to return a scalar: a tensor without axes")
        _done(leaves)
        graph = _connected([value])
        found: Any = [_zeros(t) for t in leaves]
        if value._var is not None:
            found = autograd.grad(value, leaves, create_graph=graph, materialize_grads=True)
        rest = iter(found)
        grads: Any = tuple([_rebuilt(args[k], rest) for k in listed(argnums)])
        grads = grads[0] if isinstance(argnums, int) else grads
        value, aux = _released((value, aux))
        return (grads, (value, aux)) if has_aux else (grads, value)

    return differentiated


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of a function with one number as its result.

    >>> from autodiff_compiler.compat import torch
    >>> torch.func.grad(lambda x: x**3)(torch.tensor(2.0))
    tensor(12.)
    """

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        grads, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return differentiated


def vjp(func: Callable[..., Any], *primals: Any) -> Any:
    """The result, and the function from a cotangent to the cotangents of the arguments."""
    with enable_grad():
        leaves, full = _picked(primals, list(range(len(primals))))
        out = func(*full)
    outs = _tensors(out)
    _done(leaves)

    def pull(*cotangents: Any) -> Any:
        seeds = _tensors(cotangents)
        return tuple(_pulled(outs, leaves, seeds, retain_graph=True, create_graph=_connected([*outs, *seeds])))

    return _released(out), pull


def jvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The result, and its derivative in the direction of the tangents: the gradient, by u, of the product of u with
    the Jacobian."""
    leaves, outs, packed = _run(func, tuple(primals), True)
    with enable_grad():
        u = [_zeros(t).requires_grad_() for t in outs]
        pulled = _pulled(outs, leaves, u, create_graph=True)
        _done([*leaves, *u])
    found = _pulled(pulled, u, list(tangents), create_graph=_connected([*pulled, *tangents]))
    return packed(_released(outs)), packed(found)


def _of_one(func: Callable[..., Any], args: tuple[Any, ...], k: int) -> Callable[..., Any]:
    """The function of the argument with this number, the others as they are."""
    return lambda x: func(*args[:k], x, *args[k + 1 :])


def jacrev(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives the Jacobian with respect to one argument."""
    return lambda *args: jacobian(_of_one(func, args, argnums), args[argnums], None)


def hessian_by(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives the Hessian with respect to one argument."""
    return lambda *args: hessian(_of_one(func, args, argnums), args[argnums], None)


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """The function on each slice of its arguments, and the results put together. It runs slice by slice, in a loop.

    in_dims: the axis of the slices, or one for each argument; None: the whole argument each time. An argument may be a
    nest of tensors, all of which have the axis.

    >>> from autodiff_compiler.compat import torch
    >>> torch.func.vmap(torch.sum)(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([3., 7.])
    """

    def mapped(*args: Any, **kwargs: Any) -> Any:
        dims = tuple(in_dims) if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(
                f"vmap(in_dims={in_dims}, ...): in_dims is not compatible with the structure of inputs: "
                f"{len(dims)} and {len(args)}"
            )
        given = [*zip(args, dims), *[(x, 0) for x in kwargs.values()]]
        sizes = {t._value.shape[dim] for x, dim in given if dim is not None for t in _tensors(x)}
        if not sizes:
            raise ValueError("vmap: expected at least one tensor with an axis to map over")
        if len(sizes) > 1:
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)}"
            )
        rows = []
        for k in range(*sizes):
            parts = [x if dim is None else map_nested(functools.partial(_part, dim, k), x) for x, dim in given]
            rows.append(func(*parts[: len(args)], **dict(zip(kwargs, parts[len(args) :]))))
        columns = zip(*[flatten(row) for row in rows])
        return pack_like(rows[0], [stack(column, out_dims) for column in columns])

    return mapped


def _part(dim: int, k: int, x: Any) -> Any:
    return x.select(dim, k) if isinstance(x, Base) else x


FUNCTIONAL = {"jacobian": jacobian, "hessian": hessian}
FUNC = {
    "grad": grad, "grad_and_value": grad_and_value, "vjp": vjp, "jvp": jvp, "jacrev": jacrev, "jacfwd": jacrev,
    "hessian": hessian_by, "vmap": vmap,
}  # fmt: skip
