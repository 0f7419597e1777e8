"""Arrays of other libraries: those that implement NumPy's protocols."""
