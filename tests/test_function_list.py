"""docs/functions.md lists what the rule table holds: ``pytest --update-golden`` rewrites it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from autodiff_compiler.ir import numpy_ops
from autodiff_compiler.ir.opset import PRIMS
from autodiff_compiler.rules import registry

PAGE = Path(__file__).parent.parent / "docs" / "functions.md"
HEAD = """# Functions with rules

Everything below may receive values that depend on what you differentiate by. A function that is not here raises a
`RuleLookupError` that names it when a derivative would have to pass through it; [add a rule](rules.md) of your own, or
compute it outside. Python's operators, subscripts, stores, `len`, `.shape`, `.T` and the other attributes of arrays are
part of the language. Methods of arrays (`x.sum()`, `x.reshape(...)`, ...) are the functions of the same name.

"""


def listed() -> str:
    ours = {
        prim.name
        for fn, prim in PRIMS.items()
        if prim.name.startswith(("np.", "math.")) and getattr(fn, "__module__", "") != "autodiff_compiler.runtime"
    }
    with_rule = {
        p.name for p in PRIMS.values() if p.name in ours and registry.has_rule(p) and not registry.is_nondiff(p)
    }
    constant = {p.name for p in PRIMS.values() if p.name in ours and registry.is_nondiff(p)}
    out = HEAD
    for title, names in (("Differentiated", with_rule), ("Piecewise constant: derivative zero", constant - with_rule)):
        out += f"## {title}\n\n"
        for prefix, label in (("np.linalg.", "`np.linalg`"), ("np.", "`np`"), ("math.", "`math`")):
            found = sorted(
                n for n in names if n.startswith(prefix) and (prefix != "np." or not n.startswith("np.linalg."))
            )
            if found:
                out += f"- {label}: " + ", ".join(f"`{n.removeprefix(prefix)}`" for n in found) + "\n"
        out += "\n"
    return out.rstrip() + "\n"


def test_the_page_lists_the_rules(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        PAGE.write_text(listed())
    page = PAGE.read_text()
    for name in numpy_ops.MATH_NEWER:
        if not hasattr(math, name):  # newer than this Python
            head, line, rest = page.rpartition("- `math`: `acos`")
            page = head + line + rest.replace(f" `{name}`,", "", 1)
    assert page == listed()
