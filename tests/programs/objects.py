"""Random programs: classes, objects, and variables outside of the function."""

from __future__ import annotations

from tests.programs.exotics import Exotics, N

STATE_CLASS = """class State:
    scale = {scale}

    def __init__(self, p, q=0.5):
        self.p = p
        self.q = q
        self.steps = 0

    @property
    def energy(self):
        return self.p * self.p + {weight} * self.q

    @energy.setter
    def energy(self, value):
        self.q = value - self.p

    def step(self, rate):
        self.p, self.q = {p}, {q}
        self.steps += 1
        return self

    def __call__(self, v):
        return self.scale * v + self.q

    @staticmethod
    def squash(v):
        return {squash}

    @classmethod
    def of(cls, v):
        return cls(v, v * cls.scale)


class Damped(State):
    scale = {damped}

    def __init__(self, p, q):
        super().__init__(p * 0.5, q)
        self.rate = {rate}

    def step(self, rate):
        super().step(rate * self.rate)
        self.p = np.tanh(self.p)
        return self"""

VECTOR_CLASS = """class Vec:
    __array_ufunc__ = None

    def __init__(self, u, v):
        self.u, self.v = u, v

    def __add__(self, other):
        return Vec(self.u + other.u, self.v + other.v)

    def __sub__(self, other):
        return Vec(self.u - other.u, self.v - other.v)

    def __mul__(self, k):
        return Vec(self.u * k, self.v * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.u, -self.v)

    def __getitem__(self, k):
        return (self.u, self.v)[k]

    def __len__(self):
        return 2

    def __iadd__(self, other):
        self.u += other.u
        self.v += other.v
        return self

    def __matmul__(self, other):
        return self.u * other.u + self.v * other.v"""

MODE_CLASSES = """class Mode(enum.IntEnum):
    OFF = 0
    ON = 1


class Kind(str, enum.Enum):
    NONE = ""
    SOFT = "soft"


class Scaled:
    def __init__(self, held):
        self.held = held
        self.writes = 0

    @property
    def value(self):
        return self.held * 1.0

    @value.setter
    def value(self, v):
        self.writes += 1
        self.held = v * {factor}

    def __getitem__(self, k):
        return self.held * k

    def __setitem__(self, k, v):
        self.held = v - k

    def __bool__(self):
        return self.writes > 1

    def __eq__(self, other):
        return isinstance(other, Scaled) and self.writes == other.writes


SOFT = np.str_("soft")
MODES = {{Mode.ON, Kind.SOFT, "soft"}}"""

CONTAINER_CLASSES = """class Track(list):
    def append(self, v):
        super().append(v * {factor})

    def last(self):
        return self[-1] + len(self)


class Bag(dict):
    __setattr__ = dict.__setitem__

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

    def __missing__(self, key):
        return {factor}"""

PARAMS_CLASS = """@dataclasses.dataclass{frozen}
class Params:
    w: object
    b: float = {b}
    n: int = 2

    def apply(self, v):
        return np.sum(np.sin(self.w * v)) + self.b * self.n"""


