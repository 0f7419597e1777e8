"""``tf.autograph``: functions run as they are written, so there is nothing to convert."""

from __future__ import annotations

from typing import Any

from ..space import namespace
from .namespace import lazy


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Nothing: nothing is converted, and nothing is said of it."""


def do_not_convert(func: Any = None) -> Any:
    """The function itself; a decorator."""
    return (lambda f: f) if func is None else func


experimental = namespace(f"{__name__}.experimental", "Decorators.", {"do_not_convert": do_not_convert})
__getattr__, __dir__ = lazy(__name__, {})
