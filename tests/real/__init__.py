"""Programs in the manner in which people of many fields write them: tests/real/test_real.py differentiates them.

Each module has functions of one field and, at its end, `CASES`: pairs of a function and its arguments. A third item,
if there is one, is the tolerance relative to the largest slope, and a fourth is the relative step of the differences,
with the reason beside them.
"""
