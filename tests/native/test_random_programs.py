"""Random programs with both backends: their values, gradients and exceptions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.programs import checks, generator
from tests.programs.random_programs import level_of

from . import both_halves
from .both import agree, leaves, outcome, why_not

SEEDS = range(7000, 7060)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("parallel", [False, True], ids=["in order", "in parts"])
def test_a_random_program(seed: int, parallel: bool) -> None:
    compare(seed, parallel=parallel)


def compare(seed: int, **options: Any) -> str | None:
    """Why the program has no machine code; None if it has.

    With ``parallel=True``, the iterations of loops in parts run in an order that is not theirs.
    """
    source = generator.generate(seed, level_of(seed))
    program = checks.Program(source)
    args = program.pack(*checks.arguments(source, seed, 5))
    argnums = tuple(range(len(args)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = []
        for chosen in ({}, {"backend": "native", **options}):
            program.prepare()
            transformed: Any = ad.value_and_grad(program.f, argnums=argnums, **chosen)
            results.append(outcome(transformed, args))
    want, got = results
    if isinstance(want, Exception):
        assert type(got) is type(want), got
        return None
    if isinstance(got, Exception):
        raise got
    for a, b in zip(leaves(got), leaves(want), strict=True):
        if isinstance(b, (float, np.ndarray, np.generic)):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)
            assert type(a) is type(b) or isinstance(b, float)
    return why_not(transformed)


@pytest.mark.parametrize("seed", range(8000, 8020))
@pytest.mark.parametrize("kind", [both_halves.Pullback, both_halves.Linearized])
def test_halves_of_a_random_program(seed: int, kind: Any) -> None:
    compare_halves(seed, kind)


def compare_halves(seed: int, kind: Any) -> None:
    source = generator.generate(seed, level_of(seed))
    program = checks.Program(source)
    args = program.pack(*checks.arguments(source, seed, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.prepare()
        both_halves.agree(program.f, *args, argnums=tuple(range(len(args))), rtol=1e-7, kind=kind)


__all__ = ["agree", "compare", "compare_halves"]
