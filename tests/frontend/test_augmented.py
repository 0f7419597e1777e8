"""Augmented assignments, and what takes part in them: setters, items, names of other scopes, the order of reading and
storing. Each program is compared with central differences; what Python raises the gradient raises."""

import dataclasses
import functools

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from tests.differences import differences


class Prop:
    def __init__(self, a):
        self._a = a

    @property
    def a(self):
        return self._a * 1.0

    @a.setter
    def a(self, v):
        self._a = v


class Doubling(Prop):
    @Prop.a.setter
    def a(self, v):
        self._a = 2.0 * v


class ReadOnly(Prop):
    @property
    def a(self):
        return self._a * 1.0


class Items:
    def __init__(self, v):
        self.held = [v, v]
        self.calls = 0

    def __getitem__(self, k):
        return self.held[k] * 1.0

    def __setitem__(self, k, v):
        self.calls += 1
        self.held[k] = v * self.calls


class Attributes:
    def __init__(self, v):
        object.__setattr__(self, "held", v)

    def __setattr__(self, name, v):
        object.__setattr__(self, "held" if name == "a" else name, v * 3.0)

    def __getattr__(self, name):
        if name == "a":
            return self.held * 1.0
        raise AttributeError(name)


class Descriptor:
    def __get__(self, obj, cls):
        return obj._v * 1.0

    def __set__(self, obj, v):
        obj._v = v * 2.0


class Described:
    a = Descriptor()

    def __init__(self, v):
        self._v = v


class Slots:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Plain:
    def __init__(self, a):
        self.a = a

    def add(self, v):
        self.a += v
        return self.a


class Shared:
    a = None


class InPlace:
    def __init__(self, v):
        self.v = v

    def __iadd__(self, other):
        self.v = self.v + 2.0 * other
        return self


class NewOne:
    def __init__(self, v):
        self.v = v

    def __iadd__(self, other):
        return NewOne(self.v + 3.0 * other)

    def __add__(self, other):
        return NewOne(self.v + 5.0 * other)


class OnlyAdd:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return OnlyAdd(self.v + 5.0 * other)


class ViaSuper(Prop):
    def __setattr__(self, name, v):
        super().__setattr__(name, v)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object


class Cell:
    def __init__(self, **names):
        self.__dict__.update(names)


TOTAL = np.zeros(3)
COUNT = 0.0

# Each is the body of ``f(x)``, `x` an array of three numbers; the second part says which names are made anew before it.
BODIES = {}


def holder(cls):
    return f"b = {cls}(x * 1.0)\nb.a += x\nreturn np.sum(b.a * b.a)"


for _cls in ("Prop", "Doubling", "Attributes", "Described", "Slots", "Plain", "Cell2", "ViaSuper"):
    BODIES[f"attribute of {_cls}"] = holder(_cls)
    BODIES[f"number in {_cls}"] = holder(_cls).replace("(x * 1.0)", "(x[0] * 1.0)").replace("+= x", "+= x[1]")
    BODIES[f"attribute of {_cls} in a loop"] = (
        f"b = {_cls}(x * 1.0)\nfor k in range(3):\n    b.a += x * x[k]\n    b.a *= 0.5\nreturn np.sum(b.a * b.a)"
    )
    BODIES[f"attribute of {_cls} in a branch"] = (
        f"b = {_cls}(x * 1.0)\nif x[0] > 0.5:\n    b.a += x\nelse:\n    b.a -= x\nreturn np.sum(b.a * b.a)"
    )
    BODIES[f"attribute of {_cls} with a condition"] = (
        f"b = {_cls}(x * 1.0)\nb.a += x if x[0] > 0.5 else x * x\nreturn np.sum(b.a * b.a)"
    )
    BODIES[f"attribute of {_cls}, rebound by the value"] = (
        f"b = {_cls}(x * 1.0)\ndef h():\n    b.a = x * x\n    return x * 3.0\nb.a += h()\nreturn np.sum(b.a * b.a)"
    )
    BODIES[f"alias of {_cls}"] = f"b = {_cls}(x * 1.0)\nc = b\nc.a += x\nreturn np.sum(b.a * c.a)"
    BODIES[f"attribute of an attribute, {_cls}"] = (
        f"o = Plain({_cls}(x * 1.0))\no.a.a += x\no.a.a -= x * x\nreturn np.sum(o.a.a * o.a.a)"
    )
    BODIES[f"setattr of {_cls}"] = f"b = {_cls}(x * 1.0)\nsetattr(b, 'a', b.a + x)\nreturn np.sum(b.a * b.a)"
    BODIES[f"unpacked into {_cls}"] = f"b = {_cls}(x * 1.0)\nb.a, c = x * x, x\nreturn np.sum(b.a * b.a + c)"

