"""``torch.func``: transforms of functions of tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from ...tape.nest import flatten, map_nested, pack_like
from . import autograd, derivatives
from .core import Base, listed
from .derivatives import leaf
from .modes import enable_grad
from .shaping import stack


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
        found = [leaf(t, True) for t in _tensors(args[k])]
        leaves += found
        full[k] = _rebuilt(args[k], iter(found))
    return leaves, full


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient and the value; of a function with one number as its result."""

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        outer = any(t._var is not None for t in _tensors(args))
        with enable_grad():
            leaves, full = _picked(args, listed(argnums))
            out = func(*full, **kwargs)
            value, aux = out if has_aux else (out, None)
            if not isinstance(value, Base) or value._value.ndim:
                raise RuntimeError("Expected function differentiated by grad to return a scalar: a tensor without axes")
            if value._var is None:
                found: Any = [t.new_zeros(t.shape) for t in leaves]
            else:
                found = autograd.grad(value, leaves, create_graph=outer, materialize_grads=True)
        rest = iter(found)
        grads: Any = tuple([_rebuilt(args[k], rest) for k in listed(argnums)])
        grads = grads[0] if isinstance(argnums, int) else grads
        value = value if outer else value.detach()
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

    def pull(*cotangents: Any) -> Any:
        seeds = cotangents[0] if isinstance(cotangents[0], (tuple, list)) else cotangents
        return autograd.grad(out, leaves, seeds, retain_graph=True, materialize_grads=True)

    return map_nested(lambda t: t.detach(), out), pull


def jvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The result, and its derivative in the direction of the tangents."""
    return derivatives.jvp(func, tuple(primals), tuple(tangents))


def _of_one(func: Callable[..., Any], args: tuple[Any, ...], k: int) -> Callable[..., Any]:
    """The function of the argument with this number, the others as they are."""
    return lambda x: func(*args[:k], x, *args[k + 1 :])


def jacrev(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives the Jacobian with respect to one argument."""

    def differentiated(*args: Any) -> Any:
        x = args[argnums]
        return derivatives.jacobian(_of_one(func, args, argnums), x, create_graph=x._var is not None)

    return differentiated


jacfwd = jacrev


def hessian(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives the Hessian with respect to one argument."""
    return lambda *args: derivatives.hessian(_of_one(func, args, argnums), args[argnums])


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error"
) -> Callable[..., Any]:
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


MEMBERS = {f.__name__: f for f in (grad, grad_and_value, vjp, jvp, jacrev, hessian, vmap)} | {"jacfwd": jacfwd}
