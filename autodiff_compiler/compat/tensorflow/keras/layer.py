"""`Layer`: weights that are made at the first call, and a computation with them."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....tape.nest import flatten, map_nested
from ... import tensorflow as tf
from ..module import Module, is_variable, leaves
from ..naming import name_scope
from . import initializers, names

Shape = tuple[int | None, ...]


class Variable(tf.Variable):  # type: ignore[misc]
    """A `tf.Variable` that belongs to a layer or an optimizer. `path` is its name without ``:0``: ``dense/kernel``."""

    @property
    def path(self) -> str:
        return str(self.name).removesuffix(":0")


class _Calls(threading.local):
    """The layers of this thread that are being called, outermost first. Each has the `training` that it was given, and
    the scope of its variables' names."""

    def __init__(self) -> None:
        self.stack: list[tuple[Layer | None, Any, str]] = [(None, None, "")]


CALLS = _Calls()


class Layer(Module):
    """Base class of layers and models.

    A subclass makes its weights in `build` with `add_weight`, or in ``__init__``, and computes in `call`. Layers and
    variables among its attributes, and in lists, tuples and mappings among these, belong to it.

    trainable: whether its weights are among `trainable_variables`.
    dtype: that of weights and inputs, "float32" by default.
    name: by default that of the class in snake case, with a number after it from the second layer on.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> class Scale(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(shape=input_shape[-1:], initializer="ones", name="factor")
    ...     def call(self, x):
    ...         return x * self.factor
    >>> scale = Scale(name="scale")
    >>> scale(tf.constant([[1.0, 2.0]])).numpy()
    array([[1., 2.]], dtype=float32)
    >>> [v.name for v in scale.trainable_variables]
    ['scale/factor:0']
    """

    min_ndim = 0
    _channels: int | None = None  # the length of the last axis of inputs that it was built for

    def __init__(self, *, trainable: bool = True, dtype: Any = None, name: str | None = None):
        self._name = names.unique(self) if name is None else name
        self._scope_name = self._name + "/"
        self._dtype = tf.as_dtype(dtype or "float32")
        self._trainable = bool(trainable)
        self.built = False
        self._own: list[Any] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = _building(cls.build)  # type: ignore[method-assign]

    # --- weights --------------------------------------------------------------------------------------------------

    def add_weight(
        self, shape: Any = None, initializer: Any = None, dtype: Any = None, trainable: bool = True,
        name: str = "variable",
    ) -> Variable:  # fmt: skip
        """A new variable of the layer. Without an initializer it is drawn from Glorot's uniform distribution if
        floating, else zero. `initializer` is a name or an object."""
        made, shape = tf.as_dtype(dtype or self._dtype), () if shape is None else shape_of(shape)
        if None in shape:
            raise ValueError(f"a weight needs all the lengths of its shape, not {shape}")
        if initializer is None:
            initializer = "glorot_uniform" if made.is_floating and shape else "zeros"
        value = initializers.get(initializer)(shape, dtype=made)
        with name_scope(self._scope()):
            self._own.append(Variable(value, trainable=trainable, name=name, dtype=made))
        return self._own[-1]  # type: ignore[no-any-return]

    def _scope(self) -> str:
        """The scope of its variables' names: the names of the layers that are being called, then its own."""
        layer, _, scope = CALLS.stack[-1]
        return scope if layer is self else f"{scope}{self._name}/"

    def _walk(self, seen: set[int], frozen: bool = False) -> Iterator[tuple[Layer, list[Any], bool]]:
        """This layer and all inside it, each once, with its variables, trainable ones first, and whether it is
        frozen."""
        if id(self) in seen:
            return
        seen.add(id(self))
        inside = list(leaves(vars(self), list))  # in the order in which the attributes were set
        own = [v for x in inside for v in ([x] if is_variable(x) else _variables_of(x))]
        frozen = frozen or not self._trainable
        yield self, sorted(own, key=lambda v: not v.trainable), frozen
        for layer in inside:
            if isinstance(layer, Layer):
                yield from layer._walk(seen, frozen)

    @property
    def weights(self) -> list[Any]:
        """All variables: a layer's own before those of the layers inside it, trainable ones first."""
        return list({id(v): v for _, own, _ in self._walk(set()) for v in own}.values())

    variables = weights

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables to train: none of layers whose `trainable` is False."""
        found = {id(v): v for _, own, frozen in self._walk(set()) if not frozen for v in own if v.trainable}
        return list(found.values())

    @property
    def non_trainable_variables(self) -> list[Any]:
        trained = {id(v) for v in self.trainable_variables}
        return [v for v in self.weights if id(v) not in trained]

    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables

    @property
    def trainable(self) -> bool:
        """Whether the weights are among `trainable_variables`; setting it sets that of the layers inside, too."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for layer, _, _ in list(self._walk(set())):
            layer._trainable = bool(value)

    def get_weights(self) -> list[Any]:
        """The values of `weights`, as arrays."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights: Any) -> None:
        """Assign values to `weights`, in their order. Raises ValueError if they are not as many or of other shapes."""
        own, weights = self.weights, list(weights)
        if [v.shape for v in own] != [np.shape(w) for w in weights]:
            raise ValueError(
                f"layer '{self.name}' has weights of the shapes {[tuple(v.shape) for v in own]}, and got values of the "
                f"shapes {[np.shape(w) for w in weights]}"
            )
        for v, value in zip(own, weights):
            v.assign(value)

    # --- calling --------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the weights for inputs of this shape. By default there are none."""
        self.built = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The computation."""
        raise NotImplementedError(f"{type(self).__name__} does not have a `call()` method implemented.")

    @property
    def dtype(self) -> str:
        return str(self._dtype.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_own" not in vars(self):
            raise RuntimeError(
                f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the first statement in "
                "the `__init__()` method. Go add it!"
            )
        args = tuple([self._converted(x) for x in args])
        kwargs = {k: self._tensor(x) for k, x in kwargs.items()}
        with self._entered(self._training(args, kwargs)):
            if args and tf.is_tensor(args[0]):
                self._check(shape_of(args[0].shape))
            if not self.built:
                self._build_for(args, kwargs)
            return self.call(*args, **kwargs)

    def _check(self, shape: Shape) -> None:
        """Raise ValueError for an input of a rank or a last length that the layer was not built for."""
        start = f"Input 0 with name 'None' of layer '{self.name}' is incompatible with the layer: "
        if len(shape) < self.min_ndim:
            raise ValueError(
                f"{start}expected min_ndim={self.min_ndim}, found ndim={len(shape)}. Full shape received: {shape}"
            )
        if self._channels is not None and shape[-1] != self._channels:
            raise ValueError(
                f"{start}expected axis -1 of input shape to have value {self._channels}, but received input with shape "
                f"{shape}"
            )

    @contextmanager
    def _entered(self, training: Any) -> Iterator[None]:
        """While the layer is being called, or built."""
        scope = self._scope()
        CALLS.stack.append((self, training, scope))
        try:
            with name_scope(scope):
                yield
        finally:
            CALLS.stack.pop()

    def _converted(self, x: Any) -> Any:
        """An argument with tensors for arrays and for lists of numbers."""
        if isinstance(x, (list, tuple)) and not any(tf.is_tensor(v) or isinstance(v, np.ndarray) for v in flatten(x)):
            x = tf.convert_to_tensor(x)
        return map_nested(self._tensor, x)

    def _tensor(self, x: Any) -> Any:
        """An array as a tensor; a floating one in the layer's dtype."""
        x = tf.convert_to_tensor(x) if isinstance(x, np.ndarray) else x
        return tf.cast(x, self._dtype) if tf.is_tensor(x) and x.dtype.is_floating and x.dtype != self._dtype else x

    def _training(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The `training` argument: the given one, else that of the call around this one, else the default of `call`.
        It is taken out of `kwargs` if `call` has no such parameter."""
        outside = CALLS.stack[-1][1]
        position, default = _training_of(type(self))  # type: ignore[arg-type]
        if position is None:
            given = kwargs.pop("training", None)
            return outside if given is None else given
        if position < len(args):
            return args[position]
        if kwargs.get("training") is None and outside is not None:
            kwargs["training"] = outside
        return kwargs.get("training", default)

    def _build_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        found = [x for x in (*args, *kwargs.values()) if any(tf.is_tensor(leaf) for leaf in flatten(x))]
        count = max(1, len(inspect.signature(self.build).parameters))
        self.build(*[map_nested(lambda leaf: shape_of(leaf.shape), x) for x in found[:count]])
        self.built = True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self._name}, built={self.built}>"


def _building(build: Callable[..., None]) -> Callable[..., None]:
    """A subclass's `build`: the layer is built after it, and its variables have the layer's name."""

    @functools.wraps(build)
    def decorated(self: Layer, *shapes: Any, **kwargs: Any) -> None:
        with self._entered(None):
            build(self, *shapes, **kwargs)
        self.built = True

    return decorated


def _variables_of(x: Any) -> Any:
    """The variables of a module that is no layer."""
    return x.variables if isinstance(x, Module) and not isinstance(x, Layer) else ()


def shape_of(x: Any) -> Shape:
    """A shape as a tuple, in which None stands for any length.

    >>> shape_of([None, 3]), shape_of(4)
    ((None, 3), (4,))
    """
    return (x,) if isinstance(x, int) else tuple([None if n is None else int(n) for n in x])


@functools.cache
def _training_of(cls: type[Layer]) -> tuple[int | None, Any]:
    """The position of `training` among the arguments of `call`, and its default."""
    for k, p in enumerate(list(inspect.signature(cls.call).parameters.values())[1:]):
        if p.name == "training":
            return (10**6 if p.kind is p.KEYWORD_ONLY else k), None if p.default is p.empty else p.default
    return None, None
