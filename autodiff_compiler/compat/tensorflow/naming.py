"""Name scopes of variables."""

from __future__ import annotations

import threading
from typing import Any


class _State(threading.local):
    scope: str = ""


_state = _State()


class name_scope:
    """In the ``with`` block, names of new variables start with this name. A name that ends in a slash is a whole scope,
    entered before. No name is the outermost scope.

    >>> with name_scope("outer"):
    ...     scoped("v")
    'outer/v'
    """

    def __init__(self, name: str | None):
        self.name = name or ""
        self._saved: list[str] = []

    def __enter__(self) -> str:
        self._saved.append(_state.scope)
        whole = not self.name or self.name.endswith("/")
        _state.scope = self.name if whole else f"{_state.scope}{self.name}/"
        return _state.scope

    def __exit__(self, *_: Any) -> None:
        _state.scope = self._saved.pop()


def scoped(name: str) -> str:
    """The name, in the scope that is open."""
    return _state.scope + name
