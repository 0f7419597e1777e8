"""Runs programs as machine code and as NumPy code, and compares them."""

from __future__ import annotations

import pickle

import numba
import numpy as np

import autodiff_compiler as ad
from autodiff_compiler.native import support
from tests.native import test_outside
from tests.native.both import agree, bailed, why_not
from tests.native.test_guards import X, counts, put, quotient, read_in_loop, store_at
from tests.native.test_lowering import X as LONG
from tests.native.test_lowering import calls_numpy, left_early, of_matrices, picks, swapped


def nested_sum(x: np.ndarray, n: int) -> float:
    s = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            s = s + x[i] * x[j]
    return s


def calls_in_loops(x: np.ndarray, n: int) -> float:
    s = 0.0
    for i in range(n):
        s = s + np.linalg.det(x * i)
    return s


def raises_in_a_call(x: np.ndarray, k: int) -> float:
    c = np.linalg.solve(np.outer(x, x)[:k], x)
    return np.sum(x * x)


def products(A: np.ndarray, B: np.ndarray, v: np.ndarray) -> float:
    C = A @ B.T
    return np.sum(np.sin(C)) + np.sum((A.T @ C) ** 2) + np.sum(np.cos(A @ v)) + np.sum((v @ B.T) * (v @ v))


def saved_pieces(x: np.ndarray, n: int) -> float:
    s = 0.0
    for i in range(n):
        y = np.sin(x[i:]) * s
        for j in range(i):
            y = y * y[0] + np.cos(y)
            if y[0] > 0.5:
                s = s + y[0] * x[j]
        s = s + np.sum(y * y) + np.sum(np.exp(y))
    return s


def main() -> None:
    assert not support.AS_PYTHON
    for rows, columns in ((3, 4), (1, 4), (3, 1), (0, 4), (3, 0), (0, 0)):
        rng = np.random.default_rng(rows)
        A, B, v = rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns)), rng.normal(size=columns)
        for given in ((A, B, v), (np.asfortranarray(A), B[::-1], v[::-1])):
            agree(products, *given, argnums=(0, 1, 2))
    f32 = [rng.normal(size=s).astype(np.float32) for s in ((3, 4), (3, 4), (4,))]
    assert why_not(agree(products, *f32, argnums=(0, 1, 2), rtol=1e-4)) is None
    native = agree(saved_pieces, X[:4], 4)
    assert why_not(native) is None and not bailed(native)
    for f in (swapped, left_early, of_matrices, picks, calls_numpy):
        native = agree(f, LONG)
        assert why_not(native) is None and not bailed(native), f
    for f, args in (
        (read_in_loop, (3,)),
        (read_in_loop, (9,)),
        (store_at, (4,)),
        (counts, (2**39,)),
        (nested_sum, (4,)),
    ):
        agree(f, X, *args)
    for n in (30, 300, np.int64(300)):
        agree(put, X, np.array([1, 2], np.int8), n)
    agree(lambda x, a: x[0] * ((a[0] // a[1]) % 7), X, np.array([-(2**63), -1]))
    for n in (0, 3):
        native = agree(calls_in_loops, np.eye(2) * 2.0 + 0.1, n)
        assert not bailed(native)
    agree(raises_in_a_call, X, 2)
    for f in test_outside.PROGRAMS:
        native = agree(f, test_outside.A, test_outside.V, argnums=(0, 1), rtol=1e-9)
        assert why_not(native) is None and not bailed(native), f
        agree(f, np.zeros((4, 4)), test_outside.V, argnums=(0, 1))
    test_outside.test_in_threads()
    gradient = ad.grad(test_outside.several_alike)
    in_numba = numba.njit(lambda a, v: gradient(a, v) * 2.0)
    want = 2.0 * ad.grad(test_outside.several_alike)(test_outside.A, test_outside.V)
    np.testing.assert_allclose(in_numba(test_outside.A, test_outside.V), want, rtol=1e-9)
    agree(quotient, 1.0, 0.0, argnums=(0, 1))
    agree(lambda x: np.sum(np.sin(x) * 0.1), X.astype(np.float32), rtol=1e-5)
    for x in (X[::-1], X[::2]):
        agree(swapped, x)
    g = ad.grad(swapped, backend="native")
    again = pickle.loads(pickle.dumps(g))
    np.testing.assert_allclose(again(LONG), ad.grad(swapped)(LONG))
    assert "Native" in again.source(LONG)
    print("all agree")


if __name__ == "__main__":
    main()
