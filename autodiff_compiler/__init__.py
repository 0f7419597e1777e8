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

from . import late, nn, pristine, runtime  # noqa: F401  (emitted code takes it from here)
from .api.transforms import grad, value_and_grad
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
    from .api.batching import batch, vmap
    from .api.checkpoints import checkpoint, checkpointed, remat
    from .api.custom import custom_jvp, custom_vjp, on_gradient, register_jvp, register_vjp
    from .api.explain import explain
    from .api.forward import jvp
    from .api.jacobians import hessian, jacfwd, jacobian, jacrev, value_and_jacobian
    from .api.linearized import linearize
    from .api.products import derivative, elementwise_grad, gauss_newton_vp, hvp, laplacian
    from .api.pullbacks import vjp
    from .api.series import taylor
    from .api.solvers import fixed_point, root
    from .api.testing import check_grads
    from .api.trees import from_tree
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

# Most of this is imported when one of its names is first used, and the compiler when it first compiles.
_LATE = {
    "api.batching": "batch vmap",
    "api.checkpoints": "checkpoint checkpointed remat",
    "api.custom": "custom_jvp custom_vjp on_gradient register_jvp register_vjp",
    "api.explain": "explain",
    "api.forward": "jvp",
    "api.jacobians": "hessian jacfwd jacobian jacrev value_and_jacobian",
    "api.linearized": "linearize",
    "api.products": "derivative elementwise_grad gauss_newton_vp hvp laplacian",
    "api.pullbacks": "vjp",
    "api.series": "taylor",
    "api.solvers": "fixed_point root",
    "api.testing": "check_grads",
    "api.trees": "from_tree",
    "operations.numerical": "nondifferentiable numerical",
    "operations.record": "elementwise jvp_rule primitive vjp_rule",
    "tape.custom": "RegisterGradient custom_gradient grad_pass_through no_gradient recompute_grad stop_gradient",
    "tape.forward_accumulator": "ForwardAccumulator",
    "tape.function": "function",
    "tape.gradient_tape": "GradientTape UnconnectedGradients",
    "tape.native": "Tensor Variable constant",
    "tape.ops": "ops",
}
_MODULES = {name: module for module, names in _LATE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        from .api import unknown_names

        raise AttributeError(unknown_names.message(__name__, name, __all__))
    if not module.startswith("api."):
        # A package before its module: threads that enter a package by different modules would find each other's half
        # made.
        for part in ("api.compiler", module.partition(".")[0]):
            late.load(f"{__name__}.{part}")
    found: Any = late.load(f"{__name__}.{module}")
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
