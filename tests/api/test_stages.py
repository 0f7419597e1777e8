"""Functions with values of types that only the run tells: observed at the first call, and checked at each."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

M = np.random.default_rng(0).normal(size=(3, 3))
V = np.array([0.5, -1.0, 2.0])
Unknown = Callable[..., Any]


class Source:
    """What a function without source gives, one after the other, and the calls of it."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.queue: list[Any] = []
        space: dict[str, Any] = {"source": self, "__name__": "elsewhere"}
        exec("def take(*args):\n    source.calls.append(args)\n    return source.queue.pop(0)", space)
        self.take = space["take"]

    def gives(self, *values: Any) -> None:
        self.calls.clear()
        self.queue[:] = values


@pytest.fixture
def source() -> Source:
    return Source()


def product(take: Unknown, v: np.ndarray) -> Any:
    return np.sum(take(1) @ v)


def test_a_call_fits_whatever_the_unknown_function_gives(source: Source) -> None:
    g = ad.grad(product, 1)
    for a in (M, M, M[0], M, M[:1], M[0].astype(np.float32), M[0]):
        source.gives(a)
        assert np.allclose(g(source.take, V), a if a.ndim == 1 else a.sum(0))
        assert source.calls == [(1,)]


def test_effects_happen_once_and_in_order(source: Source, capsys: pytest.CaptureFixture[str]) -> None:
    def f(take: Unknown, v: np.ndarray, rng: Any) -> Any:
        print("first", end=" ")
        a = take("a")
        x = rng.normal()
        print("second", end=" ")
        b = take("b")
        print("third", end=" ")
        return x * np.sum(a @ v) + rng.normal() * np.sum(b @ v)

    g = ad.value_and_grad(f, 1)
    for a, b in ((M, M[0]), (M, M[0]), (M[0], M), (M[1], M[2]), (M, M[0])):
        rng, again = np.random.default_rng(3), np.random.default_rng(3)
        source.gives(a, b)
        value, gradient = g(source.take, V, rng)
        assert source.calls == [("a",), ("b",)]
        assert capsys.readouterr().out == "first second third "
        x, y = again.normal(), again.normal()
        assert value == pytest.approx(x * np.sum(a @ V) + y * np.sum(b @ V))
        assert np.allclose(gradient, x * (a if a.ndim == 1 else a.sum(0)) + y * (b if b.ndim == 1 else b.sum(0)))
        assert rng.normal() == again.normal()


def test_a_loop_gets_what_fits_all_its_iterations(source: Source) -> None:
    def f(take: Unknown, v: np.ndarray) -> Any:
        total = 0.0
        for k in range(4):
            total = total + k * np.sum(take(k) * v)
        return total

    g = ad.grad(f, 1)
    for rows in ([M[0], M[1], M[2], M[0]], [M[0], M[1, :1], M[2], M[2, :1]], [M[0]] * 4):
        source.gives(*rows)
        want = sum(k * np.broadcast_to(row, 3) for k, row in enumerate(rows))
        assert np.allclose(g(source.take, V), want)
        assert len(source.calls) == 4


def test_arrays_of_several_ranks_at_one_place_in_one_call_are_refused(source: Source) -> None:
    def f(take: Unknown, v: np.ndarray) -> Any:
        total = 0.0
        for k in range(4):
            total = total + np.sum(take(k) @ v)
        return total

    source.gives(M, M[0], M, M[0])
    with pytest.raises(ad.UnsupportedError, match=r"take in line \d+ gives values of several types"):
        ad.grad(f, 1)(source.take, V)


def test_more_than_eight_types_are_refused(source: Source) -> None:
    g = ad.grad(lambda take, v: np.sum(take(1) * v), 1)
    for k in range(8):
        source.gives(np.ones((1,) * k + (3,)))
        assert np.array_equal(g(source.take, V), np.ones(3))
    source.gives(np.ones((2,) * 8 + (3,)))
    with pytest.raises(ad.UnsupportedError, match="more than 8 types"):
        g(source.take, V)


def test_an_exception_is_raised_at_its_place(source: Source, capsys: pytest.CaptureFixture[str]) -> None:
    def f(take: Unknown, v: np.ndarray) -> Any:
        print("before", end=" ")
        a = take(1)
        print("after", end=" ")
        return np.sum(a @ v)

    g = ad.grad(f, 1)
    for queue, printed in (((M,), "before after "), ((), "before "), ((M[0],), "before after "), ((), "before ")):
        source.gives(*queue)
        if queue:
            g(source.take, V)
        else:
            with pytest.raises(IndexError):
                g(source.take, V)
        assert capsys.readouterr().out == printed
        assert len(source.calls) == 1


