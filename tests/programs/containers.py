"""Random programs: lists, dicts, sets, tuples, records and comprehensions."""

from __future__ import annotations

from tests.programs.exotics import Exotics, N


class Containers(Exotics):
    def container_forms(self) -> list[str]:
        return [
            "records",
            "list_operations",
            "filtered_list",
            "edited_list",
            "held_items",
            "list_of_lists",
            "shared_lists",
            "stacked",
            "dict_operations",
            "dict_of_arrays",
            "dict_in_loop",
            "numbered_keys",
            "sets",
            "filtered_comprehension",
            "nested_comprehension",
            "iteration_tools",
            "sorting",
            "named_tuple",
            "unpacking",
            "stack_machine",
            "aliased_list",
            "called_by_class",
            "kept_by_foreign_code",
            "settings",
            "fields",
        ]

    def trips(self) -> str:
        return self.pick("range(3)", "range(n)", "range(1, n)", "range(n - 1)", "range(0, n, 2)", "reversed(range(n))")

    def records(self, budget: int) -> bool:
        """A list to which records are appended, and a reader of these."""
        name, i, r, t = self.new("items"), self.new("i"), self.new("r"), self.new("t")
        form = self.random.randrange(5)
        first, second = f"np.sin({self.scalar(0)} + 0.2 * {i})", f"{self.scalar(0)} * 0.5"
        self.line(f"{name} = []")
        self.line(f"for {i} in {self.trips()}:")
        if self.chance(0.3):
            self.line(f"    if {i} % 2 == {self.pick('0', '1')}:")
            self.line("        continue")
        made = [
            f"({first}, {second})",
            f"[{first}, {second}]",
            f"{{'u': {first}, 'v': {second}}}",
            f"({first}, ({second}, {i}))",
            f"Pair({first}, {second})",
        ][form]
        if form == 4:
            self.define("from collections import namedtuple\n\nPair = namedtuple('Pair', 'u v')")
        self.line(f"    {name}.append({made})")
        if form < 2:
            read = self.pick(f"{r}[0] * {r}[1]", f"{r}[-1] - {r}[0]")
        else:
            read = [f"{r}['u'] * {r}['v']", f"{r}[0] * {r}[1][0] + {r}[1][1]", f"{r}.u * {r}[1]"][form - 2]
        how = self.random.randrange(4)
        if how == 0:
            self.result(f"sum({read} for {r} in {name})")
        elif how == 1:
            self.result(f"sum([{read} for {r} in {name}])")
        elif how == 2:
            self.line(f"{t} = 0.0")
            self.line(f"for {r} in {name}{self.pick('', '[1:]', '[::-1]')}:")
            self.line(f"    {t} = np.sin({t} + {read})")
            self.scope.scalars.append(t)
        else:
            self.line(f"{r} = {name}[{self.pick('0', '-1')}]")
            self.result(read)
        return True

    def list_operations(self, budget: int) -> bool:
        """The methods of a short list, one after the other."""
        name = self.new("xs")
        self.line(f"{name} = [{self.scalar(1)}, {self.scalar(0)}, {self.scalar(0)}]")
        length = 3
        for _ in range(self.random.randrange(1, 5)):
            v = self.scalar(0)
            options = [
                (f"{name}.append({v})", 1),
                (f"{name}.insert({self.pick('0', '1', '-1')}, {v})", 1),
                (f"{name} += [{v}]", 1),
                (f"{name} = {name} + [{v}]", 1),
                (f"{name} = [{v}] + {name}", 1),
                (f"{name}.extend([{v}, {self.scalar(0)}])", 2),
                (f"{name}.extend((v * 0.5 for v in {name}[:1]))", 1),
                (f"{name}[{self.pick('0', '-1', '1')}] = {v}", 0),
                (f"{name}[0] *= np.sin({v})", 0),
                (f"{name}.reverse()", 0),
                (f"{name}[0], {name}[-1] = {name}[-1], {name}[0]", 0),
                (f"{name}[:2] = [{v}]", -1),
                (f"{name}[{self.pick('1:', ':1', '-1:', '9:')}] += [{v}]", 1),
                (f"{name}[:1] *= 2", 1),
                (f"{name}[1:1] = [{v}, {v}]", 2),
                (f"{name} = {name}[::-1]", 0),
                (f"{name} = {name}.copy()", 0),
                (f"{name} = list({name})", 0),
                (f"{name} = {name} * 2", length),
            ]
            if length >= 3:
                taken = self.new("t")
                options += [
                    (f"{taken} = {name}.pop()", -1),
                    (f"{taken} = {name}.pop(0)", -1),
                    (f"{name}.pop({self.pick('1', '-2')})", -1),
                    (f"del {name}[{self.pick('0', '-1', '1')}]", -1),
                    (f"del {name}[1:]", 1 - length),
                ]
            text, change = self.random.choice(options)
            if length + change < 2 or length + change > 12:
                continue
            self.line(text)
            length += change
        self.read_list(name)
        return True

    def read_list(self, name: str) -> None:
        self.result(
            self.pick(
                f"sum({name})",
                f"{name}[0] * {name}[-1]",
                f"sum([(k + 1) * v for k, v in enumerate({name})]) * 0.2",
                f"np.sum(np.array({name})) / len({name})",
                f"sum(u * v for u, v in zip({name}, {name}[1:]))",
                f"max({name}) - {name}[1]",
            )
        )

    def filtered_list(self, budget: int) -> bool:
        """A list whose length depends on values."""
        name, i = self.new("xs"), self.new("i")
        self.line(f"{name} = [{self.scalar(0)}]")
        self.line(f"for {i} in {self.trips()}:")
        self.line(f"    if {self.condition()}:")
        self.line(f"        {name}.append({self.smooth(self.scalar(0))} + 0.1 * {i})")
        if self.chance(0.3):
            self.line("    else:")
            self.line(f"        {name}[-1] = {name}[-1] * 0.5 + {self.scalar(0)}")
        if self.chance(0.3):
            self.line(f"if len({name}) > 2:")
            self.line(
                f"    {self.pick(f'{name}.pop()', f'{name}.pop(0)', f'del {name}[-1]', f'{name}.insert(0, 0.5)')}"
            )
        self.result(
            self.pick(f"sum({name})", f"{name}[-1] * {name}[0]", f"sum({name}) / len({name})", f"np.mean({name})")
        )
        return True

    def edited_list(self, budget: int) -> bool:
        """A list of run-time length that gets longer and shorter."""
        l, m, i, k, t = (self.new(name) for name in ("xs", "ys", "i", "k", "t"))
        self.line(f"{l} = []")
        self.line(f"for {i} in range(n + 3):")
        self.line(f"    {l}.append({self.smooth(self.scalar(0))} + 0.1 * {i})")
        self.line(f"{m} = {l}[{self.pick('1:', ':2', ':-1', '::2', '::-1')}]")
        self.line(f"{t} = 0.0")
        self.line(f"for {k} in range({self.pick('2', '3', 'n')}):")
        for _ in range(self.random.randrange(1, 4)):
            v = self.scalar(0)
            at = self.pick("0", "1", "-1", k, f"-{k}", "99")
            options = [
                f"{l}.insert({at}, {v})", f"{l}.insert(0, {l}.pop())", f"{l}.append({l}.pop(0) * {v})",
                f"{l} = {l} + [{v}]", f"{l} += [{v}, {l}[0]]", f"{l}.extend({m})", f"{l}.extend({l}[:{k}])",
                f"{l}[{k}:{k}] = {m}", f"{l}[{k}:{k} + 1] = [{v}, {v}]",
                f"{l}[{self.pick(f'{k}:', f':{k}', '1:2')}] += [{v}]", f"{l} = {l}[{k}:] + {l}[:{k}]", f"{l}.reverse()",
                f"{m}.append({l}[-1])", f"{l}[0] = {l}[-1] * {v}",
            ]  # fmt: skip
            shorter = [
                f"{t} = {t} + {l}.pop({self.pick('', '0', '1', '-1')})", f"del {l}[{self.pick('0', '-1', '1')}]",
                f"del {l}[{self.pick('1:3', ':1', '-1:')}]", f"{l} = {l}[:-1]",
            ]  # fmt: skip
            if self.chance(0.4):
                self.line(f"    if len({l}) > 3:")
                self.line(f"        {self.random.choice(shorter)}")
            elif self.chance(0.3):
                self.line(f"    if {self.condition()}:")
                self.line(f"        {self.random.choice(options)}")
            else:
                self.line(f"    {self.random.choice(options)}")
        self.line(f"    {t} = {t} * 0.5 + {l}[0] * {l}[-1]")
        self.result(f"{t} + sum([v * (j + 1) for j, v in enumerate({l})]) * 0.1")
        return True

    def held_items(self, budget: int) -> bool:
        """An item of a list of run-time length, held by a name while the list gets longer and shorter, then changed."""
        l, i, k, a, b = (self.new(name) for name in ("xs", "i", "k", "held", "other"))
        made, key = self.pick(
            ("np.array([{0}, 0.1 * {1} + 0.5, {0} * {0}])", "1"), ("[{0} * 0.5, 0.3 * {1}]", "0"),
            ("{{'u': np.sin({0} + {1}), 'w': 0.5}}", "'u'"), ("[np.array([{0}, {1} + 0.5])]", "0"),
        )  # fmt: skip
        v, index = self.scalar(0), self.pick("0", "-1", "1", "-2", f"len({l}) - 1")
        self.line(f"{l} = []")
        self.line(f"for {i} in range(n + 2):")
        self.line(f"    {l}.append({made.format(v, i)})")
        self.line(f"{b} = {made.format(self.scalar(0), 2)}")
        if self.chance(0.3):
            self.line(f"{l}[{index}] = {b}")
        self.line(f"{a} = {l}[{index}]")
        changes = [
            f"{l}.append({made.format(v, 7)})", f"{l}.extend([{made.format(v, 2)}, {made.format(v, 3)}])",
            f"{l} += [{made.format(v, 4)}]", f"{l}.insert({self.pick('0', '1', '-1')}, {made.format(v, 5)})",
            f"{l}.reverse()", f"{l}.pop({self.pick('', '0', '-2')})", f"del {l}[{self.pick('0', '-1')}]",
        ]  # fmt: skip
        changed = self.pick((a,), (), (b,), (f"{l}[{self.pick('-1', '0', '1')}]",), ())
        if not changed or self.chance(0.15):  # otherwise most programs are refused: the item may stand in two places
            changes += [
                f"{l}.append({b})", f"{l}.append({l}[{self.pick('0', '-1')}])", f"{l}[{self.pick('0', '-1')}] = {b}",
                f"{l} = {l} + [{b}]",
            ]  # fmt: skip
        for _ in range(self.random.randrange(1, 4)):
            change = self.random.choice(changes)
            if self.chance(0.25) and "pop" not in change and "del" not in change:
                self.line(f"for {k} in range({self.pick('2', 'n')}):")
                self.line(f"    {change}")
            elif self.chance(0.25):
                self.line(f"if {self.condition()}:")
                self.line(f"    {change}")
            else:
                self.line(change)
        for held in changed:
            self.line(f"{held}[{key}] = {held}[{key}] * {self.pick('2.0', v)} + 0.2")
        self.result(
            f"np.sum({a}[{key}] * 0.7 + {l}[-1][{key}] * {l}[0][{key}]) "
            f"+ sum([np.sum({k}[{key}]) * (1.0 + {i}) for {i}, {k} in enumerate({l})]) * 0.1"
        )
        return True

    def called_by_class(self, budget: int) -> bool:
        """Methods that are called by the names of their classes, and functions of `operator`."""
        xs, d, a = self.new("xs"), self.new("d"), self.new("a")
        self.define("import operator")
        self.line(f"{xs}, {d} = [{self.scalar(0)}], {{}}")
        self.line(f"{a} = np.array([{self.scalar(0)}, {self.scalar(0)}, 0.5])")
        for _ in range(self.random.randrange(2, 6)):
            v = self.scalar(0)
            self.line(
                self.pick(
                    f"list.append({xs}, {v})",
                    f"list.__setitem__({xs}, 0, {v})",
                    f"operator.setitem({xs}, -1, {v})",
                    f"operator.iadd({xs}, [{v}])",
                    f"dict.update({d}, k={v})",
                    f"dict.__setitem__({d}, 'j', {v})",
                    f"np.ndarray.__setitem__({a}, {self.pick('0', '-1')}, {v})",
                    f"{a}.__imul__({v})",
                    f"operator.iadd({a}, np.sin({v}))",
                )
            )
        self.result(f"sum({xs}) + np.ndarray.sum({a}) * dict.get({d}, 'k', 1.0) + sum({d}.values())")
        return True

    def kept_by_foreign_code(self, budget: int) -> bool:
        """A value that is only kept or printed harms nothing."""
        name, v = self.new("KEPT").upper(), self.scalar(0)
        self.define(f"from contextvars import ContextVar\n\n{name} = ContextVar('{name}', default=1.0)")
        self.line(self.pick(f"{name}.set({v})", f"{name}.set(f'{{{v}}}')", f"{name}.set(str({v}))"))
        self.result(f"{v} * 0.5")
        return True

    def settings(self, budget: int) -> bool:
        """A dictionary with attributes, from outside."""
        name = self.new("CFG").upper()
        get = self.pick("dict.__getitem__", "dict.get")
        self.define(f"class {name}_(dict):\n    __getattr__ = {get}\n\n\n{name} = {name}_(rate=0.7, many={name}_(n=2))")
        many = self.pick(f"{name}.many.n", f"{name}['many']['n']")
        self.result(f"{name}.rate * {self.scalar(0)} + {many} * 0.1")
        return True

    def fields(self, budget: int) -> bool:
        """Arrays of records."""
        a, v = self.new("a"), self.scalar(0)
        self.line(f"{a} = np.zeros(3, dtype=[('p', float), ('q', float)])")
        for _ in range(self.random.randrange(1, 4)):
            self.line(
                self.pick(
                    f"{a}['p'] += {v}",
                    f"{a}['q'][1:] = {v}",
                    f"{a}[0] = ({v}, 0.5)",
                    f"{a}['q'] = {a}['p'] * {v}",
                    f"{a}[1]['p'] = np.sin({v})",
                )
            )
        self.result(f"np.sum({a}['p'] * {a}['q']) + {a}['p'][0]")
        return True

    def list_of_lists(self, budget: int) -> bool:
        name, i, j = self.new("g"), self.new("i"), self.new("j")
        self.line(
            f"{name} = [[{self.pick('0.0', self.scalar(0))} for _ in range(3)] for _ in range({self.pick('2', '3', 'n')})]"
        )
        self.line(f"for {i} in range(2):")
        self.line(f"    for {j} in range({self.pick('3', '2', f'{i} + 1')}):")
        self.line(f"        {name}[{i}][{j}] {self.pick('=', '+=')} np.sin({self.scalar(0)} + {i} * 0.3 - 0.1 * {j})")
        if self.chance(0.4):
            self.line(f"{name}[1][0] = {name}[0][1] * {self.scalar(0)}")
        self.result(
            self.pick(
                f"sum(sum(row) for row in {name})",
                f"{name}[0][0] * {name}[1][1] - {name}[1][0]",
                f"np.sum(np.array({name}) ** 2) * 0.2",
                f"sum(v * v for row in {name} for v in row) * 0.3",
            )
        )
        return True

    def shared_lists(self, budget: int) -> bool:
        """`[row] * 2` holds one list twice."""
        name, row = self.new("g"), self.new("row")
        self.line(f"{row} = [{self.scalar(0)}, {self.scalar(0)}]")
        self.line(f"{name} = {self.pick(f'[{row}] * 2', f'[{row}, {row}]', f'[{row}, list({row})]')}")
        self.line(f"{name}[0][{self.pick('0', '1')}] = {self.scalar(1)}")
        self.line(f"{name}[1].append({self.scalar(0)})")
        self.result(f"sum({name}[1]) + {name}[0][0] * len({row})")
        return True

    def stacked(self, budget: int) -> bool:
        """A list of arrays becomes an array."""
        a = self.vector()
        if a is None:
            return False
        name, i, out = self.new("items"), self.new("i"), self.new("a")
        how = self.pick("np.stack({})", "np.array({})", "np.concatenate({}).reshape(-1, n)", "np.vstack({})")
        if self.chance(0.5):
            self.line(f"{name} = []")
            self.line(f"for {i} in range({self.pick('2', '3', 'n')}):")
            self.line(f"    {name}.append({self.smooth(f'{a} * (0.3 * {i} + {self.scalar(0)})')})")
        else:
            self.line(f"{name} = [{a}, {self.array((N,), 1)}, {a}[::-1] * {self.scalar(0)}]")
        self.line(f"{out} = {how.format(name)}.{self.pick('sum(axis=0)', 'mean(axis=0)', 'max(axis=0)')}")
        self.scope.arrays[out] = (N,)
        return True

    def dict_operations(self, budget: int) -> bool:
        name = self.new("d")
        self.line(f"{name} = {{'u': {self.scalar(1)}, 'v': {self.scalar(0)}}}")
        for _ in range(self.random.randrange(1, 5)):
            v = self.scalar(0)
            self.line(
                self.pick(
                    f"{name}['w'] = {v} * {name}['u']",
                    f"{name}['u'] {self.pick('+=', '*=', '-=')} np.sin({v})",
                    f"{name}.update(u={v}, q={self.scalar(0)})",
                    f"{name}.update({{'v': {v}}})",
                    f"{name}.setdefault('z', {v})",
                    f"{name}.setdefault('u', {v})",
                    f"{name} = {name} | {{'r': {v}}}",
                    f"{name} |= {{'v': {v}}}",
                    f"{name} = {{**{name}, 'u': {v}}}",
                    f"{name} = dict({name}, u={v})",
                    f"{name}['k'] = {name}.get('k', {v}) * 0.5",
                    f"{name}['v'] = {name}.pop('u') * {v}; {name}['u'] = 0.5",
                    f"{name} = {{k: w * {v} for k, w in {name}.items()}}",
                    f"{name} = {{k: w for k, w in {name}.items() if k != 'q'}}",
                    f"{name}['e'] = 1.0; del {name}['e']",
                )
            )
        self.result(
            self.pick(
                f"sum({name}.values())",
                f"{name}['u'] * {name}['v']",
                f"sum(len(k) * w for k, w in {name}.items())",
                f"sum([{name}[k] * (j + 1) for j, k in enumerate(sorted({name}))])",
                f"{name}.get('w', {self.scalar(0)}) + {name}['v']",
            )
        )
        return True

    def dict_of_arrays(self, budget: int) -> bool:
        """Parameters as people keep them; stores go through to the array."""
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        name, k = self.new("p"), self.new("k")
        self.line(f"{name} = {{'w': {a}, 'b': {b} * {self.scalar(0)}, 'c': {self.scalar(0)}}}")
        for _ in range(self.random.randrange(1, 3)):
            self.line(
                self.pick(
                    f"{name}['w'][{self.pick('0', '1:', '-1')}] {self.pick('=', '+=')} {self.scalar(0)}",
                    f"{name}['b'] *= np.sin({self.scalar(0)})",
                    f"{name}['w'] = {name}['w'] + {name}['c'] * {name}['b']",
                    f"{name}['w'] -= 0.1 * {name}['b']",
                )
            )
        if self.chance(0.3):
            self.line(f"for {k} in ('w', 'b'):")
            self.line(f"    {name}[{k}] = np.tanh({name}[{k}] * 0.7 + 0.1)")
        self.result(self.pick(f"np.sum({name}['w'] * {name}['b'])", f"np.sum({name}['w']) * {name}['c'] + np.sum({a})"))
        return True

    def dict_in_loop(self, budget: int) -> bool:
        """State in a dict that a loop updates."""
        name, i = self.new("d"), self.new("i")
        self.line(f"{name} = {{'p': {self.scalar(0)}, 'q': 0.0, 'n': 0}}")
        self.line(f"for {i} in {self.trips()}:")
        self.line(f"    {name}['p'] = np.sin({name}['p'] + {self.scalar(0)} * {i})")
        self.line(f"    {name}['q'] += {name}['p'] * {self.pick('0.5', name + '[' + repr('p') + ']')}")
        if self.chance(0.5):
            self.line(f"    if {name}['q'] > {self.pick('0.3', '0.8', '-0.2')}:")
            self.line(f"        {self.pick('break', 'continue', name + '[' + repr('q') + '] *= 0.5')}")
        self.line(f"    {name}['n'] += 1")
        self.result(f"{name}['q'] * (1 + {name}['n']) + {name}['p']")
        return True

    def numbered_keys(self, budget: int) -> bool:
        """Keys made in a loop: f"w{i}"."""
        name, i, t = self.new("p"), self.new("i"), self.new("t")
        if self.chance(0.5):
            self.line(f"{name} = {{f'w{{k}}': {self.scalar(0)} * (k + 1) for k in range(3)}}")
        else:
            self.line(f"{name} = {{}}")
            self.line(f"for {i} in range(3):")
            self.line(f"    {name}[f'w{{{i}}}'] = np.cos({self.scalar(0)} + {i})")
        self.line(f"{t} = {self.scalar(0)}")
        self.line(f"for {i} in range(3):")
        self.line(f"    {t} = np.tanh({t} * {name}[f'w{{{i}}}'] + 0.3)")
        self.scope.scalars.append(t)
        return True

    def sets(self, budget: int) -> bool:
        name, i, t = self.new("chosen"), self.new("i"), self.new("t")
        self.line(
            f"{name} = {self.pick('{0, 2}', 'set([1, 2])', '{k * 2 for k in range(2)}', 'frozenset((0, 1)) | {2}')}"
        )
        self.line(f"{t} = {self.scalar(0)}")
        if self.chance(0.5):
            self.line(f"for {i} in sorted({name}):")
            self.line(f"    {t} = np.sin({t} + {i} * {self.scalar(0)})")
        else:
            self.line(f"for {i} in range(3):")
            self.line(f"    if {i} {self.pick('in', 'not in')} {name}:")
            self.line(f"        {t} += np.cos({self.scalar(0)} * {i})")
        self.scope.scalars.append(t)
        return True

    def filtered_comprehension(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        v, k = self.new("v"), self.new("k")
        item = self.pick(f"{v} * {v}", f"np.sin({v}) * {self.scalar(0)}", f"{v} * {a}[0]")
        loops = self.pick(
            f"for {v} in {a} if {v} > {self.pick('0', '0.2')}",
            f"for {k}, {v} in enumerate({a}) if {k} % 2 == 0",
            f"for {v} in {a}[1:] if {v} > 0 if {v} < 1.5",
            f"for {k} in range(n) if ({v} := {a}[{k}]) > -0.5",
        )
        self.result(
            self.pick(
                f"sum([{item} {loops}])",
                f"sum({item} {loops})",
                f"max([{item} {loops}], default=0.5)",
                f"sum(list({item} {loops}))",
                f"len([{v} {loops}]) * {self.scalar(0)}",
            )
        )
        return True

    def nested_comprehension(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        self.result(
            self.pick(
                f"sum(u * v for u in {a} for v in {a}[:2]) * 0.2",
                f"sum([sum([u * v for v in {a}]) for u in {a}]) * 0.1",
                f"np.sum(np.array([[u * v + {self.scalar(0)} for v in {a}] for u in {a}[:2]])) * 0.1",
                f"sum({a}[i] * {a}[j] for i in range(3) for j in range(i)) * 0.5",
                f"sum({{k: {a}[k] * {self.scalar(0)} for k in range(3)}}.values())",
                f"sum(w * v for w, v in zip([0.5, {self.scalar(0)}, 1.5], {a}))",
                f"sum(map(lambda v: v * {self.scalar(0)}, {a}))",
                f"sum(abs(v) for v in {a} if v > {self.scalar(0)})",
            )
        )
        return True

    def iteration_tools(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        v, t = self.new("v"), self.new("t")
        form = self.random.randrange(7)
        if form == 0:
            self.define("import functools")
            self.result(f"functools.reduce(lambda p, q: np.sin(p * 0.5 + q), {a}{self.pick('', ', 0.3')})")
        elif form == 1:
            self.result(f"sum(map(lambda p, q: p * q * {self.scalar(0)}, {a}, {a}[::-1]))")
        elif form == 2:
            self.define("import itertools")
            self.result(
                f"sum({a}[i] * {a}[j] for i, j in itertools.{self.pick('combinations', 'permutations')}(range(3), 2)) * 0.3"
            )
        elif form == 3:
            self.define("import itertools")
            self.line(f"{t} = 0.0")
            self.line(f"for {v} in itertools.accumulate([{self.scalar(0)}, {self.scalar(0)}, {a}[0]]):")
            self.line(f"    {t} = np.cos({t} + {v})")
            self.scope.scalars.append(t)
        elif form == 4:
            self.line(f"{t} = {self.scalar(0)}")
            self.line(f"for k, ({v}, w) in enumerate(zip({a}, {self.pick(a + '[1:]', 'reversed(' + a + ')', a)})):")
            self.line(f"    {t} += np.sin({v} * w) * (k + 1) * 0.2")
            self.scope.scalars.append(t)
        elif form == 5:
            self.result(
                f"sum(filter(lambda v: v > {self.pick('0', '0.3')}, {a}))"
                if self.chance(0.5)
                else f"sum({a}, {self.scalar(0)})"
            )
        else:
            self.result(f"({self.scalar(0)} if any(v > 1.0 for v in {a}) else {self.scalar(0)}) * {a}[0]")
        return True

    def sorting(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        self.result(
            self.pick(
                f"sum(v * (k + 1) for k, v in enumerate(sorted({a}))) * 0.2",
                f"sorted([{self.scalar(0)} * 1.0, {a}[0], {a}[1]], reverse=True)[0]",
                f"max({a}, key=lambda v: {self.pick('-v', 'v * v', 'abs(v - 0.3)')})",
                f"np.sort({a})[{self.pick('0', '1:', '-1')}].sum() * 1.5",
                f"np.sum({a}[np.argsort({a})] * np.arange(n)) * 0.3",
                f"{a}[np.argmax({a})] * {a}[int(np.argmin({a}))]",
                f"sum([w for _, w in sorted(zip([2, 0, 1], {a}))][:2])",
                f"min(({a}[k] for k in range(3)))",
            )
        )
        return True

    def named_tuple(self, budget: int) -> bool:
        self.define("from collections import namedtuple\n\nPair = namedtuple('Pair', 'u v')")
        p = self.new("p")
        self.line(f"{p} = Pair({self.scalar(1)}, v={self.scalar(0)})")
        if self.loops or self.chance(0.5):
            self.line(f"{p} = {p}._replace(u={p}.v * {self.scalar(0)})")
        else:
            i = self.new("i")
            self.line(f"for {i} in range(3):")
            self.line(f"    {p} = Pair(np.sin({p}.v + 0.2 * {i}), {p}.u * 0.5)")
        self.result(self.pick(f"{p}.u * {p}.v", f"sum({p})", f"{p}[0] - {p}[-1]"))
        return True

    def unpacking(self, budget: int) -> bool:
        a, b, c = self.new("t"), self.new("t"), self.new("t")
        text = self.pick(
            f"{a}, *{b}, {c} = [{self.scalar(0)}, {self.scalar(0)}, {self.scalar(0)}, {self.scalar(0)}]",
            f"({a}, *{b}), {c} = ({self.scalar(0)}, {self.scalar(0)}, {self.scalar(0)}), {self.scalar(0)}",
            f"{a}, {c}, *{b} = ({self.scalar(0)}, {self.scalar(0)}, {self.scalar(0)})",
            f"{a}, *{b}, {c} = [*[{self.scalar(0)}, {self.scalar(0)}], *({self.scalar(0)}, 0.5)]",
        )
        self.line(text)
        self.scope.scalars += [a, c]
        self.result(f"sum({b}) * {a}")
        return True

    def stack_machine(self, budget: int) -> bool:
        """A stack of values, pushed and popped."""
        name, i = self.new("stack"), self.new("i")
        self.line(f"{name} = [{self.scalar(0)}, {self.scalar(0)}]")
        self.line(f"for {i} in range({self.pick('3', 'n', '4')}):")
        if self.chance(0.5):
            self.line(f"    {name}.append({name}.pop() * {self.scalar(0)} + {name}[0] * 0.3)")
        else:
            self.line(f"    {name}.append(np.sin({name}[-1] + {self.scalar(0)} * {name}[-2]))")
            if self.chance(0.5):
                self.line(f"    if len({name}) > {self.pick('3', '2')}:")
                self.line(f"        {name}.pop({self.pick('0', '')})")
        self.result(self.pick(f"{name}[-1] * {name}[0]", f"sum({name})"))
        return True

    def aliased_list(self, budget: int) -> bool:
        """Two names, or a list and an item of another, for one list."""
        a, b = self.new("xs"), self.new("xs")
        self.line(f"{a} = [{self.scalar(0)}, {self.scalar(0)}]")
        self.line(f"{b} = {self.pick(a, a, f'{a}[:]', f'{a} + []')}")
        for _ in range(2):
            name = self.pick(a, b)
            self.line(
                self.pick(
                    f"{name}.append({self.scalar(0)})",
                    f"{name}[0] = {self.scalar(1)}",
                    f"{name} += [{self.scalar(0)}]",
                    f"{name} = {name} + [{self.scalar(0)}]",
                    f"{name}[-1] *= np.sin({self.scalar(0)})",
                )
            )
        if self.chance(0.3):
            self.line(f"if {self.condition()}:")
            self.line(f"    {b}.append({self.scalar(0)})")
        self.result(f"sum({a}) + {self.constant()} * sum({b}) * len({a})")
        return True
