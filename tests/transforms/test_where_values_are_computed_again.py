"""What the backward sweep computes again stands in front of the statement that reads it."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_compiler as ad
from tests.differences import differences


def gated(x: Any, w: Any) -> Any:
    for _ in range(3):
        gate = 1.0 + x * w
        y = np.sin(x) * w
        x = gate * y * y
    return np.sum(x)


def taken_apart(y: Any, rates: Any) -> Any:
    for _ in range(3):
        prey, predators = y
        meetings = prey * predators
        y = y + 0.1 * np.stack([rates[0] * prey - meetings, rates[1] * meetings - predators])
    return np.sum(y)


def test_in_front_of_its_statement() -> None:
    args = np.array([0.4, 0.7]), np.array([1.5, 0.5])
    text = ad.grad(gated, argnums=(0, 1)).source(*args)
    lines = [line.strip() for line in text.splitlines()]
    again = next(k for k, line in enumerate(lines) if line.startswith("gate = ") and k > len(lines) / 2)
    notes = [k for k, line in enumerate(lines) if line.startswith("# adjoint of line")]
    reader = next(k for k in range(again + 1, len(lines)) if "gate" in lines[k])
    assert not any(again < k < reader for k in notes), text
    for k, g in enumerate(ad.grad(gated, argnums=(0, 1))(*args)):
        np.testing.assert_allclose(g, differences(gated, *args, argnum=k), rtol=1e-6, atol=1e-9)


def test_what_one_statement_takes_apart_stays_together() -> None:
    args = np.array([[0.4, 0.7], [0.3, 0.2]]), np.array([1.5, 0.5])
    text = ad.grad(taken_apart, argnums=(0, 1)).source(*args)
    assert text.count("prey, predators = ") + text.count("predators, prey") >= 1
    for k, g in enumerate(ad.grad(taken_apart, argnums=(0, 1))(*args)):
        np.testing.assert_allclose(g, differences(taken_apart, *args, argnum=k), rtol=1e-6)
