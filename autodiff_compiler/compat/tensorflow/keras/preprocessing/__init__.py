"""``keras.preprocessing``: what there is of it."""

from ..names import public as _public
from . import sequence

__all__ = ["sequence"]

_HINTS = {
    "text": "words are numbered by a dict: {word: k for k, word in enumerate(sorted(set(words)), 1)}",
    "image": "images are arrays here: tf.image has resize and some random changes, tf.data.Dataset batches",
}
__getattr__, __dir__ = _public("tf.keras.preprocessing", __all__, _HINTS)
