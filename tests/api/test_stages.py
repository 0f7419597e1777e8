"""Functions with values of types that only the run tells: observed at the first call, and checked at each."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import subprocess
import sys
import threading
import types
import warnings
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


@dataclasses.dataclass
class Held:
    unread: Any
    y: Any
    name: str = "held"


def test_the_gradient_by_an_object_has_parts_that_the_function_does_not_read() -> None:
    def f(held: Held, s: float) -> Any:
        rows = np.broadcast_arrays(held.y, np.zeros((2, 1)))[0].copy()
        return np.sum(rows.sum(axis=-1) * rows[..., 0])

    held, by_s = ad.grad(f, (0, 1))(Held(V, np.ones(3)), 2.0)
    np.testing.assert_array_equal(held.y, [8.0, 2.0, 2.0])
    np.testing.assert_array_equal(held.unread, np.zeros(3))
    assert held.name == "held" and by_s == 0.0


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


class Filter:
    def __init__(self) -> None:
        self.steps = 0
        self.seen: list[Any] = []

    def update(self, v: np.ndarray, limit: float = 9.0) -> Any:
        self.steps += 1
        self.noise = np.random.multivariate_normal(np.zeros(3), np.eye(3))
        self.state = self.noise * v
        for item in self.noise:
            self.seen.append(item)
        if np.sum(v * v) > limit:
            raise ValueError("too large")
        self.state[0] = v[1]
        self.last = np.sum(self.state * self.state)
        return self.last


def state_of(filter: Filter) -> list[Any]:
    return [(name, np.asarray(value).tolist()) for name, value in vars(filter).items()]


def test_writes_to_the_outside_are_done_once_and_in_order() -> None:
    mine, theirs = Filter(), Filter()
    g = ad.grad(lambda v: mine.update(v))
    for k in range(3):
        np.random.seed(k)
        theirs.update(V)

        def value(v: np.ndarray, k: int = k) -> Any:
            np.random.seed(k)
            return Filter().update(v)

        np.random.seed(k)
        np.testing.assert_allclose(g(V), differences(value, V), rtol=1e-5, atol=1e-8)
        assert state_of(mine) == state_of(theirs)


@pytest.mark.parametrize("first", [V, 9 * V], ids=["compiled before", "at the first call"])
def test_what_is_written_before_it_raises_is_written(first: np.ndarray) -> None:
    mine, theirs = Filter(), Filter()
    g = ad.grad(lambda v: mine.update(v))
    for v in (first, 9 * V, V):
        for call, own in ((g, mine), (theirs.update, theirs)):
            np.random.seed(3)
            if v is V:
                call(v)
                continue
            with pytest.raises(ValueError, match="too large"):
                call(v)
        assert state_of(mine) == state_of(theirs)


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
        return np.sum(np.kaiser(4, x[0]))

    with pytest.raises(ad.RuleLookupError, match="no derivative rule"):
        ad.grad(f)(V)
    assert capsys.readouterr().out == ""


def test_both_stages_are_shown(tmp_path: Path) -> None:
    path = str(tmp_path / "a.npy")
    np.save(path, M)

    def f(v: np.ndarray) -> Any:
        return np.sum(np.load(path) @ v)

    text = ad.grad(f).source(V)
    assert "log.call(" in text and '"np.load in line' in text and "log.given()" in text


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


# By name: a program `f(v)`, as people write them with files, text and the system.
READS = {
    "lines": """
total = 0.0
with open("table.csv") as file:
    names = file.readline().strip().split(",")
    for line in file:
        a, b, c = map(float, line.split(","))
        if a > 5.0:
            break
        total += a * v[0] ** 2 + b * v[1]
    rest = file.read()
return total * len(rest + names[0])
""",
    "rows": """
rows = []
with open("table.csv") as file:
    next(file)
    for k, line in enumerate(file):
        rows.append([float(x) for x in line.strip().split(",")])
return np.sum((np.array(rows) @ v) ** 2)
""",
    "a comprehension": """
with open("table.csv") as file:
    rows = [[float(x) for x in line.split(",")] for line in file if not line.startswith("a")]
return np.sum((np.array(rows) @ v) ** 2)
""",
    "configuration": """
with open("config.json") as file:
    config = json.load(file)
x = v
for layer in config["layers"]:
    x = x * layer["weight"]
    x = np.tanh(x) if layer["kind"] == "tanh" else np.maximum(x, 0.1)
for _ in range(config["steps"]):
    x = np.sin(x)
