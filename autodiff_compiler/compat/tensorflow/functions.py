"""Functions around functions: `function`, which runs eagerly, and calls of Python's and NumPy's functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tape.custom import isolated
from ...tape.nest import map_nested
from ...tape.tensor import Operand
from .dtypes import DType, as_dtype, float32
from .elementwise import cast
from .shapes import TensorShape
from .tensors import convert_to_tensor, tensor
from .values import as_value

_eagerly = False


class TensorSpec:
    """The shape and the dtype of a tensor."""

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None):
        self.shape, self.dtype, self.name = TensorShape(shape), as_dtype(dtype), name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class Function:
    """What `function` makes of a Python function: it runs it, with tensors for the arrays among the arguments.

    `python_function` is the function itself. With an `input_signature` the arguments become tensors of these dtypes;
    TypeError is raised for those that do not fit.
    """

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None, name: str | None = None):
        self.python_function = python_function
        self.input_signature = None if input_signature is None else tuple(input_signature)
        functools.update_wrapper(self, python_function, updated=())
        self._name = str(name or getattr(python_function, "__name__", "function"))

    @property
    def name(self) -> str:
        return self._name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.input_signature is not None:
            args, kwargs = self._cast(args, kwargs), {}
        else:
            for x in (*args, *kwargs.values()):
                if isinstance(x, np.ndarray):
                    args = tuple([_tensor_of_array(v) for v in args])
                    kwargs = {k: _tensor_of_array(v) for k, v in kwargs.items()}
                    break
        return map_nested(_result, self.python_function(*args, **kwargs))

    def _cast(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments as the input signature wants them."""
        specs, made = self.input_signature or (), []
        signature = inspect.signature(self.python_function)
        try:
            given = list(signature.bind(*args, **kwargs).arguments.values())
            for value, spec in zip(given, specs):
                if hasattr(spec, "dtype"):
                    value = convert_to_tensor(value, None if isinstance(value, Operand) else spec.dtype)
                    if value.dtype != spec.dtype or not spec.shape.is_compatible_with(value.shape):
                        raise TypeError(f"Can not cast {TensorSpec(value.shape, value.dtype)!r} to {spec!r}")
                made.append(value)
        except (TypeError, ValueError) as error:
            shown = ", ".join(f"{name}: {spec!r}" for name, spec in zip(signature.parameters, specs))
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and kwargs: {kwargs} "
                f"for signature: ({shown})."
            ) from None
        return (*made, *given[len(specs) :])

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        bound = Function(self.python_function.__get__(instance, owner), self.input_signature, self._name)
        return bound

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
    if func is None:
        return lambda f: Function(f, input_signature)
    return Function(func, input_signature)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Accepted: functions always run eagerly."""
    global _eagerly
    _eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What `run_functions_eagerly` was told."""
    return _eagerly


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
