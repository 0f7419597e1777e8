"""The pictures of TensorFlow's guides on automatic differentiation, drawn with the compiler's tape.

    python examples/tape_plots.py --output examples/output

There are three pictures. The first shows a function with its derivative. The second shows the Jacobian of two layers
over a batch: its (batch, batch) slices are diagonal, unless a batch normalisation makes the rows of the batch depend on
each other. The third shows the Hessian of a loss by a layer's kernel. Only the import line differs from code for
TensorFlow.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autodiff_compiler.compat import tensorflow as tf


def sigmoid_and_derivative():
    """The sigmoid at 201 points and its derivative there: the Jacobian by one shift of all points."""
    x = tf.linspace(-10.0, 10.0, 200 + 1)
    delta = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.nn.sigmoid(x + delta)
    return x, y, tape.jacobian(y, delta)


def batch_jacobians(normalise: bool):
    """The Jacobian of two layers by their inputs, of shape (batch, outputs, batch, inputs), and the result of
    `batch_jacobian`, of shape (batch, outputs, inputs)."""
    x = tf.random.normal([7, 5])
    layer1 = tf.keras.layers.Dense(8, activation=tf.nn.elu)
    bn = tf.keras.layers.BatchNormalization()
    layer2 = tf.keras.layers.Dense(6, activation=tf.nn.elu)
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = layer1(x)
        if normalise:
            y = bn(y, training=True)
        y = layer2(y)
    return tape.jacobian(y, x), tape.batch_jacobian(y, x)


def hessian():
    """The Hessian of a loss by the first layer's kernel, as a matrix."""
    x = tf.random.normal([7, 5])
    layer1 = tf.keras.layers.Dense(8, activation=tf.nn.relu)
    layer2 = tf.keras.layers.Dense(6, activation=tf.nn.relu)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            loss = tf.reduce_mean(layer2(layer1(x)) ** 2)
        g = t1.gradient(loss, layer1.kernel)
    h = t2.jacobian(g, layer1.kernel)
    n = tf.reduce_prod(layer1.kernel.shape)
    return tf.reshape(h, [n, n])


def as_patches(j):
    """The Jacobian as one image. Each output and input have a (batch, batch) patch, with a line around it."""
    j = tf.transpose(j, [1, 0, 3, 2])
    lim = tf.reduce_max(abs(j))
    j = tf.pad(j, [[0, 0], [1, 1], [0, 0], [1, 1]], constant_values=-lim)
    s = j.shape
    return tf.reshape(j, [s[0] * s[1], s[2] * s[3]])


@dataclass
class Result:
    derivative_error: float  # of the sigmoid
    off_diagonal: float  # the largest element of the Jacobian between different rows of the batch
    off_diagonal_normalised: float  # the same with a batch normalisation
    batch_jacobian_error: float
    hessian: np.ndarray


def compute(seed: int = 3):
    tf.random.set_seed(seed)
    x, y, dy_dx = sigmoid_and_derivative()
    plain, by_row = batch_jacobians(normalise=False)
    mixed, _ = batch_jacobians(normalise=True)
    h = hessian()
    between = 1.0 - np.eye(7)[:, None, :, None]
    exact = y.numpy() * (1.0 - y.numpy())
    result = Result(
        float(np.abs(dy_dx.numpy() - exact).max()),
        float(np.abs(plain.numpy() * between).max()),
        float(np.abs(mixed.numpy() * between).max()),
        float(tf.reduce_max(abs(tf.einsum("bxby->bxy", plain) - by_row))),
        h.numpy(),
    )
    return result, (x, y, dy_dx), (plain, mixed), h


def plot(curves, jacobians, h, folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def imshow_zero_center(axes, image, **kwargs):
        lim = tf.reduce_max(abs(image))
        shown = axes.imshow(image, vmin=-lim, vmax=lim, cmap="seismic", **kwargs)
        axes.figure.colorbar(shown, ax=axes, shrink=0.8)

    x, y, dy_dx = curves
    figure, axes = plt.subplots(figsize=(6, 4))
    axes.plot(x, y, label="y")
    axes.plot(x, dy_dx, label="dy/dx")
    axes.legend()
    axes.set_xlabel("x")
    figure.tight_layout()
    figure.savefig(folder / "sigmoid.png", dpi=120)

    figure, both = plt.subplots(1, 2, figsize=(11, 5))
    titles = ("All (batch, batch) slices are diagonal", "With batch normalisation they are not")
    for axes, j, title in zip(both, jacobians, titles):
        s = [n + 2 * (k in (0, 2)) for k, n in enumerate(j.shape)]
        imshow_zero_center(axes, as_patches(j), extent=[-0.5, s[3] - 0.5, s[1] - 0.5, -0.5])
        axes.set_title(title)
        axes.set_xlabel("input")
        axes.set_ylabel("output")
    figure.tight_layout()
    figure.savefig(folder / "jacobian_patches.png", dpi=120)

    figure, axes = plt.subplots(figsize=(6, 5))
    imshow_zero_center(axes, h)
    axes.set_title("Hessian of a loss by the kernel of a layer")
    figure.tight_layout()
    figure.savefig(folder / "hessian.png", dpi=120)
    plt.close("all")


def main(argv: list[str] | None = None) -> Result:
    parser = argparse.ArgumentParser(description="Draw a derivative, Jacobians and a Hessian.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="folder for the plots")
    options = parser.parse_args(argv)
    result, curves, jacobians, h = compute()
    print(f"derivative of the sigmoid: error {result.derivative_error:.1e}")
    print(f"Jacobian between rows of the batch: {result.off_diagonal:.1e}, ", end="")
    print(f"with batch normalisation {result.off_diagonal_normalised:.2f}")
    print(f"Hessian: asymmetry {np.abs(result.hessian - result.hessian.T).max():.1e}")
    options.output.mkdir(parents=True, exist_ok=True)
    plot(curves, jacobians, h, options.output)
    print("plots: " + ", ".join(str(options.output / f"{n}.png") for n in ("sigmoid", "jacobian_patches", "hessian")))
    return result


if __name__ == "__main__":
    main()
