"""Each function of `nn` has a docstring with an example that runs, and is on the page about them."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import numpy as np
import pytest

from autodiff_compiler import nn

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "nn.md").read_text()


@pytest.mark.parametrize("name", nn.__all__)
def test_the_example_runs(name: str) -> None:
    fn = getattr(nn, name)
    text = inspect.getdoc(fn) or ""
    test = doctest.DocTestParser().get_doctest(text, {"np": np, **vars(nn)}, name, None, 0)
    assert test.examples, "no example"
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("name", nn.__all__)
def test_the_page_names_it(name: str) -> None:
    assert f"`{name}" in PAGE
