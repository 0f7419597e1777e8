"""Runs `vjp` and `linearize` as machine code and as NumPy code, and compares them.

A program takes Numba a second or two. With the argument "all", all programs run.
"""

from __future__ import annotations

import sys

import numpy as np

from autodiff_compiler.native import support
from tests.native.both import why_not
from tests.native.both_halves import Linearized, Pullback, agree, bailed
from tests.native.test_halves import (
    SEEDS,
    W,
    X,
    beside,
    in_branches,
    itself,
    numbers,
    part,
    product,
    quotient,
    rows,
    saved_and_returned,
    swapped,
    written,
    written_in_a_loop,
)


def layers(x: np.ndarray, W: np.ndarray, n: int) -> np.ndarray:
    for k in range(n):
        x = np.tanh(W.T @ (W @ x)) + x[k]
    return x


def determinants(x: np.ndarray) -> float:
    s = 0.0
    for k in range(3):
        s = s + np.linalg.det(np.outer(x, x) + np.eye(4) * k)
    return s


def main() -> None:
    assert not support.AS_PYTHON
    for kind in (Pullback, Linearized):
        some = [saved_and_returned, written_in_a_loop, rows, determinants]
        others = [itself, part, beside, written, swapped, in_branches, numbers] if "all" in sys.argv else []
        for f in (*some, *others):
            native = agree(f, X.copy(), kind=kind)
            assert why_not(native) is None and not bailed(native), f
        agree(layers, X, W, 3, argnums=(0, 1), kind=kind)
        agree(quotient, 1.0, 0.0, argnums=(0, 1), kind=kind)
    agree(beside, X[::-1].astype(np.float32), rtol=1e-5)
    for mapped in SEEDS:
        agree(product, 0.5, 0.25, argnums=(0, 1), mapped=mapped)
    print("all agree")


if __name__ == "__main__":
    main()
