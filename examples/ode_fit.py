"""Fit the parameters of an ordinary differential equation, through a Python loop of Runge-Kutta steps.

    python examples/ode_fit.py --output examples/output

Predator and prey (Lotka and Volterra), observed with noise. The loss integrates the equation and adds up the misfit at
the observed times. Its gradient goes through each step of the loop. SciPy's L-BFGS does the minimisation.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import autodiff_compiler as ad

TRUE = np.array([1.1, 0.4, 0.1, 0.4])  # growth, predation, conversion, death
STEP = 0.1
EVERY = 10  # Runge-Kutta steps between two observations
START = np.array([10.0, 5.0])


def rates(state, theta):
    prey, predator = state[0], state[1]
    out = np.zeros(2)
    out[0] = theta[0] * prey - theta[1] * prey * predator
    out[1] = theta[2] * prey * predator - theta[3] * predator
    return out


def rk4_step(state, theta, h):
    k1 = rates(state, theta)
    k2 = rates(state + 0.5 * h * k1, theta)
    k3 = rates(state + 0.5 * h * k2, theta)
    k4 = rates(state + h * k3, theta)
    return state + (h / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def loss(log_theta, observed, every, h):
    """The mean squared misfit of the logarithms. The parameters are positive, so we fit their logarithms, too."""
    theta = np.exp(log_theta)
    state = observed[0].copy()
    total = 0.0
    for k in range(1, observed.shape[0]):
        for _ in range(every):
            state = rk4_step(state, theta, h)
        misfit = np.log(state) - np.log(observed[k])
        total += np.sum(misfit * misfit)
    return total / (observed.shape[0] - 1)


def simulate(theta, count):
    """The states at the observed times, without noise."""
    states = [START]
    for _ in range(count - 1):
        state = states[-1]
        for _ in range(EVERY):
            state = rk4_step(state, theta, STEP)
        states.append(state)
    return np.array(states)


def observations(count: int, noise: float = 0.02) -> np.ndarray:
    states = simulate(TRUE, count)
    factors = np.exp(noise * np.random.default_rng(1).normal(size=states.shape))
    factors[0] = 1.0  # the start is known
    return states * factors


def example_inputs():
    return np.log(TRUE) + 0.1, observations(8), EVERY, STEP


@dataclass
class Result:
    theta: np.ndarray
    first_loss: float
    last_loss: float
    evaluations: int


def fit(count: int) -> Result:
    from scipy.optimize import minimize

    observed = observations(count)
    value_and_gradient = ad.value_and_grad(loss)

    def objective(log_theta):
        value, gradient = value_and_gradient(log_theta, observed, EVERY, STEP)
        return float(value), gradient

    start = np.log(TRUE) + np.array([0.15, -0.2, 0.2, -0.15])
    done = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 100})
    return Result(np.exp(done.x), objective(start)[0], float(done.fun), int(done.nfev))


def plot(result: Result, count: int, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    times = np.arange(count) * EVERY * STEP
    observed, fitted = observations(count), simulate(result.theta, count)
    figure, axes = plt.subplots(figsize=(6, 4))
    for k, name in enumerate(("prey", "predators")):
        axes.plot(times, fitted[:, k], color=f"C{k}", label=f"{name}, fitted")
        axes.plot(times, observed[:, k], "o", color=f"C{k}", markersize=4, label=f"{name}, observed")
    axes.set_xlabel("time")
    axes.set_ylabel("population")
    axes.set_ylim(0.0, 18.0)
    axes.legend(loc="upper center", ncol=2)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> Result:
    parser = argparse.ArgumentParser(description="Fit a predator-prey model with a compiled gradient.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="folder for the plot")
    parser.add_argument("--count", type=int, default=30, help="number of observed times")
    options = parser.parse_args(argv)
    result = fit(options.count)
    print(f"loss {result.first_loss:.4f} -> {result.last_loss:.6f} in {result.evaluations} evaluations")
    for name, got, want in zip(("growth", "predation", "conversion", "death"), result.theta, TRUE):
        print(f"{name:10} {got:.4f}  (true {want:.4f})")
    options.output.mkdir(parents=True, exist_ok=True)
    plot(result, options.count, options.output / "ode_fit.png")
    print(f"plot: {options.output / 'ode_fit.png'}")
    return result


if __name__ == "__main__":
    main()
