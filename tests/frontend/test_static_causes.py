"""What makes lengths, names and types known: through other arrays, through splits, beside observed values."""

import ast
import re
import warnings

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences


def named(n, prefix="s"):
    return {"%s[%d]" % (prefix, k): k for k in range(n)}


def joined(a, b):
    c = np.zeros((len(a) + len(b), 2))
    c[: len(a)], c[len(a) :] = a, b
    d = np.array(c, dtype=float)
    at = named(d.shape[0])
    return np.sum(d[at["s[2]"]] * d[at["s[0]"]]) * len(at)


def blocks(a, b):
    c = np.block([[a, b], [b, a]])
    return np.sum(c[named(c.shape[1])["s[3]"]] ** 2)


def products(a, b):
    c = np.concatenate([a @ b, b[:1]])
    return np.sum(c[named(len(c))["s[2]"]] ** 2)


def branches(a, b):
    c = np.zeros((2, 3)) + b[0, 0] if np.sum(a) > 0 else np.zeros((3, 2)) + a[0, 0]
    return np.sum(c * c) * len(named(len(c), "y"))


def least_axes(a, b):
    c = a[0] * b[0] if a[0, 0] > 0.5 else np.sum(a * b)
    d = np.array(c, dtype=complex, ndmin=1)
    return np.sum(d.real**2) + d.ndim


def items(a, b):
    c = a[0] * b[0] if a[0, 0] > 0.5 else a * b
    total = []
    total += c.tolist() if c.ndim == 1 else c[1].tolist()
    return sum(total)


def empty_in_place(a, b):
    c = (a * b).T
    c = c[c[:, 0] > -100.0] if b[0, 0] > 0 else c
    if c.size == 0:
        c.shape = (0, 0)
    return np.sum(c * c)


def masks_of_unknown_dtype(a, b):
    w, v = np.linalg.eig(a + np.diag([1.0, 5.0]))
    mask = np.abs(v[0]) > 0.3
    kept = w.real[mask]
    c = b.copy()
    c[mask] = c[mask] * 3
    c[~mask, 0] += 1.0
    return np.sum(kept * kept) + np.sum(c * c) + kept.ndim


def names_of_functions(a, b):
    square = lambda v: v * v
    return np.sum(square(a)) * (len(square.__name__) if hasattr(square, "__name__") else 1.0)


def characteristic(a, b):
    return np.sum(np.poly(a @ b)[1:] * a[0, 0]) + np.sum(np.poly(a[0]) ** 2)


PROGRAMS = [
    joined, blocks, products, branches, least_axes, items, empty_in_place, masks_of_unknown_dtype, names_of_functions,
    characteristic,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Setting the shape")
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    for a, b in [
        (np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.3, 0.6], [0.1, 1.2]])),
        (np.array([[0.2, -2.0], [1.5, 0.4]]), np.array([[-0.3, 0.7], [1.1, 0.2]])),
    ]:
        value, gradients = ad.value_and_grad(f, argnums=(0, 1))(a, b)
        assert value == pytest.approx(f(a, b))
        for k in range(2):
            assert gradients[k] == pytest.approx(differences(f, a, b, argnum=k), rel=1e-5, abs=1e-6)


class Stop(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.text = text


class Model:
    count, name, k = 0, "", 0.0


def test_writes_beside_what_reads_text_or_warns():
    model = Model()

    def f(x):
        model.count += 1
        model.name = "model[%d]" % model.count
        if re.match(r"model\[\d*\]$", model.name):
            model.k = x
        warnings.warn("x", stacklevel=1)
        tree = ast.parse("1 + 2")
        if x > 100.0:
            raise Stop("too much")
        return x * model.k if tree is not None else x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(3):
            assert ad.grad(f)(2.0) == 4.0
            assert (model.count, model.name, model.k) == (k + 1, f"model[{k + 1}]", 2.0)
        with pytest.raises(Stop, match="too much"):
            ad.grad(f)(200.0)
    assert (model.count, model.k) == (4, 200.0)


TABLE = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 5.0, "f": 6.0}


def chosen(x, y):
    if x > 5.0:
        name = "a" if y > 0.0 else "b"
    elif x > 4.0:
        name = "c"
    elif x > 3.0:
        if y > 0.0:
            name = "d"
        else:
            name = "e"
    else:
        name = "f"
    return TABLE[name] * x * y


def chosen_and_raised(x, y):
    if x > 5.0:
        name = "a"
    elif x > 4.0:
        if y > 0.0:
            name = "b"
        else:
            name = "x"
    elif x > 3.0:
        raise ValueError("between")
    else:
        name = "c"
    if name == "x":
        return x * y
    return TABLE[name] * x * x * y


def chosen_by_ints(x, n, m):
    if n > 2:
        name = "a"
    elif n > 1:
        name = "b" if m > 1 else "c"
    else:
        name = "d" if x > 0.0 else "e"
    return TABLE[name] * x * x


@pytest.mark.parametrize("fn", [chosen, chosen_and_raised])
@pytest.mark.parametrize("x", [6.0, 4.5, 3.5, 1.0])
@pytest.mark.parametrize("y", [0.7, -0.7])
def test_a_chain_of_branches_that_choose_a_key(fn, x, y) -> None:
    """What all of its branches have to be split for is asked for at once."""
    g = ad.grad(fn, argnums=(0, 1))
    if fn is chosen_and_raised and x == 3.5:
        with pytest.raises(ValueError, match="between"):
            g(x, y)
        return
    h = 1e-6
    numbers = (fn(x + h, y) - fn(x - h, y)) / (2 * h), (fn(x, y + h) - fn(x, y - h)) / (2 * h)
    np.testing.assert_allclose(g(x, y), numbers, rtol=1e-6)
    assert len(g.attempts(x, y).splitlines()) <= 3


@pytest.mark.parametrize("n, m", [(3, 0), (2, 2), (2, 1), (1, 0)])
@pytest.mark.parametrize("x", [0.5, -0.5])
def test_a_chain_of_branches_that_ints_decide(n, m, x) -> None:
    found = ad.grad(chosen_by_ints)(x, n, m)
    assert abs(found - (chosen_by_ints(x + 1e-6, n, m) - chosen_by_ints(x - 1e-6, n, m)) / 2e-6) < 1e-5