return np.sum(np.array(config["A"]) @ x) * config.get("scale", 1.5)
""",
    "a reader of csv": """
total = 0.0
with open("table.csv", newline="") as file:
    for k, row in enumerate(csv.DictReader(file)):
        total += float(row["b"]) * v[k] ** 2
return total
""",
    "paths": """
total = 0.0
for path in sorted(pathlib.Path(".").glob("*.csv")):
    total = total + np.sum((np.loadtxt(path, delimiter=",", skiprows=1) @ v) ** 2)
return total if os.path.exists("table.csv") else np.sum(v)
""",
    "an archive": """
with np.load("arrays.npz") as data:
    A = data["A"]
return np.sum((A @ v) ** 2)
""",
    "a file that is not there": """
try:
    with open("none.txt") as file:
        scale = float(file.read())
except FileNotFoundError:
    scale = 3.0
return scale * np.sum(v * v)
""",
    "patterns": """
found = re.match(r"(\\d+) and (\\d+)", "3 and 4")
if found is None:
    return np.sum(v)
scales = [float(x) for x in re.findall(r"[0-9.]+", "a=1.5, b=2")]
return float(found.group(2)) * sum(s * x**2 for s, x in zip(scales, v))
""",
    "dates": """
day, total = datetime.date(2020, 1, 1), 0.0
for x in v:
    day = day + datetime.timedelta(days=10)
    total = total + day.timetuple().tm_yday * x**2
return total * (day - datetime.date(2019, 12, 1)).days
""",
    "draws of Python's": """
random.seed(3)
places = list(range(3))
random.shuffle(places)
return np.sum(v[places] ** 2 * np.arange(3)) * random.random()
""",
    "keys": """
table = json.loads('{"a": 1.5, "b": 2.5}')
total = 0.0
for key in table:
    total = total + table[key] * v[0] ** 2
for key, value in table.items():
    total = total + value * v[1]
return total if "b" in table and isinstance(table, dict) and not hasattr(table, "b") else v[2]
""",
    "whole numbers as keys": """
total = 0.0
for key in ast.literal_eval("{0: 1.0, 1: 2.0}"):
    total = total + key * np.sum(v * v)
return total
""",
    "text that is logged": """
logger = logging.getLogger("audit")
for k in range(3):
    v = np.sin(v)
    logger.debug("step %d: %s", k, v)
np.savetxt("steps.txt", v)
return np.sum(v * v)
""",
    "what is written": """
with open("steps.json", "w") as file:
    json.dump({"x": [1, 2], "name": "v"}, file)
    print("end", np.sum(v), file=file)
return np.sum(v * v)
""",
}


@pytest.mark.parametrize("name", READS)
def test_files_text_and_the_system(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("a,b,c\n1,2,3\n4,5,6\n7,8,9\n")
    (tmp_path / "config.json").write_text(
        '{"A": [[1, 2, 3], [4, 5, 6]], "steps": 2, "layers": '
        '[{"weight": 1.5, "kind": "tanh"}, {"weight": 0.5, "kind": ""}]}'
    )
    np.savez(tmp_path / "arrays.npz", A=M)
    head = "import ast, csv, datetime, json, logging, os, pathlib, random, re\nimport numpy as np\n\ndef f(v):\n"
    text = head + "".join(f"    {line}\n" for line in READS[name].strip().splitlines())
    (tmp_path / "program.py").write_text(text)
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, str(tmp_path / "program.py"), "exec"), space)
    f = space["f"]
    g = ad.grad(f)
    for x in (V, np.array([0.4, 0.2, 0.7])):
        assert np.allclose(g(x), differences(f, x), rtol=1e-4, atol=1e-5)


def test_what_looks_for_the_files_of_a_package_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savetxt(tmp_path / "table.csv", M)
    text = """import os

def resource_filename(package, name):
    places = (os.path.join(place, name) for place in os.environ["PLACES"].split(os.pathsep))
    found = next((path for path in places if os.path.exists(path)), None)
    return os.path.abspath(found or next(places))
