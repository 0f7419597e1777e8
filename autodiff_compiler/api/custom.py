"""Derivatives that users write for functions: `custom_vjp`, `custom_jvp`, and the same for functions of others.

The rules are ordinary Python. They are lowered, and inlined where the function is called.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..errors import ArgumentError
from ..lowered import REGISTERED, lowers_by
from .fingerprint import fingerprint

T = TypeVar("T")


class _Maker(type):
    """The class of `custom_vjp` and `custom_jvp`, which compiled functions may call: for functions inside of others."""

    def __autodiff_lower__(cls, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .compiler import lower_custom_made

        return lower_custom_made(interp, cls, args, kwargs)


class Custom(metaclass=_Maker):
    """A function with a rule of its own. Called, it is the function.

    fun:   the function
    kind:  "vjp" or "jvp", which rule it has
    fwd, bwd: the rule of `custom_vjp`; jvp, parts: that of `custom_jvp`, as one function or one for each argument
    opaque: the primitive that computes it, where its source is not to be followed
    """

    kind = ""
    remedy = ""
    opaque: Any = None
    local = False  # its parts are not abstract values, see `frontend.custom_local`

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = ()):
        if not callable(fun):
            raise ArgumentError(f"{type(self).__name__} needs a function, not {type(fun).__name__}")
        numbers = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        if not all(type(k) is int for k in numbers):
            raise ArgumentError(f"nondiff_argnums names arguments by number, not {nondiff_argnums!r}")
        functools.update_wrapper(self, fun)
        self.__name__ = getattr(fun, "__name__", type(fun).__name__)
        self.fun, self.nondiff_argnums = fun, numbers
        self.fwd: Any = None
        self.bwd: Any = None
        self.jvp: Any = None
        self.parts: tuple[Any, ...] = ()
        try:
            self.__signature__ = inspect.signature(fun)
        except (TypeError, ValueError):
            pass

    @property
    def primal(self) -> Callable[..., Any]:
        return self.fun

    @property
    def has_rules(self) -> bool:
        return (self.bwd if self.kind == "vjp" else self.jvp) is not None or bool(self.parts)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for on_tape in ON_TAPE:
            found = on_tape(self, args, kwargs)
            if found is not NotImplemented:
                return found
        return self.fun(*args, **kwargs)

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        """A bound method: it is called with the instance first."""
        return self if obj is None else functools.partial(self, obj)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {getattr(self, '__qualname__', self.__name__)}>"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(str(self.__module__))
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        return _rebuilt, (type(self), self.fun, self.nondiff_argnums, self.fwd, self.bwd, self.jvp, self.parts)

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .compiler import lower_custom

        return lower_custom(interp, self, args, kwargs)

    def __autodiff_portable__(self) -> list[str]:
        rules = [self.fwd, self.bwd, self.jvp, *self.parts]
        return [type(self).__name__, repr(self.nondiff_argnums), *[fingerprint(r) for r in rules if r is not None]]


# What is asked of a call of such a function first: the tape, once it is imported.
ON_TAPE: list[Callable[[Custom, tuple[Any, ...], dict[str, Any]], Any]] = []


def _rebuilt(
    cls: type[Custom], fun: Any, numbers: tuple[int, ...], fwd: Any, bwd: Any, jvp: Any, parts: tuple[Any, ...]
) -> Custom:  # fmt: skip
    made = cls(fun, numbers)
    made.fwd, made.bwd, made.jvp, made.parts = fwd, bwd, jvp, parts
    return made


class custom_vjp(Custom):
    """A function whose derivative in reverse mode is a rule of yours. Works as a function and as a decorator.

    ``f = custom_vjp(f)``, then ``f.defvjp(fwd, bwd)``:

    - ``fwd(*args)`` takes what `f` takes. It returns a pair: what `f` returns, and the residuals: any tuple, list,
      dictionary or object of numbers and arrays that `bwd` needs.
    - ``bwd(residuals, g)`` gets the cotangent of the result: numbers and arrays in the structure of the result, with
      None for what is no floating number. It returns a tuple with a cotangent for each argument. Each has the structure
      and the shapes of its argument; its dtype is converted. None stands for zeros.

    nondiff_argnums: arguments that are not differentiated by, such as functions. `bwd` gets them first:
    ``bwd(*nondiff, residuals, g)``.

    `f` runs where nothing is differentiated, and `fwd` where something is. Derivatives of higher order differentiate
    `fwd` and `bwd`. In forward mode `bwd` is transposed, if it is linear in `g`. All three have to compute their result
    only: they must not write to an argument or to something around them.

    Raises `ArgumentError` where a rule returns another structure, shape or dtype than it should, with the place of the
    call. If a shape is known at run time only, that is a ValueError then. Raises `UnsupportedError` where `f` or a rule
    reads a value from around it that is differentiated by, and in forward mode if `bwd` is not linear.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> @ad.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1.0, 1.0),))
    >>> ad.grad(lambda x: np.sum(clipped(x) ** 2))(np.array([0.25, 3.0]))
    array([0.5, 1. ])
    """

    kind = "vjp"
    remedy = "f.defvjp(fwd, bwd)"

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Give the function its rule. Raises `ArgumentError` for what cannot be called."""
        for rule in (fwd, bwd):
            if not callable(rule):
                raise ArgumentError(f"defvjp needs two functions, fwd and bwd, not {type(rule).__name__}")
        self.fwd, self.bwd = fwd, bwd


