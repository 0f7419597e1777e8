"""NumPy, `math` and the built-in functions as they were when this package was imported.

A program may replace a function of a module, ``np.sin = np.cos``. Then the program calls the new one, but the
derivative of the old one is still what it was. So the rules, and the code that the compiler emits, do not look
functions up in the modules that the program sees.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import TYPE_CHECKING, Any


def snapshot(module: types.ModuleType, *inner: str) -> types.ModuleType:
    """A module that holds what this one holds now; so do these modules in it."""
    copy = types.ModuleType(module.__name__, module.__doc__)
    copy.__dict__.update(vars(module))
    for name in inner:
        setattr(copy, name, snapshot(getattr(module, name)))
    return copy


if TYPE_CHECKING:
    import math

    import numpy as np
else:
    import math as _math

    import numpy as _numpy

    math = snapshot(_math)
    np = snapshot(_numpy, "linalg", "fft")

BUILTINS: dict[str, Any] = dict(vars(builtins))


def as_it_was(module: types.ModuleType) -> types.ModuleType:
    """The module, or what it was when this package was imported, if that is known."""
    known = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft, "math": math}
    return known.get(module.__name__, module)


def hold(*packages: str) -> None:
    """Have the modules of these parts of this package, as far as they are imported, look functions up here."""
    for name, module in list(sys.modules.items()):
        if name.startswith(tuple([f"{__package__}.{part}" for part in packages])):
            vars(module).update({k: v for k, v in (("np", np), ("math", math)) if k in vars(module)})


__all__ = ["BUILTINS", "as_it_was", "hold", "math", "np"]