BODIES |= {
    "items": "b = Items(x * 1.0)\nb[0] += x\nb[1] -= x * x\nb[0] += x\nreturn np.sum(b[0] * b[1])",
    "items in a loop": "b = Items(x * 1.0)\nfor k in range(2):\n    b[k] += x * x\nreturn np.sum(b[0] * b[1])",
    "key once": (
        "l = []\ndef k():\n    l.append(1)\n    return 'a'\nd = {'a': x * 1.0}\nd[k()] += x\n"
        "return np.sum(d['a'] * d['a']) * len(l)"
    ),
    "key once, with a condition": (
        "l = []\ndef k():\n    l.append(1)\n    return 'a'\nd = {'a': x[0] * 1.0}\n"
        "d[k()] += x[1] if x[0] > 0.5 else x[2]\nreturn d['a'] * d['a'] * len(l)"
    ),
    "slice once, with a condition": (
        "l = []\ndef k():\n    l.append(1)\n    return 1\na = x * 1.0\n"
        "a[k():] += x[1] if x[0] > 0.5 else x[2]\nreturn np.sum(a * a) * len(l)"
    ),
    "rebound name": "y = x * 1.0\ndef h():\n    nonlocal y\n    y = x * x\n    return x\ny += h()\nreturn np.sum(y**2)",
    "rebound number": (
        "y = x[0]\ndef h():\n    nonlocal y\n    y = x[1] * 7.0\n    return x[2]\ny += h()\nreturn y * y"
    ),
    "rebound number, with a condition": (
        "y = x[0]\ndef h():\n    nonlocal y\n    y = x[1] * 7.0\n    return x[2]\n"
        "y += h() if x[0] > 0.5 else 1.0\nreturn y * y"
    ),
    "rebound array, with a condition": (
        "y = x * 1.0\ndef h():\n    nonlocal y\n    y = x * x\n    return x\n"
        "y += h() if x[0] > 0.5 else x * 2.0\nreturn np.sum(y * y)"
    ),
    "rebound item": (
        "l = [x * 1.0, x]\ndef h():\n    l[0] = x * x\n    return x\nl[0] += h()\nreturn np.sum(l[0] * l[0])"
    ),
    "rebound entry": (
        "d = {'a': x * 1.0}\ndef h():\n    d['a'] = x * x\n    return x\nd['a'] += h()\nreturn np.sum(d['a'] ** 2)"
    ),
    "changed in place by the value": (
        "y = x * 1.0\ndef h():\n    y[0] = x[1]\n    return x\ny += h()\nreturn np.sum(y * y)"
    ),
    "user's in place": "b = InPlace(x * 1.0)\nc = b\nb += x\nreturn np.sum(c.v * b.v)",
    "user's new one": "b = NewOne(x * 1.0)\nc = b\nb += x\nreturn np.sum(c.v * b.v)",
    "user's addition": "b = OnlyAdd(x * 1.0)\nc = b\nb += x\nreturn np.sum(c.v * b.v)",
    "user's in a property": "b = Plain(InPlace(x * 1.0))\nb.a += x\nreturn np.sum(b.a.v * b.a.v)",
    "user's in a list": "l = [InPlace(x * 1.0)]\nl[0] += x\nreturn np.sum(l[0].v ** 2)",
    "method": "b = Plain(x * 1.0)\nfor v in x:\n    b.add(v)\nreturn np.sum(b.add(x) * x)",
    "list of lists": "l = [[x[0], x[1]], [x[2], 1.0]]\nl[0][1] += x[2]\nl[1][0] *= l[0][1]\nreturn l[0][1] * l[1][0]",
    "swap": "a = x * 1.0\na[0], a[1] = a[1], a[0]\na[0] += a[2]\nreturn a[0] * a[1] + a[2]",
    "swap of rows": "a = np.outer(x, x)\na[0], a[1] = a[1] * 1.0, a[0] * 1.0\nreturn np.sum(a[0] * x)",
    "swap of attributes": "b = Prop(x[0])\nc = Prop(x[1])\nb.a, c.a = c.a, b.a\nb.a += c.a * x[2]\nreturn b.a * c.a**2",
    "list grows": "l = [x[0]]\nm = l\nl += [x[1], x[2]]\nreturn m[1] * m[2] * len(m)",
    "list by a tuple": "l = [x[0]]\nl += (x[1],)\nreturn l[1] * l[0]",
    "list in an attribute": "b = Plain([x[0]])\nm = b.a\nb.a += [x[1]]\nreturn m[1] * b.a[0]",
    "list in a property": "b = Plain(1)\nb.a = [x[0]]\nb.a += [x[1] * x[2]]\nreturn b.a[1] * b.a[0]",
    "tuple rebinds": "t = (x[0],)\nu = t\nt += (x[1],)\nreturn t[1] * t[0] * len(u)",
    "array by a list": "a = x * 1.0\na += [x[0], x[1], 2.0]\nreturn np.sum(a * a)",
    "string": "s = 'a'\ns += 'b'\nreturn x[0] * x[0] if s == 'ab' else x[0]",
    "view": "a = np.outer(x, x)\nb = a[1:]\nb += x\nreturn np.sum(a * a)",
    "row of a list": "l = [x * 1.0, x * 2.0]\nfor k in (0, 1):\n    l[k] += x\n    l[k][0] -= 1.0\nreturn l[0] @ l[1]",
    "global": "global COUNT\nCOUNT = x[0]\nCOUNT += x[1]\nCOUNT *= COUNT\nreturn COUNT",
    "keyword made": "b = Cell(a=x * 1.0)\nb.a += x\nvars(b)['a'] *= 2.0\nreturn np.sum(b.a * b.a)",
}
RAISES = {
    "tuple of arrays": "t = (x * 1.0,)\nt[0] += x\nreturn np.sum(t[0])",
    "tuple of numbers": "t = (x[0], x[1])\nt[0] += x[1]\nreturn t[0]",
    "string item": "s = 'ab'\ns[0] += 'c'\nreturn x[0]",
    "frozen": "b = Frozen(x * 1.0)\nb.a += x\nreturn np.sum(b.a)",
    "no setter": "b = ReadOnly(x * 1.0)\nb.a += x\nreturn np.sum(b.a)",
    "no attribute": "b = Plain(x)\nb.c += x\nreturn np.sum(b.c)",
    "no slot": "b = Slots(x)\nb.c = x\nreturn np.sum(b.c)",
    "no item": "b = Plain(x)\nb[0] += x\nreturn np.sum(b.c)",
    "no key": "d = {}\nd['a'] += x\nreturn np.sum(d['a'])",
    "list and number": "l = [x[0]]\nl += 2.0\nreturn l[0]",
    "tuple and list": "t = (x[0],)\nt += [x[1]]\nreturn t[0]",
    "unbound": "y += x\nreturn np.sum(y)",
}


