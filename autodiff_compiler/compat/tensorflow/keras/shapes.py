"""Shapes of inputs: as tuples, checked, and found by a trial run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ....tape.custom import isolated
from ... import tensorflow as tf

if TYPE_CHECKING:
    from .layer import Layer

Shape = tuple[int | None, ...]


def shape_of(x: Any) -> Shape:
    """A shape as a tuple, in which None stands for any length.

    >>> shape_of([None, 3]), shape_of(4)
    ((None, 3), (4,))
    """
    if isinstance(x, int):
        return (x,)
    return tuple([None if n is None else int(n) for n in x])


# Lengths to try for axes of any length: two that differ show which axes of a result depend on them. Small ones are
# tried first; windows may need longer ones.
TRIALS = ((8, 19), (47, 93), (300, 331))


def zeros(shape: Any, batch: int = 1, unknown: int = TRIALS[0][0]) -> Any:
    """Zeros of a shape, or of several, where None counts as `batch` in front and as `unknown` elsewhere."""
    if isinstance(shape, list) and shape and isinstance(shape[0], (tuple, list)):
        return [zeros(s, batch, unknown) for s in shape]
    return tf.zeros([(unknown if k else batch) if n is None else n for k, n in enumerate(shape_of(shape))])


def tried(compute: Callable[[int], Any]) -> Any:
    """What a function of one of the lengths to try gives, for the first one with which it works."""
    for k, (length, _) in enumerate(TRIALS):
        try:
            return compute(length)
        except (ValueError, tf.errors.InvalidArgumentError):
            if k == len(TRIALS) - 1:
                raise
    raise AssertionError


@contextmanager
def quiet() -> Iterator[None]:
    """For trial runs on zeros, which only make weights and find shapes: no tape sees them."""
    with isolated(), np.errstate(all="ignore"):
        yield


def check_input(layer: Layer, x: Any) -> None:
    """Raise ValueError for an input whose rank or last length the layer was not built for."""
    if not tf.is_tensor(x):
        return
    shape = shape_of(x.shape)
    start = f"Input 0 with name 'None' of layer '{layer.name}' is incompatible with the layer: "
    if layer.min_ndim is not None and len(shape) < layer.min_ndim:
        raise ValueError(
            f"{start}expected min_ndim={layer.min_ndim}, found ndim={len(shape)}. Full shape received: {shape}"
        )
    if layer.ndim is not None and len(shape) != layer.ndim:
        raise ValueError(f"{start}expected ndim={layer.ndim}, found ndim={len(shape)}. Full shape received: {shape}")
    for axis, length in getattr(layer, "_axes", {}).items():
        if shape[axis] != length:
            raise ValueError(
                f"{start}expected axis {axis} of input shape to have value {length}, but received input with shape "
                f"{shape}"
            )
