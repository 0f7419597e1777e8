"""`Layer`: weights that are made at the first call, and a computation with them."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ... import tensorflow as tf
from ..module import Module, is_variable
from ..naming import name_scope
from . import initializers, names
from .variables import Variable

Shape = tuple[int | None, ...]


class _Calls(threading.local):
    """The layers of this thread that are being called, outermost first: each with the `training` that it was given."""

    def __init__(self) -> None:
        self.stack: list[tuple[Layer, Any]] = []
        self.scope = ""  # in front of the names of variables


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

    min_ndim: int | None = None
    _axes: Mapping[int, int] = {}  # the lengths of axes that it was built for

    def __init__(self, *, trainable: bool = True, dtype: Any = None, name: str | None = None, **kwargs: Any):
        given = kwargs.pop("input_shape", None)
        if "input_dim" in kwargs:
            given = (kwargs.pop("input_dim"),)
        self._given_shape = None if given is None else (None, *given)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        self._name = names.unique(names.snake_case(type(self).__name__)) if name is None else name
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
        name: str | None = None,
    ) -> Variable:  # fmt: skip
        """A new variable of the layer. Without a shape it is a number. Without an initializer it is drawn from Glorot's
        uniform distribution if floating, else zero. `initializer` is a name or an object."""
        made = tf.as_dtype(dtype or self._dtype)
        shape = () if shape is None else shape_of(shape)
        if any(n is None for n in shape):
            raise ValueError(
                f"Cannot convert a partially known shape {shape} to a Tensor: a weight needs all of its lengths"
            )
        if initializer is None:
            initializer = "glorot_uniform" if made.is_floating and shape else "zeros"
        value = initializers.get(initializer)(shape, dtype=made)
        with name_scope(self._scope()):
            variable = Variable(value, trainable, name or self._unnamed(), made)
        self._own.append(variable)
        return variable

    def _scope(self) -> str:
        """What stands in front of the names of variables: the names of the layers that are being called, and its
        own."""
        if CALLS.stack and CALLS.stack[-1][0] is self:
            return CALLS.scope
        return f"{CALLS.scope}{self._name}/"

    def _unnamed(self) -> str:
        count = sum(v.path.rsplit("/", 1)[-1].startswith("variable") for v in self._own)
        return f"variable_{count}" if count else "variable"

    def _contents(self) -> tuple[list[Any], list[Layer]]:
        """The variables of this layer, trainable ones first, and the layers among its attributes, in the order in which
        these were set."""
        found = {id(v): v for v in self._own}
        layers: dict[int, Layer] = {}
        for name, value in vars(self).items():
            if type(value) not in _PLAIN and name != "_own":
                for part in _members(value):
                    if isinstance(part, Layer):
                        layers[id(part)] = part
                    else:
                        found.update((id(v), v) for v in ([part] if is_variable(part) else part.variables))
        own = list(found.values())
        return [v for v in own if v.trainable] + [v for v in own if not v.trainable], list(layers.values())

    def _walk(self, seen: set[int], frozen: bool = False) -> Iterator[tuple[Layer, list[Any], bool]]:
        """This layer and all inside it, each once, with its variables, and whether it is frozen."""
        if id(self) in seen:
            return
        seen.add(id(self))
        own, layers = self._contents()
        frozen = frozen or not self._trainable
        yield self, own, frozen
        for layer in layers:
            yield from layer._walk(seen, frozen)

    @property
    def weights(self) -> list[Any]:
        """All variables: a layer's own before those of the layers inside it, trainable ones first."""
        return list({id(v): v for _, own, _ in self._walk(set()) for v in own}.values())

    @property
    def variables(self) -> list[Any]:
        return self.weights

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
        if len(weights) != len(own):
            raise ValueError(
                f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length "
                f"{len(weights)}, but the layer was expecting {len(own)} weights."
            )
        for v, value in zip(own, weights):
            if tuple(v.shape) != np.shape(value):
                raise ValueError(
                    f"Layer {self.name} weight shape {tuple(v.shape)} is not compatible with provided weight shape "
                    f"{np.shape(value)}."
                )
        for v, value in zip(own, weights):
            v.assign(value)

    def count_params(self) -> int:
        """How many numbers the weights hold. Raises ValueError before the layer is built."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on layer '{self.name}', but the layer isn't built. You can build it "
                "manually via: `layer.build(input_shape)`."
            )
        return sum(int(np.prod(v.shape, dtype=int)) for v in self.weights)

    # --- calling --------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the weights for inputs of this shape. By default there are none."""
        self.built = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The computation."""
        kind = "Model" if "Model" in [c.__name__ for c in type(self).__mro__] else "Layer"
        raise NotImplementedError(f"{kind} {type(self).__name__} does not have a `call()` method implemented.")

    def compute_output_shape(self, input_shape: Shape) -> Shape | None:
        """The shape of the result, in which None is the length of the batch; None where it is not known."""
        return None

    @property
    def dtype(self) -> str:
        return str(self._dtype.name)

    compute_dtype = dtype

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_own" not in vars(self):
            raise RuntimeError(
                f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the first statement in "
                "the `__init__()` method. Go add it!"
            )
        args = tuple([self._converted(x) for x in args])
        kwargs = {k: self._converted(x, array_only=True) for k, x in kwargs.items()}
        with self._entered(self._training(args, kwargs)):
            if args:
                self._check(args[0])
            if not self.built:
                self._build_for(args, kwargs)
            return self.call(*args, **kwargs)

    def _check(self, x: Any) -> None:
        """Raise ValueError for an input whose rank or lengths the layer was not built for."""
        if not tf.is_tensor(x):
            return
        shape = shape_of(x.shape)
        start = f"Input 0 with name 'None' of layer '{self.name}' is incompatible with the layer: "
        if self.min_ndim is not None and len(shape) < self.min_ndim:
            raise ValueError(
                f"{start}expected min_ndim={self.min_ndim}, found ndim={len(shape)}. Full shape received: {shape}"
            )
        for axis, length in self._axes.items():
            if shape[axis] != length:
                raise ValueError(
                    f"{start}expected axis {axis} of input shape to have value {length}, but received input with shape "
                    f"{shape}"
                )

    @contextmanager
    def _entered(self, training: Any) -> Iterator[None]:
        """While the layer is being called, or built."""
        outside, CALLS.scope = CALLS.scope, self._scope()
        CALLS.stack.append((self, training))
        try:
            with name_scope(CALLS.scope):
                yield
        finally:
            CALLS.stack.pop()
            CALLS.scope = outside

    def _converted(self, x: Any, array_only: bool = False) -> Any:
        """An input as a tensor of the layer's dtype, if it is of a floating one."""
        if isinstance(x, (list, tuple)) and not array_only:
            if any(tf.is_tensor(item) or isinstance(item, np.ndarray) for item in x):
                return type(x)([self._converted(item) for item in x])
            x = tf.convert_to_tensor(x)
        elif isinstance(x, Mapping) and not array_only:
            return {k: self._converted(item) for k, item in x.items()}
        if isinstance(x, np.ndarray):
            x = tf.convert_to_tensor(x)
        if tf.is_tensor(x) and x.dtype.is_floating and x.dtype != self._dtype:
            x = tf.cast(x, self._dtype)
        return x

    def _training(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The `training` argument: given, or that of the call around this one. It is left out of `kwargs` if `call`
        does not take it."""
        takes, default = _training_of(type(self))  # type: ignore[arg-type]
        training = kwargs.get("training")
        if takes is not None and takes < len(args):
            training = args[takes]
        elif training is None:
            training = CALLS.stack[-1][1] if CALLS.stack else None
            if takes is not None:
                if training is not None:
                    kwargs["training"] = training
                elif default is inspect.Parameter.empty and "training" not in kwargs:
                    raise TypeError("missing a required argument: 'training'")
                elif default is not inspect.Parameter.empty:
                    training = default
        if takes is None:
            kwargs.pop("training", None)
        return training

    def _build_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        shapes = [_shapes(x) for x in (*args, *kwargs.values()) if _has_tensor(x)]
        self.build(*shapes[: max(1, len(inspect.signature(self.build).parameters))])
        self.built = True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self._name}, built={self.built}>"


def _building(build: Callable[..., None]) -> Callable[..., None]:
    """A subclass's `build`: the layer is built after it, and its variables have the layer's name."""

    @functools.wraps(build)
    def decorated(self: Layer, *shapes: Any, **kwargs: Any) -> None:
        if CALLS.stack and CALLS.stack[-1][0] is self:
            build(self, *shapes, **kwargs)
        else:
            with self._entered(None):
                build(self, *shapes, **kwargs)
        self.built = True

    return decorated


# Attributes of these types hold neither layers nor variables.
_PLAIN = frozenset((int, float, str, bool, type(None), type(lambda: 0), type(len)))


def _members(value: Any) -> Iterator[Any]:
    if isinstance(value, Module) or is_variable(value):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _members(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _members(item)


def shape_of(x: Any) -> Shape:
    """A shape as a tuple, in which None stands for any length.

    >>> shape_of([None, 3]), shape_of(4)
    ((None, 3), (4,))
    """
    if isinstance(x, int):
        return (x,)
    return tuple([None if n is None else int(n) for n in x])


def _has_tensor(x: Any) -> bool:
    return tf.is_tensor(x) or isinstance(x, (list, tuple)) and any(_has_tensor(item) for item in x)


def _shapes(x: Any) -> Any:
    """The shape of a tensor as a tuple, or those of several as a list."""
    return [_shapes(item) for item in x] if isinstance(x, (list, tuple)) else shape_of(x.shape)


@functools.cache
def _training_of(cls: type[Layer]) -> tuple[int | None, Any]:
    """The position of `training` among the arguments of `call`, and its default."""
    for k, p in enumerate(list(inspect.signature(cls.call).parameters.values())[1:]):
        if p.name == "training":
            return (10**6 if p.kind is p.KEYWORD_ONLY else k), p.default
    return None, None
