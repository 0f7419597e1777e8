"""Activations: values and derivatives as TensorFlow has them, rules by the harness, extremes, dtypes, empty batches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import kernels, nn

X = np.array([-1000.0, -3.5, -1.0, -0.25, 0.0, 0.25, 1.0, 3.5, 6.0, 1000.0])
# What TensorFlow 2.21 computes in float64 at X: values, derivatives.
EXPECTED: dict[str, tuple[list[float], list[float]]] = {
    "sigmoid": (
        [0, 0.02931223075135632, 0.2689414213699951, 0.4378234991142019, 0.5, 0.5621765008857981, 0.7310585786300049,
         0.9706877692486436, 0.9975273768433652, 1],
        [0, 0.02845302387973556, 0.19661193324148185, 0.24613408273759838, 0.25, 0.24613408273759835,
         0.19661193324148185, 0.0284530238797356, 0.00246650929136004, 0],
    ),
    "relu": ([0, 0, 0, 0, 0, 0.25, 1, 3.5, 6, 1000], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]),
    "relu6": ([0, 0, 0, 0, 0, 0.25, 1, 3.5, 6, 6], [0, 0, 0, 0, 0, 1, 1, 1, 0, 0]),
    "leaky_relu": (
        [-200, -0.7, -0.2, -0.05, 0, 0.25, 1, 3.5, 6, 1000], [0.2, 0.2, 0.2, 0.2, 0.2, 1, 1, 1, 1, 1]
    ),
    "elu": (
        [-1, -0.9698026165776815, -0.6321205588285577, -0.22119921692859512, 0, 0.25, 1, 3.5, 6, 1000],
        [0, 0.03019738342231848, 0.36787944117144233, 0.7788007830714049, 1, 1, 1, 1, 1, 1],
    ),
    "selu": (
        [-1.7580993408473768, -1.7050093409572833, -1.1113307378125628, -0.38889019747811898, 0, 0.26267524683887011,
         1.0507009873554805, 3.6774534557441818, 6.3042059241328827, 1050.7009873554805],
        [0, 0.05308999989009355, 0.6467686030348141, 1.369209143369258, *[1.0507009873554805] * 6],
    ),
    "gelu": (
        [0, -8.1420195958212661e-04, -0.15865525807260966, -0.10032341899286551, 0, 0.14967658100713449,
         0.84134474192739028, 3.4991857980404180, 5.9999999940804702, 1000],
        [0, -0.00282176088942958, -0.08331546644653365, 0.30462664832173636, 0.5, 0.6953733516782636,
         1.0833154664465336, 1.0028217608894296, 1.0000000354687306, 1],
    ),
    "softplus": (
        [0, 2.9750418272620566e-02, 0.31326168751822281, 0.57593941987884345, 0.69314718055994529, 0.82593941987884334,
         1.3132616875182228, 3.5297504182726205, 6.0024756851377301, 1000],
        [0, 0.02931223075135632, 0.2689414213699951, 0.4378234991142019, 0.5, 0.5621765008857981, 0.7310585786300049,
         0.9706877692486436, 0.9975273768433652, 1],
    ),
    "softsign": (
        [-0.999000999000999, -0.7777777777777778, -0.5, -0.2, 0, 0.2, 0.5, 0.7777777777777778, 0.8571428571428571,
         0.999000999000999],
        [9.98002996004994e-07, 4.938271604938271e-02, 0.25, 0.64, 1, 0.64, 0.25, 4.938271604938271e-02,
         2.040816326530612e-02, 9.98002996004994e-07],
    ),
    "silu": (
        [0, -0.10259280762974711, -0.2689414213699951, -0.10945587477855047, 0, 0.14054412522144952, 0.7310585786300049,
         3.3974071923702529, 5.9851642610601914, 1000],
        [0, -0.07027335282771813, 0.07232948812851325, 0.3762899784298023, 0.5, 0.6237100215701977, 0.9276705118714869,
         1.0702733528277182, 1.0123264325915255, 1],
    ),
    "tanh": (
        [-1, -0.9981778976111988, -0.7615941559557649, -0.2449186624037091, 0, 0.2449186624037091, 0.7615941559557649,
         0.9981778976111988, 0.9999877116507956, 1],
        [0, 3.6408847204871808e-03, 0.41997434161402614, 0.9400148488063780, 1, 0.9400148488063780, 0.41997434161402614,
         3.6408847204871808e-03, 2.4576547405286142e-05, 0],
    ),
    "hard_sigmoid": (
        [0, 0, 0.3333333333333333, 0.4583333333333333, 0.5, 0.5416666666666666, 0.6666666666666666, 1, 1, 1],
        [0, 0, *[0.16666666666666666] * 5, 0, 0, 0],
    ),
}  # fmt: skip
APPROXIMATE = (
    [0, -6.1619772054644084e-04, -0.15880800972132364, -0.10032464930063056, 0, 0.14967535069936944, 0.84119199027868,
     3.4993838022794534, 5.9999999999156035, 1000],
    [0, -0.00242264396043902, -0.08296408293443804, 0.3046459048852531, 0.5, 0.6953540951147469, 1.082964082934438,
     1.002422643960439, 1.0000000007709977, 1],
)  # fmt: skip
EACH = sorted(EXPECTED)
ROWS = ["softmax", "log_softmax"]


def slopes(fn: Any, x: np.ndarray) -> np.ndarray:
    return ad.grad(lambda x: np.sum(fn(x)))(x)


@pytest.mark.parametrize("name", EACH)
def test_values_and_derivatives_of_tensorflow(name: str) -> None:
    values, derivatives = EXPECTED[name]
    fn = getattr(nn, name)
    digits = 1e-6 if name == "gelu" else 1e-13  # TensorFlow rounds the constant in gelu to float32
    with np.errstate(all="raise", under="ignore"):
        assert np.allclose(fn(X), values, digits, 1e-16)
        assert np.allclose(slopes(fn, X), derivatives, digits, 1e-16)


def test_gelu_by_the_error_function_of_python() -> None:
    assert np.allclose(nn.gelu(X[1:]), [0.5 * x * (1 + math.erf(x * math.sqrt(0.5))) for x in X[1:]], 1e-13, 0)


def test_approximate_gelu() -> None:
    assert np.allclose(nn.gelu(X, approximate=True), APPROXIMATE[0], 1e-6, 1e-15)
    assert np.allclose(slopes(lambda x: nn.gelu(x, True), X), APPROXIMATE[1], 1e-6, 1e-15)


@pytest.mark.parametrize("name", [*EACH, *ROWS, "erf", "logsumexp"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (4, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shapes_and_dtypes_stay(name: str, shape: tuple[int, ...], dtype: Any) -> None:
    fn = getattr(nn, name)
    x = np.linspace(-2, 2, math.prod(shape)).reshape(shape).astype(dtype)
    out = fn(x) if name != "logsumexp" else fn(x, -1, True) + 0 * x
    assert out.shape == shape and out.dtype == dtype
    g = slopes(lambda x: fn(x) * x, x)
    assert g.shape == shape and g.dtype == dtype


@pytest.mark.parametrize("name", [*EACH, *ROWS, "erf", "logsumexp"])
def test_first_and_second_order_against_differences(name: str) -> None:
    fn = getattr(nn, name)
    x = np.array([[-2.3, -0.4, 0.7], [1.9, -1.1, 0.2]])
    w = np.array([[0.3, -1.2, 0.8], [1.5, 0.4, -0.7]])
    ad.check_grads(lambda x: np.sum(fn(x) * w), (x,), order=2)


@pytest.mark.parametrize("name", [*EACH, "erf"])
def test_of_a_number_in_loops_and_branches(name: str) -> None:
    fn = getattr(nn, name)

    def f(x: float, n: int) -> float:
        for _ in range(n):
            if x > 0.3:
                x = fn(x) - 0.1 * x
            else:
                x = x + fn(0.5 * x)
        return x

    for x in (0.9, -0.4):
        want = (f(x + 1e-6, 3) - f(x - 1e-6, 3)) / 2e-6
        assert np.isclose(ad.grad(f)(x, 3), want, 1e-6)


def test_error_function_in_float64_and_beyond() -> None:
    x = np.concatenate([np.linspace(-7, 7, 4001), [0.0, 1e-300, 1.0, -1.0, 30.0, -1e300, np.inf, -np.inf]])
    want = np.array([math.erf(v) for v in x])
    assert np.max(np.abs(nn.erf(x) - want)) < 3e-16
    small = np.array([1e-12, -3e-5, 0.02, 0.4])
    assert np.allclose(nn.erf(small), [math.erf(v) for v in small], 1e-15, 0)
    assert np.isnan(nn.erf(np.array([np.nan]))).all()


def test_extremes_overflow_nowhere() -> None:
    x = np.array([[1e4, -1e4, 0.0], [700.0, 710.0, 720.0]])
    with np.errstate(all="raise", under="ignore"):
        for dtype in (np.float32, np.float64):
            for name in ("sigmoid", "softplus", "softmax", "log_softmax", "logsumexp", "silu", "elu", "selu"):
                fn = getattr(nn, name)
                for g in (fn(x.astype(dtype)), slopes(lambda x: fn(x) * 0.5, x.astype(dtype))):
                    assert np.isfinite(g).all(), name


def test_logsumexp_of_infinite_numbers_as_tensorflow() -> None:
    inf = np.inf
    with np.errstate(invalid="ignore"):
        assert np.array_equal(nn.logsumexp(np.array([[-inf, -inf], [0, -inf], [inf, 0]]), -1), [-inf, 0, inf])
    g = slopes(lambda x: nn.logsumexp(x, -1), np.array([[0.0, -inf]]))
    assert np.array_equal(g, [[1, 0]])


def test_log_sigmoid() -> None:
    with np.errstate(all="raise", under="ignore"):
        assert np.allclose(nn.log_sigmoid(X[1:]), np.log(nn.sigmoid(X[1:])), 1e-12, 0)
        assert nn.log_sigmoid(X)[0] == -1000
        assert np.allclose(slopes(nn.log_sigmoid, X), nn.sigmoid(-X), 1e-13, 0)
    ad.check_grads(lambda x: np.sum(nn.log_sigmoid(x)), (X[2:7],), order=2)


def test_nan_comes_through() -> None:
    for name in [*EACH, "erf"]:
        assert np.isnan(getattr(nn, name)(np.array([np.nan]))).all(), name


@pytest.mark.parametrize("name", [*EACH, *ROWS, "erf", "log_sigmoid", "logsumexp"])
def test_half_and_longdouble_and_integers(name: str) -> None:
    fn = getattr(nn, name)
    x = np.array([[-300, -20, -5, -1.3, -0.2], [0, 0.4, 3, 12, 400]], np.float16)
    want, bar = fn(x.astype(np.float64)), slopes(fn, x.astype(np.float64))
    for dtype, digits in ((np.float16, 8e-3), (np.longdouble, 1e-12)):
        y, g = fn(x.astype(dtype)), slopes(fn, x.astype(dtype))
        assert y.dtype == g.dtype == dtype
        assert np.allclose(y.astype(float), want, digits, digits) and np.allclose(g.astype(float), bar, digits, digits)
    for dtype in (np.int64, np.uint8):
        assert np.allclose(fn(np.array([0, 1, 3], dtype)), fn(np.array([0.0, 1.0, 3.0])), 2e-3, 2e-3)


def test_integers_become_floating_and_complex_numbers_are_refused() -> None:
    assert nn.sigmoid(np.array([0, 1])).dtype == np.float64
    assert nn.softmax([0, 0]).tolist() == [0.5, 0.5]
    with pytest.raises(TypeError, match="real numbers"):
        nn.sigmoid(np.array([1j]))


def test_a_variable_of_the_name_of_a_kernel() -> None:
    def f(x: np.ndarray) -> float:
        sigmoid = x * 2.0
        relu = nn.relu(sigmoid) * nn.sigmoid(sigmoid)
        return np.sum(nn.sigmoid(relu) * sigmoid * relu)

    ad.check_grads(f, (np.array([0.3, -0.8, 1.4]),), order=2)


def test_any_argument_may_hand_a_kernel_elsewhere() -> None:
    class Elsewhere:
        def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return fn, args

    it = Elsewhere()
    assert nn.sigmoid(it) == (kernels.sigmoid, (it,))
    assert nn.sigmoid_cross_entropy_with_logits(labels=np.ones(2), logits=it)[0] is kernels.sigmoid_cross_entropy