class custom_jvp(Custom):
    """A function whose derivative is a rule of yours for tangents. Works as a function and as a decorator.

    ``f = custom_jvp(f)``, then ``@f.defjvp`` over ``jvp(primals, tangents)``. It gets two tuples, with a primal and a
    tangent for each argument. A tangent has the structure and the shapes of its primal, with None for what is no
    floating number. It returns a pair: the result, and its tangent.

    ``f.defjvps(*jvps)`` does the same with one function for each argument, ``jvps[k](tangent, result, *args)``, or None
    if the derivative by the argument is zero. What they return is added.

    nondiff_argnums: arguments that are not differentiated by, such as functions. The rule gets them first:
    ``jvp(*nondiff, primals, tangents)``.

    The rule has to be linear in the tangents. Then reverse mode has it transposed. Derivatives of higher order
    differentiate the rule. It raises what `custom_vjp` raises, and `UnsupportedError` in reverse mode if the rule is
    not linear in the tangents.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> @ad.custom_jvp
    ... def log1pexp(x):
    ...     return np.log(1.0 + np.exp(x))
    >>> @log1pexp.defjvp
    ... def log1pexp_jvp(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     return log1pexp(x), (1.0 - 1.0 / (1.0 + np.exp(x))) * x_dot
    >>> with np.errstate(over="ignore"):
    ...     print(ad.grad(log1pexp)(1000.0))
    1.0
    """

    kind = "jvp"
    remedy = "f.defjvp(jvp)"

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function its rule, and return the rule. Raises `ArgumentError` for what cannot be called."""
        if not callable(jvp):
            raise ArgumentError(f"defjvp needs a function, not {type(jvp).__name__}")
        self.jvp, self.parts = jvp, ()
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Give the function a rule for each argument, or None. Raises `ArgumentError` for anything else."""
        for rule in jvps:
            if rule is not None and not callable(rule):
                raise ArgumentError(f"defjvps needs functions, not {type(rule).__name__}")
        self.jvp, self.parts = None, jvps


# --- functions of others ----------------------------------------------------------------------------------------------


