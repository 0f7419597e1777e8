"""The one table of derivative rules, and the decorators that enter them.

Elementwise operations declare their partial derivatives, from which both modes follow. Others have one rule per
argument, so that a partial that nobody needs is never computed. Rules are ordinary Python: called with arrays they
compute, called with IR values they build IR.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
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
    WEIGHTS,
    damped,
    dtype,
    guarded,
    is_constant,
    symbolic,
    times,
    unsupported,
)

Rule = Callable[..., Any]
# ``partial(out, *args)``; None: identically zero; 1 or -1: plus or minus the cotangent itself.
Partial = Callable[..., Any] | int | None
F = TypeVar("F", bound=Callable[..., Any])

_partials: dict[Prim, tuple[Partial, ...]] = {}
_pullbacks: dict[Prim, dict[str, Rule]] = {}
_nondiff: set[Prim] = set()
# The operations of which a partial may be infinite: which zeros of a cotangent it is guarded by, see `lib.guarded`.
_singular: dict[Prim, int] = {}
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

    ``partials[k](out, *args)`` is the derivative of the result with respect to argument `k`; None means that it is
    zero everywhere, 1 and -1 mean that the cotangent is passed on, negated. `singular`: a partial may be infinite
    where the function is finite (or, as one of the levels of `lib`: which zeros of a cotangent it is guarded by).
    """
    _note(sys._getframe(1))
    for prim in _prims(fns, make=True):
        _partials[prim] = partials
        _singular[prim] = WEIGHTS if singular is True else singular


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
            _pullbacks.setdefault(prim, {})[target] = rule
        return rule

    return enter


def nondiff(fns: Any) -> None:
    """Declare that the derivative is zero wherever it exists."""
    _note(sys._getframe(1))
    _nondiff.update(_prims(fns, make=True))


def constant_in(fns: Any, *arguments: str) -> None:
    """Declare that the derivative with respect to these arguments is zero wherever it exists."""
    _note(sys._getframe(1))
    for prim in _prims(fns):
        for name in arguments:
            _pullbacks.setdefault(prim, {})[name] = _zero


def _zero(g: Any, out: Any, *args: Any, **kwargs: Any) -> None:
    return None


def is_nondiff(prim: Prim) -> bool:
    """The derivative of the primitive is zero wherever it exists, in all arguments."""
    return prim in _nondiff


def singular(prim: Prim) -> int:
    """Which zeros of a cotangent the partials of the primitive are guarded by, as one of the levels of `lib`."""
    return _singular.get(prim, NEVER)


def has_rule(prim: Prim) -> bool:
    return prim in _nondiff or prim in _partials or prim in _pullbacks


def partial(prim: Prim, k: int) -> Partial:
    """The partial derivative of an elementwise primitive in argument number `k`; LookupError if it declares none."""
    if prim not in _partials:
        raise RuleLookupError(f"{prim.name} declares no partial derivatives", remedy="give the rule its partials")
    partials = _partials[prim]
    return partials[k] if k < len(partials) else None


def pullback(prim: Prim, argname: str) -> Rule | None:
    """``rule(g, out, *args, **kwargs)`` for one argument, or None if there is none.

    A rule that returns None says that the derivative is zero.
    """
    rules = _pullbacks.get(prim)
    if rules is not None and argname in rules:
        return _checked(prim, rules[argname])
    partials = _partials.get(prim)
    if partials is not None and argname in prim.params:
        k = prim.params.index(argname)
        if k < len(partials):
            return _checked(prim, _from_partial(partials[k], _singular.get(prim, NEVER)))
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


def _from_partial(p: Partial, singular: int) -> Rule:
    if p is None:
        return _zero
    if p == 1:
        return lambda g, out, *args: g
    if p == -1:
        return lambda g, out, *args: -g
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


def rules() -> Sequence[tuple[Prim, str]]:
    """Every primitive and argument that has a rule, in order of registration."""
    found: dict[tuple[Prim, str], None] = {}
    for prim, partials in _partials.items():
        found.update(((prim, name), None) for name, p in zip(prim.params, partials) if p is not None)
    for prim, by_name in _pullbacks.items():
        found.update(((prim, name), None) for name, rule in by_name.items() if rule is not _zero)
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
    if prim not in _partials or kwargs or not all(t.kind in ("array", "py", "generic", "scalar") for t in types):
        return ANY
    dims = broadcast_dims(b, [t.dims for t in types])
    return Ty("any" if not dims else "array", None, dims)
