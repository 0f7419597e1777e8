"""From emitted source to a function that tracebacks, pdb and `inspect.getsource` can show.

Takes the text of a module. Gives the function that it defines. The text has a file name of its own.

>>> import inspect
>>> double = load("def double(x):\\n    return 2.0 * x\\n", "double", {})
>>> double(4.0)
8.0
>>> print(inspect.getsource(double), end="")
def double(x):
    return 2.0 * x
"""

from __future__ import annotations

import functools
import hashlib
import linecache
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from ..errors import NotCompiled
from ..memory import keep_freed_memory
from ..pristine import BUILTINS, hold_modules, math, np
from ..records import record
from .notes import Note, with_notes


@record
class Emitted:
    """A module that defines the function `name`.

    lines:   its text, without the comments that name statements of the user's
    objects: what is bound in it before it runs, by name
    notes:   these comments, in the order in which they were made
    """

    lines: list[str]
    name: str
    objects: dict[str, Any] = field(default_factory=dict)
    notes: Sequence[Note] = ()

    @property
    def source(self) -> str:
        """The whole text."""
        return with_notes(self.lines, self.notes)


def load(source: str, name: str, objects: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The function `name` that the module text defines. Equal text gets an equal file name."""
    keep_freed_memory()
    filename = f"<autodiff {name} {hashlib.sha256(source.encode()).hexdigest()[:12]}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": f"autodiff_compiler.emitted.{name}", **(objects or {})}
    if "\n@Native\n" in source:  # Numba finds the module by its name
        module = types.ModuleType(f"autodiff_compiler.emitted.{filename[10:-1].replace(' ', '_')}")
        vars(module).update(namespace, __name__=module.__name__)
        sys.modules[module.__name__], namespace = module, vars(module)
    namespace["__builtins__"] = BUILTINS
    exec(compile(source, filename, "exec"), namespace)
    namespace.update({"np": np, "math": math})
    if "scipy" in source:
        hold_modules(namespace)
    fn: Callable[..., Any] = namespace[name]
    return with_refusals(fn) if "NotCompiled(" in source else fn


def with_refusals(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which raises an error of the compiler's where it gets to what was not compiled."""

    @functools.wraps(fn)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except NotCompiled as found:
            raise found.refusal().with_traceback(found.__traceback__) from None

    return checked
