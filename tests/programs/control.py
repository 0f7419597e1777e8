"""Random programs: exceptions, `with`, `match`, and the other statements."""

from __future__ import annotations

from tests.programs.exotics import Exotics, N


class Control(Exotics):
    def control_forms(self) -> list[str]:
        return [
            "caught_lookup",
            "caught_raise",
            "caught_in_loop",
            "caught_linalg",
            "finally_block",
            "else_of_try",
            "own_exception",
            "checked",
            "crossing",
            "with_errstate",
            "with_own_manager",
            "with_generator",
            "suppressed",
            "match_value",
            "match_sequence",
            "match_mapping",
            "match_class",
            "match_number",
            "walrus",
            "while_else",
            "for_else",
            "conditional_expressions",
            "targets",
            "short_circuits",
            "nested_loops",
            "countdown",
        ]

    def inside(self, budget: int) -> None:
        """Statements one level deeper. Only names that were bound before are kept."""
        before = self.scope.copy()
        self.indent += 1
        self.branches += 1
        self.block(max(1, min(2, budget - 1)))
        self.branches -= 1
        self.indent -= 1
        after, self.scope = self.scope, before
        self.scope.meet(after)

    def caught_lookup(self, budget: int) -> bool:
        """Exceptions that are known when the program is compiled."""
        t = self.new("t")
        table = f"{{'a': {self.scalar(0)}, 'b': {self.scalar(0)}}}"
        risky, error = self.random.choice(
            [
                (
                    f"{table}['{self.pick('a', 'c')}'] * 2.0",
                    self.pick("KeyError", "LookupError", "(KeyError, ValueError)"),
                ),
                (f"[{self.scalar(0)}, 0.5][{self.pick('0', '5')}]", self.pick("IndexError", "Exception")),
                (f"float('{self.pick('0.5', 'x')}') * {self.scalar(0)}", "ValueError"),
                (f"{self.scalar(0)} / {self.pick('0', '2')}", "ZeroDivisionError"),
                (f"(0.5).{self.pick('real', 'missing')} * {self.scalar(0)}", "AttributeError"),
                (f"int('{self.pick('2', 'two')}') * {self.scalar(0)}", "ValueError"),
            ]
        )
        self.line("try:")
        self.line(f"    {t} = {risky}")
        self.line(f"except {error}{self.pick('', ' as error')}:")
        self.line(f"    {t} = {self.scalar(1)}")
        self.scope.scalars.append(t)
        return True

    def caught_raise(self, budget: int) -> bool:
        """An exception that is raised or not, depending on values."""
        t = self.new("t")
        self.line("try:")
        self.line(f"    if {self.condition()}:")
        self.line(f"        raise {self.pick('ValueError', 'ValueError(' + repr('no') + ')', 'KeyError(3)')}")
        self.line(f"    {t} = {self.scalar(1)}")
        self.line(f"except {self.pick('(ValueError, KeyError)', 'Exception', 'Exception as error')}:")
        self.line(f"    {t} = {self.scalar(1)}")
        if self.chance(0.3):
            self.line("else:")
            self.line(f"    {t} = {t} * {self.scalar(0)}")
        if self.chance(0.3):
            self.line("finally:")
            self.line(f"    {self.pick('n = n', 'done = True')}")
        self.scope.scalars.append(t)
        return True

    def caught_in_loop(self, budget: int) -> bool:
        i, t = self.new("i"), self.new("t")
        a = self.vector()
        if a is None:
            return False
        self.line(f"{t} = {self.scalar(0)}")
        self.line(f"for {i} in range({self.pick('n', 'n + 2', '5')}):")
        self.line("    try:")
        self.line(f"        {t} += np.sin({a}[{i}]) * 0.5")
        self.line("    except IndexError:")
        self.line(f"        {self.pick('break', 'continue', 'pass', t + ' *= 0.5')}")
        self.scope.scalars.append(t)
        return True

    def caught_linalg(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        g, low = self.new("g"), self.new("low")
        self.line(f"{g} = np.outer({a}, {a}) + {self.pick('0.0', '-1.0', '2.0')} * np.eye(n)")
        self.line("try:")
        self.line(f"    {low} = np.linalg.cholesky({g})")
        self.line("except np.linalg.LinAlgError:")
        self.line(f"    {low} = np.linalg.cholesky({g} + 4.0 * np.eye(n))")
        self.result(f"np.sum(np.log(np.diag({low})))")
        return True

    def finally_block(self, budget: int) -> bool:
        t, u = self.new("t"), self.new("t")
        self.line(f"{u} = 0.0")
        self.line("try:")
        self.line(f"    {t} = {self.scalar(1)}")
        if not self.in_helper and not self.loops and self.chance(0.3):
            self.line(f"    if {self.condition()}:")
            self.line(f"        return {t} * {self.scalar(0)}")
        elif self.loops and self.chance(0.4):
            self.line(f"    if {self.condition()}:")
            self.line("        break")
        self.line("finally:")
        self.line(f"    {u} = {self.scalar(0)}")
        self.scope.scalars += [t, u]
        return True

    def else_of_try(self, budget: int) -> bool:
        t = self.new("t")
        self.line("try:")
        self.line(f"    k = int('{self.pick('1', '2', 'q')}')")
        self.line("except ValueError:")
        self.line(f"    {t} = {self.scalar(1)}")
        self.line("else:")
        self.line(f"    {t} = {self.scalar(0)} * k")
        self.scope.scalars.append(t)
        return True

    def own_exception(self, budget: int) -> bool:
        """Raised in a helper, caught by its caller."""
        self.define(
            "class Stop(Exception):\n    def __init__(self, value):\n        super().__init__(value)\n        self.value = value\n\n\n"
            "def guarded(v):\n    if v > 0.4:\n        raise Stop(v)\n    return np.sin(v)"
        )
        t = self.new("t")
        self.line("try:")
        self.line(f"    {t} = guarded({self.scalar(1)})")
        self.line(f"except Stop{self.pick('', ' as stop')}:")
        self.line(f"    {t} = {self.scalar(0)}")
        self.scope.scalars.append(t)
        return True

    def checked(self, budget: int) -> bool:
        self.line(
            self.pick(
                f"assert {self.scalar(0)} < 1e9, 'too large'",
                f"if not np.isfinite({self.scalar(0)}):\n{'    ' * (self.indent + 1)}raise ValueError('not finite')",
                f"if n < 1:\n{'    ' * (self.indent + 1)}raise ValueError(f'{{n}} is too small')",
                "assert n > 1",
            )
        )
        return True

    def with_errstate(self, budget: int) -> bool:
        if self.chance(0.3):
            self.define("import contextlib")
        manager = self.pick("np.errstate(all='ignore')", "np.errstate(divide='ignore', invalid='ignore')")
        if any("contextlib" in text for text in self.definitions) and self.chance(0.5):
            manager = "contextlib.nullcontext()"
        a = self.vector()
        self.line(f"with {manager}:")
        if a is not None and self.chance(0.5):
            c = self.new("c")
            self.line(f"    {c} = np.where({a} > 0, np.sqrt(np.abs({a})), {a} * 0.5)")
            self.scope.arrays[c] = (N,)
        else:
            t = self.new("t")
            self.line(f"    {t} = {self.scalar(1)}")
            self.scope.scalars.append(t)
        if self.chance(0.4):
            self.inside(budget)
        return True

    def with_own_manager(self, budget: int) -> bool:
        self.define(
            "class Scaled:\n    def __init__(self, k):\n        self.k = k\n\n    def __enter__(self):\n        self.k = self.k * 0.5\n        return self\n\n"
            "    def __exit__(self, kind, value, trace):\n        self.k = 0.0\n        return False"
        )
        t, w = self.new("t"), self.new("w")
        self.line(f"with Scaled({self.scalar(0)}) as {w}:")
        self.line(f"    {t} = {w}.k * {self.scalar(1)}")
        if self.chance(0.4):
            self.inside(budget)
        self.line(f"{t} = {t} + {w}.k")
        self.scope.scalars.append(t)
        return True

    def crossing(self, budget: int) -> bool:
        """An exception that passes a clean-up on its way to a handler further out."""
        self.define("import contextlib")
        self.define(
            "class Closing:\n    def __init__(self, v, seen):\n        self.v, self.seen = v, seen\n\n"
            "    def __enter__(self):\n        return self.v * 0.5\n\n"
            "    def __exit__(self, kind, error, trace):\n        self.seen.append(np.sin(self.v))\n"
            "        self.v = self.v * 0.5\n        return kind is KeyError"
        )
        self.define(
            "@contextlib.contextmanager\ndef noting(v, seen):\n    try:\n        yield v\n"
            "    finally:\n        seen.append(v * 0.5)"
        )
        t, u, seen = self.new("t"), self.new("t"), self.new("l")
        risky = self.pick(
            "raise ValueError('no')",
            f"{t} = {t} * [0.5, {self.scalar(0)}][{self.pick('1', '7')}]",
            f"{t} = {t} * {{'a': {self.scalar(0)}}}['{self.pick('a', 'b')}']",
            f"{t} = {t} * np.ones(2)[n - {self.pick('1', 'n')}]",
            "",
        )
        risky = risky or f"if {self.condition()}:\n    raise {self.pick('KeyError', 'ValueError')}"
        self.line(f"{t}, {u}, {seen} = {self.scalar(0)}, 0.5, []")
        self.line("try:")
        manager = self.pick("", f"Closing({self.scalar(0)}, {seen})", f"noting({self.scalar(0)}, {seen})")
        self.line(f"    with {manager}:" if manager else "    try:")
        self.line(f"        {t} = {self.scalar(1)}")
        for line in risky.split("\n"):
            self.line(f"        {line}")
        self.line(f"        {u} = {self.scalar(1)}")
        if not manager:
            self.line("    finally:")
            self.line(f"        {self.pick(f'{u} = {u} + {t} * 0.5', f'{seen}.append({t})')}")
        self.line("except (LookupError, ValueError):")
        self.line(f"    {t} = {t} * 0.5")
        self.line(f"{u} = {u} + sum({seen})")
        self.scope.scalars += [t, u]
        return True

    def with_generator(self, budget: int) -> bool:
        self.define("import contextlib")
        self.define("@contextlib.contextmanager\ndef halved(v):\n    yield v * 0.5")
        t, w = self.new("t"), self.new("w")
        self.line(f"with halved({self.scalar(0)}) as {w}:")
        self.line(f"    {t} = np.sin({w}) * {self.scalar(0)}")
        self.scope.scalars.append(t)
        return True

    def suppressed(self, budget: int) -> bool:
        self.define("import contextlib")
        t = self.new("t")
        self.line(f"{t} = {self.scalar(0)}")
        self.line("with contextlib.suppress(KeyError, ValueError):")
        if self.chance(0.5):
            self.line(f"    if {self.condition()}:")
            self.line("        raise ValueError")
        else:
            self.line(f"    k = {{'a': 1}}['{self.pick('a', 'b')}']")
        if self.chance(0.5):
            self.line(f"    {t} = {self.scalar(1)}")
        self.scope.scalars.append(t)
        return True

    def match_value(self, budget: int) -> bool:
        t = self.new("t")
        counters = list(self.scope.ints)
        subject = (
            f"{self.random.choice(counters)} % 3"
            if counters and self.chance(0.6)
            else self.pick("'sum'", "'mean'", "n % 3", "len(y)")
        )
        text = "'" in subject
        self.line(f"match {subject}:")
        for case in ["'sum'", "'mean' | 'max'"] if text else ["0", "1 | 4", f"k if k > {self.pick('2', '5')}"]:
            self.line(f"    case {case}:")
            self.line(f"        {t} = {self.scalar(1)}")
        self.line(f"    case {self.pick('_', 'other')}:")
        self.line(f"        {t} = {self.scalar(1)}")
        self.scope.scalars.append(t)
        return True

    def match_sequence(self, budget: int) -> bool:
        t = self.new("t")
        subject = self.pick(
            f"({self.scalar(0)}, {self.scalar(0)})",
            f"[{self.scalar(0)}, {self.scalar(0)}, 0.5]",
            f"('add', {self.scalar(0)})",
            f"({self.scalar(0)}, ({self.scalar(0)}, 2.0))",
        )
        self.line(f"match {subject}:")
        self.line("    case ('add', v):")
        self.line(f"        {t} = v * {self.scalar(0)}")
        self.line("    case (u, (v, w)):")
        self.line(f"        {t} = u * v + w")
        self.line(f"    case [u, v]{self.pick('', ' if u > v', ' if u > 0.2')}:")
        self.line(f"        {t} = u * v")
        self.line("    case [u, *rest]:")
        self.line(f"        {t} = u + sum(rest{self.pick('', '[1:]')})")
        self.line("    case _:")
        self.line(f"        {t} = 0.5")
        self.scope.scalars.append(t)
        return True

    def match_mapping(self, budget: int) -> bool:
        t = self.new("t")
        self.line(f"match {{'kind': '{self.pick('a', 'b')}', 'v': {self.scalar(0)}, 'w': {self.scalar(0)}}}:")
        self.line("    case {'kind': 'a', 'v': v}:")
        self.line(f"        {t} = v * {self.scalar(0)}")
        self.line("    case {'w': w, **rest}:")
        self.line(f"        {t} = w * rest['v'] + len(rest)")
        self.scope.scalars.append(t)
        return True

    def match_class(self, budget: int) -> bool:
        self.define("import dataclasses")
        self.define(
            "@dataclasses.dataclass\nclass Circle:\n    r: float\n\n\n@dataclasses.dataclass\nclass Box2:\n    w: float\n    h: float = 0.5"
        )
        t = self.new("t")
        self.line(
            f"match {self.pick(f'Circle({self.scalar(0)})', f'Box2({self.scalar(0)}, h={self.scalar(0)})', self.scalar(0) + ' * 1.0')}:"
        )
        self.line("    case Circle(r):")
        self.line(f"        {t} = r * r * {self.scalar(0)}")
        self.line("    case Box2(w=w, h=h):")
        self.line(f"        {t} = w * h")
        self.line("    case _:")
        self.line(f"        {t} = {self.scalar(0)}")
        self.scope.scalars.append(t)
        return True

    def match_number(self, budget: int) -> bool:
        """Guards that depend on values."""
        t = self.new("t")
        self.line(f"match {self.scalar(1)}:")
        self.line(f"    case v if v > {self.pick('0.5', '0.0')}:")
        self.line(f"        {t} = v * {self.scalar(0)}")
        self.line(f"    case v if {self.condition()}:")
        self.line(f"        {t} = np.cos(v)")
        self.line(f"    case {self.pick('_', 'float()', 'v')}:")
        self.line(f"        {t} = {self.scalar(0)}")
        if self.lines[-2].endswith("case float():"):
            self.line("    case _:")
            self.line(f"        {t} = 0.1")
        self.scope.scalars.append(t)
        return True

    def walrus(self, budget: int) -> bool:
        v, t = self.new("v"), self.new("t")
        form = self.random.randrange(4)
        if form == 0:
            self.line(f"if ({v} := {self.scalar(1)}) > {self.pick('0', '0.3')}:")
            self.line(f"    {t} = {v} * {self.scalar(0)}")
            self.line("else:")
            self.line(f"    {t} = np.sin({v})")
            self.scope.scalars.append(t)
        elif form == 1:
            self.result(f"({v} := {self.scalar(1)}) * {v} + np.cos({v})")
        elif form == 2:
            k = self.new("k")
            self.line(f"{k} = 0")
            self.line(f"{t} = {self.scalar(0)}")
            self.line(f"while ({v} := np.sin({t} + {k})) < 0.9 and {k} < 3:")
            self.line(f"    {t} += {v} * 0.5")
            self.line(f"    {k} += 1")
            self.scope.scalars.append(t)
            return True
        else:
            a = self.vector() or "y"
            self.result(f"sum([{v} * {v} for w in {a} if ({v} := w * {self.scalar(0)}) > -0.5])")
            return True
        self.scope.scalars.append(v)
        return True

    def while_else(self, budget: int) -> bool:
        k, t = self.new("k"), self.new("t")
        self.line(f"{k}, {t} = 0, {self.scalar(0)}")
        self.line(f"while {k} < {self.pick('3', 'n')}:")
        self.line(f"    {t} = np.sin({t} + {self.scalar(0)})")
        self.line(f"    if {t} > {self.pick('0.7', '0.2', '2')}:")
        self.line("        break")
        self.line(f"    {k} += 1")
        self.line("else:")
        self.line(f"    {t} = {t} * {self.scalar(0)}")
        self.scope.scalars.append(t)
        return True

    def for_else(self, budget: int) -> bool:
        a = self.vector() or "y"
        v, t = self.new("v"), self.new("t")
        self.line(f"for {v} in {a}:")
        self.line(f"    if {v} > {self.pick('0.5', '-0.3', '3')}:")
        self.line(f"        {t} = {v} * {self.scalar(0)}")
        self.line("        break")
        self.line("else:")
        self.line(f"    {t} = {self.scalar(0)}{self.pick('', ' + ' + v)}")
        self.scope.scalars.append(t)
        return True

    def conditional_expressions(self, budget: int) -> bool:
        a = self.vector() or "y"
        self.result(
            self.pick(
                f"({a}[0] if {self.condition()} else {a}[1] if {self.condition()} else {self.scalar(0)})",
                f"{a}[0 if {self.condition()} else -1] * {self.scalar(0)}",
                f"(np.sin if {self.condition()} else np.cos)({self.scalar(0)})",
                f"np.sum({a} if {self.condition()} else {a} * {self.scalar(0)})",
                f"np.sum({a}[1 if {self.condition()} else 0:])",
                f"max({self.scalar(0)} if {self.condition()} else 0.5, {self.scalar(0)})",
                f"(lambda v: v * 2 if v > 0 else v * 3)({self.scalar(0)})",
            )
        )
        return True

    def targets(self, budget: int) -> bool:
        """Assignment to several places, deletion, annotation."""
        a = self.vector()
        if a is None:
            return False
        t, u = self.new("t"), self.new("t")
        c = self.new("c")
        self.line(f"{c} = {a} * 1.0")
        self.line(
            self.pick(
                f"{t} = {u} = {c}[0] = {self.scalar(0)}",
                f"{t}, {u} = {c}[0], {c}[1] = {self.scalar(0)}, {self.scalar(0)}",
                f"({t}, {c}[1]), {u} = ({self.scalar(0)}, {self.scalar(0)}), 0.5",
                f"{t}: float = {self.scalar(0)}; {u} = {t} * {c}[-1]",
                f"{t} = {self.scalar(0)}; {u} = {t}; {t} += 1.0",
                f"{c}[0], {c}[1] = {c}[1], {c}[0]; {t} = {u} = {c}[0]",
                f"{t}, {u} = {c}[:2]; {c}[:2] = 0.5",
                f"{t}, {u}, *_ = {c}; del _",
            )
        )
        self.scope.scalars += [t, u]
        self.scope.arrays[c] = (N,)
        return True

    def short_circuits(self, budget: int) -> bool:
        self.result(
            self.pick(
                f"({self.scalar(0)} > 0 and {self.scalar(1)} * 2.0) + 0.5",
                f"({self.scalar(0)} or 1.0) * {self.scalar(0)}",
                f"(({self.condition()}) and {self.scalar(0)} or {self.scalar(0)})",
                f"(not {self.scalar(0)}) + {self.scalar(0)}",
                f"({self.scalar(0)} if n > 4 and {self.condition()} else {self.scalar(0)} * 2)",
                f"bool({self.scalar(0)}) * {self.scalar(0)}",
                f"(None or {self.scalar(0)}) * ([] or [{self.scalar(0)}])[0]",
            )
        )
        return True

    def nested_loops(self, budget: int) -> bool:
        """A triangle of loops with exits."""
        a = self.vector()
        if a is None:
            return False
        i, j, t = self.new("i"), self.new("j"), self.new("t")
        self.line(f"{t} = {self.scalar(0)}")
        self.line(f"for {i} in range({self.pick('3', 'n')}):")
        if self.chance(0.4):
            self.line(f"    if {a}[{i}] < {self.pick('-1', '-0.5')}:")
            self.line("        continue")
        self.line(f"    for {j} in range({self.pick(i, f'{i} + 1', '3')}):")
        self.line(f"        if {t} > {self.pick('1.5', '0.8')}:")
        self.line(f"            {self.pick('break', 'continue', f'{t} = {t} * 0.5')}")
        self.line(f"        {t} += {a}[{i}] * {a}[{j}] * 0.3")
        if self.chance(0.4):
            self.line(f"        {a}[{j}] = np.sin({t})")
        if self.chance(0.3) and not self.in_helper and not self.loops:
            self.line(f"    if {t} < {self.pick('-1', '-0.4')}:")
            self.line(f"        return {t} * {self.scalar(0)}")
        self.scope.scalars.append(t)
        return True

    def countdown(self, budget: int) -> bool:
        """A while loop over two moving ends."""
        a = self.vector()
        if a is None:
            return False
        i, j = self.new("lo"), self.new("hi")
        self.line(f"{i}, {j} = 0, n - 1")
        self.line(f"while {i} < {j}:")
        self.line(f"    {a}[{i}], {a}[{j}] = {a}[{j}] * {self.scalar(0)}, {a}[{i}]")
        self.line(f"    {i} += 1")
        if self.chance(0.4):
            self.line(f"    if {a}[{i}] > {self.pick('0.5', '0')}:")
            self.line("        continue")
        self.line(f"    {j} -= 1")
        self.result(f"np.sum({a}) * {a}[0]")
        return True
