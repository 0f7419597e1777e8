"""What the rules choose where calculus leaves a choice, and what they refuse."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import RuleLookupError
from autodiff_compiler.ir.core import Builder, Function, Op, Prim, Region, Value
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.opset import (
    LIST_ADDAT,
    LIST_APPEND,
    LIST_DROP,
    LIST_GET,
    LIST_NEW,
    LIST_SET,
    MUL,
    PRIMS,
    SPREAD,
    ZEROS,
    apply,
    lookup,
    opaque,
)  # fmt: skip
from autodiff_compiler.ir.types import Ty, array
from autodiff_compiler.operations import lib, record
from autodiff_compiler.operations.check import numeric_gradient, parameter, reverse_straight_line
from autodiff_compiler.operations.joining import UNSTACK
from autodiff_compiler.transforms import algebra
from autodiff_compiler.transforms.zeros import Cotangents


def pull(fn: Any, name: str, g: Any, *args: Any, **kwargs: Any) -> Any:
    prim = fn if isinstance(fn, Prim) else lookup(fn)
    assert prim is not None and prim.fn is not None
    rule = record.pullback(prim, name)
    assert rule is not None
    with np.errstate(all="ignore"):
        return rule(g, prim.fn(*args, **kwargs), *args, **kwargs)


def traced(f: Callable[..., Any], *xs: Any) -> Function:
    """A function of straight-line code, recorded."""
    body = Region()
    b = Builder(body)
    with b.active():
        body.exit = (f(*[parameter(body, x, f"x{k}") for k, x in enumerate(xs)]),)
    return Function("f", body)


def gradient(f: Callable[..., Any], *xs: Any) -> list[Any]:
    with np.errstate(all="ignore"):
        return reverse_straight_line(traced(f, *xs), list(xs), [1.0])


def compiled_pull(fn: Any, name: str, f: Callable[[Any], Any], g: Any, *args: Any) -> Any:
    """The cotangent of an argument with the rule built into IR; `f` makes the cotangent from the parameter for `g`."""
    body = Region()
    b = Builder(body)
    b.cotangents = Cotangents(b, body, [], lambda op: False)
    prim = lookup(fn)
    assert prim is not None
    with b.active():
        params = [parameter(body, a, "x") for a in args]
        seed = parameter(body, g, "g")
        out = b.emit(prim, *params)
        rule = record.pullback(prim, name)
        assert rule is not None
        body.exit = (rule(f(seed), out, *params),)
    with np.errstate(all="ignore"):
        return interpret(Function("f", body), [*args, g])[0]


def operations(fn: Function) -> list[str]:
    return [op.prim.name for op in fn.body.ops]


# --- ties and kinks ---------------------------------------------------------------------------------------------------


def test_equal_operands_share() -> None:
    x, y, g = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]), np.ones(3)
    assert pull(np.maximum, "x1", g, x, y).tolist() == [0.5, 0, 1]
    assert pull(np.maximum, "x2", g, x, y).tolist() == [0.5, 1, 0]
    assert pull(np.minimum, "x1", g, x, y).tolist() == [0.5, 1, 0]
    assert pull(np.maximum, "x1", 1.0, 2.0, 2.0) == 0.5
    assert pull(np.maximum, "x1", g, np.array([-1.0, 0.0, 1.0]), 0).tolist() == [0, 0.5, 1]
    assert pull(np.maximum, "x2", g, 0, np.array([-1.0, 0.0, 1.0])).tolist() == [0, 0.5, 1]


def test_equal_elements_share() -> None:
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]])
    assert pull(np.max, "a", np.array([1.0, 4.0]), x, axis=1).tolist() == [[0, 0.5, 0.5], [2, 2, 0]]
    assert pull(np.max, "a", 1.0, np.array([2.0, 2.0])).tolist() == [0.5, 0.5]
    assert np.isnan(pull(np.max, "a", 1.0, np.array([np.nan, 2.0]))).any()


def test_python_max_takes_the_first() -> None:
    assert pull(builtins.max, "*args", 1.0, 2.0, 2.0) == (1.0, 0.0)
    assert pull(builtins.max, "*args", 1.0, 1.0, 2.0, 0.0) == (0.0, 1.0, 0.0)
    assert pull(builtins.min, "*args", 1.0, 1.0, 1.0, 2.0) == (1.0, 0.0, 0.0)


def test_kinks() -> None:
    assert pull(abs, "x", 1.0, np.array([-2.0, 0.0, 2.0])).tolist() == [-1, 0, 1]
    assert pull(np.clip, "a", np.ones(5), np.array([-2.0, -1, 0, 1, 2]), -1, 1).tolist() == [0, 1, 1, 1, 0]
    assert pull(np.linalg.norm, "x", 1.0, np.zeros(3)).tolist() == [0, 0, 0]
    assert pull(np.std, "a", 1.0, np.ones(3)).tolist() == [0, 0, 0]
    assert pull(np.hypot, "x1", 1.0, 0.0, 0.0) == 0
    assert pull(np.power, "x1", 1.0, 0.0, 0) == 0
    assert pull(np.power, "x1", np.ones(2), np.zeros(2), np.array([0, 1])).tolist() == [0, 1]
    assert pull(np.power, "x2", 1.0, 0.0, 2.0) == 0


# --- zeros and infinities ---------------------------------------------------------------------------------------------


def test_a_masked_root_has_no_derivative_where_it_is_masked() -> None:
    x = np.array([-1.0, 0.0, 4.0])
    mask = np.array([False, False, True])
    for fn, want in ((np.sqrt, 0.25), (np.log, 0.25), (np.log2, 0.25 / np.log(2)), (np.reciprocal, -1 / 16)):
        found = compiled_pull(fn, "x", lambda g: -(g * mask * 2.0), np.ones(3), x)
        np.testing.assert_allclose(found, [0, 0, -2 * want])
    found = compiled_pull(operator.truediv, "x1", lambda g: g * mask, np.ones(3), np.ones(3), x)
    np.testing.assert_allclose(found, [0, 0, 0.25])
    found = compiled_pull(operator.truediv, "x2", lambda g: g * mask, np.ones(3), np.ones(3), x)
    np.testing.assert_allclose(found, [0, 0, -1 / 16])


def test_a_mask_is_not_seen_through_a_sum() -> None:
    """Summed over rows, the cotangent is not zero where the mask was."""
    mask = np.array([[True, False], [False, False]])

    def spoiled(g: Any) -> Any:
        return np.sum(g * mask, axis=0, keepdims=True) * np.ones((2, 2))

    found = compiled_pull(np.sqrt, "x", spoiled, np.ones((2, 2)), np.full((2, 2), 4.0))
    np.testing.assert_allclose(found, [[0.25, 0], [0.25, 0]])


def test_a_cotangent_that_happens_to_be_zero_is_not_a_mask() -> None:
    """The derivative of sqrt(x) * sqrt(x) at 0 is 1: nan is an honest answer, 0 would not be."""
    found = gradient(lambda x: np.sum(np.sqrt(x) * np.sqrt(x)), np.array([0.0, 4.0]))[0]
    assert np.isnan(found[0]) and found[1] == 1


# --- complex numbers --------------------------------------------------------------------------------------------------


def test_complex_convention() -> None:
    """A real function of z has the gradient df/dx - i df/dy, as in JAX."""
    z = np.complex128(1 + 2j)
    assert gradient(lambda z: abs(z) ** 2, z)[0] == pytest.approx(2 - 4j)
    assert gradient(lambda z: np.real(z * z), z)[0] == pytest.approx(2 + 4j)
    assert gradient(lambda z: np.imag(z), z)[0] == -1j
    assert gradient(lambda z: np.real(np.conj(z) * 1j), z)[0] == pytest.approx(
        numeric_gradient(lambda v: np.real(np.conj(v) * 1j), z)
    )
    assert pull(np.sign, "x", 1.0, np.array([0j])).tolist() == [0]


def test_what_may_be_complex_is_treated_so() -> None:
    body = Region()
    b = Builder(body)
    with b.active():
        x = body.param(array(None, (body.dims.fresh(),)), "x")
        rule = record.pullback(PRIMS[np.absolute], "x")
        assert rule is not None
        body.exit = (rule(1.0, b.emit(PRIMS[np.absolute], x), x),)
    for value in (np.array([3 + 4j]), np.array([-2.0])):
        want = np.conj(value) / abs(value)
        np.testing.assert_allclose(interpret(Function("f", body), [value])[0], want)


# --- lists ------------------------------------------------------------------------------------------------------------


def emit(prim: Prim, *args: Any) -> Any:
    from autodiff_compiler.ir.core import current

    return current().emit(prim, *args)


@pytest.mark.parametrize("element", [0.7, np.array([0.7, -0.2])], ids=["numbers", "arrays"])
def test_lists(element: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        items = emit(LIST_NEW, (x, y))
        items = emit(LIST_APPEND, items, np.sin(x))
        items = emit(LIST_SET, items, 0, emit(LIST_GET, items, 2) * y)
        items = emit(LIST_ADDAT, items, 1, x * x)
        last = emit(LIST_GET, items, 2)
        items = emit(LIST_DROP, items, -1, last)
        return np.sum(emit(LIST_GET, items, 0) * emit(LIST_GET, items, 1) + last * last)

    xs = [element, element * 2.0]
    found = gradient(f, *xs)
    fn = traced(f, *xs)
    for k, x in enumerate(xs):

        def at(v: Any, k: int = k) -> float:
            return float(interpret(fn, [*xs[:k], v, *xs[k + 1 :]])[0])

        np.testing.assert_allclose(found[k], numeric_gradient(at, x), rtol=1e-6)


def test_an_array_from_a_list_and_back() -> None:
    def f(x: Any) -> Any:
        items = emit(LIST_APPEND, emit(LIST_NEW, (x, x * x)), np.sin(x))
        table = apply(np.array, items)
        back = emit(UNSTACK, table * table)
        return np.sum(emit(LIST_GET, back, 0) * emit(LIST_GET, back, 2))

    x = np.array([0.3, 0.9])
    np.testing.assert_allclose(gradient(f, x)[0], 2 * x * np.sin(x) ** 2 + 2 * x**2 * np.sin(x) * np.cos(x))


@pytest.mark.parametrize("cast", [np.complex64, np.float32, np.float16])
def test_coarse_casts(cast: Any) -> None:
    assert pull(cast, "x", 2.0, 0.5) == 2.0


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "name", "args", "kwargs"),
    [
        (np.reshape, "a", (np.ones((2, 3)), (3, 2)), {"order": "F"}),
        (np.pad, "array", (np.ones(3), 1, "mean"), {}),
        (np.linalg.norm, "x", (np.ones((2, 2)), 2), {}),
        (np.linalg.cholesky, "a", (np.eye(2) + 0j,), {}),
    ],
)
def test_refused(fn: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with pytest.raises(RuleLookupError):
        pull(fn, name, fn(*args, **kwargs), *args, **kwargs)


@pytest.mark.parametrize("fn", [np.sum, np.mean, np.max])
def test_a_keyword_without_rule_is_not_ignored(fn: Any) -> None:
    with pytest.raises(RuleLookupError, match=r"does not cover this call: .*(where|initial)"):
        pull(
            fn, "a", 1.0, np.ones(3), where=np.array([True, False, True]), **({"initial": 0.0} if fn is np.max else {})
        )


def test_a_ufunc_with_a_keyword_is_refused() -> None:
    with pytest.raises(RuleLookupError, match=r"np\.exp does not cover this call"):
        pull(np.exp, "x", np.ones(2), np.ones(2), where=np.array([True, False]))


def test_unknown_rank_is_refused() -> None:
    body = Region()
    b = Builder(body)
    with b.active():
        x = body.param(Ty("any"), "x")
        rule = record.pullback(PRIMS[np.matmul], "x1")
        assert rule is not None
        with pytest.raises(RuleLookupError, match="number of axes"):
            rule(x, x, x, x)


def test_no_rule() -> None:
    assert record.pullback(PRIMS[np.histogram], "weights") is None
    assert not record.has_rule(opaque(np.kaiser, "np.kaiser"))
    assert PRIMS[np.floor].nondiff and not PRIMS[np.sign].nondiff
    with pytest.raises(RuleLookupError, match="not a primitive"):
        record.constant_in(lambda x: x, "x")
    with pytest.raises(TypeError, match="no argument 'q'"):
        record.vjp(np.exp, "q")(lambda g, out, x: g)


# --- emitted operations are few ---------------------------------------------------------------------------------------


def built(fn: Any, name: str, *args: Any, **kwargs: Any) -> list[str]:
    """The operations that a rule adds, with the builder's rewrites in force."""
    body = Region()
    b = algebra.install(Builder(body))
    prim = lookup(fn)
    assert prim is not None
    with b.active():
        params = [parameter(body, a, "x") if isinstance(a, np.ndarray) else a for a in args]
        out = b.emit(prim, *params, **kwargs)
        g = body.param(out.type, "g")
        rule = record.pullback(prim, name)
        assert rule is not None
        rule(g, out, *params, **kwargs)
    return operations(Function("f", body))[1:]


