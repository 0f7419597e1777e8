"""The command line, ``python -m autodiff_compiler``. It uses the package as a user does."""

from .main import main

__all__ = ["main"]
