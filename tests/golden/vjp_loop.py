"""The split form of a loop: the pullback may run again."""

import numpy as np

from tests.codegen.test_golden import vjp_of


def orbit(x, n):
    for _ in range(n):
        x = np.sin(x) * 1.1
    return x


derived = vjp_of(orbit, 1)
arguments = (np.array([0.4, 0.9, 1.3]), 3)

# === emitted ===
import numpy as np


def orbit_vjp(x, n):
    x2 = x.copy()
    x_saved = []
    for _ in range(n):
        x_saved.append(x2)
        x2 = np.sin(x2) * 1.1

    def pullback(x_bar, x_saved=x_saved):
        x_saved = list(x_saved)
        x_bar2 = x_bar
        # adjoint of line 9: for _ in range(n):
        for x3 in reversed(x_saved):
            # adjoint of line 10: x = np.sin(x) * 1.1
            x_bar2 = 1.1 * x_bar2 * np.cos(x3)
        return (x_bar2.copy(),)

    return x2.copy(), pullback
