"""Runs programs as machine code, none of which is left to Numba, and counts what is freed."""

from __future__ import annotations

import gc
import os
from typing import Any

os.environ["NUMBA_NRT_STATS"] = "1"

import numpy as np
from numba.core.runtime import rtsys

from autodiff_compiler.native.translation import Translation
from benchmarks.by_hand import all_programs
from tests.native.both import agree, bailed, why_not
from tests.native.test_lowering import X


def flagged(x: np.ndarray, up: bool) -> float:
    s = 0.0
    for i in range(len(x)):
        if up and x[i] > 0.1:
            s = s + x[i] * x[i]
    return s


def flag_of_a_part(x: np.ndarray) -> float:
    big = x[0] > 0.1
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * x[i] if big else x[i]
    return np.sum(y)


def swapped_in_branches(x: np.ndarray, n: int) -> float:
    a, b, s = x * 2.0, x + 1.0, 0.0
    for i in range(n):
        if i % 2:
            a, b = b, a * 0.5
        row = np.outer(a, b)[i % len(x)]
        s = s + np.sum(row * row)
        if s > 1e6:
            break
    return s + np.sum(a * b)


def lists_that_grow(x: np.ndarray, n: int) -> float:
    saved = []
    for i in range(n):
        saved.append(np.sin(x * i))
        if i % 3 == 2:
            x = x + saved.pop()
    s = 0.0
    for y in saved:
        s = s + np.sum(y * y)
    return s


def powers(x: np.ndarray, n: int) -> float:
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] ** 3 + x[i] ** -2 + (x[i] * x[i]) ** 0.25 + x[i] ** n
    return s


def held() -> int:
    """How many arrays of Numba's there are."""
    gc.collect()
    stats = rtsys.get_allocation_stats()
    return int(stats.mi_alloc - stats.mi_free)


def instructions() -> list[int]:
    """How many instructions LLVM gets for each function that is translated from now on."""
    found: list[int] = []
    end = Translation.post_lower

    def counting(self: Any) -> None:
        found.append(sum(len(block.instructions) for block in self.function.blocks))
        end(self)

    Translation.post_lower = counting  # type: ignore[method-assign]
    return found


def main() -> None:
    counted = instructions()
    for options in ({}, {"parallel": True}):
        for f, *args in (
            (flagged, True), (flagged, False), (flag_of_a_part,), (swapped_in_branches, 7), (lists_that_grow, 8),
            (powers, 3),
        ):  # fmt: skip
            native = agree(f, X, *args, **options)
            assert why_not(native) is None and not bailed(native), f
            assert not held(), f
    for program in all_programs():
        args = program.inputs(program.small)
        native = agree(program.function, *args, argnums=program.argnums, rtol=1e-8)
        assert why_not(native) is None and not bailed(native), program.name
        for _ in range(3):
            native(*args)
        assert not held(), program.name
        if program.name == "state_space_likelihood":  # Numba's compiler gave LLVM 24,296
            assert counted[-1] < 6000, counted
    print("all agree")


if __name__ == "__main__":
    main()
