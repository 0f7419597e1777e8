"""Models: layers that are made of layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....tape.nest import flatten
from . import names
from .functional import Graph, KerasTensor
from .layer import Layer
from .layers.input import InputLayer
from .shapes import Shape, quiet, shape_of, zeros
from .training import Trainer

SAVED = "models are not written to files: np.savez(path, *model.get_weights()), and set_weights with what np.load gives"


class _NotThere:
    """An attribute of which there is only the advice what to write instead."""

    def __init__(self, advice: str):
        self.advice = advice

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type) -> Any:
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}: {self.advice}")


class Model(Trainer):
    """Base class of models: a layer whose layers can be listed. A subclass sets them up in ``__init__`` and computes in
    `call`, which may have an argument `training`. ``Model(inputs, outputs)`` is what was called between the two, which
    are made with `Input` and layers.

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

    save = _NotThere(SAVED)
    save_weights = _NotThere(SAVED)
    load_weights = _NotThere(SAVED)
    to_json = _NotThere(SAVED)

    def __init__(self, inputs: Any = None, outputs: Any = None, *, name: str | None = None, **kwargs: Any):
        if name is None and inputs is not None and type(self) is Model:
            name = names.unique("functional")
        super().__init__(name=name, **kwargs)
        self._graph: Graph | None = None
        if inputs is not None or outputs is not None:
            if inputs is None or outputs is None:
                raise ValueError("a model of symbolic tensors takes both, inputs and outputs")
            self._graph = Graph(inputs, outputs)
            self._called = self._graph.layers
            self.built = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The computation: of the calls between inputs and outputs, if the model was made of these."""
        return super().call(*args, **kwargs) if self._graph is None else self._graph(args[0])

    @property
    def inputs(self) -> Any:
        """The symbolic inputs, in a list. Raises AttributeError for a model that was not made of these."""
        return flatten(self._symbolic("inputs").inputs)

    @property
    def outputs(self) -> Any:
        """The symbolic outputs, in a list. Raises AttributeError for a model that was not made of these."""
        return flatten(self._symbolic("outputs").outputs)

    def _symbolic(self, name: str) -> Graph:
        if self._graph is None:
            raise AttributeError(f"the model {self.name!r} has no {name}: it was not made of symbolic tensors")
        return self._graph

    @property
    def layers(self) -> list[Layer]:
        """The layers among the attributes, in the order in which these were set."""
        if self._graph is not None:
            return list(self._graph.layers)
        return [layer for layer in self._sublayers() if not isinstance(layer, InputLayer)]

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """The layer of this name, or at this place. Raises ValueError if there is none."""
        if (name is None) == (index is None):
            raise ValueError("get_layer takes the name of a layer or its index, one of the two")
        layers = self.layers
        if index is not None:
            if not -len(layers) <= index < len(layers):
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(layers)} layers."
                )
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}.")

    def build(self, input_shape: Any) -> None:
        """Make all weights, by a trial run on zeros of this shape, where None counts as 1."""
        if not self.built:
            with quiet():
                self(zeros(input_shape))

    def _build_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if type(self).build in (Model.build, Sequential.build):
            self.built = True  # the layers inside are built as they are called
        else:
            super()._build_for(args, kwargs)

    def summary(self, line_length: int | None = None, print_fn: Any = None) -> None:
        """Print the layers with the shapes and numbers of their weights."""
        rows = [(f"{layer.name} ({type(layer).__name__})", layer) for layer in self.layers]
        width = max([len(text) for text, _ in rows] + [20]) + 2
        out = [f'Model: "{self.name}"', f"{'Layer (type)':{width}}{'Weights':>12}"]
        out += [f"{text:{width}}{layer.count_params() if layer.built else '(unbuilt)':>12}" for text, layer in rows]
        trained = sum(int(np.prod(v.shape, dtype=int)) for v in self.trainable_variables)
        total = sum(int(np.prod(v.shape, dtype=int)) for v in self.weights)
        out += [f"Total: {total}, trainable: {trained}, not trainable: {total - trained}"]
        (print_fn or print)("\n".join(out))


class Sequential(Model):
    """Layers one after the other.

    layers: at first an `Input` (or `InputLayer`), where the weights are to be made at once; otherwise the first call
    makes them.

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
        for layer in layers or []:
            self.add(layer)

    def add(self, layer: Any) -> None:
        """Append a layer, an `Input`, or a function. Raises ValueError for what is none, and for a name that is
        taken."""
        if isinstance(layer, KerasTensor):
            layer = layer.node.layer
        if not isinstance(layer, Layer):
            raise ValueError(
                "Only instances of `keras.Layer` can be added to a Sequential model. Received: "
                f"{layer} (of type {type(layer)})"
            )
        if isinstance(layer, InputLayer) and self._layers:
            raise ValueError(
                f"Sequential model '{self.name}' has already been configured to use input shape "
                f"{self.input_shape}. You cannot add a different Input layer to it."
            )
        if any(other.name == layer.name for other in self._layers):
            raise ValueError(
                f"All layers added to a Sequential model should have unique names. Name '{layer.name}' is already the "
                "name of a layer in this model. Update the `name` argument to pass a unique name."
            )
        if not self._layers and layer._given_shape is not None:
            self._layers.append(InputLayer(batch_shape=layer._given_shape))
        self._layers.append(layer)
        self.built = False
        self._make()

    def pop(self) -> Layer:
        """Take away the last layer, and return it."""
        return self._layers.pop()

    def _make(self) -> None:
        if self._layers and isinstance(self._layers[0], InputLayer):
            self.build(self._layers[0].batch_shape)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        x = inputs
        for layer in self._layers:
            x = layer(x)
        return x

    @property
    def input_shape(self) -> Shape:
        """The shape of the inputs, with None for the batch. Raises AttributeError before it is known."""
        if self._layers and isinstance(self._layers[0], InputLayer):
            return self._layers[0].batch_shape
        raise AttributeError(f"the shape of the inputs of {self.name!r} is not known: start with an Input")

    @property
    def output_shape(self) -> Shape:
        """The shape of the result, with None for the batch. Raises AttributeError before that of the inputs is
        known."""
        shape = self.input_shape
        with quiet():
            out = self(zeros(shape))
        return (shape[0], *shape_of(out.shape)[1:])


__getattr__, __dir__ = names.public("tf.keras.models", ["Model", "Sequential"])
