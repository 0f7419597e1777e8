"""Means, variances and medians of no elements, or of too few: NumPy warns and gives nan, the derivative raises no more.

Nan is the honest derivative of what is nan. Where the program looks for nan and takes another way, that way counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([0.3, -0.7, 1.1])

NO_ELEMENTS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda x: np.mean(x[:0]),
    "method": lambda x: x[:0].mean(),
    "average": lambda x: np.average(x[:0]),
    "mean of a mask": lambda x: np.mean(x[x > 100]),
    "mean of rows": lambda x: np.sum(np.mean(x[x > 100][:, None], axis=0)),
    "mean of columns": lambda x: np.mean(x[x > 100][:, None] * x, axis=0)[1],
    "var": lambda x: np.var(x[:0]),
    "var of a mask": lambda x: np.var(x[x > 100]),
    "var of rows": lambda x: np.sum(np.var(x[x > 100][:, None], axis=0)),
    "std": lambda x: np.std(x[:0]),
    "median": lambda x: np.median(x[:0]),
    "median of a mask": lambda x: np.median(x[x > 99]),
    "median of rows": lambda x: np.sum(np.median(x[x > 99][:, None], axis=0)),
    "nanmedian of a mask": lambda x: np.nanmedian(x[x > 99]),
    "nanmean of a mask": lambda x: np.nanmean(x[x > 99]),
    "sum by size": lambda x: np.sum(x[x > 99]) / np.size(x[x > 99]),
    "sum by len": lambda x: np.sum(x[x > 99]) / len(x[x > 99]),
}
TOO_FEW: dict[str, Callable[[Any], Any]] = {
    "var": lambda x: np.var(x[:1], ddof=1),
    "var of a mask": lambda x: np.var(x[x > 1], ddof=1),
    "var by more": lambda x: np.var(x, ddof=3),
    "var by too many": lambda x: np.var(x, ddof=5),
    "var of rows": lambda x: np.sum(np.var(x[None], axis=0, ddof=1)),
    "std": lambda x: np.std(x[:1], ddof=1),
    "std of a mask": lambda x: np.std(x[x > 1], ddof=1),
    "std by too many": lambda x: np.std(x, ddof=5),
    "cov": lambda x: np.cov(x[:1]),
    "cov of a mask": lambda x: np.cov(x[x > 1]),
}


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", NO_ELEMENTS)
def test_no_elements(name: str) -> None:
    f = NO_ELEMENTS[name]
    np.testing.assert_array_equal(ad.grad(f)(X), np.zeros(3))
    value, along = ad.jvp(f, (X,), (np.ones(3),))
    assert np.isnan(value) and np.isnan(f(X)) and np.isnan(along)


@pytest.mark.parametrize("name", TOO_FEW)
def test_too_few_elements(name: str) -> None:
    f = TOO_FEW[name]
    assert not np.isfinite(f(X))
    assert not np.isfinite(ad.grad(f)(X)).all()
    assert not np.isfinite(ad.jvp(f, (X,), (np.array([1.0, 0.5, 2.0]),))[1])


@pytest.mark.parametrize("f", [*NO_ELEMENTS.values(), *TOO_FEW.values()])
def test_another_way_for_nan(f: Callable[[Any], Any]) -> None:
    def guarded(x: Any) -> Any:
        m = f(x)
        return m if np.isfinite(m) else 3.0 * x[0]

    np.testing.assert_array_equal(ad.grad(guarded)(X), [3.0, 0.0, 0.0])
    assert ad.value_and_grad(guarded)(X)[1].tolist() == [3.0, 0.0, 0.0]
    assert ad.jvp(guarded, (X,), (np.array([1.0, 5.0, 7.0]),))[1] == 3.0


@pytest.mark.parametrize("name", TOO_FEW)
def test_a_cotangent_that_is_zero_for_sure(name: str) -> None:
    f = TOO_FEW[name]
    np.testing.assert_array_equal(ad.grad(lambda x: np.nan_to_num(f(x), posinf=0.0))(X), np.zeros(3))
    assert ad.jvp(lambda x: np.nan_to_num(f(x), posinf=0.0), (X,), (np.ones(3),))[1] == 0
    np.testing.assert_array_equal(ad.grad(lambda x: np.where(len(x) > 9, f(x), x[1]))(X), [0.0, 1.0, 0.0])


def test_no_guard_where_there_are_elements() -> None:
    """An axis of an argument that is not written out has two elements or more."""
    for f in (np.mean, np.var, np.std, np.median, lambda x: np.var(x, ddof=1), lambda x: np.std(x[1:])):
        source = ad.grad(f).source(X)
        assert "max(" not in source and "ratio" not in source and "mean(" not in source
    f = ad.grad(lambda x: np.mean(x[2:]) + x[0])
    assert "max(" not in f.source(np.arange(4.0))
    assert f(np.arange(4.0)).tolist() == [1.0, 0.0, 0.5, 0.5]
    assert f(np.arange(2.0)).tolist() == [1.0, 0.0]
