"""Random programs: none wrong, and not too many refused. ``pytest --programs 5000`` runs more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autodiff_compiler as ad
from autodiff_compiler.api import pipeline
from autodiff_compiler.api.transforms import lower_any
from autodiff_compiler.frontend import fetch
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.verify import verify
from tests import random_programs
from tests.program_generator import generate

BATCHES = 10
# The share of programs that the compiler may refuse. It should only ever go down.
REFUSED_AT_MOST = 0.05


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs(batch: int, request: pytest.FixtureRequest) -> None:
    count, start = request.config.getoption("--programs"), request.config.getoption("--first-program")
    results = {}
    for seed in range(start + batch, start + count, BATCHES):
        results[seed] = random_programs.check(generate(seed, seed % 4), seed, second=seed % 5 == 0)
    wrong = {seed: text for seed, text in results.items() if text.startswith("WRONG")}
    for seed in list(wrong)[:3]:
        print(f"seed {seed}: {wrong[seed]}\n{generate(seed, seed % 4)}")
    assert not wrong
    refused = {seed: text for seed, text in results.items() if text.startswith("refused")}
    assert len(refused) <= max(3, REFUSED_AT_MOST * len(results)), refused


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32 - 1), level=st.integers(0, 3), size=st.integers(3, 6))
def test_interpreted_and_emitted_adjoints_agree(seed: int, level: int, size: int) -> None:
    """The IR of the adjoint, run by the reference interpreter, gives what the emitted code gives; the verifier passes
    it."""
    source = generate(seed, level)
    f = random_programs.load(source)["f"]
    args = random_programs.arguments(source, seed, size)
    try:
        with np.errstate(all="ignore"):
            f(*random_programs.fresh(args))
    except Exception:
        return  # the program itself raises
    try:
        lowered = lower_any(f, args, {})
        emitted = ad.grad(f, argnums=(0, 1, 2))(*random_programs.fresh(args))
    except ad.AutodiffError:
        return  # refused
    given_leaves = [fetch(item.path, args) for item in lowered.inputs]
    wrt = [k for k, item in enumerate(lowered.inputs) if not item.hidden]
    adjoint = pipeline.adjoint(lowered.function, wrt, seeds=[1.0])
    verify(adjoint)
    with np.errstate(all="ignore"):
        interpreted = interpret(adjoint, given_leaves)
    for a, b in zip(interpreted, emitted, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("level", range(4))
def test_generated_programs_are_deterministic_and_run(level: int) -> None:
    for seed in range(100):
        source = generate(seed, level)
        assert source == generate(seed, level)
        for n in (4, 6):
            with np.errstate(all="ignore"):
                value = random_programs.load(source)["f"](*random_programs.arguments(source, seed, n))
            assert np.shape(value) == ()


def test_judge_tells_right_from_wrong_and_from_a_kink() -> None:
    def f(x, y, s):
        return np.sum(x * x) * s + max(s, 1.0)

    args = (np.array([1.0, 2.0]), np.array([1.0]), 1.0)
    assert random_programs.judge(f, args, 0, (1,), 4.0, 1.0) is True
    assert random_programs.judge(f, args, 0, (1,), 4.1, 1.0) is False
    assert random_programs.judge(f, args, 2, (), 5.0, 1.0) is None


def test_shrink_keeps_the_failure_and_drops_the_rest() -> None:
    source = "def f(x):\n    a = 1\n    for i in range(3):\n        b = 2\n        x[0] = i\n    return a\n"
    small = random_programs.shrink(source, lambda text: "x[0] = i" in text)
    assert "x[0] = i" in small and "b = 2" not in small and "return" not in small
