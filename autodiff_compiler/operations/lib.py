"""What rule authors use: small helpers that compute on arrays and build IR on values.

Axes, shapes and kinds are facts of types for a value. Where a rule needs a fact that is not known, it raises a
LookupError: no rule guesses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import runtime
from ..errors import RuleLookupError, UnknownAxesError
from ..ir import opset
from ..ir.apart import joined_at
from ..ir.core import Loc, Value, current, leaves, type_of
from ..ir.ops_common import axes_of
from ..ir.opset import ADDAT, DIM, GET, PRIMS, SET, SPREAD, ZEROS, apply
from ..ir.types import Dim, Ty
from .signs import below_zero

BOOL = np.dtype(bool)


def symbolic(*args: Any) -> bool:
    """An IR value is among the arguments."""
    return any(True for _ in leaves(args))


def call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``fn(*args)`` for functions that NumPy does not dispatch on every argument: ``np.linspace``, ``math.exp``."""
    return apply(fn, *args, **kwargs) if symbolic(args, kwargs) else fn(*args, **kwargs)


# --- facts ------------------------------------------------------------------------------------------------------------


def unsupported(what: str, remedy: str = "write it with other functions of NumPy's") -> RuleLookupError:
    """The error of a rule that does not cover a call, located where the operation at hand was written."""
    return RuleLookupError(what, _loc(), remedy)


def _loc() -> Loc | None:
    try:
        return current().loc
    except RuntimeError:  # the rule was called with arrays
        return None


def place() -> Loc | None:
    """Where the operation at hand was written, for an error that the emitted code may raise."""
    return _loc()


def ndim(x: Any) -> int:
    """The number of axes; LookupError for a value of which it is not known."""
    if not symbolic(x):
        return np.ndim(x)
    known = type_of(x).ndim if type(x) is Value else None
    if known is None:
        what = "the derivative rule needs the number of axes of an operand, which is not known before the program runs"
        op = joined_at(x) if type(x) is Value else None
        if op is not None:
            what += ": paths that differ in it meet" if op.regions else f": it comes from {op.prim.name}"
            what += f" in line {op.loc.line}" if op.loc is not None else ""
        error = UnknownAxesError(what, _loc(), "make it known, e.g. by a reshape to a tuple of lengths")
        error.joined = op.loc if op is not None and op.regions else None
        raise error
    return known


def is_scalar(*args: Any) -> bool:
    """All arguments are numbers, not arrays."""
    for x in args:
        if type(x) is Value:
            if not x.type.is_scalar:
                return False
        elif not isinstance(x, (int, float, complex, np.generic)):
            return False
    return True


def is_constant(x: Any) -> bool:
    """A Python number written into the program, which the rule may look at."""
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def dtype(x: Any) -> np.dtype[Any] | None:
    """The dtype, or None where it is not known."""
    if type(x) is Value:
        return x.type.dtype
    return np.asarray(x).dtype


def floats(x: Any) -> Any:
    """`x`, as floats where it may be integers of NumPy's: what a rule computes of them would wrap around."""
    if isinstance(x, (int, float, complex)) and not isinstance(x, np.generic):
        return x
    kind = dtype(x)
    return x * 1.0 if kind is None or kind.kind in "biu" else x


def may_be_complex(*args: Any) -> bool:
    """Some argument is complex, or not known to be real."""
    for x in args:
        kind = dtype(x)
        if kind is None or kind.kind not in "biuf":
            return True
    return False


def conj(x: Any) -> Any:
    """The complex conjugate; `x` itself where it is known to be real."""
    return np.conjugate(x) if may_be_complex(x) else x


def real(x: Any) -> Any:
    """The real part; `x` itself where it is known to be real."""
    return np.real(x) if may_be_complex(x) else x


def need_real(what: str, *args: Any) -> None:
    """Refuse operands that may be complex."""
    if may_be_complex(*args):
        raise unsupported(
            f"the derivative of {what} is known for real operands only, and this one may be complex",
            "take the real part first, with np.real",
        )


def axes(axis: Any, x: Any) -> tuple[int, ...]:
    """The axes named by an `axis` argument, counted from the front."""
    found = axes_of(axis, ndim(x)) if not symbolic(axis) else None
    if found is None:
        if type(axis) is int and axis in (0, -1) and ndim(x) == 0:
            return ()  # NumPy's reductions let a number have an axis
        if not symbolic(axis) and isinstance(axis, (int, tuple)):
            raise np.exceptions.AxisError(f"axis {axis} is out of bounds for an array of {ndim(x)} axes")
        raise unsupported("the derivative rule needs an axis that is a constant", "write the axis as a literal")
    return found


