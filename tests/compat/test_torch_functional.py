"""torch.nn.functional: values and gradients against numbers that are easy to check, layouts, reductions, errors."""

from __future__ import annotations

import math
from typing import Any

import pytest


@pytest.fixture(scope="module")
def F(torch: Any) -> Any:
    return torch.nn.functional


def close(a: Any, b: Any, tolerance: float = 1e-5) -> bool:
    import numpy as np

    return bool(np.allclose(a.detach().numpy(), b, rtol=tolerance, atol=tolerance))


# --- activations ------------------------------------------------------------------------------------------------------


def test_activations(torch: Any, F: Any) -> None:
    x = torch.tensor([-2.0, 0.0, 2.0])
    assert F.relu(x).tolist() == [0.0, 0.0, 2.0] and torch.relu(x).tolist() == [0.0, 0.0, 2.0]
    assert close(F.leaky_relu(x), [-0.02, 0.0, 2.0]) and close(F.leaky_relu(x, 0.1), [-0.2, 0.0, 2.0])
    assert close(F.elu(x), [-0.8646647, 0.0, 2.0]) and close(F.selu(x), [-1.5201665, 0.0, 2.1014020])
    assert close(F.gelu(x), [-0.0455003, 0.0, 1.9544997]) and close(F.softplus(x), [0.126928, 0.6931472, 2.126928])
    assert close(F.gelu(x, approximate="tanh"), [-0.0454023, 0.0, 1.9545977])
    assert close(F.silu(x), [-0.2384058, 0.0, 1.7615942]) and close(F.softsign(x), [-2 / 3, 0.0, 2 / 3])
    assert close(F.hardtanh(x), [-1.0, 0.0, 1.0]) and close(F.relu6(x * 4), [0.0, 0.0, 6.0])
    assert close(F.logsigmoid(x), [-2.126928, -0.6931472, -0.126928])
    assert close(F.sigmoid(x), torch.sigmoid(x)) and close(F.tanh(x), torch.tanh(x))
    assert close(F.hardsigmoid(x), [1 / 6, 0.5, 5 / 6])
    assert close(torch.sigmoid(torch.tensor([-200.0, 200.0])), [0.0, 1.0])
    assert close(F.softplus(torch.tensor([200.0])), [200.0])


def test_relu_has_no_slope_at_zero(torch: Any, F: Any) -> None:
    x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    F.relu(x).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 1.0]


def test_softmax(torch: Any, F: Any) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0], [1000.0, 1000.0, 1000.0]], requires_grad=True)
    p = F.softmax(x, dim=1)
    assert close(p[0], [0.0900306, 0.2447285, 0.6652410]) and close(p[1], [1 / 3] * 3)
    assert close(F.log_softmax(x, dim=-1), p.detach().log()) and close(x.softmax(0).sum(0), [1.0] * 3)
    p[0, 2].backward()
    assert close(x.grad[0], [-0.0598930, -0.1628034, 0.2226954])


# --- losses -----------------------------------------------------------------------------------------------------------


def test_mse_and_its_reductions(torch: Any, F: Any) -> None:
    a, b = torch.tensor([1.0, 2.0, 4.0], requires_grad=True), torch.tensor([1.0, 1.0, 1.0])
    loss = F.mse_loss(a, b)
    assert abs(loss.item() - 10 / 3) < 1e-6
    loss.backward()
    assert close(a.grad, [0.0, 2 / 3, 2.0])
    assert F.mse_loss(a, b, reduction="sum").item() == 10.0
    assert F.mse_loss(a, b, reduction="none").tolist() == [0.0, 1.0, 9.0]
    with pytest.raises(ValueError, match="is not a valid value for reduction"):
        F.mse_loss(a, b, reduction="nonsense")
    with pytest.warns(UserWarning, match="Using a target size"):
        F.mse_loss(a.reshape(3, 1), b)


def test_l1_smooth_l1_and_huber(torch: Any, F: Any) -> None:
    a, b = torch.tensor([0.5, 3.0]), torch.zeros(2)
    assert F.l1_loss(a, b).item() == 1.75 and F.smooth_l1_loss(a, b).item() == 1.3125
    assert F.huber_loss(a, b, delta=2.0).item() == 2.0625


def test_cross_entropy(torch: Any, F: Any) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 0.0]], requires_grad=True)
    y = torch.tensor([2, 0])
    loss = F.cross_entropy(x, y)
    assert abs(loss.item() - 0.2887262) < 1e-5
    loss.backward()
    assert close(x.grad, [[0.0450153, 0.1223642, -0.1673795], [-0.0780999, 0.0570976, 0.0210050]], 1e-4)
    assert abs(F.nll_loss(F.log_softmax(x, dim=1), y).item() - loss.item()) < 1e-6
    assert F.cross_entropy(x, y, reduction="none").shape == (2,)
    assert abs(F.cross_entropy(x, y, reduction="sum").item() - 2 * loss.item()) < 1e-5
    one_hot = F.one_hot(y, 3).float()
    assert abs(F.cross_entropy(x, one_hot).item() - loss.item()) < 1e-6
    assert abs(F.cross_entropy(x, torch.tensor([2, -100])).item() - 0.4076059) < 1e-5
    weighted = F.cross_entropy(x, y, weight=torch.tensor([1.0, 1.0, 3.0]))
    assert abs(weighted.item() - (0.16984601 + 3 * 0.4076059) / 4) < 1e-5
    assert abs(F.cross_entropy(x, y, label_smoothing=0.1).item() - 0.4220594) < 1e-5
    assert F.cross_entropy(torch.zeros(2, 4, 5), torch.zeros(2, 5, dtype=torch.int64)).item() == pytest.approx(
        math.log(4)
    )
    with pytest.raises(IndexError, match="Target 7 is out of bounds"):
        F.cross_entropy(x, torch.tensor([0, 7]))
    with pytest.raises(ValueError, match=r"Expected input batch_size \(2\) to match target batch_size \(3\)"):
        F.cross_entropy(x, torch.tensor([0, 1, 1]))


