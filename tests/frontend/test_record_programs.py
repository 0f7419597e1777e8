"""Random programs about lists whose items are records: as Python runs them, or refused."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.frontend.record_programs import Generator
from tests.frontend.test_frontend_aliases import check


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


@pytest.mark.parametrize("seed", [1005, 1373, 1907, 2076, 6590])
def test_records_that_were_wrong(seed: int) -> None:
    """Two raised UnboundLocalError where lists are put together that a name may not be bound to, two were wrong."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert check(Generator(seed).program(), seed) in ("ok", "refused")


A, B = np.array([1.0, 2.0]), np.array([3.0, 4.0])


def test_what_a_record_held_is_kept_when_the_record_gets_another() -> None:
    def f(a: Any, b: Any, n: int) -> Any:
        records = [{"v": a * 1.0, "k": 1.0}, {"v": b * 2.0, "k": 1.0}]
        first = records[0]
        kept = records[n - 3]["v"]
        first["v"] = b
        return np.sum(kept * kept)

    assert f(A, B, 3) == 5.0 and f(A, B, 4) == 100.0
    np.testing.assert_array_equal(ad.grad(f, (0, 1))(A, B, 3), [2.0 * A, 0.0 * B])
    np.testing.assert_array_equal(ad.grad(f, (0, 1))(A, B, 4), [0.0 * A, 8.0 * B])


def test_the_same_where_the_record_is_found_by_an_index() -> None:
    def f(a: Any, b: Any, n: int, m: int) -> Any:
        records = [{"v": a * 1.0, "k": 1.0}, {"v": b * 2.0, "k": 1.0}]
        records[m]["k"] = 2.0
        kept = records[n]["v"]
        records[m]["v"] = b
        return np.sum(kept * kept) + 3.0 * np.sum(records[n]["v"])

    for n in (0, 1):
        for m in (0, 1):
            wanted = (2.0 * A, np.zeros(2)) if n == 0 else (np.zeros(2), 8.0 * B)
            held = (0.0, 3.0) if n == m else (3.0, 0.0) if n == 0 else (0.0, 6.0)
            got = ad.grad(f, (0, 1))(A, B, n, m)
            np.testing.assert_array_equal(got, [wanted[0] + held[0], wanted[1] + held[1]])


def test_a_store_into_what_a_record_held_is_right_or_refused() -> None:
    def f(a: Any, b: Any, n: int) -> Any:
        records = [{"v": a * 1.0}, {"v": b * 2.0}]
        kept = records[n]["v"]
        records[0]["v"] = b * 3.0
        kept[0] = a[1] * a[1]
        return np.sum(records[0]["v"]) + np.sum(records[1]["v"])

    try:
        for n, want in ((0, [0.0, 0.0]), (1, [0.0, 4.0])):
            np.testing.assert_array_equal(ad.grad(f)(A, B, n), want)
    except ad.AutodiffError as error:
        assert "alias" in str(error)


def test_an_item_that_is_known_on_one_path_changes_with_its_list() -> None:
    def f(s: float, t: float, n: int) -> float:
        records = [{"k": s}]
        if t > 0.3:
            d = records[n - 3]
        else:
            d = {"k": s * s}
        records[0]["k"] += 1.5 * s
        return d["k"]

    try:
        assert ad.grad(f)(2.0, 0.5, 3) == 2.5
        assert ad.grad(f)(2.0, 0.1, 3) == 4.0
    except ad.AutodiffError as error:
        assert "alias" in str(error)


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
