"""Arrays whose elements a loop reads and stores one by one, as lists: which they are, and how they become lists.

Takes a function and its loops. `Lists` finds the arrays of which reading, or storing, as a list pays. Gives, by
`make_lists`, the same function with lists of these: of an array that does not change in the loop in front of the loop,
and of an array that the loop carries and stores into for as long as the loop runs. `transforms.numbers` decides whether
that is done.

An array becomes a list only if the loop reads or writes about as many elements as it has, since the list has to be
made. So does an array of integers that are subscripts, bounds of ranges, as in the rows of a sparse matrix, or compared
to choose a branch. Of what a loop carries, all reads and stores have to be of single elements, and nothing may read
what was there before a store: the list would have to be copied.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x):
...     y = np.zeros(len(x))
...     for i in range(1, len(x)):
...         y[i] = 0.5 * y[i - 1] + x[i] * x[i]
...     return np.sum(y)
>>> show_source(f, np.ones(3))
def f_grad(x):
    n = x.shape[0]
    y = [0.0] * n
    x_list = x.tolist()
    for i in range(1, n):
        x_i = x_list[i]
        y[i] = 0.5 * y[i - 1] + x_i * x_i
    y_bar = [1.0]
    x_bar = np.zeros(x.shape)
    y_bar_i = 1.0
    # adjoint of line 3: for i in range(1, len(x)):
    for _ in reversed(range(1, n)):
        # adjoint of line 4: y[i] = 0.5 * y[i - 1] + x[i] * x[i]
        y_bar_i = 1.0 + 0.5 * y_bar_i
        y_bar.append(y_bar_i)
    x_bar[1:] = 2.0 * (np.array(y_bar[::-1])[1:] * x[1:])
    return x_bar
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import opset
from ..ir.core import IF, LOOP, Function, Op, Region, Value, leaves, type_of
from ..ir.opset import ADDAT, DIM, GET, LIST_ADDAT, LIST_GET, LIST_SET, PRIMS, PUSH, SET
from ..ir.rewrite import collect_uses, enclosing, joined_from, region_of, substitute_in, used_values
from ..ir.telling import Telling, name_of
from ..ir.types import PY_BOOL, PY_FLOAT, Dim, Ty, py_int
from .filling import affine

FLOAT64 = np.dtype(np.float64)
CHOOSING = tuple(map(np.dtype, ("i8", "i4", "i2", "i1", "u4", "u2", "u1", "?")))  # (a list takes no large uint64)
COMPARISONS = frozenset([PRIMS[getattr(operator, name)] for name in ("lt", "le", "gt", "ge", "eq", "ne")])
NUMBER = Ty("scalar", FLOAT64, ())  # Python's, but for what NumPy has divided
LISTED = Ty("list", elem=NUMBER)
SMALL = 64  # elements: an array with so many may become a list for a few reads
IN_LIST = {GET: LIST_GET, SET: LIST_SET, ADDAT: LIST_ADDAT}
IN_TABLE = {GET: opset.TABLE_GET, SET: opset.TABLE_SET, ADDAT: opset.TABLE_ADDAT}


def is_double(x: Any) -> bool:
    """A float, or a value that is one, of double precision."""
    t = type_of(x)
    return t.is_scalar and t.dtype == np.float64


def _is_index(x: Any) -> bool:
    if type(x) is not Value:
        return type(x) is int
    t = x.type  # (a list refuses a large unsigned index with another error)
    return t.is_scalar and t.dtype is not None and t.dtype.kind in "iu" and t.dtype != np.dtype(np.uint64)


def picked(path: Any) -> tuple[Any, ...] | None:
    """The integers by which a path picks; None if it does something else."""
    items: list[Any] = []
    for step in path:
        if step[0] != "index" or not all(map(_is_index, step[1])):
            return None
        items += step[1]
    return tuple(items)


def is_table(t: Ty) -> bool:
    """An array of floats of which the number of axes is known."""
    return t.kind == "array" and t.dtype == np.float64 and t.ndim in (1, 2)


def is_table_of_choices(t: Ty) -> bool:
    """An array of integers, or of truth values, of which the number of axes is known."""
    return t.kind == "array" and t.ndim in (1, 2) and t.dtype in CHOOSING


def element_of(op: Op, is_table: Callable[[Ty], bool] = is_table) -> tuple[Value, tuple[Any, ...]] | None:
    """The array of which an operation reads one element, perhaps by way of a row, and the subscripts."""
    base, items = op.args[0], picked(op.args[1])
    while items is not None and type(base) is Value and is_table(base.type):
        if len(items) == base.type.ndim:
            return base, items
        if base.op is None or base.op.prim is not GET:
            return None
        before = picked(base.op.args[1])
        base, items = base.op.args[0], None if before is None else before + items
    return None


def _picks_one(op: Op, v: Value) -> bool:
    return op.prim is GET and op.args[0] is v and len(picked(op.args[1]) or ()) == 1


def _runs_on(loop: Op) -> bool:
    """Nothing ends the loop before its range does."""
    code = loop.regions[0].exit[0]
    return type(code) is int and code == 0


def _is_item(op: Op) -> bool:
    """It reads one element of an array of floats."""
    base, items = op.args[0], picked(op.args[1])
    if items is None or type(base) is not Value or base.type.kind != "array" or len(op.args[1]) != 1:
        return False
    return base.type.dtype == np.float64 and len(items) == base.type.ndim


def _only_length(op: Op) -> bool:
    return len(op.args) == 1 and not op.kwargs and _is_index(op.args[0])


def insert(region: Region, at: int, prim: Any, args: tuple[Any, ...], t: Ty, tag: Any, hint: str) -> Value:
    op = Op(prim, args)
    op.tag, op.parent = tag, region
    op.results = [Value(t, hint, op)]
    region.ops.insert(at, op)
    return op.results[0]


class Lists:
    """The arrays that may become lists.

    reads:    of an operation that reads an element of an array that does not change in a loop: the array, the
              subscripts, and the loop in front of which the list is made
    choices:  the same of operations that read a subscript, a bound of a range, or what decides on a branch
    items:    other operations that read an element in a loop
    webs:     of a loop and the number of an array that it carries: all versions of the array in the loop
    accesses: the reads and stores of elements of these
    rejected: the loops that stay as they are
    """

    def __init__(self, fn: Function, loops: list[Op]):
        self.fn, self.loops = fn, loops
        self.uses = collect_uses(fn.body)
        self.dims = fn.body.dims.top()
        self.ops = list(fn.body.walk())
        self.at = {op: k for k, op in enumerate(self.ops)}
        self.root: dict[Region, Op] = {}
        for loop in loops:
            for op in (loop, *loop.regions[0].walk()):
                self.root.update(dict.fromkeys(op.regions, loop))
        self.inside = {loop: list(loop.regions[0].walk()) for loop in loops}
        self.rejected: set[Op] = set()
        self.reads: dict[Op, tuple[Value, tuple[Any, ...], Op]] = {}
        self.choices: dict[Op, tuple[Value, tuple[Any, ...], Op]] = {}
        self.webs: dict[tuple[Op, int], set[Value]] = {}
        self.accesses: set[Op] = set()
        self.items: set[Op] = set()
        self._choose_lists()

    def _choose_lists(self) -> None:
        listed: set[Value] = set()
        for loop in self.loops:
            for op in (loop, *loop.regions[0].walk()):
                if op.prim is not LOOP:
                    continue
                for k, param in enumerate(op.regions[0].params[1:]):
                    if param in listed or not is_table(param.type):
                        continue
                    found = self._web(op, k, param)
                    if found is not None:
                        self.webs[op, k] = found[0]
                        self.accesses |= found[1]
                        listed |= found[0]
        for loop in self.loops:
            for op in loop.regions[0].walk():
                if op.prim is not GET or op in self.accesses:
                    continue
                chooses = self._only_chooses(op.result)
                if not chooses and not self._computes(op.result):
                    continue
                element = element_of(op, is_table_of_choices if chooses else is_table)
                around = None if element is None else self._around(element[0], op)
                if element is not None and around is not None and self._covers(element[0], element[1], around):
                    (self.choices if chooses else self.reads)[op] = (*element, around)
                elif _is_item(op) and not chooses:
                    self.items.add(op)

    def _around(self, base: Value, op: Op) -> Op | None:
        """The outermost loop around an operation in which an array is the same."""
        home, found = region_of(base), None
        for region in enclosing(op.parent):
            if region is home:
                return found
            if region.op is not None and region.op.prim is LOOP:
                found = region.op
        return None

    def _computes(self, v: Value) -> bool:
        """Something is computed of it that is a number."""
        return any(
            isinstance(user, Op) and user.results and user.result.type.is_scalar and user.prim is not PUSH
            for user in self.uses.get(v, ())
        )

    def _only_chooses(self, v: Value) -> bool:
        """An integer that is only a subscript, says where a range begins or ends, or is compared to choose a branch; or
        a truth value that only does that."""
        is_bool = v.type.dtype == np.bool_

        def decides(user: Op | Region) -> bool:
            return isinstance(user, Op) and user.prim is IF

        def takes(user: Op | Region) -> bool:
            if is_bool or isinstance(user, Region) or user.kwargs:
                return is_bool and decides(user)
            if user.prim is LOOP:
                return not any(v is x for x in user.inits)
            if user.prim in COMPARISONS:
                number = user.args[1] if user.args[0] is v else user.args[0]
                return type(number) is int and all(map(decides, self.uses.get(user.result, ())))
            others = (user.args[0], *user.args[2:])
            return user.prim in IN_LIST and not any(v is x for x in others)

        users = self.uses.get(v, ())
        return bool(users) and all(map(takes, users))

    def _web(self, loop: Op, k: int, param: Value) -> tuple[set[Value], set[Op]] | None:
        """The versions of an array that a loop carries, and the reads and stores of their elements."""
        versions, accesses, todo = {param}, set(), [param]

        def add(*values: Value) -> None:
            for v in values:
                if v not in versions:
                    versions.add(v)
                    todo.append(v)

        while todo:
            v = todo.pop()
            for user in self.uses.get(v, ()):
                if isinstance(user, Region):
                    if user.op is None or user.op.prim not in (IF, LOOP):
                        return None
                    first = user.op.prim is LOOP
                    for j, x in enumerate(user.exit[first:]):
                        if x is v:
                            if user.op is not loop:
                                add(user.op.results[j], *(user.params[j + 1 : j + 2] if first else ()))
                            elif j != k:
                                return None
                elif user.prim is LOOP:
                    if v not in user.inits:
                        return None
                    for j, x in enumerate(user.inits):
                        if x is v:
                            add(user.results[j], user.regions[0].params[j + 1])
                elif user.prim in (GET, SET, ADDAT):
                    items = picked(user.args[1])
                    if items is None or len(items) != v.type.ndim or user.args[0] is not v:
                        return None
                    if v in leaves(user.args[1:]):
                        return None
                    accesses.add(user)
                    if user.prim is not GET:
                        t = type_of(user.args[2])
                        if not t.is_scalar or t.dtype is None or t.dtype.kind not in "iuf":
                            return None
                        add(user.result)
                elif user.prim is not DIM or param.type.ndim != 1:
                    return None
        if param.type.ndim == 2 and not self.dims.not_zero((param.type.dims or (0,))[0]):
            return None  # a list of no rows does not say how long they are
        for v in versions:
            if not is_table(v.type) or not all(type(x) is Value and x in versions for x in joined_from(v, loop)):
                return None
        if not all(self._is_read_before(v) for v in versions):
            return None
        if not any(self._covers(param, picked(op.args[1]) or (), loop) for op in accesses):
            return None
        return versions, accesses

    def _is_read_before(self, v: Value) -> bool:
        """Nothing reads an array after it has been stored into: a list would have to be copied."""
        home, uses = region_of(v), self.uses.get(v, ())
        ends = [u for u in uses if isinstance(u, Region) or u.prim in (SET, ADDAT, LOOP)]
        places = [u if isinstance(u, Region) else u.parent for u in ends]
        for place in places:
            for region in enclosing(place):
                if region is home:
                    break
                if region.op is None or region.op.prim is not IF:
                    return False
        if len(places) > 1 and (home in places or len(set(places)) < len(places)):
            return False
        last = max([self.at[u] for u in uses if isinstance(u, Op) and u.prim in (GET, DIM)], default=-1)
        return all(isinstance(u, Region) or last < self.at[u] for u in ends)

    def _covers(self, base: Value, items: tuple[Any, ...], loop: Op) -> bool:
        """The loop reads about as many elements as there are along each axis that the subscripts belong to."""
        dims = base.type.dims or ()
        roots = [root for root in map(self._root, items) if type(root) is Value]
        if len(set(roots)) < len(roots):
            return False  # a diagonal
        return all(
            self._runs_along(x, d, loop, 3) or self._is_short(d) or self._is_gathered(x, d, loop)
            for x, d in zip(items, dims)
        )

    def _is_short(self, length: Any) -> bool:
        """The axis has few elements. Of another argument, that is checked: the code is for this answer."""
        length = self.dims.find(length)
        if isinstance(length, int):
            return length <= SMALL
        return length.root in self.dims.lengths and self.dims.prefers([(length,)], [(SMALL,)])

    def _is_gathered(self, index: Any, length: Any, loop: Op) -> bool:
        """Each iteration picks an element, and there are as many iterations as elements, or more."""
        root, length = self._root(index), self.dims.find(length)
        if type(root) is not Value or loop.regions[0] not in enclosing(region_of(root)) or loop.range is None:
            return False
        trips = type_of(loop.range[1]).length if _runs_on(loop) and loop.range[:3:2] == (0, 1) else None
        shape: tuple[Any, ...] | None = None if trips is None else (trips,)
        element = element_of(root.op, is_table_of_choices) if root.op is not None and root.op.prim is GET else None
        if element is not None and self._covers(*element, loop):
            shape = element[0].type.dims  # as many as there are subscripts
        if shape is None or any(isinstance(d, Dim) and d.root not in self.dims.lengths for d in (length, *shape)):
            return False
        return self.dims.prefers([(length,)], [shape])

    def _runs_along(self, index: Any, length: Any, loop: Op, depth: int) -> bool:
        """The index is the variable of a loop that runs along an axis of this length."""
        length, root = self.dims.find(length), self._root(index)
        if type(root) is not Value or root.region is None or root.op is not None or depth == 0:
            return False
        inner = root.region.op
        if inner is None or inner.prim is not LOOP or root is not root.region.params[0] or inner.range is None:
            return False
        if inner is not loop and loop.regions[0] not in enclosing(inner.parent):
            return False
        if not all(_runs_on(around) for around in (inner, loop)):
            return False
        if self._are_segments(inner, loop):
            return True
        ends = [bound for bound in inner.range[:2] if self._root(bound) is not None]
        if not ends:  # between two constants
            trips = len(range(*inner.range[:3])) if all(type(x) is int for x in inner.range[:3]) else 0
            return isinstance(length, int) and trips * 4 >= length
        return all(self._is_end(end, length) or self._runs_along(end, length, loop, depth - 1) for end in ends)

    def _are_segments(self, inner: Op, loop: Op) -> bool:
        """The loop runs from one element of an array of integers to the next one, which an outer loop goes through, as
        the rows of a sparse matrix lie behind each other."""
        first, last = (x.op if type(x) is Value else None for x in inner.range[:2])  # type: ignore[index]
        if first is None or last is None or first.prim is not GET or last.prim is not GET:
            return False
        (i, *more), (k, *others) = picked(first.args[1]) or (0, 0), picked(last.args[1]) or (0, 0)
        if first.args[0] is not last.args[0] or not is_table_of_choices(first.args[0].type) or more or others:
            return False
        root = self._root(i)
        outer = root.region.op if type(root) is Value and root.region is not None and root.op is None else None
        if outer is None or outer.prim is not LOOP or outer.range is None or root is not outer.regions[0].params[0]:
            return False
        if outer is not loop and loop.regions[0] not in enclosing(outer.parent):
            return False
        start, stop = affine(i, outer), affine(k, outer)
        return start is not None and stop is not None and stop - start == 1

    def _is_end(self, bound: Any, length: Any) -> bool:
        """The bound of a loop is the length, but for a constant, or the least of it and others."""
        op = bound.op if type(bound) is Value else None
        if op is not None and op.prim.fn is min:
            return any(self._is_end(x, length) for x in op.args)
        return not isinstance(length, int) and self._root(bound) == length.root

    def _root(self, x: Any) -> Any:
        """What an integer is but for a constant: None of a constant, the root of a length, or another value."""
        while type(x) is Value:
            if x.type.length is not None:
                length = self.dims.find(x.type.length)
                return None if isinstance(length, int) else length.root
            op = x.op
            if op is None or op.prim not in (opset.ADD, opset.SUB) or type(op.args[1]) is not int:
                return x
            x = op.args[0]
        return None

    def in_loop(self, op: Op) -> bool:
        return op.parent in self.root and self.root[op.parent] not in self.rejected

    def behind(self, v: Value, prim: Any, args: tuple[Any, ...], t: Ty) -> Value:
        """The result of a new operation directly behind the definition of a value."""
        region = region_of(v)
        at = 0 if v.op is None else region.ops.index(v.op) + 1
        return insert(region, at, prim, args, t, v.op.tag if v.op is not None else None, "")

    def make_lists(self) -> None:
        lists: dict[tuple[Value, Any], Value] = {}
        rows: dict[tuple[Value, Any, Region], Value] = {}
        for (loop, k), versions in self.webs.items():
            if self.root[loop.regions[0]] in self.rejected:
                continue
            self._list_of(loop, k, versions)
        for op, (base, items, loop) in {**self.reads, **self.choices}.items():
            if not self.in_loop(op):
                continue
            number = PY_FLOAT if op in self.reads else PY_BOOL if base.type.dtype == np.bool_ else py_int()
            shared = "pullback" not in self.fn.meta and loop.parent is region_of(base)
            key = (base, loop.parent if shared else loop)
            if key not in lists:
                t = Ty("list", elem=number)
                if base.type.ndim == 2:
                    t = Ty("list", elem=t)
                lists[key] = self._to_list(base, loop, t, f"{base.hint}_list" if base.hint else "")
            found = lists[key]
            region = op.parent
            assert region is not None
            for i in items[:-1]:
                if (found, i, region) not in rows:
                    at, t = region.ops.index(op), found.type.elem or NUMBER
                    rows[found, i, region] = insert(region, at, LIST_GET, (found, i), t, op.tag, "")
                found = rows[found, i, region]
            op.prim, op.args = LIST_GET, (found, items[-1])
            op.result.type = number
            for user in self.uses.get(op.result, ()) if op in self.choices else ():
                if isinstance(user, Op) and user.prim in COMPARISONS:
                    user.result.type = PY_BOOL
        self._drop_arrays()

    def _drop_arrays(self) -> None:
        """Drop the arrays of lists that another loop goes on with."""
        read = used_values(self.fn.body)
        gone = [op for op in self.fn.body.walk() if op.prim is opset.FROM_LIST and op.result not in read]
        for op in gone:
            assert op.parent is not None
            op.parent.ops.remove(op)

    def _to_list(self, array: Any, loop: Op, t: Ty, hint: str) -> Value:
        """The list of an array, made in front of a loop."""
        region = loop.parent
        assert region is not None
        op = array.op if type(array) is Value else None
        if op is not None and op.prim is opset.FROM_LIST:
            return op.args[0]  # type: ignore[no-any-return]
        of_floats = t.elem in (NUMBER, PY_FLOAT)  # what is stored there is made a float
        alone = of_floats and op is not None and len(self.uses.get(array, ())) == 1 and op.parent is region
        tag = loop.tag
        if op is not None and alone and op.prim in (SET, ADDAT) and op in self._single_stores():
            base = self._to_list(op.args[0], op, t, hint)
            op.prim, op.args = (
                (LIST_SET if op.prim is SET else LIST_ADDAT),
                (base, op.args[1][0][1][0], self._float(op)),
            )
            op.result.type = t
            return op.result
        filled = op is not None and alone and self._filled(op)
        if op is not None and filled:
            v, length = filled
            if type(length) is not Value or length.type.kind != "py":
                dims = type_of(length).dims
                t_of_length = py_int(dims[0] if dims else None)
                length = insert(region, region.ops.index(op), DIM, (length, 0), t_of_length, op.tag, "")
            op.prim, op.args, op.kwargs = opset.REPEATED, (v, length), {}
            op.result.type = t
            return op.result
        return insert(region, region.ops.index(loop), opset.TOLIST, (array,), t, tag, hint)

    def _filled(self, op: Op) -> tuple[Any, Any] | None:
        """The number that all elements of a new vector are, and its length, or an array that has it."""
        if op.prim is opset.ZEROS:
            return 0.0, op.args[0]
        if op.prim.fn is np.zeros and _only_length(op) and type(op.args[0]) is Value:
            # A negative length is an error of NumPy's, and the length of an axis is none.
            return (0.0, op.args[0]) if op.args[0].type.length is not None else None
        if op.prim is opset.SPREAD and type(op.args[0]) is float:
            return op.args
        return None

    def _single_stores(self) -> set[Op]:
        """Stores of one number at one place, outside of all loops."""
        return {
            op for op in self.ops
            if op.prim in (SET, ADDAT) and op.parent not in self.root and len(picked(op.args[1]) or ()) == 1
            and type_of(op.args[2]).is_scalar and (d := type_of(op.args[2]).dtype) is not None and d.kind in "iuf"
        }  # fmt: skip

    def _float(self, op: Op) -> Any:
        """What a store stores, as a number of Python's."""
        v = op.args[2]
        if type(v) is not Value:
            return float(v)
        if is_double(v) and v.type.kind in ("py", "scalar"):
            return v
        assert op.parent is not None
        return insert(op.parent, op.parent.ops.index(op), PRIMS[float], (v,), PY_FLOAT, op.tag, Telling(name_of(v)))

    def _list_of(self, loop: Op, k: int, versions: set[Value]) -> None:
        t = versions.copy().pop().type
        for op in [op for v in versions for op in self.uses.get(v, ()) if isinstance(op, Op)]:
            if op.prim is DIM and op.args[0] in versions:
                op.prim, op.args = opset.LEN, (op.args[0],)
        for op in [op for op in self.accesses if op.args[0] in versions]:
            value = () if op.prim is GET else (self._float(op),)
            op.args = (op.args[0], *(picked(op.args[1]) or ()), *value)
            op.prim = (IN_LIST if t.ndim == 1 else IN_TABLE)[op.prim]
        kind = LISTED if t.ndim == 1 else Ty("table", FLOAT64, t.dims)
        for v in versions:
            v.type = kind
        inits, result = list(loop.inits), loop.results[k]
        result.type = kind
        inits[k] = self._to_list(inits[k], loop, kind, result.hint)
        loop.args = (loop.range, tuple(inits))
        users = self.uses.get(result, ())
        if (
            users
            and t.ndim == 1
            and all(isinstance(u, Op) and u.parent is loop.parent and _picks_one(u, result) for u in users)
        ):
            for user in users:
                assert isinstance(user, Op) and user.parent is not None
                (index,) = picked(user.args[1]) or (0,)
                at = user.parent.ops.index(user)
                added = [isinstance(u, Op) and u.prim in (SET, ADDAT) for u in self.uses.get(user.result, ())]
                if added and not all(added):
                    item = insert(user.parent, at, LIST_GET, (result, index), NUMBER, user.tag, "")
                    user.prim, user.args = PRIMS[np.float64], (item,)
                else:  # to NumPy's stores, a number is a number; a read that nobody needs may raise
                    user.prim, user.args = LIST_GET, (result, index)
        elif users:
            new = self.behind(result, opset.FROM_LIST, (result,), t)
            new.hint = result.hint
            for user in users:
                substitute_in(user, {result: new})
            self.uses[new] = list(users)
            for key, (base, items, around) in list(self.reads.items()):
                if base is result:
                    self.reads[key] = (new, items, around)


__all__ = ["COMPARISONS", "FLOAT64", "NUMBER", "Lists", "is_double"]
