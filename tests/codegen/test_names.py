"""Which names are free: a tree of times says the same as looking at each interval."""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.codegen import names
from autodiff_compiler.codegen.names import Interval, Numbers, _meet, _merged
from tests.differences import differences


@pytest.mark.parametrize("seed", range(40))
def test_the_numbers_that_are_taken(seed: int) -> None:
    rng = random.Random(seed)
    places = sorted(rng.sample(range(200), rng.randrange(2, 40)))

    def life() -> list[Interval]:
        ends = [sorted(rng.sample(places, 2)) for _ in range(rng.randrange(1, 5))]
        return _merged([(float(s), float(e)) for s, e in ends])

    numbers = Numbers({float(place): rank for rank, place in enumerate(places)})
    busy: dict[int, list[Interval]] = {}
    for _ in range(60):
        spans = life()
        parts = [*map(numbers.parts, spans)]
        taken = numbers.taken(parts)
        assert taken == 1 | sum([1 << n for n, times in busy.items() if _meet(times, spans)])
        n = next(n for n in range(1, 99) if not taken >> n & 1)
        busy[n] = sorted([*busy.get(n, []), *spans])
        numbers.take(1 << n, parts)


def test_a_moment_takes_no_number_and_fixed_numbers_are_always_taken() -> None:
    numbers = Numbers({0.0: 0, 1.0: 1, 2.0: 2})
    moment, first, second, both = ([numbers.parts(s)] for s in ((1.0, 1.0), (0.0, 1.0), (1.0, 2.0), (0.0, 2.0)))
    numbers.take(2, moment)
    assert numbers.taken(both) == 1 and numbers.taken(moment) == 1
    numbers.fixed |= 8
    numbers.take(4, first)
    assert numbers.taken(both) == 13 and numbers.taken(second) == 9


def test_names_of_many_lives_are_not_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each leaf of a tree of branches keeps what its adjoint needs, in variables that other leaves do not read."""

    def tree(depth: int, pad: str = "    ") -> str:
        if not depth:
            return f"{pad}s = np.sin(s + x[1]) * np.exp(-s * s)\n{pad}s = np.cos(s * x[2]) * np.tanh(s)\n"
        inner = tree(depth - 1, pad + "    ")
        return f"{pad}if x[{depth}] > 0.5:\n{inner}{pad}else:\n{inner}"

    text = f"def f(x):\n    s = x[0]\n{tree(6)}    return s\n"
    linecache.cache["<lives>"] = (len(text), None, text.splitlines(True), "<lives>")
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, "<lives>", "exec"), namespace)
    tried: list[int] = []
    picked: list[int] = []
    is_free, pick = names.Variable.is_free, names.Naming._pick
    monkeypatch.setattr(names.Variable, "is_free", lambda *a: tried.append(1) or is_free(*a))
    monkeypatch.setattr(names.Naming, "_pick", lambda *a: picked.append(1) or pick(*a))
    f, x = namespace["f"], np.random.default_rng(0).uniform(size=7)
    assert np.allclose(ad.grad(f)(x), differences(f, x), atol=1e-6)
    assert len(picked) > 200 and len(tried) < 3 * len(picked), (len(tried), len(picked))


def test_a_class_that_its_module_does_not_have_is_bound():
    """`builtins` has no `function` and no `NoneType`: that is only what these classes call themselves."""
    numbers = {float, np.ndarray}

    def f(x, thing):
        return x if type(thing) in numbers else x * x

    for thing in (len, np, None, f):
        assert ad.grad(f)(2.0, thing) == 4.0
    assert ad.grad(f)(2.0, 1.0) == 1.0
