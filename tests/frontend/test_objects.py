"""Objects, dataclasses and named tuples, made by the function and given to it, against central differences."""

import abc
import copy
import enum
import functools
import types
from collections import namedtuple
from dataclasses import InitVar, asdict, astuple, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences


def plain():
    return (np.array([0.7, 1.3, 2.1]),)


def slots_class_built():
    class P:
        __slots__ = ("a", "b")

        def __init__(self, a, b):
            self.a = a
            self.b = b

    def f(x):
        p = P(x[0], x[1])
        p.a *= 2
        p.b = p.a * p.b
        return p.b + p.a * x[2]

    return f, plain


def slots_given():
    class P:
        __slots__ = ("a", "b")

        def __init__(self, a, b):
            self.a = a
            self.b = b

    def f(x, p):
        return np.sum(x * p.a) + p.b * x[0]

    def args():
        return np.array([0.7, 1.3, 2.1]), P(2.0, 3.0)

    return f, args


def slot_not_set():
    class P:
        __slots__ = ("a", "b")

        def __init__(self, a):
            self.a = a
            if len(a) > 3:
                self.b = a * a

    def f(x):
        p = P(x)
        return np.sum(p.b) if hasattr(p, "b") else np.sum(p.a**3)

    return f, plain


def dataclass_all():
    @dataclass(frozen=True)
    class D:
        a: float
        b: np.ndarray = None
        c: list = field(default_factory=list)
        k: float = 2.0

        def tot(self):
            return self.a * self.k + np.sum(self.b)

    def f(x):
        d = D(x[0], x * x)
        e = replace(d, a=x[1] * 3)
        return d.tot() * e.tot()

    return f, plain


def post_init_initvar():
    @dataclass
    class D:
        a: float
        s: InitVar[float]
        b: float = field(init=False)

        def __post_init__(self, s):
            self.b = self.a * s

    def f(x):
        return D(x[0], x[1]).b * x[2]

    return f, plain


def initvar_default():
    @dataclass
    class D:
        a: float
        s: InitVar[float] = 3.0
        b: float = field(init=False, default=0.0)

        def __post_init__(self, s):
            self.b = self.a * s

    def f(x):
        return D(x[0]).b * x[2] + D(x[1], 2.0).b

    return f, plain


def asdict_astuple():
    @dataclass
    class D:
        a: float
        b: float

    def f(x):
        d = D(x[0], x[1])
        t = astuple(d)
        m = asdict(d)
        return t[0] * m["b"] * x[2]

    return f, plain


def dataclass_inherit():
    @dataclass
    class A:
        a: float

    @dataclass
    class B(A):
        b: float = 1.5

    def f(x):
        d = B(x[0])
        d2 = B(x[1], b=x[2])
        return d.a * d.b + d2.a * d2.b

    return f, plain


def dataclass_eq_order():
    @dataclass(order=True)
    class A:
        a: float
        b: float

    def f(x):
        p, q = A(x[0], x[1]), A(x[0], x[2])
        s = 1.0
        if p < q:
            s = x[1]
        if p == q:
            s = x[2]
        if p != q:
            s = s * 2
        return s * x[0]

    return f, plain


def dataclass_given_field_default():
    @dataclass
    class A:
        a: float = 2.0
        b: object = None

    def f(x, p):
        return np.sum(x * p.a) if p.b is None else x[0]

    def args():
        return np.array([0.7, 1.3, 2.1]), A()

    return f, args


def dataclass_given_replace():
    @dataclass(frozen=True)
    class A:
        a: float = 2.0
        b: float = 1.0

    def f(x, p):
        q = replace(p, a=x[0])
        return q.a * q.b + x[1] * q.a**2

    def args():
        return np.array([0.7, 1.3, 2.1]), A()

    return f, args


def namedtuple_replace_asdict():
    N = namedtuple("N", "a b")

    def f(x):
        n = N(x[0], x[1])
        m = n._replace(b=x[2])
        d = m._asdict()
        return d["a"] * d["b"] + m[0] + len(n) * x[1] + N._make([x[0], x[1]]).b

    return f, plain


