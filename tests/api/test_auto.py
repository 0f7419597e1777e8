"""``backend="auto"``: NumPy code at first, machine code where it pays. Here programs run as Python, see conftest."""

from __future__ import annotations

import logging
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import auto, options

U = np.linspace(0.0, 1.0, 12)


def smooth(u: Any, n: Any) -> Any:
    for _ in range(n):
        u[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
    return np.sum(u * u)


def spectrum(u: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(u)) ** 2)


def ratio(u: Any, k: Any) -> Any:
    return np.sum(u) * (1.0 / k)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code is made after the third call, and is always fast enough."""
    monkeypatch.setattr(auto, "SPENT", 0.0)
    monkeypatch.setattr(auto, "FASTER", float("inf"))


def watches(g: Any) -> list[auto.Watch]:
    return [e.call for found in g._dispatch.entries.values() for e in found if isinstance(e.call, auto.Watch)]


def called_until_done(g: Any, *args: Any) -> list[Any]:
    (watch,) = watches(g)
    out = [g(*args) for _ in range(auto.CALLS)]
    assert watch.done.wait(60.0)
    return [*out, g(*args)]


def is_machine_code(g: Any, *args: Any) -> bool:
    return "_native(" in g.source(*args)


@pytest.mark.usefixtures("at_once")
def test_machine_code_takes_over(caplog: pytest.LogCaptureFixture) -> None:
    g = ad.grad(smooth, backend="auto")
    with caplog.at_level(logging.INFO, "autodiff_compiler"):
        first = g(U, 5)
        assert not is_machine_code(g, U, 5)
        for found in called_until_done(g, U, 5):
            np.testing.assert_allclose(found, first, rtol=1e-13)
    assert is_machine_code(g, U, 5) and not watches(g)
    assert [r.message for r in caplog.records if "is machine code from now on" in r.message]
    assert all(not isinstance(front, auto.Watch) for front in g._fronts.values())
    np.testing.assert_allclose(g(U[:7].copy(), 3), ad.grad(smooth)(U[:7].copy(), 3))
    with pytest.raises(TypeError):
        g(U)


@pytest.mark.usefixtures("at_once")
def test_each_signature_is_watched() -> None:
    g = ad.grad(smooth, backend="auto")
    g(U, 2)
    called_until_done(g, U, 2)
    small = U.astype(np.float32)
    np.testing.assert_allclose(g(small, 2), ad.grad(smooth)(small, 2), rtol=1e-6)
    assert len(watches(g)) == 1 and not is_machine_code(g, small, 2)
    called_until_done(g, small, 2)
    assert g(small, 2).dtype == np.float32 and is_machine_code(g, small, 2)


def test_numpy_code_stays_where_it_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "SPENT", 0.0)
    monkeypatch.setattr(auto, "FASTER", 0.0)
    g = ad.grad(smooth, backend="auto")
    g(U, 5)
    called_until_done(g, U, 5)
    assert not is_machine_code(g, U, 5) and not watches(g)


@pytest.mark.usefixtures("at_once")
def test_what_has_no_machine_code() -> None:
    g = ad.grad(spectrum, backend="auto")
    g(U)
    found = called_until_done(g, U)
    np.testing.assert_array_equal(found[0], found[-1])
    assert not watches(g) and "no machine code" not in g.source(U)


@pytest.mark.usefixtures("at_once")
def test_what_bails_stays_numpy_code() -> None:
    g = ad.grad(ratio, backend="auto", argnums=1)
    g(U, 2.0)
    (watch,) = watches(g)
    for _ in range(auto.CALLS - 2):
        g(U, 2.0)
    with pytest.raises(ZeroDivisionError):
        g(U, 0.0)
    assert not watch.started
    g(U, 2.0)
    assert watch.done.wait(60.0)
    with pytest.raises(ZeroDivisionError):
        g(U, 0.0)
    assert g(U, 2.0) == -np.sum(U) / 4.0


def test_little_work_is_left_alone() -> None:
    g = ad.grad(smooth, backend="auto")
    for _ in range(10):
        g(U, 2)
    assert not any(watch.started for watch in watches(g))


@pytest.mark.usefixtures("at_once")
def test_arguments_that_change_meanwhile() -> None:
    g = ad.grad(smooth, backend="auto")
    u = U.copy()
    g(u, 3)
    (watch,) = watches(g)
    while not watch.done.is_set():
        np.testing.assert_allclose(g(u, 3), ad.grad(smooth)(u, 3))
        u += 0.1
    np.testing.assert_allclose(g(u, 3), ad.grad(smooth)(u, 3))


@pytest.mark.usefixtures("at_once")
def test_threads() -> None:
    g = ad.grad(smooth, backend="auto")
    want = ad.grad(smooth)(U, 4)
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(40):
            if not np.allclose(g(U, 4), want):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.usefixtures("at_once")
def test_pickles() -> None:
    g = ad.grad(smooth, backend="auto")
    g(U, 2)
    called_until_done(g, U, 2)
    again = pickle.loads(pickle.dumps(g))
    np.testing.assert_allclose(again(U, 2), g(U, 2))
    assert again.options.backend == "auto" and not is_machine_code(again, U, 2)


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_has_numba", lambda: False)
    assert ad.grad(smooth, backend="auto").options.backend == "numpy"


def test_inside_of_functions_it_says_nothing() -> None:
    inner = ad.grad(ratio, backend="auto")
    found = ad.grad(lambda u, k: np.sum(inner(u, k) ** 2), argnums=1)(U, 2.0)
    assert found == pytest.approx(-2.0 * U.size / 8.0)


@pytest.mark.usefixtures("at_once")
def test_values_and_results_of_other_kinds() -> None:
    def fitted(parameters: Any, u: Any) -> Any:
        total = 0.0
        for k in range(len(u)):
            total += (parameters["a"] * u[k] + parameters["b"] - 1.0) ** 2
        return total, {"sum": total * 2.0}

    g = ad.value_and_grad(fitted, has_aux=True, backend="auto")
    parameters = {"a": 0.5, "b": 0.2}
    first = g(parameters, U)
    for found in called_until_done(g, parameters, U):
        assert found[0][0] == pytest.approx(first[0][0]) and found[0][1]["sum"] == pytest.approx(first[0][1]["sum"])
        assert found[1] == pytest.approx(first[1])


def several(u: Any, n: Any) -> Any:
    for _ in range(n):
        u = np.sin(u) * u
    return u


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("of", [ad.vjp, ad.linearize])
def test_a_pullback_is_timed_with_the_forward_sweep(of: Any, caplog: pytest.LogCaptureFixture) -> None:
    from autodiff_compiler.api.linearized import Linearized
    from autodiff_compiler.api.pullbacks import Pullback

    made = (Pullback if of is ad.vjp else Linearized)(several, (0,)).asked({"backend": "auto"})
    value, inner = made(U, 4)
    (watch,) = watches(made)
    first = inner(U)
    with caplog.at_level(logging.INFO, "autodiff_compiler"):
        for _ in range(auto.CALLS):
            made(U, 4)[1](U)
        assert watch.done.wait(60.0)
    assert watch.inner >= 2 and watch.calls >= auto.CALLS
    assert [r.message for r in caplog.records if "is machine code from now on" in r.message]
    assert is_machine_code(made, U, 4) and not watches(made)
    again, inner = made(U, 4)
    np.testing.assert_allclose(again, value)
    for x, y in zip(inner(U), first, strict=True):
        np.testing.assert_allclose(x, y)
    np.testing.assert_allclose(of(several, U, 4, backend="auto")[0], value)


def of_two_lengths(x: Any, w: Any, y: Any) -> Any:
    s = 0.0
    for i in range(2):
        s += np.sum(x[i:] * w[0]) + np.sum(x * y[: len(x)])
        if len(x) == len(w):
            s += np.sum(x * w)
    return s


@pytest.mark.usefixtures("at_once")
def test_machine_code_that_takes_more_lengths_for_granted() -> None:
    """The machine code is made for a call whose lengths are equal, the NumPy code for one whose lengths are not."""
    others = np.linspace(0.3, 0.8, 5), U[:4].copy(), U
    equal = np.linspace(0.3, 0.8, 4), U[:4].copy(), U
    g = ad.value_and_grad(of_two_lengths, backend="auto")
    want = ad.value_and_grad(of_two_lengths)
    g(*others)
    (watch,) = watches(g)
    called_until_done(g, *equal)
    assert watch.done.is_set() and is_machine_code(g, *equal) and not is_machine_code(g, *others)
    for args in (others, equal, others, equal):
        for found, right in zip(g(*args), want(*args), strict=True):
            np.testing.assert_allclose(found, right)
    assert len(g._dispatch.entries) == 1
