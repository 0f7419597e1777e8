"""The functions that write derivative rules into the records of operations, and those that read them.

An elementwise operation declares its partial derivatives. Other operations have a pullback per argument, so that a
cotangent that nobody needs is never computed. Rules are ordinary Python: called with arrays they compute, called with
IR values they build IR.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, TypeVar

from ..errors import RuleLookupError
from ..ir.core import Builder, Prim, type_of
from ..ir.infer import broadcast_dims
from ..ir.opset import PRIMS, apply, lookup
from ..ir.types import ANY, Ty
from . import roots
from .lib import (
    BOOL,
    CHOICES,
    NEVER,
    STEP,
    SUBSCRIPTS,
    WEIGHTS,
    cut,
    damped,
    dtype,
    guarded,
    is_constant,
    quotient,
    steep,
    symbolic,
    times,
    unsupported,
)

Rule = Callable[..., Any]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Over:
    """The partial derivative ``1 / divisor(out, *args)``, applied by one division.

    negative: the partial is ``-1 / divisor``
    steep:    the operation is infinite where the divisor is, see `lib.steep`
    safe:     a number at which the divisor is neither zero nor nan
    """

    divisor: Rule
    negative: bool = False
    steep: bool = False
    safe: float = 0.5


@dataclass(frozen=True, slots=True)
class Overflowing:
    """A partial derivative of an exponential. It may overflow where the operation does, see `lib.cut`."""

    partial: Rule


# A partial is a function ``partial(out, *args)``. None is zero everywhere; 1 and -1 pass the cotangent on; an ellipsis
# stands for an argument that has a pullback instead.
Partial = Rule | Over | Overflowing | int | EllipsisType | None

# Set once code outside of this package entered something: then the table is no longer what the package's version says.
_by_users: list[str] = []


def _note(frame: Any) -> None:
    module = str(frame.f_globals.get("__name__", ""))
    if not module.startswith(__name__.split(".")[0] + "."):
        _by_users.append(module)


def has_user_rules() -> bool:
    """Whether a rule or primitive was registered by code outside of this package."""
    return bool(_by_users)


def _prims(fns: Any, make: bool = False) -> list[Prim]:
    """The primitives of a callable, or of several."""
    several: Iterable[Any] = fns if isinstance(fns, (list, tuple, set)) else (fns,)
    return [_prim(fn, make) for fn in several]


def _prim(fn: Any, make: bool) -> Prim:
    prim = fn if isinstance(fn, Prim) else lookup(fn)
    if prim is None:
        name = getattr(fn, "__qualname__", repr(fn))
        if not make:
            raise RuleLookupError(
                f"{name} is not a primitive of the compiler",
                None,
                "mark the function with autodiff_compiler.primitive first",
            )
        prim = _define(fn)
    return prim


def elementwise(fns: Any, *partials: Partial, singular: int = NEVER) -> None:
    """Declare the partial derivatives of an elementwise function of one or more arguments.

    ``partials[k](out, *args)`` is the derivative of the result with respect to argument `k`. None means that it is
    zero everywhere, 1 and -1 mean that the cotangent is passed on, negated. `singular`: a partial may be infinite
    where the function is finite (or, as one of the levels of `lib`: which zeros of a cotangent it is guarded by).
    The partials replace the rules that the function had for these arguments.
    """
    _note(sys._getframe(1))
    for prim in _prims(fns, make=True):
        prim.partials = partials
        prim.singular = WEIGHTS if singular is True else singular
        for name, partial in zip(prim.params, partials):
            if partial is not ...:
                prim.pullbacks.pop(name, None)


def vjp(fns: Any, argument: str | None = None, *, arg: str | None = None) -> Callable[[F], F]:
    """Declare the pullback with respect to one argument: ``rule(g, out, *args, **kwargs)`` gives that argument's
    cotangent.

    For a variadic argument (named with its star) or a tuple of arrays, the rule returns a tuple with a cotangent, or
    None, for each. The result may still have the broadcast shape, and any dtype: the transform reduces it to the
    argument's.
    """
    name = argument if argument is not None else arg
    if name is None:
        raise TypeError("a rule is for one argument: name it")

    _note(sys._getframe(1))

    def enter(rule: F) -> F:
        for prim in _prims(fns, make=True):
            target = name if name in prim.params or "*" + name not in prim.params else "*" + name
            if prim.params and target not in prim.params:
                raise TypeError(f"{prim.name} has no argument {name!r}, it has {', '.join(prim.params)}")
            prim.pullbacks[target] = rule
            if prim.partials is not None:
                prim.partials = tuple([... if n == target else p for n, p in zip(prim.params, prim.partials)])
        return rule

    return enter


def nondiff(fns: Any) -> None:
    """Declare that the derivative is zero wherever it exists."""
    _note(sys._getframe(1))
    for prim in _prims(fns, make=True):
        prim.nondiff = True


def constant_in(fns: Any, *arguments: str) -> None:
    """Declare that the derivative with respect to these arguments is zero wherever it exists."""
    _note(sys._getframe(1))
    for prim in _prims(fns):
        for name in arguments:
            prim.pullbacks[name] = _zero


def _zero(g: Any, out: Any, *args: Any, **kwargs: Any) -> None:
    return None


def has_rule(prim: Prim) -> bool:
    """The primitive has a derivative, which may be zero."""
    return prim.nondiff or prim.partials is not None or bool(prim.pullbacks)


def pullback(prim: Prim, argname: str) -> Rule | None:
    """``rule(g, out, *args, **kwargs)`` for one argument, or None if there is none.

    A rule that returns None says that the derivative is zero.
    """
    if argname in prim.pullbacks:
        return _checked(prim, prim.pullbacks[argname])
    if prim.partials is not None and argname in prim.params:
        k = prim.params.index(argname)
        if k < len(prim.partials):
            return _checked(prim, _from_partial(prim.partials[k], k, prim.singular))
    return None


def _checked(prim: Prim, rule: Rule) -> Rule:
    """The rule; where the call has arguments that it does not know, a LookupError."""

    def run(g: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return rule(g, out, *args, **kwargs)
        except TypeError as error:
            try:
                inspect.signature(rule).bind(g, out, *args, **kwargs)
            except TypeError as reason:
                raise unsupported(
                    f"the derivative rule of {prim.name} does not cover this call: {reason}",
                    f"call {prim.name} without that argument",
                ) from error
            raise

    return run


def _from_partial(p: Partial, k: int, singular: int) -> Rule:
    """The pullback for a partial in argument number `k`."""
    if p is None:
        return _zero
    if p == 1:
        return lambda g, out, *args: g
    if p == -1:
        return lambda g, out, *args: -g
    if isinstance(p, Over):
        return _from_quotient(p, k, singular)
    if isinstance(p, Overflowing):
        exponential = p.partial
        return lambda g, out, x: guarded(g, lambda out, x: g * cut(g, exponential(out, x), x), (out, x), CHOICES)
    assert callable(p)

    def rule(g: Any, out: Any, *args: Any) -> Any:
        if singular == STEP:
            return damped(g, p(out, *args))
        if not singular:
            return times(g, p(out, *args))
        if singular == CHOICES:
            factor = p(out, *args)
            if is_constant(factor):
                return times(g, factor) if factor else None
            if dtype(factor) == BOOL:
                return guarded(g, lambda *a: damped(g, p(*a)), (out, *args), singular)
        if singular == WEIGHTS:
            return roots.product(g, args, (out, *args), p)
        return guarded(g, lambda *a: times(g, p(*a)), (out, *args), singular)

    return rule


def _from_quotient(p: Over, k: int, singular: int) -> Rule:
    def rule(g: Any, out: Any, *args: Any) -> Any:
        def applied(out: Any, *args: Any) -> Any:
            found = quotient(g, p.divisor(out, *args))
            found = steep(found) if p.steep else found
            return -found if p.negative else found

        if singular == WEIGHTS:
            numerator = -1 if p.negative else 1
            return roots.quotient(g, args[k], (out, *args), applied, numerator, p.divisor, p.safe)
        return guarded(g, applied, (out, *args), SUBSCRIPTS if singular else NEVER, p.safe)

    return rule


def rules() -> Sequence[tuple[Prim, str]]:
    """Every primitive and argument that has a rule, in the order of the table."""
    found: dict[tuple[Prim, str], None] = {}
    for prim in PRIMS.values():
        partials = prim.partials or ()
        found.update(((prim, name), None) for name, p in zip(prim.params, partials) if p not in (None, ...))
        found.update(((prim, name), None) for name, rule in prim.pullbacks.items() if rule is not _zero)
    return list(found)


# --- users' primitives ------------------------------------------------------------------------------------------------


def primitive(fn: F) -> F:
    """Have the compiler treat `fn` as one operation, not look inside it, and differentiate it by the rules registered
    for it.

    `fn` must compute a result from its arguments and do nothing else: not write to them, not read what changes
    between calls. Rules may call what is returned: there, with IR values, it is the operation.
    """
    _note(sys._getframe(1))
    prim = lookup(fn) or _define(fn)

    @functools.wraps(fn)
    def operation(*args: Any, **kwargs: Any) -> Any:
        return apply(fn, *args, **kwargs) if symbolic(args, kwargs) else fn(*args, **kwargs)

    PRIMS[operation] = prim
    return operation  # type: ignore[return-value]


def _define(fn: Any) -> Prim:
    names: list[str] = []
    for p in inspect.signature(fn).parameters.values():
        names.append("*" + p.name if p.kind is p.VAR_POSITIONAL else p.name)
        if p.kind is p.VAR_KEYWORD:
            names.pop()
    name = getattr(fn, "__name__", "primitive")
    prim = Prim(name, fn, params=tuple(names), alias="maybe")
    prim.infer = lambda b, args, kwargs: _infer_user(prim, b, args, kwargs)
    PRIMS[fn] = prim
    return prim


def _infer_user(prim: Prim, b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An elementwise function of arrays gives an array of the broadcast shape; of anything else nothing is known."""
    types = [type_of(a) for a in args]
    if prim.partials is None or kwargs or not all(t.kind in ("array", "py", "generic", "scalar") for t in types):
        return ANY
    dims = broadcast_dims(b, [t.dims for t in types])
    return Ty("any" if not dims else "array", None, dims)
