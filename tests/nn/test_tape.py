"""The functions of `nn` on tensors: recorded by a tape, with the derivatives that they have in compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import nn

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(4, 3)), RNG.uniform(0.1, 0.9, size=(4, 3))
LABELS = np.array([2, 0, 1, 1])
IMAGES, FILTERS = RNG.normal(size=(2, 4, 4, 2)), RNG.normal(size=(2, 2, 2, 3))
UNARY = [
    "sigmoid", "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "erf", "softplus", "log_sigmoid", "softsign",
    "silu", "hard_sigmoid", "tanh", "softmax", "log_softmax", "logsumexp", "l2_loss", "layer_normalization",
    "l2_normalize",
]  # fmt: skip
CALLS: dict[str, tuple[Any, tuple[np.ndarray, ...]]] = {
    **{name: (getattr(nn, name), (X,)) for name in UNARY},
    "approximate gelu": (lambda x: nn.gelu(x, True), (X,)),
    "sigmoid cross entropy": (lambda z, x: nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x), (Y, X)),
    "softmax cross entropy": (nn.softmax_cross_entropy_with_logits, (Y, X)),
    "sparse cross entropy": (lambda x: nn.sparse_softmax_cross_entropy_with_logits(LABELS, x), (X,)),
    **{n: (getattr(nn, n), (Y, X)) for n in ("mse", "mae", "huber")},
    **{n: (getattr(nn, n), (Y, Y[::-1].copy())) for n in ("binary_crossentropy", "categorical_crossentropy")},
    "conv1d": (lambda x, w: nn.conv1d(x, w, 1, "SAME"), (IMAGES[0], FILTERS[0])),
    "conv2d": (lambda x, w: nn.conv2d(x, w, [1, 2, 2, 1], "SAME"), (IMAGES, FILTERS)),
    "NCHW": (lambda x, w: nn.conv2d(x, w, 1, "VALID", "NCHW"), (np.moveaxis(IMAGES, -1, 1).copy(), FILTERS)),
    "conv2d_transpose": (lambda x, w: nn.conv2d_transpose(x, w, (2, 8, 7, 2), 2), (IMAGES @ X[:2], FILTERS)),
    "depthwise_conv2d": (lambda x, w: nn.depthwise_conv2d(x, w, 1, "SAME"), (IMAGES, FILTERS)),
    "max_pool": (lambda x: nn.max_pool(x, 3, 2, "SAME"), (IMAGES,)),
    "avg_pool": (lambda x: nn.avg_pool(x, 3, 2, "SAME"), (IMAGES,)),
    "moments": (lambda x: nn.moments(x, [0])[1], (X,)),
    "batch_normalization": (lambda x, s: nn.batch_normalization(x, *nn.moments(x, [0]), s, s, 1e-3), (X, Y[0])),
    "bias_add": (lambda x, b: nn.bias_add(x, b, "NC"), (X, Y[0])),
    "dropout": (lambda x: nn.dropout(x, 0.5, Y > 0.5), (X,)),
    "embedding_lookup": (lambda x: nn.embedding_lookup(x, LABELS), (X,)),
    "one_hot": (lambda x: x * nn.one_hot(LABELS, 3), (X,)),
    "top_k": (lambda x: nn.top_k(x, 2)[0], (X,)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_the_tape_gives_what_the_compiler_gives(name: str) -> None:
    fn, args = CALLS[name]
    f = lambda *args: np.sum(np.sin(fn(*args)))
    tensors = [ad.constant(a) for a in args]
    with ad.GradientTape() as tape:
        tape.watch(tensors)
        y = f(*tensors)
    want = ad.grad(f, tuple(range(len(args))))(*args)
    assert np.isclose(np.asarray(y), f(*args), 1e-12)
    for have, bar in zip(tape.gradient(y, tensors), want, strict=True):
        assert np.allclose(np.asarray(have), bar, 1e-10, 1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_second_derivatives_on_tapes(name: str) -> None:
    fn, args = CALLS[name]
    f = lambda x: np.sum(np.sin(fn(x, *args[1:])))
    inner = ad.grad(f)
    want = ad.grad(lambda x: np.sum(inner(x) ** 2))(args[0])
    x = ad.constant(args[0])
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
        total = np.sum(g * g)
    have = outer.gradient(total, x, unconnected_gradients="zero")
    assert np.allclose(np.asarray(have), want, 1e-9, 1e-11)


def test_a_network_trained_on_the_tape_and_compiled() -> None:
    """The same steps in both styles end at the same weights."""
    labels = np.array([0, 1])

    def loss(filters: Any, w: Any) -> Any:
        hidden = nn.max_pool(nn.relu(nn.conv2d(IMAGES, filters, 1, "SAME")), 2, 2, "VALID")
        logits = np.reshape(hidden, (2, 12)) @ w
        return np.mean(nn.sparse_softmax_cross_entropy_with_logits(labels, logits))

    filters, w = 0.3 * FILTERS, 0.3 * RNG.normal(size=(12, 2))
    compiled = [filters.copy(), w.copy()]
    step = ad.value_and_grad(loss, (0, 1))
    variables = [ad.Variable(filters), ad.Variable(w)]
    losses = []
    for _ in range(5):
        value, grads = step(*compiled)
        compiled = [p - 0.5 * g for p, g in zip(compiled, grads)]
        with ad.GradientTape() as tape:
            y = loss(*variables)
        losses.append(float(y))
        assert np.isclose(losses[-1], value, 1e-12)
        for v, g in zip(variables, tape.gradient(y, variables)):
            v.assign_sub(0.5 * g)
    assert losses[-1] < 0.7 * losses[0]
    for v, p in zip(variables, compiled):
        assert np.allclose(np.asarray(v), p, 1e-10)
