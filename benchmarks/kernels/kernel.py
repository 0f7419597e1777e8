"""What the tests and the benchmark need to know of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def is_float(value: Any) -> bool:
    """Whether one may differentiate by a value: a float, an array of floats, or a container of only those."""
    if isinstance(value, dict):
        return bool(value) and all(is_float(v) for v in value.values())
    if isinstance(value, (tuple, list)):
        return bool(value) and all(is_float(v) for v in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f"
    return isinstance(value, (float, np.floating))


@dataclass(frozen=True)
class Kernel:
    """A function, and its inputs at three sizes: for a test, a second call of the same code, and the benchmark."""

    function: Callable[..., Any]
    make: Callable[..., tuple[Any, ...]]
    small: tuple[int, ...]
    other: tuple[int, ...]
    large: tuple[int, ...]
    refused: str = ""  # part of the error that the compiler gives, where it does not take the kernel yet

    @property
    def name(self) -> str:
        return self.function.__name__

    def inputs(self, size: tuple[int, ...]) -> tuple[Any, ...]:
        return self.make(np.random.default_rng(len(self.name) + 7 * sum(size)), *size)

    def argnums(self) -> tuple[int, ...]:
        """All arguments that are made of floats."""
        return tuple(k for k, value in enumerate(self.inputs(self.small)) if is_float(value))
