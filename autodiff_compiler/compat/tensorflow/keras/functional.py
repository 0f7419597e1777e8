"""Models made of calls on symbolic inputs: ``Model(inputs, outputs)``.

A layer that is called on a `KerasTensor` computes nothing; it is built, the shape of its result is found by trial runs
on zeros, and the call is kept as a `Node`. A `Graph` is what connects outputs and inputs, and runs it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ....tape.nest import flatten, map_nested
from ... import tensorflow as tf
from .shapes import TRIALS, quiet, shape_of, tried, zeros

if TYPE_CHECKING:
    from .layer import Layer

_serial = itertools.count()


class Node:
    """A call of a layer: what it was called on, tensors and symbolic ones. That of an input is called on nothing."""

    __slots__ = ("layer", "args", "kwargs", "serial")

    def __init__(self, layer: Layer, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None):
        self.layer, self.args, self.kwargs = layer, args, kwargs or {}
        self.serial = next(_serial)

    @property
    def is_input(self) -> bool:
        return not self.args and not self.kwargs

    def needs(self) -> list[KerasTensor]:
        return [x for x in flatten([list(self.args), self.kwargs]) if isinstance(x, KerasTensor)]


class KerasTensor:
    """Stands for a tensor in a model: a shape, in which None is any length, and a dtype.

    Arithmetic and subscripts with it are calls of layers; functions of `tf` are, in a `Lambda` layer or in one's own.
    """

    def __init__(self, shape: Any, dtype: Any, node: Node, place: int = 0, name: str | None = None):
        self.shape = shape_of(shape)
        self.dtype = str(tf.as_dtype(dtype).name)
        self.node, self.place = node, place
        self.name = name or f"keras_tensor_{node.serial}"

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, name={self.name}>"


def is_symbolic(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(is_symbolic(item) for item in x)
    return isinstance(x, KerasTensor)


def symbolic_call(layer: Layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a layer gives for symbolic arguments: symbolic results."""

    def run(batch: int, length: int) -> Any:
        given, named = map_nested(lambda x: _zeros(x, batch, length), [list(args), kwargs])
        if "training" in named:
            named["training"] = False  # nothing is learnt from zeros
        with quiet():
            return layer(*given, **named)

    def both(length: int) -> tuple[Any, Any]:
        return run(1, length), run(2, dict(TRIALS)[length])

    # Lengths that depend on those that are not known.
    first, second = tried(both)
    shapes = [
        tuple([n if n == m else None for n, m in zip(shape_of(x.shape), shape_of(y.shape))])
        for x, y in zip(flatten(first), flatten(second))
    ]
    node = Node(layer, args, kwargs)
    made = iter([KerasTensor(s, x.dtype, node, k) for k, (s, x) in enumerate(zip(shapes, flatten(first)))])
    result = map_nested(lambda _: next(made), first)
    if layer._symbols is None:
        layer._symbols = (args[0] if args else None, result)
    return result


def _zeros(x: Any, batch: int, length: int) -> Any:
    return tf.cast(zeros(x.shape, batch, length), x.dtype) if isinstance(x, KerasTensor) else x


