"""Functions of all kinds, and what changes between two calls: helpers, sources, closures, defaults, modules."""

import functools
import importlib
import linecache
import sys

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import SourceUnavailableError
from autodiff_compiler.frontend import source


@functools.lru_cache(maxsize=None)
def cached(a, b=2.0):
    return a * a * b


class Holder:
    def __init__(self, v):
        self.v = v

    @functools.lru_cache  # noqa: B019
    def times(self, t):
        return self.v * t

    def raised(self, k, w=1.0):
        return self.v**k * w

    cube = functools.partialmethod(raised, 3, w=2.0)


@functools.singledispatch
def kind(v):
    return v * 2


@kind.register
def _(v: float):
    return v * 3


@kind.register(tuple)
def _(v):
    return v[0] * v[1]


def product(a, b, c):
    return a * b + c**2


inner_partial = functools.partial(product, 2.0)
outer_partial = functools.partial(inner_partial, c=3.0)
holder = Holder(2.0)


def cached_twice(x):
    return cached(x[0]) + cached(x[0]) * cached(x[1], b=x[2]) + cached(3.0) * x[1] + x[2] * x[0]


def partials(x):
    local = functools.partial(functools.partial(product, x[0]), c=x[1])
    s = outer_partial(x[0]) * local(x[2]) + local(x[2], c=x[0])
    return s + outer_partial.func(x[0], x[1], x[2]) + inner_partial.args[0] * x[0]


def dispatched(x):
    return kind(x)[0] + kind((x[0], x[1])) + kind(2.0) * x[0] * x[2]


def partial_method(x):
    return Holder(x[0]).cube() + holder.cube() * x[1] * x[2]


@pytest.mark.parametrize("f", [cached_twice, partials, dispatched, partial_method])
def test_gradient(f):
    x = np.array([0.7, 1.3, 2.1])

    def looped(x):
        s = 0.0
        for k in range(2):
            s = s + (f(x * (k + 1.0)) if x[0] > 0.0 else 0.0)
        return s

    for g in (f, looped):
        ad.check_grads(g, (x,), order=2, rtol=1e-4)


def test_a_cached_method_that_reads_its_object_takes_no_derivative():
    """What it gave for these arguments before is in its cache, whatever the object holds now."""
    with pytest.raises(ad.AutodiffError, match="times") as caught:
        ad.grad(lambda x: holder.times(x))(2.0)
    assert caught.value.remedy and caught.value.loc is not None
    assert ad.grad(lambda x: holder.times(3.0) * x)(2.0) == holder.times(3.0)


def test_a_class_registered_later_is_seen():
    @functools.singledispatch
    def g(v):
        return v * 2.0

    gradient = ad.grad(lambda x: g(x))
    assert gradient(3.0) == 2.0
    g.register(float, lambda v: v * 5.0)
    assert gradient(3.0) == 5.0


def deep(x, n):
    return x if n == 0 else np.sin(x) * 0.5 + deep(x * 0.999, n - 1)


def falling(x, n):
    if n < 0.5:
        return x
    return 0.99 * falling(x * 0.999 + 0.001 * x * x, n - 1.0)


def test_recursion_to_depth_900():
    for f, depth in ((deep, 900), (falling, 900.0)):
        old = sys.getrecursionlimit()
        sys.setrecursionlimit(20000)
        try:
            expected = (f(0.7 + 1e-6, depth) - f(0.7 - 1e-6, depth)) / 2e-6
        finally:
            sys.setrecursionlimit(old)
        assert ad.grad(f)(0.7, depth) == pytest.approx(expected, rel=1e-5)


# --- sources ----------------------------------------------------------------------------------------------------------


def test_a_source_that_is_registered():
    text = "def q(t):\n    return t * t * 3\n"
    linecache.cache["<mine>"] = (len(text), None, text.splitlines(True), "<mine>")
    names = {}
    exec(compile(text, "<mine>", "exec"), names)
    assert ad.grad(names["q"])(2.0) == 12.0


