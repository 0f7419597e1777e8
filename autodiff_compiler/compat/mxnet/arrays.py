"""MXNet's arrays, and NumPy's functions on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...tape.native import knows
from ..graph.array import put, to, value_of
from ..graph.core import Base, assign, new_tensor, run, subscripts, tensors_in, view
from ..operations.signatures import named
from .base import MODE, MXNET, MXNetError

FLOAT = np.dtype(np.float32)


def make(value: Any) -> Any:
    """An array of a NumPy one, which it does not copy."""
    return new_tensor(MXNET, value)


def narrowed(x: Any, wide: bool) -> Any:
    """float32 in the place of the float64 that NumPy makes of integers."""
    if not wide and hasattr(x, "dtype") and x.dtype == np.float64:
        return to(x, FLOAT)
    return x


def call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy's on arrays; recorded inside of ``autograd.record()``."""
    kwargs = {k: v for k, v in kwargs.items() if v is not None and k not in ("ctx", "device")}
    if "out" in kwargs:
        raise TypeError(f"{fn.__name__}() has no argument 'out'. Instead: out[:] = {fn.__name__}(...)")
    found = tensors_in([args, list(kwargs.values())], [])
    wide = any(t._value.dtype == np.float64 for t in found)
    if not found:
        return _wrapped(fn(*args, **kwargs))

    def computed(options: list[Any], *given: Any) -> Any:
        out = fn(*given, **dict(zip(kwargs, options)))
        if isinstance(out, (tuple, list)):
            return tuple([narrowed(x, wide) for x in out])
        return narrowed(out, wide)

    return run(getattr(fn, "__name__", "operation"), computed, list(kwargs.values()), *args)


def _wrapped(out: Any) -> Any:
    if isinstance(out, (tuple, list)):
        return tuple([_wrapped(x) for x in out])
    return make(narrowed(np.asarray(out), False))


def functions(module: Any) -> dict[str, Callable[..., Any]]:
    """The functions of a module of NumPy's on arrays: those that the compiler knows."""
    found = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {n: _on_arrays(n, fn) for n, fn in found.items() if callable(fn) and (n in UNDIFFERENTIATED or _knows(fn))}


def _knows(fn: Any) -> bool:
    try:
        return knows(fn)
    except TypeError:  # what cannot be hashed
        return False


