"""``torch.func``: functions of functions of tensors. Arguments and results may be nests of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tape.nest import flatten, map_nested, pack_like
from . import autograd
from .core import Base, listed
from .directions import columns, done, is_connected, pulled, pushed, rebuilt, released, rows, run, tensors_of, zeros
from .mapping import check_randomness, vmap
from .stateless import functional_call, stack_module_state


def _numbers(argnums: Any, args: tuple[Any, ...]) -> list[int]:
    """The positions of the arguments to differentiate by."""
    if not isinstance(argnums, int) and not (
        isinstance(argnums, tuple) and argnums and all(isinstance(k, int) for k in argnums)
    ):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = []
    for k in listed(argnums):
        if not -len(args) <= k < len(args):
            raise RuntimeError(f"Got argnum={k}, but only {len(args)} positional inputs")
        found.append(k % len(args))
    if len(set(found)) < len(found):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return found


def _floating(args: Any) -> None:
    for t in tensors_of(args):
        if t._value.dtype.kind not in "fc":
            raise ValueError(f"Expected primal to be floating point or complex, but got: {t.dtype}")


def _split(out: Any, has_aux: bool, what: str) -> tuple[Any, Any]:
    """The result and what comes beside it."""
    if not has_aux:
        return out, None
    if not isinstance(out, tuple) or len(out) != 2:
        raise RuntimeError(f"{what}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return out


def _outputs(out: Any, what: str) -> list[Any]:
    """The tensors of a result, which has to consist of them."""
    for t in flatten(out):
        if not isinstance(t, Base):
            raise RuntimeError(f"{what}: expected f(*primals) to return only tensors, got unsupported type {type(t)}")
    return flatten(out)


def _by_argument(argnums: Any, numbers: list[int], args: tuple[Any, ...], found: list[Any]) -> Any:
    """Derivatives by the tensors of the arguments, in the structure of these."""
    rest = iter(found)
    made = tuple([rebuilt(args[k], rest) for k in numbers])
    return made[0] if isinstance(argnums, int) else made


# --- gradients --------------------------------------------------------------------------------------------------------


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient and the value; of a function with one number as its result."""

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        what = "grad_and_value(f)(*args)"
        numbers = _numbers(argnums, args)
        leaves, out = run(func, args, numbers, kwargs)
        value, aux = _split(out, has_aux, what)
        if not isinstance(value, Base):
            raise RuntimeError(f"{what}: Expected f(*args) to return a Tensor, got {type(value)}")
        if value._value.ndim:
            raise RuntimeError(
                f"{what}: Expected f(*args) to return a scalar Tensor, got tensor with {value._value.ndim} dims. Maybe "
                "you wanted to use the vjp or jacrev APIs instead?"
            )
        done(leaves)
        graph = is_connected([value])
        found: Any = [zeros(t) for t in leaves]
        if value._var is not None:
            found = autograd.grad(value, leaves, create_graph=graph, materialize_grads=True)
        grads = _by_argument(argnums, numbers, args, list(found))
        value, aux = released((value, aux))
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


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The result, and the function from its cotangents to those of the arguments; with `has_aux`, what comes beside the
    result, too."""
    leaves, whole = run(func, primals, list(range(len(primals))))
    out, aux = _split(whole, has_aux, "vjp(f, *primals)")
    outs = _outputs(out, "vjp(f, *primals)")
    done(leaves)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        _same_structure(out, cotangents, "cotangents", "outputs to the function")
        seeds = flatten(cotangents)
        graph = is_connected([*outs, *seeds]) if create_graph is None else create_graph
        found = iter(pulled(outs, leaves, seeds, retain_graph=True, create_graph=graph))
        return tuple([rebuilt(x, found) for x in primals])

    return (released(out), pull, released(aux)) if has_aux else (released(out), pull)


def _same_structure(x: Any, given: Any, name: str, of: str) -> None:
    if map_nested(_nothing, x) != map_nested(_nothing, given):
        raise RuntimeError(
            f"Expected pytree structure of {name} to be the same as pytree structure of {of}: give a tensor for each, "
            "in the same nest"
        )


def _nothing(t: Any) -> None:
    return None


# --- forward mode -----------------------------------------------------------------------------------------------------


def _directions(primals: Any, tangents: Any, what: str) -> list[Any]:
    """The tangents of the tensors of the arguments, which have their shapes."""
    if map_nested(_nothing, primals) != map_nested(_nothing, tangents):
        raise RuntimeError(
            f"{what}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            "tuple of 3 tensors, tangents also must be."
        )
    dots = []
    for t, d in zip(flatten(primals), flatten(tangents)):
        if not isinstance(t, Base):
            continue
        if not isinstance(d, Base) or d._value.shape != t._value.shape:
            size = list(d.shape) if isinstance(d, Base) else type(d).__name__
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is "
                f"not supported. Tensor is of size {list(t.shape)} while the given forward gradient is of size {size}."
            )
        dots.append(d if d._value.dtype == t._value.dtype else d.to(t.dtype))
    return dots


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:  # fmt: skip
    """The result, and its derivative in the direction of the tangents; with `has_aux`, what comes beside the result,
    too. `strict`: RuntimeError for a result that does not depend on the arguments.

    >>> from autodiff_compiler.compat import torch
    >>> torch.func.jvp(lambda x: x * x, (torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, 0.0]),))
    (tensor([1., 4.]), tensor([2., 0.]))
    """
    what = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{what}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    if not tensors_of(primals):
        raise RuntimeError(f"{what}: Expected primals to contain at least one Tensor.")
    dots = _directions(primals, tangents, what)
    _floating(primals)
    leaves, whole = run(func, primals, list(range(len(primals))))
    out, aux = _split(whole, has_aux, what)
    outs = _outputs(out, what)
    done(leaves)
    found = pushed(outs, leaves, dots, is_connected([*outs, *dots]))
    if strict and None in found:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    moved = pack_like(out, [zeros(t) if d is None else d for d, t in zip(found, outs)])
    return (released(out), moved, released(aux)) if has_aux else (released(out), moved)


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """The result, and the function from tangents of the arguments to those of the result. `func` runs once.

    >>> from autodiff_compiler.compat import torch
    >>> out, push = torch.func.linearize(lambda x: x * x, torch.tensor([1.0, 2.0]))
    >>> push(torch.tensor([1.0, 0.0])), push(torch.tensor([0.0, 1.0]))
    (tensor([2., 0.]), tensor([0., 4.]))
    """
    _floating(primals)
    leaves, out = run(func, primals, list(range(len(primals))))
    outs = _outputs(out, "linearize(f, *primals)")
    done(leaves)

    def push(*tangents: Any) -> Any:
        dots = _directions(primals, tangents, "linearize(f, *primals)")
        found = pushed(outs, leaves, dots, is_connected([*outs, *dots]))
        return pack_like(out, [zeros(t) if d is None else d for d, t in zip(found, outs)])

    return released(out), push


# --- Jacobians --------------------------------------------------------------------------------------------------------


def _jacobian(
    func: Callable[..., Any], argnums: Any, has_aux: bool, what: str, blocks: Callable[..., list[list[Any]]]
) -> Callable[..., Any]:
    """The function that gives the Jacobian: the structure of the result, with that of the arguments in the place of
    each tensor."""

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        numbers = _numbers(argnums, args)
        _floating([args[k] for k in numbers])
        leaves, whole = run(func, args, numbers, kwargs)
        out, aux = _split(whole, has_aux, what)
        outs = _outputs(out, what)
        done(leaves)
        found = blocks(outs, leaves, is_connected(outs))
        made = []
        for t, row in zip(outs, found):
            full = [zeros(x, t._value.shape) if g is None else g for g, x in zip(row, leaves)]
            made.append(_by_argument(argnums, numbers, args, full))
        jacobian = pack_like(out, made)
        return (jacobian, released(aux)) if has_aux else jacobian

    return differentiated


def jacrev(
    func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The function that gives the Jacobian by cotangents: those of all elements of the result go back at once, or so
    many of them together as `chunk_size` says.

    >>> from autodiff_compiler.compat import torch
    >>> torch.func.jacrev(lambda x: x * x)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size < 1:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    def blocks(outs: list[Any], leaves: list[Any], graph: bool) -> list[list[Any]]:
        return [rows(t, leaves, graph, chunk_size) for t in outs]

    return _jacobian(func, argnums, has_aux, "vjp(f, *primals)", blocks)


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:  # fmt: skip
    """The function that gives the Jacobian by tangents: those of all elements of the arguments go through at once.

    `func` runs once, so its random numbers are the same for all elements, whatever `randomness` says.

    >>> from autodiff_compiler.compat import torch
    >>> torch.func.jacfwd(lambda x: x * x)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    check_randomness(randomness)
    return _jacobian(func, argnums, has_aux, "jvp(f, primals, tangents)", columns)


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The function that gives the Hessian: the Jacobian of the Jacobian, tangents of cotangents."""
    return jacfwd(jacrev(func, argnums), argnums)


FUNC = {
    "grad": grad, "grad_and_value": grad_and_value, "vjp": vjp, "jvp": jvp, "linearize": linearize, "jacrev": jacrev,
    "jacfwd": jacfwd, "hessian": hessian, "vmap": vmap, "functional_call": functional_call,
    "stack_module_state": stack_module_state,
}  # fmt: skip
__all__ = ["FUNC", "vmap"]
