"""Machine code: from the SSA form to loops over numbers, and from these to the text that Numba compiles."""
