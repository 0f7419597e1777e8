"""Normalization, biases, dropout: numbers from TensorFlow, derivatives, dtypes, empty batches, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import nn

X = np.array([[1.0, 2, 4], [0, -1, 3]])
MEAN, VARIANCE = np.array([0.5, 0.5, 3.5]), np.array([0.25, 2.25, 0.25])
OFFSET, SCALE = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2, 3])


def numbered(*arrays: np.ndarray) -> Any:
    """The sum of the arrays, each of its elements times its number."""
    total = 0.0
    for a in arrays:
        total = total + np.sum(a * np.reshape(np.arange(1.0, 1.0 + np.size(a)), np.shape(a)))
    return total


def grads(f: Any, *args: np.ndarray) -> Any:
    return ad.grad(f, tuple(range(len(args))))(*args)


def test_moments_of_tensorflow() -> None:
    mean, variance = nn.moments(X, [0])
    assert np.allclose(mean, MEAN) and np.allclose(variance, VARIANCE)
    assert np.allclose(grads(lambda x: numbered(*nn.moments(x, [0])), X)[0], [[1, 4, 3], [0, -2, 0]])
    mean, variance = nn.moments(X, (0, 1), keepdims=True)
    assert mean.tolist() == [[1.5]] and np.allclose(variance, [[2.9166666666666665]])
    want = [[0, 0.3333333333333333, 1], [-0.3333333333333333, -0.6666666666666666, 0.6666666666666666]]
    assert np.allclose(grads(lambda x: numbered(*nn.moments(x, [0, 1], True)), X)[0], want)


def test_batch_normalization_of_tensorflow() -> None:
    args = (X, MEAN, VARIANCE, OFFSET, SCALE)
    want = [
        [1.098005980069749, 2.1995557036488553, 3.2940179402092475],
        [-0.8980059800697491, -1.7995557036488554, -2.694017940209246],
    ]
    assert np.allclose(nn.batch_normalization(*args, 1e-3), want, 1e-13)
    bars = grads(lambda x, m, v, o, s: numbered(nn.batch_normalization(x, m, v, o, s, 1e-3)), *args)
    for have, number in zip(
        bars,
        [
            [[1.996011960139498, 2.6660742715318073, 17.964107641255485],
             [7.984047840557992, 6.665185678829518, 35.92821528251097]],
            [-9.980059800697491, -9.331259950361325, -53.89232292376645],
            [5.9641791637634425, 1.3324449380156749, 17.892537491290327],
            [5.0, 7.0, 9.0],
            [-2.9940179402092473, -2.9993335554732834, -2.9940179402092473],
        ],
        strict=True,
    ):  # fmt: skip
        assert np.allclose(have, number, 1e-12)


def test_batch_normalization_without_scale_and_offset() -> None:
    want = [[0.998005980069749, 0.9997778518244278, 0.9980059800697489]]
    out = nn.batch_normalization(X, MEAN, VARIANCE, None, None, 1e-3)
    assert np.allclose(out, [*want, *np.negative(want)], 1e-13)
    bars = grads(lambda x, m, v: numbered(nn.batch_normalization(x, m, v, None, None, 1e-3)), X, MEAN, VARIANCE)
    assert np.allclose(bars[2], [5.9641791637634425, 0.6662224690078374, 5.9641791637634425], 1e-12)


def test_layer_normalization_of_keras() -> None:
    want = [
        [-1.0687015116389473, -0.267175377909737, 1.3358768895486837],
        [-0.3921644015411568, -0.9804110038528919, 1.3725754053940489],
    ]
    assert np.allclose(nn.layer_normalization(X), want, 1e-13)
    assert np.allclose(nn.layer_normalization(X, 1.0, 2.0), np.multiply(want, 2) + 1, 1e-13)
    bar = [
        [-0.11494510690713, 0.17164525670552014, -0.05670014979839],
        [-0.4525443602466651, 0.3392556051626758, 0.11328875508398878],
    ]
    assert np.allclose(grads(lambda x: numbered(nn.layer_normalization(x)), X)[0], bar, 1e-12)


def test_l2_normalize_of_tensorflow() -> None:
    want = [[0.2182178902359924, 0.4364357804719848, 0.8728715609439696], [0, -0.31622776601683794, 0.9486832980505138]]
    assert np.allclose(nn.l2_normalize(X, 1), want, 1e-13)
    bar = [
        [0.04156531242590328, 0.08313062485180656, -0.05195664053237925],
        [1.2649110640673518, 1.9922349259060792, 0.6640783086353594],
    ]
    assert np.allclose(grads(lambda x: numbered(nn.l2_normalize(x, 1)), X)[0], bar, 1e-12)
    assert np.allclose(nn.l2_normalize(X)[0], [0.1796053020267749, 0.3592106040535498, 0.7184212081070996], 1e-13)
    # A row of zeros is divided by the root of epsilon.
    assert np.allclose(grads(lambda x: numbered(nn.l2_normalize(x, 1)), np.zeros((1, 2)))[0], [[1e6, 2e6]])


def test_bias_add() -> None:
    value, bias = np.ones((1, 2, 1, 2)), np.array([1.0, 2.0])
    assert nn.bias_add(value, bias).tolist() == [[[[2, 3]], [[2, 3]]]]
    assert nn.bias_add(value, bias, "NHWC").tolist() == [[[[2, 3]], [[2, 3]]]]
    assert nn.bias_add(value, bias, "NCHW").tolist() == [[[[2, 2]], [[3, 3]]]]
    g_value, g_bias = grads(lambda v, b: numbered(nn.bias_add(v, b, "NCHW")), value, bias)
    assert g_value.tolist() == [[[[1, 2]], [[3, 4]]]] and g_bias.tolist() == [3, 7]
    for wrong in ((np.ones((1, 2, 2)), np.ones(3)), (np.ones((1, 2)), np.ones((1, 2))), (np.ones(2), np.ones(2))):
        with pytest.raises(ValueError, match="a number for each channel"):
            nn.bias_add(*wrong)
    with pytest.raises(ValueError, match="a number for each channel"):
        ad.grad(lambda v, b: np.sum(nn.bias_add(v, b)))(np.ones((1, 2, 2)), np.ones(1))


CALLS: dict[str, Any] = {
    "moments": lambda x: sum(nn.moments(x, 0)),
    "batch_normalization": lambda x: nn.batch_normalization(x, *nn.moments(x, [0]), None, 2.0, 1e-3),
    "layer_normalization": lambda x: nn.layer_normalization(x, 0.5, x),
    "both axes": lambda x: nn.layer_normalization(x, axis=(0, 1)),
    "l2_normalize": lambda x: nn.l2_normalize(x, 1),
    "bias_add": lambda x: nn.bias_add(x, x[0]),
    "dropout": lambda x: nn.dropout(x, 0.25, x > 0.1),
}


@pytest.mark.parametrize("name", CALLS)
def test_first_and_second_order_against_differences(name: str) -> None:
    x = np.random.default_rng(0).normal(size=(4, 3))
    ad.check_grads(lambda x: np.sum(np.sin(CALLS[name](x))), (x,), order=2)


OF_ROWS = ("layer_normalization", "l2_normalize", "dropout")  # those of the others need a first one


@pytest.mark.parametrize(("name", "batch"), [*[(n, b) for n in CALLS for b in (1, 5)], *[(n, 0) for n in OF_ROWS]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shapes_and_dtypes(name: str, dtype: Any, batch: int) -> None:
    x = np.random.default_rng(0).normal(size=(batch, 3)).astype(dtype)
    out = CALLS[name](x)
    assert out.dtype == dtype and out.shape == ((3,) if name == "moments" else (batch, 3))
    g = ad.grad(lambda x: np.sum(CALLS[name](x) ** 2))(x)
    assert g.dtype == dtype and g.shape == (batch, 3)


def test_dropout_with_a_mask() -> None:
    stays = np.array([[True, False, True], [False, True, True]])
    x = X.copy()
    x[0, 1] = np.nan  # what is dropped does not matter
    assert np.array_equal(nn.dropout(x, 0.5, stays), [[2, 0, 8], [0, -2, 6]])
    assert np.array_equal(ad.grad(lambda x: np.sum(nn.dropout(x, 0.5, stays)))(x), 2.0 * stays)
    for rate in (1.0, 1.5, -0.1):
        with pytest.raises(ValueError, match="at least 0 and less than 1"):
            nn.dropout(x, rate, stays)
    with pytest.raises(TypeError, match=r"drawn from an np.random.Generator, not from int"):
        nn.dropout(x, 0.5, 7)


def test_dropout_draws_from_the_generator_anew_at_each_call() -> None:
    x = np.ones((50, 40))

    def f(x: np.ndarray, random: np.random.Generator) -> Any:
        once = nn.dropout(x, 0.25, random)
        return np.sum(once * nn.dropout(x, 0.25, random))

    random = np.random.default_rng(3)
    masks = [random.random(x.shape) >= 0.25 for _ in range(4)]
    g, random = ad.grad(f), np.random.default_rng(3)
    for a, b in (masks[:2], masks[2:]):
        assert np.allclose(g(x, random), 2 * (a & b) / 0.75**2)
    assert 0.7 < masks[0].mean() < 0.8
    assert np.array_equal(g(x, np.random.default_rng(3)), g(x, np.random.default_rng(3)))
    assert not np.array_equal(g(x, np.random.default_rng(3)), g(x, np.random.default_rng(4)))


def test_another_generator_needs_no_other_code() -> None:
    def f(x: np.ndarray, random: np.random.Generator) -> Any:
        noise = random.normal(size=3) if len(x) > 5 else 1.0
        return np.sum(nn.dropout(x, 0.5, random) * noise)

    g = ad.grad(f)
    for seed in (1, 2, 1):
        want = 2.0 * (np.random.default_rng(seed).random(X.shape) >= 0.5)
        assert np.array_equal(g(X, np.random.default_rng(seed)), want)
    plain = ad.grad(lambda x, random: np.sum(nn.dropout(x, 0.5, random)))
    assert "Generator" not in plain.source(X, np.random.default_rng(5))  # it is an argument of the code
    one = np.random.default_rng(7)
    both = ad.grad(lambda x, a, b: np.sum(nn.dropout(x, 0.5, a) * 1.0 + nn.dropout(x, 0.5, b) * 10.0))(X, one, one)
    again = np.random.default_rng(7)
    assert np.array_equal(both, sum(c * 2.0 * (again.random(X.shape) >= 0.5) for c in (1.0, 10.0)))


def test_a_layer_that_keeps_its_generator() -> None:
    class Layer:
        def __init__(self) -> None:
            self.random = np.random.default_rng(0)

        def loss(self, x: np.ndarray, training: bool) -> Any:
            total = 0.0
            for _ in range(3):
                total += np.sum((nn.dropout(x, 0.5, self.random) if training else x) ** 2)
            return total

    random, x = np.random.default_rng(0), X
    want = sum(8 * x * (random.random(x.shape) >= 0.5) for _ in range(3))
    g = ad.grad(Layer().loss)
    assert np.allclose(g(x, True), want) and np.allclose(g(x, False), 6 * x)
