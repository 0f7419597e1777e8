"""The table of passes: their order, that no pass calls another, and what a defect in one of them looks like."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import InternalError
from autodiff_compiler.frontend.lower import lower
from autodiff_compiler.ir.opset import PRIMS
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.records import replaced
from autodiff_compiler.transforms import passes, pipeline

PACKAGE = Path(ad.__file__).parent


def smooth(x: Any, rate: float) -> Any:
    y = x * 0.0
    y[0] = x[0]
    for i in range(1, len(x)):
        step = x[i] - y[i - 1]
        if step < 0.0:
            step = 0.5 * step
        y[i] = y[i - 1] + rate * step
    return np.sum(y * y)


ARGUMENTS = (np.array([0.3, 0.9, 0.4]), 0.2)


def test_the_form_is_valid_after_each_pass_that_promises_it() -> None:
    fn = lower(smooth, ARGUMENTS).function
    seen = []

    def look(name: str, fn: Any) -> None:
        seen.append(name)
        if "residuals" in seen:  # until then, the backward sweep names values that are out of scope
            verify(fn)

    with passes.after_each_pass(look):
        out = pipeline.adjoint(fn, [0], seeds=[1.0])
        out.meta["wrt"] = (0,)
        pipeline.finish(out, 1)
        pipeline.restore_in_place(out)
    table = iter([row.name for row in passes.PASSES])
    assert {"in place", "indices"} <= set(seen) and all(name in table for name in seen)  # a subsequence


def named_late() -> list[tuple[str, str, str]]:
    """How the table names functions that are imported later: by which function, from which module, and each name."""
    tree = ast.parse((PACKAGE / "transforms/passes.py").read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            if node.func.id in ("late", "_plain", "_changing", "_sharing", "_merging"):
                found += [(node.func.id, texts[0], name) for name in texts[1:]]
    return found


def test_no_pass_calls_another() -> None:
    """What a row of the table runs is imported by the table, and by what is made of its stages."""
    tree = ast.parse((PACKAGE / "transforms/passes.py").read_text(encoding="utf-8"))
    run = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
        if alias.name[0].islower()
    }
    run |= {name for _, _, name in named_late()}
    assert {"drop_dead", "place", "differentiate", "simplify", "defer", "collect", "share_loops"} <= run
    for path in sorted((PACKAGE / "transforms").glob("*.py")):
        if path.stem in ("passes", "pipeline"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                assert run.isdisjoint(alias.name for alias in node.names), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("how, module, name", named_late())
def test_what_is_imported_later_is_there(how: str, module: str, name: str) -> None:
    """The table names functions by text, which no type checker reads."""
    function = getattr(importlib.import_module(f"autodiff_compiler.transforms.{module}"), name)
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    assert how == "late" or len(needed) == 1
    assert how in ("late", "_plain") or list(inspect.signature(function).parameters)[1] == "before_change"


def broken(monkeypatch: pytest.MonkeyPatch, name: str, error: Exception) -> None:
    """Let a pass raise an exception, as if from within the package."""
    namespace = {"__name__": "autodiff_compiler.transforms.broken", "error": error}
    exec("def run(task):\n    raise error\n", namespace)
    rows = [
        passes.Pass(row.stage, row.name, namespace["run"], "", "") if row.name == name else row  # type: ignore[arg-type]
        for row in passes.PASSES
    ]
    monkeypatch.setattr(passes, "PASSES", tuple(rows))


def test_a_defect_of_a_pass_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cause = KeyError("a region")
    broken(monkeypatch, "residuals", cause)
    with pytest.raises(InternalError) as found:
        ad.grad(smooth)(*ARGUMENTS)
    text = str(found.value)
    assert "internal error in the pass 'residuals' of 'smooth': KeyError: 'a region'" in text
    assert "defect of the compiler" in text and "report it" in text
    assert f"{__file__}:{smooth.__code__.co_firstlineno}" in text
    assert found.value.__cause__ is cause and cause.__traceback__ is not None


def test_what_a_user_would_get_from_numpy_is_no_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "residuals", ValueError("operands could not be broadcast"))
    with pytest.raises(ValueError, match="could not be broadcast"):
        ad.grad(smooth)(*ARGUMENTS)


def test_what_a_rule_of_the_user_raises_is_no_internal_error() -> None:
    def twice(x: Any) -> Any:
        return 2.0 * x

    twice = ad.primitive(twice)

    @ad.vjp_rule(twice, "x")
    def _(g: Any, out: Any, x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(Exception) as found:
        ad.grad(lambda x: twice(x))(1.0)
    assert not isinstance(found.value, InternalError)


def test_passes_name_operations_that_there_are() -> None:
    """A name that no operation has would keep a pass from running."""
    known = {prim.name for prim in PRIMS.values()} | {"loop", "if", "custom"}
    for row in passes.PASSES:
        assert known.issuperset(row.on.split()), row.name


def test_passes_that_are_left_out_would_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without the operations that rows name, the code is the same."""
    for program, arguments in ((smooth, ARGUMENTS), (lambda x: np.sum(np.where(x > 0.5, x * x, x)), (np.ones(3),))):
        some = ad.grad(program).source(*arguments)
        with monkeypatch.context() as patch:
            rows = tuple([replaced(row, on="") for row in passes.PASSES])
            patch.setattr(passes, "PASSES", rows)
            assert ad.grad(program).source(*arguments) == some
