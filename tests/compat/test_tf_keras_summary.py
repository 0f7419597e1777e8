"""`Model.summary`: the tables that Keras prints on a terminal of 80 columns."""

from __future__ import annotations

import numpy as np

PLAIN = """\
Model: "plain"
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
│ a_very_long_name_for_a_layer_i… │ (None, 6, 6, 3)        │            30 │
│ (Conv2D)                        │                        │               │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ flat (Flatten)                  │ (None, 108)            │             0 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ top (Dense)                     │ (None, 20)             │         2,180 │
└─────────────────────────────────┴────────────────────────┴───────────────┘
 Total params: 2,210 (8.63 KB)
 Trainable params: 30 (120.00 B)
 Non-trainable params: 2,180 (8.52 KB)
"""

BRANCHED = """\
Model: "branched"
┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┓
┃ Layer (type)        ┃ Output Shape      ┃    Param # ┃ Connected to      ┃
┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━┩
│ inp (InputLayer)    │ (None, 4)         │          0 │ -                 │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ x1 (Dense)          │ (None, 4)         │         20 │ inp[0][0]         │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ plus (Add)          │ (None, 4)         │          0 │ inp[0][0],        │
│                     │                   │            │ x1[0][0]          │
└─────────────────────┴───────────────────┴────────────┴───────────────────┘
 Total params: 20 (80.00 B)
 Trainable params: 20 (80.00 B)
 Non-trainable params: 0 (0.00 B)
"""


def summary(model, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = []
    model.summary(print_fn=lambda text, **_: lines.append(text))
    return "\n".join(lines).rstrip() + "\n"


def test_a_sequential_model(tf, monkeypatch):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            layers.Conv2D(3, 3, name="a_very_long_name_for_a_layer_indeed"),
            layers.Flatten(name="flat"),
            layers.Dense(20, name="top"),
        ],
        name="plain",
    )
    model.layers[-1].trainable = False
    assert summary(model, monkeypatch) == PLAIN


def test_a_model_with_branches(tf, monkeypatch):
    inputs = tf.keras.Input((4,), name="inp")
    x = tf.keras.layers.Dense(4, name="x1")(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.Add(name="plus")([inputs, x]), name="branched")
    assert summary(model, monkeypatch) == BRANCHED


def test_a_model_that_was_called(tf, monkeypatch):
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2, name="only")

        def call(self, x):
            return self.dense(x)

    model = Model()
    assert "│ only (Dense)                    │ ?                      │   0 (unbuilt) │" in summary(model, monkeypatch)
    model(np.ones((5, 3), np.float32))
    assert "│ only (Dense)                    │ (5, 2)                 │             8 │" in summary(model, monkeypatch)
    model.compile("adam", "mse")
    model.fit(np.ones((5, 3)), np.ones((5, 2)), verbose=0)
    assert summary(model, monkeypatch).endswith(" Optimizer params: 18 (76.00 B)\n")
