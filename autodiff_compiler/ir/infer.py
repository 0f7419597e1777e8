"""Type inference shared by many primitives: promotion, broadcasting, indexing."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..late import late
from .core import Builder, Value, structural_key, type_of
from .types import ANY, NONE, PYTHON_DTYPES, Dim, DimLike, Dims, Ty, or_raises

block_length, exact_slice = late(__package__, "forms", "block_length", "exact_slice")
_WEAK = {"b": bool, "i": int, "f": float, "c": complex}


def promote(ufunc: Any, types: list[Ty], operator: bool = False) -> Any:
    """The result dtypes of a ufunc, or of the Python operator that it is the array form of, on operands of these types;
    None if they are not known."""
    known: list[tuple[str, np.dtype[Any]]] = []
    for t in types:
        if t.dtype is None or t.dtype.kind not in "biufc":
            return None
        known.append((t.kind, t.dtype))
    return _promoted(ufunc, operator, *known)


@functools.lru_cache(maxsize=4096)
def _promoted(ufunc: Any, operator: bool, *operands: tuple[str, np.dtype[Any]]) -> tuple[Any, ...] | None:
    """The same, of operands of these kinds and dtypes."""
    variants: list[list[Any]] = [[]]
    # For an operator on numbers only, the result may be of the narrow dtype or weak, as the operands may.
    numbers = operator and all(kind in ("py", "scalar") for kind, _ in operands)
    for kind, dtype in operands:
        weak = _WEAK.get(dtype.kind, int)
        options: list[Any]
        if kind == "py":
            options = [weak]
        elif kind == "scalar" and not numbers:
            options = [weak, dtype]
        elif kind in ("scalar", "any"):
            options = [weak, dtype] if dtype in PYTHON_DTYPES else [dtype]
        else:
            options = [dtype]
        variants = [v + [o] for v in variants for o in options]
    found: tuple[Any, ...] | None = None
    for variant in variants:
        dtypes = [np.dtype(bool) if v is bool else v for v in variant]
        try:
            result = ufunc.resolve_dtypes((*dtypes, *([None] * ufunc.nout)))[len(operands) :]
        except TypeError:
            return None
        if found is not None and result != found:
            return None
        found = result
    return found


def broadcast_dims(b: Builder, shapes: list[tuple[DimLike, ...] | None]) -> tuple[DimLike, ...] | None:
    """The broadcast shape; lengths that must agree for NumPy not to raise are recorded as equal."""
    if None in shapes:
        return None
    known = [s for s in shapes if s]
    if not known:
        return ()
    if known.count(known[0]) == len(known):
        return tuple(map(b.dims.find, known[0]))
    out: list[DimLike] = []
    for axis in range(-max(map(len, known)), 0):
        found = [b.dims.find(s[axis]) for s in known if len(s) >= -axis]
        out.append(join_lengths(b, found))
    return tuple(out)


def join_lengths(b: Builder, found: list[DimLike]) -> DimLike:
    """The length to which axes of these lengths broadcast together."""
    rest: list[DimLike] = []
    for d in found:
        if d != 1 and not any(b.dims.same(d, e) for e in rest):
            rest.append(d)
    if not rest:
        return 1
    if len(rest) == 1:
        return rest[0]
    certain = [d for d in rest if b.dims.not_one(d)]
    for d in certain[1:]:
        if b.dims.unify(certain[0], d):
            b.unified = True
    if certain:
        if len(certain) < len(rest):
            b.unified = True  # the others are 1 or equal to it: a mismatch raises
        return b.dims.find(certain[0])
    b.unified = True
    return b.dims.named(("broadcast", *sorted(rest, key=repr)))


def elementwise_kind(types: list[Ty], dims: tuple[DimLike, ...] | None, operator: bool) -> str:
    """The kind of an elementwise result: Python's operators keep Python scalars, ufuncs make NumPy scalars of them."""
    if dims is not None and len(dims) > 0:
        return "array"
    if dims == () and not any(t.kind == "any" for t in types):
        if not operator:
            return "generic"
        if all(t.kind == "py" for t in types):
            return "py"
        if any(t.kind in ("generic", "array") for t in types) and not may_be_python_complex(types):
            return "generic"
        return "scalar"
    return "any"


