"""Modules: what holds parameters, buffers and other modules."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..conversion import cast, wanted_dtype
from ..core import Base, make
from ..dtypes import float32, float64
from ..modes import no_grad
from ..tensor import HookHandle, Parameter, Tensor, drop_gradients


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", "missing_keys unexpected_keys")):
    """What `load_state_dict` found missing and unexpected."""

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"


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
    _after: dict[int, Callable[..., Any]]  # the hooks
    _kinds: dict[str, type[Any]]  # of each attribute that is listed: Parameter, Module, or Tensor for a buffer

    def __init__(self) -> None:
        vars(self).update(training=True, _kinds={}, _after={})

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

    def __setattr__(self, name: str, value: Any) -> None:
        kinds = vars(self).get("_kinds")
        kind = next((k for k in (Parameter, Module) if isinstance(value, k)), None)
        if kind is not None:
            if kinds is None:
                raise AttributeError(f"cannot assign {kind.__name__.lower()} before Module.__init__() call")
            kinds[name] = kind
        elif kinds and name in kinds and value is not None and not (kinds[name] is Tensor and isinstance(value, Base)):
            given = value.type() if isinstance(value, Base) else type(value).__name__
            kind = kinds[name]
            raise TypeError(
                f"cannot assign '{given}' as {kind.__name__.lower()} '{name}' ({kind.__name__} or None expected)"
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        self._kinds.pop(name, None)

    def _register(self, kind: type[Any], name: str, value: Any) -> None:
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"cannot register '{type(value).__name__}' as '{name}' ({kind.__name__} or None expected)")
        self._kinds[name] = kind
        object.__setattr__(self, name, value)

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter, or None for one that is not there."""
        self._register(Parameter, name, param)

    def register_buffer(self, name: str, tensor: Any) -> None:
        """Add a tensor that is part of the state and no parameter."""
        self._register(Tensor, name, tensor)

    def add_module(self, name: str, module: Any) -> None:
        """Add a module under a name."""
        self._register(Module, name, module)

    # --- lists --------------------------------------------------------------------------------------------------------

    def _held(self, kind: type[Any]) -> list[tuple[str, Any]]:
        """The attributes of a kind that are not None, with their names."""
        return [(n, vars(self)[n]) for n, k in self._kinds.items() if k is kind and vars(self)[n] is not None]

    def _paths(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """This module and all inside it, with dotted names; what is shared comes with each of its names."""
        yield prefix, self
        for name, child in self._held(Module):
            yield from child._paths(_dotted(prefix, name))

    def _inside(self, kind: type[Any], prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """The attributes of a kind of this module and of all inside it, with dotted names."""
        for path, m in self._paths(prefix) if recurse else [(prefix, self)]:
            yield from [(_dotted(path, name), t) for name, t in m._held(kind)]

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """This module and all inside it, each once, with dotted names."""
        return _once(self._paths(prefix))

    def modules(self) -> Iterator[Any]:
        """This module and all inside it, each once."""
        return (m for _, m in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules directly inside it, with their names."""
        return _once(self._held(Module))

    def children(self) -> Iterator[Any]:
        """The modules directly inside it."""
        return (m for _, m in self.named_children())

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """The parameters, each once, with dotted names."""
        return _once(self._inside(Parameter, prefix, recurse))

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """The parameters, each once."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """The buffers, each once, with dotted names."""
        return _once(self._inside(Tensor, prefix, recurse))

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

        for p in self.parameters():
            p.data, p._grad = converted(p), converted(p._grad)
        for m in self.modules():
            vars(m).update({name: converted(b) for name, b in m._held(Tensor)})
        return self

    def float(self) -> Any:
        """Parameters and buffers in float32."""
        return self.to(float32)

    def double(self) -> Any:
        """Parameters and buffers in float64."""
        return self.to(float64)

    # --- state --------------------------------------------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        return {
            _dotted(path, name): t for path, m in self._paths() for name, t in [*m._held(Parameter), *m._held(Tensor)]
        }

    def state_dict(self) -> Any:
        """Parameters and buffers by dotted name; they share their memory."""
        return OrderedDict([(name, t.detach()) for name, t in self._state().items()])

    def load_state_dict(self, state_dict: Any, strict: bool = True) -> _IncompatibleKeys:
        """Copy values into parameters and buffers by name.

        Raises RuntimeError for shapes that differ and, if `strict`, for names that are missing or unexpected.
        """
        own = self._state()
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
        lines = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._held(Module)]
        head = extra.split("\n") if extra else []
        if not lines and len(head) < 2:
            return f"{type(self).__name__}({extra})"
        return f"{type(self).__name__}(\n  " + "\n  ".join([*head, *lines]) + "\n)"


def _dotted(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _once(pairs: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Each thing with the first of its names."""
    first: dict[int, tuple[str, Any]] = {}
    for name, thing in pairs:
        first.setdefault(id(thing), (name, thing))
    return iter(first.values())


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
        for m in self:
            input = m(input)
        return input

    def __len__(self) -> int:
        return len(self._held(Module))

    def __iter__(self) -> Iterator[Any]:
        return iter([m for _, m in self._held(Module)])

    def __getitem__(self, k: Any) -> Any:
        items = self._held(Module)
        return type(self)(OrderedDict(items[k])) if isinstance(k, slice) else items[k][1]

    def append(self, m: Any) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), m)
        return self


MEMBERS = {c.__name__: c for c in (Module, Sequential)}
