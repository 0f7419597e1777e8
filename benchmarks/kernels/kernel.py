"""The description of a kernel, for the tests and the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def is_float(value: Any) -> bool:
    """One may differentiate by the value: a float, an array of floats, or a container of only those."""
    if isinstance(value, dict):
        return bool(value) and all(is_float(v) for v in value.values())
    if isinstance(value, (tuple, list)):
        return bool(value) and all(is_float(v) for v in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f"
    return isinstance(value, (float, np.floating))


@dataclass(frozen=True)
class Kernel:
    """A function with inputs of three sizes: for a test, for a second call of the same code, and for the benchmark."""

    function: Callable[..., Any]
    make: Callable[..., tuple[Any, ...]]
    small: tuple[int, ...]
    other: tuple[int, ...]
    large: tuple[int, ...]
    refused: str = ""  # a part of the error, if the compiler refuses the kernel

    @property
    def name(self) -> str:
        return self.function.__name__

    def inputs(self, size: tuple[int, ...]) -> tuple[Any, ...]:
        return self.make(np.random.default_rng(len(self.name) + 7 * sum(size)), *size)

    def argnums(self) -> tuple[int, ...]:
        """The positions of all arguments that are made of floats."""
        return tuple(k for k, value in enumerate(self.inputs(self.small)) if is_float(value))
