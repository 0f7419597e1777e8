"""Entries of the disk cache name no lines: what moves a function leaves its entry valid, and all lines shown are right.

Each program is compiled, then written in another way, and compiled again over the same cache. Where the meaning is the
same, nothing is lowered, and the emitted source is byte for byte what a compilation without a cache gives.
"""

from __future__ import annotations

import ast
import inspect
import io
import itertools
import pkgutil
import sys
import tokenize
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import cache as cache_module
from autodiff_compiler.api import compiler, persist, places
from autodiff_compiler.frontend import source as frontend_source
from tests import corpus

pytestmark = pytest.mark.skipif(not cache_module._SUPPORTED, reason="no disk cache on this system")

_numbers = itertools.count()


class Programs:
    """Modules that are written and imported one after the other, over one cache."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        self.lowered = 0
        lower = compiler.lower

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.lowered += 1
            return lower(*args, **kwargs)

        monkeypatch.setattr(compiler, "lower", counted)
        monkeypatch.setenv("AUTODIFF_COMPILER_CHECK", "0")  # which runs functions a second time

    def module(self, text: str, **names: Any) -> Any:
        """A module of this text; always of the same name, in a file of its own."""
        path = self.folder / f"m{next(_numbers)}.py"
        path.write_text(text)
        module = types.ModuleType("lines_of_a_program")
        vars(module).update(np=np, ad=ad, __file__=str(path), **names)
        self.monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look there
        exec(compile(text, str(path), "exec"), vars(module))
        return module

    def source(self, f: Any, *args: Any, cache: bool = True, make: Any = ad.grad) -> tuple[int, str]:
        """How often something is lowered, and the emitted source."""
        self.monkeypatch.setenv(cache_module.VARIABLE, str(self.folder / "cache") if cache else "off")
        before, gradient = self.lowered, make(f)
        source = gradient.source(*args)
        return self.lowered - before, source


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    # Rules of users keep gradients out of the cache, and other tests in this process may have entered some.
    monkeypatch.setattr(persist, "RULES_OF_USERS", [])
    return Programs(tmp_path, monkeypatch)


F = """
def f(x):
    y = np.sin(x) * 2.0
    for i in range(3):
        y = y * x + np.cos(y)
    if x[0] > 0:
        y = y * 3.0
    return np.sum(y)
