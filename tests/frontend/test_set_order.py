"""Sets are gone through as Python does it: for every way to make a set, and every way to see its order."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.processes import refused, run_in_processes, wrong

WORDS = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta", "iota", "kappa", "lam", "mu"]
TABLE = "D = {w: 1.0 + k for k, w in enumerate(%r)}\nD.update({k: 0.5 + k for k in range(-3, 200)})\n" % (WORDS,)

# Ways to make a set `s`, of words or of numbers; what stands before the function, and in it.
MADE = {
    "two": ("", "s = {'alpha', 'beta'}"),
    "three": ("", "s = {'alpha', 'beta', 'gamma'}"),
    "seven": ("", "s = {'alpha', 'beta', 'gamma', 'delta', 'eps', 'zeta', 'eta'}"),
    "names": ("", "a, b = 'alpha', 'beta'\n    s = {a, b, 'gamma', 'delta', 'mu'}"),
    "stars": ("", "a = ['alpha', 'mu']\n    s = {'eta', *a, *{'iota', 'lam', 'kappa'}, 'beta'}"),
    "numbers": ("", "s = {8, 0, 16, 24, 1, 9, 33}"),
    "one table": ("", "s = {0, 8, 16}"),
    "signs": ("", "s = {-1, -2, 1, 7}"),
    "set of list": ("", "s = set(['alpha', 'beta', 'gamma', 'delta', 'eps', 'mu'])"),
    "set of string": ("", "s = set('abcdefgh')"),
    "set of dict": ("", "s = set({'alpha': 1, 'beta': 2, 'gamma': 3, 'mu': 4, 'lam': 5, 'eta': 6})"),
    "set of set": ("", "s = set({'alpha', 'beta', 'gamma', 'mu', 'lam', 'eta'})"),
    "frozen": ("", "s = frozenset(['alpha', 'beta', 'gamma', 'mu'])"),
    "frozen of set": ("", "s = frozenset({'alpha', 'beta', 'gamma', 'mu', 'eta'})"),
    "comprehension": ("", "s = {w[::-1][::-1] for w in ('alpha', 'beta', 'gamma', 'eta', 'mu', 'lam')}"),
    "added": ("", "s = set()\n    for w in ('mu', 'lam', 'alpha', 'beta', 'eta', 'eps'):\n        s.add(w)"),
    "removed": (
        "", "s = set(range(100))\n    for k in range(5, 100):\n        s.discard(k)\n    s.add(133)\n    s.add(101)"
    ),
    "popped": ("", "s = {'alpha', 'beta', 'gamma', 'mu', 'eta'}\n    s.pop()\n    s.add('eps')\n    s.pop()"),
    "union": ("", "s = {'alpha', 'beta', 'gamma'} | {'mu', 'lam', 'eta', 'eps'}"),
    "union method": ("", "s = {'alpha', 'beta'}.union(['mu', 'lam'], {'eta', 'eps'}, {'zeta': 1, 'iota': 2})"),
    "intersection": ("", "s = {'alpha', 'beta', 'gamma', 'mu', 'lam'} & {'mu', 'beta', 'alpha', 'eta', 'eps', 'zeta'}"),
    "difference": ("", "s = {'alpha', 'beta', 'gamma', 'mu', 'lam', 'eps'} - {'beta', 'eta'}"),
    "symmetric": ("", "s = {'alpha', 'beta', 'gamma', 'mu'} ^ {'beta', 'eta', 'eps', 'lam'}"),
    "in place": ("", "s = {'alpha', 'beta'}\n    s |= {'mu', 'eta', 'lam'}\n    s -= {'beta'}\n    s ^= {'mu', 'eps'}\n    s &= {'alpha', 'eta', 'lam', 'eps'}"),
    "update": ("", "s = {'alpha', 'beta'}\n    s.update(['mu', 'eta'], {'lam', 'eps'})\n    s.difference_update(['mu'])"),
    "copy": ("", "s = {'alpha', 'beta', 'gamma', 'mu', 'lam', 'eps'}.copy()"),
    "tuples": ("D.update({(w, k): 0.1 * k for w in %r for k in range(3)})\n" % (WORDS,), "s = {('alpha', 1), ('beta', 2), ('gamma', 0), ('mu', 1)}"),
    "number tuples": ("D.update({(j, k): 0.1 * j - k for j in range(9) for k in range(9)})\n", "s = {(1, 2), (2, 1), (0, 8), (8, 0), (3, 3)}"),
    "bytes": ("D.update({w.encode(): 0.1 + k for k, w in enumerate(%r)})\n" % (WORDS,), "s = {b'alpha', b'beta', b'gamma', b'mu'}"),
    "None": ("D[None] = 3.3\nD[...] = 4.4\n", "s = {None, 'alpha', 0, ..., 1}"),
    "floats": ("D.update({0.5: 2.2, 1.5: 0.3, -2.25: 7.1, float('inf'): 1.7})\n", "s = {0.5, 1.5, -2.25, float('inf'), 8}"),
    "enum": ("import enum\nK = enum.Enum('K', %r)\nD.update({k: 0.1 + k.value for k in K})\n" % (WORDS,), "s = {K.alpha, K.beta, K.gamma, K.mu}"),
    "functions": ("def p(): pass\ndef q(): pass\ndef r(): pass\nD.update({p: 1.5, q: 2.5, r: 0.5})\n", "s = {p, q, r}"),
    "classes": ("D.update({int: 1.5, str: 2.5, float: 0.5})\n", "s = {int, str, float}"),
    "global": ("S = {'alpha', 'beta', 'gamma', 'mu', 'eta'}\n", "s = S"),
    "global frozen": ("S = frozenset(['alpha', 'beta', 'gamma', 'mu', 'eta'])\n", "s = S"),
    "global union": ("S = {'alpha', 'beta', 'gamma'}\nT = frozenset(['mu', 'eta', 'lam'])\n", "s = S | T | {'eps'}"),
    "global grown": ("S = set(range(60))\nfor k in range(4, 60): S.discard(k)\nS.add(67)\nS.add(131)\n", "s = S | {9}"),
    "global numbers": ("S = {16, 8, 0}\n", "s = S"),
    "attribute": ("class O: pass\no = O()\no.s = {'alpha', 'beta', 'gamma', 'mu'}\n", "s = o.s"),
    "in a dict": ("C = {'s': {'alpha', 'beta', 'gamma', 'mu'}}\n", "s = C['s']"),
    "default": ("def helper(s=frozenset(['alpha', 'beta', 'gamma', 'mu'])):\n    return s\n", "s = helper()"),
    "helper": ("def helper():\n    return {'alpha', 'beta', 'gamma', 'mu', 'eta', 'lam'}\n", "s = helper()"),
    "closure": ("def make():\n    s = {'alpha', 'beta', 'gamma'}\n    return lambda: s\nhelper = make()\n", "s = helper()"),
    "nested": ("", "def inner():\n        return {'alpha', 'beta', 'gamma', 'mu', 'eta', 'lam'}\n    s = inner()"),
    "keys": ("", "s = {'alpha': 1, 'beta': 2, 'gamma': 3}.keys() | {'mu', 'eta'}"),
    "keys minus": ("", "s = {'alpha': 1, 'beta': 2, 'gamma': 3, 'mu': 4}.keys() - ['beta']" ),
    "branch": ("", "s = {'alpha', 'beta'}\n    if x > 0:\n        s.add('gamma')\n        s.add('mu')\n    else:\n        s.add('mu')\n        s.add('gamma')"),
    "same in both": ("", "s = {'alpha', 'beta'}\n    if x > 0:\n        s.add('gamma')\n        x = x * 2\n    else:\n        s.add('gamma')"),
    "in a loop": ("", "s = {'alpha'}\n    for k in range(3):\n        s |= {'gamma', 'mu', 'eta'}\n        x = x * 1.1"),
}  # fmt: skip

# Ways in which the order of `s` shows.
SEEN = {
    "for": "t = 0.0\n    for k in s:\n        t = t * 2 + D[k] * x * x\n    return t",
    "list": "t = 0.0\n    for n, k in enumerate(list(s)):\n        t = t + (n + 1) * D[k] * x\n    return t",
    "tuple": "return D[tuple(s)[0]] * x * x",
    "star": "a = [*s]\n    return D[a[-1]] * x",
    "unpack": "a, *b = s\n    return D[a] * x",
    "next": "return D[next(iter(s))] * x ** 3",
    "pop": "s = set(s)\n    return D[s.pop()] * x + 0.1 * D[s.pop()] * x * x",
    "key": "return D[sorted(s, key=lambda k: 0)[0]] * x",
    "max": "return D[max(s, key=lambda k: 1)] * x",
    "zip": "t = 0.0\n    for c, k in zip((3.0, 5.0, 7.0), s):\n        t = t + c * D[k] * x\n    return t",
    "comprehension": "t = [D[k] * x for k in s]\n    return t[0] - 2 * t[-1] * t[0]",
    "dict": "d = {k: D[k] * x for k in s}\n    return list(d.values())[0]",
    "fromkeys": "return D[list(dict.fromkeys(s))[1]] * x",
    "map": "t = list(map(lambda k: D[k] * x, s))\n    return t[0] * t[1] * t[1]",
    "reduce": "import functools\n    return functools.reduce(lambda a, k: a * 2 + D[k] * x, s, 0.0)",
    "enumerate": "return sum(n * D[k] * x for n, k in enumerate(s))",
    "yield from": "t = x\n    for k in (k for k in s):\n        t = t * 2 + D[k] * x\n    return t",
}
# Ways in which it does not.
UNSEEN = {
    "in": "return x * x if 'alpha' in s else x ** 3",
    "len": "return len(s) * x * x",
    "equal": "return x * x if s == set(list(s)) else x ** 3",
    "subset": "return x * x if s <= s | {'q'} else x ** 3",
}


def program(made: str, seen: str) -> str:
    before, inside = MADE[made]
    shows = SEEN[seen] if seen in SEEN else UNSEEN[seen]
    return f"{TABLE}{before}\ndef f(x):\n    {inside}\n    {shows}\n"


PROGRAMS = {
    f"{made}, {seen}": program(made, seen)
    for m, made in enumerate(MADE)
    for n, seen in enumerate([*SEEN, *UNSEEN])
    if (m + n) % 9 == 0 or seen == "for"
}


def test_every_order(tmp_path: Path) -> None:
    runs = run_in_processes(PROGRAMS, tmp_path, seeds=(1, 2, 3))
    assert wrong(runs) == []
    assert refused(runs) == set()
    steady = {
        name for name in PROGRAMS if name.startswith(("numbers,", "one table,", "signs,", "removed,", "number tuples,"))
    }
    unseen = {
        name
        for name in PROGRAMS
        if name.endswith((", in", ", len")) and "    s = {" in PROGRAMS[name] and "make()" not in PROGRAMS[name]
    }
    # The second process is the first that reads constants from compiled modules, where they may be laid out otherwise.
    compiled = {name for name, (_, count) in runs[2].items() if count}
    assert not compiled & steady, "an order that is the same in every process is kept on disk"
    assert not {n for n in compiled & unseen if "functions" not in n and "classes" not in n}, "no order is seen"


def test_an_order_that_changes_between_calls() -> None:
    """The same members in another order, and other members that are equal."""
    made = ad.grad(walked)
    orders = set()
    for numbers in ([0, 8, 16], [16, 8, 0], [8, 16, 0]):
        s = set()
        for k in numbers:
            s.add(k)
        orders.add(tuple(s))
        assert made(0.7, s) == pytest.approx(differences(lambda x: walked(x, s), 0.7))
    assert len(orders) > 1
    for s in ({0, 8}, {False, 8}, {0.0, 8}, {-0.0, 8.0}, frozenset([0, 8])):
        assert made(0.7, s) == pytest.approx(differences(lambda x: walked(x, s), 0.7))


def walked(x, s):
    t = 0.0
    for k in s:
        t = t * 2 + x**2 * (k + 1.0)
        if k is False:
            t = t + x
        if isinstance(k, float):
            t = t + math.copysign(3.0, k) * x
    return t


def test_an_argument_that_the_function_changes() -> None:
    """Of a set that is changed here and laid out elsewhere, the order is not known; its members are."""

    def changed(x, s):
        s = s | {"a"}
        s.discard("b")
        return x * x if "a" in s and "b" not in s else x

    def seen(x, s):
        s.add("a")
        return next(k * x for k in s)

    assert ad.grad(changed)(0.7, {"b", "c"}) == pytest.approx(1.4)
    with pytest.raises(ad.errors.UnsupportedError, match="order in which Python goes through this set"):
        ad.grad(seen)(0.7, {1, 2})
    with pytest.raises(ad.errors.ArgumentError, match="not reversible"):
        ad.grad(lambda x: x * len(list(reversed({1, 2}))))(0.7)