class Objects(Exotics):
    def object_forms(self) -> list[str]:
        return [
            "state_object",
            "state_in_loop",
            "vectors",
            "record_class",
            "objects_in_list",
            "aliased_object",
            "array_attribute",
            "counter",
            "global_state",
            "changing_number",
            "changing_helper",
            "changing_cell",
            "changing_default",
            "changing_attribute",
            "callable_object",
            "asked_object",
            "setter_object",
            "derived_list",
            "derived_dictionary",
        ]

    def container_classes(self) -> None:
        if not any(text.startswith("class Track") for text in self.definitions):
            self.define(CONTAINER_CLASSES.format(factor=self.constant()))

    def derived_list(self, budget: int) -> bool:
        """A list of a class with methods of its own."""
        self.container_classes()
        o, i = self.new("o"), self.new("i")
        self.line(f"{o} = Track([{self.scalar(0)}, {self.scalar(0)}])")
        for _ in range(self.random.randrange(1, 4)):
            self.line(
                self.pick(
                    f"{o}.append({self.scalar(0)})",
                    f"{o}.extend([{self.scalar(0)}])",
                    f"{o} += [{self.scalar(0)}]",
                    f"{o}[0] {self.pick('=', '+=', '*=')} {self.scalar(0)}",
                    f"{o}.tag = {self.scalar(0)}",
                    f"for {i} in range(2): {o}.append({self.scalar(0)} * {i})",
                )
            )
        self.result(
            self.pick(
                f"sum({o}) * {o}.last()", f"np.sum(np.array({o}) ** 2)", f"sum({o} + [0.5]) * max({o}[:2])",
                f"getattr({o}, 'tag', {self.scalar(0)}) * {o}.pop()", f"({o}[1] if {o} == [0.5] else {o}[0])",
            )
        )  # fmt: skip
        return True

    def derived_dictionary(self, budget: int) -> bool:
        """A dictionary whose entries are its attributes."""
        self.container_classes()
        o = self.new("o")
        self.line(f"{o} = Bag(p={self.scalar(0)})")
        for _ in range(self.random.randrange(1, 4)):
            self.line(
                self.pick(
                    f"{o}.p {self.pick('=', '+=', '*=')} {self.scalar(0)}",
                    f"{o}.q = {self.scalar(0)}",
                    f"{o}['r'] {self.pick('=', '+=')} {self.scalar(0)}",
                    f"{o}.update(q={self.scalar(0)})",
                )
            )
        self.result(
            self.pick(
                f"{o}.p * {o}['q']", f"sum({o}.values()) * len({o})", f"getattr({o}, 'q', {self.scalar(0)}) * {o}.p",
                f"dict({o})['p'] + {o}['nothing']", f"({o}.p if 'q' in {o} else 2.0 * {o}['p'])",
            )
        )  # fmt: skip
        return True

    def asked_object(self, budget: int) -> bool:
        """Truth, equality and membership of members of enums, strings of NumPy's and objects."""
        self.mode_classes()
        o = self.pick(
            "Mode.OFF", "Mode.ON", "Kind.NONE", "Kind.SOFT", "SOFT", f"Scaled({self.scalar(0)})", "np.float64(0)"
        )
        name = self.new("o")
        self.line(f"{name} = {o}")
        question = self.pick(
            f"{name}", f"not {name}", f"bool({name})", f"{name} == 'soft'", f"{name} in ('soft', 0)", f"{name} is None",
            f"{name} == Kind.SOFT", f"{name} != {name}", f"isinstance({name}, (int, str))", f"{name} in [0, {name}]",
            f"any([{name}, 0])", f"hasattr({name}, 'value')", f"type({name}) is str", "Kind.SOFT in MODES",
        )  # fmt: skip
        self.result(f"({self.scalar(0)} if {question} else np.sin({self.scalar(0)}))")
        return True

    def setter_object(self, budget: int) -> bool:
        """Augmented assignments through setters."""
        self.mode_classes()
        o, a = self.new("o"), self.vector()
        self.line(f"{o} = Scaled({self.scalar(0) if a is None or self.chance(0.5) else a + ' * 1.0'})")
        for _ in range(self.random.randrange(1, 4)):
            self.line(
                self.pick(
                    f"{o}.value {self.pick('+=', '*=', '-=')} {self.scalar(0)}",
                    f"{o}[2] += {self.scalar(0)}",
                    f"{o}.held = {o}.held * 0.5",
                    f"{o}.value += {self.scalar(0)} if {self.condition()} else 0.3",
                )
            )
        self.result(f"np.sum({o}.value * {self.pick(f'{o}[3]', '0.7', f'(2.0 if {o} else 3.0)')}) * {o}.writes")
        return True

    def mode_classes(self) -> None:
        if not any(text.startswith("class Mode") for text in self.definitions):
            self.define("import enum")
            self.define(MODE_CLASSES.format(factor=self.constant()))

    def state_class(self) -> None:
        if any(text.startswith("class State") for text in self.definitions):
            return
        p = self.pick("np.sin(self.p + rate * self.q)", "self.p - rate * self.q", "self.p * np.cos(rate)")
        q = self.pick("self.q + rate * self.p", "0.5 * self.q + rate", "self.q * self.p")
        self.define(
            STATE_CLASS.format(
                scale=self.pick("0.7", "1.2"),
                weight=self.constant(),
                p=p,
                q=q,
                squash=self.smooth("v"),
                damped=self.pick("0.3", "-0.6"),
                rate=self.pick("0.4", "0.9"),
            )
        )

    def state_object(self, budget: int) -> bool:
        self.state_class()
        o = self.new("o")
        make = self.pick(
            f"State({self.scalar(1)})", f"Damped({self.scalar(0)}, {self.scalar(0)})", f"State.of({self.scalar(0)})"
        )
        self.line(f"{o} = {make}")
        for _ in range(self.random.randrange(1, 4)):
            v = self.scalar(0)
            self.line(
                self.pick(
                    f"{o}.step({v})",
                    f"{o}.p = {v}",
                    f"{o}.q {self.pick('+=', '*=')} np.sin({v})",
                    f"{o}.energy = {v}",
                    f"{o}.extra = {v}",
                    f"setattr({o}, 'q', {v})",
                    f"{o} = {o}.step({v}).step(0.3)",
                )
            )
        self.result(
            self.pick(
                f"{o}.energy", f"{o}({self.scalar(0)})", f"{o}.p * {o}.q + {o}.steps", f"{o}.squash({o}.p)",
                f"getattr({o}, 'p') * {o}.scale", f"getattr({o}, 'missing', {self.scalar(0)}) * {o}.q",
                f"({o}.p if isinstance({o}, Damped) else {o}.q)", f"({o}.p if hasattr({o}, 'rate') else 2 * {o}.q)",
            )
        )  # fmt: skip
        return True

    def state_in_loop(self, budget: int) -> bool:
        """An object that is written to in a loop and a branch."""
        self.state_class()
        o, i = self.new("o"), self.new("i")
        self.line(f"{o} = {self.pick('State', 'Damped')}({self.scalar(0)}, {self.scalar(0)})")
        self.line(f"for {i} in range({self.pick('3', 'n', 'n - 1')}):")
        self.line(f"    {o}.step(0.1 * {i} + {self.scalar(0)})")
        if self.chance(0.6):
            self.line(f"    if {o}.p > {self.pick('0', '0.3')}:")
            self.line(f"        {self.pick(f'{o}.q = {o}.q * 0.5', 'break', 'continue', f'{o}.p -= {self.scalar(0)}')}")
        if self.chance(0.5):
            self.line(f"    {o}.q = np.tanh({o}.q)")
        self.result(f"{o}.p * {o}.q + 0.1 * {o}.steps")
        return True

    def vectors(self, budget: int) -> bool:
        """Operators that the class defines."""
        self.define(VECTOR_CLASS)
        a, b = self.new("o"), self.new("o")
        self.line(f"{a} = Vec({self.scalar(0)}, {self.scalar(0)})")
        self.line(f"{b} = Vec({self.scalar(0)}, 0.5) {self.pick('+', '-')} {self.scalar(0)} * {a}")
        if self.chance(0.5):
            self.line(f"{self.pick(a, b)} += {b}")
        if self.chance(0.4):
            i = self.new("i")
            self.line(f"for {i} in range(3):")
            self.line(f"    {a} = ({a} + {b} * 0.1 * {i}) * 0.5")
        self.result(
            self.pick(
                f"{a} @ {b}",
                f"(-{a})[0] * {b}[1]",
                f"({a} - {b} * 2.0).u + len({a})",
                f"{a}[0] * {a}[1]",
            )
        )
        return True

    def record_class(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        self.define("import dataclasses")
        if not any("class Params" in text for text in self.definitions):
            self.define(PARAMS_CLASS.format(frozen=self.pick("", "(frozen=True)"), b=self.constant()))
        o = self.new("o")
        self.line(f"{o} = Params({a}{self.pick('', f', {self.scalar(0)}', f', b={self.scalar(0)}')})")
        if self.chance(0.5):
            self.line(f"{o} = dataclasses.replace({o}, {self.pick(f'b={o}.b * {self.scalar(0)}', f'w={o}.w * 0.5')})")
        self.result(self.pick(f"{o}.apply({self.scalar(0)})", f"np.sum({o}.w) * {o}.b"))
        return True

    def objects_in_list(self, budget: int) -> bool:
        self.state_class()
        name, i, o = self.new("objects"), self.new("i"), self.new("o")
        if self.chance(0.5):
            self.line(f"{name} = [State({self.scalar(0)}), Damped({self.scalar(0)}, 0.2), State.of(0.3)]")
        else:
            self.line(f"{name} = [State({self.scalar(0)} * {i}) for {i} in range({self.pick('2', '3')})]")
        self.line(f"for {o} in {name}:")
        self.line(f"    {o}.step({self.scalar(0)})")
        if self.chance(0.3):
            self.line(f"{name}[0].p = {name}[-1].q * {self.scalar(0)}")
        self.result(self.pick(f"sum({o}.p * {o}.q for {o} in {name})", f"{name}[0].p - {name}[1].energy"))
        return True

    def aliased_object(self, budget: int) -> bool:
        """Two names for an object: a write through one, a read through the other."""
        self.state_class()
        a, b = self.new("o"), self.new("o")
        self.line(f"{a} = State({self.scalar(0)})")
        self.line(f"{b} = {a}{self.pick('', '', f' if {self.condition()} else State({self.scalar(0)})')}")
        self.line(f"{b}.p = {self.scalar(1)}")
        self.line(f"{a}.q {self.pick('=', '+=')} {b}.p * {self.scalar(0)}")
        self.result(f"{a}.p * {b}.q + {a}.energy")
        return True

    def array_attribute(self, budget: int) -> bool:
        """An array held by an object, stored into through it."""
        a = self.vector()
        if a is None:
            return False
        self.state_class()
        o = self.new("o")
        self.line(f"{o} = State({a}{self.pick('', '.copy()')}, {self.scalar(0)})")
        self.line(
            self.pick(
                f"{o}.p[{self.pick('0', '1:', '-1')}] = {self.scalar(0)}",
                f"{o}.p *= {self.scalar(0)}",
                f"{o}.p[0] += {o}.q",
                f"{o}.p[:] = np.sin({o}.p)",
            )
        )
        self.result(f"np.sum({o}.p * {self.array((N,), 0)}) + {o}.q + np.sum({a})")
        return True

    # --- outside ---------------------------------------------------------------------------------------------------

    def counter(self, budget: int) -> bool:
        """An object outside that the function writes to. Its final contents are compared."""
        self.define("class Box:\n    count = 0\n    last = 0.0\n\n\nBOX = Box()")
        if "BOX.count = 0" not in self.preparations:
            self.preparations += ["BOX.count = 0", "BOX.last = 0.25 * run"]
            self.outside += ["BOX.count", "BOX.last"]
        self.line(self.pick("BOX.count += 1", f"BOX.last = {self.scalar(0)}", f"BOX.last += np.sin({self.scalar(0)})"))
        if self.chance(0.6):
            self.result(f"BOX.last * {self.scalar(0)}")
        return True

    def global_state(self, budget: int) -> bool:
        self.define(
            "CALLS = 0\nLAST = 0.0\n\n\ndef note(v):\n    global CALLS, LAST\n    CALLS += 1\n    LAST = v\n    return LAST * 0.5"
        )
        if "global CALLS, LAST" not in self.preparations:
            self.preparations = ["global CALLS, LAST", "CALLS, LAST = 0, 0.0", *self.preparations]
            self.outside += ["CALLS", "LAST"]
        self.result(f"note({self.scalar(0)}) * {self.scalar(0)}")
        return True

    def changing_number(self, budget: int) -> bool:
        """Numbers and arrays of the module that are rebound between calls."""
        self.define("RATE = 0.0\nSHIFTS = np.zeros(3)\nTABLE = {'a': 1.0}")
        if "global RATE, SHIFTS" not in self.preparations:
            values = self.pick("0.3 + run", "(0.5, 2, -1.0)[run]", "0.7 if run else 2")
            self.preparations = ["global RATE, SHIFTS", f"RATE = {values}", *self.preparations]
            self.preparations += ["SHIFTS = np.linspace(run - 1.0, 1.0, 3 + run % 2)", "TABLE['a'] = 0.2 - run"]
        self.result(
            self.pick(
                f"RATE * {self.scalar(0)}", f"np.sum(SHIFTS) * {self.scalar(0)}", f"TABLE['a'] * {self.scalar(0)}"
            )
        )
        return True

    def changing_helper(self, budget: int) -> bool:
        """A helper of the module that is rebound between calls."""
        if not any("def first_form" in text for text in self.definitions):
            self.define(
                f"def first_form(v):\n    return {self.smooth('v')}\n\n\ndef second_form(v):\n    return v * v * {self.constant()}\n\n\nhelper = first_form"
            )
            self.preparations = ["global helper", "helper = (first_form, second_form)[run % 2]", *self.preparations]
        self.result(f"helper({self.scalar(1)})")
        return True

    def changing_cell(self, budget: int) -> bool:
        """A closure whose variable is changed between calls."""
        self.define(
            "def make():\n    rate = 0.5\n\n    def read(v):\n        return rate * v + np.sin(rate)\n\n"
            "    def write(value):\n        nonlocal rate\n        rate = value\n\n    return read, write\n\n\nread, write = make()"
        )
        if "write(0.4 + 0.3 * run)" not in self.preparations:
            self.preparations.append("write(0.4 + 0.3 * run)")
        self.result(f"read({self.scalar(1)})")
        return True

    def changing_default(self, budget: int) -> bool:
        self.define("def with_default(v, w=0.3, *, k=2.0):\n    return np.sin(v * w) + k * v")
        if "with_default.__defaults__ = (0.5 + run,)" not in self.preparations:
            self.preparations += [
                "with_default.__defaults__ = (0.5 + run,)",
                "with_default.__kwdefaults__ = {'k': 1.0 - run}",
            ]
        self.result(f"with_default({self.scalar(0)}{self.pick('', ', k=0.5', f', {self.scalar(0)}')})")
        return True

    def changing_attribute(self, budget: int) -> bool:
        """Attributes of a class, of an object and a method that change between calls."""
        self.define(
            "class Config:\n    gain = 1.0\n\n    def __init__(self):\n        self.mode = 'plain'\n        self.bias = 0.0\n\n"
            "    def apply(self, v):\n        return self.gain * v\n\n\ndef other_apply(self, v):\n    return np.cos(v) - self.bias\n\n\n"
            "plain_apply = Config.apply\nCONFIG = Config()"
        )
        if "CONFIG.bias = 0.1 * run" not in self.preparations:
            self.preparations += [
                "Config.gain = 0.5 + run",
                "CONFIG.bias = 0.1 * run",
                "CONFIG.mode = ('plain', 'bent')[run % 2]",
                "Config.apply = (plain_apply, other_apply)[run // 2]",
            ]
        t = self.result(f"CONFIG.apply({self.scalar(0)}) + CONFIG.bias")
        if self.chance(0.6):
            self.line("if CONFIG.mode == 'bent':")
            self.line(f"    {t} = np.sin({t} * {self.scalar(0)})")
        return True

    def callable_object(self, budget: int) -> bool:
        self.define(
            "class Layer:\n    def __init__(self, w):\n        self.w = w\n\n    def __call__(self, v, k=1.0):\n        return np.tanh(self.w * v + k)\n\n\n"
            "LAYERS = [Layer(0.5), Layer(-0.8)]"
        )
        if "LAYERS[1].w = -0.8 + run" not in self.preparations:
            self.preparations.append("LAYERS[1].w = -0.8 + run")
        if self.chance(0.5):
            t, layer = self.new("t"), self.new("layer")
            self.line(f"{t} = {self.scalar(0)}")
            self.line(f"for {layer} in LAYERS:")
            self.line(f"    {t} = {layer}({t})")
            self.scope.scalars.append(t)
        else:
            self.result(f"Layer({self.scalar(0)})({self.scalar(0)}, k={self.scalar(0)})")
        return True
