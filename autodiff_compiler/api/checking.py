"""Checks at compile time that the SSA form of a function computes what the function does.

The check runs with ``AUTODIFF_COMPILER_CHECK=1`` in the environment, and always inside of `check_grads`. Each lowered
function runs once on copies of its arguments. The reference interpreter runs its SSA form on other copies. Both must
give the same value or raise the same error. So the check finds mistakes of the frontend: a branch not taken, an effect
too early, an answer given by default. There is no check of functions with effects, such as printing or drawing random
numbers, since a second run would be seen. There is none of long runs.
"""

from __future__ import annotations

import collections
import copy
import functools
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import AutodiffError, NotCompiled, WrongValueError, is_interruption
from ..frontend.inputs import base_of
from ..ir.core import Region
from ..ir.opset import ASSERT, RAISE
from ..lowered import Guard, Lowered, bind_arguments, fetch
from ..tree import copy_with, flatten, is_object, own_attributes, store_own, unflatten
from .specialize import apart

Memo = dict[int, tuple[Any, Any]]  # by identity, with the object so that it stays alive
LONGEST = 0.1  # seconds: the interpreter does not run functions that take longer, since it is far slower


def check_value(fn: Callable[..., Any], lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise `WrongValueError` if the SSA form of the function gives another value than the function."""
    body = lowered.function.body
    if any(item.key[0] == "duck" for item in lowered.inputs):
        return  # the comparison would compute what is lazy
    if not is_pure(body) or any(_is_spent(x) for x in (*args, *kwargs.values())):
        return
    memo: Memo = {}
    given, keywords = copied(args, memo), copied(kwargs, memo)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        want, raised = _outcome(lambda: fn(*given, **keywords))
        if time.perf_counter() - start > LONGEST:
            return
        memo = {}
        _, values, _ = bind_arguments(fn, copied(args, memo), copied(kwargs, memo))
        if not all(_holds(guard, tuple(values)) for guard in lowered.guards):
            return  # the function reads a property that a copy does not have, such as the base of an array
        leaves = [copied(fetch(item.path, tuple(values)), memo) for item in lowered.inputs]
        if any(
            _overlaps(leaves[i]) if i == j else np.may_share_memory(leaves[i], leaves[j]) for i, j in lowered.no_alias
        ):
            return  # the call itself will be refused
        from ..ir.interp import interpret

        got, failed = _outcome(lambda: unflatten(lowered.out, interpret(lowered.function, leaves)))
    if failed is None and raised is None:
        low = is_low(body)
        if agrees(got, want, low) or is_chaotic(fn, args, kwargs, want, low):
            return
    elif failed is not None and (
        raised is not None or isinstance(failed, (NotImplementedError, RecursionError, AutodiffError))
    ):
        return  # the interpreter lacks some operations
    for error in (failed, raised):
        if error is not None and is_interruption(error):
            raise error
    raise WrongValueError(
        f"the compiled function gives {_told(got, failed)}, the function itself {_told(want, raised)}",
        lowered.loc,
        "this is a defect of the compiler: please report the function, and write it in another way until it is mended",
    )


def _holds(guard: Guard, values: tuple[Any, ...]) -> bool:
    """A guard on the identity or equality of objects holds for these copies."""
    if guard.kind not in ("is", "eq", "same", "distinct", "apart"):
        return True
    try:
        found = fetch(guard.path, values)
        if guard.kind == "apart":
            others = [fetch(path, values) for path in guard.expected]
            return len({id(x) for x in (found, *others)}) == len(others) + 1
        if guard.kind in ("same", "distinct"):
            return (found is fetch(guard.expected, values)) == (guard.kind == "same")
        return found is guard.expected or guard.kind == "eq" and bool(found == guard.expected)
    except (KeyError, IndexError, AttributeError, TypeError, ValueError):
        return False


def _overlaps(a: Any) -> bool:
    """Elements of the array share memory with each other."""
    return not (a.flags.forc or apart(a))


def is_chaotic(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], value: Any, low: bool) -> bool:
    """Rounding decides the value: arguments that differ in the last digits give values that all differ.

    Two ways to compute such a function need not agree. At a jump, the value beside it differs from `value`, but the
    values for several steps beside it agree with each other.
    """
    values = [value]
    for step in range(1, 5):
        memo: Memo = {}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            given, keywords = copied(args, memo), copied(kwargs, memo)
            for _, x in memo.values():
                if isinstance(x, np.ndarray) and x.dtype.kind in "fc" and x.flags.writeable:
                    x *= 1 + step * np.finfo(x.dtype).eps
            there, error = _outcome(functools.partial(fn, *given, **keywords))
        if error is not None or any(agrees(there, other, low) for other in values):
            return False
        values.append(there)
    return True


def _outcome(run: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return run(), None
    except NotCompiled as found:
        return None, found.refusal()
    except Exception as error:
        return None, error


def _told(value: Any, error: Exception | None) -> str:
    return repr(value) if error is None else f"the error {error!r}"


def is_pure(body: Region) -> bool:
    """The function has no effects outside of itself."""
    return all(not op.prim.effects or op.prim in (RAISE, ASSERT) for op in body.walk())


def _is_spent(x: Any) -> bool:
    """The argument is an iterator, which a run uses up."""
    return hasattr(type(x), "__next__")


def is_low(body: Region) -> bool:
    """Something is computed in less than double precision."""
    types = [v.type for v in body.params] + [r.type for op in body.walk() for r in op.results]
    return any(t.dtype is not None and t.dtype in _LOW for t in types)


_LOW = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64))


def copied(x: Any, memo: Memo) -> Any:
    """A deep copy of arrays, containers and objects. An object that is shared stays shared."""
    if id(x) in memo:
        return memo[id(x)][1]
    kind = type(x)
    new: Any
    if kind is np.ndarray:
        new = copied_array(x)
    elif base_of(kind) not in (None, tuple):
        new = copied_container(x, memo)
    elif isinstance(x, tuple):
        items = [copied(item, memo) for item in x]
        new = kind._make(items) if hasattr(kind, "_make") else tuple(items) if kind is tuple else x
    elif kind in (list, collections.deque):
        new = kind() if kind is list else collections.deque(maxlen=x.maxlen)
        memo[id(x)] = (x, new)
        new.extend([copied(item, memo) for item in x])
    elif isinstance(x, (dict, set)):
        new = copy.copy(x)
        memo[id(x)] = (x, new)
        if isinstance(x, dict):
            new.update({key: copied(item, memo) for key, item in x.items()})
    elif is_object(x) and flatten(x)[0]:
        new = copy_with(x, (), ())
        memo[id(x)] = (x, new)
        store_own(new, {name: copied(value, memo) for name, value in own_attributes(x).items()})
    else:
        return x
    memo[id(x)] = (x, new)
    return new


def copied_container(x: Any, memo: Memo) -> Any:
    """A copy of an instance of a class derived from a container. No method of the class runs."""
    base: Any = base_of(type(x))
    new = base.__new__(type(x))
    memo[id(x)] = (x, new)
    if issubclass(base, dict):
        if base is collections.defaultdict:
            base.__init__(new, x.default_factory)
        for key in base.__iter__(x):
            base.__setitem__(new, key, copied(dict.__getitem__(x, key), memo))
    elif base is collections.deque:
        base.__init__(new, [copied(item, memo) for item in base.__iter__(x)], x.maxlen)
    else:
        base.__init__(new, [copied(item, memo) for item in base.__iter__(x)])
    own = own_attributes(x)
    store_own(new, {name: copied(own[name], memo) for name in own if name != "default_factory"})
    return new


def copied_array(x: Any) -> Any:
    """A copy with the same strides."""
    if x.dtype.hasobject or x.size == 0:
        return x.copy(order="K")
    low, high = np.lib.array_utils.byte_bounds(x)
    offset = x.__array_interface__["data"][0] - low
    new = np.ndarray(x.shape, x.dtype, np.empty(high - low, np.uint8), offset, x.strides)
    new[...] = x
    new.flags.writeable = x.flags.writeable
    return new


def agrees(a: Any, b: Any, low: bool = False) -> bool:
    """The values are the same except for rounding. `low`: some value has less than double precision."""

    def all_agree(xs: Any, ys: Any) -> bool:
        return all(agrees(x, y, low) for x, y in zip(xs, ys, strict=True))

    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and _are_close(np.asarray(a), np.asarray(b), low)
    if _is_number(a) and _is_number(b):
        return _are_close(np.asarray(a), np.asarray(b), low)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return isinstance(a, list) is isinstance(b, list) and len(a) == len(b) and all_agree(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all_agree(a.values(), b.values())
    if is_object(a) and is_object(b) and type(a) is type(b):
        held, other = own_attributes(a), own_attributes(b)
        return held.keys() == other.keys() and all_agree(held.values(), [other[name] for name in held])
    if isinstance(a, _PLAIN) or isinstance(b, _PLAIN):
        return type(a) is type(b) and bool(a == b)
    return True


_PLAIN = (str, bytes, bool, type(None))


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, complex, np.generic)) and not isinstance(x, (np.str_, np.bytes_))


def _are_close(a: Any, b: Any, low: bool) -> bool:
    if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        return bool(np.array_equal(a, b))
    if any((a.dtype.kind in kinds) != (b.dtype.kind in kinds) for kinds in ("fc", "b")):
        return False
    tolerance = 1e-2 if low else 1e-9
    size = float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)) if b.size else 0.0
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * max(size, 1e-3), equal_nan=True))
