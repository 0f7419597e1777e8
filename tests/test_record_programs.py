"""Random programs about lists whose items are records: as Python runs them, or refused."""

from __future__ import annotations

import collections
import warnings

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.record_programs import Generator
from tests.test_frontend_aliases import check


def test_random_records() -> None:
    counts: collections.Counter[str] = collections.Counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(100):
            source = Generator(seed).program()
            verdict = check(source, seed)
            assert verdict in ("ok", "refused", "skip"), f"seed {seed}: {verdict}\n{source}"
            counts[verdict] += 1
    assert counts["ok"] > 40, counts


@pytest.mark.parametrize("seed", [1005, 1373])
def test_records_that_are_bound_on_one_path(seed: int) -> None:
    """Items of lists that are known where a name is bound, put together where it may not be."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert check(Generator(seed).program(), seed) == "ok"


def test_a_list_that_is_bound_on_one_path_becomes_one_of_run_time_length() -> None:
    def f(s: float, t: float, i: int) -> float:
        g = [[s, 1.0], [2.0, s]]
        if t > 1:
            for q in g:
                pass
        g[i % len(g)] = [s * s, t]
        for q in g:
            pass
        return s * q[0]

    assert f(3.0, 0.5, 3) == 27.0 and f(3.0, 0.5, 2) == 6.0
    for t in (0.5, 1.5):
        assert ad.grad(f)(3.0, t, 3) == 27.0
        assert ad.grad(f)(3.0, t, 2) == 2.0
        assert ad.grad(ad.grad(f))(3.0, t, 3) == 18.0


def test_a_name_that_is_unbound_goes_into_no_list() -> None:
    def f(x: float, n: int) -> float:
        if n > 0:
            t = x * 2.0
        items = [t, 1.0, x]
        for k in range(n + 1):
            items[k] = items[k - 1] * x
        return items[0] + items[1]

    assert ad.grad(f)(2.0, 1) == 16.0
    with pytest.raises(UnboundLocalError):
        f(2.0, 0)
    with pytest.raises(UnboundLocalError):
        ad.grad(f)(2.0, 0)
