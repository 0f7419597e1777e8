"""The facts in the records of operations, compared with what the functions do on the cases of the rules.

The passes rely on these facts: a result that shares memory must not be called fresh, a call that may raise must not be
called total, and a missing trait may make a gradient wrong (see docs/rules.md).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_compiler import runtime
from autodiff_compiler.ir.core import Builder, Prim
from autodiff_compiler.ir.opset import PRIMS
from autodiff_compiler.operations.check import as_function, dynamic, is_float, replace
from autodiff_compiler.operations.tangents import column
from tests.operations.test_rules import BY_PRIM, CONSTANT, prim_of

# Results that NumPy protects from stores. The passes know them by name: `np.diag` of a matrix, `spread` in adjoints.
PROTECTED = ("np.diag", "spread")

# At these numbers functions raise, overflow or have poles.
SPECIAL = [0.0, -0.0, -1.5, 2.0, np.inf, -np.inf, np.nan, 1e300]


def calls(name: str) -> Iterator[tuple[Prim, tuple[Any, ...], dict[str, Any]]]:
    for fn, args, kwargs in BY_PRIM[name]:
        yield prim_of(fn), copy.deepcopy(tuple(args)), copy.deepcopy(kwargs)


def run(prim: Prim, args: Any, kwargs: dict[str, Any]) -> Any:
    assert prim.fn is not None
    with np.errstate(all="ignore"):
        return prim.fn(*args, **kwargs)


def arrays(x: Any) -> list[np.ndarray]:
    if isinstance(x, np.ndarray):
        return [x]
    return [a for item in x for a in arrays(item)] if isinstance(x, (list, tuple)) else []


def filled(args: Any, number: float) -> Any:
    """The arguments with a number in place of every floating one."""
    return replace(args, iter([x * 0 + number for x in dynamic(args)]))


def share(xs: Any, ys: Any) -> bool:
    return any(np.shares_memory(x, y) for x in arrays(xs) for y in arrays(ys))


@pytest.mark.parametrize("name", list(BY_PRIM))
def test_a_result_shares_memory_only_as_its_record_says(name: str) -> None:
    for prim, args, kwargs in calls(name):
        out = run(prim, args, kwargs)
        if prim.alias == "fresh" or prim.unique:
            assert not share(out, (args, list(kwargs.values()))), (args, kwargs)
        elif prim.alias == "view":
            assert not share(out, (args[1:], list(kwargs.values()))), (args, kwargs)
        if name not in PROTECTED and any(not a.flags.writeable for a in arrays(out)):
            assert "read_only" in prim.traits, (args, kwargs)


@pytest.mark.parametrize("name", list(BY_PRIM))
def test_a_call_that_its_record_says_is_total_does_not_raise(name: str) -> None:
    for prim, args, kwargs in calls(name):
        if prim.total is None:
            continue
        function, _ = as_function(prim, *args, kwargs=kwargs, constant=CONSTANT.get(name, ()))
        (op,) = (op for op in function.body.ops if op.prim is prim)
        b = Builder(function.body)
        with b.active():
            if not prim.total(b, op.args, op.kwargs):
                continue
        for number in SPECIAL:
            run(prim, filled(args, number), kwargs)


@pytest.mark.parametrize("name", list(BY_PRIM))
def test_equal_calls_give_equal_results(name: str) -> None:
    """What has no effect and makes no new buffer may be computed once for two equal calls."""
    for prim, args, kwargs in calls(name):
        first, again = (run(prim, args, kwargs) for _ in range(2))
        for a, b in zip(dynamic(first), dynamic(again), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", [name for name in BY_PRIM if any("real" in p.traits for p, _, _ in calls(name))])
def test_real_operands_give_real_results(name: str) -> None:
    for prim, args, kwargs in calls(name):
        if not any(map(np.iscomplexobj, dynamic([*args, *kwargs.values()]))):
            assert not any(map(np.iscomplexobj, dynamic(run(prim, args, kwargs))))


TRANSPOSED = [
    (name, argument) for name in BY_PRIM for p in [prim_of(BY_PRIM[name][0][0])] for argument in p.params
    if column(p, argument) == "transposed" and not argument.startswith("*")
]  # fmt: skip


@pytest.mark.parametrize("name,argument", TRANSPOSED)
def test_what_is_linear_says_so(name: str, argument: str) -> None:
    """An operation that is linear on all of its cases needs no transposed pullback."""
    rng = np.random.default_rng(0)

    def moves(prim: Prim, args: tuple[Any, ...]) -> bool:
        place = prim.params.index(argument)
        return place < len(args) and isinstance(args[place], np.ndarray) and is_float(args[place])

    def is_linear(prim: Prim, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        place = prim.params.index(argument)
        x, y = (rng.normal(size=args[place].shape).astype(args[place].dtype) for _ in range(2))
        outs = [run(prim, (*args[:place], v, *args[place + 1 :]), kwargs) for v in (x, y, x + 2 * y)]
        return all(np.allclose(c, a + 2 * b) for a, b, c in zip(*map(dynamic, outs)))

    found = [is_linear(prim, args, kwargs) for prim, args, kwargs in calls(name) if moves(prim, args)]
    assert not found or not all(found)


# --- the traits of elementwise functions ------------------------------------------------------------------------------

SAMPLES = np.array([0.3, 0.7, 1.0, 1.9, 3.2])
LARGE = [1e3, 1e30, 1e100, 1e200, 1e300]
BINARY = {
    "product": [lambda x, y: x * y],
    "quotient": [lambda x, y: x / y],
    "power": [lambda x, y: x**y],
    "sum": [lambda x, y: x + y, lambda x, y: x - y],
}


def elementwise(operands: int) -> list[str]:
    """The operations whose cases have so many floating operands, and nothing else."""

    def fits(args: Any, kwargs: Any) -> bool:
        return not kwargs and len(args) == operands and all(map(is_float, args))

    return [n for n in BY_PRIM if any(p.elementwise and p.nout == 1 and fits(a, k) for p, a, k in calls(n))]


def values(prim: Prim, *xs: Any) -> np.ndarray:
    """What the function makes of numbers; nan where it raises."""
    found = []
    for numbers in zip(*xs):
        try:
            found.append(run(prim, [float(x) for x in numbers], {}))
        except (ValueError, OverflowError, ZeroDivisionError, TypeError):
            found.append(np.nan)
    return np.array(found)


@pytest.mark.parametrize("name", elementwise(2))
def test_what_computes_a_product_says_so(name: str) -> None:
    prim = prim_of(BY_PRIM[name][0][0])
    out = values(prim, SAMPLES, SAMPLES[::-1])
    for trait, forms in BINARY.items():
        if any(np.allclose(out, form(SAMPLES, SAMPLES[::-1]), rtol=1e-12) for form in forms):
            assert trait in prim.traits


def is_bounded(prim: Prim) -> bool:
    ends = values(prim, [*LARGE, *[-x for x in LARGE], 0.0, 0.5])
    return bool(np.all(np.abs(ends) < 10))


def is_logarithm(prim: Prim) -> bool:
    """It grows without bound, and slower than any power."""
    out = np.abs(values(prim, LARGE))
    return bool(np.all(np.diff(out) > 1) and np.all(out < 1e4))


@pytest.mark.parametrize("name", elementwise(1))
def test_how_a_function_grows_is_in_its_record(name: str) -> None:
    prim = prim_of(BY_PRIM[name][0][0])
    if is_logarithm(prim):
        assert "logarithm" in prim.traits
    if "bounded" in prim.traits:
        assert is_bounded(prim)
    if "same_zeros" in prim.traits:
        assert values(prim, [0.0])[0] == 0.0


def test_lgamma_of_minus_infinity() -> None:
    """Its record says that it never raises."""
    np.testing.assert_array_equal(runtime.lgamma(np.array([-np.inf, -2.0, 0.0])), np.inf)


def test_the_record_of_if_square_says_that_it_returns_its_argument() -> None:
    g = np.ones((2, 2))
    assert runtime.if_square(g, 2, 2, None) is g and PRIMS[runtime.if_square].alias == "view"
