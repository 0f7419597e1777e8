"""What the parts of the abstract interpreter ask of each other.

The interpreter is a chain of classes. A method that a class calls and a later one defines is declared here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .avals import DictRef, Instance, ListRef, Obj, Seq
from .handlers import Val


class Parts:
    """The methods that are called before they are defined."""

    accepted: Callable[..., tuple[list[Any], dict[str, Any]]]
    array_attribute: Callable[..., Val]
    as_array: Callable[..., Val]
    as_it_is: Callable[..., Any]
    assign: Callable[..., None]
    attribute: Callable[..., Val]
    augmented: Callable[..., tuple[bool, Any]]
    augmented_container: Callable[..., bool]
    binary: Callable[..., Val]
    built_set: Callable[..., Instance]
    call: Callable[..., Any]
    call_method: Callable[..., Val]
    call_unknown: Callable[..., Any]
    check_overlap: Callable[..., None]
    class_of: Callable[..., Val]
    cls_of: Callable[..., type]
    compare_containers: Callable[..., Val]
    compare_fields: Callable[..., Val]
    contains: Callable[..., Val]
    contents: Callable[..., list[Any]]
    copy_of: Callable[..., Val]
    counted: Callable[..., None]
    default_item: Callable[..., Val]
    delete_item: Callable[..., None]
    dtype_of: Callable[..., Val]
    entering: Callable[..., tuple[list[Any], dict[str, Any]]]
    entering_primitive: Callable[..., tuple[list[Any], dict[str, Any]]]
    entries_of: Callable[..., dict[Any, Any]]
    flat: Callable[..., Val]
    flattened_iterator: Callable[..., list[Any]]
    forget_items: Callable[..., None]
    forget_parts: Callable[..., None]
    found: Callable[..., Val]
    guarded_imaginary: Callable[..., Any]
    history: Callable[..., Any]
    in_order: Callable[..., Seq]
    inline_function: Callable[..., Any]
    is_own_attribute: Callable[..., bool]
    item_of: Callable[..., Val]
    iter_length: Callable[..., Val]
    iterable: Callable[..., Val]
    iterated: Callable[..., list[Val] | None]
    known_class: Callable[..., Obj]
    list_slice: Callable[..., ListRef]
    lower_block: Callable[..., Any]
    narrowed: Callable[..., Any]
    new_dict: Callable[..., DictRef]
    new_set: Callable[..., Instance]
    object_length: Callable[..., Val]
    operand_of_set: Callable[..., Val]
    origin: Callable[..., Obj | None]
    push: Callable[..., None]
    replace_set: Callable[..., Val]
    resolved: Callable[..., Any]
    result_of: Callable[..., Any]
    set_of: Callable[..., set[Any]]
    set_own: Callable[..., None]
    static_items: Callable[..., list[Val]]
    store_array_attribute: Callable[..., bool]
    store_attribute: Callable[..., None]
    store_in_flat: Callable[..., None]
    store_item: Callable[..., None]
    store_slice: Callable[..., None]
    subscript: Callable[..., Val]
    trips: Callable[..., list[Any] | None]
    type_attribute: Callable[..., Any]
    underlying: Callable[..., Val]
    where_stored: Callable[..., Any]
    write: Callable[..., None]
    write_out: Callable[..., Any]
