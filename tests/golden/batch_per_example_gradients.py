"""The gradient of a network for each example: in_axes says that the parameters are shared."""

import numpy as np

import autodiff_compiler as ad


def loss(params, x, y):
    h = x
    for w, b in params[:-1]:
        h = np.tanh(h @ w + b)
    w, b = params[-1]
    z = h @ w + b
    return np.log(np.sum(np.exp(z))) - z[y]


_r = np.random.default_rng(0)
derived = ad.batch(ad.grad(loss), in_axes=(None, 0, 0))
arguments = (
    ((_r.normal(size=(2, 4)), _r.normal(size=4)), (_r.normal(size=(4, 3)), _r.normal(size=3))),
    _r.normal(size=(5, 2)),
    np.array([0, 2, 1, 1, 0]),
)

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import row_sums


def loss_grad_batch(params_0_0, params_0_1, params_1_0, params_1_1, x, y):
    h = np.tanh(x @ params_0_0 + params_0_1)
    z = h @ params_1_0 + params_1_1
    t = np.exp(z)
    # adjoint of line 14: return np.log(np.sum(np.exp(z))) - z[y]
    z_bar = (1.0 / row_sums(t))[:, None] * t
    z_bar[np.arange(x.shape[0]), y] -= 1.0
    # adjoint of line 11: h = np.tanh(h @ w + b)
    params_0_1_bar = z_bar.dot(params_1_0.T) * (1.0 - h * h)
    params_0_0_bar = x[:, :, None] * params_0_1_bar[:, None, :]
    return (params_0_0_bar, params_0_1_bar), (h[:, :, None] * z_bar[:, None, :], z_bar)