def test_a_caught_exception_of_an_unknown_call(source: Source) -> None:
    def f(take: Unknown, v: np.ndarray) -> Any:
        try:
            a = take(1)
        except IndexError:
            a = np.ones(3)
        return np.sum(a @ v) * take(2)

    g = ad.grad(f, 1)
    source.gives(M[0], 2.0)
    assert np.allclose(g(source.take, V), 2.0 * M[0])


def test_every_derivative_of_such_a_function(source: Source) -> None:
    def f(take: Unknown, v: np.ndarray) -> Any:
        return np.sum(take(1) @ (v * v * v))

    direction = np.array([1.0, 0.5, -2.0])
    for a in (M, M[0], M):
        row = a if a.ndim == 1 else a.sum(0)
        source.gives(*[a] * 5)
        value, pullback = ad.vjp(f, source.take, V)
        assert value == pytest.approx(row @ V**3) and len(source.calls) == 1
        for _ in range(2):
            assert np.allclose(pullback(1.0)[1], 3 * row * V**2)
        value, tangent = ad.jvp(f, (source.take, V), (None, direction))
        assert tangent == pytest.approx(3 * row * V**2 @ direction)
        second = ad.grad(lambda take, v: np.sum(ad.grad(f, 1)(take, v) * direction), 1)
        assert np.allclose(second(source.take, V), 6 * row * V * direction)
        assert len(source.calls) == 3


def test_a_gradient_of_a_gradient(source: Source) -> None:
    g = ad.grad(ad.grad(lambda x: np.sum(source.take(1) @ np.array([x**3, x]))))
    for a in (M[:, :2], M[0, :2]):
        source.gives(a)
        assert g(2.0) == pytest.approx(12.0 * (a[0] if a.ndim == 1 else a[:, 0].sum()))
        assert len(source.calls) == 1


def test_tuples_and_objects_are_taken_apart(source: Source) -> None:
    class Table:
        def __init__(self, columns: dict[str, Any]):
            self.columns = columns

    def f(take: Unknown, v: np.ndarray) -> Any:
        a, (b, table) = take(1)
        return np.sum(a @ v) * b + np.sum(table.columns["k"] * v)

    g = ad.grad(f, 1)
    for a, b, column in ((M, 2.0, M[0]), (M[0], np.float32(2), 3.0)):
        source.gives((a, (b, Table({"k": column}))))
        assert np.allclose(g(source.take, V), b * (a if a.ndim == 1 else a.sum(0)) + column)


def test_what_has_no_items_by_number_is_unpacked(source: Source) -> None:
    take = source.take

    def f(v):
        a, b = take().values()
        (c, d), e = take()
        return np.sum(a * v) * b + np.sum(c * d * v) + e * v[0]

    for _ in range(2):
        source.gives({"a": V, "b": 2.0}, (iter([3.0, V]), 4.0))
        np.testing.assert_allclose(ad.grad(f)(np.ones(3)), 5.0 * V + [4.0, 0.0, 0.0])
    source.gives({"a": V}, None)
    with pytest.raises(ValueError, match="unpack"):
        ad.grad(f)(np.ones(3))


def test_a_value_that_depends_on_an_argument_has_no_derivative(source: Source) -> None:
    source.gives(M)
    with pytest.raises(ad.AutodiffError):
        ad.grad(lambda x: np.sum(source.take(x) * x))(2.0)


def test_text_that_was_printed_carries_a_derivative(source: Source) -> None:
    import io

    def f(x: float) -> Any:
        buffer = io.StringIO()
        print(x, file=buffer)
        return float(buffer.getvalue()) * x

    with pytest.raises(ad.AutodiffError):
        ad.grad(f)(2.0)


def test_a_store_into_an_array_that_may_live_elsewhere_is_refused(source: Source) -> None:
    def f(take: Unknown, v: np.ndarray) -> Any:
        a = take(1)
        a[0] = v[0]
        return np.sum(a * v)

    def copies(take: Unknown, v: np.ndarray) -> Any:
        a = take(1).copy()
        a[0] = v[0]
        return np.sum(a * v)

    source.gives(M[0])
    with pytest.raises(ad.AliasError, match="may be one that lives outside"):
        ad.grad(f, 1)(source.take, V)
    kept = M[0].copy()
    source.gives(kept)
    assert np.allclose(ad.grad(copies, 1)(source.take, V), [2 * V[0], M[0, 1], M[0, 2]])
    assert np.array_equal(kept, M[0])


def test_an_array_that_was_loaded_may_be_stored_into(tmp_path: Path) -> None:
    path = str(tmp_path / "a.npy")

    def f(v: np.ndarray) -> Any:
        a = np.load(path)
        a[0] = v[0]
        return np.sum(a @ v)

    np.save(path, M[0])
    assert np.allclose(ad.grad(f)(V), [2 * V[0], M[0, 1], M[0, 2]])
    assert np.array_equal(np.load(path), M[0])