SLICES = {
    "longer": "l = [x[0], x[1]]\nl[1:] += [x[2]]",
    "repeated": "l = [x[0], x[1]]\nl[1:] *= 2",
    "whole": "l = [x[0], x[1]]\nl[:] *= 2",
    "removed": "l = [x[0], x[1], x[2]]\nl[1:2] *= 0",
    "behind the end": "l = []\nfor v in x:\n    l[len(l):] += [v * v]",
    "where the run decides": "l = [x[0]]\nfor v in x:\n    if v > 0.8:\n        l[:1] += [v * v]",
    "a slice with a name": "k = slice(1, None)\nl = [x[0], x[1]]\nl[k] += [x[2]]",
    "a slice from outside": "l = [x[0], x[1]]\nl[TAIL] += (v * v for v in x)",
    "in a list": "a = [x, [x[0]]]\na[1][1:] += [x[1]]\nl = a[1]",
    "in a dict": "d = {'a': [x[0]]}\nd['a'][:1] += [x[1]]\nl = d['a']",
    "in an object": "o = Plain([x[0], x[1]])\no.a[1:] += [x[2]]\nl = o.a",
    "items are lists": "n = [[x[0]], [x[1]]]\nl = n[0]\nn[0] += [x[2]]\nn[0] *= 2",
    "steps": "l = [x[0], x[1], x[2]]\nl[::2] += []",
}
TAIL = slice(1, None)
BODIES |= {
    f"slice, {name}": f"{body}\nreturn sum((k + 1) * v for k, v in enumerate(l))" for name, body in SLICES.items()
}


