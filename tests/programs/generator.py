"""Whole random programs as source text, to attack the compiler with.

``generate(seed, level)`` gives the text of a function ``f(x, y, s)`` and its helpers: `x` and `y` are float arrays,
`s` is a float, the result is a float. The same seed and level always give the same text. In every fourth program `x`
has two axes.

Levels: 0 straight-line code; 1 adds branches and loops; 2 adds stores, ``break``, ``while`` and helpers; 3 adds views,
aliases, swaps, lists, closures and kernels that mutate their arguments; 4 adds the rest of the language. A program of
level 4 uses a few of its forms, and uses them often.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.programs.border import Border
from tests.programs.containers import Containers
from tests.programs.control import Control
from tests.programs.effects import Effects
from tests.programs.expressions import Helper, Int, M, N, Scope, Shape
from tests.programs.functions import Functions
from tests.programs.keys import Keys
from tests.programs.layouts import Layouts
from tests.programs.objects import Objects

LEVELS = 5
# How f takes its arguments, other than one by one: (parameters, what binds x, y and s, pack's result, unpack's result).
PACKED = [
    ("p", "x, y, s = p['x'], p['y'], p['s']", "({'x': x, 's': s, 'y': y},)", "(g[0]['x'], g[0]['y'], g[0]['s'])"),
    ("p", "x, (y, s) = p", "([x, (y, s)],)", "(g[0][0], g[0][1][0], g[0][1][1])"),
    ("q, s", "x, y = q", "((x, y), s)", "(g[0][0], g[0][1], g[1])"),
    ("y, *rest", "s, x = rest", "(y, s, x)", "(g[2], g[0], g[1])"),
    ("p, s", "x, y = p.x, p.y", "(Parts(x, y), s)", "(g[0].x, g[0].y, g[1])"),
    ("p, s", "x, y = p.x, p.y", "(Held(x, y), s)", "(g[0].x, g[0].y, g[1])"),
    # Other layouts: Fortran order, negative strides, gaps, one buffer, a part that is another argument as well.
    ("x, y, s", "", "(np.asfortranarray(x), y[::-1][::-1], s)", "g"),
    ("x, y, s", "y = y[::-1]", "(np.repeat(x, 2, -1)[..., ::2], y[::-1], s)", "(g[0], g[1][::-1], g[2])"),
    ("x, y, s", "", "(x.T.copy().T, np.stack([y, y], 1)[:, 1], s)", "g"),
    (
        "x, y, s",
        "",
        "(*[part.reshape(np.shape(like)) for part, like in zip(np.split(np.append(x, y), [x.size]), (x, y))], s)",
        "g",
    ),
    (
        "x, z, y, s",
        "x = x * np.cos(z)[0]",
        "(x, x[:1], y, s)",
        "(g[0] + np.concatenate([g[1], 0 * g[0][1:]]), g[2], g[3])",
    ),
]
PARTS = "from collections import namedtuple\n\nParts = namedtuple('Parts', 'x y')"
HELD = (
    "import dataclasses\n\n\n@dataclasses.dataclass\nclass Held:\n    x: object\n    y: object\n    name: str = 'held'"
)


class Generator(Border, Containers, Control, Effects, Functions, Keys, Layouts, Objects):
    """Writes random statements and functions."""

    def forms_of_interest(self) -> list[str]:
        """A few forms that this program uses often. So they meet each other, and a refused form does not hide all others."""
        families = [
            self.container_forms(), self.control_forms(), self.function_forms(), self.number_forms(),
            self.memory_forms(), self.object_forms(), self.border_forms(), self.layout_forms(), self.effect_forms(),
            self.key_forms(),
        ]  # fmt: skip
        forms = []
        for family in self.random.sample(families, self.random.randrange(1, 4)):
            forms += self.random.sample(family, self.random.randrange(1, 3))
        return forms

    def special(self, budget: int) -> int:
        form = getattr(self, self.random.choice(self.interest))
        if self.line_count() > 60 or not form(budget):
            return self.assign_scalar()
        return 1

    def line_count(self) -> int:
        return len(self.lines)

    # Statements ------------------------------------------------------------------------------------

    def block(self, budget: int) -> None:
        start = len(self.lines)
        while budget > 0:
            budget -= self.statement(budget)
        if len(self.lines) == start:
            self.line("pass")

    def statement(self, budget: int) -> int:
        level = self.level
        options: list[tuple[float, Callable[[], int]]] = [(3, self.assign_scalar), (3, self.assign_array)]
        deep = self.indent >= 4
        if level >= 1 and budget >= 3 and not deep:
            options += [(2, lambda: self.if_(budget)), (2.5, lambda: self.for_(budget))]
        if level >= 1:
            options += [(1, self.augment_scalar)]
        if level >= 2:
            options += [(4, self.store), (1, self.augment_array), (0.7, self.call_statement), (0.4, self.tuples)]
            if budget >= 3 and not deep:
                options.append((0.7, lambda: self.while_(budget)))
            if self.loops:
                options.append((0.8, self.leave))
            if not self.in_helper and self.chance(0.25):
                options.append((0.6, self.early_return))
        if level >= 3:
            options += [(1.2, self.view), (0.5, self.swap), (0.6, self.lists), (0.3, self.closure)]
            options.append((1.0, lambda: self.exotic(budget)))
        if level >= 4:
            options.append((12.0, lambda: self.special(budget)))
        return self.random.choices([f for _, f in options], [w for w, _ in options])[0]()

    def assign_scalar(self) -> int:
        value = self.tame(self.scalar(2))
        if self.scope.scalars and self.chance(0.4):
            name = self.random.choice(self.scope.scalars)
        else:
            name = self.new("t")
        self.line(f"{name} = {value}")
        if name not in self.scope.scalars:
            self.scope.scalars.append(name)
        return 1

    def augment_scalar(self) -> int:
        if not self.scope.scalars:
            return self.assign_scalar()
        name = self.random.choice(self.scope.scalars)
        self.line(f"{name} {self.pick('+=', '-=', '*=')} {self.pick('np.tanh', 'np.sin')}({self.scalar(1)})")
        return 1

    def assign_array(self) -> int:
        name = self.array_name()
        if name is None:
            return self.assign_scalar()
        shape = self.scope.arrays[name]
        value = self.tame(self.array(shape, 2))
        reuse = self.chance(0.4)
        if not reuse:
            name = self.new("a")
        if self.level < 3 or self.branches or self.loops or value in self.scope.arrays:
            # A bare name or view would be an alias on some paths only, which the compiler may refuse.
            value = f"1.0 * ({value})" if self.chance(0.8) else f"({value}).copy()"
        self.line(f"{name} = {value}")
        self.scope.arrays[name] = shape
        return 1

    def store(self) -> int:
        name = self.array_name()
        if name is None:
            return self.assign_scalar()
        shape = self.scope.arrays[name]
        roll = self.random.random()
        if roll < 0.45:
            target, value = self.element(name), self.scalar(2)
        elif roll < 0.85:
            target, part = self.section(name)
            value = self.array(part, 2) if self.chance(0.8) else self.scalar(1)
        elif roll < 0.9 and len(shape) == 1:
            target, value = f"{name}[{name} > {self.pick('0', '0.3')}]", self.scalar(1)
        elif roll < 0.94 and shape == (N,):
            target, value = f"{name}[np.array([0, {self.pick('0', '1', '2')}])]", self.scalar(1)
        elif roll < 0.97 and shape == (N,):
            self.line(f"np.add.at({name}, np.array([0, {self.pick('0', '2')}, 1]), {self.scalar(1)})")
            return 1
        else:
            target, value = f"{name}[...]", self.tame(self.array(shape, 1))
        op = "=" if self.chance(0.65) else self.pick("+=", "-=", "*=")
        if op == "*=":
            value = f"np.sin({value})"
        self.line(f"{target} {op} {self.tame(value)}")
        return 1

    def augment_array(self) -> int:
        name = self.array_name()
        if name is None:
            return self.assign_scalar()
        value = self.array(self.scope.arrays[name], 1) if self.chance(0.7) else self.scalar(1)
        self.line(f"{name} {self.pick('+=', '-=', '*=')} np.tanh({value})")
        return 1

    def view(self) -> int:
        name = self.array_name()
        if name is None:
            return self.assign_scalar()
        shape = self.scope.arrays[name]
        roll = self.random.random()
        if roll < 0.25:
            text, part = name, shape
        elif roll < 0.35 and len(shape) == 2:
            text, part = f"{name}.T", (shape[1], shape[0])
        else:
            text, part = self.section(name)
        target = self.new("z")
        self.line(f"{target} = {text}")
        self.scope.arrays[target] = part
        if self.chance(0.5):
            self.line(f"{self.element(target)} {self.pick('=', '+=')} {self.tame(self.scalar(1))}")
        return 1

    def swap(self) -> int:
        name = self.array_name()
        names = self.arrays_of(self.scope.arrays[name]) if name else []
        if len(names) >= 2 and self.chance(0.7):
            a, b = self.random.sample(names, 2)
        elif len(self.scope.scalars) >= 2:
            a, b = self.random.sample(self.scope.scalars, 2)
        else:
            return self.assign_scalar()
        self.line(f"{a}, {b} = {b}, {a}")
        return 1

    def tuples(self) -> int:
        pair = self.new("p")
        a, b = self.new("t"), self.new("t")
        first, second = self.scalar(1), self.scalar(1)
        if self.chance(0.5):
            self.line(f"{a}, {b} = {first}, {second}")
        else:
            self.line(f"{pair} = ({first}, ({second}, {self.scalar(0)}))")
            self.line(f"{a}, ({b}, _) = {pair}" if self.chance(0.5) else f"{a}, {b} = {pair}[0], {pair}[1][-1]")
        self.scope.scalars += [a, b]
        return 1

    def lists(self) -> int:
        if not self.scope.lists or self.chance(0.2):
            name = self.new("items")
            first = self.scalar(1)
            self.line(f"{name} = [{first}]")
            self.scope.lists.append(name)
            return 1
        name = self.random.choice(self.scope.lists)
        roll = self.random.random()
        if roll < 0.55:
            self.line(f"{name}.append({self.tame(self.scalar(1))})")
        else:
            target = self.new("t")
            uses = (f"sum({name})", f"{name}[-1]", f"{name}[0] * {name}[-1]", f"sum({name}) / len({name})")
            self.line(f"{target} = {self.pick(*uses)}")
            self.scope.scalars.append(target)
        return 1

    def closure(self) -> int:
        name = self.new("g")
        if self.chance(0.5):
            self.line(f"{name} = lambda v: {self.smooth('v * ' + self.scalar(0))}")
        else:
            value = self.scalar(0)
            self.line(f"def {name}(v):")
            self.line(f"    if v > {self.pick('0', '0.3')}:")
            self.line(f"        return v * {value}")
            self.line("    return np.sin(v)")
        self.scope.functions.append(name)
        return 1

    def call_statement(self) -> int:
        usable = [h for h in self.helpers if self.arrays_of(h.shape) and (h.returns != "none" or self.level >= 3)]
        if not usable or len(self.loops) > 1:
            return self.store()
        helper = self.random.choice(usable)
        text = self.call(helper, 1)
        if helper.returns == "none":
            self.line(text)
        elif helper.returns == "scalar":
            name = self.new("t")
            self.line(f"{name} = {text}")
            self.scope.scalars.append(name)
        elif helper.returns == "array":
            name = self.new("a")
            self.line(f"{name} = {text}")
            self.scope.arrays[name] = helper.shape
        else:
            name, other = self.new("a"), self.new("t")
            self.line(f"{name}, {other} = {text}")
            self.scope.arrays[name] = helper.shape
            self.scope.scalars.append(other)
        return 1

    def leave(self) -> int:
        self.line(f"if {self.condition()}:")
        if self.chance(0.4):
            self.indent += 1
            saved = self.scope.copy()
            self.augment_scalar()
            self.scope = saved
            self.indent -= 1
        self.line(f"    {self.pick('break', 'continue')}" if self.loops[-1] == "for" else "    break")
        return 1

    def early_return(self) -> int:
        self.line(f"if {self.condition()}:")
        self.line(f"    return {self.scalar(2)}")
        return 1

    def if_(self, budget: int) -> int:
        inside = max(1, min(budget - 1, self.random.randrange(1, 4)))
        self.line(f"if {self.condition()}:")
        before = self.scope.copy()
        ends: list[Scope] = []

        def branch() -> None:
            self.scope = before.copy()
            self.indent += 1
            self.branches += 1
            self.block(inside)
            self.branches -= 1
            self.indent -= 1
            ends.append(self.scope)

        branch()
        used = inside
        if self.chance(0.25):
            self.scope = before.copy()
            self.line(f"elif {self.condition()}:")
            branch()
            used += inside
        if self.chance(0.6):
            self.line("else:")
            branch()
            used += inside
        else:
            ends.append(before)
        self.scope = ends[0]
        for end in ends[1:]:
            self.scope.meet(end)
        return used + 1

    def for_(self, budget: int) -> int:
        inside = max(1, min(budget - 1, self.random.randrange(1, 5)))
        i = self.new("i")
        before = self.scope.copy()
        name = self.array_name(1)
        roll = self.random.random()
        runs = False  # surely at least once
        if roll < 0.25:
            trips = self.random.randrange(1, 4)
            self.line(f"for {i} in range({trips}):")
            self.scope.ints[i] = Int(0, "", trips - 1)
            runs = True
        elif roll < 0.75:
            base = self.pick("n", "n", "m") if any(d == M for s in self.scope.arrays.values() for d in s) else "n"
            lo = self.random.randrange(0, 3)
            off = self.random.randrange(0, 2)
            stop = f"{base} - {off}" if off else base
            form = self.random.randrange(5)
            if form == 0:
                self.line(f"for {i} in range({stop} - 1, {lo - 1}, -1):")
            elif form == 1:
                self.line(f"for {i} in reversed(range({lo}, {stop})):")
            elif form == 2:
                self.line(f"for {i} in range({lo}, {stop}, 2):")
            else:
                self.line(f"for {i} in range({lo}, {stop}):" if lo else f"for {i} in range({stop}):")
            self.scope.ints[i] = Int(lo, base, off)
        elif roll < 0.82:
            self.line(f"for {i} in range(-2, 3):")
            self.scope.ints[i] = Int(-2, "", 2)
        elif name and roll < 0.9:
            v = self.new("v")
            self.line(f"for {v} in {name}:" if self.chance(0.5) else f"for {v} in {name}[::-1]:")
            self.scope.scalars.append(v)
        elif name:
            v = self.new("v")
            base, short = self.scope.arrays[name][0]
            self.line(f"for {i}, {v} in enumerate({name}):")
            self.scope.scalars.append(v)
            self.scope.ints[i] = Int(0, base, short)
        else:
            self.line(f"for {i} in range(2):")
            self.scope.ints[i] = Int(0, "", 1)
        self.indent += 1
        self.loops.append("for")
        known = set(self.scope.scalars)
        self.assign_scalar()
        first = [k for k in self.scope.scalars if k not in known]  # bound before anything can leave the loop's body
        self.block(inside)
        self.loops.pop()
        self.indent -= 1
        if self.level >= 2 and self.chance(0.1):
            self.scope = before.copy()
            self.line("else:")
            self.indent += 1
            self.augment_scalar()
            self.indent -= 1
        after = self.scope
        self.scope = before
        self.scope.meet(after)
        if runs:
            self.scope.scalars += first
        return inside + 2

    def while_(self, budget: int) -> int:
        inside = max(1, min(budget - 1, self.random.randrange(1, 4)))
        k = self.new("k")
        self.line(f"{k} = 0")
        before = self.scope.copy()
        self.line(
            f"while {k} < {self.pick('2', '3', 'n')} and {self.scalar(0)} < 1.5:"
            if self.chance(0.5)
            else f"while {k} < 3:"
        )
        self.indent += 1
        self.loops.append("while")
        if self.chance(0.5):
            self.line(f"{k} += 1")
            self.block(inside)
        else:
            self.block(inside)
            self.line(f"{k} += 1")
        self.loops.pop()
        self.indent -= 1
        after = self.scope
        self.scope = before
        self.scope.meet(after)
        return inside + 2

    # Functions -------------------------------------------------------------------------------------

    def helper(self) -> None:
        shape: Shape = (N,)
        kinds = ["scalar", "scalar", "array", "pair"] + (["none", "none"] if self.level >= 3 else [])
        helper = Helper(self.new("h"), shape, self.random.choice(kinds))
        self.in_helper = True
        self.scope = Scope({"a": shape}, ["v"])
        self.line_at_top(f"def {helper.name}(a, v=0.4):")
        self.line("n = a.shape[0]" if self.chance(0.7) else "n = len(a)")
        level = self.level
        if helper.returns == "none":
            self.store()
        elif level >= 3:
            self.level = 2 if self.chance(0.5) else 3
        self.block(self.random.randrange(1, 4))
        self.level = level
        if helper.returns == "scalar":
            self.line(f"return {self.scalar(2)} + 0.3 * np.sum({self.array(shape, 1)})")
        elif helper.returns == "array":
            self.line(f"return 1.0 * ({self.array(shape, 2)})")
        elif helper.returns == "pair":
            self.line(f"return 1.0 * ({self.array(shape, 2)}), {self.scalar(1)}")
        self.lines += ["", ""]
        self.helpers.append(helper)
        self.in_helper = False

    def program(self, two_dimensional: bool) -> str:
        if self.level >= 4:
            self.interest = self.forms_of_interest()
        if self.level >= 3:
            self.globals()
        if self.level >= 2:
            for _ in range(self.random.randrange(0, 2 if self.level >= 4 else 3)):
                self.helper()
        packed = self.random.choice(PACKED) if self.level >= 4 and self.chance(0.25) else None
        if packed is None:
            self.line_at_top("def f(x, y, s):")
        else:
            self.line_at_top(f"def f({packed[0]}):")
            if packed[1]:
                self.line(packed[1])
            if "Parts" in packed[2]:
                self.define(PARTS)
            if "Held" in packed[2]:
                self.define(HELD)
        self.line("n = y.shape[0]")
        if two_dimensional:
            self.line("m = x.shape[0]")
        self.scope = Scope({"x": (M, N) if two_dimensional else (N,), "y": (N,)}, ["s"])
        if self.level >= 2 and self.chance(0.4):
            self.line("x = x.copy()")
        self.block(4 + self.random.randrange(2, 6) * (1 + min(self.level, 2)) // 2)
        self.line(f"return {' + '.join(self.terms()) or 'np.sum(y) * s'}")
        if packed is not None:
            self.lines += ["", "", "def pack(x, y, s):", f"    return {packed[2]}"]
            self.lines += ["", "", "def unpack(g):", f"    return {packed[3]}"]
        if self.preparations:
            self.lines += ["", "", "def prepare(run):", *[f"    {text}" for text in self.in_order(self.preparations)]]
        if self.outside:
            self.lines += ["", "", "def state():", f"    return [{', '.join(self.outside)}]"]
        imports = [text for text in self.definitions if text.startswith("import ") and "\n" not in text]
        others = [text for text in self.definitions if text not in imports]
        top = "\n".join(["import numpy as np", *imports])
        return "\n\n\n".join([top, *others, "\n".join(self.lines)]) + "\n"

    @staticmethod
    def in_order(statements: list[str]) -> list[str]:
        """Put declarations of globals first."""
        return sorted(statements, key=lambda text: not text.startswith("global "))

    def terms(self) -> list[str]:
        """The terms of the sum that the function returns."""
        terms = []
        for name in self.scope.arrays:
            if self.chance(0.7):
                terms.append(
                    self.pick(
                        f"np.sum({name} * {name})",
                        f"np.sum(np.sin({name}))",
                        f"0.7 * np.sum({name})",
                        f"np.mean({name})",
                    )
                )
        for name in self.scope.scalars:
            if self.chance(0.6):
                terms.append(f"{self.constant()} * {name}")
        for name in self.scope.lists:
            terms.append(f"sum({name})")
        return terms


def generate(seed: int, level: int = LEVELS - 1) -> str:
    """The text of a random program; the same seed and level always give the same text."""
    generator = Generator(seed, level)
    return generator.program(two_dimensional=seed % 4 == 3)
