"""Programs as TensorFlow's guides have them, with given weights, data and random numbers: see `tf_models`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.compat.tf_models import filled, numbers, program


def line(tf: Any, units: int = 1, activation: Any = None, inputs: int = 3) -> Any:
    layers = tf.keras.layers
    return filled(tf.keras.Sequential([tf.keras.Input((inputs,)), layers.Dense(units, activation)]))


def as_tensors(tf: Any, history: Any) -> dict[str, Any]:
    return {name: tf.constant(values, tf.float32) for name, values in history.history.items()}


X, Y = numbers(24, 3), numbers(24, 1, start=40)
LABELS = np.arange(24) * 7 % 3


# ------------------------------------------------------------------------------------- customizing what happens in fit


@program("A training step of one's own")
def _(tf: Any) -> dict[str, Any]:
    class Model(tf.keras.Model):
        def train_step(self, data):
            x, y, weight = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred, sample_weight=weight)
            variables = self.trainable_variables
            self.optimizer.apply(tape.gradient(loss, variables), variables)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred, sample_weight=weight)
            return {m.name: m.result() for m in self.metrics}

    inputs = tf.keras.Input((3,))
    model = filled(Model(inputs, tf.keras.layers.Dense(1)(inputs)))
    model.compile("adam", "mse", metrics=["mae"], weighted_metrics=["mse"])
    weights = np.abs(numbers(24))
    history = model.fit(X, Y, sample_weight=weights, epochs=3, batch_size=8, shuffle=False, verbose=0)
    return as_tensors(tf, history)


@program("Metrics among a model's attributes")
def _(tf: Any) -> dict[str, Any]:
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1)
            self.tracker = tf.keras.metrics.Mean(name="loss")
            self.mae = tf.keras.metrics.MeanAbsoluteError(name="mae")

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = tf.reduce_mean((y - y_pred) ** 2)
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            self.tracker.update_state(loss)
            self.mae.update_state(y, y_pred)
            return {"loss": self.tracker.result(), "mae": self.mae.result()}

        @property
        def metrics(self):
            return [self.tracker, self.mae]

    model = Model()
    model(X)
    filled(model)
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1))
    return as_tensors(tf, model.fit(X, Y, epochs=2, batch_size=10, shuffle=False, verbose=0))


@program("Weights of classes, weighted metrics")
def _(tf: Any) -> dict[str, Any]:
    model = line(tf, 3, "softmax")
    model.compile(
        tf.keras.optimizers.RMSprop(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"],
        weighted_metrics=["accuracy", "sparse_categorical_crossentropy"],
    )  # fmt: skip
    history = model.fit(
        X, LABELS, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, epochs=2, batch_size=7, shuffle=False, verbose=0
    )  # fmt: skip
    numbers_of = model.evaluate(X, LABELS, sample_weight=np.abs(numbers(24)), verbose=0)
    return {**as_tensors(tf, history), "evaluate": tf.constant(numbers_of, tf.float32)}


def two_outputs(tf: Any, structure: Any) -> Any:
    layers = tf.keras.layers
    first, second = tf.keras.Input((3,), name="first"), tf.keras.Input((2,), name="second")
    x = layers.concatenate([layers.Dense(4, activation="tanh")(first), second])
    outputs = [layers.Dense(1, name="price")(x), layers.Dense(2, activation="softmax", name="kind")(x)]
    return filled(tf.keras.Model([first, second], structure(outputs)))


TWO = {"first": X, "second": numbers(24, 2, start=9)}
TARGETS = {"price": Y, "kind": np.eye(2, dtype=np.float32)[LABELS % 2]}


@program("Two outputs in a mapping")
def _(tf: Any) -> dict[str, Any]:
    model = two_outputs(tf, lambda outputs: {"price": outputs[0], "kind": outputs[1]})
    model.compile(
        tf.keras.optimizers.Adam(0.01), loss={"price": "mse", "kind": tf.keras.losses.CategoricalCrossentropy()},
        loss_weights={"price": 1.0, "kind": 0.2}, metrics={"price": ["mae"], "kind": ["accuracy"]},
    )  # fmt: skip
    history = model.fit(TWO, TARGETS, epochs=2, batch_size=8, shuffle=False, verbose=0)
    numbers_of = model.evaluate(TWO, TARGETS, verbose=0, return_dict=True)
    predicted = model.predict(TWO, verbose=0)
    return {
        **as_tensors(tf, history), "evaluate": tf.constant([numbers_of[k] for k in sorted(numbers_of)], tf.float32),
        "price": tf.constant(predicted["price"]), "kind": tf.constant(predicted["kind"]),
    }  # fmt: skip


@program("Two outputs in a list")
def _(tf: Any) -> dict[str, Any]:
    model = two_outputs(tf, list)
    model.compile("sgd", loss=["mae", "categorical_crossentropy"], loss_weights=[0.5, 2.0])
    targets = [TARGETS["price"], TARGETS["kind"]]
    history = model.fit([TWO["first"], TWO["second"]], targets, epochs=2, shuffle=False, verbose=0)
    return as_tensors(tf, history)


@program("Steps of an epoch")
def _(tf: Any) -> dict[str, Any]:
    model = line(tf)
    model.compile("sgd", "mse")
    endless = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5).repeat()
    history = model.fit(
        endless, epochs=4, steps_per_epoch=3, verbose=0, validation_data=endless, validation_steps=2, validation_freq=2
    )
    return as_tensors(tf, history)


@program("One batch at a time")
def _(tf: Any) -> dict[str, Any]:
    model = line(tf)
    model.compile("sgd", "mse", metrics=["mae"])
    first = model.train_on_batch(X[:4], Y[:4])
    second = model.train_on_batch(X[4:8], Y[4:8], return_dict=True)
    tested = model.test_on_batch(X, Y)
    out = [*first, second["loss"], second["mae"], *tested]
    return {"numbers": tf.constant(out, tf.float32), "predicted": tf.constant(model.predict_on_batch(X[:2]))}


# ------------------------------------------------------------------------------------------------------------ callbacks


@program("Early stopping and a plateau")
def _(tf: Any) -> dict[str, Any]:
    callbacks = tf.keras.callbacks
    model = line(tf)
    model.compile(tf.keras.optimizers.Adam(0.6), "mse")
    early = callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True)
    plateau = callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=1, min_lr=0.01)
    history = model.fit(
        X, Y, batch_size=8, epochs=30, verbose=0, shuffle=False, validation_split=0.25, callbacks=[early, plateau]
    )
    return {**as_tensors(tf, history), "kernel": tf.constant(model.get_weights()[0])}


@program("A scheduled learning rate")
def _(tf: Any) -> dict[str, Any]:
    model = line(tf)
    model.compile(tf.keras.optimizers.SGD(0.3), "mse")
    halve = tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5 if epoch else rate)
    return as_tensors(tf, model.fit(X, Y, epochs=4, verbose=0, shuffle=False, callbacks=[halve]))


# ----------------------------------------------------------------------------------------------------------- optimizers


def steps(tf: Any, optimizer: Any, count: int = 5) -> dict[str, Any]:
    v = tf.Variable(numbers(2, 3))
    for k in range(count):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v**4 + v * numbers(2, 3, start=3 * k))
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    return {"v": tf.convert_to_tensor(v), "iterations": tf.cast(optimizer.iterations, tf.int64)}


program("Gradients of several steps together")(
    lambda tf: steps(tf, tf.keras.optimizers.Adam(0.1, gradient_accumulation_steps=2))
)


@program("A moving average of the variables")
def _(tf: Any) -> dict[str, Any]:
    often = steps(tf, tf.keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=2))
    model = line(tf)
    model.compile(tf.keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5), "mse")
    model.fit(X, Y, epochs=3, shuffle=False, verbose=0)
    return {**often, "kernel": tf.constant(model.get_weights()[0])}


for name in ("Adadelta", "Nadam", "Lion", "Ftrl"):
    program(name)(lambda tf, name=name: steps(tf, getattr(tf.keras.optimizers, name)(0.1)))
program("Ftrl with penalties")(
    lambda tf: steps(tf, tf.keras.optimizers.Ftrl(0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.2,
                                                  l2_shrinkage_regularization_strength=0.05, beta=0.1))
)  # fmt: skip


@program("Optimizers of float64")
def _(tf: Any) -> dict[str, Any]:
    out = {}
    optimizers = tf.keras.optimizers
    for optimizer in (
        optimizers.Adam(0.05), optimizers.AdamW(0.05, weight_decay=0.1), optimizers.Adamax(0.05),
        optimizers.SGD(0.05, momentum=0.9, nesterov=True), optimizers.RMSprop(0.05, momentum=0.9),
        optimizers.Nadam(0.05), optimizers.Lion(0.05), optimizers.Adagrad(0.05), optimizers.Adadelta(0.5),
    ):  # fmt: skip
        v = tf.Variable(np.array([0.5, -1.0]))
        for k in range(4):
            optimizer.apply_gradients([(tf.constant([1.0 + k, -200.0 * k], tf.float64), v)])
        out[type(optimizer).__name__] = tf.convert_to_tensor(v)
    return out


@program("Restarts of a cosine")
def _(tf: Any) -> dict[str, Any]:
    schedules = tf.keras.optimizers.schedules
    made = {
        "doubled": schedules.CosineDecayRestarts(0.1, 5),
        "equal": schedules.CosineDecayRestarts(0.1, 5, t_mul=1.0, m_mul=0.8, alpha=0.1),
    }
    return {name: tf.stack([s(k) for k in (0, 3, 6, 11, 34)]) for name, s in made.items()}


# ------------------------------------------------------------------------------------------------------- linear algebra


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


# ------------------------------------------------------------------------------------------------------------ attention


def attended(tf: Any, layer: Any, x: Any, **arguments: Any) -> dict[str, Any]:
    layer(*x, **arguments)
    filled(layer)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(*x, **arguments)
        loss = sum(tf.reduce_sum(part**2) for part in (y if isinstance(y, tuple) else [y]))
    sources = [*tape.watched_variables(), *x]
    return {
        **{f"y {k}": part for k, part in enumerate(y if isinstance(y, tuple) else [y])},
        **{str(k): g for k, g in enumerate(tape.gradient(loss, sources))},
    }


@program("Attention of several heads")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    query, value = tf.constant(numbers(2, 4, 3)), tf.constant(numbers(2, 5, 6, start=7))
    out = attended(tf, layers.MultiHeadAttention(2, 3), [query, query])
    out |= attended(tf, layers.MultiHeadAttention(2, 3, value_dim=4, output_shape=5), [query, value])
    seen = np.array([[[True, True, False, True, False]] * 4, [[False, True, True, True, True]] * 4])
    masked = attended(
        tf, layers.MultiHeadAttention(1, 2, use_bias=False), [query, value], attention_mask=tf.constant(seen),
        return_attention_scores=True,
    )  # fmt: skip
    causal = attended(tf, layers.MultiHeadAttention(2, 2), [query, query], use_causal_mask=True)
    ids = tf.constant([[1, 2, 0, 0], [3, 0, 0, 0]])
    embedded = layers.Embedding(4, 3, mask_zero=True)
    embedded(ids)
    filled(embedded)
    own = layers.MultiHeadAttention(1, 3)
    own(embedded(ids), embedded(ids))
    filled(own)
    return {
        **out, **{f"masked {k}": v for k, v in masked.items()}, **{f"causal {k}": v for k, v in causal.items()},
        "embedded": own(embedded(ids), embedded(ids))[:, :1],
    }  # fmt: skip


@program("Attention of lists")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    query, value = tf.constant(numbers(2, 3, 4)), tf.constant(numbers(2, 5, 4, start=7))
    mask = [tf.constant([[True, False, True]] * 2), tf.constant([[True, True, False, True, False]] * 2)]
    out = {}
    for name, layer, given in (
        ("dot", layers.Attention(), {}), ("scaled", layers.Attention(use_scale=True), {"use_causal_mask": True}),
        ("concat", layers.Attention(score_mode="concat"), {"mask": mask}), ("sum", layers.AdditiveAttention(), {}),
    ):  # fmt: skip
        layer([query, value], **given)
        if layer.weights:
            layer.set_weights([numbers(*w.shape, start=2) + 0.5 for w in layer.get_weights()])
        with tf.GradientTape() as tape:
            tape.watch([query, value])
            y, scores = layer([query, value], return_attention_scores=True, **given)
        gradients = tape.gradient(tf.reduce_sum(y**2), [query, value, *layer.trainable_variables])
        out |= {f"{name} y": y, f"{name} scores": scores, **{f"{name} {k}": g for k, g in enumerate(gradients)}}
    return out


# -------------------------------------------------------------------------------------------------------- preprocessing


@program("Normalization")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    data = numbers(20, 3) * 3 + 5
    layer = layers.Normalization()
    layer.adapt(data)
    single = layers.Normalization(axis=None)
    single.adapt(data[:, 0])
    given = layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 1.0, 9.0])
    back = layers.Normalization(axis=-1, invert=True)
    back.adapt(tf.data.Dataset.from_tensor_slices(data).batch(6))
    model = tf.keras.Sequential([layer, layers.Dense(1)])
    model(data)
    model.layers[1].set_weights([numbers(3, 1), numbers(1)])
    model.compile(tf.keras.optimizers.Adam(0.1), "mae")
    history = model.fit(data, data[:, :1], epochs=3, shuffle=False, verbose=0, validation_split=0.2)
    return {
        "mean": layer.mean, "variance": layer.variance, "y": layer(data[:4]), "single": single(data[:4]),
        "given": given(data[:4]), "back": back(data[:4]), **as_tensors(tf, history),
    }  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- functional


@program("Images of any size")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [tf.keras.Input((None, None, 1)), layers.Conv2D(2, 5, strides=2), layers.MaxPooling2D()]
    )
    filled(model)
    shapes = [0 if n is None else n for n in model.output_shape]
    return {"y": model(numbers(1, 11, 13, 1)), "shape": tf.constant(shapes)}


@program("Results inside a model")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    base = tf.keras.Sequential(
        [tf.keras.Input((6, 6, 2)), layers.Conv2D(2, 3, name="a"), layers.Conv2D(2, 2, name="b")]
    )
    filled(base)
    inside = tf.keras.Model(base.inputs, [base.get_layer(name).output for name in ("a", "b")])
    image = tf.constant(numbers(1, 6, 6, 2))
    with tf.GradientTape() as tape:
        tape.watch(image)
        found = inside(image)
        loss = tf.add_n([tf.reduce_mean(x**2) for x in found])
    return {"a": found[0], "b": found[1], "gradient": tape.gradient(loss, image)}


@program("Branches that meet")
def _(tf: Any) -> dict[str, Any]:
    layers = tf.keras.layers
    inputs = tf.keras.Input((4,))
    short = layers.Dense(3)(inputs)
    long = layers.Dense(3)(layers.Dense(2, activation="relu")(layers.Dense(5, activation="tanh")(inputs)))
    model = filled(tf.keras.Model(inputs, layers.Dense(1)(layers.add([long, short]))))
    shapes = [tf.constant(w.shape) for w in model.get_weights()]
    return {"y": model(numbers(3, 4)), **{str(k): s for k, s in enumerate(shapes)}}


@program("Operations of keras.ops on symbolic tensors")
def _(tf: Any) -> dict[str, Any]:
    ops, layers = tf.keras.ops, tf.keras.layers
    x = tf.keras.Input((2, 3))
    pooled = ops.concatenate([ops.mean(x, axis=1), ops.max(x, axis=1)], axis=-1)
    model = filled(tf.keras.Model(x, layers.Dense(2)(ops.tanh(pooled))))
    value = tf.constant(numbers(4, 2, 3))
    with tf.GradientTape() as tape:
        tape.watch(value)
        y = model(value)
    eager = ops.sum(ops.square(value), axis=(0, 2)) + ops.arange(2.0)
    return {"y": y, "gradient": tape.gradient(y, value), "eager": eager, "flip": ops.flip(value, axis=1)}


# --------------------------------------------------------------------------------------------------- metrics and losses

TRUE = np.array([0, 1, 1, 0, 1, 0, 1, 1])
PREDICTED = np.array([0.2, 0.7, 0.4, 0.6, 0.9, 0.1, 0.55, 0.5], np.float32)
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 0.25, 1.0], np.float32)
ROWS = np.abs(numbers(6, 3))
CLASSES = np.eye(3, dtype=np.float32)[[0, 2, 1, 1, 0, 2]]


@program("Metrics that count")
def _(tf: Any) -> dict[str, Any]:
    m, out = tf.keras.metrics, {}
    made = {
        **{name: getattr(m, name)() for name in (
            "AUC", "Precision", "Recall", "TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives",
            "BinaryAccuracy", "Hinge", "SquaredHinge", "LogCoshError", "Poisson",
        )},
        "AUC of precision": m.AUC(curve="PR"), "coarse AUC": m.AUC(num_thresholds=5, summation_method="majoring"),
        "AUC of recall": m.AUC(curve="PR", summation_method="minoring", num_thresholds=11),
        "AUC of thresholds": m.AUC(thresholds=[0.3, 0.5]), "AUC of logits": m.AUC(from_logits=True),
        "high precision": m.Precision(thresholds=[0.5, 0.8]), "low recall": m.Recall(thresholds=0.15),
        "overlap": m.MeanIoU(num_classes=2),
    }  # fmt: skip
    for name, metric in made.items():
        predicted = np.round(PREDICTED) if name == "overlap" else PREDICTED
        metric.update_state(TRUE[:5], predicted[:5])
        metric.update_state(TRUE[5:], predicted[5:])
        out[name] = tf.convert_to_tensor(metric.result())
        if name in ("BinaryAccuracy", "Hinge", "SquaredHinge", "LogCoshError", "Poisson"):
            continue  # these are means over rows
        metric.reset_state()
        metric.update_state(TRUE, predicted, sample_weight=np.ceil(WEIGHTS) if name == "overlap" else WEIGHTS)
        out[f"{name}, weighted"] = tf.convert_to_tensor(metric.result())
    return out


@program("Metrics of classes")
def _(tf: Any) -> dict[str, Any]:
    m, out = tf.keras.metrics, {}
    made = {
        "F1": m.F1Score(), "micro": m.F1Score(average="micro"), "macro": m.FBetaScore(average="macro", beta=2.0),
        "weighted": m.F1Score(average="weighted", threshold=0.6), "top": m.TopKCategoricalAccuracy(k=2),
        "of a class": m.Precision(class_id=1), "of the first": m.Recall(top_k=1), "hinge": m.CategoricalHinge(),
    }  # fmt: skip
    for name, metric in made.items():
        metric.update_state(CLASSES, ROWS)
        out[name] = tf.convert_to_tensor(metric.result())
    sparse = m.SparseTopKCategoricalAccuracy(k=2)
    sparse.update_state(CLASSES.argmax(1), ROWS)
    return {**out, "sparse top": tf.convert_to_tensor(sparse.result())}


@program("Metrics of sequences")
def _(tf: Any) -> dict[str, Any]:
    m, out = tf.keras.metrics, {}
    true, predicted = np.abs(numbers(3, 4, 2)), np.abs(numbers(3, 4, 2, start=9))
    by_row, by_step = np.array([1.0, 0.5, 2.0]), np.abs(numbers(3, 4, start=3))
    for name in ("MeanSquaredError", "MeanAbsoluteError", "BinaryAccuracy", "CosineSimilarity", "RootMeanSquaredError"):
        for what, weight in (("plain", None), ("rows", by_row), ("steps", by_step)):
            metric = getattr(m, name)()
            metric.update_state(np.round(true), predicted, sample_weight=weight)
            # A shorter batch of shorter sequences.
            metric.update_state(np.round(true[:2, :1]), predicted[:2, :1])
            out[f"{name} {what}"] = tf.convert_to_tensor(metric.result())
    for what, weight in (("plain", None), ("rows", by_row), ("entries", np.abs(numbers(3, 4, 2, start=3)))):
        total, mean = m.Sum(), m.Mean()
        total.update_state(true, sample_weight=weight)
        mean.update_state(true, sample_weight=weight)
        out |= {
            f"sum {what}": tf.convert_to_tensor(total.result()),
            f"mean {what}": tf.convert_to_tensor(mean.result()),
        }
    ids = np.array([[3, 1, 0, 0], [2, 0, 2, 3]])
    model = tf.keras.Sequential([tf.keras.layers.Embedding(5, 2, mask_zero=True), tf.keras.layers.Dense(1)])
    model(ids)
    filled(model)
    model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mse"])
    history = model.fit(ids, numbers(2, 4, 1), epochs=2, verbose=0, shuffle=False)
    return {**out, **as_tensors(tf, history)}


@program("Focal losses")
def _(tf: Any) -> dict[str, Any]:
    losses, out = tf.keras.losses, {}
    made = {
        "binary": losses.BinaryFocalCrossentropy(),
        "logits": losses.BinaryFocalCrossentropy(from_logits=True, gamma=1.5),
        "balanced": losses.BinaryFocalCrossentropy(apply_class_balancing=True, label_smoothing=0.1),
        "categorical": losses.CategoricalFocalCrossentropy(),
        "categorical logits": losses.CategoricalFocalCrossentropy(alpha=0.5, from_logits=True),
    }  # fmt: skip
    for name, loss in made.items():
        x = tf.Variable(ROWS * 0.9 + 0.05)
        with tf.GradientTape() as tape:
            value = loss(CLASSES, tf.identity(x))
        out |= {name: value, f"{name} gradient": tape.gradient(value, x)}
    return out


# --------------------------------------------------------------------------------------------------------------- images


@program("Images of another size")
def _(tf: Any) -> dict[str, Any]:
    out = {}
    single, batch = numbers(3, 4, 2), numbers(2, 5, 6, 1)
    cases: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "larger": (single, [5, 7], {}), "smaller": (batch, (2, 4), {}),
        "nearest": (single, [5, 2], {"method": "nearest"}),
        "area": (batch, [2, 3], {"method": "area"}), "antialias": (batch, [2, 4], {"antialias": True}),
        "ratio": (single, [6, 6], {"preserve_aspect_ratio": True}),
    }  # fmt: skip
    for name, (value, size, arguments) in cases.items():
        x = tf.Variable(value)
        with tf.GradientTape() as tape:
            y = tf.image.resize(x, size, **arguments)
            loss = tf.reduce_sum(y * numbers(*y.shape, start=5))
        out[name] = y
        if name != "area":  # of which TensorFlow has no gradient
            out[f"{name} gradient"] = tape.gradient(loss, x)
    whole = (numbers(3, 4, 1) * 100 + 100).astype(np.uint8)
    return {
        **out, "integers": tf.image.resize(whole, [2, 2]),
        "nearest of integers": tf.image.resize(whole, [2, 2], "nearest"),
    }  # fmt: skip


@program("Parts and edges of images")
def _(tf: Any) -> dict[str, Any]:
    out = {}
    for name, function in {
        "edges": tf.image.sobel_edges, "variation": tf.image.total_variation,
        "noise": lambda x: tf.image.psnr(x, x * 0.5, 2.0),
        "gamma": lambda x: tf.image.adjust_gamma(tf.abs(x), 2.0, 3.0),
        "padded": lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 6, 7),
        "both": lambda x: tf.image.resize_with_crop_or_pad(x, 2, 7),
    }.items():  # fmt: skip
        x = tf.Variable(numbers(2, 4, 5, 2))
        with tf.GradientTape() as tape:
            y = function(x)
            loss = tf.reduce_sum(y * numbers(*y.shape, start=5))
        out |= {name: y, f"{name} gradient": tape.gradient(loss, x)}
    return out
