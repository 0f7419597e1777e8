"""The tape's own tensors, which code may hand to ``np.*`` functions.

They have NumPy's values and dtypes, and NumPy's two protocols: ``__array_ufunc__`` and ``__array_function__``.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import RuleLookupError, UnsupportedError
from ..frontend.definitions import definition_of
from ..ir.core import Prim
from ..ir.opset import PRIMS, lookup
from .apply import Static, apply, exact, getitem, missing, operands_in, plain
from .operators import add_up, average, binary, install_operators, reduction, unary
from .recording import CONSTANT, STATE
from .tensor import Operand, wrap
from .tensor import Tensor as _Tensor
from .tensor import Variable as _Variable

_serial = itertools.count()


class _Native(Operand):
    """What native tensors and variables share."""

    __slots__ = ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return np.asarray(self._value).dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return np.shape(self._value)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return np.ndim(self._value)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.size(self._value))

    @property
    def T(self) -> Any:
        """The transpose, as a tensor."""
        return apply(PRIMS[np.transpose], np.transpose, (self,), {})

    @property
    def real(self) -> Any:
        """The real part, as a tensor."""
        return apply(PRIMS[np.real], np.real, (self,), {})

    @property
    def imag(self) -> Any:
        """The imaginary part, as a tensor."""
        return apply(PRIMS[np.imag], np.imag, (self,), {})

    def copy(self) -> Any:
        """Another tensor with the same value. The gradient flows through."""
        return apply(PRIMS[np.positive], np.positive, (self,), {})

    def numpy(self) -> Any:
        """A copy of the value, as an array or a NumPy number. It is off the tape."""
        return self._value.copy()

    def _coerce(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return exact(other).copy()  # the recording keeps it, and the user may write into it later
        if isinstance(other, (int, float, complex, np.generic)):
            return other
        if isinstance(other, (list, tuple)):
            return np.array(other)
        return NotImplemented

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if STATE.sealed:
            raise RuleLookupError(
                "an operation here converts a tensor to an array, so its result could not be differentiated",
                None,
                "use functions that have a derivative (docs/functions.md), or pass t.numpy() where no gradient is "
                "wanted",
            )
        self._leave("an array", "np.stack to join tensors, and np.where or np.concatenate for stores into an array")
        out: np.ndarray[Any, Any] = np.array(self._value, dtype)
        return out

    def __array_ufunc__(self, ufunc: Any, method: str, x: Any, *rest: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            if not rest:
                fast = _FAST.get(ufunc)
                if fast is not None:
                    return fast(x)
            elif len(rest) == 1:
                forms = _PAIRS.get(ufunc)
                if forms is not None:
                    (y,) = rest
                    out = forms[0](x, y) if isinstance(x, _Native) else forms[1](y, x)
                    if out is not NotImplemented:
                        return out
        elif kwargs.get("out") is not None:
            raise UnsupportedError("a tensor cannot be written to, so out= is not supported", None, "use the result")
        return call_numpy(ufunc if method == "__call__" else getattr(ufunc, method), (x, *rest), kwargs)

    def __array_function__(self, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not kwargs:
            if len(args) == 1:
                fast = _FAST.get(fn)
                if fast is not None and (args[0] is self or isinstance(args[0], _Native)):
                    return fast(args[0])
            prim = _PRIMITIVES.get(fn)
            if prim is not None:
                return apply(prim, fn, args, kwargs)
        return call_numpy(fn, args, kwargs)

    def _leave(self, what: str, instead: str) -> None:
        """Raise RuleLookupError if an open tape watches the tensor: its conversion to `what` loses the gradient."""
        rec = STATE.rec
        if rec is not None and rec.knows(self):
            raise RuleLookupError(
                f"a tensor that an open tape records would become {what} here, and its gradient would be lost",
                None,
                f"use {_through_function() or instead}. Where no gradient is wanted, take x.numpy() or x.item(), or "
                "convert after the block",
            )

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self)

    def __len__(self) -> int:
        return len(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __float__(self) -> float:
        self._leave("a float", "NumPy's functions in place of those of `math`")
        return float(self._value)

    def __int__(self) -> int:
        return int(self._value)

    def __complex__(self) -> complex:
        self._leave("a complex number", "NumPy's functions in place of those of `cmath`")
        return complex(self._value)

    def __index__(self) -> int:
        return self._value.__index__()  # type: ignore[no-any-return]

    def __iter__(self) -> Any:
        if not self.shape:
            raise TypeError("a tensor without axes cannot be iterated over")
        return (getitem(self, k) for k in range(len(self)))

    def __eq__(self, other: Any) -> Any:
        return np.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return np.not_equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    def astype(self, dtype: Any) -> Any:
        """The tensor in another dtype."""
        return apply(PRIMS[np.ndarray.astype], _astype, (self, np.dtype(dtype)), {})

    def item(self) -> Any:
        """The value of a tensor with one element, as a Python number. It is off the tape."""
        return self._value.item()


def _through_function() -> str:
    """If SciPy makes an array of a tensor: the call that the compiler differentiates as one operation."""
    frame: types.FrameType | None = sys._getframe()
    scipy_frames: list[types.FrameType] = []
    while frame is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] == "scipy":
            scipy_frames.append(frame)
        frame = frame.f_back
    for called in reversed(scipy_frames):  # the outermost may be a wrapper
        module = ".".join(called.f_globals["__name__"].split(".")[:2])
        name = called.f_code.co_name
        if name[0] != "_" and callable(getattr(sys.modules.get(module), name, None)):
            return f"ad.function({module}.{name})(...), which records the call as one operation"
    return "ad.function(f)(...), where f makes this call, which records it as one operation" if scipy_frames else ""


def _method(fn: Callable[..., Any], shape_first: bool = False) -> Callable[..., Any]:
    """A method of arrays, made of NumPy's function.

    shape_first: ``x.reshape(2, 3)`` means ``np.reshape(x, (2, 3))``.
    """

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call_numpy(fn, (self, args) if shape_first and len(args) > 1 else (self, *args), kwargs)

    method.__name__ = fn.__name__
    method.__doc__ = f"``np.{fn.__name__}`` of this tensor."
    return method


# Set on the class, and not found by `__getattr__`, which would make all attributes slower.
for _name in (
    "sum", "mean", "max", "min", "prod", "std", "var", "cumsum", "cumprod", "reshape", "ravel", "transpose", "squeeze",
    "swapaxes", "dot", "clip", "trace", "diagonal", "repeat", "take", "argmax", "argmin", "argsort", "round", "conj",
    "all", "any", "sort",
):  # fmt: skip
    setattr(_Native, _name, _method(getattr(np, _name), _name in ("reshape", "transpose")))


def knows(fn: Any) -> bool:
    """Whether `call_numpy` can run a function on operands."""
    return lookup(fn) is not None or definition_of(fn) is not None


def call_numpy(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of NumPy's on operands, and record it. The result is a tensor.

    Raises RuleLookupError for a function without a derivative rule.
    """
    if not kwargs:
        prim = _PRIMITIVES.get(fn)
        if prim is not None:
            return apply(prim, fn, args, kwargs)
    else:
        kwargs = {k: v for k, v in kwargs.items() if v is not np._NoValue and (v is not None or _means(fn, k))}
    if fn in (np.shape, np.ndim, np.size, np.result_type):
        return fn(*[plain(a) for a in args], **kwargs)  # plain numbers and dtypes, as the attributes are
    definition = definition_of(fn)
    if definition is not None and _running.fn is not fn:  # inside of its own definition it is the primitive
        outer, _running.fn = _running.fn, fn
        sealed, STATE.sealed = STATE.sealed, True
        try:
            return on_tensors(definition)(*args, **kwargs)
        except NotImplementedError as error:  # see `definitions.refuse`
            message, remedy = (*error.args, "", "")[:2]
            raise UnsupportedError(str(message), None, str(remedy)) from None
        finally:
            _running.fn, STATE.sealed = outer, sealed
    prim = lookup(fn)
    if prim is None:
        raise missing(fn)
    reduce = _REDUCTIONS.get(fn)
    if reduce is not None and len(args) == 1 and isinstance(args[0], Operand) and kwargs.keys() <= _AXES:
        return reduce(*args, **kwargs)
    if fn in _POWERS:
        if type(args[1]) in (int, float):
            args = (args[0], Static(args[1]))
    elif definition is None:
        _PRIMITIVES[fn] = prim
        if isinstance(fn, np.ufunc) and fn.nin == 2 and fn.nout == 1 and prim.elementwise:
            made = [binary(prim, fn, fn.__name__, reflected, _Made) for reflected in (False, True)]
            _PAIRS[fn] = (made[0], made[1])
    return apply(prim, fn, args, kwargs)


