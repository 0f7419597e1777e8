"""Factors that terms of sums have in common, and numbers that all that is computed of an array is multiplied by: they
are multiplied once, and the gradients stay."""

import ast
import copy
import random

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.ir.core import DERIVED, Builder, Function, Region
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.opset import ACCUM, ADD, ADDAT, DIV, GET, MUL, NEG, SET, SPREAD, SUB, ZEROS
from autodiff_compiler.ir.printer import print_function
from autodiff_compiler.ir.types import Ty, array
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.operations.linalg import DOT
from autodiff_compiler.operations.reductions import SUM
from autodiff_compiler.transforms.common_factors import share_factors
from autodiff_compiler.transforms.factors import merge_factors
from autodiff_compiler.transforms.scalings import scale_once
from tests.differences import differences

RNG = np.random.default_rng(21)
X, Y = RNG.normal(size=6), RNG.normal(size=6)
PASSES = "-factors, -common factors, -scalings"


def logistic(x, y):
    for _ in range(4):
        x = 0.9 * x * (1.0 - x * y[0])
    return np.sum(x)


def flux(x, y):
    h = x.copy()
    for _ in range(3):
        t = 0.5 * y[1:] * (h[1:] + h[:-1])
        h[1:] += 0.02 * t
        h[:-1] -= 0.02 * t
    return np.sum(h**2)


def through_zeros(x, y):
    for _ in range(3):
        k = 1.0 + y**2
        flow = 0.5 * (k[1:] + k[:-1]) * (x[1:] - x[:-1])
        x = x.copy()
        x[1:-1] += 0.1 * (flow[1:] - flow[:-1])
    return np.sum(x**2)


def squared(x, y):
    """A product of the array and what is computed of it is no multiple of it."""
    for _ in range(3):
        a = 0.1 * np.sin(x)
        x = x + 0.5 * a * (a * y) + 0.25 * a * a
    return np.sum(x)


def used_in_front_and_behind(x, y):
    for _ in range(3):
        a = 0.3 * x * y
        x = np.cos(0.5 * a) + a * np.sin(0.5 * a * y) + a
    return np.sum(x)


def added_to_itself(x, y):
    a = np.exp(0.1 * x)
    b = 0.5 * (a * y + a) - a * a
    return np.sum(b * 0.5 + b * y * 0.5)


def signs(x, y):
    for _ in range(3):
        middle = x[1:-1]
        change = 0.2 * (y[0] * (x[2:] - 2.0 * middle + x[:-2]) - 0.5 * middle * (x[2:] - x[:-2]))
        x = x.copy()
        x[1:-1] += change
    return np.sum(x**2)


def summed_up(x, y):
    a = 0.2 * x
    return np.sum(a * y) + np.dot(a, x) + np.sum(np.sin(0.5 * a * y)) + np.sum(0.5 * a * y**2)


def broadcast(x, y):
    m = x[:, None] * y[None, :]
    return np.sum(np.sin(0.1 * m) * (0.5 * x[:, None]) - 0.3 * m * y + 0.3 * m * m * x[:, None])


def one_factor_is_smaller(x, y):
    m = np.outer(x, y)
    return np.sum(np.sin(m) * y - np.cos(m) * x[:, None] * y)


def three_terms(x, y):
    for _ in range(3):
        x = x * y - x * np.sin(x) + y * x * 0.5 + 0.25 * x
    return np.sum(x)


def numbers_beside_arrays(x, y):
    s = np.sum(y)
    for _ in range(3):
        x = x * s - np.sin(x) * s + x
    return np.sum(x * s)


def quotients(x, y):
    m, v = np.zeros(6), np.zeros(6)
    for t in range(1, 4):
        g = np.sin(x) * y
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        x = x - 0.1 * (m / (1.0 - 0.9**t)) / (np.sqrt(v / (1.0 - 0.99**t)) + 1e-3)
    return np.sum(x * x) / np.sum(y * y) * 3.0


