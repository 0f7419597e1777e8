"""The functions that write derivative rules into the records of operations, and those that read them.

An elementwise operation declares its partial derivatives. Other operations have a pullback per argument, so that a
cotangent that nobody needs is never computed. Rules are ordinary Python: called with arrays they compute, called with
IR values they build IR.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from types import EllipsisType
from typing import Any, TypeVar

import numpy as np

from ..errors import RuleLookupError, is_interruption
from ..families import family_of
from ..ir.core import RULES_OF_USERS, Builder, Prim, type_of
from ..ir.infer import broadcast_dims, cannot_raise, infer_ufunc
from ..ir.ops_common import bound, bound_total, is_number
from ..ir.opset import PRIMS, apply, lookup
from ..ir.roles import PLAIN
from ..ir.types import ANY, PY_FLOAT, Ty
from ..pristine import as_it_was
from ..records import record
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


@record
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


@record
class Overflowing:
    """A partial derivative of an exponential. It may overflow where the operation does, see `lib.cut`."""

    partial: Rule


@record
class Refused:
    """The operation has no derivative with respect to this argument: a partial, and as a pullback the error."""

    reason: str
    remedy: str

    def __call__(self, g: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
        raise unsupported(self.reason, self.remedy)


# A partial is a function ``partial(out, *args)``. None is zero everywhere; 1 and -1 pass the cotangent on; an ellipsis
# stands for an argument that has a pullback instead.
Partial = Rule | Over | Overflowing | Refused | int | EllipsisType | None

_PACKAGE = __name__.split(".")[0] + "."


def _note(frame: Any) -> None:
    module = str(frame.f_globals.get("__name__", ""))
    if not module.startswith(_PACKAGE):
        RULES_OF_USERS.append(module)


def prims_of(fns: Any, make: bool = False) -> list[Prim]:
    """The primitives of a callable, or of several."""
    several: Iterable[Any] = fns if isinstance(fns, (list, tuple, set)) else (fns,)
    return [_prim(fn, make) for fn in several]


def _prim(fn: Any, make: bool) -> Prim:
    prim = fn if isinstance(fn, Prim) else lookup(fn)
    if prim is None:
        name = getattr(fn, "__qualname__", repr(fn))
        ours = str(getattr(fn, "__module__", "")).startswith(_PACKAGE) and not isinstance(fn, np.ufunc)
        prim = _standard(fn) if make else None
        if prim is None and (not make or ours):
            remedy = "enter it with `op` first" if ours else "mark the function with autodiff_compiler.primitive first"
            raise RuleLookupError(f"{name} is not a primitive of the compiler", None, remedy)
        prim = prim or _define(fn)
    return prim


# --- records ----------------------------------------------------------------------------------------------------------


def op(
    fn: Any,
    params: str = "",
    *,
    name: str = "",
    type: Any = None,
    total: Any = None,
    nondiff: bool = False,
    **columns: Any,
) -> Prim:
    """Enter the record of an operation into the table.

    fn:     the callable, or its dotted name ``"np.linalg.inv"`` or ``"scipy.linalg.expm"``
    params: its parameters, each with its role if that is not "plain": ``"a: array, axis, *operands: arrays"``
    type:   ``type(builder, *args, **kwargs)``: the type of the result, from the operation's own arguments
    total:  ``total(builder, *args, **kwargs)``: the call cannot raise; ``"known"``: it cannot raise where its type is
            inferred in full, but for the equalities of lengths that inference marks
    columns: other fields of `Prim`
    """
    if isinstance(fn, str):
        name, fn = name or fn, attribute(fn)
    found = [part.partition(":") for part in params.split(",") if part]
    record = Prim(
        name or fn.__name__, fn, params=tuple([p.strip() for p, _, _ in found]),
        roles=tuple([role.strip() or PLAIN for _, _, role in found]), nondiff=nondiff, **columns,
    )  # fmt: skip
    if type is not None:
        record.infer = bound(type)
    if total == "known":
        record.total = lambda b, args, kwargs: _is_known(record, b, args, kwargs)
    elif total is not None:
        record.total = bound_total(total)
    PRIMS[fn] = record
    return record


def attribute(path: str) -> Any:
    """The callable that a dotted name such as ``np.linalg.inv`` or ``scipy.linalg.expm`` denotes."""
    root, *parts = path.split(".")
    if root == "scipy" and len(parts) > 1:
        return getattr(as_it_was(sys.modules[path.rpartition(".")[0]]), parts[-1])
    if root != "np" or not parts:
        raise RuleLookupError(
            f"{path!r} names no function of NumPy's", None, "give a name like np.sum, or the function"
        )
    found: Any = np
    for part in parts:
        found = getattr(found, part)
    return found


def _is_known(prim: Prim, b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    assert prim.infer is not None
    t = prim.infer(b, args, kwargs)
    return isinstance(t, Ty) and t.kind in ("array", "generic") and is_number(t.dtype) and t.dims is not None


_PRINTED = {"true_divide": "divide", "conjugate": "conj", "absolute": "abs"}
# Functions of `math` that make a float of one or two floats, and those of them that never raise.
MATH_UNARY = [
    "sqrt", "exp", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "fabs", "degrees", "radians", "erf", "erfc", "gamma", "lgamma", "cbrt", "exp2",
]  # fmt: skip
MATH_BINARY = ["atan2", "pow", "fmod", "copysign", "remainder"]
_NEVER_RAISE = ["atan", "tanh", "asinh", "fabs", "degrees", "radians", "erf", "erfc"]


def _standard(fn: Any) -> Prim | None:
    """The record of a ufunc of NumPy's, of a function of `math` on floats, or of an elementwise kernel: all but the
    derivative follows from it."""
    stem = getattr(fn, "__name__", "")
    if isinstance(fn, np.ufunc) and getattr(np, stem, None) is fn:  # not one of other packages
        ufunc: Any = fn
        params = "x: array" if ufunc.nin == 1 else "x1: array, x2: array"

        def total(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
            return not kwargs and cannot_raise(ufunc, [type_of(a) for a in args])

        record = op(
            ufunc, params, name="np." + _PRINTED.get(stem, stem), infer=infer_ufunc(ufunc), elementwise=True,
            nout=ufunc.nout,
        )  # fmt: skip
        record.total = total
        return record
    if isinstance(fn, np.ufunc) and family_of(fn) == "special":
        special: Any = fn
        return op(
            special, ", ".join([f"x{k + 1}: array" for k in range(special.nin)]), name="scipy.special." + stem,
            infer=infer_ufunc(special), elementwise=True, nout=special.nout,
            total=lambda b, *args: cannot_raise(special, [type_of(a) for a in args]),
        )  # fmt: skip
    if stem in (*MATH_UNARY, *MATH_BINARY) and getattr(math, stem, None) is fn:
        return op(
            fn, "x" if stem in MATH_UNARY else "x, y", name="math." + stem, type=lambda b, *args: PY_FLOAT,
            total=are_floats if stem in _NEVER_RAISE else None,
        )  # fmt: skip
    if str(getattr(fn, "__module__", "")).startswith(_PACKAGE + "kernels."):
        operands = list(inspect.signature(fn).parameters)
        like = np.cbrt if len(operands) == 1 else np.arctan2  # real numbers only, and integers make floating numbers
        return op(
            fn, ", ".join([f"{name}: array" for name in operands]), infer=infer_ufunc(like), elementwise=True,
            total=lambda b, *args: cannot_raise(like, [type_of(a) for a in args]),
        )  # fmt: skip
    return None


def are_floats(b: Builder, *args: Any) -> bool:
    """All operands are floating numbers."""
    types = [type_of(a) for a in args]
    return all(t.is_scalar and t.dtype is not None and t.dtype.kind == "f" for t in types)


# --- derivatives ------------------------------------------------------------------------------------------------------


def elementwise(fns: Any, *partials: Partial, singular: int = NEVER) -> None:
    """Declare the partial derivatives of an elementwise function of one or more arguments. A ufunc of NumPy's, a
    function of `math` and a kernel of real numbers need no other record.

    ``partials[k](out, *args)`` is the derivative of the result with respect to argument `k`. None means that it is
    zero everywhere, 1 and -1 mean that the cotangent is passed on, negated. `singular`: a partial may be infinite
    where the function is finite (or, as one of the levels of `lib`: which zeros of a cotangent it is guarded by).
    The partials replace the rules that the function had for these arguments.
    """
    _note(sys._getframe(1))
    for prim in prims_of(fns, make=True):
        prim.partials = partials
        prim.singular = WEIGHTS if singular is True else singular
        for name, partial in zip(prim.params, partials):
            if partial is not ...:
                prim.pullbacks.pop(name, None)


def vjp(
    fns: Any, argument: str | None = None, *, arg: str | None = None, linear: bool | str = False,
    symmetric: bool = False,
) -> Callable[[F], F]:  # fmt: skip
    """Declare the pullback with respect to one argument: ``rule(g, out, *args, **kwargs)`` gives that argument's
    cotangent.

    For a variadic argument (named with its star) or a tuple of arrays, the rule returns a tuple with a cotangent, or
    None, for each. The result may still have the broadcast shape, and any dtype: the transform reduces it to the
    argument's.

    linear:    the operation is linear in the argument, so forward mode applies it to the argument's tangent. A string
               names arguments in which it is linear together: those without a tangent are zeros then.
    symmetric: the rule is its own transpose, as what works element by element is. Applied to the tangent of the
               argument, it gives the tangent of the result.
    """
    name = argument if argument is not None else arg
    if name is None:
        raise TypeError("a rule is for one argument: name it")

    _note(sys._getframe(1))

    def enter(rule: F) -> F:
        for prim in prims_of(fns, make=True):
            target = _parameter(prim, name)
            prim.pullbacks[target] = rule
            if linear:
                group = tuple(linear.replace(",", " ").split()) if isinstance(linear, str) else (target,)
                prim.linear = (*[g for g in prim.linear if g != group], group)
            if symmetric:
                prim.tangents[target] = SYMMETRIC
            if prim.partials is not None:
                prim.partials = tuple([... if n == target else p for n, p in zip(prim.params, prim.partials)])
        return rule

    return enter


def passes_on(fns: Any, argument: str, *, linear: bool | str = False, symmetric: bool = False) -> None:
    """Declare that the cotangent of the result is that of the argument, but for its shape and dtype."""
    _note(sys._getframe(1))
    vjp(fns, argument, linear=linear, symmetric=symmetric)(_same)


def _same(g: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
    return g


def _parameter(prim: Prim, name: str) -> str:
    """The parameter of this name, which may be written without its star."""
    target = name if name in prim.params or "*" + name not in prim.params else "*" + name
    if prim.params and target not in prim.params:
        raise TypeError(f"{prim.name} has no argument {name!r}, it has {', '.join(prim.params)}")
    return target


# Stands for a rule in the column of tangents: the pullback, applied to the tangent.
SYMMETRIC: Any = object()


def jvp(fns: Any, argument: str, *others: str) -> Callable[[F], F]:
    """Declare the tangent by one argument: ``rule(d, out, *args, **kwargs)`` gives what that argument's tangent `d`
    contributes to the tangent of the result.

    For a variadic argument (named with its star) or a tuple of arrays, `d` is a tuple with a tangent, or None, for
    each. For several results, the rule returns a tuple. A rule that returns None says that the contribution is zero.
    One that returns NotImplemented leaves it to the transposed pullback.

    With several arguments, `d` is a tuple of their tangents, and the rule is taken where all of them have one. If it
    returns NotImplemented, the tangent is the sum of what each contributes.
    """
    _note(sys._getframe(1))

    def enter(rule: F) -> F:
        for prim in prims_of(fns, make=True):
            if others:
                prim.together[tuple([_parameter(prim, name) for name in (argument, *others)])] = rule
            else:
                prim.tangents[_parameter(prim, argument)] = rule
        return rule

    return enter


def nondiff(fns: Any) -> None:
    """Declare that the derivative is zero wherever it exists."""
    _note(sys._getframe(1))
    for prim in prims_of(fns, make=True):
        prim.nondiff = True


def constant_in(fns: Any, *arguments: str) -> None:
    """Declare that the derivative with respect to these arguments is zero wherever it exists."""
    _note(sys._getframe(1))
    for prim in prims_of(fns):
        for name in arguments:
            prim.pullbacks[name] = _zero


def is_constant_in(prim: Prim, name: str) -> bool:
    """The derivative with respect to the argument is declared to be zero."""
    return prim.nondiff or prim.pullbacks.get(name) is _zero


def refuses(fns: Any, refused: Refused, *arguments: str) -> None:
    """Declare that there is no derivative with respect to these arguments, and why."""
    _note(sys._getframe(1))
    for prim in prims_of(fns):
        for name in arguments:
            prim.pullbacks[_parameter(prim, name)] = refused


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
            if is_interruption(error):
                raise
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
    if isinstance(p, Refused):
        return p
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
        found.update(((prim, name), None) for name, p in zip(prim.params, partials) if not _is_none(p))
        found.update(
            ((prim, name), None) for name, rule in prim.pullbacks.items() if rule is not _zero and not _is_none(rule)
        )
    return list(found)


def _is_none(p: Partial) -> bool:
    """There is nothing to compute: the derivative is zero, refused, or said by a pullback."""
    return p is None or p is ... or isinstance(p, Refused)


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
