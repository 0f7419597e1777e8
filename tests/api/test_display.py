"""What a notebook shows: coloured code, a card for a gradient, and a table of a function and its derivative."""

from __future__ import annotations

import html
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import autodiff_compiler as ad

VOID = ("br", "hr", "img")


class Balanced(HTMLParser):
    """Raises AssertionError for an element that is not closed where it has to be."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.text = ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def loss(w, x):
    """A loss with <b>marks</b> & signs.

    Not shown.
    """
    return np.sum(np.where(x < 1.0, w * x, w))


W, X = np.ones(3), np.array([0.5, 1.5, 2.5])


@pytest.fixture(params=["pygments", "plain"])
def colours(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "pygments", None)
    else:
        pytest.importorskip("pygments")
    return request.param


def test_source_is_a_text_that_shows_as_code(colours):
    source = ad.grad(loss).source(W, X)
    assert isinstance(source, str) and repr(source) == repr(str(source)) and source.startswith("import numpy as np")
    shown = source._repr_html_()
    assert Balanced(shown).text.strip("\n") == source.strip("\n")
    assert ("<span style" in shown) == (colours == "pygments")
    assert "<script" not in shown and "http" not in shown


def test_all_source_so_far():
    g = ad.grad(loss)
    assert g.source() == ""
    g(W, X)
    assert Balanced(g.source()._repr_html_()).text.strip("\n") == g.source().strip("\n")


def test_the_card_of_a_gradient(colours):
    g = ad.grad(loss, (0, "x"))
    shown = Balanced(g._repr_html_()).text
    assert "grad of loss" in shown and "by w, x" in shown and "not compiled yet" in shown and "test_display.py" in shown
    assert "A loss with <b>marks</b> & signs." in shown and "Not shown." not in shown
    g(W, X)
    assert "compiled for 1 kind of arguments" in Balanced(g._repr_html_()).text
    g(W.astype(np.float32), X)
    shown = Balanced(g._repr_html_()).text
    assert "compiled for 2 kinds of arguments" in shown and "w: float32[" in shown
    assert str(g.source(W, X)).strip() in shown
    assert repr(g) == "<grad of loss>"


def test_side_by_side(colours):
    pair = ad.grad(loss).side_by_side(W, X)
    rows = [line.partition("  |  ") for line in pair.splitlines()]
    assert "\n".join(row[2] for row in rows).strip() == "\n".join(
        line.rstrip() for line in ad.grad(loss).source(W, X).strip().splitlines()
    )
    assert rows[0][0].startswith("def loss(w, x):") and repr(pair) == str(pair)
    shown = pair._repr_html_()
    assert shown.count("<td") == 2 and "def" in shown
    assert html.escape("np.where", quote=False) in re.sub(r"<[^>]*>", "", shown)
    Balanced(shown)


def test_side_by_side_of_methods_and_lambdas():
    class Model:
        def loss(self, x):
            return x * x

    assert ad.grad(Model().loss).side_by_side(2.0).startswith("def loss(self, x):")
    assert ad.grad(ad.grad(lambda x: x * x * x)).side_by_side(2.0).startswith("lambda x: x * x * x")


def test_a_builtin_has_a_card():
    assert "grad of sum" in Balanced(ad.grad(np.sum)._repr_html_()).text


def test_ipython_shows_them():
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    formatter.active_types = ["text/plain", "text/html"]
    for shown in (ad.grad(loss), ad.grad(loss).source(W, X), ad.grad(loss).side_by_side(W, X)):
        data, _ = formatter.format(shown)
        assert data["text/html"] == shown._repr_html_()