def register_vjp(
    fn: Callable[..., Any], fwd: Callable[..., Any], bwd: Callable[..., Any],
    nondiff_argnums: int | Sequence[int] = (),
) -> None:  # fmt: skip
    """Give a function of another module the rule of a `custom_vjp`, which has `fwd` and `bwd`. It need not have a
    source, and its source is not followed: compiled code calls it.

    `fn` has to compute its result from its arguments, and to do nothing else. Register it before a function that calls
    it is differentiated. Functions whose rules users register are not kept on disk. See `custom_vjp` for the rule and
    for what is raised.

    >>> import math
    >>> import autodiff_compiler as ad
    >>> ad.register_vjp(math.ulp, lambda x: (math.ulp(x), x), lambda x, g: (0.0 * g,))
    >>> ad.grad(lambda x: x + math.ulp(x))(1.0)
    1.0
    """
    made = custom_vjp(fn, nondiff_argnums)
    made.defvjp(fwd, bwd)
    _register(made)


def register_jvp(fn: Callable[..., Any], jvp: Callable[..., Any], nondiff_argnums: int | Sequence[int] = ()) -> None:
    """The same with the rule of a `custom_jvp`: ``jvp(primals, tangents)``.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> table = np.vectorize(lambda x: x * x)
    >>> ad.register_jvp(table, lambda p, t: (table(p[0]), 2.0 * p[0] * t[0]))
    >>> ad.grad(lambda x: np.sum(table(x)))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    made = custom_jvp(fn, nondiff_argnums)
    made.defjvp(jvp)
    _register(made)


def _register(made: Custom) -> None:
    from ..ir.core import RULES_OF_USERS, Prim

    fn = made.fun
    if isinstance(fn, Custom):
        raise ArgumentError(f"{made.__name__!r} has a rule of its own", None, f"change that: {fn.remedy}")
    try:
        names = [("*" if p.kind is p.VAR_POSITIONAL else "") + p.name
                 for p in inspect.signature(fn).parameters.values() if p.kind is not p.VAR_KEYWORD]  # fmt: skip
    except (TypeError, ValueError):
        names = ["*args"]
    made.opaque = Prim(made.__name__, fn, params=tuple(names), alias="maybe")
    RULES_OF_USERS.append(str(getattr(fn, "__module__", "")))
    REGISTERED[id(fn)] = (fn, made.__autodiff_lower__)


# --- cotangents on their way ------------------------------------------------------------------------------------------


def on_gradient(x: T, fn: Callable[[Any], Any]) -> T:
    """`x` itself, at which the backward sweep calls ``fn(cotangent)`` and goes on with what it returns: to clip or to
    scale a gradient where it flows. If `fn` returns None, the cotangent goes on as it is: to look at it, or to log it.

    x:  a number, an array, or a container of them. The cotangent has its structure and shapes, and so has what `fn`
        returns.
    fn: inlined, if its source is at hand and it computes a result only. Otherwise it is called once for each
        evaluation, in the order of the backward sweep; then `x` is a number or an array, `fn` gets a copy that it
        cannot write to, and there is no second derivative.

    In forward mode, a function that is linear (it scales, or selects) is transposed. Raises `UnsupportedError` there
    for any other one, as tangents pass in the other direction. Raises ValueError if `fn` returns another shape.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.grad(lambda x: ad.on_gradient(x, lambda g: np.clip(g, -1.0, 1.0)) ** 2)(3.0)
    np.float64(1.0)
    >>> seen = []
    >>> ad.grad(lambda x: ad.on_gradient(x, lambda g: seen.append(g)) ** 2)(3.0), seen
    (6.0, [6.0])
    """
    if not callable(fn):
        raise ArgumentError(f"on_gradient needs a function, not {type(fn).__name__}")
    for on_tape in HOOKED_ON_TAPE:
        found = on_tape(x, fn)
        if found is not NotImplemented:
            return found  # type: ignore[no-any-return]
    return x


HOOKED_ON_TAPE: list[Callable[[Any, Any], Any]] = []


def _on_gradient(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .compiler import lower_on_gradient

    return lower_on_gradient(interp, args, kwargs)


lowers_by(_on_gradient)(on_gradient)

__all__ = ["Custom", "custom_jvp", "custom_vjp", "on_gradient", "register_jvp", "register_vjp"]
