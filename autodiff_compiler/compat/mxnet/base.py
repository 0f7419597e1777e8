"""MXNet's error, and what its graphs have of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.core import Base
from ..graph.record import Mode, System


class MXNetError(RuntimeError):
    """What MXNet raises."""


class _Mode(Mode):
    """Of this thread: whether operations are recorded, and whether layers are in training mode."""

    grad = False
    training: bool = False


MODE = _Mode()

NOT_RECORDED = (
    "Check failed: !AGInfo::IsNone(*i): Cannot differentiate node because it is not in a computational graph. You "
    "need to set is_recording to true or use autograd.record() to save computational graphs for backward. If you want "
    "to differentiate the same graph twice, you need to pass retain_graph=True to backward."
)


def _check_cast(made: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    if not np.can_cast(made, wanted, "same_kind"):
        raise MXNetError(f"a result of dtype {made} cannot be written into an array of dtype {wanted}")


MXNET = System(MODE, Base, _check_cast, lambda dtype: f"ndarray of {dtype}", NOT_RECORDED)