"""
# The same function in other words: the text before, the text after, and the function that is differentiated.
SAME: dict[str, tuple[str, str]] = {
    "a comment above": (F, "# first\n" + F),
    "blank lines above": (F, "\n\n\n" + F),
    "a comment inside": (F, F.replace("    for", "    # a loop\n    for")),
    "a blank line inside": (F, F.replace("    for", "\n    for")),
    "a comment beside": (F, F.replace("* 2.0", "* 2.0  # doubled")),
    "a comment beside the head": (F, F.replace("f(x):", "f(x):  # the model")),
    "a comment at the end": (F, F + "    # the end\n"),
    "a comment that goes": (F.replace("* 2.0", "* 2.0  # doubled"), F),
    "spaces": (F, F.replace("np.sin(x) * 2.0", "np.sin( x )*2.0")),
    "parentheses": (F, F.replace("np.sin(x) * 2.0", "(np.sin(x) * 2.0)")),
    "over lines": (F, F.replace("y * x + np.cos(y)", "(\n            y * x\n            + np.cos(y)\n        )")),
    "on one line": (F.replace("y * x + np.cos(y)", "(\n            y * x\n            + np.cos(y)\n        )"), F),
    "a head over lines": (F, F.replace("range(3)", "range(\n        3\n    )")),
    "another indentation": (F, F.replace("    ", "  ")),
    "a body on the line of its head": (F, F.replace("> 0:\n        y =", "> 0: y =")),
    "statements on one line": (
        "def f(x):\n    y = x * x; z = np.sin(y) * x\n    return np.sum(z * y)\n",
        "def f(x):\n    y = x * x\n    z = np.sin(y) * x\n    return np.sum(z * y)\n",
    ),
    "statements on lines of their own": (
        "def f(x):\n    y = x * x\n    z = np.sin(y) * x\n    return np.sum(z * y)\n",
        "def f(x):\n    y = x * x; z = np.sin(y) * x; return np.sum(z * y)\n",
    ),
    "a helper that moves": (
        "def h(x):\n    return np.sin(x) * x\n\n\ndef f(x):\n    return np.sum(h(x) * h(2.0 * x))\n",
        "def f(x):\n    return np.sum(h(x) * h(2.0 * x))\n\n\ndef h(x):\n    # what it is\n    return np.sin(x) * x\n",
    ),
    "one of several lambdas on a line": (
        "k, f, h = lambda x: np.sum(3.0 * x * x), lambda x: np.sum(h(x) * x), lambda x: np.sin(x) * x\n",
        "# which\nk, f, h = lambda x: np.sum(3.0 * x * x), lambda x: np.sum(h(x) * x), lambda x: np.sin(x) * x\n",
    ),
    "lambdas that get lines of their own": (
        "f, h = lambda x: np.sum(h(x) * x), lambda x: np.sin(x) * x\n",
        "f, h = (\n    lambda x: np.sum(h(x) * x),\n    lambda x: np.sin(x)\n    * x,\n)\n",
    ),
    "a nested function": (
        "def f(x):\n    def h(y):\n        return y * np.sin(y)\n    return np.sum(h(x) * x)\n",
        "def f(x):\n\n    # inner\n    def h(y):\n\n        return y * np.sin(y)  # here\n\n    return np.sum(h(x) * x)\n",
    ),
    "a function that a function returns": (
        "def make(c):\n    def f(x):\n        return np.sum(c * x * x)\n    return f\nf = make(2.0)\n",
        "def make(c):\n    # of c\n    def f(x):\n        # twice\n        return np.sum(c * x * x)\n    return f\nf = make(2.0)\n",
    ),
    "a comprehension": (
        "def f(x):\n    return sum([np.sin(v) * v for v in x if v > 0.0])\n",
        "def f(x):\n    # all\n    return sum([np.sin(v) * v for v in x if v > 0.0])  # each\n",
    ),
    "a try": (
        "def f(x):\n    try:\n        y = x * x\n        if x[0] > 5.0:\n            raise ValueError\n    except ValueError:\n        y = 3.0 * x\n"
        "    else:\n        y = y * x\n    return np.sum(y)\n",
        "def f(x):\n    try:  # to\n        y = x * x\n\n        if x[0] > 5.0:\n            raise ValueError\n    # or\n    except ValueError:\n"
        "        y = 3.0 * x\n    else:\n        y = y * x\n    return np.sum(y)\n",
    ),
    "a match": (
        "def f(x):\n    match x.ndim:\n        case 1:\n            y = x * x\n        case _:\n            y = x\n    return np.sum(y * x)\n",
        "def f(x):\n    match x.ndim:  # axes\n        # one\n        case 1:\n            y = x * x\n        case _:\n            y = x\n    return np.sum(y * x)\n",
    ),
    "a while and a break": (
        "def f(x):\n    n = 0\n    while True:\n        x = x * np.sin(x)\n        n += 1\n        if x[0] > 3.0 or n > 4:\n            break\n    return np.sum(x)\n",
        "def f(x):\n    n = 0\n\n    while True:\n        x = x * np.sin(x)\n        n += 1  # one more\n        if (x[0] > 3.0\n            or n > 4):\n            break\n    return np.sum(x)\n",
    ),
    "a decorated function": (
        "import functools\ndef d(g):\n    @functools.wraps(g)\n    def inner(x):\n        return 2.0 * g(x)\n    return inner\n@d\ndef f(x):\n    return np.sum(x * x)\n",
        "import functools\ndef d(g):\n    # wraps\n    @functools.wraps(g)\n    def inner(x):\n        # twice\n        return 2.0 * g(x)\n    return inner\n\n@d\n\ndef f(x):\n    return np.sum(x * x)  # !\n",
    ),
    "a method": (
        "class K:\n    c = 2.0\n    def go(self, x):\n        return np.sum(self.c * x * x)\nk = K()\ndef f(x):\n    return k.go(x)\n",
        "class K:\n    # a number\n    c = 2.0\n\n    def go(self, x):\n        # its use\n        return np.sum(self.c * x * x)\n\n\nk = K()\ndef f(x):\n    return k.go(x)\n",
    ),
    "recursion": (
        "def h(x, n):\n    if n == 0:\n        return x\n    return np.sin(x) * h(x, n - 1)\ndef f(x):\n    return np.sum(h(x, int(x.shape[0])))\n",
        "def h(x, n):\n    # the end\n    if n == 0:\n        return x\n\n    return np.sin(x) * h(x, n - 1)\ndef f(x):\n    return np.sum(h(x, int(x.shape[0])))\n",
    ),
    "a gradient inside": (
        "def h(y):\n    return np.sum(y * y * y)\ndef f(x):\n    return np.sum(ad.grad(h)(x) * x)\n",
        "def h(y):\n    # cube\n    return np.sum(y * y * y)\ndef f(x):\n\n    return np.sum(ad.grad(h)(x) * x)\n",
    ),
    "a private name": (
        "class K:\n    def __init__(self):\n        self.__c = 2.0\n    def go(self, x):\n        return np.sum(self.__c * x * x)\nk = K()\ndef f(x):\n    return k.go(x)\n",
        "class K:\n    def __init__(self):\n        self.__c = 2.0\n\n    def go(self, x):\n\n        return np.sum(self.__c * x * x)\nk = K()\ndef f(x):\n    return k.go(x)\n",
    ),
}  # fmt: skip
if sys.version_info < (3, 12):  # later, the code of a comprehension differs: it holds an operation for a line break
    SAME["a comprehension over lines"] = (
        "def f(x):\n    return sum([np.sin(v) * v for v in x if v > 0.0])\n",
        "def f(x):\n    return sum([\n        np.sin(v) * v  # each\n        for v in x\n        if v > 0.0\n    ])\n",
    )
X = np.linspace(0.2, 1.4, 4)


@pytest.mark.parametrize(
    "make", [ad.grad, ad.value_and_grad, lambda f: ad.grad(lambda_of(ad.grad(f)))], ids=["grad", "value", "twice"]
)
@pytest.mark.parametrize("what", SAME)
def test_the_same_program_in_other_words(programs: Programs, what: str, make: Any) -> None:
    before, after = SAME[what]
    assert programs.source(programs.module(before).f, X, make=make)[0] == 1
    _, cold = programs.source(programs.module(after).f, X, cache=False, make=make)
    count, warm = programs.source(programs.module(after).f, X, make=make)
    assert count == 0, "it was lowered again"
    assert warm == cold
    # And back: the entry was written anew with the lines of the second text.
    _, cold = programs.source(programs.module(before).f, X, cache=False, make=make)
    count, warm = programs.source(programs.module(before).f, X, make=make)
    assert count == 0 and warm == cold


def lambda_of(gradient: Any) -> Any:
    """A function that returns the sum of a gradient; its text is always the same."""

    def total(x: Any) -> Any:
        return np.sum(gradient(x) * x)

    return total


def test_unchanged_text_is_not_parsed(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment above the function moves its lines: neither its tree nor `gast` is needed."""
    assert programs.source(programs.module(F).f, X)[0] == 1
    moved = programs.module("# first\n" * 7 + F).f
    monkeypatch.setattr(frontend_source, "source_of", lambda fn: pytest.fail("the source was parsed"))
    count, source = programs.source(moved, X)
    assert count == 0
    assert "# adjoint of line 10: y = np.sin(x) * 2.0" in source


