"""Control flow, which runs eagerly: `cond`, `while_loop`, `map_fn`, `scan` and the like."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...tape.nest import flatten, map_nested, pack_like
from ...tape.tensor import Operand
from .operands import integer, operand
from .operators import subscript
from .shaping import stack
from .tensors import convert_to_tensor, is_tensor


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """``true_fn()`` or ``false_fn()``."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("'true_fn' and 'false_fn' arguments must be callable")
    return true_fn() if bool(pred) else false_fn()


def _tensors(result: Any) -> Any:
    """Results of a function: numbers become tensors."""
    return map_nested(lambda x: x if x is None or isinstance(x, Operand) else convert_to_tensor(x), result)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False, maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Run `body` on the loop variables while `cond` of them is true; their last values, in a list or tuple as `body`
    returned them."""
    kind = type(loop_vars)
    made = [_tensors(v) for v in loop_vars]
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
    count = flatten(made)[0]._value.shape[0]
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


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """All values of ``state = fn(state, part)`` along the first axis, stacked."""
    count, row = _rows(elems)
    order = list(range(count))[:: -1 if reverse else 1]
    states = [row(order.pop(0)) if initializer is None else _tensors(initializer)]
    for k in order:
        states.append(_tensors(fn(states[-1], row(k))))
    states = states[initializer is not None :]
    return _stacked(states[:: -1 if reverse else 1])


@contextlib.contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Nothing: there are no devices."""
    yield


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Nothing: operations run in the order of the program."""
    yield


def print_(*inputs: Any, output_stream: Any = None, sep: str = " ", end: str = "\n", **options: Any) -> None:
    """Print tensors and other things as NumPy does, to the standard error stream by default."""
    values = [x.numpy() if is_tensor(x) else x for x in inputs]
    print(*values, sep=sep, end=end, file=sys.stderr if output_stream is None else output_stream)
