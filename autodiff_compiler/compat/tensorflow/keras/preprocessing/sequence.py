"""Sequences of several lengths as one array."""

from ..names import public
from ..utils import pad_sequences

__all__ = ["pad_sequences"]
__getattr__, __dir__ = public("tf.keras.preprocessing.sequence", __all__)
