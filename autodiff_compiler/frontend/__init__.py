"""From a Python function to the IR: an abstract interpreter over the syntax tree, specialised on the types of the
arguments. `lower.lower` is its one entry."""

from ..operations import record  # with it come all records, which infer the types

__all__ = ["record"]
