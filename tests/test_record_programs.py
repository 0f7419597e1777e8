"""Random programs about lists whose items are records: as Python runs them, or refused."""

from __future__ import annotations

import collections
import warnings

import numpy as np

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
