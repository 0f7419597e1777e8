"""What grows while a function is compiled has one budget; the work for what is long grows with its length."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.ir import budget


def made(text: str, folder: Path) -> Any:
    file = folder / f"made{len(list(folder.iterdir()))}.py"
    file.write_text(f"import functools\nimport numpy as np\n\n{text}\n")
    return runpy.run_path(str(file))


def chain(first: str, line: str, count: int = 24) -> str:
    return "\n".join([first, *[line.format(k=k, j=k - 1) for k in range(1, count + 1)]])


METHODS = chain(
    "    def m0(self):\n        return self.x", "    def m{k}(self):\n        return self.m{j}() + self.m{j}()"
)
CLOSURES = chain("    f0 = lambda v: v * 1.01", "    f{k} = lambda v, f=f{j}: f(f(v))")
OBJECTS = "class A:\n    def __init__(self, k):\n        self.k = k\nOBJECTS = [A(k) for k in range(64)]\n"
SPLITS = chain("    q = p", "    if p[{k} % 5] > 0.4:\n        q = p[{k} % 3:]\n    q[0] = q[1] * 0.5")

GROWING = {
    "helpers": (chain("def h0(v):\n    return v * 2.0", "def h{k}(v):\n    return h{j}(v) + h{j}(v)")
                + "\ndef f(x):\n    return h24(x)", "'h0' is inlined in line"),
    "helpers of constants": (chain("def h0(v):\n    return v + 1", "def h{k}(v):\n    return h{j}(v) + h{j}(v)")
                             + "\ndef f(x):\n    return h24(3) * x", "'h0' is inlined in line"),
    "methods": (f"class M:\n    def __init__(self, x):\n        self.x = x\n{METHODS}\n"
                "def f(x):\n    return M(x).m24()", "'m0' is inlined in line"),
    "closures": (f"def f(x):\n{CLOSURES}\n    return f24(x)", "'<lambda>' is inlined in line"),
    "loops": (OBJECTS + "def f(x):\n    s = x\n    for a in OBJECTS:\n        for b in OBJECTS:\n"
              "            for c in OBJECTS:\n                s = s + a.k * b.k * c.k\n    return s",
              r"unrolling the loop in line 12 \(iteration \d"),
    "a comprehension": (OBJECTS + "def f(x):\n    l = [x * a.k for a in OBJECTS for b in OBJECTS for c in OBJECTS]\n"
                        "    return l[0]", "unrolling the loop in line 9"),
    "comprehensions": (OBJECTS + "def f(x):\n    l = [[[x * a.k for a in OBJECTS] for b in OBJECTS] for c in OBJECTS]\n"
                       "    return l[0][0][0]",
                       "unrolling the loop in line 9"),
    "reduce": (OBJECTS + "def g(a, b):\n    return functools.reduce(lambda s, c: s + b.k * c.k, OBJECTS, a)\n"
               "def h(a, b):\n    return functools.reduce(g, OBJECTS, a)\n"
               "def f(x):\n    return functools.reduce(h, OBJECTS, x)", "'<lambda>' is inlined in line"),
    "a tuple": ("def f(x):\n    l = (x,)\n    for k in (1,) * 24:\n        l = l + l\n    return l[0]",
                "unrolling the loop"),
    "keys": ("def f(x):\n    d = {}\n    k = 0\n    while k < 1000000:\n        d[k] = x * k\n        k += 1\n"
             "    return d[5]",
             "a dictionary key has to be known .*; without that, .*: unrolling the loop in line 7"),
    "many keys": ("def f(x):\n    d = {}\n    for k in range(10 ** 9):\n        d[k] = x * k\n    return d[5]",
                  "a dictionary key has to be known"),
    "paths": (f"def f(x):\n    p = np.ones(6) * x\n{SPLITS}\n    return np.sum(p * q[0])",
              "unprovable alias.*; without that, .*what follows the branch in line"),
    "paths in a loop": ("def f(x):\n    p = np.ones(6) * x\n    q = p\n    for k in range(100):\n"
                        "        if p[k % 5] > 0.4:\n            q = p[k % 3:]\n        q[0] = q[1] * 0.5\n"
                        "    return np.sum(p * q[0])", "unprovable alias.*; without that, .*what follows the branch"),
}  # fmt: skip


@pytest.mark.parametrize("name", GROWING)
def test_what_grows_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, reason = GROWING[name]
    monkeypatch.setenv("AUTODIFF_COMPILER_OPERATIONS", "3000")
    f = made(text, tmp_path)["f"]
    with pytest.raises(ad.AutodiffError) as caught:
        ad.grad(f)(0.5)
    assert re.search(reason, caught.value.message), caught.value.message
    assert caught.value.loc is not None and caught.value.remedy
    assert name == "many keys" or "more than 3,000 operations" in caught.value.message
    with pytest.raises(ad.AutodiffError):  # nothing is left behind by the first
        ad.value_and_grad(f)(0.5)


def test_a_larger_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = made(chain("def h0(v):\n    return v * 2.0", "def h{k}(v):\n    return h{j}(v) + h{j}(v)", 6)
             + "\ndef f(x):\n    return h6(x)", tmp_path)["f"]  # fmt: skip
    g = ad.grad(f)
    monkeypatch.setenv("AUTODIFF_COMPILER_OPERATIONS", "50")
    with pytest.raises(ad.UnsupportedError, match="more than 50 operations"):
        g(0.5)
    monkeypatch.setenv("AUTODIFF_COMPILER_OPERATIONS", "500")
    assert g(0.5) == 128.0
    monkeypatch.setenv("AUTODIFF_COMPILER_OPERATIONS", "many")
    with pytest.raises(ad.AutodiffError, match="AUTODIFF_COMPILER_OPERATIONS is 'many', which is no number"):
        g(np.float64(0.5))


LONG = chain("def f(x):\n    s = x", "    s = np.sin(s) * x", 200) + "\n    return s"


def test_too_many_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    g = ad.grad(made(LONG, tmp_path)["f"])
    monkeypatch.setenv("AUTODIFF_COMPILER_SECONDS", "0")
    with pytest.raises(ad.UnsupportedError, match="compiling this takes more than 0 seconds"):
        g(0.5)
    monkeypatch.delenv("AUTODIFF_COMPILER_SECONDS")
    assert np.isfinite(g(0.5))


def test_long_compilations_say_what_they_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    f = made(LONG, tmp_path)["f"]
    ad.grad(f)(0.5)
    assert not capsys.readouterr().err
    monkeypatch.setattr(budget, "NOTICE", 0.0)
    ad.grad(f)(0.5)
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"autodiff_compiler: compiling f \(.*\.py:4\) has taken 0 s; reading it", line)
    monkeypatch.setenv("AUTODIFF_COMPILER_NOTICE", "off")
    ad.grad(f)(0.5)
    assert not capsys.readouterr().err


def test_gradients_inside_share_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = chain("def h0(v):\n    return v * v", "def h{k}(v):\n    return h{j}(v) + h{j}(v)", 8)
    text += "\ndef f(x):\n    s = x\n    for k in (1,) * 5:\n        s = s + ad.grad(h8)(s)\n    return s"
    f = made("import autodiff_compiler as ad\n" + text, tmp_path)["f"]
    assert np.isclose(ad.grad(f)(0.5), (f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6)
    monkeypatch.setenv("AUTODIFF_COMPILER_OPERATIONS", "1500")  # enough for one of them
    with pytest.raises(ad.UnsupportedError, match="more than 1,500 operations"):
        ad.grad(f)(np.float64(0.5))


# --- work grows with the length ---------------------------------------------------------------------------------------


def counted(run: Callable[[], Any]) -> int:
    count = 0

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


class Wide:
    pass


def wide(n: int) -> Wide:
    out = Wide()
    out.__dict__.update({f"k{k}": 0.5 + k for k in range(n)})
    return out


ARGUMENTS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "a dict": ("a['k3'] * a['k5']", lambda n: {f"k{k}": 0.5 + k for k in range(n)}),
    "a dict of arrays": ("np.sum(a['k3'] * a['k5'])", lambda n: {f"k{k}": np.ones(3) * k for k in range(n)}),
    "a dict of lists": ("a['k3'][0] * a['k5'][0]", lambda n: {f"k{k}": [0.5] for k in range(n)}),
    "a dict of strings": ("a['x'] * a['x']", lambda n: {**{f"k{k}": "s" for k in range(n)}, "x": 0.5}),
    "a dict, looped over": ("sum([a[k] * 2.0 for k in a])", lambda n: {f"k{k}": 0.5 + k for k in range(n)}),
    "the values of a dict": ("sum(a.values())", lambda n: {f"k{k}": 0.5 + k for k in range(n)}),
    "a list": ("a[3] * a[5]", lambda n: [0.5] * n),
    "the sum of a list": ("sum(a)", lambda n: [0.5] * n),
    "the sum of squares": ("sum([v * v for v in a])", lambda n: [0.5] * n),
    "a list with numbers": ("sum([v * k for k, v in enumerate(a)])", lambda n: [0.5] * n),
    "two lists": ("sum([u * v for u, v in zip(a, a)])", lambda n: [0.5] * n),
    "a list backwards": ("sum([v for v in reversed(a)])", lambda n: [0.5] * n),
    "an array of a list": ("np.sum(np.array(a) ** 2)", lambda n: [0.5] * n),
    "a tuple": ("sum(a)", lambda n: (0.5,) * n),
    "arrays": ("sum([np.sum(v * v) for v in a])", lambda n: [np.ones(2)] * n),
    "an object": ("a.k3 * a.k5", wide),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_wide_arguments(name: str, tmp_path: Path) -> None:
    """Compiling and running take work that grows with the number of the leaves, as it does in Python."""
    expression, argument = ARGUMENTS[name]
    f = made(f"def f(a):\n    return {expression}", tmp_path)["f"]
    compiled, ran = [], []
    for n in (210, 840):
        g = ad.grad(f)
        compiled.append(counted(lambda g=g, n=n: g(argument(n))))  # type: ignore[misc]
        ran.append(counted(lambda g=g, n=n: g(argument(n))))  # type: ignore[misc]
    assert compiled[1] < 4.4 * compiled[0]
    assert ran[1] < 4.4 * ran[0] + 100


GROW = {
    "a list that is appended to": ("l.append(x * {k})", "l[3]"),
    "a dict that gets keys": ("d[{k}] = x * {k}", "d[3]"),
    "a sum of terms": ("s = s + x * {k}", "s"),
    "calls": ("s = h(s, {k})", "s"),
    "elements": ("a[{k} % 7] = a[{k} % 5] * x", "a[3]"),
}


@pytest.mark.parametrize("name", GROW)
@pytest.mark.parametrize("looped", [False, True])
def test_long_code(name: str, looped: bool, tmp_path: Path) -> None:
    line, result = GROW[name]
    calls = []
    for n in (75, 300):
        body = [line.format(k=k) for k in range(n)]
        if looped:
            body = [f"for o in (None, *['k'] * {n - 1}):", f"    {line.format(k='(2 if o else 3)')}"]
        lines = ["l, d, s, a = [], {{}}, x, np.ones(7) * x".format(), *body, f"return {result}"]
        f = made("def h(u, k):\n    return u * k\ndef f(x):\n    " + "\n    ".join(lines), tmp_path)["f"]
        calls.append(counted(lambda f=f: ad.grad(f).source(0.5)))  # type: ignore[misc]
    assert calls[1] < 4.4 * calls[0]


def test_stores_into_a_list_copy_no_list(tmp_path: Path) -> None:
    text = "def f(x, n):\n    l = []\n    for i in range(n):\n        l.append(x * i)\n"
    text += "    for i in range(n):\n        l[i] = l[i] * l[i]\n    return sum(l)"
    f = made(text, tmp_path)["f"]
    g = ad.grad(f)
    assert np.isclose(g(0.5, 9), (f(0.5 + 1e-6, 9) - f(0.5 - 1e-6, 9)) / 2e-6)
    assert not re.search(r"list\(|copy\(", g.source(0.5, 9))
