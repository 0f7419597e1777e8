"""A helper that changes its argument in place and returns it: the loop around it stays the loop that was written."""

from __future__ import annotations

import functools
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

HELPERS = """
import numpy as np

def relax(p, b):
    p[1:-1] = 0.5 * (p[2:] + p[:-2]) + b[1:-1]
    return p

def relax_view(p, b):
    p[1:-1] = 0.5 * (p[2:] + p[:-2]) + b[1:-1]
    return p[:]

def relax_dots(p, b):
    p[1:-1] = 0.5 * (p[2:] + p[:-2]) + b[1:-1]
    return p[...]

def flat(p, b):
    p[0] = p[1] * b[0]
    return p.reshape(-1)

def as_array(p, b):
    p = np.asarray(p)
    p[0] = p[1] * b[0]
    return p

def jacobi(p, q, b):
    q[1:-1] = 0.5 * (p[2:] + p[:-2]) + b[1:-1]
    return q, p

def in_order(p, q, b):
    q[1:-1] = p[2:] * b[1:-1]
    return p, q

def sometimes(p, b):
    if p[0] > b[0]:
        p[1:-1] = 0.5 * (p[2:] + p[:-2])
    return p

def early(p, b):
    if p[0] > b[0]:
        p[0] *= 0.9
        return p
    if p[1] > b[1]:
        return p
    p[1:-1] = 0.5 * (p[2:] + p[:-2])
    return p

def or_copy(p, b):
    if p[0] > 0.5:
        return p * 0.5
    p[1] = p[0] * b[1]
    return p

def twice(p, b):
    p = relax(p, b)
    return relax(p, b * 2.0)

def often(p, b):
    for _ in range(2):
        p = relax(p, b)
    return p

def deep(p, b, k):
    return p if k == 0 else deep(relax(p, b), b, k - 1)

def with_sum(p, b):
    relax(p, b)
    return p, np.sum(p)

def in_dict(p, b):
    relax(p, b)
    return {"p": p, "s": np.sum(p)}

def in_list(p, b):
    return [relax(p, b), np.sum(p)]

def first_of(state, b):
    relax(state[0], b)
    return state

def rebuilt(state, b):
    p, q = state
    relax(p, b)
    return p, q

def keyed(d, b):
    relax(d["p"], b)
    d["k"] = d["k"] * b[0] + 1.0
    return d

def push(items, v):
    items.append(v)
    return items

def clamp(p):
    p[0] = 0.0
    p[-1] = p[-2]
    return p

def norm(p):
    p /= np.sqrt(np.sum(p * p))
    return p

def named(p=None, b=None, *, c=0.5):
    p[0] = p[1] * c
    return p

def adam(params, m, g):
    for k in range(len(params)):
        m[k] = 0.9 * m[k] + 0.1 * g[k]
        params[k] = params[k] - 0.1 * m[k]
    return params, m

class Grid:
    def __init__(self, u):
        self.u = u
        self.v = u * 0.5
        self.t = 0.0

    def step(self, b):
        self.u[1:-1] += 0.1 * (self.v[2:] - self.v[:-2]) * b[1:-1]
        self.t += 0.1
        return self

    def swap(self):
        self.u, self.v = self.v, self.u
        return self

    def damp(self):
        self.u = self.u * 0.9
        return self
"""

