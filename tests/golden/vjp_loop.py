"""The split form of a loop: the pullback may run again."""

import numpy as np

from tests.test_golden import vjp_of


def orbit(x, n):
    for _ in range(n):
        x = np.sin(x) * 1.1
    return x


derived = vjp_of(orbit, 1)
arguments = (np.array([0.4, 0.9, 1.3]), 3)

# === emitted ===
import numpy as np
from autodiff_compiler.runtime import sum_to


def orbit_vjp(x, n):
    x_saved = []
    x2 = x
    for _ in range(n):
        x_saved.append(x2)
        x3 = np.sin(x2) * 1.1
        x2 = x3
    x4 = x2
    def pullback(x_bar, x_saved=x_saved):
        x_saved = list(x_saved)
        x_bar2 = sum_to(x_bar, x)
        # adjoint of line 9: for _ in range(n):
        for x5 in reversed(x_saved):
            # adjoint of line 10: x = np.sin(x) * 1.1
            x_bar2 = x_bar2 * 1.1 * np.cos(x5)
        return (x_bar2.copy(),)
    return x4.copy(), pullback
