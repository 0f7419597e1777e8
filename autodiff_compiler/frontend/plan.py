"""The plan of a lowering, and the one loop that makes and extends it.

A lowering is tried with an empty plan. Where it is found wanting, it says why: a `Reason`. The reason extends the plan,
and the function is lowered again. Each reason can extend the plan a limited number of times, so the loop ends: what a
function writes, calls and disturbs is finite, calls of a function by itself are lowered in five ways, and what has to
become static is bounded by `MAX_ATTEMPTS` and by the budget of operations.

>>> plan = Plan()
>>> outcomes = [CallsItself("walk", False), TooDeep(SelfCalls.INLINED)]
>>> def attempt(plan):
...     if outcomes:
...         raise FoundWanting(outcomes.pop(0))
...     return plan.self_calls
>>> lower_by_plan(plan, attempt, Budget("f", None))
<SelfCalls.INLINED_FOR_VALUES: 'inlined for the values of ints and the shapes at hand'>
>>> print(plan)
1. found wanting: a function calls itself
2. found wanting: it calls itself with the same types again (calls of itself were inlined as long as the types end them)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable
from dataclasses import field
from enum import Enum
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from ..errors import AutodiffError, UnsupportedError
from ..ir.budget import Budget, Exhausted
from ..lowered import LEAVING_OUT
from ..records import mutable_record, record

MAX_ATTEMPTS = 60  # to make something static
MAX_LEFT_OUT = 12  # statements

T = TypeVar("T")


class RecursionTooDeep(UnsupportedError):
    """A function that calls itself, lowered in this way, goes too deep or takes what cannot be passed on."""


class Kind(Enum):
    """What a plan may ask for, and what the target of such an action is."""

    SPLIT = "compile what follows once for each path of"  # a syntax node: an `if`, a call, ...
    PEEL = "lower the first trip apart in"  # a loop
    PEEL_TWO = "lower the first two trips apart in"  # a loop
    UNROLL = "unroll"  # a loop
    NOTHING_ASSUMED = "assume nothing of the names that are bound in"  # a loop
    STATIC = "compile for the value or the shape of"  # the path of an input
    LAYOUT = "compile for the memory layout of"  # the path of an input, or () for all
    EXACT = "know the state at each exception in"  # a `try` or `with`
    SUMMED = "collect the numbers of"  # a call of `sum`, see `table/iterables`
    UNWOUND = "follow the exceptions that leave"  # a `try` or `with` of which nobody catches the exceptions


SPLIT, PEEL, PEEL_TWO, UNROLL, NOTHING_ASSUMED, STATIC, LAYOUT, EXACT, SUMMED, UNWOUND = Kind


class Action(NamedTuple):
    """One thing that is lowered in another way: its kind, and a syntax node or the path of an input."""

    kind: Kind
    target: Any

    def __str__(self) -> str:
        if isinstance(self.target, ast.AST):
            line = getattr(self.target, "lineno", None)
            return f"{self.kind.value} the {type(self.target).__name__} in line {line}"
        if not self.target:
            return f"{self.kind.value} all inputs"
        first, *steps = self.target
        begin = f"argument {first[1] + 1}" if first[0] == "arg" else repr(first[-1])
        return f"{self.kind.value} {begin}" + "".join(f", {kind} {name}" for kind, name, *_ in steps)


class SelfCalls(Enum):
    """What becomes of a function's calls of itself, in the order in which it is tried."""

    INLINED = "inlined as long as the types end them"
    INLINED_FOR_VALUES = "inlined for the values of ints and the shapes at hand"
    FUNCTION = "calls of an IR function with arguments of the same types"
    INLINED_DEEPLY = "inlined deeply for the values of ints and the shapes at hand"
    FUNCTION_OF_ANY = "calls of an IR function with arguments of any types"

    @property
    def for_values(self) -> bool:
        """Ints and shapes are known."""
        return self in (SelfCalls.INLINED_FOR_VALUES, SelfCalls.INLINED_DEEPLY)


