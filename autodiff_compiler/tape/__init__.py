"""Eager code, recorded one primitive at a time and differentiated by the compiler."""

from ..api import compiler  # noqa: F401  (before all else: one thread imports it, and the others wait for that one)
from . import function as function  # has transformed functions take tensors, whichever module makes these
from . import rules  # noqa: F401  (the API asks it of calls on tensors)
