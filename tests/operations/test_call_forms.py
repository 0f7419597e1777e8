"""Rarer forms of calls, and functions that call a function of elements: their values, gradients and tangents."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

X = np.array([0.7, -1.3, 2.1, 0.4])
M = np.array([[2.0, 0.3, 0.1, 0.7], [0.2, 3.0, 0.4, -0.2], [0.5, 0.1, 4.0, 0.9], [0.1, -0.8, 0.3, 5.0]])


def steep(v, k=2.0):
    return v * v * k if v > 0.5 else -v


STEEP = np.vectorize(steep)
WHOLE = np.vectorize(steep, otypes=[float])


def vectorized_inside(x):
    scale = x[0]
    return np.sum(np.vectorize(lambda v, w: v * w * scale if w > 0 else v)(x[:, None], x))


def vectorized_outside(x):
    return np.sum(STEEP(x * 1.5) * x) + np.sum(WHOLE(x, 3.0)) + np.sum(STEEP(x, k=x[2])) + np.sum(STEEP(x[0]))


def objects_to_numbers(x):
    scale = x[1]
    squared = np.frompyfunc(lambda v: v * v * scale if v > 0.5 else 1, 1, 1)
    both = np.frompyfunc(lambda v, w: (v * w, v - w), 2, 2)
    a, b = both(x, x[:, None])
    return np.sum(squared(x).astype(float) * x) + squared(x[0]) + np.sum(a.astype(np.float64) * b.astype(float))


def first_value_is_an_int(x):
    return np.sum(np.vectorize(lambda v: 0 if v > 0.6 else v)(x) * x)


def called_once_more_for_the_dtype(x):
    seen = []

    def keep(v):
        seen.append(v)
        return v * len(seen)

    return np.sum(np.vectorize(keep)(x)) * len(seen)


def stacked(x):
    a = M * x
    return np.sum(np.stack(a) ** 2) + np.sum(np.stack(a, axis=1) * M) + np.sum(np.stack(a, -1)[1] * x)


def joined(x):
    a = M * x
    cube = np.stack([a, a * 2.0, a**2])
    return (
        np.sum(np.concatenate(a) * np.arange(16.0))
        + np.sum(np.concatenate(cube, 1)[2] ** 2)
        + np.concatenate(cube)[5, 1]
    )


def distinct_values(x):
    return np.sum(np.unique(np.concatenate([x, x[:2]])) * np.array([1.0, -2.0, 0.5, 3.0]))


def distinct_and_more(x):
    groups, places, inverse, counts = np.unique(np.array([3, 1, 3, 2]), True, True, True)
    total = x[places[0]] * counts[2] + np.sum(x * inverse)
    for g in groups:
        total = total + x[g] * g
    return total


def weighted_histogram(x):
    at = np.array([0.1, 0.25, 0.25, 1.0])
    counts, edges = np.histogram(at, 4, (0.0, 1.0), weights=x)
    dense, _ = np.histogram(at, bins=np.array([0.0, 0.25, 1.0]), weights=x**2, density=True)
    return np.sum(counts**2 * np.arange(4)) + edges[1] * dense[1]


def nested_lists(x):
    rows = (M * x).tolist()
    return rows[0][1] * rows[2][3] + len(rows) * len(rows[1]) * rows[3][0]


def items(x):
    a = M * x
    return a.item(6) * a.item(1, 2) + a.item((3, 3)) + x.item(-1)


def axes_by_number(x):
    a = M * x
    return (
        np.sum(np.einsum(a, [0, 1], a, [1, 2], [2, 0]) * M)
        + np.sum(np.einsum(a, [1, 0]))
        + np.einsum(x, [4], x, [4], [])
    )


def real_if_close(x):
    return np.sum(np.real_if_close(x) ** 2) + np.sum(np.real_if_close(x * (1 + 0j)) * x)


def eigenvalues(x):
    w, v = np.linalg.eig(M * x)
    return np.sum(w.real**2) + np.abs(v[0, 1]) ** 2 + np.max(np.linalg.eigvals(M + np.diag(x)).real)


def turning(x):
    w = np.linalg.eigvals(np.array([[x[0], 1.0], [-2.0, x[1]]]))
    return np.sum(np.abs(w) ** 3) + np.sum(w.imag**2)


def norms(x, order=1, axis=(0, 1)):
    return np.linalg.norm(M * x, order, axis) + np.linalg.norm(x, order)


def made_by_its_class(x):
    a = np.ndarray((2, 4), dtype=x.dtype)
    b = np.ndarray(4)
    for k in range(4):
        a[:, k] = x[k] * x[:2]
        b[k] = a[0, k] + x[3 - k]
    return np.sum(a * b)


def flags_as_ints(x):
    a = M * x + M.T
    q = np.sum(a / np.sum(a, axis=0, keepdims=1) * a) + np.sum(a.max(1, keepdims=1) * a) + np.sum(a.sum(0, keepdims=0))
    lengths = np.linalg.norm(a, axis=1, keepdims=1) + np.std(a, 1, keepdims=1) + np.nanmean(a, 1, keepdims=1)
    u, s, v = np.linalg.svd(a[:, :2], full_matrices=0)
    w, _, _ = np.linalg.svd(a[:2], 0)
    angles = np.angle(x + 1j * x[::-1], 1)
    return (
        q + np.sum(lengths * a) + np.sum(u @ np.diag(s) @ v * M[:, :2]) + np.sum(w**2 * M[:2, :2]) + np.sum(angles * x)
    )


def places_of_maxima(x):
    a = M * x
    at = np.argmax(a, axis=1, keepdims=1)
    some = np.any(a > 0.5, axis=1, keepdims=1) + np.count_nonzero(a > 0.2, axis=1, keepdims=1)
    return np.sum(np.take_along_axis(a, at, axis=1) * a) + np.sum(some * a)


def interpolated(x):
    xp, fp = np.array([-1.0, 0.6, 1.5]), np.array([1.0, 3.0, 2.0])
    beside = np.interp(x, xp, fp, left=x[1] ** 2, right=7.0) * np.arange(1.0, 5.0)
    around = np.interp(x, xp, x[:3], period=2.9) * x
    return np.sum(beside) + np.sum(around) + np.interp(x[2], xp, fp * x[0], 0, x[3]) + np.interp(x[0], xp, fp, 4.0)


def real_or_complex(x):
    roots = np.emath.sqrt(x - 1.0)
    logs = np.emath.log(x**2 + 0.1) + np.emath.log10(x**2 + 0.1) + np.emath.log2(x**2) + np.emath.logn(3.0, x**2)
    bent = np.emath.arccos(x) * np.emath.arcsin(x[3] / 4.0) + np.emath.arctanh(x[0] * 2.0)
    return (
        np.sum(roots.real * x) + np.sum(roots.imag**2) + np.sum(logs * x)
        + np.sum(bent.real + bent.imag**2) + np.emath.sqrt(x[0]) + np.sum(np.emath.power(x, 2.5).real)
    )  # fmt: skip


def points_and_their_distance(x):
    points, step = np.linspace(x[0], x[2], 5, retstep=True)
    open_, other = np.linspace(x[0], x[1:3], num=4, endpoint=False, retstep=1)
    plain = np.linspace(0.0, x[3], 3, True, False)
    return np.sum(points**2) * step + np.sum(open_ * other**2) + np.sum(plain**3)


FUNCTIONS = [
    flags_as_ints, places_of_maxima, interpolated, real_or_complex, points_and_their_distance, made_by_its_class,
    vectorized_inside, vectorized_outside, objects_to_numbers, first_value_is_an_int,
    called_once_more_for_the_dtype, stacked, joined,
    distinct_values, distinct_and_more, weighted_histogram, nested_lists, items, axes_by_number, real_if_close,
    eigenvalues, turning, norms,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_value_gradient_and_tangent(f):
    value, found = ad.value_and_grad(f)(X)
    want = differences(f, X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    direction = np.array([0.3, -0.2, 1.1, 0.5])
    value, tangent = ad.jvp(f, (X,), (direction,))
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(tangent, np.sum(want * direction), rtol=1e-5)


@pytest.mark.parametrize("fn", [np.stack, np.concatenate])
def test_parts_of_no_array_raise_as_numpy_does(fn):
    a = np.zeros((0, 2))
    with pytest.raises(ValueError, match="need at least one array"):
        fn(a)
    with pytest.raises(ValueError, match="need at least one array"):
        ad.grad(lambda x: np.sum(fn(x)))(a)


def test_a_function_of_elements_with_options_is_refused():
    with pytest.raises(ad.UnsupportedError, match="several results"):
        ad.grad(lambda x: np.vectorize(lambda v: (v, v), otypes=[float, float])(x)[0].sum())(X)
    with pytest.raises(ad.UnsupportedError, match="returns a tuple"):
        ad.grad(lambda x: np.vectorize(lambda v: (v, v))(x)[0].sum())(X)
    with pytest.raises(ad.UnsupportedError, match="signature"):
        ad.grad(lambda x: np.vectorize(np.sum, signature="(n)->()")(x).sum())(X)


@pytest.mark.parametrize(
    "f",
    [lambda y: np.sum(y), lambda y: y.sum(), lambda y: y[0], lambda y: sum(y), lambda y: np.sum(y * 2.0),
     lambda y: np.sum(y.astype(object))],
)  # fmt: skip
def test_arrays_of_objects_name_the_remedy(f):
    with pytest.raises(ad.UnsupportedError, match=r"array of objects(.|\n)*\.astype\(float\)"):
        ad.grad(lambda x: f(np.frompyfunc(lambda v: v * v, 1, 1)(x)))(X)
