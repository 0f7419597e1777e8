"""Loops in parts. Programs run as Python here, each iteration by itself and in an order that is not that of the loop:
a loop that was wrongly taken for independent gives another result.
"""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.codegen.load import load
from autodiff_compiler.errors import ArgumentError
from benchmarks.kernels import all_kernels
from benchmarks.kernels.kernel import is_float

from .both import agree, bailed, outcome, why_not

X = np.linspace(0.5, 2.0, 40)
A = np.linspace(0.1, 1.5, 60).reshape(12, 5)
K = np.array([3, 1, 1, 0, 7, 30, 31, 2, 2, 2] * 4)


def loops_of(f: Any, *args: Any, transform: Any = ad.value_and_grad) -> list[str]:
    """The functions for loops in parts."""
    text = str(transform(f, backend="native", parallel=True).source(*args))
    return re.findall(r"^def \w+_loop\d+\(.*?^    return False$", text, re.MULTILINE | re.DOTALL)


def in_order_of(f: Any, *args: Any, transform: Any = ad.value_and_grad) -> int:
    """How many outermost loops the program itself has, besides those that add up what parts have."""
    text = str(transform(f, backend="native", parallel=True).source(*args))
    program = text[text.index("@Native") :]
    program = program[: program.index("\n\n\n")]
    return len([x for x in re.findall(r"^    for (\w+) in", program, re.MULTILINE) if not x.startswith("p")])


def check(f: Any, *args: Any, **options: Any) -> None:
    native = agree(f, *args, parallel=True, **options)
    assert why_not(native) is None and not bailed(native)


# --- what is in parts -------------------------------------------------------------------------------------------------


def elements(x: Any) -> Any:
    return np.sum(np.sin(x) * np.exp(-x))


def own_elements(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x)):
        t = np.sin(x[i])
        for _ in range(5):
            t = t * t + 0.1
        y[i] = t
    return np.sum(y * y)


def summed(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += np.sin(x[i]) * x[i]
    return s


def rows(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += np.log(np.sum(np.exp(a[i])))
    return s


def examples(w: Any, xs: Any) -> Any:
    s = 0.0
    for i in range(len(xs)):
        h = np.tanh(w @ xs[i])
        s += np.sum(h * h)
    return s


def shared_weights(w: Any, xs: Any) -> Any:
    s = 0.0
    for i in range(len(xs)):
        for j in range(5):
            s += np.sin(w[j] * xs[i, j])
    return s


def stack_of_an_iteration(w: Any, xs: Any) -> Any:
    """What an iteration saves, its own adjoint takes."""
    s = 0.0
    for i in range(len(xs)):
        t = xs[i, 0]
        for j in range(len(w)):
            t = np.tanh(w[j] * t) + xs[i, j]
        s += t * t
    return s


def scattered(x: Any, k: Any) -> Any:
    """The cotangent of ``x`` is added to at places that only the run tells."""
    s = 0.0
    for i in range(len(k)):
        s += np.sin(x[k[i]])
    return s


def backwards(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x) - 1, -1, -1):
        y[i] = x[i] ** 3
    return np.sum(y * y)


def triangles(x: Any) -> Any:
    """The work differs from iteration to iteration."""
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i, len(x)):
            y[i] += x[i] * np.sin(x[j])
    return np.sum(y * y)


def from_the_other_end(x: Any) -> Any:
    y = np.zeros_like(x)
    n = len(x)
    for i in range(n):
        y[n - 1 - i] = np.sin(x[i])
    return np.sum(y * x)


