"""Sparse Jacobians and Hessians: against the dense ones, and against central differences of the function."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError, IntegerArgumentError, NonScalarOutputError, UnsupportedError

sparse = pytest.importorskip("scipy.sparse")

X = np.array([0.7, -1.2, 2.0, 0.4, 1.1, -0.3])
BAND = np.triu(np.tril(np.arange(1.0, 37.0).reshape(6, 6), 1), -1)
KERNEL = np.array([1.0, -2.0, 0.0, 0.5])
FIRST = np.array([True, False, True, True, False, False])


def elementwise(x: Any) -> Any:
    return np.sin(x) * x + 1.0


def stencil(x: Any) -> Any:
    return x[2:] - 2.0 * x[1:-1] * x[:-2]


def rolled(x: Any) -> Any:
    return np.roll(x, 1) * x + np.roll(x, -2) ** 2


def joined(x: Any) -> Any:
    return np.concatenate((x[:2] * x[2:4], [x[0]], np.zeros(2), x[::-1]))


def banded(x: Any) -> Any:
    return BAND @ np.exp(x)


def from_the_left(x: Any) -> Any:
    return (x * x) @ BAND


def reduced(x: Any) -> Any:
    m = x.reshape(2, 3)
    return np.concatenate((np.sum(m, axis=1), np.max(m, axis=0), [np.prod(x[:2]), np.linalg.norm(x[3:])]))


def cumulative(x: Any) -> Any:
    return np.cumsum(x * x)[1:] + np.cumprod(x)[:-1]


def stored(x: Any) -> Any:
    y = np.zeros(6)
    y[1:] = x[:-1] * 2.0
    y[0] = x[3] * x[4]
    y[2:4] += x[4:] ** 2
    return y


def looped(x: Any) -> Any:
    y = np.zeros(5)
    for k in range(5):
        y[k] = x[k] * x[k + 1]
        if k % 2:
            y[k] += math.sin(x[0])
    return y


def recurrence(x: Any) -> Any:
    y = x.copy()
    for k in range(1, len(x)):
        y[k] = 0.5 * y[k - 1] + y[k] * y[k]
    return y


def views(x: Any) -> Any:
    m = np.zeros((3, 2))
    row = m[1]
    row[:] = x[:2]
    m.T[0] += x[3:] * x[0]
    return m


def repeated(x: Any) -> Any:
    y = np.zeros(4)
    np.add.at(y, np.array([0, 2, 0, 3, 2, 0]), x * x)
    return y


def gathered(x: Any) -> Any:
    return x[np.array([3, 3, 0])] * np.take(x, [1, 2, 5])


def masked(x: Any) -> Any:
    return np.where(FIRST, x * x, x[::-1]) + np.where(x > 0, x, 2.0 * np.roll(x, 1))


def matrix_in(x: Any) -> Any:
    m = x.reshape(3, 2)
    return (m.T * m[0, 0])[:, 1:]


def outer_part(x: Any) -> Any:
    return np.outer(x[:2], x[3:5])


def product(x: Any) -> Any:
    return x[:4].reshape(2, 2) @ x[2:].reshape(2, 2)


def convolved(x: Any) -> Any:
    return np.convolve(np.exp(x), KERNEL, "same")


def lists(x: Any) -> Any:
    rows = []
    for k in range(3):
        rows.append(x[k] * x[5 - k])
    rows[1] = x[0] * 3.0
    return np.array(rows)


def unknown(x: Any) -> Any:
    return np.concatenate((np.linalg.solve(np.eye(3) * 4.0 + np.outer(x[:3], x[:3]), x[:3]), np.exp(x[4:])))


def helper(x: Any, k: int) -> Any:
    return x if k == 0 else np.roll(helper(x * x[0], k - 1), 1)


def recursive(x: Any) -> Any:
    return helper(x, 2)


def moved(x: Any) -> Any:
    m = np.moveaxis(np.stack((x, x * x, np.flip(x))), 0, 1)
    return np.diff(np.repeat(np.tril(m[:3]), 2, axis=0), axis=0)


def softmaxed(x: Any) -> Any:
    m = x.reshape(3, 2)
    e = np.exp(m - np.max(m, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def padded(x: Any) -> Any:
    y = np.pad(x, 1, mode="wrap")
    return y[2:] * y[:-2] + np.pad(x[:2], (0, 4))


def until(x: Any) -> Any:
    y, k = x * 1.0, 0
    while k < 3:
        y[k] = y[k] * y[k + 1]
        k += 1
        if k == 2:
            break
    return y


def constant(x: Any) -> Any:
    return np.ones(3) * len(x)


def sized(x: Any) -> Any:
    return x / np.sum(np.abs(x)) if x.size else x


# Those with a pattern that is larger than needed: an operation has no rule, it chooses by values, or values cancel.
COARSE = {masked, unknown, reduced, moved}
PROGRAMS = [
    elementwise, stencil, rolled, joined, banded, from_the_left, reduced, cumulative, stored, looped, recurrence, views,
    repeated, gathered, masked, matrix_in, outer_part, product, convolved, lists, unknown, recursive, moved, softmaxed,
    padded, until, constant, sized,
]  # fmt: skip


def dense(f: Any, x: Any) -> Any:
    return np.reshape(ad.jacobian(f)(x), (-1, x.size))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_sparse_jacobian_is_the_dense_one(f: Any) -> None:
    sparse_jacobian = ad.jacobian(f, sparsity="auto")
    for x in (X, X[::-1] * 1.5):
        got = sparse_jacobian(x)
        assert isinstance(got, sparse.csr_array) and got.dtype == np.float64
        want = dense(f, x)
        np.testing.assert_allclose(got.toarray(), want, rtol=1e-12, atol=1e-14)
        if f not in COARSE:
            assert got.nnz == np.count_nonzero(want)
    step = 1e-6
    differences = [(np.ravel(f(X + e)) - np.ravel(f(X - e))) / (2 * step) for e in np.eye(6) * step]
    np.testing.assert_allclose(sparse_jacobian(X).toarray(), np.transpose(differences), rtol=1e-6, atol=1e-7)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def arrow(x: Any) -> Any:
    return np.sum(x[0] * x[1:] ** 2) + x[0] ** 4


def by_loop(x: Any) -> Any:
    total = 0.0
    for k in range(len(x) - 2):
        d = x[k + 2] - x[k] * x[k + 1]
        if k != 1:
            total += d * d * d
    return total


def linear(x: Any) -> Any:
    return np.sum(BAND @ x)


def quadratic(x: Any) -> Any:
    return x @ (BAND @ x) + np.sum(np.cumsum(x[:2]) ** 3)


def separable(x: Any) -> Any:
    return np.sum(np.exp(x)) + np.sum(np.where(x > 0, x**3, x))


def in_place(x: Any) -> Any:
    y = x.copy()
    y[1:] *= y[:-1]
    return np.sum(np.sin(y))


def mesh_energy(x: Any) -> Any:
    """The Dirichlet energy of a grid, with a nonlinear spring along each edge."""
    n = math.isqrt(len(x))
    u = x.reshape(n, n)
    return np.sum((u[1:] - u[:-1]) ** 4) + np.sum((u[:, 1:] - u[:, :-1]) ** 4)


def log_sum(x: Any) -> Any:
    return np.log(np.sum(np.exp(x[:3]))) + np.sum(x[3:] ** 3)


@pytest.mark.parametrize(
    "f", [rosenbrock, arrow, by_loop, linear, quadratic, separable, in_place, log_sum], ids=lambda f: f.__name__
)
def test_a_sparse_hessian_is_the_dense_one(f: Any) -> None:
    got = ad.hessian(f, sparsity="auto")(X)
    want = ad.hessian(f)(X)
    np.testing.assert_allclose(got.toarray(), want, rtol=1e-12, atol=1e-13)
    assert isinstance(got, sparse.csr_array)
    assert got.nnz == np.count_nonzero(want) or f in (in_place, separable)
    step = 1e-5
    gradient = ad.grad(f)
    differences = [(gradient(X + e) - gradient(X - e)) / (2 * step) for e in np.eye(6) * step]
    np.testing.assert_allclose(got.toarray(), differences, rtol=1e-5, atol=1e-5)


# --- colourings -------------------------------------------------------------------------------------------------------


def brusselator(x: Any) -> Any:
    n = math.isqrt(len(x) // 2)
    u, v = x[: n * n].reshape(n, n), x[n * n :].reshape(n, n)

    def laplacian(w: Any) -> Any:
        return np.roll(w, 1, 0) + np.roll(w, -1, 0) + np.roll(w, 1, 1) + np.roll(w, -1, 1) - 4.0 * w

    reaction = u * u * v
    return np.concatenate(
        ((1.0 + reaction - 4.4 * u + laplacian(u)).ravel(), (3.4 * u - reaction + laplacian(v)).ravel())
    )


def brusselator_by_loops(x: Any) -> Any:
    n = math.isqrt(len(x) // 2)
    y = np.zeros(2 * n * n)
    for i in range(n):
        for j in range(n):
            k, half = i * n + j, n * n
            u, v = x[k], x[half + k]
            near = [(i + 1) % n * n + j, (i - 1) % n * n + j, i * n + (j + 1) % n, i * n + (j - 1) % n]
            around_u = around_v = 0.0
            for m in near:
                around_u += x[m] - u
                around_v += x[half + m] - v
            y[k] = 1.0 + u * u * v - 4.4 * u + around_u
            y[half + k] = 3.4 * u - u * u * v + around_v
    return y


def colours(f: Any, x: Any, transform: Any = ad.jacobian) -> int:
    return int(transform(f, sparsity="auto").recipe(x).colours)


def test_the_brusselator_needs_few_colours_however_it_is_written() -> None:
    x = np.linspace(0.5, 1.5, 72)
    whole, by_loops = (ad.jacobian(f, sparsity="auto") for f in (brusselator, brusselator_by_loops))
    np.testing.assert_allclose(whole(x).toarray(), dense(brusselator, x), rtol=1e-12)
    np.testing.assert_allclose(by_loops(x).toarray(), whole(x).toarray(), rtol=1e-12)
    assert whole(x).nnz == 6 * 72
    assert colours(brusselator, np.linspace(0.5, 1.5, 2 * 48 * 48)) <= 10


@pytest.mark.parametrize(
    "f, n, count",
    [
        (arrow, 30, 2),  # the hub, and all others
        (rosenbrock, 30, 3),  # a path: a star colouring has three colours
        (mesh_energy, 64, 6),
        (separable, 30, 1),
    ],
)
def test_colours_of_hessians(f: Any, n: int, count: int) -> None:
    x = np.linspace(0.5, 1.5, n)
    assert colours(f, x, ad.hessian) <= count
    np.testing.assert_allclose(
        ad.hessian(f, sparsity="auto")(x).toarray(), ad.hessian(f)(x), rtol=1e-10, atol=1e-10
    )  # fmt: skip


@pytest.mark.parametrize(
    "f, count, forward",
    [
        (elementwise, 1, True),
        (stencil, 2 + 1, True),  # three diagonals
        (lambda x: np.array([np.sum(x * x), x[0]]), 2, False),  # two dense rows: along cotangents
        (lambda x: x[0] * x * x, 2, True),  # a dense column
    ],
)
def test_the_mode_with_fewer_colours_is_taken(f: Any, count: int, forward: bool) -> None:
    recipe = ad.jacobian(f, sparsity="auto").recipe(X)
    assert (recipe.colours, recipe.forward) == (count, forward)


def dense_row_and_column(x: Any) -> Any:
    y = x * x * x[0]
    y[0] = np.sum(x**3)
    return y


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_and_columns_together(dtype: Any) -> None:
    """By columns alone, or by rows, each element of the dense row or column needs a direction of its own."""
    x = np.linspace(0.3, 1.2, 30).astype(dtype)
    want = dense(dense_row_and_column, x)
    pattern = want != 0
    for sparsity in ("auto", pattern):
        found = ad.jacobian(dense_row_and_column, sparsity=sparsity)
        recipe = found.recipe(x)
        assert recipe.colours == 3 and [forward for forward, _ in recipe.sweeps] == [True, False]
        assert found(x).dtype == dtype
        np.testing.assert_allclose(found(x).toarray(), want, rtol=1e-5 if dtype == np.float32 else 1e-12)
    assert "_jvps(" in found.source(x) and "_vjps(" in found.source(x)
    pattern[0, 5] = False
    with pytest.raises(ad.AutodiffError, match="lacks elements in row 0"):
        ad.jacobian(dense_row_and_column, sparsity=pattern)(x)


@pytest.mark.parametrize("seed", range(40))
def test_both_colourings_tell_each_element(seed: int) -> None:
    from autodiff_compiler.transforms.colouring import Pattern, colour_both, number_of

    rng = np.random.default_rng(seed)
    found = rng.random((12, 15)) < rng.choice([0.05, 0.15])
    found[rng.integers(0, 12, 2)] |= rng.random(15) < 0.9
    pattern = Pattern.of_elements(*np.nonzero(found), found.shape)
    both = colour_both(pattern, 100)
    if both is None:
        assert len(set(found.sum(axis=1))) == 1
        return
    rows, by_rows, by_columns = both
    assert colour_both(pattern, number_of(by_rows) + number_of(by_columns)) is None
    others = np.setdiff1d(np.arange(12), rows)
    for colour in range(number_of(by_rows)):
        assert found[rows[by_rows == colour]].sum(axis=0).max() <= 1
    for colour in range(number_of(by_columns)):
        assert found[others][:, by_columns == colour].sum(axis=1).max(initial=0) <= 1


def random_pattern(seed: int, symmetric: bool) -> Any:
    from autodiff_compiler.transforms.colouring import Pattern

    rng = np.random.default_rng(seed)
    rows, columns = (int(n) for n in rng.integers(1, 14, 2))
    found = rng.random((rows, rows if symmetric else columns)) < rng.choice([0.1, 0.3, 0.6])
    pattern = Pattern.of_elements(*np.nonzero(found), found.shape)
    return pattern.symmetric() if symmetric else pattern


@pytest.mark.parametrize("seed", range(40))
def test_random_patterns_are_coloured_so_that_each_element_is_told(seed: int) -> None:
    from autodiff_compiler.transforms.colouring import colour_columns, colour_symmetric, number_of, told_by_column

    pattern = random_pattern(seed, False)
    found = colour_columns(pattern)
    assert np.all(told_by_column(pattern, found)) and pattern.widest() <= number_of(found) <= pattern.shape[1]

    pattern = random_pattern(seed, True)
    found = colour_symmetric(pattern)
    here = told_by_column(pattern, found)
    there = {(i, j) for i, j, told in zip(pattern.rows, pattern.columns, here) if told}
    assert all((i, j) in there or (j, i) in there for i, j in zip(pattern.rows, pattern.columns))


# --- what is found anew, and what is kept -----------------------------------------------------------------------------


def by_sign(x: Any) -> Any:
    return x[1:] * x[:-1] if x[0] > 0 else x[:-1] ** 2


def by_index(x: Any) -> Any:
    return x[np.argmax(x)] * x


def by_count(x: Any) -> Any:
    y = np.zeros(6)
    y[np.flatnonzero(x).size - 1] = x[5]
    return y


def by_trips(x: Any) -> Any:
    y = x * 1.0
    for k in range(int(x[5])):
        y[k] = y[k] * y[k + 1]
    return y


def by_mask(x: Any) -> Any:
    return np.diag((x > 1.0) * 1.0) @ np.roll(x, 1) + x * 0.5


@pytest.mark.parametrize("f", [by_sign, by_index, by_count, by_trips, by_mask], ids=lambda f: f.__name__)
def test_a_pattern_that_depends_on_the_argument_is_found_at_each_call(f: Any) -> None:
    jacobian = ad.jacobian(f, sparsity="auto")
    counts = set()
    for x in (X, np.array([-2.0, 4.0, 0.0, 1.5, 0.1, 3.0]), np.array([0.3, 0.2, 5.0, 0.0, 1.2, 2.0]), X):
        got = jacobian(x)
        np.testing.assert_allclose(got.toarray(), dense(f, x), rtol=1e-12)
        counts.add((*got.indices, *got.indptr))
    assert len(counts) > 1


def with_others(x: Any, a: Any, n: int) -> Any:
    y = a @ x
    for k in range(n):
        y[k] = y[k] * x[k + 1]
    return y


def test_a_pattern_holds_for_the_values_of_the_other_arguments() -> None:
    jacobian = ad.jacobian(with_others, sparsity="auto")
    for a, n in ((np.eye(6), 0), (np.eye(6), 3), (BAND, 3), (BAND.T, 1)):
        want = np.reshape(ad.jacobian(with_others)(X, a, n), (6, 6))
        got = jacobian(X, a, n)
        np.testing.assert_allclose(got.toarray(), want, rtol=1e-12)
        assert got.nnz == np.count_nonzero(want)
    first = jacobian.recipe(X, a, n)
    assert jacobian.recipe(2.0 * X, a.copy(), n) is first  # nothing that it depends on is another
    assert jacobian.recipe(X, a + 1.0, n) is not first


def test_the_systems_that_are_measured() -> None:
    from benchmarks import sparse as workload

    args = workload.inputs(6)
    for form in (workload.primal, workload.by_loops):
        jacobian = ad.jacobian(form, sparsity="auto")
        first = jacobian.recipe(*args)
        np.testing.assert_allclose(jacobian(*args).toarray(), workload.by_hand(*args), rtol=1e-12, atol=1e-14)
        jacobian.forget()
        assert jacobian.recipe(*args) is not first


def test_what_a_call_returns_is_the_callers() -> None:
    jacobian = ad.jacobian(stencil, sparsity="auto")
    first = jacobian(X)
    first.indices[:] = 0
    first.data[:] = 7.0
    np.testing.assert_allclose(jacobian(X).toarray(), dense(stencil, X))


# --- patterns that are given ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense", "csr_array", "coo_matrix"])
def test_a_given_pattern(kind: str) -> None:
    places = np.abs(np.arange(6)[:, None] - np.arange(6)) <= 1
    pattern = places if kind == "dense" else getattr(sparse, kind)(places)
    np.testing.assert_allclose(ad.jacobian(banded, sparsity=pattern)(X).toarray(), dense(banded, X), rtol=1e-12)
    got = ad.hessian(rosenbrock, sparsity=pattern)(X)
    np.testing.assert_allclose(got.toarray(), ad.hessian(rosenbrock)(X), rtol=1e-12)


def test_a_given_pattern_that_lacks_elements_is_refused() -> None:
    diagonal = np.eye(6, dtype=bool)
    with pytest.raises(ArgumentError, match=r"lacks elements in row 0(.|\n)*sparsity=\"auto\""):
        ad.jacobian(banded, sparsity=diagonal)(X)
    with pytest.raises(ArgumentError, match="lacks elements"):
        ad.hessian(rosenbrock, sparsity=diagonal)(X)
    two_rows = np.arange(12).reshape(2, 6) != 2
    with pytest.raises(ArgumentError, match="lacks elements in column 2"):
        ad.jacobian(lambda x: np.array([np.sum(x * x), x[1]]), sparsity=two_rows)(X)
    with pytest.raises(ArgumentError, match=r"has shape \(6, 6\), but the result has 4 elements"):
        ad.jacobian(stencil, sparsity=diagonal)(X)
    for wrong in ("all", np.eye(6), np.ones(6, bool), 3):
        with pytest.raises(ArgumentError, match="sparsity is"):
            ad.jacobian(stencil, sparsity=wrong)


# --- kinds of arrays --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [rolled, stencil, gathered])
def test_single_precision(f: Any) -> None:
    x = X.astype(np.float32)
    got = ad.jacobian(f, sparsity="auto")(x)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.toarray(), dense(f, X), rtol=1e-4, atol=1e-5)


def test_empty_arrays_and_single_elements() -> None:
    jacobian = ad.jacobian(lambda x: np.sin(x) * 2.0, sparsity="auto")
    assert jacobian(np.zeros(0)).shape == (0, 0)
    assert jacobian(np.zeros((2, 0))).shape == (0, 0)
    np.testing.assert_allclose(jacobian(np.zeros(1)).toarray(), [[2.0]])
    assert ad.jacobian(lambda x: x[:0], sparsity="auto")(X).shape == (0, 6)
    assert ad.jacobian(constant, sparsity="auto")(X).nnz == 0
    assert ad.hessian(lambda x: np.sum(x**3), sparsity="auto")(np.zeros(0)).shape == (0, 0)


def test_axes_are_those_of_the_flat_arrays() -> None:
    m = X.reshape(2, 3)
    got = ad.jacobian(lambda m: m[:, 1:] * m[0, 0], sparsity="auto")(m)
    np.testing.assert_allclose(got.toarray(), ad.jacobian(lambda m: m[:, 1:] * m[0, 0])(m).reshape(4, 6))


# --- as other transformations -----------------------------------------------------------------------------------------


def test_forms_of_the_call() -> None:
    @ad.jacobian(argnums="x", sparsity="auto")
    def scaled(a: Any, x: Any) -> Any:
        return a * x * np.roll(x, 1)

    np.testing.assert_allclose(scaled(2.0, x=X).toarray(), scaled(2.0, X).toarray())
    got = pickle.loads(pickle.dumps(ad.jacobian(stencil, sparsity="auto")))(X)
    np.testing.assert_allclose(got.toarray(), dense(stencil, X))
    assert repr(ad.hessian(rosenbrock, sparsity="auto")) == "<hessian of rosenbrock>"


def test_the_source_takes_a_stack_of_directions() -> None:
    jacobian = ad.jacobian(stencil, sparsity="auto")
    assert jacobian.source() == ""
    assert "def stencil_jvps(x, x_dot):" in jacobian.source(X)
    assert jacobian.source() == jacobian.source(X)
    two_rows = ad.jacobian(lambda x: np.array([np.sum(x), x[0]]), sparsity="auto")
    assert "_vjps(x, out_bar):" in two_rows.source(X)


def prints(x: Any) -> Any:
    print("once")
    return x * x


@pytest.mark.parametrize(
    "make, args, error, message",
    [
        (lambda: ad.jacobian(lambda x, y: x * y, (0, 1), sparsity="auto"), (X, X), ArgumentError, "for one argument"),
        (lambda: ad.jacobian(stencil, has_aux=True, sparsity="auto"), (X,), ArgumentError, "no has_aux"),
        (lambda: ad.jacobian(lambda x: x[0], sparsity="auto"), ([X],), UnsupportedError, "argument that is one array"),
        (lambda: ad.jacobian(math.sin, sparsity="auto"), (2.0,), UnsupportedError, "argument that is one array"),
        (lambda: ad.jacobian(lambda x: (x, x), sparsity="auto"), (X,), UnsupportedError, "returns one array"),
        (lambda: ad.jacobian(lambda x: np.sum(x), sparsity="auto"), (X,), UnsupportedError, "returns one array"),
        (lambda: ad.jacobian(lambda x: x > 0, sparsity="auto"), (X,), NonScalarOutputError, "holds floats"),
        (lambda: ad.hessian(stencil, sparsity="auto"), (X,), NonScalarOutputError, "scalar result"),
        (lambda: ad.jacobian(stencil, sparsity="auto"), (np.arange(6),), IntegerArgumentError, "int"),
        (lambda: ad.jacobian(stencil, sparsity="auto"), (X + 0j,), UnsupportedError, "complex argument"),
        (lambda: ad.jacobian(prints, sparsity="auto"), (X,), UnsupportedError, "print would be seen twice"),
        (lambda: ad.grad(ad.jacobian(stencil, sparsity="auto")), (X,), UnsupportedError, "not supported"),
    ],
)
def test_what_is_refused(make: Any, args: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make()(*args)


def test_inside_of_a_compiled_function_it_is_refused() -> None:
    def by_name(x: Any) -> Any:
        return np.sum(ad.jacobian(stencil, sparsity="auto")(x) @ x)

    made = ad.jacobian(stencil, sparsity="auto")

    def by_object(x: Any) -> Any:
        return np.sum(made(x) @ x)

    for f in (by_name, by_object):
        with pytest.raises(UnsupportedError, match=r"sparsity=\.\.\. in a function that is compiled"):
            ad.grad(f)(X)


def test_what_the_function_raises_is_raised() -> None:
    def f(x: Any) -> Any:
        if x[0] < 0:
            raise ValueError("negative")
        return x[2:] * x[:-2]

    jacobian = ad.jacobian(f, sparsity="auto")
    assert jacobian(X).shape == (4, 6)
    with pytest.raises(ValueError, match="negative"):
        jacobian(-X)


def test_without_scipy_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        ad.jacobian(stencil, sparsity="auto")


def test_products_of_sparse_matrices_are_followed() -> None:
    pytest.importorskip("scipy", minversion="1.16")
    n, rng = 20, np.random.default_rng(0)
    a = sparse.diags_array([np.ones(n - 1), -2.0 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
    c = sparse.random_array((n, n), density=0.2, rng=rng).tocsc()
    b = a.tocoo()
    functions = [
        lambda u: a @ u + u**3,
        lambda u: b @ u,
        lambda u: u @ c,
        lambda u: c.T @ (c @ u),
        lambda u: (c @ np.stack([u, u * u], 1)).ravel(),
        lambda u: c.multiply(u) @ np.sin(u),
        lambda u: sparse.diags_array(u) @ u,
    ]
    for f in functions:
        u = rng.normal(size=n)
        jacobian = ad.jacobian(f, sparsity="auto")
        found, want = jacobian(u), ad.jacobian(f)(u)
        np.testing.assert_allclose(found.toarray(), want, rtol=1e-12, atol=1e-14)
        assert found.nnz == np.count_nonzero(want)
    assert ad.jacobian(functions[0], sparsity="auto").recipe(np.ones(n)).colours == 3
    assert ad.hessian(lambda u: u @ (a @ u), sparsity="auto")(np.ones(n)).nnz == 3 * n - 2
    # A zero that is stored counts for nothing, unless it is differentiated.
    a.data[4] = 0.0
    assert ad.jacobian(functions[0], sparsity="auto")(np.ones(n)).nnz == np.count_nonzero(
        ad.jacobian(functions[0])(np.ones(n))
    )
