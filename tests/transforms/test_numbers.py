"""Loops in Python's numbers: values, types, errors and derivatives are those of NumPy's numbers."""

import copy
import math
import warnings

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.transforms import passes
from tests.differences import differences

PROGRAMS = []


def program(*args, argnums=0, python=True):
    """Registers a program; `python`: its loops are written in Python's numbers."""

    def register(f):
        PROGRAMS.append(pytest.param(f, args, argnums, python, id=f"{f.__name__}-{len(PROGRAMS)}"))
        return f

    return register


V = np.array([1.5, 2.0, 3.0])
EMPTY = np.zeros(0)


@program(EMPTY)
@program(V)
def cubes(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i] * x[i] + x[i]
    return s


@program(np.array([1.0, 0.0, -0.0, 3.0]))
def reciprocals(x):
    s = 0.0
    for i in range(len(x)):
        s = s / 2.0 + (1.0 / x[i] + x[i] * x[i] + x[i]) * x[i]
    return s


@program(EMPTY, 2)
@program(EMPTY, 0.0)
@program(V, 0.0)
def divided_afterwards(x, k):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i] + x[i] * 3.0
    return s / k


@program(V, 0)
@program(V, 2)
def left_early(x, k):
    s = 0.0
    for i in range(len(x)):
        if i == k:
            break
        s = x[i] * x[i] + x[i] * 3.0
    return s / 0.0 if k == 99 else s * 2


@program(V, 0.0)
def divided_inside(x, k):
    s = t = 0.0
    for i in range(len(x)):
        s = s * 0.5 + x[i] * x[i]
        t = s / k
    return t + s


