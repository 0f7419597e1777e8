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
from .elementwise import cast
from .tensors import convert_to_tensor, tensor
from .values import as_value


class Function:
    """What `function` makes of a Python function: it runs it, with tensors for the arrays among the arguments.

    `python_function` is the function itself.
    """

    def __init__(self, python_function: Callable[..., Any], name: str | None = None):
        self.python_function = python_function
        functools.update_wrapper(self, python_function, updated=())
        self._name = str(name or getattr(python_function, "__name__", "function"))

    @property
    def name(self) -> str:
        return self._name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, np.ndarray) for x in (*args, *kwargs.values())):
            args = tuple([_tensor_of_array(v) for v in args])
            kwargs = {k: _tensor_of_array(v) for k, v in kwargs.items()}
        return map_nested(_result, self.python_function(*args, **kwargs))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return Function(self.python_function.__get__(instance, owner), self._name)

    def __repr__(self) -> str:
        return f"<tf.function {self._name} (eager)>"


def _tensor_of_array(x: Any) -> Any:
    return convert_to_tensor(x) if isinstance(x, np.ndarray) else x


def _result(x: Any) -> Any:
    """What a graph would return for a result: tensors for numbers and variables."""
    if isinstance(x, Operand):
        return convert_to_tensor(x)
    if isinstance(x, (bool, int, float, complex, np.ndarray, np.generic)):
        return convert_to_tensor(x)
    return x


def function(func: Callable[..., Any] | None = None, input_signature: Any = None, **options: Any) -> Any:
    """Decorator: the function, run eagerly. What Python does in it, it does in each call."""
    if input_signature is not None:
        raise NotImplementedError("input_signature is not there: convert the arguments by tf.convert_to_tensor")
    return Function if func is None else Function(func)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """``func(*inp)``, on tensors; gradients pass. The results are of the dtypes `Tout`."""
    result = func(*[convert_to_tensor(x) for x in inp])
    return _typed(result, Tout)


def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None
) -> Any:
    """``func(*inp)``, on arrays; no gradient passes. `Tout` says whether there are several results."""
    with isolated():
        result = func(*[convert_to_tensor(x).numpy() for x in inp])
    if isinstance(Tout, (list, tuple)):
        parts = result if isinstance(result, (list, tuple)) else [result]
        return [convert_to_tensor(x) for x in parts]
    return convert_to_tensor(result)


def _typed(result: Any, wanted: Any) -> Any:
    if wanted is None:
        return None
    if not isinstance(wanted, (list, tuple)):
        return _of_dtype(result, as_dtype(wanted))
    parts = list(result) if isinstance(result, (list, tuple)) else [result] if wanted else []
    return [_of_dtype(x, as_dtype(d)) for x, d in zip(parts, wanted)]


def _of_dtype(x: Any, dtype: DType) -> Any:
    if x is None or isinstance(x, Operand):
        return x if x is None else cast(x, dtype)
    v = as_value(x, None if isinstance(x, (np.ndarray, np.generic)) else dtype)
    return tensor(v.astype(dtype.np_dtype))
