"""Paths on which a name has different numbers of axes are compiled apart where a derivative rule needs the number."""

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import RuleLookupError

X = np.array([[0.4, 1.2], [-0.7, 0.3], [1.1, 0.9]])


def handled(x):
    s = x[:2] @ x[:2].T + np.eye(2)
    try:
        k = np.dot(x[:2], np.linalg.inv(s))
    except Exception:
        k = np.dot(x[:2], 1.0 / s)
    try:
        rest = np.eye(k.shape[0]) - k
    except Exception:
        rest = np.array([1 - k])
    return np.dot(np.dot(rest, s), rest.T).sum()


def chosen(x):
    y = x * 2.0 if x[0, 0] > 0 else x[0] * 3.0
    return np.dot(y, y.T).sum() + np.outer(y, y).sum()


def returned(x):
    def rows(of):
        if of[0, 1] > 5.0:
            return of[0]
        return of * of

    r = rows(x)
    return np.outer(r, r).sum()


def counted(x):
    total = 0
    for row in x:
        total = total + row * row
    return np.outer(total, x[0]).sum()


def summed(x):
    mean = sum(x, 0)[:, None] / len(x)
    return np.outer(mean, mean).sum()


def summed_of_some(x):
    mean = sum(x[: int(x[0, 1] * 2)])[:, None] / len(x)
    return np.outer(mean, mean).sum()


def built(x):
    y = sum([row * k for k, row in enumerate(x)])
    return np.outer(y, y).sum()


PROGRAMS = (handled, chosen, returned, counted, summed, summed_of_some, built)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    ad.check_grads(f, (X,), order=1)


def test_the_other_path():
    ad.check_grads(chosen, (X - 1.0,), order=1)
    ad.check_grads(returned, (X + 5.0,), order=1)


def test_a_path_that_raises_raises():
    with pytest.raises(TypeError, match="'int' object is not subscriptable"):
        summed_of_some(X * 0.1)
    with pytest.raises(TypeError, match="'int' object is not subscriptable"):
        ad.grad(summed_of_some)(X * 0.1)


def test_a_second_derivative():
    hessian = ad.grad(lambda x: (ad.grad(chosen)(x) * X).sum())(X)
    h = 1e-6
    differences = (ad.grad(chosen)(X + h * X) - ad.grad(chosen)(X - h * X)) / (2 * h)
    np.testing.assert_allclose(hessian, differences, rtol=1e-6)


def test_where_it_does_not_help():
    def f(x, rows):
        y = x
        for k in rows:
            y = y.sum(axis=0) if k else y[None] * 2.0
        return np.outer(y, y).sum()

    with pytest.raises(RuleLookupError, match="needs the number of axes"):
        ad.grad(f)(X, np.array([1, 0, 1]))
