"""Checks of whole programs for the test modules: value, gradient and second derivative, alone and inside of others."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.7, 1.3, 2.1])


def in_a_loop(f: Any) -> Any:
    def looped(x: Any, *rest: Any) -> Any:
        total = 0.0
        for k in range(2):
            total = total + f(x * (1.0 + 0.01 * k), *rest) * (k + 1)
        return total

    return looped


def in_a_branch(f: Any) -> Any:
    def branched(x: Any, *rest: Any) -> Any:
        y = np.zeros(3)
        if x[1] > 0:
            y[1] = f(x, *rest)
        else:
            y[1] = 1.0
        return np.sum(y * y)

    return branched


def check_program(f: Any, rest: tuple[Any, ...], second: bool = True) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        looped = in_a_loop(f)
        for g in (f, looped, in_a_branch(f)):
            x, given = X.copy(), copy.deepcopy(rest)
            value, found = ad.value_and_grad(g)(x, *given)
            np.testing.assert_allclose(value, g(X.copy(), *copy.deepcopy(rest)), rtol=1e-12)
            np.testing.assert_allclose(found, differences(g, X, *rest), rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(x, X)
            if not second or g is not looped:
                continue

            def slope(x: Any, *rest: Any, g: Any = g) -> Any:
                return np.sum(ad.grad(g)(x, *rest) * np.array([0.3, -0.5, 0.8]))

            np.testing.assert_allclose(ad.grad(slope)(X, *rest), differences(slope, X, *rest), rtol=1e-4, atol=1e-5)
