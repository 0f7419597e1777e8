"""The structured SSA form: values, operations that own regions, functions, and the builder that makes them.

Arguments of an operation are nested Python structures (tuples, lists, dicts, slices) whose leaves are `Value` or
plain Python constants. Control flow:

The properties of `Op` name the operands and results of these.

``if(cond)``          regions ``then, else`` without parameters; each region's `exit` gives the results.
``loop(range, inits)``  `range` is ``(start, stop, step)`` or ``None`` (an endless loop). The one region has parameters
                      ``(i, *carried)`` and exit ``(code, *carried)``. `Exit.NORMAL` goes on to the next iteration; any
                      other code ends the loop at once with that iteration not counted. Results:
                      ``(*carried, trips, code)``; the code is `Exit.NORMAL` if the range ran out.
``try(catch, context)`` runs its one region, which has no parameters, in ``with context`` unless that is None. `catch`
                      is a tuple of exception classes. One of them ends the region, and the values that the region
                      has pushed on stacks are taken off again. Results: ``(completed, error, *exit)``. `completed`
                      says whether the region came to its end. If not, `error` is the exception, and the values of
                      the exit are undefined.
``func()``            a function that may call itself; it stands at the top level of a function's body. The one region
                      has a parameter per argument, its exit gives the results. The result is the function, which the
                      region may name too.
``call(func, *args)`` runs the region of a ``func`` once; a result per element of the region's exit.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np

from ..records import mutable_record
from . import budget
from .types import ANY, OBJECT, Dims, Ty, as_duck, duck_in, either_duck, type_of_constant


class _Place(NamedTuple):
    file: str
    line: int
    col: int
    end_col: int
    function: str = ""


class Loc(_Place):
    """A place in the user's source: 1-based line, 0-based column, as in `ast`.

    caller: in a function that is lowered where it is called, the place of the call: one object for each call. Places
            are the same whatever it is.
    """

    caller: Loc | None = None


class Exit(enum.IntEnum):
    """How a block of statements, or an iteration of a loop, ends.

    Operations hold the plain ints.
    """

    NORMAL = 0  # what follows it runs
    BREAK = 1
    CONTINUE = 2
    RETURN = 3  # with a value in the place "$ret"
    DONE = 4  # the loop ends because its condition is false, and its ``else`` runs
    RAISED = 5  # with an exception in the place "$raised"
    DEAD = 9  # every path through it raises, or runs for ever


class _Undef:
    """The value of a name that no assignment on this path has bound."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "undef"

    def __reduce__(self) -> str:
        return "UNDEF"


UNDEF = _Undef()


@mutable_record
class Prim:
    """A primitive operation.

    name:     how it is printed (``np.exp``, ``+``)
    fn:       computes it on arrays
    infer:    ``infer(builder, args, kwargs) -> Ty`` (a tuple of them if ``nout > 1``); None: nothing is known
    params:   parameter names in order, for rules per argument; a leading ``*`` marks the variadic one
    roles:    what each parameter is: "array", "arrays", "strict", "plain" or "known", see `ir.roles`
    alias:    "fresh": the result shares no memory; "view": it shares memory with the first argument;
              "maybe": it may share memory with any argument
    effects:  has an effect beyond its result, so that it is neither dropped, merged nor moved
    total:    ``total(builder, args, kwargs)``: True if it cannot raise on operands of these types
    elementwise: broadcasts its array arguments and computes element by element
    foreign:  runs code of which nothing is known: see `ir.foreign` and `analysis.taint`
    unique:   makes a new buffer to be written into; two equal calls are not merged
    template: how codegen prints it: a callable ``(printer, op, args, kwargs) -> str``, or None for a call of `name`
    shape_only: positions of operands of which only the shape and dtype are read
    differentiable: positions of the operands on which the results may depend differentiably; None: all that are read
    traits:   facts that analyses ask for by name, see `ir.opset.TRAITS`
    work:     of computing an element again, in units of keeping one in memory; None: it is never computed again.
              Only for what gives the same bits each time

    The functions of `operations.record` write the columns of the derivative:

    partials: the partial derivatives of an elementwise operation, one per argument
    pullbacks: the pullback of an argument by its parameter name
    nondiff:  the derivative is zero wherever it exists
    singular: a partial may be infinite where the operation is finite: which zeros of a cotangent are kept
    linear:   groups of parameters; the operation is linear in those of a group together
    tangents: the rule for the tangent of a parameter by its name, where it is not derived from the columns above
    together: rules for the tangent of several parameters at once, by their names, where that costs less than the sum
    batch:    applies the operation to stacks of operands: ``batch(batcher, op)``
    """

    name: str
    fn: Callable[..., Any] | None = None
    infer: Callable[..., Any] | None = None
    params: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    nout: int = 1
    alias: str = "fresh"
    effects: bool = False
    total: Callable[..., bool] | None = None
    elementwise: bool = False
    foreign: bool = False
    unique: bool = False
    template: Callable[..., Any] | None = None
    shape_only: tuple[int, ...] = ()
    differentiable: tuple[int, ...] | None = None
    traits: frozenset[str] = frozenset()
    work: float | None = None
    partials: tuple[Any, ...] | None = None
    pullbacks: dict[str, Callable[..., Any]] = field(default_factory=dict)
    nondiff: bool = False
    singular: int = 0
    linear: tuple[tuple[str, ...], ...] = ()
    tangents: dict[str, Callable[..., Any]] = field(default_factory=dict)
    together: dict[tuple[str, ...], Callable[..., Any]] = field(default_factory=dict)
    batch: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"Prim({self.name})"