# --- shapes -----------------------------------------------------------------------------------------------------------


def spread(g: Any, x: Any) -> Any:
    """`g` broadcast to the shape of `x`."""
    return emit(SPREAD, g, x)


def expand(g: Any, axis: Any, keepdims: Any, x: Any) -> Any:
    """The result `g` of a reduction of `x` over `axis`, with the axes of length 1 that broadcasting needs."""
    if axis is None or keepdims is True or is_scalar(g):
        return g
    if keepdims is not False:
        raise unsupported("the derivative rule needs a constant for `keepdims`")
    gone = axes(axis, x)
    if sorted(gone) == list(range(len(gone))):
        return g  # broadcasting adds leading axes by itself
    items = tuple([None if k in gone else slice(None) for k in range(ndim(x))])
    while items and items[-1] == slice(None):
        items = items[:-1]
    return g[items]


def length(x: Any, axis: int) -> Any:
    """The length of one axis: an int, or a value of one."""
    if type(x) is not Value:
        return np.shape(x)[axis]
    dims = x.type.dims
    if dims is not None and -len(dims) <= axis < len(dims):
        known = current().dims.find(dims[axis])
        if isinstance(known, int):
            return known
        axis %= len(dims)
    return current().emit(DIM, x, axis)


def is_one(x: Any, axis: int) -> bool:
    """The axis is known to have length 1."""
    if type(x) is not Value:
        return bool(np.shape(x)[axis] == 1)
    dims = x.type.dims
    return dims is not None and -len(dims) <= axis < len(dims) and current().dims.find(dims[axis]) == 1


def count(x: Any, axis: Any = None) -> Any:
    """How many elements each result of a reduction of `x` over `axis` combines."""
    if axis is None:
        if type(x) is not Value:
            return int(np.size(x))
        dims = x.type.dims
        if dims is not None and len(dims) <= 1:
            return length(x, 0) if dims else 1
        if dims is not None and (0 in dims or all(isinstance(d, int) for d in dims)):
            return math.prod([d for d in dims if isinstance(d, int)])
        return x.size  # type: ignore[attr-defined]
    n: Any = None
    for k in axes(axis, x):
        one = length(x, k)
        n = one if n is None or (type(one) is int and one == 0) else 0 if type(n) is int and n == 0 else n * one
    return 1 if n is None else n


def swap(x: Any) -> Any:
    """`x` with its last two axes exchanged: the transposed matrices."""
    if type(x) is Value:
        return x.T if x.type.ndim == 2 else np.swapaxes(x, -1, -2)  # type: ignore[attr-defined, call-overload]
    return np.swapaxes(x, -1, -2)


def is_transpose(x: Any, y: Any) -> bool:
    """One matrix was made as the transpose of the other, or both are the same vector."""
    if type(x) is not Value or type(y) is not Value:
        return False
    if x is y:
        return x.type.ndim == 1
    return any(
        b.type.ndim == 2 and b.op is not None and b.op.prim is GET and b.op.args[0] is a
        and b.op.args[1] == (("transpose", None),)
        for a, b in ((x, y), (y, x))
    )  # fmt: skip


def transpose(x: Any, order: Sequence[int]) -> Any:
    """`x` with its axes in this order; `x` itself where that is their order."""
    order = tuple(order)
    if order == tuple(range(len(order))):
        return x
    if type(x) is Value:
        if len(order) == 2:
            return x.T  # type: ignore[attr-defined]
        return current().emit(GET, x, (("transpose", order),))
    return np.transpose(x, order)


def reshape(x: Any, shape: Any) -> Any:
    """``np.reshape`` for shapes that may hold values."""
    return call(np.reshape, x, shape)


def reshape_as(g: Any, x: Any) -> Any:
    """`g`, which has as many elements as `x`, in the shape of `x`."""
    if type(x) is Value:
        dims = x.type.dims
        if dims is not None and len(dims) == 1:
            return at_shape(reshape(g, -1), x)
        return reshape(g, x.shape)  # type: ignore[attr-defined]
    return reshape(g, np.shape(x))