@mutable_record
class Plan:
    """What the next attempt does differently.

    actions:    and the error that each is to avoid; None: without it, the code is only less certain of what it handles
    refused:    the nodes for which that cannot be done
    written:    what is written outside of the function, see `outside`
    disturbed:  what foreign code may have changed, see `disturbed`
    impure:     cached functions of which only the live one knows the value
    self_calls: how calls of a function by itself are lowered
    nested:     functions (syntax trees) that are called while they run; recursive: those of them that are not inlined
    watch:      what is known of values of which only a run tells the type, see `observe`
    left_out:   statements on paths of branches and handlers that cannot be compiled: they raise the error when they run
    unhandled:  `try` statements that end the program where they catch something, and why
    candidate:  an error that was raised, and the statement with which it may be left out
    catch_all:  functions (syntax trees) in which a handler catches all there is, by whatever name
    peels:      whether the first trips of loops may be lowered apart
    demanding:  False while something is lowered only to see what it would do
    reasons:    for which the attempts so far were found wanting
    apart:      where paths meet that must not differ in the number of axes of an array, see `ir.apart`
    """

    actions: dict[Action, AutodiffError | None] = field(default_factory=dict)
    refused: set[Any] = field(default_factory=set)
    written: dict[Any, tuple[Any, set[str]]] = field(default_factory=dict)
    disturbed: dict[int, Any] = field(default_factory=dict)
    impure: list[Any] = field(default_factory=list)
    self_calls: SelfCalls = SelfCalls.INLINED
    nested: set[Any] = field(default_factory=set)
    recursive: set[Any] = field(default_factory=set)
    watch: Any = None
    left_out: set[Any] = field(default_factory=set)
    unhandled: dict[Any, AutodiffError] = field(default_factory=dict)
    candidate: Any = None
    catch_all: set[Any] = field(default_factory=set)
    peels: bool = True
    demanding: bool = True
    reasons: list[Reason] = field(default_factory=list)
    apart: frozenset[Any] = frozenset()

    def __str__(self) -> str:
        return "\n".join(f"{n}. found wanting: {reason}" for n, reason in enumerate(self.reasons, 1))

    def begun(self, other: Plan) -> Plan:
        """A plan for what `other` is for that begins with what this one has."""
        written = {key: (holder, set(names)) for key, (holder, names) in self.written.items()}
        kept = {name: copy.copy(getattr(self, name)) for name in _EXTENDED}
        return Plan(watch=other.watch, apart=other.apart, written=written, **kept)

    def has(self, kind: Kind, node: Any) -> bool:
        return bool(self.actions) and (kind, original(node)) in self.actions

    def avoided(self, kind: Kind, node: Any) -> AutodiffError | None:
        """The error that an action of the plan is to avoid."""
        return self.actions[Action(kind, original(node))]

    @property
    def statements(self) -> set[Any]:
        """The expressions that are to become statements."""
        return {node for kind, node in self.actions if kind is SPLIT and isinstance(node, ast.expr)}

    def is_static(self, path: Any, obj: int | np.ndarray) -> bool:
        """Whether the code is for this value of an int, or this shape of an array, only."""
        return self.self_calls.for_values or (bool(self.actions) and (STATIC, path) in self.actions)

    def extend(self, reason: Reason) -> None:
        """Extend the plan for the next attempt, or raise the error that stands."""
        self.reasons.append(reason)
        reason.extend(self)

    def require(self, actions: Iterable[Action] | None, error: AutodiffError | None) -> None:
        """Find the attempt wanting for these actions, if they are possible and new."""
        new = [a for a in actions or () if a not in self.actions]
        if not self.demanding or not new or any(a.target in self.refused for a in new if a.kind in _AT_NODES):
            return
        if sum(isinstance(reason, NotStatic) for reason in self.reasons) < MAX_ATTEMPTS:
            raise FoundWanting(NotStatic(tuple(new), error))

    def refuse(self, node: Any) -> NoReturn:
        """What was planned for this node cannot be done: the error that it was to avoid stands."""
        node = original(node)
        self.refused.add(node)
        error = next(error for (_, what), error in self.actions.items() if what is node)
        if error is not None:
            raise error
        raise FoundWanting(NotPossible(node))

    def drop_optional(self) -> None:
        """Do without what would only make it more certain what is handled."""
        for action, avoided in list(self.actions.items()):
            if avoided is None:
                del self.actions[action]
                self.refused.add(action.target)