def namedtuple_method_subclass():
    class N(NamedTuple):
        a: float
        b: float = 2.0

        def area(self):
            return self.a * self.b

        @property
        def half(self):
            return self.a / 2

    class M(namedtuple("Q", "u v")):
        __slots__ = ()

        def dot(self):
            return self.u * self.v

        def __add__(self, o):
            return M(self.u + o.u, self.v + o.v)

    def f(x):
        return N(x[0]).area() + N(x[1], x[2]).half + (M(x[0], x[1]) + M(x[1], x[2])).dot()

    return f, plain


def namedtuple_given_methods():
    class N(NamedTuple):
        a: float
        b: float = 2.0

        def area(self):
            return self.a * self.b

    def f(x, n):
        return x[0] * n.area()

    def args():
        return np.array([0.7, 1.3, 2.1]), N(3.0)

    return f, args


def enums():
    class E(enum.Enum):
        A = 1
        B = 2

    class Ranks(enum.IntEnum):
        P = 1
        Q = 2

    def f(x, e, i):
        s = x[0] if e is E.A else x[1]
        if e == E.B:
            s = s * 3
        return s * i + x[Ranks.Q] + E.B.value * x[0] + (x[1] if e.name == "A" else 0.0)

    def args():
        return np.array([0.7, 1.3, 2.1]), E.A, Ranks.Q

    return f, args


def simplenamespace():
    def f(x, ns):
        n = types.SimpleNamespace(a=x[0], b=2.0)
        n.c = n.a * n.b
        return n.c * ns.w + np.sum(ns.v * x)

    def args():
        return np.array([0.7, 1.3, 2.1]), types.SimpleNamespace(w=2.0, v=np.ones(3))

    return f, args


def getattr_setattr_hasattr():
    class C:
        pass

    def f(x):
        c = C()
        setattr(c, "w", x[0])
        for n in ("p", "q"):
            setattr(c, n, x[1])
        s = c.w * getattr(c, "zz", x[2])
        if hasattr(c, "p") and not hasattr(c, "r"):
            s = s * c.q
        del c.p
        return s if not hasattr(c, "p") else 0.0

    return f, plain


def property_setter():
    class C:
        def __init__(self):
            self._a = 1.0

        @property
        def a(self):
            return self._a * 2

        @a.setter
        def a(self, v):
            self._a = v * v

    def f(x):
        c = C()
        c.a = x[0]
        c.a += x[1]
        return c.a

    return f, plain


def static_class_methods():
    class C:
        k = 2.0

        def __init__(self, a):
            self.a = a

        @staticmethod
        def sq(v):
            return v * v

        @classmethod
        def make(cls, v):
            return cls(v * cls.k)

        def go(self):
            return self.sq(self.a) + type(self).k * self.__class__.sq(self.a) + C.sq(self.a)

    class D(C):
        k = 3.0

    def f(x):
        return C.make(x[0]).go() + D.make(x[1]).go() + D(x[2]).make(x[0]).go()

    return f, plain


def super_any_method_mixin():
    class A:
        def __init__(self, a):
            self.a = a

        def val(self):
            return self.a

        @property
        def p(self):
            return self.a * 2

        @classmethod
        def mk(cls, v):
            return cls(v)

    class Mix:
        def val(self):
            return super().val() * 3

    class B(Mix, A):
        def __init__(self, a, b):
            super().__init__(a)
            self.b = b

        def val(self):
            return super().val() + self.b

        @property
        def p(self):
            return super().p + self.b

        @classmethod
        def mk(cls, v):
            o = super().mk.__func__
            return cls(v, v)

    class G(A):
        @classmethod
        def mk(cls, v):
            return super().mk(v * 2)

        def __add__(self, o):
            return super(G, self).val() + o

    def f(x):
        b = B(x[0], x[1])
        return b.val() * b.p + G.mk(x[2]).val() + (G(x[0]) + x[1])

    return f, plain


