"""Calls derivatives inside of functions under ``numba.njit``, and compares with calls from Python."""

from __future__ import annotations

import numba
import numpy as np
from numba.core.errors import TypingError

import autodiff_compiler as ad

X, A = np.linspace(0.5, 2.0, 4), np.arange(12.0).reshape(3, 4) / 10.0
TABLE = np.ones(4)


@numba.njit
def polynomial(x):
    return x * x * x - 2.0


def misfit(x, a):
    r = a @ x - 1.0
    return np.sum(r * r)


def recurrence(x, n, rate):
    for i in range(n):
        x = x + rate * np.sin(x)
    return np.sum(x * x)


def quotient(x, d):
    return np.sum(x) * (1.0 / d)


def of_a_dictionary(x):
    return {"x": np.sum(x * x)}


def reads_a_table(x):
    return np.sum(x * TABLE)


def of_one_more(x, n):
    y = np.zeros(3)
    y[: len((1.0,) * n)] += np.sum(x)
    return np.sum(y)


def same(found, wanted) -> None:
    if isinstance(wanted, tuple):
        assert type(found) is tuple and len(found) == len(wanted)
        for a, b in zip(found, wanted):
            same(a, b)
    else:
        assert np.shape(found) == np.shape(wanted) and np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def writes(x, a):
    x[0] = a[0, 0]  # which another argument may be a part of
    return np.sum(x * a[1])


def writes_to_a_copy(x, a):
    return writes(x.copy(), a)


def raises(kind, call, *args) -> str:
    try:
        call(*args)
    except kind as error:
        return str(error)
    raise AssertionError(f"nothing was raised instead of {kind}")


def calling(derivative):
    @numba.njit
    def call(*args):
        return derivative(*args)

    return call


def main() -> None:
    slope = ad.grad(polynomial)  # the gradient of a function of Numba's

    @numba.njit
    def newton(x, steps):
        for _ in range(steps):
            x -= polynomial(x) / slope(x)
        return x

    assert abs(newton(1.0, 30) - 2.0 ** (1 / 3)) < 1e-15

    both = ad.value_and_grad(misfit, argnums=(0, 1))
    of_misfit = calling(both)
    same(of_misfit(X, A), both(X, A))
    same(of_misfit(X, np.asfortranarray(A)), both(X, A))
    same(of_misfit(X, A[::-1]), both(X, A[::-1]))
    same(of_misfit(X[:1], A[:, :1]), both(X[:1], A[:, :1]))  # lengths that the program is not for
    same(of_misfit(X, A[:0]), both(X, A[:0]))
    assert "mismatch" in raises(ValueError, of_misfit, X[:3], A)

    over = ad.grad(recurrence, argnums=(0, 2))

    @numba.njit
    def trained(x, n, rate):
        for _ in range(20):
            x_bar, rate_bar = over(x, n, rate)
            x = x - 0.01 * x_bar
            rate = rate - 1e-4 * rate_bar
        return x, rate

    x, rate = X.copy(), 0.3
    for _ in range(20):
        x_bar, rate_bar = over(x, 3, rate)
        x, rate = x - 0.01 * x_bar, rate - 1e-4 * rate_bar
    same(trained(X, 3, 0.3), (x, float(rate)))

    for derivative in (ad.grad(quotient, argnums=1), ad.grad(quotient, argnums=1, backend="auto")):
        of_quotient = calling(derivative)
        same(of_quotient(X, 2.0), derivative(X, 2.0))
        raises(ZeroDivisionError, of_quotient, X, 0.0)  # the program bails, and Python raises

    copied = ad.grad(writes_to_a_copy, argnums=(0, 1))
    same(calling(copied)(A[0], A), copied(A[0], A))

    single = ad.grad(misfit)
    same(
        calling(single)(X.astype(np.float32), A.astype(np.float32)), single(X.astype(np.float32), A.astype(np.float32))
    )

    for f, args, why in (
        (of_a_dictionary, (X,), "no number, array or tuple"), (reads_a_table, (X,), "'TABLE', which is no argument"),
        (of_one_more, (X, 2), "depends on the value"), (writes, (X, A), "writes to an argument"),
        (misfit, (X + 1j, A), "no machine code for an argument"),
        (polynomial, (X, A), "polynomial"),
    ):  # fmt: skip
        derivative = ad.jacrev(f) if f is of_a_dictionary else ad.grad(f)
        assert why in raises(TypingError, calling(derivative), *args), f.__name__
    print("all agree")


if __name__ == "__main__":
    main()
