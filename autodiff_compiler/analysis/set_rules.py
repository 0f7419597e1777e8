"""What operations do to the index sets of their operands: a rule for each kind of operation.

A rule takes a `Call`, an operation that has just run, and gives the sets of its result. An operation that moves
elements is applied to arrays of node numbers in the place of the elements. Elementwise operations and reductions make
unions. An operation without a rule gets one set for all elements of its result: the union of all that its operands
have. That is never too small.

>>> numbered([1.5, np.array([2.5, 3.5])], [4, np.array([7, 8])])
[4, array([7, 8])]
>>> rule_of(opset.ADD).__name__, decides(opset.GET, 3), decides(opset.ADD, 3)
('elementwise', True, False)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import kernels, runtime
from ..ir import opset
from ..ir.core import Op, Prim
from .index_sets import EMPTY

Array = np.ndarray[Any, Any]


class Call:
    """An operation that has run: its operands, its value, and the sets of its operands.

    run: the run that it is part of, see `sparsity`
    """

    __slots__ = ("run", "op", "args", "kwargs", "value")

    def __init__(self, run: Any, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any):
        self.run = run
        self.op = op
        self.args = args
        self.kwargs = kwargs
        self.value = value

    def place(self, name: str) -> Any:
        """Where the operand with this name is: a position, or the name; None if it is left out."""
        names = self.op.prim.params
        k = names.index(name) if name in names else len(self.args)
        return k if k < len(self.args) else name if name in self.kwargs else None

    def operand(self, name: str, default: Any = None) -> Any:
        """The value of an operand."""
        k = self.place(name)
        return default if k is None else self.args[k] if isinstance(k, int) else self.kwargs[k]

    def sets(self, name: str) -> Any:
        """The sets of an operand."""
        k = self.place(name)
        return EMPTY if k is None else self.run.sets_of(self.op.args[k] if isinstance(k, int) else self.op.kwargs[k])

    def numbers(self, name: str) -> Any:
        """An operand with node numbers in the place of its elements."""
        return numbered(self.operand(name), self.sets(name))

    def depends(self, name: str) -> bool:
        """The operand may have a set that is not empty."""
        return not is_empty(self.sets(name))

    def is_tainted(self, name: str) -> bool:
        k = self.place(name)
        return k is not None and self.run.is_tainted(
            self.op.args[k] if isinstance(k, int) else self.op.kwargs[k]
        )  # fmt: skip

    def is_only_by(self, names: tuple[str, ...]) -> bool:
        """No other operands than these have sets that are not empty."""
        own = [self.place(name) for name in names]
        sets = self.run.sets_of
        shapes = self.op.prim.shape_only
        others = [sets(arg) for k, arg in enumerate(self.op.args) if k not in own and k not in shapes]
        others += [sets(arg) for name, arg in self.op.kwargs.items() if name not in own]
        return all(map(is_empty, others))

    def all_sets(self) -> list[Any]:
        """The sets of the operands that are read for more than their shapes."""
        shapes = self.op.prim.shape_only
        read = [arg for k, arg in enumerate(self.op.args) if k not in shapes]
        return [self.run.sets_of(arg) for arg in (*read, *self.op.kwargs.values())]


def is_empty(sets: Any) -> bool:
    return all(map(is_empty, sets)) if isinstance(sets, list) else isinstance(sets, int) and sets == EMPTY


def numbered(value: Any, sets: Any) -> Any:
    """A value with node numbers in the place of its elements."""
    if isinstance(value, (list, tuple)):
        parts = sets if isinstance(sets, list) else [sets] * len(value)
        return [numbered(v, s) for v, s in zip(value, parts, strict=True)]
    shape = np.shape(value)
    if shape == ():
        return int(sets) if not isinstance(value, np.ndarray) else np.asarray(sets, np.int64)
    return np.broadcast_to(np.asarray(sets, np.int64), shape)


def plain(sets: Any) -> Any:
    """Sets as they are kept: the number itself for a number."""
    return int(sets) if isinstance(sets, np.generic) else sets


# --- the rules --------------------------------------------------------------------------------------------------------


def anything(call: Call) -> Any:
    """Each element of the result depends on all elements of all operands."""
    return call.run.sets.together(*call.run.parts(call.all_sets()))


def elementwise(call: Call) -> Any:
    found: Any = EMPTY
    for sets in call.all_sets():
        if not (type(sets) is int and sets == EMPTY):
            found = call.run.sets.union(found, sets)
    return fitted(call, found)


def fitted(call: Call, sets: Any) -> Any:
    """The sets of the result of an operation that broadcasts its operands."""
    values = call.value if call.op.prim.nout > 1 else (call.value,)
    out = [s if type(s) is int else np.broadcast_to(s, np.shape(v)) for v in values for s in (sets,)]
    return out if len(out) > 1 else out[0]


def passed(name: str) -> Callable[[Call], Any]:
    """One operand, element by element; the others say what is made of it, such as a dtype."""

    def rule(call: Call) -> Any:
        sets = call.sets(name)
        if not call.is_only_by((name,)):
            return anything(call)
        if isinstance(sets, (int, list)):
            return sets
        shape = np.shape(call.value)
        return np.broadcast_to(sets, shape) if np.ndim(sets) <= len(shape) else np.reshape(sets, shape)

    return rule


def filled(call: Call) -> Any:
    """``np.full_like``, which reads the shape of its first operand."""
    sets = call.sets("fill_value")
    return sets if isinstance(sets, (int, list)) else np.broadcast_to(sets, np.shape(call.value))


def summed_to(call: Call) -> Any:
    """The cotangent in the shape of another operand, summed over the axes along which that is broadcast."""
    sets = call.sets("g")
    if isinstance(sets, (int, list)):
        return sets
    want, have = np.shape(call.value), np.shape(sets)
    if have == want:
        return sets
    if len(have) < len(want):
        sets = np.reshape(sets, (1,) * (len(want) - len(have)) + have)
        have = np.shape(sets)
    extra = len(have) - len(want)
    axes = [*range(extra), *[extra + k for k, (n, m) in enumerate(zip(have[extra:], want)) if m == 1 and n != 1]]
    if axes:
        sets = call.run.sets.along(sets, tuple(axes))
    if np.size(sets) == np.size(call.value):
        return np.reshape(sets, want)
    return np.broadcast_to(sets, want)


def moving(*names: str) -> Callable[[Call], Any]:
    """The operation moves elements of these operands: it does the same with the numbers of their sets."""

    def rule(call: Call) -> Any:
        if not call.is_only_by(names):
            return anything(call)
        args, kwargs = list(call.args), dict(call.kwargs)
        for name in names:
            k = call.place(name)
            if isinstance(k, int):
                args[k] = call.numbers(name)
            elif k is not None:
                kwargs[k] = call.numbers(name)
        for name in ("dtype", "casting", "out"):
            k = call.place(name)
            if isinstance(k, int):
                args[k] = None if name != "casting" else "same_kind"
            elif k is not None:
                del kwargs[name]
        fn: Any = call.op.prim.fn
        sets = fn(*args, **kwargs)
        return sets if isinstance(sets, list) else plain(sets)

    return rule


def all_moving(call: Call) -> Any:
    """The operation moves elements of all its operands."""
    fn: Any = call.op.prim.fn
    return plain(fn(*[numbered(v, call.run.sets_of(a)) for v, a in zip(call.args, call.op.args)]))


def padded(call: Call) -> Any:
    if call.operand("mode", "constant") not in ("constant", "edge", "wrap", "reflect", "symmetric"):
        return anything(call)
    return moving("array")(call)


def shifted(call: Call) -> Any:
    return runtime.shift(call.numbers("x"), call.operand("axis"), EMPTY, call.operand("step", 1))


def chosen(call: Call) -> Any:
    """``np.where``: a condition that is the same for all values of the parameter picks sets, too."""
    name = call.op.prim.params[0]
    x, y = call.sets("x"), call.sets("y")
    if call.is_tainted(name):
        return fitted(call, call.run.sets.union(x, y))
    picked = np.where(call.operand(name), x, y)
    return plain(picked[()]) if np.ndim(call.value) == 0 else np.broadcast_to(picked, np.shape(call.value))


def got(call: Call) -> Any:
    if isinstance(call.sets("a"), int):
        return call.sets("a")
    return plain(runtime.get(call.sets("a"), call.operand("path")))


def stored(call: Call) -> Any:
    if np.ndim(call.value) == 0 and not isinstance(call.value, np.ndarray):
        return anything(call)
    sets = call.sets("v")
    if isinstance(sets, list):
        sets = np.array(call.numbers("v"))
    return runtime.set(call.numbers("a"), call.operand("path"), sets)


def added_at(call: Call) -> Any:
    sets = np.array(call.numbers("a"))
    places = runtime.get(np.arange(sets.size).reshape(sets.shape), call.operand("path"))
    new = call.numbers("v")
    while np.ndim(new) > np.ndim(places):
        new = new[0]
    new = np.broadcast_to(new, np.shape(places)).ravel()
    flat, places = sets.reshape(-1), np.ravel(places)
    once, which = np.unique(places, return_inverse=True)
    if len(once) == len(places):
        flat[places] = call.run.sets.union(flat[places], new)
    else:
        cells, members = np.r_[which, np.arange(len(once))], np.r_[new, flat[once]]
        flat[once] = call.run.sets.groups(cells, members, len(once))
    return flat.reshape(sets.shape)


def added(call: Call) -> Any:
    return _sum(call.run.sets, call.args[0], call.sets("a"), call.args[1], call.sets("v"))


def _sum(sets: Any, a: Any, of_a: Any, v: Any, of_v: Any) -> Any:
    if isinstance(a, list):
        parts = [s if isinstance(s, list) else [s] * len(a) for s in (of_a, of_v)]
        return [_sum(sets, x, r, y, s) for x, r, y, s in zip(a, parts[0], v, parts[1], strict=True)]
    if v is None or a is None:
        return of_a if v is None else of_v
    out = sets.union(of_a, of_v)
    return out if type(out) is int else np.broadcast_to(out, np.shape(a))


def reduced(default: Any = None) -> Callable[[Call], Any]:
    """A reduction along axes; `default`: the axis where none is given."""

    def rule(call: Call) -> Any:
        name = call.op.prim.params[0]
        if isinstance(call.sets(name), (int, list)) or any(map(call.depends, ("initial", "where", "mean"))):
            return anything(call)
        sets = call.numbers(name)
        axis = call.operand("axis", default)
        axes = tuple(range(sets.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        out = call.run.sets.along(sets, axes).reshape(np.shape(call.value))
        return plain(out[()]) if out.ndim == 0 else out

    return rule


def mixed(*names: str) -> Callable[[Call], Any]:
    """Each element depends on all elements along one axis: the last, unless an axis is given."""

    def rule(call: Call) -> Any:
        sets = call.run.sets
        axis = call.operand("axis", -1)
        found: Any = EMPTY
        for name in names:
            found = sets.union(found, call.numbers(name))
        if axis is None or np.ndim(found) == 0:
            return anything(call)
        axes = axis if isinstance(axis, tuple) else (axis,)
        return np.broadcast_to(sets.along(found, axes), np.shape(call.value))

    return rule


def scanned(call: Call) -> Any:
    """A cumulative operation: each element depends on those in front of it, too."""
    sets = np.array(call.numbers(call.op.prim.params[0]))
    axis = call.operand("axis", None if call.op.prim.fn in (np.cumsum, np.cumprod) else 0)
    if axis is None or sets.ndim == 0:
        sets, axis = sets.reshape(-1), 0
    rows = np.moveaxis(sets, axis, 0)
    for k in range(1, len(rows)):
        rows[k] = call.run.sets.union(rows[k - 1], rows[k])
    return sets


def differences(call: Call) -> Any:
    sets, axis = call.numbers("a"), call.operand("axis", -1)
    rows = np.moveaxis(sets, axis, 0)
    for _ in range(call.operand("n", 1)):
        rows = call.run.sets.union(rows[1:], rows[:-1])
    return np.moveaxis(rows, 0, axis)


def outer(call: Call) -> Any:
    a, b = np.ravel(call.numbers("a")), np.ravel(call.numbers("b"))
    return call.run.sets.union(a[:, None], b[None, :])


def product(call: Call) -> Any:
    """A product of matrices. The zeros of a factor that does not depend on the parameter are seen."""
    names = call.op.prim.params[:2]
    (a, b), (left, right) = map(call.operand, names), map(call.numbers, names)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return elementwise(call)
    deep = max(np.ndim(a), np.ndim(b)) > 2
    if deep and call.op.prim.fn is np.dot:
        return anything(call)
    sets = call.run.sets
    found: Any = EMPTY
    if np.ndim(left) == 1:
        a, left = np.asarray(a)[None], left[None]
    if np.ndim(right) == 1:
        b, right = np.asarray(b)[:, None], right[:, None]
    for k, other in ((0, 1), (1, 0)):
        if not call.depends(names[k]):
            continue
        numbers, factor = (left, b) if k == 0 else (np.swapaxes(right, -1, -2), np.swapaxes(np.asarray(a), -1, -2))
        constant = not deep and not call.depends(names[other])
        if constant and call.is_tainted(names[other]):
            call.run.decided = True
        part = _contracted(sets, numbers, np.asarray(factor) if constant else None)
        found = sets.union(found, part if k == 0 else np.swapaxes(part, -1, -2))
    out = np.broadcast_to(found, (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
    out = out.reshape(np.shape(call.value))
    return plain(out[()]) if out.ndim == 0 else out


def sparse_product(call: Call) -> Any:
    """The product of a sparse matrix and a vector or a matrix. Entries that are zero, and do not depend on the
    parameter, count for nothing."""
    form, data, i, j, shape, x = map(call.operand, ("form", "data", "i", "j", "shape", "x"))
    if form == "coo":
        row, col = np.asarray(i), np.asarray(j)
    else:
        major = np.repeat(np.arange(len(j) - 1), np.diff(j))
        row, col = (major, np.asarray(i)) if form == "csr" else (np.asarray(i), major)
    sets, entries = call.run.sets, np.broadcast_to(call.numbers("data"), np.shape(data))
    numbers = np.broadcast_to(call.numbers("x"), np.shape(x))
    width = 1 if np.ndim(x) == 1 else np.shape(x)[1]
    columns = np.arange(width)
    cells = (row[:, None] * width + columns).ravel()
    members = numbers.reshape(len(numbers), width)[col].ravel()
    if not call.depends("data"):
        if call.is_tainted("data"):
            call.run.decided = True
        kept = np.repeat(np.asarray(data) != 0, width)
        cells, members = cells[kept], members[kept]
    found = sets.groups(cells, members, shape[0] * width)
    if call.depends("data"):
        own = np.repeat(entries, width)
        found = sets.union(found, sets.groups(cells, own, shape[0] * width))
    return found.reshape(np.shape(call.value))


def _contracted(sets: Any, numbers: Array, factor: Any) -> Array:
    """The sets of ``numbers @ factor``: those in a row of `numbers` at which a column of the factor is not zero.

    Without a factor, all of the row: the result has one column.
    """
    if factor is None or np.count_nonzero(factor) == factor.size:
        return sets.along(numbers, (-1,))  # type: ignore[no-any-return]
    inner, columns = np.nonzero(factor)
    rows, width = len(numbers), factor.shape[1]
    cells = np.arange(rows)[:, None] * width + columns
    found = sets.groups(cells.ravel(), numbers[:, inner].ravel(), rows * width)
    return found.reshape(rows, width)  # type: ignore[no-any-return]


def inner(call: Call) -> Any:
    return product(call) if np.ndim(call.args[0]) == np.ndim(call.args[1]) == 1 else anything(call)


def convolved(call: Call) -> Any:
    """``np.convolve``: the places of the full convolution, and then the part of it that is wanted."""
    parts = []
    for name, other in (("a", "v"), ("v", "a")):
        if call.depends(name):
            if not call.depends(other) and call.is_tainted(other):
                call.run.decided = True
            numbers = np.atleast_1d(call.numbers(name))
            factor = np.atleast_1d(call.operand(other))
            steps = np.arange(len(factor)) if call.depends(other) else np.flatnonzero(factor)
            cells = np.arange(len(numbers))[:, None] + steps
            members = np.broadcast_to(numbers[:, None], cells.shape)
            parts.append(call.run.sets.groups(cells.ravel(), members.ravel(), len(numbers) + len(factor) - 1))
    found = parts[0] if len(parts) == 1 else call.run.sets.union(*parts)
    short = min(np.size(call.operand("a")), np.size(call.operand("v")))
    mode = call.operand("mode", "full")
    start = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}.get(mode)
    return anything(call) if start is None else found[start : start + len(call.value)]


# --- lists ------------------------------------------------------------------------------------------------------------


def list_of(call: Call) -> Any:
    return [call.run.sets_of(item) for item in call.op.args[0]]


def on_lists(call: Call) -> Any:
    """A change of a list, which moves items: the same change of the list of their sets."""
    fn: Any = call.op.prim.fn
    args = []
    for name, arg, value in zip(call.op.prim.params, call.op.args, call.args):
        sets = call.run.sets_of(arg)
        if name == "l" or name == "new":
            args.append(sets if isinstance(sets, list) else [sets] * len(value))
        else:
            args.append(sets if name == "v" else value)
    return fn(*args)


def list_added_at(call: Call) -> Any:
    (items, k, g), of_items = call.args, call.sets("l")
    out = list(of_items) if isinstance(of_items, list) else [of_items] * len(items)
    out[k] = _sum(call.run.sets, items[k], out[k], g, call.sets("g"))
    return out


def list_of_rows(call: Call) -> Any:
    sets = call.numbers("a")
    return [plain(row) for row in sets]


# --- the table --------------------------------------------------------------------------------------------------------

_MOVED_BY_NAME: dict[Any, tuple[str, ...]] = {
    np.flipud: ("m",), np.fliplr: ("m",), np.rot90: ("m",),
    np.take_along_axis: ("arr",), np.resize: ("a",), np.delete: ("arr",), np.extract: ("arr",), np.compress: ("a",),
    np.lib.stride_tricks.sliding_window_view: ("x",), np.insert: ("arr", "values"), np.choose: ("choices",),
    np.vstack: ("tup",), np.hstack: ("tup",), np.column_stack: ("tup",), np.append: ("arr", "values"),
    np.tile: ("A",), np.split: ("ary",), np.array: ("object",), np.asanyarray: ("a",), np.asfortranarray: ("a",),
    np.ascontiguousarray: ("a",), np.copy: ("a",), kernels.embed: ("x",), kernels.split_like: ("g",),
    runtime.joined_examples: ("items",), runtime.get_stored: ("a",),
}  # fmt: skip
_REDUCTIONS = (
    np.sum, np.mean, np.nansum, np.nanmean, np.var, np.std, np.prod, np.max, np.min, np.amax, np.amin, np.ptp,
    np.linalg.norm, kernels.logsumexp,
)  # fmt: skip
_REDUCING_UFUNCS = (np.add, np.multiply, np.maximum, np.minimum, np.logaddexp, np.logaddexp2, np.hypot)
_ON_LISTS = (
    runtime.list_append, runtime.list_get, runtime.list_set, runtime.list_insert, runtime.list_slice,
    runtime.list_splice, runtime.list_cut, runtime.list_drop,
)  # fmt: skip
_PASSED: dict[Any, str] = {
    runtime.cast: "g", runtime.through: "g", runtime.copy: "a", runtime.own: "a", runtime.as_scalar: "a",
    kernels.matching: "g", runtime.spread: "g", runtime.full_like: "g", np.real: "val", np.imag: "val",
    np.nan_to_num: "x", np.i0: "x", kernels.polygamma: "x", kernels.sinc_slope: "x", kernels.bessel_i: "x",
    np.full: "fill_value",
}  # fmt: skip
_RULES: dict[Any, Callable[[Call], Any]] = {
    runtime.get: got,
    runtime.set: stored,
    runtime.addat: added_at,
    runtime.accum: added,
    runtime.sum_to: summed_to,
    runtime.finish: summed_to,
    runtime.list_new: list_of,
    runtime.list_addat: list_added_at,
    np.full_like: filled,
    **dict.fromkeys((np.atleast_1d, np.atleast_2d), all_moving),
    runtime.unstack: list_of_rows,
    runtime.select: chosen,
    np.where: chosen,
    np.clip: elementwise,
    np.pad: padded,
    kernels.shift: shifted,
    np.diff: differences,
    np.outer: outer,
    np.inner: inner,
    np.convolve: convolved,
    kernels.softmax: mixed("x"),
    kernels.log_softmax: mixed("x"),
    kernels.linear_scan: mixed("g", "x"),
    kernels.flip_scan: mixed("g", "x"),
    np.sort: mixed("a"),
    **dict.fromkeys((np.matmul, operator.matmul, np.dot), product),
    **dict.fromkeys((np.cumsum, np.cumprod), scanned),
    **{ufunc.accumulate: scanned for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin)},
    **dict.fromkeys(_ON_LISTS, on_lists),
    **{fn: reduced() for fn in _REDUCTIONS},
    **{ufunc.reduce: reduced(0) for ufunc in _REDUCING_UFUNCS},
    **{fn: passed(name) for fn, name in _PASSED.items()},
    **{fn: moving(*names) for fn, names in _MOVED_BY_NAME.items()},
}  # fmt: skip

# By the module and the name of the function: what needs SciPy is not imported here.
_OF_SCIPY: dict[tuple[str, str], Callable[[Call], Any]] = {
    ("autodiff_compiler.kernels.scipy.sparse", "product"): sparse_product,
}

# They look at integers and conditions, and what they give is looked at itself.
_DECIDES_NOTHING = frozenset({
    opset.CAST, opset.TRUTH, opset.NOT, opset.IS, opset.IS_NOT, opset.SHAPE_OF, opset.SIZE, opset.DTYPE, opset.DIM,
    opset.NDIM, opset.LEN, opset.ZEROS, opset.SUM_TO, opset.FINISH, opset.SPREAD, opset.PUSH, opset.ASSERT,
    opset.RAISE,
})  # fmt: skip

# How many elements their results have depends on the values of floats.
_SIZED_BY_VALUES = frozenset({
    np.nonzero, np.flatnonzero, kernels.distinct, np.arange, np.histogram, np.extract, np.compress, np.delete,
})  # fmt: skip


def decides(prim: Prim, value: Any) -> bool:
    """What the operation does beside arithmetic may depend on the value of this operand: it is an index, a length, a
    choice.
    """
    if prim.elementwise or prim in _DECIDES_NOTHING:
        return False
    return prim.fn in _SIZED_BY_VALUES or is_exact(value)


def is_exact(value: Any) -> bool:
    """An integer, a bool, or an array of them."""
    if isinstance(value, (list, tuple)):
        return any(map(is_exact, value))
    kind = value.dtype.kind if isinstance(value, (np.ndarray, np.generic)) else "i" if isinstance(value, int) else "f"
    return kind in "biu"


def rule_of(prim: Prim) -> Callable[[Call], Any]:
    """The rule of an operation."""
    if prim.elementwise:
        return elementwise
    found = _RULES.get(prim.fn) or _OF_SCIPY.get((getattr(prim.fn, "__module__", ""), getattr(prim.fn, "__name__", "")))
    if found is None and {"moves", "joins"} & prim.traits:
        found = moving(prim.params[0].lstrip("*"))
    if found is None:
        return anything

    def rule(call: Call) -> Any:
        if any(_has_fields(x) for x in (*call.args, call.value)):
            return anything(call)
        return found(call)

    return rule


def _has_fields(x: Any) -> bool:
    """An array of records has fewer axes than its elements have numbers."""
    return isinstance(x, (np.ndarray, np.void)) and x.dtype.names is not None


__all__ = ["Call", "decides", "rule_of"]