def at_shape(v: Any, x: Any) -> Any:
    """Record that `v` has the shape of `x`, which the rule knows and inference does not."""
    if type(v) is Value and v.op is not None and v.type.kind == "array":
        dims = type_of(x).dims if type(x) is Value else np.shape(x)
        if dims is not None:
            v.type = Ty("array", v.type.dtype, tuple(dims))
    return v


def vector_index(axis: int, item: Any) -> tuple[Any, ...]:
    """The subscript that applies `item` to one axis."""
    return (slice(None),) * axis + (item,)


# --- parts ------------------------------------------------------------------------------------------------------------


def zeros(x: Any) -> Any:
    """A zero cotangent for `x`."""
    return current().emit(ZEROS, x) if type(x) is Value else runtime.zeros(x)


def zeros_for(g: Any, x: Any) -> Any:
    """Zeros in the shape of `x` that can hold the cotangent `g`, an imaginary part included (IR casts later)."""
    if symbolic(g, x):
        return zeros(x)
    return np.zeros(np.shape(x), np.result_type(np.asarray(g).dtype, runtime.zeros(x)))


def zeros_of(shape: Any, g: Any) -> Any:
    """Zeros of a shape, which may hold values, in the dtype of the cotangent `g`."""
    kind = dtype(g)
    if not symbolic(shape, g):
        return np.zeros(shape, kind)
    if kind is None or kind == np.float64:
        return current().emit(PRIMS[np.zeros], shape)
    return current().emit(PRIMS[np.zeros], shape, kind)


def added(a: Any, items: tuple[Any, ...], g: Any) -> Any:
    """`a` with `g` added at ``a[items]``; repeated indices add up."""
    return emit(ADDAT, a, (("index", items),), g)


def store(a: Any, items: tuple[Any, ...], v: Any) -> Any:
    """A copy of `a` with ``a[items]`` replaced by `v`."""
    return emit(SET, a, (("index", items),), v)


def scatter(g: Any, x: Any, items: tuple[Any, ...]) -> Any:
    """The cotangent of `x` for a read ``x[items]``: zeros with `g` added there; repeated indices add up."""
    return added(zeros(x) if symbolic(items) else zeros_for(g, x), items, g)


def part(g: Any, items: tuple[Any, ...]) -> Any:
    """``g[items]``."""
    return current().emit(GET, g, (("index", items),)) if symbolic(g, items) else g[items]


def emit(prim: Any, *args: Any) -> Any:
    """The operation on values, its meaning on arrays."""
    return current().emit(prim, *args) if symbolic(args) else prim.fn(*args)


# --- choices ----------------------------------------------------------------------------------------------------------


def choose(cond: Any, x: Any, y: Any) -> Any:
    """`x` where `cond` holds, else `y`; a conditional expression for scalars."""
    if not symbolic(cond, x, y):
        chosen = np.where(cond, x, y)
        return chosen[()] if chosen.ndim == 0 else chosen
    if is_scalar(cond, x, y):
        return apply(runtime.select, cond, x, y)
    return apply(np.where, cond, x, y)


def is_empty(x: Any) -> bool:
    """An array that surely has no elements."""
    return 0 in (type_of(x).dims or ()) if type(x) is Value else np.size(x) == 0


def per(x: Any, n: Any) -> Any:
    """``x / n`` for a number of elements: nan, as in NumPy, for none of them."""
    return x * float("nan") if type(n) is int and n == 0 else x / n


def has_more_than(k: Any, x: Any, axis: Any = None) -> bool:
    """Each result of a reduction of `x` over `axis` surely combines more than `k` elements."""
    if type(k) is Value:
        return False
    if type(x) is not Value:
        return bool(count(x, axis) > k)
    dims = x.type.dims
    if dims is None:
        return False
    known = current().dims
    lengths = dims if axis is None else [dims[a] for a in axes(axis, x)]
    if not all(map(known.not_zero, lengths)):
        return False
    return k < 1 or any(
        d > k if isinstance(d, int) else type(k) is int and d.off >= 0 and known.not_zero(Dim(d.root, d.off + k))
        for d in map(known.find, lengths)
    )


def may_have_no_elements(n: Any) -> bool:
    """The number is the length of an axis, and may be zero."""
    length = n.type.length if type(n) is Value else None
    return length is not None and not current().dims.not_zero(length)


def chosen(*args: Any) -> bool:
    """Some number may be one of several, so that the derivative by it may not count: it must not raise."""
    return any(
        (cotangents := current().cotangents) is not None and bool(cotangents.chosen(x))
        for x in args
        if type(x) is Value
    )


