"""A function with an array as its result, split in a forward sweep and a pullback."""

import numpy as np

from tests.codegen.test_golden import vjp_of


def layer(w, x):
    h = np.tanh(w @ x)
    return h / np.sum(h * h)


derived = vjp_of(layer, 2)
arguments = (np.linspace(-1, 1, 6).reshape(3, 2), np.array([0.5, -0.7]))

# === emitted ===
import numpy as np


def layer_vjp(w, x):
    w2, x2 = w.copy(), x.copy()
    h = np.tanh(w2 @ x2)
    sum_h_sq = (h * h).sum()
    h_over_sum_h_sq = h / sum_h_sq

    def pullback(out_bar):
        # adjoint of line 10: return h / np.sum(h * h)
        h_bar = out_bar / sum_h_sq
        h_bar -= 2.0 * (h_bar.dot(h_over_sum_h_sq) * h)
        # adjoint of line 9: h = np.tanh(w @ x)
        w_x_bar = h_bar * (1.0 - h * h)
        return w_x_bar[:, None] * x2, w_x_bar.dot(w2)

    return h_over_sum_h_sq.copy(), pullback
