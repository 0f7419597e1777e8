"""What is done to a program: before its loops run in parts and before it is cut into halves, and at last."""

from __future__ import annotations

from .bindings import resolve
from .halo import with_halos
from .hoisting import drop_unread, hoist
from .layout import with_layouts
from .many import compute_several
from .nest import Program
from .rows import look_at_rows


def improve(program: Program) -> None:
    """Leave out what nothing reads, add by reading, and let elements lie as they are read."""
    resolve(program)
    drop_unread(program)
    with_halos(program)
    drop_unread(program)
    with_layouts(program)


def finish(program: Program) -> None:
    """Make buffers in front of loops, and say what LLVM does not see by itself."""
    hoist(program)
    compute_several(program)
    look_at_rows(program)
