"""Kernels that compute with SciPy. Each module belongs to a part of SciPy, and emitted code imports from it by name."""
