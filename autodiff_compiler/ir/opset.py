"""The table of primitives: Python's operators, the operations that only the compiler makes, and how to add more."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import runtime
from ..late import late
from .core import IF, UNDEF, Builder, Op, Prim, Value, current, type_of
from .foreign import is_inert, keeps_only
from .infer import cannot_raise, infer_index, infer_ufunc, may_be_python_complex
from .table import Table
from .types import (
    ANY,
    OBJECT,
    PY_BOOL,
    PY_FLOAT,
    PYTHON_DTYPES,
    SHAPE,
    STACK,
    Dims,
    Ty,
    cotangent_list,
    element,
    join_elements,
    py_int,
    same_dtype,
)

block_length, length_from, linear, varying_length = late(
    __package__, "forms", "block_length", "length_from", "linear", "varying_length"
)

# From a callable that users write to its primitive.
PRIMS = Table()


# Each says of an unknown callable whether it has now filled in the records that concern it.
LATE: list[Callable[[Any], bool]] = []


def lookup(fn: Any) -> Prim | None:
    """The primitive of a callable, or None. Unhashable callables have none."""
    try:
        found: Prim | None = PRIMS.get(fn)
    except TypeError:
        return None
    if found is None:
        any(load_for(fn) for load_for in LATE)
        found = PRIMS.get(fn)  # another thread may have loaded it just now
    return found


def define(name: str, fn: Any, params: str = "", **facts: Any) -> Prim:
    """Make a primitive for the callable `fn` and enter it into the table."""
    prim = Prim(name, fn, params=tuple(params.replace(",", " ").split()), **facts)
    PRIMS[fn] = prim
    return prim


# Facts about operations that analyses ask for.
TRAITS = {
    "product": "the product of its two operands",
    "quotient": "the first operand divided by the second",
    "power": "the first operand to the power of the second, or its reciprocal",
    "solves": "linear in one operand, which is the result times what is affine in the other operands",
    "sum": "the sum or the difference of its two operands",
    "same_zeros": "zero where its first operand is zero",
    "moves": "moves the elements of its first operand about, or leaves some out, or fills in zeros",
    "steady": "a step of its operand gives a step of the result, times a number that is not zero",
    "exponential": "flat, or infinite, where its operand is large",
    "logarithm": "grows slower than any power of its operand",
    "real": "real operands give a real result; the types of some operations say so themselves",
    "joins": "joins arrays into one",
    "chooses": "may make a zero where there was none",
    "carries": "its result is a value that was made elsewhere",
    "bounded": "its result is never large",
    "again": "has an effect, and to do it again is to do it once",
    "of_first": "what it gives is new memory, or shares that of its first operand, an array",
    "of_vectors": "what it gives is new memory if its first operand has one axis",
    "of_several": "what it gives is new memory if it has two operands or more",
    "plain": "gives nothing of another library, whatever its operands are: a question, or a number of Python's",
    "read_only": "a view that NumPy protects from stores: several elements may be one in memory",
}


def mark(trait: str, *fns: Any) -> None:
    """Enter a trait into the records of these operations."""
    assert trait in TRAITS, trait
    for fn in fns:
        prim = fn if isinstance(fn, Prim) else PRIMS[fn]
        prim.traits |= {trait}


def adds_axes_only(path: tuple[Any, ...]) -> bool:
    """The path is one subscript, such as ``[:, None]``: it leaves out no element and picks none twice."""
    if len(path) != 1 or path[0][0] != "index":
        return False
    items, whole = path[0][1], (None, None, None)
    return any(item is None for item in items) and all(
        item is None or item is Ellipsis or (type(item) is slice and (item.start, item.stop, item.step) == whole)
        for item in items
    )


def may_repeat(op: Op) -> bool:
    """To do the operation a second time, on the same operands, changes nothing."""
    return not op.prim.effects or "again" in op.prim.traits


def repeatable(work: float, *fns: Any) -> None:
    """Enter into the records of these operations what it costs to compute an element again."""
    for fn in fns:
        (fn if isinstance(fn, Prim) else PRIMS[fn]).work = work


def gives(t: Any) -> Any:
    """Inference for results that always have this type."""
    return lambda b, args, kwargs: t


def always(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """The operation never raises."""
    return True


# --- Python's operators -----------------------------------------------------------------------------------------------


def _never_raises(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    types = [type_of(a) for a in args]
    return all(t.dtype is not None and t.dims is not None and t.dtype.kind in "biufc" for t in types)


def _total_operator(ufunc: Any, partial: bool) -> Any:
    """When a Python operator cannot raise; `partial`: on Python's own numbers it may, as a division by zero does."""

    def total(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        types = [type_of(a) for a in args]
        if not cannot_raise(ufunc, types, operator=True):
            return False
        return not partial or (any(t.kind in ("generic", "array") for t in types) and not may_be_python_complex(types))

    return total


_PARTIAL = {operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.lshift, operator.rshift}

OPERATORS: dict[Any, tuple[str, Any]] = {
    operator.add: ("+", np.add),
    operator.sub: ("-", np.subtract),
    operator.mul: ("*", np.multiply),
    operator.truediv: ("/", np.true_divide),
    operator.floordiv: ("//", np.floor_divide),
    operator.mod: ("%", np.remainder),
    operator.pow: ("**", np.power),
    operator.lshift: ("<<", np.left_shift),
    operator.rshift: (">>", np.right_shift),
    operator.and_: ("&", np.bitwise_and),
    operator.or_: ("|", np.bitwise_or),
    operator.xor: ("^", np.bitwise_xor),
    operator.lt: ("<", np.less),
    operator.le: ("<=", np.less_equal),
    operator.gt: (">", np.greater),
    operator.ge: (">=", np.greater_equal),
    operator.eq: ("==", np.equal),
    operator.ne: ("!=", np.not_equal),
}
UNARY_OPERATORS: dict[Any, tuple[str, Any]] = {
    operator.neg: ("-", np.negative),
    operator.pos: ("+", np.positive),
    operator.invert: ("~", np.invert),
}

for _fn, (_name, _ufunc) in {**OPERATORS, **UNARY_OPERATORS}.items():
    define(
        _name, _fn, "x1, x2" if _fn in OPERATORS else "x", infer=infer_ufunc(_ufunc, operator=True), elementwise=True,
        total=_total_operator(_ufunc, _fn in _PARTIAL),
    )  # fmt: skip

ADD, SUB, MUL, DIV = (PRIMS[f] for f in (operator.add, operator.sub, operator.mul, operator.truediv))
NEG, EQ = PRIMS[operator.neg], PRIMS[operator.eq]


ABS = define("abs", abs, "x", infer=infer_ufunc(np.absolute, operator=True), elementwise=True, total=_never_raises)


def _total_scalar(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return type_of(args[0]).is_scalar


TRUTH = define("bool", bool, "x", infer=gives(PY_BOOL), total=_total_scalar)
NOT = define("not", operator.not_, "x", infer=gives(PY_BOOL), total=_total_scalar)
IS = define("is", operator.is_, "a, b", infer=gives(PY_BOOL), total=always)
IS_NOT = define("is not", operator.is_not, "a, b", infer=gives(PY_BOOL), total=always)
CONTAINS = define("in", operator.contains, "a, b", infer=gives(PY_BOOL))

# --- reading and writing parts ----------------------------------------------------------------------------------------
#
# A path is a tuple of steps, each a tuple: ("index", items) with `items` a tuple of subscripts, ("transpose", axes or
# None), or ("reshape", shape). ``get(a, (("index", (i,)), ("index", (j,))))`` is ``a[i][j]``. Only the last step may
# index with arrays.


def _infer_get(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    base, path = args
    t = type_of(base)
    for step in path:
        t, _ = infer_step(b, t, step)
    return replace(t, real=True) if t.dtype is None and type_of(base).is_real else t


def infer_step(b: Builder, t: Ty, step: tuple[Any, ...]) -> tuple[Ty, bool | None]:
    """The type after one step of a path, and whether the step gives a view (None: not known)."""
    if step[0] == "index":
        return infer_index(b, t, step[1])
    if step[0] == "transpose":
        if t.dims is None:
            return Ty(t.kind, t.dtype, None), True
        axes = step[1]
        if axes is None:
            return Ty(t.kind, t.dtype, t.dims[::-1]), True
        return Ty(t.kind, t.dtype, tuple(t.dims[a] for a in axes)), True
    if step[0] == "reshape":
        return Ty("array", t.dtype, reshape_dims(b, t.dims, step[1])), True
    raise AssertionError(step)


def reshape_dims(b: Builder, dims: Any, shape: Any) -> Any:
    """The dims of ``x.reshape(shape)``."""
    from .core import structural_key

    if isinstance(shape, Value):
        if shape.op is not None and shape.op.prim is SHAPE_OF:
            return type_of(shape.op.args[0]).dims
        return (dim_of(b, shape),) if shape.type.kind == "py" else None
    if not isinstance(shape, (tuple, list)):
        shape = (shape,)
    out: list[Any] = []
    for item in shape:
        if isinstance(item, int) and item == -1:
            rest = [d for d in dims or () if d != 1]
            others = [dim_of(b, s) for s in shape if not (isinstance(s, int) and s == -1)]
            if dims is not None and all(o == 1 for o in others):
                if not rest:
                    out.append(1)
                elif len(rest) == 1:
                    out.append(rest[0])
                elif any(isinstance(d, int) and d == 0 for d in rest):
                    out.append(0)
                elif all(isinstance(d, int) for d in rest):
                    out.append(int(np.prod(rest)))
                else:
                    out.append(b.dims.named(("size", *rest)))
            elif dims is not None:
                out.append(b.dims.named(("reshape", tuple(dims), structural_key(tuple(shape)))))
            else:
                out.append(b.dims.fresh())
        else:
            out.append(dim_of(b, item))
    return tuple(out)


def dim_of(b: Builder, length: Any) -> Any:
    """The axis length that an int operand gives."""
    if isinstance(length, (int, np.integer)):
        return int(length)
    if isinstance(length, Value):
        if length.type.length is not None:
            return length.type.length
        form = linear(b.dims, length)
        if form is not None and any(root is not None for root in form):
            varies = any(type(root) is Value for root in form)
            found = varying_length(b.dims, form) if varies else length_from(b.dims, form)
            if found is not None:
                return found
        if length.op is not None and length.op.prim.name == "-" and len(length.op.args) == 2:
            block = block_length(b.dims, *length.op.args[::-1])
            if block is not None:
                return block
        return b.dims.named(("length", length))
    return b.dims.fresh()


def path_is_view(b: Builder, base: Any, path: tuple[Any, ...]) -> bool | None:
    """True if ``get`` along the path shares memory, False if it copies, None if that is not known."""
    t = type_of(base)
    view: bool | None = True
    for step in path:
        t, view = infer_step(b, t, step)
    return view and not t.is_scalar


def _infer_same_as_first(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    return type_of(args[0])


def _total_in_bounds(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Slices never raise; an index may."""
    t = type_of(args[0])
    if t.dims is None:
        return False
    for step in args[1]:
        if step[0] == "reshape":
            return False
        if step[0] == "index" and not all(i is None or i is Ellipsis or isinstance(i, slice) for i in step[1]):
            return False
    return True


GET = define("get", runtime.get, "a, path", infer=_infer_get, total=_total_in_bounds, alias="view", differentiable=(0,))
# The cotangent of what a store at the path wrote: zero where a later one of repeated subscripts overwrote it.
GET_STORED = define("get_stored", runtime.get_stored, "a, path", infer=_infer_get, total=_total_in_bounds)
# Functional store: `a` with the part at `path` replaced by `v` (cast to a's dtype, broadcast to the part).
SET = define("set", runtime.set, "a, path, v", infer=_infer_same_as_first, differentiable=(0, 2))
# The part at `path` increased by `v`; repeated indices add up.
ADDAT = define("addat", runtime.addat, "a, path, v", infer=_infer_same_as_first, total=always, differentiable=(0, 2))
# The whole of `a` increased by `v`, which has a's shape or broadcasts to it; a's shape and dtype are kept.
ACCUM = define("accum", runtime.accum, "a, v", infer=_infer_same_as_first, total=always)


def is_plain_path(path: tuple[Any, ...]) -> bool:
    """No part of the path can name an element twice, so adding is adding at each place once."""
    for step in path:
        if step[0] == "index":
            for item in step[1]:
                if isinstance(item, (slice, int, str)) or item is None or item is Ellipsis:
                    continue
                t = type_of(item) if not isinstance(item, (list, tuple)) else None
                if t is not None and (t.is_scalar or (t.dtype is not None and t.dtype.kind == "b")):
                    continue
                return False
    return True


def picks_each_once(path: tuple[Any, ...], dims: Dims) -> bool:
    """No part of the path can name an element twice. Beside `is_plain_path`: an array of subscripts may count the rows,
    as in ``a[np.arange(n), k]``."""
    if is_plain_path(path):
        return True
    *plain, last = path
    if not is_plain_path(tuple(plain)) or last[0] != "index":
        return False
    arrays = [item for item in last[1] if type(item) is Value and not item.type.is_scalar]
    counting = next((item for item in arrays if counts(item)), None)
    if counting is None or any(isinstance(item, (list, tuple)) for item in last[1]):
        return False
    (length,) = counting.type.dims or (0,)
    return all(is_row(item) and dims.same((item.type.dims or (0,))[0], length) for item in arrays)


def counts(v: Value) -> bool:
    """An array of the integers from 0 on."""
    op = v.op
    return op is not None and op.prim is PRIMS[np.arange] and len(op.args) == 1 and not op.kwargs and is_row(v)


def is_row(v: Value) -> bool:
    """Integers along one axis."""
    return v.type.kind == "array" and v.type.ndim == 1 and v.type.dtype is not None and v.type.dtype.kind in "iu"


def is_whole_scalar(a: Any, path: tuple[Any, ...]) -> bool:
    """The path names the one element of an array without axes, whatever axes it gives it."""
    return type_of(a).dims == () and all(
        step[0] != "index" or all(i is None or i is Ellipsis for i in step[1]) for step in path
    )


def is_whole(path: tuple[Any, ...]) -> bool:
    """The path names all of the array."""
    return all(
        step[0] == "index" and all(i is Ellipsis or (type(i) is slice and i == slice(None)) for i in step[1])
        for step in path
    )


# --- shapes -----------------------------------------------------------------------------------------------------------


def _infer_dim(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    dims = type_of(args[0]).dims
    axis = args[1]
    if dims is None or not isinstance(axis, int) or not -len(dims) <= axis < len(dims):
        return py_int()
    return py_int(dims[axis])


DIM = define(
    "dim",
    runtime.dim,
    "a, axis",
    infer=_infer_dim,
    total=lambda b, a, k: type_of(a[0]).dims is not None,
    shape_only=(0,),
)
SHAPE_OF = define(
    "shape", runtime.shape, "a", infer=gives(SHAPE), total=lambda b, a, k: type_of(a[0]).kind != "any", shape_only=(0,)
)
NDIM = define("ndim", runtime.ndim, "a", infer=gives(py_int()), total=always, shape_only=(0,))
SIZE = define("size", runtime.size, "a", infer=gives(py_int()), total=always, shape_only=(0,))
DTYPE = define("dtype", runtime.dtype, "a", infer=gives(OBJECT), total=always, shape_only=(0,))
RANGE_LEN = define("range_len", runtime.range_len, "start, stop, step", infer=gives(py_int()), total=always)


# True. The region of an ``if`` on it is a checkpoint, see `transforms.checkpoint`.
CHECKPOINT = define("checkpoint", runtime.checkpoint, "", infer=gives(PY_BOOL), total=always, unique=True)


def is_checkpoint(op: Op) -> bool:
    """The operation is an ``if`` that stands for a checkpoint."""
    made = op.condition.op if op.prim is IF and type(op.condition) is Value else None
    return made is not None and made.prim is CHECKPOINT


# What a loop says that is reversed in segments: by the user, and "actions", the reversal of a loop with snapshots.
SEGMENTS = frozenset({"segments", "snapshots", "actions"})


# The snapshots of a loop that is reversed with few of them, and what its reversal does.
SNAPSHOTS = define(
    "snapshot_steps", runtime.snapshot_steps, "trips, snapshots, together",
    infer=lambda b, a, k: Ty("list", elem=py_int()), roles=("plain", "plain", "plain"), total=always,
)  # fmt: skip
REVERSAL = define(
    "reversal", runtime.reversal, "taken, trips, snapshots, together", nout=3,
    roles=("plain", "plain", "plain", "plain"),
    infer=lambda b, a, k: tuple([Ty("list", elem=py_int())] * 3), total=always,
)  # fmt: skip
# Where snapshots on disk are written to. `directory` is part of the program.
SNAPSHOT_FILE = define(
    "snapshot_file", runtime.snapshot_file, "on_disk, in_memory, directory", roles=("plain", "plain", "plain"),
    infer=gives(OBJECT), total=always, unique=True,
)  # fmt: skip
# The bytes that values take, and how a loop is reversed within a budget of bytes, see `transforms.budget`.
KEPT_BYTES = define(
    "kept_bytes", runtime.kept_bytes, "*values", infer=gives(py_int()), total=always, roles=("plain",),
    shape_only=tuple(range(64)),
)  # fmt: skip
KEEP_WITHIN = define(
    "keep_within", runtime.keep_within, "left, loops, trips, state, trip, nested", nout=4, roles=("plain",) * 6,
    infer=gives((PY_BOOL, py_int(), py_int(), py_int())), total=always,
)  # fmt: skip
# How many trips of a loop are in a segment.
SEGMENT = define("segment", runtime.segment, "trips, segments", infer=gives(py_int()), total=always)


def _is_bound(x: Any) -> bool:
    t = type_of(x)
    return x is None or t.kind == "py" and t.dtype is not None and t.dtype.kind in "ib"


# Of ``range(*slice(start, stop, step).indices(n))``: start, stop or step.
SLICE_BOUND = define(
    "slice_bound", runtime.slice_bound, "k, n, start, stop, step", infer=gives(py_int()),
    total=lambda b, a, k: all(map(_is_bound, a[1:4])) and (a[4] is None or type(a[4]) is int and a[4] != 0),
)  # fmt: skip
# The rows that a function of itertools gives for lists of these lengths, as an array of indices.
INDEX_TABLE = define(
    "index_table", runtime.index_table, "kind, r, *lengths",
    infer=lambda b, a, k: Ty("array", np.dtype(np.int64), (b.dims.fresh(), a[1])),
)  # fmt: skip
LEN = define(
    "len", len, "a", infer=lambda b, a, k: _infer_dim(b, (a[0], 0), k),
    total=lambda b, a, k: type_of(a[0]).kind == "list",
)  # fmt: skip


def _infer_like_second(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    """The cotangent of `x`: its shape and dtype."""
    x = type_of(args[1])
    if x.is_scalar:
        return Ty("scalar", x.dtype if x.is_float else None, ())
    return Ty(x.kind, x.dtype if x.is_float else None, x.dims)


def _total_broadcast(b: Builder, args: tuple[Any, ...], large: int) -> bool:
    """The operand with this number has axes that the other one of two is broadcast to, as far as is known."""
    to, of = type_of(args[large]), type_of(args[1 - large])
    if of.is_scalar or of.dims == ():
        return True
    if to.dims is None or of.dims is None or len(of.dims) > len(to.dims):
        return False
    return all(b.dims.find(d) == 1 or b.dims.same(d, e) for d, e in zip(of.dims[::-1], to.dims[::-1]))


# ``sum_to(g, x)``: the cotangent `g` summed over the axes along which `x` was broadcast, in x's dtype. Reads x's shape
# and dtype only.
SUM_TO = define(
    "sum_to", runtime.sum_to, "g, x", infer=_infer_like_second, total=lambda b, a, k: _total_broadcast(b, a, 0),
    alias="view", shape_only=(1,),
)  # fmt: skip

# ``summed(g, shape)``: the same for a duck array, of which only the run knows the axes.
SUMMED = define("summed", runtime.summed, "g, shape", total=always)

# ``through(g, x)``: the cotangent `g` of what was converted to x's dtype, which only the run knows.
THROUGH = define(
    "through",
    runtime.through,
    "g, x",
    infer=lambda b, a, k: type_of(a[0]),
    total=always,
    alias="maybe",
    shape_only=(1,),
)


def converts(op: Op) -> bool:
    """The operation converts to a dtype that only the run knows, which may be one of integers."""
    if op.prim is SET:
        return type_of(op.args[0]).dtype is None and type_of(op.args[0]).kind in ("array", "any")
    if "dtype" not in op.prim.params or op.prim.nout != 1 or op.result.type.dtype is not None:
        return False
    at = op.prim.params.index("dtype")
    return isinstance(op.args[at] if at < len(op.args) else op.kwargs.get("dtype"), Value)


def _infer_spread(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    g, x = type_of(args[0]), type_of(args[1])
    if x.dims == ():
        return Ty(g.kind if g.is_scalar else "scalar", g.dtype, ())
    dtype = g.dtype
    if g.kind == "py" and x.dtype is not None and x.dtype.kind in "fc":
        # A weak scalar takes the dtype of what it is spread over.
        dtype = runtime.weak_dtype(g.dtype is not None and g.dtype.kind == "c", x.dtype)
    elif not same_dtype(g.dtype, x.dtype):
        # A Python number, which an np.float64 is too, takes x's dtype at run time.
        weak = g.kind in ("py", "scalar", "any") or (g.kind == "generic" and (dtype is None or dtype in PYTHON_DTYPES))
        if weak and (x.dtype is None or x.dtype.kind in "fc"):
            dtype = None
    return Ty("array" if x.kind == "array" else "any", dtype, x.dims)


# ``spread(g, x)``: `g` broadcast to x's shape, for reading. Reads x's shape only.
SPREAD = define(
    "spread", runtime.spread, "g, x", infer=_infer_spread, total=lambda b, a, k: _total_broadcast(b, a, 1),
    alias="view", shape_only=(1,),
)  # fmt: skip


def _infer_zeros(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t = type_of(args[0])
    if t.is_scalar:
        return Ty("py", np.dtype(np.float64), ())
    return cotangent_list(t) if t.kind == "list" else t


# A zero cotangent for `x`: its shape, its dtype, owned. Reads x's shape and dtype only (for a list: its elements').
ZEROS = define("zeros_like", runtime.zeros, "x", infer=_infer_zeros, total=always, unique=True, shape_only=(0,))


def _infer_cast(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t, dtype = type_of(args[0]), args[1]
    if isinstance(dtype, Value):
        return Ty("generic" if t.is_scalar else t.kind, None, t.dims)
    return Ty("generic" if t.is_scalar else t.kind, np.dtype(dtype), t.dims)


# `g` in the dtype given (an np.dtype constant or a value); real parts where a complex number meets a real dtype.
CAST = define("cast", runtime.cast, "g, dtype", infer=_infer_cast, total=always, alias="view", differentiable=(0,))

# The same for a duck array.
IN_DTYPE = define("in_dtype", runtime.in_dtype, "v, dtype", infer=_infer_cast, total=always, alias="view")

# The same content in a buffer of its own; OWN copies the arrays of a list, too. Made by passes only.
COPY = define("copy", runtime.copy, "a", infer=_infer_same_as_first, total=always, unique=True)
OWN = define("own", runtime.own, "a", infer=_infer_same_as_first, total=always, unique=True)
# A copy in a file, or in memory where `depth` says so.
SNAPSHOT = define(
    "snapshot", runtime.snapshot, "a, file, depth", infer=_infer_same_as_first, total=always, unique=True
)  # fmt: skip
# `ad.stop_gradient` of an array or a number.
CONSTANT = define("constant", runtime.constant, "a", infer=_infer_same_as_first, total=always, unique=True)
FULL_LIKE = define(
    "full_like", runtime.full_like, "x, g", infer=lambda b, a, k: _infer_spread(b, (a[1], a[0]), k),
    total=always, unique=True, shape_only=(0,),
)  # fmt: skip


def _infer_real_number(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    t = type_of(args[0])
    return Ty(t.kind if t.is_scalar else "any", t.dtype, (), real=True)


# `a` itself if it is a real floating scalar, else a NonScalarOutputError.
AS_SCALAR = define("as_scalar", runtime.as_scalar, "a", infer=_infer_real_number, alias="view")
# The cotangent that the caller gets for `x`: x's kind, shape and dtype, owned.
FINISH = define("finish", runtime.finish, "g, x", infer=_infer_like_second, total=always, alias="view", shape_only=(1,))

# --- residual stacks --------------------------------------------------------------------------------------------------

STACK_NEW = define("stack", runtime.stack, "", infer=gives(STACK), total=always, unique=True)
PUSH = define("push", runtime.push, "stack, v", nout=0, infer=gives(()), effects=True)
POP = define("pop", runtime.pop, "stack", infer=gives(ANY), effects=True)

# --- lists of run-time length -----------------------------------------------------------------------------------------


def _infer_list_new(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    elem = None
    for item in args[0]:
        elem = type_of(item) if elem is None else join_elements(elem, type_of(item), b.dims)
    return Ty("list", elem=elem)


def _infer_list_with(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    t, v = type_of(args[0]), type_of(args[-1])
    return Ty("list", elem=v if t.elem is None else join_elements(t.elem, v, b.dims))


LIST_NEW = define("list", runtime.list_new, "items", infer=_infer_list_new, total=always, unique=True, alias="maybe")
LIST_APPEND = define("append", runtime.list_append, "l, v", infer=_infer_list_with, alias="maybe", total=always)
LIST_GET = define(
    "list_get",
    runtime.list_get,
    "l, i",
    infer=lambda b, a, k: element(type_of(a[0]), b.dims),
    alias="maybe",
    differentiable=(0,),
)
LIST_SET = define("list_set", runtime.list_set, "l, i, v", infer=_infer_list_with, alias="maybe", differentiable=(0, 2))
LIST_ADDAT = define(
    "list_addat",
    runtime.list_addat,
    "l, i, g",
    infer=_infer_same_as_first,
    alias="maybe",
    total=always,
    differentiable=(0, 2),
)
LIST_INSERT = define(
    "list_insert", runtime.list_insert, "l, i, v", infer=_infer_list_with, alias="maybe",
    total=lambda b, a, k: _is_bound(a[1]), differentiable=(0, 2),
)  # fmt: skip
# ``del l[i]``. `like` is the item, of which the adjoint reads the shape and dtype.
LIST_DROP = define(
    "list_drop",
    runtime.list_drop,
    "l, i, like",
    infer=_infer_same_as_first,
    alias="maybe",
    shape_only=(2,),
    differentiable=(0,),
)


def _infer_spliced(b: Builder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ty:
    l, new = type_of(args[0]), type_of(args[2])
    if l.elem is None or new.elem is None:
        return Ty("list", elem=l.elem or new.elem)
    return Ty("list", elem=join_elements(l.elem, new.elem, b.dims))


# A new list of the items that a slice picks.
LIST_SLICE = define(
    "list_slice", runtime.list_slice, "l, start, stop, step", infer=_infer_same_as_first, alias="maybe",
    total=lambda b, a, k: all(map(_is_bound, a[1:])) and (a[3] is None or type(a[3]) is int and a[3] != 0),
    differentiable=(0,),
)  # fmt: skip
LIST_ADDSLICE = define(
    "list_addslice", runtime.list_addslice, "l, start, stop, step, g", infer=_infer_same_as_first, alias="maybe",
    total=always, differentiable=(0, 4),
)  # fmt: skip
# ``l[i:i] = new``; at the end where `i` is None.
LIST_SPLICE = define(
    "list_splice", runtime.list_splice, "l, i, new", infer=_infer_spliced, alias="maybe",
    total=lambda b, a, k: _is_bound(a[1]), differentiable=(0, 2),
)  # fmt: skip
# ``del l[start:stop]``. `like` is a list of these items, of which the adjoint reads the shapes and dtypes.
LIST_CUT = define(
    "list_cut", runtime.list_cut, "l, start, stop, like", infer=_infer_same_as_first, alias="maybe",
    total=lambda b, a, k: all(map(_is_bound, a[1:3])), shape_only=(3,), differentiable=(0,),
)  # fmt: skip

# --- Python's numbers in the place of NumPy's: made by `transforms.numbers` only --------------------------------------

TOLIST = define("tolist", runtime.to_list, "a", infer=None, total=always, unique=True)
# Has as many results as there are items.
UNPACK = define("unpacked", runtime.unpacked, "items", nout=2, infer=None, alias="maybe")
ITEM = define("item", runtime.item, "a, *indices", infer=gives(PY_FLOAT))
FROM_LIST = define("from_list", runtime.from_list, "l", infer=None, total=always, unique=True)
REPEATED = define(
    "repeated", runtime.repeated, "v, n", infer=gives(Ty("list", elem=PY_FLOAT)), total=always, unique=True
)  # fmt: skip
# A table is a list of rows of numbers, to which nothing else refers.
TABLE_GET = define("table_get", runtime.table_get, "t, i, j", infer=gives(PY_FLOAT))
TABLE_SET = define("table_set", runtime.table_set, "t, i, j, v", infer=_infer_same_as_first)
TABLE_ADDAT = define("table_addat", runtime.table_addat, "t, i, j, g", infer=_infer_same_as_first)
# A row is its number, where operations follow the SSA form; the code that is printed holds the row itself.
TABLE_ROW = define("table_row", runtime.table_row, "t, i", infer=None)
# An item of a list by the variable of a loop and a number, and the part of the list that the loop runs over.
LIST_ITEM = define("list_item", runtime.list_item, "l, i, more, first, last", infer=None)
# ``g / d`` and ``x ** n`` as NumPy computes them, where Python's numbers would raise.
DIVIDED = define("divided", runtime.divided, "g, d", infer=infer_ufunc(np.true_divide, operator=True), total=always)
RAISED = define("raised", runtime.raised, "x, n", infer=infer_ufunc(np.power, operator=True), total=always)
# A number of NumPy's if a loop has run, else what there was before.
NUMPYS = define("numpys", runtime.numpys, "v, trips", infer=lambda b, a, k: type_of(a[0]), total=always)

STORES = frozenset({
    SET, ADDAT, ACCUM, LIST_APPEND, LIST_SET, LIST_ADDAT, LIST_INSERT, LIST_DROP, LIST_ADDSLICE, LIST_SPLICE, LIST_CUT,
    TABLE_SET, TABLE_ADDAT
})  # fmt: skip

# --- contexts ---------------------------------------------------------------------------------------------------------

ERRSTATE = define("np.errstate", np.errstate, "", infer=gives(OBJECT), total=always, unique=True)

# --- effects ----------------------------------------------------------------------------------------------------------

_EFFECT: dict[str, Any] = {"nout": 0, "infer": gives(()), "effects": True}
PRINT = define("print", builtins.print, "*args", **_EFFECT)
ASSERT = define("assert", runtime.check, "cond, message", **_EFFECT)
RAISE = define("raise", runtime.raise_, "error, *cause", **_EFFECT)
mark("again", PUSH, POP, ASSERT, RAISE)
# Writing to what lives outside of the function. `obj` is the live object.
SET_ATTRIBUTE = define("setattr", runtime.set_attribute, "obj, name, v", **_EFFECT)
DEL_ATTRIBUTE = define("delattr", runtime.delete_attribute, "obj, name", **_EFFECT)
SET_ENTRY = define("set_entry", runtime.set_entry, "obj, key, v", **_EFFECT)
DEL_ENTRY = define("del_entry", runtime.delete_entry, "obj, key", **_EFFECT)
APPEND_TO = define("append_to", runtime.append_to, "obj, v", **_EFFECT)
FILL_LIST = define("fill_list", runtime.fill_list, "obj, *items", **_EFFECT)
STORE_INTO = define("store_into", runtime.store_into, "obj, path, v", **_EFFECT)
# An array, or a list of arrays, as it is put outside: a copy.
KEEP = define("keep", runtime.keep, "a", infer=gives(OBJECT), unique=True)
# A tuple, list, dictionary (with `names` as keys) or object as it is put outside.
BUILD = define("build", runtime.build, "cls, names, *items", infer=gives(OBJECT), unique=True)
FORMAT = define("format", runtime.format_, "*parts", infer=gives(OBJECT))
TUPLE = define("tuple", runtime.tuple_, "*items", infer=gives(OBJECT), total=always, alias="maybe")


ISINSTANCE = define("isinstance", isinstance, "a, cls", infer=gives(PY_BOOL), total=always)
ISSUBCLASS = define("issubclass", issubclass, "a, cls", infer=gives(PY_BOOL))
mark("plain", TRUTH, NOT, IS, IS_NOT, CONTAINS, DIM, SHAPE_OF, NDIM, SIZE, DTYPE, LEN, KEPT_BYTES, ISINSTANCE)


_GROUPS: tuple[type, ...] = tuple(x for x in [getattr(builtins, "BaseExceptionGroup", None)] if x is not None)


def is_plain_exception(cls: type[BaseException]) -> bool:
    """Making one does nothing else, whatever it is given: the class has Python's way to make it."""
    mro = cls.__mro__
    if any(issubclass(cls, c) for c in _PARTICULAR) or type(cls) is not type:
        return False
    return all(c.__module__ == "builtins" or not {"__init__", "__new__"} & vars(c).keys() for c in mro)


# Their arguments are looked at.
_PARTICULAR = (OSError, ImportError, SyntaxError, UnicodeError, AttributeError, NameError, *_GROUPS)


# The class of an exception.
TYPE_OF = Prim("type", type, infer=gives(OBJECT), params=("a",), alias="maybe", total=always)


def exception(cls: type[BaseException]) -> Prim:
    """A primitive that makes an exception; those of Python do nothing else."""
    plain = is_plain_exception(cls)
    known = cls.__module__ in ("builtins", "numpy.linalg", "autodiff_compiler.errors")
    if not plain and not known and (issubclass(cls, _PARTICULAR) or not keeps_only(cls)):
        return opaque(cls, cls.__name__)
    total = (lambda b, args, kwargs: not kwargs) if plain else None
    return Prim(cls.__name__, cls, infer=gives(OBJECT), params=("*args",), alias="maybe", unique=True, total=total)


# The exception that `raise` raises with these operands.
CAUGHT = define(
    "caught", runtime.caught, "error, *cause", infer=gives(OBJECT), alias="maybe", unique=True,
    total=lambda b, args, kwargs: all(map(_is_exception, args)),
)  # fmt: skip


def _is_exception(x: Any) -> bool:
    made: Any = x.op.prim.fn if type(x) is Value and x.op is not None else x
    cls = made if isinstance(made, type) else type(made)
    return issubclass(cls, BaseException)


def opaque(fn: Callable[..., Any], name: str) -> Prim:
    """A primitive for a callable without one: it may do anything, its result may be anything."""
    prim = lookup(fn)
    if prim is None:
        foreign = not is_inert(fn)
        try:
            hash(fn)
        except TypeError:  # a C function of ctypes
            fn = fn.__call__  # type: ignore[operator]
        prim = Prim(name, fn, infer=gives(ANY), params=("*args",), alias="maybe", effects=True, foreign=foreign)
    return prim


def asked(name: str, fn: Callable[..., Any]) -> Prim:
    """A question that live objects answer, by methods that may do anything: a comparison, membership, truth."""
    t = py_int() if fn in (len, hash) else ANY
    if fn in (bool, operator.contains, isinstance, callable, hasattr):
        t = PY_BOOL
    return Prim(name, fn, infer=gives(t), params=("*args",), effects=True)


# --- arithmetic on values ---------------------------------------------------------------------------------------------


def _method(fn: Any, reflected: bool = False) -> Any:
    def forward(self: Value, other: Any) -> Any:
        return current().emit(PRIMS[fn], self, other)

    def backward(self: Value, other: Any) -> Any:
        return current().emit(PRIMS[fn], other, self)

    return backward if reflected else forward


def _unary(fn: Any) -> Any:
    return lambda self: current().emit(PRIMS[fn], self)


def _refuse(what: str) -> Any:
    def method(self: Value, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"an IR value has no {what}: rules build operations on values, they do not look at them")

    return method


for _stem in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Value, f"__{_stem}__", _method(getattr(operator, _stem)))
    setattr(Value, f"__r{_stem}__", _method(getattr(operator, _stem), reflected=True))
for _stem, _fn in (("and", operator.and_), ("or", operator.or_), ("xor", operator.xor)):
    setattr(Value, f"__{_stem}__", _method(_fn))
    setattr(Value, f"__r{_stem}__", _method(_fn, reflected=True))
for _stem in ("lt", "le", "gt", "ge"):
    setattr(Value, f"__{_stem}__", _method(getattr(operator, _stem)))
for _stem in ("neg", "pos", "invert"):
    setattr(Value, f"__{_stem}__", _unary(getattr(operator, _stem)))
setattr(Value, "__abs__", _unary(abs))
setattr(Value, "__matmul__", lambda self, other: current().emit(PRIMS[operator.matmul], self, other))
setattr(Value, "__rmatmul__", lambda self, other: current().emit(PRIMS[operator.matmul], other, self))
for _stem in ("array", "bool", "len", "float", "int", "index", "complex"):
    setattr(Value, f"__{_stem}__", _refuse(f"__{_stem}__"))
setattr(Value, "__iter__", None)


def _array_ufunc(self: Value, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    fn = ufunc if method == "__call__" else getattr(ufunc, method)
    return apply(fn, *inputs, **kwargs)


def _array_function(self: Value, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return apply(func, *args, **kwargs)


def apply(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Add the operation of calling `fn` to the current builder. Raises LookupError for a callable without primitive."""
    prim = lookup(fn)
    if prim is None:
        raise LookupError(f"no primitive for {getattr(fn, '__name__', fn)!r}")
    return current().emit(prim, *args, **kwargs)


setattr(Value, "__array_ufunc__", _array_ufunc)
setattr(Value, "__array_function__", _array_function)


def _getitem(self: Value, item: Any) -> Any:
    items = item if isinstance(item, tuple) else (item,)
    return current().emit(GET, self, (("index", items),))


setattr(Value, "__getitem__", _getitem)


def _shape(self: Value) -> Any:
    return current().emit(SHAPE_OF, self)


def _ndim(self: Value) -> Any:
    return self.type.ndim if self.type.dims is not None else current().emit(NDIM, self)


def _dtype(self: Value) -> Any:
    t = self.type
    return t.dtype if t.dtype is not None and t.kind in ("array", "generic", "py") else current().emit(DTYPE, self)


def _transposed(self: Value) -> Any:
    return current().emit(GET, self, (("transpose", None),))


setattr(Value, "shape", property(_shape))
setattr(Value, "ndim", property(_ndim))
setattr(Value, "size", property(lambda self: current().emit(SIZE, self)))
setattr(Value, "dtype", property(_dtype))
setattr(Value, "T", property(_transposed))
setattr(Value, "astype", lambda self, dtype: current().emit(CAST, self, dtype))


def as_value(b: Builder, x: Any) -> Any:
    """A constant array as a value, which may be stored into and handed out. The constant itself is one for all calls.
    Anything else as it is.
    """
    if not isinstance(x, np.ndarray):
        return x
    short = 0 < x.size <= 32  # it is written out
    if short and x.dtype == np.float64:
        return b.emit(PRIMS[np.array], x.tolist())
    return b.emit(PRIMS[np.array], x.tolist() if short else x, dtype=x.dtype)


__all__ = ["PRIMS", "UNDEF", "apply", "define", "lookup"]