def by_pairs(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(20):
        y[2 * i] = x[2 * i] * x[2 * i + 1]
        y[2 * i + 1] = x[2 * i] + y[2 * i]
    return np.sum(y * y)


def flat_rows(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(8):
        for j in range(5):
            y[5 * i + j] = x[5 * i + j] * j
    return np.sum(y * y)


def branches(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1.0:
            s += x[i] * x[i]
        else:
            s -= np.cos(x[i])
    return s


IN_PARTS: list[tuple[Any, ...]] = [
    (elements, X), (own_elements, X), (summed, X), (rows, A), (shared_weights, X[:5], A), (scattered, X, K),
    (backwards, X), (from_the_other_end, X), (by_pairs, X), (flat_rows, X), (branches, X),
    (examples, A[:5], A), (stack_of_an_iteration, X[:5], A),
]  # fmt: skip


@pytest.mark.parametrize("case", IN_PARTS, ids=[case[0].__name__ for case in IN_PARTS])
def test_independent_loops_are_in_parts(case: tuple[Any, ...]) -> None:
    f, *args = case
    assert loops_of(f, *args)
    assert in_order_of(f, *args) == 0
    check(f, *args)
    check(f, *[a[:1] if f in (summed, branches, backwards) else a for a in args])


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_iterations(n: int) -> None:
    for f in (summed, branches, backwards, from_the_other_end):
        agree(f, X[:n], parallel=True)
    agree(rows, A[:n], parallel=True)
    for bound in (-3, 0, n):
        agree(up_to, X, bound, parallel=True)
    agree(examples, A[:5], A[:n], parallel=True)


def test_work_that_differs_from_iteration_to_iteration() -> None:
    assert loops_of(triangles, X)
    check(triangles, X)


def test_stacks_of_examples() -> None:
    def one(w: Any, x: Any) -> Any:
        s = 0.0
        for j in range(5):
            s += np.tanh(w[j] * x[j])
        return s

    def f(w: Any, xs: Any) -> Any:
        return np.sum(ad.vmap(one, in_axes=(None, 0))(w, xs) ** 2)

    check(f, X[:5], A)


def test_time_steps_have_loops_in_parts_inside() -> None:
    def f(u: Any, n: Any) -> Any:
        for _ in range(n):
            u[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        return np.sum(u * u)

    assert len(loops_of(f, X, 4)) >= 5 and in_order_of(f, X, 4) == 2
    check(f, X, 4)


def test_the_last_iteration_of_a_loop_that_runs_downwards() -> None:
    def numbers(x: Any) -> Any:
        s, j, t = 0.0, 0, 0.0
        for i in range(len(x) - 1, -1, -1):
            j, t = i, np.sin(x[i]) * i
            s += np.exp(t)
        return s * t + j + x[j]

    def up_and_down(x: Any) -> Any:
        j = k = 0
        for i in reversed(range(2, len(x))):
            j = i
        for i in range(len(x)):
            k = i
        return np.sum(x * x) * j + x[k] * k

    for f in (numbers, up_and_down):
        for n in (1, 3, 17, 40):
            check(f, X[:n])


def test_the_last_iteration_leaves_its_numbers() -> None:
    def f(x: Any) -> Any:
        t = 0.5
        y = np.zeros_like(x)
        for i in range(len(x)):
            t = np.sin(x[i])
            y[i] = t * t
        return np.sum(y) * t

    assert loops_of(f, X)
    for n in (0, 1, 40):
        agree(f, X[:n], parallel=True)


def test_extremes() -> None:
    def f(x: Any) -> Any:
        low = np.inf
        for i in range(len(x)):
            low = np.minimum(low, x[i] * x[i] - x[i])
        return low * np.max(x)

    check(f, X)
    agree(f, np.where(X > 1.9, np.nan, X), parallel=True)


# --- what stays in order ----------------------------------------------------------------------------------------------


def carried_by_one(x: Any) -> Any:
    y = x * 1.0
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 + y[i]
    return np.sum(y * y)


def carried_forward(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x) - 1):
        y[i + 1] += y[i] * 0.5
    return np.sum(y * y)


def mirrored(x: Any) -> Any:
    y = x * 1.0
    n = len(x)
    for i in range(n):
        y[i] = y[n - 1 - i] * 0.5
    return np.sum(y * x)


def negative_indices(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x)):
        y[-i] = y[i] * 0.5 + 1.0
    return np.sum(y * x)


def from_below_zero(x: Any) -> Any:
    y = x * 1.0
    for i in range(-3, 40):
        y[i] = y[i] * 0.5 + i
    return np.sum(y * x)


def clipped_indices(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x)):
        y[max(0, min(i, 5))] = x[i] + y[i]
    return np.sum(y * x)


def scatters(x: Any, k: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(k)):
        y[k[i]] = x[i]
    return np.sum(y * x)


def reads_a_neighbour(x: Any) -> Any:
    y = x * 1.0
    for i in range(len(x) - 1):
        y[i] = y[i + 1] * y[i]
    return np.sum(y)


def recurrence(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = 0.5 * s + x[i]
    return s * s


def product_of_all(x: Any) -> Any:
    s = 1.0
    for i in range(len(x)):
        s = s * x[i]
    return s


def sum_that_is_read(x: Any) -> Any:
    s, t = 0.0, 0.0
    for i in range(len(x)):
        s += x[i]
        t += s * s
    return t


def swapped_numbers(x: Any) -> Any:
    a, b = 0.0, 1.0
    for i in range(len(x)):
        a, b = b + x[i], a
    return a * b


def overlapping_pairs(x: Any) -> Any:
    y = x * 1.0
    for i in range(30):
        y[i] = y[i] * 2.0
        y[i + 1] = y[i] + 1.0
    return np.sum(y * x)


def views(x: Any) -> Any:
    y = x * 1.0
    left, right = y[:-1], y[1:]
    for i in range(len(left)):
        left[i] = right[i] * 0.5 + left[i]
    return np.sum(y * x)


def views_forward(x: Any) -> Any:
    y = x * 1.0
    left, right = y[:-1], y[1:]
    for i in range(len(left)):
        right[i] = left[i] * 0.5 + right[i]
    return np.sum(y * x)


def transposed(a: Any) -> Any:
    y = a[:5] * 1.0
    z = y.T
    for i in range(5):
        for j in range(5):
            y[i, j] = z[i, j] * 0.5 + 1.0
    return np.sum(y * y * a[:5])


def up_to(x: Any, n: Any) -> Any:
    s, t, c = 0.5, 2.0, 3
    y = np.zeros(40)
    for i in range(n):
        t = x[i] * x[i]
        s += t
        c += 2
        y[i] = t * c
    return s * t * c + np.sum(y)


def left_early(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1.3:
            break
        s += x[i] ** 3
    return s


def by_rows_and_columns(a: Any) -> Any:
    y = a[:5] * 1.0
    for i in range(5):
        y[i] = y[:, i] * 0.5
    return np.sum(y * y)


def double_buffer(x: Any) -> Any:
    a, b = x * 1.0, x * 2.0
    for i in range(len(x)):
        a[i] = a[i] + b[-1 - i]
        a, b = b, a
    return np.sum(a * x) + np.sum(b)


def strides_that_meet(x: Any) -> Any:
    y = x * 1.0
    for i in range(13):
        y[3 * i] = y[2 * i] + 1.0
    return np.sum(y * x)


def triangle(a: Any) -> Any:
    y = a * 1.0
    for i in range(5):
        for j in range(i):
            y[i] = y[i] - y[j] * 0.5
    return np.sum(y * y)


def flat_rows_that_meet(x: Any) -> Any:
    y = x * 1.0
    for i in range(8):
        for j in range(6):
            y[4 * i + j] = y[4 * i + j] * 0.5 + i
    return np.sum(y * x)


IN_ORDER: list[tuple[Any, ...]] = [
    (carried_by_one, X), (carried_forward, X), (mirrored, X), (negative_indices, X), (from_below_zero, X),
    (clipped_indices, X), (scatters, X, K), (reads_a_neighbour, X), (recurrence, X), (product_of_all, X),
    (sum_that_is_read, X), (swapped_numbers, X), (overlapping_pairs, X), (views, X), (views_forward, X),
    (transposed, A), (left_early, X), (by_rows_and_columns, A), (double_buffer, X), (strides_that_meet, X),
    (triangle, A), (flat_rows_that_meet, X),
]  # fmt: skip


@pytest.mark.parametrize("case", IN_ORDER, ids=[case[0].__name__ for case in IN_ORDER])
def test_loops_that_depend_on_their_order(case: tuple[Any, ...]) -> None:
    f, *args = case
    agree(f, *args, parallel=True)


PLACES = ["i", "i + 1", "i - 1", "n - 1 - i", "2 * i", "2 * i + 1", "-i", "k[i]", "j", "i + j", "3 * i + j",
          "4 * i - j", "min(i, 3)", "n - 2 * i", "5", "i % 4", "i // 2", "i * j", "-1 - i"]  # fmt: skip


def random_loop(seed: int) -> str:
    """A function with loops that store at, and read from, places of many forms."""
    rng = np.random.default_rng(seed)

    def place() -> str:
        return str(rng.choice(PLACES))

    def term(array: str) -> str:
        return f"{array}[{place()}]" if rng.random() < 0.8 else f"np.sin({array}[{place()}])"

    def number() -> str:
        return " + ".join([term(str(rng.choice(["x", "y", "z"]))) for _ in range(rng.integers(1, 3))])

    lines = ["def f(x, k, n):", "    y = x * 1.0", "    z = np.cos(x)", "    s = 0.0", "    c = 0"]
    if rng.random() < 0.3:
        lines += ["    z = y[::2]" if rng.random() < 0.5 else "    z = y[3:]"]
    for _ in range(rng.integers(1, 3)):
        bounds = rng.choice(["6", "1, 7", "6, 0, -1", "5, -1, -1", "n - 20", "-2, 4", "0, 8, 2", "-30, 30"])
        lines.append(f"    for i in range({bounds}):")
        inner = rng.random() < 0.5
        lines.append(f"        for j in range({rng.choice(['2', '3', '4', 'i + 1'])}):" if inner else "        j = 1")
        pad = " " * (12 if inner else 8)
        for _ in range(rng.integers(1, 4)):
            kind = rng.integers(0, 7)
            if kind == 0:
                lines.append(f"{pad}s {rng.choice(['+=', '-='])} {number()}")
            elif kind == 1:
                lines.append(f"{pad}if x[i] > 1.2:")
                lines.append(f"{pad}    y[{place()}] = 0.5 * ({number()})")
            elif kind == 2:
                lines.append(f"{pad}{rng.choice(['y', 'z'])}[{place()}] += {number()}")
            elif kind == 3:
                lines.append(f"{pad}y[c] = {number()}")
                lines.append(f"{pad}c = c + 1")
            else:
                lines.append(f"{pad}{rng.choice(['y', 'z'])}[{place()}] = 0.5 * ({number()})")
    lines.append("    return s * 0.1 + np.sum(y * y * x) + np.sum(z)")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(80))
def test_random_loops(seed: int) -> None:
    text = random_loop(seed)
    agree(load(text, "f", {"np": np}), X, K, 26, parallel=True, rtol=1e-8)


# --- bails, and exceptions --------------------------------------------------------------------------------------------


def test_programs_bail_from_inside_of_parts() -> None:
    def f(x: Any, k: Any) -> Any:
        s = 0.0
        for i in range(len(k)):
            s += x[k[i]]
        return s

    assert loops_of(f, X, K)
    native = agree(f, X, K, parallel=True)
    assert not bailed(native)
    for bad in (40, -41, 1000):
        k = K.copy()
        k[17] = bad
        native = agree(f, X, k, parallel=True)  # both raise IndexError
        assert isinstance(outcome(native, (X, k)), IndexError)
    k = K.copy()
    k[3] = -40
    assert not bailed(agree(f, X, k, parallel=True))


def test_divisions_by_zero() -> None:
    def f(x: Any, n: Any) -> Any:
        s = 0.0
        for i in range(20):
            s += x[i] / (i - n)
        return s

    agree(f, X, 100, parallel=True)
    agree(f, X, 7, parallel=True)


# --- the option -------------------------------------------------------------------------------------------------------


def test_only_machine_code_has_parts() -> None:
    with pytest.raises(ArgumentError, match="parallel=True is for machine code"):
        ad.grad(summed, parallel=True)
    with pytest.raises(ArgumentError, match="parallel is True or False, not 2"):
        ad.grad(summed, backend="native", parallel=2)  # type: ignore[call-overload]
    assert ad.grad(summed, backend="auto", parallel=True).options.parallel


def test_the_option_is_pickled_and_a_part_of_keys() -> None:
    g = ad.grad(summed, backend="native", parallel=True)
    again = pickle.loads(pickle.dumps(g))
    assert again.options == g.options and "in_parts" in again.source(X)
    assert g.options.portable() != ad.grad(summed, backend="native").options.portable()
    assert "in_parts" not in ad.grad(summed, backend="native").source(X)


def test_options_of_a_derivative_inside() -> None:
    inner = ad.grad(summed, backend="native", parallel=True)

    def f(x: Any) -> Any:
        return np.sum(inner(x) ** 2)

    with pytest.raises(ad.AutodiffError, match="is not supported"):
        ad.grad(f)(X)


@pytest.mark.parametrize("transform", [ad.jacobian, ad.hessian], ids=["jacobian", "hessian"])
def test_other_transforms(transform: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x) if transform is ad.hessian else np.sin(x) * x[0]

    agree(f, X[:6], parallel=True, transform=transform)


# --- kernels ----------------------------------------------------------------------------------------------------------

KERNELS = [k for k in all_kernels() if not k.refused]


@pytest.mark.parametrize("kernel", KERNELS, ids=[k.name for k in KERNELS])
def test_kernels_agree(kernel: Any) -> None:
    for size in (kernel.small, kernel.other):
        args = kernel.inputs(size)
        argnums = tuple(k for k, a in enumerate(args) if is_float(a))
        agree(kernel.function, *args, argnums=argnums, rtol=1e-8, parallel=True)


def test_explain_counts_loops_in_parts() -> None:
    text = ad.explain(ad.grad(own_elements, backend="native", parallel=True), X)
    assert "machine code\n  all of it\n  loops that threads run in parts: 3" in text
    assert "in parts" not in ad.explain(ad.grad(own_elements, backend="native"), X)
