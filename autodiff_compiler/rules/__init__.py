"""Derivative rules. Importing the package enters all of them into the registry."""

from . import elementwise, indexing, linalg, reductions, registry, shaping

__all__ = ["elementwise", "indexing", "linalg", "reductions", "registry", "shaping"]