@program(np.array([1e160, 2.0, 3.0]))
def large_powers(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2 * x[i] + x[i] ** 3
    return s


@program(np.array([-2.0, 2.0, 3.0]))
def roots_of_negatives(x):
    s = 0.0
    for i in range(len(x)):
        s += (x[i] * x[i] * x[i]) ** 0.5 + x[i]
        s = s * 2.0 + x[i] * x[i] - x[i] + 0.1 * x[i]
    return s


@program(np.array([1, 2, 3]), V, argnums=1)
def beside_integers(n, x):
    s = 0.0
    for i in range(len(x)):
        s += (x[i] * x[i] * 2.0) * n[i] + x[i] // 2.0 + x[i] % 1.0
    return s


@program(V.astype(np.float32), V, argnums=(0, 1))
def beside_float32(a, x):
    s = 0.0
    for i in range(len(x)):
        v = x[i] * x[i] * 2.0
        s += np.sum(a * v) + v * 3.0
    return s


@program(V, python=False)
def kept_in_lists(x):
    items, s = [], 0.0
    for i in range(len(x)):
        v = x[i] * x[i] * 2.0 + x[i]
        items.append(v)
        s += v * v
    return s, items


@program(V)
def compared(x):
    s, best = 0.0, None
    for i in range(len(x)):
        v = x[i] * x[i] * 2.0 + x[i]
        if best is None or v > best:
            best = v
        s += v * v * x[i]
    return s * best


@program(V)
def masks(x):
    s, count = 0.0, 0
    for i in range(len(x)):
        v = x[i] * x[i] * 2.0 + x[i] * x[i] - x[i] * 0.5
        count = count + (v > 5.0)
        s += v * ~(v > 5.0)
    return s, count


@program(V)
def stored(x):
    y = np.zeros(3)
    for i in range(len(x)):
        y[i] = x[i] * x[i] * 2.0
        y[i] += y[i - 1] * x[i]
    return y, y.sum()


@program(np.zeros((0, 3)), python=False)
@program(np.array([V, V + 1.0]))
def stored_in_tables(x):
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * x[i, j] * 2.0 + y[i - 1, j]
    return y


@program(V, python=False)
def seen_by_a_view(x):
    y = np.zeros(3)
    z, s = y[1:], 0.0
    for i in range(len(x)):
        y[i] = x[i] * 2.0
        s += z[0]
    return z.sum() * s


@program(V)
def swapped(x):
    u, v = x.copy(), np.zeros(3)
    for _ in range(4):
        for i in range(len(x)):
            v[i] = 0.5 * u[i] + u[i - 1] * u[i - 2]
        u, v = v, u
    return u, v


@program(V)
def old_and_new(x):
    u = x.copy()
    for _ in range(3):
        w = u
        u = u.copy()
        for i in range(len(x)):
            u[i] = w[i] * w[i - 1] - 0.5 * w[i] + u[i - 1]
    return u


@program(V)
def out_of_range(x):
    s = 0.0
    for i in range(len(x) + 1):
        s += x[i] * x[i] * x[i]
    return s


@program(np.array([1.5, np.inf, np.nan]))
def not_finite(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i] * x[i]
        if x[i] * 2.0 == x[i]:
            s -= x[i]
    return s


@program(V)
def extremes(x):
    s = b = 0.0
    for i in range(len(x)):
        v = x[i] * x[i] - 3.0
        b = max(b, v * 2.0)
        s = min(v, b) + abs(v) - v * x[i]
    return s * b


@program(V, python=False)
def printed(x):
    s, text = 0.0, ""
    for i in range(len(x)):
        v = x[i] * x[i] - 3.0
        s += v * v
        text += str(type(v))
    return s, text


@program(V, python=False)
def methods(x):
    s = 0.0
    for i in range(len(x)):
        v = x[i] * x[i] - 3.0
        s += v * v + v.item() + v.sum()
    return s


@program(V, 9.0)
@program(V, 0.0)
def while_it_is_small(x, most):
    i, s, v = 0, 0.0, 0.0
    while i < len(x) and s < most:
        v = x[i] * x[i] - 1.0
        s += v * v
        i += 1
    return s / v


@program(V, np.float64(2.0), argnums=(0, 1))
@program(V, 2.0, argnums=(0, 1))
@program(V, 3.0, argnums=(0, 1))
def quotients(x, k):
    s = k
    for i in range(len(x)):
        s = s * k + x[i] * x[i] / (k - 2.0) + x[i]
    return s


@program(V, 2.0, argnums=(0, 1))
@program(V, 3.0, argnums=(0, 1))
def first_by_pythons_number(x, k):
    s, t = k - 2.0, 0.0
    for i in range(len(x)):
        t = k / s
        s = s * k + x[i] * x[i]
    return t


@program(np.full(3, 0.9))
@program(np.full(3, 0.1))
@program(np.full(1, 0.9))
def left_by_a_condition(x):
    t = 1.0
    for i in range(1, len(x)):
        t = abs(x[i] * t) + x[i] * 0.1 - x[i] * x[i] * 0.2
        if t < 0.5:
            break
    return t


@program(np.full(9, 0.9), np.ones(9), 2, argnums=(0, 1))
@program(np.zeros(9), np.ones(9), 2, argnums=(0, 1))
@program(np.full(9, 0.9), np.ones(9), 0, argnums=(0, 1))
def quotients_after_a_break(x, y, m):
    t = 1.0
    for i in range(m):
        t = x[-i] * t * y[-i]
        if t < 5.0:
            break
    return 1.0 / t + 2.0 / t


@program(np.full(9, 0.9), 2)
@program(np.full(9, 0.9), 1)
def left_in_nested_loops(x, m):
    t, s = 1.0, 0.0
    for _ in range(m):
        for i in range(1, m):
            t = abs(x[i] * t) + x[i] * x[i] * 0.1
            if t < 0.5:
                break
        s = s + t
        if s > 2:
            break
    return t + s


@program(np.full(9, 0.9), 3)
@program(np.full(9, 0.1), 3)
def returned_early(x, m):
    t = s = 1.0
    for i in range(1, m):
        t = abs(x[i] * t)
        s = t * x[i] - x[i] * x[i]
        if t < 0.5:
            return s * t
    return t / s


def divided_by_pythons_zero(x, b):
    s = 1.0
    for i in range(len(x)):
        s = s * x[i] / b
    return s


@program(np.arange(1.0, 10.0), np.arange(9, dtype="u8"))
def unsigned_indices(x, w):
    s = 0.0
    for i in range(len(x)):
        s = s + x[w[i]] * x[i] * x[-w[i]]
    return s


@program(V)
def in_arrays(x):
    s = 0.0
    for i in range(len(x)):
        s = s * 2.0 + x[i] * x[i] - x[i] * 0.1 + x[i] * x[i] * s
        u = np.array([s, x[i] * s])
        s = s + u.sum()
    return s


@program(V)
def functions(x):
    s = 0.0
    for i in range(len(x)):
        s += np.sqrt(x[i] * x[i] * x[i]) + math.exp(x[i] * 0.1) * (x[i] + 0.5 * x[i] * x[i])
    return s


@program(V)
def complexes(x):
    s = 0.0
    for i in range(len(x)):
        c = x[i] * x[i] * 1j
        s += abs(c + x[i] * 2.0) * (x[i] * x[i] - 0.5 * x[i])
    return s


@program(np.array([[3.0, 1.0], [2.0, 4.0], [0.5, 1.0]]), np.array([2, 0, 2, 1]))
def rows(x, which):
    s = 0.0
    for i in which:
        a, b = x[i]
        s = s * 0.9 + a * a - a * b + b * 0.5
    return s


def exactly(v):
    if isinstance(v, (list, tuple)):
        return [type(v).__name__, *map(exactly, v)]
    if isinstance(v, np.ndarray):
        return v.dtype.str, v.shape, v.tobytes()
    return type(v).__name__, repr(v)


def outcome(f, args):
    try:
        return exactly(f(*copy.deepcopy(args)))
    except Exception as error:
        return type(error).__name__


def total(f):
    def of_first(*args):
        out = f(*args)
        return np.sum(out[0]) if isinstance(out, tuple) else np.sum(out)

    return of_first


def without_the_pass(monkeypatch):
    monkeypatch.setattr(passes, "PASSES", tuple(row for row in passes.PASSES if row.name != "numbers"))


@pytest.mark.parametrize("f, args, argnums, python", PROGRAMS)
def test_values_and_types(f, args, argnums, python):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert outcome(lambda *a: ad.vjp(f, *a)[0], args) == outcome(f, args)


@pytest.mark.parametrize("f, args, argnums, python", PROGRAMS)
def test_derivatives(f, args, argnums, python, monkeypatch):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for transform in (ad.grad, ad.hessian):
            found = [outcome(transform(total(f), argnums=argnums), args)]
            with monkeypatch.context() as patch:
                without_the_pass(patch)
                found.append(outcome(transform(total(f), argnums=argnums), args))
            if isinstance(found[0], str) or isinstance(found[1], str):
                assert found[0] == found[1]
                continue
            new = transform(total(f), argnums=argnums)(*copy.deepcopy(args))
            with monkeypatch.context() as patch:
                without_the_pass(patch)
                old = transform(total(f), argnums=argnums)(*copy.deepcopy(args))
            np.testing.assert_equal(flat(new).shape, flat(old).shape)
            np.testing.assert_allclose(flat(new), flat(old), rtol=1e-10)


def flat(x):
    return np.concatenate([flat(y) for y in x]) if isinstance(x, tuple) else np.ravel(np.asarray(x, float))


@pytest.mark.parametrize("f, args, argnums, python", [p for p in PROGRAMS if p.values[3]])
def test_which_are_lists(f, args, argnums, python):
    text = ad.grad(total(f), argnums=argnums, optimize="-distribute").source(*copy.deepcopy(args))
    assert ".tolist()" in text or "] * " in text


def test_pullbacks_divide_as_numpy_does():
    """The function divides a number of NumPy's by Python's zero, and so do its cotangents."""
    with np.errstate(all="ignore"):
        _, pullback = ad.vjp(divided_by_pythons_zero, np.zeros(5), 0.0)
        assert np.isnan(pullback(np.float64(0.7))[0]).all()


def test_a_loop_that_ends_early_makes_no_list():
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s = s + x[i] * x[i] * 2 * x[i]
            if s > 1.0:
                return s * s
        return s

    assert "tolist" not in ad.value_and_grad(f).source(np.ones(2000))


def test_lists_are_made_once():
    def f(x, k):
        s = 0.0
        for i in range(len(x)):
            s = k * s + x[i] * x[i] * s - x[i]
        return s

    text = ad.value_and_grad(f, argnums=1).source(np.ones(5), 0.5)
    assert text.count("x.tolist()") == 1


def test_a_few_elements_of_a_large_array():
    """The list of all of it would cost more than it brings."""

    def f(x, k):
        s = 0.0
        for i in range(20):
            s = k * s + x[i] * x[i] * s - x[i] + s * s
        return s

    x = np.ones(100_000)
    text = ad.value_and_grad(f, argnums=(0, 1)).source(x, 0.5)
    assert "tolist" not in text and "x.item(i)" in text
    assert ad.value_and_grad(f, argnums=1)(x, 0.5)[0] == f(x, 0.5)


def test_warnings_of_divisions():
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s += 1.0 / x[i] + x[i] * x[i] - x[i] * 0.5
        return s

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        ad.value_and_grad(f)(np.array([1.0, 0.0]))


def test_pickled_and_called_again():
    def f(x):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = 0.5 * y[i - 1] + x[i] * x[i]
        return y

    y, pullback = ad.vjp(f, V)
    first = pullback(np.ones(3))
    y[:] = 0.0
    np.testing.assert_array_equal(pullback(np.ones(3))[0], first[0])


def proved_by_a_logarithm(v, rs):
    total = 0.0
    for r in rs:
        total += math.log(v) + r * r / v
        v = 0.5 * v + r
    return total


def proved_in_some_iterations(v, rs):
    total = 0.0
    for r in rs:
        if r > 1.0:
            total += math.log(v)
        total += r * r / v
        v = 0.5 * v
    return total


def proved_of_another_version(v, rs):
    total = 0.0
    for r in rs:
        total += r / v
        v = v - 1.0
        total += math.log(v + 3.0)
    return total


def proved_after_it(v, rs):
    total = 0.0
    for r in rs:
        total += r / v
        total += math.log(v)
        v = 0.5 * v
    return total


def proved_by_a_quotient(v, w, rs):
    total = 0.0
    for r in rs:
        total += w / (v * v + w) + r / (v * v + w)
        v = 0.5 * v + 1.0
    return total


def proved_by_a_product(v, w, rs):
    total = 0.0
    for r in rs:
        u = 0.5 * v + w
        total += w / (v * u) + r / u
        v = 0.5 * v + 1.0
    return total


def proved_on_the_right(v, rs):
    total = 0.0
    for r in rs:
        total += r * r / v + math.log(v)
        v = 0.5 * v + r
    return total


DIVIDING = {
    proved_by_a_logarithm: ((0.7, np.array([1.0, 2.0])), 0),
    proved_in_some_iterations: ((0.7, np.array([0.5, 2.0])), 1),
    proved_of_another_version: ((0.7, np.array([0.5, 2.0])), 1),
    proved_after_it: ((0.7, np.array([0.5, 2.0])), 0),
    proved_by_a_product: ((0.7, 0.2, np.array([0.5, 2.0])), 0),
    proved_on_the_right: ((0.7, np.array([0.5, 2.0])), 0),
    proved_by_a_quotient: ((0.7, 0.2, np.array([0.5, 2.0])), 0),
}


@pytest.mark.parametrize("fn", DIVIDING, ids=lambda f: f.__name__)
def test_divisors_that_are_not_zero(fn):
    """A divisor is not asked whether it is zero where the function has raised if it was."""
    args, asked = DIVIDING[fn]
    backward = ad.grad(fn).source(*args).split("# adjoint", 1)[1]
    assert (" else " in backward or " or np.float64(" in backward) == bool(asked)
    assert ad.grad(fn)(*args) == pytest.approx(differences(fn, *args), rel=1e-6)
    for v in (0.0, 1.0, 2.0):
        given = (v, *args[1:])
        with np.errstate(all="ignore"):
            assert value_or_error(ad.grad(fn), given) == value_or_error(ad.grad(fn, optimize="-numbers"), given)


@pytest.mark.parametrize("fn, asked", [(proved_by_a_logarithm, 0), (proved_on_the_right, 1), (proved_after_it, 1)])
def test_divisors_of_the_function(fn, asked):
    """What the function divides by is not asked either, where it has raised before in the same sum."""
    args, _ = DIVIDING[fn]
    forward = ad.value_and_grad(fn).source(*args).split("# adjoint", 1)[0]
    assert (" or np.float64(" in forward) == bool(asked)
    for v in (0.0, -0.0, -1.0, 0.7):
        with np.errstate(all="ignore"):
            assert value_or_error(lambda *a: ad.value_and_grad(fn)(*a)[0], (v, *args[1:])) == value_or_error(
                fn, (v, *args[1:])
            )


def value_or_error(f, args):
    try:
        return str(np.float64(f(*args)))
    except (ArithmeticError, ValueError) as error:
        return type(error).__name__


# --- integers that are subscripts -------------------------------------------------------------------------------------


def gathered(x, k, at):
    s = 0.0
    for i in range(len(at)):
        s = k * s + x[at[i]] * x[at[i]] + math.sin(k * s)
    return s


def scattered(x, k, at):
    y = np.zeros(len(x))
    for i in range(len(at)):
        y[at[i]] = k * y[at[i]] * y[at[i]] + x[i] * math.sin(y[at[i]])
        y[at[i]] += x[at[i]]
    return np.sum(y * y)


def along_edges(x, k, at):
    edges = at.reshape(-1, 2)
    s = 0.0
    for e in range(len(edges)):
        d = x[edges[e, 0]] - x[edges[e, 1]]
        s = s * k + d * d * math.cos(d)
    return s


def unpacked_edges(x, k, at):
    edges = at.reshape(-1, 2)
    s = 0.0
    for i, j in edges:
        d = x[i] - x[j]
        s = s * k + d * d * math.cos(d)
    return s


def also_a_number(x, k, at):
    s = 0.0
    for i in range(len(at)):
        j = at[i]
        s = k * s + x[j] * j + math.sin(s)
    return s


def also_compared(x, k, at):
    s = 0.0
    for i in range(len(at)):
        j = at[i]
        if j > 1:
            s = k * s + x[j] * x[i] + math.sin(s)
    return s


def next_to_it(x, k, at):
    s = 0.0
    for i in range(len(at)):
        s = k * s + x[at[i] - 1] * x[at[i]] + math.sin(s)
    return s


def changed_between(x, k, at):
    at = at.copy()
    s = 0.0
    for i in range(len(at)):
        s = k * s + x[at[i]] * math.sin(s + x[i])
        at[(i + 1) % len(at)] = i % len(x)
    return s


def from_another_list(x, k, at):
    s = 0.0
    for i in range(len(at)):
        s = k * s + x[at[at[i]]] * x[at[i]] + math.sin(s)
    return s


def of_rows(x, k, at):
    rows = x.reshape(-1, 2)
    s = 0.0
    for i in range(len(at)):
        a, b = rows[at[i] // 2]
        s = k * s + a * b + math.sin(s)
    return s


def left_at_a_mark(x, k, at):
    s = 0.0
    for i in range(len(at)):
        s = k * s + x[at[i]] * x[at[i]] + math.sin(s)
        if s > 1e3:
            break
    return s


SUBSCRIPTS = [
    gathered, scattered, along_edges, unpacked_edges, also_a_number, also_compared, next_to_it, changed_between,
    from_another_list, of_rows, left_at_a_mark,
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["i8", "i4", "u1", "u8"])
@pytest.mark.parametrize("f", SUBSCRIPTS, ids=lambda f: f.__name__)
def test_subscripts(f, dtype):
    x, at = np.linspace(0.2, 1.4, 6), np.array([3, 1, 5, 1, 3, 2]).astype(dtype)
    for given in (at, at - 4 if dtype in ("i8", "i4") and f is not of_rows else at, at[:2], at[::-1]):
        try:
            value = f(x, 0.4, given)
        except IndexError:
            with pytest.raises(IndexError):
                ad.grad(f)(x, 0.4, given)
            continue
        found, (grad, slope) = ad.value_and_grad(f, argnums=(0, 1))(x, 0.4, given)
        assert found == value
        np.testing.assert_allclose(grad, differences(f, x, 0.4, given), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(slope, differences(f, x, 0.4, given, argnum=1), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [gathered, along_edges, scattered])
def test_subscripts_that_are_too_large(f):
    with pytest.raises(IndexError):
        ad.grad(f)(np.linspace(0.2, 1.4, 6), 0.4, np.array([3, 0, 5, 6]))


def sparse(data, x, columns, starts, k):
    """The rows of a sparse matrix lie behind each other."""
    n = len(starts) - 1
    y = np.zeros(n)
    for i in range(n):
        s = 0.0
        for j in range(starts[i], starts[i + 1]):
            s += data[j] * x[columns[j]]
        y[i] = math.sin(s) * k
    return np.sum(y * y)


def sparse_and_left(data, x, columns, starts, k):
    total = 0.0
    for i in range(1, len(starts)):
        s = 0.0
        for j in range(starts[i - 1], starts[i]):
            if columns[j] > i:
                break
            s += data[j] * x[columns[j]]
        total += math.sin(s) * k * total + s
    return total


def sparse_solution(data, x, columns, starts, k):
    y = x.copy()
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        for j in range(first, last - 1):
            y[i] -= data[j] * y[columns[j]]
        y[i] *= k / data[last - 1]
    return np.sum(y**2)


@pytest.mark.parametrize("dtype", ["i8", "i4"])
@pytest.mark.parametrize("f", [sparse, sparse_and_left, sparse_solution], ids=lambda f: f.__name__)
def test_rows_behind_each_other(f, dtype):
    starts, columns = np.array([0, 1, 3, 5, 6], dtype), np.array([0, 0, 1, 0, 2, 3], dtype)
    data, x = np.linspace(0.5, 1.5, 6), np.linspace(0.2, 1.4, 4)
    for given in (
        (data, x, columns, starts),
        (data, x, columns, np.array([0, 1, 1, 3, 6], dtype)),
        (data, x, columns, starts[:3]),
    ):
        value, grads = ad.value_and_grad(f, argnums=(0, 1, 4))(*given, 0.7)
        assert value == f(*given, 0.7)
        for grad, i in zip(grads, (0, 1, 4)):
            expected = differences(f, *given, 0.7, argnum=i)
            np.testing.assert_allclose(grad, expected, rtol=1e-6, atol=1e-8)


def test_a_row_that_is_too_long():
    with pytest.raises(IndexError):
        ad.grad(sparse)(np.ones(3), np.ones(4), np.array([0, 1, 2]), np.array([0, 2, 4]), 0.7)


def test_sparse_rows_are_lists():
    source = ad.grad(sparse).source(np.ones(99), np.ones(99), np.arange(99), np.arange(0, 100, 3), 0.7)
    assert source.count(".tolist()") >= 4 and ".item(" not in source


def chosen_by_kinds(x, k, kind, seen):
    s = float(x[0])
    for i in range(1, len(x)):
        if kind[i] == 1:
            s = k * s + x[i] * math.sin(s)
        elif kind[i] > 2 or kind[i] == 200:
            s = s - x[i] * x[i]
        if seen[i]:
            s = s + math.cos(x[i]) * x[i]
        if not seen[i - 1]:
            s = 0.5 * s + x[i]
    return s


def chosen_by_a_table(x, k, kind, seen):
    mask, kinds = np.outer(seen, seen), np.outer(kind, np.ones_like(kind))
    s = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if mask[i, j] and kinds[i, j] != 2:
                s = k * s + x[i] * x[j] * math.sin(s + x[j])
    return s


def counted_as_well(x, k, kind, seen):
    s, n = 0.0, 0
    for i in range(len(x)):
        if seen[i]:
            s = k * s + x[i] * math.sin(s + x[i])
        n = n + seen[i]
    return s * n


def at_truth_values(x, k, kind, seen):
    """To NumPy, a truth value is no number."""
    s = 0.0
    for i in range(len(x)):
        s = k * s + x[i] * math.sin(s + np.sum(x[seen[i]]))
    return s


@pytest.mark.parametrize("dtype", ["i8", "i1", "u1", "u8"])
@pytest.mark.parametrize(
    "f", [chosen_by_kinds, chosen_by_a_table, counted_as_well, at_truth_values], ids=lambda f: f.__name__
)
def test_choices(f, dtype):
    x, kind = np.linspace(0.2, 1.4, 6), np.array([3, 1, 2, 1, 3, 0]).astype(dtype)
    seen = np.array([True, False, True, True, False, True])
    for given in ((kind, seen), (kind[::-1], ~seen)):
        value, (grad, slope) = ad.value_and_grad(f, argnums=(0, 1))(x, 0.4, *given)
        assert value == f(x, 0.4, *given)
        np.testing.assert_allclose(grad, differences(f, x, 0.4, *given), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(slope, differences(f, x, 0.4, *given, argnum=1), rtol=1e-6, atol=1e-8)


def test_choices_are_lists():
    source = ad.grad(chosen_by_kinds).source(np.ones(6), 0.4, np.ones(6, int), np.ones(6, bool))
    assert "kind.tolist()" in source and "seen.tolist()" in source


def test_subscripts_are_a_list():
    source = ad.grad(gathered).source(np.ones(6), 0.4, np.array([3, 0, 5, 1, 3, 2]))
    assert "at.tolist()" in source


def stored_before(x, k, at):
    at = at.copy()
    at[0] = 1
    s = 0.0
    for i in range(len(at)):
        s = k * s * s + x[at[i]] * x[i]
    return s


def counted_around(x, k, at):
    at[1] += 255
    s = 0.0
    for i in range(len(at)):
        if at[i] == 0:
            s = k * s * s + x[i]
    return s


def cut_off(x, k, at):
    at[1] = x[1] + 1.0
    s = 0.0
    for i in range(len(at)):
        if at[i] == 1:
            s = k * s * s + x[i]
    return s


def marked(x, k, at):
    at = np.zeros(len(x), at.dtype)
    at[2] = 1
    s = 1.0
    for i in range(len(x)):
        s = k * s * s + x[at[i]]
    return s


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", ["i8", "i4", "u1"])
@pytest.mark.parametrize("f", [stored_before, counted_around, cut_off, marked], ids=lambda f: f.__name__)
def test_integers_that_are_stored_before_the_loop(f, dtype):
    x, at = np.linspace(0.2, 1.4, 6), np.array([3, 1, 5, 1, 3, 0]).astype(dtype)
    value, slope = ad.value_and_grad(f, 1)(x, 0.4, at.copy())
    assert value == f(x, 0.4, at.copy())
    expected = (f(x, 0.4 + 1e-6, at.copy()) - f(x, 0.4 - 1e-6, at.copy())) / 2e-6
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)


def test_ones_in_rows_are_no_list_of_numbers():
    def f(x):
        n = len(x)
        y = np.zeros((n, 2))
        for i in range(0, n, 2):
            y[n - 1 - i, 1] += x[i] * x[i]
        return np.sum(y)

    for n in (2, 3, 6):
        x = np.linspace(0.2, 1.4, n)
        np.testing.assert_allclose(ad.grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore:invalid value|divide by zero")
def test_a_number_of_a_list_over_the_literal_zero():
    def f(x, y):
        t, s = 0.0, 0.0
        for v in x:
            if v > 5.0:
                s = s + np.tanh((v * y / t) / (1.5 + v))
            s = s + v * y
        return s

    assert ad.grad(f)(np.array([0.3, 0.4]), 2.0).tolist() == [2.0, 2.0]
    x = np.array([0.3, 6.0])
    np.testing.assert_array_equal(ad.grad(f)(x, 2.0), ad.grad(f, optimize=False)(x, 2.0))
