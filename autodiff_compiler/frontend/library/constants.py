"""Values through which no derivative flows."""

from __future__ import annotations

from typing import Any

from ...runtime import constant
from ..definitions import defines


@defines()
def stop_gradient(x: Any) -> Any:
    if isinstance(x, dict):
        return {key: stop_gradient(x[key]) for key in x}
    if isinstance(x, tuple):
        items = [stop_gradient(item) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return [stop_gradient(item) for item in x]
    return constant(x)
