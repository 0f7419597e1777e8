"""The sparse Jacobian of the Brusselator on a periodic grid: find and colour its pattern, evaluate it.

    python -m benchmarks.run --sparse

The system is written twice, with `np.roll` and with loops over the points and stores. Beside the sparse Jacobian stand
the primal and the dense Jacobian. `by_hand` is the Jacobian as someone writes it who knows the pattern.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

NAME = "Brusselator"
SIZES = {"48x48x2": 48, "16x16x2": 16}
ALPHA = 0.02


def inputs(n: int) -> tuple[Any, ...]:
    return (np.random.default_rng(5).uniform(0.5, 1.5, 2 * n * n),)


def primal(x):
    n = int(np.sqrt(x.size // 2))
    u, v = x[: n * n].reshape(n, n), x[n * n :].reshape(n, n)
    around_u = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u
    around_v = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4.0 * v
    reaction = u * u * v
    return np.concatenate(
        ((1.0 + reaction - 4.4 * u + ALPHA * around_u).ravel(), (3.4 * u - reaction + ALPHA * around_v).ravel())
    )


def by_loops(x):
    n = int(np.sqrt(x.size // 2))
    half = n * n
    y = np.zeros(2 * half)
    for i in range(n):
        for j in range(n):
            k = i * n + j
            below, above, left, right = (
                (i + 1) % n * n + j,
                (i - 1) % n * n + j,
                i * n + (j - 1) % n,
                i * n + (j + 1) % n,
            )
            u, v = x[k], x[half + k]
            around_u = x[below] + x[above] + x[left] + x[right] - 4.0 * u
            around_v = x[half + below] + x[half + above] + x[half + left] + x[half + right] - 4.0 * v
            y[k] = 1.0 + u * u * v - 4.4 * u + ALPHA * around_u
            y[half + k] = 3.4 * u - u * u * v + ALPHA * around_v
    return y


def by_hand(x):
    """The dense Jacobian."""
    n = int(np.sqrt(x.size // 2))
    half = n * n
    u, v = x[:half], x[half:]
    numbers = np.arange(half).reshape(n, n)
    laplacian = -4.0 * np.eye(half)
    for axis in (0, 1):
        for step in (1, -1):
            laplacian[numbers.ravel(), np.roll(numbers, step, axis).ravel()] += 1.0
    diagonals = np.diag(2.0 * u * v - 4.4), np.diag(u * u), np.diag(3.4 - 2.0 * u * v), np.diag(-u * u)
    return np.block(
        [[ALPHA * laplacian + diagonals[0], diagonals[1]], [diagonals[2], ALPHA * laplacian + diagonals[3]]]
    )


def best(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure_sparse(rounds: int) -> dict[str, Any]:
    """Seconds for each step, and the number of colours, of each form at each size."""
    import autodiff_compiler as ad

    out: dict[str, Any] = {}
    for label, size in SIZES.items():
        args = inputs(size)
        for form in (primal, by_loops):
            name = f"{NAME}, {label}, {'np.roll' if form is primal else 'loops and stores'}"
            print(f"... {name}", file=sys.stderr, flush=True)
            jacobian = ad.jacobian(form, sparsity="auto")
            recipe = jacobian.recipe(*args)
            got = jacobian(*args)
            want = by_hand(*args)
            notes = [] if np.allclose(got.toarray(), want, rtol=1e-10, atol=1e-12) else ["WRONG"]

            def anew(jacobian: Any = jacobian) -> None:
                jacobian.forget()
                jacobian.recipe(*args)  # noqa: B023

            few = max(3, rounds // 10)
            seconds = {
                "primal": best(lambda: form(*args), rounds if form is primal else few),  # noqa: B023
                "detect and colour": best(anew, few),
                "evaluate": best(lambda: jacobian(*args), rounds if form is primal else few),  # noqa: B023
            }
            if form is primal:
                dense = ad.jacobian(form)
                dense(*args)
                seconds["dense"] = best(lambda: dense(*args), 2)  # noqa: B023
            out[name] = {"colours": recipe.colours, "elements": got.nnz, "seconds": seconds, "notes": notes}
    return out


__all__ = ["by_hand", "by_loops", "inputs", "measure_sparse", "primal"]
