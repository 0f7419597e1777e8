"""``tf.autodiff``: the tape, and forward mode."""

from __future__ import annotations

from .namespace import lazy

__getattr__, __dir__ = lazy(__name__, {"tapes": "ForwardAccumulator GradientTape"})
