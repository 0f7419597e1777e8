"""Random programs about lists of dictionaries and of lists, whose items change in place and are shared."""

from __future__ import annotations

import random

HEAD = """
def f(a, b, c, s, n):
    i = 0
    L = [{"v": a * 1.0, "k": s}, {"v": b * 2.0, "k": 1.0}]
    M = []
    g = [[s, 1.0], [2.0, s]]
    d = L[0]
    r = g[1]
"""
RESULT = """    out = d["k"] + 2.0 * np.sum(d["v"]) + 3.0 * r[0] + r[-1]
    for e in L:
        out = out * 1.1 + e["k"] + np.sum(e["v"] * a)
    for e in M:
        out = out * 0.9 + e["k"] * 2.0 + np.sum(e["v"])
    for q in g:
        out = out * 1.2 + q[0] - 2.0 * q[-1] + len(q)
    return out
"""


class Generator:
    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.depth = 0

    def index(self, name: str) -> str:
        return self.rng.choice(["0", "-1", "1", f"i % len({name})", f"(i + 1) % len({name})", "n - 3"])

    def number(self) -> str:
        return self.rng.choice(
            ["s", "1.5", "d['k']", "L[0]['k']", "float(a[1])", "r[0] * 0.5", f"g[{self.index('g')}][0]"]
        )

    def array(self) -> str:
        return self.rng.choice(["a", "b * 2", "d['v']", "d['v'] * 2", f"L[{self.index('L')}]['v']", "c.copy()"])

    def record(self) -> str:
        fresh = f"{{'v': {self.array()}, 'k': {self.number()}}}"
        return self.rng.choice([fresh, fresh, "d", f"L[{self.index('L')}]", "M[-1]"])

    def row(self) -> str:
        fresh = f"[{self.number()}, {self.number()}]"
        return self.rng.choice([fresh, fresh, "r", f"g[{self.index('g')}]"])

    def statement(self, indent: int) -> list[str]:
        pad = "    " * indent
        simple = [
            f"L.append({self.record()})",
            f"M.append({self.record()})",
            f"d = {self.record()}",
            f"d['k'] = {self.number()}",
            f"d['v'] = {self.array()}",
            f"d['v'][0] = {self.number()}",
            f"L[{self.index('L')}]['k'] += {self.number()}",
            f"L[{self.index('L')}]['v'][1] = {self.number()}",
            f"L[{self.index('L')}]['v'] = {self.array()}",
            f"L[{self.index('L')}] = {self.record()}",
            "d = L.pop()",
            f"d = L.pop({self.rng.choice(['0', 'i % len(L)'])})",
            f"L.insert({self.rng.choice(['0', 'i'])}, {self.record()})",
            self.rng.choice(["L.reverse()", "L = list(L)", "L = L[1:] + L[:1]", "M = L", "M = L[:]", "L, M = M, L"]),
            "L.sort(key=lambda e: e['k'])",
            "d = max(L, key=lambda e: e['k'])",
            f"g[{self.index('g')}][0] = {self.number()}",
            f"r = {self.row()}",
            f"r[{self.rng.choice(['0', '-1', 'i % 2'])}] = {self.number()}",
            f"r.append({self.number()})",
            f"g.append({self.row()})",
            f"g[{self.index('g')}] = {self.row()}",
            f"g[{self.index('g')}].append({self.number()})",
            "g[0], g[1] = g[1], g[0]",
            f"s = s * 0.5 + {self.number()}",
            self.rng.choice(["r = g.pop()", "r = g.pop(0)", "g = [list(q) for q in g]", "g = [r, r]"]),
        ]
        kind = self.rng.randrange(len(simple) + 9)
        if kind < len(simple):
            return [pad + simple[kind]]
        if indent >= 4:
            return [f"{pad}s = s + 1.0"]
        kind -= len(simple)
        if kind == 0:
            return [f"{pad}for e in L:", f"{pad}    e['k'] = e['k'] * 2 + s", f"{pad}    e['v'] += {self.number()}"]
        if kind == 1:
            return [f"{pad}for q in g:", f"{pad}    q[0] = q[-1] + {self.number()}"]
        if kind < 5:
            condition = self.rng.choice(["s > 0", "a[1] > 0.3", "len(L) > 2", "d['k'] > 1"])
            lines = [f"{pad}if {condition}:", *self.block(indent + 1)]
            if self.rng.random() < 0.5:
                lines += [f"{pad}else:", *self.block(indent + 1)]
            return lines
        return [f"{pad}for i in range({self.rng.choice(['2', '3', 'n'])}):", *self.block(indent + 1)]

    def block(self, indent: int) -> list[str]:
        return [line for _ in range(self.rng.randrange(1, 4)) for line in self.statement(indent)]

    def program(self) -> str:
        lines = [line for _ in range(self.rng.randrange(3, 8)) for line in self.statement(1)]
        return "import numpy as np\n" + HEAD + "\n".join(lines) + "\n" + RESULT
