"""Functions that are handed to a solver, and what the derivative of the solver's result needs of them.

A solver of SciPy's calls a function of the user's: an integrand, a residual, an objective. The derivative of the result
is made of derivatives of that function. A `Callback` is the function with all that it reads as arguments, so that
gradients by these arguments can be taken while the program runs.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

# Makes the function ``pullback(g, *operands)`` of a function and the position of an operand; the one that makes
# ``jacobian(*operands)``; that of half the sum of squares. The package sets these.
DERIVED: dict[str, Callable[..., Any]] = {}

SCALAR = -1


class Callback:
    """A function of operands, and of its derivatives.

    fn:   called with the operands
    like: which of the operands the result is like, by its position; `SCALAR`: the result is a number; None: not known
    left_out: the names of attributes that the objects lack which the function makes of its operands, and why
    origin: of a derivative, the callback that it is of, the name of the method that gave it, and its arguments
    """

    def __init__(self, fn: Callable[..., Any], like: int | None = None, name: str = ""):
        self.fn = fn
        self.like = like
        self.__name__ = name or getattr(fn, "__name__", "callback")
        self.left_out: dict[str, str] = {}
        self.origin: tuple[Any, ...] | None = None
        self._derived: dict[Any, Callback] = {}

    def __call__(self, *operands: Any) -> Any:
        return self.fn(*operands)

    def __repr__(self) -> str:
        return f"Callback({self.__name__})"

    def pullback(self, k: int) -> Callback:
        """``(g, *operands)`` to the cotangent of operand `k`, where `g` is that of the result."""
        return self._once(
            ("pullback", k), lambda: Callback(DERIVED["pullback"](self.fn, k), k + 1, f"{self.__name__}_pullback")
        )

    def jacobian(self, k: int) -> Callback:
        """The matrix of derivatives by operand `k`, a vector. The result has to be one as well."""
        return self._once(
            ("jacobian", k), lambda: Callback(DERIVED["jacobian"](self.fn, k), None, f"{self.__name__}_jacobian")
        )

    def half_square(self) -> Callback:
        """Half the sum of the squares of the result."""
        return self._once(
            ("half_square",), lambda: Callback(DERIVED["half_square"](self.fn), SCALAR, f"{self.__name__}_loss")
        )

    def _once(self, key: tuple[Any, ...], make: Callable[[], Callback]) -> Callback:
        found = self._derived.get(key)
        if found is None:
            found = self._derived.setdefault(key, make())
            found.origin = (self, *key)
        return found


def applied(fun: Any, *operands: Any) -> Any:
    """What the function gives for these operands."""
    return fun(*operands)


def closed(fun: Any, *captured: Any) -> Any:
    """The function of the operands that follow `captured`."""
    return around(fun, len(captured), captured)


def around(fun: Any, at: int, operands: Any) -> Any:
    """The function of what is missing among the operands at `at`.

    The solver gets copies of the operands that cannot be written to. A function that writes into an array would leave
    its mark on the program, of which the program's adjoint knows nothing, so that is an error.
    """
    kept = [protected(x) for x in operands]
    before, after = kept[:at], kept[at:]

    def call(*args: Any) -> Any:
        try:
            return fun.fn(*before, *args, *after)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise NotImplementedError(
                f"{fun.__name__!r}, which a solver calls, writes into an array of the function around it; let it "
                "compute its result only"
            ) from error
        except AttributeError as error:
            why = fun.left_out.get(error.name)
            if why is None:
                raise
            what = f"{fun.__name__!r}, which a solver calls, reads the attribute {error.name!r}"
            raise NotImplementedError(f"{what}: {why}") from error

    return call


def made_object(cls: Any, names: tuple[str, ...], /, *values: Any) -> Any:
    """An object of a class with these attributes, of which no constructor knows."""
    made = cls() if cls is types.SimpleNamespace else object.__new__(cls)
    for name, value in zip(names, values):
        if isinstance(inspect.getattr_static(cls, name, None), types.MemberDescriptorType):
            object.__setattr__(made, name, value)
        else:
            made.__dict__[name] = value
    return made


def as_given(outcome: Any, *parts: Any) -> Any:
    """What a solver gave, for those that only report it. It moves with these parts of it, but has no derivative."""
    return outcome


def contents(them: tuple[Any, ...], /) -> list[list[Any]]:
    """What is in each of these lists, dictionaries and objects."""
    return [_content(x) for x in them]


def _content(x: Any) -> list[Any]:
    if isinstance(x, list):
        return list(x)
    if isinstance(x, dict):
        return [y for pair in x.items() for y in pair]
    members = [
        raw for cls in type(x).__mro__ for raw in vars(cls).values() if isinstance(raw, types.MemberDescriptorType)
    ]
    slots = [getattr(x, raw.__name__) for raw in members if hasattr(x, raw.__name__)]
    return [*slots, *_content(getattr(x, "__dict__", {}))]


def unchanged(them: tuple[Any, ...], before: list[list[Any]], /) -> None:
    """Raises NotImplementedError if something else is in one of these than there was before."""
    for x, was in zip(them, before):
        now = _content(x)
        if len(now) != len(was) or any(a is not b for a, b in zip(now, was)):
            raise NotImplementedError(
                f"a function that a solver calls writes to an object of class {type(x).__name__!r} that belongs to the "
                "function around it; let it compute its result only, and read cached properties before"
            )


def protected(x: Any) -> Any:
    """A copy of an array that cannot be written to; other values as they are."""
    if isinstance(x, np.ndarray):
        x = x.copy()
        x.flags.writeable = False
    return x


def attained(fun: Any, value: Any, *operands: Any) -> Any:
    """`value`, which a solver has found to be ``fun(*operands)``. Its derivatives are those of the function."""
    return value.copy() if isinstance(value, np.ndarray) else value


def number_of(outcome: Any, name: Any) -> float:
    """A number in what a solver gave: an attribute, or an item."""
    return float(np.asarray(_part(outcome, name)).item())


def vector_of(outcome: Any, name: Any) -> Any:
    """An array of one axis in what a solver gave.

    Raises ArithmeticError if there is none, as of a linear program that has no solution.
    """
    found = _part(outcome, name)
    if found is None:
        why = str(getattr(outcome, "message", "")).rstrip(".")
        raise ArithmeticError(f"the solver found no solution, so its result has no derivative: {why}")
    return np.array(found, np.float64).reshape(-1)


def _part(outcome: Any, name: Any) -> Any:
    if name is None:
        return outcome
    return getattr(outcome, name) if isinstance(name, str) else outcome[name]


def implicit(fun: Any, at: Any, free: Any, x: Any, *operands: Any) -> Any:
    """`x`, which solves ``fun(*operands[:at], x, *operands[at:]) == 0`` in the elements where `free` holds.

    Its derivatives follow from the implicit function theorem. `free` is None or a mask: other elements are constant.
    """
    return x.copy() if isinstance(x, np.ndarray) else x


# A Newton step from the solution that is longer than this, relative to the solution, says that it is none.
STEP = 1e-3


def implicit_adjoint(g: Any, slope: Any, residual: Any, free: Any, x: Any) -> Any:
    """The cotangent of the residual at a solution of ``residual == 0``: the solution of ``slope.T @ out == -g``.

    slope: the derivative of the residual by the solution `x`, a number or a matrix

    Raises ArithmeticError where the implicit function theorem does not hold at `x`: the derivative is singular, or the
    residual is not zero there.
    """
    if np.ndim(x) == 0:
        matrix, rest = np.reshape(slope, (1, 1)), np.reshape(residual, 1)
    else:
        matrix, rest = np.asarray(slope, float), np.asarray(residual, float).reshape(-1)
    right = np.reshape(np.asarray(g, float), -1)
    point = np.reshape(np.asarray(x, float), -1)
    if free is not None:
        keep = np.flatnonzero(free)
        matrix, rest, point = matrix[np.ix_(keep, keep)], rest[keep], point[keep]
    if not (np.isfinite(matrix).all() and np.isfinite(rest).all()):
        raise ArithmeticError("the equation that the solution solves is not finite there, so it has no derivative")
    if matrix.size and np.linalg.cond(matrix) > 1e14:
        raise ArithmeticError(
            "the derivative of the equation is singular at the solution, so the solution is no differentiable function "
            "of what it depends on (implicit function theorem)"
        )
    step = np.linalg.solve(matrix, rest)
    if (np.abs(step) > STEP * (1 + np.abs(point))).any():
        raise ArithmeticError(
            f"the solver did not reach a solution (a Newton step from there is {np.abs(step).max():.1e} long), so its "
            "result has no derivative; lower its tolerance, or raise its number of iterations"
        )
    part = -np.linalg.solve(matrix.T, right if free is None else right[keep])
    if free is not None:
        whole = np.zeros_like(right)
        whole[keep] = part
        part = whole
    return part[0] if np.ndim(x) == 0 else part.reshape(np.shape(x))
