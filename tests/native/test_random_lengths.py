"""Random programs whose lengths are computed, with one derivative for many lengths. Two of three are machine code.

A statement is taken if it runs at the first lengths. With others, the program may raise: then the derivative raises,
too. Where it does not, the derivative does not, and is that of the code without its optional passes.
"""

from __future__ import annotations

import linecache
import random
import sys
import types
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

LENGTHS = [
    "n", "m", "k", "n - 1", "k + 1", "n - k", "n - k + 1", "-k", "+k", "-n + 1", "n // 2", "-(-n // 2)", "m // k",
    "2 * k", "2", "0", "-1", "len(v[1:])", "len(u)", "A.shape[1]", "len(A[1:])", "v.size - 1", "min(n, m)",
    "abs(n - m)",
]  # fmt: skip
IN_LOOPS = [
    "i:i + k",
    "i + 1:",
    ":i",
    "i * k:(i + 1) * k",
    "-i - 1:",
    "-i:",
    ":n - i",
    "i:n - k + i + 1",
    "i - 1:i + 2",
]
RANGES = [
    "range(k)",
    "range(2)",
    "range(n // k)",
    "range(n - k)",
    "range(n - 6)",
    "reversed(range(m))",
    "range(k - 1, -1, -1)",
]
HEAD = """
def f(A, v, u, w):
    n, m = A.shape
    k = len(w)
    A = A * 1.0
    z = v * 0.5
    s = 0.0
"""
END = "    return s + np.sum(z * z) + np.sum(A) * 0.1\n"
SIZES = [(6, 4, 2), (4, 4, 2), (3, 5, 2), (1, 4, 2), (5, 1, 3), (7, 3, 1), (0, 3, 2), (4, 4, 4), (3, 2, 5)]


class Statements:
    def __init__(self, seed: int):
        self.draw = random.Random(seed)
        self.in_loop = False

    def part(self) -> str:
        draw = self.draw
        if self.in_loop and draw.random() < 0.4:
            return draw.choice(IN_LOOPS)
        a, b = draw.choice(LENGTHS), draw.choice(LENGTHS)
        return draw.choice([f"{a}:", f":{a}", f"{a}:{b}", "::2", "::-1", "1:-1", ":"])

    def vector(self, depth: int = 0) -> str:
        draw = self.draw
        one = draw.choice(["v", "u", "w", "z"])
        if depth < 2 and draw.random() < 0.25:
            return f"({self.vector(depth + 1)} {draw.choice('+*-')} {self.vector(depth + 1)})"
        forms = [one, f"{one}[{self.part()}]", f"{one}[{self.part()}]", f"A[{self.part()}, 0]", f"A[-1, {self.part()}]"]
        more = [f"np.concatenate([{one}, w])", f"np.sum(A[{self.part()}], axis=0)", f"np.zeros({draw.choice(LENGTHS)})"]
        return draw.choice(forms + more + ["(np.diag(A) * 1.0)", f"A[:, {self.part()}] @ {one}"])

    def statement(self) -> str:
        a, b = self.vector(), self.vector()
        part = self.part()
        return self.draw.choice([
            f"z = {a}", f"z = {a} * {b}", f"z[{part}] = {a}", f"z[{part}] += {a}", f"A[{part}] *= {a}",
            f"s = s + {a} @ {b}",
            f"s = s + np.mean({a} * {b})", f"s = s + np.sum(np.outer({a}, {b}) ** 2)", f"s = s * 0.5 + np.var({a})",
            f"s = s + len({a}) * np.sum(A[:, {part}] ** 2)", f"s = s + np.sum({a} * {b} * {a})",
            f"A[:, {part}] += {a}[:, None]",
        ])  # fmt: skip

    def program(self) -> str:
        body = ""
        for _ in range(400):
            more = ""
            kind = self.draw.random()
            if kind < 0.4:
                self.in_loop = True
                loop = f"    for i in {self.draw.choice(RANGES)}:\n"
                more = f"{loop}        {self.statement()}\n        {self.statement()}\n"
                self.in_loop = False
            elif kind < 0.5:
                more = (
                    f"    if {self.draw.choice(LENGTHS)} == {self.draw.choice(LENGTHS)}:\n        {self.statement()}\n"
                )
            else:
                more = f"    {self.statement()}\n"
            names: dict[str, Any] = {"np": np}
            exec(HEAD + body + more + END, names)
            if np.isfinite(outcome(names["f"], SIZES[0])) is np.True_:
                body += more
            if body.count("\n") >= 5:
                break
        return HEAD + body + END


def arguments(sizes: tuple[int, int, int]) -> list[np.ndarray]:
    n, m, k = sizes
    rng = np.random.default_rng(n + 10 * m + 100 * k)
    return [rng.uniform(-1.0, 1.0, shape) for shape in ((n, m), n, m, k)]


def outcome(call: Any, sizes: tuple[int, int, int]) -> Any:
    """What a call gives; nan if it raises what NumPy raises."""
    try:
        return call(*arguments(sizes))
    except (ValueError, IndexError, TypeError, ZeroDivisionError):
        return np.nan


@pytest.mark.parametrize("seed", range(18))
@pytest.mark.filterwarnings("ignore")
def test_one_derivative_for_many_lengths(seed: int) -> None:
    source = Statements(seed).program()
    name = f"random_lengths_{seed}"
    linecache.cache[f"<{name}>"] = len(source), None, source.splitlines(keepends=True), f"<{name}>"
    module: Any = types.ModuleType(name)
    sys.modules[name], module.np = module, np
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    options = [{}, {"backend": "native"}, {"backend": "native", "parallel": True}][seed % 3]
    derivative = ad.value_and_grad(module.f, argnums=(0, 1, 2, 3), **options)
    order = SIZES[:]
    random.Random(seed).shuffle(order)
    for sizes in order[:5]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, found = outcome(module.f, sizes), outcome(derivative, sizes)
        if type(found) is not tuple:
            assert np.isnan(expected), (source, sizes)
            continue
        np.testing.assert_allclose(found[0], expected, rtol=1e-12, err_msg=source)
        plain = outcome(ad.value_and_grad(module.f, argnums=(0, 1, 2, 3), optimize=False), sizes)
        for a, b in zip(found[1], plain[1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9, err_msg=f"{source} {sizes}")