BEFORE = """
import numpy as np
from math import (
    sin,
    pi,
)
K = 2.0

class B:
    def one(self):
        return 1.0

class C(B):
    __hidden = 3.0

    def go(self, x):
        return super().one() * np.sum(x) * self.__hidden * K

def make(c):
    def f(x):
        import math
        return c * x * math.cos(0.0) + sin(0.0)
    return f

def f(x):
    return np.abs(x * 2.0)

g = lambda x: np.sum(x) * 2.0
h = make(4.0)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    path = tmp_path / "edited_later.py"
    path.write_text(BEFORE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    sys.modules.pop("edited_later", None)
    yield path, importlib.import_module("edited_later")
    sys.modules.pop("edited_later", None)


def test_what_has_not_been_edited_is_read(module):
    _, m = module
    assert ad.grad(m.f)(3.0) == 2.0 and ad.grad(m.g)(3.0) == 2.0 and ad.grad(m.h)(3.0) == 4.0
    assert ad.grad(lambda x: m.C().go(x) if x > 0 else x)(3.0) == 6.0


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("f", "x * 2.0", "x * 5.0"),
        ("f", "np.abs(x * 2.0)", "np.abs(2.0 * x)"),
        ("g", "* 2.0\nh", "* 7.0\nh"),
        ("h", "c * x * math", "c + x * math"),
        ("h", "cos(0.0)", "cos(1.0)"),
    ],
)
def test_what_was_edited_after_the_import_is_refused(module, monkeypatch, name, old, new):
    path, m = module
    monkeypatch.setattr(source, "_cache", {})
    assert old in BEFORE
    path.write_text(BEFORE.replace(old, new))
    linecache.checkcache()
    with pytest.raises(SourceUnavailableError, match="has changed since it was imported"):
        ad.grad(getattr(m, name))(3.0)


def test_a_reloaded_module_is_seen(module):
    path, m = module
    outer = ad.grad(lambda x: m.f(x) * m.K)
    assert outer(3.0) == 4.0
    path.write_text(BEFORE.replace("x * 2.0", "x * 5.0").replace("K = 2.0", "K = 10.0"))
    linecache.checkcache()
    importlib.invalidate_caches()
    importlib.reload(m)
    assert outer(3.0) == 50.0 and ad.grad(m.f)(3.0) == 5.0


# --- the same process -------------------------------------------------------------------------------------------------


def twice(x):
    return 2.0 * x


def thrice(x):
    return 3.0 * x


def with_default(x, c=2.0, *, d=1.0):
    return x * c * d


def calls(x):
    return twice(x) * 1.0


def test_changes_are_seen(monkeypatch):
    g = ad.grad(calls)
    assert g(1.0) == 2.0
    monkeypatch.setitem(globals(), "twice", thrice)
    assert g(1.0) == 3.0
    monkeypatch.undo()
    assert g(1.0) == 2.0
    monkeypatch.setattr(twice, "__code__", thrice.__code__)
    assert g(1.0) == 3.0
    monkeypatch.undo()
    assert g(1.0) == 2.0
    d = ad.grad(lambda x: with_default(x))
    assert d(1.0) == 2.0
    monkeypatch.setattr(with_default, "__defaults__", (5.0,))
    monkeypatch.setattr(with_default, "__kwdefaults__", {"d": 2.0})
    assert d(1.0) == 10.0
    s = ad.grad(lambda x: np.sin(x))
    assert s(0.0) == 1.0
    monkeypatch.setattr(np, "sin", np.cosh)
    assert s(0.5) in (pytest.approx(np.sinh(0.5)), pytest.approx(np.cos(0.5)))


def test_a_wrapper_that_is_rebound():
    def scaled(fn):
        @functools.wraps(fn)
        def inner(x):
            return inner.k * fn(x)

        inner.k = 2.0
        return inner

    f = scaled(thrice)
    g = ad.grad(lambda x: f(x))
    assert g(1.0) == 6.0
    f.k = 5.0
    assert g(1.0) == 15.0
