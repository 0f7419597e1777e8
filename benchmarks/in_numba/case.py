"""The description of a program that is written for NumPy, for Numba and for JAX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """A function with a number as result, and inputs of two sizes.

    `in_numba` takes the arguments of `function`, and gives its value and the cotangents of `argnums` in one tuple. It
    has the algorithm of `function`, and is plain Python, which Numba compiles. `in_jax` is called without arguments,
    and gives the function for JAX. Arguments at `static` are ints, which JAX compiles into its code. No side changes
    its arguments.
    """

    function: Callable[..., Any]
    in_numba: Callable[..., tuple[Any, ...]]
    in_jax: Callable[[], Callable[..., Any]]
    make: Callable[..., tuple[Any, ...]]
    small: tuple[int, ...]
    large: tuple[int, ...]
    argnums: tuple[int, ...]
    static: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.function.__name__

    def inputs(self, size: tuple[int, ...]) -> tuple[Any, ...]:
        return self.make(np.random.default_rng(len(self.name) + 5 * sum(size)), *size)
