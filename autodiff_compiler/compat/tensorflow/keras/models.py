"""Models: layers that are made of layers."""

from __future__ import annotations

import os
import weakref
from typing import Any

import numpy as np

from ....tape.nest import flatten, map_nested
from . import names
from .functional import Graph, KerasTensor, Node, symbolic_call
from .layer import Layer
from .layers.input import InputLayer
from .shapes import Shape, quiet, shape_of, tried, zeros
from .summary import table
from .training import Trainer

SAVED = "whole models are not written to files: save_weights(path), and load_weights(path) of a model that is made anew"


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
    def _output_names(self) -> list[str] | None:
        if self._graph is None:
            return None
        made = self._graph.outputs
        return list(made) if isinstance(made, dict) else [x.node.layer.name for x in flatten(made)]

    @property
    def inputs(self) -> Any:
        """The symbolic inputs, in a list. Raises AttributeError for a model that was not made of these."""
        return flatten(self._symbolic("inputs").inputs)

    @property
    def outputs(self) -> Any:
        """The symbolic outputs, in a list. Raises AttributeError for a model that was not made of these."""
        return flatten(self._symbolic("outputs").outputs)

    @property
    def input(self) -> Any:
        """The symbolic inputs, as the model was made of them."""
        return self._symbolic("input").inputs

    @property
    def output(self) -> Any:
        """The symbolic outputs, as the model was made of them."""
        return self._symbolic("output").outputs

    @property
    def input_shape(self) -> Any:
        """The shapes of the symbolic inputs, with None for the batch."""
        return map_nested(lambda x: x.shape, self._symbolic("input_shape").inputs)

    @property
    def output_shape(self) -> Any:
        """The shapes of the symbolic outputs, with None for the batch."""
        return map_nested(lambda x: x.shape, self._symbolic("output_shape").outputs)

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

    def build(self, input_shape: Any = None) -> None:
        """Make all weights, by a trial run on zeros of this shape, which a model that begins with an input knows."""
        if input_shape is None and not self.built:
            input_shape = self.input_shape
        if not self.built:
            with quiet():
                tried(lambda length: self(zeros(input_shape, 1, length)))

    def _build_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if type(self).build in (Model.build, Sequential.build):
            self.built = True  # the layers inside are built as they are called
        else:
            super()._build_for(args, kwargs)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the weights to a file, as NumPy does (``.npz``): TensorFlow cannot read it. The name has to end in
        ``.weights.h5``, as in Keras; ValueError otherwise, and for a model without weights."""
        path = _weights_path(filepath)
        if not overwrite and os.path.exists(path):
            raise FileExistsError(f"{path} is there already: overwrite=True")
        if not self.weights:
            raise ValueError(f"the model {self.name!r} has no weights: call it on a batch first")
        with open(path, "wb") as file:
            np.savez(file, **{str(k): w for k, w in enumerate(self.get_weights())})

    def load_weights(self, filepath: Any) -> None:
        """Assign the weights of a file that `save_weights` wrote. Raises ValueError for a file of another kind, and
        where the weights are not as many or of other shapes."""
        path = _weights_path(filepath)
        with open(path, "rb") as file:
            if file.read(2) != b"PK":
                raise ValueError(
                    f"{path} was not written by this package's save_weights. In TensorFlow: "
                    "np.savez('weights.npz', *model.get_weights()); here: set_weights(np.load('weights.npz').values())"
                )
            file.seek(0)
            found = np.load(file, allow_pickle=False)
            self.set_weights([found[str(k)] for k in range(len(found.files))])

    def summary(self, line_length: int | None = None, print_fn: Any = None) -> None:
        """Print the layers with the shapes of their results and the numbers of their weights."""
        if isinstance(self, Sequential) and self._layers and isinstance(self._layers[0], InputLayer):
            self._symbolic("output")  # finds the shapes
        (print_fn or print)(table(self, line_length))


def _weights_path(filepath: Any) -> str:
    path = str(os.fspath(filepath))
    if not path.endswith(".weights.h5"):
        raise ValueError(f"The filename must end in `.weights.h5`. Received: filepath={path}")
    return path


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
        self._seen: Shape | None = None  # the shape of the first inputs
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
        layer._owner = weakref.ref(self)
        self.built, self._graph = False, None
        self._make()

    def pop(self) -> Layer:
        """Take away the last layer, and return it."""
        self._graph = None
        return self._layers.pop()

    def _make(self) -> None:
        if self._layers and isinstance(self._layers[0], InputLayer):
            self.build(self._layers[0].batch_shape)

    def get_config(self) -> dict[str, Any]:
        """The name, and the classes and configurations of the layers."""
        layers = [{"class_name": type(layer), "config": layer.get_config()} for layer in self._layers]
        return {"name": self.name, "layers": layers, "dtype": self.dtype, "build_input_shape": self._seen}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A new model of what `get_config` gave, with weights of its own."""
        return cls([one["class_name"].from_config(one["config"]) for one in config["layers"]], name=config["name"])

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        x = inputs
        if self._seen is None and hasattr(x, "shape"):
            self._seen = (None, *shape_of(x.shape)[1:])
        for layer in self._layers:
            x = layer(x)
        return x

    def _symbolic(self, name: str) -> Graph:
        if self._graph is None:
            first = self._layers[0] if self._layers else None
            if not isinstance(first, InputLayer):
                if self._seen is None:
                    raise AttributeError(
                        f"The layer {self.name} has never been called and thus has no defined {name}: start with an "
                        "Input, or call it"
                    )
                first = InputLayer(batch_shape=self._seen)
            start = out = KerasTensor(first.batch_shape, first.dtype, Node(first))
            for layer in self._layers:
                out = out if layer is first else symbolic_call(layer, (out,), {})
            self._graph = Graph(start, out)
        return self._graph

    @property
    def layers(self) -> list[Layer]:
        """The layers, without the input."""
        return [layer for layer in self._layers if not isinstance(layer, InputLayer)]


def clone_model(model: Any) -> Any:
    """A sequential model with the same layers and weights of its own. Raises ValueError for another model."""
    if not isinstance(model, Sequential):
        raise ValueError("clone_model copies sequential models: make others again from their class")
    made = type(model).from_config(model.get_config())
    if model.built and not made.built:
        made.build(model._seen)
    return made


__getattr__, __dir__ = names.public(
    "tf.keras.models", ["Model", "Sequential", "clone_model"], {"load_model": SAVED, "save_model": SAVED}
)
