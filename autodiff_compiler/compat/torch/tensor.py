"""The tensor: its attributes, its place in the graph, its memory. Operations are methods that `register` adds."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..graph.record import GraphRecord, Version
from . import dtypes, printing
from .core import TORCH, Base, make, named, numpy_names


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple.

    >>> from autodiff_compiler.compat import torch
    >>> torch.ones(2, 3).shape
    torch.Size([2, 3])
    """

    def numel(self) -> int:
        return int(np.prod(self)) if self else 1

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, k: Any) -> Any:
        found = tuple.__getitem__(self, k)
        return Size(found) if isinstance(k, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple(self) + tuple(other))


class device:
    """Where tensors are: always ``device('cpu')``."""

    def __init__(self, type: Any = "cpu", index: int | None = None):
        name = str(type).split(":")[0]
        if name != "cpu":
            raise RuntimeError(f"device {type!r} is not there: arrays of NumPy live on the CPU. Instead: 'cpu'")
        self.type, self.index = "cpu", index

    def __repr__(self) -> str:
        return "device(type='cpu')"

    def __str__(self) -> str:
        return "cpu"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device)

    def __hash__(self) -> int:
        return hash("cpu")


def check_device(where: Any) -> None:
    """Raise for a device other than the CPU."""
    if where is not None:
        device(str(where))


class GradFn:
    """What made a tensor: ``t.grad_fn``. The class bears the name of the operation."""

    def __init__(self, record: GraphRecord):
        self._record = record

    def name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(id(self._record))}>"


@functools.cache
def _grad_fn_class(name: str) -> type[GradFn]:
    whole = name.endswith(("Backward", "Backward0", "Backward1", "Backward2", "CopySlices"))
    return type(name if whole else f"{name}Backward0", (GradFn,), {})


def _grad_fn(self: Any) -> GradFn | None:
    var = self._var
    return None if var is None or var.record is None else _grad_fn_class(var.record.name)(var.record)


class HookHandle:
    """What registering a hook returns; ``remove`` takes the hook off."""

    _numbers = itertools.count()

    def __init__(self, table: dict[int, Callable[..., Any]], hook: Callable[..., Any]):
        self._table, self._number = table, next(HookHandle._numbers)
        table[self._number] = hook

    def remove(self) -> None:
        self._table.pop(self._number, None)


