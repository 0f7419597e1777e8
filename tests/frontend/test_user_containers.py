"""Containers that the standard library writes in Python, and classes derived from them."""

import copy
from collections import UserDict, UserList

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences


class Poses(UserList):
    """Matrices, one or several. Its items are of its own class."""

    def __init__(self, given=None):
        super().__init__()
        if given is None:
            self.data = [np.eye(2)]
        else:
            self.data = list(given) if isinstance(given, list) else [given]

    @property
    def A(self):
        return self.data[0] if len(self.data) == 1 else self.data

    def __getitem__(self, k):
        return self.__class__(self.data[k])

    def __mul__(self, other):
        return Poses([x @ y for x, y in zip(self.data, other.data)])

    def norm(self):
        return sum(np.sum(pose.A**2) for pose in self)


class Doubled(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, 2.0 * value)


class Longer(UserList):
    """It has one item more than it says. Python's loops go through all."""

    def __len__(self):
        return len(self.data) - 1


OUTSIDE = Poses(np.array([[1.0, 1.0], [2.0, 3.0]]))


def products(x):
    p = Poses(np.array([[x, 1.0], [2.0, 3.0]]))
    q = p * p
    return np.sum(q.A) + p[0].norm() + q.norm() + x * OUTSIDE.norm()


def lists(x):
    items = UserList([x, x * x]) + [3.0 * x]
    items.extend([1.0, x])
    items.reverse()
    items[0] *= 2.0
    return items[0] * items[1] + items.pop() * len(items) + max(items) * x + sum(reversed(items[1:]))


def dictionaries(x):
    held = Doubled(a=x, b=x * x)
    held.update(c=3.0 * x)
    total = sum(value * x for value in held.values())
    return total + held.get("a", 1.0) * held.pop("b") + held.get("no", x) + len(held) * x


def loops(x):
    total = 0.0
    for k, item in enumerate(UserList([x, 2.0 * x, 3.0])):
        total = total + (k + 1) * item * x
    return total if 3.0 in UserList([3.0]) else x


@pytest.mark.parametrize("f", [products, lists, dictionaries, loops])
def test_made_inside(f):
    for x in (0.7, 2.0):
        assert ad.grad(f)(x) == pytest.approx(differences(f, x), rel=1e-6)


def test_a_list_with_an_item_behind_its_last_one():
    def f(x):
        return sum(item for item in Longer([x, x, x]))

    with pytest.raises((ad.AutodiffError, NotImplementedError), match="a sequence has an item behind its last one"):
        ad.grad(f)(2.0)


def test_an_argument():
    def f(p):
        return p.norm() + np.sum((p * p).A)

    got = ad.grad(f)(OUTSIDE)
    assert type(got) is Poses
    for index in np.ndindex(2, 2):
        up, down = copy.deepcopy(OUTSIDE), copy.deepcopy(OUTSIDE)
        up.data[0][index] += 1e-6
        down.data[0][index] -= 1e-6
        assert got.data[0][index] == pytest.approx((f(up) - f(down)) / 2e-6, rel=1e-6)
