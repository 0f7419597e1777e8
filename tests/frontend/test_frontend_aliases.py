"""Random programs whose names, tuples, lists, dictionaries and attributes share arrays: lowered right, or refused."""

from __future__ import annotations

import collections
import copy
import linecache
import random
import warnings
from typing import Any

import numpy as np
import pytest

from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.frontend.lower import lower
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.lowered import fetch
from autodiff_compiler.tree import unflatten

NAMES = "abc"

HEAD = """import numpy as np

class O:
    def __init__(self, v):
        self.v = v

def mutate(z, k):
    z[0] = k
    z *= 0.5

def pick(z, w, k):
    if k > 1:
        return z
    return w

def f(a, b, c, s, n):
    i = 0
    L = [a, b]
    t = (a, c)
    d = {'p': b, 'q': c * 2}
    o = O(c)
"""

RESULT = (
    "    return a.sum() + 2 * b.sum() + 3 * c.sum() + sum([5 * v[0] + v[2] for v in L]) + 7 * t[0][1] + t[1].sum()"
    " + d['p'].sum() + d['q'][0] + o.v[3] + s\n"
)


class Generator:
    """Makes one program from a seed."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.loops = 0
        self.whiles = 0

    def pick(self, options: list[str]) -> str:
        return self.rng.choice(options)

    def name(self) -> str:
        return self.rng.choice(NAMES)

    def array(self) -> str:
        n, m = self.name(), self.name()
        return self.pick(
            [n, n, n, f"{n}[::-1]", f"{n}[:]", f"{n}.copy()", f"{n} * 2", f"({n} if {self.condition()} else {m})"]
            + ["L[0]", "L[-1]", "t[0]", "t[1]", "d['p']", "d['q']", f"pick({n}, {m}, {self.number()})", "o.v"]
        )

    def number(self) -> str:
        n = self.name()
        return self.pick([f"{n}[{self.rng.randrange(4)}]", "s", "1.5", f"{n}.sum()", "len(L)"])

    def condition(self) -> str:
        return self.pick(
            [f"s > {self.rng.choice([0, 1, 2])}", f"{self.name()}[1] > 0.5", f"{self.name()}[2] < s and s < 2"]
        )

    def statement(self, indent: int) -> list[str]:
        pad, n = "    " * indent, self.name()
        kind = self.rng.randrange(30)
        if kind < 4:
            return [f"{pad}{n} = {self.array()}"]
        if kind < 8:
            return [f"{pad}{n}[{self.pick(['0', '1', '1:', '::2', 'i'])}] = {self.number()}"]
        if kind < 22:
            simple = [
                f"{n}[:] = {self.array()}",
                f"{n} += {self.pick(['1', self.array()])}",
                f"{n}, {self.name()} = {self.array()}, {self.array()}",
                f"L.append({self.array()})",
                f"L[{self.pick(['0', '-1', 'i'])}] = {self.array()}",
                f"t = ({self.array()}, {self.array()})",
                f"d['{self.pick(['p', 'q'])}'] = {self.array()}",
                f"mutate({self.array()}, {self.number()})",
                f"s = s + {self.number()}",
                f"L = {self.pick(['[a, b]', 'L', '[a, a]', 'list(L)'])}",
                f"o.v = {self.array()}",
                f"o.v[1] = {self.number()}",
                "L[0][2] += 1",
                "t[1][0] = s",
            ]
            return [pad + simple[kind - 8]]
        if kind == 22:
            return [f"{pad}if {self.condition()}:", f"{pad}    return a.sum() + 2 * b.sum() + L[0].sum()"]
        if kind == 23 and self.loops:
            return [f"{pad}if {self.condition()}:", f"{pad}    {self.pick(['break', 'continue'])}"]
        if indent >= 4:
            return [f"{pad}s = s * 0.5"]
        if kind < 27:
            lines = [f"{pad}if {self.condition()}:", *self.block(indent + 1)]
            if self.rng.random() < 0.6:
                lines += [f"{pad}else:", *self.block(indent + 1)]
            return lines
        self.loops += 1
        if self.rng.random() < 0.7:
            lines = [f"{pad}for i in range({self.pick(['2', '3', 'n'])}):", *self.block(indent + 1)]
        else:
            self.whiles += 1
            w = f"w{self.whiles}"
            lines = [f"{pad}{w} = 0", f"{pad}while {w} < 3 and {self.condition()}:", f"{pad}    {w} += 1"]
            lines += self.block(indent + 1)
        self.loops -= 1
        return lines

    def block(self, indent: int) -> list[str]:
        return [line for _ in range(self.rng.randrange(1, 4)) for line in self.statement(indent)]

    def program(self) -> str:
        lines = [line for _ in range(self.rng.randrange(3, 9)) for line in self.statement(1)]
        return HEAD + "\n".join(lines) + "\n" + RESULT


def check(source: str, seed: int) -> str:
    """ "ok", "refused", "skip" or what is wrong."""
    name = f"<aliases {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": "aliases"}
    exec(compile(source, name, "exec"), namespace)
    f = namespace["f"]
    rng = np.random.default_rng(seed)
    lowered = None
    for _ in range(3):
        args = (rng.normal(size=4), rng.normal(size=4), rng.normal(size=4), float(rng.normal()), 3)
        try:
            want = f(*copy.deepcopy(args))
        except Exception:
            return "skip"
        try:
            if lowered is None:
                lowered = lower(f, copy.deepcopy(args))
                verify(lowered.function)
        except AutodiffError as error:
            return "crash" if "cannot handle" in str(error) else "refused"
        leaves = [fetch(i.path, args) for i in lowered.inputs]
        got = unflatten(lowered.out, interpret(lowered.function, leaves))
        if not np.allclose(got, want, rtol=1e-9, equal_nan=True):
            return f"WRONG: {got} instead of {want}"
    return "ok"


def test_random_aliases() -> None:
    counts: collections.Counter[str] = collections.Counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(400):
            source = Generator(seed).program()
            verdict = check(source, seed)
            assert verdict in ("ok", "refused", "skip"), f"seed {seed}: {verdict}\n{source}"
            counts[verdict] += 1
    assert counts["ok"] > 160, counts


# Bodies of f that were wrong once.
REGRESSIONS = {
    "items of a list that gets a dynamic length": """
    if len(L) < c.sum():
        pass
    else:
        L.append(c)
    b += 1
""",
    "a copied list shares its items": """
    for i in range(2):
        L = list(L)
        L[0][2] += 1
    a[1] = s
""",
    "items of a tuple that a loop carries": """
    for i in range(2):
        L = list(L)
        t[1][0] = s
    c[1] = 2.0
""",
    "an assignment on a path that is never taken": """
    for i in range(2):
        if len(L) > 3:
            t = (L[1], a)
        a[1] = a[3]
""",
    "a list joined behind a return": """
    L.append(c)
    if a[2] < len(L):
        if c[1] > 0:
            return a.sum() + 2 * b.sum() + L[0].sum()
        L = [a, a]
""",
    "a list that grows while its items stay": """
    for i in range(3):
        L.append(a)
    a[0] = 1.0
""",
    "a growing list does not change its items": """
    for i in range(3):
        L.append(np.tanh(L[-1]) + a)
""",
}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regression(name: str) -> None:
    source = HEAD + REGRESSIONS[name] + RESULT
    for seed in range(3):
        verdict = check(source, seed)
        assert verdict in ("ok", "refused"), verdict
