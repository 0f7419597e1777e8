"""Where a value is not used and its slope is infinite, the gradient is NaN, as the real PyTorch gives it."""

from __future__ import annotations

import math
from typing import Any

import pytest

NAN = math.nan

# Expression, x, and the gradient of the sum of the expression's elements, measured.
CASES = [
    ("torch.where(x > 0, torch.sqrt(x), 0.0)", [0.0, 4.0], [NAN, 0.25]),
    ("torch.where(x > 0, torch.log(x), 0 * x)", [0.0, 4.0], [NAN, 0.25]),
    ("torch.where(x > 0, 1 / x, x)", [0.0, 4.0], [NAN, -0.0625]),
    ("torch.where(x < 9, torch.exp(x), x)", [1000.0, 4.0], [NAN, 54.5981]),
    ("torch.relu(torch.sqrt(x))", [0.0, 4.0], [NAN, 0.25]),
    ("torch.relu(torch.log(x))", [0.0, 4.0], [NAN, 0.25]),
    ("torch.relu(-1 / x)", [0.0, 4.0], [NAN, 0.0]),
    ("F.relu(x.sqrt()) * 2", [0.0, 4.0], [NAN, 0.5]),
    ("F.relu6(torch.sqrt(x))", [0.0, 49.0], [NAN, 0.0]),
    ("F.threshold(torch.sqrt(x), 0.5, 0.0)", [0.0, 4.0], [NAN, 0.25]),
    ("torch.sqrt(x).masked_fill(x <= 0, 0.0)", [0.0, 4.0], [NAN, 0.25]),
    ("torch.sqrt(x)[1:]", [0.0, 4.0], [NAN, 0.25]),
    ("torch.sqrt(x).clamp(min=0.5)", [0.0, 4.0], [NAN, 0.25]),
    ("torch.sqrt(x).clamp(max=-1.0)", [0.0, 4.0], [NAN, 0.0]),
    ("torch.sqrt(x).max()", [0.0, 4.0], [NAN, 0.25]),
    ("torch.maximum(torch.sqrt(x), torch.ones(2))", [0.0, 4.0], [NAN, 0.25]),
    ("torch.tril(torch.sqrt(x.reshape(2, 1) * torch.ones(2, 2)))", [0.0, 4.0], [NAN, 0.5]),
    ("torch.sqrt(x) * torch.tensor([0.0, 1.0])", [0.0, 4.0], [NAN, 0.25]),
    ("torch.sqrt(x) ** 2", [0.0, 4.0], [NAN, 1.0]),
    ("torch.sqrt(x * x)", [0.0, 4.0], [NAN, 1.0]),
    ("x.norm() * 0 + x.sum()", [0.0, 0.0], [1.0, 1.0]),
    ("(x * 0).std()", [0.0, 4.0], [0.0, 0.0]),
    ("torch.nan_to_num(torch.log(x))", [0.0, 4.0], [NAN, 0.25]),
    ("torch.acos(x).masked_fill(x > 0, 0.0)", [1.0, -0.5], [NAN, -1.1547]),
    ("(x ** 0.5).relu()", [0.0, 4.0], [NAN, 0.25]),
    ("torch.where(x > 0, x ** 1.5, 0.0)", [0.0, 4.0], [0.0, 3.0]),
    ("torch.where(x > 0, torch.linalg.norm(x), 0.0)", [0.0, 0.0], [0.0, 0.0]),
]


@pytest.mark.parametrize(("expression", "values", "expected"), CASES, ids=[e for e, *_ in CASES])
@pytest.mark.parametrize("hooked", [False, True])
def test_zero_times_infinity(torch: Any, expression: str, values: Any, expected: Any, hooked: bool) -> None:
    x = torch.tensor(values, requires_grad=True)
    y = eval(expression, {"torch": torch, "F": torch.nn.functional, "x": x})
    if hooked and y.grad_fn is not None:  # the sweep is run in pieces then
        y.register_hook(lambda g: g * 1)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(expected, rel=1e-5, nan_ok=True)
