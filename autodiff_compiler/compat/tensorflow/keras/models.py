"""Models: layers that are made of layers."""

from __future__ import annotations

from typing import Any

from ....tape.custom import isolated
from ... import tensorflow as tf
from ...module_tables import public
from ..module import leaves
from .layer import Layer, Shape, shape_of
from .layers import Input


class Model(Layer):
    """Base class of models: a layer whose layers can be listed. A subclass sets them up in ``__init__`` and computes in
    `call`, which may have an argument `training`.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> class Twice(tf.keras.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.first = tf.keras.layers.Dense(3, activation="tanh", name="hidden")
    ...         self.second = tf.keras.layers.Dense(1)
    ...     def call(self, x):
    ...         return self.second(self.first(x))
    >>> model = Twice()
    >>> model(tf.ones((4, 2))).shape
    TensorShape([4, 1])
    >>> [v.name for v in model.trainable_variables][:2]
    ['twice/hidden/kernel:0', 'twice/hidden/bias:0']
    """

    def __init__(self, *args: Any, **kwargs: Any):
        if args or "inputs" in kwargs or "outputs" in kwargs:
            raise TypeError("models of symbolic tensors are not there: write a subclass with `call`, or a Sequential")
        super().__init__(**kwargs)

    @property
    def layers(self) -> list[Layer]:
        """The layers among the attributes, in the order in which these were set."""
        return list({id(x): x for x in leaves(vars(self), list) if isinstance(x, Layer)}.values())

    def build(self, input_shape: Any) -> None:
        """Make all weights, by a run on zeros of this shape, in which None counts as 1, that no tape sees."""
        if not self.built:
            self.built = True  # the layers inside are built as they are called
            with isolated():
                self.call(_zeros(shape_of(input_shape), self.dtype))

    def _build_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if type(self).build in (Model.build, Sequential.build):
            self.built = True
        else:
            super()._build_for(args, kwargs)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}.{_ADVICE.get(name, '')}")


def _zeros(shape: Shape, dtype: Any) -> Any:
    return tf.zeros([1 if n is None else n for n in shape], dtype)


_LOOP = " Write the loop: tape.gradient(loss, model.trainable_variables), then optimizer.apply_gradients(...)"
_STORE = " Store the arrays of get_weights() with np.savez; set_weights() takes them back"
_ADVICE = {
    **dict.fromkeys(("compile", "fit", "evaluate", "predict", "train_on_batch"), _LOOP),
    **dict.fromkeys(("save", "save_weights", "load_weights", "to_json"), _STORE),
}


class Sequential(Model):
    """Layers one after the other.

    layers: at first an `Input`, where the weights are to be made at once; otherwise the first call makes them.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
    >>> model(tf.ones((2, 3))).shape
    TensorShape([2, 1])
    >>> len(model.trainable_variables)
    4
    """

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None):
        super().__init__(trainable=trainable, name=name)
        self._layers: list[Layer] = []
        self._reached: Any = None  # zeros of the shape that the next layer is called on, if it is known
        for layer in layers or []:
            self.add(layer)

    def add(self, layer: Any) -> None:
        """Append a layer. Raises ValueError for what is none, and for a name that is taken."""
        if isinstance(layer, Input) and not self._layers and self._reached is None:
            self._reached = _zeros(layer.shape, self.dtype)
            return
        if not isinstance(layer, Layer):
            raise ValueError(f"A Sequential model consists of layers, after at most one Input. Received: {layer!r}")
        if any(other.name == layer.name for other in self._layers):
            raise ValueError(f"Two layers of a Sequential model have the name '{layer.name}': give them other names")
        self._layers.append(layer)
        if self._reached is not None:
            with isolated(), self._entered(None):
                self._reached = layer(self._reached)
            self.built = True

    def call(self, inputs: Any) -> Any:
        for layer in self._layers:
            inputs = layer(inputs)
        return inputs

    @property
    def layers(self) -> list[Layer]:
        """The layers, in their order."""
        return list(self._layers)


__getattr__, __dir__ = public("tf.keras.models", ["Model", "Sequential"])
