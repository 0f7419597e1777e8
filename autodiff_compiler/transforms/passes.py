"""The one table of passes, from a lowered function to a derivative that is ready to be printed.

Takes the SSA form of a function. Gives the SSA form of its adjoint, in which every store may be done in place. `PASSES`
lists the passes in order; no pass calls another one. After each pass, the SSA form is valid (`ir.verify`). What it
looks like then can be seen:

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def double(x):
...     return np.sum(2.0 * x)
>>> seen = []
>>> with after_each_pass(lambda name, fn: seen.append((name, print_function(fn)))):
...     adjoint_of_double = adjoint(lower(double, (np.ones(3),)).function, [0], seeds=[1.0])
>>> [name for name, _ in seen]
['differentiate', 'shapes', 'dead code', 'residuals', 'factors']
>>> print(dict(seen)["residuals"])
func double(%x: float64[d1]) {
  %x_bar: float64[d1] = spread 2.0, %x   # line 2
  return %x_bar
}
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..analysis.order import Order
from ..analysis.sharing import Sharing
from ..errors import InternalError
from ..ir.budget import doing
from ..ir.core import DERIVED, LOOP, Function, Value
from ..ir.custom import CUSTOMS
from ..ir.opset import ACCUM, ADD, ADDAT, CHECKPOINT, GET, KEEP_WITHIN, MUL, NEG, SEGMENTS, SET, STACK_NEW, SUB
from ..ir.rewrite import has_ducks
from ..late import late
from ..records import mutable_record, record
from .common import merge_equal
from .factors import merge_factors
from .indices import repeat_indices
from .inplace import InPlace
from .residuals import place
from .results import finish_results, finish_tangents, own_what_is_read
from .shapes import shapes_from_arguments
from .simplify import drop_dead, fuse_branches, simplify
from .vjp import differentiate

# Passes that many functions do not need are imported when they first run: here those that functions of this module run,
# and by rows of the table the others.
append_items = late(__package__, "appended", "append_items")
bundle = late(__package__, "bundle", "bundle")
opened, segmented = late(__package__, "checkpoint", "opened", "segmented")
call_functions = late(__package__, "custom", "call_functions")
one_code = late(__package__, "exits", "one_code")
forget_likes = late(__package__, "lists", "forget_likes")
add_parts, store_first, store_sums = late(__package__, "first_stores", "add_parts", "store_first", "store_sums")
share_helpers = late(__package__, "helpers", "share_helpers")
combine, stack_cotangents, stack_tangents = late(
    __package__, "jacobian", "combine", "stack_cotangents", "stack_tangents"
)
push_forward = late(__package__, "jvp", "push_forward")
simplify_masks = late(__package__, "masks", "simplify_masks")
has_products, multiply_at_once = late(__package__, "products", "has_products", "multiply_at_once")
by_public_functions = late(__package__, "public_functions", "by_public_functions")
reassociate = late(__package__, "reassociate", "reassociate")
check_first, share = late(__package__, "residual_budget", "check_first", "share")
take_shortcuts = late(__package__, "shortcuts", "take_shortcuts")
push_series = late(__package__, "taylor", "push_series")
carry_items = late(__package__, "carried_items", "carry_items")
own_lists = late(__package__, "own_lists", "own_lists")


@mutable_record
class Task:
    """A function on its way through the passes, and what they are asked to do with it."""

    fn: Function
    wrt: Sequence[int] = ()
    seeds: Sequence[Any] | None = None
    keep_results: bool = False
    optimise: bool = True
    use_up: bool = False
    masks: bool | None = True
    transposed: bool = False  # the adjoint is differentiated by its cotangents: they stand for tangents
    count: int = 0  # how many results are cotangents
    handed_on: Container[int] = ()  # the results that have no tangents
    split: int | None = None  # how many results belong to the forward sweep, if the backward sweep is a function
    before_change: Callable[[], None] | None = None  # called before the pass "in place" changes the function
    sharing: Sharing | None = None
    forward: bool = False  # what is stacked are tangents
    results: Sequence[int] = ()  # the results that a Jacobian differentiates
    keep: Sequence[int] = ()  # and those that it returns in front
    orders: int = 0  # how many Taylor coefficients stand beside an active value, if they are not tangents
    combined: bool = False  # the directions are a parameter
    shared: bool = False  # loops with both sweeps have been made, or operations have left loops
    loops: bool = False  # what is made is lowered to loops over numbers, and not printed as NumPy
    budget: int | str | None = None  # the bytes that loops may keep for the backward sweep
    moving: int | None = 0  # how many tangents will be pushed through both sweeps; None: one for each element of `wrt`
    helpers: bool = False  # what is printed may be several functions
    marked: bool = False  # operations on tangents stay marked, so that they can be told from those of the function


@record
class Pass:
    """A row of the table: what a pass is called, what it does, what it needs, and what it gives.

    `run` changes the task's function; it may return False to say that it has not. The pass is left out where `when`
    says so, and where none of the operations `on` occurs, which are given by name: it could not change anything then.
    `doing` is what a long compilation says that it is doing, from here on. `kept` says why nobody may leave it out
    (`leaving_out`); the others only make the code better.
    """

    stage: str
    name: str
    run: Callable[[Task], Any]
    needs: str
    gives: str
    when: Callable[[Task], bool] = lambda task: True
    doing: str = ""
    kept: str = ""
    on: str = ""


# Optimisations within passes, by name.
WITHIN = {
    "peepholes": "operations of the backward sweep are simplified while they are built",
    "recompute": "what costs less to compute again than to save is computed again",
}


def _share(task: Task) -> None:
    assert task.budget is not None
    task.fn, task.use_up = share(task.fn, task.wrt, task.seeds, task.budget, task.moving), True


def _segments(task: Task) -> None:
    task.fn, task.use_up = segmented(task.fn), True


def _products(task: Task) -> None:
    task.fn, task.use_up = multiply_at_once(task.fn), True


def _one_code(task: Task) -> None:
    task.fn, task.use_up = one_code(task.fn), True


def _differentiate(task: Task) -> None:
    if any(op.prim is KEEP_WITHIN for op in task.fn.body.walk()):
        check_first(task.fn)
    task.fn = differentiate(
        task.fn, task.wrt, seeds=task.seeds, keep_results=task.keep_results, optimise=_wanted(task, "peepholes"),
        use_up=task.use_up, masks=task.masks, transposed=task.transposed, adjoint=adjoint,
    )  # fmt: skip


def _push_forward(task: Task) -> None:
    if task.orders:
        task.fn = push_series(task.fn, task.wrt, task.orders, task.handed_on, task.seeds, adjoint)
    else:
        task.fn = push_forward(task.fn, task.wrt, task.handed_on, task.seeds, adjoint)


def _stack(task: Task) -> None:
    if task.combined:
        task.fn = combine(task.fn, task.results[0], task.forward)
        return
    stack = stack_tangents if task.forward else stack_cotangents
    task.fn = stack(task.fn, task.wrt, task.results, task.keep)


def _own(task: Task) -> None:
    if task.split is not None:
        own_what_is_read(task.fn, task.split)


def _in_place(task: Task) -> None:
    """Insert copies until no store conflicts with a later read."""
    rounds = InPlace(task.fn, task.split is not None)
    while rounds.find_conflicts():
        _announce(task)
        rounds.insert_copies()
    task.sharing = rounds.sharing


def _plain(module: str, name: str) -> Callable[[Task], Any]:
    """A pass that is a function of the function, in a module that is imported when it first runs."""
    run = late(__package__, module, name)
    return lambda task: run(task.fn)


def _changing(module: str, name: str) -> Callable[[Task], bool]:
    """The same for one that says whether it has changed the function, and announces its first change."""
    run = late(__package__, module, name)
    return lambda task: bool(_apply(run, task))


def _sharing(module: str, name: str) -> Callable[[Task], bool]:
    """The same for one behind which the pass "common" has to run."""
    run = late(__package__, module, name)

    def go(task: Task) -> bool:
        changed = bool(_apply(run, task))
        task.shared = task.shared or changed
        return changed

    return go


def _merging(module: str, name: str) -> Callable[[Task], bool]:
    """The same for one that leaves operations that are equal: divisions whose divisors are known are plain ones."""
    run = late(__package__, module, name)

    def go(task: Task) -> bool:
        changed = bool(_apply(run, task))
        if changed:
            merge_equal(task.fn)
        return changed

    return go


def _apply(run: Callable[..., Any], task: Task) -> Any:
    """Run a pass that calls what it is given in front of its first change. What it returns is true if it made one."""
    changed = run(task.fn, task.before_change)
    if changed:
        task.before_change = None
    return changed


def _announce(task: Task) -> None:
    """A change follows, whatever the pass finds."""
    if task.before_change is not None:
        task.before_change()
        task.before_change = None


def _reassociate(task: Task) -> None:
    _announce(task)
    reassociate(task.fn)


def _carry_items(task: Task) -> None:
    if _apply(carry_items, task):
        drop_dead(task.fn)  # the subscripts


def _append_items(task: Task) -> None:
    if append_items(task.fn, task.split is not None):
        drop_dead(task.fn)  # the lists, and their lengths


def _store_first(task: Task) -> None:
    if _apply(add_parts, task):
        drop_dead(task.fn)  # the zeros, and their shapes
    _apply(store_first, task)
    _apply(store_sums, task)


def _share_helpers(task: Task) -> None:
    assert task.sharing is not None
    if share_helpers(task.fn, task.sharing):
        task.sharing = Sharing(Order(task.fn.body))


def _bundle(task: Task) -> None:
    bundle(task.fn)
    if task.split is None:  # a pullback that may be called again takes from copies of the stacks, not of lists on them
        own_lists(task.fn)


def _public_functions(task: Task) -> None:
    _announce(task)
    by_public_functions(task.fn)


def _take_shortcuts(task: Task) -> None:
    made = take_shortcuts(task.fn, task.before_change)
    if made is not None:
        task.before_change = None
        merge_equal(task.fn, made)  # the derivative of a deviation has the differences, too


def _has_regions(task: Task) -> bool:
    """Without regions there is nothing to fold, and the pass before has left nothing dead."""
    return task.optimise and any(op.regions for op in task.fn.body.ops)


def _has_exits(task: Task) -> bool:
    """Some iteration of a loop may leave it."""
    return any(op.prim is LOOP and type(op.regions[0].exit[0]) is Value for op in task.fn.body.walk())


def _has_helpers(task: Task) -> bool:
    """Some helper was called."""
    return any(op.loc is not None and op.loc.caller is not None for op in task.fn.body.walk())


def asks_for_segments(fn: Function) -> bool:
    """Some loop of the function is to be reversed segment by segment."""
    return any(op.prim is LOOP and not SEGMENTS.isdisjoint(op.kwargs) for op in fn.body.walk())


def _asks_for_bytes(task: Task) -> bool:
    """Some loop of the function keeps within a budget."""
    return any(op.prim is KEEP_WITHIN or "whole" in op.kwargs for op in task.fn.body.walk())


def _carries_matrix(task: Task) -> bool:
    """Some loop carries a matrix."""
    loops = [op for op in task.fn.body.walk() if op.prim is LOOP]
    return any(p.type.kind == "array" and p.type.ndim == 2 for op in loops for p in op.regions[0].params)


def _has_products(task: Task) -> bool:
    """The derivative has two products of arrays of its own, or more."""
    products = [op for op in task.fn.body.walk() if op.prim is MUL and op.tag == DERIVED]
    return sum([op.result.type.kind == "array" for op in products]) > 1


def _adds_products(task: Task) -> bool:
    """The derivative adds products of numbers of its own that have a factor in common, or it has products of arrays."""
    seen: set[tuple[Any, Value]] = set()
    for op in task.fn.body.walk():
        todo = list(op.args) if op.prim in (ADD, SUB, ACCUM) and op.tag == DERIVED and op.result.type.is_scalar else []
        while todo:
            x = todo.pop()
            term = x.op if type(x) is Value else None
            if term is None or term.prim not in (MUL, NEG) or term.tag != DERIVED:
                continue
            factors = [(op.parent, y) for y in term.args if type(y) is Value and term.prim is MUL]
            if not seen.isdisjoint(factors):
                return True
            seen.update(factors)
            todo += term.args
    return _has_products(task)


def _has_ints(task: Task) -> bool:
    """Something is computed of an int and something else."""
    names = ("set", "np.where", "np.clip")
    ops = [op for op in task.fn.body.walk() if op.prim.elementwise or op.prim.name in names]
    return any(type(x) is int for op in ops for x in op.args)


def _has_negatives(task: Task) -> bool:
    """The derivative has a negative number among the operands of an operation of its own."""
    own = [op for op in task.fn.body.walk() if op.tag == DERIVED and op.prim in (ADD, SUB, MUL)]
    return any(type(x) is float and x < 0.0 for op in own for x in op.args)


def _may_have_numbers(task: Task) -> bool:
    """Some loop may read or store an element of an array, or compute with a number of NumPy's."""
    return any(
        op.prim in (GET, SET, ADDAT)
        or (op.parent is not task.fn.body and any(v.type.kind == "generic" for v in op.operands()))
        for op in task.fn.body.walk()
    )


