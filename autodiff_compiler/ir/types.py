"""Abstract types of IR values: what is proven about a value before the program runs.

A type is a set of facts. A missing fact (``None``, kind ``"any"``) means the worst case, never a default.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np


class Dim(NamedTuple):
    """A symbolic axis length: ``max(n - off, 0)`` where ``n`` is the unknown length named ``root``."""

    root: int
    off: int = 0


DimLike = int | Dim
Shapes = tuple[tuple[DimLike, ...], ...]  # the axes of several arrays
Terms = tuple[tuple[int | None, int], ...]  # a sum of lengths, by their roots, with factors; None is the constant

# Kinds of values:
#   "py"       a Python bool, int, float or complex (weak in NumPy's promotion)
#   "generic"  a NumPy scalar (np.float64(1.0) ...)
#   "scalar"   "py" or "generic", not known which; immutable and 0-d. A dtype that Python does not have
#              is the dtype of the generic: the cotangent of a float32 is a float32, or weak
#   "array"    an ndarray (0-d arrays included), or with `duck`: maybe an array of another library, see `duck`
#   "list"     a homogeneous list of run-time length; `elem` is its element type
#   "stack"    a residual stack
#   "shape"    the tuple of an array's axis lengths
#   "any"      anything; with `elem`: None on some paths, and a number of this type on the others
#   "undef"    a name without a value on this path
#   "object"   some other Python object (a string, a dtype, None ...); `elem` is "undef" for None


# A set, in which an unknown dtype, None, is not: it equals that of float64.
PYTHON_DTYPES = frozenset(map(np.dtype, (bool, np.int64, np.float64, np.complex128)))


@dataclass(frozen=True, slots=True)
class Ty:
    kind: str
    dtype: np.dtype[Any] | None = None
    dims: tuple[DimLike, ...] | None = None
    elem: Ty | None = None
    length: DimLike | None = None  # for Python ints: the axis length it is known to equal
    real: bool = False  # proven not complex, though the dtype is not known
    duck: type | None = None  # it may be a duck array of this class; `object`: of one of several classes

    # Written out because ``np.dtype(float) == None`` is True in NumPy.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ty):
            return NotImplemented
        return (
            (self.dtype is None) == (other.dtype is None)
            and (self.kind, self.dtype, self.dims, self.elem, self.length, self.real, self.duck)
            == (other.kind, other.dtype, other.dims, other.elem, other.length, other.real, other.duck)
        )  # fmt: skip

    @property
    def is_real(self) -> bool:
        """Proven not complex."""
        return self.real or (self.dtype is not None and self.dtype.kind in "biuf")

    @property
    def ndim(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def is_scalar(self) -> bool:
        """Proven immutable and 0-d."""
        return self.kind in ("py", "generic", "scalar")

    @property
    def array_dtype(self) -> np.dtype[Any] | None:
        """The dtype that it has as an array, where a Python number is not weak."""
        return None if self.kind == "scalar" and self.dtype not in PYTHON_DTYPES else self.dtype

    @property
    def is_float(self) -> bool:
        """Proven to hold real or complex floating numbers."""
        return self.dtype is not None and self.dtype.kind in "fc"

    @property
    def may_be_float(self) -> bool:
        """May carry a derivative: inexact, or not known to be exact."""
        if self.kind in ("stack", "shape", "undef", "object"):
            return False
        if self.kind == "list":
            return self.elem is None or self.elem.may_be_float
        return self.dtype is None or self.dtype.kind in "fcO"

    @property
    def may_carry(self) -> bool:
        """What takes it may make a number of it that carries a derivative: of a text, a tuple, an array of objects."""
        return self.may_be_float or self.kind == "object" or (self.dtype is not None and self.dtype.kind in "OSUVT")

    def __str__(self) -> str:
        if self.kind == "py":
            return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[_kind(self.dtype)]
        if self.kind == "list":
            return f"list[{self.elem}]"
        if self.kind in ("any", "scalar", "generic", "array"):
            dtype = "?" if self.dtype is None else self.dtype.name
            dims = "[...]" if self.dims is None else "[" + ", ".join(map(format_dim, self.dims)) + "]"
            if self.duck is not None:
                return f"{dtype}{dims} of {self.duck.__name__}"
            if self.kind == "array":
                return dtype + dims
            if self.kind == "generic":
                return dtype
            if self.kind == "scalar":
                return f"scalar {dtype}"
            return "any" if self.dtype is None and self.dims is None else f"any {dtype}{dims}"
        return self.kind


def _kind(dtype: np.dtype[Any] | None) -> str:
    return "f" if dtype is None else dtype.kind


def format_dim(dim: DimLike) -> str:
    if isinstance(dim, int):
        return str(dim)
    return f"d{dim.root}" + (f"-{dim.off}" if dim.off > 0 else f"+{-dim.off}" if dim.off < 0 else "")


def duck_in(t: Ty) -> type | None:
    """The class of duck arrays that a value of this type may be, or may hold."""
    if t.duck is not None or t.elem is None:
        return t.duck
    return duck_in(t.elem)


def either_duck(a: type | None, b: type | None) -> type | None:
    """The class of duck arrays that a value may be of which one or the other is known."""
    return a if b is None or a is b else b if a is None else object


def as_duck(t: Ty, cls: type) -> Ty:
    """The type of what an operation gives for a duck array of this class, where it gives `t` for one of NumPy's: a sum
    of all elements is an array without axes, not a number."""
    if t.kind == "list":
        return t if t.elem is None else replace(t, elem=as_duck(t.elem, cls))
    if t.kind not in ("py", "generic", "scalar", "array", "any") or t.elem is not None:
        return t
    kind = "any" if t.kind == "any" and t.dims is None else "array"
    return replace(t, kind=kind, length=None, duck=either_duck(t.duck, cls))


def same_dtype(a: np.dtype[Any] | None, b: np.dtype[Any] | None) -> bool:
    """Both are known, and equal. (``np.dtype(float) == None`` is True in NumPy, so a plain comparison will not do.)"""
    return a is not None and b is not None and a == b


ANY = Ty("any")
UNDEF_TY = Ty("undef")
OBJECT = Ty("object")
NONE = Ty("object", elem=UNDEF_TY)
STACK = Ty("stack")
SHAPE = Ty("shape")
PY_BOOL = Ty("py", np.dtype(bool), ())
PY_FLOAT = Ty("py", np.dtype(np.float64), ())
PY_COMPLEX = Ty("py", np.dtype(np.complex128), ())


def py_int(length: DimLike | None = None) -> Ty:
    return Ty("py", np.dtype(np.int64), (), None, length)


def array(dtype: Any, dims: tuple[DimLike, ...] | None) -> Ty:
    return Ty("array", None if dtype is None else np.dtype(dtype), dims)


def generic(dtype: Any) -> Ty:
    return Ty("generic", None if dtype is None else np.dtype(dtype), ())


def type_of_constant(value: Any) -> Ty:
    """The type of a Python object that is written into the program."""
    if type(value) is float:
        return PY_FLOAT
    if isinstance(value, (bool, np.bool_)):
        return PY_BOOL if isinstance(value, bool) else generic(bool)
    if isinstance(value, np.generic):
        return generic(value.dtype)
    if isinstance(value, int):
        return py_int(value if value >= 0 else None)
    if isinstance(value, float):
        return PY_FLOAT
    if isinstance(value, complex):
        return PY_COMPLEX
    if isinstance(value, np.ndarray):
        return array(value.dtype, tuple(value.shape))
    return NONE if value is None else OBJECT


@dataclass(slots=True)
class Dims:
    """What is known of axis lengths in a region: equalities, and which are not 1.

    A nested region opens a child scope, because what an operation inside it proves holds only where it ran.
    """

    parent: Dims | None = None
    equal: dict[Dim, DimLike] = field(default_factory=dict)
    not_one_facts: set[Dim] = field(default_factory=set)
    counter: list[int] = field(default_factory=lambda: [0])
    # Lengths named once: slicing two axes of one length by one slice gives one length.
    memo: dict[Any, Dim] = field(default_factory=dict)
    # At the top level: the roots of the arguments' axes, and the equalities between them that the program needs. The
    # caller checks these once per new set of shapes, so the operations that need them may still be dropped.
    arg_roots: set[int] = field(default_factory=set)
    constraints: list[tuple[DimLike, DimLike]] = field(default_factory=list)
    # At the top level too: the lengths of the arguments at hand, and what the code takes for granted because it holds
    # of them: that two lengths are equal, or that they are not. For other arguments it is compiled again.
    lengths: dict[int, int] = field(default_factory=dict)
    assumed: list[tuple[DimLike, DimLike, bool]] = field(default_factory=list)
    # Likewise that the arrays with the first axes have together at most as many elements as those with the second.
    smaller: list[tuple[Shapes, Shapes, bool]] = field(default_factory=list)
    # Roots that stand for sums of others, divided by a number; and sums that are not less than a number: `ir.forms`.
    derived: dict[int, tuple[Terms, int]] = field(default_factory=dict)
    at_least: list[tuple[Terms, int]] = field(default_factory=list)
    # Roots that stand for sums in which there are variables of loops: of those of each copy of the function.
    varying: dict[int, list[dict[Any, int]]] = field(default_factory=dict)
    # At the top level: an array of the arguments at hand has several axes, and they are not in C order in memory. This
    # is a hint for the sake of speed. For other arguments the code stays.
    turned: bool = False

    def top(self) -> Dims:
        """The scope of the whole function."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def conditions(self) -> Dims:
        """Only what lengths of other arguments have to fulfil."""
        return Dims(
            constraints=self.constraints, assumed=self.assumed, smaller=self.smaller, derived=self.derived,
            at_least=self.at_least,
        )  # fmt: skip

    def hold(self, lengths: dict[int, int]) -> bool:
        """What code takes for granted holds of these lengths, to which the derived ones are added."""
        for root, (terms, divisor) in self.derived.items():
            lengths[root] = _sum(terms, lengths) // divisor
        return (
            all(_sum(terms, lengths) >= least for terms, least in self.at_least)
            and all((length_of(a, lengths) == length_of(b, lengths)) == equal for a, b, equal in self.assumed)
            and all((elements(a, lengths) <= elements(b, lengths)) == answer for a, b, answer in self.smaller)
        )

    def child(self) -> Dims:
        return Dims(self, {}, set(), self.counter)

    def named(self, key: Any) -> Dim:
        """The length that `key` names: a new one at the first use."""
        scope: Dims | None = self
        while scope is not None:
            if key in scope.memo:
                return scope.memo[key]
            scope = scope.parent
        self.memo[key] = dim = self.fresh()
        return dim

    def fresh(self) -> Dim:
        self.counter[0] += 1
        return Dim(self.counter[0])

    def find(self, dim: DimLike) -> DimLike:
        while isinstance(dim, Dim):
            step: DimLike | None = None
            scope: Dims | None = self
            while scope is not None:
                if not scope.equal:
                    scope = scope.parent
                    continue
                if dim in scope.equal:
                    step = scope.equal[dim]
                    break
                if dim.off:
                    base = scope.equal.get(Dim(dim.root))
                    if base is not None:
                        step = Dim(base.root, base.off + dim.off) if isinstance(base, Dim) else max(base - dim.off, 0)
                        if isinstance(base, Dim) and base.off:
                            step = None  # max(max(n - a, 0) - b, 0) is max(n - a - b, 0) only for a, b >= 0
                        else:
                            break
                scope = scope.parent
            if step is None:
                return dim
            dim = step
        return dim

    def same(self, a: DimLike, b: DimLike) -> bool:
        if a == b:
            return True
        a, b = self.find(a), self.find(b)
        return a == b or (isinstance(a, Dim) and isinstance(b, Dim) and self._same_for_all(a, b))

    def _same_for_all(self, a: Dim, b: Dim) -> bool:
        """They are the same in each iteration, for the arguments at hand."""
        top = self.top()
        if a.off or b.off or a.root not in top.varying or b.root not in top.varying:
            return False
        for first in top.varying[a.root]:
            for second in top.varying[b.root]:
                rest = {root: first.get(root, 0) - second.get(root, 0) for root in (*first, *second)}
                terms = terms_of(rest)
                if all(root is None or type(root) is int for root, _ in terms) and _sum(terms, top.lengths) == 0:
                    if terms:
                        top.at_least += [(terms, 0), (tuple([(root, -c) for root, c in terms]), 0)]
                    top.equal[a] = b
                    return True
        return False

    def mark_not_one(self, dim: Dim) -> None:
        self.not_one_facts.add(dim)

    def not_one(self, dim: DimLike) -> bool:
        """Proven different from 1."""
        dim = self.find(dim)
        if isinstance(dim, int):
            return dim != 1
        scope: Dims | None = self
        while scope is not None:
            if dim in scope.not_one_facts:
                return True
            scope = scope.parent
        return self.assume(dim, 1, False)

    def not_zero(self, dim: DimLike) -> bool:
        """Proven to be at least 1."""
        dim = self.find(dim)
        if isinstance(dim, int):
            return dim > 0
        # The axis of an argument has a name if it has at least two elements.
        return self.is_argument(dim) and (dim.off < 2 or self.assume(dim, 0, False))

    def assume(self, a: Dim, b: DimLike, equal: bool) -> bool:
        """Take for granted that the lengths are equal, or that they are not, if that holds of the arguments at hand."""
        top = self.top()
        if any(isinstance(d, Dim) and d.root not in top.lengths for d in (a, b)):
            return False
        if (length_of(a, top.lengths) == length_of(b, top.lengths)) != equal:
            return False
        top.assumed.append((a, b, equal))
        if equal:
            top.equal[a] = b
        elif b == 1:
            top.not_one_facts.add(a)
        return True

    def assume_same(self, a: DimLike, b: DimLike) -> bool:
        """Take for granted that the lengths are equal, if they are for the arguments at hand."""
        if self.same(a, b):
            return True
        a, b = self.find(a), self.find(b)
        if isinstance(a, int) or (isinstance(b, Dim) and b.root > a.root):
            a, b = b, a
        return isinstance(a, Dim) and self.assume(a, b, True)

    def prefers(
        self, first: Sequence[tuple[DimLike, ...] | None], second: Sequence[tuple[DimLike, ...] | None]
    ) -> bool:
        """Arrays with the first axes have together at most as many elements as those with the second, for the arguments
        at hand. Where that is not known of them: the first have no axes."""
        top = self.top()
        shapes = [*first, *second]
        known = [dims for dims in shapes if dims is not None]
        if len(known) < len(shapes) or any(
            isinstance(d, Dim) and d.root not in top.lengths for dims in known for d in dims
        ):
            return not any(first)
        a, b = tuple(known[: len(first)]), tuple(known[len(first) :])
        answer = elements(a, top.lengths) <= elements(b, top.lengths)
        if any(isinstance(d, Dim) for dims in known for d in dims):
            top.smaller.append((a, b, answer))
        return answer

    def is_argument(self, dim: Dim) -> bool:
        """The length is known from an argument's axis, perhaps less a constant."""
        top = self.top()
        return dim.root in top.arg_roots

    def unify(self, a: DimLike, b: DimLike) -> bool:
        """Record that `a` and `b` are equal here, as the operation at hand would raise otherwise.

        True if something at run time still has to check it, that is if it is neither known nor a constraint on the
        arguments.
        """
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if isinstance(a, int) and isinstance(b, int):
            return True
        if isinstance(a, int) or (isinstance(b, Dim) and b.root > a.root):
            a, b = b, a
        assert isinstance(a, Dim)
        if self.not_one(a) and isinstance(b, Dim):
            self.mark_not_one(b)
        if self.parent is not None and self.assume(a, b, True):
            return False
        self.equal[a] = b
        if self.parent is None and all(isinstance(d, int) or d.root in self.arg_roots for d in (a, b)):
            self.constraints.append((a, b))
            return False
        return True


