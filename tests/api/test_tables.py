"""Programs that read tables of pandas: what it gives is observed, and differentiated values stay in arrays."""

from __future__ import annotations

import collections
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import specialize, two_stages
from autodiff_compiler.errors import AutodiffError, RuleLookupError
from autodiff_compiler.ir.foreign import common_class, is_common
from tests.differences import differences

X = np.array([1.0, 2.0, 3.0])


class Table:
    """Stands for a table of a library whose own code is not compiled."""

    columns = {"x": [1.0, 2.0, 4.0], "y": [0.5, 1.5, 2.5], "n": ["a", "b", "c"]}

    def rows(self, *names: str) -> Any:
        row = collections.namedtuple("Row", names, module="pandas.frames")  # type: ignore[misc]
        return eval("map(row, *[self.columns[name] for name in names])", {"row": row, "self": self, "names": names})


Table.__module__ = "pandas.frames"


def test_rows_of_a_class_that_is_made_anew_in_each_call() -> None:
    table = Table()

    def f(x):
        total = 0.0
        for row in table.rows("x", "y"):
            total = total + x[0] * row.x + x[1] * row[1]
        return total

    g = ad.grad(f)
    for _ in range(12):
        assert g(X).tolist() == [7.0, 4.5, 0.0]


@pytest.mark.parametrize("ask", [lambda row: type(row), lambda row: row.__class__])
def test_the_class_of_such_a_row_is_not_known(ask: Callable[[Any], Any]) -> None:
    table = Table()

    def f(x):
        total = 0.0
        for row in table.rows("x"):
            total = total + x[0] * row.x if ask(row) is tuple else total + x[0]
        return total

    with pytest.raises(AutodiffError, match="the class of this Row, one of several that are made anew in each call"):
        ad.grad(f)(X)


def test_common_classes() -> None:
    first, again, other = (
        collections.namedtuple("Row", names, module="pandas.frames")  # type: ignore[misc]
        for names in ("x y", "x y", "x z")
    )
    assert common_class(first) is common_class(again) is not common_class(other)
    assert is_common(common_class(first)) and not is_common(first)
    assert two_stages.fact_of(first(1.0, 2.0)) == two_stages.fact_of(again(3.0, 4.0))
    ours = collections.namedtuple("ours", "x y")
    assert common_class(ours) is ours
    first.more = 1  # type: ignore[attr-defined]
    assert common_class(first) is first
    again._replace = lambda self: self  # type: ignore[attr-defined]
    assert common_class(again) is again


def test_two_lists_at_one_place_have_facts_of_their_own() -> None:
    pd = pytest.importorskip("pandas")
    df = pd.DataFrame(Table.columns)

    def f(x):
        total = 0.0
        for a, name in zip(df["x"], df.n):
            if name != "b":
                total = total + a * x[0] ** 2
        return total

    assert ad.grad(f)(X).tolist() == [10.0, 0.0, 0.0]


def loops() -> dict[str, Callable[[Any, Any], Any]]:
    def pairs(df, x):
        total = 0.0
        for a, b in zip(df.x, df.y):
            total = total + a * x[0] + b * x[1]
        return total

    def numbered(df, x):
        total = 0.0
        for i, a in enumerate(df["x"]):
            total = total + a * x[i]
        return total

    def with_an_array(df, x):
        total = 0.0
        for a, b in zip(x, df.y):
            total = total + a * b
        return total

    def in_a_sum(df, x):
        return sum(a * x[0] + b * x[1] for a, b in zip(df["x"], df["y"]))

    def in_a_list(df, x):
        return sum([a * x[0] + b * x[1] for a, b in zip(df["x"], df["y"])])

    def by_tuples(df, x):
        total = 0.0
        for row in df.itertuples():
            total = total + row.x * x[0] + row.y * x[1] + row.Index * x[2]
        return total

    return {f.__name__: f for f in (pairs, numbered, with_an_array, in_a_sum, in_a_list, by_tuples)}


@pytest.mark.parametrize("name", loops())
def test_loops_over_columns(name: str) -> None:
    pd = pytest.importorskip("pandas")
    df, loop = pd.DataFrame(Table.columns), loops()[name]

    def f(x):
        return loop(df, x)

    g = ad.grad(f)
    for _ in range(10):
        np.testing.assert_allclose(g(X), differences(f, X), rtol=1e-6, atol=1e-8)


