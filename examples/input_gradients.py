"""Input-gradient regularisation: trains a network so that small changes of its inputs do not mislead it.

    python examples/input_gradients.py --output examples/output

One step along the sign of the loss's gradient by the input is the simplest way to mislead a classifier. The loss of the
second network includes the size of that gradient. So its training needs a gradient of a gradient. Both networks learn
scikit-learn's digits. Only the import line differs from code for TensorFlow.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autodiff_compiler.compat import tensorflow as tf

STRENGTHS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)


def load_data():
    """Images of 64 numbers in [0, 1] and their digits: training and test set."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = (x[order] / 16.0).astype(np.float32), y[order]
    return (x[:1200], y[:1200]), (x[1200:], y[1200:])


def make_model():
    return tf.keras.Sequential(
        [tf.keras.layers.Dense(48, activation="tanh"), tf.keras.layers.Dense(10)],
    )


def cross_entropy(model, x, y):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x))


def train(penalty: float, epochs: int, batch: int = 100, seed: int = 1):
    """A network trained on the mean cross entropy, plus `penalty` times the mean squared input gradient."""
    tf.random.set_seed(seed)
    (images, digits), _ = load_data()
    model = make_model()
    optimizer = tf.keras.optimizers.Adam(0.01)
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        order = random.permutation(len(digits))
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            x, y = tf.constant(images[rows]), tf.constant(digits[rows])
            with tf.GradientTape() as t2:
                # The inner tape only takes the gradient with respect to the input, not the variables.
                with tf.GradientTape(watch_accessed_variables=False) as t1:
                    t1.watch(x)
                    losses = cross_entropy(model, x, y)
                    loss = tf.reduce_sum(losses)
                g1 = t1.gradient(loss, x)
                total = tf.reduce_mean(losses) + penalty * tf.reduce_mean(tf.reduce_sum(g1**2, axis=1))
            gradients = t2.gradient(total, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return model


def misled(model, strength: float):
    """The accuracy on test images moved by `strength` along the sign of the loss's gradient, and these images."""
    _, (images, digits) = load_data()
    x = tf.constant(images)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(cross_entropy(model, x, digits))
    moved = x + strength * tf.sign(tape.gradient(loss, x))
    found = tf.argmax(model(moved), axis=1).numpy()
    return float(np.mean(found == digits)), moved.numpy()


@dataclass
class Result:
    plain: list[float]  # accuracies at STRENGTHS
    regularised: list[float]
    images: np.ndarray


def run(epochs: int, penalty: float) -> Result:
    plain, regularised = train(0.0, epochs), train(penalty, epochs)
    return Result(
        [misled(plain, s)[0] for s in STRENGTHS],
        [misled(regularised, s)[0] for s in STRENGTHS],
        np.stack([misled(plain, s)[1][:4] for s in (0.0, 0.1, 0.2)]),
    )


def plot(result: Result, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(3, 2))
    left.plot(STRENGTHS, result.plain, "o-", label="plain")
    left.plot(STRENGTHS, result.regularised, "o-", label="input gradient regularised")
    left.set_xlabel("change of each pixel")
    left.set_ylabel("test accuracy")
    left.set_ylim(0.0, 1.02)
    left.legend()
    framed = np.pad(result.images.reshape(3, 4, 8, 8), [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=np.nan)
    right.imshow(np.vstack([np.hstack(list(images)) for images in framed]), cmap="gray_r", vmin=0.0, vmax=1.0)
    right.set_xticks([])
    right.set_yticks([4.5, 14.5, 24.5], ["as it is", "0.1", "0.2"])
    right.set_title("misleading images")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> Result:
    parser = argparse.ArgumentParser(description="Train with and without a penalty on the input gradient.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="folder for the plot")
    parser.add_argument("--epochs", type=int, default=20, help="passes over the data")
    parser.add_argument("--penalty", type=float, default=0.5, help="weight of the mean squared input gradient")
    options = parser.parse_args(argv)
    result = run(options.epochs, options.penalty)
    for name, accuracies in (("plain", result.plain), ("regularised", result.regularised)):
        print(f"{name:12} " + "  ".join(f"{s:.2f}: {a:.3f}" for s, a in zip(STRENGTHS, accuracies)))
    options.output.mkdir(parents=True, exist_ok=True)
    plot(result, options.output / "input_gradients.png")
    print(f"plot: {options.output / 'input_gradients.png'}")
    return result


if __name__ == "__main__":
    main()
