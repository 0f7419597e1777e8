"""Signals, threads and forks that come in between: what they raise passes through, and nothing is left half done."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import cache as cache_module
from autodiff_compiler.api import options
from autodiff_compiler.locks import Lock
from autodiff_compiler.tape.pullback import Request
from tests.programs.checks import load

SOURCE = """import numpy as np

def f(x, s):
    y = x * 1.0
    total = 0.0
    for i in range(3):
        y[i] = np.sin(y[i - 1] * s) + x[0]
        try:
            total = total + np.exp(y[i])
        except ValueError:
            total = total * 2.0
    d = {"a": y, "b": [y * y, x]}
    return np.sum(d["b"][0] * d["a"]) + total
"""
X = np.linspace(0.1, 0.9, 4)
POSIX = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")


class Late(Exception):
    """A user's own exception."""


@pytest.fixture
def handled() -> Iterator[Callable[[type[BaseException]], list[bool]]]:
    """Installs a handler that raises an error once, while the list that it gives is not empty."""
    before = signal.getsignal(signal.SIGALRM)

    def install(error: type[BaseException]) -> list[bool]:
        armed: list[bool] = []

        def handler(number: int, frame: Any) -> None:
            if armed:
                armed.clear()
                raise error("now")

        signal.signal(signal.SIGALRM, handler)
        return armed

    yield install
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@POSIX
@pytest.mark.parametrize("error", [TimeoutError, KeyboardInterrupt, Late, ValueError, TypeError, AttributeError])
def test_what_a_signal_handler_raises_passes_through(
    handled: Any, error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache_module.VARIABLE, str(tmp_path / "cache"))
    # Else the function would run while it is compiled, and catch in its own handler what the signal raises.
    monkeypatch.setenv(options.CHECKING, "0")
    want = ad.grad(load(SOURCE, "interrupted")["f"])(X, 0.7)
    armed = handled(error)
    raised = 0
    for k in range(24):
        if k % 2:
            monkeypatch.setenv(cache_module.VARIABLE, "off")
        made = ad.grad(load(SOURCE, f"interrupted_{k}")["f"])
        try:
            armed.append(True)
            signal.setitimer(signal.ITIMER_REAL, 0.0003 + 0.0006 * k)
            made(X, 0.7)
            armed.clear()
        except error as found:
            raised += 1
            assert type(found) is error and found.args == ("now",)
        signal.setitimer(signal.ITIMER_REAL, 0)
        # What was begun is no obstacle, here and in another function.
        np.testing.assert_array_equal(made(X, 0.7), want)
        assert gc.isenabled()
    assert raised > 3
    np.testing.assert_array_equal(ad.grad(load(SOURCE, "interrupted")["f"])(X, 0.7), want)


def test_what_is_thrown_into_the_thread_passes_through() -> None:
    ctypes = pytest.importorskip("ctypes")
    made = ad.grad(load(SOURCE, "thrown_into")["f"])
    found: list[BaseException] = []

    def work() -> None:
        try:
            for k in range(1000):
                ad.grad(load(SOURCE, f"thrown_into_{k}")["f"])(X, 0.7)
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.1)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Late))
    thread.join(60)
    assert [type(error) for error in found] == [Late]
    assert made(X, 0.7).shape == (4,)


