"""Objects."""

from __future__ import annotations

import dataclasses
from collections import defaultdict, namedtuple

import numpy as np


class LayerObjectsInList:
    def __init__(self, w):
        self.w = w

    def __call__(self, v):
        return np.tanh(self.w * v)


def case_objects_in_list(x):
    ls = [LayerObjectsInList(x[i]) for i in range(3)]
    y = 1.0
    for l in ls:
        y = l(y)
    return y


class RecorderAttributeLogged:
    def __init__(self):
        self.last = None
        self.all = []


recorder_of_attribute_logged = RecorderAttributeLogged()


def case_attribute_logged(x):
    y = np.tanh(x)
    recorder_of_attribute_logged.last = y
    recorder_of_attribute_logged.all = [y[0]]
    return np.sum(recorder_of_attribute_logged.last * x) * recorder_of_attribute_logged.all[0]


class CounterMethodUpdatesState:
    def __init__(self):
        self.calls = 0
        self.scale = 2.0

    def __call__(self, v):
        self.calls += 1
        return v * self.scale


counter_of_method_updates_state = CounterMethodUpdatesState()


def case_method_updates_state(x):
    return np.sum(counter_of_method_updates_state(x) * counter_of_method_updates_state(x))


class MBoundMethodsAsValues:
    def __init__(self, k):
        self.k = k

    def mul(self, v):
        return v * self.k

    def both(self, fn, v):
        return fn(self.mul(v))


def case_bound_methods_as_values(x):
    m = MBoundMethodsAsValues(x[0])
    n = MBoundMethodsAsValues(x[1])
    fns = {"a": m.mul, "b": n.mul}
    return sum((fn(x[2]) for fn in fns.values())) + m.both(n.mul, x[1])


StepGrowListOfNamedtuples = namedtuple("Step", "t y")


def case_grow_list_of_namedtuples(x):
    steps = [StepGrowListOfNamedtuples(0.0, x)]
    for i in range(3):
        last = steps[-1]
        steps.append(StepGrowListOfNamedtuples(last.t + 0.1, last.y * x + last.t))
    return sum((s.t * np.sum(s.y) for s in steps))


class ParticleGrowListOfObjects:
    def __init__(self, p, v):
        self.p = p
        self.v = v

    def move(self, dt):
        self.p = self.p + self.v * dt


def case_grow_list_of_objects(x):
    ps = []
    for i in range(3):
        ps.append(ParticleGrowListOfObjects(x[i], x[(i + 1) % 3]))
    for t in range(2):
        for q in ps:
            q.move(0.5)
    return sum((q.p * q.v for q in ps))


def case_dict_methods_all(x):
    d = dict(a=x[0], b=x[1])
    d.update(c=x[2])
    d.setdefault("d", x[0] * 2)
    d.setdefault("a", 9.0)
    e = d | {"a": x[1]}
    e |= {"z": x[0]}
    v = e.pop("b")
    w = e.get("zz", 2.0)
    k, last = e.popitem()
    return sum(e.values()) * v * w * last


def case_defaultdict_and_counter(x):
    d = defaultdict(float)
    for k, i in (("a", 0), ("b", 1), ("a", 2)):
        d[k] += x[i] * x[i]
    g = defaultdict(list)
    g["u"].append(x[0])
    g["u"].append(x[1])
    return d["a"] * d["b"] + sum(g["u"]) + len(g)


PairNamedtupleMethods = namedtuple("Pair", ["a", "b"], defaults=[2.0])


def case_namedtuple_methods(x):
    p = PairNamedtupleMethods(x[0])
    q = p._replace(a=x[1])
    a, b = q
    return p.a * p.b * a * b + q._asdict()["a"] + sum(q)


@dataclasses.dataclass
class ConfigDataclassFull:
    scale: float
    shift: float = 1.0
    parts: list = dataclasses.field(default_factory=list)
    total: float = dataclasses.field(init=False)

    def __post_init__(self):
        self.total = self.scale + self.shift


@dataclasses.dataclass(frozen=True)
class FrozenDataclassFull:
    a: float
    b: float = 2.0


def case_dataclass_full(x):
    c = ConfigDataclassFull(x[0], shift=x[1])
    c.parts.append(x[2])
    c.scale *= 2
    p = dataclasses.replace(FrozenDataclassFull(x[0]), b=x[1])
    return c.scale * c.total * c.parts[0] + p.a * p.b


class VecObjectOperators:
    def __init__(self, a):
        self.a = a

    def __add__(self, o):
        return VecObjectOperators(self.a + (o.a if isinstance(o, VecObjectOperators) else o))

    __radd__ = __add__

    def __mul__(self, k):
        return VecObjectOperators(self.a * k)

    def __rmul__(self, k):
        return VecObjectOperators(k * self.a)

    def __iadd__(self, o):
        self.a = self.a + o
        return self

    def __matmul__(self, o):
        return np.sum(self.a * o.a)

    def __pow__(self, k):
        return VecObjectOperators(self.a**k)

    def __lt__(self, o):
        return np.sum(self.a) < np.sum(o.a)

    def __bool__(self):
        return True

    def __setitem__(self, i, v):
        self.a = self.a * 1.0
        self.a[i] = v

    def __getitem__(self, i):
        return self.a[i]

    def __contains__(self, v):
        return v == 3

    def __abs__(self):
        return np.sum(np.abs(self.a))


def case_object_operators(x):
    v = VecObjectOperators(x)
    w = 1.0 + 2 * v + v * 3.0
    w += x[0]
    w[0] = x[1]
    if v < w and v and (3 in v):
        w = w**2
    return v @ w + abs(w) * w[2]


class BaseClassAttributesAndProperties:
    k = 2.0

    def __init__(self, a):
        self._a = a

    @property
    def a(self):
        return self._a * self.k

    @a.setter
    def a(self, v):
        self._a = v

    @staticmethod
    def square(v):
        return v * v

    @classmethod
    def make(cls, v):
        return cls(v)


class DerivedClassAttributesAndProperties(BaseClassAttributesAndProperties):
    k = 3.0

    def __init__(self, a):
        super().__init__(a)
        self.z = a

    def square_all(self):
        return super().square(self.z)


def case_class_attributes_and_properties(x):
    b = DerivedClassAttributesAndProperties.make(x)
    b.a = b.a + 1
    return np.sum(b.a * b.z + b.square_all())


class BagGetattrSetattr:
    pass


def case_getattr_setattr(x):
    b = BagGetattrSetattr()
    for k, name in enumerate(("u", "v")):
        setattr(b, name, x * (k + 1))
    b.n = getattr(b, "missing", 3.0)
    return np.sum(b.u * b.v) * b.n if hasattr(b, "v") else 0.0