def a_mask(x, y):
    big = x > 0.0
    return np.sum(np.where(big, np.sqrt(np.abs(x)) * y, 0.0) + np.where(big, x * y, x))


def additions_at_a_part(x, y):
    x = x.copy()
    for i in range(1, 5):
        part = x[i - 1 : i + 2]
        change = y[i] * part[1:] - 0.5 * part[:-1]
        x[i : i + 2] += np.sin(change) * x[i : i + 2]
    return np.sum(x**2)


PROGRAMS = [
    logistic, flux, through_zeros, squared, used_in_front_and_behind, added_to_itself, signs, summed_up, broadcast,
    one_factor_is_smaller, three_terms, numbers_beside_arrays, quotients, a_mask, additions_at_a_part,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    derived, plain = (ad.value_and_grad(f, argnums=(0, 1), optimize=o) for o in (True, PASSES))
    scaled = ad.grad(f, argnums=(0, 1), optimize="-common factors")(X, Y)
    value, grads = derived(X, Y)
    assert value == f(X, Y)
    for k, (found, want) in enumerate(zip(grads, plain(X, Y)[1])):
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(scaled[k], want, rtol=1e-12, atol=1e-13)
        expected = differences(lambda z, k=k: f(*[z if j == k else a for j, a in enumerate((X, Y))]), (X, Y)[k])
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    v = np.cos(np.arange(6.0))
    second = np.tensordot(v, differences(lambda z: ad.grad(f)(z, Y), X), 1)
    np.testing.assert_allclose(_hvp(f, v), second, rtol=1e-5, atol=1e-5)
    value, pullback = ad.vjp(f, X, Y)
    for found, want in zip(pullback(1.0), grads):
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-13)


def _hvp(f, v):
    return ad.jvp(ad.grad(f), (X, Y), (v, np.zeros(6)))[1]


@pytest.mark.parametrize("f", PROGRAMS)
def test_float32_is_left_alone(f):
    x, y = X.astype(np.float32), Y.astype(np.float32)
    found = ad.grad(f)(x, y)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(f)(X, Y), rtol=2e-3, atol=2e-4)


def products(f, **options):
    """How many products a gradient has in its text."""
    tree = ast.parse(ad.grad(f, argnums=(0, 1), **options).source(X, Y))
    return sum(isinstance(node, ast.Mult) for node in ast.walk(tree))


@pytest.mark.parametrize(("f", "fewer"), [(through_zeros, 2), (squared, 3), (three_terms, 2), (summed_up, 1)])
def test_fewer_products(f, fewer):
    assert products(f) <= products(f, optimize=PASSES) - fewer


def test_several_additions_to_a_part_are_one():
    def f(h, u):
        for _ in range(3):
            u = u - 0.5 * (h[1:] - h[:-1])
            t = 0.1 * u * (h[1:] + h[:-1])
            h = h.copy()
            h[1:] += t
            h[:-1] -= t
        return np.sum(h**2)

    text = ad.grad(f).source(X, Y[1:])
    assert "h_bar[1:] +=" in text and "h_bar[1:] =" not in text
    np.testing.assert_allclose(ad.grad(f)(X, Y[1:]), differences(lambda h: f(h, Y[1:]), X), rtol=1e-6, atol=1e-7)


def test_what_may_be_large_keeps_its_factor_of_zero():
    """Zero times the largest number is zero; times a sum of two of them it would not be a number."""

    def f(x, w):
        e = np.exp(x)
        return np.sum(w / (1.0 + e) + w / (2.0 + e))

    x = np.array([800.0, 1.0])
    w = np.array([0.0, 2.0])
    found, want = (ad.grad(f, optimize=o)(x, w) for o in (True, False))
    np.testing.assert_allclose(found, want, rtol=1e-12)
    assert np.isfinite(found).all()


