"""The shape of what goes into a model."""

from __future__ import annotations

from typing import Any

from .. import backend
from ..functional import KerasTensor, Node
from ..layer import Layer
from ..shapes import shape_of


class InputLayer(Layer):
    """Says the shape of a model's inputs, without or with that of the batch. It passes its inputs."""

    def __init__(
        self, shape: Any = None, batch_size: int | None = None, dtype: Any = None, batch_shape: Any = None,
        name: str | None = None, input_shape: Any = None,
    ):  # fmt: skip
        super().__init__(name=name, dtype=dtype)
        shape = input_shape if shape is None else shape  # the older name
        if (shape is None) == (batch_shape is None):
            raise ValueError("You must pass a `shape` argument, or a `batch_shape` argument, but not both.")
        self.batch_shape = (batch_size, *shape_of(shape)) if shape is not None else shape_of(batch_shape)
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """The shape, the dtype and the name."""
        return {"batch_shape": self.batch_shape, "dtype": self.dtype, "name": self.name}

    def call(self, inputs: Any) -> Any:
        return inputs


def Input(
    shape: Any = None, batch_size: int | None = None, dtype: Any = None, batch_shape: Any = None,
    name: str | None = None,
) -> KerasTensor:  # fmt: skip
    """Stands for the inputs of a model: of ``Model(inputs, outputs)``, or of a `Sequential` one, as its first entry.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    >>> len(model.weights), model.output_shape
    (2, (None, 2))
    >>> inputs = tf.keras.Input((3,))
    >>> x = tf.keras.layers.Dense(4, activation="relu")(inputs)
    >>> model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x) + 1.0)
    >>> model(tf.ones((5, 3))).shape
    TensorShape([5, 1])
    """
    layer = InputLayer(shape, batch_size, dtype, batch_shape, name)
    made = KerasTensor(layer.batch_shape, dtype or backend.floatx(), Node(layer), name=layer.name)
    layer._symbols = (made, made)
    return made
