"""Writing to attributes of classes, functions and modules: once per call, seen by whoever reads them through a class, a
class derived from it, an object or `super`, and left as Python leaves them."""

import io
import sys
import types

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from tests.differences import differences


class Base:
    count, scale, tag, table = 0, 1.5, "a", {"n": 1.0}
    w = np.array([1.0, 2.0])

    def __init__(self, x=1.0):
        self.x = x
        self.number = self.next_number()
        if type(self).own is None:
            type(self).own = self.number

    own = None

    def next_number(self):
        Base.count += 1
        return Base.count

    @classmethod
    def scaled(cls, x):
        cls.scale = cls.scale * x
        return cls.scale

    @property
    def twice(self):
        return self.scale * 2.0


class Derived(Base):
    def up(self):
        self.count = self.count + 10
        return self.count


class Other(Base):
    scale = 3.0


class Both(Derived, Other):
    pass


STATE = {c: {k: v for k, v in vars(c).items() if not k.startswith("__")} for c in (Base, Derived, Other, Both)}
THIS = sys.modules[__name__]
level = 1.0


def prepare():
    global level
    for c, names in STATE.items():
        for k in [k for k in vars(c) if not k.startswith("__") and k not in names]:
            delattr(c, k)
        for k, v in names.items():
            setattr(c, k, v)
    Base.table, Base.w = {"n": 1.0}, np.array([1.0, 2.0])
    vars(helper).clear()
    helper.calls = 0
    level = 1.0
    if hasattr(THIS, "fresh"):
        del THIS.fresh


def state():
    kinds = (types.FunctionType, classmethod, property)
    shown = {c: {k: v for k, v in vars(c).items() if not k.startswith("__")} for c in STATE}
    found = [(c.__name__, k, repr(v)) for c, names in shown.items() for k, v in names.items() if type(v) not in kinds]
    return found, dict(vars(helper)), level, getattr(THIS, "fresh", None)


def helper(x):
    helper.calls += 1
    helper.last = x
    return x * helper.calls


def counts_twice(x):
    Base.count += 1
    Base.count += 1
    return x * Base.count


def through_objects(x):
    a, b = Base(x), Derived(x * x)
    return a.x * a.number + b.x * b.number * (b.count + 1)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        Base.count += k
        total = total + Base(x).number * x
    return total * Base.count


def in_a_branch(x):
    if x > 1.0:
        Base.scale = x
    else:
        Base.tag = "b"
    return Other.scale * Derived.scale * x


def inherited(x):
    y = Derived.scaled(x)
    return y * Derived().scale + Base.scale * x + Both().scale


def diamond(x):
    Other.scaled(x)
    y = Both().scale
    Derived.scale = x * x
    return y + Both().scale * x + Base.scale


def of_self(x):
    d = Derived()
    d.up()
    Base.count += 1
    return x * (d.up() + Derived.count + Base.count)


def through_type(x):
    d = Derived(x)
    type(d).scale = x * d.scale
    d.__class__.scale = d.__class__.scale * 2.0
    return d.twice * x + Base.scale


def new_attribute(x):
    before = hasattr(Base, "extra")
    Base.extra = x * x
    return Derived.extra * x + (10.0 if before else 1.0) * x


def by_name(x):
    setattr(Base, "scale", x * x)
    return getattr(Derived, "sca" + "le") * x


def held_outside(x):
    Base.w = Base.w * x
    Base.table["n"] = Base.table["n"] * x
    Base.w[0] = x
    return np.sum(Base.w * Derived.w) * Other.table["n"]


def an_alias(x):
    cls = Base if x > 0.0 else Other
    cls.scale *= x
    return cls.scale * Derived.scale


def constants(x):
    Base.tag = Base.tag + "b"
    Base.scale = None
    y = 1.0 if Derived.scale is None else 2.0
    Base.scale = x
    return x * len(Base.tag) * y * Base.scale


def functions(x):
    return helper(x) + helper(x * x) * helper.calls + getattr(helper, "la" + "st") * x


def modules(x):
    global level
    THIS.level = THIS.level * x
    level = level + x
    THIS.fresh = level
    return level * THIS.level * fresh  # noqa: F821


