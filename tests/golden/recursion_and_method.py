"""A method, a lambda and a recursion over numbers."""

import numpy as np

import autodiff_compiler as ad


class Power:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        square = lambda z: z * z
        return self.power(square(x), self.n)

    def power(self, x, n):
        return x if n == 1 else x * self.power(x, n - 1)


power = Power(3)


def f(x):
    return power(x) + power.n * x


derived = ad.grad(f)
arguments = (1.3,)

# === emitted ===
def f_grad(x):
    x_sq = x * x
    x_sq_sq = x_sq * x_sq
    return 3.0 + 2.0 * ((2.0 * x_sq_sq + x_sq_sq) * x)
