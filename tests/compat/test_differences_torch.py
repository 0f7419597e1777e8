"""Where ours differs from the real PyTorch on purpose."""

from __future__ import annotations

import math
from typing import Any

import pytest


def test_assigning_data_leaves_what_was_recorded_as_it_was(torch: Any) -> None:
    """The real one differentiates both products at 5."""
    x = torch.tensor([2.0], requires_grad=True)
    y = x * x
    x.data = torch.tensor([5.0])
    (y + x * x).sum().backward()
    assert x.grad.tolist() == [14.0] and x._version == 0


def test_a_power_of_zero_has_a_mixed_derivative(torch: Any) -> None:
    """The real one gives 0 for the derivative by y of y * x ** (y - 1) at y = 0, where it is x ** (y - 1)."""
    x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(0.0, requires_grad=True)
    (gy,) = torch.autograd.grad(x**y, y, create_graph=True)
    (gyx,) = torch.autograd.grad(gy, x, retain_graph=True)
    (gx,) = torch.autograd.grad(x**y, x, create_graph=True)
    (gxy,) = torch.autograd.grad(gx, y)
    assert gyx.item() == pytest.approx(0.5) and gxy.item() == pytest.approx(0.5)


def test_in_place_with_itself_is_differentiated(torch: Any) -> None:
    """The real one raises: the value from before is lost there, and kept here."""
    x = torch.tensor([3.0], requires_grad=True)
    h = x * 1
    h.mul_(h)
    h.sum().backward()
    assert x.grad.tolist() == [6.0]


def test_absent_names_say_what_is_there(torch: Any) -> None:
    with pytest.raises(AttributeError, match=r"Did you mean: 'relu', .*dir\(\) lists the \d+ that") as error:
        torch.nn.functional.reluu
    assert len(str(error.value)) < 200 and "avg_pool2d" in dir(torch.nn.functional)
    with pytest.raises(AttributeError, match="Did you mean: 'Linear'"):
        torch.nn.linear
    with pytest.raises(RuntimeError, match="arrays of NumPy live on the CPU"):
        torch.ones(2, device="cuda")


def test_what_belongs_to_a_framework_is_absent(torch: Any) -> None:
    for module, name in (
        (torch, "distributions"), (torch, "fft"), (torch, "save"), (torch.nn, "LSTM"), (torch.nn, "Transformer"),
        (torch.nn, "MultiheadAttention"), (torch.nn.functional, "unfold"), (torch.optim, "LBFGS"),
        (torch.optim, "lr_scheduler"), (torch.nn, "utils"), (torch.linalg, "lstsq"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'.*(It has: |dir\\(\\) lists)"):
            getattr(module, name)


def test_random_numbers_are_reproducible_and_not_the_real_ones(torch: Any) -> None:
    torch.manual_seed(0)
    a = torch.rand(1).item()
    torch.manual_seed(0)
    assert torch.rand(1).item() == a and not math.isclose(a, 0.4962565899, rel_tol=1e-6)


REFUSED = [
    (RuntimeError, lambda torch, x: torch.cat([x, torch.ones(2, 2)]), "Cat: all the input array dimensions"),
    (
        RuntimeError,
        lambda torch, x: torch.stack([x, torch.ones(2)]),
        "Stack: all input arrays must have the same shape",
    ),
    (RuntimeError, lambda torch, x: x.permute(0), "Permute: axes don't match array"),
    (RuntimeError, lambda torch, x: x.expand(4, 4), "must match the existing size"),
    (RuntimeError, lambda torch, x: torch.where(x > 0, x, torch.ones(4)), r"The size of tensor a \(3\) must match .*4"),
    (RuntimeError, lambda torch, x: x > torch.ones(4), r"The size of tensor a \(3\) must match .*4"),
    (RuntimeError, lambda torch, x: x.detach().copy_(torch.ones(4)), "The size of tensor a"),
    (RuntimeError, lambda torch, x: x.clamp(torch.ones(4)), r"The size of tensor a \(3\) must match"),
    (IndexError, lambda torch, x: x[:, [7]], "index 7 is out of bounds for dimension 1 with size 3"),
    (IndexError, lambda torch, x: x.unsqueeze(4), "axis 4 is out of bounds"),
    (IndexError, lambda torch, x: x.transpose(0, 2), "Dimension out of range"),
    (RuntimeError, lambda torch, x: x.flip(0, 0), "appears multiple times"),
]


@pytest.mark.parametrize(("kind", "f", "message"), REFUSED, ids=[message for *_, message in REFUSED])
@pytest.mark.parametrize("recorded", [False, True])
def test_what_numpy_refuses(torch: Any, kind: type[Exception], f: Any, message: str, recorded: bool) -> None:
    """The kind of the error is the real one's. The words are often NumPy's."""
    with pytest.raises(kind, match=message):
        f(torch, torch.ones(2, 3, requires_grad=recorded))
