"""NumPy's functions that copy, view or write, and the methods of arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, RuleLookupError
from ..ir import numpy_ops  # noqa: F401  (fills the table of primitives)
from ..ir.core import Prim, Value, type_of
from ..ir.opset import PRIMS, lookup
from ..ir.roles import MAKERS, names_of, signature_of
from ..ir.types import ANY, same_dtype
from . import definitions
from .avals import DictRef, ListRef, Obj, Ref, Seq, describe, is_constant, is_number, is_static_int
from .calls import dotted_name
from .copies import Copies
from .definitions import DEFINED, METHODS, folded, known, place, refuse
from .layout import (
    Layout,
    deciding,
    layout_of,
    surely_copied,
)
from .plan import LAYOUT
from .state import FOLDED, PROTECTED

# Methods that are the function of the same name with the array first.
_AS_FUNCTION = {
    name: getattr(np, name)
    for name in (
        "sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod", "argmax", "argmin", "any", "all",
        "round", "repeat", "take", "trace", "diagonal",
        "squeeze", "nonzero", "argsort", "swapaxes", "dot",
        "searchsorted", "argpartition", "choose",
    )
}  # fmt: skip
_WRITERS = {np.random.shuffle}
_STATIC = {np.finfo, np.iinfo, np.dtype, np.issubdtype, np.result_type, np.promote_types, np.can_cast}


Handler = Callable[[list[Any], dict[str, Any], Any], Any]


class NumpyCalls(Copies):
    def special(self, obj: Any) -> Handler | None:
        try:
            name = _SPECIAL.get(obj)
        except TypeError:
            return None
        if obj in (np.vstack, np.hstack, np.column_stack):
            return lambda args, kwargs, node: self.stack_call(
                obj, *self.accepted(obj, signature_of(obj), args, kwargs, node), node
            )
        if name is not None:
            handler = getattr(self, "n_" + name)
            if obj in MAKERS:
                return lambda args, kwargs, node: handler(
                    *self.accepted(obj, signature_of(obj), args, kwargs, node), node
                )
            names = names_of(obj)
            return lambda args, kwargs, node: handler(*self.entering(obj, names, args, kwargs, node), node)
        definition = DEFINED.get(obj)
        if definition is not None and definition is not self.frame.owner:
            return lambda args, kwargs, node: self.call_definition(obj, definition, args, kwargs, node)
        if obj is refuse:
            return lambda args, kwargs, node: self.fail(str(args[0]), node, str(args[1]) if len(args) > 1 else "")
        if obj in _OF_VECTORS or obj in _UNLESS_AXIS or obj is np.pad:
            return lambda args, kwargs, node: self.vector_call(obj, args, kwargs, node)
        if obj is known:
            return lambda args, kwargs, node: is_constant(args[0])
        if obj is place:
            return lambda args, kwargs, node: Seq(tuple(self.loc_of(node)))
        if obj is folded:
            return lambda args, kwargs, node: self.mark_folded(args[0])
        if obj in _WRITERS:
            return lambda args, kwargs, node: self.fail(
                f"np.{obj.__name__} writes into its argument, which is not supported",
                node,
                "store with a subscript, a[i] = v",
            )
        if obj in _STATIC:
            return lambda args, kwargs, node: self.static_call(obj, args, kwargs, node)
        return None

    def call_definition(
        self, fn: Any, definition: Any, args: list[Any], kwargs: dict[str, Any], node: Any
    ) -> Any:  # fmt: skip
        names = names_of(definition)
        args, kwargs = self.entering(fn, names, args, kwargs, node)
        out, at = kwargs.pop("out", None), names.index("out") if "out" in names else len(args)
        if at < len(args):
            out, args = args[at], [*args[:at], None, *args[at + 1 :]]
        made = self.inline_function(Obj(definition, None), args, kwargs, node)
        if out is None:
            return made
        return self.write_out(Prim(dotted_name(fn), fn), out, self.operand(made, node), args, node)

    def vector_call(self, fn: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        """A function for which a number, or an array without axes, is an array of one element."""
        prim = PRIMS[fn]
        names = _OF_VECTORS.get(fn, frozenset())
        at = prim.params.index("axis") if "axis" in prim.params else 0
        axis = kwargs.get("axis", args[at] if len(args) > at else None)
        if fn in _UNLESS_AXIS and axis is None:
            names = _UNLESS_AXIS[fn]
        if fn in (np.take, np.repeat) and len(args) > 1:
            args = [args[0], self.places(args[1], node), *args[2:]]
        if fn is np.pad and args:
            args = [self.numpy_at(node, np.asarray, args[0]), *args[1:]]
        given = [self.vector(a, node) if name in names else a for name, a in zip((*prim.params, *args), args)]
        return self.call_prim(
            prim, given, {k: self.vector(v, node) if k in names else v for k, v in kwargs.items()}, node
        )

    def places(self, av: Any, node: Any) -> Any:
        """Indices: NumPy makes integers of floats and of booleans."""
        av = self.as_array(av, node)
        t = type_of(self.operand(av, node))
        if t.kind == "list" or t.dtype is None or t.dtype.kind not in "fb":
            return av
        if is_number(av):
            return int(av)
        return self.cast_copy(av, np.dtype(np.intp), node) if type(av) is Ref else av

    def vector(self, av: Any, node: Any) -> Any:
        if type(av) not in (Ref, Value) and not is_number(av):
            return av
        t = type_of(self.operand(av, node))
        if t.dims != () or t.kind not in ("array", "py", "generic", "scalar"):
            return av
        return self.numpy_at(node, np.reshape, av, Seq((1,)))

    def numpy_at(self, node: Any, fn: Any, *args: Any) -> Any:
        return self.call(Obj(fn, None), list(args), {}, node)

    def static_call(self, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        values = []
        for a in args:
            if type(a) is Ref or type(a) is Value:
                a = self.static_dtype(a, node)
            if type(a) is Obj:
                values.append(a.obj)
            elif is_constant(a):
                values.append(a)
            else:
                return self.call_unknown(obj, args, kwargs, node)
        result = obj(*values)
        return result if is_constant(result) else Obj(result, None)

    def dtype_of(self, av: Any, node: Any) -> Any:
        """A dtype argument as an np.dtype, a value, or None."""
        if av is None:
            return None
        if type(av) is Value:
            return av
        try:
            return np.dtype(self.static_spec(av, node))
        except TypeError as error:
            self.fail(str(error), node, "", ArgumentError)

    def static_spec(self, av: Any, node: Any) -> Any:
        """A dtype as it is written: a class, a name, a list of the fields of a record."""
        if type(av) in (ListRef, Seq):
            items = [self.static_spec(x, node) for x in self.static_items(av, node)]
            return items if type(av) is ListRef else tuple(items)
        if type(av) is DictRef:
            return {k: self.static_spec(x, node) for k, x in self.entries_of(av, node).items()}
        return av.obj if type(av) is Obj else av

    # --- views ----------------------------------------------------------------------------------------------------

    def mark_folded(self, av: Any) -> Any:
        """An array of which several elements may be one in memory; it is not protected."""
        if type(av) is Ref:
            self.cells.read_only.discard(av.cell)
            self.cells.origins[av.cell] = self.cells.origins.get(av.cell, frozenset()) - {PROTECTED} | {FOLDED}
        return av

    def n_sliding_window_view(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        made = self.call_prim(PRIMS[np.lib.stride_tricks.sliding_window_view], args, kwargs, node)
        return self.mark_folded(made) if kwargs.get("writeable", False) is not False or len(args) > 4 else made

    def n_as_strided(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.mark_folded(self.call_unknown(np.lib.stride_tricks.as_strided, args, kwargs, node))

    def step_view(self, av: Ref, step: tuple[Any, ...], node: Any) -> Ref:
        view = Ref(av.cell, (*av.path, step))
        self.read(view, node)
        return view

    def n_reshape(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        kwargs = dict(kwargs)
        shape = (
            kwargs.pop("newshape", None)
            if "newshape" in kwargs
            else kwargs.pop("shape", None)
            if "shape" in kwargs
            else None
        )
        if shape is None:
            if len(args) < 2:
                self.fail("reshape() needs a shape", node, "", ArgumentError)
            shape = args[1]
        order = kwargs.pop("order", args[2] if len(args) > 2 else "C")
        if kwargs:
            self.fail(f"reshape with {next(iter(kwargs))}=", node, "leave it out")
        return self.reshaped_in(args[0], shape, order, node)

    def reshaped_in(self, av: Any, shape: Any, order: Any, node: Any) -> Any:
        """In Fortran order, as the transposed array is in C order."""
        if order == "C" or self.in_c_order("A" if order is None else order, av, "reshape", node):
            return self.reshaped(av, shape, node)
        known = shape.items if type(shape) is Seq else self.operand(shape, node)
        if isinstance(known, (list, tuple)):
            shape = Seq(tuple(reversed(known)))
        elif type(known) is Value and known.type.kind == "shape":
            self.fail("reshape with order='F' to a shape that is not written out", node, "transpose before and after")
        return self.transposed(self.reshaped(self.transposed(av, None, node), shape, node), None, node)

    def reshaped(self, av: Any, shape: Any, node: Any) -> Any:
        target = self.operand(shape, node)
        if isinstance(target, list):
            target = tuple(target)
        if not isinstance(target, (tuple, Value)):
            target = (target,)
        if type(target) is Value and target.type.kind != "shape":
            target = (target,)
        if type(av) is Ref:
            t = self.read(av, node).type
            if t.kind == "array" and (t.ndim == 1 or t.ndim == 0 or self.is_contiguous(av)):
                return self.step_view(av, ("reshape", target), node)
        x = self.operand(av, node)
        flat = not isinstance(target, tuple) or len(target) == 1
        value = self.emit(node, PRIMS[np.reshape], x, target)
        return self.maybe_view(value, av, flat and self.copies(av, False), flat)

    def is_contiguous(self, av: Ref) -> bool:
        """Proven to be laid out in C order, and to be treated as such."""
        if any(kind is LAYOUT for kind, _ in self.plan.actions):
            return layout_of(self, av) == frozenset()
        # As long as nothing depends on it, a reshape is an operation, whose adjoint is simpler than that of a view.
        return av.cell in self.cells.contiguous and all(
            step[0] == "reshape"
            or (
                step[0] == "index" and all(is_static_int(i) or (type(i) is Value and i.type.is_scalar) for i in step[1])
            )
            for step in av.path
        )

    def copies(self, av: Any, flat: bool) -> bool:
        return type(av) is Ref and surely_copied(self, av, flat)

    def maybe_view(self, value: Any, av: Any, copied: bool, flat: bool) -> Any:
        """A reshaped array: a copy, or what is a view if the memory of `av` is laid out in C order."""
        if copied:
            return self.fresh(value, contiguous=True)
        layout = deciding(self, av)
        made = self.linked(value, [av], cause=Layout(layout) if layout is not None else None)
        if type(made) is Ref and type(av) is Ref and made.cell in self.cells.origins:
            # Of what is folded NumPy makes a copy, but for some with several axes. What it protects may not be folded.
            self.cells.origins[made.cell] -= {FOLDED} if flat else set()
        return made

    def n_ravel(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        av = args[0]
        order = kwargs.pop("order", args[1] if len(args) > 1 else "C") if kwargs or len(args) > 1 else "C"
        if kwargs or len(args) > 2:
            self.fail("ravel with these arguments", node, "call x.ravel()")
        if order != "C" and not self.in_c_order(order, av, "ravel", node):
            av = self.transposed(av, None, node)
        if type(av) is Ref:
            t = self.read(av, node).type
            if t.kind == "array" and self.is_contiguous(av):
                return self.step_view(av, ("reshape", (-1,)), node)
        value = self.emit(node, PRIMS[np.ravel], self.operand(av, node))
        return self.maybe_view(value, av, self.copies(av, True), True)

    def n_transpose(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        axes = kwargs.pop("axes", args[1] if len(args) > 1 else None)
        return self.transposed(args[0], axes, node)

    def transposed(self, av: Any, axes: Any, node: Any) -> Any:
        if axes is None:
            return (
                self.transpose(av, None, node)
                if type(av) is Ref
                else self.call_prim(PRIMS[np.transpose], [av], {}, node)
            )
        order = self.operand(axes, node)
        if type(av) is not Ref or not isinstance(order, (tuple, list)) or not all(is_static_int(k) for k in order):
            self.fail(
                "the axes of a transposition have to be known when the program is compiled",
                node,
                "write the axes as literals",
            )
        t = self.read(av, node).type
        if t.ndim is None:
            return self.linked(self.emit(node, PRIMS[np.transpose], self.operand(av, node), tuple(order)), [av])
        if len(order) != t.ndim:
            self.raises(ValueError, "axes don't match array", node)
        order = self.normal_axes(order, t.ndim, node)
        if len(set(order)) < len(order):
            self.raises(ValueError, "repeated axis in transpose", node)
        return self.transpose(av, order, node)

    def normal_axes(self, axes: Any, ndim: int, node: Any) -> tuple[int, ...]:
        for a in axes:
            if not -ndim <= a < ndim:
                self.raises(np.exceptions.AxisError, f"axis {a} is out of bounds for array of dimension {ndim}", node)
        return tuple([a % ndim for a in axes])

    def n_swapaxes(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        av, a, b = (
            args[0],
            kwargs.get("axis1", args[1] if len(args) > 1 else None),
            kwargs.get("axis2", args[2] if len(args) > 2 else None),
        )
        ndim = type_of(self.operand(av, node)).ndim
        if ndim is None or not is_static_int(a) or not is_static_int(b) or type(av) is not Ref:
            return self.call_prim(PRIMS[np.swapaxes], args, kwargs, node)
        a, b = self.normal_axes((a, b), ndim, node)
        order = list(range(ndim))
        order[a], order[b] = order[b], order[a]
        return self.transpose(av, tuple(order), node)

    def n_moveaxis(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        av = args[0]
        axes = [kwargs.get(n, args[k] if len(args) > k else None) for k, n in ((1, "source"), (2, "destination"))]
        ndim = type_of(self.operand(av, node)).ndim
        if ndim is None or not all(map(is_static_int, axes)) or type(av) is not Ref:
            return self.call_prim(PRIMS[np.moveaxis], args, kwargs, node)
        source, destination = self.normal_axes(axes, ndim, node)
        order = [k for k in range(ndim) if k != source]
        order.insert(destination, source)
        return self.transpose(av, tuple(order), node)

    def n_expand_dims(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        av, axis = args[0], kwargs.get("axis", args[1] if len(args) > 1 else None)
        ndim = type_of(self.operand(av, node)).ndim
        if type(av) is not Ref or ndim is None or not is_static_int(axis):
            return self.call_prim(PRIMS[np.expand_dims], args, kwargs, node)
        (place,) = self.normal_axes((axis,), ndim + 1, node)
        return self.step_view(
            av, ("index", (*[slice(None)] * place, None, *([] if place == ndim else [Ellipsis]))), node
        )

    def n_squeeze(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        av, axis = args[0], kwargs.get("axis", args[1] if len(args) > 1 else None)
        dims = type_of(self.operand(av, node)).dims
        axes = axis.items if type(axis) is Seq else (axis,)
        known = dims is not None and [self.builder.dims.find(d) for d in dims]
        if type(av) is not Ref or not known or not all(axis is None or is_static_int(a) for a in axes):
            return self.call_prim(PRIMS[np.squeeze], args, kwargs, node)
        if axis is None and all(d == 1 or self.builder.dims.not_one(d) for d in known):
            gone = [k for k, d in enumerate(known) if d == 1]
        elif axis is not None:
            gone = list(self.normal_axes(axes, len(known), node))
            if len(set(gone)) < len(gone):
                self.raises(ValueError, "duplicate value in 'axis'", node)
        else:
            return self.call_prim(PRIMS[np.squeeze], args, kwargs, node)
        if any(known[k] != 1 for k in gone):
            return self.call_prim(PRIMS[np.squeeze], args, kwargs, node)
        items = [0 if k in gone else slice(None) for k in range(len(known))]
        whole = [] if len(gone) < len(known) else [Ellipsis]  # else it would be a number, not a view
        return self.step_view(av, ("index", (*items, *whole)), node)

    def n_atleast(self, n: int, fn: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if len(args) == 1 and not kwargs and type(args[0]) is Ref:
            t = self.read(args[0], node).type
            if t.kind == "array" and t.ndim is not None and t.ndim >= n:
                return args[0]
        return self.call_prim(PRIMS[fn], args, kwargs, node)

    def n_atleast_1d(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.n_atleast(1, np.atleast_1d, args, kwargs, node)

    def n_atleast_2d(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.n_atleast(2, np.atleast_2d, args, kwargs, node)

    # --- shapes ---------------------------------------------------------------------------------------------------

    def n_shape(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.shape(self.arrayed(args[0], node), node)

    def n_ndim(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.array_attribute(self.arrayed(args[0], node), "ndim", node)

    def n_size(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        axis = kwargs.get("axis", args[1] if len(args) > 1 else None)
        if type(axis) is Seq:
            self.fail("np.size along several axes", node, "multiply the lengths")
        if axis is not None:
            return self.subscript(self.n_shape(args, {}, node), axis, node)
        return self.array_attribute(self.arrayed(args[0], node), "size", node)

    def n_isscalar(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        t = type_of(self.operand(args[0], node))
        if t.kind in ("py", "generic", "scalar", "array", "list", "shape"):
            return t.is_scalar
        self.fail("np.isscalar of a value of unknown type", node, "ask before the gradient")

    def arrayed(self, av: Any, node: Any) -> Any:
        if type(av) in (ListRef, Seq):
            return self.n_array([av], {}, node)
        return av

    # --- methods --------------------------------------------------------------------------------------------------

    def array_method(self, av: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if type(av) is Obj and isinstance(av.obj, np.ufunc):
            return self.ufunc_method(av.obj, name, args, kwargs, node)
        if type(av) not in (Ref, Value):
            self.fail(f"{describe(av)} has no attribute {name!r} that is supported", node, "use a function of NumPy's")
        if type(av) is Value and av.type.kind in ("object", "any") and av.type.dims is None and av.type.dtype is None:
            return self.unknown_method(av, name, args, kwargs, node)
        if type(av) is Ref and av.cell not in self.cells.numpy and self.read(av, node).type == ANY:
            # An object that some unknown function made, a random generator for instance.
            if name not in _AS_FUNCTION and not hasattr(self, "m_" + name):
                return self.unknown_method(self.read(av, node), name, args, kwargs, node)
        self.require_method(av, name, node)
        if name in _AS_FUNCTION:
            fn = _AS_FUNCTION[name]
            args, kwargs = self.accepted(fn, _SIGNATURES.get(name), args, kwargs, node)
            return self.call(Obj(fn, None), [av, *args], kwargs, node)
        method = getattr(self, "m_" + name, None)
        if method is None:
            self.fail(
                f"the method .{name}() of arrays is not supported",
                node,
                "use a function of NumPy's, or keep the value out of the differentiated path",
                RuleLookupError,
            )
        args, kwargs = self.accepted(method, _SIGNATURES.get(name), args, kwargs, node)
        return method(av, args, kwargs, node)

    def require_method(self, av: Any, name: str, node: Any) -> None:
        """NumPy's numbers do not have all methods of arrays."""
        t = type_of(self.operand(av, node))
        cls = np.ndarray if t.kind == "array" else t.dtype.type if t.kind == "generic" and t.dtype is not None else None
        if cls is not None and not hasattr(cls, name):
            self.raises(AttributeError, f"'{cls.__module__}.{cls.__name__}' object has no attribute {name!r}", node)

    def unknown_method(self, av: Value, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        """A method of an object of which nothing is known."""
        operands = [self.own(self.plain(a, node), node) for a in args]
        keywords = {k: self.own(self.plain(v, node), node) for k, v in kwargs.items()}
        given = [a.obj for a in (*args, *kwargs.values()) if type(a) is Obj]
        self.disturb([None, *given], f"the method .{name}()", node)
        value = self.emit(node, method_prim(name), av, *operands, **keywords)
        result = self.linked(value, args, numpy=False)
        self.given_away([*args, *kwargs.values()], f"the method .{name}()", node)
        return result

    def ufunc_method(self, ufunc: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if name == "at":
            return self.ufunc_at(ufunc, args, node)
        bound = getattr(ufunc, name)
        prim = lookup(bound)
        if prim is not None:
            return self.call_prim(prim, args, kwargs, node)
        definition = METHODS.get((ufunc, name), METHODS.get(name))
        if definition is not None and not kwargs.get("out"):
            given = args if (ufunc, name) in METHODS else [Obj(ufunc, None), *args]
            return self.inline_function(Obj(definition, None), given, kwargs, node)
        self.fail(f"np.{ufunc.__name__}.{name} with these arguments is not supported", node, "", RuleLookupError)

    def m_conj(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        """The method gives a real array itself."""
        dtype = type_of(self.operand(av, node)).dtype
        if args or kwargs or (dtype is not None and dtype.kind not in "biuf"):
            return self.call(Obj(np.conj, None), [av, *args], kwargs, node)
        if dtype is None:
            return self.linked(self.emit(node, PRIMS[np.conj], self.operand(av, node)), [av])
        return av

    m_conjugate = m_conj

    def m_clip(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        kwargs = dict(kwargs)
        bounds = [args[k] if len(args) > k else kwargs.pop(name, None) for k, name in enumerate(("min", "max"))]
        if len(args) > 2:
            kwargs["out"] = args[2]
        return self.call(Obj(np.clip, None), [av, *bounds], kwargs, node)

    def m_copy(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        order = kwargs.get("order", args[0] if args else "C")
        if type(av) is Value:
            return av
        if self.read(av, node).type.kind == "array":
            return self.copy_of(av, node, order)
        # It may be a number, which has .copy() too: either way nothing is shared.
        return self.copy_of(av, node, "K")

    def m_astype(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        kwargs = dict(kwargs)
        dtype = self.dtype_of(kwargs.pop("dtype", args[0] if args else None), node)
        copy = kwargs.pop("copy", True)
        if kwargs or len(args) > 1 or copy not in (True, False):
            self.fail("astype with these arguments", node, "call x.astype(dtype)")
        if copy is False:
            t = type_of(self.operand(av, node))
            if same_dtype(t.dtype, dtype):
                return av
            if t.dtype is None or isinstance(dtype, Value):
                return self.linked(self.operand(self.cast_copy(av, dtype, node), node), [av])
        return self.cast_copy(av, dtype, node)

    def m_reshape(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if set(kwargs) - {"order"}:
            self.fail(f"reshape with {next(iter(kwargs))}=", node, "leave it out")
        shape = args[0] if len(args) == 1 else Seq(tuple(args))
        return self.reshaped_in(av, shape, kwargs.get("order", "C"), node)

    def m_ravel(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.n_ravel([av, *args], kwargs, node)

    def m_flatten(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        flat = self.n_ravel([av, *args], dict(kwargs), node)
        return self.copy_of(flat, node, "C")

    def m_transpose(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if not args or (args[0] is None and len(args) == 1):
            return self.transposed(av, None, node)
        return self.transposed(av, args[0] if len(args) == 1 and not is_number(args[0]) else Seq(tuple(args)), node)

    def m_compress(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        condition, *rest = [kwargs.pop("condition")] if "condition" in kwargs else args
        return self.call(Obj(np.compress, None), [condition, av, *rest], kwargs, node)

    def m_item(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        prim = PRIMS.get(np.ndarray.item)
        if prim is not None:
            return self.call_prim(prim, [av, *args], kwargs, node)
        t = type_of(self.operand(av, node))
        if t.dtype is not None and t.dtype.kind in "fic" and not args:
            fn = {"f": float, "i": int, "c": complex}[t.dtype.kind]
            return self.call(
                Obj(fn, None), [self.reshaped(av, Seq(()), node) if type(av) is Ref and t.ndim != 0 else av], {}, node
            )
        if args and type(av) is Ref and len(args) == t.ndim:
            return self.m_item(self.subscript(av, Seq(tuple(args)), node), [], {}, node)
        self.fail(".item() of an array of unknown dtype", node, "index it")

    def m_tolist(self, av: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        t = type_of(self.operand(av, node))
        if t.is_scalar:
            return self.m_item(av, [], {}, node)
        if t.ndim == 1:
            out = self.new_list([])
            range_, item_at = self.iteration(av, node)
            self.run_loop(
                node,
                range_,
                lambda i: self.list_append(out, self.m_item(item_at(i), [], {}, node), node),
                None,
                [],
                [],
                None,
            )
            return out
        self.fail(".tolist() of an array with several axes", node, "loop over the array")


definitions.load()
_methods: dict[str, Prim] = {}


def method_prim(name: str) -> Prim:
    """A primitive that calls the method of an object of which nothing is known."""
    prim = _methods.get(name)
    if prim is None:

        def fn(obj: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(obj, name)(*args, **kwargs)

        fn.__name__ = name
        prim = _methods[name] = Prim(
            f"method {name}",
            fn,
            infer=lambda b, a, k: ANY,
            params=("*args",),
            alias="maybe",
            effects=True,
            foreign=True,
        )
    return prim


# Of methods of arrays, which have none themselves in older versions of NumPy.
_LIKE: dict[str, Callable[..., int]] = {
    "fill": lambda value: 0,
    "put": lambda indices, values, mode=0: 0,
    "sort": lambda axis=0, kind=0, order=0, *, stable=0: 0,
    "partition": lambda kth, axis=0, kind=0, order=0: 0,
    "conj": lambda: 0,
    "conjugate": lambda: 0,
    "clip": lambda min=0, max=0, out=0, **kwargs: 0,
    "copy": lambda order=0: 0,
    "astype": lambda dtype, order=0, casting=0, subok=0, copy=0: 0,
    "reshape": lambda first, *shape, order=0, copy=0: 0,
    "ravel": lambda order=0: 0,
    "flatten": lambda order=0: 0,
    "transpose": lambda *axes: 0,
    "compress": lambda condition, axis=0, out=0: 0,
    "item": lambda *args: 0,
    "tolist": lambda: 0,
    "squeeze": lambda axis=0: 0,
}
_SIGNATURES = {name: inspect.signature(like) for name, like in _LIKE.items()}
# By function: the parameters for which NumPy makes a vector of a number.
_OF_VECTORS: dict[Any, frozenset[str]] = {
    np.take: frozenset({"a"}), np.repeat: frozenset({"a"}), np.compress: frozenset({"a"}),
    np.extract: frozenset({"arr"}), np.resize: frozenset({"a"}), np.convolve: frozenset({"a", "v"}),
}  # fmt: skip
_UNLESS_AXIS: dict[Any, frozenset[str]] = {np.delete: frozenset({"arr"}), np.insert: frozenset({"arr"})}
_SPECIAL: dict[Any, str] = {
    np.ascontiguousarray: "ascontiguousarray", np.asfortranarray: "asfortranarray",
    np.copy: "copy", np.array: "array", np.asarray: "asarray", np.asanyarray: "asarray", np.reshape: "reshape",
    np.ravel: "ravel", np.transpose: "transpose", np.swapaxes: "swapaxes", np.expand_dims: "expand_dims",
    np.moveaxis: "moveaxis", np.squeeze: "squeeze", np.atleast_1d: "atleast_1d", np.atleast_2d: "atleast_2d",
    np.lib.stride_tricks.sliding_window_view: "sliding_window_view", np.lib.stride_tricks.as_strided: "as_strided",
    np.copyto: "copyto", np.fromiter: "fromiter", np.put: "put", np.place: "place", np.putmask: "putmask",
    np.fill_diagonal: "fill_diagonal", np.put_along_axis: "put_along_axis",
    np.shape: "shape", np.ndim: "ndim", np.size: "size", np.isscalar: "isscalar",
}  # fmt: skip
