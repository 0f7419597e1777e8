"""From a Python function to the IR: an abstract interpreter over the syntax tree, specialised on the types of the
arguments. `lower.lower` is its one entry."""

from .. import operations  # their records infer the types

__all__ = ["operations"]
