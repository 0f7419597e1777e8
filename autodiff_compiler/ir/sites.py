"""Operations on values of which only the run tells the type. See `frontend.observe`."""

from __future__ import annotations

import operator
from typing import Any

from .. import live
from .core import Prim
from .opset import gives
from .types import ANY, OBJECT, PY_BOOL, Ty

# What was made is of a type that only the run tells; `site` is the number of the place.
OBSERVE = Prim("observe", params=("value", "site"), nout=0, infer=gives(()), effects=True)
# The end of a run that observes: what follows cannot be lowered.
STOP = Prim("stop", nout=0, infer=gives(()), effects=True)


def _applied(fn: Any, *args: Any, **kwargs: Any) -> Any:
    return fn(*args, **kwargs)


def _of_an_object(name: str, fn: Any, made: Ty = ANY) -> Prim:
    return Prim(name, fn, infer=gives(made), params=("*args",), alias="maybe", effects=True, foreign=True)


CALL_OBJECT = _of_an_object("a call of an object", _applied)
GET_ITEM = _of_an_object("an item of an object", operator.getitem)
GET_NEXT = _of_an_object("an item of a list", operator.getitem)  # in a loop; another site than that of the list
# By the function: what `with` and `for` do with an object.
OF_STATEMENTS = {
    prim.fn: prim
    for prim in (
        _of_an_object("__enter__ of an object", live.enter_manager),
        _of_an_object("__exit__ of an object", live.leave_manager, OBJECT),
        _of_an_object("iter of an object", live.Cursor, OBJECT),
        _of_an_object("next of an object", live.advance, PY_BOOL),
        _of_an_object("an item of an object", live.item_at),
        _of_an_object("the items of an object", live.items_in, OBJECT),
    )
}

__all__ = ["CALL_OBJECT", "GET_ITEM", "GET_NEXT", "OBSERVE", "OF_STATEMENTS", "STOP"]
