"""Copies of NumPy, `math` and the built-in functions, made when this package is imported.

A program may replace a function of a module, as in ``np.sin = np.cos``. The derivative of the old function stays the
same. So rules and emitted code look functions up in these copies, and not in the modules that the program changes.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import TYPE_CHECKING, Any


def snapshot(module: types.ModuleType, *inner: str) -> types.ModuleType:
    """A copy of a module with its present contents. `inner`: modules in it that are copied, too."""
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
    """The copy of a module, if there is one, else the module itself."""
    known = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft, "math": math}
    return known.get(module.__name__, module)


def hold(*packages: str) -> None:
    """Let the imported modules of these packages of this package look up ``np`` and ``math`` here."""
    for name, module in list(sys.modules.items()):
        if name.startswith(tuple([f"{__package__}.{part}" for part in packages])):
            vars(module).update({k: v for k, v in (("np", np), ("math", math)) if k in vars(module)})


__all__ = ["BUILTINS", "as_it_was", "hold", "math", "np"]
