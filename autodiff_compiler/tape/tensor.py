"""Tensors and variables: NumPy values whose operations are recorded while a tape watches them.

`Operand` is the base of both. The compatibility layers derive their classes from it. It has Python's operators (see
`operators`) and no ``__array_ufunc__``: ``np.mean(t)`` gives an array and leaves the tape. The native `Tensor` adds
NumPy's two protocols, so that code may stay plain NumPy.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .recording import CONSTANT, TENSOR, Leaf, leaf_key, signature


class Operand:
    """A value whose operations can be recorded.

    Subclasses set these attributes:

    _tensor_class: the class of results. It is called without arguments and sets no attributes, which is the fastest
                   way to make an object.
    _strict:       both operands of an operator must have the same dtype.
    _conjugate:    complex gradients are the conjugates of the compiler's, as in TensorFlow and PyTorch.
    _coerce:       ``_coerce(other)`` gives the NumPy value of another operand, or NotImplemented.
    """

    __slots__ = ()
    __array_priority__ = 100.0
    _trainable: bool = False
    _strict: ClassVar[bool] = False
    _conjugate: ClassVar[bool] = False
    _name_hint: str = ""
    _leaf: ClassVar[Leaf | None] = None  # a variable's key as a leaf, with the type of its value
    _tensor_class: ClassVar[type[Tensor]]
    # The attributes that compiled code may read of an operand from outside of the function.
    __autodiff_outside__ = frozenset(
        ("__class__", "__len__", "_value", "dtype", "name", "ndim", "numpy", "shape", "size")
    )
    _value: Any
    _token: Any
    _slot: int

    def _coerce(self, other: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def _exponent(other: Any) -> Any:
        """A plain exponent in the dtype that the layer gives it."""
        return other

    def _mismatch(self, other: Any, name: str) -> None:
        """Raise the layer's error for `_strict` operands of different dtypes."""

    def _typed_leaf(self) -> Leaf:
        """The key of this operand as a leaf."""
        return leaf_key(self._name_hint)


def wrap(cls: type[Any], value: Any) -> Any:
    """A tensor of class `cls` with this value, on no recording."""
    t = cls()
    t._value = value
    t._token = CONSTANT
    t._slot = -1
    return t


class Tensor(Operand):
    """An immutable NumPy value. Its operations are recorded while a tape watches it."""

    __slots__ = ("_value", "_token", "_slot", "__weakref__")
    _leaf = TENSOR

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


Operand._tensor_class = Tensor


class Variable(Operand):
    """A value that can be assigned. Open tapes watch a trainable variable when it is read."""

    _token = None
    _slot = -1
    _trainable = True

    def _typed_leaf(self) -> Leaf:
        made = leaf_key(self._name_hint, self._trainable, signature((self._value,))[0])
        self._leaf = made  # type: ignore[misc]
        return made

    def __copy__(self) -> Any:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _value=self._value[()])  # a recording knows constants by their values
        return made

    def _rebind(self, value: Any) -> None:
        """Assign a value, of any shape and dtype."""
        old = self._value
        if value.__class__ is not old.__class__ or value.dtype is not old.dtype or value.shape != old.shape:
            self._leaf = None  # type: ignore[misc]
        self._value = value
