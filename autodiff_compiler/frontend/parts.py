"""What the parts of the abstract interpreter ask of each other.

The interpreter is a chain of classes. A method that a class calls and a later one defines is declared here.

Some classes of the chain are needed by few programs: what goes through iterators, makes objects, catches exceptions.
Where the program runs, they are left out of the chain, and `Parts` gets the methods of one when the first is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import InternalError
from ..late import load
from .avals import DictRef, Instance, ListRef, Obj, Seq
from .handlers import Val

# The classes that are imported late, each with its methods. It defines no method of another class of the chain.
LATE = {
    "columns.ListColumns": """
        adopt adopt_all adopt_part append_to_list are_distinct columns content_operands count_from_start
        counts_from_start detached fitting forget_items forget_parts forget_replaced item_at item_leaf
        item_operands item_part item_structure items_structure let_go list_columns made_columns may_be
        note_index one_of own_items part_content put_item reference resolved set_item taken write
    """,
    "splices.Splices": "cut insert_item pop_item replace_slice reverse_items share_items sliced splice",
    "classes.Classes": "class_of given_or known_class looked_up outcome_in reported",
    "matching.Matching": "both cases equal",
    "try_statements.TryStatements": """
        asked attempt code_where ending exactly floating handed_out handle handlers known_classes leaves
        one_by_one raised step_of throw thrown_on watched
    """,
    "recursion.TypedStructures": """
        joined_leaves joined_types passed received received_leaf settled typed_leaf typed_structure
    """,
    "recursion.Recursions": """
        alike call_itself call_recursive cells_of check_containers check_untouched define emit_call refuse
        watch
    """,
    "construct.Construct": """
        compare_fields construct copied_with deep_copy delete_attribute fresh_memo initialise_dataclass
        is_own_attribute new_object object_method own_names set_own shallow_copy store_attribute
        store_generic
    """,
    "comprehensions.Comprehensions": "comprehend_from comprehension_frame conditions within",
    "remains.Remains": """
        advance by_number chained check_entries check_iterable check_lengths count endless generator
        is_inert is_iterator_cell is_short iter_of iterator keys_of leaves_of left_in not_checkpointed
        one_shot opened opened_slice restate source_of stream_count through unrolls
    """,
    "pulls.Pulls": """
        left_length next_grouped next_of pull pull_accumulate pull_all pull_called pull_chain pull_cycle
        pull_dropwhile pull_filter pull_generator pull_group pull_groupby pull_islice pull_longest
        pull_pairwise pull_strict pull_takewhile pull_tee retrying same_key stepped tries
    """,
    "generators.Generators": """
        check_yields driven loop_in_step loop_over_body lowered_body pull_body pull_rest push_body run_body
        stays tree_of
    """,
    "streams.Streams": """
        accumulate_from ahead begun carried chain_of changes_what_is_read check_ahead check_zip
        computed_inside each ended exhausted filters filters_inside flattened_iterator is_stepwise iterable
        loop_over_iterator probed push push_accumulated pushable same_length searches staged static_count
        stepping steps_known trips_taken unchanged
    """,
    "peeling.Peeling": "peeled peels_off",
    "iterators.Iterators": "as_list combined found item_of iter_length iterated mapped static_items",
    "orders.Orders": "key_array keys_for listed_items ordered static_sort_key",
    "array_stores.ArrayStores": "flat store_array_attribute store_whole target where_stored",
    "copies.Copies": "cast_copy copy_of in_c_order memory_order",
    "numpy_calls.NumpyCalls": "array_method dtype_of",
}
_CLASS_OF = {method: name for name, methods in LATE.items() for method in methods.split()}


class Parts:
    """The methods that are called before they are defined."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in _CLASS_OF:
                raise AttributeError(f"the interpreter has no {name!r}")
            _adopt(_CLASS_OF[name])
            return getattr(self, name)

    accepted: Callable[..., tuple[list[Any], dict[str, Any]]]
    array_attribute: Callable[..., Val]
    array_method: Callable[..., Val]
    as_array: Callable[..., Val]
    as_it_is: Callable[..., Any]
    as_list: Callable[..., Val]
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
    combined: Callable[..., Val]
    compare_containers: Callable[..., Val]
    compare_fields: Callable[..., Val]
    contains: Callable[..., Val]
    contents: Callable[..., list[Any]]
    copy_of: Callable[..., Val]
    count_from_start: Callable[..., None]
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
    handed_to: Callable[..., None]
    history: Callable[..., Any]
    in_order: Callable[..., Seq]
    impure: Callable[..., NoReturn]
    is_inert: Callable[..., bool]
    given: Callable[..., Any]
    is_own_attribute: Callable[..., bool]
    item_of: Callable[..., Val]
    iter_length: Callable[..., Val]
    iterable: Callable[..., Val]
    iterated: Callable[..., list[Val] | None]
    keep_together: Callable[..., None]
    known_class: Callable[..., Obj]
    length: Callable[..., Val]
    live_input: Callable[..., Any]
    list_slice: Callable[..., ListRef]
    lower_block: Callable[..., Any]
    narrowed: Callable[..., Any]
    new_dict: Callable[..., DictRef]
    one_shot: Callable[..., Instance]
    new_set: Callable[..., Instance]
    object_length: Callable[..., Val]
    not_known: Callable[..., NoReturn]
    only_looked_at: Callable[..., None]
    operand_of_set: Callable[..., Val]
    origin: Callable[..., Obj | None]
    peeled: Callable[..., list[Any] | None]
    push: Callable[..., None]
    replace_set: Callable[..., Val]
    resolved: Callable[..., Any]
    result_of: Callable[..., Any]
    set_operator: Callable[..., Val]
    set_of: Callable[..., set[Any]]
    overwritten: Callable[..., None]
    set_own: Callable[..., None]
    source_of: Callable[..., Any]
    source_of_loop: Callable[..., Any]
    static_items: Callable[..., list[Val]]
    store_array_attribute: Callable[..., bool]
    store_attribute: Callable[..., None]
    store_in_flat: Callable[..., None]
    store_slice: Callable[..., None]
    use: Callable[..., Any]
    told: Callable[..., Any]
    trips: Callable[..., list[Any] | None]
    type_attribute: Callable[..., Any]
    underlying: Callable[..., Val]
    where_stored: Callable[..., Any]
    write: Callable[..., None]
    write_out: Callable[..., Any]


def _adopt(name: str) -> None:
    """Import a class of the chain, and give its methods to `Parts`."""
    module, _, cls = name.partition(".")
    methods = {k: v for k, v in vars(getattr(load(f"{__package__}.{module}"), cls)).items() if not k.startswith("__")}
    if methods.keys() != set(LATE[name].split()):
        raise InternalError(f"the methods of {name} are not those that `parts.LATE` names")
    for method, function in methods.items():
        setattr(Parts, method, function)