def by_zero(x):
    return np.sum(x * x) if x[0] > 0 else x[0] / 0


def by_zero_float(x):
    return np.sum(x * x) if x[0] > 0 else x[1] / 0.0


@pytest.mark.parametrize("f", [by_zero, by_zero_float])
def test_a_division_by_a_literal_zero_is_compiled(f) -> None:
    """What it gives is for the run to say, where it is reached."""
    np.testing.assert_array_equal(ad.grad(f)(np.ones(2)), [2.0, 2.0])
    with np.errstate(all="ignore"):
        assert np.isinf(ad.grad(f)(-np.ones(2))).any()


def test_rules_are_lean() -> None:
    x, y = np.ones((3, 4)), np.ones((4, 2))
    assert built(np.exp, "x", x) == ["*"]
    assert built(np.tanh, "x", x) == ["*", "-", "*"]
    assert built(np.log, "x", x) == ["/"]
    assert built(operator.pow, "x1", x, 2) == ["*", "*"]
    assert built(operator.truediv, "x1", x, x) == ["/"]
    assert built(operator.matmul, "x1", x, y) == ["get", "@"]
    assert built(operator.matmul, "x2", x, y) == ["get", "@"]
    assert built(operator.matmul, "x1", x, y[:, 0].copy()) == ["get", "*"]
    assert built(operator.matmul, "x2", x, y[:, 0].copy()) == ["@"]
    assert built(np.sum, "a", x) == [SPREAD.name]
    assert built(np.sum, "a", x, axis=0) == [SPREAD.name]
    assert built(np.sum, "a", x, axis=1) == ["get", SPREAD.name]
    assert built(np.where, "x", x > 0, x, 0.0) == ["*"]
    assert built(np.concatenate, "arrays", [x, x]) == ["get", "get"]
    assert built(np.sort, "a", x[:, 0].copy()) == ["np.argsort", ZEROS.name, "set"]
    assert MUL.name == "*"