def meetings() -> dict[str, Callable[[Any, Any], Any]]:
    return {
        "array": lambda df, x: np.sum(df["x"] * x),
        "number": lambda df, x: (x[0] * df["x"]).sum(),
        "squares": lambda df, x: np.mean((df["y"] - (x[0] * df["x"] + x[1])) ** 2),
        "product": lambda df, x: x @ df["x"],
    }


@pytest.mark.parametrize("name", meetings())
def test_a_column_that_meets_what_is_differentiated_is_refused(name: str) -> None:
    pd = pytest.importorskip("pandas")
    df, meet = pd.DataFrame(Table.columns), meetings()[name]

    def f(x):
        return meet(df, x)

    with pytest.raises(RuleLookupError, match=r"meets an object(.|\n)*column.to_numpy\(\)"):
        ad.grad(f)(X)


def test_the_remedy_works() -> None:
    pd = pytest.importorskip("pandas")
    df = pd.DataFrame(Table.columns)

    def f(x):
        a, b = df["x"].to_numpy(), np.asarray(df["y"])
        return np.mean((b - (x[0] * a + x[1])) ** 2)

    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-6, atol=1e-8)


def missing() -> dict[str, Callable[[Any, Any, Any], Any]]:
    return {
        "array": lambda pd, df, x: np.sum(np.where(pd.isna(x), 0.0, x * x)),
        "there": lambda pd, df, x: np.sum(x[pd.notna(x)] ** 2),
        "number": lambda pd, df, x: x[0] * 2 if not pd.isna(x[1]) else x[1],
        "class": lambda pd, df, x: x[0] if pd.notna(float(x[1])) is True else x[1],
        "column": lambda pd, df, x: np.sum(x[~pd.isna(df["y"]).to_numpy()]),
        "list": lambda pd, df, x: np.sum(x[pd.isnull([1.0, np.nan, 2.0])]),
        "others": lambda pd, df, x: x[1] if pd.notna(None) else x[0] if pd.notna(1) else x[2],
    }


@pytest.mark.parametrize("name", missing())
def test_missing_numbers(name: str) -> None:
    pd = pytest.importorskip("pandas")
    df, ask = pd.DataFrame({"y": [0.5, np.nan, 2.5]}), missing()[name]

    def f(x):
        return ask(pd, df, x)

    np.testing.assert_allclose(ad.grad(f)(X), differences(f, X), rtol=1e-6, atol=1e-8)


def test_one_name_of_the_modules_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        if "made_up_module" in sys.modules:
            return np.sum(x**3)
        if sys.modules.get("numpy") is np and sys.modules["numpy"] is np and sys.modules.get("made_up_too", 1) == 1:
            return np.sum(x**2)
        return np.sum(x)

    compiled = []
    make = specialize.Dispatcher.make
    monkeypatch.setattr(specialize.Dispatcher, "make", lambda *args: compiled.append(1) or make(*args))
    g = ad.grad(f)
    assert g(X).tolist() == [2.0, 4.0, 6.0]
    assert len(compiled) == 1
    monkeypatch.setitem(sys.modules, "another_made_up_module", sys)  # which nobody asks for
    assert g(X).tolist() == [2.0, 4.0, 6.0]
    assert len(compiled) == 1
    monkeypatch.setitem(sys.modules, "made_up_module", sys)
    assert g(X).tolist() == [3.0, 12.0, 27.0]
    monkeypatch.delitem(sys.modules, "made_up_module")
    assert g(X).tolist() == [2.0, 4.0, 6.0]


def test_what_other_modules_hold_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """To ask for one name runs no code of what is in the modules."""

    holder = types.SimpleNamespace(run=lambda: sys.modules.clear())  # as libraries put in place of a module
    monkeypatch.setitem(sys.modules, "made_up_module_with_code", holder)

    def f(x):
        return np.sum(x**2) if sys.modules.get("numpy") is np and sys.modules["numpy"] is np else np.sum(x)

    assert ad.grad(f)(X).tolist() == [2.0, 4.0, 6.0]


PROGRAM = """
import sys
import numpy as np
import autodiff_compiler as ad
from scipy import special

def f(x):
    return np.sum(special.expit(x)) if "numpy" in sys.modules else np.sum(x)

assert ad.grad(f)(np.zeros(2)).tolist() == [0.25, 0.25]
"""


def test_compiling_imports_modules(tmp_path: Path) -> None:
    pytest.importorskip("scipy", minversion="1.16")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=root, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_module_that_is_not_there() -> None:
    def f(x):
        try:
            found = sys.modules["made_up_module"]
        except KeyError:
            return np.sum(x**2)
        return found.total(x)

    assert ad.grad(f)(X).tolist() == [2.0, 4.0, 6.0]
