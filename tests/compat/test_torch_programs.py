"""Random programs: each gives the gradients that the real PyTorch gave, recorded in `torch_programs.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .torch_programs import Program, close, run

RECORDED = json.loads(Path(__file__).with_name("torch_programs.json").read_text(encoding="utf-8"))


# The compiled pullback may read a value that the real one has no need of: a for the norm of -a. Where that was
# overwritten since, there is an error here; never a wrong number.
STRICTER = "has been modified by an inplace operation"


@pytest.mark.parametrize("start", range(0, len(RECORDED), 20))
def test_random_programs(torch: Any, start: int) -> None:
    refused = 0
    for seed, expected in RECORDED[start : start + 20]:
        lines = Program(seed).lines
        found, error = run(torch, lines)
        refused += STRICTER in error
        assert not error or STRICTER in error, "\n".join([*lines, error])
        assert error or close(found, expected), "\n".join([*lines, f"expected {expected}", f"found {found}"])
    assert refused <= 1