def operators_full():
    class V:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __add__(self, o):
            return V(self.a + o.a, self.b + o.b)

        def __radd__(self, o):
            return V(self.a + o, self.b + o)

        def __sub__(self, o):
            return V(self.a - o.a, self.b - o.b)

        def __mul__(self, s):
            return V(self.a * s, self.b * s)

        __rmul__ = __mul__

        def __neg__(self):
            return V(-self.a, -self.b)

        def __abs__(self):
            return np.sqrt(self.a**2 + self.b**2)

        def __matmul__(self, o):
            return self.a * o.a + self.b * o.b

        def __truediv__(self, s):
            return V(self.a / s, self.b / s)

        def __rtruediv__(self, s):
            return V(s / self.a, s / self.b)

        def __pow__(self, n):
            return V(self.a**n, self.b**n)

        def __iadd__(self, o):
            self.a += o.a
            self.b += o.b
            return self

        def __imul__(self, s):
            self.a *= s
            return self

        def __getitem__(self, k):
            return self.a if k == 0 else self.b

        def __setitem__(self, k, v):
            if k == 0:
                self.a = v
            else:
                self.b = v

        def __len__(self):
            return 2

        def __iter__(self):
            return iter((self.a, self.b))

        def __contains__(self, v):
            return v == 3

        def __eq__(self, o):
            return self.a == o.a

        def __lt__(self, o):
            return self.a < o.a

        def __bool__(self):
            return False

        def __call__(self, t):
            return self.a * t + self.b

        def __pos__(self):
            return self

        def __float__(self):
            return float(self.a)

        def __rsub__(self, o):
            return V(o - self.a, o - self.b)

        def __mod__(self, o):
            return V(self.a % o, self.b)

        def __floordiv__(self, o):
            return V(self.a // o, self.b)

        def __invert__(self):
            return V(self.b, self.a)

    def f(x):
        u, v = V(x[0], x[1]), V(x[1], x[2])
        w = u + v * 2.0 - (-u) + 3.0 * v
        w += u
        w *= x[0]
        w[0] = w[1] * x[0]
        w[1] += x[2]
        s = abs(w) + (u @ v) + w(x[0]) + len(w) * x[1]
        p, q = w
        s = s + p * q
        for c in u:
            s = s + c * c
        if 3 in u:
            s = s * 2
        if u == v:
            s = s * 3
        if u < v:
            s = s * 1.5
        if not u:
            s = s + x[0] * x[1]
        z = 2.0 / u
        z = z**2
        z = +z
        z = 1.0 - z
        z = ~z
        z = z / x[1]
        return s + z.a * z.b + sum([u, v], 0.0).a + float(u) + (sum(x for x in v))

    return f, plain


def cached_property():
    class C:
        def __init__(self, a):
            self.a = a

        @functools.cached_property
        def sq(self):
            return self.a * self.a

    def f(x):
        c = C(x[0])
        s = c.sq
        c.a = x[1]
        return s * c.sq + c.a

    return f, plain


def class_attr_read():
    class C:
        k = 2.0
        arr = np.array([1.0, 2.0, 3.0])

    def f(x):
        return np.sum(x * C.arr) * C.k + C().k * x[0]

    return f, plain


def given_object_with_list_and_dict():
    class M:
        def __init__(self):
            self.ws = [np.ones(3), np.full(3, 2.0)]
            self.cfg = {"a": 2.0, "flag": True}
            self.name = "m"

    def f(x, m):
        for w in m.ws:
            x = np.tanh(x * w)
        return np.sum(x) * m.cfg["a"] if m.cfg["flag"] else x[0]

    def args():
        return np.array([0.7, 1.3, 2.1]), M()

    return f, args


def given_object_operators():
    class V:
        def __init__(self, a):
            self.a = a

        def __mul__(self, o):
            return self.a * o

        def __rmul__(self, o):
            return self.a * o

        def __getitem__(self, k):
            return self.a[k]

        def __len__(self):
            return 3

        def __iter__(self):
            return iter([self.a[0], self.a[1]])

        def __contains__(self, k):
            return k == 1

        def __bool__(self):
            return True

    def f(x, v):
        s = np.sum(v * x) + v[0] * x[1] + len(v) * x[0]
        for t in v:
            s = s + t * x[2]
        if 1 in v:
            s = s * 2
        if v:
            s = s * 3
        return s + 1.0 * x[0]

    def args():
        return np.array([0.7, 1.3, 2.1]), V(np.array([1.0, 2.0, 4.0]))

    return f, args


def objects_in_given_list_loop():
    class L:
        def __init__(self, w, b):
            self.w, self.b = w, b

        def __call__(self, x):
            return np.tanh(self.w @ x + self.b)

    class Net:
        def __init__(self):
            self.layers = [L(np.eye(3) * (k + 1) + 0.1, np.ones(3) * k) for k in range(3)]

        def forward(self, x):
            for l in self.layers:
                x = l(x)
            return np.sum(x)

    def f(x, net):
        return net.forward(x)

    def args():
        return np.array([0.7, 1.3, 2.1]), Net()

    return f, args


def init_subclass():
    class B:
        reg = {}

        def __init_subclass__(cls, **kw):
            B.reg[cls.__name__] = cls

    class C(B):
        def __init__(self, a):
            self.a = a

    def f(x):
        return C(x[0]).a * B.reg["C"](x[1]).a

    return f, plain


def abstract_class():

    class B(abc.ABC):
        @abc.abstractmethod
        def go(self): ...

    class C(B):
        def __init__(self, a):
            self.a = a

        def go(self):
            return self.a * 2

    def f(x):
        return C(x[0]).go() * x[1]

    return f, plain


def new():
    class C:
        def __new__(cls, a):
            o = super().__new__(cls)
            o.b = a * 2
            return o

        def __init__(self, a):
            self.a = a

    def f(x):
        c = C(x[0])
        return c.a * c.b

    return f, plain


def is_instance():
    class A:
        pass

    class B(A):
        def __init__(self, v):
            self.v = v

    def f(x):
        b = B(x[0])
        return b.v * 2 if isinstance(b, A) else b.v

    return f, plain


def object_method_stored():
    class A:
        def __init__(self, v):
            self.v = v
            self.h = self.go

        def go(self, t):
            return self.v * t

    def f(x):
        a = A(x[0])
        m = a.go
        return m(x[1]) * a.h(x[2]) + sum(map(a.go, [x[0], x[1]]))

    return f, plain


def object_loop_state_rt_branch():
    class S:
        def __init__(self):
            self.p = 0.0
            self.v = np.zeros(3)
            self.n = 0

        def step(self, f):
            self.v += f
            self.p = self.p + np.sum(self.v**2)
            self.n += 1
            if self.p > 2.0:
                self.p = self.p * 0.5

    def f(x):
        s = S()
        for k in range(5):
            s.step(x * k)
        return s.p * s.n

    return f, plain


def dict_of_objects_str_keys():
    class Thing:
        def __init__(self, v):
            self.v = v

    def f(x):
        d = {"a": Thing(x[0]), "b": Thing(x[1])}
        for k, o in d.items():
            o.v = o.v * 2
        return d["a"].v * d["b"].v

    return f, plain


def vars_and___dict():
    class Thing:
        def __init__(self, v):
            self.v = v
            self.w = 2.0

    def f(x):
        o = Thing(x[0])
        s = 0.0
        for k, v in vars(o).items():
            s = s + v * v
        return s + o.__dict__["v"]

    return f, plain


def weird_eq_identity():
    class Thing:
        def __init__(self, v):
            self.v = v

    def f(x):
        a = Thing(x[0])
        b = a
        b.v = x[1]
        return a.v * (2.0 if a is b else 3.0) * (1.0 if a == b else 5.0)

    return f, plain


def descriptor():
    class Ten:
        def __get__(self, o, t=None):
            return o.z * 10

        def __set__(self, o, v):
            o.z = v

    class C:
        d = Ten()

    def f(x):
        c = C()
        c.d = x[0]
        return c.d * x[1]

    return f, plain


def str_and_repr_and_format():
    class A:
        def __init__(s, v):
            s.v = v

        def __repr__(s):
            return f"A({s.v})"

    def f(x):
        a = A(x[0])
        t = repr(a)
        u = f"{a} {x[1]:.2f}"
        return a.v * x[1]

    return f, plain


def partialmethod():
    class A:
        def __init__(s, v):
            s.v = v

        def go(s, k, w=1.0):
            return s.v**k * w

        cube = functools.partialmethod(go, 3, w=2.0)

    def f(x, o):
        return A(x[0]).cube() + o.cube() * x[1]

    def args():
        return np.array([0.7, 1.3, 2.1]), A(2.0)

    return f, args


def class_decorator():
    def deco(cls):
        cls.extra = 4.0
        old = cls.go

        def go(self, *a):
            return old(self, *a) * 2

        cls.go = go
        return cls

    @deco
    class A:
        def __init__(s, v):
            s.v = v

        def go(s, t):
            return s.v * t

    def f(x):
        a = A(x[0])
        return a.go(x[1]) * a.extra

    return f, plain


def singledispatchmethod_total_ordering():
    @functools.total_ordering
    class A:
        def __init__(s, v):
            s.v = v

        def __lt__(s, o):
            return s.v < o.v

        def __eq__(s, o):
            return s.v == o.v

    def f(x):
        a, b = A(x[0]), A(x[1])
        return a.v * 2 if a <= b else b.v

    return f, plain


def object_returned_by_vjp_like_tuple_fn():
    class A:
        def __init__(s, v):
            s.v = v

    def mk(x):
        a = A(x[0])
        a.u = x[1]
        return a, a.u * 2

    def f(x):
        a, b = mk(x)
        return a.v * a.u * b

    return f, plain


def copy_copy():
    class A:
        def __init__(s, v):
            s.v = v
            s.l = [v]

    def f(x):
        a = A(x[0])
        b = copy.copy(a)
        b.v = x[1]
        c = copy.deepcopy(a)
        c.v = x[2]
        return a.v * b.v * c.v

    return f, plain


PROGRAMS = [
    slots_class_built,
    slots_given,
    slot_not_set,
    dataclass_all,
    post_init_initvar,
    initvar_default,
    asdict_astuple,
    dataclass_inherit,
    dataclass_eq_order,
    dataclass_given_field_default,
    dataclass_given_replace,
    namedtuple_replace_asdict,
    namedtuple_method_subclass,
    namedtuple_given_methods,
    enums,
    simplenamespace,
    getattr_setattr_hasattr,
    property_setter,
    static_class_methods,
    super_any_method_mixin,
    operators_full,
    cached_property,
    class_attr_read,
    given_object_with_list_and_dict,
    given_object_operators,
    objects_in_given_list_loop,
    init_subclass,
    abstract_class,
    new,
    is_instance,
    object_method_stored,
    object_loop_state_rt_branch,
    dict_of_objects_str_keys,
    vars_and___dict,
    weird_eq_identity,
    descriptor,
    str_and_repr_and_format,
    partialmethod,
    class_decorator,
    singledispatchmethod_total_ordering,
    object_returned_by_vjp_like_tuple_fn,
    copy_copy,
]


def check(f, args):
    given = args()
    before = given[0].copy()
    np.testing.assert_allclose(ad.grad(f)(*given), differences(f, *args()), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(given[0], before)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradient(program):
    check(*program())


@pytest.mark.parametrize("program", PROGRAMS)
def test_in_a_loop_and_a_branch(program):
    f, args = program()

    def combined(x, *rest):
        s = 0.0
        for k in range(2):
            y = x * (1.0 + 0.1 * k)
            if y[0] > 0.75:
                s = s + f(y, *rest)
            else:
                s = s + f(y, *rest) * 2.0
        return s

    check(combined, args)


@pytest.mark.parametrize("program", PROGRAMS)
def test_second_order(program):
    f, args = program()
    w = np.array([0.3, -0.2, 0.5])
    g = ad.grad(f)
    check(lambda x, *rest: np.sum(g(x, *rest) * w), args)


# --- what is changed on an object or its class between two calls ----------------------------------------------------


class Scaled:
    k = 2.0

    def __init__(self, a):
        self.a = a

    def go(self, x):
        return x * self.a * self.k

    @property
    def twice(self):
        return 2.0 * self.a


def changed(change, f, expected):
    old = dict(Scaled.__dict__)
    s = Scaled(3.0)
    g = ad.grad(f, argnums=0)
    try:
        first = g(1.0, s)
        change(s)
        assert g(1.0, s) == pytest.approx(expected)
        assert g(1.0, s) != first
    finally:
        for name in [*Scaled.__dict__]:
            if name not in old:
                delattr(Scaled, name)
            elif Scaled.__dict__[name] is not old[name]:
                setattr(Scaled, name, old[name])


@pytest.mark.parametrize(
    "change, f, expected",
    [
        (lambda s: setattr(s, "a", 5.0), lambda x, s: s.go(x), 10.0),
        (lambda s: setattr(s, "k", 5.0), lambda x, s: s.go(x), 15.0),
        (lambda s: setattr(Scaled, "k", 5.0), lambda x, s: s.go(x), 15.0),
        (lambda s: setattr(Scaled, "go", lambda self, x: x * x * x * self.a), lambda x, s: s.go(x), 9.0),
        (lambda s: setattr(s, "go", lambda x: 7.0 * x), lambda x, s: s.go(x), 7.0),
        (lambda s: setattr(Scaled, "twice", property(lambda self: 9.0)), lambda x, s: s.twice * x, 9.0),
        (lambda s: setattr(s, "extra", 9.0), lambda x, s: x * (s.extra if hasattr(s, "extra") else 1.0), 9.0),
        (lambda s: setattr(Scaled, "extra", 9.0), lambda x, s: x * getattr(s, "extra", 1.0), 9.0),
        (lambda s: setattr(s, "__class__", Shifted), lambda x, s: s.go(x), 12.0),
    ],
)
def test_a_change_between_two_calls_is_seen(change, f, expected):
    changed(change, f, expected)


class Shifted(Scaled):
    def go(self, x):
        return 4.0 * self.a * x


# --- what is refused ------------------------------------------------------------------------------------------------


class Sneaky:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


def test_setattr_of_the_class_is_called():
    def f(x):
        s = Sneaky()
        s.a = x
        return s.a * s.a

    assert ad.grad(f)(3.0) == pytest.approx(24.0)


class Row:
    def __init__(self, w):
        self.w = w

    def __rmul__(self, x):
        return np.sum(self.w) * x


@dataclass(frozen=True)
class Frozen:
    a: float


class Outer(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Made(metaclass=Outer):
    pass


class Dynamic:
    def __getattribute__(self, name):
        return 3.0


def test_refusals():
    def operator_on_elements(x):
        return np.sum(x * Row(x))

    def frozen(x):
        d = Frozen(x[0])
        d.a = x[1]
        return d.a

    def metaclass(x):
        Made()
        return x[0]

    def getattribute(x):
        return Dynamic().a * x[0]

    def missing(x):
        return Frozen(x[0]).b

    for f, message in [
        (operator_on_elements, "NumPy applies it to each element"),
        (frozen, "cannot assign to field 'a' of the frozen Frozen"),
        (metaclass, "metaclass of Made defines __call__"),
        (getattribute, "Dynamic defines __getattribute__"),
        (missing, "'Frozen' object has no attribute 'b'"),
    ]:
        with pytest.raises(ad.AutodiffError, match=message) as error:
            ad.grad(f)(np.ones(2))
        assert __file__ in str(error.value)


def test_what_a_named_tuple_refuses_python_says() -> None:
    N = namedtuple("N", "a b")

    def other_field(x):
        return N(x[0], 2.0)._replace(c=x[1]).a

    def other_length(x):
        return N._make([x[0], x[1], x[2]]).a

    def missing(x):
        return N(x[0]).a

    def twice(x):
        return N(x[0], a=x[1]).a

    for f in (other_field, other_length, missing, twice):
        with pytest.raises(Exception) as expected:
            f(np.ones(3))
        with pytest.raises(type(expected.value)):
            ad.grad(f)(np.ones(3))


class Chosen:
    """What its constructor does depends on a condition, so what follows is compiled for each case."""

    def __init__(self, a, n):
        self.a = a
        if n > 2:
            self.f = lambda t: t**3
            return
        self.f = lambda t: t

    def height(self, t):
        return self.f(t) * self.a


@dataclass
class ChosenLater:
    a: float
    n: int

    def __post_init__(self):
        self.f = (lambda t: t**2) if self.n > 2 else (lambda t: t)

    def height(self, t):
        return self.f(t) * self.a


@pytest.mark.parametrize("cls", [Chosen, ChosenLater])
@pytest.mark.parametrize("n", [2, 3])
def test_constructors_that_choose_functions(cls, n):
    def at_once(a, n):
        return cls(a, n).height(3.0)

    def later(a, n):
        obj = cls(a * 2.0, n)
        return obj.height(3.0) * obj.a

    np.testing.assert_allclose(ad.grad(at_once)(1.5, n), at_once(1.5, n) / 1.5)
    np.testing.assert_allclose(ad.grad(later)(1.5, n), 2 * later(1.5, n) / 1.5)


class Unset:
    scale = None

    def value(self, x):
        return x * 2 if self.scale is None else x * self.scale


class Inherits(Unset):
    pass


def none_of_the_class(x, o):
    return o.value(x)


def none_of_the_class_beside_a_store(x, o):
    o.last = x
    return o.value(x) * o.last


def none_until_it_is_set(x, o):
    first = o.value(x)
    o.scale = x
    return first * o.value(x) + (Inherits.scale is None)


@pytest.mark.parametrize("cls", [Unset, Inherits])
@pytest.mark.parametrize(
    "f", [none_of_the_class, none_of_the_class_beside_a_store, none_until_it_is_set], ids=lambda f: f.__name__
)
def test_none_is_an_attribute_of_a_class_as_any_other(f: Any, cls: Any) -> None:
    h = 1e-5
    wanted = (f(1.3 + h, cls()) - f(1.3 - h, cls())) / (2 * h)
    assert ad.grad(f)(1.3, cls()) == pytest.approx(wanted, rel=1e-8)


def test_a_class_may_get_an_attribute_of_none_later() -> None:
    class Bare:
        pass

    def f(x, o):
        return x * 2 if hasattr(o, "mode") else x * 3

    g = ad.grad(f)
    assert g(1.0, Bare()) == 3.0
    Bare.mode = None  # type: ignore[attr-defined]
    assert g(1.0, Bare()) == 2.0


class Divided:
    def __init__(self, v):
        self.v = v

    def __divmod__(self, other):
        return self.v * other, self.v

    def __rdivmod__(self, other):
        return self.v + other, self.v * other


def test_divmod_of_objects() -> None:
    d = Divided(2.0)
    assert ad.value_and_grad(lambda x: divmod(d, x)[0] * x)(3.0) == (18.0, 12.0)
    assert ad.value_and_grad(lambda x: divmod(x, Divided(x))[1])(3.0) == (9.0, 6.0)


def test_a_text_is_not_filled_from_what_makes_its_entries() -> None:
    class Table(dict):
        def __missing__(self, key):
            return 1.0

    table = Table(b=2.0)

    def f(x):
        return x * len("%(a)s" % table)

    with pytest.raises(ad.UnsupportedError, match="`%` with Table, which makes entries that are missing"):
        ad.grad(f)(2.0)
