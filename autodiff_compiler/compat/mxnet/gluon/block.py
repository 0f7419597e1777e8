"""Parameters, and the blocks that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays import make
from ..init import Uniform, of


class Parameter:
    """An array that is trained. Axes of length 0 or -1 get their lengths at the first call of the layer."""

    def __init__(
        self, name: str = "weight", grad_req: str = "write", shape: Any = None, dtype: Any = np.float32,
        init: Any = None,
        allow_deferred_init: bool = True,
    ):  # fmt: skip
        self.name, self.grad_req, self.dtype, self.init = name, grad_req, dtype, init
        self._shape = (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
        self._array: Any = None
        self._waiting: Any = None
        self.lr_mult, self.wd_mult = 1.0, 1.0

    @property
    def shape(self) -> Any:
        return self._shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        self._shape = tuple(shape)

    def initialize(
        self, init: Any = None, ctx: Any = None, default_init: Any = None, force_reinit: bool = False
    ) -> None:
        """Give the parameter its first values, now or as soon as its shape is known."""
        if self._array is not None and not force_reinit:
            return
        chosen = self.init or init or default_init or Uniform()
        if self._shape is None or any(n is None or n <= 0 for n in self._shape):
            self._waiting = chosen
            return
        self.set_values(of(chosen).values(self._shape))

    def set_values(self, values: Any) -> None:
        self._array = make(np.asarray(values).astype(self.dtype))
        self._array.attach_grad(self.grad_req)
        self._waiting = None

    def finish(self, shape: tuple[int, ...]) -> None:
        """The shape is known: give the values that were waited for."""
        self._shape = shape
        if self._array is None and self._waiting is not None:
            self.initialize(self._waiting)

    def data(self, ctx: Any = None) -> Any:
        """The array. Raises RuntimeError before it is initialized."""
        if self._array is None:
            raise RuntimeError(
                f"Parameter '{self.name}' has not been initialized. You should initialize parameters with "
                "Block.initialize() before you call the block."
            )
        return self._array

    def grad(self, ctx: Any = None) -> Any:
        """The gradient."""
        return self.data().grad

    def set_data(self, data: Any) -> None:
        """Give the parameter other values."""
        if self._array is None:
            self._shape = data.shape
            self.set_values(data._value)
        else:
            self._array[:] = data

    def zero_grad(self) -> None:
        """Fill the gradient with zeros."""
        if self._array is not None:
            self._array.zero_grad()

    def __repr__(self) -> str:
        return f"Parameter {self.name} (shape={self._shape}, dtype={np.dtype(self.dtype)})"


class Block:
    """A part of a network. A subclass assigns parameters and blocks as attributes and has a method `forward`."""

    def __init__(self, **kwargs: Any) -> None:
        self._children: dict[str, Block] = {}
        self._params: dict[str, Parameter] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Block):
            self._children[name] = value
        elif isinstance(value, Parameter):
            self._params[name] = value
        object.__setattr__(self, name, value)

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Add a block."""
        self._children[str(len(self._children)) if name is None else name] = block

    def _named(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        for name, p in self._params.items():
            yield prefix + name, p
        for name, child in self._children.items():
            yield from child._named(f"{prefix}{name}.")

    @property
    def params(self) -> dict[str, Parameter]:
        """The parameters of this block alone."""
        return dict(self._params)

    def collect_params(self, select: str | None = None) -> dict[str, Parameter]:
        """All parameters by dotted name; those whose names match a regular expression."""
        return {n: p for n, p in self._named() if select is None or re.search(select, n)}

    def initialize(self, init: Any = None, ctx: Any = None, verbose: bool = False, force_reinit: bool = False) -> None:
        """Give all parameters their first values."""
        for p in self.collect_params().values():
            p.initialize(init, default_init=Uniform(), force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Fill all gradients with zeros."""
        for p in self.collect_params().values():
            p.zero_grad()

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Nothing is left to do: pullbacks are compiled as they are."""

    def apply(self, fn: Any) -> Any:
        """Call a function with every block inside, and with this one last."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def save_parameters(self, filename: str) -> None:
        """Write the parameters to a file of NumPy's (npz)."""
        with open(filename, "wb") as file:
            np.savez(file, **{n: p.data().asnumpy() for n, p in self._named()})

    def load_parameters(self, filename: str, ctx: Any = None) -> None:
        """Read what `save_parameters` wrote."""
        with np.load(filename) as found:
            for n, p in self._named():
                p.set_data(make(found[n]))

    def forward(self, *args: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method forward")

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)

    def __repr__(self) -> str:
        if not self._children:
            return f"{type(self).__name__}()"
        lines = [f"  ({n}): " + repr(c).replace("\n", "\n  ") for n, c in self._children.items()]
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"


class HybridBlock(Block):
    """A block; here there is no difference."""
