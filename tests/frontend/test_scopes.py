"""The names of each function body, as the frontend finds them, against `beniget` and Python's own symbol tables."""

from __future__ import annotations

import ast
import contextlib
import io
import symtable
import sysconfig
from pathlib import Path
from typing import Any

import beniget
import gast
import pytest

from autodiff_compiler.frontend.scopes import scope_of

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(sysconfig.get_paths()["stdlib"])
# Every sixth module: all of them agree, and take half a minute.
MODULES = sorted(LIBRARY.glob("*.py"))[::6]
PROGRAMS = sorted([*ROOT.glob("tests/**/*.py"), *ROOT.glob("tests/corpus/*.py"), *ROOT.glob("benchmarks/kernels/*.py")])
ODD = {
    "decorators and defaults": "def f(x):\n    @(d := x)\n    def g(y=(e := x)): z = y\n    h = lambda y=(k := x): y\n",
    "comprehensions": "def f(x):\n    return [a for b in x for a in b if (c := a)], {k: v for k, v in x}, (i for i in x)\n",
    "a class": "def f(x):\n    class A:\n        y = x\n        def g(self): pass\n    return A\n",
    "the head of a class": "def f(x):\n    @(d := x)\n    class A((b := x), metaclass=(c := x)): pass\n",
    "an async function": "def f(x):\n    async def g(y):\n        z = y\n        return z\n    return g\n",
    "exceptions": "def f(x):\n    try:\n        a = x\n    except (ValueError, KeyError) as e:\n        b = e\n    finally:\n        c = 1\n",
    "with and for": "def f(x):\n    with x as (a, [b, *c]), x as d.e:\n        for i, (j, k) in x: pass\n        else: m = 1\n",
    "imports": "def f():\n    import a.b, c.d as e\n    from g import h, i as j\n",
    "global and nonlocal": "def f(x):\n    y = x\n    def g():\n        nonlocal y\n        global z\n        y = z = x\n    return g\n",
    "stores that bind nothing": "def f(x):\n    x.a = x[b] = 1\n    x.c += 1\n    del x.d\n",
    "deletion": "def f(x):\n    y = x\n    del y\n",
    "annotations": "def f(x: a, *y: b, k: c = d, **z: e) -> g:\n    m: int\n    n: int = 1\n    x.p: int = 2\n",
}
PATTERNS = "def f(x):\n    match x:\n        case [a, *b] | {1: a, **b}: pass\n        case A(c, d=e) as g: pass\n        case _: pass\n"


class Unreadable(Exception):
    """`beniget` cannot read the text."""


def functions(tree: Any, library: Any) -> dict[tuple[Any, ...], Any]:
    kinds = (library.FunctionDef, library.Lambda)
    return {(n.lineno, n.col_offset, type(n).__name__): n for n in ast.walk(tree) if isinstance(n, kinds)}


def locals_by_beniget(text: str) -> dict[tuple[Any, ...], set[str]]:
    tree = gast.parse(text)
    chains = beniget.DefUseChains()
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # it prints a line for each name that it does not know
            chains.visit(tree)
    except AttributeError as error:
        raise Unreadable from error
    found = functions(tree, gast)
    return {key: {d.name() for d in chains.locals.get(node, ())} for key, node in found.items()}


def check_locals(text: str) -> int:
    """Compare, and count the functions."""
    theirs = locals_by_beniget(text)
    ours = functions(ast.parse(text), ast)
    for key, node in ours.items():
        scope = scope_of(node)
        # What a function declares nonlocal is among its locals there.
        assert theirs[key] - scope.nonlocals == scope.locals, key
    return len(ours)


def check_declarations(text: str) -> None:
    """The names that functions declare global and nonlocal."""
    known: dict[tuple[int, str], list[Any]] = {}
    todo = [symtable.symtable(text, "text", "exec")]
    while todo:
        table = todo.pop()
        todo += table.get_children()
        if table.get_type() == "function":
            known.setdefault((table.get_lineno(), table.get_name()), []).append(table)
    for node in functions(ast.parse(text), ast).values():
        tables = known.get((node.lineno, getattr(node, "name", "lambda")), ())
        if len(tables) != 1:
            continue  # several lambdas on a line; or the line of the first decorator, before Python 3.13
        symbols = tables[0].get_symbols()
        scope = scope_of(node)
        assert {s.get_name() for s in symbols if s.is_declared_global()} == scope.globals
        assert {s.get_name() for s in symbols if getattr(s, "is_nonlocal", bool)()} == scope.nonlocals


@pytest.mark.parametrize("path", [*PROGRAMS[::2], *MODULES[::2]], ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    check_declarations(text)
    with contextlib.suppress(Unreadable):
        check_locals(text)


def test_nearly_all_files_are_compared() -> None:
    unreadable = []
    sample = PROGRAMS[::10]
    for path in sample:
        try:
            locals_by_beniget(path.read_text(encoding="utf-8"))
        except Unreadable:
            unreadable.append(path.name)
    assert len(unreadable) <= len(sample) // 20, unreadable


@pytest.mark.parametrize("what", ODD)
def test_odd_ones(what: str) -> None:
    check_declarations(ODD[what])
    assert check_locals(ODD[what]) >= 1


def test_patterns() -> None:
    """`beniget` does not read all patterns."""
    scope = scope_of(next(iter(functions(ast.parse(PATTERNS), ast).values())))
    assert scope.locals == {"x", "a", "b", "c", "e", "g"}
