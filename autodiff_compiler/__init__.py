"""Automatic differentiation by source transformation, for Python functions that use NumPy."""

from . import nn
from .api.testing import check_grads
from .api.transforms import grad, value_and_grad, vjp
from .errors import (
    AliasError,
    AutodiffError,
    IntegerArgumentError,
    NonScalarOutputError,
    RuleLookupError,
    SourceUnavailableError,
    UnsupportedError,
)
from .rules.registry import elementwise, primitive
from .rules.registry import vjp as vjp_rule

__version__ = "0.1.0"

__all__ = [
    "AliasError",
    "AutodiffError",
    "IntegerArgumentError",
    "NonScalarOutputError",
    "RuleLookupError",
    "SourceUnavailableError",
    "UnsupportedError",
    "check_grads",
    "elementwise",
    "grad",
    "nn",
    "primitive",
    "value_and_grad",
    "vjp",
    "vjp_rule",
]
