"""What the lowered code reads from outside: hidden inputs, guards, and the dispatch on them."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api.specialize import Dispatcher, signature_of
from autodiff_compiler.errors import AliasError
from autodiff_compiler.frontend.lower import lower
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.lowered import Lowered
from autodiff_compiler.tree import unflatten

X = np.array([0.3, -0.7, 1.2, 0.5])
factor = 2.0
weights = np.ones(4)
mode = "sum"


def helper(x):
    return x * 2


def reads_globals(x):
    if mode == "sum":
        return np.sum(helper(x) * weights) * factor
    return np.mean(x)


class Compiled:
    """Counts compilations and runs the reference interpreter."""

    def __init__(self, fn: Any):
        self.count = 0
        self.dispatch = Dispatcher(fn, self.compile, lambda args, kwargs: lower(fn, args, kwargs))

    def compile(self, low: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.count += 1
        return lambda *leaves: unflatten(low.out, interpret(low.function, leaves))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.dispatch(*args, **kwargs)


def test_hidden_inputs_have_paths() -> None:
    low = lower(reads_globals, (X,))
    assert [i.name for i in low.inputs] == ["x", "weights", "factor"]
    assert [i.hidden for i in low.inputs] == [False, True, True]
    assert low.inputs[0].path == (("arg", 0),)
    assert low.inputs[1].path == (("global", reads_globals, "weights"),)
    kinds = {(g.path[-1][-1], g.kind) for g in low.guards}
    assert {("mode", "eq"), ("helper", "is"), ("np", "is")} <= kinds


def test_globals_are_read_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    g = Compiled(reads_globals)
    module = globals()
    assert g(X) == reads_globals(X)
    for name, value, compilations in (
        ("factor", 5.0, 1),
        ("weights", np.arange(4.0), 1),
        ("factor", np.float32(3), 2),
        ("mode", "mean", 3),
        ("mode", "sum", 3),
        ("helper", lambda x: x * 3, 4),
    ):
        monkeypatch.setitem(module, name, value)
        np.testing.assert_allclose(g(X), reads_globals(X), rtol=1e-6)
        assert g.count == compilations, name
    monkeypatch.undo()
    assert g(X) == reads_globals(X)
    assert g.count == 4


def test_closure_cells_and_defaults() -> None:
    k = 2.0

    def f(x, c=3.0, *, d=1.0):
        return np.sum(x) * k + c + d

    g = Compiled(f)
    assert g(X) == f(X)
    k = 4.0
    assert g(X) == f(X)
    f.__defaults__ = (7.0,)
    f.__kwdefaults__ = {"d": 2.0}
    assert g(X) == f(X)
    assert g.count == 1
    assert g(X, 1.0) == f(X, 1.0)
    assert g(X, d=5.0) == f(X, d=5.0)
    assert g(d=5.0, x=X) == f(X, d=5.0)
    assert g.count == 3
    k = 2
    assert g(X) == f(X)
    assert g.count == 4


def test_builtin_that_becomes_a_global() -> None:
    module = types.ModuleType("mod")
    import linecache

    source = "def f(x):\n    return abs(x)\n"
    linecache.cache["<mod>"] = (len(source), None, source.splitlines(True), "<mod>")
    exec(compile(source, "<mod>", "exec"), module.__dict__)
    g = Compiled(module.f)
    assert g(-2.0) == 2.0
    module.abs = lambda x: 42.0  # type: ignore[attr-defined]
    assert g(-2.0) == 42.0
    del module.abs
    assert g(-3.0) == 3.0


def test_shapes_do_not_recompile() -> None:
    def f(x, y):
        return np.sum(x * y)

    g = Compiled(f)
    for n in (2, 3, 7):
        assert g(np.ones(n), np.ones(n)) == n
    assert g.count == 1
    assert g(np.ones(1), np.ones(5)) == 5
    assert g.count == 2
    with pytest.raises(ValueError, match="broadcast"):
        g(np.ones(3), np.ones(4))
    assert g(np.ones((2, 3)), np.ones(3)) == 6
    assert g.count == 3
    assert g(np.ones(3, np.float32), np.ones(3)) == 3
    assert g.count == 4
    assert g(np.ones(0), np.ones(0)) == 0
    assert g.count == 5  # no elements at all is a kind of its own


def test_numbers_are_not_baked() -> None:
    def f(x, n):
        s = 0.0
        for i in range(n):
            s = s + x * i
        return s

    g = Compiled(f)
    for n in range(5):
        assert g(2.0, n) == f(2.0, n)
    assert g.count == 1
    assert g(np.float64(2.0), 3) == 6.0
    assert g.count == 2


def test_structured_arguments() -> None:
    def f(params, x):
        return np.sum(params["w"] * x) + params["b"][0]

    g = Compiled(f)
    p = {"w": X, "b": [1.0, None]}
    assert g(p, X) == f(p, X)
    p = {"w": X * 2, "b": [4.0, None]}
    assert g(p, X) == f(p, X)
    assert g.count == 1
    q = {"b": [4.0, None], "w": X}
    assert g(q, X) == f(q, X)
    r = {"w": X, "b": [1.0, None, 2]}
    assert g(r, X) == f(r, X)
    assert g.count == 3


class Model:
    def __init__(self) -> None:
        self.w = X * 2
        self.on = True

    def loss(self, x):
        return np.sum(self.w * x) if self.on else 0.0


def test_attributes_are_read_at_the_call() -> None:
    model = Model()
    g = Compiled(model.loss)
    assert g(X) == model.loss(X)
    model.w = X * 5
    assert g(X) == model.loss(X)
    assert g.count == 1
    model.on = False
    assert g(X) == 0.0
    assert g.count == 2


def writes(x, y):
    x[0] = 1.0
    return np.sum(x * y)


def test_overlapping_arguments() -> None:
    g = Compiled(writes)
    low = lower(writes, (X, X.copy()))
    assert low.stored == [0]
    assert low.no_alias == [(0, 0), (0, 1)]  # it may overlap itself, and the other
    before = X.copy()
    assert g(X, before) == writes(X.copy(), before)
    np.testing.assert_array_equal(X, before)
    with pytest.raises(AliasError, match="may share memory"):
        g(X, X)
    with pytest.raises(AliasError):
        g(X[1:], X[:-1])
    assert lower(reads_globals, (X,)).no_alias == []


def test_value_guards_of_a_recursion() -> None:
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    g = Compiled(power)
    assert g(2.0, 3) == 8.0
    assert g(3.0, 3) == 27.0
    assert g.count == 1
    assert g(2.0, 4) == 16.0
    assert g.count == 2


def test_raises_what_the_call_would_raise() -> None:
    def f(x):
        return x

    g = Compiled(f)
    with pytest.raises(TypeError):
        g()
    with pytest.raises(TypeError):
        g(1.0, 2.0)
    with pytest.raises(TypeError):
        g(y=1.0)


def test_signature_of() -> None:
    assert signature_of((X, 1.0)) == signature_of((X[:2], 2.0))
    assert signature_of((X,)) != signature_of((X[:1],))
    assert signature_of((X,)) != signature_of((X.astype(np.float32),))
    assert hash(signature_of(({"a": X}, 1))) is not None


def test_nested_loops_grow_linearly() -> None:
    """The body of a nest of loops is lowered a small number of times per level."""
    import time

    def nest(x):
        s = 0.0
        for a in range(2):
            for b in range(2):
                for c in range(2):
                    for d in range(2):
                        for e in range(2):
                            for f in range(2):
                                s += x[0] * (a + b + c + d + e + f)
        return s

    start = time.perf_counter()
    low = lower(nest, (X,))
    assert time.perf_counter() - start < 2.0
    np.testing.assert_allclose(interpret(low.function, [X])[0], nest(X))


def test_another_object_of_a_library_in_the_place_of_the_first() -> None:
    """Its methods are those of the object that is there at the call."""

    class Model:
        def __init__(self) -> None:
            self.random = np.random.default_rng(0)

    model, x = Model(), np.ones(3)
    argument = ad.grad(lambda x, random: np.sum(random.normal(size=3) * x))
    attribute = ad.grad(lambda x: np.sum(model.random.normal(size=3) * x))
    for seed in (1, 2, 1):
        want = np.random.default_rng(seed).normal(size=3)
        assert np.array_equal(argument(x, np.random.default_rng(seed)), want)
        model.random = np.random.default_rng(seed)
        assert np.array_equal(attribute(x), want)
