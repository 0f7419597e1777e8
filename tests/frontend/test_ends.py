"""Iterators from the end of what changes, managers that look at all they are told, arrays without axes read in several
ways."""

import itertools

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.live_runs import module_of, outcome

REVERSED = {
    "grown": "it = reversed(l)\nl.append(5.0)\nr = next(it) * x + next(it)",
    "grown after one": "it = reversed(l)\nnext(it)\nl.append(9.0)\nr = sum(v * i for i, v in enumerate(it, 2)) * x",
    "stored": "it = reversed(l)\na = next(it)\nl[1] = x * x\nl[0] = x\nr = a * x + next(it) * next(it)",
    "grown by its loop": "for v in reversed(l):\n    r = r * x + v\n    l.append(v)\nr = r + sum(l)",
    "shrunk by its loop": "for v in reversed(l):\n    r = r * x + v\n    l.pop()",
    "removed": "k = [1, 2, 3, 4]\nfor v in reversed(k):\n    if v % 2 == 0:\n        k.remove(v)\nr = sum(k) * x * x",
    "another of this length": "it = reversed(l)\nl.pop()\nl.append(x * 7)\nr = next(it) * x",
    "sorted": "it = reversed(l)\nl.reverse()\nr = next(it) * x",
    "values": "d = {'a': x, 'b': 2.0}\nit = reversed(d.values())\nd['b'] = x * x\nr = next(it) * x + next(it)",
    "used up": "it = reversed(l)\nr = sum(it) * x\nl.append(9.0)\nr = r + sum(it)",
    "in a loop": "for i in range(2):\n    it = reversed(l)\n    r = r * x + next(it)\n    l.append(x)",
    "run time": "k = []\nfor i in range(5):\n    k.append(x * i)\n    for v in reversed(k):\n        r = r * x + v",
    "zipped": "z = zip(l, reversed(l))\nnext(z)\nl[2] = x * 9\nr = sum(a * b for a, b in z)",
}
MANAGERS = {
    "traceback": ("self.k = 2.0 if tb is None else 5.0", ""),
    "all": ("self.k = 3.0 + [t, v, tb].count(None)", ""),
    "passed on": (
        "self.k = 1.0\n        self.inner(t, v, tb)",
        "    def inner(self, *a):\n        self.k += sum(1 for u in a if u is None)",
    ),
    "truth": ("self.k = 7.0 if tb else 5.0", ""),
}  # fmt: skip
HEAD = """class M:
    def __enter__(self):
        return self
    def __exit__(self, t, v, tb):
        {exit}
        return True
{more}
def f(x):
    m, n = M(), M()
    with m:
        raise KeyError
    with n:
        y = x * x
    return y * m.k + n.k * x
"""


@pytest.mark.parametrize("name", REVERSED)
def test_reversed(name, tmp_path):
    body = REVERSED[name].replace("\n", "\n    ")
    text = f"def f(x):\n    l = [x, 2.0, x * 3]\n    r = 0.0\n    {body}\n    return r\n"
    assert outcome(module_of(text, tmp_path, "program").f) == "right"


@pytest.mark.parametrize("name", MANAGERS)
def test_what_a_manager_is_told(name, tmp_path):
    leave, more = MANAGERS[name]
    assert outcome(module_of(HEAD.format(exit=leave, more=more), tmp_path, "program").f) == "right"


READS = (
    "x[None][0]", "x[...]", "x[()]", "x.reshape(1)[0]", "np.atleast_1d(x)[0]", "x.ravel()[0]", "x.T", "float(x)",
    "np.cumsum(x)[0]", "np.sort(x, axis=None)[0]", "np.repeat(x, 2)[1]", "x.sum()", "np.broadcast_to(x, (2,))[1]",
)  # fmt: skip


def test_an_array_without_axes_read_in_several_ways(tmp_path):
    pairs = list(itertools.combinations(READS, 2))
    text = "import numpy as np\n" + "".join(
        f"def f{k}(x):\n    return {a} + {b} * {READS[k % len(READS)]}\n" for k, (a, b) in enumerate(pairs)
    )
    module = module_of(text, tmp_path, "program")
    for k, pair in enumerate(pairs):
        f = getattr(module, f"f{k}")
        slope = (f(np.array(0.7 + 1e-6)) - f(np.array(0.7 - 1e-6))) / 2e-6
        assert abs(ad.grad(f)(np.array(0.7)) - slope) < 1e-6, (pair, READS[k % len(READS)])


ITERATORS = {
    "itself": ("return self", "for v in It():\n        s = s + x * v * s + x"),
    "break": ("return self", "for v in It():\n        s = s + x * v\n        if v == 2:\n            break"),
    "another": ("return It()", "for v in C():\n        s = s + x * v\n        if v == 2:\n            break"),
    "next": ("return self", "it = iter(It())\n    s = next(it) * x + next(it) * x * x"),
}


@pytest.mark.parametrize("name", ITERATORS)
def test_an_iterator_class(name, tmp_path):
    made, body = ITERATORS[name]
    text = f"""class It:
    def __init__(self):
        self.n = 5
    def __iter__(self):
        return self
    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n
class C:
    def __iter__(self):
        {made}
def f(x):
    s = 0.0
    {body}
    return s * x
"""
    assert outcome(module_of(text, tmp_path, "program").f) == "right"
