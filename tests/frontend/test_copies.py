"""Copies share what they share in Python, and no more: deepcopy keeps aliases inside of what it copies."""

import copy
import sys

import pytest

import autodiff_compiler as ad
from tests.live_runs import HEAD, module_of, outcome

PROGRAMS = {
    "deepcopy pair": """
b = [x, x]
q = copy.deepcopy([b, b])
q[0][0] = 3 * x
r = q[1][0] + b[0]""",
    "deepcopy arrays": """
q = copy.deepcopy([a, a])
q[0][0] = 3 * x
r = q[1][0] + a[0]""",
    "deepcopy arrays tuple": """
q = copy.deepcopy((a, [a]))
q[0][0] = 3 * x
r = q[1][0][0] + a[0]""",
    "deepcopy dict": """
q = copy.deepcopy({'a': a, 'b': a, 'l': l, 'm': [l]})
q['a'][0] = 3 * x
q['l'][0] = 5 * x
r = q['b'][0] + q['m'][0][0] + a[0] + l[0]""",
    "deepcopy obj": """
o.p = a
o.q = [a]
q = copy.deepcopy(o)
q.p[0] = 7 * x
r = q.q[0][0] + a[0] + o.p[1]""",
    "deepcopy obj twice": """
q = copy.deepcopy([o, o])
q[0].v = 7 * x
r = q[1].v + o.v""",
    "deepcopy cyclic": """
l2 = [x, a]
l2.append(l2)
q = copy.deepcopy(l2)
q[2][2][0] = 9 * x
r = q[0] + l2[0]""",
    "deepcopy cyclic obj": """
o.me = o
q = copy.deepcopy(o)
q.me.me.v = 4 * x
r = q.v + o.v""",
    "deepcopy memo": """
memo = {}
q = copy.deepcopy(a, memo)
q[0] = 5 * x
r = q[0] + a[0]""",
    "deepcopy shared memo": """
memo = {}
q = copy.deepcopy(l, memo)
q2 = copy.deepcopy(l, memo)
q[0] = 5 * x
r = q2[0] + l[0]""",
    "deepcopy view": """
q = copy.deepcopy([a, a[:2]])
q[0][0] = 5 * x
r = q[1][0] + a[0]""",
    "deepcopy same view": """
v = a[:2]
q = copy.deepcopy([v, v])
q[0][0] = 5 * x
r = q[1][0] + a[0]""",
    "deepcopy equal views": """
q = copy.deepcopy([a[:2], a[:2]])
q[0][0] = 5 * x
r = q[1][0] + a[0]""",
    "deepcopy namedtuple": """
q = copy.deepcopy(P2(l, [l]))
q.a[0] = 5 * x
r = q.b[0][0] + l[0]""",
    "deepcopy dataclass": """
p = D(x, c=l)
q = copy.deepcopy([p, p.c])
q[0].c[0] = 8 * x
r = q[1][0] + l[0]""",
    "deepcopy default dict": """
q = collections.defaultdict(list)
q['a'] = l
q['b'] = l
q2 = copy.deepcopy(q)
q2['a'][0] = 8 * x
r = q2['b'][0] + l[0]""",
    "deepcopy deque": """
q = copy.deepcopy([collections.deque([l, l])])
q[0][0][0] = 8 * x
r = q[0][1][0] + l[0]""",
    "deepcopy grown": """
q = []
for i in range(3):
    q.append(a * i)
q2 = copy.deepcopy(q)
q2[1][0] = 8 * x
r = q[1][0] + q2[1][0]""",
    "deepcopy grown alias": """
q = []
for i in range(3):
    q.append(a)
q2 = copy.deepcopy(q)
q2[1][0] = 8 * x
r = q[0][0] + q2[0][0]""",
    "deepcopy hook": """
q = copy.deepcopy([Hook(x)])[0]
r = q.v""",
    "copy hook": """
q = copy.copy(Hook(x))
r = q.v""",
    "copy list": """
q = copy.copy([l, l])
q[0][0] = 5 * x
q[1] = [x]
r = l[0] + q[1][0]""",
    "copy dict": """
q = copy.copy({'a': l})
q['a'][0] = 5 * x
q['b'] = 1
r = l[0] + len(q)""",
    "copy obj": """
o.p = l
q = copy.copy(o)
q.p[0] = 5 * x
q.v = 9 * x
r = l[0] + o.v + q.v""",
    "copy array": """
q = copy.copy(a)
q[0] = 5 * x
r = a[0] + q[0]""",
    "copy view": """
q = copy.copy(a[:2])
q[0] = 5 * x
r = a[0] + q[0]""",
    "list()": """
q = list(l)
q[0] = 5 * x
r = l[0] + q[0]""",
    "slice copy": """
b = [l]
q = b[:]
q[0][0] = 5 * x
q.append(1)
r = l[0] + len(b)""",
    "dict copy": """
b = {'a': l}
q = dict(b)
q['a'][0] = 5 * x
q['c'] = 1
r = l[0] + len(b)""",
    "dict star": """
b = {'a': l}
q = {**b, 'z': 1}
q['a'][0] = 5 * x
r = l[0] + len(b)""",
    "replace": """
p = D(x, c=l)
q = dataclasses.replace(p, a=3 * x)
q.c[0] = 5 * x
r = p.a + q.a + l[0]""",
    "_replace": """
p = P2(x, l)
q = p._replace(a=3 * x)
q.b[0] = 5 * x
r = p.a + q.a + l[0]""",
    "deepcopy tuple immut": """
t = (x, 2.0)
q = copy.deepcopy([t, t])
r = q[0][0] + q[1][1] + (q[0] is q[1])""",
    "deepcopy tuple of list": """
t = (l, x)
q = copy.deepcopy([t, t])
q[0][0][0] = 5 * x
r = q[1][0][0] + (q[0] is q[1])""",
    "asdict": """
p = D(x, c=l)
q = dataclasses.asdict(p)
q['c'][0] = 5 * x
r = q['a'] + l[0]""",
    "deepcopy in loop": """
b = [x, x]
for _ in range(2):
    b = copy.deepcopy([b[0] * x, b[1]])
r = b[0] + b[1]""",
    "deepcopy nested lists": """
m = [[x] * 2] * 2
q = copy.deepcopy(m)
q[0][0] = 9 * x
r = q[1][0] + m[0][0]""",
    "deepcopy dict cyc": """
b = {'v': x}
b['me'] = b
q = copy.deepcopy(b)
q['me']['v'] = 5 * x
r = q['v'] + b['v']""",
}

