"""docs/functions.md lists the functions in the rule table. ``pytest --update-golden`` rewrites the page."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from autodiff_compiler import nn
from autodiff_compiler.frontend import library  # noqa: F401  (fills the table of definitions)
from autodiff_compiler.frontend.definitions import DEFINED, load_all
from autodiff_compiler.ir.opset import PRIMS
from autodiff_compiler.operations import (
    record,
    stacked,  # noqa: F401  (fills the table of rules for stacks)
)
from autodiff_compiler.operations.tangents import column

load_all()
PAGE = Path(__file__).parents[2] / "docs" / "functions.md"
HEAD = """# Functions with rules

Which functions can be differentiated? All functions on this page. If a derivative would have to pass through another
function, you get a `RuleLookupError` with its name. Then [add a rule](rules.md) of your own, or compute the value
outside. Python's operators, subscripts, stores, `len`, `.shape`, `.T` and the other attributes of arrays are part of
the language. Methods of arrays (`x.sum()`, `x.reshape(...)`, ...) are the functions of the same name. The functions and
classes of `numpy.polynomial` are differentiated as NumPy has written them, but for `convert`, which is refused.

"""


RECORDS = """## What the records hold

Each operation has one record in `autodiff_compiler/operations/`. A column that follows from the others is derived.
Functions that are defined in terms of others need no record.

| derivative | on stacks | operations |
|---|---|---|
"""


# In newer versions of NumPy and Python only.
NEWER = {
    "np.unstack", "np.cumulative_sum", "np.cumulative_prod", "np.vecdot", "np.trapezoid", "np.trapz", "np.matvec",
    "np.vecmat", "math.sumprod", "math.fma", "np.row_stack",
}  # fmt: skip
OURS = ("autodiff_compiler.runtime", "autodiff_compiler.kernels")
SUBMODULES = ("linalg", "fft")


def written(fn: object) -> str:
    """How users write a function that is lowered from its definition; nothing for methods."""
    for prefix, module in (("math.", math), ("np.", np), *((f"np.{m}.", getattr(np, m)) for m in SUBMODULES)):
        name = getattr(fn, "__name__", "")
        if getattr(module, name, None) is fn:
            return prefix + name
    return ""


PLACES = {
    np.nonzero, np.argwhere, np.ix_, np.indices, np.diag_indices, np.diag_indices_from, np.tril_indices,
    np.triu_indices, np.tril_indices_from, np.triu_indices_from,
}  # fmt: skip


def records_listed() -> str:
    """A table of the operations by the columns of their records."""
    rows: dict[tuple[str, str], set[str]] = {}
    for fn, prim in PRIMS.items():
        ours = prim.name.startswith(("np.", "math.")) and getattr(fn, "__module__", "") not in OURS
        if not ours or not record.has_rule(prim) or prim.nondiff or prim.name in NEWER | {"math.cbrt", "math.exp2"}:
            continue
        derivative = "pullbacks" if prim.partials is None or prim.pullbacks else "partials"
        derived = "derived" if prim.elementwise and prim.nout == 1 else "one call after the other"
        rows.setdefault((derivative, "written" if prim.batch is not None else derived), set()).add(prim.name)
    out = RECORDS
    for (derivative, stacks), names in sorted(rows.items()):
        out += f"| {derivative} | {stacks} | " + ", ".join(f"`{name}`" for name in sorted(names)) + " |\n"
    return out + "\n"


def listed() -> str:
    ours = {
        prim.name
        for fn, prim in PRIMS.items()
        if prim.name.startswith(("np.", "math.")) and getattr(fn, "__module__", "") not in OURS
    }
    with_rule = {p.name for p in PRIMS.values() if p.name in ours and record.has_rule(p) and not p.nondiff}
    with_rule |= {name for fn in DEFINED if (name := written(fn)) and fn not in PLACES} - NEWER
    constant = {p.name for p in PRIMS.values() if p.name in ours and p.nondiff}
    constant |= {written(fn) for fn in PLACES}
    with_rule -= {written(fn) for fn in PLACES}
    out = HEAD
    for title, names in (("Differentiated", with_rule), ("Piecewise constant: derivative zero", constant - with_rule)):
        out += f"## {title}\n\n"
        rest = set(names)
        for prefix in ("np.linalg.", "np.fft.", "np.", "math."):
            label = f"`{prefix[:-1]}`"
            found = sorted(n for n in rest if n.startswith(prefix))
            rest -= set(found)
            if found:
                out += f"- {label}: " + ", ".join(f"`{n.removeprefix(prefix)}`" for n in found) + "\n"
        out += "\n"
    out += records_listed()
    out += "## Neural networks\n\n- `autodiff_compiler.nn`: " + ", ".join(f"`{n}`" for n in sorted(nn.__all__)) + "\n"
    return f"{out.rstrip()}\n\n{tangents_listed(ours)}"


TANGENTS = """## Tangents

How forward mode (`jvp`) finds the tangent of a result. What is not listed here multiplies by its partial derivatives,
or is made of the functions that are.

"""
COLUMNS = {
    "linear": "The function is linear in an argument, and is applied to its tangent",
    "explicit": "A rule of its own",
    "transposed": "The transpose of the pullback",
}


def tangents_listed(ours: set[str]) -> str:
    """The functions by the column of tangents."""
    out = TANGENTS
    for how, title in COLUMNS.items():
        names = {p.name for p in PRIMS.values() if p.name in ours and any(column(p, n) == how for n in p.params)}
        out += f"- {title}: " + ", ".join(f"`{name}`" for name in sorted(names)) + ".\n"
    return out


def test_the_page_lists_the_rules(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        PAGE.write_text(listed())
    page = PAGE.read_text()
    for name in ("cbrt", "exp2"):
        if not hasattr(math, name):  # newer than this Python
            head, line, rest = page.rpartition("- `math`: `acos`")
            page = head + line + rest.replace(f" `{name}`,", "", 1)
    assert page == listed()