# Modules outside of this package that registered a primitive or a rule. With them, the table of operations is no longer
# what the version of the package says, so nothing is kept on disk.
RULES_OF_USERS: list[str] = []


class Value:
    """An SSA value. Arithmetic on it, and NumPy functions called on it, add operations to the current builder."""

    __slots__ = ("type", "hint", "op", "region", "loc", "__weakref__")
    __hash__ = object.__hash__

    def __init__(self, type: Ty, hint: str = "", op: Op | None = None, region: Region | None = None):
        self.type = type
        self.hint = hint
        self.op = op  # the operation that defines it, or None for a region's parameter
        self.region = region  # the region whose parameter it is, if it is one

    def __repr__(self) -> str:
        return f"<{self.hint or 'v'}: {self.type}>"


class Op:
    __slots__ = ("prim", "args", "kwargs", "regions", "results", "loc", "parent", "checks", "droppable", "tag", "again")

    def __init__(
        self,
        prim: Prim,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        regions: tuple[Region, ...] = (),
        loc: Loc | None = None,
    ):
        self.prim = prim
        self.args = args
        self.kwargs = kwargs or {}
        self.regions = regions
        self.results: list[Value] = []
        self.loc = loc
        self.parent: Region | None = None
        self.checks = False  # it proves at run time a fact that types rely on, so it must not be dropped
        self.droppable = False  # no user wrote it: it may go when unused even if it could raise
        self.tag: Any = None  # free for the pass that is running
        self.again = False  # the backward sweep repeats an operation of the forward sweep by it
        for region in regions:
            region.op = self

    @property
    def result(self) -> Value:
        return self.results[0]

    # Of an ``if``, a ``loop``, a ``try``, a ``call``; see the head of this module.

    @property
    def condition(self) -> Any:
        """Of an ``if``."""
        return self.args[0]

    @property
    def range(self) -> tuple[Any, ...] | None:
        """Of a loop: start, stop, step, and perhaps a flag for running it backwards; None if it is endless."""
        return self.args[0]  # type: ignore[no-any-return]

    @property
    def inits(self) -> tuple[Any, ...]:
        """Of a loop: the first values of what it carries."""
        return self.args[1]  # type: ignore[no-any-return]

    @property
    def carried(self) -> list[Value]:
        """Of a loop: the last values of what it carries."""
        return self.results[:-2]

    @property
    def trips(self) -> Value:
        """Of a loop: the number of completed trips."""
        return self.results[-2]

    @property
    def exit_code(self) -> Value:
        """Of a loop: how its last trip ended."""
        return self.results[-1]

    @property
    def catch(self) -> tuple[Any, ...]:
        """Of a ``try``: the exception classes; none of a ``with``."""
        return self.args[0]  # type: ignore[no-any-return]

    @property
    def context(self) -> Any:
        """Of a ``try``: the object of its ``with``, or None."""
        return self.args[1]

    @property
    def completed(self) -> Value:
        """Of a ``try``: whether its region came to its end."""
        return self.results[0]

    @property
    def func(self) -> Any:
        """Of a call."""
        return self.args[0]

    def operands(self) -> list[Value]:
        """Every value that the operation itself reads (its regions' reads are theirs)."""
        out: list[Value] = []
        for arg in self.args:
            if type(arg) is Value:
                out.append(arg)
            elif type(arg) not in _PLAIN:
                _add_leaves(arg, out)
        if self.kwargs:
            _add_leaves(self.kwargs, out)
        return out

    def __repr__(self) -> str:
        return f"<op {self.prim.name}>"


