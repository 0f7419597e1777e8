"""Programs of scientific computing with the adjoint that an expert would write, value and gradient in one function.

Each module holds one field. `python -m benchmarks.run --by-hand` compares the emitted code with them: time at two
sizes, peak memory, and lines. tests/project/test_benchmarks.py checks that both give the same numbers.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from .program import Program

FIELDS = ["dynamics", "stencils", "mechanics", "linear_algebra", "statistics", "learning", "sequences"]


def all_programs(fields: list[str] = FIELDS) -> Iterator[Program]:
    for field in fields:
        yield from importlib.import_module(f"benchmarks.by_hand.{field}").PROGRAMS
