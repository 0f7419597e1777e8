"""The tangent column: how the tangent of an operation's result follows from those of its operands.

Most operations need no rule of their own:

- An elementwise operation multiplies by its partial derivative, as its pullback does. So the pullback, applied to the
  tangent, gives the tangent of the result.
- An operation that is linear in an argument is applied to the argument's tangent.
- Where two arguments move, one expression may cost less than the sum of what each contributes: a quotient is divided
  once.
- Others have a rule of their own in their record, where the transposed pullback would be slow. `transforms.jvp`
  transposes the pullback of the rest.

>>> import numpy as np
>>> from autodiff_compiler.ir.opset import PRIMS
>>> contributions(PRIMS[np.sin], 0.0, (0.0,), {}, {"x": 3.0})
([np.float64(3.0)], [])
>>> contributions(PRIMS[np.dot], 11.0, (np.array([1.0, 2.0]), np.array([3.0, 4.0])), {}, {"a": np.array([1.0, 0.0])})
([np.float64(3.0)], [])
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from .. import runtime
from ..ir import opset
from ..ir.core import Prim, Value, current, type_of
from ..ir.types import Ty, same_dtype
from . import lib, record
from .choices import WHERE
from .record import SYMMETRIC


def column(prim: Prim, name: str) -> str:
    """How the tangent by an argument is found: "zero", "explicit", "linear", "partial", "transposed", or nothing.

    >>> import numpy as np
    >>> from autodiff_compiler.ir.opset import PRIMS
    >>> column(PRIMS[np.exp], "x"), column(PRIMS[np.sum], "a"), column(PRIMS[np.sum], "axis")
    ('partial', 'linear', '')
    """
    if record.is_constant_in(prim, name):
        return "zero"
    if name in prim.tangents:
        return "partial" if prim.tangents[name] is SYMMETRIC else "explicit"
    if any(name in group for group in prim.linear):
        return "linear"
    if record.pullback(prim, name) is None:
        return ""
    return "partial" if acts_elementwise(prim) else "transposed"


def acts_elementwise(prim: Prim) -> bool:
    """The pullback multiplies the cotangent element by element."""
    return prim.nout == 1 and (prim.elementwise or prim.partials is not None)


def contributions(
    prim: Prim, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dots: Mapping[str, Any]
) -> tuple[list[Any], list[str]]:
    """The contributions to the tangent of the result, and the arguments for which only transposition is left.

    `dots` holds the tangents of arguments by name, in the structure of the argument, with None for what has none.
    Called with arrays it computes, called with IR values it builds IR.
    """
    found: list[Any] = []
    rest: list[str] = []
    done: set[str] = set()
    for names, together in prim.together.items():
        if all(dots.get(name) is not None for name in names):
            t = together(tuple([dots[name] for name in names]), out, *args, **kwargs)
            if t is not NotImplemented:
                found.append(t)
                done.update(names)
    for name, d in dots.items():
        how = column(prim, name)
        if name in done or how == "zero":
            continue
        t = NotImplemented
        if how == "explicit":
            t = prim.tangents[name](d, out, *args, **kwargs)
        elif how == "linear":
            group = next(g for g in prim.linear if name in g)
            done.update(group)
            t = applied(prim, args, kwargs, {n: dots.get(n) for n in group})
            if prim not in _BROADCAST or all(dots.get(n) is not None for n in group):
                t = lib.at_shape(t, out)  # tangents have the shapes of their values
        elif how == "partial":
            rule = record.pullback(prim, name)
            assert rule is not None
            t = rule(d, out, *args, **kwargs)
        if t is NotImplemented:
            rest.append(name)
        elif t is not None:
            found.append(t)
    return found, rest


def applied(prim: Prim, args: tuple[Any, ...], kwargs: dict[str, Any], dots: Mapping[str, Any]) -> Any:
    """The operation with tangents in place of the arguments of a group."""
    for name in dots:
        rule = prim.pullbacks.get(name)
        if rule is not None:
            # An argument that the rule does not know, as `initial`, may make it affine.
            try:
                inspect.signature(rule).bind(None, None, *args, **kwargs)
            except TypeError as reason:
                raise lib.unsupported(
                    f"the derivative rule of {prim.name} does not cover this call: {reason}",
                    f"call {prim.name} without that argument",
                ) from None
    new: list[Any] = []
    for k, arg in enumerate(args):
        name = prim.params[min(k, len(prim.params) - 1)]
        if name in dots and name[0] == "*":
            new += _filled(prim, name, args[k:], dots[name])
            break
        new.append(_filled(prim, name, arg, dots[name]) if name in dots else arg)
    keywords = {name: _filled(prim, name, arg, dots[name]) if name in dots else arg for name, arg in kwargs.items()}
    if lib.symbolic(new, keywords):
        return current().emit(prim, *new, **keywords)
    assert prim.fn is not None
    return prim.fn(*new, **keywords)


def _filled(prim: Prim, name: str, arg: Any, d: Any) -> Any:
    """The tangent of an argument, with zeros where there is none."""
    if isinstance(arg, (list, tuple)):
        return type(arg)([_filled(prim, name, x, None if d is None else d[k]) for k, x in enumerate(arg)])
    if d is not None:
        return d
    if lib.is_scalar(arg) or (name in _BROADCAST.get(prim, ()) and type_of(arg).kind != "list"):
        return 0.0
    return lib.zeros(arg)


# Where a zero in place of zeros will do, as the result has the shape of something else.
_BROADCAST: dict[Prim, tuple[str, ...]] = {
    opset.SET: ("v",), opset.ADDAT: ("v",), opset.ACCUM: ("v",), WHERE: ("x", "y"),
}  # fmt: skip


def fitted(t: Any, out: Any, follows: bool = False) -> Any:
    """The tangent `t` in the shape and dtype of the value `out` that it belongs to.

    `follows`: its dtype is that of `out` if neither is known, as for an operation that is linear.
    """
    if type(out) is not Value:
        return _fitted_array(t, out)
    want = out.type
    if want.kind == "list" or want.dtype is not None and want.dtype.kind == "V":
        return t
    have = type_of(t)
    if want.kind == "array" and want.dims == () and have.kind != "array":
        # NumPy makes numbers of arrays without axes.
        return current().emit(opset.SET, lib.zeros(out), (("index", (Ellipsis,)),), t)
    if not _same_shape(have, want):
        t = current().emit(opset.SPREAD, t, out)
        have = type_of(t)
    if same_dtype(have.dtype, want.dtype) or (want.kind == "py" and have.is_scalar and have.is_real and want.is_real):
        return t
    if want.dtype is None and (have.is_real or follows):
        return t
    return current().emit(opset.CAST, t, want.dtype if want.dtype is not None else current().emit(opset.DTYPE, out))


def _same_shape(have: Ty, want: Ty) -> bool:
    if have.dims is None or want.dims is None or len(have.dims) != len(want.dims):
        return False
    return all(map(current().dims.same, have.dims, want.dims))


def _fitted_array(t: Any, out: Any) -> Any:
    if isinstance(out, list):
        return t
    return runtime.cast(runtime.spread(t, out), out)


def total(prim: Prim, found: list[Any], out: Any, names: Iterable[str]) -> Any:
    """The sum of the contributions of these arguments, in the shape and dtype of the result; None if there is none.

    For several results a tuple.
    """
    follows = all(column(prim, name) == "linear" for name in names)
    if prim.nout == 1:
        return _sum(found, out, follows)
    return tuple([_sum([t[k] for t in found if t[k] is not None], out[k], follows) for k in range(prim.nout)])


def _sum(found: list[Any], out: Any, follows: bool) -> Any:
    if not found:
        return None
    t = found[0]
    for other in found[1:]:
        t = t + other
    return fitted(t, out, follows)


__all__ = ["applied", "column", "contributions", "fitted", "total"]
