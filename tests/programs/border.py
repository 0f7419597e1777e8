"""Random programs: lists and tuples of numbers that meet arrays, in stores, operators and functions."""

from __future__ import annotations

from tests.programs.exotics import Exotics, N


class Border(Exotics):
    def border_forms(self) -> list[str]:
        return ["stored_list", "stored_rows", "grown_and_stored", "operated_list", "function_of_list", "listed_update"]

    def few(self, count: int) -> str:
        """A list or tuple with this number of numbers."""
        items = ", ".join(self.tame(self.scalar(1)) if self.chance(0.8) else "0.5" for _ in range(count))
        return f"[{items}]" if self.chance(0.6) else f"({items})"

    def row_pair(self) -> str:
        return self.pick(f"[{self.few(2)}, {self.few(2)}]", f"({self.few(2)}, {self.few(2)})")

    def stored_list(self, budget: int) -> bool:
        b = self.new("b")
        self.line(f"{b} = np.{self.pick('zeros(3)', 'ones(3)', 'full(3, 0.3)')}")
        self.line(
            self.pick(
                f"{b}[:] = {self.few(3)}",
                f"{b}[1:] = {self.few(2)}",
                f"{b}[[2, 0]] = {self.few(2)}",
                f"{b}[{b} < 2.0] = {self.few(3)}",
                f"np.copyto({b}, {self.few(3)})",
                f"{b}.flat[::2] = {self.few(2)}",
                f"np.put({b}, [0, 2], {self.few(2)})",
                f"np.add.at({b}, [0, 0, 1], {self.few(3)})",
                f"{b} {self.pick('+=', '*=', '-=')} {self.few(3)}",
            )
        )
        self.result(f"np.sum({b} * {b}) + {b}[1]")
        return True

    def stored_rows(self, budget: int) -> bool:
        m, k = self.new("m"), self.new("k")
        self.line(f"{m} = np.{self.pick('zeros', 'ones')}((2, 2))")
        if self.chance(0.5):
            self.line(f"{m}[{self.pick(':', '...', '::-1', '[1, 0]')}] = {self.row_pair()}")
        else:
            self.line(f"for {k} in range(2):")
            self.line(f"    {m}[{k}] {self.op()} {self.few(2)}")
        if self.chance(0.3):
            self.line(f"{m}.T[0] = {self.few(2)}")
        self.result(f"np.sum(np.sin({m})) + {m}[0, 1] * {m}[1, 0]")
        return True

    def grown_and_stored(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        p, b, v = self.new("p"), self.new("b"), self.new("v")
        self.line(f"{p} = []")
        self.line(f"for {v} in {a}:")
        self.line(f"    {p}.append({self.pick(f'{v} * 0.5', f'np.sin({v})', f'{v} * {v} * 0.1')})")
        self.line(f"{b} = np.zeros(n)")
        self.line(
            self.pick(
                f"{b}[:] = {p}",
                f"{b}[::-1] = {p}",
                f"np.copyto({b}, {p})",
                f"{b} += {p}",
                f"{b} = {p} * {a}",
                f"{b}[{b} == 0.0] = {p}",
                f"np.multiply({p}, 2.0, out={b})",
            )
        )
        self.result(f"np.sum(np.sin({b}))")
        self.scope.arrays[b] = (N,)
        return True

    def operated_list(self, budget: int) -> bool:
        b = self.new("b")
        operands = [f"np.array({self.few(3)})", self.few(3)]
        self.random.shuffle(operands)
        self.line(f"{b} = {self.pick(' + ', ' - ', ' * ').join(operands)}")
        self.result(f"np.sum({b} * np.cos({b}))")
        return True

    def function_of_list(self, budget: int) -> bool:
        few, rows = self.few(3), self.row_pair()
        self.result(
            self.pick(
                f"np.sum(np.sin({few}))",
                f"np.dot({few}, {self.few(3)})",
                f"np.linalg.norm({few}) * 0.5",
                f"np.sum(np.where({self.condition()}, {few}, {self.few(3)}))",
                f"np.sum(np.concatenate(({few}, {self.few(2)})) ** 2)",
                f"np.sum(np.stack({rows}) * {rows})" if rows[0] == "(" else f"np.max({few}) * 0.5",
                f"np.sum(np.sort({few}) * [1.0, 2.0, 3.0])",
                f"np.sum(np.full(3, {few}) ** 2)",
                f"np.sum(np.reshape({few}, (3, 1)) * {few})",
                f"np.interp(0.4, [0.0, 0.5, 1.0], {few})",
                f"np.sum(np.tanh({rows}) @ {self.few(2)})",
                f"np.cumsum({few})[1] + np.mean({rows})",
                f"np.sum(np.r_[{few}, {self.scalar(0)}])",
            )
        )
        return True

    def listed_update(self, budget: int) -> bool:
        """A table of states. Each is a list made from the one before."""
        t, k = self.new("t"), self.new("k")
        self.line(f"{t} = np.zeros((4, 2))")
        self.line(f"{t}[0] = {self.few(2)}")
        self.line(f"for {k} in range(3):")
        first = self.pick(f"np.sin({t}[{k}, 1])", f"{t}[{k}, 1] * 0.5", f"{t}[{k}, 0] + 0.1 * {t}[{k}, 1]")
        self.line(f"    {t}[{k} + 1] = [{first}, {t}[{k}, 0] * {self.pick('0.3', 's', '-0.7')}]")
        self.result(f"np.sum({t} * {t}) * 0.1 + {t}[3, 0]")
        return True
