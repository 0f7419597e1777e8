"""Tables of operations that are loaded when a program first uses a function of theirs.

Importing SciPy takes longer than compiling most programs, so the package never imports it by itself. A program that
calls a function of SciPy's has imported the part that the function comes from. The compiler then loads what it knows
of that part: records of operations (`operations.scipy`), and definitions in Python (`frontend.library.scipy`). A
smaller library is one part (`frontend.library.others`).
"""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any

import numpy as np

from .pristine import as_they_were, hold_modules

_PREFIX = "scipy."
_OTHERS = frozenset({"bottleneck", "numpy_polynomial"})  # other libraries of which functions are known
# The oldest SciPy whose values and dtypes the definitions follow. What differs between newer ones they ask of the one
# that is installed (`kernels.scipy.installed`).
OLDEST = (1, 16)


def known_versions(family: str = "") -> str:
    """The versions of SciPy that are known, in words, where the program uses another one. Nothing otherwise, and for
    another library."""
    if family in _OTHERS:
        return ""
    version = str(getattr(sys.modules.get("scipy"), "__version__", "")).split(".")[:2]
    if len(version) < 2 or not all(number.isdigit() for number in version):
        return ""
    return "" if tuple(map(int, version)) >= OLDEST else "SciPy 1.16 and newer"


def family_of(obj: Any) -> str | None:
    """The part of SciPy that a callable comes from, "special" for `scipy.special.erf`, or the name of another library
    that is known. None for all else.

    >>> family_of(len), family_of(np.sin)
    (None, None)
    """
    module = getattr(obj, "__module__", None)
    if type(obj) is np.ufunc and module is None:
        name = obj.__name__
        special = sys.modules.get("scipy.special")
        return "special" if special is not None and getattr(np, name, None) is not obj else None
    if type(module) is not str or not module.startswith(_PREFIX):
        root = module.split(".")[0] if type(module) is str else ""
        if root == "numpy" and str(module).startswith("numpy.polynomial."):
            return "numpy_polynomial"
        return root if root in _OTHERS else None
    return module.split(".", 2)[1].lstrip("_")


class Families:
    """The modules of one package, each named like a part of SciPy or like another library, that are imported when they
    are first needed."""

    def __init__(self, package: str, *names: str):
        self.package = package
        self.missing = set(names)
        self.lock = threading.RLock()

    def load_for(self, obj: Any) -> bool:
        """Import what the callable needs. False if it is known already, or there is nothing to import."""
        if not self.missing:
            return False
        name = family_of(obj)
        if name is None or name not in self.missing or known_versions(name):
            return False
        self.load(name)
        return True

    def load(self, name: str) -> None:
        """Import one module."""
        with self.lock, as_they_were():
            module = importlib.import_module(f"{self.package}.{name}")
            hold_modules(vars(module))
            self.missing.discard(name)


__all__ = ["Families", "family_of", "known_versions"]