# What reasons extend, but for what is written.
_EXTENDED = (
    "actions",
    "refused",
    "disturbed",
    "impure",
    "self_calls",
    "nested",
    "recursive",
    "left_out",
    "unhandled",
    "peels",
    "reasons",
)
# A layout may be asked for again after it was refused, and the assumption may be dropped of any loop.
_AT_NODES = (SPLIT, PEEL, PEEL_TWO, UNROLL, EXACT, SUMMED, UNWOUND)


# --- why an attempt is found wanting ----------------------------------------------------------------------------------


class NoPlaceBefore(Exception):
    """It stands where no statement can come before it; `node` is the one that was to become one."""

    def __init__(self, node: Any):
        self.node = node


class FoundWanting(Exception):
    """An attempt ends here: it has to start again, with a plan that its reason extends."""

    def __init__(self, reason: Reason):
        super().__init__(reason)
        self.reason = reason


class Reason:
    """Why an attempt is found wanting. ``str()`` says it; `extend` adds what it needs to the plan."""

    def extend(self, plan: Plan) -> None:
        raise NotImplementedError


@record
class NotStatic(Reason):
    """Something has to be static and is not, which these actions change."""

    actions: tuple[Action, ...]
    error: AutodiffError | None

    def __str__(self) -> str:
        why = "what kind of thing a value is depends on the path" if self.error is None else self.error.message
        return f"{why}; now {', '.join(map(str, self.actions))}"

    def extend(self, plan: Plan) -> None:
        plan.actions.update(dict.fromkeys(self.actions, self.error))


@record
class NotPossible(Reason):
    """An action that was to make the code more certain cannot be done."""

    node: Any

    def __str__(self) -> str:
        return f"line {getattr(self.node, 'lineno', None)} cannot be compiled as planned; now without"

    def extend(self, plan: Plan) -> None:
        plan.drop_optional()


@record
class NotPeeled(Reason):
    """Where the first trip of a loop was lowered apart, something else went wrong."""

    error: AutodiffError

    def __str__(self) -> str:
        return f"{self.error.message}; now with all trips of each loop in one"

    def extend(self, plan: Plan) -> None:
        plan.peels = False
        plan.actions = {action: error for action, error in plan.actions.items() if action.kind not in (PEEL, PEEL_TWO)}


@record
class LeftOut(Reason):
    """A path that may never be taken cannot be compiled."""

    error: AutodiffError
    node: Any

    def __str__(self) -> str:
        line = getattr(self.node, "lineno", None)
        return f"{self.error.message}; now it is raised where the program gets to line {line}"

    def extend(self, plan: Plan) -> None:
        plan.left_out.add(self.node)
        plan.candidate = None


@record
class Unhandled(Reason):
    """The program cannot be compiled for what it does after exceptions that it may never catch."""

    error: AutodiffError
    nodes: tuple[Any, ...]

    def __str__(self) -> str:
        lines = ", ".join(str(getattr(node, "lineno", None)) for node in self.nodes)
        return f"{self.error.message}; now it is raised where the `try` in line {lines} catches something"

    def extend(self, plan: Plan) -> None:
        plan.unhandled.update(dict.fromkeys(self.nodes, self.error))
        plan.actions, plan.disturbed, plan.refused = {}, {}, set()


