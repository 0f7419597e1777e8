"""TensorFlow's names for the tape and for gradients of one's own."""

from __future__ import annotations

from ...tape.custom import (
    RegisterGradient,
    custom_gradient,
    grad_pass_through,
    no_gradient,
    recompute_grad,
    stop_gradient,
)
from ...tape.gradient_tape import GradientTape, UnconnectedGradients

__all__ = [
    "GradientTape", "RegisterGradient", "UnconnectedGradients", "custom_gradient", "grad_pass_through", "no_gradient",
    "recompute_grad", "stop_gradient",
]  # fmt: skip
