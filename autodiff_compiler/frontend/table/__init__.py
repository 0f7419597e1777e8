"""The table of handlers: the modules that enter them. See `handlers`."""

from . import (  # noqa: F401
    builtin_functions,
    class_functions,
    iterables,
    iterators,
    object_functions,
    orders,
)
