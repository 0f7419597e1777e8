"""Eager code, recorded one primitive at a time and differentiated by the compiler."""
