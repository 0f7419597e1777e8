"""Small programs with Keras, with given weights: what is recorded from the real TensorFlow, and compared.

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
    """What a layer makes of x, and the gradients of a weighted sum of it."""
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
    "MaxPooling2D": (lambda L: L.MaxPooling2D(), (2, 4, 4, 2)),
    "AveragePooling2D": (lambda L: L.AveragePooling2D(2, strides=1, padding="same"), (2, 3, 3, 2)),
    "GlobalAveragePooling2D": (lambda L: L.GlobalAveragePooling2D(), (2, 3, 3, 2)),
    "Flatten": (lambda L: L.Flatten(), (2, 3, 2)),
    "Reshape": (lambda L: L.Reshape((3, 2)), (2, 6)),
    "Dropout at inference": (lambda L: L.Dropout(0.5), (2, 3)),
    "Activation": (lambda L: L.Activation("tanh"), (2, 3)),
    "ReLU": (lambda L: L.ReLU(), (2, 3)),
    "LeakyReLU": (lambda L: L.LeakyReLU(), (2, 3)),
    "Softmax": (lambda L: L.Softmax(), (2, 3)),
    "LayerNormalization": (lambda L: L.LayerNormalization(), (2, 3)),
    "LayerNormalization of other axes": (lambda L: L.LayerNormalization(axis=[1, 2], epsilon=0.01), (2, 3, 2)),
}

LAYERS |= {
    "SimpleRNN": (lambda L: L.SimpleRNN(3), (2, 4, 2)),
    "SimpleRNN backwards, all steps": (lambda L: L.SimpleRNN(3, "relu", return_sequences=True, go_backwards=True),
                                       (2, 4, 2)),
    "LSTM": (lambda L: L.LSTM(3), (2, 4, 2)),
    "LSTM, all steps": (lambda L: L.LSTM(2, return_sequences=True, use_bias=False), (2, 3, 2)),
    "LSTM of other activations": (lambda L: L.LSTM(2, "softsign", recurrent_activation="tanh"), (2, 3, 2)),
    "GRU": (lambda L: L.GRU(3), (2, 4, 2)),
    "GRU that resets before": (lambda L: L.GRU(2, reset_after=False, return_sequences=True), (2, 3, 2)),
    "RNN of two cells": (lambda L: L.RNN([L.LSTMCell(2), L.GRUCell(3)]), (2, 3, 2)),
    "Bidirectional LSTM": (lambda L: L.Bidirectional(L.LSTM(2)), (2, 3, 2)),
    "Bidirectional, all steps": (lambda L: L.Bidirectional(L.GRU(2, return_sequences=True), merge_mode="mul"),
                                 (2, 3, 2)),
    "Conv2DTranspose": (lambda L: L.Conv2DTranspose(3, 3, strides=2, padding="same"), (1, 3, 2, 2)),
    "Conv2DTranspose, valid": (lambda L: L.Conv2DTranspose(2, (3, 2), strides=(1, 3), activation="tanh"), (1, 2, 3, 2)),
    "Conv2DTranspose, output padding": (lambda L: L.Conv2DTranspose(2, 3, 2, "same", output_padding=1), (1, 2, 3, 1)),
    "Conv1DTranspose": (lambda L: L.Conv1DTranspose(2, 3, strides=2), (2, 3, 2)),
    "DepthwiseConv2D": (lambda L: L.DepthwiseConv2D(2, depth_multiplier=2, strides=2), (1, 4, 4, 2)),
    "SeparableConv2D": (lambda L: L.SeparableConv2D(3, 2, padding="same"), (1, 3, 3, 2)),
    "MaxPooling1D": (lambda L: L.MaxPooling1D(2), (2, 5, 2)),
    "AveragePooling1D": (lambda L: L.AveragePooling1D(3, strides=2, padding="same"), (2, 5, 2)),
    "GlobalAveragePooling1D": (lambda L: L.GlobalAveragePooling1D(), (2, 3, 2)),
    "GlobalMaxPooling1D": (lambda L: L.GlobalMaxPooling1D(), (2, 3, 2)),
    "UpSampling1D": (lambda L: L.UpSampling1D(3), (2, 2, 2)),
    "UpSampling2D": (lambda L: L.UpSampling2D((2, 3)), (1, 2, 2, 1)),
    "ZeroPadding1D": (lambda L: L.ZeroPadding1D((1, 2)), (1, 2, 2)),
    "Cropping2D": (lambda L: L.Cropping2D(((0, 1), (1, 0))), (1, 3, 3, 1)),
    "PReLU": (lambda L: L.PReLU(), (2, 3)),
    "PReLU with shared axes": (lambda L: L.PReLU(shared_axes=[1]), (2, 3, 2)),
    "GaussianNoise at inference": (lambda L: L.GaussianNoise(1.0), (2, 3)),
    "SpatialDropout1D at inference": (lambda L: L.SpatialDropout1D(0.5), (1, 2, 2)),
    "ActivityRegularization": (lambda L: L.ActivityRegularization(0.1, 0.2), (2, 3)),
    "Conv1D, causal": (lambda L: L.Conv1D(3, 2, padding="causal", dilation_rate=2), (2, 5, 2)),
    "Conv2D in groups": (lambda L: L.Conv2D(4, 2, groups=2), (1, 3, 3, 2)),
    "GroupNormalization": (lambda L: L.GroupNormalization(2), (2, 3, 4)),
    "GroupNormalization of an axis": (lambda L: L.GroupNormalization(-1, axis=1, scale=False), (2, 3, 4)),
    "Softmax of two axes": (lambda L: L.Softmax(axis=[1, 2]), (2, 3, 2)),
    "UnitNormalization": (lambda L: L.UnitNormalization(), (2, 3)),
    "RMSNormalization": (lambda L: L.RMSNormalization(epsilon=1e-3), (2, 3)),
    "EinsumDense": (lambda L: L.EinsumDense("abc,cd->abd", output_shape=(None, 4), bias_axes="d"), (2, 3, 2)),
    "EinsumDense of more axes": (
        lambda L: L.EinsumDense("abc,bde->acde", (3, 2, 4), "tanh", bias_axes="ce"), (2, 2, 3)),
    "TimeDistributed": (lambda L: L.TimeDistributed(L.Dense(2, "tanh")), (2, 3, 2)),
}  # fmt: skip

for name, (make, shape) in LAYERS.items():
    program(name)(lambda tf, make=make, shape=shape: described(tf, make(tf.keras.layers), tf.constant(numbers(*shape))))


@program("Embedding")
def _(tf: Any) -> dict[str, Any]:
    return described(tf, tf.keras.layers.Embedding(5, 2), tf.constant([[0, 3, 3], [4, 0, 1]]), watch=False)


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
            [layers.Dense(4, activation="tanh"), layers.LayerNormalization(), layers.Dense(2, activation="softmax")]
        ),
        tf.constant(numbers(3, 5)),
    )


@program("a convolutional network")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    model = tf.keras.Sequential()
    model.add(layers.Conv2D(3, 3, activation="relu", padding="same"))
    model.add(layers.MaxPooling2D(2))
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
    "AMSGrad": lambda O: O.Adam(0.1, beta_2=0.5, amsgrad=True),
    "RMSprop": lambda O: O.RMSprop(0.1),
    "RMSprop by default": lambda O: O.RMSprop(),
    "RMSprop with momentum": lambda O: O.RMSprop(0.1, rho=0.5, momentum=0.9),
    "centered RMSprop": lambda O: O.RMSprop(0.1, centered=True),
    "SGD with clipped norms": lambda O: O.SGD(0.1, clipnorm=0.5),
    "SGD with clipped values": lambda O: O.SGD(0.1, clipvalue=0.5),
    "SGD with a clipped global norm": lambda O: O.SGD(0.1, global_clipnorm=0.5),
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


# ------------------------------------------------------------------------------------------------ sequences and masks


def filled(layer: Any) -> Any:
    """The layer, with numbers for weights that it was built with."""
    layer.set_weights([numbers(*w.shape, start=5 * k + 3) * 0.5 for k, w in enumerate(layer.get_weights())])
    return layer


@program("The states of recurrent layers")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    x, out = tf.constant(numbers(2, 3, 2)), {}
    for name in ("SimpleRNN", "LSTM", "GRU"):
        layer = getattr(layers, name)(2, return_sequences=True, return_state=True)
        layer(x)
        y, *states = filled(layer)(x)
        out |= {name: y, **{f"{name} {k}": s for k, s in enumerate(states)}}
        again, *_ = layer(x, initial_state=[s * 2.0 for s in states] if len(states) > 1 else states[0] * 2.0)
        out[f"{name} from states"] = again
    layer = layers.Bidirectional(layers.LSTM(2, return_state=True))
    layer(x)
    for k, s in enumerate(filled(layer)(x)):
        out[f"Bidirectional {k}"] = s
    stateful = layers.LSTM(2, stateful=True)
    stateful(x)
    filled(stateful)
    stateful.reset_states() if hasattr(stateful, "reset_states") else stateful.reset_state()
    out["first"], out["second"] = stateful(x), stateful(x)
    return out


@program("A cell of one's own")
def _(tf: Any) -> dict[str, Any]:
    class Cell(tf.keras.layers.Layer):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = self.state_size = units

        def build(self, input_shape):
            self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", name="kernel")
            self.recurrent = self.add_weight(shape=(self.units, self.units), initializer="ones", name="recurrent")

        def call(self, inputs, states):
            output = tf.matmul(inputs, self.kernel) + 0.1 * tf.matmul(states[0], self.recurrent)
            return output, [output]

    return described(tf, tf.keras.layers.RNN(Cell(3)), tf.constant(numbers(2, 4, 2)))


@program("A loop over a cell")
def _(tf: Any) -> dict[str, Any]:
    cell, x = tf.keras.layers.LSTMCell(2), tf.constant(numbers(2, 2))
    state = [tf.zeros((2, 2)), tf.zeros((2, 2))]
    cell(x, state)
    filled(cell)
    with tf.GradientTape() as tape:
        for _ in range(3):
            x, state = cell(x, states=state)
        loss = tf.reduce_sum(x**2)
    return {"x": x, **{str(k): g for k, g in enumerate(tape.gradient(loss, cell.trainable_variables))}}


def masked(tf: Any, *layers: Any, reduction: str = "sum_over_batch_size") -> dict[str, Any]:
    """What layers after a masking embedding give, and the gradient of a loss of it."""
    ids = tf.constant([[3, 1, 4, 0, 0], [2, 0, 2, 3, 1], [0, 0, 1, 1, 0]])
    model = tf.keras.Sequential([tf.keras.layers.Embedding(5, 2, mask_zero=True), *layers])
    model(ids)
    filled(model)
    with tf.GradientTape() as tape:
        y = model(ids)
        loss = tf.keras.losses.MeanSquaredError(reduction=reduction)(numbers(*y.shape), y)
    gradients = tape.gradient(loss, model.trainable_variables)
    return {"y": y, "loss": loss, **{str(k): tf.convert_to_tensor(g) for k, g in enumerate(gradients)}}


MASKED: dict[str, Callable[[Any], list[Any]]] = {
    "Masked LSTM": lambda L: [L.LSTM(2), L.Dense(1)],
    "Masked LSTM, all steps": lambda L: [L.LSTM(2, return_sequences=True), L.Dropout(0.5), L.Dense(1, "tanh")],
    "Masked GRU, zero where masked": lambda L: [L.GRU(2, return_sequences=True, zero_output_for_mask=True)],
    "Masked recurrence backwards": lambda L: [L.SimpleRNN(2, go_backwards=True, return_sequences=True), L.Dense(1)],
    "Masked both ways": lambda L: [L.Bidirectional(L.LSTM(2, return_sequences=True)), L.GRU(2)],
    "Masked two cells": lambda L: [L.RNN([L.LSTMCell(2), L.SimpleRNNCell(2)])],
    "Masked mean": lambda L: [L.GlobalAveragePooling1D(), L.Dense(1)],
    "Masked dense": lambda L: [L.Dense(2), L.LayerNormalization()],
}
for name, parts in MASKED.items():
    program(name)(lambda tf, parts=parts: masked(tf, *parts(tf.keras.layers)))
program("Masked sum")(lambda tf: masked(tf, tf.keras.layers.Dense(2), reduction="sum"))


@program("Masks of a layer")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    x = tf.constant([[[1.0, 2.0], [0.0, 0.0], [0.0, 3.0]]])
    made = layers.Masking()(x)
    merged = layers.Concatenate()([made, layers.Masking(3.0)(x)])
    added = layers.Add()([made, layers.Masking(2.0)(x * 2.0 + 2.0)])
    return {
        "masking": layers.Masking().compute_mask(x), "x": layers.Masking(1.0)(tf.ones((1, 2, 2))),
        "embedding": layers.Embedding(5, 2, mask_zero=True).compute_mask(tf.constant([[1, 0, 2]])),
        "merged": merged._keras_mask, "added": added._keras_mask, "activation": layers.ReLU()(made)._keras_mask,
    }  # fmt: skip


@program("A model of two sequences")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    first, second = tf.keras.Input((None,)), tf.keras.Input((None,))
    _, state, carry = layers.LSTM(3, return_state=True)(layers.Embedding(5, 2)(first))
    decoded = layers.LSTM(3)(layers.Embedding(6, 2)(second), initial_state=[state, carry])
    model = tf.keras.Model([first, second], layers.Dense(2)(decoded))
    filled(model)
    y = model([tf.constant([[1, 2, 3]]), tf.constant([[4, 5, 0, 1]])])
    return {"y": y, **{f"{k}": tf.constant(w.shape) for k, w in enumerate(model.get_weights())}}
