"""Random programs of slices: shifted reads, stores and additions, in loops and branches, along rows and columns."""

from __future__ import annotations

import random
from typing import Any

import numpy as np


class Writer:
    def __init__(self, seed: int):
        self.chosen = random.Random(seed)
        self.axes = self.chosen.choice([1, 1, 2])
        self.n = self.chosen.choice([1, 2, 3, 5, 6, 7])
        self.lines: list[str] = []
        self.along = 0  # the axis that a column or a row stands still on

    def pick(self, *items: Any) -> Any:
        return self.chosen.choice(items)

    def part(self, name: str, start: tuple[int, ...], cut: int, column: str | None) -> str:
        """`cut` elements fewer along each axis, from `start` on."""
        items = []
        for k, a in enumerate(start):
            end = f"len({name}) - {cut - a}" if k == 0 and self.pick(0, 1) else f"{-(cut - a) or None}"
            items.append(f"{a}:{end}")
        if column is not None:
            items[self.along] = column
        return f"{name}[{', '.join(items)}]"

    def shifted(self, name: str, cut: int, column: str | None) -> str:
        return self.part(name, tuple([self.chosen.randint(0, cut) for _ in range(self.axes)]), cut, column)

    def term(self, cut: int, column: str | None) -> str:
        names = ["x", "y", "z"]
        one = self.shifted(self.pick(*names), cut, column)
        two = self.shifted(self.pick(*names), cut, column)
        return self.pick(f"{one} * {two}", f"0.5 * {one}", f"np.sin({one})", f"-{one}", f"({one} - {two}) ** 2", one)

    def statement(self, depth: int, inside: bool) -> None:
        pad = "    " * depth
        cut = self.pick(0, 1, 1, 2)
        column = None
        self.along = self.pick(*range(self.axes))
        if self.axes == 2 and inside and self.pick(0, 1):
            column = "k"
        terms = " + ".join([self.term(cut, column) for _ in range(self.pick(1, 2, 3, 4))])
        kind = self.pick("store", "store", "add", "sum", "temporary", "new", "swap", "number")
        source, into = self.chosen.sample(["x", "y", "z"], 2)
        target = self.shifted(into, cut, column)
        if self.pick(0, 1):
            terms = " + ".join(
                [f"0.{k} * {self.shifted(source, cut, column)}" for k in range(2, 2 + self.pick(2, 3, 5))]
            )
            if self.pick(0, 1):
                terms = f"({terms}) * {self.shifted(into, cut, column)}"
        if kind == "store":
            self.lines.append(f"{pad}{target} = {terms}")
        elif kind == "add":
            self.lines.append(f"{pad}{target} {self.pick('+=', '-=')} {terms}")
        elif kind == "sum":
            self.lines.append(f"{pad}s += np.sum({terms})")
        elif kind == "temporary":
            self.lines.append(f"{pad}t = {terms}")
            self.lines.append(f"{pad}s += np.sum(t * t)")
            if column is None and cut == 1:
                self.lines.append(f"{pad}s += np.sum(t[1:] * t[:-1])")
        elif kind == "new" and column is None:
            self.lines.append(f"{pad}y = x * 0.5 + z")
        elif kind == "swap":
            self.lines.append(f"{pad}x, y = {self.pick('y, x', 'y.copy(), x', 'z.copy(), y')}")
        else:
            self.lines.append(f"{pad}s *= 0.9")

    def sweep(self) -> None:
        """A loop in a loop, over columns or rows."""
        self.lines.append(f"        for i in range({self.pick(1, 2)}, min(x.shape)):")
        for _ in range(self.pick(1, 2)):
            into, source = self.pick("x", "y", "z"), self.pick("x", "y", "z")
            first, second = self.pick(
                (":, {}", ":, {}"), ("{}, :", "{}, :"), ("1:, {}", ":-1, {}"), ("{}, 1:", "{}, :-1")
            )
            here, before = first.format("i"), second.format("i - 1")
            value = f"0.3 * {source}[{here}] * {into}[{before}] + 0.1 / (2.0 + {into}[{here}] ** 2)"
            self.lines.append(f"            {into}[{here}] = {value}")

    def source(self) -> str:
        self.lines = ["def f(x, y, m):", "    x, y, z, s = x.copy(), y.copy(), np.zeros_like(x), 0.0"]
        for _ in range(self.pick(1, 2, 3)):
            if self.pick(0, 1):
                length = "len(x)" if self.axes == 1 else "min(x.shape)"
                head = self.pick("m", "m", f"{length} - 1, -1, -1", length, f"1, {length}")
                self.lines.append(f"    for k in range({head}):")
                inside = head != "m"
                if self.axes == 2 and self.pick(0, 1):
                    self.sweep()
                for _ in range(self.pick(1, 2, 3)):
                    self.statement(2, inside)
                if self.pick(0, 0, 1):
                    self.lines.append("        if k == 2:")
                    self.statement(3, inside)
                if self.pick(0, 0, 0, 1):
                    self.lines += ["        if s > 3.0:", f"            {self.pick('break', 'continue')}"]
                    self.statement(2, inside)
            else:
                self.statement(1, False)
        self.lines.append(f"    return s + np.sum({self.pick('x', 'x * y', 'x * z', 'y * y + z')})")
        return "\n".join(self.lines) + "\n"


def program(seed: int) -> tuple[str, tuple[Any, ...]]:
    """The text of a function `f`, and arguments."""
    writer = Writer(seed)
    text = writer.source()
    rng = np.random.default_rng(seed)
    shape = (writer.n,) if writer.axes == 1 else (writer.n, writer.n + int(rng.integers(0, 3)))
    x, y = (rng.uniform(-0.7, 0.7, shape) for _ in range(2))
    return text, (x, y, int(rng.integers(0, 4)))
