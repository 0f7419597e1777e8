"""One attempt to lower a loop under a guess: the body, and the operation that it becomes."""

from __future__ import annotations

import ast
import operator
from typing import Any

from ..errors import AutodiffError
from ..ir.core import LOOP, Op, Region, Value, leaves
from ..ir.opset import PRIMS
from ..ir.types import py_int, renewed
from .avals import is_static_int, substituted
from .core import Unreachable
from .exits import BREAK, CONTINUE, DEAD, DONE, NORMAL, RETURN
from .loop_end import LoopEnd
from .loop_head import Again, LoopHead
from .pseudo import choice, plain, run
from .state import State

GT, NE = PRIMS[operator.gt], PRIMS[operator.ne]


class LoopPass(LoopHead):
    """Lowers the body once; raises `Again`, with the guess widened, if the guess was too narrow."""

    def run(self, stmt: Any, range_: Any, head_fn: Any, test: Any, body: list[Any]) -> Any:
        interp = self.interp
        builder = interp.builder
        interp.at(stmt)
        region = self.region
        direct = isinstance(getattr(stmt, "target", None), ast.Name) and head_fn is not None and range_ is not None
        index = region.param(py_int(), stmt.target.id if direct and self.by_index else "i")
        region.range = range_
        interp.cells.loops[region] = self.origin
        if range_ is not None and all(map(is_static_int, range_[::2])) and range_[0] >= 0 and range_[2] > 0:
            interp.cells.counted.add(index)
        self.root_limit = builder.dims.counter[0]  # later lengths may differ from trip to trip
        self.cell_limit = interp.cells.count  # later cells are made anew on each trip
        start = self.head_state()
        self.head_snapshot = start.fork()
        with builder.inside(region):
            interp.state = start
            before = {env: dict(names) for env, names in start.envs.items()}
            heap_before = dict(start.heap)
            try:
                if test is not None:
                    code = self.while_body(stmt, test, body)
                else:
                    head_fn(index)
                    code = interp.lower_block(body, True)
            except Unreachable:
                code = DEAD
            except AutodiffError:
                if not interp.is_observing():
                    raise
                code = interp.end_of_run(stmt)
            code = interp.map_code(code, {CONTINUE: NORMAL}, stmt)
            returns = type(code) is Value and RETURN in interp.possible(code)
            self.code = code if returns and not (interp.frame.cleanups or interp.exact) else None
            end = interp.state
            if code is DEAD:
                code = NORMAL
                end = self.head_snapshot.fork()
            for cell, content in interp.inputs.initial.items():
                self.entry.heap.setdefault(cell, content)
                heap_before.setdefault(cell, content)
                end.heap.setdefault(cell, content)
            compared = LoopEnd(self, end)
            compared.compare(before, heap_before)
            if compared.kept:
                self.guess.retract(compared.kept)
        if compared.again:
            raise Again
        return self.finish(stmt, range_, code, index, compared.exits)

    def while_body(self, stmt: Any, test: Any, body: list[Any]) -> Any:
        interp = self.interp
        done = DONE if stmt.orelse else BREAK
        if interp.exact and not plain(test):
            asked: Any = choice(test, body, [run(lambda: done, stmt, True)], stmt)
            return interp.lower_block([asked], True)
        cond = interp.condition(test)
        if not isinstance(cond, Value):
            return interp.lower_block(body, True) if cond else done

        def trip() -> Any:
            code = interp.lower_block(body, True)
            return NORMAL if code is CONTINUE else code

        return interp.either(cond, trip, lambda: done, stmt)

    # --- the operation --------------------------------------------------------------------------------------------

    def finish(self, stmt: Any, range_: Any, code: Any, index: Value, ends: dict[Any, Any]) -> Any:
        """Append the loop and leave the state after it."""
        interp = self.interp
        builder = interp.builder
        region = self.region
        exits = [ends.get(key, value) for key, value, _ in self.params]
        flags = self.drop_flags(exits)
        region.exit = (code, *exits)
        interp.at(stmt)
        op = Op(LOOP, (range_, tuple([init for _, _, init in self.params])), dict(self.said), (region,), builder.loc)
        op.results = []
        replace: dict[Value, Any] = {}
        for (key, value, _), _exit in zip(self.params, exits):
            t = renewed(self.guess.types[key], self.guess.varying.get(key, ()), builder.dims)
            result = Value(t, value.hint, op)
            op.results.append(result)
            replace[value] = result
        trips, last = Value(py_int(), "trips", op), Value(py_int(), "code", op)
        op.results += [trips, last]
        builder.append(op)
        interp.cells.made[op] = self.origin
        for value in flags:
            if range_ is None:  # it is left by a trip, perhaps the first one
                replace[value] = True
                continue
            interp.at(stmt)
            flag = builder.emit(GT, trips, 0)
            if not (isinstance(code, int) and code == NORMAL):
                flag = builder.emit(PRIMS[operator.or_], flag, builder.emit(NE, last, NORMAL))
            replace[value] = flag
        interp.state = self.after(replace)
        if isinstance(code, int) and code == NORMAL:
            if range_ is None:
                return DEAD  # it never ends
            return NORMAL
        possible = interp.possible(code)
        if range_ is None:
            possible = possible - {NORMAL}
        else:
            possible = possible | {NORMAL}
        if len(possible) == 1:
            return next(iter(possible))
        interp.codes[last] = possible
        return last

    def drop_flags(self, exits: list[Any]) -> list[Value]:
        """The flags of names that every trip binds need not be carried: the number of trips tells."""
        bound = [k for k, (key, _, init) in enumerate(self.params) if key[-1] == "bound" and init is False]
        bound = [k for k in bound if exits[k] is True]
        if not bound:
            return []
        used = set(_values_read(self.region)) | set(leaves(tuple(exits)))
        dropped = []
        for k in reversed(bound):
            value = self.params[k][1]
            if value not in used:
                dropped.append(value)
                del self.params[k], exits[k]
                self.region.params.remove(value)
        return dropped

    def after(self, replace: dict[Value, Any]) -> State:
        """The state after the loop: the head's structure with the results in place of the parameters."""
        out = self.head_snapshot.rebuilt(lambda leaf: replace.get(leaf, leaf) if type(leaf) is Value else leaf)
        for (env, name), av in self.returned.items():
            out.envs[env][name] = substituted(av, replace)
        return out


def _values_read(region: Region) -> list[Value]:
    out: list[Value] = []
    for op in region.walk():
        out += op.operands()
        for sub in op.regions:
            out += leaves(sub.exit)
    return out