def _wanted(task: Task, name: str) -> bool:
    """The task is to be optimised, also by the optimisation `name` within a pass."""
    return task.optimise and name not in _left_out.get()


DEAD = "dead code may read what is undefined"

# fmt: off
PASSES: tuple[Pass, ...] = (
    Pass("adjoint", "products", _products,
         "a function", "loops over the rows of a matrix multiply them by another one in front",
         lambda task: task.optimise and _reassociating.get() and has_products(task.fn),
         kept="reassociate=True asks for it",
         on="loop"),
    Pass("adjoint", "budget", _share,
         "a function", "a choice in front of each loop: all that it saves is kept, or few snapshots are",
         lambda task: task.budget is not None, kept="max_residual_bytes asks for it"),
    Pass("adjoint", "segments", _segments,
         "a function", "loops that ask for it are loops over segments, each of which is a checkpoint",
         lambda task: asks_for_segments(task.fn), kept="the program asks for segments",
         on="loop"),
    Pass("adjoint", "exits", _one_code,
         "a function", "branches behind a loop ask how it was left by its code, of which each way out has its own",
         lambda task: task.optimise and _has_exits(task),
         on="loop"),
    Pass("adjoint", "differentiate", _differentiate,
         "a function", "its adjoint: the backward sweep names forward values wherever they are defined",
         doing="differentiating it", kept="it makes the derivative"),
    Pass("adjoint", "masks", lambda task: simplify_masks(task.fn, task.masks is True),
         "an adjoint", "no mask of a cotangent is true everywhere, or applied again", lambda task: task.optimise,
         on="np.where np.logical_not"),
    Pass("adjoint", "shapes", lambda task: shapes_from_arguments(task.fn),
         "an adjoint", "operations that need a shape only ask an argument for it", lambda task: task.optimise),
    Pass("adjoint", "reciprocals", _plain("reciprocals", "share_reciprocals"),
         "an adjoint", "nothing is divided by a number and multiplied by its reciprocal", lambda task: task.optimise,
         on="/"),
    Pass("adjoint", "dead code", lambda task: drop_dead(task.fn),
         "any function", "no operation is left that nothing needs: dead code may read what is undefined on its path",
         kept=DEAD),
    Pass("adjoint", "residuals", lambda task: place(task.fn, _wanted(task, "recompute")),
         "an adjoint without dead code", "the backward sweep reads only values that are in scope",
         kept="without it, the backward sweep reads what is out of scope"),
    Pass("adjoint", "bytes", _plain("residual_budget", "count"),
         "an adjoint", "in front of loops, the bytes are known that an iteration saves",
         lambda task: _asks_for_bytes(task), kept="a budget asks for them"),
    Pass("adjoint", "fuse branches", lambda task: fuse_branches(task.fn),
         "any function", "branches on one condition that follow each other are one branch", _has_regions,
         doing="simplifying the adjoint"),
    Pass("adjoint", "simplify", lambda task: simplify(task.fn),
         "any function", "no trivial control flow and no dead code", _has_regions),
    Pass("adjoint", "factors", lambda task: merge_factors(task.fn),
         "an adjoint", "no two numbers are factors of one product", lambda task: task.optimise),
    Pass("adjoint", "turned signs", _changing("turned_signs", "turn_signs"),
         "an adjoint", "no product with a negative number is added",
         lambda task: task.optimise and _has_negatives(task), on="+ - accum addat"),
    Pass("adjoint", "collect", _plain("collect", "collect"),
         "an adjoint", "no reversed loop adds outer products to a matrix that it does nothing else with",
         lambda task: _has_regions(task) and _carries_matrix(task), on="loop"),
    Pass("finish", "finish", lambda task: finish_results(task.fn, task.count),
         "an adjoint", "its cotangents have the kind, shape and dtype of the arguments",
         kept="it makes the results"),
    Pass("tangent", "push forward", _push_forward,
         "a function", "the function with a tangent beside each active value", doing="differentiating it",
         kept="it makes the derivative"),
    Pass("tangent", "shapes", lambda task: shapes_from_arguments(task.fn),
         "any function", "operations that need a shape only ask an argument for it"),
    Pass("tangent", "stored", _plain("stored", "read_once"),
         "any function", "no number is read back from the place where it was just stored"),
    Pass("tangent", "common", lambda task: merge_equal(task.fn),
         "any function", "no operation of a derivative computes what is there already"),
    Pass("tangent", "fuse branches", lambda task: fuse_branches(task.fn),
         "any function", "branches on one condition that follow each other are one branch", _has_regions,
         doing="simplifying the tangents"),
    Pass("tangent", "simplify", lambda task: simplify(task.fn),
         "any function", "no trivial control flow and no dead code"),
    Pass("tangent", "finish tangents", lambda task: finish_tangents(task.fn, task.orders or 1, task.marked),
         "a function with tangents", "the tangents of results have their kind, shape and dtype",
         kept="it makes the results"),
    Pass("stack", "stack", _stack,
         "a pushforward, or an adjoint that keeps its results",
         "a function that returns derivatives along all unit directions, or along those that it is given",
         doing="stacking the derivatives", kept="it makes the derivative"),
    Pass("stack", "shapes", lambda task: shapes_from_arguments(task.fn),
         "any function", "operations that need a shape only ask an argument for it"),
    Pass("stack", "dead code", lambda task: drop_dead(task.fn),
         "any function", "no operation is left that nothing needs", kept=DEAD),
    Pass("print", "custom", lambda task: call_functions(task.fn),
         "any function", "in the place of each call of a function with rules stands what the function does",
         lambda task: any(op.prim in CUSTOMS for op in task.fn.body.walk()),
         kept="calls of functions with rules have no code of their own", on="custom"),
    Pass("print", "checkpoints", lambda task: opened(task.fn),
         "a function that nobody differentiates again", "no checkpoints: what is in them is in their places",
         lambda task: any(op.prim is CHECKPOINT for op in task.fn.body.walk()),
         kept="checkpoints have no code of their own",
         on="checkpoint"),
    Pass("print", "literals", _changing("literals", "write_floats"),
         "any function", "no int is an operand where all else is a float",
         lambda task: task.optimise and not task.loops and _has_ints(task) and not has_ducks(task.fn)),
    Pass("print", "reassociate", _reassociate,
         "a function that nobody differentiates again", "its sums may be rounded in another way",
         lambda task: _reassociating.get() and not task.loops and not has_ducks(task.fn),
         kept="reassociate=True asks for it"),
    Pass("print", "sweeps", _sharing("sweeps", "share_loops"),
         "an adjoint that is printed as one function", "a loop whose iterations only add is reversed as it runs",
         lambda task: task.split is None and _has_regions(task),
         on="loop"),
    Pass("print", "invariants", _sharing("invariants", "hoist_invariants"),
         "a function that nobody differentiates again", "no loop computes what it does not change",
         lambda task: not task.loops and _has_regions(task),
         on="loop"),
    Pass("print", "common", lambda task: merge_equal(task.fn),
         "any function", "no operation of a derivative computes what is there already", lambda task: task.shared),
    Pass("print", "inverses", _changing("inverses", "use_inverses"),
         "a function that nobody differentiates again", "no system is solved with a matrix whose inverse is there",
         lambda task: task.optimise,
         on="np.linalg.solve"),
    Pass("print", "dead stores", _changing("dead_stores", "drop_dead_stores"),
         "a function that nobody differentiates again", "no loop stores at its index what nothing reads", _has_regions,
         on="set addat"),
    Pass("print", "assembled", _changing("assembled", "take_apart"),
         "a function that nobody differentiates again", "no parts are read of zeros to which parts are added",
         lambda task: task.optimise and not task.loops and not has_ducks(task.fn),
         on="set addat"),
    Pass("print", "deferred", _changing("deferred", "defer"),
         "an adjoint without dead stores that nobody differentiates again",
         "no reversed loop adds outer products to columns that it has not reached",
         lambda task: not task.loops and _has_regions(task) and _carries_matrix(task) and not has_ducks(task.fn),
         on="loop"),
    Pass("print", "distribute", _changing("distribute", "distribute"),
         "an adjoint that nobody differentiates again", "no reversed loop adds rows that are known behind it",
         lambda task: not task.loops and _has_regions(task) and not has_ducks(task.fn),
         on="loop"),
    Pass("print", "begun", _changing("begun", "begin_rows"),
         "a function that nobody differentiates again", "no loop computes a term of a row that is known in front of it",
         lambda task: not task.loops and _has_regions(task) and not has_ducks(task.fn),
         on="set"),
    Pass("print", "outer factors", _changing("outer_factors", "pull_out"),
         "an adjoint that nobody differentiates again", "no loop multiplies what it adds up by what it does not change",
         lambda task: not task.loops and _has_regions(task) and not has_ducks(task.fn),
         on="loop"),
    Pass("print", "common factors", _changing("common_factors", "share_factors"),
         "an adjoint that nobody differentiates again", "no two terms of a sum are multiplied by one factor",
         lambda task: task.optimise and not task.loops and _adds_products(task) and not has_ducks(task.fn)),
    Pass("print", "scalings", _changing("scalings", "scale_once"),
         "an adjoint that nobody differentiates again", "no number multiplies all that is computed of an array",
         lambda task: task.optimise and not task.loops and _has_products(task) and not has_ducks(task.fn)),
    Pass("print", "contractions", _changing("contractions", "contract"),
         "a function that nobody differentiates again", "sums of products are products of vectors and matrices",
         lambda task: task.optimise and not task.loops and not has_ducks(task.fn),
         on="np.sum"),
    Pass("print", "turned signs", _changing("turned_signs", "turn_signs"),
         "an adjoint that nobody differentiates again", "no product with a negative number is added",
         lambda task: task.optimise and _has_negatives(task), on="+ - accum addat"),
    Pass("print", "transposes", _plain("transposes", "turn_products"),
         "an adjoint that nobody differentiates again", "no product of matrices is transposed",
         lambda task: task.optimise and not task.loops and not has_ducks(task.fn),
         on="get set addat"),
    Pass("print", "views", _plain("views", "share_views"),
         "a function that nobody differentiates again", "no part of an array is looked up again to be transposed",
         lambda task: task.optimise and not task.loops and not has_ducks(task.fn),
         on="get"),
    Pass("print", "own", _own,
         "an adjoint whose backward sweep becomes a function", "that function reads only arrays of its own",
         lambda task: task.split is not None, kept="without it, a pullback reads arrays that the program changes"),
    Pass("print", "templates", lambda task: forget_likes(task.fn),
         "an adjoint that nobody differentiates again", "deletions from lists carry no template of the deleted item",
         lambda task: task.before_change is None,
         on="list_drop list_cut"),
    Pass("print", "public functions", _public_functions,
         "any function", "arrays of other libraries are computed by functions that NumPy hands to them",
         lambda task: has_ducks(task.fn), kept="arrays of other libraries have no other operations"),
    Pass("print", "dead code", lambda task: drop_dead(task.fn, last=task.optimise),
         "any function", "no operation is left that nothing needs: a read by dead code may ask for a copy", kept=DEAD),
    Pass("print", "numbers", _merging("numbers", "numbers"),
         "any function", "numbers that loops compute one by one are Python's, their arrays are lists",
         lambda task: not task.loops and _has_regions(task) and _may_have_numbers(task) and not has_ducks(task.fn),
         on="loop"),
    Pass("print", "steady", _merging("invariants", "hoist_numbers"),
         "a function that nobody differentiates again", "no loop over numbers computes one that it does not change",
         lambda task: not task.loops and _has_regions(task),
         on="loop"),
    Pass("print", "carried items", _carry_items,
         "a function that nobody differentiates again", "no loop reads from a list what the iteration before it had",
         lambda task: not task.loops and _has_regions(task) and not has_ducks(task.fn),
         on="list_set list_addat"),
    Pass("print", "shortcuts", _take_shortcuts,
         "a function that nobody differentiates again", "no function is called that takes long to start",
         lambda task: task.optimise and not task.loops and not has_ducks(task.fn),
         on="np.roll np.mean np.linalg.norm np.var np.std np.sign"),
    Pass("print", "first stores", _store_first,
         "a function that nobody differentiates again", "what is added first to a place of zeros is stored there",
         lambda task: task.optimise and not task.loops and not has_ducks(task.fn),
         on="zeros_like np.zeros np.zeros_like"),
    Pass("print", "whole stores", _changing("whole_stores", "store_anew"),
         "a function that nobody differentiates again", "no array is copied that a new one takes the place of",
         lambda task: not task.loops and _has_regions(task) and not has_ducks(task.fn),
         on="set"),
    Pass("print", "in place", _in_place,
         "any function", "every store may be done in place: copies stand where old content is read later",
         doing="finding out which stores may be done in place",
         kept="without its copies, stores change what is read later"),
    Pass("print", "appended", _append_items,
         "a function whose stores are safe in place", "no loop stores at its index what it could append to a list",
         lambda task: not task.loops and task.before_change is None and _has_regions(task),
         on="list_set list_addat table_set table_addat"),
    Pass("print", "rows", _plain("rows", "share_rows"),
         "a function whose stores are safe in place", "no loop looks up a row that it does not change",
         lambda task: not task.loops and task.before_change is None and _has_regions(task),
         on="list_get table_get table_set table_addat"),
    Pass("print", "bundle", _bundle,
         "a function whose stores are safe in place", "values that are saved together are on one stack",
         lambda task: not task.loops and any(op.prim is STACK_NEW for op in task.fn.body.ops),
         on="stack"),
    Pass("print", "unpack", _plain("unpack", "unpack"),
         "a function whose stores are safe in place", "arrays are unpacked, and made of numbers, by one operation",
         lambda task: task.optimise and not task.loops and task.before_change is None,
         on="zeros_like raise"),
    Pass("print", "items", _plain("items", "name_items"),
         "a function whose stores are safe in place", "loops that read lists by their variable run over the items",
         lambda task: not task.loops and task.before_change is None and _has_regions(task),
         on="list_get"),
    Pass("print", "indices", lambda task: repeat_indices(task.fn),
         "a function whose stores are safe in place", "no index has a variable that two or three operations read",
         lambda task: not task.loops and _has_regions(task)),
    Pass("print", "helpers", _share_helpers,
         "a function whose stores are safe in place", "what several calls of a helper do is a function of its own",
         lambda task: task.helpers and _has_helpers(task)),
)
# fmt: on

