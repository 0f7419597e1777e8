"""The abstract interpreter is a chain of classes: none hides what another one defines, unless it is listed here."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys

from autodiff_compiler import frontend
from autodiff_compiler.frontend.lower import Interpreter
from autodiff_compiler.frontend.parts import LATE, Parts


def base_of(cls: type) -> type:
    """The class in front of one in the chain: the type checker sees also those that are imported late."""
    source = inspect.getsource(sys.modules[cls.__module__])
    found = re.search(r"if TYPE_CHECKING:\n    from (\.\w+) import (\w+) as Before\n", source)
    if found is None or f"class {cls.__name__}(Before):" not in source:
        return cls.__base__
    return getattr(importlib.import_module(found[1], frontend.__name__), found[2])


CHAIN: list[type] = [Interpreter]
while CHAIN[-1] is not Parts:
    CHAIN.append(base_of(CHAIN[-1]))


def methods_of(cls: type) -> set[str]:
    """What a class defines. `Parts` may have been given methods of those that are imported late."""
    return set() if cls is Parts else {name for name in vars(cls) if not name.startswith("__")}


# What is done outside comes beside what is done inside; what containers say of an operator comes before the rest.
EXTENDED = {
    ("Containers", "container_operator"),
    ("Disturbances", "outside"),
    ("Outside", "bind"),
    ("Outside", "content"),
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
        for name in methods_of(cls)
        if any(name in methods_of(base) for base in CHAIN[k + 1 :])
    }
    assert hiding == EXTENDED


def test_what_extends_a_method_calls_it() -> None:
    by_name = {cls.__name__: cls for cls in CHAIN}
    for cls, name in EXTENDED:
        assert f"super().{name}(" in inspect.getsource(vars(by_name[cls])[name])


def test_classes_that_are_imported_late() -> None:
    """Each is left out of the chain, with all its methods, and neither extends one of another nor is extended."""
    late = [cls for cls in CHAIN if cls not in Interpreter.__mro__]
    found = {f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}": methods_of(cls) for cls in late}
    assert found == {name: set(methods.split()) for name, methods in LATE.items()}
    assert not [name for _, name in EXTENDED if any(name in methods_of(cls) for cls in late)]


def test_parts_are_those_that_are_called_before_they_are_defined() -> None:
    for name in Parts.__annotations__:
        defined = [k for k, cls in enumerate(CHAIN) if name in methods_of(cls)]
        assert defined, f"nothing defines {name}"
        called = re.compile(rf"\b(self|ctx|interp)\.{name}\b")
        earlier = CHAIN[defined[-1] + 1 : -1]
        assert any(called.search(inspect.getsource(sys.modules[cls.__module__])) for cls in earlier), name


def test_modules_are_short() -> None:
    for module in pkgutil.iter_modules(frontend.__path__):
        source = inspect.getsource(importlib.import_module(f"{frontend.__name__}.{module.name}"))
        assert source.count("\n") <= LONGEST or module.name in LONGER, module.name
