"""Whether operations are recorded: ``no_grad``, ``enable_grad``, ``set_grad_enabled``, ``inference_mode``. Per
thread."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..graph.record import Mode

MODE = Mode()


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require gradients are recorded now, in this thread."""
    return MODE.grad


class _Switch:
    """A context, and a decorator that runs a function in it: ``@switch()`` or ``@switch``."""

    grad: bool

    def __new__(cls, f: Any = None) -> Any:
        made = object.__new__(cls)
        if f is None:
            return made
        if not callable(f):
            raise TypeError(f"{cls.__name__}() takes no arguments. Instead: set_grad_enabled(mode)")
        return made(f)

    def __call__(self, f: Callable[..., Any]) -> Any:
        if inspect.isgeneratorfunction(f):
            raise NotImplementedError(f"{type(self).__name__} of a generator is not there: write `with` inside of it")

        @functools.wraps(f)
        def switched(*args: Any, **kwargs: Any) -> Any:
            before, MODE.grad = MODE.grad, self.grad
            try:
                return f(*args, **kwargs)
            finally:
                MODE.grad = before

        return switched

    def __enter__(self) -> Any:
        self.saved, MODE.grad = MODE.grad, self.grad
        return self

    def __exit__(self, *error: Any) -> None:
        MODE.grad = self.saved


class no_grad(_Switch):
    """Operations are not recorded: ``with torch.no_grad():``, ``@torch.no_grad()``, or ``@torch.no_grad``.

    >>> from autodiff_compiler.compat import torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    grad = False


class enable_grad(_Switch):
    """Operations are recorded, inside of `no_grad` too."""

    grad = True


class set_grad_enabled(_Switch):
    """``set_grad_enabled(mode)`` as a context, a decorator, or a call that stays in force."""

    def __new__(cls, mode: bool) -> Any:
        return object.__new__(cls)

    def __init__(self, mode: bool):
        self.before, self.grad = MODE.grad, bool(mode)
        MODE.grad = self.grad

    def __enter__(self) -> Any:
        super().__enter__()
        self.saved = self.before
        return self

    def __call__(self, f: Callable[..., Any]) -> Any:
        MODE.grad = self.before
        return super().__call__(f)


class inference_mode(no_grad):
    """`no_grad` by another name. PyTorch's bookkeeping of what was made inside is not there."""
