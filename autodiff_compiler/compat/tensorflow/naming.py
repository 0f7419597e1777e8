"""Name scopes: what variables are called."""

from __future__ import annotations

import threading
from typing import Any


class _State(threading.local):
    scope: str = ""


_state = _State()


class name_scope:
    """Names of variables that are made in the ``with`` block start with this one.

    >>> with name_scope("outer"):
    ...     scoped("v")
    'outer/v'
    """

    def __init__(self, name: str | None):
        self._name = name or ""
        self._saved: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        self._saved.append(_state.scope)
        # A name that ends in a slash is a scope that was entered before, whole.
        if self._name.endswith("/"):
            _state.scope = self._name
        elif self._name:
            _state.scope = f"{_state.scope}{self._name}/"
        else:
            _state.scope = ""
        return _state.scope

    def __exit__(self, *_: Any) -> None:
        _state.scope = self._saved.pop()


def scoped(name: str) -> str:
    """The name, in the scope that is open."""
    return _state.scope + name


def get_current_name_scope() -> str:
    return _state.scope.rstrip("/")
