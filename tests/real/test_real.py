"""The gradients of programs that were written as their fields write them.

Each case is run as it is, differentiated by all of its floating arguments at once, compared with central differences
and run forwards. What the compiler refuses is in `REFUSED`, with the message.
"""

from __future__ import annotations

import copy
import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.families import known_versions
from tests.real.refused import REFUSED, WRONG

pytest.importorskip("scipy")
if known_versions():
    pytest.skip("this version of SciPy is not known", allow_module_level=True)
MODULES = sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]))
TOLERANCE = 1e-5
STEP = 1e-6


def cases() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """All cases by name: module and function, and a number from the second case of a function on."""
    seen: dict[str, int] = {}
    for module in MODULES:
        for case in getattr(importlib.import_module(f"tests.real.{module}"), "CASES", ()):
            name = f"{module}.{case[0].__qualname__}"
            seen[name] = seen.get(name, 0) + 1
            yield (name if seen[name] == 1 else f"{name}-{seen[name]}"), case


def is_float(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f"
    return isinstance(value, (float, np.floating))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The floating numbers and arrays in tuples, lists and dicts, each with the keys that lead to it."""
    if is_float(value):
        yield path, value
    elif isinstance(value, (tuple, list)):
        for k, item in enumerate(value):
            yield from leaves(item, (*path, k))
    elif isinstance(value, dict):
        for k, item in value.items():
            yield from leaves(item, (*path, k))


def replaced(value: Any, path: tuple[Any, ...], leaf: Any) -> Any:
    """The structure with another leaf at the end of the path."""
    if not path:
        return leaf
    if isinstance(value, tuple):
        items = [replaced(item, path[1:], leaf) if k == path[0] else item for k, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    changed = copy.copy(value)
    changed[path[0]] = replaced(value[path[0]], path[1:], leaf)
    return changed


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def mapped(value: Any, fn: Any) -> Any:
    """The structure with `fn` of its floating leaves, and None for everything else."""
    if is_float(value):
        return fn(value)
    if isinstance(value, tuple):
        items = [mapped(item, fn) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [mapped(item, fn) for item in value]
    if isinstance(value, dict):
        changed = copy.copy(value)
        for k, item in value.items():
            changed[k] = mapped(item, fn)
        return changed
    return None


def weights_of(value: Any, seed: int) -> Any:
    """Numbers between 0.5 and 1.5 in the structure of a result: the result is differentiated as their inner product."""
    rng = np.random.RandomState(seed)

    def weight(leaf: Any) -> Any:
        drawn = rng.uniform(0.5, 1.5, np.shape(leaf))
        return drawn.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else float(drawn)

    return mapped(value, weight)


def inner(value: Any, weights: Any) -> float:
    return sum(float(np.sum(np.asarray(leaf) * at(weights, path))) for path, leaf in leaves(value))


def magnitude(value: Any) -> float:
    return sum(float(np.sum(np.abs(leaf))) for _, leaf in leaves(value))


def assert_same(actual: Any, expected: Any) -> None:
    found, wanted = list(leaves(actual)), list(leaves(expected))
    assert [path for path, _ in found] == [path for path, _ in wanted]
    for (_, one), (_, other) in zip(found, wanted):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * float(np.max(np.abs(other), initial=0.0)))


def check(fn: Any, args: tuple[Any, ...], tolerance: float = TOLERANCE, step_size: float = STEP) -> None:
    """The value, the cotangents of all floating arguments, and the tangent."""
    weights, gradients = check_reverse(fn, args, tolerance, step_size)
    check_forward(fn, args, weights, gradients)


def check_reverse(fn: Any, args: tuple[Any, ...], tolerance: float = TOLERANCE, step_size: float = STEP) -> Any:
    before = copy.deepcopy(args)
    expected = fn(*copy.deepcopy(args))
    assert list(leaves(expected)), "the result has no floating number"
    weights = weights_of(expected, 1)
    value, pullback = ad.vjp(fn, *args)
    assert_same(value, expected)
    gradients = pullback(weights)
    assert_same(list(args), list(before))
    largest = 0.0
    for path, leaf in leaves(list(args)):
        gradient = np.asarray(at(list(gradients), path), float)
        assert gradient.shape == np.shape(leaf), path
        slopes, noise = np.zeros(np.shape(leaf)), np.zeros(np.shape(leaf))
        scale = float(np.max(np.abs(leaf), initial=0.0))
        for index in np.ndindex(np.shape(leaf)):
            size = abs(float(np.asarray(leaf)[index])) or 1e-2 * scale or 1.0
            step = step_size * max(size, 1e-3 * scale)

            def moved(by: float) -> Any:
                changed = np.array(leaf, float)
                changed[index] += by
                given = changed if isinstance(leaf, np.ndarray) else float(changed)
                return inner(fn(*replaced(copy.deepcopy(list(args)), path, given)), weights)

            slopes[index] = (moved(step) - moved(-step)) / (2 * step)
            # A slope below this is lost in the rounding of the values.
            noise[index] = 1e-14 * magnitude(expected) / step
        room = tolerance * np.max(np.abs(slopes), initial=0.0) + noise
        largest = max(largest, float(np.max(np.abs(slopes) * (np.abs(slopes) > noise), initial=0.0)))
        assert np.all(np.abs(gradient - slopes) <= room), f"at {path}: {gradient} and by differences {slopes}"
    assert largest > 0, "no argument has a slope: the case says nothing"
    return weights, gradients


def check_forward(fn: Any, args: tuple[Any, ...], weights: Any, gradients: Any) -> None:
    before = copy.deepcopy(args)
    expected = fn(*copy.deepcopy(args))
    tangents = weights_of(list(args), 2)
    value, tangent = ad.jvp(fn, args, tuple(tangents))
    assert_same(value, expected)
    assert_same(list(args), list(before))
    products = [
        np.asarray(at(list(gradients), path)) * np.asarray(at(tangents, path)) for path, _ in leaves(list(args))
    ]
    backwards = sum(float(np.sum(p)) for p in products)
    size = sum(float(np.sum(np.abs(p))) for p in products)
    assert inner_tangent(tangent, weights) == pytest.approx(backwards, rel=1e-8, abs=1e-8 * size)


def inner_tangent(tangent: Any, weights: Any) -> float:
    return sum(float(np.sum(np.asarray(at(tangent, path)) * weight)) for path, weight in leaves(weights))


def parameters() -> list[Any]:
    return [
        pytest.param(
            name, case, id=name, marks=[pytest.mark.xfail(strict=True, reason=WRONG[name])] if name in WRONG else []
        )
        for name, case in cases()
    ]


@pytest.mark.parametrize(("name", "case"), parameters())
def test_case(name: str, case: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name not in REFUSED:
            check(*case)
            return
        message, *how = REFUSED[name]
        if how:  # only forwards
            weights, gradients = check_reverse(*case)
        with pytest.raises(AutodiffError) as caught:
            if how:
                check_forward(case[0], case[1], weights, gradients)
            else:
                check_reverse(*case)
    assert caught.value.message.startswith(message), str(caught.value)


def test_lists_name_cases() -> None:
    """Each name in the two lists is that of a case."""
    names = {name for name, _ in cases()}
    assert set(REFUSED) <= names
    assert set(WRONG) <= names