class Region:
    """A list of operations with parameters, ended by `exit`, the arguments that it hands to its owner."""

    __slots__ = ("params", "ops", "exit", "op", "dims", "tag", "range")

    def __init__(self, dims: Dims | None = None):
        self.range: tuple[Any, ...] | None = None  # of a loop that is being made, whose body this becomes
        self.params: list[Value] = []
        self.ops: list[Op] = []
        self.exit: tuple[Any, ...] = ()
        self.op: Op | None = None
        self.dims = dims or Dims()
        self.tag: Any = None

    def param(self, type: Ty, hint: str = "") -> Value:
        value = Value(type, hint, None, self)
        self.params.append(value)
        return value

    def walk(self) -> Iterator[Op]:
        """All operations, nested ones after their owner, in program order."""
        # Without recursion: each link of a long chain of ``elif`` is a region in the one before.
        todo: list[Region | Iterator[Op]] = [iter(self.ops)]
        while todo:
            top = todo[-1]
            if isinstance(top, Region):
                top = todo[-1] = iter(top.ops)
            for op in top:
                yield op
                if op.regions:
                    todo += reversed(op.regions)
                    break
            else:
                todo.pop()


@mutable_record
class Function:
    name: str
    body: Region
    # What the results mean to the caller, such as the structure that they are returned in. Passes keep it.
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> list[Value]:
        return self.body.params

    @property
    def results(self) -> tuple[Any, ...]:
        return self.body.exit


def leaves(arg: Any) -> list[Value]:
    """The values in a nested argument, left to right."""
    if type(arg) is Value:
        return [arg]
    out: list[Value] = []
    _add_leaves(arg, out)
    return out


def _add_leaves(arg: Any, out: list[Value]) -> None:
    # Every pass comes through here: a list is filled several times faster than generators yield through each other.
    if isinstance(arg, (tuple, list)):
        for item in arg:
            if type(item) is Value:
                out.append(item)
            elif type(item) not in _PLAIN:
                _add_leaves(item, out)
    elif isinstance(arg, slice):
        for item in (arg.start, arg.stop, arg.step):
            if type(item) is Value:
                out.append(item)
            elif item is not None:
                _add_leaves(item, out)
    elif isinstance(arg, dict):
        _add_leaves(tuple(arg.values()), out)
    elif type(arg) is Value:
        out.append(arg)


_EXACT = frozenset({int, bool, str, bytes, type(None)})
_PLAIN = _EXACT | {float, complex}


def map_leaves(f: Callable[[Value], Any], arg: Any) -> Any:
    """The nested argument with `f` applied to each value in it."""
    if type(arg) is Value:
        return f(arg)
    if type(arg) is tuple:
        return tuple([map_leaves(f, item) for item in arg])
    if type(arg) is list:
        return [map_leaves(f, item) for item in arg]
    if type(arg) is slice:
        return slice(map_leaves(f, arg.start), map_leaves(f, arg.stop), map_leaves(f, arg.step))
    if type(arg) is dict:
        return {key: map_leaves(f, item) for key, item in arg.items()}
    return arg


def type_of(arg: Any) -> Ty:
    """The type of an operand: a value or a constant."""
    if type(arg) is Value:
        return arg.type
    return type_of_constant(arg)


def duck_among(args: Iterable[Any]) -> type | None:
    """The class of the duck arrays that may be among these arguments."""
    found: type | None = None
    for arg in args:
        if type(arg) is Value:
            t = arg.type
            if t.duck is not None or t.elem is not None:
                found = either_duck(found, duck_in(t))
        elif type(arg) in _NESTED:
            found = either_duck(found, duck_among(leaves(arg)))
    return found


_NESTED = frozenset({tuple, list, dict, slice})


