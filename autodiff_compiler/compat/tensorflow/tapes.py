"""TensorFlow's names for the tape and for gradients of one's own."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...tape import custom as _custom
from ...tape import forward_accumulator as _forward
from ...tape import gradient_tape as _tape
from ...tape.connect import NONE, UnconnectedGradients
from ...tape.custom import RegisterGradient, grad_pass_through, no_gradient, stop_gradient
from ...tape.nest import flatten, pack_like
from ...tape.recording import Recording
from ...tape.tensor import Operand
from .operators import Arithmetic
from .tensors import convert_to_tensor

F = TypeVar("F", bound=Callable[..., Any])


_logger = logging.getLogger("tensorflow")
if not _logger.handlers and not logging.getLogger().handlers:
    # As TensorFlow does: its warnings are seen where nobody has set up logging.
    _handler = logging.StreamHandler()
    _handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    _logger.addHandler(_handler)


def _silent(method: F) -> F:
    """The method without NumPy's warnings: TensorFlow says nothing about what is not finite."""

    @functools.wraps(method)
    def silent(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return method(*args, **kwargs)

    return silent  # type: ignore[return-value]


class GradientTape(_tape.GradientTape):
    """The compiler's tape, with TensorFlow's logger, and `IndexedSlices` for variables that were only gathered from."""

    _logger = _logger
    _masks = False  # TensorFlow multiplies, and zero times infinity is nan
    _tensors = "tf.Tensor or tf.Variable or ExtensionType."
    _floating = "tf.float32"
    _used_up = _tape.SECOND_USE
    jacobian = _silent(_tape.GradientTape.jacobian)
    batch_jacobian = _silent(_tape.GradientTape.batch_jacobian)

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None,
        unconnected_gradients: Any = NONE,
    ) -> Any:  # fmt: skip
        """The derivative of the sum of `target` by `sources`: tensors, None, or `IndexedSlices` for a variable of which
        only `gather` has read."""
        rec = self._rec
        if rec is not None:
            for x in sources if type(sources) is list else flatten(sources):
                if getattr(x, "_gathers", None) is not None:
                    return self._sparse(rec, target, sources, output_gradients, unconnected_gradients)
        with np.errstate(all="ignore"):
            return super().gradient(target, sources, output_gradients, unconnected_gradients)

    @_silent
    def _sparse(self, rec: Recording, target: Any, sources: Any, seeds: Any, unconnected: Any) -> Any:
        from .slices import gathered, slot_of, sparse_gradient

        none = _tape._unconnected(unconnected) is NONE
        flat = flatten(sources)
        targets = [x for x in flatten(target) if isinstance(x, Operand)]
        view = self._view(rec)
        own = [isinstance(x, Arithmetic) and not any(x is t for t in targets) for x in flat]
        rows = [gathered(rec, x, view) if may else None for x, may in zip(flat, own)]
        asked = [x if r is None else [slot_of(rec, slot) for slot, _ in r] for x, r in zip(flat, rows)]
        found = super().gradient(target, asked, seeds)
        out = [g if r is None else sparse_gradient(x, r, g) for x, r, g in zip(flat, rows, found)]
        return pack_like(sources, out if none else [_tape._zeros(x) if g is None else g for x, g in zip(flat, out)])


class ForwardAccumulator(_forward.ForwardAccumulator):
    """The compiler's accumulator, with TensorFlow's logger."""

    _logger = _logger
    _masks = False
    _tensors = GradientTape._tensors
    _floating = GradientTape._floating
    _settle = _silent(_forward.ForwardAccumulator._settle)


def custom_gradient(f: F) -> F:
    """The compiler's `custom_gradient`; results that are numbers or arrays become tensors."""
    return _custom.custom_gradient(f, convert_to_tensor)


def recompute_grad(f: F) -> F:
    """The same function, of which a tape keeps no intermediate result: it runs again in the backward pass.

    It is called once forward and once backward. ``__wrapped__`` is the function itself.
    """
    return _custom.recompute_grad(f, _Multiplying)


class _Multiplying(_tape.GradientTape):
    _masks = False


def gradients(*args: Any, **kwargs: Any) -> Any:
    """Raises RuntimeError, as TensorFlow does where there is no graph."""
    raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")


hessians = gradients


__all__ = [
    "ForwardAccumulator", "GradientTape", "RegisterGradient", "UnconnectedGradients", "custom_gradient",
    "grad_pass_through", "gradients", "hessians", "no_gradient", "recompute_grad", "stop_gradient",
]  # fmt: skip