class Graph:
    """The calls between symbolic inputs and outputs.

    Raises ValueError where an output depends on an input that is not among the inputs.
    """

    def __init__(self, inputs: Any, outputs: Any):
        self.inputs, self.outputs = inputs, outputs
        for x in (*flatten(inputs), *flatten(outputs)):
            if not isinstance(x, KerasTensor):
                raise ValueError(
                    f"All `inputs` and `outputs` values must be KerasTensors. Received: {x} (of type {type(x)})"
                )
        given = {id(x) for x in flatten(inputs)}
        found: dict[int, Node] = {}
        todo = [x for x in flatten(outputs) if id(x) not in given]
        while todo:
            x = todo.pop()
            if x.node.serial in found:
                continue
            if x.node.is_input:
                raise ValueError(f"Output is not connected to `inputs`: it needs {x}, which is not among them")
            found[x.node.serial] = x.node
            todo += [y for y in x.node.needs() if id(y) not in given]
        self.nodes = [found[k] for k in sorted(found)]
        self.layers = self._ordered()

    def _ordered(self) -> list[Layer]:
        """The layers in Keras' order, which is that of the weights: by the number of calls up to the outputs, the
        farthest first, and where these are equal in the order in which a search from the outputs meets them."""
        inputs = flatten(self.inputs)
        ends = {x.node.serial for x in inputs}
        met: dict[int, Layer] = {}
        finished: dict[int, Node] = {}
        todo: list[tuple[Node, bool]] = [(x.node, False) for x in reversed(flatten(self.outputs))]
        while todo:
            node, left = todo.pop()
            if left:
                finished.setdefault(node.serial, node)
            elif node.serial not in finished and (node.serial not in ends or node.is_input):
                met.setdefault(id(node.layer), node.layer)
                todo.append((node, True))
                if node.serial not in ends:
                    todo += [(x.node, False) for x in reversed(node.needs()) if x.node.serial not in finished]
        depth_of_node: dict[int, int] = {}
        depth: dict[int, int] = {}
        for node in reversed(list(finished.values())):
            own = max(depth_of_node.get(node.serial, 0), depth.get(id(node.layer), 0))
            depth[id(node.layer)] = depth_of_node[node.serial] = own
            if node.serial not in ends:
                for x in node.needs():
                    depth_of_node[x.node.serial] = max(own + 1, depth_of_node.get(x.node.serial, 0))
        unused = [x.node.layer for x in inputs if x.node.is_input and id(x.node.layer) not in met]
        found = sorted([*unused, *met.values()], key=lambda layer: -depth.get(id(layer), 0))
        return list({id(layer): layer for layer in found}.values())

    def __call__(self, inputs: Any) -> Any:
        wanted = flatten(self.inputs)
        if isinstance(inputs, Mapping) and not isinstance(self.inputs, Mapping):
            if missing := [x.name for x in wanted if x.name not in inputs]:
                raise ValueError(f"the model takes inputs {[x.name for x in wanted]}; {missing} is not given")
            given = [inputs[x.name] for x in wanted]
        elif isinstance(self.inputs, Mapping):
            if not isinstance(inputs, Mapping) or set(self.inputs) - set(inputs):
                raise ValueError(f"the model takes a mapping with the keys {sorted(self.inputs)}")
            given = flatten({k: inputs[k] for k in self.inputs})
        else:
            given = flatten(inputs)
        if len(given) != len(wanted):
            raise ValueError(f"the model takes {len(wanted)} inputs, not {len(given)}")
        given = [x if x.dtype.name == w.dtype else tf.cast(x, w.dtype) for x, w in zip(given, wanted)]
        values: dict[int, Any] = {id(x): value for x, value in zip(flatten(self.inputs), given)}
        results: dict[int, list[Any]] = {}

        def value_of(x: Any) -> Any:
            if not isinstance(x, KerasTensor):
                return x
            return values[id(x)] if id(x) in values else results[x.node.serial][x.place]

        for node in self.nodes:
            args, kwargs = map_nested(value_of, [list(node.args), node.kwargs])
            results[node.serial] = flatten(node.layer(*args, **kwargs))
        return map_nested(value_of, self.outputs)


def _operator(name: str) -> Callable[..., Any]:
    def method(self: KerasTensor, *others: Any) -> Any:
        from .layers.core import Lambda

        def compute(xs: Any) -> Any:
            return getattr(xs[0], f"__{name}__")(*xs[1:])

        if all(isinstance(x, KerasTensor) for x in others):
            return Lambda(compute)([self, *others])
        return Lambda(lambda x: compute([x, *others]))(self)

    return method


for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "neg", "matmul", "getitem"
):  # fmt: skip
    setattr(KerasTensor, f"__{_name}__", _operator(_name))