def may_be_dropped(g: Any) -> bool:
    """The program may have bound another value to the name that the cotangent belongs to, so that it must not raise."""
    return (cotangents := current().cotangents) is not None and bool(cotangents.may_be_dropped(g))


def may_raise(g: Any, d: Any) -> bool:
    """The quotient ``g / d`` is one of Python's numbers."""
    return symbolic(g, d) and is_scalar(g, d) and may_be_python(g) and may_be_python(d)


def divided(g: Any, d: Any) -> Any:
    """``g / d``, infinite or nan for a zero that the program has chosen."""
    return call(runtime.quotient, g, d) if may_raise(g, d) and chosen(d) else g / d


def may_be_python(x: Any) -> bool:
    """A number that may be Python's, which raises where NumPy's would be infinite."""
    return type_of(x).kind in ("py", "scalar") if type(x) is Value else not isinstance(x, (np.ndarray, np.generic))


def truth(cond: Any) -> Any:
    """A condition as booleans."""
    if type(cond) is Value:
        dtype = cond.type.dtype
        if dtype is not None and dtype.kind in "iufc":
            return apply(np.not_equal, cond, 0)
        return cond if dtype == BOOL else apply(np.where, cond, True, False)  # objects and strings have a truth too
    return cond if np.asarray(cond).dtype == BOOL else np.where(cond, True, False)[()]


def invert(cond: Any) -> Any:
    """The opposite of booleans."""
    if type(cond) is Value and cond.type.is_scalar:
        return current().emit(opset.NOT, cond)
    return np.logical_not(cond)


def masked(g: Any, cond: Any) -> Any:
    """`g` where the boolean `cond` holds, else zero: a product, which on random data is faster than np.where."""
    if is_scalar(g, cond):
        return choose(cond, g, 0.0)
    if may_be_infinite(g):
        return apply(np.where, cond, g, 0.0)
    return g * cond


def may_be_infinite(g: Any) -> bool:
    """The cotangent may be infinite, so that its product with zero may be nan."""
    cotangents = current().cotangents if type(g) is Value else None
    return cotangents is not None and bool(cotangents.may_be_infinite(g))


def cut(g: Any, p: Any, x: Any) -> Any:
    """The partial `p` of an exponential of `x`, with the largest number for infinity if `g` came through a quotient.

    Where the exponential overflows, what is finite behind it is flat, as is ``1 / (1 + exp(-x))``: the cotangent is
    zero there, and must stay so.
    """
    kind = dtype(p)
    cotangents = current().cotangents if type(g) is Value and type(p) is Value else None
    if cotangents is None or kind not in _LARGEST or not cotangents.may_be_flat(g, p) or _is_small(x):
        return p
    if is_scalar(p):
        return choose(p > _LARGEST[kind], _LARGEST[kind], p)
    return np.minimum(p, _LARGEST[kind])


def steep(quotient: Any) -> Any:
    """The quotient ``g / x`` of a logarithm: where `x` is infinite the function is too, and no flatness makes up for
    it as in `cut`."""
    if type(quotient) is Value and quotient.op is not None:
        cotangents = current().cotangents
        if cotangents is not None:
            cotangents.steep.add(quotient)
    return quotient


_LARGEST: dict[Any, float] = {np.dtype(t): float(np.finfo(t).max) for t in (np.float16, np.float32, np.float64)}


def _is_small(x: Any) -> bool:
    """The exponential of the number does not overflow, as far as can be seen."""
    return below_zero(x) or (type(x) is Value and x.op is not None and "bounded" in x.op.prim.traits)


def damped(g: Any, p: Any) -> Any:
    """``g * p`` for a partial that does not change near the point: zero where it is zero, whatever `g` is."""
    if not may_be_infinite(g):
        return g * p
    if type(p) is not Value:
        return g * p if p else None
    if is_scalar(g, p):
        return choose(equal(p, 0), 0.0, g * p)
    return apply(np.where, apply(np.not_equal, p, 0), g * p, 0.0)


def equal(x: Any, y: Any) -> Any:
    return current().emit(opset.EQ, x, y) if symbolic(x, y) else np.equal(x, y)


def nonzero(d: Any) -> Any:
    """`d`, with 1 in place of zeros: a denominator where the numerator is to be zero too."""
    return choose(equal(d, 0), 1.0, d)


