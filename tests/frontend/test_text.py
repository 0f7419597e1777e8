"""What becomes text, or is handed to a function without a source, is what it is in Python: a list, not a tuple."""

from __future__ import annotations

import collections
import datetime
import enum
import logging
import pprint
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

Point = collections.namedtuple("Point", "u v")
DAY = datetime.date(2020, 1, 2)


class Shown:
    """A class that says how it is written."""

    def __init__(self, v: float):
        self.v = v

    def __format__(self, spec: str) -> str:
        return "big" if spec == "z" else "small"

    def __str__(self) -> str:
        return "text"


class Plain:
    def __repr__(self) -> str:
        return "Plain()"


class Table(dict):  # type: ignore[type-arg]
    pass


class Mode(enum.Enum):
    ON = 1


class Wrong:
    def __format__(self, spec: str) -> Any:
        return 3


OUTSIDE = Shown(3.0)

# What is written, and the text that Python makes of it.
TEXTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "list": (lambda x: f"{[1, 2]}", "[1, 2]"),
    "str of a list": (lambda x: str([1, 2]), "[1, 2]"),
    "repr of a list": (lambda x: repr([1, 2]), "[1, 2]"),
    "list of texts": (lambda x: f"{['a']}", "['a']"),
    "list of a number": (lambda x: f"{[x]}", "[2.0]"),
    "tuple": (lambda x: f"{(1, 2)}", "(1, 2)"),
    "nested": (lambda x: str([[1], (2,), [[]]]), "[[1], (2,), [[]]]"),
    "percent": (lambda x: "%s" % [1, 2], "[1, 2]"),
    "percent of a tuple": (lambda x: "%s %s" % (1, [x]), "1 [2.0]"),
    "str.format": (lambda x: "{} {k}".format([1, 2], k=[3]), "[1, 2] [3]"),
    "range": (lambda x: str(range(3)), "range(0, 3)"),
    "dictionary": (lambda x: f"{ {'a': [1]} }", "{'a': [1]}"),
    "named tuple": (lambda x: str(Point(1, [2])), "Point(u=1, v=[2])"),
    "list of arrays": (lambda x: f"{[np.zeros(1)]}", "[array([0.])]"),
    "list of run-time length": (lambda x: str([k * 1.0 for k in range(int(x))]), "[0.0, 1.0]"),
    "list of records": (lambda x: str([(k, [k]) for k in range(2)]), "[(0, [0]), (1, [1])]"),
    "message": (lambda x: str(ValueError([1])), "[1]"),
    "own format": (lambda x: f"{Shown(1.0)}", "small"),
    "own format with a specification": (lambda x: f"{Shown(x):z}", "big"),
    "format": (lambda x: format(Shown(x), "z"), "big"),
    "own format of an object from outside": (lambda x: f"{OUTSIDE:z}", "big"),
    "own text": (lambda x: str(Shown(x)), "text"),
    "conversion": (lambda x: f"{Shown(x)!s:>6}", "  text"),
    "repr in place of str": (lambda x: f"{Plain()}", "Plain()"),
    "repr by conversion": (lambda x: f"{Plain()!r:>8}", " Plain()"),
    "date": (lambda x: f"{DAY:%Y}", "2020"),
    "member": (lambda x: f"{Mode.ON}", "Mode.ON"),
    "class derived from a dictionary": (lambda x: f"{Table(a=1)}", "{'a': 1}"),
    "number": (lambda x: f"{x:.2f}", "2.00"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_decides_a_branch(name: str) -> None:
    write, want = TEXTS[name]

    def f(x: float) -> float:
        return x * x if write(x) == want else x**3

    assert write(2.0) == want
    assert ad.grad(f)(2.0) == 4.0
    assert ad.grad(f)(2.0) == 4.0


def test_a_format_that_there_is_not() -> None:
    def f(x: float) -> float:
        try:
            return x * len(f"{Plain():>8}")
        except TypeError:
            return x * x

    assert ad.grad(f)(3.0) == 6.0


def test_a_format_that_is_no_text() -> None:
    def f(x: float) -> float:
        try:
            return x * len(f"{Wrong()}")
        except TypeError:
            return x * x

    assert ad.grad(f)(3.0) == 6.0


def test_print_shows_lists(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: float) -> float:
        print([1, [2, x]], (3,), {"a": [4]})
        return x * x

    f(3.0)
    want = capsys.readouterr().out
    assert ad.grad(f)(3.0) == 6.0
    assert capsys.readouterr().out == want


def test_what_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def f(x: float) -> float:
        logging.warning("%s %s %s", [1, (2,)], [np.ones(1)], range(2))
        return x * x

    try:
        assert ad.grad(f)(3.0) == 6.0
    except ad.UnsupportedError:
        return
    assert caplog.messages[-1] == "[1, (2,)] [array([1.])] range(0, 2)"


def test_pretty_printing_is_refused_or_right() -> None:
    def f(x: float) -> float:
        return x * x if pprint.pformat([1, [2]]) == "[1, [2]]" else x**3

    try:
        assert ad.grad(f)(2.0) == 4.0
    except ad.AutodiffError:
        pass


class Numbered:
    made = 7
    label = ""


def test_texts_of_ints_are_no_effects() -> None:
    """They are not among what the first of two stages does, so it does not matter when they are known."""

    def f(x: Any) -> Any:
        label = "sys[{}]".format(Numbered.made) + f"-{Numbered.made:03d}" + str(Numbered.made)
        Numbered.made += 1
        Numbered.label = label
        days = np.array(np.busday_count("2020-01-01", "2020-01-03")).item()
        return np.sum(x * days) if isinstance(label, str) else np.sum(x)

    gradient = ad.grad(f)
    for k in (7, 8):
        np.testing.assert_allclose(gradient(np.ones(2)), [2.0, 2.0])
        assert Numbered.label == f"sys[{k}]-{k:03d}{k}"
    prologue = gradient.source(np.ones(2)).split("\ndef ")[1]
    (done,) = [line for line in prologue.splitlines() if "log.call" in line or "log.do" in line]
    assert "busday" in done