def test_the_entry_is_written_with_the_new_lines(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was parsed once because of a comment is not parsed in the next process."""
    programs.source(programs.module(F).f, X)
    commented = F.replace("    for", "    # a loop\n    for")
    assert programs.source(programs.module(commented).f, X)[0] == 0
    monkeypatch.setattr(frontend_source, "source_of", lambda fn: pytest.fail("the source was parsed"))
    count, source = programs.source(programs.module(commented).f, X)
    assert count == 0 and "# adjoint of line 6: y = y * x + np.cos(y)" in source


# Programs whose meaning changes: the gradient is the new one.
OTHER: dict[str, tuple[str, str]] = {
    "a constant": (F, F.replace("2.0", "2.5")),
    "the type of a constant": (F, F.replace("2.0", "2")),
    "an operator": (F, F.replace("* 3.0", "+ 3.0")),
    "a function's name": (F, F.replace("np.cos", "np.sin")),
    "a variable": (F, F.replace("np.cos(y)", "np.cos(x)")),
    "a statement less": (F, F.replace("    if x[0] > 0:\n        y = y * 3.0\n", "")),
    "the order of statements": (
        "def f(x):\n    y = x * x\n    y = y + 1.0\n    y = y * y\n    return np.sum(y)\n",
        "def f(x):\n    y = x * x\n    y = y * y\n    y = y + 1.0\n    return np.sum(y)\n",
    ),
    "an indentation that matters": (
        "def f(x):\n    y = x\n    for i in range(2):\n        y = y * x\n        y = y * y\n    return np.sum(y)\n",
        "def f(x):\n    y = x\n    for i in range(2):\n        y = y * x\n    y = y * y\n    return np.sum(y)\n",
    ),
    "a default value": ("def f(x, c=2.0):\n    return np.sum(c * x * x)\n", "def f(x, c=5.0):\n    return np.sum(c * x * x)\n"),
    "a default string": (
        "def f(x, c='a'):\n    return np.sum(x * x) if c == 'a' else np.sum(x)\n",
        "def f(x, c='b'):\n    return np.sum(x * x) if c == 'a' else np.sum(x)\n",
    ),
    "a decorator": (
        "def d(g):\n    return lambda x: 2.0 * g(x)\ndef f(x):\n    return np.sum(x * x)\n",
        "def d(g):\n    return lambda x: 2.0 * g(x)\n@d\ndef f(x):\n    return np.sum(x * x)\n",
    ),
    "a helper": (
        "def h(x):\n    return x * x\ndef f(x):\n    return np.sum(h(x))\n",
        "def h(x):\n    return x * x * x\ndef f(x):\n    return np.sum(h(x))\n",
    ),
    "which lambda": (
        "f, h = lambda x: np.sum(h(x)), lambda x: x * x\n",
        "f, h = lambda x: np.sum(h(x)), lambda x: x * x * x\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHER)
def test_another_program(programs: Programs, what: str) -> None:
    for text in (*OTHER[what], *OTHER[what]):
        expected = ad.grad(programs.module(text).f)
        programs.monkeypatch.setenv(cache_module.VARIABLE, "off")
        want = expected(X)
        programs.monkeypatch.setenv(cache_module.VARIABLE, str(programs.folder / "cache"))
        np.testing.assert_array_equal(ad.grad(programs.module(text).f)(X), want)


def test_one_code_of_two_trees(programs: Programs) -> None:
    """Python folds constants, so that two trees have one code. The emitted source is that of the tree at hand."""
    folded, written = (
        "def f(x):\n    return np.sum(6.0 * x[1:] * x[:-1])\n",
        "def f(x):\n    return np.sum((2.0 * 3.0) * x[1:] * x[:-1])\n",
    )
    assert programs.source(programs.module(folded).f, X)[0] == 1
    count, source = programs.source(programs.module(written).f, X)
    assert count == 1 and "2.0 * 3.0" in source
    assert programs.source(programs.module(folded).f, X)[0] == 0
    assert programs.source(programs.module(written).f, X)[0] == 0


def test_a_helper_in_another_file(programs: Programs) -> None:
    helper = "def h(x):\n    y = np.sin(x[1:])\n    return y * x[0]\n"
    text = "def f(x):\n    y = h(x)\n    return np.sum(y * np.cos(y))\n"
    for comment in ("", "# a\n", "# a\n# b\n"):
        h = programs.module(comment + helper).h
        count, source = programs.source(programs.module(text, h=h).f, X)
        line = 2 + comment.count("\n")
        assert count == (not comment)
        assert f"# adjoint of line {line}: y = np.sin(x[1:])" in source
        assert "# adjoint of line 3: return np.sum(y * np.cos(y))" in source


def test_the_pullback(programs: Programs) -> None:
    programs.monkeypatch.setenv(cache_module.VARIABLE, str(programs.folder / "cache"))
    text = "def f(x):\n    y = np.sin(x)\n    return y * x\n"
    for comment in ("", "# a\n"):
        _, pullback = ad.vjp(programs.module(comment + text).f, X)
        np.testing.assert_allclose(pullback(np.ones(4))[0], np.cos(X) * X + np.sin(X))
    assert programs.lowered == 1


def test_from_tree(programs: Programs) -> None:
    """Of a tree without positions, and of one whose text has other line breaks."""
    one = ad.from_tree(ast.parse("def f(x):\n    # a\n    y = np.sin(x[1:])\n    return np.sum(y)\n"), {"np": np})
    two = ad.from_tree(
        ast.parse("\n\ndef f(x):\n    y = (np.sin(\n        x[1:]))\n    return np.sum(y)\n"), {"np": np}
    )
    count, source = programs.source(one, X)
    assert count == 1 and "# adjoint of line 2: y = np.sin(x[1:])" in source
    assert programs.source(two, X) == (0, source)


RAISES = {
    "np.linalg.svd(y)": (
        "def f(x, n):\n    y = x.reshape(n, -1)\n    u, s, vh = np.linalg.svd(y)\n    return np.sum(vh[0] * vh[1]) + np.sum(s)\n",
        (np.arange(9.0) ** 2, 3), (np.arange(12.0) ** 2, 3), ad.RuleLookupError,
    ),
    "np.cross(y, y * y)": (
        "def f(x, c):\n    y = x[c > 0]\n    z = 2.0 * np.cross(y, y * y)\n    return np.sum(z)\n",
        (np.arange(4.0), np.array([1, 1, 1, 0])), (np.arange(4.0), np.array([1, 1, 1, 1])), ad.UnsupportedError,
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", RAISES)
def test_an_error_of_the_emitted_code_names_the_line_of_now(programs: Programs, call: str) -> None:
    programs.monkeypatch.setenv(cache_module.VARIABLE, str(programs.folder / "cache"))
    text, good, bad, kind = RAISES[call]
    several = text.replace(call, f"(\n        {call}\n    )")
    for k, (now, line) in enumerate(
        [(text, 3), ("# a\n# b\n" + text, 5), (text.replace("):\n", "):\n\n"), 4), (several, 4), (text, 3)]
    ):
        module = programs.module(now)
        gradient = ad.grad(module.f)
        gradient(*good)
        assert programs.lowered == 1
        with pytest.raises(kind) as caught:
            gradient(*bad)
        place, shown, carets, *_ = str(caught.value).splitlines()
        col = now.splitlines()[line - 1].index(call)
        assert place == f"{module.__file__}:{line}:{col + 1}, in f", k
        assert carets == " " * (4 + col) + "^" * len(call) and shown[4 + col :].startswith(call)


def test_tracebacks_show_the_lines_of_now(programs: Programs) -> None:
    """The comment above the line that raises names the statement where it stands."""
    programs.monkeypatch.setenv(cache_module.VARIABLE, str(programs.folder / "cache"))
    text = "def f(x):\n    y = np.sin(x[1:])\n    return np.sum(y)\n"
    for k in (0, 3):
        run = ad.grad(programs.module("# a\n" * k + text).f)._dispatch.entry_for((X,), {}).run
        assert f"# adjoint of line {2 + k}: y = np.sin(x[1:])" in inspect.getsource(run)
    assert programs.lowered == 1


def test_every_statement_has_a_place(programs: Programs) -> None:
    """The texts of all programs of these tests, and the rows of all their statements."""
    for before, after in SAME.values():
        for text in (before, after):
            module = programs.module(text)
            fns = [
                x
                for x in vars(module).values()
                if isinstance(x, types.FunctionType) and x.__code__.co_filename == module.__file__
            ]
            marks = places.Marks(fns)
            for fn in fns:
                for node in ast.walk(frontend_source.source_of(fn).node):
                    if isinstance(node, ast.stmt):
                        marks.statement(places.Statement(fn.__code__.co_filename, node.lineno, node.col_offset, ""))
            found = places.Found([(fn, *row) for fn, row in zip(fns, marks.rows())])
            assert not found.moved


def test_equal_code_in_two_files(programs: Programs) -> None:
    """Python takes code for equal whatever file it is of. An error names the file of the function at hand."""
    text = "def f(x):\n    return np.sum(np.nditer(x))\n"
    for module in (programs.module(text), programs.module(text)):
        with pytest.raises(ad.AutodiffError) as caught:
            ad.grad(module.f)(X)
        assert str(caught.value).startswith(module.__file__)


def commented(text: str) -> str:
    """The text with a comment above and beside each logical line."""
    out, start = text.splitlines(), True
    above, beside = [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            beside.append(token.end[0])
            start = True
        elif start and token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            above.append(token.start[0])
            start = False
    for line in sorted({*above, *beside}, reverse=True):
        if line in beside:
            out[line - 1] += "  # beside"
        if line in above:
            out.insert(line - 1, "# above")
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(corpus.__path__)])
def test_the_corpus_with_comments(programs: Programs, name: str) -> None:
    """Each case, with comments everywhere: nothing is lowered again that was stored, and all lines are right."""
    text = (Path(corpus.__path__[0]) / f"{name}.py").read_text()
    first, second = programs.module(text), programs.module(commented(text))
    stored = 0
    for case in [name for name in vars(first) if name.startswith("case_")]:
        programs.source(vars(first)[case], X[:3])
        if programs.source(vars(first)[case], X[:3])[0]:
            continue  # it has no portable form
        stored += 1
        count, warm = programs.source(vars(second)[case], X[:3])
        _, cold = programs.source(vars(second)[case], X[:3], cache=False)
        assert (count, warm) == (0, cold), case
    assert stored > 0