REFUSED = {
    "deepcopy tuple of list",
    "deepcopy tuple immut",
    "deepcopy shared memo",
    "deepcopy default dict",
    "deepcopy equal views",
    "deepcopy grown",
    "deepcopy deque",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path, capsys):
    text = HEAD.replace("{BODY}", PROGRAMS[name].strip().replace("\n", "\n    "))
    # Deques and dictionaries with a default are classes in C, which some versions tell more of.
    either = name in ("deepcopy default dict", "deepcopy deque") and sys.version_info >= (3, 12)
    wanted = ("refused", "right") if either else ("refused",) if name in REFUSED else ("right",)
    assert outcome(module_of(text, tmp_path, "program").f) in wanted


class Node:
    """Says how it is copied, and what of it is shared."""

    def __init__(self, v, parts):
        self.v = v
        self.parts = parts

    def __deepcopy__(self, memo):
        new = Node(self.v * 2, None)
        new.parts = copy.deepcopy(self.parts, memo)
        return new


class Numbers(list):
    def __init__(self, *items):
        super().__init__(*items)
        self.tag = 0.0

    def __copy__(self):
        new = Numbers([2.0 * x for x in self])
        new.tag = self.tag
        return new

    def __deepcopy__(self, memo):
        return self if len(memo) else Numbers(self)


class Branching(Node):
    def __deepcopy__(self, memo):
        if self.v > 0:
            return Branching(self.v, copy.deepcopy(self.parts, memo))
        return Branching(self.v, [0.0])


class Single:
    made = None

    def __new__(cls):
        if cls.made is None:
            cls.made = object.__new__(cls)
        return cls.made


class Restored:
    def __init__(self, v):
        self.v = v

    def __setstate__(self, state):
        self.v = 2.0 * state["v"]


OUTER = Node(2.0, [1.0, 3.0])


def shared_in_copies(x):
    held = [x, x]
    one = Node(x, held)
    b, c, m = copy.deepcopy([one, one, held])
    b.parts[0] = 5.0 * x
    c.v = c.v * 3.0
    return b.v + c.parts[0] * m[0] + held[0] + one.v


def shared_outside(x):
    q = copy.deepcopy([OUTER, OUTER])
    q[0].parts[0] = x
    q[1].v = q[1].v * x
    return q[1].parts[0] * q[0].v + OUTER.v * x


def copied_items(x):
    q = Numbers([x, 3.0])
    q.tag = x
    r = copy.copy(q)
    return r[0] * r.tag


@pytest.mark.parametrize("f", [shared_in_copies, shared_outside, copied_items])
def test_classes_that_say_how_they_are_copied(f):
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    assert ad.grad(f)(1.5) == pytest.approx(slope, rel=1e-6)


def one_of_all(x):
    s = Single()
    s.v = x
    q = copy.copy(s)
    q.v = 3.0 * x
    return s.v


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (one_of_all, "whose class says how"),
        (lambda x: copy.copy(Restored(x)).v, "whose class says how"),
        (lambda x: copy.deepcopy(Numbers([x]))[0], "is the memo of a deep copy"),
        (lambda x: copy.deepcopy(Branching(x, [x])).v, "in a branch or loop"),
    ],
)
def test_copies_that_are_refused(f, why):
    with pytest.raises(ad.UnsupportedError, match=why):
        ad.grad(f)(1.5)
