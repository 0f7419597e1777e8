"""The expressions of random programs, and the generator's knowledge of the names in scope.

It keeps for each array its symbolic shape, a tuple of (length name, how much shorter), so that every program runs at
any size of three or more; and for each integer its bounds, so that subscripts stay in range.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

Dim = tuple[str, int]
Shape = tuple[Dim, ...]
N: Dim = ("n", 0)
M: Dim = ("m", 0)
SMALLEST = 3


@dataclass
class Int:
    """An integer variable's bounds: from `lo` to `base - 1 - off`, or to the constant `off` where base is empty."""

    lo: int
    base: str
    off: int

    def fits(self, dim: Dim, delta: int) -> bool:
        name, short = dim
        if self.lo + delta < short - SMALLEST:
            return False
        if self.base:
            return self.base == name and short + delta <= self.off
        return self.off + delta <= SMALLEST - short - 1


@dataclass
class Scope:
    arrays: dict[str, Shape] = field(default_factory=dict)
    scalars: list[str] = field(default_factory=list)
    ints: dict[str, Int] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)  # local functions of one float

    def copy(self) -> Scope:
        return Scope(dict(self.arrays), list(self.scalars), dict(self.ints), list(self.lists), list(self.functions))

    def meet(self, other: Scope) -> None:
        """Keep the names that are bound on both paths, to the same kind of value."""
        self.arrays = {k: v for k, v in self.arrays.items() if other.arrays.get(k) == v}
        self.scalars = [k for k in self.scalars if k in other.scalars]
        self.lists = [k for k in self.lists if k in other.lists]
        self.functions = [k for k in self.functions if k in other.functions]
        self.ints = {k: v for k, v in self.ints.items() if other.ints.get(k) == v}


@dataclass
class Helper:
    name: str
    shape: Shape
    returns: str  # "scalar", "array", "pair", "none"