def times(g: Any, p: Any) -> Any:
    """``g * p``."""
    return g * p


# Which zeros of a cotangent count as sure, see `transforms.zeros`. A partial that is infinite where the function is
# finite needs all of them; where the function is infinite too, a weight of zero makes nan of its value anyway.
NEVER, CHOICES, SUBSCRIPTS, WEIGHTS = 0, 1, 2, 3
STEP = -1  # the other way round: the partial is constant near the point, and where it is zero so is the product


def quotient(g: Any, y: Any) -> Any:
    """``g / y``, as NumPy divides by a zero that stands in the program: Python's numbers would raise in the derivative
    where the function does not. A quotient by that zero is infinite all around, so a cotangent of zero stays zero. Two
    plain numbers are divided while the program is compiled."""
    if symbolic(g) and is_constant(y) and y == 0:
        return call(runtime.product, g, math.copysign(math.inf, y))
    if symbolic(g, y) or not isinstance(y, (int, float, complex)) or y != 0:
        return g / y
    with np.errstate(all="ignore"):
        return np.divide(g, y).item() if isinstance(g, (int, float, complex)) else np.divide(g, y)


def guarded(g: Any, product: Any, args: Any, level: int = SUBSCRIPTS, safe: float = 0.5) -> Any:
    """``product(*args)``, a cotangent times a partial that may be infinite: zero where the cotangent is zero for sure.

    In ``np.where(x > 0, np.sqrt(x), 0)`` the cotangent of the root is zero at ``x == 0`` because its value is not
    used there, so it stays zero. A cotangent that happens to be zero gives no such right: in ``sqrt(x) * sqrt(x)``
    zero times infinity is not zero, and stays nan. `safe`: a number at which the partial is finite; Python's numbers
    raise where it is not.
    """
    cotangents = current().cotangents if type(g) is Value and level else None
    if cotangents is None:
        return product(*args)
    stored = _zero_stored(g)
    if stored is not None and cotangents.mask(stored, args, level) is True:
        value = _in_front_of_store(product(*args), g, stored)
        if value is not None:
            return value
    mask = cotangents.mask(g, args, level)
    if mask is True:
        return product(*args)
    if mask is False:
        return None
    if is_scalar(mask, g, *args):
        value = product(*[choose(mask, a, safe) if type(a) is Value else a for a in args])
        return choose(mask, value, 0.0)
    value = product(*args)
    if type(value) is not Value or not _fits(mask, value):
        return value
    return apply(np.where, mask, value, 0.0)


def _zero_stored(g: Value) -> Value | None:
    """The cotangent into which zeros were stored."""
    op = g.op
    is_zero = op is not None and op.prim is opset.SET and type(op.args[2]) in (int, float) and op.args[2] == 0
    return op.args[0] if is_zero and op is not None and type(op.args[0]) is Value else None


def _in_front_of_store(value: Any, g: Value, stored: Value) -> Value | None:
    """An elementwise product or quotient of `g`, computed before the zeros are stored, which then stay: no mask."""
    op = value.op if type(value) is Value else None
    if op is None or g.op is None or not op.prim.elementwise or sum(a is g for a in op.args) != 1 or op.kwargs:
        return None
    if not value.type.dims or g.type.dims is None or len(value.type.dims) != len(g.type.dims):
        return None  # what is computed of an array without axes is a number, into which nothing is stored
    if not all(map(current().dims.same, value.type.dims, g.type.dims)):
        return None
    moved = current().emit(op.prim, *[stored if a is g else a for a in op.args])
    return current().emit(opset.SET, moved, *g.op.args[1:])  # type: ignore[no-any-return]


def sure_zeros(g: Any) -> Any:
    """Booleans that are false where a cotangent is zero for sure, in its shape. True or False: the same everywhere."""
    cotangents = current().cotangents if type(g) is Value else None
    mask = True if cotangents is None else cotangents.mask(g, (), SUBSCRIPTS)
    # That of a cotangent of which a condition decides is one Boolean.
    return spread(mask, g) if type(mask) is Value and mask.type.dims == () and g.type.dims != () else mask


def _fits(mask: Any, value: Value) -> bool:
    """The mask broadcasts to the shape of the value, and not beyond."""
    have, want = type_of(mask).dims, value.type.dims
    if have is None or want is None or len(have) > len(want):
        return False
    return all(d == 1 or current().dims.same(d, w) for d, w in zip(have[::-1], want[::-1]))
