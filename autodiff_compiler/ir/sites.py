"""Operations on values of which only the run tells the type. See `frontend.observe`."""

from __future__ import annotations

import operator
from typing import Any

from .core import Prim
from .opset import gives
from .types import ANY

# What was made is of a type that only the run tells; `site` is the number of the place.
OBSERVE = Prim("observe", params=("value", "site"), nout=0, infer=gives(()), effects=True)
# The end of a run that observes: what follows cannot be lowered.
STOP = Prim("stop", nout=0, infer=gives(()), effects=True)


def _applied(fn: Any, *args: Any, **kwargs: Any) -> Any:
    return fn(*args, **kwargs)


def _of_an_object(name: str, fn: Any) -> Prim:
    return Prim(name, fn, infer=gives(ANY), params=("*args",), alias="maybe", effects=True, foreign=True)


CALL_OBJECT = _of_an_object("a call of an object", _applied)
GET_ITEM = _of_an_object("an item of an object", operator.getitem)

__all__ = ["CALL_OBJECT", "GET_ITEM", "OBSERVE", "STOP"]
