"""Convolutions: against loops over all elements, against numbers from TensorFlow, derivatives, errors."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import nn
from tests.nn.nn_rule_cases import GEOMETRIES


def ints(*shape: int) -> np.ndarray:
    return (np.arange(math.prod(shape)) * 7 % 11 - 4.0).reshape(shape)


def by_loops(x: np.ndarray, w: np.ndarray, strides: Any, pads: Any, dilations: Any, groups: int = 1) -> np.ndarray:
    """The convolution written out as its definition: a sum of products of single elements."""
    rank = x.ndim - 2
    p = np.pad(x, [(0, 0), *pads, (0, 0)])
    spans = [(w.shape[k] - 1) * dilations[k] for k in range(rank)]
    out = [(p.shape[k + 1] - spans[k] - 1) // strides[k] + 1 for k in range(rank)]
    y = np.zeros((len(x), *out, w.shape[-1]))
    inputs, outputs = w.shape[-2], w.shape[-1] // groups
    for n, o, *at in itertools.product(range(len(x)), range(w.shape[-1]), *map(range, out)):
        for c, *k in itertools.product(range(inputs), *map(range, w.shape[:rank])):
            place = [a * s + i * d for a, s, i, d in zip(at, strides, k, dilations)]
            y[(n, *at, o)] += p[(n, *place, o // outputs * inputs + c)] * w[(*k, c, o)]
    return y


def same(sizes: Any, kernel: Any, strides: Any, dilations: Any) -> Any:
    """The padding of "SAME", in TensorFlow's words: as little as makes ceil(size / stride) windows."""
    pads = []
    for n, k, s, d in zip(sizes, kernel, strides, dilations):
        windows, total = -(-n // s), 0
        while (n + total - (k - 1) * d - 1) // s + 1 < windows:
            total += 1
        pads.append((total // 2, total - total // 2))
    return pads


def plain(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else value[1:3] if len(value) == 4 else value


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("strides", "padding", "dilations"), GEOMETRIES)
def test_against_loops(strides: Any, padding: Any, dilations: Any, groups: int) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 5, 6, 4)), rng.normal(size=(3, 2, 4 // groups, 6))
    at = plain(strides), plain(dilations)
    pads = {"VALID": [(0, 0)] * 2, "SAME": same((5, 6), (3, 2), *at)}[padding] if isinstance(padding, str) else padding
    pads = pads[-3:-1] if len(pads) == 4 else pads
    have = nn.conv2d(x, w, strides, padding, dilations=dilations)
    assert np.allclose(have, by_loops(x, w, at[0], pads, at[1], groups), 1e-12, 1e-12)


# From TensorFlow 2.21, of `ints` of these shapes: the convolution, and the gradients of its product with `ints`.
IMAGES = [
    (
        1, "SAME",
        [36, -56, 62, 50, -38, 59, 2, 4, 39, -8, 14, 53, -64, 7, 34, -40, 18, 25, -22, 35, 19, -51, -9, 23],
        [8, 20, -4, -25, 18, -15, -6, 34, -12, -42, 42, -15, -30, 98, -2, 24, 3, -47, -4, 30, 23, 88, -16, -32],
        [16, 16, -26, -25, 137, -45, -45, 130, 16, -26, 16, -25, 45, 0, -26, 14, 42, -33, -1, 30, -6, -2, 39, -37],
    ),
    (
        [1, 2, 1, 1], "VALID",
        [62, 50, -38, 59],
        [25, 22, 8, 20, 10, -11, 27, -24, -15, -18, 14, -7, 16, 6, -4, 22, 0, 0, 0, 0, 0, 0, 0, 0],
        [17, -18, -18, 45, 2, 9, -22, 6, -13, 36, 7, 0, 12, -9, -12, -12, -3, 18, 17, -18, -18, 45, 2, 9],
    ),
    (
        2, [[0, 0], [1, 0], [0, 2], [0, 0]],
        [30, -19, -15, 16, 14, 53, 34, -40],
        [-15, -18, 23, -13, -25, 31, 32, -19, -14, -14, 8, 8, -31, 9, 8, 26, 8, 8, -14, 8, 22, 18, -5, 2],
        [9, 9, 3, -9, 30, 6, 2, 10, 6, -6, -2, 2, 30, 8, 0, -13, -19, 21, -16, 33, 0, -2, 8, -6],
    ),
]  # fmt: skip


def results(fn: Any, *args: np.ndarray) -> list[list[float]]:
    """The value and all gradients of its product with `ints`."""

    y = fn(*args)
    weights = ints(*y.shape)
    grads = ad.grad(lambda *args: np.sum(fn(*args) * weights), tuple(range(len(args))))(*args)
    return [y.ravel().tolist(), *[g.ravel().tolist() for g in grads]]


@pytest.mark.parametrize("case", IMAGES)
def test_images_of_tensorflow(case: Any) -> None:
    strides, padding, *want = case
    x, w = ints(1, 3, 4, 2), ints(2, 3, 2, 2)
    assert results(lambda x, w: nn.conv2d(x, w, strides, padding), x, w) == want


def test_dilated_of_tensorflow() -> None:
    want = [26, -30, 12, 18, 8, 29, -34, 16, 26, 2, -20, 47, 23, 32, 9, -12, 5, 26, -38, 12, 9, 8, 26, -34]
    y = nn.conv2d(ints(1, 3, 4, 2), ints(2, 3, 2, 2), 1, "SAME", dilations=2)
    assert y.ravel().tolist() == want


def test_sequences_of_tensorflow() -> None:
    assert results(lambda x, w: nn.conv1d(x, w, 2, "SAME"), ints(2, 4, 1), ints(3, 1, 2)) == [
        [11, 8, -2, 33, 4, -16, -21, 21], [25, 22, 8, 37, -14, -14, -9, 1], [46, -17, -17, 50, 14, -13],
    ]  # fmt: skip


def test_transposed_of_tensorflow() -> None:
    fn = lambda x, w: nn.conv2d_transpose(x, w, (1, 5, 4, 1), 2, "SAME")
    assert results(fn, ints(1, 3, 2, 2), ints(2, 3, 1, 2)) == [
        [25, 22, 8, 37, -17, 24, -11, 27, -14, -14, -9, 1, 8, -14, 34, -11, 24, 27, -26, -24],
        [27, -18, 20, 42, 26, -10, 28, -10, 5, 22, -1, -15],
        [17, -24, -45, 65, 1, 1, 23, 36, 15, 4, -8, 3],
    ]


def test_depthwise_of_tensorflow() -> None:
    fn = lambda x, w: nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
    assert results(fn, ints(1, 2, 3, 2), ints(2, 2, 2, 2)) == [
        [-10, 13, 51, 28, 17, -19, -40, 10],
        [25, 37, -28, 2, 8, 26, 24, -24, -29, 2, 8, 32],
        [14, -10, 27, 24, 8, -7, -16, 34, -26, 21, 19, 10, 12, -9, -24, 20],
    ]


CALLS: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...]]] = {
    "conv1d": (lambda x, w: nn.conv1d(x, w, 2, "SAME"), (2, 5, 2), (3, 2, 3)),
    "conv2d": (lambda x, w: nn.conv2d(x, w, [1, 2, 1, 1], "SAME"), (2, 4, 3, 2), (2, 2, 2, 3)),
    "groups": (lambda x, w: nn.conv2d(x, w, 1, "VALID"), (1, 3, 3, 4), (2, 2, 2, 2)),
    "NCHW": (
        lambda x, w: nn.conv2d(x, w, [1, 1, 2, 1], [[0, 0], [0, 0], [1, 0], [0, 1]], "NCHW"), (2, 2, 4, 3), (2, 2, 2, 3)
    ),
    "conv2d_transpose": (lambda x, w: nn.conv2d_transpose(x, w, (2, 4, 3, 1), 2), (2, 2, 2, 2), (3, 2, 1, 2)),
    "depthwise_conv2d": (lambda x, w: nn.depthwise_conv2d(x, w, 1, "SAME"), (2, 3, 3, 2), (2, 2, 2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_first_and_second_order_against_differences(name: str) -> None:
    fn, shape, filters = CALLS[name]
    rng = np.random.default_rng(1)
    ad.check_grads(lambda x, w: np.sum(np.tanh(fn(x, w))), (rng.normal(size=shape), rng.normal(size=filters)), order=2)


@pytest.mark.parametrize("name", CALLS)
def test_dtypes_stay_and_batches_may_be_empty(name: str) -> None:
    fn, shape, filters = CALLS[name]
    if name == "conv2d_transpose":
        fn = lambda x, w: nn.conv2d_transpose(x, w, (len(x), 4, 3, 1), 2)
    for dtype in (np.float32, np.float64):
        for batch in (0, 1, 3):
            x, w = np.ones((batch, *shape[1:]), dtype), np.ones(filters, dtype)
            assert fn(x, w).dtype == dtype and len(fn(x, w)) == batch
            for g, like in zip(ad.grad(lambda x, w: np.sum(fn(x, w) ** 2), (0, 1))(x, w), (x, w)):
                assert g.shape == like.shape and g.dtype == dtype
                assert batch or not g.any()


def test_the_other_order_of_axes() -> None:
    x, w = ints(2, 3, 4, 5), ints(2, 2, 3, 2)
    last = np.moveaxis(x, 1, -1)
    for strides, padding in ((2, "SAME"), ([1, 1, 1, 2], "VALID")):
        turned = strides if isinstance(strides, int) else [1, 1, 2, 1]
        want = np.moveaxis(nn.conv2d(last, w, turned, padding), -1, 1)
        assert np.array_equal(nn.conv2d(x, w, strides, padding, "NCHW"), want)


def test_images_that_lie_otherwise_in_memory() -> None:
    x, w = ints(2, 5, 6, 3), ints(2, 2, 3, 2)
    want = nn.conv2d(x, w)
    for other in (np.asfortranarray(x), np.repeat(x, 2, axis=2)[:, :, ::2], x[::-1][::-1]):
        assert np.array_equal(nn.conv2d(other, np.asfortranarray(w)), want)
    assert np.array_equal(nn.conv2d(np.broadcast_to(x[:1], x.shape), w), np.broadcast_to(want[:1], want.shape))


def test_large_batches_in_parts() -> None:
    x, w = np.random.default_rng(0).normal(size=(70, 12, 12, 8)), ints(3, 3, 8, 4)
    whole = nn.conv2d(x, w, 1, "SAME")
    assert np.allclose(whole[40:50], nn.conv2d(x[40:50], w, 1, "SAME"))
    grads = ad.grad(lambda x, w: np.sum(nn.conv2d(x, w, 1, "SAME") ** 2), (0, 1))
    parts = [grads(x[k : k + 10], w) for k in range(0, 70, 10)]
    g_x, g_w = grads(x, w)
    assert np.allclose(g_x, np.concatenate([p[0] for p in parts]))
    assert np.allclose(g_w, np.sum([p[1] for p in parts], axis=0))


@pytest.mark.parametrize("cache", [1, 700, 3000])
def test_large_images_in_parts(monkeypatch: pytest.MonkeyPatch, cache: int) -> None:
    from autodiff_compiler.kernels import convolution

    rng = np.random.default_rng(0)
    for strides, padding, dilations in GEOMETRIES:
        for groups in (1, 2):
            x, w = rng.normal(size=(3, 5, 6, 4)), rng.normal(size=(3, 2, 4 // groups, 2))
            at = (strides, padding, dilations, groups)
            y = convolution.conv(x, w, *at)
            calls: Any = [
                (convolution.conv, (x, w)), (convolution.conv_input, (y, w, (5, 6))),
                (convolution.conv_filters, (x, y, (3, 2))),
            ]  # fmt: skip
            want = [fn(*args, *at) for fn, args in calls]
            with monkeypatch.context() as patch:
                patch.setattr(convolution, "_CACHE", cache)
                for (fn, args), expected in zip(calls, want):
                    assert np.allclose(fn(*args, *at), expected, 1e-12, 1e-12)


def test_in_a_loop_and_a_branch() -> None:
    def f(x: np.ndarray, w: np.ndarray, layers: int) -> Any:
        for k in range(layers):
            y = nn.conv2d(x, w, 1, "SAME")
            if np.sum(y) > 0:
                x = x + 0.1 * nn.relu(y)
            else:
                x = x - 0.1 * np.tanh(y) * (k + 1)
        return np.sum(x * x)

    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(1, 3, 4, 2)), rng.normal(size=(2, 3, 2, 2))
    ad.check_grads(lambda x, w: f(x, w, 3), (x, w), order=2)


def test_what_is_emitted_has_no_loop_and_three_convolutions() -> None:
    g = ad.grad(lambda x, w: np.sum(nn.conv2d(x, w, 1, "SAME") ** 2), (0, 1))
    source = g.source(ints(2, 5, 5, 2), ints(3, 3, 2, 4))
    assert not any(line.strip().startswith(("for ", "while ")) for line in source.splitlines())
    assert source.count("conv(") == 1 and source.count("conv_input(") == 1 and source.count("conv_filters(") == 1


def test_work_in_python_depends_on_the_filters_and_not_on_the_size_of_an_image() -> None:

    def lines(size: int) -> int:
        x, w = np.ones((2, size, size, 1)), np.ones((3, 3, 1, 1))
        count = 0

        def trace(frame: Any, event: str, arg: Any) -> Any:
            nonlocal count
            count += event == "line" and "kernels" in frame.f_code.co_filename
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            ad.grad(lambda x, w: np.sum(nn.conv2d(x, w, 1, "SAME") ** 2), (0, 1))(x, w)
        finally:
            sys.settrace(before)
        return count

    assert lines(4) and lines(32)  # from here on, where the windows lie is known
    assert lines(4) == lines(32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.conv2d(np.ones((1, 3, 3, 2)), np.ones((2, 2, 3, 1))), "do not fit the channels"),
        (lambda: nn.conv2d(np.ones((3, 3, 2)), np.ones((2, 2, 2, 1))), "as many axes"),
        (lambda: nn.conv2d(np.ones((1, 3, 3, 1)), np.ones((5, 5, 1, 1))), "do not fit into axes of"),
        (lambda: nn.conv2d(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)), 0), "stride 0 must be a positive int"),
        (lambda: nn.conv2d(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)), (1, 2, 3)), "or one for each of the 2"),
        (lambda: nn.conv2d(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)), 1, "same size"), "'same size' must be 'SAME'"),
        (lambda: nn.conv2d(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)), 1, [(1, -1), (0, 0)]), "a pair of ints"),
        (lambda: nn.conv2d(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)), 1, "SAME", "CHWN"), "'NHWC' or 'NCHW'"),
        (lambda: nn.conv2d_transpose(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)), (1, 9, 9, 1), 2), "gives"),
        (lambda: nn.conv2d_transpose(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)), (2, 3, 3, 1)), "output_shape must"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_what_does_not_fit_is_refused_in_gradients_too() -> None:
    f = ad.grad(lambda x, w: np.sum(nn.conv2d(x, w, (1, 2, 3), "SAME")))
    with pytest.raises(ValueError, match="or one for each of the 2 spatial axes"):
        f(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)))
    with pytest.raises(TypeError, match="real numbers"):
        nn.conv2d(np.ones((1, 3, 3, 1)) * 1j, np.ones((2, 2, 1, 1)))
