"""Functions of bottleneck have the derivatives of NumPy's."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import RuleLookupError
from tests.differences import differences

bn = pytest.importorskip("bottleneck")

X = np.array([[1.0, np.nan, 3.0, 0.5], [4.0, 2.5, np.nan, 1.5], [np.nan, 0.7, 2.2, 6.0]])
FULL = np.where(np.isnan(X), 5.5, X)
WEIGHTS = np.arange(1.0, 13.0).reshape(3, 4)


def weighted(value: Any) -> Any:
    weights = WEIGHTS if np.ndim(value) == 2 else np.arange(1.0, np.size(value) + 1)
    return np.sum(np.where(np.isnan(value), 0.0, value) * weights)


def reductions() -> Iterator[tuple[str, dict[str, Any]]]:
    for axis in (None, 0, 1, -1):
        for name in ("nansum", "nanmean", "nanmin", "nanmax", "median", "nanmedian", "nanstd", "nanvar", "ss"):
            yield name, {"axis": axis}
    for name in ("nanstd", "nanvar"):
        yield name, {"axis": 1, "ddof": 1}


def moving() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("sum", "mean", "min", "max", "median", "std", "var"):
        yield f"move_{name}", {"window": 2}
        # The spread of one number is zero, which bottleneck computes by differences of sums.
        yield f"move_{name}", {"window": 3, "min_count": 2 if name in ("std", "var") else 1}
        yield f"move_{name}", {"window": 3, "min_count": 2, "axis": 0}
    yield "move_std", {"window": 3, "min_count": 2, "ddof": 1}
    yield "push", {}
    yield "push", {"n": 1, "axis": 0}


@pytest.mark.parametrize(("name", "given"), [*reductions(), *moving()])
@pytest.mark.parametrize("x", [X, FULL], ids=["nan", "full"])
def test_functions(name: str, given: dict[str, Any], x: np.ndarray) -> None:
    def f(x):
        return weighted(getattr(bn, name)(x, **given))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, gradient = ad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    held = ~np.isnan(x)
    np.testing.assert_allclose(gradient[held], differences(f, x)[held], rtol=1e-6, atol=1e-7)


def test_results_are_numbers_of_python() -> None:
    def f(x):
        mean, spread = bn.nanmean(x), bn.nanstd(x[0], axis=0)
        assert type(mean) is float and type(spread) is float
        assert type(bn.nanargmax(x)) is int and type(bn.anynan(x)) is bool
        return mean / spread if not bn.allnan(x) else 0.0

    np.testing.assert_allclose(ad.grad(f)(FULL), differences(f, FULL), rtol=1e-6, atol=1e-8)


def test_dtypes() -> None:
    def f(x):
        wide = bn.nansum(x) * x
        assert wide.dtype == np.float32 and bn.nanmean(x, axis=0).dtype == np.float32
        return float(np.sum(wide)) + bn.nansum(np.array([1, 2])) + bn.nanmean(np.array([[1, 2]]), axis=1)[0]

    x = np.array([[0.5, 1.5], [2.0, 0.25]], np.float32)
    gradient = ad.grad(f)(x)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, np.full((2, 2), 2 * x.sum()), rtol=1e-6)


def test_what_raises() -> None:
    def window(x):
        try:
            return np.sum(bn.move_sum(x, 9))
        except ValueError:
            return np.sum(x * x)

    assert ad.grad(window)(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("call", [lambda x: bn.partition(x, 1), lambda x: bn.rankdata(x) * x])
def test_functions_without_derivatives_are_refused(call: Callable[[Any], Any]) -> None:
    def f(x):
        return np.sum(call(x))

    with pytest.raises(RuleLookupError, match="no derivative rule for bottleneck"):
        ad.grad(f)(FULL[0])


PROGRAM = """
import sys
import numpy as np
import autodiff_compiler as ad

def f(x):
    return np.sum(np.exp(x))

ad.grad(f)(np.ones(2))
assert "bottleneck" not in sys.modules
import bottleneck

def g(x):
    return bottleneck.nanmean(x * x)

assert ad.grad(g)(np.array([1.0, np.nan, 2.0])).tolist() == [1.0, 0.0, 2.0]
"""


def test_bottleneck_is_not_imported_by_the_package(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=root, timeout=120)
    assert done.returncode == 0, done.stderr
