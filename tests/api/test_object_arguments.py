"""Objects as arguments to differentiate by, and as results."""

import functools
import types
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError


class Layer:
    def __init__(self, w, b, name="layer"):
        self.w, self.b, self.name = w, b, name
        self.calls = 0

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


@dataclass
class Model:
    layers: list
    scale: float
    rate: int = 3
    act: Any = np.tanh
    note: str = "a model"
    cache: dict = field(default_factory=dict)

    def loss(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.scale**self.rate * np.sum(self.act(x))


@dataclass(frozen=True)
class Point:
    x: float
    y: float

    def __post_init__(self):
        if not isinstance(self.x, (float, np.floating)):
            raise TypeError("a number is needed")


class Slotted:
    __slots__ = ("a", "b", "unset")

    def __init__(self, a, b):
        self.a, self.b = a, b


Pair = namedtuple("Pair", "left right")


def make():
    rng = np.random.default_rng(0)
    return Model([Layer(rng.normal(size=(2, 2)), rng.normal(size=2)) for _ in range(2)], 1.5)


X = np.array([0.3, -0.8])


def test_a_model_of_layers():
    m = make()
    g = ad.grad(lambda model, x: model.loss(x))(m, X)
    assert type(g) is Model and type(g.layers) is list and type(g.layers[1]) is Layer
    assert (g.rate, g.note, g.act) == (3, "a model", np.tanh) and g.layers[0].name == "layer" and g.cache is m.cache
    for k in range(2):
        for name in ("w", "b"):
            got = getattr(g.layers[k], name)
            for index in np.ndindex(got.shape):
                up, down = make(), make()
                getattr(up.layers[k], name)[index] += 1e-6
                getattr(down.layers[k], name)[index] -= 1e-6
                assert got[index] == pytest.approx((up.loss(X) - down.loss(X)) / 2e-6, rel=1e-5, abs=1e-7)
    up, down = make(), make()
    up.scale += 1e-6
    down.scale -= 1e-6
    assert g.scale == pytest.approx((up.loss(X) - down.loss(X)) / 2e-6)
    same = make()
    assert m.scale == same.scale and np.array_equal(m.layers[0].w, same.layers[0].w)


def test_what_the_function_does_not_read_has_gradient_zero():
    g = ad.grad(lambda model: model.scale * 2.0)(make())
    assert g.scale == 2.0
    np.testing.assert_array_equal(g.layers[1].w, np.zeros((2, 2)))


def test_the_other_attributes_are_those_of_the_argument_of_this_call():
    grad = ad.grad(lambda model: model.scale * 2.0)
    m = make()
    grad(m)
    m.note, m.rate, m.layers[1].name = "another", 5, "last"
    g = grad(m)
    assert (g.note, g.rate, g.layers[1].name) == ("another", 5, "last")
    m.cache = 3.5  # now something to differentiate by
    assert grad(m).cache == 0.0


@pytest.mark.parametrize(
    "obj, f, expected",
    [
        (Point(2.0, 3.0), lambda p: p.x * p.y, Point(3.0, 2.0)),
        (Pair(2.0, Point(1.0, 4.0)), lambda p: p.left * p.right.y, Pair(4.0, Point(0.0, 2.0))),
        (types.SimpleNamespace(a=2.0, n=3, s="t"), lambda p: p.a**p.n, types.SimpleNamespace(a=12.0, n=3, s="t")),
        ({"p": Point(2.0, 3.0)}, lambda p: p["p"].x, {"p": Point(1.0, 0.0)}),
        ([Point(2.0, 3.0), 1.0], lambda p: p[0].x * p[1], [Point(1.0, 0.0), 2.0]),
    ],
)
def test_kinds_of_objects(obj, f, expected):
    got = ad.grad(f)(obj)
    assert got == expected and type(got) is type(expected)
    value, again = ad.value_and_grad(f)(obj)
    assert value == f(obj) and again == expected
    value, pullback = ad.vjp(f, obj)
    assert pullback(1.0) == (expected,)


def test_slots():
    g = ad.grad(lambda s, x: s.a * s.b * x, argnums=(0, 1))(Slotted(2.0, 5.0), 3.0)
    assert (g[0].a, g[0].b, g[1]) == (15.0, 6.0, 10.0) and not hasattr(g[0], "unset")


def test_methods_and_self():
    layer = Layer(np.eye(2), np.ones(2))
    g = ad.grad(lambda self, x: np.sum(Layer.__call__(self, x)))(layer, X)
    np.testing.assert_allclose(g.b, 1.0 - np.tanh(X + 1.0) ** 2)
    assert g.calls == 0 and g.name == "layer"


def test_a_reference_back_is_left_alone():
    a, b = types.SimpleNamespace(v=2.0), types.SimpleNamespace(v=3.0)
    a.other, b.other = b, a
    g = ad.grad(lambda p: p.v * p.other.v)(a)
    assert (g.v, g.other.v) == (3.0, 2.0) and g.other.other is a


def test_nothing_to_differentiate_by():
    with pytest.raises(ArgumentError, match="holds no floating numbers"):
        ad.grad(lambda p: 1.0)(types.SimpleNamespace(n=1, s="t"))


def test_stores_into_arrays_of_an_argument_are_undone():
    s = types.SimpleNamespace(buffer=np.ones(3), k=2)

    def f(s, x):
        s.buffer[0] = x
        s.buffer *= s.buffer
        return np.sum(s.buffer) * s.k

    g = ad.grad(f)(s, 3.0)
    np.testing.assert_array_equal(g.buffer, [0.0, 4.0, 4.0])
    assert ad.grad(f, argnums=1)(s, 3.0) == 12.0
    np.testing.assert_array_equal(s.buffer, np.ones(3))


def test_objects_as_results():
    def f(x, y):
        return Point(x * y, x + y), {"p": Pair(x, "s")}

    (p, d), pullback = ad.vjp(f, 2.0, 5.0)
    assert p == Point(10.0, 7.0) and d == {"p": Pair(2.0, "s")}
    assert pullback((Point(1.0, 10.0), {"p": Pair(100.0, "s")})) == (115.0, 12.0)
    with pytest.raises(ArgumentError, match="result's structure"):
        pullback((3.0, {"p": Pair(100.0, "s")}))


def test_an_object_handed_through():
    m = make()
    out, pullback = ad.vjp(lambda model, x: (model, x * model.scale), m, 2.0)
    assert type(out[0]) is Model and out[0].note == m.note and out[0].scale == 1.5
    cotangent = make()
    got, gx = pullback((cotangent, 10.0))
    assert got.scale == cotangent.scale + 20.0 and gx == 15.0
    np.testing.assert_array_equal(got.layers[0].w, cotangent.layers[0].w)
    tag = types.SimpleNamespace(name="t")
    value, pullback = ad.vjp(lambda x, t: (x * 2.0, t), 3.0, tag)
    assert value[1] is tag
    other = types.SimpleNamespace(name="u")
    assert ad.vjp(lambda x, t: (x * 2.0, t), 3.0, other)[0][1] is other


def test_lists_that_grow_as_results():
    def f(x):
        out = []
        for k in range(x.size):
            out.append(x[k] * x[k])
        return out

    _, pullback = ad.vjp(f, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(pullback([1.0, 10.0, 100.0])[0], [2.0, 40.0, 600.0])
    with pytest.raises(ArgumentError, match="list of 3"):
        pullback([1.0])


def test_second_order():
    def f(p):
        return p.x**3 * p.y**2

    def directional(p):
        g = ad.grad(f)(p)
        return g.x * 2.0 + g.y

    g = ad.grad(directional)(Point(2.0, 3.0))
    assert g.x == pytest.approx(2 * 6 * 2 * 9 + 3 * 4 * 2 * 3) and g.y == pytest.approx(2 * 3 * 4 * 2 * 3 + 8 * 2)
    ad.check_grads(f, (Point(1.2, 0.7),), order=2)
    ad.check_grads(lambda m, x: m.loss(x), (make(), X), order=2)


class Tank:
    def __init__(self, level, area):
        self.level, self.area = level, area
        self.sizes = [level, area]

    def named(self):
        return {name: self.__dict__[name] for name in ("level", "area")}


class Squared:
    """The object holds `side`, and the class computes what `.side` gives."""

    def __init__(self, side):
        self.__dict__["side"] = side

    @property
    def side(self):
        return self.__dict__["side"] ** 2

    @side.setter
    def side(self, value):
        raise AttributeError(value)


def test_what_a_namespace_holds_is_what_the_object_holds():
    def by_name(tank):
        held = tank.named()
        return held["level"] * held["area"] * tank.level

    def by_vars(tank):
        return sum(value for value in vars(tank).values() if isinstance(value, float)) * tank.area

    def through_a_list(tank):
        return tank.__dict__["sizes"][0] * tank.sizes[1]

    g = ad.grad(by_name)(Tank(2.0, 3.0))
    assert (g.level, g.area, g.sizes) == (12.0, 4.0, [0.0, 0.0])
    g = ad.grad(by_vars)(Tank(2.0, 3.0))
    assert (g.level, g.area) == (3.0, 8.0)
    assert ad.grad(through_a_list)(Tank(2.0, 3.0)).sizes == [3.0, 2.0]


def test_an_attribute_that_the_class_computes_from_the_namespace():
    def f(square):
        return square.side * vars(square)["side"]

    value, g = ad.value_and_grad(f)(Squared(2.0))
    assert value == 8.0 and vars(g) == {"side": 12.0}


class Loops:
    """An object that leads back to itself."""

    def __init__(self, w):
        self.w = w
        self.me = self
        self.method = self.one
        self.part = functools.partial(Loops.one, self)
        self.twice = {"model": [self]}

    def one(self, x):
        return np.sin(self.w @ x)


@pytest.mark.parametrize(
    "f",
    [
        lambda m, x: m.method(x),
        lambda m, x: m.part(x),
        lambda m, x: m.me.one(x),
        lambda m, x: m.me.me.one(x) + 0.0 * m.w[0],
        lambda m, x: m.twice["model"][0].one(x),
    ],
)
def test_what_leads_back_to_an_argument_is_the_argument(f: Any) -> None:
    x = np.array([1.0, 2.0])
    g = ad.grad(f)
    for w in (np.array([0.3, 0.5]), np.array([-1.0, 0.2])):
        np.testing.assert_allclose(g(Loops(w), x).w, np.cos(w @ x) * x, rtol=1e-12)
    # Another object there: the code is for what leads back.
    other = Loops(np.array([0.3, 0.5]))
    other.me = Loops(np.array([2.0, 2.0]))
    other.method = other.me.one
    other.part = functools.partial(Loops.one, other.me)
    other.twice = {"model": [other.me]}
    assert not np.any(g(other, x).w) or f(other, x) != f(other.me, x)