def _on_arrays(name: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    return named(name, lambda *args, **kwargs: call(fn, args, kwargs), f"NumPy's `{name}` on arrays.")


# Functions without derivative, which the compiler may not know.
UNDIFFERENTIATED = {"argsort", "unique", "nonzero", "searchsorted", "array_equal", "allclose", "isclose", "bincount"}


class ndarray(NDArrayOperatorsMixin, Base):
    """An array. `attach_grad` gives it a gradient, which ``backward`` of what was recorded from it fills.

    >>> from autodiff_compiler.compat.mxnet import autograd, np
    >>> x = np.arange(4.0)
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = 2 * np.dot(x, x)
    >>> y.backward()
    >>> x.grad
    array([ 0.,  4.,  8., 12.])
    """

    __array_priority__ = 1000.0
    _grad: Any = None
    _req: str = "null"

    def __init__(self) -> None:
        raise TypeError("an array is made by np.array, np.zeros and the like")

    # --- facts --------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._value.shape
        return shape

    @property
    def dtype(self) -> Any:
        return self._value.dtype.type

    @property
    def T(self) -> Any:
        return view("transpose", lambda a: np.transpose(a), self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._value, dtype)

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call(fn, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(x is None for x in inputs):
            return ufunc is np.not_equal
        inputs = tuple([make(x) if isinstance(x, np.ndarray) else x for x in inputs])
        out = kwargs.pop("out", None)
        if method != "__call__" or out not in (None, (self,)):
            return NotImplemented
        if out is None:
            return call(ufunc, inputs, kwargs)
        _check_write(self)
        return assign(self, lambda before: call(ufunc, tuple([before if x is self else x for x in inputs]), kwargs))

    def __repr__(self) -> str:
        text = np.array2string(self._value, separator=", ", prefix="array(")
        kind = self._value.dtype
        return f"array({text})" if kind in (FLOAT, np.dtype(bool)) else f"array({text}, dtype={kind})"

    def __str__(self) -> str:
        return str(self._value)

    def __bool__(self) -> bool:
        if self._value.size > 1:
            raise ValueError("The truth value of an ndarray with multiple elements is ambiguous.")
        return bool(self._value)

    __hash__ = Base.__hash__

    # --- the graph ----------------------------------------------------------------------------------------------------

    def attach_grad(self, grad_req: str = "write", stype: Any = None) -> None:
        """Give the array a gradient, zeros at first. It is cut off from what it was computed from.

        grad_req: "write" (each backward pass overwrites it), "add", or "null".
        """
        if grad_req not in ("write", "add", "null"):
            raise ValueError(f"grad_req is 'write', 'add' or 'null', not {grad_req!r}")
        self._become_leaf()
        self._req = grad_req
        self._grad = None if grad_req == "null" else make(np.zeros_like(self._value))
        if grad_req == "null" or self._value.dtype.kind != "f":
            self._own = None

    @property
    def grad(self) -> Any:
        """The gradient, None without `attach_grad`."""
        return self._grad

    def zero_grad(self) -> None:
        """Fill the gradient with zeros."""
        if self._grad is not None:
            self._grad._value[...] = 0
            self._grad._memory.written()

    def detach(self) -> Any:
        """The array, cut off from what it was computed from; it shares the memory."""
        return new_tensor(MXNET, self._value, self._memory)

    # --- copies and parts ---------------------------------------------------------------------------------------------

    def copy(self) -> Any:
        return run("copy", np.positive, self) if self._value.dtype.kind in "fc" else make(self._value.copy())

    def copyto(self, other: Any) -> Any:
        """Write the elements into another array."""
        other[:] = self
        return other

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        wanted = np.dtype(dtype)
        if wanted.kind not in "fc":
            return make(self._value.astype(wanted))
        return run("astype", lambda a: to(a, wanted) if a.dtype != wanted else np.positive(a), self)

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """The array with another shape."""
        wanted = kwargs.get("shape", shape[0] if len(shape) == 1 else shape)
        if np.may_share_memory(np.reshape(self._value, wanted), self._value):
            return view("reshape", lambda a: np.reshape(a, wanted), self)
        return run("reshape", lambda a: np.reshape(a, wanted), self)

    def __getitem__(self, index: Any) -> Any:
        items, plain = _items(index)
        if plain:
            return view(
                "slice", lambda a: a[items], self, lambda a: a[(*items, Ellipsis) if Ellipsis not in items else items]
            )
        return run("index", lambda a: a[items], self)

    def __setitem__(self, index: Any, value: Any) -> None:
        _check_write(self)
        items, _ = _items(index)
        dtype = self._value.dtype
        if not isinstance(value, Base):
            value = make(np.asarray(value).astype(dtype))

        def replaced(a: Any, b: Any) -> Any:
            return put(a, items, to(b, dtype) if dtype.kind in "fc" else value_of(b).astype(dtype))

        assign(self, lambda before: run("assign", replaced, before, value))


def _items(index: Any) -> tuple[tuple[Any, ...], bool]:
    return subscripts(index, lambda v: v.astype(np.int64) if v.dtype.kind == "f" else v)


def _check_write(t: Any) -> None:
    if MODE.grad and t._var is not None:
        raise MXNetError("Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd.")


def _transpose(a: Any, *axes: Any) -> Any:
    return np.transpose(a, *((axes,) if len(axes) > 1 else axes))


_METHODS = (
    "sum mean max min prod std var cumsum argmax argmin argsort sort dot clip squeeze swapaxes repeat take round all "
    "any trace diagonal ravel exp log sqrt abs tanh sin cos square sign floor"
)


def _as_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: call(fn, (self, *args), kwargs)


for _name in _METHODS.split():
    setattr(ndarray, _name, _as_method(getattr(np, _name)))
ndarray.flatten, ndarray.transpose = _as_method(np.ravel), _as_method(_transpose)  # type: ignore[attr-defined]
ndarray._system, MXNET.cls = MXNET, ndarray

# What is there besides: attributes, and methods without parameters that matter.
for _name in ("ctx", "context", "device"):
    setattr(ndarray, _name, "cpu(0)")
_FACTS: dict[str, Any] = {
    **dict.fromkeys(("as_in_ctx", "as_in_context"), lambda self, ctx: self),
    "size": property(lambda self: self._value.size),
    **dict.fromkeys(("item", "asscalar"), lambda self, *args: self._value.item(*args)),
    "asnumpy": lambda self: self._value.copy(), "wait_to_read": lambda self: None,
    "__index__": lambda self: self._value.__index__(),
}  # fmt: skip
for _name, _fact in _FACTS.items():
    setattr(ndarray, _name, _fact)
