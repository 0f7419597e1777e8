"""Paths that cannot be compiled and may never be taken: the program raises the error where it gets there."""

from __future__ import annotations

import contextlib
import json
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import autodiff_compiler as ad


def branch(x, n):
    y = x * 2
    if n > 3:

        class Local:
            pass

        y = y * 3
    return y * y


def otherwise(x, n):
    if n <= 3:
        return x * 4 * x
    y = x
    for _ in range(n):

        async def local():
            pass

        y = y * 2
    return y


def helper(x):
    class Local:
        pass

    return x


def in_a_helper(x, n):
    y = x * 2
    if n > 3:
        y = helper(y)
    return y * y


def handler(x, n):
    y = x * 2
    try:
        y = y / (n - 9)
        y = y * (n - 9)
    except ZeroDivisionError:

        class Local:
            pass

    return y * y


def in_a_loop(x, n):
    y = x * 2
    for k in range(n):
        if k > 3:

            class Local:
                pass

    return y * y


def caught(x, n):
    y = x * 2
    try:
        if n > 3:

            class Local:
                pass

    except Exception:
        return x
    finally:
        y = y * 1
    return y * y


def observed(x, n):
    y = x * json.loads("[2]")[0]
    if n > 3:

        class Local:
            pass

    return y * y


FUNCTIONS = [branch, in_a_helper, handler, in_a_loop, caught, observed]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_path_is_not_taken(f) -> None:
    assert ad.value_and_grad(f)(1.5, 2) == (9.0, 12.0)
    assert ad.jvp(f, (1.5, 2), (1.0, None)) == (9.0, 12.0)
    value, pull = ad.vjp(f, 1.5, 2)
    assert (value, pull(1.0)[0]) == (9.0, 12.0)
    assert ad.grad(ad.grad(f))(1.5, 2) == 8.0


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_path_is_taken(f) -> None:
    calls = [
        lambda: ad.grad(f)(1.5, 9), lambda: ad.jvp(f, (1.5, 9), (1.0, None)), lambda: ad.vjp(f, 1.5, 9),
        lambda: ad.grad(ad.grad(f))(1.5, 9),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ad.UnsupportedError) as found:
            call()
        text = str(found.value)
        assert "class Local:\n" in text and "^" in text
        assert "a class definition inside a differentiated function is not supported" in text
        assert text.endswith("Instead: define the class outside")


def test_what_follows_a_branch_is_no_such_path() -> None:
    """It is what the function does; to refuse it late would be of no use."""
    held = []

    def f(x, n):
        held.append(n)
        if n < 0:
            return x

        class Local:
            pass

        return x * x

    with pytest.raises(ad.UnsupportedError, match="a class definition"):
        ad.grad(f)(1.5, 2)
    assert held == []


def bare(x, n):
    try:
        if n > 3:

            class Local:
                pass

    except:  # noqa: E722
        return x
    return x * x


def all_there_is(x, n):
    try:
        if n > 3:

            class Local:
                pass

    except (ValueError, BaseException):
        return x
    return x * x


def left_at_the_end(x, n):
    for _ in range(2):
        try:
            if n > 3:

                class Local:
                    pass

        finally:
            break  # noqa: B012
    return x * x


@contextlib.contextmanager
def ending():
    try:
        yield
    finally:
        pass


def managed(x, n):
    with ending():
        if n > 3:

            class Local:
                pass

    return x * x


Everything = BaseException


def by_another_name(x, n):
    try:
        if n > 3:

            class Local:
                pass

    except Everything:
        return x
    return x * x


@pytest.mark.parametrize("f", [bare, all_there_is, by_another_name, left_at_the_end, managed], ids=lambda f: f.__name__)
def test_where_the_program_might_go_on_nothing_is_left_out(f) -> None:
    with pytest.raises(ad.AutodiffError):
        ad.grad(f)(1.5, 2)


def test_the_error_passes_all_doors() -> None:
    with pytest.raises(ad.UnsupportedError):
        ad.jacobian(lambda x: np.stack([branch(x[0], 9), x[1]]))(np.ones(2))
    with pytest.raises(ad.UnsupportedError):
        ad.hessian(lambda x: branch(x, 9))(1.5)
    g = ad.grad(branch)
    assert g(1.5, 2) == 12.0
    with pytest.raises(ad.UnsupportedError):
        pickle.loads(pickle.dumps(g))(1.5, 9)
    v, compiled = ad.Variable(1.5), ad.function(branch)
    with ad.GradientTape() as tape:
        y = compiled(v, 2)
        with pytest.raises(ad.UnsupportedError):
            compiled(v, 9)
    assert float(tape.gradient(y, v)) == 12.0


def test_code_on_disk(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
        import sys
        import autodiff_compiler as ad

        def f(x, n):
            y = x * 2
            if n > 3:
                class Local:
                    pass
            return y * y

        print(ad.grad(f)(1.5, 2), "autodiff_compiler.frontend.lower" in sys.modules)
        try:
            ad.grad(f)(1.5, 9)
        except ad.UnsupportedError as error:
            print(str(error).splitlines()[-1])
        """)
    )
    env = {"AUTODIFF_COMPILER_CACHE": str(tmp_path / "cache"), "PATH": "", "PYTHONPATH": str(Path(__file__).parents[2])}
    lines = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lines.append(done.stdout.splitlines())
    remedy = "Instead: define the class outside"
    assert lines == [["12.0 True", remedy], ["12.0 False", remedy]]


class Evaluator:
    """Keeps what went wrong, as interpreters of expressions do, and goes on."""

    def __init__(self):
        self.errors = []
        self.text = None
        self.names = {}

    def report(self, error):
        if self.text is None:
            self.text = 0
        self.errors.append(error)
        self.names[len(self.errors)] = self.text

    def evaluate(self, text, x):
        try:
            self.text = text
            return x * float(text) / len(text)
        except ValueError as error:
            self.report(error)
            self.names = [self.names]
        return x * len(self.names)


evaluator = Evaluator()


def evaluated(x, text):
    return evaluator.evaluate(text, x) + evaluator.evaluate("2.5", x)


def test_handlers_that_cannot_be_compiled() -> None:
    """What they do cannot be followed. A program that catches nothing runs; another one gets the reason."""
    assert ad.value_and_grad(evaluated)(2.0, "1.5") == pytest.approx((8.0 / 3.0, 4.0 / 3.0))
    with pytest.raises(ad.UnsupportedError) as caught:
        ad.grad(evaluated)(2.0, "abc")
    assert "test_left_out.py" in str(caught.value)
