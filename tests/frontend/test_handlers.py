"""The table of handlers: what finds them, and how arguments are bound to their parameters."""

from __future__ import annotations

import collections
import itertools
import statistics
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import ArgumentError
from autodiff_compiler.frontend.handlers import handler_of, lowers, method_of

APPEND = list.append


class Doubling(list[Any]):
    def append(self, item: Any) -> None:
        super().append(2 * item)


def bound(x: float) -> Any:
    items: list[Any] = []
    items.append(x)
    list.append(items, x * x)
    APPEND(items, 3 * x)
    kept = items.append
    kept(x**3)
    return items[0] + items[1] * items[2] + items[3]


def overridden(x: float) -> Any:
    items = Doubling()
    items.append(x)
    list.append(items, x * x)
    return items[0] * items[1]


def of_a_module_that_is_imported_late(x: float) -> Any:
    return statistics.mean([x, x * x, 1.0])


def class_methods(x: float) -> Any:
    d = dict.fromkeys(["a", "b"], x)
    e = d.fromkeys(["c"], x * x)
    return d["a"] * d["b"] + e["c"] + sum(itertools.chain.from_iterable([[x], [x * x]]))


def counted(x: float) -> Any:
    counts: Any = collections.Counter(a=x)
    counts.update(a=x * x, b=2.0)
    return counts["a"] * counts["b"]


def names_of_parameters(x: float) -> Any:
    d = dict(ctx=x, self=x * x, node=2.0)
    d.update(self=x**3, ctx=x)
    counts: Any = collections.Counter(ctx=x)
    counts.update(self=x, ctx=1.0)
    return d["ctx"] * d["self"] + d["node"] * counts["ctx"] * counts["self"]


@pytest.mark.parametrize(
    "f", [names_of_parameters, bound, overridden, of_a_module_that_is_imported_late, class_methods, counted]
)
def test_methods_are_found_in_every_form(f: Any) -> None:
    h = 1e-6
    slope = (f(1.3 + h) - f(1.3 - h)) / (2 * h)
    assert ad.grad(f)(1.3) == pytest.approx(slope, rel=1e-7)


WRONG_CALLS = {
    "len": lambda x: len([x], 1),
    "append": lambda x: [x].append(),
    "sorted": lambda x: sorted([x], lambda v: v),
    "sum": lambda x: sum([x], begin=1),
    "reshape": lambda x: np.reshape(np.array([x]), shape=(1,), size=1),
    "zip": lambda x: zip([x], keys=True),
    "pop": lambda x: {1: x}.pop(),
    "fill": lambda x: np.array([x]).fill(x, x),
    "accumulate": lambda x: itertools.accumulate([x], None, 1.0),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_arguments_that_python_does_not_take(name: str) -> None:
    call = WRONG_CALLS[name]

    def f(x: float) -> Any:
        call(x)
        return x * x

    with pytest.raises(TypeError):
        f(1.3)
    with pytest.raises(TypeError, match=r"test_handlers\.py:\d+") as caught:
        ad.grad(f)(1.3)
    assert isinstance(caught.value, ArgumentError)


def test_a_wrong_call_that_is_caught() -> None:
    def f(x: float) -> Any:
        try:
            [x].append()  # type: ignore[call-arg]
        except TypeError:
            return x * x
        return x

    assert ad.grad(f)(1.5) == 3.0


def test_an_object_has_one_handler() -> None:
    with pytest.raises(ValueError, match="has a handler"):
        lowers(np.reshape)(len)


def test_what_is_equal_has_handlers_of_its_own() -> None:
    assert np.dtype(float) == float
    assert handler_of(np.dtype(float)) is None
    assert handler_of(float) is not None


def test_methods_are_found_along_the_bases() -> None:
    class Other(list[Any]):
        pass

    assert method_of(Other, "append") is method_of(list, "append") is not None
    assert method_of(Doubling, "append") is None
    assert handler_of(list.append) is None  # which object it is of has to be known