# What stands before the loop, in it, and what is returned. `p` is a copy of the argument x.
LOOPS = {
    "itself": ("", "p = relax(p, b)", "np.sum(p * p)"),
    "a whole view": ("", "p = relax_view(p, b)", "np.sum(p * p)"),
    "an ellipsis": ("", "p = relax_dots(p, b)", "np.sum(p * p)"),
    "a reshaped view": ("", "p = flat(p, b)", "np.sum(p * p)"),
    "as an array": ("", "p = as_array(p, b)", "np.sum(p * p)"),
    "two buffers": ("q = x * 2.0", "p, q = jacobi(p, q, b)", "np.sum(p * q)"),
    "two buffers, one of them read": ("q = x * 2.0", "p, q = jacobi(p, q, b)\nq[0] = p[1]", "np.sum(p * q)"),
    "two buffers in a tuple": ("s = (p, x * 2.0)", "s = jacobi(*s, b)", "np.sum(s[0] * s[1])"),
    "two buffers in a list": ("s = [p, x * 2.0]", "s[0], s[1] = jacobi(s[0], s[1], b)", "np.sum(s[0] * s[1])"),
    "two that stay": ("q = x * 2.0", "p, q = in_order(p, q, b)\nq, p = in_order(q, p, b)", "np.sum(p * q)"),
    "two bindings": ("q = x * 2.0", "p = relax(p, q)\nq = relax(q, p)", "np.sum(p * q)"),
    "stored on a condition": ("", "p = sometimes(p, b)", "np.sum(p * p)"),
    "early returns": ("", "p = early(p, b)", "np.sum(p * p)"),
    "itself or a copy": ("", "p = or_copy(p, b)", "np.sum(p * p)"),
    "a helper of a helper": ("", "p = twice(p, b)", "np.sum(p * p)"),
    "a loop in the helper": ("", "p = often(p, b)", "np.sum(p * p)"),
    "a recursion": ("", "p = deep(p, b, 2)", "np.sum(p * p)"),
    "in a tuple": ("s = 0.0", "p, t = with_sum(p, b)\ns += t", "np.sum(p * p) + s"),
    "in a dict": ("s = 0.0", "r = in_dict(p, b)\np = r['p']\ns += r['s']", "np.sum(p * p) + s"),
    "in a list": ("s = 0.0", "p, t = in_list(p, b)\ns += t", "np.sum(p * p) + s"),
    "a tuple": ("s = (p, 1.0)", "s = first_of(s, b)", "np.sum(s[0] ** 2)"),
    "a tuple made anew": ("s = (p, x * 2.0)", "s = rebuilt(s, b)", "np.sum(s[0] * s[1])"),
    "a list": ("s = [p, x * 2.0]", "s = first_of(s, b)", "np.sum(s[0] * s[1])"),
    "a dict": ("d = {'p': p, 'k': 1.0}", "d = keyed(d, b)", "np.sum(d['p'] ** 2) * d['k']"),
    "a list that grows": ("s = [x[0]]", "s = push(s, s[-1] * b[1])", "sum(s)"),
    "an object": ("g = Grid(p)", "g = g.step(b)", "np.sum(g.u * g.v) * g.t"),
    "a chain": ("g = Grid(p)", "g = g.step(b).swap().damp()", "np.sum(g.u * g.v) * g.t"),
    "an attribute": ("g = Grid(p)", "g.u = relax(g.u, b)", "np.sum(g.u * g.v)"),
    "an object of two names": ("g = Grid(p)\nh = g", "g = g.step(b)\nh.v[0] *= 0.5", "np.sum(g.u * h.v)"),
    "an array of two names, read": ("q = p\ns = 0.0", "p = relax(p, b)\ns += q[1]", "s"),
    "an array of two names, stored to": ("q = p", "p = relax(p, b)\nq[0] *= 0.5", "np.sum(p * q)"),
    "a view of it, read": ("q = p[1:-1]\ns = 0.0", "p = relax(p, b)\ns += np.sum(q)", "s"),
    "an attribute of two names": ("g = Grid(p)\nu = g.u", "u = relax(u, b)\ng.step(b)", "np.sum(g.u * u)"),
    "a row": ("m = np.zeros((3, len(x)))\nm[0] = x\nr = m[0]", "r = relax(r, b)", "np.sum(m * m)"),
    "an item": ("d = [p, x * 3.0]", "d[0] = relax(d[0], b)", "np.sum(d[0] * d[1])"),
    "out=": ("", "p = np.add(p, b, out=p)\np = np.multiply(p, 0.9, out=p)", "np.sum(p * p)"),
    "a walrus": ("", "np.sum(p := relax(p, b))", "np.sum(p * p)"),
    "by keywords": ("", "p = named(b=b, p=p, c=b[0])", "np.sum(p * p)"),
    "an augmented assignment": ("", "p += 0.1 * b\np = clamp(p)", "np.sum(p * p)"),
    "a fresh array": ("", "p = norm(p * b)", "np.sum(p * b)"),
    "a copy in the loop": ("", "o = p.copy()\np[1:] = o[:-1] * b[1:]\np = clamp(p)", "np.sum(p * p)"),
    "branches": ("", "if p[0] > 0.2:\n    p = relax(p, b)\nelse:\n    p = clamp(p)", "np.sum(p * p)"),
    "a conditional expression": ("", "p = clamp(p) if p[0] > 0.2 else relax(p, b)", "np.sum(p * p)"),
    "try": ("", "try:\n    p = clamp(p)\nfinally:\n    p = relax(p, b)", "np.sum(p * p)"),
    "break": ("", "p = relax(p, b)\nif np.sum(p) > 3.9:\n    break", "np.sum(p * p)"),
    "continue": ("", "p = relax(p, b)\nif p[1] > 0.5:\n    continue\np = clamp(p)", "np.sum(p * p)"),
    "return": ("", "p = relax(p, b)\nif np.sum(p) > 3.9:\n    return np.sum(p)", "np.sum(p * p)"),
    "an inner loop": ("", "for _ in range(2):\n    p = relax(p, b)\np = relax(p, b)", "np.sum(p * p)"),
    "three loops": (
        "",
        "for _ in range(2):\n    for _ in range(2):\n        p = relax(p, b)\n    p = clamp(p)",
        "np.sum(p * p)",
    ),
    "an optimiser": (
        "w, m = [x * 1.0, x * 2.0], [x * 0.0, x * 0.0]",
        "g = [v * b for v in w]\nw, m = adam(w, m, g)",
        "np.sum(w[0] * w[1])",
    ),
    "a nested function": (
        "def step():\n    nonlocal p\n    p = relax(p, b)\n    return p\ns = 0.0",
        "s += np.sum(step())",
        "s",
    ),
}

