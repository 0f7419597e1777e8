"""Objects whose class is derived from a list, dictionary, tuple, deque or another container: each program beside a run
of the function itself, called once, in a loop, in a `try`, and for its second derivative."""

# ruff: noqa: E501

import collections

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.live_runs import module_of, outcome

HEAD = """import collections, copy, functools, itertools, math, typing
import numpy as np

class L(list): pass
class D(dict): pass
class T(tuple): pass
class Q(collections.deque): pass
class S(set): pass
class Config(dict): __getattr__ = dict.__getitem__
class Params(dict):
    def __getattr__(self, name):
        try: return self[name]
        except KeyError: raise AttributeError(name)
    def __setattr__(self, name, value): self[name] = value
    def __delattr__(self, name): del self[name]
class Open(dict):
    __getattr__ = dict.get; __setattr__ = dict.__setitem__; __delattr__ = dict.__delitem__
class Deep(dict):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        for key, v in self.items():
            if isinstance(v, dict): self[key] = Deep(v)
    __getattr__ = dict.__getitem__
class Own(dict):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.__dict__ = self
class Stack(list):
    push = list.append
    @property
    def top(self): return self[-1]
    def is_empty(self): return not self
class Doubled(list):
    def append(self, v): super().append(v * 2)
class Ring(list):
    def __getitem__(self, k): return super().__getitem__(k % len(self))
class Bounded(list):
    def __init__(self, n): super().__init__(); self.n = n
    def append(self, v):
        if len(self) >= self.n: self.pop(0)
        super().append(v)
class Vector(list):
    def __add__(self, o): return Vector([a + b for a, b in zip(self, o)])
    def __mul__(self, k): return Vector([a * k for a in self])
    __rmul__ = __mul__
    def dot(self, o): return sum(a * b for a, b in zip(self, o))
class Missing(dict):
    def __missing__(self, k): return 3.0
class Memo(dict):
    def __init__(self, fn): self.fn = fn
    def __missing__(self, k):
        self[k] = r = self.fn(k)
        return r
class Lower(dict):
    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)
    def __getitem__(self, k): return super().__getitem__(k.lower())
class Twice(dict):
    def __getitem__(self, k): return super().__getitem__(k) * 2
    def __setitem__(self, k, v): dict.__setitem__(self, k, v * 3)
class History(list):
    def log(self, **k): self.append(k); return self
class Node(list):
    def __init__(self, v, kids=()): super().__init__(kids); self.v = v
    def total(self): return self.v + sum(k.total() for k in self)
class Chain(list):
    def __call__(self, x):
        for g in self: x = g(x)
        return x
class Path(tuple):
    def __new__(cls, *p): return super().__new__(cls, p)
    @property
    def length(self): return sum(math.hypot(b[0] - a[0], b[1] - a[1]) for a, b in zip(self, self[1:]))
class Pair(tuple):
    def __add__(self, o): return Pair(a + b for a, b in zip(self, o))
class Odd(list):
    def __iter__(self): return iter([v * 2 for v in self[:]])
    def __len__(self): return 7
    def __contains__(self, v): return True
    def __bool__(self): return False
    def __eq__(self, o): return True
class Window(collections.deque):
    def mean(self): return sum(self) / len(self)
class Tree(collections.defaultdict):
    def __init__(self): super().__init__(Tree)
class Cache(collections.OrderedDict):
    def __init__(self, n): super().__init__(); self.n = n
    def __setitem__(self, k, v):
        super().__setitem__(k, v); self.move_to_end(k)
        if len(self) > self.n: self.popitem(last=False)
class Tally(collections.Counter):
    def top(self): return max(self.values())
class Seeded(list):
    def __new__(cls, *a):
        made = super().__new__(cls); made.append(5.0); made.tag = 2.0
        return made
    def __init__(self, v): self.append(v)
class Slotted(list): __slots__ = ("a",)
class Typed(typing.List[float]): pass
class Base(list):
    def add(self, v): self.append(v); return self
class Derived(Base):
    def add(self, v): return super().add(v * 2)
class Right:
    def __init__(self, v): self.v = v
    def __radd__(self, o): return self.v * len(o) + (10.0 if type(o) is L else 20.0)
class Managed(list):
    def __enter__(self): self.append(1.0); return self
    def __exit__(self, *a): self.append(3.0)
LISTED, CONFIG, RING = L([1.0, 2.0]), Config(rate=2.0, sub=Config(k=3.0)), Ring([1.0, 2.0, 3.0])
OWN = Own(p=2.0, q=Own(r=3.0))
TWICE, ODD, PATH = Twice(a=1.5), Odd([1.0, 2.0]), Path((0.0, 0.0), (3.0, 4.0))
GROWING, COUNTS = L([1.0]), Config(n=1.0)
def total(*a, **k): return sum(a) + sum(k.values())
def fill(l, v): l.append(v); return l
"""