def a_while(x):
    while Base.count < 4:
        Base.count += 1
        Base.scale = Base.scale * x
    return Base.scale + Derived.scale


def caught(x):
    try:
        Base.count += 1
        Base.scale = x
        _ = [1.0][int(x * 0) + 3]
        Base.count += 100
    except IndexError:
        pass
    return x * Base.count * Base.scale


def names_of(x):
    a, b = (f"sys[{Base().number}]" for _ in range(2))
    return x * x if a != b else x


PROGRAMS = [
    counts_twice, through_objects, in_a_loop, in_a_branch, inherited, diamond, of_self, through_type, new_attribute,
    by_name, held_outside, an_alias, constants, functions, modules, a_while, caught, names_of,
]  # fmt: skip


@pytest.mark.parametrize("x", [1.5, 0.7])
@pytest.mark.parametrize("f", PROGRAMS)
def test_attributes_are_left_as_the_function_leaves_them(f, x):
    def run(x):
        prepare()
        return f(x)

    expected = differences(run, x)
    prepare()
    results = []
    for _ in range(2):
        results.append((f(x), state()))
    prepare()
    g = ad.value_and_grad(f)
    for k, (value, after) in enumerate(results):
        got = g(x)
        assert got[0] == pytest.approx(value) and state() == after
        if k == 0:
            assert got[1] == pytest.approx(expected, rel=1e-5)
    prepare()
    f(x)
    once = state()
    prepare()
    ad.grad(ad.grad(f))(x)
    assert state() == once


def test_what_was_done_before_an_exception_is_done():
    def f(x):
        Base.count += 1
        if x > 1.0:
            raise ValueError("too much")
        Base.count += 10
        return x

    prepare()
    with pytest.raises(ValueError, match="too much"):
        ad.grad(f)(2.0)
    assert Base.count == 1 and ad.grad(f)(0.5) == 1.0 and Base.count == 12


def test_an_attribute_that_comes_or_goes_between_calls():
    def f(x):
        Derived.scale = Derived.scale * x
        return Both.scale * x

    prepare()
    g = ad.grad(f)
    assert g(2.0) == pytest.approx(6.0) and Derived.scale == 3.0
    assert g(2.0) == pytest.approx(12.0)
    del Derived.scale
    Base.scale = 7.0
    assert g(2.0) == pytest.approx(28.0) and Derived.scale == 14.0
    Both.scale = 1.0
    assert g(2.0) == 1.0
    prepare()


class Descriptor:
    def __get__(self, obj, cls):
        return 1.0


class Metaclass(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, value)

    @property
    def level(cls):
        return 1.0


class Made(metaclass=Metaclass):
    pass


def test_refusals():
    def a_method(x):
        Base.next_number = 1.0
        return x

    def a_special_name(x):
        Base.__doc__ = "text"
        return x

    def a_function(x):
        Base.scale = lambda y: y
        return x

    def a_descriptor(x):
        Base.scale = Descriptor()
        return x * Base.scale

    def a_metaclass(x):
        Made.scale = x
        return x

    def a_module_of_a_library(x):
        np.scale = x
        return x

    def what_print_writes_to(x):
        sys.stdout = io.StringIO()
        return x

    def a_class_of_a_library(x):
        types.SimpleNamespace.scale = x
        return x

    def computed_elsewhere(x):
        Base.computed = x
        return Computes().computed

    for f, message in [
        (a_method, "a class that lives outside"),
        (a_special_name, "a class that lives outside"),
        (a_function, "is kept in the attribute 'scale'"),
        (a_descriptor, "is kept in the attribute 'scale'"),
        (a_metaclass, "a class that lives outside"),
        (a_module_of_a_library, "a module that lives outside"),
        (what_print_writes_to, "a module that lives outside"),
        (a_class_of_a_library, "a class that lives outside"),
        (computed_elsewhere, "'computed', which is computed for objects of Computes"),
    ]:
        with pytest.raises(AutodiffError, match=message) as error:
            ad.grad(f)(2.0)
        assert __file__ in str(error.value) and "Instead" in str(error.value)


class Computes(Base):
    @property
    def computed(self):
        return 2.0
