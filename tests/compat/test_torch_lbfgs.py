"""LBFGS: the steps that the real PyTorch makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

OPTIONS: tuple[dict[str, Any], ...] = (
    {"lr": 0.01},
    {"max_iter": 5, "lr": 0.002},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 7},
    {"line_search_fn": "strong_wolfe", "lr": 0.3, "max_eval": 10},
)


def steps(torch: Any, options: dict[str, Any]) -> list[float]:
    """The losses before four steps, where they lead, and how often the closure was called."""
    x = torch.tensor([-1.2, 1.0, 0.7, 0.3], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], **options)
    calls = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        loss.backward()
        calls.append(loss)
        return loss

    losses = [optimizer.step(closure).item() for _ in range(4)]
    return [*losses, *x.tolist(), float(len(calls))]


# What the real PyTorch gives.
EXPECTED: list[list[float]] = [
    [
        36.89999999999999,
        26.730486922673936,
        19.97405065234987,
        15.127515204095133,
        -1.0729613697996117,
        0.9448092415023327,
        0.7427435236758796,
        0.46125902122711554,
        80.0,
    ],
    [
        36.89999999999999,
        36.15571339561733,
        35.6270867907677,
        35.1001338845534,
        -1.1908107338284648,
        0.9955311447963808,
        0.7004563550494648,
        0.3065016174033825,
        20.0,
    ],
    [
        36.89999999999999,
        3.7015465489502537,
        3.701428610811739,
        3.701428610811739,
        -0.7756555385904432,
        0.6130861429770709,
        0.3820536385969603,
        0.14596592628502755,
        32.0,
    ],
    [
        36.89999999999999,
        3.752694798250673,
        3.7354529436868917,
        3.703490772620255,
        -0.7764469736269294,
        0.6142776722658839,
        0.38348753496112,
        0.14705793914979048,
        32.0,
    ],
    [
        36.89999999999999,
        3.8141558791761727,
        3.7550621805915974,
        3.747580689781731,
        -0.8240214672591201,
        0.6899788466695987,
        0.47967277839925865,
        0.22841592417477727,
        41.0,
    ],
]


@pytest.mark.parametrize("k", range(len(OPTIONS)))
def test_steps_on_a_curved_valley(torch: Any, k: int) -> None:
    np.testing.assert_allclose(steps(torch, OPTIONS[k]), EXPECTED[k], rtol=1e-6)


def test_several_parameters_and_errors(torch: Any) -> None:
    r = np.random.default_rng(0)
    w, b = [torch.zeros(shape, dtype=torch.float64, requires_grad=True) for shape in ((3, 2), (2,))]
    x, y = [torch.tensor(r.normal(size=shape)) for shape in ((8, 3), (8, 2))]
    optimizer = torch.optim.LBFGS([w, b], line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((x @ w + b - y) ** 2).mean()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    full = np.hstack([x.numpy(), np.ones((8, 1))])
    best = np.linalg.lstsq(full, y.numpy(), rcond=None)[0]
    np.testing.assert_allclose(np.vstack([w.detach(), b.detach()]), best, atol=1e-5)
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        torch.optim.LBFGS([{"params": [w]}, {"params": [b]}])
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        torch.optim.LBFGS([w], line_search_fn="other")
    with pytest.raises(TypeError, match="closure"):
        optimizer.step()
