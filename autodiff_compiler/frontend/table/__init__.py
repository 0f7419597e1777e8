"""The table of handlers: the modules that enter them. See `handlers`."""

from . import (  # noqa: F401
    array_copies,
    array_functions,
    array_methods,
    array_views,
    array_writers,
    builtin_functions,
    call_forms,
    class_functions,
    contexts,
    dict_methods,
    iterables,
    iterators,
    list_methods,
    object_functions,
    ordered_lists,
    orders,
    set_methods,
    syntax_trees,
    tape_functions,
    text_methods,
)
