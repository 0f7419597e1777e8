"""Padding, windows, channels moved into space, shrinking: values and gradients of the real PyTorch, texts, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

LAYERS = (
    "PixelShuffle(2)", "PixelUnshuffle(3)", "Softmax2d()", "Unfold(2)", "Unfold((2, 2), padding=1, stride=2)",
    "Softshrink(0.3)", "Hardshrink(0.4)", "ZeroPad2d((1, 2, 0, 1))", "ConstantPad2d((1, 2, 0, 1), 3.5)",
    "ReflectionPad2d(1)", "ReplicationPad2d((2, 1, 0, 1))", "CircularPad2d(1)", "ConstantPad1d(2, 1.0)",
)  # fmt: skip


def results(torch: Any, text: str) -> list[float]:
    layer = eval(f"torch.nn.{text}", {"torch": torch})
    x = torch.sin(torch.arange(72.0, dtype=torch.float64)).reshape(2, 4, 3, 3).requires_grad_()
    out = layer(x)
    weights = torch.cos(torch.arange(out.numel(), dtype=torch.float64)).reshape(out.shape)
    (g,) = torch.autograd.grad((out * weights).sum(), x)
    return [
        *map(float, out.shape),
        out.sum().item(),
        (out * weights).sum().item(),
        (g * x).sum().item(),
        g.sum().item(),
    ]


# What the real PyTorch gives.
EXPECTED: dict[str, list[float]] = {
    "PixelShuffle(2)": [
        2.0,
        1.0,
        6.0,
        6.0,
        1.673602342302452,
        -0.05930920647402105,
        -0.059309206474020604,
        1.2159355686467779,
    ],
    "PixelUnshuffle(3)": [
        2.0,
        36.0,
        1.0,
        1.0,
        1.6736023423024518,
        0.14343922405988763,
        0.14343922405988763,
        1.215935568646778,
    ],
    "Softmax2d()": [2.0, 4.0, 3.0, 3.0, 18.0, 0.3358630577323869, 0.017027093301285087, 1.3877787807814457e-16],
    "Unfold(2)": [2.0, 16.0, 4.0, -0.05060984371148858, -15.08195882648291, -15.08195882648291, 1.5063732489426207],
    "Unfold((2, 2), padding=1, stride=2)": [
        2.0,
        16.0,
        4.0,
        1.673602342302452,
        -2.566445951348552,
        -2.56644595134855,
        1.456192583608397,
    ],
    "Softshrink(0.3)": [
        2.0,
        4.0,
        3.0,
        3.0,
        1.1775553739768931,
        0.1021491937697312,
        0.351578143123497,
        -0.7337712182725125,
    ],
    "Hardshrink(0.4)": [
        2.0,
        4.0,
        3.0,
        3.0,
        1.6864408448972756,
        0.4248438010577663,
        0.4248438010577663,
        1.1369245483547628,
    ],
    "ZeroPad2d((1, 2, 0, 1))": [
        2.0,
        4.0,
        4.0,
        6.0,
        1.6736023423024524,
        0.028200416417173357,
        0.028200416417173746,
        6.97734156442117,
    ],
    "ConstantPad2d((1, 2, 0, 1), 3.5)": [
        2.0,
        4.0,
        4.0,
        6.0,
        421.67360234230244,
        -22.143431108548114,
        0.028200416417173746,
        6.97734156442117,
    ],
    "ReflectionPad2d(1)": [
        2.0,
        4.0,
        5.0,
        5.0,
        -3.4164445022567556,
        1.4240153797909199,
        1.4240153797909172,
        -0.5428738274809456,
    ],
    "ReplicationPad2d((2, 1, 0, 1))": [
        2.0,
        4.0,
        4.0,
        6.0,
        4.5877331575989615,
        -0.7003101764594741,
        -0.7003101764594744,
        0.6425897001453769,
    ],
    "CircularPad2d(1)": [
        2.0,
        4.0,
        5.0,
        5.0,
        7.680400032440695,
        -0.7645575016164754,
        -0.764557501616475,
        -0.5428738274809456,
    ],
    "ConstantPad1d(2, 1.0)": [
        2.0,
        4.0,
        3.0,
        7.0,
        97.67360234230246,
        -2.396476385553968,
        -0.954777173867305,
        1.0666105263755532,
    ],
}


@pytest.mark.parametrize("text", LAYERS)
def test_values_and_gradients(torch: Any, text: str) -> None:
    np.testing.assert_allclose(results(torch, text), EXPECTED[text], rtol=1e-7, atol=1e-9)


def test_functions_texts_and_errors(torch: Any) -> None:
    nn, F = torch.nn, torch.nn.functional
    x = torch.arange(16.0).reshape(1, 4, 2, 2)
    assert torch.equal(F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), x)
    assert F.pixel_shuffle(x, 2)[0, 0].tolist() == [
        [0.0, 4.0, 1.0, 5.0], [8.0, 12.0, 9.0, 13.0], [2.0, 6.0, 3.0, 7.0], [10.0, 14.0, 11.0, 15.0]
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match=r"input.size\(-3\)=4 is not divisible by 9"):
        F.pixel_shuffle(x, 3)
    assert repr(nn.ZeroPad2d(1)) == "ZeroPad2d((1, 1, 1, 1))"
    assert repr(nn.ConstantPad2d((1, 2, 0, 1), 3.5)) == "ConstantPad2d(padding=(1, 2, 0, 1), value=3.5)"
    assert repr(nn.Softshrink(0.3)) == "Softshrink(0.3)"
    assert repr(nn.Unfold(2)) == "Unfold(kernel_size=2, dilation=1, padding=0, stride=1)"
    y = torch.tensor([-1.0, 2.0])
    assert F.relu_(y) is y and y.tolist() == [0.0, 2.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        F.relu_(torch.ones(2, requires_grad=True))
    assert nn.PairwiseDistance()(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])).item() == pytest.approx(5.0, abs=1e-5)
