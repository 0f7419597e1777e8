"""`check_grads`: both modes, the element that disagrees, and the likely cause."""

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api.likely import likely_cause

wrong = ad.custom_vjp(lambda x, y: x * y)
wrong.defvjp(lambda x, y: (x * y, (x, y)), lambda r, g: (g * r[1], 2.0 * g * r[0]))
wrong_forward = ad.custom_jvp(lambda x: x * x)
wrong_forward.defjvp(lambda p, t: (p[0] * p[0], 3.0 * p[0] * t[0]))
wrong_complex = ad.custom_vjp(lambda z: z * z)
wrong_complex.defvjp(lambda z: (z * z, z), lambda z, g: (z * g,))


def with_dict(params):
    return np.sum(np.where(params["w"] > 0.0, params["w"], 0.0))


def kinked_slope(x):
    return np.sum(np.where(x >= 2.0, x * x, 4.0 * x - 4.0))


@pytest.mark.parametrize(
    "f, args, options, said",
    [
        (
            with_dict,
            ({"w": np.array([[0.0, 1.0]]), "n": 3},),
            {"order": 1},
            "order 1: forward mode disagrees .*argument 0 \\(params\\)\\['w'\\]\\[0, 0\\] = 0.0: forward mode gives 0, "
            "central differences 0.5 .*at a kink: the slope is 0 below and 1 above",
        ),
        (kinked_slope, (np.array([2.0, 1.5]),), {"order": 2}, "order 2: .*\\(x\\)\\[0\\] = 2.0.*at a kink"),
        (
            lambda x: np.sum(np.floor(x) + x),
            (np.array([1.5, 2.0]),),
            {"order": 1, "modes": "rev"},
            "\\[1\\] = 2.0: reverse mode gives 1,.*at a jump, or right beside one: below, the value differs by 1",
        ),
        (lambda x: (1e9 + x) - 1e9, (0.3,), {"order": 1}, "cancellation: the values are exact to 1e-07 only"),
        (lambda x: np.sum((1e10 + x) ** 2 - 1e20), (np.array([0.3]),), {"order": 1}, "cancellation"),
        (lambda x: np.sin(x) + 1e6, (0.3,), {"order": 1, "eps": 1e-12}, "cancellation: .*with eps=1e-0"),
        (lambda x: 1e-3 * np.sin(1e5 * x), (0.3,), {"order": 1, "eps": 1e-3}, "the step: with a smaller one"),
        (
            lambda a, b: np.sum(wrong(a, b)),
            (np.array([1.0, 2.0]), np.array([3.0, 4.0])),
            {"order": 1, "modes": "rev"},
            "argument 1 \\(b\\)\\[[01]\\] = .*the derivative is wrong: differences of several steps agree on [12]\\.",
        ),
        (
            lambda a: np.sum(wrong_forward(a)),
            (np.array([1.0, 2.0]),),
            {"order": 1, "modes": ["fwd"]},
            "forward mode gives 6",
        ),
        (
            lambda z: 1.0 * wrong_complex(z),
            (np.array([1.0 + 2.0j, 3.0]),),
            {"order": 1, "modes": "rev"},
            "result\\[0\\].*the derivative is wrong",
        ),
        (lambda x: np.sqrt(x), (0.0,), {"order": 1}, "the value is not finite there"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_said(f: Any, args: Any, options: Any, said: str) -> None:
    with pytest.raises(AssertionError) as caught:
        ad.check_grads(f, args, **options)
    import re

    assert re.search(said, str(caught.value), re.DOTALL), str(caught.value)


def test_what_agrees() -> None:
    ad.check_grads(lambda x, n, s: {"a": x**n, "b": (2.0 * x, n)}, (np.array([1.0, 2.0]), 3, "text"), 3, ("fwd", "rev"))
    ad.check_grads(lambda x: np.sum(x**2), (np.array([1.0, 2.0], np.float32),))


def test_unknown_mode() -> None:
    with pytest.raises(ad.AutodiffError, match="'fwd' and 'rev'"):
        ad.check_grads(lambda x: x, (1.0,), 1, "forward")


def test_many_elements() -> None:
    bad = ad.custom_vjp(lambda x: np.sum(x * x))
    bad.defvjp(lambda x: (np.sum(x * x), x), lambda x, g: (3.0 * x * g,))
    with pytest.raises(AssertionError, match="of 200 elements"):
        ad.check_grads(lambda x: bad(x), (np.linspace(1.0, 2.0, 300),), 1, "rev")


@pytest.mark.parametrize(
    "line, exact, said",
    [
        (lambda t: np.abs(t - 3e-7), -1.0, "the step"),
        (lambda t: np.abs(t) + t, 0.0, "kink"),
        (lambda t: np.sqrt(np.abs(t)), np.inf, "not finite"),
        (lambda t: float(t > 0), 0.0, "jump"),
    ],
)
def test_causes_along_a_line(line: Any, exact: float, said: str) -> None:
    assert said in likely_cause(line, exact, 1e-6)


def test_a_tangent_of_a_number_is_selected_by_a_mask() -> None:
    def f(x):
        y = np.square(x)
        return np.sum(y[y > 1.0]) * 3.0 + np.sum(y[y <= 1.0])

    assert ad.jvp(f, (2.0,), (1.0,)) == (12.0, 12.0)
    assert ad.jvp(f, (0.5,), (1.0,)) == (0.25, 1.0)
