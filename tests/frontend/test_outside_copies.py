"""A deep copy of what is found outside keeps which of it is one object, also where that changes between calls.

Each program runs in several processes over one disk cache; "steps" rebind what it finds.
"""

from tests.processes import run_in_processes, wrong

HEAD = """import copy, functools
import numpy as np
class O:
    def __init__(self, v): self.v = v
    def go(self, k=1.0): return self.v * k
"""
# What G is, how it is changed, and what the function does with a copy of it.
PLACES = {
    "list": ("[1.0, 2.0]", "{}[0] = x * x", "{}[0] * x"),
    "dict": ("{{'k': 1.0}}", "{}['k'] = x * x", "{}['k'] * x"),
    "array": ("np.ones(2)", "{}[0] = x * x", "{}[0] * x"),
    "object": ("O(1.0)", "{}.v = x * x", "{}.v * x"),
    "record": ("O(np.ones(2))", "{}.v[0] = x * x", "{}.v[0] * x"),
}
HOLDERS = {
    "dict": ("{{'a': {0}, 'b': {1}}}", "{}['a']", "{}['b']", "{}['b'] = {}"),
    "list": ("[{0}, [{1}]]", "{}[0]", "{}[1][0]", "{}[1][0] = {}"),
    "tuple": ("({0}, [{1}])", "{}[0]", "{}[1][0]", "{}[1][0] = {}"),
    "object": ("O({{'a': {0}, 'b': {1}}})", "{}.v['a']", "{}.v['b']", "{}.v['b'] = {}"),
}


def program(thing, holder):
    make, change, ask = PLACES[thing]
    hold, first, second, rebind = HOLDERS[holder]
    make = make.format()
    return f"""{HEAD}
ONE, OTHER = {make}, {make}
G = {hold.format("ONE", "ONE")}
def f(x):
    p = copy.deepcopy(G)
    {change.format(first.format("p"))}
    return {ask.format(second.format("p"))} + {ask.format(second.format("G"))} * 3.0
def apart(): {rebind.format("G", "OTHER")}
def one(): {rebind.format("G", "ONE")}
steps = [apart, one]
"""


PROGRAMS = {f"{thing} in {holder}": program(thing, holder) for thing in PLACES for holder in HOLDERS} | {
    "two globals": HEAD
    + """
a = np.ones(2)
b = a
def f(x):
    p, q = copy.deepcopy((a, b))
    p[0] = x * x
    return q[0] * x
def s():
    global b
    b = np.ones(2)
steps = [s]
""",
    "item of a list and the list": HEAD
    + """
l = [[1.0], [2.0]]
G = (l, l[0])
def f(x):
    p = copy.deepcopy(G)
    p[1].append(x)
    return sum(p[0][0]) * x
""",
    "array of an object and the array": HEAD
    + """
o = O(np.ones(2))
G = [o, o.v]
def f(x):
    p = copy.deepcopy(G)
    p[0].v[1] = x * x
    return p[1][1] * x
def s(): o.v = np.ones(2)
steps = [s]
""",
    "method of an object": HEAD
    + """
def f(x):
    o = O(x)
    o.cb = [o.go, functools.partial(o.go, 3.0)]
    p = copy.deepcopy(o)
    p.v = 5 * x * x
    return p.cb[0]() + p.cb[1]() * x + o.cb[1]()
""",
    "partial of a list": HEAD
    + """
def f(x):
    l = [x]
    g = copy.deepcopy(functools.partial(lambda a, b: a[0] * b, l))
    l[0] = 5 * x
    return g(x)
""",
    "bound on one path": HEAD
    + """
def f(x):
    o = O(2.0)
    if x > 0.5:
        o.l = [x]
    p = copy.deepcopy(o)
    p.l.append(x * x)
    return sum(p.l) + sum(o.l) * 3.0
""",
    "built-in method": HEAD
    + """
def f(x):
    l = [x]
    m, add = copy.deepcopy((l, l.append))
    add(x * x)
    return sum(l) * 10 + sum(m)
""",
}


def test_copies_of_what_is_outside(tmp_path):
    runs = run_in_processes(PROGRAMS, tmp_path, seeds=(1, 2))
    assert wrong(runs) == []
    assert [(name, v) for name, (verdicts, _) in runs[0].items() for v in verdicts if v != "right"] == []
