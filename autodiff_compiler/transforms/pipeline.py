"""The derivatives, each by the stages of passes that make it.

Takes the SSA form of a function. Gives that of an adjoint, a pushforward, a Jacobian or a linear function: here stands
which stages of `passes` run, one after the other, and what of their results is kept.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def double(x):
...     return np.sum(2.0 * x)
>>> print(print_function(pushforward(lower(double, (np.ones(3),)).function, [0])))
func double(%x: float64[d1], %x_dot: float64[d1]) {
  %v1: float64[d1] = * 2.0, %x   # line 2
  %v2: float64 = np.sum %v1   # line 2
  %v3: float64 = np.sum %x_dot   # line 2
  %sum_two_x_dot: float64 = * 2.0, %v3   # line 2
  return %v2, %sum_two_x_dot
}
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from ..analysis.activity import varied_values
from ..analysis.sharing import Sharing
from ..errors import UnsupportedError
from ..ir.core import DERIVED, FUNC, Function, Op, Value, leaves, type_of
from ..ir.opset import LEN, SUM_TO, may_repeat
from ..ir.rewrite import clone_function, clone_op, has_ducks, replace_values, substitute
from ..late import late
from .common import merge_equal
from .passes import Task, adjoint, run_adjoint, run_stage
from .results import own_tangents
from .simplify import drop_dead

is_number = late(__package__, "jacobian", "is_number")


def pushforward(
    fn: Function, wrt: Sequence[int], handed_on: Container[int] = (), marked: bool = False
) -> Function:  # fmt: skip
    """The simplified pushforward of a function; see `transforms.jvp.push_forward`.

    marked: operations on tangents keep the tag `DERIVED`.
    """
    return run_stage("tangent", Task(fn, wrt, handed_on=handed_on, marked=marked)).fn


def taylor(fn: Function, wrt: Sequence[int], orders: int, handed_on: Container[int] = ()) -> Function:
    """The simplified function with Taylor coefficients to order `orders`; see `transforms.taylor.push_series`."""
    return run_stage("tangent", Task(fn, wrt, handed_on=handed_on, orders=orders)).fn


def coefficient(fn: Function, wrt: int, order: int) -> Function:
    """The function of fn's parameters that returns its derivative of this order, times one over the factorial of the
    order, by the parameter `wrt`, which is one number. That of a result that does not move is 0.
    """
    count = len(fn.results)
    made = run_stage("tangent", Task(fn, [wrt], [1.0], orders=order)).fn
    made.body.exit = tuple([_number(c) for c in made.body.exit[count * order :]])
    drop_dead(made)
    return made


def _number(c: Any) -> Any:
    """A coefficient, also where it is no operation."""
    return c if type(c) is Value else 0.0 if c is None else np.asarray(c)[()]


def jacobian(
    fn: Function, wrt: Sequence[int], results: Sequence[int], *, forward: bool, keep: Sequence[int] = (),
    budget: int | str | None = None,
) -> Function:  # fmt: skip
    """The function that returns the results numbered `keep`, and then, for each of `results` and each of the parameters
    `wrt`, the Jacobian; see `transforms.jacobian`. `budget`: as for `adjoint`.
    """
    _refuse_ducks(fn)
    count = len(fn.results)
    if forward:
        single = len(wrt) == 1 and is_number(fn.params[wrt[0]])
        aside = [k for k in range(count) if k not in results]
        task = run_stage("tangent", Task(fn, wrt, [1.0] if single else None, handed_on=aside))
        derived = [task.fn.body.exit[count + k] for k in results]
    else:
        single = len(results) == 1 and is_number(fn.results[results[0]])
        seeds = [(1.0 if single else None) if k in results else False for k in range(count)]
        task = run_adjoint(Task(fn, wrt, seeds, keep_results=True, budget=budget))
        derived = list(task.fn.body.exit[count:])
    if single:
        task.fn.body.exit = (*[task.fn.body.exit[k] for k in keep], *derived)
        return task.fn
    return run_stage("stack", Task(task.fn, wrt, forward=forward, results=results, keep=keep)).fn


def _refuse_ducks(fn: Function) -> None:
    if has_ducks(fn):
        raise UnsupportedError(
            "a Jacobian or a Hessian where there are arrays of other libraries: its directions are arrays of NumPy's",
            None,
            "use vjp, jvp or hvp for the directions that you need",
        )


def combinations(fn: Function, wrt: int, result: int, *, forward: bool) -> Function:
    """The function of fn's parameters, and of a stack of directions, that returns the derivatives of one result by one
    parameter along these: tangents of the parameter, or cotangents of the result; see `transforms.jacobian.combine`.
    """
    _refuse_ducks(fn)
    if forward:
        task = run_stage("tangent", Task(fn, [wrt]))
    else:
        seeds = [None if k == result else False for k in range(len(fn.results))]
        task = run_adjoint(Task(fn, [wrt], seeds, keep_results=True))
    return run_stage("stack", Task(task.fn, [wrt], forward=forward, results=[result], combined=True)).fn


def linear(fn: Function, wrt: Sequence[int], moving: Sequence[int]) -> Function:
    """The function of fn's parameters, and of a tangent for each of the parameters numbered `wrt`, that returns fn's
    results, and then the tangents of the results numbered `moving`. It is made to be split behind the results.

    What no tangent changes is computed once. Where a rule reads a cotangent otherwise than linearly, that cannot be
    told, and the tangents are those of the pushforward, which computes the function anew.
    """
    made = _transposed_twice(fn, wrt, moving)
    if made is None:
        made = _pushed_anew(fn, wrt, moving)
    made.meta.update(wrt=wrt, inner="pushforward")
    return made


def _transposed_twice(fn: Function, wrt: Sequence[int], moving: Sequence[int]) -> Function | None:
    """The pullback of the pullback, which takes tangents to tangents; None if something decides by a cotangent."""
    count = len(fn.results)
    seeds = [None if k in moving else False for k in range(count)]
    back = run_stage("adjoint", Task(fn, wrt, seeds, keep_results=True, masks=None, transposed=True)).fn
    first = len(back.params) - len(moving)
    del back.meta["seed_params"]
    for bar, k in zip(back.params[first:], moving):
        bar.type = type_of(back.results[k])  # no caller gives it, so it is what is most convenient
    seeds = [*[False] * count, *[None] * len(wrt)]
    given = range(first, len(back.params))
    again = run_stage("adjoint", Task(back, given, seeds, keep_results=True, masks=None, transposed=True)).fn
    body = again.body
    body.exit = (*body.exit[:count], *body.exit[count + len(wrt) :])
    tangents = dict(zip(body.params[len(body.params) - len(wrt) :], [fn.params[k].type for k in wrt]))
    for p, t in tangents.items():
        p.type = t  # as the caller has made it, so it is not fitted to the pullback's result
    fitted = [op for op in body.walk() if op.prim is SUM_TO and op.args[0] in tangents]
    replace_values(body, {op.result: op.args[0] for op in fitted})
    drop_dead(again)
    bars = body.params[first : first + len(moving)]
    del body.params[first : first + len(moving)]
    moved = varied_values(body, bars)
    read = [v for op in body.walk() if (op.prim.nondiff or op.regions) and op.prim is not LEN for v in _content(op)]
    if any(v in moved for v in (*leaves(body.exit), *read)):
        return None
    # What is left reads the shape of a cotangent, which is that of its result.
    replace_values(body, {bar: body.exit[k] for bar, k in zip(bars, moving)})
    from ..ir.verify import VerifyError, verify

    try:
        verify(again)
    except VerifyError:  # it reads the shape where the result is not there yet
        return None
    for v in [*body.params, *[r for op in body.walk() for r in op.results]]:
        v.hint = v.hint.replace("_bar_bar", "_dot")
    return again


def _pushed_anew(fn: Function, wrt: Sequence[int], moving: Sequence[int]) -> Function:
    """The function, and behind it its pushforward, which computes it a second time."""
    count = len(fn.results)
    for op in fn.body.walk():
        if not may_repeat(op):
            raise UnsupportedError(
                f"linearize of this function computes it anew for each tangent, and it has an effect ({op.prim.name})",
                op.loc,
                "use jvp",
            )
    push = pushforward(fn, wrt, [k for k in range(count) if k not in moving])
    made = clone_function(fn)[0]
    body = made.body
    mapping = dict(zip(push.params, body.params))
    for p in push.params[len(fn.params) :]:
        mapping[p] = body.param(p.type, p.hint)
    first = len(body.ops)
    for op in push.body.ops:
        clone_op(op, mapping, body)
    for op in body.ops[first:]:
        for inner in (op, *[x for region in op.regions for x in region.walk()]):
            inner.tag = DERIVED
    tangents = [substitute(push.results[count + k], mapping) for k in moving]
    body.exit = (*body.exit, *[0.0 if t is None else t for t in tangents])
    made.meta["seed_params"] = len(push.params) - len(fn.params)
    return made


def gauss_newton(
    fn: Function, wrt: Sequence[int], moving: Sequence[int], keep: Sequence[int] = (), budget: int | str | None = None
) -> Function:  # fmt: skip
    """The function of fn's parameters, and of a tangent for each of the parameters numbered `wrt`, that returns the
    results numbered `keep`, and then the pullback of the tangents of the results numbered `moving`.
    """
    count = len(fn.results)
    push = pushforward(fn, wrt, [k for k in range(count) if k not in moving])
    seeds = [None if k in moving else False for k in range(len(push.results))]
    back = adjoint(push, wrt, seeds=seeds, keep_results=True, budget=budget)
    body, bars = back.body, back.params[len(push.params) :]
    exits = body.exit
    body.exit = (*[exits[k] for k in keep], *exits[len(push.results) :])
    replace_values(body, {bar: exits[count + k] for bar, k in zip(bars, moving)})
    del body.params[len(push.params) :]
    del back.meta["seed_params"]
    drop_dead(back)
    merge_equal(back)
    return back


def _content(op: Op) -> list[Any]:
    """The values whose content an operation reads: of a branch or a loop, those that decide. Lists have the lengths of
    those of the function."""
    if op.prim is FUNC:
        return []
    return (
        leaves(op.args[0])
        if op.regions
        else leaves([arg for k, arg in enumerate(op.args) if k not in op.prim.shape_only])
    )


def finish(fn: Function, count: int) -> None:
    """Give the last `count` results the kind, shape and dtype of the parameters that ``meta["wrt"]`` numbers."""
    run_stage("finish", Task(fn, count=count))


def restore_in_place(
    fn: Function, *, split: int | None = None, before_change: Callable[[], None] | None = None, loops: bool = False,
) -> Sharing:  # fmt: skip
    """Make every store of a function safe in place, and return what values may share, for the code generator.

    `split`: the backward sweep becomes a function of its own that may be called again, and the first `split` results
    are those of the forward sweep. `before_change` is called if copies are needed, before the first is inserted.
    `loops`: the function is lowered to loops over numbers, see `native`.
    """
    helpers = before_change is None and not loops
    task = Task(fn, split=split, before_change=before_change, loops=loops, helpers=helpers)
    sharing = run_stage("print", task).sharing
    assert sharing is not None
    return sharing


__all__ = [
    "adjoint",
    "coefficient",
    "combinations",
    "finish",
    "gauss_newton",
    "jacobian",
    "linear",
    "own_tangents",
    "pushforward",
    "restore_in_place",
    "taylor",
]
