"""Logistic regression on the breast cancer data that ships with scikit-learn.

    python examples/logistic_regression.py --output examples/output

The loss is plain NumPy. Its gradient drives a gradient descent with momentum. The fitted model is scored on held-out
data.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import autodiff_compiler as ad


def loss(w, b, x, y):
    """The mean cross-entropy with a small quadratic penalty."""
    z = x @ w + b
    # log(1 + exp(z)) without overflow for large z
    softplus = np.maximum(z, 0.0) + np.log(1.0 + np.exp(-np.abs(z)))
    return np.mean(softplus - y * z) + 0.001 * np.sum(w * w)


def load_data():
    """Standardised features and labels: training and test set."""
    from sklearn.datasets import load_breast_cancer

    x, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = x[order], y[order].astype(float)
    train, test = slice(0, 400), slice(400, None)
    mean, spread = x[train].mean(axis=0), x[train].std(axis=0)
    x = (x - mean) / spread
    return x[train], y[train], x[test], y[test]


def example_inputs():
    """The arguments of `loss` for ``python -m autodiff_compiler check examples/logistic_regression.py:loss``."""
    x, y, _, _ = load_data()
    return np.full(x.shape[1], 0.1), 0.05, x, y


@dataclass
class Result:
    losses: list[float]
    accuracy: float
    gradient_norm: float


def fit(steps: int) -> Result:
    x, y, x_test, y_test = load_data()
    value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1))
    w, b = np.zeros(x.shape[1]), 0.0
    w_speed, b_speed = np.zeros_like(w), 0.0
    losses = []
    w_bar = w
    for _ in range(steps):
        value, (w_bar, b_bar) = value_and_gradient(w, b, x, y)
        losses.append(float(value))
        w_speed = 0.9 * w_speed - 0.2 * w_bar
        b_speed = 0.9 * b_speed - 0.2 * b_bar
        w, b = w + w_speed, b + b_speed
    accuracy = float(np.mean((x_test @ w + b > 0) == (y_test > 0.5)))
    return Result(losses, accuracy, float(np.linalg.norm(w_bar)))


def plot(result: Result, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    axes.semilogy(result.losses)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.set_title(f"breast cancer data, test accuracy {result.accuracy:.1%}")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> Result:
    parser = argparse.ArgumentParser(description="Fit a logistic regression with a compiled gradient.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="folder for the plot")
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args(argv)
    result = fit(options.steps)
    print(f"loss {result.losses[0]:.4f} -> {result.losses[-1]:.4f} in {options.steps} steps")
    print(f"gradient norm {result.gradient_norm:.2e}, accuracy on held-out data {result.accuracy:.1%}")
    options.output.mkdir(parents=True, exist_ok=True)
    plot(result, options.output / "logistic_regression.png")
    print(f"plot: {options.output / 'logistic_regression.png'}")
    return result


if __name__ == "__main__":
    main()
