"""Transformed functions from several threads at once, and in other processes by pickle."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.frontend.source import source_of, statement_of

ROOT = Path(__file__).resolve().parents[2]


def in_threads(work: list[Callable[[], Any]]) -> list[Any]:
    """The results of these calls, all started at the same moment, in threads of their own."""
    results: list[Any] = [None] * len(work)
    barrier = threading.Barrier(len(work))

    def run(k: int) -> None:
        barrier.wait(timeout=60)
        try:
            results[k] = work[k]()
        except BaseException as error:  # an assertion in a thread would get lost
            results[k] = error

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "a deadlock"
    return results


def cube(x: Any) -> Any:
    return x * x * x


def weighted(x: Any, w: Any = 2.0) -> Any:
    total = 0.0
    for k in range(5):
        total = total + np.sum(np.sin(x) * w) * k
    return total


def test_one_function_in_many_threads() -> None:
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(5):
            gradient = ad.grad(cube)
            results = in_threads([lambda k=k: gradient(float(k)) for k in range(12)])  # type: ignore[misc]
            assert results == [3.0 * k * k for k in range(12)]
            assert len(gradient._dispatch.entries[("x",)]) == 1
    finally:
        sys.setswitchinterval(old)


def test_one_function_with_different_arguments() -> None:
    """Calls that differ in types and in how many arguments are given: each thread gets what it asked for."""
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    xs: list[Any] = [0.5, np.float32(0.5), np.full(3, 0.5), np.full((2, 2), 0.5, np.float32)]
    gradient = ad.grad(weighted)
    try:

        def many(x: Any, rest: tuple[Any, ...], keyword: dict[str, Any], factor: float) -> bool:
            for _ in range(30):
                got = gradient(x, *rest, **keyword)
                assert np.shape(got) == np.shape(x)
                assert np.allclose(got, 10.0 * np.cos(0.5) * factor, rtol=1e-5)
            return True

        work = [
            lambda x=x, r=r, k=k, f=f: many(x, r, k, f)  # type: ignore[misc]
            for x in xs
            for r, k, f in [((), {}, 2.0), ((3.0,), {}, 3.0), ((), {"w": 4.0}, 4.0)]
        ]
        assert in_threads(work) == [True] * len(work)
    finally:
        sys.setswitchinterval(old)


def test_different_functions_in_many_threads() -> None:
    def make(k: int) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            y = x
            for _ in range(3):
                y = np.tanh(y) * k + x
            return np.sum(y)

        return f

    x = np.linspace(0.1, 1.0, 4)
    functions = [make(k) for k in range(8)]
    want = [ad.grad(f)(x) for f in functions]
    work: list[Callable[[], Any]] = [lambda f=f: ad.grad(f)(x) for f in functions]  # type: ignore[misc]
    work += [lambda f=f: ad.vjp(f, x)[1](1.0)[0] for f in functions]  # type: ignore[misc]
    for got, expected in zip(in_threads(work), want * 2, strict=True):
        assert np.array_equal(got, expected)


def test_errors_in_one_thread_leave_the_others_alone() -> None:
    def bad(x: Any) -> Any:
        yield x

    def refused() -> Any:
        try:
            return ad.grad(bad)(1.0)
        except ad.UnsupportedError:
            return "refused"

    results = in_threads([refused, lambda: ad.grad(cube)(2.0)] * 4)
    assert results == ["refused", 12.0] * 4


# --- pickle -----------------------------------------------------------------------------------------------------------


@ad.grad
def decorated(x: Any) -> Any:
    """The derivative of the square."""
    return x * x


@ad.value_and_grad(argnums=(0, 1))
def decorated_pair(x: Any, y: Any) -> Any:
    return x * y


class Model:
    def __init__(self, w: float):
        self.w = w

    @ad.grad(argnums=1)
    def slope(self, x: Any) -> Any:
        return self.w * x * x


cube_slope = ad.grad(cube)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    def again(obj: Any) -> Any:
        return pickle.loads(pickle.dumps(obj, protocol))

    assert again(ad.grad(cube))(2.0) == 12.0
    assert again(cube_slope)(2.0) == 12.0
    assert again(ad.grad(ad.grad(cube)))(2.0) == 12.0
    assert again(ad.value_and_grad(weighted, ("x",))).argnums == ("x",)
    # Where the name leads to the decorated object, that one is meant.
    assert again(decorated) is decorated
    assert again(decorated_pair) is decorated_pair
    assert again(Model.slope) is Model.slope
    assert again(ad.grad(decorated))(2.0) == 2.0
    called = ad.grad(cube)
    called(2.0)
    assert again(called)(3.0) == 27.0


def test_copies() -> None:
    assert copy.copy(decorated) is decorated
    assert copy.deepcopy(decorated) is decorated
    assert copy.copy(cube_slope)(2.0) == copy.deepcopy(cube_slope)(2.0) == 12.0


def test_what_has_no_name_is_not_pickled() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(ad.grad(lambda x: x * x))


def test_unpickled_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import autodiff_compiler as ad\n\n\n"
        "def f(x):\n    return x * x\n\n\n"
        "@ad.grad\ndef g(x):\n    return x * x * x\n"
    )
    make = "import pickle, sys, model, autodiff_compiler as ad\n"
    make += "sys.stdout.buffer.write(pickle.dumps((ad.grad(model.f), model.g)))"
    use = "import pickle, sys\nf, g = pickle.load(sys.stdin.buffer)\nprint(f(3.0), g(2.0))"
    environment = {"PYTHONPATH": f"{ROOT}:{tmp_path}", "AUTODIFF_COMPILER_CACHE": "off", "PATH": ""}
    data = subprocess.run([sys.executable, "-c", make], env=environment, capture_output=True, check=True).stdout
    out = subprocess.run(
        [sys.executable, "-c", use], env=environment, input=data, capture_output=True, check=True
    ).stdout
    assert out == b"6.0 12.0\n"


def test_pullbacks_of_objects_that_cannot_be_hashed_or_are_equal() -> None:
    class Scale:
        def __init__(self, c: float):
            self.c = c

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Scale)

        __hash__ = None  # type: ignore[assignment]

        def __call__(self, x: Any) -> Any:
            return self.c * x

        def method(self, x: Any) -> Any:
            return self.c * x * x

    for c in (2.0, 3.0):
        scale = Scale(c)
        assert ad.vjp(scale, 1.5)[1](1.0) == (c,)
        assert ad.vjp(scale.method, 1.5)[1](1.0) == (3.0 * c,)


def test_threads_read_one_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which statement a place belongs to is asked by each compilation, of tables that all of them fill."""
    count = 300
    path = tmp_path / "functions_of_threads.py"
    path.write_text("".join(f"def f{k}(x):\n    y = x * {k}\n    return y\n\n" for k in range(count)))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("functions_of_threads")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def read() -> list[int | None]:
        found = []
        for k in range(count):
            source_of(getattr(module, f"f{k}"))
            statement = statement_of(str(path), 4 * k + 2, 8)
            found.append(statement and statement.lineno)
        return found

    try:
        lines = in_threads([read] * 6)
    finally:
        sys.setswitchinterval(before)
    assert lines == [[4 * k + 2 for k in range(count)]] * 6
