"""Generator functions: what runs when, and what is differentiated, as a run of the program itself says."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.frontend.generator_programs import REFUSED, RIGHT
from tests.live_runs import HEAD, X, module_of, outcome


def made(body, folder):
    return module_of(HEAD.replace("{BODY}", body.strip().replace("\n", "\n    ")), folder, "program").f


@pytest.mark.parametrize("name", RIGHT)
def test_runs_in_the_order_of_python(name, tmp_path):
    assert outcome(made(RIGHT[name], tmp_path)) == "right"


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_told_is_refused(name, tmp_path):
    assert outcome(made(REFUSED[name], tmp_path)) == "refused"


@pytest.mark.parametrize(
    "name", ["loop break", "finally return", "zip effects", "next in loop", "recursive", "pipeline"]
)
def test_forward(name, tmp_path):
    f = made(RIGHT[name], tmp_path)
    value, tangent = ad.jvp(f, (X,), (1.0,))
    assert abs(value - f(X)) < 1e-9 * abs(value)
    assert abs(tangent - differences(f, X)) < 1e-5 * (1 + abs(tangent))


def steps(state, rate, count):
    for _ in range(count):
        state = state + rate * np.sin(state)
        yield state


def integrated(state, rate, count):
    total = 0.0
    for k, s in enumerate(steps(state, rate, count)):
        total = total + np.sum(s * s) / (k + 1)
        if total > 12.0:
            return total
    return total + np.sum(s)


class Tree:
    def __init__(self, value, *children):
        self.value, self.children = value, children

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child


def summed(x):
    total = 0.0
    for v in Tree(x[0], Tree(x[1] * x[0], Tree(x[2])), Tree(np.sin(x[2]))):
        total = total * 0.5 + v * v
    return total


@pytest.mark.parametrize("count", [0, 1, 4, 30])
def test_steps_of_a_solver(count):
    state = np.array([0.3, 0.8, 1.9])
    if not count:
        with pytest.raises(NameError):
            ad.grad(integrated)(state, 0.1, count)
        return
    for argnum in (0, 1):
        found = ad.grad(integrated, argnum)(state, 0.1, count)
        np.testing.assert_allclose(found, differences(integrated, state, 0.1, count, argnum=argnum), rtol=1e-5)


def test_a_generator_as_iter():
    x = np.array([0.3, 0.8, 1.9])
    np.testing.assert_allclose(ad.grad(summed)(x), differences(summed, x), rtol=1e-6)


def test_an_array_in_a_try_is_looped_over():
    def f(x):
        total = 0.0
        try:
            for v in x:
                if v > 3.0:
                    raise ValueError
                total = total + v * v
        except ValueError:
            total = total * 3.0
        return total

    for x in (np.array([1.0, 2.0, 3.5, 1.0]), np.array([1.0, 2.0])):
        np.testing.assert_allclose(ad.grad(f)(x), differences(f, x), rtol=1e-6)
