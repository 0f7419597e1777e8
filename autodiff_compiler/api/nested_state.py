"""What a function that is differentiated inside another changes of the variables and containers around it.

Its operations are spliced in where the call stands, and run there once. What it bound or changed outside of itself
holds values of its own; these become further results of the adjoint, and so what names and containers hold afterwards.
"""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError
from ..frontend.avals import MISSING, ItemOf, Ref, leaves_of, substituted, values_in
from ..frontend.state import State
from ..ir.core import Value


class Changes:
    """The changes between two states, and the values that they are made of."""

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
                    "an item of a list of run-time length is changed, or kept, by a function that is differentiated",
                    interp.builder.loc,
                    "use an array",
                )
            for leaf in leaves_of(av):
                if type(leaf) is Value:
                    if leaf not in self.values:
                        self.values.append(leaf)
                    continue
                if type(leaf) is Ref and values_in(leaf):
                    raise UnsupportedError(
                        "a view made in a function that is differentiated is kept outside of it",
                        interp.builder.loc,
                        "keep a copy",
                    )
                if leaf.cell not in before and leaf.cell not in self.cells:
                    self.cells[leaf.cell] = end.heap[leaf.cell]
                    todo.append(end.heap[leaf.cell])

    def apply(self, interp: Any, replaced: dict[Value, Any]) -> None:
        """Bring them into the present state, with the results of the spliced operations as their values."""
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
