"""Operations in the place of functions of NumPy's that take long: that they give the same, and when that is done."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(4)
CUBE = RNG.normal(size=(3, 4, 5))
ARRAYS = {
    "vector": RNG.normal(size=6),
    "one element": np.ones(1),
    "none": np.ones(0),
    "matrix": RNG.normal(size=(3, 4)),
    "columns first": np.asfortranarray(RNG.normal(size=(4, 3))),
    "transposed": CUBE.transpose(2, 0, 1),
    "every second": RNG.normal(size=(6, 4))[::2, ::-1],
    "no rows": np.ones((0, 4)),
}


ROLLS = [
    lambda x: np.roll(x, 1, 0),
    lambda x: np.roll(x, -1, 0),
    lambda x: np.roll(x, 1, axis=-1),
    lambda x: np.roll(x, -1, axis=-1),
    lambda x: np.roll(x, 1, axis=1),
    lambda x: np.roll(x, axis=-2, shift=-1),
]


@pytest.mark.parametrize("name", ARRAYS)
def test_the_array_is_the_same(name):
    x = ARRAYS[name]
    for roll in ROLLS[: 4 if x.ndim == 1 else None]:
        value = ad.value_and_grad(lambda x, roll=roll: np.sum(roll(x) * np.sin(x)))
        text = value.source(x)
        assert "np.concatenate" in text and "np.roll" not in text
        out, gradient = value(x)
        assert out == np.sum(roll(x) * np.sin(x))
        if x.size:
            assert gradient == pytest.approx(differences(lambda x, roll=roll: np.sum(roll(x) * np.sin(x)), x), abs=1e-7)
        found, _ = ad.vjp(roll, x)
        want = roll(x)
        assert np.array_equal(found, want) and found.strides == want.strides


@pytest.mark.parametrize(
    "roll",
    [
        lambda x: np.roll(x, 2, 0),
        lambda x: np.roll(x, 1),
        lambda x: np.roll(x, (1, -1), (0, 1)),
        lambda x: np.roll(x, -1, axis=(1,)),
        lambda x: np.roll(x, len(x) - 2, 0),
    ],
)
def test_others_are_rolled(roll):
    x = ARRAYS["matrix"]
    value = ad.value_and_grad(lambda x: np.sum(roll(x) * np.sin(x)))
    assert "np.roll(" in value.source(x) or "rolled(" in value.source(x)
    out, gradient = value(x)
    assert out == np.sum(roll(x) * np.sin(x))
    assert gradient == pytest.approx(differences(lambda x: np.sum(roll(x) * np.sin(x)), x), rel=1e-6, abs=1e-8)


def stored_behind(x, n):
    u = x.copy()
    for _ in range(n):
        v = np.roll(u, 1)
        u[1:] += 0.5 * v[1:] * u[:-1]
        u -= np.roll(v, -1) * 0.1
    return np.sum(u * v)


def test_what_is_stored_behind_does_not_matter():
    x = ARRAYS["vector"]
    value, gradient = ad.value_and_grad(stored_behind)(x, 3)
    assert value == stored_behind(x, 3)
    assert gradient == pytest.approx(differences(lambda x: stored_behind(x, 3), x), rel=1e-6, abs=1e-8)
    assert np.array_equal(gradient, ad.grad(stored_behind, optimize="-shortcuts")(x, 3))


@pytest.mark.parametrize("dtype", ["f4", ">f8", "c16"])
def test_dtypes(dtype):
    x = ARRAYS["vector"].astype(dtype)
    value, _ = ad.vjp(lambda x: np.roll(x, 1) * x, x)
    want = np.roll(x, 1) * x
    assert value.dtype == want.dtype and np.array_equal(value, want)


def test_no_such_axis():
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        ad.grad(lambda x: np.sum(np.roll(x, 1, 2)))(ARRAYS["matrix"])


@pytest.mark.parametrize("name", [name for name in ARRAYS if ARRAYS[name].size])
def test_the_mean_is_the_same(name):
    x = ARRAYS[name]
    value = ad.value_and_grad(lambda x: np.mean(np.sin(x)))
    out, gradient = value(x)
    assert out == np.mean(np.sin(x)) and type(out) is np.float64
    assert gradient == pytest.approx(np.cos(x) / x.size)
    if 1 not in x.shape:
        assert "np.mean" not in value.source(x)


@pytest.mark.parametrize(
    "mean", [lambda x: np.mean(x, axis=0)[1], lambda x: np.mean(x[1:, 0]), lambda x: np.mean(x[0, 0])]
)
def test_other_means(mean):
    x = ARRAYS["matrix"]
    out, gradient = ad.value_and_grad(mean)(x)
    assert out == mean(x)
    assert gradient == pytest.approx(differences(mean, x), rel=1e-6, abs=1e-8)


def test_the_mean_of_nothing_warns_in_its_own_words():
    mean = ad.value_and_grad(lambda x: np.mean(x * x))
    mean(np.ones(4))
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        value, gradient = mean(np.ones(0))
    assert np.isnan(value) and gradient.shape == (0,)


def test_the_mean_of_few_bits():
    x = np.linspace(0.0, 1.0, 1000).astype(np.float32)
    out, _ = ad.value_and_grad(lambda x: np.mean(x * x))(x)
    assert out == np.mean(x * x) and out.dtype == np.float32


def test_the_size_of_what_a_mean_is_made_of():
    def f(x, w):
        loss = 0.0
        for _ in range(3):
            y = x @ w
            loss += np.mean(y**2)
            w = w + 0.1
        return loss

    x, w = ARRAYS["matrix"], np.ones((4, 3))
    compiled = ad.value_and_grad(f)
    assert compiled(x, w)[0] == f(x, w)
    assert "(y**2).sum() / y.size" in compiled.source(x, w)


def test_the_mean_of_what_is_rolled():
    def f(x):
        return np.tanh(np.mean(np.roll(x, 1)))

    np.testing.assert_allclose(ad.grad(f)(ARRAYS["vector"]), differences(f, ARRAYS["vector"]), rtol=1e-5, atol=1e-8)


DEVIATIONS = [
    lambda x: np.var(x),
    lambda x: np.std(x, ddof=1),
    lambda x: np.std(x, axis=0),
    lambda x: np.var(x, axis=1, keepdims=True),
    lambda x: x.std(axis=-1, ddof=1) ** 2,
    lambda x: np.var(x, 0),
    lambda x: np.mean(x, axis=1, keepdims=True),
    lambda x: x.mean(axis=0),
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.mean(np.linalg.norm(x, axis=1)),
    lambda x: np.std(np.mean(x, axis=1, keepdims=True) * x, axis=0),
    lambda x: np.linalg.norm(x, axis=-1, keepdims=True),
]


@pytest.mark.parametrize("number", range(len(DEVIATIONS)))
def test_deviations_means_and_norms(number):
    f = DEVIATIONS[number]
    rows = RNG.normal(size=(200, 3)) * 10.0 ** RNG.integers(-3, 3, (200, 3))
    for x in [*ARRAYS.values(), rows, np.asfortranarray(rows), rows[::-1, ::2]]:
        if x.ndim == 2 and x.size:
            value = ad.value_and_grad(lambda x: np.sum(np.sin(f(x)) * f(x)))
            text = "".join([line for line in value.source(x).splitlines() if "#" not in line])
            assert not any(name in text for name in ("np.std", "np.var", "np.mean", "norm(")), text
            out, gradient = value(x)
            assert out == np.sum(np.sin(f(x)) * f(x))
            found, _ = ad.vjp(f, x)
            assert np.array_equal(found, f(x.copy()))
            if x.size < 20:
                want = differences(lambda x: np.sum(np.sin(f(x)) * f(x)), x)
                assert gradient == pytest.approx(want, abs=1e-7, rel=1e-5)


@pytest.mark.filterwarnings("ignore:.*empty slice", "ignore:Degrees of freedom", "ignore:.*encountered in")
@pytest.mark.parametrize(
    "f", [lambda x: np.sum(np.var(x, axis=0)), lambda x: np.std(x, ddof=1), lambda x: np.sum(np.var(x, axis=1, ddof=1))]
)
def test_deviations_of_too_few(f):
    for x in (np.ones((1, 1)), np.ones((3, 1)), np.ones((0, 3)), np.ones((1, 3))):
        assert np.array_equal(ad.value_and_grad(f)(x)[0], f(x), equal_nan=True)


def test_the_derivative_of_a_deviation_takes_its_differences():
    text = ad.value_and_grad(lambda x: np.var(x, axis=0).sum() + np.std(x, axis=0).prod()).source(ARRAYS["matrix"])
    assert text.count("x - ") == 1, text


def test_a_mean_in_front_of_a_pullback_asks_no_cotangent_for_the_number_of_elements():
    def f(x, m):
        v = np.zeros(4)
        v[::2] = x[::2]
        w = x if np.mean(v) > 3 else m @ v
        return (m * np.sin(w)).sum(axis=0)

    x, m = ARRAYS["vector"][:4], ARRAYS["matrix"][[0, 1, 2, 0]]
    value, pullback = ad.vjp(f, x, m)
    assert np.array_equal(value, f(x, m))
    (by_x, _), seed = pullback(np.ones(4)), 0.1 * np.arange(4.0)
    np.testing.assert_allclose(by_x, differences(lambda x: f(x, m).sum(), x), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(pullback(seed)[0], differences(lambda x: seed @ f(x, m), x), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.mean(np.abs(x - 0.5) ** 1.5),
        lambda x: np.sum(np.abs(x) ** 3.0 * np.abs(x + 1.0) ** 2.5),
        lambda x: np.sum(np.abs(np.abs(x) ** 1.5 - 0.3) ** 1.5),
        lambda x: np.sum(x * np.abs(x) ** 1.2) + np.sum(np.abs(x)),
        lambda x: np.sum(np.abs(x) ** 1.5) * np.sum(np.sign(x) * x),
        lambda x: np.sum(np.abs(x) ** 0.5),
    ],
    ids=range(6),
)
def test_a_power_takes_the_sign(f):
    for x in (np.array([[1.0, -2.0, 0.7], [0.2, -0.1, 3.0]]), np.array([0.3, -0.4], np.float32)):
        grad, plain = ad.grad(f)(x), ad.grad(f, optimize=False)(x)
        assert grad.dtype == plain.dtype == x.dtype
        np.testing.assert_allclose(grad, plain, rtol=1e-12 if x.dtype == np.float64 else 1e-5)


def test_the_sign_of_a_power_is_copied():
    x = np.array([1.0, 0.0, -0.0, np.inf, -4.0, np.nan])
    source = ad.grad(lambda x: np.sum(np.abs(x) ** 1.5)).source(x)
    assert "copysign" in source and "np.sign" not in source, source
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(np.abs(x) ** 1.5))(x), [1.5, 0.0, 0.0, np.inf, -3.0, np.nan])