def test_a_write_to_the_outside_is_refused(source: Source) -> None:
    seen: list[float] = []

    def f(v: np.ndarray) -> Any:
        seen.append(1.0)
        return np.sum(source.take(1) @ v)

    source.gives(M)
    with pytest.raises(ad.UnsupportedError, match="a write to what lives outside"):
        ad.grad(f)(V)
    assert not seen and not source.calls


class Box:
    """Its methods have no source that can be read."""

    weights: np.ndarray
    scale: float
    change: Unknown


def changing() -> Box:
    space: dict[str, Any] = {"np": np, "__name__": "elsewhere"}
    exec("def change(box):\n    box.weights += 1\n    box.scale += 1\n    return np.ones(3)", space)
    box = Box()
    box.weights, box.scale, box.change = np.arange(3.0), 2.0, space["change"]  # type: ignore[method-assign]
    return box


@pytest.mark.parametrize("before", [True, False])
def test_an_array_that_an_unknown_call_changes_is_refused(before: bool) -> None:
    box = changing()
    weights = box.weights

    def f(v: np.ndarray) -> Any:
        a = np.sum(weights * v) if before else 0.0
        b = np.sum(box.change(box) @ v)
        return a + b + (0.0 if before else np.sum(weights * v))

    g = ad.grad(f)
    for k in range(3):
        with pytest.raises(ad.UnsupportedError, match="has changed an array that the function reads"):
            g(V)
        assert np.array_equal(weights, np.arange(3.0) + k + 1.0)


def test_an_array_that_was_given_and_changed_later_is_refused() -> None:
    space: dict[str, Any] = {"np": np, "__name__": "elsewhere"}
    exec("held = np.ones(3)\ndef give():\n    return held\ndef change():\n    held[0] += 1\n    return 2.0", space)
    give, change = space["give"], space["change"]

    def f(v: np.ndarray) -> Any:
        a = give()
        return change() * np.sum(a @ v)

    with pytest.raises(ad.UnsupportedError, match="has changed an array that the function reads"):
        ad.grad(f)(V)


def test_a_number_that_was_read_before_an_unknown_call_is_what_it_was_then() -> None:
    box = changing()

    def f(v: np.ndarray) -> Any:
        a = box.scale * np.sum(v)
        return a + np.sum(box.change(box) @ v)

    g = ad.grad(f)
    for k in range(3):
        assert np.array_equal(g(V), np.full(3, 3.0 + k))
        assert box.scale == 3.0 + k


def test_a_number_that_is_read_after_an_unknown_call_that_may_change_it_is_refused() -> None:
    box = changing()

    def f(v: np.ndarray) -> Any:
        b = np.sum(box.change(box) @ v)
        return b + box.scale * np.sum(v)

    with pytest.raises(ad.UnsupportedError, match="may have changed it"):
        ad.grad(f)(V)


def test_environment_variables_and_files_are_read_at_each_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "a.txt")

    def f(v: np.ndarray) -> Any:
        return float(os.environ["SCALE"]) * np.sum(np.loadtxt(path) @ v)

    g = ad.grad(f)
    for scale, a in (("2.0", M), ("3.0", M[0]), ("3.0", M)):
        monkeypatch.setenv("SCALE", scale)
        np.savetxt(path, a)
        assert np.allclose(g(V), float(scale) * (a if a.ndim == 1 else a.sum(0)))


UNKNOWN = [
    "np.unique(V)", "np.unique(V, return_counts=True)[1]", "np.where(V > -5.0)[0]", "np.linalg.eig(M)[0].real",
    "np.union1d(V, V)", "np.polynomial.legendre.leggauss(3)[0]", "np.polynomial.Polynomial([1.0, 2.0])(V)",
    "np.fromstring('1 2 3', sep=' ')", "np.random.multinomial(5, [0.2, 0.3, 0.5])", "np.char.str_len(['a', 'bb', 'c'])",
    "np.array(json.loads('[1.0, 2.0, 3.0]'))", "np.ma.masked_array(V, mask=[0, 1, 0]).filled(0.0)",
]  # fmt: skip
USES = ["np.sum(A @ (v * v))", "np.sum(A * v) * v[0]", "A[0] * v[1] * v[1]", "sum([x * v[2] for x in A])"]