class Tensor(Base):
    """An array whose operations are recorded where it requires a gradient.

    Tensors come from `torch.tensor`, `torch.zeros` and the like, and from operations.

    >>> from autodiff_compiler.compat import torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __array_priority__ = 1000.0
    _grad: Any = None
    _post_hooks: dict[int, Callable[..., Any]] | None = None

    def __new__(cls, *args: Any, dtype: Any = None, device: Any = None) -> Any:
        """A float32 tensor of a list, or an unset one of a shape."""
        wanted = dtypes.get_default_dtype().numpy
        if len(args) == 1 and not isinstance(args[0], int):
            return _rebuild(cls, np.array(args[0]._value if isinstance(args[0], Base) else args[0], wanted), False)
        return _rebuild(cls, np.zeros(args or 0, wanted), False)

    # --- facts --------------------------------------------------------------------------------------------------------

    @numpy_names
    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length along one axis."""
        return self.shape if dim is None else self._value.shape[dim]

    @numpy_names
    def stride(self, dim: int | None = None) -> Any:
        steps = tuple([s // self._value.itemsize for s in self._value.strides])
        return steps if dim is None else steps[dim]

    def type(self, dtype: Any = None) -> Any:
        """The name of the tensor's type, or the tensor in another dtype."""
        return f"torch.{self.dtype.type_name}Tensor" if dtype is None else self.to(dtype)

    # --- the graph ----------------------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        return self._var is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say whether gradients with respect to this leaf are wanted."""
        var = self._var
        if var is not None and var.record is not None:
            if requires_grad:
                return self
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if not requires_grad:
            self._own = None
        elif var is None:
            if self._value.dtype.kind not in "fc":
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            self._become_leaf()
        return self

    @property
    def grad(self) -> Any:
        """The gradient that `backward` has accumulated, or None."""
        if self._grad is None and not self.is_leaf and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            if not isinstance(value, Base):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value._value.shape != self._value.shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{list(value._value.shape)}' to a tensor of size "
                    f"'{list(self._value.shape)}'. Please ensure that the gradient and the tensor are the same size"
                )
        self._grad = value

    def retain_grad(self) -> None:
        """Keep the gradient of this result in ``grad``, as for a leaf."""
        var = self._var
        if var is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if var.record is not None:
            var.retained = var.record.marked = True

    def register_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(grad)`` when the gradient of this tensor is computed; what it returns, if not None, takes its
        place."""
        var = self._var
        if var is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if var.hooks is None:
            var.hooks = {}
        if var.record is not None:
            var.record.marked = True
        return HookHandle(var.hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(tensor)`` after `backward` has added to the ``grad`` of this leaf."""
        if not self.is_leaf:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._post_hooks is None:
            self._post_hooks = {}
        return HookHandle(self._post_hooks, hook)

    # --- memory -------------------------------------------------------------------------------------------------------

    def detach(self) -> Tensor:
        """A tensor that shares the memory, and requires no gradient."""
        return make(self._value, self._memory)  # type: ignore[no-any-return]

    def detach_(self) -> Tensor:
        """Cut this tensor off from what it was computed from."""
        self._own, self._base, self._path = None, None, ()
        return self

    @property
    def data(self) -> Tensor:
        """A tensor that shares the memory and not the version: writes into it go unnoticed by the graph."""
        return make(self._value)  # type: ignore[no-any-return]

    @data.setter
    def data(self, value: Any) -> None:
        self._value = value._value
        # What was recorded from the old memory keeps it; its count goes on.
        fresh = Version()
        fresh.count, self._memory = self._memory.count, fresh

    def numpy(self, *, force: bool = False) -> Any:
        """The array, which shares the memory. Raises RuntimeError for a tensor that requires a gradient, unless
        `force`."""
        if self._var is not None and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        value = self.numpy()
        return np.array(value, dtype) if dtype is not None or copy else value

    def item(self) -> Any:
        """The only element, as a Python number."""
        if self._value.size != 1:
            raise RuntimeError(f"a Tensor with {self._value.size} elements cannot be converted to Scalar")
        return self._value.item()

    # --- Python's protocols -------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return printing.text_of(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self._value.ndim == 0 and spec else str(self)

    def __bool__(self) -> bool:
        if self._value.size != 1:
            many = "more than one value" if self._value.size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
        return bool(self._value.item())

    def __index__(self) -> int:
        if self._value.dtype.kind not in "iub" or self._value.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._value.item())

    def __iter__(self) -> Any:
        return iter(self.unbind()) if self._value.ndim else super().__iter__()

    def __contains__(self, item: Any) -> bool:
        return bool(np.any(self._value == (item._value if isinstance(item, Base) else item)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
                "the moment."
            )
        found = memo.get(id(self))
        if found is not None:
            return found
        made = _rebuild(type(self), self._value.copy(), self.requires_grad)
        if self._grad is not None:
            made._grad = self._grad.__deepcopy__(memo)
        memo[id(self)] = made
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (_rebuild, (type(self), np.array(self._value), self.requires_grad and self.is_leaf))


def _rebuild(cls: type[Any], value: Any, requires_grad: bool, version: Version | None = None) -> Any:
    made = make(value, version)
    made.__class__ = cls
    if requires_grad:
        made.requires_grad_()
    return made


class Parameter(Tensor):
    """A tensor that a module lists among its parameters; it requires a gradient.

    >>> from autodiff_compiler.compat import torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Any, requires_grad: bool = True) -> Any:
        return _rebuild(cls, data._value, requires_grad, data._memory)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + printing.text_of(self)


Tensor._system, TORCH.cls = TORCH, Tensor


def drop_gradients(tensors: Iterable[Any], set_to_none: bool) -> None:
    """Let go of the gradients, or write zeros into them."""
    for p in tensors:
        p._grad = None if set_to_none or p._grad is None else p._grad.detach().zero_()


def method(name: str, f: Callable[..., Any]) -> None:
    """Give tensors a method."""
    setattr(Tensor, name, f)


# Facts, as attributes and as methods: what each is, and how it is found.
_ATTRIBUTES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "dtype": ("PyTorch's dtype of the elements.", lambda self: dtypes.of_numpy(self._value.dtype)),
    "shape": ("The lengths of the axes.", lambda self: Size(self._value.shape)),
    "device": ("Where it is: on the CPU.", lambda self: device()),
    "is_leaf": ("Whether no recorded operation made it.", lambda self: (v := self._var) is None or v.record is None),
    "grad_fn": ("What made it, None for a leaf.", _grad_fn),
    "retains_grad": ("Whether a result keeps its gradient.", lambda self: not self.is_leaf and self._var.retained),
    "_version": ("How often the memory was written to.", lambda self: self._memory.count),
}
_FACTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "dim": ("The number of axes.", lambda self: self._value.ndim),
    "numel": ("The number of elements.", lambda self: self._value.size),
    "nelement": ("The number of elements.", lambda self: self._value.size),
    "element_size": ("The bytes of one element.", lambda self: self._value.itemsize),
    "is_contiguous": ("Whether the memory is in order.", lambda self: bool(self._value.flags.c_contiguous)),
    "data_ptr": ("The address.", lambda self: int(self._value.__array_interface__["data"][0])),
    "is_floating_point": ("Whether the dtype is a floating one.", lambda self: self._value.dtype.kind == "f"),
    "is_complex": ("Whether the dtype is a complex one.", lambda self: self._value.dtype.kind == "c"),
    "cpu": ("The tensor itself.", lambda self: self),
}
for _name, (_doc, _f) in _ATTRIBUTES.items():
    setattr(Tensor, _name, property(_f, doc=_doc))
for _name, (_doc, _f) in _FACTS.items():
    method(_name, named(_name, _f, _doc))


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor."""
    return isinstance(x, Base)
