"""Checks that tests of containers share: a program alone, in a loop, in a branch, and its second derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.7, 1.3, 2.1])


def in_a_loop(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def looped(x):
        total = 0.0
        for i in range(len(x) - 1):
            total = total * 0.5 + f(x * (1.0 + 0.01 * i))
        return total

    return looped


def in_a_branch(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def branched(x):
        y = np.sum(x)
        if x[0] > 0.5:
            y = f(x * 1.0) * y
        if x[1] > 100.0:
            y = f(x)
        return y

    return branched


def check(f: Callable[[Any], Any], second: bool = True) -> None:
    kept = X.copy()
    for program in (f, in_a_loop(f), in_a_branch(f)):
        np.testing.assert_allclose(ad.grad(program)(kept), differences(program, X), rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(kept, X)
    if second:
        weights = np.array([0.3, -1.0, 0.5])
        inner = ad.grad(f)
        curved = ad.grad(lambda x: np.sum(inner(x) * weights))(kept)
        np.testing.assert_allclose(curved, differences(inner, X) @ weights, rtol=1e-4, atol=1e-5)
