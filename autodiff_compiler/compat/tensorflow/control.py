"""Control flow, which runs eagerly: `cond`, `while_loop`, `map_fn`, `scan` and the like; printing and checking."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...tape.nest import flatten, map_nested, pack_like
from ...tape.tensor import Operand
from .elementwise import identity
from .operands import integer, operand
from .operators import subscript
from .shaping import stack
from .tensor_array import TensorArray
from .tensors import convert_to_tensor, tensor


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """``true_fn()`` or ``false_fn()``."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("'true_fn' and 'false_fn' arguments must be callable")
    return true_fn() if bool(pred) else false_fn()


def _tensors(result: Any) -> Any:
    """Results of a function: numbers become tensors."""
    return map_nested(
        lambda x: x if x is None or isinstance(x, (Operand, TensorArray)) else convert_to_tensor(x), result
    )


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case"
) -> Any:
    """The result of the function whose predicate is the first to be true."""
    pairs = pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs
    chosen = [fn for pred, fn in pairs if bool(pred)]
    if exclusive and len(chosen) > 1:
        from .errors import invalid

        raise invalid("Assert", "More than one condition evaluated as True but exclusive=True.")
    if chosen:
        return chosen[0]()
    if default is None:
        from .errors import invalid

        raise invalid("Assert", "None of conditions evaluated as True and no default was given.")
    return default()


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """The result of the function with this index; of `default`, or the last one, if there is none."""
    if isinstance(branch_fns, dict):
        table = dict(branch_fns)
    else:
        table = dict(branch_fns if branch_fns and isinstance(branch_fns[0], tuple) else enumerate(branch_fns))
    fallback = default if default is not None else table[max(table)]
    return table.get(integer(branch_index), fallback)()


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False, maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Run `body` on the loop variables while `cond` of them is true; their last values, in a list or tuple as `body`
    returned them."""
    values = list(loop_vars)
    kind = type(loop_vars)
    made = [_tensors(v) for v in values]
    count = 0
    limit = None if maximum_iterations is None else integer(maximum_iterations)
    while (limit is None or count < limit) and bool(cond(*made)):
        out = body(*made)
        if isinstance(out, (list, tuple)) and not hasattr(out, "_fields") and len(out) == len(made):
            made, kind = list(out), type(out)
        elif len(made) == 1:
            made = [out]
        else:
            raise ValueError("The two structures don't have the same nested structure.")
        made = [_tensors(v) for v in made]
        count += 1
    return tuple(made) if kind is tuple else made


def _rows(elems: Any) -> tuple[int, Callable[[int], Any]]:
    made = map_nested(lambda x: x if isinstance(x, Operand) else convert_to_tensor(x), elems)
    leaves = flatten(made)
    count = leaves[0]._value.shape[0]
    return count, lambda k: map_nested(lambda x: subscript(x, k), made)


def _stacked(results: list[Any]) -> Any:
    columns = zip(*[flatten(r) for r in results])
    return pack_like(results[0], [stack([operand(x) for x in column]) for column in columns])


def map_fn(
    fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: Any = None, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, name: str | None = None, fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """`fn` of each part along the first axis, stacked."""
    count, row = _rows(elems)
    return _stacked([fn(row(k)) for k in range(count)])


def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """`fn` of each part along the first axis, stacked."""
    return map_fn(fn, elems)


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """All values of ``state = fn(state, part)`` along the first axis, stacked."""
    count, row = _rows(elems)
    order = list(range(count))[:: -1 if reverse else 1]
    states = []
    if initializer is None:
        state = row(order.pop(0))
        states.append(state)
    else:
        state = _tensors(initializer)
    for k in order:
        state = _tensors(fn(state, row(k)))
        states.append(state)
    return _stacked(states[:: -1 if reverse else 1])


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The last value of ``state = fn(state, part)``, from the first part to the last."""
    return _fold(fn, elems, initializer, 1)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The last value of ``state = fn(state, part)``, from the last part to the first."""
    return _fold(fn, elems, initializer, -1)


def _fold(fn: Callable[..., Any], elems: Any, initializer: Any, step: int) -> Any:
    count, row = _rows(elems)
    order = list(range(count))[::step]
    state = row(order.pop(0)) if initializer is None else _tensors(initializer)
    for k in order:
        state = _tensors(fn(state, row(k)))
    return state


# --- what only graphs need --------------------------------------------------------------------------------------------


def group(*inputs: Any, **kwargs: Any) -> None:
    """Nothing: operations have run already."""


def no_op(name: str | None = None) -> None:
    """Nothing."""


def tuple_(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The tensors, as a list."""
    return [None if x is None else identity(x) for x in tensors]


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Nothing: operations run in the order of the program."""
    for x in control_inputs or ():
        if callable(x) and not isinstance(x, Operand):
            x()
    yield


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Nothing: there are no graphs."""
    yield


@contextlib.contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Nothing: there are no devices."""
    yield


def timestamp(name: str | None = None) -> Any:
    """Seconds since 1970, as float64."""
    return tensor(np.float64(time.time()))


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value as an array."""
    return tensor.numpy() if isinstance(tensor, Operand) else np.asarray(tensor)  # type: ignore[attr-defined]


# --- printing and checking --------------------------------------------------------------------------------------------


def print_(*inputs: Any, **kwargs: Any) -> None:
    """Print tensors and other things, to the standard error stream unless `output_stream` says otherwise."""
    stream = kwargs.pop("output_stream", sys.stderr)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    text = sep.join([_shown(x, summarize) for x in inputs]) + end
    if isinstance(stream, str) and stream.startswith("file://"):
        with open(stream[len("file://") :], "a") as file:
            file.write(text)
    else:
        builtin = {"sys.stdout": sys.stdout, "sys.stderr": sys.stderr}
        (builtin.get(stream, sys.stderr) if isinstance(stream, str) else stream).write(text)


def _shown(x: Any, summarize: int) -> str:
    if isinstance(x, Operand):
        v = np.asarray(x._value)
        return f'"{bytes(v[()]).decode()}"' if v.dtype.kind == "S" and not v.ndim else _numbers(v, summarize)
    if isinstance(x, np.ndarray):
        return _numbers(x, summarize)
    if isinstance(x, dict):
        return "{" + ", ".join([f"{k!r}: {_shown(v, summarize)}" for k, v in x.items()]) + "}"
    if isinstance(x, (list, tuple)):
        inner = ", ".join([_shown(v, summarize) if not isinstance(v, str) else repr(v) for v in x])
        if isinstance(x, list):
            return f"[{inner}]"
        return f"({inner},)" if len(x) == 1 else f"({inner})"
    return str(x)


def _numbers(v: np.ndarray[Any, Any], summarize: int, depth: int = 0) -> str:
    if v.ndim == 0:
        return _number(v[()])
    n = len(v)
    parts: list[str] = []
    for k in range(n):
        if summarize >= 0 and n > 2 * summarize and summarize <= k < n - summarize:
            if k == summarize:
                parts.append("...")
            continue
        parts.append(_numbers(v[k], summarize, depth + 1))
    return "[" + (" " if v.ndim == 1 else "\n" + " " * (depth + 1)).join(parts) + "]"


def _number(x: Any) -> str:
    if isinstance(x, np.floating):
        text = f"{float(x):.9g}" if x.dtype == np.float32 else f"{float(x):.17g}"
        short = str(x)
        short = short[:-2] if short.endswith(".0") else short
        return text if len(text) < len(short) else short
    if isinstance(x, np.bool_):
        return "1" if x else "0"
    return x.decode() if isinstance(x, bytes) else str(x)