def may_be_python_complex(types: list[Ty]) -> bool:
    """``1j + np.float64(1.0)`` is computed by Python, as np.float64 is a Python float."""
    if not any(t.kind in ("py", "scalar") and (t.dtype is None or t.dtype == np.complex128) for t in types):
        return False
    return all(t.kind != "generic" or t.dtype is None or t.dtype in (np.float64, np.complex128) for t in types)


def cannot_raise(ufunc: Any, types: list[Ty], operator: bool = False) -> bool:
    """The ufunc, or the Python operator of which it is the array form, is defined for operands of these types.

    Python integers of more than 64 bits are left out of account.
    """
    if not all(t.dtype is not None and t.dims is not None and t.dtype.kind in "biufc" for t in types):
        return False
    found = promote(ufunc, types, operator)
    if not found or any(d is None for d in found):
        return False
    kinds = [t.dtype.kind for t in types if t.dtype is not None]
    if ufunc is np.power and found[0].kind in "biu":
        return False  # a negative exponent
    if "i" in [t.dtype.kind for t in types if t.kind in ("py", "scalar") and t.dtype is not None]:
        # A Python integer that does not fit a small dtype, except in comparisons.
        if ufunc not in _COMPARISONS and any(
            t.kind != "py" and t.dtype is not None and t.dtype.kind in "iu" and t.dtype != np.int64 for t in types
        ):
            return False
    # Python's complex numbers have no order, NumPy's have one.
    python = not any(t.kind in ("array", "generic") for t in types)
    return not (operator and python and "c" in kinds and ufunc in _ORDER)


