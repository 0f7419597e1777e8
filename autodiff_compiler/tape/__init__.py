"""Eager code, recorded one primitive at a time and differentiated by the compiler."""

from . import function as function  # has transformed functions take tensors, whichever module makes these
