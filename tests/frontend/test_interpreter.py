"""The abstract interpreter is a chain of classes: none hides what another one defines, unless it is listed here."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys

from autodiff_compiler import frontend
from autodiff_compiler.frontend.lower import Interpreter
from autodiff_compiler.frontend.parts import Parts

CHAIN = [cls for cls in Interpreter.__mro__ if cls is not object]
# What is done outside comes beside what is done inside; what containers say of an operator comes before the rest.
EXTENDED = {
    ("Containers", "container_operator"),
    ("Disturbances", "outside"),
    ("Outside", "bind"),
    ("Outside", "content"),
    ("Outside", "list_append"),
    ("Outside", "load"),
    ("Outside", "mutate"),
    ("Outside", "store"),
}
LONGEST = 600
# `avals` has no seam: its classes answer questions by its functions. The others are long for now.
LONGER = ("avals", "calls", "statements")


def test_no_method_hides_another() -> None:
    hiding = {
        (cls.__name__, name)
        for k, cls in enumerate(CHAIN)
        for name in vars(cls)
        if not name.startswith("__") and any(name in vars(base) for base in CHAIN[k + 1 :])
    }
    assert hiding == EXTENDED


def test_what_extends_a_method_calls_it() -> None:
    by_name = {cls.__name__: cls for cls in CHAIN}
    for cls, name in EXTENDED:
        assert f"super().{name}(" in inspect.getsource(vars(by_name[cls])[name])


def test_parts_are_those_that_are_called_before_they_are_defined() -> None:
    for name in Parts.__annotations__:
        defined = [cls for cls in CHAIN if name in vars(cls)]
        assert defined, f"nothing defines {name}"
        earlier = [cls for cls in CHAIN if cls is not Parts and not issubclass(cls, defined[-1])]
        called = re.compile(rf"\b(self|ctx|interp)\.{name}\b")
        assert any(called.search(inspect.getsource(sys.modules[cls.__module__])) for cls in earlier), name


def test_modules_are_short() -> None:
    for module in pkgutil.iter_modules(frontend.__path__):
        source = inspect.getsource(importlib.import_module(f"{frontend.__name__}.{module.name}"))
        assert source.count("\n") <= LONGEST or module.name in LONGER, module.name
