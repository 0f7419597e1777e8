"""Modules: what holds parameters, buffers and other modules."""

from __future__ import annotations

import itertools
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..conversion import cast, wanted_dtype
from ..core import Base, make
from ..dtypes import float32, float64
from ..modes import no_grad
from ..tensor import HookHandle, Parameter, drop_gradients

_Keys = namedtuple("_Keys", ("missing_keys", "unexpected_keys"))


class _IncompatibleKeys(_Keys):
    """What `load_state_dict` found missing and unexpected."""

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"


_TABLES = (
    ("_parameters", "nn.Parameter", "parameter"),
    ("_modules", "nn.Module", "child module"),
    ("_buffers", "Tensor", "buffer"),
)


class Module:
    """A part of a network. A subclass calls ``super().__init__()`` and assigns parameters and modules as attributes.
    Its method `forward` runs when the module is called.

    >>> from autodiff_compiler.compat import torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(3.0))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(torch.tensor(2.0))
    tensor(6., grad_fn=<MulBackward0>)
    """

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def __init__(self) -> None:
        tables: dict[str, Any] = {name: {} for name in ("_parameters", "_buffers", "_modules", "_after")}
        self.__dict__.update(tables, training=True, _transient=set())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = self.forward(*args, **kwargs)
        for hook in list(self._after.values()):
            found = hook(self, args, out)
            if found is not None:
                out = found
        return out

    # --- attributes ---------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        if isinstance(value, (Parameter, Module)):
            parameter = isinstance(value, Parameter)
            self._check_made("parameters" if parameter else "module")
            tables.pop(name, None)
            tables["_parameters" if parameter else "_modules"][name] = value
            return
        for table, kind, what in _TABLES:
            if name in tables.get(table, ()):
                if value is not None and not (table == "_buffers" and isinstance(value, Base)):
                    given = value.type() if isinstance(value, Base) else type(value).__name__
                    raise TypeError(f"cannot assign '{given}' as {what} '{name}' (torch.{kind} or None expected)")
                tables[table][name] = value
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    def _check_made(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter, or None for one that is not there."""
        self._check_made("parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' (torch.nn.Parameter or "
                f"None required)"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a tensor that is part of the state and no parameter."""
        self._check_made("buffer")
        self._buffers[name] = tensor
        if not persistent:
            self._transient.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._modules[name] = module

    # --- lists --------------------------------------------------------------------------------------------------------

    def named_modules(self, memo: set[Any] | None = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """This module and all inside it, each once, with dotted names."""
        seen = set() if memo is None else memo
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(seen, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Any]:
        """This module and all inside it, each once."""
        return (m for _, m in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules directly inside it, with their names."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Any]:
        """The modules directly inside it."""
        return (m for _, m in self.named_children())

    def _named(self, table: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen = set()
        for path, m in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, t in m.__dict__[table].items():
                if t is not None and id(t) not in seen:
                    seen.add(id(t))
                    yield f"{path}.{name}" if path else name, t

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """The parameters, each once, with dotted names."""
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """The parameters, each once."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """The buffers, each once, with dotted names."""
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """The buffers, each once."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    # --- modes --------------------------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Any:
        """Put this module and all inside it into training mode, or out of it."""
        for m in self.modules():
            m.training = mode
        return self

    def eval(self) -> Any:
        """Put this module and all inside it out of training mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Whether gradients with respect to the parameters are wanted."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of the parameters, or fill them with zeros."""
        drop_gradients(self.parameters(), set_to_none)

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call a function with every module inside, and with this one last."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Parameters and buffers of floating dtypes in another one; devices other than the CPU raise RuntimeError."""
        wanted = wanted_dtype(args, kwargs)
        if wanted is None:
            return self

        def converted(t: Any) -> Any:
            return cast(t.detach(), wanted) if t is not None and t.is_floating_point() else t

        for m in self.modules():
            with no_grad():
                for p in m._parameters.values():
                    if p is not None:
                        p.data, p._grad = converted(p), converted(p._grad)
            m._buffers.update({name: converted(b) for name, b in m._buffers.items()})
        return self

    def float(self) -> Any:
        """Parameters and buffers in float32."""
        return self.to(float32)

    def double(self) -> Any:
        """Parameters and buffers in float64."""
        return self.to(float64)

    # --- state --------------------------------------------------------------------------------------------------------

    def state_dict(self, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and buffers by dotted name; they share their memory."""
        out = OrderedDict() if destination is None else destination
        for name, t in itertools.chain(self._parameters.items(), self._buffers.items()):
            if t is not None and name not in self._transient:
                out[prefix + name] = t if keep_vars else t.detach()
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(out, f"{prefix}{name}.", keep_vars)
        return out

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> _IncompatibleKeys:
        """Copy values into parameters and buffers by name.

        Raises RuntimeError for shapes that differ and, if `strict`, for names that are missing or unexpected.
        """
        own = self.state_dict(keep_vars=True)
        missing = [k for k in own if k not in state_dict]
        unexpected = [k for k in state_dict if k not in own]
        errors = [
            f"{kind} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in keys) + ". "
            for kind, keys in (("Missing", missing), ("Unexpected", unexpected))
            if strict and keys
        ]
        for name in [k for k in own if k in state_dict]:
            t, given = own[name], state_dict[name]
            value = given if isinstance(given, Base) else make(np.asarray(given))
            if value.shape == t.shape:
                with no_grad():
                    t.copy_(value)
                continue
            errors.append(
                f"size mismatch for {name}: copying a param with shape {value.shape} from checkpoint, the shape in "
                f"current model is {t.shape}."
            )
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _IncompatibleKeys(missing, unexpected)

    # --- hooks and text -----------------------------------------------------------------------------------------------

    def register_forward_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(module, args, output)`` after `forward`; what it returns, if not None, takes the place of the
        output."""
        return HookHandle(self._after, hook)

    def extra_repr(self) -> str:
        """What is printed inside the parentheses."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items()]
        head = extra.split("\n") if extra else []
        if not lines and len(head) < 2:
            return f"{type(self).__name__}({extra})"
        return f"{type(self).__name__}(\n  " + "\n  ".join([*head, *lines]) + "\n)"


class Sequential(Module):
    """Modules that are run one after the other.

    >>> from autodiff_compiler.compat import torch
    >>> torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, m in named:
            self.add_module(str(name), m)

    def forward(self, input: Any) -> Any:
        for m in self._modules.values():
            input = m(input)
        return input

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, k: Any) -> Any:
        items = list(self._modules.items())
        if isinstance(k, slice):
            return type(self)(OrderedDict(items[k]))
        if not -len(items) <= k < len(items):
            raise IndexError(f"index {k} is out of range")
        return items[k][1]

    def append(self, m: Any) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), m)
        return self


MEMBERS = {c.__name__: c for c in (Module, Sequential)}
