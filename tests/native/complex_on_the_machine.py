"""Runs programs with complex numbers as machine code and as NumPy code, and compares them.

A program takes Numba a second or two. With the argument "all", all programs run.
"""

from __future__ import annotations

import sys

import numpy as np

from autodiff_compiler.native import support
from tests.native import both_halves
from tests.native.both import agree, bailed, why_not
from tests.native.test_complex import PROGRAMS, VALUES, X, Z, both, cube, drawn, quotient, size, step


def main() -> None:
    assert not support.AS_PYTHON
    every = "all" in sys.argv
    for f in PROGRAMS[:: 1 if every else 10]:
        native = agree(f, X)
        assert why_not(native) is None and not bailed(native), f
    for f in (*PROGRAMS[:2], PROGRAMS[4]) if every else PROGRAMS[1:2]:
        agree(f, X.astype(np.float32), rtol=1e-4)
        both_halves.agree(f, X.copy())
    native = agree(step, 0.75)
    assert why_not(native) is None and not bailed(native)
    with np.errstate(all="ignore"):
        for f in (quotient, cube, size):
            for z in VALUES[:: 1 if every else 3]:
                for w in VALUES[:: 1 if every else 3]:
                    agree(f, z, w, argnums=(0, 1))
        w = np.array(VALUES)
        agree(lambda z, w: np.sum(np.abs(z / w)), w, w[::-1], argnums=(0, 1))
        agree(lambda z, w: np.sum((z * w).real + np.abs(np.exp(z))), w, w[::-1], argnums=(0, 1))
    agree(lambda z, w: np.sum(np.abs(z / w - np.conj(z))), Z.astype(np.complex64), np.complex64(1j), rtol=1e-4)
    native = both_halves.agree(both, 1.0 + 2.0j, 0.5, argnums=(0, 1))
    assert why_not(native) is None and not both_halves.bailed(native)
    rng = np.random.default_rng(0)
    for _ in range(4 if every else 1):
        native = agree(drawn(rng.integers(13, size=6)), X, rtol=1e-8)
        assert why_not(native) is None and not bailed(native)
    print("all agree")


if __name__ == "__main__":
    main()
