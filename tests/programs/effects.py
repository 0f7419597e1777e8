"""Random programs: operands with effects in every place, iterators, clean-ups, cached functions, copies with aliases."""

from __future__ import annotations

from tests.programs.exotics import Exotics

LOGGED = """class Logged:
    def __init__(self, held):
        self.__dict__['held'] = held
        self.__dict__['log'] = []

    def __getitem__(self, k):
        self.log.append(0.3 * self.held)
        return self.held * (k if isinstance(k, int) else 2)

    def __setitem__(self, k, v):
        self.log.append(v * 0.5)
        self.__dict__['held'] = v + 0.1 * len(self.log)

    def __setattr__(self, name, v):
        self.log.append(v * 0.2)
        self.__dict__[name] = np.sin(v)

    def __contains__(self, v):
        self.log.append(self.held)
        return len(self.log) > 1

    def __len__(self):
        self.log.append(0.7)
        return len(self.log) - 1

    def __iter__(self):
        self.log.append(self.held * 0.5)
        return iter([self.held, *self.log])

    def __call__(self, v, *more, k=1.0):
        self.log.append(v * k)
        return sum(self.log) + sum(more)"""

CACHED = """GAIN, MODE = 0.5, 'a'


@functools.lru_cache(maxsize=None)
def gain():
    return GAIN * 2.0


@functools.cache
def scaled_by(v, k=2):
    return np.sin(v) * GAIN + k


@functools.lru_cache
def chosen(name):
    return {'a': 0.5, 'b': GAIN}[name] if name == MODE else GAIN


class Table:
    @staticmethod
    @functools.cache
    def entry(k):
        return k * 0.5 + GAIN

    @functools.cached_property
    def width(self):
        return GAIN + 1.0


TABLE_OF = Table()"""

PREPARED = [
    "global GAIN, MODE",
    "GAIN, MODE = 0.75, 'b'",
    "gain.cache_clear(), chosen.cache_clear(), Table.entry.cache_clear(), scaled_by.cache_clear(), TABLE_OF.__dict__.clear()",
    "(gain(), chosen('a'), chosen('b'), Table.entry(1), TABLE_OF.width) if run != 1 else None",
    "GAIN, MODE = 0.25 + run, 'a'",
]


