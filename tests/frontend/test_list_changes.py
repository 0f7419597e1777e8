"""Changes of lists whose length the run decides: each operation, in each place, with each kind of item."""

from __future__ import annotations

import itertools
import linecache
import re
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences
from tests.frontend.container_checks import X

# What the item numbered k is, and what is read of an item.
ITEMS = {
    "number": ("np.sin(x[0] * (k + 1)) + x[1]", "v * v"),
    "array": ("x * (k + 1.0)", "v[0] * v[1] + v[2]"),
    "tuple": ("(x[0] * (k + 1), x * k)", "v[0] * v[1][1]"),
    "dict": ("{'a': x[1] * (k + 1), 'b': x * k}", "v['a'] * v['b'][2]"),
    "list": ("[x[1] * (k + 1), x[0]]", "v[0] * v[1] * v[0]"),
}
CHANGES = [
    "l.insert(0, item(x, k))", "l.insert(k, item(x, k))", "l.insert(-2, item(x, 5))", "l.insert(-99, item(x, k))",
    "l.insert(99, item(x, k))", "l.insert(2, item(x, k))", "l.insert(len(l) - k, item(x, k))",
    "l.pop()", "s += read(l.pop())", "s += read(l.pop(0))", "l.pop(1)", "s += read(l.pop(-2))", "s += read(l.pop(k))",
    "s += read(l.pop(-k - 1))", "l.append(l.pop(0))", "l.insert(0, l.pop())", "l.insert(1, l.pop(k))",
    "del l[0]", "del l[-1]", "del l[-3]", "del l[k]", "del l[1:3]", "del l[:k]", "del l[-2:]", "del l[k:k + 1]",
    "del l[3:1]", "del l[:]; l.append(item(x, k))",
    "l = l + [item(x, k)]", "l = [item(x, k)] + l", "l += [item(x, k), item(x, 7)]", "l = l + m", "l = m + l",
    "l.extend(m)", "l.extend(l)", "l.extend(m[k:])", "l += m[:-1]", "m.extend(l[1:3]); l.append(m[-1])",
    "l = l[1:]", "l = l[:-1]", "l = l[k:]", "l = l[::-1]", "l = l[::2] + l[1::2]", "l = l[-4:-1]", "l = l[k:k + 4]",
    "s += read(l[1:][0]) + read(l[:-1][-1])", "l[1:2] = [item(x, 4), item(x, k)]", "l[k:k] = m", "l[2:] = m",
    "l[:1] = l[1:3]", "l[4:2] = m", "l.reverse()", "b = l[:]; b.pop(0); s += read(b[0]) * read(l[0])",
    "b = l[1:]; b.insert(0, item(x, 3)); s += read(b[0]) * read(b[1]) * read(l[0])",
]  # fmt: skip
PLACES = {
    "plain": """
    k = 1
    {change}
""",
    "loop": """
    for k in range(3):
        {change}
        s = s * 0.9 + read(l[0])
""",
    "while": """
    k = 0
    while k < n - 3:
        if k % 2 == 0:
            {change}
        s += read(l[-1]) * s
        k += 1
""",
    "branch": """
    k = 2
    if x[0] > 0.5:
        {change}
    if x[1] > 100.0:
        {change}
""",
    "try": """
    k = 1
    try:
        {change}
    except ValueError:
        s = 0.0
""",
    "nested": """
    for j in range(2):
        for k in range(1, 3):
            {change}
        s = s + read(l[j])
""",
}
TEXT = """
import numpy as np

def item(x, k):
    return {item}

def read(v):
    return {read}

def f(x, n=6):
    s = x[0] * 0.5
    l = []
    m = []
    for k in range(n):
        l.append(item(x, k))
    for k in range(n - 3):
        m.append(item(x, k + 0.5))
    s += read(l[0]) * read(l[-1])
{body}
    w = 1.0
    for v in l:
        s += read(v) * w
        w = w * 0.7 + 0.1
    return s + len(l)
"""
numbers = itertools.count()


def made(item: str, change: str, place: str) -> Any:
    indent = re.search(r"( *)\{change\}", PLACES[place]).group(1)
    body = PLACES[place].replace("{change}", change.replace("; ", "\n" + indent))
    value, read = ITEMS[item]
    return compiled(TEXT.format(item=value, read=read, body=body))


def compiled(text: str) -> Any:
    name = f"<list change {next(numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module: dict[str, Any] = {"__name__": name}
    exec(compile(text, name, "exec"), module)
    return module["f"]


# Items that are lists themselves may be in two lists then.
IN_TWO_LISTS = {change for change in CHANGES if re.search(r"\bm\b|b = l|= l\[1:3\]", change)}


def check(f: Any) -> None:
    value, gradient = ad.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-5, atol=1e-7)


