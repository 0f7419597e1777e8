"""Functions around functions: `function`, which runs eagerly, and calls of Python's and NumPy's functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tape.custom import isolated
from ...tape.nest import map_nested
from ...tape.tensor import Operand
from .dtypes import DType, as_dtype
from .shaping import cast
from .tensors import convert_to_tensor, tensor
from .values import as_value


def function(func: Callable[..., Any] | None = None, input_signature: Any = None, **options: Any) -> Any:
    """Decorator: the function, run eagerly. Arrays among its arguments become tensors, and so do results that are
    numbers, arrays or variables. Python's side effects happen at each call. `python_function` is the function itself.
    """
    if input_signature is not None:
        raise NotImplementedError("input_signature is not there: convert the arguments by tf.convert_to_tensor")
    if func is None:
        return function

    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        made = [convert_to_tensor(x) if isinstance(x, np.ndarray) else x for x in args]
        named = {k: convert_to_tensor(x) if isinstance(x, np.ndarray) else x for k, x in kwargs.items()}
        return map_nested(_result, func(*made, **named))

    decorated.python_function = func  # type: ignore[attr-defined]
    return decorated


def _result(x: Any) -> Any:
    """The result as a graph would return it."""
    return convert_to_tensor(x) if isinstance(x, (Operand, bool, int, float, complex, np.ndarray, np.generic)) else x


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """``func(*inp)``, on tensors; gradients pass. The results are of the dtypes `Tout`."""
    result = func(*[convert_to_tensor(x) for x in inp])
    if not isinstance(Tout, (list, tuple)):
        return None if Tout is None or result is None else _of_dtype(result, as_dtype(Tout))
    parts = result if isinstance(result, (list, tuple)) else [result]
    return [None if x is None else _of_dtype(x, as_dtype(d)) for x, d in zip(parts, Tout)]


def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """``func(*inp)``, on arrays; no gradient passes. `Tout` says whether there are several results."""
    with isolated():
        result = func(*[convert_to_tensor(x).numpy() for x in inp])
    if isinstance(Tout, (list, tuple)):
        return [convert_to_tensor(x) for x in (result if isinstance(result, (list, tuple)) else [result])]
    return convert_to_tensor(result)


def _of_dtype(x: Any, dtype: DType) -> Any:
    if isinstance(x, Operand):
        return cast(x, dtype)
    v = as_value(x, None if isinstance(x, (np.ndarray, np.generic)) else dtype)
    return tensor(v.astype(dtype.np_dtype))