def test_binary_cross_entropy(torch: Any, F: Any) -> None:
    logits = torch.tensor([0.0, 2.0, -100.0], requires_grad=True)
    y = torch.tensor([1.0, 0.0, 1.0])
    loss = F.binary_cross_entropy_with_logits(logits, y)
    assert abs(loss.item() - (0.6931472 + 2.126928 + 100) / 3) < 1e-4
    loss.backward()
    assert close(logits.grad, [-0.5 / 3, 0.8807971 / 3, -1 / 3])
    p = torch.tensor([0.5, 0.25, 0.0], requires_grad=True)
    loss = F.binary_cross_entropy(p, torch.tensor([1.0, 0.0, 1.0]))
    assert abs(loss.item() - (0.6931472 + 0.2876821 + 100) / 3) < 1e-4  # the logarithm is clamped at -100
    heavy = F.binary_cross_entropy_with_logits(logits, y, pos_weight=torch.tensor(2.0), reduction="none")
    assert abs(heavy[0].item() - 2 * 0.6931472) < 1e-5
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(torch.tensor([1.5]), torch.tensor([1.0]))


# --- layers -----------------------------------------------------------------------------------------------------------


def test_linear(torch: Any, F: Any) -> None:
    x, w, b = torch.ones(2, 3), torch.arange(6.0).reshape(2, 3), torch.tensor([10.0, 20.0])
    assert F.linear(x, w, b).tolist() == [[13.0, 32.0], [13.0, 32.0]] and F.linear(x[0], w).tolist() == [3.0, 12.0]


def test_conv2d_nchw(torch: Any, F: Any) -> None:
    x = torch.arange(18.0).reshape(1, 2, 3, 3).requires_grad_()
    w = torch.ones(1, 2, 2, 2, requires_grad=True)
    y = F.conv2d(x, w)
    assert y.tolist() == [[[[52.0, 60.0], [76.0, 84.0]]]]
    y.sum().backward()
    assert x.grad[0, 0].tolist() == [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]
    assert w.grad.tolist() == [[[[8.0, 12.0], [20.0, 24.0]], [[44.0, 48.0], [56.0, 60.0]]]]
    assert F.conv2d(x, w, padding=1).shape == (1, 1, 4, 4) and F.conv2d(x, w, stride=2).shape == (1, 1, 1, 1)
    assert F.conv2d(x, w, torch.tensor([100.0]))[0, 0, 0, 0].item() == 152.0
    assert F.conv2d(x, w, padding="same").shape == (1, 1, 3, 3) and F.conv2d(x, w, dilation=2).shape == (1, 1, 1, 1)
    depthwise = F.conv2d(x, torch.ones(2, 1, 2, 2), groups=2)
    assert depthwise.tolist() == [[[[8.0, 12.0], [20.0, 24.0]], [[44.0, 48.0], [56.0, 60.0]]]]
    assert F.conv2d(x[0], w).shape == (1, 2, 2)
    with pytest.raises(
        RuntimeError, match=r"expected input\[1, 2, 3, 3\] to have 3 channels, but got 2 channels instead"
    ):
        F.conv2d(x, torch.ones(1, 3, 2, 2))


def test_pooling(torch: Any, F: Any) -> None:
    x = torch.tensor([[[[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 1.0, 4.0]]]], requires_grad=True)
    y = F.max_pool2d(x, 2)
    assert y.tolist() == [[[[5.0, 4.0]]]]
    y.sum().backward()
    assert x.grad.tolist() == [[[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]]]
    assert F.avg_pool2d(x, 2).tolist() == [[[[3.25, 3.0]]]]
    assert F.max_pool2d(x, 2, stride=1).shape == (1, 1, 1, 3) and F.max_pool2d(x, 2, padding=1).shape == (1, 1, 2, 3)
    assert F.avg_pool2d(x, 2, padding=1)[0, 0, 0, 0].item() == 0.25  # the padding counts


def test_dropout(torch: Any, F: Any) -> None:
    torch.manual_seed(0)
    x = torch.ones(1000, requires_grad=True)
    y = F.dropout(x, 0.25)
    assert set(y.tolist()) == {0.0, 1.3333333730697632} and 650 < (y != 0).sum().item() < 850
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert F.dropout(x, 0.5, training=False).tolist() == x.tolist()
    with pytest.raises(ValueError, match=r"dropout probability has to be between 0 and 1, but got 1.5"):
        F.dropout(x, 1.5)


def test_one_hot(torch: Any, F: Any) -> None:
    assert F.one_hot(torch.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert F.one_hot(torch.tensor([0]), num_classes=2).dtype == torch.int64