@record
class TooLarge(Reason):
    """The code grew beyond the budget."""

    error: Exhausted

    def __str__(self) -> str:
        return f"{self.error.message}; now without what makes it only more certain"

    def extend(self, plan: Plan) -> None:
        avoided = list(plan.actions.values())
        if self.error.final or not avoided:
            raise self.error.located()
        last = avoided[-1]
        if last is not None and None not in avoided:
            raise type(last)(f"{last.message}; without that, {self.error.message}", last.loc, last.remedy)
        plan.drop_optional()


@record
class WrittenOutside(Reason):
    """The function writes something that lives outside, which is a container of these names from the start."""

    key: Any
    holder: Any
    names: frozenset[str]

    def __str__(self) -> str:
        return f"it writes {', '.join(sorted(self.names)) or 'to a list'} outside of the function"

    def extend(self, plan: Plan) -> None:
        _, names = plan.written.setdefault(self.key, (self.holder, set()))
        names.update(self.names)


@record
class Disturbed(Reason):
    """In a loop or branch, foreign code may change these objects: what stands above may run after it."""

    objects: dict[int, Any]

    def __str__(self) -> str:
        return f"{next(iter(self.objects.values()))[0]} may change objects that are read before it"

    def extend(self, plan: Plan) -> None:
        plan.disturbed.update(self.objects)


@record
class Impure(Reason):
    """A cached function depends on more than its arguments: the live one is called."""

    fn: Any

    def __str__(self) -> str:
        return f"the cached function {getattr(self.fn, '__name__', '')!r} depends on more than its arguments"

    def extend(self, plan: Plan) -> None:
        plan.impure.append(self.fn)


@record
class CallsItself(Reason):
    """A function is called while it runs; with `again`, in the same way as before, so that it is not inlined."""

    tree: Any
    again: bool

    def __str__(self) -> str:
        return "a function calls itself" + (" with the same types again" if self.again else "")

    def extend(self, plan: Plan) -> None:
        (plan.recursive if self.again else plan.nested).add(self.tree)


@record
class TooDeep(Reason):
    """Calls of a function by itself cannot be lowered in this way; the last error stands if there is no other way."""

    way: SelfCalls
    error: RecursionTooDeep | None = None

    def __str__(self) -> str:
        why = "it calls itself with the same types again" if self.error is None else self.error.message
        return f"{why} (calls of itself were {self.way.value})"

    def extend(self, plan: Plan) -> None:
        ways = list(SelfCalls)
        following = ways.index(self.way) + 1
        if following == len(ways):
            assert self.error is not None
            raise self.error
        plan.self_calls = ways[following]
        plan.nested, plan.recursive = set(), set()


def lower_by_plan(plan: Plan, attempt: Callable[[Plan], T], budget: Budget) -> T:
    """What ``attempt(plan)`` gives, tried until it is not found wanting; the plan is extended between two attempts."""
    while True:
        try:
            with budget.attempt():
                return attempt(plan)
        except FoundWanting as found:
            reason = found.reason
        except Exhausted as error:
            reason = TooLarge(error)
        except RecursionTooDeep as error:
            reason = TooDeep(plan.self_calls, error)
        except AutodiffError as error:
            if any(kind is PEEL for kind, _ in plan.actions):
                reason = NotPeeled(error)
            elif caught := _with_handlers_only(plan):
                reason = Unhandled(error, caught)
            elif plan.candidate is not None and plan.candidate[0] is error:
                if not LEAVING_OUT.get() or len(plan.left_out) >= MAX_LEFT_OUT:
                    error.on_a_path = True
                    raise
                reason = LeftOut(error, plan.candidate[1])
            else:
                raise
        plan.extend(reason)


def _with_handlers_only(plan: Plan) -> tuple[Any, ...]:
    """The `try` statements that are followed exactly; none where a `with` or a ``finally`` is, too."""
    nodes = tuple([node for kind, node in plan.actions if kind is EXACT])
    return nodes if all(isinstance(node, ast.Try) and not node.finalbody for node in nodes) else ()


def original(node: Any) -> Any:
    """The node of the user's tree for one that was made of it."""
    found = getattr(node, "_original", None)
    return node if found is None else found[0]
