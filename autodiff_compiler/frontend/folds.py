"""The questions that are answered while a program is compiled, and what proves each answer.

Whether something is true, equal, one object, contained, an instance, there: an answer has one of these proofs, or the
question is asked when the program runs, or the program is refused. Nothing is answered by default.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

# By name: what makes the answer right for every call that the guards let pass.
FOLDS: dict[str, str] = {
    "constants": "Python's own operator, applied to constants",
    "length": "the number of items is known, and only it is asked for",
    "bounds": "an axis of an argument whose length is no part of the signature has at least two elements",
    "class": "a value of an exactly known, built-in class, and what that class has",
    "live": "Python's own answer about a live object, which a guard pins or compares, and which cannot change",
    "no method": "the class of the object has no such method, and a guard says so; then Python has one answer",
    "one number": "a check when the program runs that the number, computed twice, is no nan: it equals itself",
    "one object": "both are the same abstract value or the same cell: one object by construction",
    "two objects": "two cells that no path has joined, or two definitions: two objects by construction",
    "same path": "a guard compares what two paths lead to, at each call",
    "two classes": "one object has one class, and these have two that are known exactly",
    "two kinds": "built-in values of kinds that are never equal, such as a string and a number",
    "members": "the members and keys are constants, or objects that a guard pins and that are compared by identity",
    "equal parts": "the parts were compared one by one, and each answer was proven",
    "evaluated": "both operands of `and` and `or`, or the branches, have known truth",
    "memory": "what a guard on the live array compares, or what holds of every array of the dtype and layout",
}


def proved(fold: str, answer: T) -> T:
    """The answer to a question, which the fold of this name proves."""
    if fold not in FOLDS:
        raise KeyError(fold)
    return answer
