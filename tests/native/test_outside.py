"""Calls of NumPy from machine code."""

from __future__ import annotations

import pickle
import re
import threading
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.native.outside import Outside, run_as_python

from .both import agree, bailed, why_not
from .test_improvements import checked, numbers

A = numbers(4, 4) + 4.0 * np.eye(4)
V = numbers(4, seed=1)


def several_alike(a: Any, v: Any) -> Any:
    for _ in range(3):
        v = np.linalg.solve(a, v)
    w = np.linalg.solve(a, 2.0 * v)
    return np.sum(np.linalg.solve(a, w) * v)


def several_results(a: Any, v: Any) -> Any:
    w, vs = np.linalg.eigh(a @ a.T)
    return np.sum(w * v) + np.sum(np.abs(vs) * v)


def in_branches(a: Any, v: Any) -> Any:
    s = 0.0
    for k in range(4):
        if v[k] > 1.0:
            s = s + np.linalg.det(a * v[k])
        elif v[k] > 0.8:
            s = s + np.sum(np.linalg.inv(a))
        else:
            s = s + np.linalg.det(np.linalg.inv(a)) * v[k]
    return s


def names_of_the_text(a: Any, v: Any) -> Any:
    np_, x0, x1, done, found = v[0], v[1], v[2], a, v
    for linalg in range(2):
        x0, x1, found = x0 * np_, x1 + x0, np.linalg.solve(done, found * x1)
    return x0 * x1 + np.sum(found) + linalg


def parts_and_turned(a: Any, v: Any) -> Any:
    s = 0.0
    for k in range(1, 5):
        b = np.linalg.inv(a[:k, :k].T)
        s = s + np.sum(np.linalg.solve(b.T, v[:k][::-1])) + np.linalg.det(b[::-1])
    return s


def unread(a: Any, v: Any) -> Any:
    b = np.linalg.inv(a)
    return np.sum(a * a) + b.shape[0]


def changed_later(a: Any, v: Any) -> Any:
    b = np.linalg.inv(a)
    b[0] = v
    c = np.linalg.inv(b)
    a = a.copy()
    a[1] = c[2]
    return np.sum(np.linalg.solve(a, v)) + np.sum(b * c)


PROGRAMS = [several_alike, several_results, in_branches, names_of_the_text, parts_and_turned, unread, changed_later]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f: Any) -> None:
    checked(f, A, V, argnums=(0, 1), rtol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
def test_numpy_raises_what_a_call_raises(f: Any) -> None:
    native = agree(f, np.zeros((4, 4)), V, argnums=(0, 1))
    assert why_not(native) is None


def test_calls_that_are_alike_have_one_function() -> None:
    source = str(agree(several_alike, A, V, argnums=(0, 1)).source())
    bodies = re.findall(r"@in_python\(.*\)\ndef \w+\(.*\):\n(    return .*)\n", source)
    assert len(bodies) == len(set(bodies)) == 2  # of the program, and transposed
    assert len(re.findall(r"= \w+_call\d+\(", source)) == 6


def test_in_threads() -> None:
    g = ad.grad(several_alike, argnums=(0, 1), backend="native")
    want, found = g(A, V), []

    def work() -> None:
        for _ in range(20):
            found.append(g(A, V))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 80 and all(np.array_equal(x, y) for got in found for x, y in zip(got, want))


def test_what_a_function_gives_is_looked_at() -> None:
    def of(x: Any, *kinds: str) -> Any:
        return run_as_python(*kinds)(lambda: x)()

    assert of(np.ones(2), "float64[::1]")[0]
    assert of((np.ones(2), 3), "float64[::1]", "int64")[0]
    for wrong in (np.ones(2, np.float32), np.ones((2, 2)), np.ones(4)[::2], [1.0, 2.0], np.ma.array([1.0])):
        done, nothing = of(wrong, "float64[::1]")
        assert not done and nothing.shape == (0,) and nothing.dtype == np.float64
    assert of((), *()) == (True,)

    def raises() -> Any:
        raise ValueError

    assert run_as_python("float64", "int64[:, ::1]")(raises)()[0] is False


def test_an_interrupt_is_none_of_these_errors() -> None:
    def stopped() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Outside(stopped, (("float64", None),))()


def test_programs_with_other_constants_have_other_texts() -> None:
    """Machine code on disk is found by its text."""

    def f(y: Any) -> Any:
        return np.sum(np.linspace(y[0], y[1], 4)) * 1.1

    def g(y: Any) -> Any:
        return np.sum(np.linspace(y[0], y[1], 4)) * 2.2

    sources = [str(agree(h, V, transform=ad.grad).source()) for h in (f, g)]
    names = [set(re.findall(r"native_ndarray_\w+", source)) for source in sources]
    assert names[0] and names[1] and names[0].isdisjoint(names[1])


def test_a_call_with_an_object_is_left_to_numpy() -> None:
    from autodiff_compiler.native.foreign import _Names, _Printer
    from autodiff_compiler.native.numbers import NotNative

    assert _Printer(_Names()).bind(np.ones(3)) == _Printer(_Names()).bind(np.ones(3))
    others = [np.ones(3), np.ones((3, 1)), np.ones(3, np.float32), np.zeros(3), np.ones((2, 3)), np.ones((2, 3)).T]
    assert len({_Printer(_Names()).bind(x) for x in others}) == len(others)
    with pytest.raises(NotNative, match="a call with object"):
        _Printer(_Names()).bind(object())


def test_pickles() -> None:
    g = ad.grad(several_alike, backend="native")
    assert np.array_equal(pickle.loads(pickle.dumps(g))(A, V), g(A, V))
    assert not bailed(g)