class Expressions:
    """Writes random expressions over the names in scope."""

    def __init__(self, seed: int, level: int):
        self.random = random.Random(seed * 7 + level)
        self.level = level
        self.scope = Scope()
        self.lines: list[str] = []
        self.indent = 1
        self.loops: list[str] = []  # the kinds of the loops around this statement, the innermost last
        self.branches = 0
        self.in_helper = False
        self.helpers: list[Helper] = []
        self.constants: list[str] = []  # global names of floats
        self.count = 0
        self.definitions: list[str] = []  # of the module, before all functions
        self.preparations: list[str] = []  # statements of `prepare(run)`
        self.outside: list[str] = []  # expressions of what is written outside of the function

    # Small tools -----------------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def weighted(self, options: list[tuple[float, Callable[[], str]]]) -> str:
        return self.random.choices([f for _, f in options], [w for w, _ in options])[0]()

    def new(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def line_at_top(self, text: str) -> None:
        self.lines.append(text)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def define(self, text: str) -> None:
        """A definition at the top of the module, once."""
        if text not in self.definitions:
            self.definitions.append(text)

    def result(self, text: str) -> str:
        """Bind a new name to a number."""
        name = self.new("t")
        self.line(f"{name} = {text}")
        self.scope.scalars.append(name)
        return name

    def arrays_of(self, shape: Shape) -> list[str]:
        return [k for k, v in self.scope.arrays.items() if v == shape]

    def array_name(self, ndim: int = 0) -> str | None:
        names = [k for k, v in self.scope.arrays.items() if not ndim or len(v) == ndim]
        return self.random.choice(names) if names else None

    def length(self, dim: Dim) -> str:
        return dim[0] if not dim[1] else f"{dim[0]} - {dim[1]}"

    def constant(self) -> str:
        return self.pick("0.5", "1.5", "0.3", "-0.7", "0.9", "1.1", "2.0", "2", "-1", "0.25")

    # Subscripts ------------------------------------------------------------------------------------

    def index(self, dim: Dim) -> str:
        """One integer subscript that is in range."""
        options = ["0", "-1"]
        if dim[1] < 2:
            options += ["1", "-2"]
        fitting = []
        for name, bounds in self.scope.ints.items():
            for delta in (-1, 0, 1):
                if bounds.fits(dim, delta):
                    fitting.append(name + (f" + {delta}" if delta > 0 else f" - {-delta}" if delta < 0 else ""))
        if fitting and self.chance(0.8):
            return self.random.choice(fitting)
        return self.random.choice(options)

    def element(self, name: str) -> str:
        shape = self.scope.arrays[name]
        subscripts = [self.index(dim) for dim in shape]
        if len(subscripts) == 2 and self.chance(0.2):
            return f"{name}[{subscripts[0]}][{subscripts[1]}]"
        return f"{name}[{', '.join(subscripts)}]"

    def slices(self, dim: Dim) -> tuple[str, Dim]:
        options = [":", "::-1"]
        if dim[1] < 2:
            options += ["1:", ":-1"] * 2
        text = self.random.choice(options)
        return text, (dim[0], dim[1] + (text in ("1:", ":-1")))

    def section(self, name: str) -> tuple[str, Shape]:
        """A basic-index view of an array, as text, and its shape."""
        shape = self.scope.arrays[name]
        if len(shape) == 1:
            text, dim = self.slices(shape[0])
            return f"{name}[{text}]", (dim,)
        kind = self.random.randrange(4)
        if kind == 0:
            return f"{name}[{self.index(shape[0])}]", (shape[1],)
        if kind == 1:
            return f"{name}[:, {self.index(shape[1])}]", (shape[0],)
        if kind == 2:
            text, dim = self.slices(shape[1])
            return f"{name}[{self.index(shape[0])}, {text}]", (dim,)
        text, dim = self.slices(shape[0])
        text2, dim2 = self.slices(shape[1])
        return f"{name}[{text}, {text2}]", (dim, dim2)

    # Expressions -----------------------------------------------------------------------------------

    def smooth(self, e: str) -> str:
        kind = self.random.randrange(7)
        if kind == 0:
            return f"np.sin({e})"
        if kind == 1:
            return f"np.tanh({e})"
        if kind == 2:
            return f"np.exp(-({e}) ** 2)"
        if kind == 3:
            return f"np.cos({e})"
        if kind == 4:
            return f"({e}) / (1.5 + ({e}) ** 2)"
        if kind == 5:
            return f"np.sqrt(1.0 + ({e}) ** 2)"
        return f"np.log(2.0 + ({e}) * ({e}))"

    def combine(self, a: str, b: str) -> str:
        kind = self.random.randrange(6)
        if kind < 2:
            return f"{a} {self.pick('+', '-')} {b}"
        if kind < 5:
            return f"({a}) * ({b})"
        return f"({a}) / (1.5 + ({b}) ** 2)"

    def condition(self) -> str:
        a, b = self.scalar(1), self.pick("0", "0.2", "-0.3", self.scalar(0))
        text = f"{a} {self.pick('>', '<', '>=', '<=')} {b}"
        roll = self.random.random()
        if roll < 0.1:
            return f"{text} and {self.scalar(0)} < 0.8"
        if roll < 0.2:
            return f"{text} or {self.scalar(0)} > 0.4"
        if roll < 0.25:
            return f"not ({text})"
        if roll < 0.3:
            return f"-0.5 < {self.scalar(0)} < 0.6"
        counters = list(self.scope.ints)
        if roll < 0.5 and counters:
            return f"{self.random.choice(counters)} {self.pick('% 2 == 0', '> 0', '== 1', '!= 1')}"
        return text

    def scalar(self, depth: int) -> str:
        leaves: list[tuple[float, Callable[[], str]]] = [(1, self.constant)]
        if self.scope.scalars:
            leaves.append((4, lambda: self.random.choice(self.scope.scalars)))
        if self.scope.ints:
            leaves.append((0.5, lambda: f"0.1 * {self.random.choice(list(self.scope.ints))}"))
        name = self.array_name()
        if name:
            leaves.append((4, lambda: self.element(name)))
        if self.constants:
            leaves.append((0.7, lambda: self.random.choice(self.constants)))
        if depth <= 0:
            return self.weighted(leaves)
        options: list[tuple[float, Callable[[], str]]] = [
            (2, lambda: self.weighted(leaves)),
            (3, lambda: self.combine(self.scalar(depth - 1), self.scalar(depth - 1))),
            (2, lambda: self.smooth(self.scalar(depth - 1))),
            (2, lambda: self.reduction(depth)),
        ]
        if self.level >= 1:
            ternary = lambda: f"({self.scalar(depth - 1)} if {self.condition()} else {self.scalar(depth - 1)})"
            options.append((0.5, ternary))
            options.append(
                (0.3, lambda: f"{self.pick('max', 'min')}({self.scalar(depth - 1)}, {self.scalar(depth - 1)})")
            )
            options.append((0.2, lambda: f"abs({self.scalar(depth - 1)})"))
            options.append((0.2, lambda: f"({self.scalar(0)} {self.pick('and', 'or')} {self.scalar(depth - 1)})"))
        calls = [h for h in self.helpers if h.returns == "scalar" and self.arrays_of(h.shape)]
        if calls and len(self.loops) < 2:
            options.append((1, lambda: self.call(self.random.choice(calls), depth - 1)))
        if self.scope.functions:
            options.append((1, lambda: f"{self.random.choice(self.scope.functions)}({self.scalar(depth - 1)})"))
        return self.weighted(options)

    def call(self, helper: Helper, depth: int) -> str:
        array = self.random.choice(self.arrays_of(helper.shape))
        if self.level >= 3 and helper.returns in ("scalar", "none") and self.chance(0.15):
            array += "[1:]"  # the helper sees a view, one shorter
        value = self.scalar(min(depth, 1))
        return (
            f"{helper.name}({array}, {self.pick('', 'v=')}{value})" if self.chance(0.8) else f"{helper.name}({array})"
        )

    def reduction(self, depth: int) -> str:
        name = self.array_name()
        if name is None:
            return self.scalar(depth - 1)
        shape = self.scope.arrays[name]
        counters = [k for k, v in self.scope.ints.items() if v.lo >= 0 and len(shape) == 1]
        if counters and self.level >= 1 and self.chance(0.3):
            i = self.random.choice(counters)
            part = self.pick(f"{name}[:{i}]", f"{name}[{i}:]", f"{name}[:{i} + 1]")
            return self.pick(
                f"np.sum({part})", f"np.sum({part} * {part})", f"np.dot({part}, {part})", f"({part}).sum()"
            )
        if shape == (N,) and self.chance(0.1):
            return f"np.sum({name}[np.array([0, 2, {self.pick('0', '1', '2')}])])"
        if len(shape) == 1 and self.chance(0.1):
            return f"np.sum({name}[{name} > {self.pick('0', '0.2')}])"
        e = self.array(shape, depth - 1)
        form = self.random.randrange(8)
        if form == 0:
            return f"np.mean({e})"
        if form == 1:
            return f"({e}).sum()"
        if form == 2 and len(shape) == 1:
            return f"np.dot({e}, {self.array(shape, 0)})"
        if form == 3 and len(shape) == 1:
            return f"({e}) @ ({self.array(shape, 0)})"
        if form == 4:
            return f"{self.pick('np.max', 'np.min')}({e})"
        return f"np.sum({e})"

    def array_leaf(self, shape: Shape) -> str:
        options: list[tuple[float, Callable[[], str]]] = []
        names = self.arrays_of(shape)
        if names:
            options.append((4, lambda: self.random.choice(names)))
        for name, have in self.scope.arrays.items():
            if len(have) == len(shape) == 1 and have[0][0] == shape[0][0] and have[0][1] == shape[0][1] - 1:
                options.append((1, lambda name=name: f"{name}[{self.pick('1:', ':-1')}]"))  # type: ignore[misc]
            if len(have) == 2 and shape == (have[1],):
                options.append((1, lambda name=name, have=have: f"{name}[{self.index(have[0])}]"))  # type: ignore[misc]
                options.append((0.5, lambda name=name: f"{name}.sum(axis=0)"))  # type: ignore[misc]
            if len(have) == 2 and shape == (have[0],):
                options.append((1, lambda name=name, have=have: f"{name}[:, {self.index(have[1])}]"))  # type: ignore[misc]
                vectors = self.arrays_of((have[1],))
                if vectors:
                    options.append((1, lambda name=name, v=vectors[0]: f"({name} @ {v})"))  # type: ignore[misc]
            if len(have) == 2 and shape == (have[1], have[0]):
                options.append((1, lambda name=name: f"{name}.T"))  # type: ignore[misc]
        lengths = ", ".join(map(self.length, shape))
        filled = f"({lengths})" if len(shape) > 1 else lengths
        weight = 0.3 if options else 1
        options.append((weight, lambda: f"np.full({filled}, {self.scalar(0)})"))
        options.append((weight, lambda: f"np.{self.pick('zeros', 'ones')}({filled})"))
        return self.weighted(options)

    def array(self, shape: Shape, depth: int) -> str:
        if depth <= 0:
            return self.array_leaf(shape)
        operand = lambda: self.array(shape, depth - 1) if self.chance(0.6) else self.scalar(depth - 1)
        options: list[tuple[float, Callable[[], str]]] = [
            (1, lambda: self.array_leaf(shape)),
            (4, lambda: self.combine(self.array(shape, depth - 1), operand())),
            (3, lambda: self.smooth(self.array(shape, depth - 1))),
            (0.4, lambda: f"np.maximum({self.array(shape, depth - 1)}, {operand()})"),
            (0.4, lambda: self.where(shape, depth - 1, operand)),
            (0.3, lambda: f"np.minimum({operand()}, {self.array(shape, depth - 1)})"),
        ]
        if len(shape) == 1:
            options += [
                (0.2, lambda: f"np.cumsum({self.array(shape, depth - 1)})"),
                (0.2, lambda: f"np.roll({self.array(shape, depth - 1)}, 1)"),
                (0.2, lambda: f"({self.array(shape, depth - 1)})[::-1]"),
            ]
            if shape[0][1] > 0:
                longer = ((shape[0][0], shape[0][1] - 1),)
                options.append((0.3, lambda: f"np.diff({self.array(longer, depth - 1)})"))
        elif self.arrays_of((shape[1],)):
            options.append(
                (1, lambda: f"({self.array(shape, depth - 1)}) * {self.random.choice(self.arrays_of((shape[1],)))}")
            )
        return self.weighted(options)

    def where(self, shape: Shape, depth: int, operand: Callable[[], str]) -> str:
        condition = f"{self.array_leaf(shape)} > {self.scalar(0)}"
        return f"np.where({condition}, {self.array(shape, depth)}, {operand()})"

    def tame(self, e: str) -> str:
        """Keep values from growing, as loops run the same statement many times."""
        if self.loops and self.chance(0.6):
            return f"{self.pick('np.tanh', 'np.sin')}({e})"
        return f"0.5 * ({e})" if self.loops and self.chance(0.5) else e