def infer_ufunc(ufunc: Any, operator: bool = False) -> Any:
    """The inference function of a ufunc, or of the Python operator that it is the array form of."""

    power = operator and ufunc is np.power
    refuses_none = operator and ufunc not in (np.equal, np.not_equal, np.logical_not)

    def infer(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        types = [type_of(a) for a in args]
        if operator and any(t == NONE or t.elem is not None for t in types):
            types, settled = _beside_none(types, refuses_none)
            if settled is not None:
                return settled
        if kwargs or not _NO_NUMBERS.isdisjoint([t.kind for t in types]):
            return ANY if ufunc.nout == 1 else (ANY,) * ufunc.nout
        dims = broadcast_dims(b, [t.dims for t in types])
        dtypes = promote(ufunc, types, operator) or (None,) * ufunc.nout
        if power and types[0].dtype is not None and types[0].dtype.kind == "b":
            dtypes = (None,)  # ``mask ** 2`` is np.square, which gives another dtype than np.power
        if power and types[1].kind != "py" and types[1].dims == ():
            if dtypes[0] is not None and not (types[0].dtype is not None and types[0].dtype == dtypes[0]):
                dtypes = (None,)  # before NumPy 2.3, squares and roots by a 0-d exponent keep the base's dtype
        kind = elementwise_kind(types, dims, operator)
        if power and kind in ("py", "scalar"):
            # Python's int ** int may be a float, and a negative float's power complex, but for a whole exponent.
            exponent = args[1]
            whole = types[0].dtype == np.float64 and types[1].dtype is not None and types[1].dtype.kind in "bi"
            if not whole and not (isinstance(exponent, int) and exponent >= 0):
                return Ty("scalar", None, ())
        if kind == "py" and dtypes[0] is not None and dtypes[0].kind in "biu":
            if dtypes[0].kind != "b" or not _gives_bool(ufunc):
                length = moved_length(b, ufunc, types, args)
                return Ty("py", np.dtype(np.int64), (), None, length)  # True + True is 2
        # Real operands give a real result, whatever its precision (but for Python's power of a negative number).
        real = all(t.is_real for t in types) and not (power and kind in ("py", "scalar", "any"))
        out = [Ty(kind, d, dims, None, None, d is None and real) for d in dtypes]
        return out[0] if ufunc.nout == 1 else tuple(out)

    return infer


def _beside_none(types: list[Ty], refuses_none: bool) -> tuple[list[Ty], Ty | None]:
    """The types of operands that may be None, where the operator gives a result; or the type of that result.

    An empty array takes None, a number does not: behind the operator, both operands were numbers. If one is None for
    sure, there is no result, so the type of the other number is as good as any.
    """
    numbers = [or_raises(t) for t in types]
    known = [t for t in numbers if t != NONE]
    if not known or not all(t.is_scalar for t in known):
        return types, None
    if not refuses_none:
        return types, Ty("scalar", np.dtype(bool), ())  # a number is equal to None, or not
    return [known[0] if t == NONE else t for t in numbers], None


def _gives_bool(ufunc: Any) -> bool:
    return ufunc in _BOOL_UFUNCS


_NO_NUMBERS = frozenset(["list", "object", "shape", "stack"])
_ORDER = {np.less, np.less_equal, np.greater, np.greater_equal}
_COMPARISONS = _ORDER | {np.equal, np.not_equal}
_BOOL_UFUNCS = {
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.logical_not, np.logical_and,
    np.logical_or, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
}  # fmt: skip


def moved_length(b: Builder, ufunc: Any, types: list[Ty], args: tuple[Any, ...]) -> DimLike | None:
    """The length that ``n - 1`` or ``n + 1`` is, where the int `n` is the length of an argument's axis."""
    n, by = types[0].length, args[1] if len(args) == 2 else None
    if not isinstance(n, Dim) or type(by) is not int or ufunc not in (np.add, np.subtract):
        return None
    off = n.off + by if ufunc is np.subtract else n.off - by
    # Such an axis has at least two elements, so with no more cut off this is a length, not a negative number.
    return Dim(n.root, off) if max(n.off, off) <= 2 and b.dims.is_argument(n) else None


def slice_length(dims: Dims, length: DimLike, s: slice) -> DimLike:
    """The length of ``axis[s]`` for an axis of that length."""
    stop = type_of(s.stop).length if isinstance(s.stop, Value) else None
    if stop is not None:
        stop, length = dims.find(stop), dims.find(length)
    if isinstance(stop, Dim) and isinstance(length, Dim) and s.step in (None, 1) and 0 <= length.off <= stop.off:
        if stop.root == length.root and (s.start is None or type(s.start) is int and s.start >= 0):
            return Dim(length.root, stop.off + (s.start or 0))
    parts = (s.start, s.stop, s.step)
    if all(p is None or type(p) is int for p in parts):
        if isinstance(length, int):
            return len(range(*s.indices(length)))
        if s.step in (None, 1):
            start, stop = s.start or 0, s.stop
            if start >= 0 and (stop is None or stop < 0):
                cut = start - (stop or 0)
                # Only lengths that were cut before compose: max(max(n - a, 0) - b, 0) for a, b >= 0.
                if length.off >= 0:
                    return Dim(length.root, length.off + cut)
        elif s.step == -1 and s.start is None and s.stop is None:
            return length
    if s.step in (None, 1):
        exact: DimLike | None = exact_slice(dims, length, s)
        if exact is None:
            exact = block_length(dims, s.start, s.stop, length)
        if exact is not None:
            return exact
    return dims.named(("slice", dims.find(length), structural_key(s)))


def is_integer(t: Ty) -> bool:
    return t.dtype is not None and t.dtype.kind in "iu"


def infer_index(b: Builder, base: Ty, items: tuple[Any, ...]) -> tuple[Ty, bool | None]:
    """The type of ``base[items]`` and whether it is basic indexing (a view or scalar; None: not known)."""
    dims = base.dims
    if base.dtype is not None and base.dtype.names is not None:
        return _infer_record(b, base, items)
    advanced = False
    unknown = False
    for item in items:
        t = type_of(item) if not isinstance(item, (slice, list, tuple)) else None
        if isinstance(item, slice) or item is None or item is Ellipsis:
            continue
        if isinstance(item, (list, tuple)):
            advanced = True
        elif t is not None and t.is_scalar and is_integer(t):
            continue
        elif t is not None and (t.kind == "array" or (t.is_scalar and t.dtype == np.dtype(bool))):
            advanced = True
        else:
            unknown = True
    if unknown or dims is None:
        return Ty("any", base.dtype, None), (False if advanced else None)
    consumed = 0
    for item in items:
        if item is None or item is Ellipsis:
            continue
        t = type_of(item) if isinstance(item, (Value, np.ndarray)) else None
        if t is not None and t.kind == "array" and (t.dtype is None or t.dtype.kind == "b"):
            if t.dims is None or (t.dtype is None and len(t.dims) != 1):
                return Ty("any", base.dtype, None), False
            consumed += len(t.dims)  # of one axis, be it a mask or an index
        elif _is_one_bool(item):
            continue
        elif isinstance(item, list) and _is_mask(item):
            return Ty("any", base.dtype, None), False
        else:
            consumed += 1
    if consumed > len(dims):
        return Ty("any", base.dtype, None), not advanced
    out: list[DimLike] = []
    gathered: list[DimLike] | None = None
    place = 0
    apart = False
    last_advanced = -2
    axis = 0
    expanded: list[Any] = []
    for item in items:
        if item is Ellipsis:
            expanded += [slice(None)] * (len(dims) - consumed)
        else:
            expanded.append(item)
    if Ellipsis not in [i for i in items if i is Ellipsis]:
        expanded += [slice(None)] * (len(dims) - consumed)
    for number, item in enumerate(expanded):
        if item is None:
            out.append(1)
            continue
        if isinstance(item, slice):
            out.append(slice_length(b.dims, dims[axis], item))
            axis += 1
            continue
        t = type_of(item) if not isinstance(item, (list, tuple)) else None
        if t is not None and t.is_scalar and not advanced:
            axis += 1
            continue
        # An advanced index (a scalar next to one counts as one).
        if gathered is None:
            gathered, place = [], len(out)
        elif last_advanced != number - 1:
            apart = True
        last_advanced = number
        if t is not None and t.kind == "array" and (t.dtype is None or t.dtype.kind == "b"):
            shape: tuple[DimLike, ...] | None = (b.dims.named(("mask", structural_key(item))),)
            axis += len(t.dims or ())
        elif _is_one_bool(item):
            shape = (b.dims.named(("mask", structural_key(item))),)
        elif t is not None:
            shape = t.dims
            axis += 1
        else:
            shape = np.shape(item) if not any(True for _ in _values(item)) else None
            axis += 1
        if shape is None:
            return Ty("any", base.dtype, None), False
        gathered = list(broadcast_dims(b, [tuple(gathered), tuple(shape)]) or ())
    if gathered is not None:
        place = 0 if apart else place
        out[place:place] = gathered
    kind = "array" if out or advanced or Ellipsis in [i for i in items if i is Ellipsis] else "generic"
    if base.dtype is not None and base.dtype.kind == "O":
        kind = "any"
    if base.kind == "any":
        kind = "array" if kind == "array" else "scalar"
    return Ty(kind, base.dtype, tuple(out)), not advanced


def _infer_record(b: Builder, base: Ty, items: tuple[Any, ...]) -> tuple[Ty, bool | None]:
    """Of an array of records: a field of all of them, or some of them. A single one is a view too."""
    if len(items) == 1 and isinstance(items[0], str) and items[0] in (base.dtype.names or ()):  # type: ignore[union-attr]
        field = base.dtype[items[0]]  # type: ignore[index]
        shape, dtype = field.shape, field.base
        return Ty("array", dtype, None if base.dims is None else (*base.dims, *shape)), True
    if any(isinstance(item, (str, list)) for item in items):
        return Ty("any", None, None), None
    found, view = infer_index(b, Ty(base.kind, np.dtype(np.float64), base.dims), items)
    return Ty("array" if found.dims is not None else "any", base.dtype, found.dims), view


def _is_one_bool(item: Any) -> bool:
    """A mask of no axes. It takes no axis, and makes one of length 0 or 1."""
    if isinstance(item, (slice, list, tuple)) or item is None or item is Ellipsis:
        return False
    t = type_of(item)
    return t.is_scalar and t.dtype == np.dtype(bool)


def _values(item: Any) -> Any:
    from .core import leaves

    return leaves(item)


def _is_mask(item: list[Any]) -> bool:
    first: Any = item
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    return isinstance(first, (bool, np.bool_)) or (isinstance(first, Value) and first.type.dtype == np.dtype(bool))
