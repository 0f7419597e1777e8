"""Schedules of learning rates: the rates and momenta that the real PyTorch sets, its errors, and state."""

from __future__ import annotations

from typing import Any

import pytest

SCHEDULES = (
    "LinearLR(o, 0.1, 0.8, 4)",
    "ConstantLR(o, total_iters=2)",
    "PolynomialLR(o, 5, 2.0)",
    "MultiplicativeLR(o, lambda e: 0.9)",
    "OneCycleLR(o, 0.1, total_steps=8)",
    "OneCycleLR(o, 0.1, epochs=3, steps_per_epoch=5, three_phase=True, pct_start=0.4, anneal_strategy='linear')",
    "CyclicLR(o, 0.01, 0.1, 3)",
    "CyclicLR(o, 0.01, 0.1, 3, 2, mode='triangular2', cycle_momentum=False)",
    "CyclicLR(o, 0.01, 0.1, 2, mode='exp_range', gamma=0.9)",
    "CosineAnnealingWarmRestarts(o, 2, 2, 0.01)",
    "SequentialLR(o, [L.LinearLR(o, 0.1, 1.0, 3), L.CosineAnnealingLR(o, 5)], [3])",
    "SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.StepLR(o, 2, 0.5), L.ExponentialLR(o, 0.5)], milestones=[2, 5])",
)


def rates(torch: Any, text: str) -> list[list[float]]:
    """The rates of eight epochs, and the momenta."""
    L = torch.optim.lr_scheduler
    p = torch.ones(1, requires_grad=True)
    o = torch.optim.SGD([p], lr=0.2, momentum=0.5)
    scheduler = eval(f"L.{text}", {"L": L, "o": o})
    out = []
    for _ in range(8):
        group = o.param_groups[0]
        out.append([round(group["lr"], 9), round(group["momentum"], 9)])
        assert scheduler.get_last_lr() == [group["lr"]]
        p.grad = torch.ones(1)
        o.step()
        scheduler.step()
    return [list(row) for row in zip(*out)]


