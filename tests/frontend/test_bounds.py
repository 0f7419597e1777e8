"""What is known of lengths decides comparisons with numbers, for arrays of all sizes."""

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import UnsupportedError
from tests.differences import differences


def sizes(a):
    if a.size == 0:
        return 1.0
    if a.size > 1 and len(a) >= 1 and 0 < len(a) and a.shape[0] != 0:
        return np.sum(a * a)
    return np.sum(a) * 3.0


def empties(a):
    b = np.array(a)
    if 0 in b.shape or not b.size or not len(b):
        b = np.zeros((0, 0))
        return b.sum() + 2.0
    if b.shape[0] * b.shape[-1] + 1 == 1 or b.shape == (0,):
        return 5.0
    return np.sum(b * b)


def parts(a):
    b, c = a[1:], a[2:]
    total = np.sum(a)
    if len(b) == 0:
        total = total * 2.0
    if len(b) < 2:
        total = total * 3.0
    if c.size:
        total = total + np.sum(c * c)
    return total if len(c) > 0 else total * 5.0


def shrinking(a):
    total, steps = 0.0, 0
    while a.size > 0:
        total = total + a.flat[0] * (1.0 + steps)
        a = a[1:]
        steps += 1
    return total


def recursive(a):
    if len(a) == 0:
        return 0.0
    return np.sum(a[0]) ** 2 + recursive(a[1:])


def in_place(a):
    b = np.array(a, dtype=float)
    shape = b.shape
    if b.ndim == 2 and shape == (1, 0) or b.ndim == 1 and shape == (0,):
        shape = (0, 0)
    elif b.ndim == 1:
        shape = (1, shape[0])
    b = b.reshape(shape)
    if b.size == 0:
        b.shape = (0, 0)
    b[...] = b * b
    return np.sum(b)


def filtered(a):
    b = a[a > 0.5]
    if b.size == 0:
        return np.sum(a) * 2.0
    if len(b) > 1:
        return np.sum(b * b)
    return np.sum(b)


def joined(a):
    b = np.concatenate([a, a[1:]])
    if len(b) < 2:
        return np.sum(b) * 4.0
    if len(b) == 0:
        return 2.0
    return np.sum(b * b)


@pytest.mark.filterwarnings("ignore:Setting the shape")
@pytest.mark.parametrize("f", [sizes, empties, parts, shrinking, recursive, in_place, filtered, joined])
def test_lengths_are_compared_as_numpy_does(f):
    g = ad.value_and_grad(f)
    for shape in [(3,), (2,), (1,), (0,), (4,), (2, 2), (1, 2), (2, 1), (3, 4), (0, 3), (2, 0), (1, 0)]:
        a = np.linspace(0.3, 1.7, int(np.prod(shape))).reshape(shape)
        try:
            expected = f(a)
        except (IndexError, ValueError) as error:
            with pytest.raises(type(error)):
                g(a)
            continue
        try:
            value, gradient = g(a)
        except UnsupportedError:
            assert f is filtered and len(shape) == 2
            continue
        assert value == pytest.approx(expected), shape
        assert gradient.shape == shape
        if a.size:
            assert gradient == pytest.approx(differences(f, a), rel=1e-5, abs=1e-7)


def test_no_branch_is_left_where_the_signature_decides():
    assert "if" not in ad.grad(in_place).source(np.ones((2, 2)))
    assert "if" not in ad.grad(sizes).source(np.ones(3))
