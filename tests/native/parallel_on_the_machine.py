"""Runs loops in parts as machine code: with several numbers of threads, from several threads, in child processes.

A program takes Numba a second or two. With the argument "all", all programs run.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from typing import Any

import numba
import numpy as np

import autodiff_compiler as ad
from autodiff_compiler.native import support
from tests.native.both import agree, bailed, why_not
from tests.native.test_parallel import IN_ORDER, IN_PARTS, A, K, X, up_to

LONG = np.linspace(0.1, 3.0, 5003)
TABLE = np.random.default_rng(0).normal(size=(300, 7))


def elements(x: np.ndarray) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x)):
        t = np.sin(x[i])
        for _ in range(3):
            t = t * t + 0.1
        y[i] = np.exp(t) * x[i]
    return np.sum(np.sqrt(x) * y[::-1])


def sums(w: np.ndarray, xs: np.ndarray) -> Any:
    s = 0.0
    for i in range(len(xs)):
        h = np.tanh(xs[i] * w)
        s += np.sum(h * h) + np.max(h)
    return s


def products(w: np.ndarray, xs: np.ndarray) -> Any:
    s = 0.0
    for i in range(len(xs)):
        h = np.tanh(w @ xs[i])
        s += np.sum(h * h)
    return s


def picks(x: np.ndarray, k: np.ndarray) -> Any:
    s = 0.0
    for i in range(len(k)):
        s += np.sin(x[k[i]])
    return s


def with_threads(n: int, call: Any) -> Any:
    numba.set_num_threads(n)
    try:
        return call()
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)


def bits(x: Any) -> list[bytes]:
    return [b for item in x for b in bits(item)] if isinstance(x, tuple) else [np.asarray(x).tobytes()]


def child(g: Any, wanted: list[bytes], queue: Any) -> None:
    queue.put(all(bits(g(LONG)) == wanted for _ in range(20)))


def main() -> None:
    assert not support.AS_PYTHON and numba.config.NUMBA_NUM_THREADS == 4
    support.WORTH = support.LEAST = support.ROOM = 1  # so that short loops have many parts
    runs = []
    for f, args, argnums in (
        (elements, (LONG,), 0), (sums, (TABLE[0], TABLE), (0, 1)), (products, (TABLE[:7], TABLE), (0, 1)),
        (picks, (LONG, np.arange(5000) % 7), 0),
    ):  # fmt: skip
        parallel = ad.value_and_grad(f, argnums=argnums, backend="native", parallel=True)
        plain = ad.value_and_grad(f, argnums=argnums, backend="native")
        wanted = with_threads(1, lambda: bits(parallel(*args)))
        for n in (2, 3, 4):
            for _ in range(50):
                assert with_threads(n, lambda: bits(parallel(*args))) == wanted, (f, n)
        assert why_not(parallel) is None and not bailed(parallel) and "in_parts" in parallel.source(*args)
        for a, b in zip(parallel(*args), plain(*args)):
            for x, y in zip(a if isinstance(a, tuple) else (a,), b if isinstance(b, tuple) else (b,)):
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
        runs.append((parallel, args, wanted))
    g = ad.grad(elements, backend="native", parallel=True)
    assert bits(g(LONG)) == bits(ad.grad(elements, backend="native")(LONG))  # nothing is summed up

    # Several threads at once, each of which may use the pool.
    wrong: list[Any] = []

    def work(seed: int) -> None:
        order = np.random.default_rng(seed)
        for _ in range(200):
            run, args, wanted = runs[order.integers(len(runs))]
            if bits(run(*args)) != wanted:
                wrong.append((seed, run.__name__))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong

    # A child process has no threads, and starts its own; also while the parent computes.
    if hasattr(os, "fork"):
        context = multiprocessing.get_context("fork")
        wanted = bits(g(LONG))
        busy = threading.Thread(target=lambda: [g(LONG) for _ in range(300)])
        busy.start()
        queue = context.SimpleQueue()
        children = [context.Process(target=child, args=(g, wanted, queue)) for _ in range(4)]
        for p in children:
            p.start()
        assert all([queue.get() for _ in children])
        for p in children:
            p.join(60)
            assert p.exitcode == 0
        busy.join()

    # Bails and exceptions from inside of a part.
    far = np.arange(5000) % 7
    far[4321] = 5003
    for k in (far, -1 - far):
        agree(picks, LONG, k, parallel=True)
    far[4321] = -5003
    assert not bailed(agree(picks, LONG, far, parallel=True))
    for f, *args in [*IN_PARTS[4:], *IN_ORDER[:3]] if "all" in sys.argv else [*IN_PARTS[4::5], *IN_ORDER[:1]]:
        agree(f, *args, parallel=True)
    for n in (-3, 0, 1, 40):
        agree(up_to, X, n, parallel=True)
    assert len(X) == len(K) and A.size

    # Inside of a function of Numba's.
    slope = ad.grad(elements, backend="native", parallel=True)

    @numba.njit
    def step(x: Any) -> Any:
        return x - 0.01 * slope(x)

    np.testing.assert_array_equal(step(LONG), LONG - 0.01 * slope(LONG))
    print("all agree")


if __name__ == "__main__":
    main()