_left_out: ContextVar[frozenset[str]] = ContextVar("left_out", default=frozenset())
_reassociating: ContextVar[bool] = ContextVar("reassociating", default=False)
_observer: ContextVar[Callable[[str, Function], None] | None] = ContextVar("observer", default=None)


@contextmanager
def after_each_pass(look: Callable[[str, Function], None]) -> Iterator[None]:
    """In this context, `look` gets the name of each pass that has run, and the function as it is then."""
    token = _observer.set(look)
    try:
        yield
    finally:
        _observer.reset(token)


def optional_names() -> list[str]:
    """The names that `leaving_out` takes: passes that only make the code better, and optimisations within passes."""
    return [*dict.fromkeys([row.name for row in PASSES if not row.kept]), *WITHIN]


def names_left_out(optimize: bool | str) -> frozenset[str]:
    """The passes that the option `optimize` of a transformation leaves out.

    >>> sorted(names_left_out("-numbers, -sweeps"))
    ['numbers', 'sweeps']
    >>> names_left_out("-finish")
    Traceback (most recent call last):
    ValueError: optimize='-finish': the pass 'finish' cannot be left out (it makes the results)
    """
    if type(optimize) is bool:
        return frozenset() if optimize else frozenset(optional_names())
    if not isinstance(optimize, str):
        raise TypeError(f"optimize is True, False, or a text such as '-numbers, -sweeps', not {optimize!r}")
    names = [word.strip() for word in optimize.split(",") if word.strip()]
    needed = {row.name: row.kept for row in PASSES if row.kept}
    for word in names:
        name = word.removeprefix("-").strip()
        if name in needed:
            raise ValueError(f"optimize={optimize!r}: the pass {name!r} cannot be left out ({needed[name]})")
        if name not in optional_names() or not word.startswith("-"):
            wrong = f"no pass is called {name!r}" if word.startswith("-") else f"write '-{name}' to leave a pass out"
            raise ValueError(
                f"optimize={optimize!r}: {wrong}; those that may be left out: {', '.join(optional_names())}"
            )
    return frozenset([word[1:].strip() for word in names])


