"""Facts about the SSA form that passes ask for."""
