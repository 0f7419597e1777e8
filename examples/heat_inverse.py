"""An inverse problem for the heat equation: find the initial temperature from a later one.

    python examples/heat_inverse.py --output examples/output

The simulation updates its array in place, as stencil codes do. The gradient of the misfit by the initial temperature
runs the same loop backwards, also in place.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import autodiff_compiler as ad


def diffuse(u, rate, steps):
    """Explicit Euler steps of the heat equation, in place. The border stays as it is."""
    for _ in range(steps):
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += rate * lap


def loss(u0, measured, rate, steps, penalty):
    """The misfit of the final temperature to the measured one, plus the roughness of the initial one."""
    u = u0.copy()
    diffuse(u, rate, steps)
    misfit = u - measured
    across, down = u0[1:, :] - u0[:-1, :], u0[:, 1:] - u0[:, :-1]
    return np.sum(misfit * misfit) + penalty * (np.sum(across * across) + np.sum(down * down))


def true_start(n: int) -> np.ndarray:
    """Two hot spots."""
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    spots = np.exp(-(((x - 0.3) / 0.1) ** 2 + ((y - 0.35) / 0.1) ** 2))
    spots += 0.7 * np.exp(-(((x - 0.7) / 0.12) ** 2 + ((y - 0.65) / 0.08) ** 2))
    spots[0] = spots[-1] = 0.0
    spots[:, 0] = spots[:, -1] = 0.0
    return spots


def measure(n: int, rate: float, steps: int, noise: float = 0.002) -> np.ndarray:
    u = true_start(n)
    diffuse(u, rate, steps)
    return u + noise * np.random.default_rng(2).normal(size=u.shape)


def example_inputs():
    return np.zeros((12, 12)), measure(12, 0.2, 10), 0.2, 10, 1e-3


@dataclass
class Result:
    found: np.ndarray
    first_loss: float
    last_loss: float
    relative_error: float


def recover(n: int, steps: int, iterations: int, rate: float = 0.2) -> Result:
    from scipy.optimize import minimize

    measured = measure(n, rate, steps)
    value_and_gradient = ad.value_and_grad(loss)

    def objective(flat):
        value, gradient = value_and_gradient(flat.reshape(n, n), measured, rate, steps, 1e-4)
        return float(value), gradient.ravel()

    start = np.zeros(n * n)
    done = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    found, true = done.x.reshape(n, n), true_start(n)
    error = float(np.linalg.norm(found - true) / np.linalg.norm(true))
    return Result(found, objective(start)[0], float(done.fun), error)


def plot(result: Result, n: int, steps: int, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(9, 3.6))
    pictures = [("true start", true_start(n)), ("measured", measure(n, 0.2, steps)), ("found", result.found)]
    for axis, (title, picture) in zip(axes, pictures):
        axis.imshow(picture, vmin=0.0, vmax=1.0, cmap="inferno")
        axis.set_title(title)
        axis.set_axis_off()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> Result:
    parser = argparse.ArgumentParser(description="Recover an initial temperature with a compiled gradient.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="folder for the plot")
    parser.add_argument("--size", type=int, default=40, help="grid points in each direction")
    parser.add_argument("--steps", type=int, default=60, help="time steps")
    parser.add_argument("--iterations", type=int, default=200, help="of the minimiser")
    options = parser.parse_args(argv)
    result = recover(options.size, options.steps, options.iterations)
    print(f"loss {result.first_loss:.4f} -> {result.last_loss:.6f}")
    print(f"relative error of the initial temperature {result.relative_error:.1%}")
    options.output.mkdir(parents=True, exist_ok=True)
    plot(result, options.size, options.steps, options.output / "heat_inverse.png")
    print(f"plot: {options.output / 'heat_inverse.png'}")
    return result


if __name__ == "__main__":
    main()