STAY = list(LOOPS)
LOOPS["the bare call"] = ("", "relax(p, b)", "np.sum(p * p)")

HEADS = {
    "for": ("", "for k in range({n}):", ""),
    "while": ("k = 0", "while k < {n}:", "k += 1"),
    "for over an array": ("", "for k in b[:{n}]:", ""),
}


@functools.cache
def program(name: str, head: str, n: int, folder: Path) -> Any:
    before, body, result = LOOPS[name]
    setup, line, step = HEADS[head]
    lines = [*setup.splitlines(), *before.splitlines(), line.format(n=n)]
    inside = [*step.splitlines(), *body.splitlines()]
    text = "\n    ".join(["def f(x, b):", "p = x * 1.0", *lines, *["    " + s for s in inside], f"return {result}"])
    file = folder / f"program{len(list(folder.iterdir()))}.py"
    file.write_text(f"{HELPERS}\n\n{text}\n")
    return runpy.run_path(str(file))["f"]


X = np.array([0.7, 0.3, 0.9, 0.2, 0.5, 0.4])
B = np.array([0.3, 0.2, 0.15, 0.3, 0.2, 0.1])


def lines_of(f: Any) -> int:
    return len(ad.grad(f).source(X.copy(), B.copy()).splitlines())


@pytest.mark.parametrize("name", STAY)
@pytest.mark.parametrize("head", HEADS)
def test_the_loop_stays_a_loop(name: str, head: str, tmp_path: Path) -> None:
    f = program(name, head, 9, tmp_path)
    source = ad.grad(f).source(X.copy(), B.copy())
    assert re.search(r"^ +(for|while) .*:$", source, re.MULTILINE)
    # As long for any number of trips.
    assert lines_of(program(name, head, 300, tmp_path)) == len(source.splitlines()) < 100
    np.testing.assert_allclose(ad.grad(f)(X.copy(), B.copy()), differences(f, X, B), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", STAY)
def test_second_order(name: str, tmp_path: Path) -> None:
    f = program(name, "for", 2, tmp_path)

    def slope(x: Any, b: Any) -> Any:
        return np.sum(np.sin(ad.grad(f)(x, b)))

    np.testing.assert_allclose(ad.grad(slope)(X.copy(), B.copy()), differences(slope, X, B), rtol=1e-4, atol=1e-6)


def test_as_short_as_the_bare_call(tmp_path: Path) -> None:
    bare = program("the bare call", "for", 100, tmp_path)
    assert lines_of(program("itself", "for", 100, tmp_path)) == lines_of(bare)


# A part of an array on one path, another part on the other: stores through either name, and reads of both.
PARTS = {
    "shorter in each trip": ("p[0] = p[1] * b[0]\np = p[1:]", "np.sum(p * p)"),
    "turned around": ("p[0] = p[1] * b[0]\np = p[::-1]", "np.sum(p * p * b)"),
    "at times turned around": ("if p[2] > 0.5:\n    p = p[::-1]\np[0] = p[1] * b[0]", "np.sum(p * p * b)"),
    "one of two parts, read": ("q = p[1:] if p[2] > 0.5 else p[:-1]\np[0] = np.sum(q) * 0.3", "np.sum(p * p * b)"),
    "one of two parts, changed": ("q = p[1:] if p[2] > 0.5 else p[:-1]\nq *= b[1:]", "np.sum(p * p * b)"),
    "both": ("q = p[1:] if p[2] > 0.5 else p[:-1]\nq[0] = b[0]\np[1] = q[1] * p[2]", "np.sum(p * p * b)"),
}
LOOPS.update({name: ("", *rest) for name, rest in PARTS.items()})


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("head", HEADS)
def test_parts_that_differ(name: str, head: str, tmp_path: Path) -> None:
    f = program(name, head, 3, tmp_path)
    np.testing.assert_allclose(ad.grad(f)(X.copy(), B.copy()), differences(f, X, B), rtol=1e-5, atol=1e-7)
