"""Which elements of a result depend on which elements of an argument: the sparsity pattern of a Jacobian.

Takes a function, its arguments, and the number of one parameter. Gives the pattern and the value of the function, which
is interpreted once. Beside each value that depends differentiably on the parameter, there is a set of the parameter's
elements for each of its elements (see `index_sets`). So the pattern goes through loops, branches, recursion, views and
stores as the run does, and no derivative is computed. What an operation does to sets is in `set_rules`; for an
operation without a rule, each element of the result depends on whatever the operands depend on. The pattern is exact
but for such operations, and for derivatives that are zero by their value.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> def f(x):
...     y = np.zeros(3)
...     for k in range(2):
...         y[k] = x[k] * x[k + 1]
...     return y
>>> found = dependences(lower(f, (np.ones(3),)).function, (np.ones(3),), 0)
>>> found.starts.tolist(), found.items.tolist(), found.steady
([0, 2, 4, 4], [0, 1, 1, 2], True)

`steady` says that the pattern holds for other values of the parameter, too: no condition, index, number of iterations
or shape depends on them. It may still depend on the values of the other arguments.

Reference: Griewank and Walther, Evaluating Derivatives (2008), section 7.1, propagate index domains in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np

from ..errors import UnsupportedError, is_interruption
from ..ir import opset
from ..ir.core import CALL, FUNC, IF, LOOP, TRY, UNDEF, Function, Op, Region, Value, leaves, map_leaves
from ..ir.custom import CUSTOMS
from ..ir.interp import interpret
from .index_sets import EMPTY, IndexSets
from .set_rules import Call, decides, rule_of
from .stacks import stacked_values

_HARMLESS = frozenset({opset.PUSH, opset.POP, opset.RAISE, opset.ASSERT})


@dataclass(frozen=True, slots=True)
class Dependences:
    """The pattern in rows: row `k` has the columns ``items[starts[k]:starts[k + 1]]``, sorted.

    result: the value of the function
    steady: the pattern holds for all values of the parameter
    """

    starts: Any
    items: Any
    result: Any
    steady: bool


def dependences(fn: Function, args: Sequence[Any], wrt: int) -> Dependences:
    """On which elements of argument number `wrt` each element of the first result depends.

    Raises UnsupportedError for a function with effects, and what the function raises.
    """
    for op in fn.body.walk():
        if op.prim.effects and op.prim not in _HARMLESS:
            raise UnsupportedError(
                f"the sparsity pattern is found in a run of its own, and {op.prim.name} would be seen twice",
                op.loc,
                "pass the pattern: sparsity=pattern, a sparse or a boolean array",
            )
    run = _Run(fn, args, wrt)
    try:
        run.region(fn.body)
    except Exception as error:
        if not is_interruption(error):
            interpret(fn, args)  # raises what the function raises
        raise
    out = fn.body.exit[0]
    value = run.env[out] if type(out) is Value else out
    sets = run.full(value, run.sets_of(out))
    starts, items = run.sets.rows(sets)
    return Dependences(starts, items, value, not run.decided)


class _Run:
    """One run of a function.

    env:     the values
    known:   the sets of the values that depend on the parameter: an array of the value's shape, a number for a value
             all of whose elements have one set, or a list of these for a list
    tainted: the values that may differ if those of the parameter differ
    decided: what is computed, and not only its result, depends on the values of the parameter
    """

    def __init__(self, fn: Function, args: Sequence[Any], wrt: int):
        x = args[wrt]
        self.sets = IndexSets(np.size(x))
        self.env: dict[Value, Any] = dict(zip(fn.params, args, strict=True))
        self.known: dict[Value, Any] = {fn.params[wrt]: self.sets.inputs().reshape(np.shape(x))}
        self.tainted = stacked_values(fn.body, [fn.params[wrt]])
        self.decided = False
        self.plans: dict[Op, Callable[[], None]] = {}

    def region(self, region: Region) -> None:
        plans = self.plans
        for op in region.ops:
            plan = plans.get(op)
            if plan is None:
                plan = plans[op] = self.plan(op)
            plan()

    def plan(self, op: Op) -> Callable[[], None]:
        special = _CONTROL.get(op.prim)
        if special is not None:
            return lambda: special(self, op)
        return self.custom(op) if op.prim in CUSTOMS else self.plain(op)

    def value(self, arg: Any) -> Any:
        return map_leaves(self.env.__getitem__, arg)

    def sets_of(self, arg: Any) -> Any:
        """The sets of an operand, in its structure."""
        if type(arg) is Value:
            return self.known.get(arg, EMPTY)
        return [self.sets_of(item) for item in arg] if isinstance(arg, (tuple, list)) else EMPTY

    def full(self, value: Any, sets: Any) -> Any:
        """The sets of all elements of an array or a number, as an array."""
        return np.broadcast_to(np.asarray(sets, np.int64), np.shape(value))

    def bind(self, target: Value, value: Any, sets: Any) -> None:
        self.env[target] = value
        if type(sets) is int and sets == EMPTY:
            self.known.pop(target, None)
        else:
            self.known[target] = sets

    def hand(self, targets: Sequence[Value], sources: Sequence[Any]) -> None:
        """Give the targets the values of the sources, all at once."""
        found = [(self.value(x), self.sets_of(x)) for x in sources]
        for target, (value, sets) in zip(targets, found, strict=True):
            self.bind(target, value, sets)

    def is_tainted(self, arg: Any) -> bool:
        return any(v in self.tainted for v in leaves(arg))

    # --- operations -----------------------------------------------------------------------------------------------

    def plain(self, op: Op) -> Callable[[], None]:
        prim, env, known = op.prim, self.env, self.known
        readers = [_reader(arg) for arg in op.args]
        keywords = {name: _reader(arg) for name, arg in op.kwargs.items()}
        read = [v for k, arg in enumerate(op.args) if k not in prim.shape_only for v in leaves(arg)]
        read += leaves(op.kwargs)
        deciding = [] if prim.elementwise else [v for v in read if v in self.tainted]
        rule = None if prim.nondiff else rule_of(prim)
        fn: Any = prim.fn
        results = op.results

        union = self.sets.union

        def quick() -> None:
            """Elementwise arithmetic, which loops over elements do most."""
            value = env[results[0]] = fn(*[r(env) for r in readers])
            found: Any = EMPTY
            for v in read:
                if v in known:
                    sets = known[v]
                    found = sets if type(found) is int and found == EMPTY else union(found, sets)
            if type(found) is int:
                if found == EMPTY:
                    known.pop(results[0], None)
                else:
                    known[results[0]] = found
            else:
                shape = np.shape(value)
                known[results[0]] = found if found.shape == shape else np.broadcast_to(found, shape)

        if prim.elementwise and rule is not None and len(results) == 1 and not keywords:
            return quick

        def run() -> None:
            args = tuple([r(env) for r in readers])
            kwargs = {name: r(env) for name, r in keywords.items()}
            value = fn(*args, **kwargs)
            for v in deciding:
                if not self.decided and decides(prim, env[v]):
                    self.decided = True
            if not results:
                return
            found: Any = EMPTY
            if rule is not None and any(v in known for v in read):
                call = Call(self, op, args, kwargs, value)
                found = rule(call)
            if len(results) == 1:
                env[results[0]] = value
                if type(found) is int and found == EMPTY:
                    known.pop(results[0], None)
                else:
                    known[results[0]] = found
                return
            parts = found if isinstance(found, list) else [found] * len(results)
            for r, item, sets in zip(results, value, parts, strict=True):
                self.bind(r, item, sets)

        return run

    def custom(self, op: Op) -> Callable[[], None]:
        """A call of a function with rules: a rule may give a derivative that the function itself has not."""

        def run() -> None:
            rules, operands, captured, shaped = op.args
            values = interpret(rules.primal, [self.value(x) for x in (*operands, *captured, *shaped)])
            found = self.sets.together(*self.parts([self.sets_of(operands), self.sets_of(captured)]))
            for r, value in zip(op.results, values, strict=True):
                self.bind(r, value, found)

        return run

    def parts(self, sets: Any) -> list[Any]:
        """The arrays and numbers in a structure of sets."""
        return [x for item in sets for x in self.parts(item)] if isinstance(sets, (list, tuple)) else [sets]

    # --- control flow ---------------------------------------------------------------------------------------------

    def branch(self, op: Op) -> None:
        self.decided |= self.is_tainted(op.condition)
        taken = op.regions[0] if self.value(op.condition) else op.regions[1]
        self.region(taken)
        self.hand(op.results, taken.exit)

    def loop(self, op: Op) -> None:
        (body,) = op.regions
        self.decided |= self.is_tainted(op.range) or self.is_tainted(body.exit[0])
        counter, *params = body.params
        done = code = 0
        self.hand(params, op.inits)
        for i in _trips(None if op.range is None else self.value(op.range)):
            self.bind(counter, i, EMPTY)
            self.region(body)
            code = self.value(body.exit[0])
            self.hand(params, body.exit[1:])
            if code:
                break
            done += 1
        self.hand(op.carried, params)
        self.env[op.trips], self.env[op.exit_code] = done, code

    def attempt(self, op: Op) -> None:
        (body,) = op.regions
        if op.catch:
            self.decided |= any(self.is_tainted(inner.args) for inner in body.walk())
        stacks = [v for v in self.env if v.type.kind == "stack"]
        marks = [(self.env[v], self.known.get(v), len(self.env[v])) for v in stacks]
        with nullcontext() if op.context is None else self.value(op.context):
            try:
                self.region(body)
            except op.catch as error:
                for stack, sets, length in marks:
                    del stack[length:]
                    if isinstance(sets, list):
                        del sets[length:]
                self.env[op.results[0]] = False
                # It may hold any value.
                self.bind(op.results[1], error, self.sets.together(self.sets.inputs()))
                for r in op.results[2:]:
                    self.bind(r, UNDEF, EMPTY)
                return
        self.env[op.results[0]], self.env[op.results[1]] = True, None
        self.hand(op.results[2:], body.exit)

    def func(self, op: Op) -> None:
        self.env[op.result] = op

    def call(self, op: Op) -> None:
        """An activation has values of its own."""
        (body,) = self.env[op.func].regions
        env, known = dict(self.env), dict(self.known)
        self.hand(body.params, op.args[1:])
        self.region(body)
        found = [(self.value(x), self.sets_of(x)) for x in body.exit]
        # The plans of operations hold the two dictionaries.
        for mine, before in ((self.env, env), (self.known, known)):
            mine.clear()
            mine.update(before)
        for r, (value, sets) in zip(op.results, found, strict=True):
            self.bind(r, value, sets)

    # --- residual stacks ------------------------------------------------------------------------------------------

    def new_stack(self, op: Op) -> None:
        self.env[op.result], self.known[op.result] = [], []

    def push(self, op: Op) -> None:
        stack, value = op.args
        self.env[stack].append(self.value(value))
        self.known[stack].append(self.sets_of(value))

    def pop(self, op: Op) -> None:
        (stack,) = op.args
        self.bind(op.result, self.env[stack].pop(), self.known[stack].pop())


_CONTROL: dict[Any, Callable[[_Run, Op], None]] = {
    IF: _Run.branch,
    LOOP: _Run.loop,
    TRY: _Run.attempt,
    FUNC: _Run.func,
    CALL: _Run.call,
    opset.STACK_NEW: _Run.new_stack,
    opset.PUSH: _Run.push,
    opset.POP: _Run.pop,
}


def _reader(arg: Any) -> Callable[[dict[Value, Any]], Any]:
    """What gives the value of an operand in an environment."""
    if type(arg) is Value:
        return itemgetter(arg)
    if not leaves(arg):
        return lambda env: arg
    if type(arg) is tuple:
        items = [_reader(item) for item in arg]
        return lambda env: tuple([r(env) for r in items])
    return lambda env: map_leaves(env.__getitem__, arg)


def _trips(range_: Any) -> Any:
    if range_ is None:
        return count()
    start, stop, step, *backwards = range_
    trips = range(start, stop, step)
    return reversed(trips) if backwards and backwards[0] else trips


__all__ = ["Dependences", "dependences"]