def test_no_iteration_and_no_element():
    def f(x, y, n):
        for _ in range(n):
            x = 0.1 * x * (0.5 * y - x)
        return np.sum(x)

    derived = ad.grad(f)
    np.testing.assert_array_equal(derived(X, Y, 0), np.ones(6))
    assert derived(np.zeros(0), np.zeros(0), 3).shape == (0,)
    np.testing.assert_allclose(derived(X, Y, 3), ad.grad(f, optimize=False)(X, Y, 3), rtol=1e-12)


def test_a_divisor_of_zero():
    """Where NumPy divides by zero in the function, its gradient is no error of Python's."""

    def f(x, y, d):
        for _ in range(2):
            x = np.sin(x) * (0.5 * y / d)
        return np.sum(x)

    with np.errstate(all="ignore"):
        found, want = (ad.grad(f, argnums=(0, 1), optimize=o)(X, Y, 0.0) for o in (True, False))
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(want))
    found, want = (ad.grad(f, argnums=(0, 1), optimize=o)(X, Y, 0.7) for o in (True, False))
    np.testing.assert_allclose(found, want, rtol=1e-12)


def test_a_long_sum():
    def f(x):
        total = 0.0 * x
        for k in range(40):
            total = total + np.sin(k * x) * x
        return np.sum(total)

    np.testing.assert_allclose(ad.grad(f)(X), ad.grad(f, optimize=False)(X), rtol=1e-11)


def random_adjoint(rng: random.Random, size: int) -> Function:
    """Operations of a derivative on arrays, with few numbers, so that many are the same."""
    region = Region()
    root = region.dims.fresh()
    t = array(float, (root,))
    arrays = [region.param(t, name) for name in "abc"]
    numbers = [region.param(Ty("py", np.dtype(float), ()), "s")]
    b = Builder(region)
    b.tag = DERIVED
    for _ in range(size):
        x, y = (rng.choice(arrays[-6:]) for _ in range(2))
        scalar = rng.choice(numbers[-3:])
        literal = rng.choice([0.5, -0.5, 2.0, 0.25, 0.5])
        number = rng.choice([literal, literal, scalar])
        kind = rng.randrange(20)
        if kind < 4:
            new = b.emit(MUL, *((number, x) if rng.random() < 0.5 else (x, number)))
        elif kind < 6:
            new = b.emit(MUL, x, y)
        elif kind < 9:
            new = b.emit(rng.choice([ADD, SUB, ACCUM]), x, y)
        elif kind == 9:
            new = b.emit(NEG, x)
        elif kind == 10:
            new = b.emit(DIV, x, arrays[0])
        elif kind == 11:
            new = b.emit(DIV, x, rng.choice([scalar, literal]))
        elif kind == 12:
            new = b.emit(SPREAD, number, x)
        elif kind == 13:
            new = b.emit(DIV, number, arrays[1])
        elif kind < 19:
            prim = rng.choice([MUL, MUL, MUL, ADD, DIV])
            pair = [literal if prim is MUL else rng.choice(numbers[-3:]), scalar]
            rng.shuffle(pair)
            numbers.append(b.emit(prim, *(pair if prim is not DIV else (pair[0], rng.choice([literal, numbers[0]])))))
            continue
        else:
            zeros = b.emit(ZEROS, x)
            path = (("index", (slice(1, None),)),)
            stored = b.emit(SET, zeros, path, b.emit(GET, x, path))
            new = b.emit(ADDAT, stored, path, b.emit(GET, y, path))
        arrays.append(new)
    region.exit = (*arrays[-2:], numbers[-1])
    if rng.random() < 0.5:
        region.exit += (b.emit(DOT, arrays[-1], rng.choice(arrays)), b.emit(SUM, arrays[-3]))
    return Function("f", region)


def the_sign_of_one_of_two_numbers(b, x, y):
    return b.emit(SUB, b.emit(MUL, 0.5, x), b.emit(MUL, b.emit(MUL, -0.5, y), 0.5))


def a_sign_in_a_term_that_stays(b, x, y):
    negative = b.emit(MUL, 0.25, b.emit(NEG, y))
    return b.emit(SUB, b.emit(ADD, x, negative), b.emit(MUL, 2.0, x))


