"""Small programs that combine what other tests try one by one: containers, views, exits, handlers, generators, objects.

Each is compared with central differences and with its unoptimised derivative, for several numbers of iterations.
"""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences


def stacks(x, w, n):
    A = np.stack([x[:3], x[1:4], x[2:5]])
    return np.sum((A[None] @ w[:, :3, None])[..., 0] * np.arange(3.0))


def masked_stores(x, w, n):
    y = x * 1.0
    y[y > 0.2] = 0.3 * y[0]
    y[y < 0] *= y[1]
    return np.sum(y * y)


def views_that_step_back(x, w, n):
    y = x * 1.0
    v = y[1:][::-1]
    for i in range(n):
        v[i % 4] = v[(i + 1) % 4] * y[0]
        y[::-2][1:] += v[0]
    return np.sum(y * np.arange(5.0))


def repeated_places(x, w, n):
    acc = np.zeros(4)
    for i in range(n):
        np.add.at(acc, np.array([0, 0, i % 4]), x[:3] * acc[1] + x[2:])
    return np.sum(acc * acc)


def a_list_of_arrays(x, w, n):
    L = [x[:3] * 1.0, x[2:] * 2.0]
    for i in range(n):
        L[i % 2] = np.sin(L[(i + 1) % 2]) * L[i % 2]
        L[i % 2][0] = x[i % 5]
        if i == 3:
            break
    return np.sum(L[0]) + np.sum(L[1] * w[0, :3])


def a_dict_of_arrays(x, w, n):
    d = {"a": x[:3] * 1.0, "b": x[2:] * 1.0}
    for i in range(n):
        for k in ("a", "b"):
            d[k] = d[k] * d["a"][i % 3]
            d[k][1] += x[4]
        if np.sum(d["a"]) > 2.0:
            d["b"][0] = 0.5
            break
    return np.sum(d["a"] * d["b"])


class Particle:
    def __init__(self, p, v):
        self.p = p
        self.v = v

    def step(self, h):
        self.p = self.p + h * self.v
        self.v[0] -= h * self.p[1]


def an_object_that_steps(x, w, n):
    s = Particle(x[:2] * 1.0, x[2:4] * 1.0)
    for i in range(n):
        s.step(0.1)
        if s.p[0] > 0.5:
            s.v[1] = s.p[0]
            break
    else:
        s.p = s.p * 2.0
    return np.sum(s.p * s.v)


def nan_in_a_choice(x, w, n):
    y = np.where(np.isnan(w[0]), x[:4], w[0] * x[1:])
    return np.nansum(y) + np.sum(np.where(x > 0, np.sqrt(np.abs(x)), -x))


def two_breaks_and_an_else(x, w, n):
    for i in range(n):
        if x[i % 5] > 0.5:
            t = x[i % 5] * 2.0
            break
        if x[i % 5] < -0.6:
            t = x[i % 5] ** 2
            break
    else:
        t = x[0]
    return t * x[1]


def scaled(a, b=0.5, *c, k=2.0):
    for u in c:
        a = a * u
        if a > b:
            return a * k
    return a + b


def defaults_and_stars(x, w, n):
    return (
        scaled(x[0])
        + scaled(x[1], x[2]) * scaled(x[0], 0.1, x[3], x[4])
        + scaled(x[1], k=x[2])
        + scaled(x[3], -1.0, *[x[i] for i in range(3)])
    )


def recursion(x, w, n):
    def rec(i, a):
        if i == 0 or a > 2.0:
            return a
        return rec(i - 1, a * x[i % 5] + x[0])

    return rec(n, x[1]) * rec(3, x[2])


def a_generator(x, w, n):
    def gen():
        s = x[0]
        for i in range(n):
            s = s * x[i % 5] + 0.5
            yield s

    t = 0.0
    for q in gen():
        if q > 0.8:
            t = t + q * q
            break
        t = t + q
    return t


def a_handler(x, w, n):
    t = x[0]
    try:
        for i in range(n):
            t = t * x[i]
            if t < -0.1:
                raise ValueError
            t = t + x[1]
    except ValueError:
        t = t * 3.0
    except IndexError:
        t = t * 5.0
    finally:
        t = t + x[2]
    return t


def until_it_settles(x, w, n):
    y = x * 1.0
    i = 0
    while True:
        old = y.copy()
        y = 0.5 * y + 0.1 * np.sin(y[::-1]) + x * 0.2
        i += 1
        if np.max(np.abs(y - old)) < 1e-3:
            break
        if i > n + 20:
            y *= 2.0
            break
    return np.sum(y * x)


def a_list_that_grows(x, w, n):
    out = []
    for i in range(n):
        a = x[i % 5]
        out.append(a * a)
        if len(out) > 3:
            out[-1] = out[0] * a
            out.append(a)
            break
        for j in range(3):
            a = a * 0.9
            if a < 0.2:
                out.append(a)
                break
    return sum(out) + np.sum(np.array(out) ** 2)


def rows_and_columns(x, w, n):
    m = np.outer(x[:3], x[2:])
    for i in range(n):
        r = m[i % 3]
        r[:] = r / (1.0 + np.sum(r * r))
        m[:, i % 3] *= x[i % 5]
        if m[0, 0] > 1.0:
            break
    return np.sum(m @ m.T)


PROGRAMS = [
    stacks,
    masked_stores,
    views_that_step_back,
    repeated_places,
    a_list_of_arrays,
    a_dict_of_arrays,
    an_object_that_steps,
    nan_in_a_choice,
    two_breaks_and_an_else,
    defaults_and_stars,
    recursion,
    a_generator,
    a_handler,
    until_it_settles,
    a_list_that_grows,
    rows_and_columns,
]


@pytest.mark.parametrize("n", [4, 0, 7])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_combinations(program, n):
    rng = np.random.default_rng(10 + n)
    x, w = 0.7 * rng.normal(size=5), rng.normal(size=(2, 4))
    if program is nan_in_a_choice:
        w[0, 1] = np.nan
    try:
        value = program(x, w, n)
    except Exception as error:
        with pytest.raises(type(error)):
            ad.grad(program)(x, w, n)
        return
    found, gradient = ad.value_and_grad(program)(x, w, n)
    assert found == value
    np.testing.assert_allclose(gradient, differences(lambda x: program(x, w, n), x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient, ad.grad(program, optimize=False)(x, w, n), rtol=1e-9, atol=1e-12)
    loose, loosely = ad.value_and_grad(program, reassociate=True)(x, w, n)
    np.testing.assert_allclose([loose, *loosely], [value, *gradient], rtol=1e-9, atol=1e-12)
