"""What a program may not do with arrays of other libraries, which are known by NumPy's protocols alone."""

from __future__ import annotations

from typing import Any

from ..duck import name_of
from ..ir.core import duck_among, leaves, type_of
from .handlers import Node, Val


def refuse_duck_store(ctx: Any, base: Val, value: Val, node: Node) -> None:
    """Nothing is known of a store into a duck array, nor of one of a duck array into an array of NumPy's."""
    cls = type_of(base).duck
    if cls is not None:
        ctx.fail(
            f"a store into a {name_of(cls)}: what else it changes depends on the library",
            node,
            "make a new array, with np.where(...) or np.concatenate([...])",
        )
    cls = duck_among(leaves(value))
    if cls is not None:
        ctx.fail(
            f"a {name_of(cls)} is stored into an array of NumPy's, which would convert it",
            node,
            "make a new array, with np.stack([...]) or np.concatenate([...])",
        )


__all__ = ["refuse_duck_store"]