def _are_real(arg: Any) -> bool:
    """No operand may be complex. Strings and None are settings."""
    if isinstance(arg, (tuple, list)):
        return all(map(_are_real, arg))
    return arg is None or isinstance(arg, str) or type_of(arg).is_real


def structural_key(arg: Any) -> Any:
    """A hashable stand-in for an argument: equal keys mean the same operand.

    Constants are the same by type and value: ``1``, ``1.0`` and ``True`` differ, ``0.0`` and ``-0.0``, strings and
    NumPy's strings; so do containers of them. Other objects are the same by identity.

    >>> structural_key((1, 0.0)) == structural_key((True, 0.0)), structural_key({1: -0.0}) == structural_key({1: 0.0})
    (False, False)
    """
    kind = type(arg)
    if kind is Value:
        return arg
    if kind in _EXACT:
        return (kind, arg)
    if kind is float:
        return (float, arg.hex())
    if isinstance(arg, (tuple, list)):
        return (kind, *[item if type(item) is Value else structural_key(item) for item in arg])
    if kind is slice:
        return (slice, structural_key(arg.start), structural_key(arg.stop), structural_key(arg.step))
    if isinstance(arg, dict):
        return (kind, frozenset([(structural_key(key), structural_key(item)) for key, item in arg.items()]))
    if kind is complex:
        return (complex, arg.real.hex(), arg.imag.hex())
    if isinstance(arg, (set, frozenset)):
        return (kind, frozenset([structural_key(item) for item in arg]))
    if isinstance(arg, np.generic) and not arg.dtype.hasobject:
        return (kind, arg.dtype.str, arg.tobytes())
    if isinstance(arg, np.dtype) or str(kind.__module__).startswith(_PACKAGE):
        return (kind, arg)
    return (kind, Same(arg))


_PACKAGE = __name__.split(".")[0] + "."


class Same:
    """An object, compared by identity: it may be unhashable, or equal to another and yet different."""

    __slots__ = ("obj",)

    def __init__(self, obj: Any):
        self.obj = obj

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.obj is other.obj

    def __hash__(self) -> int:
        return id(self.obj)


DERIVED = "derived"  # the tag of operations that no user wrote: they may be dropped when unused
COMPACT = "compact"  # that of products of the function of arrays that lie in one piece, see `analysis.layout`
LOOSE = "loose"  # that of operations of the function whose last digits do not matter, see `transforms.reassociate`
IF = Prim("if")
LOOP = Prim("loop")
TRY = Prim("try")
FUNC = Prim("func")