def runs(f: Any) -> bool:
    try:
        f(X)
    except IndexError:
        return False
    return True


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_in_each_place(number: int) -> None:
    change, places = CHANGES[number], list(PLACES)
    for place in ("loop", places[(number + number // 6) % 6]):
        f = made("number", change, place)
        if not runs(f):
            with pytest.raises(IndexError):
                ad.grad(f)(X)
        else:
            check(f)


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_with_other_items(number: int) -> None:
    change, kinds = CHANGES[number], list(ITEMS)[1:]
    item = kinds[(number + number // 4) % 4]
    f = made(item, change, "loop")
    try:
        if runs(f):
            check(f)
        else:
            with pytest.raises(IndexError):
                ad.grad(f)(X)
    except ad.errors.AliasError:
        assert item == "list" and change in IN_TWO_LISTS


@pytest.mark.parametrize("change", CHANGES[::5])
def test_second_order(change: str) -> None:
    f = made("number", change, "loop")
    if runs(f):
        inner = ad.grad(f)
        weights = np.array([0.3, -1.0, 0.5])
        curved = ad.grad(lambda x: np.sum(inner(x) * weights))(X)
        np.testing.assert_allclose(curved, differences(inner, X) @ weights, rtol=1e-4, atol=1e-5)


# An item is one object, whatever list it has gone to or come from: the right number, or an error.
SHARED = [
    "a = item(x, k); l.insert(0, a); a[0] = x[1] * 2; s += read(a)",
    "a = item(x, k); l.insert(k, a); a[0] = x[1] * 2; s += read(a)",
    "a = l.pop(k); a[0] = x[1] * 2; s += read(a)",
    "a = l.pop(0); l.append(a); a[0] = x[1] * 2",
    "a = l[1]; del l[0]; a[0] = x[1] * 2",
    "a = l[0]; l.insert(0, item(x, k)); a[0] = x[1] * 2",
    "a = l[2]; l.insert(0, a); l[0][0] = x[1] * 2; s += read(a)",
    "a = l[k]; l.insert(1, a); l[0][0] = x[1] * 2; s += read(a)",
    "b = l[:]; b.pop(0)[0] = x[1] * 2",
    "b = l[1:]; b[0][0] = x[1] * 2",
    "b = l + m; m[0][0] = x[1] * 2; s += read(b[-3])",
    "l.extend(m); m[0][0] = x[1] * 2",
    "l[0][0] = x[1] * 2; l.insert(0, l.pop()); l[1][0] += x[2]",
]


@pytest.mark.parametrize("item", ["array", "list"])
@pytest.mark.parametrize("change", SHARED)
def test_items_that_change(item: str, change: str) -> None:
    for place in ("plain", "loop"):
        f = made(item, change, place)
        try:
            ad.grad(f)(X)
        except ad.errors.AliasError:
            continue
        check(f)


def emitted(change: str, item: str = "number") -> str:
    return str(ad.grad(made(item, change, "loop")).source(X))


# Rows of a table that grow and change by way of the table.
ROWS = [
    "g[k].append(item(x, k))",
    "g[k].append(g[k][0] * item(x, k))",
    "g[k][0] = g[k][1] * x[0]",
    "g[k].insert(0, item(x, k)); g[k].pop()",
    "s += g[k].pop() * g[k][0]",
    "b = g[k]; b.append(item(x, k)); s += b[0] * g[k][1] * g[k][-1]",
    "a = g[k][0]; g[k][0] = x[1] * a; s += a * g[k][0]",
    "g[k] = [g[k][0] * x[2], x[0]]; g[k].append(x[1])",
    "g.append([x[0], x[1]]); g[-1].append(g[0][0]); g[0][0] = x[2]",
    "g.append(g[k]); g[k].append(x[1])",
    "b = g[k]; g[k] = [x[0], x[2]]; b.append(x[1]); s += b[-1] * b[0] * g[k][1]",
    "b = g[:]; b[k].append(x[1])",
    "b = g.pop(k); b.append(x[1]); g.append(b); g[-1][0] = x[0]",
    "g[k].extend(g[k + 1]); g[k + 1][0] = x[0]",
    "g[k] = g[k][1:] + [x[2]]; g[k][0] *= x[0]",
    "g[k][1:2] = [x[0], x[1] * x[1]]; s += g[k][2]",
    "g[k], g[k + 1] = g[k + 1], g[k]; g[k].append(x[1])",
    "g[k].reverse(); g[k][-1] += x[0]",
    "del g[k][0]; g[k][0] = x[0] * g[k][-1]",
]
TABLE = """
import numpy as np

def item(x, k):
    return np.sin(x[0] * (k + 1)) + x[1]

def f(x, n=5):
    s = x[0] * 0.5
    g = []
    for i in range(n):
        row = []
        for j in range(i % 2 + 4):
            row.append(item(x, i + j))
        g.append(row)
    s += g[0][0] * g[1][1]
    for k in range(3):
        {change}
        s = s * 0.9 + g[0][0]
    w = 1.0
    for row in g:
        for v in row:
            s += v * v * w
            w = w * 0.9 + 0.1
    for i in range(len(g)):
        s += g[i][0] * g[i][-1]
    return s + len(g)
"""


def table(change: str) -> Any:
    return compiled(TABLE.replace("{change}", change.replace("; ", "\n" + " " * 8)))


@pytest.mark.parametrize("change", ROWS)
def test_rows_of_a_table(change: str) -> None:
    f = table(change)
    try:
        ad.grad(f)(X)
    except ad.errors.AliasError:
        return
    check(f)


def grown(x, n=5):
    g = []
    for i in range(n):
        g.append([])
    for i in range(n):
        for j in range(3 + i):
            g[i].append(np.sin(x[0] * (j + 1)) * x[1])
    s = x[2]
    for i in range(n):
        for j in range(3 + i):
            s += g[i][j] * s
    return s


def test_rows_are_changed_in_place() -> None:
    check(grown)
    text = ad.grad(grown).source(X)
    assert "list(" not in text
    assert "accum" not in text
    inner, weights = ad.grad(table(ROWS[1])), np.array([0.3, -1.0, 0.5])
    curved = ad.grad(lambda x: np.sum(inner(x) * weights))(X)
    np.testing.assert_allclose(curved, differences(inner, X) @ weights, rtol=1e-4, atol=1e-5)


# The cotangent of a list has the length that the list had, also where only the length is asked for later.
LENGTHS = [
    "for i in range(n): l.append(x[0])",
    "l.insert(0, 1.0); l.pop(); l.pop()",
    "l.clear()",
    "l.extend(l)",
    "del l[1:]",
    "l.pop()",
]


@pytest.mark.parametrize("change", LENGTHS)
def test_length_asked_for_later(change: str) -> None:
    lines = change.replace("; ", "\n    ")
    start = "\ndef f(x, n=4):\n    l = []\n    for i in range(n): l.append(x[0] * x[1] * (i + 1))\n"
    check(compiled(f"{start}    s = l[0] * l[1] + l[-1]\n    {lines}\n    return s * len(l)\n"))


def loops(text: str) -> int:
    return len(re.findall(r"^ *(for|while) ", text, re.MULTILINE))


def test_what_is_emitted() -> None:
    """Each change is one of Python's own, as is its adjoint."""
    for change, forward, backward in [
        ("l.insert(0, item(x, k))", ".insert(0, ", ".pop(0)"),
        ("l.pop(0)", "[0]\n", ".insert(0, "),
        ("s += read(l.pop())", ".pop()", ".append("),
        ("del l[-1]", "[-1]\n", ".append(0.0)"),
        ("l.pop(k)", "[k]\n", ".insert("),
    ]:
        plain, text = emitted("l.append(item(x, k))"), emitted(change)
        assert text.count("\n") - plain.count("\n") <= 3
        assert forward in text
        assert backward in text
        assert "list(" not in text


def test_no_loops_but_those_of_the_function() -> None:
    most = loops(emitted("l.extend(m)"))
    for change in CHANGES[::2]:
        assert loops(emitted(change)) <= most, change


# The list gets longer, and the item stays the one that it was.
GROWING = [
    "a = l[-1]; l.append(item(x, 8)); s += read(a)",
    "a = l[-1]; l.append(item(x, 8)); a[0] = x[1] * 2; s += read(a)",
    "a = l[-k - 1]; l.append(item(x, 8)); a[0] = x[1] * 2; s += read(l[-1]) * read(a)",
    "a = l[-1]; l.extend(m); a[0] = x[1] * 2",
    "a = l[-2]; l += [item(x, 8), item(x, 9)]; l[-1][0] = x[2]; a[0] = x[1] * 2; s += read(a)",
    "a = l[-1]; h = l; h.append(item(x, 8)); a[0] = x[1] * 2; s += read(a)",
    "a = l[k - 3]; l.append(item(x, 8)); l[-2][0] = x[2]; s += read(a)",
    "a = item(x, 7); l[-1] = a; l.append(item(x, 8)); a[0] = x[1] * 2",
    "a = item(x, 7); l[-k] = a; l.append(item(x, 8)); a[0] = x[1] * 2",
    "a = l[-1]; b = l[-2]; l.append(a); l.append(b); l[-3][0] = x[1]; s += read(a) * read(b)",
]


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("change", GROWING)
def test_items_counted_from_the_end(change: str, place: str) -> None:
    check_unless_refused("array", change, place)
    check_unless_refused("dict", re.sub(r"\[[0]\] =", "['a'] =", change), place)


def check_unless_refused(item: str, change: str, place: str) -> None:
    try:
        check(made(item, change, place))
    except ad.errors.AliasError:
        assert "b = l[-2]" in change or "(m)" in change  # two items may be one then
    except ad.errors.UnsupportedError:
        assert place == "try"
