"""``torch.save`` and ``torch.load``: Python's pickle format, of tensors and what holds them. Files of PyTorch's own are
not read."""

from __future__ import annotations

import os
import pickle
from typing import Any


def save(obj: Any, f: Any, **kwargs: Any) -> None:
    """Write an object to a file, given by its name or open."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "wb") as file:
            pickle.dump(obj, file)
    else:
        pickle.dump(obj, f)


def load(f: Any, map_location: Any = None, *, weights_only: bool = True, **kwargs: Any) -> Any:
    """Read what `save` wrote. As with every pickle, only load files that you trust.

    Raises pickle.UnpicklingError for a file that PyTorch itself wrote.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return load(file, map_location)
    start = f.read(2)
    f.seek(-len(start), os.SEEK_CUR)
    if start == b"PK":
        raise pickle.UnpicklingError(
            "this file was written by PyTorch: it cannot be read here. Instead: save its state_dict as NumPy "
            "arrays there"
        )
    return pickle.load(f)
