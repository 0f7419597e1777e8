"""TensorFlow's names for eager code, over the compiler's tape: ``from autodiff_compiler.compat import tensorflow``.

There is no graph and no device: everything is NumPy, and `GradientTape` differentiates it by the compiler's own rules.
A name that is not there raises AttributeError.
"""

from __future__ import annotations

import importlib
import logging
import warnings
from typing import Any

from ...tape import gradient_tape as _gradient_tape

# TensorFlow computes 1 / 0 and the like in silence. These warnings would come from the calls in here.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=__name__.replace(".", r"\."))

# Where each name lives: it is imported when it is first used.
_HOME: dict[str, str] = {
    name: module
    for module, names in {
        "dtypes": "DType as_dtype float16 float32 float64 half double int8 int16 int32 int64 uint8 uint16 uint32 "
        "uint64 string complex64 complex128",
        "shapes": "TensorShape",
        "tensors": "Tensor constant convert_to_tensor is_tensor",
        "variables": "Variable VariableSynchronization VariableAggregation",
        "naming": "name_scope get_current_name_scope",
    }.items()
    for name in names.split()
}
_MODULES = ("dtypes", "errors")
_TAPE = {
    "GradientTape": "gradient_tape", "UnconnectedGradients": "gradient_tape", "RegisterGradient": "custom",
    "custom_gradient": "custom", "grad_pass_through": "custom", "no_gradient": "custom", "recompute_grad": "custom",
    "stop_gradient": "custom",
}  # fmt: skip
_ALIASES = {"half": "float16", "double": "float64", "bool": "bool_"}

newaxis = None


def get_logger() -> logging.Logger:
    """The logger of the warnings."""
    return _gradient_tape.logger


def executing_eagerly() -> bool:
    """True: there are no graphs."""
    return True


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found: Any = importlib.import_module(f".{name}", __name__)
    elif name in _TAPE:
        found = getattr(importlib.import_module(f"...tape.{_TAPE[name]}", __name__), name)
    elif name in _HOME or name == "bool":
        home = importlib.import_module(f".{_HOME.get(name, 'dtypes')}", __name__)
        found = getattr(home, _ALIASES.get(name, name))
    else:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}; it has {', '.join(n for n in __dir__() if n[0] != '_')}"
        )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES, *_TAPE, "bool"})
