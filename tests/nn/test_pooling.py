"""Pooling: against loops over all windows, against numbers from TensorFlow, ties, padding, derivatives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import nn
from tests.nn.test_convolution import ints, results, same

CASES: list[tuple[Any, Any, Any]] = [  # window, strides, padding
    (2, 2, "VALID"),
    (2, 2, "SAME"),
    ((3, 2), (1, 2), "SAME"),
    ([1, 2, 3, 1], [1, 2, 1, 1], "VALID"),
    (3, 2, [(1, 1), (2, 0)]),
]


def windows(x: np.ndarray, window: Any, strides: Any, padding: Any) -> Any:
    """Each window's place in the result with the elements of `x` inside of it, as indices."""
    window, strides = ((v, v) if isinstance(v, int) else v[1:3] if len(v) == 4 else v for v in (window, strides))
    sizes = x.shape[1:3]
    pads = (
        same(sizes, window, strides, (1, 1)) if padding == "SAME" else padding if padding != "VALID" else [(0, 0)] * 2
    )
    out = [(n + sum(p) - k) // s + 1 for n, p, k, s in zip(sizes, pads, window, strides)]
    for n, c, *at in itertools.product(range(len(x)), range(x.shape[-1]), *map(range, out)):
        first = [a * s - p[0] for a, s, p in zip(at, strides, pads)]
        inside = [range(max(f, 0), min(f + k, size)) for f, k, size in zip(first, window, sizes)]
        yield (n, *at, c), [(n, i, j, c) for i, j in itertools.product(*inside)], out


@pytest.mark.parametrize("case", CASES)
def test_maxima_and_means_against_loops(case: Any) -> None:
    x = np.random.default_rng(0).normal(size=(2, 5, 6, 2))
    largest, mean = nn.max_pool(x, *case), nn.avg_pool(x, *case)
    g_largest, g_mean = np.zeros_like(x), np.zeros_like(x)
    for place, inside, out in windows(x, *case):
        assert largest.shape == mean.shape == (2, *out, 2)
        values = [x[k] for k in inside]
        assert largest[place] == max(values) and np.isclose(mean[place], sum(values) / len(values), 1e-12)
        weight = place[1] - 2.0 * place[2] + place[3]
        g_largest[inside[int(np.argmax(values))]] += weight
        for k in inside:
            g_mean[k] += weight / len(inside)
    _, i, j, c = np.indices(mean.shape)
    weights = i - 2.0 * j + c
    assert np.allclose(ad.grad(lambda x: np.sum(nn.max_pool(x, *case) * weights))(x), g_largest)
    assert np.allclose(ad.grad(lambda x: np.sum(nn.avg_pool(x, *case) * weights))(x), g_mean)


def test_maxima_of_tensorflow() -> None:
    assert results(lambda x: nn.max_pool(x, [2, 2], [1, 2], "SAME"), ints(1, 3, 4, 2)) == [
        [0, 6, 6, 2, 1, 5, 6, 3, 1, 5, 4, 3],
        [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, -4, 0, 0, 0, 4, 6, 0, 2, -1, 0, 0, 0, 0, -3],
    ]


def test_means_of_tensorflow() -> None:
    assert results(lambda x: nn.avg_pool(x, 2, [2, 1], "SAME"), ints(1, 3, 4, 1)) == [
        [-0.25, 1.25, 2.75, 3.5, 0.5, 2.0, -2.0, -4.0],
        [-1.0, -0.25, 0.5, 2.75, -1.0, -0.25, 0.5, 2.75, 1.0, 0.0, 1.5, 3.5],
    ]


def test_the_first_of_equal_maxima_gets_the_derivative_as_in_tensorflow() -> None:
    x = np.array([1.0, 1, 2, 2, 2, 0]).reshape(1, 6, 1)
    weights = 10.0 ** np.arange(6).reshape(1, 6, 1)
    g = ad.grad(lambda x: np.sum(nn.max_pool(x, 3, 1, "SAME") * weights))(x)
    assert g.ravel().tolist() == [1, 0, 1110, 10000, 100000, 0]


def test_padding_is_never_a_maximum() -> None:
    x = np.full((1, 3, 3, 1), -np.inf)
    x[0, 1, 1, 0] = -5.0
    y = nn.max_pool(x, 2, 2, "SAME")
    assert y[0, ..., 0].tolist() == [[-5, -np.inf], [-np.inf, -np.inf]]
    assert nn.max_pool(-ints(1, 2, 2, 1) - 9, 2, 1, "SAME").max() < 0
    g = ad.grad(lambda x: np.sum(nn.max_pool(x, 2, 2, "SAME")))(x)
    assert g.sum() == 4 and g[0, 1, 1, 0] == 1


def test_nan_is_the_largest() -> None:
    x = np.array([1, np.nan, 3, 2, np.nan, np.nan]).reshape(1, 6, 1)
    assert np.isnan(nn.max_pool(x, 2, 2, "VALID")).ravel().tolist() == [True, False, True]
    g = ad.grad(lambda x: np.sum(nn.max_pool(x, 2, 2, "VALID")))(x)
    assert g.ravel().tolist() == [0, 1, 1, 0, 1, 0]


@pytest.mark.parametrize("pool", [nn.max_pool, nn.avg_pool])
@pytest.mark.parametrize("case", CASES)
def test_second_order_against_differences(pool: Any, case: Any) -> None:
    x = np.random.default_rng(1).permutation(40).reshape(1, 5, 4, 2) / 8
    ad.check_grads(lambda x: np.sum(np.sin(pool(x, *case))), (x,), order=2)


@pytest.mark.parametrize("pool", [nn.max_pool, nn.avg_pool])
@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes_stay_and_batches_may_be_empty(pool: Any, batch: int, dtype: Any) -> None:
    x = ints(batch, 4, 5, 2).astype(dtype)
    y = pool(x, 2, 2, "SAME")
    assert y.shape == (batch, 2, 3, 2) and y.dtype == dtype
    g = ad.grad(lambda x: np.sum(pool(x, 2, 2, "SAME") ** 2))(x)
    assert g.shape == x.shape and g.dtype == dtype


def test_sequences_and_volumes() -> None:
    assert nn.max_pool(ints(1, 6, 1), 3, 3, "VALID").shape == (1, 2, 1)
    x = ints(2, 4, 4, 6, 1)
    want = x.reshape(2, 2, 2, 2, 2, 3, 2, 1)
    assert np.array_equal(nn.max_pool(x, 2, 2, "VALID"), want.max(axis=(2, 4, 6)))
    assert np.allclose(nn.avg_pool(x, 2, 2, "VALID"), want.mean(axis=(2, 4, 6)))
    ad.check_grads(lambda x: np.sum(nn.avg_pool(x, 2, 1, "SAME") ** 2), (x[:1, :2, :2, :3],))


def test_a_small_network_in_a_loop() -> None:
    def loss(x: np.ndarray, w: np.ndarray, depth: int) -> Any:
        for k in range(depth):
            x = nn.max_pool(np.tanh(nn.conv2d(x, w, 1, "SAME")), 2, 2, "SAME")
            if k == 1:
                x = nn.avg_pool(x, 2, 1, "SAME")
        return np.sum(x)

    rng = np.random.default_rng(3)
    w = rng.normal(size=(3, 3, 2, 2))
    x = rng.normal(size=(1, 6, 5, 2))
    ad.check_grads(lambda x, w: loss(x, w, 3), (x, w), order=2)


def test_what_is_emitted_has_no_loop() -> None:
    for pool in (nn.max_pool, nn.avg_pool):
        g = ad.grad(lambda x: np.sum(pool(x, 2, 2, "SAME")))
        assert "\n    for " not in g.source(ints(1, 4, 4, 1))


def test_what_does_not_fit_is_refused() -> None:
    x = ints(1, 3, 3, 1)
    with pytest.raises(ValueError, match="in the padding altogether"):
        nn.max_pool(x, 2, 2, [(2, 2), (0, 0)])
    with pytest.raises(ValueError, match="do not fit into axes"):
        nn.avg_pool(x, 9, 1, "VALID")
    with pytest.raises(ValueError, match=r"axes \(batch, \*spatial, channels\)"):
        nn.max_pool(x[0, 0], 2, 2, "VALID")
    with pytest.raises(ValueError, match="window 0 must be a positive int"):
        ad.grad(lambda x: np.sum(nn.avg_pool(x, 0, 1, "SAME")))(x)
