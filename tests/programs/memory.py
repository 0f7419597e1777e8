"""Random programs: views, aliases, stores, buffers and arrays that several names share."""

from __future__ import annotations

from tests.programs.exotics import Exotics, N


class Memory(Exotics):
    def memory_forms(self) -> list[str]:
        return [
            "alias_then_store",
            "view_of_view",
            "branch_alias",
            "chosen_alias",
            "swapped_buffers",
            "three_buffers",
            "mutating_helper",
            "same_array_twice",
            "rows",
            "rows_with_numbers",
            "out_arguments",
            "store_functions",
            "flat_store",
            "diagonal",
            "stencil",
            "masks",
            "fancy",
            "filled",
            "arrays_in_containers",
            "reshaped_in_place",
            "sorted_in_place",
            "tiles",
            "overlap",
            "own_matrix",
        ]

    def op(self) -> str:
        return self.pick("=", "+=", "*=", "-=")

    def place(self) -> str:
        return self.pick("0", "-1", "1:", ":-1", "::2", ":", "1")

    def read(self, *names: str) -> None:
        terms = [
            self.pick(f"np.sum({a} * {a})", f"np.sum(np.sin({a}))", f"{a}[0]", f"np.mean({a}) * 2.0") for a in names
        ]
        self.result(" + ".join(terms))

    def alias_then_store(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        b = self.new("b")
        self.line(f"{b} = {a}")
        self.line(
            self.pick(
                f"{b} += {self.scalar(0)}",
                f"{b} *= np.sin({a})",
                f"{b}[{self.place()}] {self.op()} {self.scalar(0)}",
                f"{a}[{self.place()}] {self.op()} {self.scalar(0)}",
                f"{b} = {b} + {self.scalar(0)}",
            )
        )
        self.read(a, b)
        self.scope.arrays[b] = (N,)
        return True

    def view_of_view(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        b, c = self.new("b"), self.new("c")
        self.line(f"{b} = {a}[{self.pick('1:', ':-1', '::-1', ':')}]")
        self.line(f"{c} = {b}[{self.pick('1:', ':-1', '::-1', '::2')}]")
        self.line(f"{c}[{self.place()}] {self.op()} {self.scalar(0)}")
        if self.chance(0.5):
            self.line(f"{b}[0] {self.op()} {c}[-1] * {self.scalar(0)}")
        if self.chance(0.3):
            self.line(f"{a}[{self.place()}] *= np.cos({self.scalar(0)})")
        self.read(a, b, c)
        return True

    def branch_alias(self, budget: int) -> bool:
        """A name that is an alias on one branch only, then a store."""
        a = self.vector()
        if a is None:
            return False
        b = self.new("b")
        self.line(f"if {self.condition()}:")
        self.line(f"    {b} = {a}")
        self.line("else:")
        self.line(f"    {b} = {self.pick(f'{a} * 2.0', f'{a}[::-1]', f'{a}.copy()', f'np.ones(n) * {self.scalar(0)}')}")
        self.line(f"{self.pick(a, b, b)}[{self.place()}] {self.op()} {self.scalar(0)}")
        self.read(a, b)
        return True

    def chosen_alias(self, budget: int) -> bool:
        a, c = self.vector(), self.vector()
        if a is None or c is None:
            return False
        b = self.new("b")
        self.line(f"{b} = {a} if {self.condition()} else {self.pick(c, f'{c} * {self.scalar(0)}', f'{c}[::-1]')}")
        self.line(f"{b}[{self.place()}] {self.op()} {self.scalar(0)}")
        self.read(a, b, c)
        return True

    def swapped_buffers(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        u, w, k = self.new("u"), self.new("w"), self.new("k")
        self.line(f"{u}, {w} = {a}{self.pick('', '.copy()', '.copy()')}, np.zeros{self.pick('(n)', f'_like({a})')}")
        self.line(f"for {k} in range({self.pick('2', '3', 'n')}):")
        self.line(
            f"    {w}[1:-1] = {u}[1:-1] + {self.pick('0.3', self.scalar(0))} * ({u}[2:] - 2.0 * {u}[1:-1] + {u}[:-2])"
        )
        if self.chance(0.5):
            self.line(f"    {w}[0] = {self.pick(w + '[1]', u + '[0]', self.scalar(0))}")
        if self.chance(0.3):
            self.line(f"    if {u}[0] > {self.pick('0.3', '-0.2')}:")
            self.line(f"        {self.pick('continue', 'break', w + '[-1] = ' + u + '[0]')}")
        self.line(f"    {self.pick(f'{u}, {w} = {w}, {u}', f'{w}, {u} = {u}, {w}')}")
        self.read(u, w)
        return True

    def three_buffers(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        p, q, r, k = self.new("p"), self.new("q"), self.new("r"), self.new("k")
        self.line(f"{p}, {q}, {r} = {a} * {self.scalar(0)}, {a}.copy(), np.zeros(n)")
        self.line(f"for {k} in range({self.pick('2', '4', 'n')}):")
        self.line(f"    {r}[1:-1] = 0.5 * {q}[1:-1] - 0.3 * {p}[1:-1] + 0.2 * {q}[2:]")
        self.line(f"    {p}, {q}, {r} = {self.pick(f'{q}, {r}, {p}', f'{r}, {p}, {q}', f'{p}, {r}, {q}')}")
        self.read(p, q, r)
        return True

    def mutating_helper(self, budget: int) -> bool:
        """A function that stores into its argument, defined here or in the module."""
        a = self.vector()
        if a is None:
            return False
        name = self.new("fill")
        body = [
            f"v[{self.place()}] {self.op()} w",
            self.pick("v[0] = v[1] * w", "v *= 0.7", "v[1:] += v[:-1]", "v = v * 2.0", "w = w * v[0]"),
        ]
        self.line(f"def {name}(v, w):")
        for text in body:
            self.line(f"    {text}")
        self.line(f"    return {self.pick('v', 'v[0] * w', 'np.sum(v)', 'v[1:]')}")
        t = self.new("t")
        self.line(f"{t} = np.sum({name}({self.pick(a, a, f'{a}[1:]', f'{a}[::-1]')}, {self.scalar(0)}))")
        self.scope.scalars.append(t)
        self.read(a)
        return True

    def same_array_twice(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        name = self.new("mix")
        self.line(f"def {name}(p, q):")
        self.line(f"    p[{self.place()}] {self.op()} {self.constant()}")
        self.line(f"    return np.sum(p * q) + {self.pick('q[0]', 'q[-1] * p[0]')}")
        b = self.pick(a, f"{a}[::-1]", f"{a}.copy()", f"{a}[:]")
        self.result(f"{name}({a}, {b})")
        return True

    def own_matrix(self, budget: int) -> bool:
        """A new matrix, for the forms that need one."""
        a = self.vector()
        if a is None:
            return False
        name = self.new("g")
        self.line(
            f"{name} = {self.pick(f'np.outer({a}, {a}) * 0.5', f'np.zeros((n, n)) + {a}', f'np.stack([{a}, np.sin({a}), {a} * {a}])', f'np.tile({a}, (2, 1))')}"
        )
        if self.chance(0.6):
            self.line(f"{name}[{self.pick('0', ':, 0', '1', '-1, 1:', '1, 1', ':, 1:')}] {self.op()} {self.scalar(0)}")
        self.result(
            self.pick(
                f"np.sum({name} * {name}) * 0.2", f"np.sum({name}.mean(axis=0) * {a})", f"np.sum({name}[0] * {name}[1])",
                f"np.sum({name}.T @ {name}) * 0.1", f"np.sum(np.max({name}, axis=1))", f"np.sum({name}.sum(axis=1, keepdims=True) * {name}) * 0.2",
            )
        )  # fmt: skip
        return True

    def matrix(self) -> str | None:
        """A matrix in scope, or a new one."""
        name = self.array_name(2)
        if name is not None and self.chance(0.6):
            return name
        a = self.vector()
        if a is None:
            return None
        name = self.new("g")
        self.line(f"{name} = np.{self.pick(f'outer({a}, {a})', f'stack([{a}, {a} * 0.5, np.cos({a})])')}")
        return name

    def rows(self, budget: int) -> bool:
        name = self.matrix()
        if name is None:
            return False
        row = self.new("row")
        self.line(f"for {row} in {name}{self.pick('', '', '.T', '[1:]')}:")
        self.line(
            "    "
            + self.pick(
                f"{row}[0] {self.op()} {row}[1] * {self.scalar(0)}",
                f"{row} *= {self.scalar(0)}",
                f"{row}[1:] += {row}[:-1] * 0.5",
                f"{row}[:] = np.sin({row})",
                f"{row} = {row} * 2.0",
            )
        )
        self.result(f"np.sum({name} * {name}) * 0.2 + {name}[0, 1]")
        return True

    def rows_with_numbers(self, budget: int) -> bool:
        name = self.matrix()
        if name is None:
            return False
        row, k = self.new("row"), self.new("k")
        self.line(self.pick(f"for {k}, {row} in enumerate({name}):", f"for {k}, {row} in zip(range(1, 3), {name}):"))
        self.line(f"    {row}[{k} % 2] = np.sin({row}[1] * {self.scalar(0)})")
        if self.chance(0.4):
            self.line(f"    if {row}[0] > {self.pick('0.2', '-0.2')}:")
            self.line(f"        {self.pick('continue', 'break', row + '[1] *= 0.5')}")
            self.line(f"    {row} += {self.scalar(0)}")
        self.result(f"np.sum(np.sin({name}))")
        return True

    def out_arguments(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        c = self.new("c")
        made = f"{c} = np.{self.pick('zeros(n)', 'empty(n)', f'empty_like({a})', f'full_like({a}, 0.5)')}"
        call = self.pick(
            f"np.multiply({a}, {b}, out={c})",
            f"np.sin({a}, out={c})",
            f"np.add({a}, {self.scalar(0)}, out={c}); np.multiply({c}, {c}, out={c})",
            f"np.cumsum({a}, out={c})",
            f"np.clip({a}, -0.5, 0.8, out={c})",
            f"{c}[:] = 1.0; np.subtract({a}[1:], {a}[:-1], out={c}[1:])",
            f"np.maximum({a}, 0.1, {c})",
            f"np.exp({a} * 0.3, out={c}); np.add({c}, {a}, out={a})",
            f"np.outer({a}, {b}).sum(axis=0, out={c})",
            f"np.dot(np.outer({a}, {b}), {a}, out={c})",
            f"np.divide({a}, 2.0 + {b} * {b}, out={c}, where={a} > -9.0)",
        )
        # What a mask leaves out is what was in the array before.
        self.line(made.replace("empty", "zeros") if "where=" in call else made)
        self.line(call)
        self.scope.arrays[c] = (N,)
        self.read(a, c)
        return True

    def store_functions(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        self.line(
            self.pick(
                f"np.copyto({a}, {b} * {self.scalar(0)})",
                f"np.copyto({a}, {b}, where={b} > 0.1)",
                f"np.put({a}, [0, 2], [{self.scalar(0)}, {self.scalar(0)}])",
                f"np.place({a}, {a} > 0.3, [{self.scalar(0)}])",
                f"np.putmask({a}, {a} > 0.2, {b})",
                f"{a}.fill({self.scalar(0)})",
                f"{a}.put([1], {self.scalar(0)})",
                f"np.add.at({a}, [0, 0, 2], {self.scalar(0)})",
                f"np.subtract.at({a}, np.array([1, 1]), {self.scalar(0)})",
                f"np.multiply.at({a}, [0, 2], {self.scalar(0)})",
                f"{a}[...] = {b}[::-1]",
            )
        )
        self.read(a)
        return True

    def flat_store(self, budget: int) -> bool:
        name = self.matrix()
        if name is None:
            return False
        flat = self.new("z")
        self.line(
            f"{flat} = {name}.{self.pick('ravel()', 'reshape(-1)', 'T.ravel()', 'flatten()', 'T.reshape(-1)', 'T', 'transpose()', 'swapaxes(0, 1)')}"
        )
        self.line(f"{flat}[{self.pick('0', '-1', '1:', '::2')}] {self.op()} {self.scalar(0)}")
        self.result(f"np.sum({name} * {name}) * 0.2 + np.sum(np.sin({flat}))")
        return True

    def diagonal(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        g = self.new("g")
        self.line(f"{g} = np.outer({a}, {a}[::-1])")
        self.line(
            self.pick(
                f"np.fill_diagonal({g}, {self.pick(self.scalar(0), a)})",
                f"{g}.reshape(-1)[::n + 1] {self.op()} {self.pick(self.scalar(0), a)}",
                f"{g}[np.arange(n), np.arange(n)] {self.op()} {self.scalar(0)}",
                f"{g}.flat[0] = {self.scalar(0)}",
                f"{g}[np.diag_indices(n)] = {self.scalar(0)}",
            )
        )
        self.result(
            self.pick(
                f"np.trace({g}) + np.sum({g} @ {a})",
                f"np.sum(np.diag({g}) * {a})",
                f"np.sum(np.triu({g})) * 0.5",
                f"np.sum({g} * {g}) * 0.1",
            )
        )
        return True

    def stencil(self, budget: int) -> bool:
        """In-place updates that read what they overwrite."""
        a = self.vector()
        if a is None:
            return False
        loop = self.chance(0.6)
        pad = ""
        if loop:
            k = self.new("k")
            self.line(f"for {k} in range({self.pick('2', '3', 'n')}):")
            pad = "    "
        for _ in range(self.random.randrange(1, 3)):
            self.line(
                pad
                + self.pick(
                    f"{a}[1:-1] = {a}[1:-1] * {a}[1:-1] * 0.3 + 0.1 * {a}[:-2]",
                    f"{a}[1:] = {a}[:-1]",
                    f"{a}[1:] += 0.3 * {a}[:-1]",
                    f"{a}[:-1] -= np.sin({a}[1:])",
                    f"{a}[::-1] *= 0.5 * {a}",
                    f"{a}[:] = {a}[::-1] * {self.scalar(0)}",
                    f"{a}[1:-1] += 0.2 * ({a}[2:] - 2 * {a}[1:-1] + {a}[:-2])",
                    f"{a}[::2] = np.tanh({a}[::2] * {self.scalar(0)})",
                )
            )
        self.read(a)
        return True

    def masks(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        m = self.new("mask")
        self.line(
            f"{m} = {self.pick(f'{a} > 0.1', f'({a} > -0.5) & ({b} < 0.5)', f'~({a} < 0)', f'np.abs({a}) > 0.4', f'({a} > 1.0) | ({b} > 0)', f'np.logical_and({a} > -1, {a} < 1)')}"
        )
        self.line(
            self.pick(
                f"{a}[{m}] {self.op()} {self.scalar(0)}",
                f"{a}[{m}] = {b}[{m}] * {self.scalar(0)}",
                f"{a}[{m}] *= {a}[{m}]",
                f"{a}[~{m}] = 0",
                f"{a} = np.where({m}, {a}, {b} * 0.5)",
                f"{a} *= {m}",
                f"{b}[{m}] += np.sin({b}[{m}])",
            )
        )
        self.scope.arrays[a] = (N,)
        self.result(
            self.pick(
                f"np.sum({a}[{m}]) + np.sum({b})",
                f"np.sum({a} * {m})",
                f"np.sum(np.where({m}, {a} * {b}, 0.3))",
                f"{m}.sum() * {a}[0]",
            )
        )
        return True

    def fancy(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        k = self.new("idx")
        self.line(
            f"{k} = {self.pick('np.array([0, 2])', '[0, 2, 0]', 'np.array([1, 1, 0])', 'np.arange(n - 1)', '[-1, 0]', f'np.argsort({a})[:2]', f'np.nonzero({a} > 0)[0]')}"
        )
        self.line(
            self.pick(
                f"{a}[{k}] {self.op()} {self.scalar(0)}",
                f"{a}[{k}] = {b}[{k}] * {self.scalar(0)}",
                f"{a}[{k}] *= {a}[{k}]",
                f"np.add.at({a}, {k}, {self.scalar(0)})",
                f"{a} = {a} + np.sum({b}[{k}])",
            )
        )
        self.scope.arrays[a] = (N,)
        self.result(self.pick(f"np.sum({a}[{k}] * {b}[{k}])", f"np.take({a}, {k}).sum()", f"np.sum({a}[{k}]) * {b}[0]"))
        return True

    def filled(self, budget: int) -> bool:
        """An empty array that is filled entry by entry."""
        a = self.vector()
        if a is None:
            return False
        c, i = self.new("c"), self.new("i")
        self.line(
            f"{c} = {self.pick('np.empty(n)', 'np.zeros(n)', f'np.empty_like({a})', f'np.zeros_like({a})', 'np.zeros(n, dtype=float)')}"
        )
        self.line(f"for {i} in {self.pick('range(n)', 'range(n - 1, -1, -1)', 'reversed(range(n))')}:")
        self.line(f"    {c}[{i}] = {self.smooth(f'{a}[{i}] * {self.scalar(0)}')}")
        if self.chance(0.5):
            self.line(
                f"    {c}[{i}] += {self.pick(f'{c}[{i}] * {a}[0]', f'0.1 * {i}', f'np.sum({a}[:{i}]) * 0.2', f'{a}[{i} - 1]')}"
            )
        self.scope.arrays[c] = (N,)
        self.read(c)
        return True

    def arrays_in_containers(self, budget: int) -> bool:
        """Arrays in lists and tuples, mutated through these or through their own names."""
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        box, v = self.new("box"), self.new("v")
        self.line(f"{box} = {self.pick(f'[{a}, {b} * 0.5]', f'({a}, {b}.copy())', f'[{a}[1:], {b} * 2.0]')}")
        self.line(
            self.pick(
                f"{box}[0][{self.place()}] {self.op()} {self.scalar(0)}",
                f"{a}[{self.place()}] {self.op()} {self.scalar(0)}",
                f"{box}[1][:] = {self.scalar(0)}",
                f"{v} = {box}[0]; {v} *= {self.scalar(0)}",
                f"{v}, w = {box}; {v}[0] = w[1]; w[0] += {v}[1]",
            )
        )
        if self.chance(0.4):
            self.line(f"for {v} in {box}:")
            self.line(f"    {v}[0] {self.op()} {self.scalar(0)}")
        self.result(f"np.sum({box}[0]) * {self.constant()} + np.sum({box}[1] * {box}[1]) + {a}[0] + np.sum({b})")
        return True

    def reshaped_in_place(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        c = self.new("c")
        self.line(f"{c} = {a} * {self.scalar(0)}")
        self.line(
            self.pick(
                f"{c}.shape = (2, n // 2)",
                f"{c}.shape = (n // 2, 2)",
                f"{c} = {c}.reshape(2, -1)",
                f"{c} = np.reshape({c}, (-1, 2))",
            )
        )
        self.line(f"{c}[1, 0] {self.op()} {self.scalar(0)}")
        self.result(f"np.sum({c}[0] * {c}[1, 0]) + np.sum({c} * {c}) * 0.3")
        return True

    def sorted_in_place(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        c = self.new("c")
        self.line(f"{c} = {a}{self.pick('', '.copy()', ' * 1.0')}")
        self.line(f"{c}.sort()")
        self.result(f"np.sum({c} * np.arange(n)) * 0.3 + {c}[0] * {c}[-1] + np.sum({a} * {c})")
        return True

    def tiles(self, budget: int) -> bool:
        """Parts of an array handed around as views in a loop."""
        a = self.vector()
        if a is None:
            return False
        i, z = self.new("i"), self.new("z")
        self.line(f"for {i} in range({self.pick('2', 'n - 1')}):")
        self.line(f"    {z} = {a}[{self.pick(f'{i}:{i} + 2', f'{i}:', f':{i} + 1')}]")
        self.line(f"    {z} {self.pick('+=', '*=')} {self.pick('np.sin(' + z + ')', self.scalar(0))}")
        if self.chance(0.5):
            self.line(f"    {z}[0] = {a}[-1] * {self.scalar(0)}")
        self.read(a)
        return True

    def overlap(self, budget: int) -> bool:
        """z = y[1:]; z[0] = y[0] * 5."""
        a = self.vector()
        if a is None:
            return False
        z = self.new("z")
        self.line(f"{z} = {a}[{self.pick('1:', ':-1', '::-1')}]")
        self.line(f"{z}[0] = {a}[0] * {self.scalar(0)}")
        self.line(f"{a}[1] = {z}[{self.pick('0', '-1')}] * {self.pick(a + '[0]', '2.0')}")
        self.read(a, z)
        return True