PROGRAMS = r"""
o = L(); o.append(x); return o[0] * o[0]
o = L(); fill(o, x); fill(o, x * x); g = lambda: o[0] * o[1]; return g() * len(o)
o = L(); o.name = "a"; o.w = x; o.extend([x * k for k in range(4)]); return sum(o) * o.w + (x if o.name == "a" else 0.0)
o = L([3.0, x, 1.0]); o.sort(); o.reverse(); o.insert(0, x); del o[1]; o[0] *= x; return o[0] * o[-1] * o.pop() * len(o)
o = L([x, 2.0, 3.0]); del o[-1:]; o[1:2] = L([1.0, x]); a, *b = o; return a * sum(b) * o.count(7.0) + a
o = L([x, 2.0]); m = o; n = L(o); m[0] = 5.0 * x; return o[0] * n[0] + (x if o == m else 0.0) + (x if o != n else 7.0)
o = L([x, 2.0]); return sum(o + [x]) + sum([x] + o) + sum(2 * o) + sum(o * 2) + sum(o[:]) + (x if type(o + o) is list else 0.0)
o = L([x, 2.0]); o += [x]; o *= 2; m = o; m += (x,); return sum(o) * len(o) * (x if type(o) is L else 2.0)
o = L([x, 2.0]); o += np.array([x, 1.0]); return sum(o) * len(o)
o = L([x, 2.0]); a = np.array([x, 1.0]); return (o + a).sum() + (a * o)[0] + a @ o + np.dot(o, o) + np.max(o)
o = L([x, 2.0]); a = np.zeros(2); a[:] = o; a += o; b = np.array([o, o]); return (a * a).sum() + (b * b).sum() + np.stack([o, a]).sum()
o = L([x, 2.0]); return sum(map(abs, o)) + max(o) * sorted(o)[0] + sum(reversed(o)) * x + sum(v * i for i, v in enumerate(o))
o = L([x, 2.0]); it = iter(o); a = next(it); o.append(5.0); return a * sum(it) * functools.reduce(lambda p, q: p * q, o)
o = L([x, 2.0]); return total(*o) * total(1.0, *o, **D(a=x)) * dict(zip("ab", o))["a"]
o = L([x]); return (x if isinstance(o, list) else 0) + (x if type(o) is list else x * x) + len(type(o).__name__) * x + hasattr(o, "append") * x
o = L([x, 2.0]); k = copy.copy(o); m = copy.deepcopy(o); n = o.copy(); k.append(x); m[0] = 5.0; n[0] = 7.0; return sum(o) * len(k) * m[1] * n[1] + sum(k)
o = L([L([x, 1.0]), L([2.0, x])]); o[0][1] += x; o[1].append(x); return sum(sum(r) for r in o) * o[0][1]
o = L(); return (x if o else x * x) + (x if not fill(o, x) else 3 * x) + (o and o[0]) * (o or [1.0])[0]
o = L([x, 2.0])\n    match o:\n        case [a, b]: return a * b\n    return 0.0 * x
o = L() if x > 1 else L([x, x]); b = o; o.append(2.0 * x); return sum(b) * len(o)
o = L()\n    for k in range(5):\n        if k % 2 == 0: o.append(x ** k)\n    return np.sum(np.array(o) ** 2) + sum(v for v in o) * len(o)
o = L()\n    try:\n        o.append(x); o.append(o[5])\n    except IndexError:\n        o.append(x * x)\n    finally:\n        o.n = len(o)\n    return sum(o) * o.n
o = L([x]); return o + 3.0
o = L([x]); return o[3]
o = L([x]); return o.nothing
return L(x)[0]
return L([x], [x])[0]
return (L([x]) + Right(x)) * x + ([x] + Right(x))
o = Stack(); o.push(x); o.push(2.0); y = x\n    while not o.is_empty():\n        y = y * o.top; o.pop()\n    return y
o = Doubled(); o.append(x); o.append(x * x); o.extend([x]); o += [x]; o.insert(0, x); return o[1] * o[2] + sum(o)
o = Ring([x, x * x, 2.0]); return o[3] * o[4] * o[-1] * o[5] + sum(o)
o = Bounded(2)\n    for k in (1.0, 2.0, 3.0): o.append(x ** k)\n    return sum(o) * o[0] * o.n
v = Vector([x, 1.0]); w = Vector([2.0, x * x]); return (v + w * 2.0).dot(3.0 * v)
o = Odd([x, x * x, 3.0]); return sum(o) * len(o) + (x if o else x ** 2) + (x if o == 5 else 1.0) + (x if "a" in o else 1.0) + o[1]
o = Odd([x, x]); return np.array(o).sum() + np.zeros(2) @ np.add(o, x) + len([*o]) * x + sum(o[:]) + max(o) * x
o = History()\n    for k in range(3): o.log(loss=x * k, k=k)\n    return sum(e["loss"] * e["k"] for e in o) + o[-1]["loss"] * len(o)
return Node(x, [Node(x * x), Node(2.0, [Node(x)])]).total() * x
return Chain([np.sin, lambda v: v * x, math.exp])(x)
o = Seeded(x); return sum(o) * o.tag * len(o)
o = Slotted([x]); o.a = x; o.a += 1.0; return o.a * o[0]
o = Slotted([x]); o.b = x; return o.b
o = Typed([x]); o.append(x); return sum(o) * o[0]
return sum(Derived().add(x).add(x * x)) * x
with Managed([x]) as o: o.append(x)\n    return sum(o) * len(o)
list.append(o := L([1.0]), x); list.__setitem__(o, 0, x * x); return list.__getitem__(o, 0) * list.pop(o) * list.__len__(o)
d = D(a=x); d["b"] = x * x; e = dict(d); g = {**d, "c": 1.0}; h = d | {"c": x}; return sum(d.values()) * e["a"] + g["b"] * h["c"] + len(d)
d = D(a=x); d.update(b=x); d |= {"c": x}; d["a"] += 1.0; del d["b"]; return d["a"] * d.get("q", 2.0) * d.setdefault("r", x) + d.pop("c") + len(d)
d = D(a=x, b=2.0); s = 0.0\n    for k in d: s += d[k] * len(k)\n    for k, v in d.items(): s += v * x\n    return s + ("a" in d) * x + ("z" in d)
d = D(a=[x]); d.z = x; e = copy.copy(d); g = copy.deepcopy(d); e["a"].append(x); g["a"].append(9.0); return sum(d["a"]) * len(d) * e.z + sum(g["a"]) * x
d = D(k=x)\n    match d:\n        case {"k": v}: return v * v\n    return 0.0 * x
return D(a=x)["b"]
c = Config(a=x, b=2.0); return c.a * c.b * c["a"]
p = Params(w=x); p.b = x * x; p.w += 1.0; del p["b"]; p.c = Params(z=x); p.c.z *= 2.0; del p.w; return p.c.z * len(p) + ("w" in p) * x
p = Params(w=x); return getattr(p, "nothing", 3.0) * p.w + hasattr(p, "w") * x + (5.0 * x if hasattr(p, "q") else x)
p = Open(w=x); p.b = x * x; p.w += 1.0; del p.b; return p.w * p["w"] * len(p) + (x if p.nothing is None else 1.0)
a = Own(p=x, q=2.0); a.r = x * x; a["s"] = a.r * x; del a.q; a.p += 1.0; return a.p * a["r"] * a.s * len(a) + hasattr(a, "q") * x + sum(a.values())
a = Own(items=x); a.keys = 2.0; return a.items * x * a["keys"] * len(a)
d = Deep({"p": {"q": {"r": x}}, "s": 2.0}); return d.p.q.r * d.s * d["p"]["q"].r
d = Missing(a=x); return d["a"] * d["b"] * x + len(d) + (d.get("b") or 5.0)
m = Memo(lambda k: x ** k); return m[2] + m[2] * m[3] + len(m)
d = Lower(); d["A"] = x; d["B"] = x * x; return d["a"] * d["b"] * d["B"] * len(d)
d = Twice(a=x, b=x); d["a"] += x; e = dict(d); g = {**d}; return d["b"] + d.get("a") + sum(d.values()) * e["a"] * g["b"] + total(**d) + d.copy()["a"]
q = Q(maxlen=2); q.append(x); q.append(x * x); q.append(x ** 3); q.appendleft(1.0); return q[0] * q[1] + len(q) + q.maxlen * x
w = Window(maxlen=2); s = 0.0\n    for k in range(4): w.append(x * k); s = s + w.mean()\n    return s * x
t = Tree(); t["a"]["b"] = x; t["a"]["c"] = x * x; return t["a"]["b"] * t["a"]["c"] * len(t["a"])
c = Cache(2)\n    for k in (1, 2, 3): c[k] = x ** k\n    c[2] = x\n    return sum(c.values()) * list(c)[1] + (x if 1 in c else 0.0)
c = Tally(); c["a"] += x; c["b"] += 2 * x; return c.top() * c["a"] * (1 + c["z"]) + c["b"]
s = S(); s.add(1); s.add(2); s.add(2); return len(s) * x + (x if 1 in s else 0.0) + sum(s) * x * x
p = Path((0.0, 0.0), (x, 1.0), (2.0, x * x)); return p.length * len(p)
t = Pair([x, 2.0]) + Pair([1.0, x]); a, b = t; return a * b + t[0] * max(t) + len(t) * (x if t == Pair([5]) else 2 * x)
t = T([x, 1.0]); t[0] = 3.0; return t[0]
return x * LISTED[0] + sum(LISTED) * x * x + len(LISTED) * LISTED[-1] * x + (x if LISTED else 0.0)
return x * CONFIG.rate + x * x * CONFIG.sub.k * CONFIG["rate"] + sum(v for k, v in CONFIG.items() if k == "rate") * x
return x * RING[4] + sum(RING) * x * x + TWICE["a"] * x + sum(TWICE.values()) * x + total(**TWICE) * x
return x * OWN.p + OWN.q.r * x * x + OWN["p"] * x * len(OWN)
return sum(ODD) * x + ODD[1] * x * x + len(ODD) * x + (x if ODD else 2 * x) + PATH.length * x + PATH[1][0] * x
""".strip().split("\n")


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number, tmp_path):
    body = PROGRAMS[number].replace("\\n", "\n")
    text = HEAD + f"def f(x):\n    {body}\n" + FRAMES
    module = module_of(text, tmp_path, "derived")
    for name in ("f", "looped", "tried"):
        assert outcome(getattr(module, name)) == "right", name
    if "raises" not in str(module.value(1.137)):
        second = (outcome_slope(module.f, 1.137 + 1e-4) - outcome_slope(module.f, 1.137 - 1e-4)) / 2e-4
        assert abs(ad.grad(ad.grad(module.f))(1.137) - second) < 1e-5 * (1 + abs(second))


