"""Newton's method for the kernel of a layer, with the Hessian of the loss from two tapes.

    python examples/newton_step.py --output examples/output

A layer with a softmax is fitted to noisy labels of points in the plane. The inner tape gives the gradient. The outer
tape gives its Jacobian, which is the Hessian, of shape kernel + kernel. A few steps do the work of hundreds of steps of
gradient descent. Only the import line differs from code for TensorFlow.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autodiff_compiler.compat import tensorflow as tf

CLASSES = 3
PENALTY = 1e-3


def load_data(count: int = 150):
    """Points around three centres, and the numbers of their centres. The third feature is a constant."""
    random = np.random.default_rng(0)
    labels = random.integers(CLASSES, size=count)
    centres = np.array([[0.0, 1.2], [1.0, -0.8], [-1.1, -0.7]])
    points = centres[labels] + 0.8 * random.normal(size=(count, 2))
    return tf.constant(np.column_stack([points, np.ones(count)]), tf.float64), tf.constant(labels)


def make_layer():
    layer = tf.keras.layers.Dense(CLASSES, use_bias=False, kernel_initializer="zeros", dtype="float64")
    layer.build((None, 3))
    return layer


def loss_of(layer, x, labels):
    """The mean cross entropy, with a small quadratic penalty that makes the minimum unique."""
    rows = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=layer(x))
    return tf.reduce_mean(rows) + PENALTY * tf.reduce_sum(layer.kernel**2)


def newton_step(layer, x, labels):
    """One step: kernel - Hessian^-1 gradient. Returns the loss before it, and the Hessian as a matrix."""
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            loss = loss_of(layer, x, labels)
        g = t1.gradient(loss, layer.kernel)
    h = t2.jacobian(g, layer.kernel)

    n_params = tf.reduce_prod(layer.kernel.shape)
    g_vec = tf.reshape(g, [n_params, 1])
    h_mat = tf.reshape(h, [n_params, n_params])
    update = tf.linalg.solve(h_mat, g_vec)
    _ = layer.kernel.assign_sub(tf.reshape(update, layer.kernel.shape))
    return float(loss), h_mat.numpy()


def descent_step(layer, x, labels, rate: float) -> float:
    """One step of gradient descent. Returns the loss before it."""
    with tf.GradientTape() as tape:
        loss = loss_of(layer, x, labels)
    layer.kernel.assign_sub(rate * tape.gradient(loss, layer.kernel))
    return float(loss)


@dataclass
class Result:
    newton: list[float]
    descent: list[float]
    hessian: np.ndarray
    gradient_norm: float


def fit(steps: int, descent_steps: int) -> Result:
    x, labels = load_data()
    layer = make_layer()
    losses = []
    for _ in range(steps):
        loss, h = newton_step(layer, x, labels)
        losses.append(loss)
    with tf.GradientTape() as tape:
        loss = loss_of(layer, x, labels)
    losses.append(float(loss))
    norm = float(tf.norm(tape.gradient(loss, layer.kernel)))
    layer = make_layer()
    return Result(losses, [descent_step(layer, x, labels, 1.0) for _ in range(descent_steps)], h, norm)


def plot(result: Result, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
    best = min(result.newton) - 1e-16
    left.semilogy(np.maximum(np.array(result.newton) - best, 1e-16), "o-", label="Newton")
    left.semilogy(np.array(result.descent) - best, label="gradient descent")
    left.set_xlabel("step")
    left.set_ylabel("loss above the minimum")
    left.legend()
    lim = np.abs(result.hessian).max()
    shown = right.imshow(result.hessian, vmin=-lim, vmax=lim, cmap="seismic")
    figure.colorbar(shown, ax=right)
    right.set_title("Hessian at the minimum")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> Result:
    parser = argparse.ArgumentParser(description="Newton's method with the tape's Hessian.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="folder for the plot")
    parser.add_argument("--steps", type=int, default=7, help="Newton steps")
    parser.add_argument("--descent-steps", type=int, default=200, help="steps of gradient descent to compare with")
    options = parser.parse_args(argv)
    result = fit(options.steps, options.descent_steps)
    print("Newton:           " + " ".join(f"{x:.6f}" for x in result.newton))
    print(f"gradient descent: {result.descent[0]:.6f} ... {result.descent[-1]:.6f} after {len(result.descent)} steps")
    print(f"norm of the gradient after Newton's steps: {result.gradient_norm:.1e}")
    options.output.mkdir(parents=True, exist_ok=True)
    plot(result, options.output / "newton_step.png")
    print(f"plot: {options.output / 'newton_step.png'}")
    return result


if __name__ == "__main__":
    main()
