"""``torch.autograd.functional``: derivatives of functions of tensors, at tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import autograd
from .core import Base, listed
from .directions import columns, done, leaf, pushed, rows, zeros
from .modes import enable_grad

TWICE = "The function given to {} should return a single Tensor"
ONE = "The Tensor returned by the function given to {} should contain a single element"


def _run(func: Callable[..., Any], inputs: Any, connected: bool) -> tuple[list[Any], list[Any], Callable[..., Any]]:
    """Fresh inputs, the outputs, and what makes a result of a list: it or its one item, as the function does."""
    for t in listed(inputs):
        if not isinstance(t, Base):
            raise TypeError(
                f"The inputs given to the function must be either a Tensor or a tuple of Tensors, got {t!r}"
            )
    with enable_grad():
        leaves = [leaf(t, connected) for t in listed(inputs)]
        out = func(*leaves)
    outs = listed(out)
    if not all(isinstance(t, Base) for t in outs):
        raise TypeError("The outputs of the user-provided function must be either a Tensor or a tuple of Tensors")
    return leaves, outs, tuple if isinstance(out, (tuple, list)) else lambda found: next(iter(found))


def _require(outs: list[Any], strict: bool) -> None:
    for k, t in enumerate(outs):
        if strict and t._var is None:
            raise RuntimeError(
                f"Output {k} of the user-provided function does not require gradients. The outputs must be computed in "
                "a differentiable manner from the input when running in strict mode."
            )


def _checked(found: list[Any], likes: list[Any], strict: bool, what: str) -> list[Any]:
    """Derivatives, with zeros for those that are None. Raises RuntimeError for these if `strict`."""
    for k, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(f"{what.format(k)} This is not allowed in strict mode.")
    return [zeros(t) if g is None else g for g, t in zip(found, likes)]


def _vectors(v: Any, likes: list[Any], what: str) -> list[Any]:
    """The vectors that are given for tensors; ones for tensors of one element by default."""
    if v is None:
        if len(likes) != 1 or likes[0]._value.size != 1:
            raise RuntimeError(f"The vector v can only be None if {what} a single Tensor with a single element.")
        return [zeros(likes[0]) + 1]
    given = listed(v)
    if len(given) != len(likes):
        several = f"v is a tuple of invalid length: should be {len(likes)} but got {len(given)}."
        raise RuntimeError("The given v should contain a single Tensor." if len(likes) == 1 else several)
    for k, (d, t) in enumerate(zip(given, likes)):
        if d._value.shape != t._value.shape:
            entry = "" if len(likes) == 1 else f"Entry {k} in "
            raise RuntimeError(f"{entry}v has invalid size: should be {t.shape} but got {d.shape}.")
    return given


INPUT = "the input to the user-provided function is"
OUTPUT = "the user-provided function returns"
NO_PATH = "The output of the user-provided function is independent of input {}."
FLAT = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input."
)


def _plain(found: list[Any], graph: bool) -> list[Any]:
    return [t if graph else t.detach() for t in found]


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian of ``func(*inputs)``, of shape output + input; tuples of them for tuples of outputs and inputs.

    It takes one backward pass for all elements of the output where each operation has a rule for that, and else one
    for each of them. With ``strategy="forward-mode"`` the tangents of all elements of the inputs go through at once.
    `create_graph`: the result is recorded. `strict`: RuntimeError for an output that does not depend on an input.

    >>> from autodiff_compiler.compat import torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    leaves, outs, packed = _run(func, inputs, create_graph)
    _require(outs, strict)
    done(leaves)
    forward = strategy == "forward-mode"
    found = columns(outs, leaves, create_graph) if forward else [rows(out, leaves, create_graph) for out in outs]
    made = []
    for k, (out, row) in enumerate(zip(outs, found)):
        if strict and None in row:
            raise RuntimeError(
                f"Output {k} of the user-provided function is independent of input {row.index(None)}. This is not "
                "allowed in strict mode."
            )
        full = _plain([zeros(t, out._value.shape) if g is None else g for g, t in zip(row, leaves)], create_graph)
        made.append(full[0] if isinstance(inputs, Base) else tuple(full))
    return packed(made)


def _single(func: Callable[..., Any], name: str) -> Callable[..., Any]:
    def checked(*leaves: Any) -> Any:
        out = func(*leaves)
        if not isinstance(out, Base):
            raise RuntimeError(TWICE.format(name))
        if out._value.size != 1:
            raise RuntimeError(ONE.format(name))
        return out.reshape(())

    return checked


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Hessian of a function with one number as its result: the Jacobian of its gradient."""
    single = _single(func, "hessian")

    def gradient(*leaves: Any) -> Any:
        out = single(*leaves)
        if out._var is None:
            return tuple([t * 0 for t in leaves])
        found = autograd.grad(out, leaves, create_graph=True, materialize_grads=True)
        return tuple([g if g._var is not None else g + 0 * t for g, t in zip(found, leaves)])

    found = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found[0] if isinstance(inputs, Base) else found


def _like_inputs(inputs: Any, found: list[Any]) -> Any:
    return found[0] if isinstance(inputs, Base) else tuple(found)


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The result, and the product of `v` with the Jacobian."""
    leaves, outs, packed = _run(func, inputs, create_graph)
    _require(outs, strict)
    vectors = _vectors(v, outs, OUTPUT)
    with enable_grad():
        found = list(_gradients(outs, leaves, vectors, create_graph))
    done(leaves)
    full = _checked(found, leaves, strict, NO_PATH)
    return packed(_plain(outs, create_graph)), _like_inputs(inputs, _plain(full, create_graph))


def _gradients(outs: list[Any], leaves: list[Any], seeds: list[Any], graph: bool) -> Any:
    live = [(t, g) for t, g in zip(outs, seeds) if t._var is not None]
    if not live:
        return [None] * len(leaves)
    heads, given = zip(*live)
    return autograd.grad(heads, leaves, given, allow_unused=True, create_graph=graph, retain_graph=True)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The result, and the product of the Jacobian with `v`."""
    leaves, outs, packed = _run(func, inputs, create_graph)
    _require(outs, strict)
    found = pushed(outs, leaves, _vectors(v, leaves, INPUT), create_graph)
    done(leaves)
    full = _checked(found, outs, strict, "Output {} of the user-provided function is independent of the inputs.")
    return packed(_plain(outs, create_graph)), packed(_plain(full, create_graph))


def _second(
    func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool, name: str, forward: bool
) -> Any:
    leaves, (out,), _ = _run(_single(func, name), inputs, create_graph)
    vectors = _vectors(v, leaves, INPUT)
    with enable_grad():
        first = _checked(_gradients([out], leaves, [zeros(out) + 1], True), leaves, strict, NO_PATH)
        if forward:
            found = pushed(first, leaves, vectors, create_graph)
        else:
            found = list(_gradients(first, leaves, vectors, create_graph))
    done(leaves)
    full = _checked(found, leaves, strict, FLAT)
    return _plain([out], create_graph)[0], _like_inputs(inputs, _plain(full, create_graph))


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The result, one number, and the product of its Hessian with `v`: the tangent of the gradient."""
    return _second(func, inputs, v, create_graph, strict, "hvp", True)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The result, one number, and the product of `v` with its Hessian: the gradient of the gradient along `v`."""
    return _second(func, inputs, v, create_graph, strict, "vhp", False)


FUNCTIONAL = {"jacobian": jacobian, "hessian": hessian, "vjp": vjp, "jvp": jvp, "hvp": hvp, "vhp": vhp}
__all__ = ["FUNCTIONAL"]
