"""Automatic differentiation by source transformation, for Python functions that use NumPy.

`grad`, `value_and_grad` and `vjp` differentiate a function. `GradientTape` records eager code. `nn` has functions for
neural networks. `check_grads` compares derivatives with central differences.

>>> import numpy as np
>>> import autodiff_compiler as ad
>>> def loss(w, x, y):
...     return np.mean((x @ w - y) ** 2)
>>> x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0])
>>> ad.grad(loss)(np.zeros(2), x, y)
array([ -7., -10.])
"""

from typing import TYPE_CHECKING, Any

from . import nn, pristine, runtime  # noqa: F401  (emitted code takes it from here)
from .api.batching import batch, vmap
from .api.checkpoints import checkpoint, checkpointed, remat
from .api.custom import custom_jvp, custom_vjp, on_gradient, register_jvp, register_vjp
from .api.forward import jvp
from .api.jacobians import hessian, jacfwd, jacobian, jacrev, value_and_jacobian
from .api.linearized import linearize
from .api.products import derivative, elementwise_grad, gauss_newton_vp, hvp, laplacian
from .api.pullbacks import vjp
from .api.series import taylor
from .api.solvers import fixed_point, root
from .api.testing import check_grads
from .api.transforms import grad, value_and_grad
from .api.trees import from_tree
from .errors import (
    AliasError,
    AutodiffError,
    IntegerArgumentError,
    NonScalarOutputError,
    RuleLookupError,
    SourceUnavailableError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from .api.explain import explain
    from .operations.numerical import nondifferentiable, numerical
    from .operations.record import elementwise, primitive
    from .operations.record import jvp as jvp_rule
    from .operations.record import vjp as vjp_rule
    from .tape import ops
    from .tape.custom import (
        RegisterGradient,
        custom_gradient,
        grad_pass_through,
        no_gradient,
        recompute_grad,
        stop_gradient,
    )
    from .tape.forward_accumulator import ForwardAccumulator
    from .tape.function import function
    from .tape.gradient_tape import GradientTape, UnconnectedGradients
    from .tape.native import Tensor, Variable, constant

__version__ = "0.1.0"

pristine.hold("kernels", "rows", "runtime")

# Rules and the tape are imported when one of their names is first used, and so is the compiler when it first compiles.
_LATE = {
    "ForwardAccumulator": "tape.forward_accumulator",
    "GradientTape": "tape.gradient_tape",
    "RegisterGradient": "tape.custom",
    "Tensor": "tape.native",
    "UnconnectedGradients": "tape.gradient_tape",
    "Variable": "tape.native",
    "constant": "tape.native",
    "custom_gradient": "tape.custom",
    "elementwise": "operations.record",
    "explain": "api.explain",
    "function": "tape.function",
    "grad_pass_through": "tape.custom",
    "jvp_rule": "operations.record",
    "no_gradient": "tape.custom",
    "nondifferentiable": "operations.numerical",
    "numerical": "operations.numerical",
    "primitive": "operations.record",
    "recompute_grad": "tape.custom",
    "stop_gradient": "tape.custom",
    "vjp_rule": "operations.record",
}


def __getattr__(name: str) -> Any:
    import importlib

    module = "tape.ops" if name == "ops" else _LATE.get(name)
    if module is None:
        from .api import unknown_names

        raise AttributeError(unknown_names.message(__name__, name, __all__))
    # A package before its module: threads that enter a package by different modules would find each other's half made.
    for part in (".api.compiler", f".{module.partition('.')[0]}"):
        importlib.import_module(part, __name__)
    with pristine.as_they_were():
        found: Any = importlib.import_module(f".{module}", __name__)
    if name != "ops":
        found = getattr(found, name.removesuffix("_rule"))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__version__"])


__all__ = [
    "AliasError",
    "AutodiffError",
    "ForwardAccumulator",
    "GradientTape",
    "IntegerArgumentError",
    "NonScalarOutputError",
    "RegisterGradient",
    "RuleLookupError",
    "SourceUnavailableError",
    "Tensor",
    "UnconnectedGradients",
    "UnsupportedError",
    "Variable",
    "batch",
    "check_grads",
    "checkpoint",
    "checkpointed",
    "constant",
    "custom_gradient",
    "derivative",
    "custom_jvp",
    "custom_vjp",
    "elementwise",
    "elementwise_grad",
    "explain",
    "fixed_point",
    "from_tree",
    "function",
    "gauss_newton_vp",
    "grad",
    "grad_pass_through",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "jvp_rule",
    "laplacian",
    "linearize",
    "nn",
    "no_gradient",
    "nondifferentiable",
    "numerical",
    "on_gradient",
    "ops",
    "primitive",
    "recompute_grad",
    "register_jvp",
    "register_vjp",
    "remat",
    "root",
    "stop_gradient",
    "taylor",
    "value_and_grad",
    "value_and_jacobian",
    "vjp",
    "vjp_rule",
    "vmap",
]