def _print_call(printer: Any, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    return f"{printer.show(args[0])}({', '.join(printer.show(a) for a in args[1:])})", 13


CALL = Prim("call", alias="maybe", template=_print_call)


def new_func(region: Region, hint: str, loc: Loc | None = None) -> Op:
    """A ``func`` with this region, not yet appended anywhere; its result may be called from the region."""
    op = Op(FUNC, (), {}, (region,), loc)
    op.results = [Value(OBJECT, hint, op)]
    return op


def _key(prim: Prim, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Equal keys are for equal operations."""
    return prim, structural_key(args), structural_key(kwargs) if kwargs else None


class Builder:
    """Appends operations to a region; equal effect-free operations in scope are built once."""

    def __init__(self, region: Region):
        self.region = region
        self._scopes: list[tuple[Region, dict[Any, list[Value]]]] = [(region, {})]
        self.loc: Loc | None = None
        self.tag: Any = None
        self.unified = False  # set by inference: the operation at hand raises unless two axis lengths are equal
        self.watch: Callable[[Op], None] | None = None  # is told of each operation appended
        self.budget = budget.current()
        self.repeated: set[Value] = set()  # what was computed more than once, so that Python would make several objects
        self.peepholes: dict[Prim, list[Callable[..., Any]]] = {}
        # Set by the reverse transform: where cotangents are zero for sure, or may be infinite; see `transforms.zeros`.
        self.cotangents: Any = None

    @property
    def dims(self) -> Dims:
        return self.region.dims

    def emit(self, prim: Prim, *args: Any, **kwargs: Any) -> Any:
        """Append an operation and return its result (a tuple if it has several, None if it has none)."""
        for rewrite in self.peepholes.get(prim, ()):
            replacement = rewrite(self, *args, **kwargs)
            if replacement is not NotImplemented:
                return replacement
        key = None
        if not prim.effects and not prim.unique:
            key = _key(prim, args, kwargs)
            for _, known in reversed(self._scopes):
                if key in known:
                    results = known[key]
                    self.repeated.update(results)
                    return results[0] if prim.nout == 1 else tuple(results)
        op = Op(prim, args, kwargs, (), self.loc)
        self.unified = False
        types: Any = ANY if prim.infer is None else prim.infer(self, args, kwargs)
        op.checks = self.unified
        if prim.nout == 1:
            if types.dtype is None and "real" in prim.traits and "dtype" not in kwargs and _are_real(args):
                types = replace(types, real=True)
            types = (types,)
        elif types is ANY:
            types = (ANY,) * prim.nout
        duck = duck_among((*args, *kwargs.values()) if kwargs else args)
        if duck is not None and "plain" not in prim.traits:
            types = tuple([as_duck(t, duck) for t in types])
        op.results = [Value(t, "", op) for t in types]
        self.append(op)
        if key is not None:
            self._scopes[-1][1][key] = op.results
        if prim.nout == 0:
            return None
        return op.results[0] if prim.nout == 1 else tuple(op.results)

    def know(self, op: Op) -> None:
        """Take the results of an operation that is there already for those of equal ones, where it is in scope."""
        if not op.prim.effects and not op.prim.unique and not op.regions:
            self._scopes[-1][1].setdefault(_key(op.prim, op.args, op.kwargs), op.results)

    def sees(self, op: Op) -> bool:
        """The operation's results are in scope where operations are appended now."""
        return any(region is op.parent for region, _ in self._scopes)

    def append(self, op: Op) -> Op:
        op.parent = self.region
        if op.tag is None:
            op.tag = self.tag
        self.region.ops.append(op)
        if self.budget is not None:
            self.budget.spend(self.loc)
        if self.watch is not None:
            self.watch(op)
        return op

    @contextmanager
    def inside(self, region: Region, alone: bool = False) -> Iterator[Region]:
        """Build into `region`, which belongs to an operation that is appended afterwards; `alone`: what was built
        before is not taken for what is built in there."""
        saved, scopes = self.region, self._scopes
        self.region = region
        self._scopes = [*([] if alone else scopes), (region, {})]
        try:
            yield region
        finally:
            self._scopes = scopes
            self.region = saved

    def new_region(self) -> Region:
        return Region(self.region.dims.child())

    def if_(self, cond: Any, then: Region, orelse: Region, types: list[Ty], hints: list[str]) -> list[Value]:
        """Append an ``if`` whose regions are built already."""
        op = Op(IF, (cond,), {}, (then, orelse), self.loc)
        op.results = [Value(t, h, op) for t, h in zip(types, hints)]
        self.append(op)
        return op.results

    def loop(
        self,
        range_: tuple[Any, Any, Any] | None,
        inits: tuple[Any, ...],
        body: Region,
        types: list[Ty],
        hints: list[str],
    ) -> list[Value]:
        """Append a loop; `types` and `hints` are those of the carried values only."""
        from .types import py_int

        op = Op(LOOP, (range_, tuple(inits)), {}, (body,), self.loc)
        op.results = [Value(t, h, op) for t, h in zip(types, hints)]
        op.results += [Value(py_int(), "trips", op), Value(py_int(), "code", op)]
        self.append(op)
        return op.results

    def call(self, func: Value, args: tuple[Any, ...], types: list[Ty], hints: list[str]) -> list[Value]:
        """Append a call of a ``func``."""
        op = Op(CALL, (func, *args), {}, (), self.loc)
        op.results = [Value(t, h, op) for t, h in zip(types, hints)]
        self.append(op)
        return op.results

    @contextmanager
    def active(self) -> Iterator[Builder]:
        """Make this the builder that arithmetic on values appends to."""
        stack = _current.__dict__.setdefault("stack", [])
        stack.append(self)
        try:
            yield self
        finally:
            stack.pop()


_current = threading.local()


def current() -> Builder:
    """The builder in force; raises if there is none."""
    stack = getattr(_current, "stack", None)
    if not stack:
        raise RuntimeError("an IR value was used outside of a builder")
    return stack[-1]  # type: ignore[no-any-return]