@contextmanager
def leaving_out(names: Iterable[str]) -> Iterator[None]:
    """In this context, the passes with these names, which are optional, do not run."""
    token = _left_out.set(_left_out.get() | frozenset(names))
    try:
        yield
    finally:
        _left_out.reset(token)


@contextmanager
def reassociating() -> Iterator[None]:
    """In this context, the value of what is printed may be rounded otherwise than the function's."""
    token = _reassociating.set(True)
    try:
        yield
    finally:
        _reassociating.reset(token)


def is_changed(names: Iterable[str], loose: bool) -> bool:
    """A context is open in which other passes run than the options of a transformation say, or are looked at."""
    return (
        _observer.get() is not None or not _left_out.get() <= frozenset(names) or (_reassociating.get() and not loose)
    )


def run_stage(stage: str, task: Task) -> Task:
    """Run the passes of a stage in order. An `InternalError` names the pass that failed."""
    look, left_out = _observer.get(), _left_out.get()
    occur: set[str] | None = None  # the names of the operations that there are
    for row in PASSES:
        if row.stage != stage or (not row.kept and row.name in left_out):
            continue
        if row.on and occur is None:
            occur = {op.prim.name for op in task.fn.body.walk()}
        if (row.on and occur is not None and occur.isdisjoint(row.on.split())) or not row.when(task):
            continue
        if row.doing:
            doing(row.doing)
        with InternalError.during(f"the pass {row.name!r}", task.fn.name):
            if row.run(task) is not False:
                occur = None
        if look is not None:
            look(row.name, task.fn)
    return task