FRAMES = """
def looped(x):
    s = 0.0
    for i in range(2): s = s + f(x * 1.0) * (i + 1)
    return s
def tried(x):
    try: s = f(x)
    except ZeroDivisionError: s = x
    return s * 2.0
def value(x):
    try: return f(x)
    except Exception: return "raises"
"""


def outcome_slope(f, x):
    return ad.grad(f)(x)


def test_what_lives_outside_is_read_and_written_at_each_call(tmp_path):
    text = HEAD + (
        "def f(x):\n    GROWING.append(2.0); COUNTS.n += 1.0\n    COUNTS['m'] = 3.0\n"
        "    return sum(GROWING) * len(GROWING) * COUNTS.n * COUNTS.m * x\n"
        "def g(x): return sum(ODD) * x + ODD[0] * x * x\n"
    )
    live, other = module_of(text, tmp_path, "live"), module_of(text, tmp_path, "other")
    for _ in range(3):
        value, grad = ad.value_and_grad(live.f)(1.5)
        assert value == other.f(1.5) and np.isclose(grad, value / 1.5)
    assert live.GROWING == other.GROWING and live.COUNTS == other.COUNTS
    for _ in range(2):
        assert np.isclose(ad.grad(live.g)(2.0), sum(live.ODD) + 4.0 * list.__getitem__(live.ODD, 0))
        list.append(live.ODD, 4.0)
        list.__setitem__(live.ODD, 0, 3.0)