def in_a_child(work: Callable[[], bool]) -> bool:
    """Whether `work` gives True in a forked process, within a bounded time."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(30)
            code = 0 if work() else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_was_forked_while_another_thread_compiles() -> None:
    made = ad.grad(load(SOURCE, "forked")["f"])
    inside, go = threading.Event(), threading.Event()
    lower = made._dispatch.lower

    def slowly(*args: Any) -> Any:
        inside.set()
        go.wait(60)
        return lower(*args)

    made._dispatch.lower = slowly  # type: ignore[method-assign]

    def compile_with_all_locks() -> None:
        with Request.lock:
            made(X, 0.7)

    thread = threading.Thread(target=compile_with_all_locks)
    thread.start()
    inside.wait(60)

    def child() -> bool:
        made._dispatch.lower = lower  # type: ignore[method-assign]
        x = ad.Variable(X)
        with ad.GradientTape() as tape:
            y = x * x
        fine = made(X, 0.7).shape == (4,) and tape.gradient(y, x).numpy().tolist() == (2 * X).tolist()
        return fine and ad.vjp(np.sin, 0.0)[1](1.0) == (1.0,) and gc.isenabled()

    try:
        assert in_a_child(child)
    finally:
        go.set()
        thread.join(60)
    assert made(X, 0.7).shape == (4,) and gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_lock_that_the_forking_thread_holds_stays_held() -> None:
    lock = Lock()

    def child() -> bool:
        taken: list[bool] = []
        thread = threading.Thread(target=lambda: taken.append(lock.acquire(blocking=False)))
        thread.start()
        thread.join()
        return taken == [False]

    with lock:
        assert in_a_child(child)
    with lock:
        pass


def test_a_lock_is_free_after_an_interruption_while_it_is_taken() -> None:
    """An exception is thrown at each step of taking it, if there are steps that one could be thrown at."""

    def work(lock: Lock) -> None:
        with lock:
            pass

    def is_free(lock: Lock) -> bool:
        taken: list[bool] = []
        thread = threading.Thread(target=lambda: taken.append(lock.acquire(blocking=False)))
        thread.start()
        thread.join()
        return taken == [True]

    for stop in range(1, 6):
        lock, left = Lock(), [stop]

        def trace(frame: Any, event: str, arg: Any, left: list[int] = left) -> Any:
            left[0] -= frame.f_code is not work.__code__
            if left[0] == 0:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            work(lock)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        assert is_free(lock)


# --- names that no source could have ----------------------------------------------------------------------------------


class Held:
    pass


NAMES = ["ª", "class", "None", "", "a b", "1", "lambda", "é", "ﬁ", "__debug__", "\u2118", "\U0001d499", "f\n", "x"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_a_function(name: str) -> None:
    def f(x: float) -> float:
        def inner(y: float, n: int) -> float:
            return y if n == 0 else inner(y * y, n - 1)

        return inner(x, 1) * x

    f.__name__ = name
    f.__qualname__ = name
    assert ad.grad(f)(2.0) == pytest.approx(12.0)
    assert ad.value_and_grad(f)(2.0) == pytest.approx((8.0, 12.0))
    assert ad.grad(ad.grad(f))(2.0) == pytest.approx(12.0)
    assert ad.vjp(f, 2.0)[1](1.0) == pytest.approx((12.0,))


@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_an_attribute_or_key(name: str) -> None:
    held = Held()
    setattr(held, name, 3.0)
    held.rate = 5.0  # type: ignore[attr-defined]

    def read(h: Held, x: float) -> float:
        return getattr(h, name) * x * x + h.rate * x  # type: ignore[attr-defined, no-any-return]

    def found(x: float) -> float:
        return getattr(held, name) * x * x  # type: ignore[no-any-return]

    def keyed(d: dict[str, float]) -> float:
        return d[name] * d["a"] * d["t"]

    assert ad.grad(read, 1)(held, 2.0) == pytest.approx(17.0)
    assert getattr(ad.grad(read)(held, 2.0), name) == pytest.approx(4.0)
    assert ad.grad(found)(2.0) == pytest.approx(12.0)
    setattr(held, name, 4.0)
    assert ad.grad(read, 1)(held, 2.0) == pytest.approx(21.0)
    assert ad.grad(found)(2.0) == pytest.approx(16.0)
    assert ad.grad(keyed)({name: 2.0, "a": 3.0, "t": 5.0}) == pytest.approx({name: 15.0, "a": 10.0, "t": 6.0})


@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_a_class(name: str) -> None:
    made: Any = Named
    before = made.__name__
    made.__name__ = name
    try:
        out, pullback = ad.vjp(boxed, 2.0)
        assert out.v == 4.0 and type(out) is made
        assert pullback(made(1.0)) == pytest.approx((4.0,))
        assert ad.grad(through)(made(3.0)).v == pytest.approx(6.0)
    finally:
        made.__name__ = before


class Named:
    def __init__(self, v: float):
        self.v = v


def boxed(x: float) -> Named:
    return Named(x * x)


def through(b: Named) -> float:
    return b.v * b.v
