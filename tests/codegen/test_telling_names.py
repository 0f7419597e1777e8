"""What emitted code calls its variables: a name tells of one quantity, and of nothing else."""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
import linecache
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.codegen import names
from autodiff_compiler.ir.telling import LONGEST
from benchmarks.by_hand import all_programs
from benchmarks.kernels import all_kernels

NUMBERED = re.compile(r"t\d*(_\d+)?")
Emission = tuple[str, Callable[..., Any], Callable[[], str]]


def emissions() -> Iterator[Emission]:
    """The programs with adjoints by hand and the kernels: a name, the function, and what emits the code."""
    for p in all_programs():
        of = ad.value_and_grad(p.function, argnums=p.argnums)
        yield p.name, p.function, lambda p=p, of=of: str(of.source(*p.inputs(p.small)))  # type: ignore[misc]
    for k in all_kernels():
        if not k.refused:
            of = ad.value_and_grad(k.function, argnums=k.argnums())
            yield k.name, k.function, lambda k=k, of=of: str(of.source(*k.inputs(k.small)))  # type: ignore[misc]


def made_of(text: str) -> Callable[..., Any]:
    file = f"<telling {text}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]  # type: ignore[no-any-return]


def named(expression: str) -> str:
    """What the emitted code gives names to, with the value of an expression: its sine and its cosine need it."""
    text = f"def f(x, y, i):\n    return np.sum(np.sin({expression}))\n"
    f = made_of(text)
    source = ad.value_and_grad(f).source(np.ones((3, 3)), np.ones((3, 3)), 1)
    return " ".join(re.findall(r"(\w+) = ", source))


@pytest.mark.parametrize(
    "expression, name",
    [
        ("np.exp(x)", "exp_x"),
        ("np.sum(x)", "sum_x"),
        ("x @ y", "x_y"),
        ("x * x", "x_sq"),
        ("x**3", "x_cubed"),
        ("x / y", "x_over_y"),
        ("1.0 / x", "inv_x"),
        ("x - y", "x_minus_y"),
        ("1.0 + x", "one_plus_x"),
        ("x + 1.0", "x_plus_1"),
        ("0.5 * x", "half_x"),
        ("-x", "minus_x"),
        ("x.T", "x_T"),
        ("x[0]", "x_0"),
        ("x[-1]", "x_last"),
        ("x[i, 2]", "x_i_2"),
        ("x[:, 1]", "x_col_1"),
        ("x[1:]", "x_tail"),
        ("x[:-1]", "x_head"),
        ("x[1:-1, 1:-1]", "x_inner"),
        ("x[i + 1]", "x_next"),
        ("x[i - 1]", "x_prev"),
        ("x[:, None]", "x_col"),
        ("x[::2]", "x_even"),
        ("x[:i]", "x_to_i"),
        ("1.0 + np.exp(x)", "one_plus_exp_x"),
        ("x * np.exp(y)", "x_exp_y"),
        ("np.exp(y) * x", "x_exp_y"),
    ],
)
def test_the_name_of_an_expression(expression: str, name: str) -> None:
    found = named(expression).split()
    assert name in found, found


@pytest.mark.parametrize(
    "expression",
    [
        "x * (y + 1.0)",
        "np.exp(x + y)",
        "(x + y)[0]",
        "(x - y) ** 2",
        "x / (x / y)",
        "x - (y + x)",
        "0.3 * x",
        "x[i + 2]",
    ],
)
def test_no_name_that_would_be_read_wrong(expression: str) -> None:
    """``x_y_plus_1`` would be another value, and there is no short name for some."""
    found = [name for name in named(expression).split() if not NUMBERED.fullmatch(name)]
    assert not {"x_y_plus_1", "exp_x_plus_y", "x_plus_y_0", "x_minus_y_sq", "x_over_x_over_y", "x_i_plus_2"} & {*found}
    assert not any(name.startswith(("x_minus_y_plus", "sin_")) for name in found), found