def adjoint(
    fn: Function, wrt: Sequence[int], *, keep_results: bool = False, seeds: Sequence[Any] | None = None,
    optimise: bool = True, use_up: bool = False, masks: bool | None = True, budget: int | str | None = None,
    moving: int | None = 0,
) -> Function:  # fmt: skip
    """The simplified adjoint of a function; see `transforms.vjp.differentiate`.

    budget: the bytes that loops may keep for the backward sweep; see `transforms.residual_budget`.
    moving: how many tangents the caller will push through the adjoint; None: one for each element of `wrt`.

    Without `optimise`, no peephole, no recomputation, no folding: what tests compare the usual one with.
    """
    return run_adjoint(Task(fn, wrt, seeds, keep_results, optimise, use_up, masks, budget=budget, moving=moving)).fn


def run_adjoint(task: Task) -> Task:
    """Run the passes that make an adjoint."""
    # With snapshots, the iterations of a loop stand in the code several times, so that no single branch can ask for the
    # code of its exit. The same holds for the loops inside of it, whose adjoints are made on the way.
    with leaving_out(["exits"] if task.budget is not None or asks_for_segments(task.fn) else []):
        return run_stage("adjoint", task)


__all__ = [
    "PASSES",
    "WITHIN",
    "Pass",
    "Task",
    "adjoint",
    "after_each_pass",
    "is_changed",
    "leaving_out",
    "names_left_out",
    "optional_names",
    "reassociating",
    "run_adjoint",
    "run_stage",
]