_PRIMITIVES: dict[Any, Prim] = {}  # functions that are just primitives, filled as they are called
_PAIRS: dict[Any, tuple[Callable[..., Any], Callable[..., Any]]] = {}  # binary ufuncs: in order, and reflected
_POWERS = (np.power, np.float_power)


@functools.cache
def _means(fn: Any, name: str) -> bool:
    """To pass None for this parameter is not the same as to leave it out."""
    if fn is np.concatenate:  # NumPy 2.2 has no signature for it
        return name == "axis"
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        return name == "axis" and fn.__name__ == "reduce"
    try:
        default = inspect.signature(fn).parameters[name].default
    except (KeyError, ValueError, TypeError):
        return False
    return default is not None and default is not np._NoValue


class _NumPy:
    """NumPy for definitions that run on tensors. Its conversions to arrays leave a tensor a tensor."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def asarray(x: Any, dtype: Any = None, **kwargs: Any) -> Any:
        found: list[Any] = []
        operands_in(x, found)
        if not found:
            return np.asarray(x, dtype, **kwargs)
        if not isinstance(x, Operand):
            x = apply(PRIMS[np.stack], np.stack, ([_NumPy.asarray(item) for item in x],), {})
        return x if dtype is None or np.dtype(dtype) == x._value.dtype else x.astype(dtype)

    asanyarray = ascontiguousarray = asarray

    @staticmethod
    def array(x: Any, dtype: Any = None, **kwargs: Any) -> Any:
        found: list[Any] = []
        operands_in(x, found)
        return _NumPy.asarray(x, dtype) if found else np.array(x, dtype, **kwargs)


class _Running(threading.local):
    """The function whose definition runs in this thread."""

    fn: Any = None


_running = _Running()
_on_tensors: dict[int, dict[str, Any]] = {}


def on_tensors(definition: Any) -> Any:
    """The definition of a NumPy function with `_NumPy` as its ``np``, so that tensors stay on the tape."""
    source = definition.__globals__
    scope = _on_tensors.get(id(source))
    if scope is None:
        scope = _on_tensors[id(source)] = dict(source)
        for name, fn in source.items():
            if isinstance(fn, types.FunctionType) and fn.__globals__ is source:
                scope[name] = _in_scope(fn, scope)
        scope["np"] = _NumPy()
    if source.get(definition.__name__) is definition:
        return scope[definition.__name__]
    return _in_scope(definition, scope)  # one of a family that one function makes


def _in_scope(fn: types.FunctionType, scope: dict[str, Any]) -> types.FunctionType:
    """The function with other globals."""
    made = types.FunctionType(fn.__code__, scope, fn.__name__, fn.__defaults__, fn.__closure__)
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


_AXES = {"axis", "keepdims"}


def _astype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


class Tensor(_Native, _Tensor):
    """An immutable array or number. Its operations are recorded while a `GradientTape` watches it.

    value: an array, a number or a nested list, which is copied. dtype: a NumPy dtype; by default the value's.
    Raises TypeError for values that are no numbers.

    Python's operators, subscripts, NumPy's functions and the methods of arrays work on it and give tensors.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> x = ad.constant([1.0, 2.0])
    >>> with ad.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = np.sum(np.exp(x) * x)
    >>> tape.gradient(y, x).numpy().round(3)
    array([ 5.437, 22.167])
    """

    __slots__ = ()

    def __init__(self, value: Any, dtype: Any = None):
        self._value = as_value(value, dtype)
        self._token = CONSTANT
        self._slot = -1

    def __reduce__(self) -> Any:
        return Tensor, (self._value,)  # a tensor that was unpickled is on no tape

    def __repr__(self) -> str:
        return f"Tensor({self._value!r})"


class _Made(Tensor):
    """The class of all results. It takes no arguments, see `Operand`."""

    __slots__ = ()
    __init__ = object.__init__


_Made.__name__ = _Made.__qualname__ = "Tensor"


class Variable(_Native, _Variable):
    """A value that can be assigned. Open tapes watch a trainable variable when it is read.

    value: an array, a number or a nested list, which is copied.
    trainable: whether open tapes watch the variable when it is read.
    name: shown in `repr`, and used for the variable in emitted code.
    dtype: a NumPy dtype; by default the value's.

    Raises TypeError for values that are no numbers.

    >>> import autodiff_compiler as ad
    >>> w = ad.Variable([1.0, 2.0], name="w")
    >>> _ = w.assign_sub([0.5, 0.5])
    >>> w
    Variable(array([0.5, 1.5]), name='w')
    """

    def __init__(self, value: Any, trainable: bool = True, name: str = "", dtype: Any = None):
        self._value = as_value(value, dtype)
        self._trainable = trainable
        self._token = None  # set here too: attributes of the object are read faster than those of its class
        self._slot = -1
        self.name = name
        self._name_hint = "".join(c if c.isalnum() else "_" for c in name.split(":")[0])
        self._serial = next(_serial)

    @property
    def trainable(self) -> bool:
        """Whether open tapes watch the variable when it is read."""
        return self._trainable

    def assign(self, value: Any) -> Variable:
        """Assign a value, which is cast to the variable's dtype. Recordings keep the values that they read.

        Raises ValueError for another shape.
        """
        return self._assigned(as_value(value, self._value.dtype))

    def _assigned(self, made: Any) -> Variable:
        v = self._value
        if made.shape != v.shape:
            raise ValueError(f"a variable of shape {self.shape} cannot be assigned a value of shape {np.shape(made)}")
        if made.dtype is not v.dtype:
            made = made.astype(v.dtype)
        if made.__class__ is v.__class__:
            self._value = made
        else:
            self._rebind(made)
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Add `delta`, which broadcasts to the variable's shape."""
        v = self._value
        made = v + (delta._value if type(delta) is _Made or isinstance(delta, Operand) else np.asarray(delta))
        if type(made) is type(v) and made.dtype is v.dtype and made.shape == v.shape:
            self._value = made
            return self
        return self._assigned(made)

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract `delta`, which broadcasts to the variable's shape."""
        v = self._value
        made = v - (delta._value if type(delta) is _Made or isinstance(delta, Operand) else np.asarray(delta))
        if type(made) is type(v) and made.dtype is v.dtype and made.shape == v.shape:
            self._value = made
            return self
        return self._assigned(made)

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        made: Variable = copy.copy(self)
        memo[id(self)] = made
        for name, x in self.__dict__.items():
            if name not in ("_value", "_leaf"):
                made.__dict__[name] = copy.deepcopy(x, memo)
        made._value = as_value(self._value)
        return made

    def _in_place(self, other: Any) -> Any:
        raise RuntimeError(
            "a variable cannot be changed by +=, -= and the like: use variable.assign_add(value), assign_sub or "
            "assign, or give the result another name"
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = __imatmul__ = _in_place

    def read_value(self) -> Tensor:
        """The value now, as a tensor that depends on the variable."""
        return apply(PRIMS[np.positive], np.positive, (self,), {})  # type: ignore[no-any-return]

    value = read_value

    def __repr__(self) -> str:
        return f"Variable({self._value!r}, name={self.name!r})"


_Native._tensor_class = _Made
install_operators(_Native, _Made)

# Fast paths for the functions of one operand that are called most.
_FAST: dict[Any, Callable[..., Any]] = {
    np.sum: unary(PRIMS[np.sum], np.sum, _Made),
    np.mean: unary(PRIMS[np.mean], np.mean, _Made),
    **{
        fn: unary(PRIMS[fn], fn, _Made)
        for fn in (np.exp, np.log, np.sin, np.cos, np.tanh, np.sqrt, np.square, np.absolute, np.negative, np.log1p)
    },
}  # fmt: skip
_REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: reduction(PRIMS[np.sum], add_up),
    np.mean: reduction(PRIMS[np.mean], average),
}


def as_value(value: Any, dtype: Any = None) -> Any:
    """A copy of the value, as an array or a NumPy number. Raises TypeError for values that are no numbers."""
    made = np.array(value._value if isinstance(value, Operand) else exact(value), dtype)
    if made.dtype.kind not in "biufc":
        raise TypeError(
            f"a tensor holds numbers, and {value!r} gives dtype {made.dtype}: pass a number, an array or a nested list"
        )
    return made[()]


def constant(value: Any, dtype: Any = None) -> Tensor:
    """A tensor with this value: an array, a number or a nested list, which is copied.

    dtype: a NumPy dtype; by default the value's. Raises TypeError for values that are no numbers.

    >>> import autodiff_compiler as ad
    >>> ad.constant([1, 2]).dtype
    dtype('int64')
    """
    return wrap(_Made, as_value(value, dtype))  # type: ignore[no-any-return]
