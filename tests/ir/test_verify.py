"""The verifier: well-formed programs pass, and each clause rejects what breaks it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autodiff_compiler.ir.core import IF, LOOP, UNDEF, Builder, Function, Loc, Op, Region, Value
from autodiff_compiler.ir.opset import ADD, MUL, PRIMS, PUSH, STACK_NEW
from autodiff_compiler.ir.types import ANY, PY_BOOL, PY_FLOAT, py_int
from autodiff_compiler.ir.verify import VerifyError, verify


def straight() -> Function:
    """``y = x * 2; return y + x``."""
    body = Region()
    x = body.param(PY_FLOAT, "x")
    b = Builder(body)
    y = b.emit(MUL, x, 2)
    body.exit = (b.emit(ADD, y, x),)
    return Function("f", body)


def branching() -> Function:
    """``y = x + 1 if x < 0 else x``."""
    body = Region()
    x = body.param(PY_FLOAT, "x")
    b = Builder(body)
    cond = b.emit(PRIMS[operator.lt], x, 0)
    then, orelse = b.new_region(), b.new_region()
    with b.inside(then):
        then.exit = (b.emit(ADD, x, 1.0),)
    orelse.exit = (x,)
    body.exit = tuple(b.if_(cond, then, orelse, [PY_FLOAT], ["y"]))
    return Function("f", body)


def looping(range_: Any = (0, 3, 1)) -> Function:
    """``for i in range(3): s = s * x``; left early when s > 10."""
    body = Region()
    x = body.param(PY_FLOAT, "x")
    b = Builder(body)
    inner = b.new_region()
    inner.param(py_int(), "i")
    s = inner.param(PY_FLOAT, "s")
    with b.inside(inner):
        s2 = b.emit(MUL, s, x)
        code = b.emit(PRIMS[bool], b.emit(PRIMS[operator.gt], s2, 10))
        code.type = py_int()
        inner.exit = (code, s2)
    body.exit = (b.loop(range_, (1.0,), inner, [PY_FLOAT], ["s"])[0],)
    return Function("f", body)


def rejected(fn: Function, text: str) -> None:
    with pytest.raises(VerifyError, match=text):
        verify(fn)


@pytest.mark.parametrize(
    "make", [straight, branching, looping, lambda: looping(None), lambda: looping((0, 3, 1, True))]
)
def test_accepts(make: Callable[[], Function]) -> None:
    verify(make())


def test_operand_before_definition() -> None:
    fn = straight()
    fn.body.ops.reverse()
    rejected(fn, "not defined before its use")


def test_operand_of_another_function() -> None:
    fn, other = straight(), straight()
    fn.body.ops[0].args = (other.params[0], 2)
    rejected(fn, "not defined before its use")


def test_exit_not_defined() -> None:
    fn = straight()
    fn.body.exit = (Value(ANY),)
    rejected(fn, "the exit .* not defined")


def test_value_of_a_branch_used_outside() -> None:
    fn = branching()
    inside = fn.body.ops[1].regions[0].ops[0].result
    fn.body.exit = (inside,)
    rejected(fn, "the exit .* not in scope")


def test_value_of_one_branch_used_in_the_other() -> None:
    fn = branching()
    then, orelse = fn.body.ops[1].regions
    orelse.exit = (then.ops[0].result,)
    rejected(fn, "not in scope")


def test_value_defined_twice() -> None:
    fn = straight()
    fn.body.ops[1].results = [*fn.body.ops[0].results]
    rejected(fn, "not linked to the operation that defines it|defined twice")


def test_parameter_defined_twice() -> None:
    fn = straight()
    fn.body.params.append(fn.body.params[0])
    rejected(fn, "defined twice")


def test_operation_occurs_twice() -> None:
    fn = straight()
    fn.body.ops.append(fn.body.ops[0])
    rejected(fn, "occurs twice")


def test_region_occurs_twice() -> None:
    fn = branching()
    op = fn.body.ops[1]
    op.regions = (op.regions[0], op.regions[0])
    rejected(fn, "occurs twice")


def test_operation_not_linked_to_its_region() -> None:
    fn = straight()
    fn.body.ops[0].parent = None
    rejected(fn, "not linked to the region")


def test_result_not_linked() -> None:
    fn = straight()
    fn.body.ops[0].result.op = None
    rejected(fn, "not linked to the operation")


def test_parameter_not_linked() -> None:
    fn = straight()
    fn.params[0].region = None
    rejected(fn, "not linked to its region")


def test_region_not_linked() -> None:
    fn = branching()
    fn.body.ops[1].regions[0].op = None
    rejected(fn, "not linked to the operation that owns it")


def test_body_of_a_function_belongs_to_an_operation() -> None:
    fn = straight()
    fn.body.op = fn.body.ops[0]
    rejected(fn, "must not belong")


def test_result_without_type() -> None:
    fn = straight()
    fn.body.ops[0].result.type = None  # type: ignore[assignment]
    rejected(fn, "has no type")


def test_wrong_number_of_results() -> None:
    fn = straight()
    op = fn.body.ops[0]
    op.results.append(Value(ANY, "", op))
    rejected(fn, "has 2 results")


def test_effect_with_a_result() -> None:
    fn = straight()
    b = Builder(fn.body)
    b.emit(PUSH, b.emit(STACK_NEW), 1.0)
    verify(fn)
    op = fn.body.ops[-1]
    op.results.append(Value(ANY, "", op))
    rejected(fn, "has 1 results, its primitive 0")


def test_plain_operation_with_a_region() -> None:
    fn = straight()
    fn.body.ops[0].regions = (Region(),)
    rejected(fn, "must not own regions")


def test_operand_that_is_an_operation() -> None:
    fn = straight()
    fn.body.ops[1].args = (fn.body.ops[0], 1)
    rejected(fn, "an operand is a Op")


def test_operand_that_is_undef() -> None:
    fn = straight()
    fn.body.ops[1].args = (UNDEF, 1)
    rejected(fn, "reads undef")


def test_initial_value_may_be_undef() -> None:
    fn = looping()
    op = fn.body.ops[0]
    op.args = (op.args[0], (UNDEF,))
    verify(fn)


def test_range_must_not_be_undef() -> None:
    fn = looping((0, UNDEF, 1))
    rejected(fn, "reads undef")


def test_if_without_condition() -> None:
    fn = branching()
    fn.body.ops[1].args = ()
    rejected(fn, "one operand")


def test_if_with_one_region() -> None:
    fn = branching()
    op = fn.body.ops[1]
    op.regions = op.regions[:1]
    rejected(fn, "two regions")


def test_if_region_with_parameter() -> None:
    fn = branching()
    fn.body.ops[1].regions[0].param(ANY)
    rejected(fn, "no parameters")


def test_if_region_yields_too_few() -> None:
    fn = branching()
    fn.body.ops[1].regions[1].exit = ()
    rejected(fn, "yields 0 values for 1 results")


def test_loop_without_inits() -> None:
    fn = looping()
    fn.body.ops[0].args = ((0, 3, 1),)
    rejected(fn, "takes a range and a tuple")


def test_loop_with_a_bad_range() -> None:
    rejected(looping((0, 3)), "the range of a loop")


def test_loop_direction_is_a_constant() -> None:
    rejected(looping((0, 3, 1, 1)), "is a constant")


def test_loop_with_two_regions() -> None:
    fn = looping()
    op = fn.body.ops[0]
    extra = Region()
    extra.op = op
    op.regions = (op.regions[0], extra)
    rejected(fn, "owns one region")


def test_loop_parameters() -> None:
    fn = looping()
    fn.body.ops[0].regions[0].param(ANY)
    rejected(fn, "has 3 parameters")


def test_loop_exit() -> None:
    fn = looping()
    body = fn.body.ops[0].regions[0]
    body.exit = body.exit[:1]
    rejected(fn, "yields 1 values")


def test_loop_results() -> None:
    fn = looping()
    fn.body.ops[0].results.pop()
    rejected(fn, "has 2 results")


def test_loop_code_is_an_int() -> None:
    fn = looping()
    body = fn.body.ops[0].regions[0]
    body.exit = (body.exit[1], body.exit[1])
    rejected(fn, "not an int")
    body.exit = (None, body.exit[1])
    rejected(fn, "not an int")


def test_endless_loop_exits() -> None:
    fn = looping(None)
    body = fn.body.ops[0].regions[0]
    body.exit = (0, body.exit[1])
    rejected(fn, "never exits")


def test_exit_is_a_tuple() -> None:
    fn = straight()
    fn.body.exit = list(fn.body.exit)  # type: ignore[assignment]
    rejected(fn, "is a tuple")


def test_message_names_the_line() -> None:
    fn = straight()
    fn.body.ops[1].args = (Value(ANY, "lost"), 1)
    fn.body.ops[1].loc = Loc("file.py", 17, 0, 4)
    rejected(fn, r"%?lost.*\(line 17\)\n  in: ")


def test_condition_type_is_free() -> None:
    fn = branching()
    fn.body.ops[1].args = (np.True_,)
    verify(fn)
    assert fn.body.ops[1].prim is IF
    assert looping().body.ops[0].prim is LOOP
    assert isinstance(fn.body.ops[0], Op)
    assert fn.body.ops[0].result.type == PY_BOOL
