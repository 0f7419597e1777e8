"""Jacobians, Hessian products and tangents, timed against the code that one would write by hand.

``python -m benchmarks.run --derivatives`` runs them. Each row is checked against the hand-written side, or against the
gradient, before it is timed. The sides of a row take turns in one process.
"""

from __future__ import annotations

import copy
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_compiler as ad
from benchmarks.kernels import all_kernels
from benchmarks.kernels.kernel import Kernel

# Kernels with loops and stores, whose arguments are floats and arrays.
TANGENT_KERNELS = [
    "trisolv", "cholesky", "gramschmidt", "jacobi_2d", "seidel_2d", "heat_3d", "fdtd_2d", "adi", "durbin", "lu",
    "power_iteration", "tridiagonal", "conjugate_gradient", "gemm",
]  # fmt: skip

Sides = dict[str, Callable[[], Any]]


def mlp(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    h = np.tanh(x @ w1 + b1)
    return np.mean((h @ w2 + b2 - y) ** 2)


def product_of_hessian(rng: Any) -> Sides:
    """The product of the Hessian of a small network's loss and a vector, beside its gradient."""
    x, y = rng.normal(size=(256, 50)), rng.normal(size=(256, 1))
    p = rng.normal(size=(50, 100)) / 7, np.zeros(100), rng.normal(size=(100, 1)) / 10, np.zeros(1)
    v = tuple([rng.normal(size=np.shape(a)) for a in p])
    grad, hvp = ad.grad(mlp, (0, 1, 2, 3)), ad.hvp(mlp, (0, 1, 2, 3))
    step = 1e-5
    ends = [grad(*[a + s * step * d for a, d in zip(p, v)], x, y) for s in (1, -1)]
    for found, a, b in zip(hvp(*p, x, y, v), *ends):
        np.testing.assert_allclose(found, (a - b) / (2 * step), rtol=1e-5, atol=1e-6)
    return {"ours": lambda: hvp(*p, x, y, v), "gradient": lambda: grad(*p, x, y)}


def network(x: Any, w1: Any, w2: Any) -> Any:
    return np.tanh(w2 @ np.tanh(w1 @ x))


def jacobian_by_hand(x: Any, w1: Any, w2: Any) -> Any:
    h = np.tanh(w1 @ x)
    y = np.tanh(w2 @ h)
    return ((1 - y * y)[:, None] * w2) @ ((1 - h * h)[:, None] * w1)


def jacobian_of_network(rng: Any) -> Sides:
    """The Jacobian of a network from 200 numbers to 200."""
    args = rng.normal(size=200), rng.normal(size=(200, 200)) / 14, rng.normal(size=(200, 200)) / 14
    jacobian = ad.jacobian(network)
    np.testing.assert_allclose(jacobian(*args), jacobian_by_hand(*args), rtol=1e-10, atol=1e-12)
    return {"ours": lambda: jacobian(*args), "hand": lambda: jacobian_by_hand(*args)}


def dense_hessian(rng: Any) -> Sides:
    """The Hessian of a chain of 100 springs, beside its gradient."""

    def energy(x: Any) -> Any:
        stretch = x[1:] - x[:-1]
        return np.sum(np.sqrt(1.0 + stretch * stretch)) + 0.5 * np.sum(x * x)

    x = rng.normal(size=100)
    hessian, grad = ad.hessian(energy), ad.grad(energy)
    step = 1e-5
    rows = [(grad(x + step * e) - grad(x - step * e)) / (2 * step) for e in np.eye(100)]
    np.testing.assert_allclose(hessian(x), rows, rtol=1e-5, atol=1e-7)
    return {"ours": lambda: hessian(x), "gradient": lambda: grad(x)}


ROWS: dict[str, tuple[Callable[[Any], Sides], str]] = {
    "hvp of a network, 256 rows": (product_of_hessian, "gradient"),
    "Jacobian of a network, 200 to 200": (jacobian_of_network, "hand"),
    "Hessian of 100 springs": (dense_hessian, "gradient"),
}


def tangent_of_kernel(kernel: Kernel) -> Sides:
    """The tangent of a kernel by its float arguments, beside the kernel. A kernel may write into its arguments, so each
    call of either has its own."""
    args = kernel.inputs(kernel.large)
    moving = kernel.argnums()
    push = ad.jvp

    def run(tangent: bool) -> Any:
        own = copy.deepcopy(args)
        if not tangent:
            return kernel.function(*own)
        return push(kernel.function, own, [own[k] if k in moving else None for k in range(len(own))])

    _, slope = run(True)
    grads = ad.grad(kernel.function, moving)(*copy.deepcopy(args))
    np.testing.assert_allclose(slope, sum(np.sum(g * args[k]) for g, k in zip(grads, moving)), rtol=1e-6, atol=1e-8)
    return {"ours": lambda: run(True), "primal": lambda: run(False)}


def measure_derivatives(rounds: int, time_sides: Any, pretty: Any, print_table: Any) -> dict[str, Any]:
    """Time all rows, and print them."""
    out: dict[str, Any] = {}
    rows = []
    for name, (make, base) in ROWS.items():
        times = time_sides(make(np.random.default_rng(7)), rounds)
        out[name] = {side: min(found) for side, found in times.items()}
        least = out[name]["ours"] / out[name][base]
        each = statistics.median([a / b for a, b in zip(times["ours"], times[base])])
        rows.append([name, pretty(out[name]["ours"]), f"{base} {pretty(out[name][base])}", f"{least:.2f} ({each:.2f})"])
    ratios = []
    for kernel in all_kernels():
        if kernel.name in TANGENT_KERNELS:
            times = time_sides(tangent_of_kernel(kernel), rounds)
            ratios.append(min(times["ours"]) / min(times["primal"]))
            out[f"jvp of {kernel.name}"] = {side: min(found) for side, found in times.items()}
            least = pretty(min(times["ours"]))
            rows.append([f"jvp of {kernel.name}", least, f"primal {pretty(min(times['primal']))}", f"{ratios[-1]:.2f}"])
    print_table(rows, ["derivative", "ours", "beside", "ratio"])
    print(f"\nTangents of {len(ratios)} kernels cost {statistics.geometric_mean(ratios):.2f} times the kernel.")
    return out
