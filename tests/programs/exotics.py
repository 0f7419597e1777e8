"""Less usual statements of random programs, each in a form that has broken a compiler like this one, or might."""

from __future__ import annotations

from tests.programs.expressions import Expressions, N


class Exotics(Expressions):
    def block(self, budget: int) -> None:
        raise NotImplementedError  # the generator has it

    def globals(self) -> None:
        """Numbers and an array that functions read without taking them as arguments."""
        if self.chance(0.3):
            self.line_at_top(f"K = {self.pick('0.6', '-0.4', '1.2')}")
            self.constants.append("K")
        if self.chance(0.2):
            self.line_at_top("LEVELS = np.array([0.3, -0.2, 0.9])")
            self.constants += ["LEVELS[1]", "LEVELS.sum()"]
        if self.constants:
            self.lines += ["", ""]

    def exotic(self, budget: int) -> int:
        """One of the forms that fit, or a plain statement if none does."""
        forms = [
            self.dictionary,
            self.fill,
            self.flattened,
            self.joined,
            self.comprehension,
            self.out_argument,
            self.row_loop,
            self.endless_loop,
            self.conditional_alias,
            self.list_of_arrays,
            self.history,
            self.chained_assignment,
            self.recurrence,
            self.sliding_view,
            self.one_by_one,
            self.copies,
        ]
        form = self.random.choice(forms)
        if not form(budget):
            name = self.new("t")
            self.line(f"{name} = {self.scalar(1)}")
            self.scope.scalars.append(name)
        return 1

    def vector(self) -> str | None:
        names = self.arrays_of((N,))
        return self.random.choice(names) if names else None

    def dictionary(self, budget: int) -> bool:
        name, target = self.new("d"), self.new("t")
        self.line(f"{name} = {{'u': {self.scalar(1)}, 'v': {self.scalar(0)}}}")
        self.line(f"{name}['u'] = {name}['v'] * {self.scalar(0)} + np.sin({name}['u'])")
        self.line(f"{target} = {name}['u'] * {name}['v']")
        self.scope.scalars.append(target)
        return True

    def fill(self, budget: int) -> bool:
        name = self.array_name()
        if name is None:
            return False
        self.line(f"{name}.fill({self.scalar(1)})" if self.chance(0.3) else f"{name}[:] = {self.scalar(1)}")
        return True

    def flattened(self, budget: int) -> bool:
        """A store through a flat view, where there is one; copies for a transposed array."""
        name = self.array_name(2)
        if name is None:
            return False
        flat, target = self.new("z"), self.new("t")
        source = name if self.chance(0.3) else f"({name} * 1.0)"
        self.line(f"{flat} = {source}.{self.pick('ravel()', 'reshape(-1)')}")
        self.line(f"{flat}[{self.pick('0', '-1', '2')}] {self.pick('=', '+=')} {self.scalar(1)}")
        self.line(f"{target} = np.sum(np.sin({flat})) * 0.3 + np.mean({name})")
        self.scope.scalars.append(target)
        return True

    def joined(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        name = self.new("a")
        form = self.random.randrange(3)
        if form == 0:
            self.line(f"{name} = np.concatenate([{a}[:1], {b}[1:]])")
        elif form == 1:
            self.line(f"{name} = np.stack([{a}, {b} * 0.5])[{self.pick('0', '1', '-1')}] * 1.0")
        else:
            self.line(f"{name} = np.concatenate(({a}[-1:], {b}[:-1] * {self.scalar(0)}))")
        self.scope.arrays[name] = (N,)
        return True

    def comprehension(self, budget: int) -> bool:
        name = self.vector()
        if name is None:
            return False
        target = self.new("t")
        v = self.new("v")
        item = self.pick(f"np.sin({v}) * {self.scalar(0)}", f"{v} * {v}", f"{v} if {v} > 0 else 0.5 * {v}")
        form = self.random.randrange(3)
        if form == 0:
            self.line(f"{target} = sum([{item} for {v} in {name}])")
        elif form == 1:
            self.line(f"{target} = [{item} for {v} in {name}][{self.pick('0', '-1', '1')}]")
        else:
            self.line(f"{target} = sum([{name}[{v}] * {v} for {v} in range(3)])")
        self.scope.scalars.append(target)
        return True

    def out_argument(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None:
            return False
        self.line(f"np.{self.pick('multiply', 'add', 'subtract')}({a}, np.sin({b}), out={a})")
        return True

    def row_loop(self, budget: int) -> bool:
        """Rows are views: a store into one is a store into the array."""
        name = self.array_name(2)
        if name is None or self.loops:
            return False
        row = self.new("r")
        self.line(f"for {row} in {name}:")
        self.line(
            f"    {row}[{self.pick('0', '-1', '1:')}] {self.pick('*=', '=', '+=')} np.sin({row}[1] * {self.scalar(0)})"
        )
        return True

    def endless_loop(self, budget: int) -> bool:
        if self.loops or not self.scope.scalars:
            return False
        k, t = self.new("k"), self.random.choice(self.scope.scalars)
        self.line(f"{k} = 0")
        self.line("while True:")
        self.line(f"    if {k} >= 3 or {t} > 2.0:")
        self.line("        break")
        self.line(f"    {k} += 1")
        saved = self.scope.copy()
        self.indent += 1
        self.loops.append("while")
        self.line(f"{t} = {t} + 0.5 * np.sin({self.scalar(1)})")
        if budget > 2:
            self.block(1)
        self.loops.pop()
        self.indent -= 1
        after, self.scope = self.scope, saved
        self.scope.meet(after)
        return True

    def conditional_alias(self, budget: int) -> bool:
        """Two names share an array or not, depending on a condition: refused, or right."""
        a, b = self.vector(), self.vector()
        if a is None or b is None or self.loops:
            return False
        name, target = self.new("z"), self.new("t")
        other = self.pick(f"{b}", f"{b} * 2.0", f"{a}.copy()")
        self.line(f"{name} = {a} if {self.condition()} else {other}")
        if self.chance(0.3):
            self.line(f"{self.pick(name, a)}[0] = {self.scalar(1)}")
        self.line(f"{target} = np.sum({name} * {a})")
        self.scope.scalars.append(target)
        return True

    def list_of_arrays(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None or b is None or self.loops:
            return False
        name, item, target = self.new("items"), self.new("v"), self.new("t")
        self.line(f"{name} = [{a}, {b} * {self.scalar(0)}]")
        if self.chance(0.4):
            self.line(f"{name}[{self.pick('0', '1')}][0] = {self.scalar(1)}")
        if self.chance(0.4):
            self.line(f"{name}.append({self.array((N,), 1)} * 1.0)")
        self.line(f"{target} = 0.0")
        self.line(f"for {item} in {name}:")
        self.line(f"    {target} += np.sum({item} * {a})")
        self.scope.scalars.append(target)
        return True

    def history(self, budget: int) -> bool:
        """Arrays collected in a loop and used afterwards."""
        a = self.vector()
        if a is None or self.loops:
            return False
        name, state, i, target = self.new("items"), self.new("a"), self.new("i"), self.new("t")
        self.line(f"{name} = []")
        self.line(f"{state} = {a} * 1.0")
        self.line(f"for {i} in range({self.pick('3', 'n')}):")
        if self.chance(0.5):
            self.line(f"    {state} = np.sin({state} * {self.scalar(0)} + 0.1 * {i})")
            self.line(f"    {name}.append({state})")
        else:
            self.line(f"    {state}[{self.pick('0', '-1', '1:')}] *= np.sin({self.scalar(0)})")
            self.line(f"    {name}.append({state}.copy())")
        self.line(f"{target} = np.sum({name}[{self.pick('0', '-1', '1')}] * {name}[-1]) + np.sum({name}[1])")
        self.scope.scalars.append(target)
        self.scope.arrays[state] = (N,)
        return True

    def chained_assignment(self, budget: int) -> bool:
        """Two names for one new array, and a store through one of them."""
        a = self.vector()
        if a is None:
            return False
        b, c = self.new("a"), self.new("a")
        self.line(f"{b} = {c} = {a} * {self.scalar(0)}")
        self.line(f"{b}[{self.pick('0', '1:', '-1')}] {self.pick('=', '+=', '*=')} np.tanh({self.scalar(1)})")
        if self.chance(0.5):
            self.line(f"{b} = {b} + {c}")
        self.scope.arrays[b] = self.scope.arrays[c] = (N,)
        return True

    def recurrence(self, budget: int) -> bool:
        """Each entry from the one before, and a reader of the overwritten values."""
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        i = self.new("i")
        order = self.pick("range(1, n)", "range(n - 1, 0, -1)", "range(1, n, 2)")
        self.line(f"for {i} in {order}:")
        form = self.random.randrange(4)
        if form == 0:
            self.line(f"    {a}[{i}] = {a}[{i}] * {a}[{i} - 1]")
        elif form == 1:
            self.line(f"    {a}[{i}] = 0.5 * {a}[{i}] + 0.2 * ({a}[:{i}] * {a}[:{i}]).sum()")
        elif form == 2:
            self.line(f"    for {i}b in range({i}):")
            self.line(f"        {a}[{i}b] = np.sin({a}[{i}b] * {a}[{i}])")
            self.line(f"    {b}[{i}] += ({a} * {a}).sum() * 0.1")
        else:
            self.line(f"    {a}[1:] = np.sin({b}[1:] + {a}[:-1])")
        return True

    def sliding_view(self, budget: int) -> bool:
        """A window that moves through an array while stores change it."""
        a = self.vector()
        if a is None:
            return False
        i, z = self.new("i"), self.new("z")
        self.line(f"for {i} in range(n - 1):")
        self.line(f"    {z} = {a}[{i} : {i} + 2]")
        self.line(
            f"    {z}[{self.pick('0', '1')}] {self.pick('=', '+=')} np.sin({z}[0] * {self.scalar(0)}) - 0.5 * {z}[1]"
        )
        self.scope.ints.pop(i, None)
        return True

    def one_by_one(self, budget: int) -> bool:
        """An iterator whose items have effects, and a consumer that takes some of them."""
        if self.loops:
            return False
        log, it, target, v = self.new("log"), self.new("it"), self.new("t"), self.new("v")
        items = f"[{self.scalar(0)}, {self.scalar(0)}, {self.scalar(0)}]"
        self.line(f"{log} = []")
        seen = f"({log}.append(u), u * len({log}))[1]"
        maker = self.pick(
            f"({seen} for u in {items})",
            f"map(lambda u: {seen}, {items})",
            f"(w for w in ({seen} for u in {items}) if len({log}) != 2)",
            f"zip(*[iter([{seen} for u in {items}])])",
        )
        item = f"{v}[0]" if maker.startswith("zip") else v
        self.line(f"{it} = {maker}")
        self.line(f"{target} = 0.0")
        if self.chance(0.6):
            self.line(f"{v} = next({it})")
            self.line(f"{target} += {item}")
        if self.chance(0.4):
            self.line(f"{log}.append({self.scalar(0)})")
        self.line(f"for {v} in {it}:")
        self.line(f"    {target} += {item} * len({log})")
        if self.chance(0.4):
            self.line("    break")
        self.line(f"{target} += sum({log}) + len(list({it}))")
        self.scope.scalars.append(target)
        return True

    def copies(self, budget: int) -> bool:
        """A deep copy that keeps aliases, in a dictionary made in order."""
        a = self.vector()
        if a is None or self.loops:
            return False
        self.define("import copy")
        pair, target = self.new("pair"), self.new("t")
        self.line(f"{pair} = copy.{self.pick('deepcopy', 'copy')}({{'a': {a}, 'b': [{a}, {self.scalar(0)}]}})")
        self.line(f"{pair}['a'][{self.pick('0', '-1', '1:')}] = {self.scalar(0)}")
        self.line(f"{target} = np.sum({pair}['b'][0] * {a})")
        self.scope.scalars.append(target)
        return True