def terms_of(form: dict[int | None, int]) -> Terms:
    """A sum as a key: without zeros, in order."""
    return tuple(sorted([(root, c) for root, c in form.items() if c], key=_by_root))


def _by_root(term: tuple[Any, int]) -> int:
    return term[0] if type(term[0]) is int else 0


def _sum(terms: Terms, lengths: dict[int, int]) -> int:
    return sum(c * (1 if root is None else lengths[root]) for root, c in terms)


def length_of(d: DimLike, lengths: dict[int, int]) -> int:
    """What a length is, by the lengths that its root stands for."""
    return d if isinstance(d, int) else max(lengths[d.root] - d.off, 0)


def elements(shapes: Shapes, lengths: dict[int, int]) -> int:
    """How many elements arrays with these axes have together."""
    return sum(math.prod([length_of(d, lengths) for d in dims]) for dims in shapes)


def join(a: Ty, b: Ty, dims: Dims) -> Ty:
    """The facts that hold of a value that is an `a` on one path and a `b` on the other."""
    if a == b:
        return a
    if a.kind == "undef":
        return b
    if b.kind == "undef":
        return a
    if a.kind == b.kind == "list":
        if a.elem is None or b.elem is None:
            return Ty("list", elem=a.elem or b.elem)
        return Ty("list", elem=join_elements(a.elem, b.elem, dims))
    if "object" in (a.kind, b.kind) or (a.kind == "any" and a.elem) or (b.kind == "any" and b.elem):
        return _join_with_objects(a, b, dims)
    dtype = a.dtype if same_dtype(a.dtype, b.dtype) else None
    duck = either_duck(a.duck, b.duck)
    if a.is_scalar and b.is_scalar:
        kind = a.kind if a.kind == b.kind else "scalar"
        length = a.length if a.length is not None and a.length == b.length else None
        if kind == "py" and dtype is None:
            kind = "scalar"  # an int on one path and a float on the other
        return Ty(kind, dtype, (), None, length, dtype is None and a.is_real and b.is_real)
    kind = a.kind if a.kind == b.kind else "any"
    if kind in ("stack", "shape"):
        return Ty(kind)
    shape: tuple[DimLike, ...] | None = None
    if a.dims is not None and b.dims is not None and len(a.dims) == len(b.dims):
        shape = tuple(dims.find(x) if dims.same(x, y) else dims.fresh() for x, y in zip(a.dims, b.dims))
    return Ty(kind, dtype, shape, None, None, dtype is None and a.is_real and b.is_real, duck)


