"""The printer and the reference interpreter."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from autodiff_compiler.ir.core import UNDEF, Builder, Function, Loc, Region
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.opset import ADD, GET, MUL, POP, PRIMS, PRINT, PUSH, SET, STACK_NEW
from autodiff_compiler.ir.printer import print_function
from autodiff_compiler.ir.types import PY_FLOAT, array, py_int
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.operations.choices import SELECT
from tests.ir.test_verify import branching, looping, straight


def test_print_straight() -> None:
    fn = straight()
    fn.body.ops[0].loc = Loc("f.py", 3, 0, 1)
    fn.body.ops[1].result.hint = "x"
    text = "func f(%x: float) {\n  %v1: float = * %x, 2   # line 3\n  %x2: float = + %v1, %x\n  return %x2\n}\n"
    assert print_function(fn) == text
    assert print_function(fn) == text


def test_print_nested() -> None:
    assert print_function(branching()) == (
        "func f(%x: float) {\n"
        "  %v1: bool = < %x, 0\n"
        "  %y: float = if %v1 {\n"
        "    %v2: float = + %x, 1.0\n"
        "    yield %v2\n"
        "  } else {\n"
        "    yield %x\n"
        "  }\n"
        "  return %y\n"
        "}\n"
    )
    assert "loop %i: int in range(0, 3, 1) with (%s: float = 1.0) {" in print_function(looping())
    assert "in forever with" in print_function(looping(None))


def test_print_operands() -> None:
    body = Region()
    b = Builder(body)
    x = body.param(array(float, (body.dims.fresh(), 3)), "x")
    y = b.emit(GET, x, (("index", (slice(1, None), None, Ellipsis)),))
    b.emit(PRIMS[np.sum], y, axis=np.int64(0), dtype=np.dtype("f4"))
    b.emit(PRINT, "hello", np.arange(3), np.zeros((20, 2)), {"a": [1, (2,)]}, np.sin, UNDEF)
    text = print_function(Function("f", body))
    assert "%x: float64[d1, 3]" in text
    assert "get %x, (('index', (1:, None, ...)),)" in text
    assert "axis=np.int64(0), dtype=dtype(float32)" in text
    assert "print 'hello', array([0, 1, 2], int64), array<float64[20, 2]>, {'a': [1, (2,)]}, <sin>, undef" in text


def test_names_are_unique() -> None:
    body = Region()
    names = ["x", "x", "x2", "x", ""]
    for name in names:
        body.param(PY_FLOAT, name)
    assert print_function(Function("f", body)).startswith(
        "func f(%x: float, %x2: float, %x22: float, %x3: float, %v1: float)"
    )


def test_interpret() -> None:
    assert interpret(straight(), [3.0]) == (9.0,)
    assert interpret(branching(), [-3.0]) == (-2.0,)
    assert interpret(branching(), [3.0]) == (3.0,)
    # The trip that leaves the loop hands on what it computed.
    assert interpret(looping(), [2.0]) == (8.0,)
    assert interpret(looping(), [4.0]) == (16.0,)
    assert interpret(looping(None), [2.0]) == (16.0,)
    with pytest.raises(TypeError, match="takes 1 arguments"):
        interpret(straight(), [])


def trips(range_: tuple[object, ...] | None, limit: int) -> tuple[object, ...]:
    """All results of ``for i in range: s = s * 10 + i``, left with code 7 when i == limit."""
    body = Region()
    b = Builder(body)
    inner = b.new_region()
    i, s = inner.param(py_int(), "i"), inner.param(py_int(), "s")
    with b.inside(inner):
        new = b.emit(ADD, b.emit(MUL, s, 10), i)
        code = b.emit(MUL, b.emit(PRIMS[operator.eq], i, limit), 7)
        inner.exit = (code, new)
    body.exit = tuple(b.loop(range_, (0,), inner, [py_int()], ["s"]))  # type: ignore[arg-type]
    fn = Function("f", body)
    verify(fn)
    return interpret(fn, [])


def test_interpret_loops() -> None:
    assert trips((1, 4, 1), 9) == (123, 3, 0)
    assert trips((1, 6, 2), 9) == (135, 3, 0)
    assert trips((1, 6, 2, True), 9) == (531, 3, 0)
    assert trips((1, 6, 1), 3) == (123, 2, 7)
    assert trips((5, 1, 1), 3) == (0, 0, 0)
    assert trips(None, 2) == (12, 2, 7)


def test_interpret_effects_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    body = Region()
    b = Builder(body)
    stack = b.emit(STACK_NEW)
    b.emit(PRINT, "one")
    b.emit(PUSH, stack, 1)
    b.emit(PUSH, stack, 2)
    b.emit(PRINT, "two")
    body.exit = (b.emit(POP, stack), b.emit(POP, stack))
    assert interpret(Function("f", body), []) == (2, 1)
    assert capsys.readouterr().out == "one\ntwo\n"


def test_interpret_undef() -> None:
    fn = branching()
    fn.body.ops[1].regions[1].exit = (UNDEF,)
    verify(fn)
    assert interpret(fn, [3.0]) == (UNDEF,)
    b = Builder(fn.body)
    fn.body.exit = (b.emit(ADD, fn.body.ops[1].result, 1),)
    assert interpret(fn, [-3.0]) == (-1.0,)
    with pytest.raises(UnboundLocalError, match="'y'"):
        interpret(fn, [3.0])


def test_stores_leave_arguments_alone() -> None:
    body = Region()
    b = Builder(body)
    x = body.param(array(float, (3,)), "x")
    body.exit = (b.emit(SET, x, (("index", (slice(1, None),)), ("index", (0,))), 7.0),)
    given = np.arange(3.0)
    (out,) = interpret(Function("f", body), [given])
    assert out.tolist() == [0.0, 7.0, 2.0]
    assert given.tolist() == [0.0, 1.0, 2.0]


def test_every_primitive_computes() -> None:
    assert SELECT.fn is not None
    assert [prim.name for prim in PRIMS.values() if prim.fn is None] == []
