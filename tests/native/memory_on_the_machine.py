"""Makes buffers in machine code: what they hold, lengths that no memory has, and copies of what is freed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff_compiler.native import support
from autodiff_compiler.native.support import as_program, buffer, filled, longer, zeroed


@as_program
def made(n: int, m: int) -> Any:
    a = buffer(n)
    for i in range(n):
        a[i] = i
    return (
        a, buffer((n, m), np.int64), zeroed((n, m, 3), np.float32), zeroed(n, np.bool_), zeroed((2, n), np.complex128),
        filled((2, n), True), filled(n, np.float32(2.5)), filled(3, -1.0), longer(a, n + 1), longer(a, 10 * n),
    )  # fmt: skip


@as_program
def copied(x: Any, rounds: int) -> Any:
    """Each round frees the buffer from which the next one has copied, and others take its memory."""
    n = x.shape[0]
    y = zeroed(n)
    for k in range(rounds):
        a = buffer(n)
        for i in range(n):
            a[i] = x[i] + k
        b = buffer(n)
        for i in range(n):
            b[i] = a[i]
        a = zeroed(n)
        c = buffer(n)
        for i in range(n):
            c[i] = -1.0 + a[i]
        for i in range(n):
            y[i] += b[i] * c[n - 1 - i]
    return y


def main() -> None:
    assert not support.AS_PYTHON
    for n, m in ((0, 0), (1, 1), (4, 5)):
        a, b, *filled_ones, c, d = made(n, m)
        np.testing.assert_array_equal(a, np.arange(n))
        assert (b.shape, b.dtype) == ((n, m), np.int64) and b.flags.c_contiguous
        wanted = [
            np.zeros((n, m, 3), np.float32), np.zeros(n, bool), np.zeros((2, n), complex), np.ones((2, n), bool),
            np.full(n, 2.5, np.float32), np.full(3, -1.0),
        ]  # fmt: skip
        for got, want in zip(filled_ones, wanted, strict=True):
            assert got.dtype == want.dtype and (not got.size or got.strides == want.strides)
            np.testing.assert_array_equal(got, want)
        assert len(c) == max(2 * n, n + 1) and len(d) == max(2 * n, 10 * n)
        np.testing.assert_array_equal(c[:n], np.arange(n))
        np.testing.assert_array_equal(d[:n], np.arange(n))
    for n in (-1, 1 << 45, 1 << 62, -(1 << 62)):
        with pytest.raises(MemoryError):
            made(n, 3)
    for n in (3, 100, 10_000):
        x = np.arange(n) * 1.0
        np.testing.assert_array_equal(copied(x, 5), -5.0 * x - 10.0)
    print("all agree")


if __name__ == "__main__":
    main()
