"""The IR's invariants, one small function per clause. Passes are checked with this in tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .core import CALL, FUNC, IF, LOOP, TRY, UNDEF, Exit, Function, Op, Region, Value, leaves
from .custom import CUSTOMS, LINEAR, SEAM
from .opset import ADDAT, PUSH, SET, UNPACK
from .printer import print_op
from .roles import ARRAY, is_numpys, role_of
from .types import Ty


class VerifyError(Exception):
    """The IR breaks one of its invariants: a bug of the pass that made it."""


def verify(fn: Function) -> None:
    """Raise VerifyError unless `fn` is well-formed."""
    _Verifier().function(fn)


def _fail(op: Op | None, text: str) -> None:
    where = "" if op is None else f"\n  in: {_safe_print(op)}"
    line = "" if op is None or op.loc is None else f" (line {op.loc.line})"
    raise VerifyError(text + line + where)


def _safe_print(op: Op) -> str:
    try:
        return print_op(op).split("\n")[0]
    except Exception:  # the operation is malformed, and the message must come out all the same
        return repr(op)


# Operations with as many results as what they run has.
_MANY = frozenset({IF, LOOP, TRY, FUNC, CALL, SEAM, LINEAR, UNPACK, *CUSTOMS})


def check_results_match_prim(op: Op) -> None:
    if op.prim not in _MANY and len(op.results) != op.prim.nout:
        _fail(op, f"{op.prim.name} has {len(op.results)} results, its primitive {op.prim.nout}")


def check_result_links(op: Op) -> None:
    for value in op.results:
        if value.op is not op or value.region is not None:
            _fail(op, f"result {value!r} is not linked to the operation that defines it")


def check_result_types(op: Op) -> None:
    for value in op.results:
        found: object = value.type
        if not isinstance(found, Ty):
            _fail(op, f"result {value!r} has no type")


def check_no_regions(op: Op) -> None:
    if op.prim not in (IF, LOOP, TRY, FUNC) and op.regions:
        _fail(op, f"{op.prim.name} must not own regions")


def check_region_links(op: Op) -> None:
    for region in op.regions:
        if region.op is not op:
            _fail(op, "a region is not linked to the operation that owns it")


def check_param_links(region: Region, owner: Op | None) -> None:
    for value in region.params:
        if value.region is not region or value.op is not None:
            _fail(owner, f"parameter {value!r} is not linked to its region")


def check_operand_kinds(op: Op) -> None:
    for arg in (*op.args, *op.kwargs.values()):
        for item in _plain_leaves(arg):
            if isinstance(item, (Op, Region, Function)):
                _fail(op, f"an operand is a {type(item).__name__}")


def _plain_leaves(arg: Any) -> Iterator[Any]:
    if isinstance(arg, (tuple, list)):
        for item in arg:
            yield from _plain_leaves(item)
    elif isinstance(arg, dict):
        for item in arg.values():
            yield from _plain_leaves(item)
    elif isinstance(arg, slice):
        yield from _plain_leaves((arg.start, arg.stop, arg.step))
    else:
        yield arg


def check_containers(op: Op) -> None:
    """A container stands only where one is meant: the frontend makes arrays of all others."""
    if op.prim in (SET, ADDAT) and type(op.args[2]) in (list, tuple):
        _fail(op, "a container is stored into an array")
    args = [*zip(op.prim.params, op.args), *op.kwargs.items()]
    for name, arg in args:
        if type(arg) in (list, tuple) and is_numpys(op.prim) and role_of(op.prim.fn, name) == ARRAY:
            _fail(op, f"{op.prim.name} is given a container for its array {name!r}")


def check_undef_operands(op: Op) -> None:
    """Only a loop's inits, what goes on a stack, and the exits may be undefined."""
    args = op.args[:1] if op.prim is LOOP or op.prim is PUSH else op.args
    for item in _plain_leaves((*args, *op.kwargs.values())):
        if item is UNDEF:
            _fail(op, f"{op.prim.name} reads undef")


def check_if(op: Op) -> None:
    if len(op.args) != 1 or op.kwargs:
        _fail(op, "an if takes one operand, its condition")
    if len(op.regions) != 2:
        _fail(op, f"an if owns two regions, this one {len(op.regions)}")
    for region in op.regions:
        if region.params:
            _fail(op, "a region of an if has no parameters")
        if len(region.exit) != len(op.results):
            _fail(op, f"a region of an if yields {len(region.exit)} values for {len(op.results)} results")


def check_loop(op: Op) -> None:
    if len(op.args) != 2 or op.kwargs or not isinstance(op.args[1], tuple):
        _fail(op, "a loop takes a range and a tuple of initial values")
    range_: Any
    range_, inits = op.args
    if range_ is not None and not (isinstance(range_, tuple) and len(range_) in (3, 4)):
        _fail(op, "the range of a loop is (start, stop, step), with a flag for running it backwards, or None")
    if range_ is not None and len(range_) == 4 and not isinstance(range_[3], bool):
        _fail(op, "whether a loop runs backwards is a constant")
    if len(op.regions) != 1:
        _fail(op, f"a loop owns one region, this one {len(op.regions)}")
    body = op.regions[0]
    if len(body.params) != 1 + len(inits):
        _fail(op, f"a loop with {len(inits)} carried values has {len(body.params)} parameters")
    if len(body.exit) != 1 + len(inits):
        _fail(op, f"a loop with {len(inits)} carried values yields {len(body.exit)} values")
    if len(op.results) != 2 + len(inits):
        _fail(op, f"a loop with {len(inits)} carried values has {len(op.results)} results")