def test_one_op_per_value() -> None:
    fn = traced(lambda x: np.sum(x * x), np.ones(3))
    assert all(isinstance(op, Op) and isinstance(op.result, Value) for op in fn.body.ops)
    assert lib.symbolic([1, (fn.params[0],)]) and not lib.symbolic([1, (2,)])


@pytest.mark.parametrize("x", [np.float64(0.5), np.float32(0.5), np.array(0.5)], ids=repr)
def test_a_number_that_is_given_axes(x) -> None:
    def new_axis(x):
        return np.sum(x[..., None] * 3.0)

    def both(x):
        return np.sum(x[None] * x[None, ..., None] * np.array([1.0, 2.0]))

    assert ad.grad(new_axis)(x) == 3.0
    assert ad.grad(both)(x) == 3.0
    assert ad.grad(ad.grad(both))(x) == 6.0


def test_power_at_exponent_zero_has_a_mixed_second_derivative():
    def power(x, n):
        return x**n

    by_x = ad.grad(power, 0)

    def slope(n):
        return by_x(2.0, n)

    assert ad.grad(slope)(0.0) == 0.5  # of n * x ** (n - 1) by n: x ** (n - 1)
    assert by_x(0.0, 0.0) == 0.0 and by_x(np.array(0.0)[()], 0) == 0.0
