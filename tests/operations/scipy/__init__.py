"""SciPy's functions: the records through the harness of rules, the definitions against differences."""
