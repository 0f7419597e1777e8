"""What is done to a program before its loops run in parts, and before it is cut into halves."""

from __future__ import annotations

from .bindings import resolve
from .halo import with_halos
from .hoisting import drop_unread
from .layout import with_layouts
from .nest import Program


def improve(program: Program) -> None:
    """Leave out what nothing reads, add by reading, and let elements lie as they are read."""
    resolve(program)
    drop_unread(program)
    with_halos(program)
    drop_unread(program)
    with_layouts(program)