def _join_with_objects(a: Ty, b: Ty, dims: Dims) -> Ty:
    """The facts of what is an object on a path, or may be None there."""
    if a.kind == b.kind == "object":
        return OBJECT
    numbers = [t.elem if t.kind in ("any", "object") else t if t.is_scalar else None for t in (a, b)]
    if numbers[0] is None or numbers[1] is None:
        return ANY
    return Ty("any", elem=join(numbers[0], numbers[1], dims))


def or_raises(t: Ty) -> Ty:
    """The type that an operand has behind an operation that raises if it is None."""
    return t.elem if t.kind == "any" and t.elem is not None else t


def renewed(t: Ty, axes: Collection[int], dims: Dims) -> Ty:
    """The type with new unknown lengths of these axes."""
    if not axes or t.dims is None:
        return t
    return replace(t, dims=tuple([dims.fresh() if k in axes else d for k, d in enumerate(t.dims)]))


def cotangent_list(t: Ty) -> Ty:
    """The facts that hold of any cotangent of a list of this type: a number in it may be any real number."""
    if t.kind == "list" and t.elem is not None:
        return Ty("list", elem=cotangent_list(t.elem))
    if not t.is_scalar:
        return t
    known = t.is_float and t.dtype in PYTHON_DTYPES
    return Ty("scalar", t.dtype if known else None, (), real=t.is_real and not known)


# In the type of a list's elements: a length that differs from element to element.
ANY_LENGTH = Dim(0)


def join_elements(a: Ty, b: Ty, dims: Dims) -> Ty:
    """The facts that hold of every element of a list that holds an `a` and a `b`.

    A length that differs is `ANY_LENGTH`: a new length would claim that all elements have it.
    """
    joined = join(a, b, dims)
    if a == b or joined.dims is None or a.dims is None or b.dims is None:
        return joined
    shape = tuple(x if dims.same(x, y) else ANY_LENGTH for x, y in zip(a.dims, b.dims))
    return replace(joined, dims=shape)


def element(t: Ty, dims: Dims) -> Ty:
    """The type of one element of a list of this type: lengths that differ get a new name."""
    if t.kind != "list" or t.elem is None:
        return ANY
    e = t.elem
    if e.dims is None or ANY_LENGTH not in e.dims:
        return e
    return replace(e, dims=tuple(dims.fresh() if d == ANY_LENGTH else d for d in e.dims))
