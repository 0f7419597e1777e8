"""Statements that a person would not write apart stand together, where that changes nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.codegen.layout import Assignment, Block, Line, Store
from autodiff_compiler.codegen.neighbours import on_one_line
from autodiff_compiler.codegen.notes import Note, Statement
from tests.differences import differences


def source(f: Callable[..., Any], *args: Any, argnums: Any = 0) -> list[str]:
    return [line.strip() for line in ad.grad(f, argnums=argnums).source(*args).splitlines()]


def check(f: Callable[..., Any], *args: Any, argnums: tuple[int, ...] = (0,)) -> str:
    """The source of the gradient, which is compared with differences."""
    got = ad.grad(f, argnums=argnums)(*args)
    for k, g in zip(argnums, got):
        np.testing.assert_allclose(g, differences(f, *args, argnum=k), rtol=1e-6, atol=1e-8)
    return ad.grad(f, argnums=argnums).source(*args)


# --- neighbours -------------------------------------------------------------------------------------------------------


def lines(*pairs: tuple[str, str]) -> list[Line]:
    return [Store(a, b) if "[" in a else Assignment([a], "=", b) for a, b in pairs]


def shown(given: list[Line]) -> list[str]:
    return [line if isinstance(line, str) else line.text for line in on_one_line(given) if not isinstance(line, Note)]


@pytest.mark.parametrize(
    "given, expected",
    [
        ([("a", "np.zeros_like(x)"), ("b", "np.zeros_like(y)")], ["a, b = np.zeros_like(x), np.zeros_like(y)"]),
        ([("c", "np.cos(x)"), ("s", "np.sin(x)")], ["c, s = np.cos(x), np.sin(x)"]),
        ([("c", "np.cos(x)"), ("s", "np.sin(y)")], ["c = np.cos(x)", "s = np.sin(y)"]),  # not alike
        ([("n", "x.shape[0]"), ("m", "y.shape[1]")], ["n, m = x.shape[0], y.shape[1]"]),
        ([("n", "x.shape[0]"), ("m", "x[0]")], ["n = x.shape[0]", "m = x[0]"]),
        ([("a", "2.0 * x"), ("b", "3.0 * a")], ["a = 2.0 * x", "b = 3.0 * a"]),  # reads what the other binds
        ([("a", "x + y"), ("a", "x + z")], ["a = x + y", "a = x + z"]),
        ([("b", "a + y"), ("a", "x + z")], ["b, a = a + y, x + z"]),  # the old value of a, as before
        ([("a", "s.pop()"), ("b", "s.pop()")], ["a = s.pop()", "b = s.pop()"]),
        ([("x", "x.tolist()"), ("y", "y.tolist()")], ["x = x.tolist()", "y = y.tolist()"]),  # each frees an array
        ([("a", "x if c else y"), ("b", "z if c else y")], ["a = x if c else y", "b = z if c else y"]),
        ([("a[i]", "x"), ("b[i]", "y")], ["a[i], b[i] = x, y"]),
        ([("a[i]", "x"), ("b", "y")], ["a[i] = x", "b = y"]),
        ([("a[i]", "x"), ("b[0]", "y")], ["a[i], b[0] = x, y"]),
        # What makes something new may come first.
        (
            [("a", "np.zeros_like(x)"), ("a[0]", "1.0"), ("b", "np.zeros_like(y)"), ("b[0]", "1.0")],
            ["a, b = np.zeros_like(x), np.zeros_like(y)", "a[0], b[0] = 1.0, 1.0"],
        ),
        (
            [("a", "np.zeros_like(x)"), ("y", "x + z"), ("b", "np.zeros_like(y)")],
            ["a = np.zeros_like(x)", "y = x + z", "b = np.zeros_like(y)"],
        ),
        (
            [("a", "np.zeros_like(x)"), ("c", "b + z"), ("b", "np.zeros_like(y)")],
            ["a = np.zeros_like(x)", "c = b + z", "b = np.zeros_like(y)"],
        ),
    ],
)
def test_which_neighbours_stand_on_one_line(given: list[tuple[str, str]], expected: list[str]) -> None:
    assert shown(lines(*given)) == expected


def test_lines_that_are_too_long_are_about_as_long_as_each_other() -> None:
    given = lines(*[(f"weights{k}_bar", f"np.zeros_like(weights{k})") for k in range(4)])
    assert [text.count("zeros_like") for text in shown(given)] == [2, 2]


def test_neighbours_in_blocks_and_behind_comments() -> None:
    pair = lines(("a", "x + 1.0"), ("b", "y + 1.0"))
    block = Block("for", "_ in range(9)", pair)
    assert on_one_line([block]) == [block]
    assert shown(block.body) == ["a, b = x + 1.0, y + 1.0"]
    note = Note(Statement("f.py", 1, 0, "b = y + 1.0"))
    first, second = lines(("a", "x + 1.0"), ("b", "y + 1.0"))
    assert shown([first, note, second]) == ["a = x + 1.0", "b = y + 1.0"]


LOOP = Block("for", "x_i in x_list", ["s += x_i", "saved.append(s)"], binds=["x_i"])


@pytest.mark.parametrize(
    "given, expected",
    [
        ([("saved", "[]"), ("s", "0.0")], ["saved = []", "s = 0.0"]),
        ([("saved", "[]"), ("s", "s0")], ["saved = []", "s = s0"]),
        # Over what does not matter to it.
        ([("saved", "[]"), ("t", "np.sin(x)"), ("s", "s0")], ["t = np.sin(x)", "saved = []", "s = s0"]),
        ([("r", "0.0"), ("t", "2.0 * r"), ("s", "s0")], ["r = 0.0", "t = 2.0 * r", "s = s0"]),
        ([("s", "s0"), ("t", "2.0 * s"), ("saved", "[]")], ["s = s0", "t = 2.0 * s", "saved = []"]),
        # The list that only the head reads.
        ([("saved", "[]"), ("x_list", "x.tolist()"), ("s", "s0")], ["saved = []", "s = s0"]),
    ],
)
def test_what_a_loop_begins_with(given: list[tuple[str, str]], expected: list[str]) -> None:
    block = Block(LOOP.kind, LOOP.text, list(LOOP.body), binds=LOOP.binds)
    made = shown([*lines(*given), block])
    assert made == [*expected, block.text]
    assert block.text == ("x_i in x.tolist()" if ("x_list", "x.tolist()") in given else "x_i in x_list")


def test_a_list_that_is_read_again_has_a_name() -> None:
    again = Block("for", "y in x_list", ["s += y"], binds=["y"])
    block = Block(LOOP.kind, LOOP.text, list(LOOP.body), binds=LOOP.binds)
    assert shown([*lines(("x_list", "x.tolist()")), block, again])[0] == "x_list = x.tolist()"
    moved = [*lines(("x_list", "x.tolist()"), ("x[0]", "y")), block]  # the array changes in between
    assert shown(moved)[:2] == ["x_list = x.tolist()", "x[0] = y"]


def test_what_is_taken_apart_stays_apart() -> None:
    given: list[Line] = [Assignment(["a", "b"], "=", "s"), Assignment(["c", "d"], "=", "t")]
    assert shown(given) == ["a, b = s", "c, d = t"]
    assert shown([*given, LOOP])[:2] == ["a, b = s", "c, d = t"]


def test_a_loop_that_counts_runs_over_items_too() -> None:
    def f(x: Any, y: Any) -> Any:
        s = 0.0
        for i in range(len(x)):
            s = s + i * x[i] * x[i] * y[0]
        return s

    x, y = np.array([0.5, 0.7, 0.9]), np.array([2.0, 3.0])
    check(f, x, y, argnums=(0, 1))
    text = ad.value_and_grad(f, argnums=(0, 1)).source(x, y)
    assert "for i, x_i in enumerate(x_list):" in text, text
    check(f, x[:1], y[:1], argnums=(0, 1))
    assert ad.grad(f)(x[:0], y).shape == (0,)


def test_many_arrays_of_lists_are_made_at_once() -> None:
    def f(heights: Any, curvatures: Any, quartics: Any, indices: Any, widths: Any) -> Any:
        s = 0.0
        for i in range(len(heights)):
            s = s * heights[i] * heights[i - 1] + curvatures[i] * curvatures[i - 1]
            s = s * quartics[i] * quartics[i - 1] + indices[i] * indices[i - 1]
            s = s * widths[i] * widths[i - 1]
        return s

    args = [np.linspace(0.5, 1.5, 3) * k for k in range(1, 6)]
    text = check(f, *args, argnums=(0, 1, 2, 3, 4))
    assert "return tuple(\n        map(np.array, (heights_bar, " in text, text


def test_stores_into_one_array_through_two_names() -> None:
    def f(x: Any) -> Any:
        a = x.copy()
        b = a[:2]
        p, q = x[0] * x[1], x[1] * x[1]
        a[1] = p
        b[0] = q
        return np.sum(a * a)

    check(f, np.array([0.5, 0.7, 0.9]))


# --- loops over what was saved ----------------------------------------------------------------------------------------


def test_a_loop_runs_over_its_index_and_what_was_saved() -> None:
    def f(x: Any, w: Any) -> Any:
        for i in range(len(w)):
            x = np.sin(x) * w[i]
        return np.sum(x)

    text = check(f, np.array([0.3, 0.4]), np.array([1.0, 2.0, 0.5]), argnums=(0, 1))
    assert "for i, (x, sin_x) in zip(reversed(range(n)), reversed(saved)):" in text
    assert "pop" not in text


def test_what_is_larger_than_what_was_saved_has_the_room_of_what_was_popped() -> None:
    def f(x: Any, w: Any) -> Any:
        for i in range(len(w)):
            x = np.sin(w[i] @ x)
        return np.sum(x)

    text = check(f, np.array([0.3, 0.4]), np.arange(8.0).reshape(2, 2, 2) / 9.0, argnums=(0, 1))
    assert ".pop()" in text and "zip" not in text


def test_what_was_saved_may_be_smaller_in_each_iteration() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total += np.sum(np.exp(x[i:]) * x[i])
        return total

    text = check(f, np.array([0.3, 0.4, 0.1]))
    assert "zip" not in text


# --- results ----------------------------------------------------------------------------------------------------------


def test_long_results_have_statements_of_their_own() -> None:
    def f(first_matrix: Any, second_matrix: Any, direction_of_motion: Any) -> Any:
        return np.sum(np.tanh(first_matrix @ direction_of_motion) * (second_matrix @ direction_of_motion))

    args = np.eye(2), np.ones((2, 2)), np.array([0.2, 0.3])
    text = check(f, *args, argnums=(0, 1, 2))
    assert text.splitlines()[-1].startswith("    return ")
    assert "first_matrix_bar = " in text


def test_a_statement_for_a_result_takes_the_name_of_its_first_operand() -> None:
    def f(start: Any, growth_rate: Any, saturation: Any, times: int) -> Any:
        level = start
        for _ in range(times):
            level = level + growth_rate * level * (1.0 - level / saturation)
        return level * growth_rate * saturation * start

    text = check(f, 0.2, 0.3, 2.0, 4, argnums=(0, 1, 2))
    assert max(map(len, text.splitlines())) <= 100
    assert "_bar += " in text or "_bar -= " in text


def test_results_of_a_pullback_have_names_of_its_own() -> None:
    def f(first_matrix: Any, second_matrix: Any, vector: Any) -> Any:
        return np.tanh(first_matrix @ vector) * (second_matrix @ vector)

    args = np.eye(2), np.ones((2, 2)), np.array([0.2, 0.3])
    value, pullback = ad.vjp(f, *args)
    np.testing.assert_array_equal(value, f(*args))
    for _ in range(2):
        got = pullback(np.ones(2))
        for k in range(3):
            expected = differences(lambda *a: np.sum(f(*a)), *args, argnum=k)
            np.testing.assert_allclose(got[k], expected, rtol=1e-6, atol=1e-8)


def test_the_exception_of_the_function_comes_before_those_of_its_adjoint() -> None:
    def f(first_number: float, second_number: float, third_number: float) -> float:
        return math.log(first_number * second_number * third_number) / (first_number - second_number * third_number)

    got = ad.value_and_grad(f, argnums=(0, 1, 2))
    with pytest.raises(ZeroDivisionError):
        got(2.0, 2.0, 1.0)
    value, grads = got(3.0, 2.0, 1.0)
    assert value == f(3.0, 2.0, 1.0)
    for k in range(3):
        assert math.isclose(grads[k], differences(f, 3.0, 2.0, 1.0, argnum=k), rel_tol=1e-6)


# --- sums -------------------------------------------------------------------------------------------------------------


def test_a_cotangent_that_is_a_sum_is_one_expression() -> None:
    def f(x: Any) -> Any:
        y = np.sin(x)
        return np.sum(y * y * y) + np.sum(np.exp(y))

    text = check(f, np.array([0.3, 0.4]))
    assert "+=" not in text


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_a_sum_has_the_dtype_of_what_it_is_added_to(dtype: Any) -> None:
    def f(x: Any, w: Any) -> Any:
        y = x * np.float64(2.0)
        return np.sum(np.abs(y * y) + np.abs(y)) + np.sum(np.abs(y) * w)

    x = np.array([0.5, 0.25], dtype)
    g = ad.grad(f)(x, np.ones(2))
    assert g.dtype == dtype
    np.testing.assert_allclose(g, ad.grad(f, optimize=False)(x, np.ones(2)), rtol=1e-6)


def test_a_store_through_a_reshape_into_a_sum() -> None:
    def f(x: Any, w: Any) -> Any:
        y = x.T * 2.0 + w
        z = y.reshape(-1)
        z[1] = z[0] * z[2]
        return np.sum(z * z) + np.sum(np.sin(x))

    check(f, np.arange(4.0).reshape(2, 2) / 3.0, np.ones((2, 2)), argnums=(0, 1))


# --- the next values of a loop's variables ----------------------------------------------------------------------------


def test_next_values_are_computed_together_at_the_end_of_an_iteration() -> None:
    def f(x: Any, y: Any) -> Any:
        for _ in range(4):
            x, y = y * x, np.sin(x) + y
        return np.sum(x + y)

    text = check(f, np.array([0.3, 0.4]), np.array([0.2, 0.9]), argnums=(0, 1))
    assert "x, y = y * x, sin_x + y" in text or "x, y = y * x, np.sin(x) + y" in text


def test_a_next_value_is_computed_before_what_it_reads_is_changed() -> None:
    def f(x: Any, w: Any) -> Any:
        y = np.zeros(3)
        for i in range(3):
            x, y = y + x[i], x * w
            w[i] = w[i] * 0.5
        return np.sum(x + y)

    check(f, np.array([0.3, 0.4, 0.5]), np.array([0.2, 0.9, 0.1]), argnums=(0, 1))


def test_a_variable_whose_present_value_is_not_read_has_its_statement() -> None:
    def f(x: float) -> float:
        a, b = x, x
        for _ in range(3):
            a = a * b
            b = b + a
        return a * b

    text = check(f, 0.7)
    assert "a *= b" in text


def test_the_next_value_of_a_loop_that_may_be_left() -> None:
    def f(x: float) -> float:
        a, b = x, 1.0
        for _ in range(9):
            a, b = b * a, a + b
            if b > 3.0:
                break
        return a * b

    check(f, 0.7)


# --- how much stands in an expression ---------------------------------------------------------------------------------


def test_an_expression_that_is_short_has_more_operations() -> None:
    def f(a: float, b: float, c: float) -> float:
        for _ in range(2):
            a = math.sin(a * b + c) * a - b * c * a + c
        return a

    text = check(f, 0.3, 0.4, 0.5, argnums=(0, 1, 2))
    assert all(len(line) <= 100 for line in text.splitlines())


def test_an_array_that_stands_in_an_expression() -> None:
    m = np.eye(3)

    def f(v: Any) -> Any:
        return np.sum((np.outer(v, v) - m) @ m)

    check(f, np.array([1.0, 2.0, 3.0]))


# --- indices ----------------------------------------------------------------------------------------------------------


def test_an_index_is_computed_where_two_operations_read_a_part() -> None:
    def f(x: Any, y: Any) -> Any:
        for i in range(len(x) - 1):
            x[i] = np.sum(x[i + 1 :] * y[i + 1 :])
        return np.sum(x * x)

    text = check(f, np.array([0.3, 0.4, 0.5]), np.array([0.2, 0.9, 0.1]), argnums=(0, 1))
    assert "x[i + 1 :] * y[i + 1 :]" in text.replace("x2", "x")


def test_a_part_that_is_changed_in_place_names_its_index_once() -> None:
    def f(x: Any, y: Any) -> Any:
        for i in range(len(x) - 1):
            x[i + 1 :] -= y[i + 1 :] * x[i]
        return np.sum(x * x)

    text = check(f, np.array([0.3, 0.4, 0.5]), np.array([0.2, 0.9, 0.1]), argnums=(0, 1))
    assert "x[i + 1 :] -= " in text


def test_a_statement_that_is_too_long_is_two() -> None:
    def f(first: Any, second: Any, third: Any, fourth: Any) -> Any:
        s = 0.0
        for i in range(3):
            s = s * first[i] + second[i] * third[i] * fourth[i] * np.sin(first[i]) * np.cos(second[i])
        return s * np.sin(s)

    args = [np.linspace(0.5, 1.5, 3) * k for k in range(1, 5)]
    text = check(f, *args, argnums=(0, 1, 2, 3))
    assert "= (\n" not in text, text
    assert max(map(len, text.splitlines())) <= 100


def test_a_sum_that_is_too_long_is_added_to_its_variable() -> None:
    def f(masses: Any, lengths: Any, widths: Any) -> Any:
        total = 0.0
        for k in range(2):
            total = total * np.sum(masses * lengths * widths) + np.sum(masses[k:] * widths[k:] * lengths[k:])
        return total

    args = [np.linspace(0.5, 1.5, 3) * k for k in range(1, 4)]
    text = check(f, *args, argnums=(0, 1, 2))
    assert "= (\n" not in text, text


def test_an_index_that_one_loop_reads_is_computed_there() -> None:
    def f(x: Any, steps: Any) -> Any:
        for s in range(steps):
            x = x * np.cos(x) if s < steps - 1 else x * np.sin(x)
        return np.sum(x)

    args = np.array([0.5, 0.7]), 3
    assert "steps_minus_1" not in check(f, *args)


def test_many_numbers_of_an_array() -> None:
    def f(weights: Any, x: Any) -> Any:
        gate_in, gate_back, gate_shift, new_in, new_back, new_shift, slope_of_all = weights
        h, loss = 0.0, 0.0
        for t in range(len(x)):
            gate = gate_in * x[t] + gate_back * h + gate_shift
            h = gate * h + new_in * x[t] * h + new_back * gate + new_shift
            loss = loss + slope_of_all * h
        return loss

    text = check(f, np.linspace(0.1, 0.7, 7), np.array([0.3, 0.5, 0.2]))
    assert "items = [" in text and "np.array([*items, " in text, text
    assert len(re.findall(r"^ +\w+,$", text, re.MULTILINE)) == 0, text


def test_a_list_is_made_while_its_array_has_its_name() -> None:
    def lines_of(*given: tuple[str, str]) -> list[str]:
        lines: list[Line] = [Assignment([name], "=", value) for name, value in given]
        return [line.text for line in on_one_line([*lines, Block("for", "x_i in r", ["s += x_i"], binds=["x_i"])])]

    assert lines_of(("r", "x.tolist()"), ("s", "0.0")) == ["s = 0.0", "x_i in x.tolist()"]
    assert lines_of(("r", "x.tolist()"), ("x", "[]"), ("s", "0.0")) == [
        "r = x.tolist()",
        "x = []",
        "s = 0.0",
        "x_i in r",
    ]
    assert lines_of(("s", "r"), ("r", "x.tolist()"))[0] == "s = r"


def stored_and_read_again(x: Any, w: Any) -> Any:
    s = 0.1
    b = np.zeros(len(x))
    for i in range(1, len(w)):
        b[i - 1] = s - -x[i]
    for i in range(len(x)):
        s = b[i] * 2.0 * s
        b[i] = s
    return b, s


def test_a_list_that_is_appended_to_under_the_name_of_the_array_that_is_read() -> None:
    x, w, dx = np.linspace(0.5, 2.0, 4), np.ones(4), np.array([0.1, -0.4, 0.7, 0.2])
    _, pushforward = ad.linearize(stored_and_read_again, x, w)
    h = 1e-6
    (above, s_above), (below, s_below) = (stored_and_read_again(x + d * dx, w) for d in (h, -h))
    for _ in range(3):
        b_dot, s_dot = pushforward(dx, w)
        np.testing.assert_allclose(b_dot, (above - below) / (2.0 * h), rtol=1e-6, atol=1e-8)
        assert abs(s_dot - (s_above - s_below) / (2.0 * h)) < 1e-6
