"""What the checks of machine code cost: each program with them, as it is compiled, and with them taken out of its text.

``python -m benchmarks.run --native`` prints the table. Machine code checks what Python would check (docs/native.md,
"Where machines differ from Python"); each program here is a loop that does little else than what one of the checks is
for. Times are the least of calls that take turns.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .by_hand.measuring import take_turns

STEPS = 10_000
GUARD = re.compile(r"^( *)if (?P<check>.*):\n\1    return \w+_bail\(\)\n", re.MULTILINE)


def elements_by_index(x, places, a):
    total = 0.0
    for k in range(len(places)):
        total = total + a * x[places[k]] * x[places[k]]
    return total


def neighbours(x, places, a):
    total = 0.0
    for i in range(1, len(x) - 1):
        total = total + a * (x[i - 1] - 2.0 * x[i] + x[i + 1]) ** 2
    return total


def quotients(x, places, a):
    s = 1.0
    for _ in range(len(x)):
        s = s + 1.0 / (s + a)
    return s


def roots(x, places, a):
    s = a
    for _ in range(len(x)):
        s = math.sqrt(s + 1.0)
    return s


def exponentials(x, places, a):
    s = a
    for _ in range(len(x)):
        s = math.exp(-s)
    return s


def powers(x, places, a):
    s = a
    for _ in range(len(x)):
        s = s**1.5 * 0.5 + 0.1
    return s


def whole_numbers(x, places, a):
    n, s = 1, a
    for _ in range(len(x)):
        n = n * 3 % 1001
        s = s + n * a
    return s


PROGRAMS: list[tuple[str, Callable[..., Any]]] = [
    ("an index that is read from an array", elements_by_index),
    ("indices that count, checked in front of the loop", neighbours),
    ("a division of Python's numbers", quotients),
    ("a root of Python's number", roots),
    ("an exponential of Python's number", exponentials),
    ("a power of Python's numbers", powers),
    ("a product of ints", whole_numbers),
]


def checks_of(text: str) -> list[str]:
    """The conditions under which a native source leaves for the NumPy code."""
    return [found["check"] for found in GUARD.finditer(text)]


def native_function(text: str, name: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(compile(text, f"<{name}>", "exec"), namespace)
    return namespace[f"{name}_native"]


def measure_guards(only: list[str], pretty: Callable[[float], str], print_table: Any) -> dict[str, Any]:
    """Measure each program with and without its checks, and print a table."""
    import autodiff_compiler as ad

    random = np.random.default_rng(4)
    args = random.random(STEPS), random.integers(STEPS, size=STEPS), 0.5
    results: dict[str, Any] = {}
    table = []
    for what, f in PROGRAMS:
        name = f.__name__
        if only and name not in only:
            continue
        print(f"... {name}", file=sys.stderr, flush=True)
        text = str(ad.value_and_grad(f, argnums=2, backend="native").source(*args))
        checks = checks_of(text)
        with_checks = native_function(text, f"{name}_value_and_grad")
        without = native_function(GUARD.sub("", text), f"{name}_value_and_grad")
        parameters = re.search(rf"def {name}_value_and_grad_native\((.*)\):", text)
        assert parameters is not None
        given = [dict(zip(("x", "places", "a"), args))[p] for p in parameters[1].split(", ")]
        sides = {
            "checked": lambda: with_checks(*given),  # noqa: B023
            "unchecked": lambda: without(*given),  # noqa: B023
        }
        times = take_turns(sides)
        cost = (times["checked"] - times["unchecked"]) / STEPS
        results[name] = {"seconds": times, "checks": len(checks), "ratio": times["checked"] / times["unchecked"]}
        ratio = results[name]["ratio"]
        table.append(
            [what, f"`{name}`", str(len(checks)), pretty(times["checked"]), f"{ratio:.2f}", f"{cost * 1e9:.2f} ns"]
        )
    if table:
        print()
        print_table(table, ["check", "program", "in the text", "time", "of unchecked", "per iteration"])
    return results
