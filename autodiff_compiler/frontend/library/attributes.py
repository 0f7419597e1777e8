"""Attributes of which the class says whether they are there."""

from __future__ import annotations

from typing import Any

from ..definitions import defines


@defines()
def attribute_or(obj: Any, name: Any, default: Any) -> Any:
    """``getattr(obj, name, default)``."""
    try:
        return getattr(obj, name)
    except AttributeError:
        return default


@defines()
def has_attribute(obj: Any, name: Any) -> Any:
    """``hasattr(obj, name)``."""
    try:
        getattr(obj, name)
    except AttributeError:
        return False
    return True
