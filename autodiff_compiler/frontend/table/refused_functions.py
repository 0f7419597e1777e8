"""Functions that the compiler cannot follow, and what to do instead."""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import traceback
from typing import Any

import numpy as np

from ..handlers import Ctx, Val, lowers

_FRAMES = "pass what is asked for as an argument"
# By module: what the compiler cannot do, and what to do instead. What looks at the frames of the program would see
# those of the compiled code.
_REFUSED: dict[Any, dict[str, str]] = {
    builtins: {
        "eval": "write the expression itself", "exec": "write the statements themselves",
        "globals": "name the variable", "locals": "name the variable",
        "input": "ask before, and pass the answer as an argument",
        "compile": "write the code itself", "__import__": "use an import statement", "id": "compare with `is`",
        "memoryview": "use the array itself", "object": "use None, or a string",
    },
    functools: dict.fromkeys(("lru_cache", "cache"), "define the function outside, at the top level of a module"),
    np: dict.fromkeys(("shares_memory", "may_share_memory"), "ask outside of the function, of its arguments"),
    sys: {"_getframe": _FRAMES},
    inspect: {"currentframe": _FRAMES, "stack": _FRAMES},
    traceback: {
        "format_exc": "name the exception, and use str(error)", "print_exc": "name the exception, and print that",
        "extract_stack": _FRAMES,
    },
}  # fmt: skip
_REMEDIES = {
    id(getattr(module, name)): remedy
    for module, names in _REFUSED.items()
    for name, remedy in names.items()
    if hasattr(module, name)
}


@lowers(*[getattr(module, name) for module, names in _REFUSED.items() for name in names if hasattr(module, name)])
def _refused(ctx: Ctx, /, *args: Val, **kwargs: Val) -> Val:
    what = " of a function that is defined inside" if ctx.callee.__module__ == "functools" else ""
    ctx.fail(f"{ctx.callee.__name__}(){what} is not supported", ctx.node, _REMEDIES[id(ctx.callee)])
