"""Calls that the documentation of a package leaves out. They run while the recorder listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CALLS: dict[str, list[Callable[[], Any]]] = {}
