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
    """A context, and a decorator that runs a function in it."""

    grad: bool

    def __enter__(self) -> Any:
        self.saved = MODE.grad
        MODE.grad = self.grad
        return self

    def __exit__(self, *error: Any) -> None:
        MODE.grad = self.saved

    def again(self) -> _Switch:
        """One like this, for another run of a decorated function."""
        return type(self)()

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(f):
            return self._generator(f)

        @functools.wraps(f)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.again():
                return f(*args, **kwargs)

        return decorated

    def _generator(self, f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            steps = f(*args, **kwargs)
            sent: Any = None
            while True:
                with self.again():
                    try:
                        item = steps.send(sent)
                    except StopIteration as end:
                        return end.value
                sent = yield item

        return decorated


class no_grad(_Switch):
    """Operations are not recorded: ``with torch.no_grad():``, ``@torch.no_grad()``, or ``@torch.no_grad``.

    >>> from autodiff_compiler.compat import torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    grad = False

    def __new__(cls, f: Callable[..., Any] | None = None) -> Any:
        made = object.__new__(cls)
        return made if f is None else made(f)


class enable_grad(_Switch):
    """Operations are recorded, inside of `no_grad` too."""

    grad = True

    def __new__(cls, f: Callable[..., Any] | None = None) -> Any:
        made = object.__new__(cls)
        return made if f is None else made(f)


class set_grad_enabled(_Switch):
    """``set_grad_enabled(mode)`` as a context, a decorator, or a call that stays in force."""

    def __init__(self, mode: bool):
        self.before = MODE.grad
        self.grad = MODE.grad = bool(mode)

    def __enter__(self) -> Any:
        self.saved = self.before
        MODE.grad = self.grad
        return self

    def again(self) -> _Switch:
        return set_grad_enabled(self.grad)

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        MODE.grad = self.before
        return super().__call__(f)


class inference_mode(_Switch):
    """`no_grad`, or nothing with ``mode=False``. PyTorch's bookkeeping of what was made inside is not there."""

    def __new__(cls, mode: Any = True) -> Any:
        made = object.__new__(cls)
        made.on = True if callable(mode) else bool(mode)
        return made(mode) if callable(mode) else made

    on: bool

    def __enter__(self) -> Any:
        self.saved = MODE.grad
        MODE.grad = MODE.grad and not self.on
        return self

    def again(self) -> _Switch:
        return inference_mode(self.on)  # type: ignore[no-any-return]