# What the real PyTorch gives.
EXPECTED: dict[str, list[list[float]]] = {
    "LinearLR(o, 0.1, 0.8, 4)": [
        [0.02, 0.055, 0.09, 0.125, 0.16, 0.16, 0.16, 0.16],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ],
    "ConstantLR(o, total_iters=2)": [
        [0.066666667, 0.066666667, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ],
    "PolynomialLR(o, 5, 2.0)": [
        [0.2, 0.128, 0.072, 0.032, 0.008, 0.0, 0.0, 0.0],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ],
    "MultiplicativeLR(o, lambda e: 0.9)": [
        [0.2, 0.18, 0.162, 0.1458, 0.13122, 0.118098, 0.1062882, 0.09565938],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ],
    "OneCycleLR(o, 0.1, total_steps=8)": [
        [0.004, 0.08192751, 0.097194178, 0.081174565, 0.055598401, 0.0283061, 0.007664159, 4e-07],
        [0.95, 0.86882551, 0.852805833, 0.86882551, 0.894401776, 0.921694187, 0.94233621, 0.95],
    ],
    "OneCycleLR(o, 0.1, epochs=3, steps_per_epoch=5, three_phase=True, pct_start=0.4, anneal_strategy='linear')": [
        [0.004, 0.0232, 0.0424, 0.0616, 0.0808, 0.1, 0.0808, 0.0616],
        [0.95, 0.93, 0.91, 0.89, 0.87, 0.85, 0.87, 0.89],
    ],
    "CyclicLR(o, 0.01, 0.1, 3)": [
        [0.01, 0.04, 0.07, 0.1, 0.07, 0.04, 0.01, 0.04],
        [0.9, 0.866666667, 0.833333333, 0.8, 0.833333333, 0.866666667, 0.9, 0.866666667],
    ],
    "CyclicLR(o, 0.01, 0.1, 3, 2, mode='triangular2', cycle_momentum=False)": [
        [0.01, 0.04, 0.07, 0.1, 0.055, 0.01, 0.025, 0.04],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ],
    "CyclicLR(o, 0.01, 0.1, 2, mode='exp_range', gamma=0.9)": [
        [0.01, 0.0505, 0.0829, 0.042805, 0.01, 0.03657205, 0.05782969, 0.031523361],
        [0.9, 0.855, 0.819, 0.86355, 0.9, 0.8704755, 0.8468559, 0.876085155],
    ],
    "CosineAnnealingWarmRestarts(o, 2, 2, 0.01)": [
        [0.2, 0.105, 0.2, 0.172175144, 0.105, 0.037824856, 0.2, 0.192768556],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ],
    "SequentialLR(o, [L.LinearLR(o, 0.1, 1.0, 3), L.CosineAnnealingLR(o, 5)], [3])": [
        [0.02, 0.08, 0.14, 0.2, 0.180901699, 0.130901699, 0.069098301, 0.019098301],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ],
    "SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.StepLR(o, 2, 0.5), L.ExponentialLR(o, 0.5)], milestones=[2, 5])": [
        [0.02, 0.02, 0.2, 0.2, 0.1, 0.2, 0.1, 0.05],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ],
}


@pytest.mark.parametrize("text", SCHEDULES)
def test_rates_and_momenta(torch: Any, text: str) -> None:
    assert rates(torch, text) == EXPECTED[text]


def test_rates_on_a_plateau(torch: Any) -> None:
    losses = (1.0, 0.9, 0.95, 0.96, 0.97, 0.98, 1.2, 1.3, 0.2, 0.3)
    wanted = (
        ({"patience": 1, "factor": 0.5}, [0.1, 0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125, 0.0125]),
        ({"mode": "max", "patience": 4}, [0.1, 0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.01]),
        (
            {"threshold": 0.2, "threshold_mode": "abs", "patience": 0, "cooldown": 2, "min_lr": 0.02},
            [0.1, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02],
        ),
    )
    for options, rates_wanted in wanted:
        o = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(o, **options)
        found = []
        for loss in losses:
            scheduler.step(torch.tensor(loss))
            found.append(round(o.param_groups[0]["lr"], 9))
        assert found == rates_wanted
        other = torch.optim.lr_scheduler.ReduceLROnPlateau(o)
        other.load_state_dict(scheduler.state_dict())
        assert other.best == scheduler.best and other.patience == scheduler.patience


def test_errors(torch: Any) -> None:
    L = torch.optim.lr_scheduler
    p = torch.ones(1, requires_grad=True)
    o = torch.optim.SGD([p], lr=0.1)
    for make, message in (
        (lambda: L.LinearLR(o, 0), "Starting multiplicative factor expected to be greater than 0"),
        (lambda: L.OneCycleLR(o, 0.1), r"You must define either total_steps OR \(epochs AND steps_per_epoch\)"),
        (lambda: L.SequentialLR(o, [L.StepLR(o, 1)], [2]), "number of schedulers provided to be one more"),
        (lambda: L.CosineAnnealingWarmRestarts(o, 0), "Expected positive integer T_0, but got 0"),
        (lambda: L.ReduceLROnPlateau(o, "least"), "mode least is unknown!"),
        (lambda: L.OneCycleLR(torch.optim.Adagrad([p]), 0.1, 3), "must support momentum or beta1"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    scheduler = L.OneCycleLR(o, 0.1, total_steps=2)
    scheduler.step()
    scheduler.step()
    with pytest.raises(ValueError, match="Tried to step 3 times. The specified number of total steps is 2"):
        scheduler.step()


def test_a_sequence_goes_on_from_its_state(torch: Any) -> None:
    L = torch.optim.lr_scheduler

    def make() -> tuple[Any, Any]:
        o = torch.optim.Adam([torch.ones(1, requires_grad=True)], lr=0.1)
        return o, L.SequentialLR(o, [L.LinearLR(o, 0.1, 1.0, 3), L.ExponentialLR(o, 0.5)], [3])

    o, scheduler = make()
    for _ in range(4):
        scheduler.step()
    again, restored = make()
    again.load_state_dict(o.state_dict())
    restored.load_state_dict(scheduler.state_dict())
    scheduler.step()
    restored.step()
    assert restored.get_last_lr() == scheduler.get_last_lr() == [0.025]