def test_arguments(tmp_path):
    module = module_of(HEAD + "def f(x, l, c): return x * sum(l) * c.rate + l[0] * len(l) * x\n", tmp_path, "given")
    g = ad.grad(module.f)
    for items in ([1.0, 2.0], [3.0], [1.0, 2.0, 5.0]):
        for rate in (1.0, 4.0):
            given = module.L(items), module.Config(rate=rate)
            assert np.isclose(g(1.5, *given), module.f(1.0, *given))


def test_one_list_in_two_places(tmp_path):
    module = module_of(HEAD + "def f(x, l, m):\n    l.append(x)\n    return sum(m) * x\n", tmp_path, "twice")
    assert np.isclose(ad.grad(module.f)(1.5, module.L([2.0]), module.L([4.0])), 4.0)
    one = module.L([2.0])
    with pytest.raises(ad.AutodiffError, match="reaches the function in two ways"):
        ad.grad(module.f)(1.5, one, one)


class Params(dict):
    __getattr__ = dict.__getitem__


class Doubling(dict):
    def __getitem__(self, key):
        return dict.__getitem__(self, key) * 2


class Named(list):
    pass


class Model:
    def __init__(self, params):
        self.params, self.scale = params, 3.0


HOLDERS = [
    Params(a=2.0, b=3.0),
    collections.OrderedDict(a=2.0, b=3.0),
    collections.defaultdict(float, a=2.0, b=3.0),
]


