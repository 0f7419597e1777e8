"""The functions for short axes give the bits, the layout and the errors of the expressions that they stand for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_compiler import rows

LENGTHS = (0, 1, 2, 5, 63, 65, 300)
NUMBERS = [0.0, -0.0, 1.0, -1.5, 1e-300, 3e7, 0.1, np.inf, -np.inf, np.nan]


def same_bits(a: Any, b: Any) -> bool:
    """Up to the signs and payloads of nan, which NumPy's own loops do not agree on."""
    if a.dtype == bool:
        return a.shape == b.shape and a.dtype == b.dtype and a.strides == b.strides and np.array_equal(a, b)
    alike = a.shape == b.shape and a.dtype == b.dtype and a.strides == b.strides
    return (
        alike and np.array_equal(a, b, equal_nan=True) and bool(np.all((np.signbit(a) == np.signbit(b)) | np.isnan(a)))
    )


def layouts(shape: tuple[int, ...], dtype: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Arrays of one shape in all orders of their axes, with steps of one, two and minus one."""
    for order in itertools.permutations(range(len(shape))):
        for steps in itertools.product((1, -1, 2), repeat=len(shape)):
            whole = np.empty([shape[k] * abs(steps[k]) for k in order], dtype).transpose(np.argsort(order))
            x = whole[tuple(slice(None, None, s) for s in steps)]
            x[...] = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
            special = rng.random(shape) < 0.1
            x[special] = rng.choice(NUMBERS, int(special.sum()))
            yield x


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5, 7, 8, 9])
def test_reductions_of_rows(dtype, k):
    rng = np.random.default_rng(k)
    with np.errstate(all="ignore"):
        for shape in [*[(n, k) for n in LENGTHS], (20, 15, k), (15, 1, 20, k)]:
            for x in layouts(shape, dtype, rng) if len(shape) < 4 else [rng.standard_normal(shape).astype(dtype)]:
                assert same_bits(rows.row_sums(x), x.sum(axis=-1)), (x.shape, x.strides)
                assert same_bits(rows.row_sums(x > 0.0), (x > 0.0).sum(axis=-1))
                for found, want in [
                    (rows.row_all(x > -1.0), (x > -1.0).all(-1)),
                    (rows.row_any(x > 1.0), (x > 1.0).any(-1)),
                ]:
                    assert same_bits(found, want)
                assert same_bits(rows.column_sums(x > 0.0), (x > 0.0).sum(axis=-2))
                assert same_bits(rows.column_sums(x, exact=True), x.sum(axis=-2)), (x.shape, x.strides)
                assert same_bits(rows.column_sums(x.T, exact=True), x.T.sum(axis=-2)), (x.shape, x.strides)
                if k:
                    assert same_bits(rows.row_maxima(x), x.max(axis=-1)), (x.shape, x.strides)
                    assert same_bits(rows.row_minima(x), x.min(axis=-1)), (x.shape, x.strides)


def test_rows_of_zeros():
    zeros = np.full((300, 3), -0.0)
    assert not np.signbit(rows.row_sums(zeros)).any() and not np.signbit(zeros.sum(axis=-1)).any()
    assert np.signbit(rows.row_maxima(zeros)).all()


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 20])
def test_products_and_sums_of_columns(k):
    rng = np.random.default_rng(k)
    for n in LENGTHS:
        for x, y in zip(layouts((n, k), np.float64, rng), layouts((n, k), np.float64, rng)):
            x[~np.isfinite(x)], y[~np.isfinite(y)] = 2.0, 0.5
            np.testing.assert_allclose(rows.row_dots(x, y), np.einsum("ij,ij->i", x, y), rtol=1e-12, atol=1e-3)
            np.testing.assert_allclose(rows.column_sums(x), x.sum(axis=0), rtol=1e-12, atol=1e-3)
    for x in layouts((30, 20, k), np.float64, rng):
        x[~np.isfinite(x)] = 2.0
        np.testing.assert_allclose(rows.column_sums(x), x.sum(axis=1), rtol=1e-12, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_broadcasting_along_the_middle(dtype, k):
    rng = np.random.default_rng(k)
    for n, m in [(0, 3), (1, 1), (5, 7), (100, 90)]:
        for x, y in zip(layouts((n, k), dtype, rng), layouts((m, k), dtype, rng)):
            with np.errstate(invalid="ignore"):
                sums = y[None, :, :1] + x[:, :1, None]
            pairs = [(x[:, None], y[None]), (y[None], x[:, None, :]), (x[:, None], y[None, :, :1])]
            for a, b in [*pairs, (x[:, None, None], y[None, None]), (x[:, None], sums)]:
                with np.errstate(all="ignore"):
                    for ufunc in (np.subtract, np.multiply, np.divide):
                        assert same_bits(rows.by_columns(ufunc, a, b), ufunc(a, b))


@pytest.mark.filterwarnings("ignore:Out of bound index:DeprecationWarning")
@pytest.mark.parametrize("shape", [(9, 2), (300, 3), (9, 2, 2), (9, 1), (0, 2), (5, 0)])
def test_rows_by_index(shape):
    rng = np.random.default_rng(1)
    n = shape[0]
    at = [
        np.array([0, -1, 2, 2]), np.array([], np.int64), np.arange(9)[::-1], np.arange(18)[::2] % 9,
        rng.integers(0, 5, (4, 3)), rng.integers(0, 5, (4, 3)).T, np.broadcast_to(np.array(2), (3, 4)), np.array([n]),
        np.array([-n - 1]), np.array([0, 1], np.int32), rng.random(n) < 0.5, np.zeros(n, bool),
        np.ones(2 * n, bool)[::2], np.ones(n + 1, bool), np.ones(1, bool),
    ]  # fmt: skip
    for x in layouts(shape, np.float64, rng):
        for index in at:
            try:
                wanted = x[index]
            except IndexError as error:
                with pytest.raises(IndexError) as caught:
                    rows.take_rows(x, index)
                assert str(caught.value) == str(error)
            else:
                found = rows.take_rows(x, index)
                assert same_bits(found, wanted) and found.flags.owndata == wanted.flags.owndata


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("axes", [(), (1,), (2,), (3,), (7,), (8,), (20,), (2, 3), (0,)])
def test_additions_at_rows(dtype, axes):
    rng = np.random.default_rng(2)
    for count in [(0,), (1,), (20,), (100,), (700,), (40, 3)]:
        for turned in (False, True):
            index = rng.integers(-9, 9, count)
            v = (rng.standard_normal((*count, *axes)) * 10.0 ** rng.integers(-3, 4, (*count, *axes))).astype(dtype)
            a = rng.standard_normal((9, *axes)).astype(dtype)
            if turned:
                v, a = np.asfortranarray(v)[::-1], np.asfortranarray(a)
            a[0], v[:1] = -0.0, -0.0
            before, wanted = a.copy("K"), a.copy("K")
            np.add.at(wanted, index, v)
            rows.add_at(a, index, v)
            assert same_bits(a, wanted)
            out = a.copy("K")
            for wrong in (9, -10):
                index = index.copy()
                index[-1:] = wrong
                if count != (0,) and 0 not in axes:
                    with pytest.raises(IndexError) as caught:
                        rows.add_at(out, index, v)
                    with pytest.raises(IndexError) as numpys:
                        np.add.at(a, index, v)
                    assert str(caught.value) == str(numpys.value) and same_bits(a, out)
            assert before.strides == a.strides


def test_additions_of_what_shares_memory():
    for k in (2, 20):
        base = np.arange(300.0 * k).reshape(300, k)
        a, index = base[:, ::-1], np.arange(300)[::-1] // 2
        wanted = a.copy()
        np.add.at(wanted, index, base.copy())
        rows.add_at(a, index, base)
        assert np.array_equal(a, wanted)


@pytest.mark.parametrize("v", [1.0, np.ones(2), np.ones((1, 2)), np.ones((300, 1)), np.ones((300, 2), np.float32)])
def test_additions_that_are_broadcast_or_converted(v):
    a, wanted, index = np.zeros((9, 2)), np.zeros((9, 2)), np.arange(300) % 7
    rows.add_at(a, index, np.asarray(v))
    np.add.at(wanted, index, v)
    assert np.array_equal(a, wanted)
