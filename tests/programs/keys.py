"""Random programs: sets in their order, keys that are equal but differ in type, strings of NumPy's, members of enums."""

from __future__ import annotations

from tests.programs.exotics import Exotics

ENUMS = """class Phase(enum.IntEnum):
    OFF = 0
    ON = 1
    HIGH = 2


class Name(str, enum.Enum):
    EMPTY = ''
    SQ = 'sq'


class Level(enum.Enum):
    LOW = 0.5
    PAIR = (1, 2)
    NONE = None


class Bits(enum.Flag):
    A = 1
    B = 2
    NO = 0


class Counted:
    def __init__(self, v, many):
        self.v, self.many = v, many

    def __len__(self):
        return self.many

    def __hash__(self):
        return self.many

    def __eq__(self, other):
        return isinstance(other, Counted) and self.many == other.many

    def __lt__(self, other):
        return self.many < other.many"""


class Keys(Exotics):
    def key_forms(self) -> list[str]:
        return ["set_in_order", "set_algebra", "keys_by_hash", "numpy_strings", "truths", "dispatch"]

    def word_set(self) -> str:
        return self.pick(
            "{'alpha', 'beta', 'gamma'}",
            "set(['alpha', 'gamma', 'beta', 'alpha'])",
            "frozenset(('beta', 'gamma'))",
            "{'alpha'} | {'beta'}",
            "{k + 'a' for k in ('alph', 'bet', 'gamm') if k != 'bet'} | {'beta'}",
            "{'alpha', 'beta', 'gamma'} - {'delta', 'beta'}",
            "{'alpha', 'beta'}.union(['gamma'])",
            "{'alpha', 'beta', 'gamma'} ^ {'alpha'}",
            "set({'alpha': 0.1, 'gamma': 0.2})",
            "{'alpha', 'beta', 'gamma'} & {'beta', 'alpha'}",
        )

    def set_in_order(self, budget: int) -> bool:
        """A set of strings, in an order that each process has of its own."""
        name, d, t, k = self.new("words"), self.new("d"), self.new("t"), self.new("k")
        self.line(f"{name} = {self.word_set()}")
        self.line(f"{d} = {{'alpha': {self.scalar(0)}, 'beta': {self.scalar(0)}, 'gamma': 0.4, 'delta': 0.1}}")
        self.line(f"{t} = {self.scalar(0)}")
        form = self.random.randrange(4)
        if form == 0:
            self.line(
                f"for {k} in {self.pick(name, f'sorted({name})', f'list({name})', f'tuple({name})', f'dict.fromkeys({name})', f'reversed(sorted({name}))')}:"
            )
            self.line(f"    {t} = {t} * 0.5 + {d}[{k}]{self.pick('', f' * len({k})')}")
        elif form == 1:
            self.line(f"{name} = set({name})")
            self.line(f"{k} = {name}.pop()")
            self.line(f"{t} = {t} * 0.5 + {d}[{k}] * len({name})")
            self.line(f"{name}.{self.pick('add', 'discard')}('delta')")
            self.line(f"for {k} in {name}:")
            self.line(f"    {t} = np.sin({t}) + {d}[{k}]")
        elif form == 2:
            word = self.pick(
                f"max({name}, key=len)", f"min({name}, key=len)", f"sorted({name}, key=len)[0]", f"next(iter({name}))", f"list({name})[-1]",
                f"max({name})", f"min({name}, key=lambda w: w[-1])", f"[*{name}][0]", f"''.join({name})[:4].replace('gamm', 'gamma').replace('alph', 'alpha')",
            )  # fmt: skip
            self.line(f"{t} = {t} + {d}.get({word}, 0.7) * {self.constant()}")
        else:
            self.line(
                f"{t} += {self.pick(f'sum({d}[w] * (j + 1) for j, w in enumerate({name}))', f'[{d}[w] for w in {name}][0]', f'sum({{w: {d}[w] for w in {name}}}.values())', f'np.dot([{d}[w] for w in {name}], range(len({name})))')}"
            )
        self.scope.scalars.append(t)
        return True

    def set_algebra(self, budget: int) -> bool:
        """Sets of numbers, tuples and members."""
        name, t, k = self.new("chosen"), self.new("t"), self.new("k")
        self.line(
            f"{name} = "
            + self.pick("{2, 0, 1}", "{9, 1, 17, 33}", "{(1, 2), (0, 1)}", "{1.5, 0.5}", "{-1, -2}", "{True, 2}", "{0, 0.0, False, 1}", "{k * 8 for k in range(4)}", "frozenset({3, 11}) | {19}")
        )  # fmt: skip
        self.line(f"{t} = {self.scalar(0)}")
        for _ in range(self.random.randrange(0, 3)):
            self.line(
                self.pick(
                    f"{name} = {name} | {{5}}",
                    f"{name} |= {{7, 15}}",
                    f"{name} = {name} - {{1}}",
                    f"{name} = {name}.union((4,))",
                    f"{name} = set({name}); {name}.add(1.0)",
                    f"{name} = {name} ^ {{2}}",
                )
            )
        self.line(f"for {k} in {name}:")
        self.line(
            f"    {t} = {t} * 0.5 + {self.scalar(0)} * ({k} if {self.pick('', 'not ')}isinstance({k}, (int, float)) and not isinstance({k}, tuple) else 2)"
            if self.chance(0.3)
            else f"    {t} = {t} * 0.5 + {self.scalar(0)} * (sum({k}) if isinstance({k}, tuple) else {k})"
        )
        if self.chance(0.4):
            self.line(
                f"if {self.pick(f'1 in {name}', f'1.0 in {name}', f'True in {name}', f'{name} <= {{0, 1, 2}}', f'{name}.isdisjoint([9])', f'{{1}} < {name}', f'{name} == {{0, 1, 2}}')}:"
            )
            self.line(f"    {t} = np.sin({t})")
        self.scope.scalars.append(t)
        return True

    def keys_by_hash(self, budget: int) -> bool:
        """1, 1.0 and True are one key, although they differ."""
        d, t, k = self.new("d"), self.new("t"), self.new("k")
        one, other = self.pick("1", "True", "1.0"), self.pick("1", "True", "1.0")
        self.line(f"{d} = {{{one}: {self.scalar(0)}, 0: 0.3}}")
        self.line(f"{d}[{other}] = {self.pick(f'{d}[1] * {self.scalar(0)}', self.scalar(0))}")
        if self.chance(0.4):
            self.line(f"{d} = {{**{d}, {self.pick('False', '0.0', '-0.0')}: {self.scalar(0)}}}")
        self.line(f"{t} = 0.0")
        self.line(f"for {k} in {d}:")
        self.line(
            f"    {t} += {d}[{k}] * ({self.pick(f'2.0 if {k} is True else 0.5', f'2.0 if isinstance({k}, bool) else 0.5', f'2.0 if type({k}) is float else 0.5', f'len(str({k}))')})"
        )
        if self.chance(0.4):
            self.define("KEYED = {1: 0.7, 0: 0.4}")
            if "KEYED.clear()" not in self.preparations:
                self.preparations += [
                    "KEYED.clear()",
                    "KEYED.update(({1: 0.7, 0: 0.4}, {True: 0.7, 0.0: 0.5}, {1.0: 0.7, False: 0.4})[run])",
                ]
            self.line(f"for {k} in KEYED:")
            self.line(
                f"    {t} += KEYED[{k}] * {self.scalar(0)} * (3.0 if {self.pick(f'{k} is True', f'type({k}) is int', f'isinstance({k}, float)')} else 1.0)"
            )
        self.scope.scalars.append(t)
        return True

    def numpy_strings(self, budget: int) -> bool:
        """Strings that are items of arrays."""
        self.define("NAMES = np.array(['sq', 'cube', ''])\nPICKED = np.str_('sq')")
        if "global PICKED" not in self.preparations:
            self.preparations += ["global PICKED", "PICKED = (np.str_('sq'), 'cube', np.str_('cube'))[run]"]
        m, t = self.new("mode"), self.new("t")
        self.line(f"{m} = {self.pick('PICKED', 'PICKED', repr('sq'), 'str(NAMES[0])')}")
        question = self.pick(
            f"{m} == 'sq'", f"'sq' == {m}", f"{m} != 'cube'", f"{m} in ('sq', 'x')", f"{m} in {{'sq': 1}}", f"{m} in {{'sq', 'x'}}", f"{m}.startswith('s')", f"not {m}", f"{m}",
            f"{m} < 'd'", f"{m} == NAMES[0]", f"{m} in NAMES", f"isinstance({m}, str)", f"{m} + 'x' == 'sqx'", f"len({m}) == 2", f"{m}.upper() == 'SQ'", f"f'{{{m}}}' == 'sq'", f"{m} in 'square'",
        )  # fmt: skip
        form = self.pick("asked", "asked", "matched", "matched", "looked up" if self.chance(0.2) else "asked")
        if form == "asked":
            self.result(f"({self.scalar(0)} if {question} else np.cos({self.scalar(0)}))")
        elif form == "looked up":
            self.result(f"{{'sq': {self.scalar(0)}, np.str_('cube'): {self.scalar(0)}}}.get({m}, {self.scalar(0)})")
        else:
            self.line(f"match {m}:")
            self.line("    case 'sq':")
            self.line(f"        {t} = {self.scalar(0)} * 2.0")
            self.line("    case 'cube' | '':")
            self.line(f"        {t} = {self.scalar(0)} * 3.0")
            self.line("    case _:")
            self.line(f"        {t} = 0.5")
            self.scope.scalars.append(t)
        return True

    def enums(self) -> None:
        self.define("import enum")
        self.define(ENUMS)

    def truths(self, budget: int) -> bool:
        self.enums()
        self.define("import array")
        self.define("SWITCH = Phase.OFF")
        if "global SWITCH" not in self.preparations:
            self.preparations += ["global SWITCH", "SWITCH = (Phase.OFF, Phase.ON, 0)[run]"]
        m = self.new("m")
        self.line(
            f"{m} = "
            + self.pick(
                "Phase.OFF", "Phase.HIGH", "Name.EMPTY", "Name.SQ", "Level.LOW", "Level.NONE", "Bits.NO",  "Bits(3)", "SWITCH", f"Counted({self.scalar(0)}, {self.pick('0', '2')})",
                "array.array('d')", "array.array('d', [0.5])", "range(0)", "range(n)", "np.bool_(False)", "np.float64(0.0)", "np.zeros(1)", "''", "b'x'", "np.str_('')",  "Phase(1)", "Phase['OFF']",
            )
        )  # fmt: skip
        a, b = self.scalar(0), self.scalar(0)
        self.result(
            self.pick(
                f"({a} if {m} else np.sin({b}))", f"({a} if not {m} else np.sin({b}))", f"({a} if bool({m}) else np.sin({b}))", f"({a} if {m} or n > 99 else np.sin({b}))", f"({a} if {m} and n > 2 else np.sin({b}))",
                f"({a} if any([{m}]) else np.sin({b}))", f"({a} if all(({m}, 1)) else np.sin({b}))", f"sum([{a} for _ in range(2) if {m}]) + {b}", f"len(list(filter(None, [{m}, 1]))) * {a}",
                f"({a} if [u for u in [{m}] if u] else {b})", f"({a} if {m} is not None else {b})", f"(({m} and 2) and {a}) or {b}",
            )
        )  # fmt: skip
        return True

    def dispatch(self, budget: int) -> bool:
        """Tables whose keys are members of enums, types, functions and objects."""
        self.enums()
        d = self.new("d")
        keys = self.pick("Phase.OFF, Phase.ON, Phase.HIGH", "Name.SQ, 'sq', Name.EMPTY", "Level.LOW, Level.PAIR, 0.5", "int, float, str", "np.sin, np.cos, abs",  "(1, 'a'), (1.0, 'b'), (True, 'c')", "None, True, 2", "Bits.A, Bits.B, Bits.NO")  # fmt: skip
        first, second, third = self.split_keys(keys)
        self.line(f"{d} = {{{first}: {self.scalar(0)}, {second}: {self.scalar(0)}}}")
        self.line(f"{d}[{third}] = {self.scalar(0)} * 0.5")
        probe = self.pick(first, second, third, "Phase(1)", "1", "0", "'sq'", "type(s)", "0.5")
        self.result(
            f"{d}.get({probe}, 0.3) + len({d}) * {self.scalar(0)} + ({self.scalar(0)} if {probe} in {d} else 0.1)"
        )
        return True

    @staticmethod
    def split_keys(text: str) -> list[str]:
        """The parts of a tuple's text."""
        parts, depth = [""], 0
        for c in text:
            depth += (c == "(") - (c == ")")
            if c == "," and not depth:
                parts.append("")
            else:
                parts[-1] += c
        return [part.strip() for part in parts]