"""
    (tmp_path / "pkg_resources.py").write_text(text)
    module = types.ModuleType("pkg_resources")
    exec(compile(text, str(tmp_path / "pkg_resources.py"), "exec"), vars(module))
    monkeypatch.setenv("PLACES", os.pathsep.join([str(tmp_path / "none"), str(tmp_path)]))
    monkeypatch.setitem(sys.modules, "pkg_resources", module)

    def f(v: np.ndarray) -> Any:
        return np.sum((np.genfromtxt(module.resource_filename("program", "table.csv")) @ v) ** 2)

    assert np.allclose(ad.grad(f)(V), differences(f, V), rtol=1e-4, atol=1e-5)


class Steps:
    """An iterator that tells when it is asked."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        space: dict[str, Any] = {"seen": self.seen, "__name__": "elsewhere"}
        text = "def steps(*items):\n    for x in items:\n        seen.append(('give', x))\n        yield x\n"
        exec(text + "def use(x):\n    seen.append(('use', x))\n    return x", space)
        self.steps, self.use = space["steps"], space["use"]


def test_an_unknown_iterator_is_asked_item_by_item() -> None:
    it = Steps()
    steps, use = it.steps, it.use

    def f(v: np.ndarray) -> Any:
        rest, total = steps(1.0, 2.0, 3.0, 4.0), 0.0
        for x in rest:
            total = total + use(x) * v[0]
            if x > 1.5:
                break
        return total + sum([10.0 * x * v[1] for x in rest])

    g = ad.grad(f)
    for _ in range(3):
        it.seen.clear()
        assert np.array_equal(g(V), [3.0, 70.0, 0.0])
        assert it.seen == [
            ("give", 1.0), ("use", 1.0), ("give", 2.0), ("use", 2.0), ("give", 3.0), ("give", 4.0)
        ]  # fmt: skip


def test_a_manager_of_which_nothing_is_known(source: Source) -> None:
    space: dict[str, Any] = {"seen": source.calls, "__name__": "elsewhere"}
    exec(
        "class Held:\n    def __init__(self, swallows): self.swallows = swallows\n"
        "    def __enter__(self): seen.append('in'); return 2.0\n"
        "    def __exit__(self, kind, error, trace): seen.append(kind); return self.swallows\n"
        "def held(swallows): return Held(swallows)\n"
        "def fail(n):\n    if n > 1: raise KeyError(n)\n    return 3.0",
        space,
    )
    held, fail = space["held"], space["fail"]

    def f(v: np.ndarray, n: int, swallows: bool = False) -> Any:
        with held(swallows) as scale:
            total = scale * np.sum(v * v) * fail(n)
        return total

    g = ad.grad(f)
    for _ in range(2):
        source.calls.clear()
        assert np.allclose(g(V, 1), 12.0 * V) and source.calls == ["in", None]
        source.calls.clear()
        with pytest.raises(KeyError):
            g(V, 2)
        assert source.calls == ["in", KeyError]
    with pytest.raises(ad.UnsupportedError, match="a Held has ended the KeyError"):
        g(V, 2, True)


def test_a_derivative_through_a_file_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "x.txt")

    def f(x: float) -> Any:
        with open(path, "w") as file:
            file.write(str(x * x))
        with open(path) as file:
            return float(file.read()) * x

    with pytest.raises(ad.AutodiffError, match=r"no derivative rule|differentiated value"):
        ad.grad(f)(2.0)


def counted(v: Any, k: int) -> Any:
    return v if k == 0 else counted(v, k - 1) + 1.0


@pytest.mark.parametrize("key", [False, True])
def test_a_path_without_facts_asks_for_ints_to_be_known(source: Source, key: bool) -> None:
    """What the path asks for, all of the code has, although in the end the path is not compiled."""

    def f(take: Unknown, v: np.ndarray, n: int) -> Any:
        w = take(1)
        if v[0] > 100.0:
            w = w + take(2) + ({f"{n}": 1.0}["1"] if key else np.sum(counted(v, n)))
        x = np.asarray([1, v, 2.0][n])
        if x.dtype.kind not in {"i", "f"}:
            raise TypeError
        return np.sum(x) * w

    source.gives(3.0)
    np.testing.assert_array_equal(ad.grad(f, argnums=1)(source.take, V, 1), [3.0, 3.0, 3.0])
    assert source.calls == [(1,)]


def quietly(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        factors = json.loads("[1.5, 2]")
        return np.sum(x * factors[0] / np.zeros(2) * 0.0)


def quietly_twice(x):
    return quietly(x) + quietly(2.0 * x)


@pytest.mark.parametrize("f", [quietly, quietly_twice])
def test_each_stage_has_its_own_manager(f):
    """A manager cannot be entered twice; and what the filter keeps quiet stays quiet."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        for _ in range(2):
            assert np.isnan(ad.value_and_grad(f)(np.ones(2))[0])
        assert warnings.filters == before
