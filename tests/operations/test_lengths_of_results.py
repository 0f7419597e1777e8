"""Rules that ask for a length: of a diagonal, which is that of a square matrix, and of what rfft was given."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("axis", [-1, 0])
def test_rfft(norm, axis):
    for n in (1, 2, 5, 8):
        for k in (None, 6):

            def f(x, k=k):
                z = np.fft.rfft(x, k, axis=axis, norm=norm)
                return np.sum(z.real**3) + np.sum(z.imag**2 * 0.7) + np.sum(np.abs(z) ** 2)

            x = RNG.normal(size=(n, 2) if axis == 0 else (2, n))
            np.testing.assert_allclose(ad.grad(f)(x), differences(f, x), rtol=1e-5, atol=1e-6)
            v = RNG.normal(size=x.shape)
            second = np.tensordot(v, differences(ad.grad(f), x), 2)
            np.testing.assert_allclose(ad.hvp(f)(x, v), second, rtol=1e-4, atol=1e-5)


def test_rfft_is_reversed_by_irfft():
    def power(x):
        z = np.fft.rfft(x)
        return np.sum(z.real**2 + z.imag**2)

    text = ad.grad(power).source(np.ones(8))
    assert "irfft" in text and "fft.fft" not in text


def on_the_diagonal(a, b):
    return np.sum(np.diag(a) ** 3 * b) + np.sum(a * a)


@pytest.mark.parametrize(
    ("shape", "length"), [((3, 3), 3), ((3, 4), 3), ((4, 3), 3), ((3, 3), 1), ((1, 1), 1), ((1, 3), 1), ((3, 1), 1)]
)
def test_diagonals(shape, length):
    """One gradient function for all of them: code for square matrices is not used for others."""
    g = ad.grad(on_the_diagonal)
    g(np.eye(2), np.ones(2))
    for dtype in (np.float64, np.float32):
        a, b = RNG.normal(size=shape).astype(dtype), RNG.normal(size=length).astype(dtype)
        expected = differences(on_the_diagonal, a.astype(float), b.astype(float))
        found = g(a, b)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype is np.float64 else 1e-3, atol=1e-4)
    v = RNG.normal(size=shape)
    a, b = a.astype(float), b.astype(float)
    found = ad.hvp(lambda a: on_the_diagonal(a, b))(a, v)
    np.testing.assert_allclose(found, 2.0 * v + _on_diagonal(6.0 * np.diag(a) * b * np.diag(v), shape), rtol=1e-8)


def _on_diagonal(values, shape):
    out = np.zeros(shape)
    k = np.arange(len(values))
    out[k, k] = values
    return out


def test_no_length_is_looked_up_for_a_square_matrix():
    text = ad.grad(on_the_diagonal).source(np.eye(3), np.ones(3))
    assert "np.diag(" in text and "arange" not in text and "sum_to" not in text


def test_other_lengths_raise():
    with pytest.raises(ValueError, match="broadcast"):
        ad.grad(on_the_diagonal)(np.eye(4), np.ones(3))


def eliminated(a, block):
    total = 0.0
    for start in range(0, len(a), block):
        stop = min(start + block, len(a))
        corner = a[start:stop, start:stop]
        total += np.log(np.abs(np.linalg.det(corner)))
        a[stop:, stop:] -= a[stop:, start:stop] @ np.linalg.solve(corner, a[start:stop, stop:])
    return total


def test_slices_in_a_loop_keep_their_lengths_in_the_adjoint():
    a = RNG.normal(size=(5, 5)) + 4.0 * np.eye(5)
    for block in (1, 2, 3, 5):
        np.testing.assert_allclose(
            ad.grad(eliminated)(a, block), differences(eliminated, a, block), rtol=1e-5, atol=1e-7
        )
    assert "sum_to" not in ad.grad(eliminated).source(a, 2)


def sines(angles):
    x = np.zeros(3)
    for i in range(4):
        x = x + np.cos(angles * (i + 1) + x) * np.sin(angles * (i + 1) + x)
    return np.sum(x * x)


def test_what_the_forward_sweep_has_computed_is_saved():
    a = np.array([0.3, 0.7, 1.1])
    np.testing.assert_allclose(ad.grad(sines)(a), differences(sines, a), rtol=1e-6)
    back = [line for line in ad.grad(sines).source(a).split("reversed")[-1].splitlines() if "#" not in line]
    back = "\n".join(back)
    assert "np.cos(" not in back and "np.sin(" not in back
