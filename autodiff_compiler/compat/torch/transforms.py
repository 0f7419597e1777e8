"""``torch.func``: transforms of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import autograd, derivatives
from .core import Base
from .modes import enable_grad


def _picked(args: tuple[Any, ...], argnums: Any) -> tuple[list[int], list[Any], tuple[Any, ...]]:
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)
    leaves = [
        args[k].detach().clone().requires_grad_() if args[k]._var is None else args[k].view_as(args[k]) for k in numbers
    ]
    full = list(args)
    for k, leaf in zip(numbers, leaves):
        full[k] = leaf
    return numbers, leaves, tuple(full)


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient and the value; of a function with one number as its result."""

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        outer = any(isinstance(a, Base) and a._var is not None for a in args)
        with enable_grad():
            _, leaves, full = _picked(args, argnums)
            out = func(*full, **kwargs)
            value, aux = out if has_aux else (out, None)
            if not isinstance(value, Base) or value._value.ndim:
                raise RuntimeError("Expected function differentiated by grad to return a scalar: a tensor without axes")
            if value._var is None:
                found: tuple[Any, ...] = tuple([t.new_zeros(t.shape) for t in leaves])
            else:
                found = autograd.grad(value, leaves, create_graph=outer, materialize_grads=True)
        grads = found[0] if isinstance(argnums, int) else found
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
        _, leaves, full = _picked(primals, tuple(range(len(primals))))
        out = func(*full)

    def pull(*cotangents: Any) -> Any:
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        seeds = list(cotangents[0]) if isinstance(cotangents[0], (tuple, list)) else list(cotangents)
        return autograd.grad(outs, leaves, seeds, retain_graph=True, materialize_grads=True)

    shown = tuple([t.detach() for t in out]) if isinstance(out, (tuple, list)) else out.detach()
    return shown, pull


def jvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The result, and its derivative in the direction of the tangents."""
    return derivatives.jvp(func, tuple(primals), tuple(tangents))


def jacrev(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives the Jacobian with respect to one argument."""

    def differentiated(*args: Any) -> Any:
        def of_one(x: Any) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1 :])

        outer = args[argnums]._var is not None
        return derivatives.jacobian(of_one, args[argnums], create_graph=outer)

    return differentiated


jacfwd = jacrev


def hessian(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function that gives the Hessian with respect to one argument."""

    def differentiated(*args: Any) -> Any:
        return derivatives.hessian(lambda x: func(*args[:argnums], x, *args[argnums + 1 :]), args[argnums])

    return differentiated


MEMBERS = {f.__name__: f for f in (grad, grad_and_value, vjp, jvp, jacrev, hessian)} | {"jacfwd": jacfwd}
