"""TensorFlow's names for the tape and for gradients of one's own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from ...tape import custom as _custom
from ...tape import gradient_tape as _tape
from ...tape.custom import RegisterGradient, grad_pass_through, no_gradient, recompute_grad, stop_gradient
from ...tape.gradient_tape import UnconnectedGradients
from .tensors import convert_to_tensor

F = TypeVar("F", bound=Callable[..., Any])


class GradientTape(_tape.GradientTape):
    """The compiler's tape, with TensorFlow's logger."""

    _logger = logging.getLogger("tensorflow")


def custom_gradient(f: F) -> F:
    """The compiler's `custom_gradient`; arguments and results that are numbers or arrays become tensors."""
    return _custom.custom_gradient(f, convert_to_tensor)


__all__ = [
    "GradientTape", "RegisterGradient", "UnconnectedGradients", "custom_gradient", "grad_pass_through", "no_gradient",
    "recompute_grad", "stop_gradient",
]  # fmt: skip