def Cell2(v):
    return Cell(a=v)


def made(bodies):
    from tests.programs.checks import load

    parts = ["from tests.frontend.test_augmented import *\nimport numpy as np\nCOUNT = 0.0\nTOTAL = None\n"]
    for number, body in enumerate(bodies.values()):
        parts.append(f"def f{number}(x):\n    " + body.replace("\n", "\n    ") + "\n")
    names = load("\n\n".join(parts), "augmented")
    return {name: names[f"f{number}"] for number, name in enumerate(bodies)}


@functools.cache
def programs():
    return made(BODIES)


@pytest.mark.parametrize("name", BODIES)
def test_against_differences(name):
    f = programs()[name]
    for x in (np.array([0.7, 1.3, 2.1]), np.array([0.2, 0.9, -1.1])):
        np.testing.assert_allclose(ad.grad(f)(x.copy()), differences(f, x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "name", [n for n in BODIES if "loop" not in n and n.startswith(("attribute", "items", "rebound"))]
)
def test_second_order(name):
    f = programs()[name]
    x, v = np.array([0.7, 1.3, 2.1]), np.array([0.3, -0.2, 0.5])
    g = ad.grad(f)
    second = ad.grad(lambda x: np.sum(ad.grad(f)(x) * v))(x)
    np.testing.assert_allclose(second, (g(x + 1e-6 * v) - g(x - 1e-6 * v)) / 2e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", RAISES)
def test_what_python_raises(name):
    f = made({name: RAISES[name]})[name]
    x = np.array([0.7, 1.3, 2.1])
    with pytest.raises(Exception) as wanted:
        f(x.copy())
    with pytest.raises(Exception) as found:
        ad.grad(f)(x.copy())
    assert isinstance(found.value, (wanted.type, AutodiffError))


__all__ = [name for name in globals() if name[0].isupper()]


def test_an_attribute_of_an_argument_goes_through_its_setter():
    def f(b, x):
        b.a += x
        return np.sum(b.a * b.a)

    x = np.array([0.7, 1.3, 2.1])
    for cls in (Prop, Doubling, Described, Attributes, Slots, Plain):
        want = differences(lambda x, cls=cls: f(cls(np.ones(3)), x), x)
        np.testing.assert_allclose(ad.grad(f, 1)(cls(np.ones(3)), x), want, rtol=1e-6)
