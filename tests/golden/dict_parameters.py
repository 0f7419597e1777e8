"""Parameters in a dict; the gradient is a dict."""

import numpy as np

import autodiff_compiler as ad


def loss(params, x):
    h = np.tanh(x @ params["w"] + params["b"])
    return np.mean(h * h) * params["scale"]


derived = ad.grad(loss)
arguments = (dict(w=np.linspace(-1, 1, 6).reshape(3, 2), b=np.zeros(2), scale=2.0), np.linspace(0, 1, 12).reshape(4, 3))

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import column_sums


def loss_grad(params_w, params_b, params_scale, x):
    h = np.tanh(x @ params_w + params_b)
    h_sq = h * h
    # adjoint of line 9: h = np.tanh(x @ params["w"] + params["b"])
    x_params_w_bar = 2.0 * (params_scale / h_sq.size) * h * (1.0 - h * h)
    params_b_bar = column_sums(x_params_w_bar)
    return {"w": x.T.dot(x_params_w_bar), "b": params_b_bar, "scale": h_sq.sum() / h_sq.size}
