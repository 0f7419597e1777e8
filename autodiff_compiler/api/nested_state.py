"""Effects of an inner gradient: changes of the variables and containers outside of the inner function.

The operations of the inner function are inlined at the call, and run there once. It may bind outer variables and change
outer containers. Their new values are values of the inner function. So these become further results of its adjoint, and
then the contents of the variables and containers.
"""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError
from ..frontend.avals import MISSING, ItemOf, Ref, leaves_of, substituted, values_in
from ..frontend.state import State
from ..ir.core import Value


class Changes:
    """The changes between two states, and the values in them."""

    def __init__(self, interp: Any, start: State, end: State):
        self.start, self.end = start, end
        initial = interp.inputs.initial
        before = {**initial, **start.heap}
        self.cells = {c: x for c, x in end.heap.items() if c in before and x is not before[c]}
        self.names = [
            (env, name, end.envs[env].get(name, MISSING))
            for env, names in start.envs.items()
            if env in end.envs
            for name in {**names, **end.envs[env]}
            if names.get(name, MISSING) is not end.envs[env].get(name, MISSING)
        ]
        self.values: list[Value] = []
        todo = [*self.cells.values(), *[av for _, _, av in self.names]]
        while todo:
            av = todo.pop(0)
            if type(av) is ItemOf:
                raise UnsupportedError(
                    "an inner function that is differentiated changes or keeps an item of a list of run-time length",
                    interp.builder.loc,
                    "use an array in place of the list",
                )
            for leaf in leaves_of(av):
                if type(leaf) is Value:
                    if leaf not in self.values:
                        self.values.append(leaf)
                    continue
                if type(leaf) is Ref and values_in(leaf):
                    raise UnsupportedError(
                        "a view that an inner function makes is kept outside of it, and the function is differentiated",
                        interp.builder.loc,
                        "keep a copy of the view",
                    )
                if leaf.cell not in before and leaf.cell not in self.cells:
                    self.cells[leaf.cell] = end.heap[leaf.cell]
                    todo.append(end.heap[leaf.cell])

    def apply(self, interp: Any, replaced: dict[Value, Any]) -> None:
        """Make the changes in the present state. `replaced`: for each of `values`, the result of the adjoint."""
        state = interp.state
        for cell, content in self.cells.items():
            interp.half_done(cell)
            state.heap[cell] = substituted(content, replaced)
        for env, name, av in self.names:
            if av is MISSING:
                state.envs[env].pop(name, None)
            else:
                state.envs[env][name] = substituted(av, replaced)
        known = {*interp.inputs.initial, *state.heap}
        for a, others in self.end.links.items():
            for b in others:
                if a in known and b in known:
                    state.link(a, b)
