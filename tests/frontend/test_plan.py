"""The plan of a lowering: tried, found wanting for a reason, extended, within a budget."""

from __future__ import annotations

import ast
import doctest

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.frontend import plan as plans
from autodiff_compiler.frontend.plan import (
    MAX_ATTEMPTS,
    SPLIT,
    STATIC,
    Action,
    FoundWanting,
    NotPossible,
    NotStatic,
    Plan,
    SelfCalls,
    TooDeep,
    TooLarge,
    lower_by_plan,
)
from autodiff_compiler.ir.budget import Budget, Exhausted

# --- programs, and how they are lowered -------------------------------------------------------------------------------


def straight(x):
    return x * x


def indexed(x, n):
    parts = (x, x * x, "done")
    return parts[n] * 2.0


def in_a_loop(x, n):
    b = x
    for i in range(n):
        if i == 1:
            b = (x,)
    return b[0]


def aliased(x, c):
    a = np.zeros(3)
    b = a if c > 0 else a * 2.0
    b[0] = x
    return a[0] + b[0]


count = 0.0


def counted(x):
    global count
    count = x
    return x * count


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def halves(x):
    return x.sum() if len(x) == 1 else halves(x[: len(x) // 2]) + halves(x[len(x) // 2 :])


@pytest.mark.parametrize(
    ("fn", "args", "gradient", "said"),
    [
        (straight, (3.0,), 6.0, []),
        (indexed, (3.0, 1), 12.0, ["compile for the value or the shape of argument 2"]),
        (in_a_loop, (3.0, 3), 1.0, ["once for each path of the If", "unroll the For", "the shape of argument 2"]),
        (aliased, (2.0, 1), 2.0, ["once for each path of the IfExp"]),
        (counted, (2.0,), 4.0, ["it writes count outside of the function"]),
        (power, (2.0, 3), 12.0, ["a function calls itself", "with the same types again"]),
        (halves, (np.ones(5),), np.ones(5), ["a function calls itself", "does not end on the types"]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_attempts(fn, args, gradient, said) -> None:
    lines = ad.grad(fn).attempts(*args).splitlines()
    assert len(lines) == len(said)
    for n, (line, part) in enumerate(zip(lines, said), 1):
        assert line.startswith(f"{n}. ") and part in line
    np.testing.assert_array_equal(ad.grad(fn)(*args), gradient)


def test_attempts_of_a_second_derivative_are_those_of_the_primal() -> None:
    assert ad.grad(ad.grad(power)).attempts(2.0, 3) == ad.grad(power).attempts(2.0, 3) != ""


# --- the loop ---------------------------------------------------------------------------------------------------------


def test_the_page_of_the_module() -> None:
    assert doctest.testmod(plans).failed == 0


def budget() -> Budget:
    return Budget("f", None)


def node() -> ast.AST:
    return ast.parse("if a: pass").body[0]


def error(text: str) -> ad.UnsupportedError:
    return ad.UnsupportedError(text)


def test_an_action_is_required_once() -> None:
    action = Action(SPLIT, node())
    plan = Plan()
    with pytest.raises(FoundWanting) as found:
        plan.require([action], error("first"))
    plan.extend(found.value.reason)
    assert plan.has(SPLIT, action.target)
    plan.require([action], error("second"))  # it is there already: the attempt goes on
    plan.require(None, error("third"))


def test_what_was_refused_is_not_required_again() -> None:
    action, plan = Action(SPLIT, node()), Plan()
    plan.extend(NotStatic((action,), error("stands")))
    with pytest.raises(ad.UnsupportedError, match="stands"):
        plan.refuse(action.target)
    other = Action(SPLIT, action.target)
    plan.actions.clear()
    plan.require([other], error("again"))
    assert not plan.actions


def test_what_only_makes_it_more_certain_is_dropped() -> None:
    action, plan = Action(SPLIT, node()), Plan()
    plan.extend(NotStatic((action,), None))
    with pytest.raises(FoundWanting) as found:
        plan.refuse(action.target)
    assert isinstance(found.value.reason, NotPossible)
    plan.extend(found.value.reason)
    assert not plan.actions and action.target in plan.refused


def test_attempts_to_make_something_static_are_bounded() -> None:
    tried = []

    def attempt(plan: Plan) -> str:
        tried.append(len(plan.actions))
        plan.require([Action(STATIC, (("arg", len(tried)),))], error("unknown"))
        return "as it is"

    assert lower_by_plan(Plan(), attempt, budget()) == "as it is"
    assert tried == list(range(MAX_ATTEMPTS + 1))


def test_nothing_is_required_while_something_is_only_looked_at() -> None:
    plan = Plan(demanding=False)
    plan.require([Action(SPLIT, node())], error("unknown"))


def test_ways_to_lower_a_recursion_are_tried_in_order() -> None:
    tried = []

    def attempt(plan: Plan) -> None:
        assert not plan.nested
        plan.nested.add("walk")
        tried.append(plan.self_calls)
        raise plans.RecursionTooDeep(f"with {plan.self_calls.name}")

    with pytest.raises(plans.RecursionTooDeep, match="FUNCTION_OF_ANY"):
        lower_by_plan(Plan(), attempt, budget())
    assert tried == list(SelfCalls)


def test_an_error_that_a_plan_avoids_stands_where_the_budget_is_exhausted() -> None:
    plan = Plan()
    plan.extend(NotStatic((Action(SPLIT, node()),), error("the alias")))
    with pytest.raises(ad.UnsupportedError, match="the alias; without that, too large"):
        plan.extend(TooLarge(Exhausted("too large", None, "", False)))
    with pytest.raises(ad.UnsupportedError, match=r"^too large"):
        Plan().extend(TooLarge(Exhausted("too large", None, "", False)))


REASONS = [
    c for c in vars(plans).values() if isinstance(c, type) and issubclass(c, plans.Reason) and c is not plans.Reason
]


@pytest.mark.parametrize("reason", REASONS, ids=lambda c: c.__name__)
def test_each_reason_says_itself(reason: type[plans.Reason]) -> None:
    given = {
        NotStatic: ((Action(STATIC, ()),), None),
        NotPossible: (node(),),
        plans.NotPeeled: (error("no rule"),),
        TooLarge: (Exhausted("too large", None, "", False),),
        TooDeep: (SelfCalls.INLINED,),
        plans.WrittenOutside: ("key", object(), frozenset({"x"})),
        plans.Disturbed: ({1: ("f", None)},),
        plans.Impure: (straight,),
        plans.CallsItself: (node(), True),
        plans.LeftOut: (error("no rule"), node()),
        plans.Unhandled: (error("no rule"), (node(),)),
    }[reason]
    text = str(reason(*given))
    assert text and "object at" not in text