@pytest.mark.parametrize("given", HOLDERS, ids=lambda x: type(x).__name__)
def test_the_gradient_by_a_dictionary_of_another_class_is_a_plain_one(given):
    f = lambda p: p["a"] ** 2 * p["b"]
    assert ad.grad(f)(given) == {"a": 12.0, "b": 4.0}
    assert ad.grad(lambda x, p: f(p) * x, argnums=(0, 1))(2.0, given) == (12.0, {"a": 24.0, "b": 8.0})
    inside = ad.grad(lambda d: f(d["p"]) * d["q"])({"p": given, "q": 5.0})
    assert inside == {"p": {"a": 60.0, "b": 20.0}, "q": 12.0}
    assert ad.grad(lambda m: f(m.params) * m.scale)(Model(given)).params == {"a": 36.0, "b": 12.0}


def test_the_gradient_by_a_sequence_of_another_class_is_a_plain_one():
    f = lambda p: p[0] ** 2 * p[1]
    assert ad.grad(f)(Named([2.0, 3.0])) == [12.0, 4.0]
    assert ad.grad(f)(collections.deque([2.0, 3.0])) == [12.0, 4.0]
    assert ad.grad(lambda d: f(d["p"]) * d["q"])({"p": Named([2.0, 3.0]), "q": 5.0}) == {"p": [60.0, 20.0], "q": 12.0}


def test_the_gradient_by_what_a_class_holds_and_not_by_what_it_says():
    assert ad.grad(lambda d: d["a"] ** 2 + sum(d.values()))(Doubling(a=2.0, b=3.0)) == {"a": 17.0, "b": 1.0}