@pytest.mark.parametrize("made", UNKNOWN)
def test_values_of_unknown_types_in_all_uses(made: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    lines = [f"def f{k}(v):\n    A = {made}\n    return {use}\n" for k, use in enumerate(USES)]
    path.write_text("\n".join(["import json\nimport numpy as np", *lines]))
    space: dict[str, Any] = {"V": V, "M": M, "__name__": "program"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    for k in range(len(USES)):
        f = space[f"f{k}"]

        def seeded(v: np.ndarray) -> Any:
            np.random.seed(3)
            return f(v)

        np.random.seed(3)
        assert np.allclose(ad.grad(f)(V), differences(seeded, V), rtol=1e-4, atol=1e-5), USES[k]


def test_threads_each_get_their_own_values() -> None:
    local = threading.local()
    space: dict[str, Any] = {"local": local, "__name__": "elsewhere"}
    exec("def take():\n    local.calls += 1\n    return local.queue.pop(0)", space)
    take = space["take"]
    g = ad.grad(lambda v: np.sum(take() @ v) + np.sum(take() @ v))
    wrong: list[Any] = []

    def work(seed: int) -> None:
        choose = random.Random(seed)
        for _ in range(30):
            local.calls, local.queue = 0, [choose.choice([M, M[0], M[:2], 2 * M[1]]) for _ in range(2)]
            want = sum(a if a.ndim == 1 else a.sum(0) for a in local.queue)
            got = g(V)
            if local.calls != 2 or not np.allclose(got, want):
                wrong.append((got, want, local.calls))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_with_a_warm_disk_cache(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    np.save(tmp_path / "a.npy", M)
    program.write_text(
        "import sys\nimport numpy as np\nimport autodiff_compiler as ad\n\n\n"
        "def f(v):\n    print('read')\n    return np.sum(np.load(sys.argv[1]) @ v)\n\n\n"
        "print(ad.grad(f)(np.ones(3)).tolist())\n"
    )
    environment = {**os.environ, "AUTODIFF_COMPILER_CACHE": str(tmp_path / "cache")}
    root = str(Path(ad.__file__).parents[1])
    environment["PYTHONPATH"] = root
    for a in (M, M, M[0]):
        np.save(tmp_path / "a.npy", a)
        run = subprocess.run(
            [sys.executable, str(program), str(tmp_path / "a.npy")], env=environment, capture_output=True, text=True
        )
        assert run.stdout == f"read\n{(a if a.ndim == 1 else a.sum(0)).tolist()}\n", run.stderr


def test_a_refusal_that_no_run_can_help_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: np.ndarray) -> Any:
        print("printed")
        return np.sum(np.roots(x))

    with pytest.raises(ad.RuleLookupError, match="no derivative rule"):
        ad.grad(f)(V)
    assert capsys.readouterr().out == ""


def test_both_stages_are_shown(tmp_path: Path) -> None:
    path = str(tmp_path / "a.npy")
    np.save(path, M)

    def f(v: np.ndarray) -> Any:
        return np.sum(np.load(path) @ v)

    text = ad.grad(f).source(V)
    assert "log.call('np.load in line" in text and "log.given()" in text


def test_a_handler_of_everything_does_not_hide_that_the_code_does_not_fit(source: Source) -> None:
    def f(take: Unknown, v: np.ndarray) -> Any:
        total = 0.0
        try:
            total = np.sum(take(1) @ v)
        except BaseException:
            total = np.sum(v)
        return total

    g = ad.grad(f, 1)
    for a in (M, M[0], M):
        source.gives(a)
        assert np.allclose(g(source.take, V), a if a.ndim == 1 else a.sum(0))
    source.gives()
    assert np.array_equal(g(source.take, V), np.ones(3))
    assert len(source.calls) == 1


def test_an_effect_after_an_operation_that_raises_does_not_happen(
    source: Source, capsys: pytest.CaptureFixture[str]
) -> None:
    def f(take: Unknown, v: np.ndarray) -> Any:
        a = np.sum(take(1) @ v)
        print("after")
        return a

    g = ad.grad(f, 1)
    source.gives(M)
    g(source.take, V)
    assert capsys.readouterr().out == "after\n"
    source.gives(M[:, :2])
    with pytest.raises(ValueError, match="mismatch"):
        g(source.take, V)
    assert capsys.readouterr().out == ""


def test_tables_are_observed_and_not_compiled() -> None:
    class Frame:
        """Stands for a table of a library whose own code cannot be compiled."""

        def __init__(self, **columns: np.ndarray):
            self.columns = columns

        def __getitem__(self, name: str) -> Frame:
            yield_nothing = [x for x in self.columns if isinstance(x, Frame)]
            return Frame(values=self.columns[name], nothing=np.array(yield_nothing))

        def to_numpy(self) -> Any:
            return eval("self.columns['values']")

    Frame.__module__ = "pandas.frames"
    table = Frame(a=M, b=M[0])

    def f(v: np.ndarray, given: Any) -> Any:
        return np.sum(table["a"].to_numpy() @ v) + np.sum(given["b"].to_numpy() * v)

    assert np.allclose(ad.grad(f)(V, table), M.sum(0) + M[0])
    assert np.allclose(ad.grad(f)(V, Frame(b=2.0 * M[0])), M.sum(0) + 2.0 * M[0])
