"""Programs on arrays that are called with NumPy's arrays, and with those of other libraries."""

from __future__ import annotations

import functools

import numpy as np

import autodiff_compiler as ad


def neighbours(x):
    return np.sum(x[1:] * x[:-1])


def elements(x):
    return x[3] ** 2 + x[-1] * x[0]


def steps(x):
    return np.sum(x[::2] ** 2) + np.sum(x[1::3] ** 3) + np.sum(x[7:2:-2] * x[5:2:-1][:3])


def backwards(x):
    return np.sum(x[::-1] * x**2)


def ranges(x):
    return np.sum(x[:4] * x[-4:]) + np.sum(x[2:-2] ** 3)


def chosen(x):
    return np.sum(np.where(x > 0, x, 0.0) ** 2)


def moments(x):
    return np.mean(x) * np.std(x) + np.var(x)


def extremes(x):
    return np.max(x) * np.min(x) + np.sum(np.maximum(x, 0.1) ** 2 + np.minimum(x, 0.3))


def clipped(x):
    return np.sum(np.clip(x, -0.5, 0.5) ** 2)


def norm(x):
    return np.linalg.norm(x)


def scan(x):
    return np.sum(np.cumsum(x) ** 2)


def exponentials(x):
    return np.sum(np.exp(x) / (1 + np.exp(x))) + np.sum(np.log1p(x**2))


def roots(x):
    return np.sum(np.sqrt(np.abs(x))) + np.sum(np.tanh(x) * np.arctan(x))


def quotients(x):
    return np.sum(x**3 / (1 + x**2)) + np.sum(np.abs(x) ** 1.5)


def rebound(x):
    y = x * 1.0
    y = y + 1.0
    return np.sum(y * y)


def loop(x):
    s = 0.0
    for k in range(3):
        s = s + np.sum(x * k) ** 2
    return s


def relaxed(x):
    for _ in range(4):
        x = x - 0.1 * np.sin(x)
    return np.sum(x * x)


def halves(x):
    a, b = x[:5], x[5:]
    return np.sum(np.concatenate([a * b, a]) ** 2) + np.sum(np.stack([a, b * b]) ** 3)


def hinge(x):
    return np.sum(np.maximum(0.0, 1.0 - x)) + np.sum(np.sign(x) * x)


def differences(x):
    return np.sum(np.diff(x) ** 2)


def rolled(x):
    return np.sum(np.roll(x, 2) * x)


def outer(x):
    return np.sum(np.outer(x, x**2))


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def _helper(x, scale=2.0):
    return x * scale


def helped(x):
    return np.sum(_helper(x) ** 2) + len(x) * np.sum(x) / x.shape[0] + np.size(x) * x.ndim


def selected(x):
    t = x[-1]
    u = (2.0 * t) / (1.5 + (t / (1.5 + t**2)) ** 2)
    return np.sum(np.sin(x)) + 1.5 * t + 1.1 * t + 1.5 * u


def gram(x):
    return np.sum(np.transpose(x) @ x)


def columns(x):
    return np.sum(np.sum(x, axis=0) ** 2) + np.sum(x[:, 1] * x[:, -1])


def interleaved(x):
    return np.sum(x[:, ::2] ** 2 + x[:, 1::2])


def logarithms(x):
    return np.sum(np.log(1 + x**2))


def reshaped(x):
    return np.sum(np.reshape(x, -1)[5:20] ** 2)


def centred(x):
    return np.sum((x - np.mean(x, axis=0)) ** 2) + np.sum(np.mean(x, axis=1, keepdims=True) * x)


def contracted(x):
    return np.sum(np.tensordot(x, x, ((0,), (0,)))) + np.sum(np.einsum("ij,ik->jk", x, x) ** 2)


def rows(x):
    s = 0.0
    for row in x:
        s = s + np.sum(row**3)
    return s


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def moved(x):
    return np.sum(np.moveaxis(x[None], 0, 1)[:, 0, 1:] ** 2) + np.sum(np.squeeze(x[None], 0) ** 3)


def flattened(x):
    return np.sum(np.ravel(x) ** 2) + np.sum(np.transpose(x)[1:, ::2] ** 2)


def stencil(x):
    inner = x[1:-1, 1:-1]
    laplacian = x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4.0 * inner
    return np.sum(laplacian**2)


@ad.custom_vjp
def softplus(x):
    return np.log1p(np.exp(x))


softplus.defvjp(lambda x: (softplus(x), x), lambda x, g: (g / (1.0 + np.exp(-x)),))


def with_a_rule(x):
    return np.sum(softplus(x) * x)


def with_checkpoints(x):
    s = 0.0
    for _ in ad.checkpointed(range(4)):
        x = np.sin(x)
        s = s + np.sum(x * x)
    return s


def recursive(x):
    def fall(v, n):
        return np.sum(v * v) if n == 0 else fall(np.sin(v), n - 1) + np.sum(v)

    return fall(x, 3)


def with_a_gradient_inside(x):
    return np.sum(ad.grad(lambda v: np.sum(v**3))(x) * ad.stop_gradient(x))


def reduced(x):
    first, *_, last = x
    return functools.reduce(lambda a, b: a * b, [np.sum(x), first + last, np.max(x)]) + sum(v * v for v in x)


def in_lists(x):
    parts = []
    for k in range(3):
        parts.append(np.sum(x * k))
    held = {"a": x, "b": [x * 2, x * 3]}
    return sum(parts) ** 2 + sum(np.sum(v) for v in held["b"]) * np.sum(held["a"])


def endless(x):
    k, s = 0, 0.0
    while True:
        k += 1
        s = s * 0.5 + np.sum(x) * k
        if k == 4:
            return s * s


def repeated(x):
    return (
        np.sum(np.tile(x, 2) * np.repeat(x, 2)) + np.sum(np.broadcast_to(x, (3, 10)) ** 2) + np.mean(np.atleast_2d(x))
    )


def methods(x):
    y = x.reshape(-1, 2).T
    z = x.mean() * x.std() + x.sum(axis=0, keepdims=True)[0] + x.dot(x)
    return z + y.transpose().ravel().max() + y.copy().clip(0, 1).sum() * x.size


METHODS = [methods]
VECTORS = [
    neighbours, elements, steps, backwards, ranges, chosen, moments, extremes, clipped, norm, scan, exponentials, roots,
    quotients, rebound, loop, relaxed, halves, hinge, differences, rolled, outer, logsumexp, helped, selected,
    with_a_rule, with_checkpoints, recursive, with_a_gradient_inside, reduced, in_lists, endless, repeated,
]  # fmt: skip
MATRICES = [
    gram, columns, interleaved, logarithms, reshaped, centred, contracted, rows, softmax, moved, flattened, stencil,
]  # fmt: skip


def vector():
    return np.random.default_rng(1).normal(size=10)


def matrix():
    return np.random.default_rng(2).normal(size=(12, 4))


CASES = [(f, vector) for f in VECTORS] + [(f, matrix) for f in MATRICES]