def a_multiple_of_what_it_is_added_to(b, x, y):
    v = b.emit(MUL, 0.1, x)
    return b.emit(MUL, b.emit(MUL, b.emit(ADD, b.emit(MUL, v, 2.0), v), -0.5), 0.5)


def an_end_that_is_added_to_a_multiple(b, x, y):
    v = b.emit(MUL, 0.1, x)
    return b.emit(MUL, b.emit(ADD, b.emit(MUL, v, y), b.emit(MUL, 0.5, v)), 0.5)


def a_square(b, x, y):
    v = b.emit(MUL, 0.1, x)
    return b.emit(MUL, b.emit(MUL, v, b.emit(MUL, v, y)), 0.5)


@pytest.mark.parametrize(
    "build",
    [
        the_sign_of_one_of_two_numbers, a_sign_in_a_term_that_stays, a_multiple_of_what_it_is_added_to,
        an_end_that_is_added_to_a_multiple, a_square,
    ],
)  # fmt: skip
def test_operations(build):
    region = Region()
    t = array(float, (region.dims.fresh(),))
    x, y = region.param(t, "x"), region.param(t, "y")
    b = Builder(region)
    b.tag = DERIVED
    region.exit = (build(b, x, y),)
    check(Function("f", region), [share_factors, scale_once, merge, share_factors, scale_once], (X, Y))


def merge(fn):
    merge_factors(fn)
    return False


def check(fn, runs, args):
    """How many of the passes change the function, and that it stays the same."""
    changed = 0
    want = interpret(fn, copy.deepcopy(args))
    for run in runs:
        changed += run(fn)
        verify(fn)
        for found, one in zip(interpret(fn, copy.deepcopy(args)), want, strict=True):
            scale = 1.0 + np.abs(one).max()
            np.testing.assert_allclose(found, one, rtol=1e-9, atol=1e-9 * scale, err_msg=print_function(fn))
    return changed


@pytest.mark.parametrize("seed", range(4))
def test_random_operations(seed):
    """Sums and products in any order, with squares, several readers and stores into zeros."""
    rng = random.Random(seed)
    values = [RNG.uniform(0.5, 1.5, 5) for _ in range(3)]
    changed = 0
    for _ in range(150):
        fn = random_adjoint(rng, rng.randrange(3, 14))
        changed += check(fn, rng.sample([share_factors, merge, scale_once], 3), [*values, 0.7])
    assert changed > 10


def test_what_a_call_is_given_is_read():
    """A call that gives nothing was no reader, and what it was given was scaled by the number of other products."""

    def shrinking(x):
        return x if np.sum(x) < 0.1 else shrinking((0.8 * x) ** 2)

    x, v = np.array([0.4, 0.8, 1.3]), np.array([1.0, 0.5, -0.4])

    def along(z):
        return np.sum(ad.grad(lambda x: np.sum(shrinking(x)))(z) * v)

    found = ad.grad(along)(x)
    np.testing.assert_allclose(found, ad.grad(along, optimize=False)(x), rtol=1e-12)
    np.testing.assert_allclose(found, differences(along, x), rtol=1e-4, atol=1e-6)


def test_numbers_of_loops():
    """A number of the run that two terms have in common is multiplied once."""

    def neuron(x, k):
        v = w = total = 0.0
        for drive in x:
            v, w = v + 0.1 * (drive - (k * (v + 0.6) + w * (v - 0.8))), w + 0.3 * (np.sin(drive) - w * k)
            total += v * v
        return total

    value_and_grad = ad.value_and_grad(neuron, argnums=(0, 1))
    value, bars = value_and_grad(X, 0.7)
    assert value == neuron(X, 0.7)
    assert "(w + k) *" in value_and_grad.source(X, 0.7) or "(k + w) *" in value_and_grad.source(X, 0.7)
    for got, want in zip(bars, ad.grad(neuron, argnums=(0, 1), optimize=PASSES)(X, 0.7)):
        np.testing.assert_allclose(got, want, rtol=1e-12)
