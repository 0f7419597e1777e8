"""Passes over the SSA form: each takes a valid function and gives a valid function. `pipeline` is the table of them."""
