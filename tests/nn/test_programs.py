"""Programs around the functions of `nn`: other shapes and options in later calls, layers as objects, loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import nn
from autodiff_compiler.operations.check import numeric_gradient


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


X, W = normal(2, 4, 5, 2), normal(3, 3, 2, 2)


class Layer:
    def __init__(self, filters: np.ndarray, strides: Any, activation: Any):
        self.filters, self.strides, self.activation = filters, strides, activation

    def __call__(self, x: Any) -> Any:
        return self.activation(nn.conv2d(x, self.filters, strides=self.strides, padding="SAME"))


LAYERS = [Layer(normal(2, 2, 2, 3), 1, nn.elu), Layer(normal(2, 2, 3, 2), [1, 2, 1, 1], np.tanh)]


def network(x: Any) -> Any:
    for layer in LAYERS:
        x = layer(x)
    return np.sum(x * x)


def blocks(x: Any, w: Any, n: int) -> Any:
    for _ in range(n):
        x = nn.max_pool(nn.conv2d(x, w, 1, "SAME"), 2, 2, "SAME")
    return np.sum(x * x)


def shrink(x: Any, w: Any) -> Any:
    trips = 0
    while x.shape[1] > 2:
        x = nn.conv2d(x, w, 1, "VALID")
        trips += 1
    return np.sum(x * x) * trips


def whole(x: Any) -> Any:
    return np.sum(nn.avg_pool(x, x.shape[1:3], 1, "VALID") ** 2)


# A function, and arguments that it is called with one after the other.
PROGRAMS: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "a residual block": (
        lambda x, w: np.sum((x + nn.conv2d(x, w, 1, "SAME")) ** 2),
        [(X, W), (normal(3, 2, 3, 2), normal(2, 2, 2, 2)), (normal(1, 1, 3, 2), normal(2, 2, 2, 2))],
    ),
    "a result that broadcasts, or not": (
        lambda x, w, z: np.sum((z * nn.conv2d(x, w, 1, "VALID")) ** 2),
        [
            (X, W, normal(1, 1, 1, 2)),
            (normal(2, 3, 3, 2), W, normal(1, 1, 1, 2)),
            (normal(2, 3, 3, 2), W, normal(1, 4, 5, 2)),
            (X, W, normal(2, 2, 3, 2)),
            (normal(2, 3, 3, 2), W, normal(2, 4, 4, 2)),
        ],
    ),
    "strides": (
        lambda x, w, s: np.sum(nn.conv2d(x, w, s, "SAME") ** 2), [(X, W, 1), (X, W, 2), (X, W, (1, 2)), (X, W, [2, 1])]
    ),
    "padding": (
        lambda x, w, p: np.sum(nn.conv2d(x, w, 1, p) ** 2), [(X, W, "SAME"), (X, W, "VALID"), (X, W, ((1, 0), (0, 1)))]
    ),
    "NCHW": (
        lambda x, w, s: np.sum(nn.conv2d(x, w, s, "SAME", "NCHW") ** 2),
        [(normal(2, 2, 4, 5), W, 2), (normal(2, 2, 4, 5), W, (1, 2)), (normal(1, 2, 3, 4), W, [1, 1, 2, 2])],
    ),
    "windows": (lambda x, k: np.sum(nn.max_pool(x, k, k, "SAME") ** 2), [(X, 2), (X, 3), (X, (2, 1))]),
    "means of windows": (lambda x, k: np.sum(nn.avg_pool(x, k, 1, "SAME") * x), [(X, 2), (X, 3), (X, (2, 1))]),
    "the mean of an image": (whole, [(X,), (normal(2, 3, 3, 2),)]),
    "layers": (network, [(X,), (normal(1, 6, 5, 2),)]),
    "blocks": (blocks, [(normal(1, 6, 5, 2), normal(2, 2, 2, 2), n) for n in (1, 3, 0)]),
    "shrink": (shrink, [(normal(1, 4, 4, 2), normal(2, 2, 2, 2)), (normal(1, 6, 6, 2), normal(2, 2, 2, 2))]),
    "softmax along": (lambda x, axis: np.sum(nn.softmax(x, axis) ** 2), [(X, 0), (X, 1), (normal(3, 5), -1)]),
    "normalized": (
        lambda x, s: np.sum(nn.batch_normalization(x, *nn.moments(x, [0, 1, 2]), s, s, 1e-3) ** 3),
        [(X, normal(2)), (normal(3, 2, 2, 2), normal(2))],
    ),
    "one_hot": (
        lambda x, n: np.sum(nn.one_hot(np.array([0, 2]), n) * x), [(normal(2, 3), 3), (normal(2, 4), 4)]
    ),
    "top_k": (lambda x, k: np.sum(nn.top_k(x, k)[0] ** 2), [(normal(2, 4), 1), (normal(2, 4), 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_at_one_call_after_the_other(name: str) -> None:
    f, calls = PROGRAMS[name]
    arrays = tuple(k for k, a in enumerate(calls[0]) if isinstance(a, np.ndarray))
    g = ad.grad(f, arrays)
    for args in calls:
        for k, have in zip(arrays, g(*args), strict=True):
            want = numeric_gradient(lambda v: float(f(*args[:k], v, *args[k + 1 :])), args[k])
            assert have.shape == args[k].shape and np.allclose(have, want, 1e-4, 1e-5), (name, k)


def test_a_layer_that_is_changed_between_calls() -> None:
    layer = Layer(W, 1, nn.relu)
    g = ad.grad(lambda x: np.sum(layer(x)))
    for layer.strides, layer.activation in ((1, nn.relu), (2, nn.relu), (2, nn.gelu), ((1, 2), np.tanh)):
        want = numeric_gradient(lambda x: float(np.sum(layer(x))), X)
        assert np.allclose(g(X), want, 1e-5, 1e-6)


def test_numbers() -> None:
    def f(x: float) -> float:
        return (
            nn.sigmoid(x) * nn.softplus(x)
            + nn.relu6(x)
            + nn.hard_sigmoid(x)
            + nn.leaky_relu(x)
            + nn.gelu(x) * nn.elu(x)
        )

    for x in (0.3, -1.7):
        assert np.isclose(ad.grad(f)(x), (f(x + 1e-6) - f(x - 1e-6)) / 2e-6, 1e-7)


def rescaled(x: Any, w: Any) -> Any:
    y = nn.conv2d(x, w, 1, "SAME")
    x = x.copy()
    x[0] *= 3
    y[1] += 1
    y *= nn.conv2d(x, w, 1, "SAME")
    return np.sum(y)


def overwritten(x: Any, w: Any) -> Any:
    x = x * 1.0
    y = nn.relu(x) + nn.sigmoid(x)
    z = nn.sigmoid(x)
    x[...] = w[0, 0, 0, 0]
    z *= 2
    y += z
    y[0] = 0
    return np.sum(y * x)


def added_to_itself(x: Any, w: Any) -> Any:
    y = nn.softmax(x)
    y += nn.softmax(y)
    y[..., 0] *= w[0, 0, 0, 0]
    return np.sum(y**2)


def pooled_again(x: Any, w: Any) -> Any:
    x = x * 1.0
    y = nn.max_pool(x, 2, 2, "VALID")
    x[:] = 0.5 * x
    y += nn.avg_pool(x, 2, 2, "VALID")
    y *= y
    return np.sum(y)


def other_rows(x: Any, w: Any) -> Any:
    ids = np.array([0, 1])
    rows = w[0, 0] * 1.0
    y = nn.embedding_lookup(rows, ids)
    ids[:] = 0
    rows[0] = 7
    return np.sum((y + nn.embedding_lookup(rows, ids)) ** 2)


def other_mask(x: Any, w: Any) -> Any:
    stays = x > 0
    y = nn.dropout(x, 0.5, stays)
    stays[:] = True
    return np.sum(y**2 * stays)


def through_a_buffer(x: Any, w: Any) -> Any:
    buffer = np.zeros((3, *x.shape))
    for k in range(3):
        np.copyto(buffer[k], nn.elu(x * (k + 1)))
        buffer[k] *= nn.gelu(buffer[k - 1])
    return np.sum(buffer**2)


@pytest.mark.parametrize(
    "f", [rescaled, overwritten, added_to_itself, pooled_again, other_rows, other_mask, through_a_buffer]
)
def test_what_is_overwritten_later(f: Any) -> None:
    ad.check_grads(f, (normal(2, 4, 4, 2), normal(2, 2, 2, 2)), order=2)