def test_names_give_way() -> None:
    """To a user's names, and to what the code calls by name."""
    f = made_of(
        "def f(x, exp_x):\n    x_sq = 3.0 * exp_x\n    return np.sum(np.sin(np.exp(x)) * x_sq + np.sin(x * x))\n"
    )
    source = ad.grad(f).source(np.ones(3), np.ones(3))
    assert "exp_x2 = np.exp(x)" in source and not re.search(r"^    exp_x = ", source, re.M), source
    f = made_of("def f(sum, range):\n    return np.sum(np.sin(sum[0]) * np.sin(range[1]))\n")
    assert ad.grad(f)(np.ones(3), np.ones(3))[0] == np.cos(1.0) * np.sin(1.0)


def test_the_user_named_a_copy_or_a_part() -> None:
    f = made_of(
        "def f(u0, n):\n    u = u0.copy()\n    for _ in range(n):\n        first, second = u\n"
        "        u[0] = first * second\n    return u[0]\n"
    )
    source = ad.grad(f).source(np.array([0.5, 0.7]), 3)
    assert "u = u0" in source and "first" in source and "second" in source, source
    assert not re.search(r"\bu0 = |\bt\d* = ", source), source


def test_an_argument_keeps_its_name() -> None:
    f = made_of("def f(P0, n):\n    P = P0\n    for _ in range(n):\n        P = P - np.sin(P)\n    return P\n")
    source = ad.grad(f).source(0.5, 3)
    assert "P = P0" in source and not re.search(r"\bP0 [-+]?= ", source), source


def test_two_operations_of_one_name_have_two() -> None:
    f = made_of("def f(x, y):\n    return np.sum(np.sin(x @ y)) + np.sum(np.cos(x * y))\n")
    source = ad.value_and_grad(f).source(np.ones((2, 2)), np.ones((2, 2)))
    names = re.findall(r"(x_y\d*) = (.*)", source)
    assert sorted(value for _, value in names) == ["x * y", "x @ y"] and len({name for name, _ in names}) == 2, source


def test_a_name_is_of_one_quantity(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name in a function has one hint, or is computed in one way. Only ``t``, ``t2`` and so on are reused."""
    name_all, counted = names.Naming._name, [0, 0]

    def checked(self: Any) -> None:
        name_all(self)
        about: dict[Any, set[str]] = {}
        for group in dict.fromkeys(self.group.values()):
            counted[0] += 1
            if NUMBERED.fullmatch(group.name):
                counted[1] += 1
                if names._is_large(group):
                    continue
            about.setdefault((group.home, group.name), set()).add(group.quantity or f"value {id(group)}")
        assert not {name: found for name, found in about.items() if len(found) > 1}

    monkeypatch.setattr(names.Naming, "_name", checked)
    for _, _, emit in emissions():
        emit()
    assert counted[0] > 2000 and counted[1] < 0.25 * counted[0], counted


def test_names_in_emitted_code() -> None:
    """No name hides another, none is long, and no argument and no index of a loop becomes something else."""
    for name, function, emit in emissions():
        tree = ast.parse(emit())
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]  # helpers come first
        imported = {alias.asname or alias.name for node in tree.body for alias in getattr(node, "names", ())}
        for emitted in functions:
            assert_names(name, function, emitted, imported)


def assert_names(name: str, function: Any, emitted: ast.FunctionDef, imported: set[str]) -> None:
    params = {arg.arg for arg in emitted.args.args}
    stored = [n for n in ast.walk(emitted) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    hidden = {n.id for n in stored} & ({*dir(builtins), *keyword.kwlist, *imported} - {"_"})
    assert not hidden, (name, hidden)
    users = {n.id for n in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))) if isinstance(n, ast.Name)}
    long = {n.id for n in stored if len(n.id) > LONGEST + 6 and not any(n.id.startswith(x) for x in users | params)}
    assert not long, (name, long)
    counted = re.compile(r"range\(|enumerate\(")
    loops = [n for n in ast.walk(emitted) if isinstance(n, ast.For) and counted.search(ast.unparse(n.iter))]
    indices = [loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target for loop in loops]
    targets = {index.id for index in indices if isinstance(index, ast.Name)}
    heads = set(map(id, indices))
    assert not {n.id for n in stored if n.id in targets - {"_"} and id(n) not in heads}, name
    for node in ast.walk(emitted):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in params:
            param = node.targets[0].id  # it is the next version of itself: ``x = x.copy()``
            read = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            assert param in users or param in read, (name, ast.unparse(node))
