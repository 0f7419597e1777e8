"""What the parameters of NumPy's functions are, and how their results lie in memory.

Where NumPy makes an array of a list, the compiler does.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from .core import Prim
from .opset import lookup

ARRAY, ARRAYS, STRICT, PLAIN, KNOWN = "array", "arrays", "strict", "plain", "known"

# `ARRAY`: NumPy makes an array of it, whatever it is. `ARRAYS`: a sequence of such, or any number of arguments.
# `STRICT`: a container is an error. `PLAIN`: a number, a shape, a flag, a function, or what names the operation.
# `KNOWN`: plain, and the derivative rules have to know it when the program is compiled.
#
# The record of an operation has the roles of its parameters. A function that is defined in Python has the roles that go
# with the names.
_NAMES = {
    ARRAY: """
        a append ar ar1 ar2 arr ary aweights b default dx fweights m mask p prepend q seq_of_zeros src start stop
        to_begin to_end v val vals values w weights where x x1 x2 y z""",
    ARRAYS: "arrays arys choicelist condlist tup varargs",
    PLAIN: """
        N UPLO a1 a2 args assume_unique axes axis axisa axisb axisc base bias c_or_r cache casting check_bounds copy
        count cov d ddof deg device dimensions doc dst dtype edge_order endpoint equal_nan excluded f filt full func
        func1d funclist function i identity include_initial increasing ind indexing indices indices_or_sections item
        iter k keepdims key kth kw kwargs like method mode n newshape ndim ndmax nin norm nout num object offset ord
        order other otypes out overwrite_input phi prototype pyfunc r rcond requirements return_counts return_index
        return_inverse returned rowvar s self shape signature sorted sparse strides subok tol trim u variable
        window_shape wrap writeable""",
}
ROLES = {name: role for role, names in _NAMES.items() for name in names.split()}
# Where the name says something else than elsewhere.
_OTHERWISE: dict[tuple[Any, str], str] = {
    (np.rollaxis, "start"): PLAIN,
    (np.tril_indices, "m"): PLAIN,
    (np.triu_indices, "m"): PLAIN,
    (np.block, "arrays"): PLAIN,  # nested lists, whose depth counts
    (np.ix_, "args"): ARRAYS,
    **{(fn, "ary"): PLAIN for fn in (np.hsplit, np.vsplit, np.dsplit)},
    # These ask for attributes of arrays, and raise AttributeError of containers.
    (np.tril_indices_from, "arr"): STRICT,
    (np.triu_indices_from, "arr"): STRICT,
    (np.put_along_axis, "arr"): STRICT,
    (np.put_along_axis, "indices"): STRICT,
    (np.diag_indices_from, "arr"): STRICT,
    (np.rollaxis, "a"): STRICT,
    **({(np.unstack, "x"): STRICT} if hasattr(np, "unstack") else {}),
}
_KERNELS = f"{__package__.partition('.')[0]}.kernels"
# These make arrays of containers: what they are given is the container.
MAKERS = (np.array, np.asarray, np.asanyarray, np.copy, np.isscalar)


def role_of(fn: Any, name: str) -> str:
    """The role of a parameter of the function; `name` may have the star of a variadic one."""
    plain = name.lstrip("*")
    prim = lookup(fn)
    for known, role in zip(prim.params, prim.roles) if prim is not None else ():
        if known.lstrip("*") == plain:
            return role
    return _OTHERWISE.get((fn, plain)) or ROLES.get(plain, PLAIN)


def is_numpys(prim: Prim) -> bool:
    """The primitive is a function that makes arrays of its arguments: one of NumPy's or SciPy's, a ufunc, or a
    kernel."""
    fn: Any = prim.fn
    if isinstance(fn, np.ufunc):
        return True
    named = prim.name.startswith(("np.", "scipy.")) and not isinstance(fn, type)
    return fn not in MAKERS and (named or str(getattr(fn, "__module__", "")).startswith(_KERNELS))


# The parameters of functions in C that have no signature in older versions of NumPy.
_UNTOLD = {
    np.array: "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, like=None",
    np.asarray: "a, dtype=None, order=None, *, device=None, copy=None, like=None",
    np.asanyarray: "a, dtype=None, order=None, *, device=None, copy=None, like=None",
    np.ascontiguousarray: "a, dtype=None, *, like=None",
    np.asfortranarray: "a, dtype=None, *, like=None",
    np.bincount: "x, /, weights=None, minlength=0",
    np.concatenate: "arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
    np.copyto: "dst, src, casting='same_kind', where=True",
    np.dot: "a, b, out=None",
    np.empty: "shape, dtype=None, order='C', *, device=None, like=None",
    np.empty_like: "prototype, /, dtype=None, order='K', subok=True, shape=None, *, device=None",
    np.fromiter: "iter, dtype, count=-1, *, like=None",
    np.inner: "a, b, /",
    np.lexsort: "keys, axis=-1",
    np.putmask: "a, /, mask, values",
    np.ravel_multi_index: "multi_index, dims, mode='raise', order='C'",
    np.unravel_index: "indices, shape, order='C'",
    np.vdot: "a, b, /",
    np.where: "condition, x=None, y=None, /",
    np.zeros: "shape, dtype=None, order='C', *, device=None, like=None",
}


def _told(fn: Any) -> inspect.Signature:
    """The signature of a function. Raises ValueError where there is none."""
    try:
        return inspect.signature(fn)
    except ValueError:
        if fn not in _UNTOLD:
            raise
        return inspect.signature(eval(f"lambda {_UNTOLD[fn]}: None"))


@functools.cache
def names_of(fn: Any) -> tuple[str, ...]:
    """The names of the parameters of a function that has a signature, with a star before the variadic one."""
    found = _told(fn).parameters.values()
    return tuple(["*" + p.name if p.kind is p.VAR_POSITIONAL else p.name for p in found])


@functools.cache
def signature_of(fn: Any) -> inspect.Signature | None:
    """The signature of a function of NumPy's that has one; ufuncs look at their arguments themselves."""
    if isinstance(fn, np.ufunc) or not callable(fn):
        return None
    try:
        return _told(fn)
    except (TypeError, ValueError):
        return None


@functools.cache
def flags_of(fn: Any) -> frozenset[str]:
    """The parameters of a function of NumPy's or SciPy's that are true or false. Each may be given as an int, too."""
    signature = signature_of(fn)
    parameters = signature.parameters.values() if signature is not None else ()
    found = {p.name for p in parameters if type(p.default) is bool}
    return frozenset({*found, "keepdims"} - {"optimize"})  # np.einsum takes True there, and not 1


# Which functions of NumPy's give new arrays whose axes are in C order in memory, by the names of their primitives.
IN_C_ORDER = frozenset({"np.zeros", "np.ones", "np.empty", "np.full", "np.arange", "np.eye", "np.identity", "np.dot"})
# Their results are new, and in C order if their operands are, besides those of elementwise functions.
KEEP_C_ORDER = frozenset({
    "np.sum", "np.mean", "np.prod", "np.max", "np.min", "np.amax", "np.amin", "np.std", "np.var", "np.cumsum",
    "np.cumprod", "np.where", "np.zeros_like", "np.ones_like", "np.full_like", "np.empty_like", "np.stack",
    "np.concatenate", "np.vstack", "np.hstack", "np.outer", "np.clip", "np.tile", "np.array", "np.copy", "np.round",
})  # fmt: skip
