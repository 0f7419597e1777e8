"""Small programs with Keras and given weights. Their results on the real TensorFlow are recorded, and compared.

Each takes `tf` and returns tensors (variables, None) by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any], dict[str, Any]]
PROGRAMS: dict[str, Program] = {}


def numbers(*shape: int, start: int = 1) -> np.ndarray:
    """Numbers between -1 and 1 without a pattern."""
    return np.sin(np.arange(start, start + np.prod(shape, dtype=int)) * 1.7).round(3).reshape(shape).astype(np.float32)


def program(name: str) -> Callable[[Program], Program]:
    def add(function: Program) -> Program:
        PROGRAMS[name] = function
        return function

    return add


def own_name(variable: Any) -> str:
    """Without the name of the layer: Keras 3 has that in `path` alone, ours in `name` too."""
    return str(getattr(variable, "path", variable.name)).rsplit("/", 1)[-1].removesuffix(":0")


def described(tf: Any, layer: Any, x: Any, watch: bool = True, **arguments: Any) -> dict[str, Any]:
    """The output of a layer for x, and the gradients of a weighted sum of it."""
    layer(x, **arguments)
    weights = layer.get_weights()
    layer.set_weights(
        [
            w if w.dtype.kind != "f" else numbers(*w.shape, start=7 * k + 3) + 0.2 * (w.ndim == 1)
            for k, w in enumerate(weights)
        ]
    )
    with tf.GradientTape() as tape:
        if watch:
            tape.watch(x)
        y = layer(x, **arguments)
        total = tf.reduce_sum(y * numbers(*y.shape, start=11))
    sources = [x, *layer.trainable_variables] if watch else list(layer.trainable_variables)
    gradients = [None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(total, sources)]
    names = (["x"] if watch else []) + [f"{k} {own_name(v)}" for k, v in enumerate(layer.trainable_variables)]
    return {"y": y, **{f"by {name}": gradient for name, gradient in zip(names, gradients)}}


ACTIVATIONS = [
    "linear",
    "relu",
    "elu",
    "sigmoid",
    "tanh",
    "softmax",
    "softplus",
    "selu",
    "gelu",
    "swish",
    "leaky_relu",
    "exponential",
]

for activation in ACTIVATIONS:
    program(f"Dense with {activation}")(
        lambda tf, activation=activation: described(
            tf, tf.keras.layers.Dense(3, activation=activation), tf.constant(numbers(4, 2))
        )
    )

LAYERS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "Dense without bias": (lambda L: L.Dense(3, use_bias=False), (4, 2)),
    "Dense of a higher rank": (lambda L: L.Dense(3), (2, 3, 2)),
    "Conv2D": (lambda L: L.Conv2D(3, 2), (2, 4, 5, 2)),
    "Conv2D same, strides": (lambda L: L.Conv2D(3, (3, 2), strides=2, padding="same", activation="relu"), (2, 5, 4, 2)),
    "Flatten": (lambda L: L.Flatten(), (2, 3, 2)),
    "Dropout at inference": (lambda L: L.Dropout(0.5), (2, 3)),
    "Activation": (lambda L: L.Activation("tanh"), (2, 3)),
    "ReLU": (lambda L: L.ReLU(), (2, 3)),
}


for name, (make, shape) in LAYERS.items():
    program(name)(lambda tf, make=make, shape=shape: described(tf, make(tf.keras.layers), tf.constant(numbers(*shape))))


@program("BatchNormalization in training")
def _(tf: Any) -> dict[str, Any]:
    layer, x = tf.keras.layers.BatchNormalization(), tf.constant(numbers(5, 3))
    layer(x)
    layer.set_weights([numbers(3), numbers(3, start=9), numbers(3, start=4), np.array([1.0, 0.5, 2.0])])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x, training=True)
        total = tf.reduce_sum(y * numbers(5, 3, start=11))
    by_x, by_gamma, by_beta = tape.gradient(total, [x, layer.gamma, layer.beta])
    layer(x * 2.0, training=True)
    return {
        "y": y, "by x": by_x, "by gamma": by_gamma, "by beta": by_beta,
        "moving mean": layer.moving_mean, "moving variance": layer.moving_variance,
        "inference": layer(x, training=False),
    }  # fmt: skip


@program("BatchNormalization of images at inference")
def _(tf: Any) -> dict[str, Any]:
    layer, x = tf.keras.layers.BatchNormalization(momentum=0.8, epsilon=0.1), tf.constant(numbers(2, 3, 3, 2))
    before = layer(x)
    trained = layer(x, training=True)
    moved = {"mean": layer.moving_mean, "variance": layer.moving_variance}
    return {"before": before, "trained": trained, **moved, "after": layer(x)}


@program("Sequential")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    return described(
        tf,
        tf.keras.Sequential(
            [layers.Dense(4, activation="tanh"), layers.BatchNormalization(), layers.Dense(2, activation="softmax")]
        ),
        tf.constant(numbers(3, 5)),
    )


@program("a convolutional network")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    model = tf.keras.Sequential()
    model.add(layers.Conv2D(3, 3, strides=2, activation="relu", padding="same"))
    model.add(layers.Flatten())
    model.add(layers.Dense(2))
    return described(tf, model, tf.constant(numbers(2, 4, 4, 1)))


@program("a subclass of Model")
def _(tf: Any) -> dict[str, Any]:
    class Network(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = tf.keras.layers.Dense(4, activation="relu")
            self.norm = tf.keras.layers.BatchNormalization()
            self.dropout = tf.keras.layers.Dropout(0.5)
            self.out = tf.keras.layers.Dense(2)

        def call(self, x, training=False):
            x = self.norm(self.hidden(x), training=training)
            return self.out(self.dropout(x, training=training))

    return described(tf, Network(), tf.constant(numbers(3, 5)))


@program("a layer of one's own")
def _(tf: Any) -> dict[str, Any]:
    class Scale(tf.keras.layers.Layer):
        def __init__(self, units, **arguments):
            super().__init__(**arguments)
            self.units = units

        def build(self, input_shape):
            self.w = self.add_weight(
                shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True, name="w"
            )
            self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True, name="b")

        def call(self, inputs):
            return tf.matmul(inputs, self.w) + self.b

    return described(tf, tf.keras.Sequential([Scale(3), tf.keras.layers.ReLU(), Scale(1)]), tf.constant(numbers(3, 2)))


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda O: O.SGD(0.1),
    "SGD by default": lambda O: O.SGD(),
    "SGD with momentum": lambda O: O.SGD(learning_rate=0.1, momentum=0.9),
    "SGD with Nesterov's momentum": lambda O: O.SGD(learning_rate=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda O: O.Adam(0.1),
    "Adam by default": lambda O: O.Adam(),
    "Adam with other decays": lambda O: O.Adam(0.1, beta_1=0.5, beta_2=0.9, epsilon=0.01),
}


def optimized(tf: Any, optimizer: Any, steps: int = 3) -> dict[str, Any]:
    """Two variables after each of some steps on a function that has no minimum where they start."""
    v, w = tf.Variable([1.0, -2.0]), tf.Variable(0.5)
    after: dict[str, Any] = {}
    for step in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v**4) / 4 + w * tf.reduce_sum(v) + (w - 3.0) ** 2
        optimizer.apply_gradients(zip(tape.gradient(loss, [v, w]), [v, w]))
        after[f"v after {step + 1}"], after[f"w after {step + 1}"] = v + 0.0, w + 0.0
    after["iterations"] = tf.convert_to_tensor(optimizer.iterations)
    return after


for name, make_optimizer in OPTIMIZERS.items():
    program(f"optimizer {name}")(lambda tf, make=make_optimizer: optimized(tf, make(tf.keras.optimizers)))


@program("an optimizer whose learning rate changes")
def _(tf: Any) -> dict[str, Any]:
    optimizer, v, seen = tf.keras.optimizers.SGD(0.1), tf.Variable([1.0, 2.0]), {}
    for step, rate in enumerate([0.1, 0.5, 0.01]):
        optimizer.learning_rate = rate
        optimizer.apply_gradients([(2.0 * v, v)])
        seen[f"v after {step + 1}"] = v + 0.0
    return seen


@program("training a model")
def _(tf: Any) -> dict[str, Any]:
    model = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(3)])
    x, labels = tf.constant(numbers(8, 4)), tf.constant([0, 1, 2, 0, 1, 2, 0, 1])
    model(x)
    model.set_weights([numbers(*w.shape, start=5 * k) for k, w in enumerate(model.get_weights())])
    loss_function = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(0.05)
    losses = []
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = loss_function(labels, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(loss)
    return {"losses": tf.stack(losses), **{f"weight {k}": tf.constant(w) for k, w in enumerate(model.get_weights())}}


@program("clipping gradients")
def _(tf: Any) -> dict[str, Any]:
    a, b = tf.constant([3.0, 4.0]), tf.constant([[12.0]])
    (ca, cb), norm = tf.clip_by_global_norm([a, b], 6.5)
    (da, db), _ = tf.clip_by_global_norm([a, b], 100.0)
    return {"a": ca, "b": cb, "norm": norm, "a whole": da, "b whole": db, "global norm": tf.linalg.global_norm([a, b])}


@program("Optimizers of float64")
def _(tf: Any) -> dict[str, Any]:
    out = {}
    optimizers = tf.keras.optimizers
    for optimizer in (optimizers.Adam(0.05), optimizers.SGD(0.05, momentum=0.9, nesterov=True)):
        v = tf.Variable(np.array([0.5, -1.0]))
        for k in range(4):
            optimizer.apply_gradients([(tf.constant([1.0 + k, -200.0 * k], tf.float64), v)])
        out[type(optimizer).__name__] = tf.convert_to_tensor(v)
    return out


@program("Pseudo-inverses")
def _(tf: Any) -> dict[str, Any]:
    out = {}
    deficient = np.sin(np.arange(1, 13) * 1.7).reshape(3, 4)  # of rank 2
    for name, value, rcond in (
        ("deficient", deficient, None), ("full", deficient + np.eye(3, 4), None),
        ("cut", deficient + np.eye(3, 4), 0.5),
        ("several", numbers(2, 3, 2), None),
    ):  # fmt: skip
        x = tf.Variable(value.astype(np.float32 if name == "deficient" else np.float64))
        with tf.GradientTape() as tape:
            y = tf.linalg.pinv(x) if rcond is None else tf.linalg.pinv(x, rcond=rcond)
            loss = tf.reduce_sum(y * numbers(*y.shape, start=4))
        out |= {name: y, f"{name} gradient": tape.gradient(loss, x)}
    return out


@program("A Gaussian process")
def _(tf: Any) -> dict[str, Any]:
    x = np.sin(np.arange(12) * 1.7)[:, None]
    y = np.sin(3 * x)
    variables = [tf.Variable(v, dtype=tf.float64) for v in (0.5, 1.0, 0.1)]
    optimizer, out = tf.keras.optimizers.Adam(0.05), {}
    for k in range(3):
        with tf.GradientTape() as tape:
            length, height, noise = variables
            distances = tf.reduce_sum((x[:, None] - x[None]) ** 2, -1)
            kernel = height**2 * tf.exp(-0.5 * distances / length**2) + noise**2 * tf.eye(12, dtype=tf.float64)
            factor = tf.linalg.cholesky(kernel)
            solved = tf.linalg.cholesky_solve(factor, tf.constant(y))
            loss = 0.5 * tf.reduce_sum(y * solved) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))
        out |= {f"loss {k}": loss, **{f"{k} {j}": g for j, g in enumerate(gradients)}}
    return out
