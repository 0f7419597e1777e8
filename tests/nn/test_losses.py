"""Losses: values and gradients as TensorFlow has them, rules by the harness, extremes, dtypes, empty batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import nn

LABELS, LOGITS = np.array([0, 1, 0.3, 1, 0, 1]), np.array([0, 0, 1.5, 50, -50, 1000])
A, B = np.array([[0, 1, 1], [0.3, 0.5, 0.2]]), np.array([[0.1, 0.7, 3], [0, 1, 0.25]])


def both(fn: Any, *args: np.ndarray) -> Any:
    """The loss, and the gradients of its sum in two arguments."""
    return fn(*args), *ad.grad(lambda a, b: np.sum(fn(a, b)), (0, 1))(*args)


def agree(have: Any, *want: Any) -> None:
    for h, w in zip(have, want, strict=True):
        assert np.allclose(h, w, 1e-12, 1e-30)


def test_sigmoid_cross_entropy_of_tensorflow() -> None:
    agree(
        both(nn.sigmoid_cross_entropy_with_logits, LABELS, LOGITS),
        [
            0.69314718055994529,
            0.69314718055994529,
            1.2514132779827525,
            1.9287498479639178e-22,
            1.9287498479639178e-22,
            0,
        ],
        [0, 0, -1.5, -50, 50, -1000],
        [0.5, -0.5, 0.5175744761936436, -1.9287498479639178e-22, 1.9287498479639178e-22, 0],
    )


def test_softmax_cross_entropy_of_tensorflow() -> None:
    agree(
        both(nn.softmax_cross_entropy_with_logits, np.array([[0.3, 0.7]]), np.array([[1.0, 2.0]])),
        [0.6132616875182229],
        [[1.3132616875182228, 0.31326168751822286]],
        [[-0.03105857863000488, 0.03105857863000494]],
    )


def test_sparse_softmax_cross_entropy_of_tensorflow() -> None:
    logits = np.array([[1, 2, 3], [0.5, -1, 1000]])

    def f(logits: np.ndarray) -> Any:
        return nn.sparse_softmax_cross_entropy_with_logits(np.array([2, 0]), logits)

    with np.errstate(all="raise", under="ignore"):
        assert np.allclose(f(logits), [0.4076059644443804, 999.5], 1e-13)
        g = ad.grad(lambda x: np.sum(f(x)))(logits)
    assert np.allclose(g, [[0.09003057317038046, 0.2447284710547976, -0.3347590442251782], [-1, 0, 1]], 1e-12)


def test_huber_of_keras() -> None:
    g = [[0.1 / 3, -0.1, 1 / 3], [-0.1, 0.5 / 3, 0.05 / 3]]
    agree(both(nn.huber, A, B), [0.5166666666666667, 0.05708333333333333], np.negative(g), g)


def test_squared_and_absolute_errors_of_keras() -> None:
    error = np.array([[0.1, -0.3, 2.0], [-0.3, 0.5, 0.05]])
    agree(both(nn.mse, A, B), [1.3666666666666665, 0.11416666666666665], -2 * error / 3, 2 * error / 3)
    sign = np.sign(error)
    agree(both(nn.mae, A, B), [0.8, 0.2833333333333333], -sign / 3, sign / 3)


def test_binary_cross_entropy_of_keras() -> None:
    p = np.array([[0.1, 0.7, 0.9], [0, 1, 0.25]])
    value, g_labels, g = both(nn.binary_crossentropy, A, p)
    assert np.allclose(value, [0.18913199175146167, 4.467293723738414], 1e-9)
    want = [[0.7324081924454063, -0.28243262012906784, -0.7324081924454066]]
    assert np.allclose(g_labels, [*want, [5.372698516986104, -5.372698517161557, 0.3662040962227032]], 1e-9)
    want = [[0.37037037037037035, -0.47619047619047616, -0.37037037037037035], [0, 0, 0.08888888888888885]]
    assert np.allclose(g, want, 1e-12)


def test_categorical_cross_entropy_of_keras() -> None:
    p = np.array([[0.1, 0.7, 0.9], [0, 0.75, 0.25]])
    value, g_labels, g = both(nn.categorical_crossentropy, np.array([[0, 1.0, 0], [0.3, 0.5, 0.2]]), p)
    assert np.allclose(value, [0.8873031950009028, 5.256528603737365], 1e-12)
    assert np.allclose(g_labels[1], [16.11809565095832, 0.2876820724517809, 1.3862943611198906], 1e-12)
    want = [[0.5882352941176471, -0.8403361344537817, 0.5882352941176471], [0.7, 0.1 / 3, -0.1]]
    assert np.allclose(g, want, 1e-12)


def test_l2_loss() -> None:
    x = np.array([1.0, -2.0, 3.0])
    assert nn.l2_loss(x) == 7 and np.array_equal(ad.grad(nn.l2_loss)(x), x)


PAIRS = {
    name: getattr(nn, name)
    for name in (
        "sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits", "mse", "mae", "huber",
        "binary_crossentropy", "categorical_crossentropy",
    )
}  # fmt: skip


def example(name: str, rows: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    labels, predictions = rng.uniform(0.1, 0.9, (2, rows, 3)).astype(dtype)
    return labels, predictions if "crossentropy" in name else 3 * predictions - 1


@pytest.mark.parametrize("name", PAIRS)
def test_first_and_second_order_against_differences(name: str) -> None:
    ad.check_grads(lambda a, b: np.sum(PAIRS[name](a, b) ** 2), example(name, 2), order=2)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("rows", [0, 1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shapes_and_dtypes(name: str, rows: int, dtype: Any) -> None:
    labels, predictions = example(name, rows, dtype)
    out = PAIRS[name](labels, predictions)
    assert out.shape == ((rows, 3) if name.startswith("sigmoid") else (rows,)) and out.dtype == dtype
    for g in both(PAIRS[name], labels, predictions)[1:]:
        assert g.shape == (rows, 3) and g.dtype == dtype


@pytest.mark.parametrize("name", ["mse", "mae", "huber", "binary_crossentropy"])
def test_no_axis_leaves_each_element(name: str) -> None:
    labels, predictions = example(name, 2)
    each = PAIRS[name](labels, predictions, axis=())
    assert each.shape == (2, 3) and np.allclose(each.mean(-1), PAIRS[name](labels, predictions))
    ad.check_grads(lambda b: np.sum(PAIRS[name](labels, b, axis=())), (predictions,))


def test_other_shapes_and_labels_are_refused() -> None:
    with pytest.raises(ValueError, match=r"one shape, not \(2,\) and \(2, 1\)"):
        nn.sigmoid_cross_entropy_with_logits(np.ones(2), np.ones((2, 1)))

    @ad.grad
    def f(x: np.ndarray, labels: np.ndarray) -> Any:
        return np.sum(nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x))

    x = np.ones((2, 3))
    assert f(x, np.array([0, 2])).shape == (2, 3)
    for labels in ([0, 3], [-1, 0]):
        with pytest.raises(ValueError, match="not one of the classes"):
            f(x, np.array(labels))
        with pytest.raises(ValueError, match="not one of the classes"):
            nn.sparse_softmax_cross_entropy_with_logits(np.array(labels), x)
    with pytest.raises(ValueError, match="must have the shape of logits"):
        nn.sparse_softmax_cross_entropy_with_logits(np.array([0]), x)


def test_sparse_labels_of_several_axes_and_of_lists() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    labels = np.array([[0, 3, 1], [2, 2, 0]])
    want = nn.softmax_cross_entropy_with_logits(np.eye(4)[labels], x)
    assert np.allclose(nn.sparse_softmax_cross_entropy_with_logits(labels, x), want)
    assert np.allclose(nn.sparse_softmax_cross_entropy_with_logits(labels.tolist(), x), want)
    ad.check_grads(lambda x: np.sum(nn.sparse_softmax_cross_entropy_with_logits(labels, x) ** 2), (x,), order=2)


def test_a_training_loop_in_one_function() -> None:
    """The gradient through steps of gradient descent that the function takes itself, with a branch on the way."""

    def fit(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
        total = 0.0
        for k in range(3):
            logits = nn.relu(x @ w) if k < 2 else nn.elu(x @ w)
            loss = np.mean(nn.sparse_softmax_cross_entropy_with_logits(y, logits))
            if loss > 0.5:
                w = w - 0.1 * np.tanh(w)
            total += loss
        return total

    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(5, 4)), np.array([0, 1, 2, 1, 0])
    ad.check_grads(lambda w: fit(w, x, y), (rng.normal(size=(4, 3)),))
