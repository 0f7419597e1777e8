"""What only a compilation needs. It is imported, inside of functions, when a function is first compiled.

A process that finds all its code on disk loads none of it, and importing the package takes a quarter of the time. The
tables of the compiler name functions of NumPy and of the standard library. The program may have replaced some of these
by now, so the compiler is imported as if it had not.

Whatever needs the compiler imports this module first. So one thread imports it, and the others wait at this one door:
threads that enter a package by different modules would find each other's half made.
"""

from typing import TYPE_CHECKING

from .. import pristine
from ..collector import collector_paused, make_old
from ..late import late_names

with pristine.as_they_were(), collector_paused():
    from ..frontend.lower import lower
    from ..frontend.observe import WATCH, Watch
    from ..transforms import passes, pipeline
    from .arguments import Wanted, argument_place
    from .emission import emit_adjoint, emit_native

    make_old()

if TYPE_CHECKING:
    from ..analysis.layout import tag_products
    from ..frontend.custom_hooks import lower_on_gradient
    from ..frontend.custom_local import lower_custom_made
    from ..frontend.custom_rules import lower_custom
    from ..frontend.solvers import lower_solver
    from ..ir.printer import print_function
    from ..transforms.jacobian import is_cheaper_forward, is_complex, require_real, sum_result, trace
    from ..transforms.stacked import Axis, function_of_stacks, move_result
    from ..transforms.stages import WRITES, stages
    from .checking import check_value
    from .nested import lower_call, lower_jvp, lower_linear, lower_transform, primal_of
    from .nested_batch import lower_batch, lower_batched
    from .nested_checkpoint import lower_checkpoint, lower_checkpoint_of, lower_checkpointed
    from .nested_kinds import KINDS, PULLED, PUSHED

# What few programs need is imported when they first do.
_LATE = {
    "analysis.layout": "tag_products",
    "frontend.custom_hooks": "lower_on_gradient",
    "frontend.custom_local": "lower_custom_made",
    "frontend.custom_rules": "lower_custom",
    "frontend.solvers": "lower_solver",
    "ir.printer": "print_function",
    "transforms.jacobian": "is_cheaper_forward is_complex require_real sum_result trace",
    "transforms.stacked": "Axis function_of_stacks move_result",
    "transforms.stages": "WRITES stages",
    "api.checking": "check_value",
    "api.nested": "lower_call lower_jvp lower_linear lower_transform primal_of",
    "api.nested_batch": "lower_batch lower_batched",
    "api.nested_checkpoint": "lower_checkpoint lower_checkpoint_of lower_checkpointed",
    "api.nested_kinds": "KINDS PULLED PUSHED",
}
__getattr__ = late_names(
    "autodiff_compiler", {name: module for module, names in _LATE.items() for name in names.split()}
)

__all__ = [
    "Axis",
    "KINDS",
    "PULLED",
    "PUSHED",
    "WATCH",
    "WRITES",
    "Wanted",
    "Watch",
    "argument_place",
    "check_value",
    "emit_adjoint",
    "emit_native",
    "function_of_stacks",
    "is_cheaper_forward",
    "is_complex",
    "lower",
    "lower_batch",
    "lower_batched",
    "lower_call",
    "lower_checkpoint",
    "lower_checkpoint_of",
    "lower_checkpointed",
    "lower_jvp",
    "lower_linear",
    "lower_custom",
    "lower_custom_made",
    "lower_on_gradient",
    "lower_solver",
    "lower_transform",
    "move_result",
    "passes",
    "pipeline",
    "primal_of",
    "print_function",
    "require_real",
    "stages",
    "sum_result",
    "tag_products",
    "trace",
]
