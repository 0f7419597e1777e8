"""What `on_gradient` means: a rule of which the function is the identity."""

from __future__ import annotations

from typing import Any

from ...kernels.callbacks import closed
from ...kernels.rules import hooked
from ..definitions import defines, lifted


@defines()
def same(x: Any) -> Any:
    return x


@defines()
def forward(x: Any) -> Any:
    return x, None


@defines()
def followed(fn: Any, _: Any, g: Any) -> Any:
    """The backward function, with `fn` inlined."""
    found = fn(g)
    return (g if found is None else found,)


@defines()
def called(fn: Any, _: Any, g: Any) -> Any:
    """The backward function that calls `fn` while the program runs."""
    callback, captured = lifted(fn, 1)
    return (hooked(closed(callback, *captured), g),)
