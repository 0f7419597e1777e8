"""Lists of run-time length in derivatives of derivatives: a list that is changed in place has another length then,
which the adjoint of what was read before must not take for its own."""

from __future__ import annotations

from typing import Any

import pytest

import autodiff_compiler as ad


def replaced(y: float, s: float) -> Any:
    items = [s]
    if y > 0:
        items.append(s)
    v = items[-1]
    items.append(3.0)
    items[-1] = v * y
    return items[-1]


def appended(y: float, s: float) -> Any:
    items = [s]
    if y > 0:
        items.append(s)
    v = items[-1]
    items.append(v * y)
    total = 0.0
    for u in items:
        total = total + u * u
    return total


def popped(y: float, s: float) -> Any:
    items = [s, y]
    if y > 0:
        items.append(s * y)
    last = items[-1]
    items.pop()
    items.append(last * y)
    return items[-1] * items[0]


def logged(y: float, s: float) -> Any:
    log = [s]

    def e(v: float) -> float:
        log.append(v + 0.5)
        return v

    t = e(y) and e(s)
    log[-1] *= e(y)
    return sum(v for v in log) + t


def inserted(y: float, s: float) -> Any:
    items = [s]
    if y > 0:
        items.append(s)
    v = items[0]
    items.insert(0, v * y)
    return items[0] * items[-1]


@pytest.mark.parametrize("f", [replaced, appended, popped, logged, inserted])
def test_second_derivatives_through_lists_that_change_in_place(f: Any) -> None:
    g = ad.grad(f, argnums=(0, 1))

    def h(y: float, s: float) -> Any:
        a, b = g(y, s)
        return a * 0.3 + b * 0.7

    step = 1e-5
    got = ad.grad(h, argnums=(0, 1))(0.4, 0.8)
    want = (
        (h(0.4 + step, 0.8) - h(0.4 - step, 0.8)) / (2 * step),
        (h(0.4, 0.8 + step) - h(0.4, 0.8 - step)) / (2 * step),
    )
    assert got == pytest.approx(want, rel=1e-6, abs=1e-6)
