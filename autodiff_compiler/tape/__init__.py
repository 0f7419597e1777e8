"""Eager code, recorded one primitive at a time and differentiated by the compiler."""

from .. import operations  # noqa: F401  (fills the table of operations)
from . import function as function  # has transformed functions take tensors, whichever module makes these