class Effects(Exotics):
    def effect_forms(self) -> list[str]:
        return [
            "logged_operands",
            "rebinding_operands",
            "logged_object",
            "consumed_iterator",
            "asked_iterator",
            "clean_up_in_loop",
            "clean_up_in_helper",
            "cached_with_globals",
            "copied_objects",
            "changing_module",
            "caught_numpy",
        ]

    def logged_operands(self, budget: int) -> bool:
        """Operands that append to a list, and an expression that depends on their order."""
        log, e, t = self.new("log"), self.new("e"), self.new("t")
        first, second = self.scalar(0), self.scalar(0)
        self.line(f"{log} = [{self.scalar(0)}]")
        self.line(f"def {e}(v, w=1):")
        self.line(
            f"    {log}.append({self.pick(f'v * len({log})', f'v + 0.5 * {log}[-1]', f'np.sin(v) * len({log})')})"
        )
        self.line(f"    return {self.pick('v * w', f'{log}[-1] * w', f'v + 0.1 * len({log})')}")
        a, b = f"{e}({first})", f"{e}({second}, 2)"
        form = self.pick(
            f"{{len([{a}]): {b}, 'k': {e}(0.3)}}[1]",
            f"(lambda u, *r, k=0.1, **o: u - sum(r) * k + len(o))({a}, *[{b}], k={e}(0.5))",
            f"(lambda *r, k: sum(v * (j + 1) for j, v in enumerate(r)) + k)(*{log}, k={a})",
            f"(lambda u, v: u - 2.0 * v)(v={a}, u={b})",
            f"[{a}, {b}, 0.5][int({e}(1.0) > 0) * 0 + len({log}) % 2]",
            f"(0.5 if {a} < {b} < {e}(0.4) else 1.5) * {first}",
            f"(0.5 if -9.0 < {a} <= {b} else sum({log}))",
            f"{log}[len([{a}]):len([{b}]) + 2][0]",
            f"({a} and {b} or {e}(0.2)) * {second}",
            f"({a} if {b} > 0 else {e}(0.7))",
            f"sum(({a}, {b}, *{log}))",
            f"np.dot([{a}, {b}], [{e}(0.3), {log}[-1]])",
            f"dict(u={a}, v={b})['u'] * len({log})",
            f"np.array([0.3, 0.9, 0.4])[len([{a}])] - {b} * len({log})",
            f"sum([{e}(v) for v in [{a}, {b}] if {e}(0.1) < 9.0])",
            f"({a} - {b}) / (2.0 + {e}(0.3) ** 2)",
            f"(w := {a}) * {b} + w",
            f"-{a} ** 2 + {b} * len({log})",
            f"max({a}, {b}, key=lambda v: {e}(v) * 0.0 + v)",
            f"len(f'{{len([{a}])}} {{len({log})}}') * {b}",
            f"{e}({e}({first}), len({log}))",
        )
        self.line(f"{t} = {form}")
        places = (
            f"{log}[0] += {a}",
            f"{log}[len([{a}]) - 1] = {b}",
            f"{log}[-1] *= np.sin({a})",
            f"{t} += {b}",
            f"{log}[0], {t} = {a}, {b} * len({log})",
        )
        if self.chance(0.6):
            self.line(self.pick(*places))
        self.scope.scalars.append(t)
        self.result(f"sum(v * (j + 1) for j, v in enumerate({log})) * 0.2")
        return True

    def rebinding_operands(self, budget: int) -> bool:
        """Operands that rebind a variable, or store into an array, that others read."""
        if self.in_helper:
            return False
        state, e, a, t = self.new("state"), self.new("e"), self.new("a"), self.new("t")
        self.line(f"{state}, {a} = {self.scalar(0)}, np.array([{self.scalar(0)}, {self.scalar(0)}, 0.5])")
        self.line(f"def {e}(v):")
        self.line(f"    nonlocal {state}")
        self.line(f"    {state} = np.sin({state} + v)")
        if self.chance(0.5):
            self.line(f"    {a}[{self.pick('0', '1', '1:', ':')}] {self.pick('+=', '*=', '=')} {state}")
        self.line(f"    return {self.pick(state, 'v * 0.5', f'{a}[0]')}")
        call = f"{e}({self.scalar(0)})"
        self.line(
            f"{t} = "
            + self.pick(
                f"{state} * {call} + {state}", f"{call} - {state} * {e}(0.3)", f"{state} + ({call} if {state} > 0 else 0.5)",
                f"np.sum({a} * {call})", f"{a}[0] * {call} + {a}[0]", f"{a}[1] - {call} * {a}[1]", f"sum([{state}, {call}, {state}, *{a}])",
                f"{{'u': {state}, 'v': {call}, 'w': {state}}}['w']", f"(0.3 if {state} < {call} < {state} + 1.0 else {state})",
                f"np.sum({a}[:2] + {call}) * {state}", f"(lambda u, v, k=0.0: u - v * k)({state}, {call}, k={state})",
            )
        )  # fmt: skip
        self.scope.scalars.append(t)
        if self.chance(0.5):
            self.line(
                self.pick(
                    f"{state} += {call}",
                    f"{a}[1] += {call}",
                    f"{a} *= {call}",
                    f"{t} -= {call} * {state}",
                    f"{a}[{a} > {call}] = {state}",
                )
            )
        self.result(f"{state} + np.sum({a} * [1.0, 2.0, 3.0])")
        return True

    def logged_object(self, budget: int) -> bool:
        """Special methods with effects."""
        self.define(LOGGED)
        o = self.new("o")
        self.line(f"{o} = Logged({self.scalar(0)})")
        for _ in range(self.random.randrange(1, 4)):
            v = self.scalar(0)
            self.line(
                self.pick(
                    f"{o}[2] += {v}",
                    f"{o}[1] = {o}[3] * {v}",
                    f"{o}.held {self.pick('+=', '*=', '=')} {v}",
                    f"{o}[0], {o}.held = {v}, 0.4",
                    f"if {v if self.chance(0.3) else '0.5'} in {o}:\n{'    ' * (self.indent + 1)}{o}[1] = 0.3",
                    f"if {o}:\n{'    ' * (self.indent + 1)}{o}.held = {v}",
                    f"while len({o}) < 4:\n{'    ' * (self.indent + 1)}{o}[1] -= {v}",
                    f"first, *rest = {o}\n{'    ' * self.indent}{o}[1] = first * 0.5 + sum(rest)",
                    f"{o}({v}, k={o}[1])",
                )
            )
        self.result(
            f"{self.pick(f'{o}(0.5, {o}[1], k={o}.held)', f'sum({o})', f'{o}[2]')} + sum({o}.log) * 0.3 + 0.1 * len({o}.log)"
        )
        return True

    def consumed_iterator(self, budget: int) -> bool:
        """The rest of an iterator, and its effects, after a consumer has taken the items that it needs."""
        if self.loops:
            return False
        self.define("import itertools")
        log, it, v, t, k = self.new("log"), self.new("it"), self.new("v"), self.new("t"), self.new("k")
        items = f"[{self.scalar(0)}, {self.scalar(0)}, 0.5, {self.scalar(0)}]"
        self.line(f"{log}, {k} = [], {self.scalar(0)}")
        seen = f"({log}.append(u), u * {k})[1]"
        self.line(
            f"{it} = {self.pick(f'({seen} for u in {items})', f'map(lambda u: {seen}, {items})', f'iter([{seen} for u in {items}])')}"
        )
        self.line(
            f"{t} = "
            + self.pick(
                f"next({it}) * len({log})", f"sum(itertools.islice({it}, 2)) * len({log})", f"(1.0 if any(len({log}) > 1 for u in {it}) else 0.5)",
                f"(1.0 if all(len({log}) < 3 for u in {it}) else 0.5)", f"sum(p * q for p, q in zip([1.0, 2.0], {it}))",
                f"sum(p * q for p, q in zip({it}, [1.0, 2.0]))", f"next((u for u in {it} if len({log}) == 2), 0.3)",
                f"sum(p - q for p, q in zip({it}, {it}))", f"sum(u for j, u in zip(range(2), {it}))", f"next({it}) - next({it}, 0.1)",
                f"(lambda first, *rest: first - sum(rest))(*{it})", f"sum(itertools.takewhile(lambda u: len({log}) < 2, {it}))",
                f"sum(u * j for j, u in enumerate({it}))", f"next(itertools.dropwhile(lambda u: len({log}) < 2, {it}))",
                f"sum(itertools.chain({it}, {log}))",
            )
        )  # fmt: skip
        if self.chance(0.5):
            self.line(f"{k} = {self.scalar(0)}")
        if self.chance(0.4):
            self.line(f"for {v} in {it}:")
            self.line(f"    {t} += {v} * len({log})")
            self.line(f"    {self.pick('break', 'pass', f'{k} = {k} * 0.5')}")
        self.scope.scalars.append(t)
        self.result(f"sum({it}) + sum({log}) * len({log}) * 0.3")
        return True

    def asked_iterator(self, budget: int) -> bool:
        """`max`, `min` and `sorted` with keys that count, and iterators of dictionaries."""
        log, d, v = self.new("log"), self.new("d"), self.new("v")
        self.line(f"{log} = []")
        self.line(f"{d} = {{'a': {self.scalar(0)}, 'b': {self.scalar(0)}, 'c': 0.4}}")
        key = f"key=lambda u: ({log}.append(u), u * u)[1]"
        self.result(
            self.pick(
                f"{self.pick('max', 'min')}({d}.values(), {key}) * len({log})",
                f"sorted({d}.values(), {key})[0] + sum({log})",
                f"{d}[next(iter({d}))] + len({log})",
                f"{d}[max({d}, key=lambda u: ({log}.append(0.5), {d}[u])[1])] * len({log})",
                f"next(({v} for {v} in reversed({d}.values()) if ({log}.append({v}), {v} > -0.2)[1]), 0.1) + sum({log})",
                f"sum({v} for {v} in filter(lambda u: ({log}.append(u), u > 0)[1], {d}.values())) - sum({log})",
                f"min(({d}[k] for k in {d}), default=0.0) * {d}.popitem()[1]",
            )
        )
        self.result(f"sum({log}) * 0.5 + len({log})")
        return True

    def clean_up_in_loop(self, budget: int) -> bool:
        """`break`, `continue` and exceptions of a loop's body that pass a `finally`."""
        t, u, i = self.new("t"), self.new("t"), self.new("i")
        self.line(f"{t}, {u} = {self.scalar(0)}, 0.5")
        self.line(f"for {i} in range({self.pick('3', '4', 'n')}):")
        self.line("    try:")
        self.line("        try:")
        self.line(f"            {t} = np.sin({t} + {self.scalar(0)})")
        self.line(f"            if {self.pick(self.condition(), f'{i} == 1', f'{t} > 0.4')}:")
        self.line(
            f"                {self.pick('break', 'continue', 'raise KeyError', 'raise ValueError(3)', f'{t} += [][{i}]', f'{t} = 0.5')}"
        )
        self.line(f"            {u} = {u} * {self.pick('0.5', t)}")
        self.line("        finally:")
        self.line(
            f"            {self.pick(f'{u} = {u} + {t} * 0.5', f'{t} = np.cos({t}) + {u}', f'{u} += {i} * {self.scalar(0)}')}"
        )
        self.line(f"    except {self.pick('(KeyError, IndexError)', 'LookupError', 'Exception')}:")
        self.line(f"        {self.pick(f'{t} = {t} * 0.5', f'{u} += 1.0', 'break', 'continue')}")
        self.line("    except ValueError:")
        self.line(f"        {self.pick(f'{t} = {u} * 0.5', 'pass')}")
        if self.chance(0.4):
            self.line("    else:")
            self.line(f"        {u} += {t}")
        if self.chance(0.4):
            self.line("    finally:")
            self.line(f"        {t} = {t} * 0.9")
        self.scope.scalars += [t, u]
        return True

    def clean_up_in_helper(self, budget: int) -> bool:
        """Functions that return from inside of a `try`, with effects in their clean-up."""
        self.define(
            "def tidy(v, notes):\n    try:\n        if v > 0.3:\n            return v * notes[5]\n        if v > 0.0:\n            return np.sin(v)\n"
            "        w = v * v\n    except IndexError:\n        notes.append(v)\n        return v * 0.5\n    finally:\n        notes.append(v * 0.25)\n    return w"
        )
        self.define(
            "def insist(v):\n    for k in range(3):\n        try:\n            if v > 0.5:\n                raise ValueError\n            return v * (k + 1)\n"
            "        except ValueError:\n            v = v * 0.4\n        finally:\n            v = v + 0.1\n    return v"
        )
        self.define(
            "class Guard:\n    def __init__(self, notes):\n        self.notes = notes\n\n    def __enter__(self):\n        return self\n\n"
            "    def __exit__(self, kind, error, trace):\n        self.notes.append(0.5 if kind else 1.5)\n        return kind is not None and issubclass(kind, LookupError)"
        )
        self.define(
            "def guarded_lookup(v, notes):\n    with Guard(notes) as guard:\n        guard.notes.append(v)\n        if v > 0.2:\n            return notes[7]\n        return v * 2.0\n    return v * v"
        )
        log = self.new("notes")
        self.line(f"{log} = [{self.scalar(0)}]")
        for _ in range(self.random.randrange(1, 3)):
            v = self.scalar(0)
            self.result(self.pick(f"tidy({v}, {log})", f"insist({v}) * {log}[-1]", f"guarded_lookup({v}, {log})"))
        self.result(f"sum({log}) * 0.5 + len({log})")
        return True

    def cached_with_globals(self, budget: int) -> bool:
        """Functions under a cache, whose values are those of their first calls."""
        self.define("import functools")
        self.define(CACHED)
        if PREPARED[0] not in self.preparations:
            self.preparations += PREPARED
        v = self.scalar(0)
        self.result(
            self.pick(
                f"gain() * {v}",
                f"chosen('{self.pick('a', 'b')}') * {v} + GAIN",
                f"Table.entry({self.pick('1', '2')}) * {v}",
                f"TABLE_OF.width * {v}",
                f"Table.entry(True) * {v} + Table.entry(1.0)",
                f"(gain() if MODE == 'a' else 0.3) * {v}",
                f"sum(chosen(k) * {v} for k in ('a', 'b'))",
            )
        )
        return True

    def copied_objects(self, budget: int) -> bool:
        """Deep copies: a shared object stays shared, and nothing is shared with the original."""
        a = self.vector()
        if a is None or self.loops:
            return False
        self.define("import copy")
        self.define(
            "class Node:\n    def __init__(self, v, link=None):\n        self.v, self.link = v, link\n        self.items = [v, v]"
        )
        o, c = self.new("o"), self.new("c")
        held = self.pick(f"{a} * 1.0", self.scalar(0), f"[{self.scalar(0)}, 0.5]")
        self.line(f"{o} = Node({held})")
        if self.chance(0.4):
            self.line(f"{o}.link = {self.pick(o, f'Node({o}.v, {o})', f'[{o}, {o}.items]')}")
        wrap = self.pick(f"[{o}, {o}]", f"{{'p': {o}, 'q': ({o}, {o}.items)}}", f"({o}, [{o}.items, {o}])")
        self.line(f"{c} = copy.{self.pick('deepcopy', 'deepcopy', 'copy')}({wrap})")
        first = f"{c}['p']" if wrap[0] == "{" else f"{c}[0]"
        second = f"{c}['q'][0]" if wrap[0] == "{" else f"{c}[1]" if wrap[0] == "[" else f"{c}[1][1]"
        if held[0] == "[":
            self.line(f"{first}.v[0] {self.op()} {self.scalar(0)}")
            self.line(f"{first}.items[1].append({self.scalar(0)})")
        elif "* 1.0" in held:
            self.line(f"{first}.v[{self.pick('0', '1:')}] {self.op()} {self.scalar(0)}")
            self.line(f"{o}.items[0][-1] *= {self.scalar(0)}")
        else:
            self.line(f"{first}.v = {self.scalar(0)}")
            self.line(f"{first}.items[0] = {first}.v * 2.0")
        self.line(f"{second}.items.append({second}.v)")
        self.result(
            f"np.sum({second}.v) * len({o}.items) + np.sum({second}.items[0]) - np.sum({o}.v) + (0.5 if {first} is {second} else 1.5) * s"
        )
        return True

    def op(self) -> str:
        return self.pick("=", "+=", "*=", "-=")

    def changing_module(self, budget: int) -> bool:
        """A function of a module that is replaced between calls."""
        self.define("import math")
        self.define("import types")
        self.define("library = types.ModuleType('library')\nlibrary.bend, library.rate = np.sin, 0.5\nOWN = math.sin")
        if "library.rate = 0.3 * run" not in self.preparations:
            self.preparations += [
                "global OWN",
                "library.bend = (np.sin, np.cos, np.tanh)[run]",
                "library.rate = 0.3 * run",
                "OWN = (math.sin, np.cos, math.cos)[run]",
            ]
        self.result(
            self.pick(
                f"library.bend({self.scalar(0)}) + library.rate",
                f"OWN({self.scalar(0)} * library.rate)",
                f"sum(map(library.bend, [{self.scalar(0)}, 0.3]))",
            )
        )
        return True

    def caught_numpy(self, budget: int) -> bool:
        """Calls for which NumPy raises."""
        a = self.vector()
        if a is None:
            return False
        t = self.new("t")
        self.line("try:")
        self.line(
            f"    {t} = "
            + self.pick(
                f"np.linalg.norm({a}, 1, axis=(0, 1))", f"np.rollaxis({a}, 1)[0]", f"np.average({a}, weights={a} - {a})", f"np.cumulative_sum(np.outer({a}, {a}))[0]",
                f"np.linalg.multi_dot([{a}])", f"np.vander(np.outer({a}, {a}))[0, 0]", f"np.dot({a}, {a}, out=np.zeros(3))", f"np.sum({a}, axis=1)",
                f"np.stack([{a}, {a}[1:]])[0, 0]", f"np.concatenate([{a}, {self.scalar(0)}])[0]", f"np.reshape({a}, (2, n))[0, 0]", f"({a} + {a}[1:])[0]",
                f"np.dot(np.ones((n, 2)), {a})[0]", f"{a}[n]", f"{a}.reshape(-1, n + 1)[0, 0]", f"np.linalg.solve(np.ones((n, n)) * 0.0, {a})[0]",
                f"np.cross({a}, np.ones(5))[0]", f"np.take({a}, n)", f"np.split({a}, n + 1)[0][0]", f"np.trapezoid({a}, np.ones(n + 1))", f"np.moveaxis({a}, 1, 0)[0]",
                f"np.argmax({a}[n:]) * {a}[0]", f"np.max({a}[n:])", f"np.add.reduce({a}, axis=(0, 1))", f"np.einsum('ij,j->i', {a}, {a})[0]",
            )
        )  # fmt: skip
        self.line(f"except {self.pick('Exception', '(ValueError, TypeError, IndexError, ZeroDivisionError)')}:")
        self.line(f"    {t} = {self.scalar(1)}")
        self.result(f"np.sum({t}) * 0.5 if np.all(np.isfinite({t})) else 0.25")
        return True
