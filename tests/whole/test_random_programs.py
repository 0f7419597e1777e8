"""Random programs: none wrong, and not too many refused. ``pytest --programs 5000`` runs more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autodiff_compiler.codegen import load as emitted
from autodiff_compiler.transforms import passes
from tests.programs import checks as program_checks
from tests.programs import random_programs
from tests.programs.generator import LEVELS, generate

BATCHES = 10
# The share of programs that the compiler may refuse, of the highest level and of the others: only ever to go down.
REFUSED_AT_MOST = (0.08, 0.03)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs(batch: int, request: pytest.FixtureRequest) -> None:
    count, start = request.config.getoption("--programs"), request.config.getoption("--first-program")
    results = {}
    for seed in range(start + batch, start + count, BATCHES):
        source = generate(seed, random_programs.level_of(seed))
        results[seed] = random_programs.check_in_time(source, seed, random_programs.turns(seed))
    wrong = {seed: text for seed, text in results.items() if text.startswith("WRONG")}
    for seed in list(wrong)[:3]:
        print(f"seed {seed}: {wrong[seed]}\n{generate(seed, random_programs.level_of(seed))}")
    assert not wrong
    for highest, at_most in zip((True, False), REFUSED_AT_MOST):
        group = {
            seed: text for seed, text in results.items() if (random_programs.level_of(seed) == LEVELS - 1) == highest
        }
        refused = {seed: text for seed, text in group.items() if text.startswith("refused")}
        assert len(refused) <= max(3, at_most * len(group)), refused


@pytest.mark.parametrize("name", [*passes.optional_names(), "all"])
def test_random_programs_without_a_pass(name: str) -> None:
    """A pass that may be left out changes no gradient. ``random_programs --without PASS`` runs more programs."""
    names = passes.optional_names() if name == "all" else [name]
    start = 8 * passes.optional_names().index(name) if name != "all" else 200
    with passes.leaving_out(names):
        results = {
            seed: random_programs.check_in_time(
                generate(seed, random_programs.level_of(seed)), seed, random_programs.turns(seed)
            )
            for seed in range(90_000 + start, 90_005 + start)
        }
    wrong = {seed: text for seed, text in results.items() if text.startswith("WRONG")}
    for seed in list(wrong)[:3]:
        print(f"seed {seed}: {wrong[seed]}\n{generate(seed, random_programs.level_of(seed))}")
    assert not wrong
    assert sum(text.startswith("ok") for text in results.values()) > 2, results


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32 - 1), level=st.integers(0, LEVELS - 1), size=st.integers(3, 6))
def test_interpreted_and_emitted_adjoints_agree(seed: int, level: int, size: int) -> None:
    """The IR of the adjoint, optimised as usual, run by the reference interpreter, gives what the emitted code gives;
    the verifier passes it."""
    source = generate(seed, level)
    program = program_checks.Program(source)
    args = random_programs.arguments(source, seed, size)
    try:
        with np.errstate(all="ignore"):
            program.value(*args)
    except Exception:
        return  # the program itself raises
    with np.errstate(all="ignore"):
        try:
            emitted = program.gradient_of(random_programs.fresh(args))
            assert program_checks.check_plain(program, args, emitted, "optimised", optimise=True)
        except program_checks.Refused:
            return


@pytest.mark.parametrize("level", range(LEVELS))
def test_generated_programs_are_deterministic_and_run(level: int) -> None:
    for seed in range(100):
        source = generate(seed, level)
        assert source == generate(seed, level)
        for n in (4, 6):
            with np.errstate(all="ignore"):
                value = program_checks.Program(source).value(*random_programs.arguments(source, seed, n))
            assert np.shape(value) == ()


def test_judge_tells_right_from_wrong_and_from_a_kink() -> None:
    def f(x, y, s):
        return np.sum(x * x) * s + max(s, 1.0)

    args = (np.array([1.0, 2.0]), np.array([1.0]), 1.0)
    entry, scalar = program_checks.unit(args, 0, (1,)), program_checks.unit(args, 2, ())
    assert program_checks.judge(f, args, entry, 4.0, 1.0) is True
    assert program_checks.judge(f, args, entry, 4.1, 1.0) is False
    assert program_checks.judge(f, args, scalar, 5.0, 1.0) is None
    with pytest.raises(program_checks.Wrong, match=r"argument 0 at \[1\] is 4.1, differences give 4.0"):
        program_checks.compare(f, (np.array([2.0, 4.1]), np.zeros(1)), args, "the gradient", 0)


def test_shrink_keeps_the_failure_and_drops_the_rest() -> None:
    source = "def f(x):\n    a = 1\n    for i in range(3):\n        b = 2\n        x[0] = i\n    return a\n"
    small = random_programs.shrink(source, lambda text: "x[0] = i" in text)
    assert "x[0] = i" in small and "b = 2" not in small and "return" not in small


def test_new_memory_is_no_zeros() -> None:
    """What emitted code reads of `np.empty` before it has stored there is nan, so that it is found."""
    before = emitted.np  # type: ignore[attr-defined]
    with random_programs.nan_in_new_memory():
        made = emitted.np.empty_like(np.ones(3)), emitted.np.empty(2, int)  # type: ignore[attr-defined]
    assert np.isnan(made[0]).all() and made[1].dtype.kind == "i"
    assert emitted.np is before  # type: ignore[attr-defined]