def check_loop_code(op: Op) -> None:
    """The exit code of a loop is an int."""
    code = op.regions[0].exit[0]
    if type(code) is Value:
        dtype = code.type.dtype
        if code.type.kind not in ("py", "generic", "scalar", "any") or (dtype is not None and dtype.kind not in "biu"):
            _fail(op, f"the exit code of a loop is not an int: {code!r}")
    elif not isinstance(code, int):
        _fail(op, f"the exit code of a loop is not an int: {code!r}")


def check_func(op: Op) -> None:
    """A function stands at the top level, and every value that it returns is defined."""
    if op.args or op.kwargs or len(op.regions) != 1 or len(op.results) != 1:
        _fail(op, "a func has one region and one result, and takes nothing")
    if op.parent is None or op.parent.op is not None:
        _fail(op, "a func stands at the top level")
    if any(item is UNDEF for item in _plain_leaves(op.regions[0].exit)):
        _fail(op, "a func hands out undef")


def check_try(op: Op) -> None:
    """A try names the exceptions that it catches, and has a result for each value that its region yields."""
    if op.kwargs or len(op.args) != 2 or not isinstance(op.args[0], tuple):
        _fail(op, "a try takes a tuple of exception classes and a context")
    if not all(isinstance(c, type) and issubclass(c, BaseException) for c in op.catch):
        _fail(op, "a try catches something that is not an exception class")
    if len(op.regions) != 1 or op.regions[0].params:
        _fail(op, "a try owns one region, without parameters")
    if len(op.results) != 2 + len(op.regions[0].exit):
        _fail(op, f"a try with {len(op.results)} results yields {len(op.regions[0].exit)} values")


def check_call(op: Op) -> None:
    func = op.args[0].op if op.args and type(op.args[0]) is Value else None
    if func is None or func.prim is not FUNC:
        _fail(op, "a call takes a func")
        return
    region = func.regions[0]
    if op.kwargs or len(op.args) - 1 != len(region.params):
        _fail(op, f"a call with {len(op.args) - 1} arguments of a func with {len(region.params)} parameters")
    if len(op.results) != len(region.exit):
        _fail(op, f"a call with {len(op.results)} results of a func that hands out {len(region.exit)}")


def check_endless(op: Op) -> None:
    """An endless loop has a way out."""
    code = op.regions[0].exit[0]
    if op.range is None and isinstance(code, int) and code == Exit.NORMAL:
        _fail(op, "an endless loop never exits")


class _Verifier:
    def __init__(self) -> None:
        self.defined: set[Value] = set()  # anywhere so far
        self.scope: list[set[Value]] = []
        self.seen: set[int] = set()  # ids of operations and regions met; they are alive for the whole walk

    def function(self, fn: Function) -> None:
        if fn.body.op is not None:
            _fail(None, "the body of a function must not belong to an operation")
        self.region(fn.body, None)

    def region(self, region: Region, owner: Op | None) -> None:
        self.once(region, owner, "a region")
        check_param_links(region, owner)
        self.scope.append(set())
        for value in region.params:
            self.define(value, owner)
        for op in region.ops:
            if op.parent is not region:
                _fail(op, "an operation is not linked to the region that holds it")
            self.once(op, op, "an operation")
            self.operation(op)
        for value in leaves(region.exit):
            self.read(value, owner, "the exit")
        exit_: object = region.exit
        if not isinstance(exit_, tuple):
            _fail(owner, "the exit of a region is a tuple")
        self.scope.pop()

    def operation(self, op: Op) -> None:
        check_results_match_prim(op)
        check_result_links(op)
        check_result_types(op)
        check_no_regions(op)
        check_region_links(op)
        check_operand_kinds(op)
        check_undef_operands(op)
        check_containers(op)
        if op.prim is IF:
            check_if(op)
        elif op.prim is LOOP:
            check_loop(op)
            check_loop_code(op)
            check_endless(op)
        elif op.prim is TRY:
            check_try(op)
        elif op.prim is FUNC:
            check_func(op)
        elif op.prim is CALL:
            check_call(op)
        for value in op.operands():
            self.read(value, op, "an operand")
        if op.prim is FUNC:  # it may call itself
            self.define(op.results[0], op)
        for region in op.regions:
            self.region(region, op)
        for value in op.results:
            if op.prim is not FUNC:
                self.define(value, op)

    def once(self, thing: Op | Region, op: Op | None, what: str) -> None:
        if id(thing) in self.seen:
            _fail(op, f"{what} occurs twice")
        self.seen.add(id(thing))

    def define(self, value: Value, op: Op | None) -> None:
        if value in self.defined:
            _fail(op, f"{value!r} is defined twice")
        self.defined.add(value)
        self.scope[-1].add(value)

    def read(self, value: Value, op: Op | None, what: str) -> None:
        if not any(value in level for level in self.scope):
            text = "is not in scope" if value in self.defined else "is not defined before its use"
            _fail(op, f"{what} {value!r} {text}")
