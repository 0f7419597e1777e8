"""Whole kernels of scientific computing, as scientists write them: loops, stores, helpers, mutated arguments.

Each module holds one field. A kernel is a function with a scalar result and a function that makes its inputs.
``python -m benchmarks.run --kernels`` times them. tests/whole/test_kernels.py checks their gradients.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from benchmarks.kernels.kernel import Kernel

FIELDS = ["linear_algebra", "stencils", "dynamics", "sequences", "networks", "statistics", "signals"]


def all_kernels(fields: list[str] = FIELDS) -> Iterator[Kernel]:
    for field in fields:
        yield from importlib.import_module(f"benchmarks.kernels.{field}").KERNELS
