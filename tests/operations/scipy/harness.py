"""What the tests of SciPy's parts share.

A test module of a part has a list of cases, each a function, its arguments and its keywords. `check_case` runs one
through all columns of the record, or, where the function is a definition, through the compiler. `without_case` names
the functions of the part that have none.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import re
import warnings
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

import autodiff_compiler as ad
from autodiff_compiler.frontend.definitions import DEFINED, definition_of
from autodiff_compiler.frontend.library.scipy import FAMILIES as DEFINITIONS
from autodiff_compiler.ir.core import Prim
from autodiff_compiler.ir.opset import lookup
from autodiff_compiler.operations import record
from autodiff_compiler.operations.check import check_rule, dynamic, named
from autodiff_compiler.operations.scipy import FAMILIES as RECORDS
from tests.differences import differences


def load(part: str) -> None:
    """Load what the compiler knows of a part of SciPy."""
    importlib.import_module(f"scipy.{part}")
    for families in (RECORDS, DEFINITIONS):
        if part in families.missing:
            families.load(part)


def rules_of(part: str) -> list[tuple[Prim, str]]:
    """The rules of a part, of its functions and of its kernels: record and argument."""
    kernels = f"autodiff_compiler.kernels.scipy.{part}"
    return [
        (p, name)
        for p, name in record.rules()
        if p.name.startswith(f"scipy.{part}.") or _is_at(kernels, getattr(p.fn, "__module__", ""))
    ]


def definitions_of(part: str) -> list[Any]:
    """The functions of a part that have a definition."""
    home = f"autodiff_compiler.frontend.library.scipy.{part}"
    return [fn for fn, definition in DEFINED.items() if _is_at(home, definition.__module__)]


def _is_at(home: str, module: Any) -> bool:
    """The module of a part, or one that it is split into: `special`, `special_gamma`."""
    return module == home or str(module).startswith(home + "_")


def without_case(part: str, cases: Iterable[tuple[Any, tuple[Any, ...], dict[str, Any]]]) -> list[str]:
    """What has a rule or a definition, and no case: the functions, with the arguments by which none differentiates."""
    load(part)
    covered: set[Any] = set()
    for fn, args, kwargs in cases:
        covered.add(id(fn))
        prim = fn if isinstance(fn, Prim) else lookup(fn)
        if prim is not None:
            covered.update((prim, name) for name, arg in named(prim, args, kwargs) if any(True for _ in dynamic(arg)))
    missing = [f"{p.name} by {name}" for p, name in rules_of(part) if (p, name) not in covered]
    return missing + [fn.__name__ for fn in definitions_of(part) if id(fn) not in covered]


def untested(
    part: str, cases: Iterable[tuple[Any, tuple[Any, ...], dict[str, Any]]], *modules: ModuleType
) -> list[str]:
    """The same for a part that is tested by programs: of a definition, its name has to stand in these modules."""
    text = "".join(inspect.getsource(module) for module in modules)
    names = {fn.__name__ for fn in definitions_of(part) if not fn.__name__.startswith("__")}  # operators are written
    unnamed = [name for name in sorted(names) if not re.search(rf"\b{name}\b", text)]
    return [m for m in without_case(part, cases) if " by " in m] + unnamed


def check_case(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, **options: Any) -> None:
    """Check a function of SciPy's at these arguments; floating ones are differentiated. `options`: see `check_rule`."""
    if definition_of(fn) is None:
        check_rule(fn, *args, kwargs=kwargs, **options)
        return
    check_through_compiler(fn, args, kwargs or {}, options.get("tolerance", 1e-5))


def check_through_compiler(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], tolerance: float = 1e-5) -> None:
    """Gradients by every floating argument, and tangents, against central differences of what SciPy computes."""
    places = [k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f"]
    given = [np.array(args[k], float) if np.ndim(args[k]) else float(args[k]) for k in places]
    rng = np.random.default_rng(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = fn(*copy.deepcopy(args), **kwargs)  # it may write into them
        total = total_of(fn, args, places, kwargs, out, rng)
        found = ad.grad(total, argnums=tuple(range(len(given))))(*given)
        wanted = [differences(total, *given, argnum=k) for k in range(len(given))]
        for g, w in zip(found, wanted):
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)
        d = [rng.normal(size=np.shape(a)) for a in given]
        d = [t if np.ndim(t) else float(t) for t in d]
        _, tangent = ad.jvp(total, tuple(given), tuple(d))
    np.testing.assert_allclose(tangent, sum(np.sum(g * t) for g, t in zip(found, d)), rtol=1e-7, atol=1e-9)


def total_of(fn: Any, args: Any, places: list[int], kwargs: dict[str, Any], out: Any, rng: Any) -> Any:
    """A weighted sum of all that `fn` returns, as a function of the arguments at these places."""
    operands = [f"x{k}" if k in places else f"args[{k}]" for k in range(len(args))]
    plain = (int, float, str, bool, type(None), tuple)
    named = [f"{name}={v!r}" if isinstance(v, plain) else f"{name}=kwargs[{name!r}]" for name, v in kwargs.items()]
    call = ", ".join([*operands, *named])
    lines = [f"def total({', '.join([f'x{k}' for k in places])}):", f"    out = fn({call})"]
    if isinstance(out, (tuple, list)):
        weights = [rng.normal(size=np.shape(part)) for part in out]
        terms = [f"np.sum(weights[{k}] * out[{k}])" for k in range(len(out))]
        lines.append(f"    return {' + '.join(terms)}")
    else:
        weights = rng.normal(size=np.shape(out))
        lines.append("    return np.sum(weights * out)")
    return ad.from_tree(
        ast.parse("\n".join(lines)),
        {"np": np, "inf": np.inf, "fn": fn, "args": args, "kwargs": kwargs, "weights": weights},
    )
