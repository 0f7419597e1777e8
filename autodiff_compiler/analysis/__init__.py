"""Facts about IR that passes ask for."""
