"""Layers and losses of Keras with fixed weights and inputs, for their results and gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

ACTIVATIONS = (
    "relu elu selu gelu softplus softsign silu tanh sigmoid exponential softmax log_softmax leaky_relu relu6"
).split()
LOSSES = "MeanSquaredError BinaryCrossentropy CategoricalCrossentropy".split()
WINDOWS = [f"strides={s}, padding='{p}'" for s in (1, 2, (2, 3)) for p in ("same", "valid")]

# Each: an expression for the layer, the shape of its inputs, and what `training` is.
LAYERS: list[tuple[str, tuple[int, ...], bool | None]] = [
    *[(f"L.Dense(4, activation='{a}')", (3, 5), None) for a in ACTIVATIONS],
    ("L.Dense(4)", (2, 3, 5), None),
    ("L.Dense(4, use_bias=False)", (2, 5), None),
    *[(f"L.Conv2D(3, (3, 2), activation='tanh', {w})", (2, 7, 8, 2), None) for w in WINDOWS],
    *[("L.BatchNormalization()", (6, 3), training) for training in (True, False, None)],
    *[("L.BatchNormalization()", (2, 3, 4, 5), training) for training in (True, False)],
    ("L.Flatten()", (2, 3, 4), None),
    ("L.Activation('tanh')", (3, 2), None),
    ("K.Sequential([L.Dense(4, activation='tanh'), L.BatchNormalization(), L.Dropout(0.5), L.Dense(2)])",
     (5, 3), None),
    ("K.Sequential([L.Dense(4, activation='tanh'), L.BatchNormalization(), L.Dense(2)])", (5, 3), True),
    ("K.Sequential([L.Conv2D(4, 3, strides=2, activation='relu'), L.Flatten(), L.Dense(3)])",
     (2, 8, 8, 1), None),
]  # fmt: skip

# Each: an expression for the loss of `labels` (one-hot) and the probabilities p, of `classes` (their numbers), of
# `targets` and the numbers z.
LOSS_CALLS: list[str] = [
    *[f"K.losses.{n}(reduction='{r}')(labels, p)" for n in LOSSES for r in ("sum_over_batch_size", "sum", "none")],
    *[f"K.losses.{n}()(labels, p, sample_weight=w)" for n in LOSSES],
    "K.losses.MeanSquaredError()(targets, z)",
    "K.losses.BinaryCrossentropy(from_logits=True)(0.9 * labels + 0.05, z)",
    "K.losses.CategoricalCrossentropy(from_logits=True)(0.9 * labels + 0.1 / 3, z)",
    "K.losses.SparseCategoricalCrossentropy()(classes, p)",
    "K.losses.SparseCategoricalCrossentropy(from_logits=True)(classes[:, None], z)",
    "K.losses.BinaryCrossentropy()(tf.constant([[0.0, 1.0, 1.0]]), p[:1] - p[:1])",
    "K.losses.MeanSquaredError()(tf.constant([1.0, 2.0, 3.0, 4.0]), z[:, :1])",
    *[f"K.losses.{n}(labels, p)" for n in ("mse", "binary_crossentropy", "categorical_crossentropy")],
]  # fmt: skip


def digest(x: Any) -> list[Any]:
    """An array's dtype, shape, norm, and sum with weights that tell its elements apart."""
    a = np.asarray(x)
    flat = a.astype(np.float64).ravel()
    return [str(a.dtype), list(a.shape), float(np.sqrt(flat @ flat)), float(flat @ np.cos(1.0 + np.arange(flat.size)))]


def of_layer(tf: ModuleType, expression: str, shape: tuple[int, ...], training: bool | None) -> dict[str, Any]:
    random = np.random.default_rng(0)
    x = tf.constant(random.normal(size=shape).astype(np.float32))
    layer = eval(expression, {"K": tf.keras, "L": tf.keras.layers})
    layer(x)
    layer.set_weights([(np.abs(random.normal(size=w.shape)) + 0.1).astype(np.float32) for w in layer.get_weights()])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = layer(x) if training is None else layer(x, training=training)
        weight = tf.constant(random.normal(size=y.shape).astype(np.float32))
        total = tf.reduce_sum(y * weight)
    by_weights = tape.gradient(total, layer.trainable_variables)
    return {
        "result": digest(y),
        "by input": digest(tape.gradient(total, x)),
        "weights": [v.path.rsplit("/", 1)[-1] for v in layer.weights],
        "by weights": [digest(g) for g in by_weights],
        "weights after": [digest(w) for w in layer.get_weights()],
    }


def inputs(tf: ModuleType) -> dict[str, Any]:
    random = np.random.default_rng(5)
    return {
        "tf": tf,
        "K": tf.keras,
        "labels": tf.constant(np.eye(3, dtype=np.float32)[[0, 2, 1, 1]]),
        "classes": tf.constant([0, 2, 1, 1]),
        "p": tf.constant(random.uniform(0.05, 1.0, size=(4, 3)).astype(np.float32)),
        "z": tf.constant(3.0 * random.normal(size=(4, 3)).astype(np.float32)),
        "targets": tf.constant(random.normal(size=(4, 3)).astype(np.float32)),
        "w": tf.constant([1.0, 0.5, 0.0, 2.0]),
    }


def of_loss(tf: ModuleType, expression: str) -> dict[str, Any]:
    names = inputs(tf)
    with tf.GradientTape() as tape:
        tape.watch([names["p"], names["z"]])
        value = eval(expression, names)
    by_p, by_z = tape.gradient(value, [names["p"], names["z"]])
    return {"value": digest(value), "gradient": digest(by_z if by_p is None else by_p)}


def all_cases() -> dict[str, tuple[Any, ...]]:
    """For each case: which function here, and its arguments."""
    cases: dict[str, tuple[Any, ...]] = {}
    for expression, shape, training in LAYERS:
        cases[f"{expression} {shape}" + ("" if training is None else f" {training}")] = (
            of_layer, expression, shape, training
        )  # fmt: skip
    cases.update({expression: (of_loss, expression) for expression in LOSS_CALLS})
    return cases
