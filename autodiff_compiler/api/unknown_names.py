"""What a name that the package does not have may mean."""

from __future__ import annotations

from collections.abc import Sequence

_RULE = "vjp_rule and jvp_rule declare the derivative of a primitive"

# By the names that other systems have.
INSTEAD = {
    "backward": "grad(f) is a function that returns the gradient",
    "checkpoint": "recompute_grad",
    "defjvp": _RULE,
    "defvjp": _RULE,
    "detach": "stop_gradient",
    "gradient": "grad",
    "hess": "hessian",
    "jac": "jacobian",
    "jit": "nothing is needed: what grad returns is compiled",
    "make_ggnvp": "gauss_newton_vp",
    "make_hvp": "hvp",
    "make_jaxpr": "the method ir of what grad returns",
    "make_jvp": "linearize",
    "no_grad": "stop_gradient, or no_gradient for an operation",
    "numpy": "import numpy itself: grad differentiates functions that use it",
    "pullback": "vjp",
    "pushforward": "jvp, or linearize for many tangents",
    "remat": "recompute_grad",
    "stop_grad": "stop_gradient",
    "tape": "GradientTape",
    "value_and_gradient": "value_and_grad",
}


def message(package: str, name: str, known: Sequence[str]) -> str:
    """What the AttributeError for a name says.

    >>> message("autodiff_compiler", "gradd", ["grad", "vjp"])
    "module 'autodiff_compiler' has no attribute 'gradd'. Did you mean 'grad'?"
    """
    text = f"module {package!r} has no attribute {name!r}"
    if name in INSTEAD:
        return f"{text}. Instead: {INSTEAD[name]}"
    import difflib  # an import of a part of the package asks for its name, too, and needs no suggestion

    close = [] if name.startswith("_") else difflib.get_close_matches(name, known, 1, 0.75)
    return f"{text}. Did you mean {close[0]!r}?" if close else text


__all__ = ["INSTEAD", "message"]
