"""Definitions of NumPy's functions in terms of simpler ones; see `definitions`."""
