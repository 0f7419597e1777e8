"""A small network learns scikit-learn's digits, in TensorFlow's style and in PyTorch's.

    python examples/digits.py --output examples/output

Both loops start from the same weights and take the same batches, so they end at the same accuracy. Only the import
lines differ from code for TensorFlow and PyTorch. Both use one tape.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autodiff_compiler.compat import tensorflow as tf
from autodiff_compiler.compat import torch

SIZES = (64, 48, 10)
RATE, MOMENTUM = 0.1, 0.9


def load_data():
    """Images of 64 numbers in [0, 1] and their digits: training and test set."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = (x[order] / 16.0).astype(np.float32), y[order]
    return (x[:1200], y[:1200]), (x[1200:], y[1200:])


def first_weights(seed: int = 1):
    """Kernels, of shape (inputs, outputs), and biases."""
    random = np.random.default_rng(seed)
    out = []
    for n, m in itertools.pairwise(SIZES):
        out.append((np.sqrt(2.0 / n) * random.normal(size=(n, m))).astype(np.float32))
        out.append(np.zeros(m, np.float32))
    return out


def batches(count: int, epochs: int, size: int = 60):
    """The row numbers of each batch."""
    random = np.random.default_rng(2)
    for _ in range(epochs):
        order = random.permutation(count)
        for start in range(0, count, size):
            yield order[start : start + size]


def train_tensorflow(epochs: int):
    """The losses, and the classes of the test images."""
    (images, digits), (test_images, _) = load_data()
    model = tf.keras.Sequential(
        [
            tf.keras.Input((SIZES[0],)),
            tf.keras.layers.Dense(SIZES[1], activation="relu"),
            tf.keras.layers.Dense(SIZES[2]),
        ]
    )
    model.set_weights(first_weights())
    optimizer = tf.keras.optimizers.SGD(RATE, momentum=MOMENTUM)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    losses = []
    for rows in batches(len(digits), epochs):
        x, y = tf.constant(images[rows]), tf.constant(digits[rows])
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(loss))
    return losses, tf.argmax(model(tf.constant(test_images)), axis=1).numpy()


def train_torch(epochs: int):
    """The losses, and the classes of the test images."""
    (images, digits), (test_images, _) = load_data()
    model = torch.nn.Sequential(
        torch.nn.Linear(SIZES[0], SIZES[1]), torch.nn.ReLU(), torch.nn.Linear(SIZES[1], SIZES[2])
    )
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), first_weights()):
            parameter.copy_(torch.from_numpy(value.T.copy()))  # PyTorch's kernels are (outputs, inputs)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    losses = []
    for rows in batches(len(digits), epochs):
        x, y = torch.from_numpy(images[rows]), torch.from_numpy(digits[rows])
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        return losses, model(torch.from_numpy(test_images)).argmax(dim=1).numpy()


@dataclass
class Run:
    losses: list[float]
    accuracy: float  # on the test images
    seconds: float
    found: np.ndarray


def run(train, epochs: int) -> Run:
    start = time.perf_counter()
    losses, found = train(epochs)
    seconds = time.perf_counter() - start
    _, (_, digits) = load_data()
    return Run(losses, float(np.mean(found == digits)), seconds, found)


def plot(runs: dict[str, Run], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(3, 2))
    for (name, result), style in zip(runs.items(), ("-", "--")):
        left.semilogy(result.losses, style, label=f"{name}, test accuracy {result.accuracy:.3f}")
    left.set_xlabel("step")
    left.set_ylabel("cross entropy of the batch")
    left.legend()
    _, (images, _) = load_data()
    framed = np.pad(images[:18].reshape(3, 6, 8, 8), [(0, 0), (0, 0), (3, 1), (1, 1)], constant_values=np.nan)
    right.imshow(np.vstack([np.hstack(list(row)) for row in framed]), cmap="gray_r", vmin=0.0, vmax=1.0)
    found = next(iter(runs.values())).found
    for k in range(18):
        right.text(10 * (k % 6) + 4, 12 * (k // 6) + 2, str(found[k]), color="C3", ha="center")
    right.set_axis_off()
    right.set_title("test images and what was found")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> dict[str, Run]:
    parser = argparse.ArgumentParser(description="Train a network on digits in two styles.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="folder for the plot")
    parser.add_argument("--epochs", type=int, default=30, help="passes over the data")
    options = parser.parse_args(argv)
    runs = {
        "TensorFlow style": run(train_tensorflow, options.epochs),
        "PyTorch style": run(train_torch, options.epochs),
    }
    for name, result in runs.items():
        first, last = result.losses[0], result.losses[-1]
        print(f"{name:16}  {len(result.losses)} steps, loss {first:.4f} -> {last:.4f}", end="  ")
        print(f"test accuracy {result.accuracy:.4f}  {result.seconds:.1f} s")
    options.output.mkdir(parents=True, exist_ok=True)
    plot(runs, options.output / "digits.png")
    print(f"plot: {options.output / 'digits.png'}")
    return runs


if __name__ == "__main__":
    main()
