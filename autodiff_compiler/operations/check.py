"""The harness that tests every derivative rule in the same way; for this package's rules and for users' own.

>>> import numpy as np
>>> check_rule(np.sin, np.array([0.3, -1.2]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import runtime
from ..errors import RuleLookupError
from ..ir.core import Builder, Function, Op, Prim, Region, Value, leaves, map_leaves
from ..ir.interp import interpret
from ..ir.opset import PRIMS, SUM_TO, lookup
from ..ir.types import Dim, Ty, array, generic, type_of_constant
from ..ir.verify import verify
from . import record, tangents

Prepare = Callable[[Builder], Any]


class RuleError(AssertionError):
    """A derivative rule is wrong."""


def check_rule(
    fn: Any,
    *args: Any,
    kwargs: dict[str, Any] | None = None,
    constant: tuple[str, ...] = (),
    order: int = 2,
    single: bool = True,
    tolerance: float = 1e-5,
    seed: int = 0,
    prepare: Prepare | None = None,
) -> None:
    """Check all rules of `fn` at these arguments; raise RuleError where one is wrong.

    Pullbacks against central differences; tangents against central differences and against the pullbacks; whether the
    operation is linear where it is declared to be; rules called on arrays against the same rules built into IR; the
    facts inferred for every value of that IR; second order (``order=2``); float32 (``single``); and that arguments are
    left as they were. `constant` names the arguments that hold floating numbers and are not differentiated.
    """
    prim = fn if isinstance(fn, Prim) else lookup(fn)
    if prim is None:
        raise RuleLookupError(
            f"{fn!r} is not a primitive",
            remedy="pass a function that has rules, or register it with autodiff_compiler.primitive",
        )
    check = _Check(prim, args, kwargs or {}, constant, tolerance, np.random.default_rng(seed), prepare)
    check.run(check.slots, order, single)


def as_function(fn: Any, *args: Any, kwargs: dict[str, Any], constant: tuple[str, ...] = ()) -> tuple[Function, Any]:
    """A call of a primitive as a function of the numbers and arrays in it that may carry a derivative, and those."""
    prim = fn if isinstance(fn, Prim) else PRIMS[fn]
    return _Check(prim, args, kwargs, constant, 0.0, np.random.default_rng(0), None).call()


def dynamic(arg: Any) -> Iterator[Any]:
    """The numbers and arrays that may carry a derivative in a nested argument."""
    if isinstance(arg, (list, tuple)):
        for item in arg:
            yield from dynamic(item)
    elif is_float(arg):
        yield arg


def is_float(x: Any) -> bool:
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.kind in "fc"
    return isinstance(x, (float, complex))


def is_all_floats(arg: Any) -> bool:
    return all(map(is_all_floats, arg)) if isinstance(arg, (list, tuple)) else is_float(arg)


def only_floats(arg: Any) -> Any:
    """The nested argument with None in place of what cannot carry a derivative."""
    if isinstance(arg, (list, tuple)):
        return type(arg)(map(only_floats, arg))
    return arg if is_float(arg) else None


def replace(arg: Any, new: Iterator[Any]) -> Any:
    """The nested argument with its dynamic leaves taken from `new`."""
    if isinstance(arg, (list, tuple)):
        return type(arg)(replace(item, new) for item in arg)
    return next(new) if is_float(arg) else arg


def named(prim: Prim, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """The arguments with the names of the parameters that they bind."""
    out: list[tuple[str, Any]] = []
    for k, arg in enumerate(args):
        if k == len(prim.params):
            raise TypeError(f"{prim.name} has {k} arguments ({', '.join(prim.params)}), not {len(args)}")
        if prim.params[k].startswith("*"):
            return [*out, (prim.params[k], args[k:]), *kwargs.items()]
        out.append((prim.params[k], arg))
    return [*out, *kwargs.items()]


Slots = tuple[Any, ...]


def flat(arg: Any, bar: Any) -> list[tuple[Any, Any]]:
    """Pairs of dynamic leaves and their cotangents."""
    if isinstance(arg, (list, tuple)):
        if bar is None:
            bar = (None,) * len(arg)
        return [pair for item, part in zip(arg, bar, strict=True) for pair in flat(item, part)]
    return [(arg, bar)] if is_float(arg) or type(arg) is Value else []


class _Check:
    """One call of a primitive. `slots` holds those of its arguments that may carry a derivative, in order."""

    def __init__(
        self, prim: Prim, args: tuple[Any, ...], kwargs: dict[str, Any], constant: tuple[str, ...], tolerance: float,
        rng: np.random.Generator, prepare: Prepare | None,
    ):  # fmt: skip
        self.prim = prim
        self.given = named(prim, args, kwargs)
        self.positional = len(self.given) - len(kwargs)
        self.active = [name not in constant and any(True for _ in dynamic(arg)) for name, arg in self.given]
        self.slots: Slots = tuple([arg for (_, arg), active in zip(self.given, self.active) if active])
        self.tolerance = tolerance
        self.rng = rng
        self.prepare = prepare

    def bind(self, slots: Slots) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments and keywords of the call, with these in place of the original ones."""
        new = iter(slots)
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for k, ((name, arg), active) in enumerate(zip(self.given, self.active)):
            value = next(new) if active else arg
            if k >= self.positional:
                kwargs[name] = value
            elif name.startswith("*"):
                args += value
            else:
                args.append(value)
        return tuple(args), kwargs

    def run(self, args: Slots, order: int, single: bool) -> None:
        before = [np.array(x, copy=True) for x in dynamic(args)]
        out = self.value(args)
        g = self.cotangent(out)
        bars = self.reverse(g, out, args)
        self.compare_numeric(g, args, bars)
        self.compare_tangents(g, out, args, bars)
        self.compare_linear(args)
        self.compare_ir(g, out, args, bars, order)
        for x, old in zip(dynamic(args), before):
            if not np.array_equal(x, old, equal_nan=True):
                self.fail("an argument was changed")
        if single:
            self.single(args)

    def fail(self, text: str) -> None:
        raise RuleError(f"{self.prim.name}: {text}")

    def value(self, slots: Slots) -> Any:
        assert self.prim.fn is not None
        args, kwargs = self.bind(slots)
        with np.errstate(all="ignore"):
            return self.prim.fn(*args, **kwargs)

    def outputs(self, out: Any) -> list[Any]:
        return [out] if self.prim.nout == 1 else list(out)

    def cotangent(self, out: Any) -> Any:
        gs = []
        for o in self.outputs(out):
            g = self.direction(o)
            if isinstance(o, list):
                g = list(g)
            elif np.result_type(o).kind in "fc":
                g = g.astype(np.result_type(o))
            gs.append(g)
        return gs[0] if self.prim.nout == 1 else tuple(gs)

    def rule_bars(self, g: Any, out: Any, slots: Slots) -> list[tuple[Any, Any]]:
        """Leaves and cotangents as the rules give them, arguments in order."""
        args, kwargs = self.bind(slots)
        pairs: list[tuple[Any, Any]] = []
        for name, arg in zip(self.names(), slots):
            rule = record.pullback(self.prim, name)
            if rule is None:
                self.fail(f"no rule for argument {name!r}")
            else:
                pairs += flat(arg, rule(g, out, *args, **kwargs))
        return pairs

    def reverse(self, g: Any, out: Any, args: Slots) -> list[Any]:
        with np.errstate(all="ignore"):
            return [_reduced(bar, x) for x, bar in self.rule_bars(g, out, args)]

    # --- against differences --------------------------------------------------------------------------------------

    def pairing(self, g: Any, args: Slots) -> float:
        return sum(_dot(a, b) for a, b in zip(self.outputs(g), self.outputs(self.value(args))))

    def compare_numeric(self, g: Any, args: Slots, bars: list[Any]) -> None:
        xs = list(dynamic(args))
        for k, (x, bar) in enumerate(zip(xs, bars, strict=True)):

            def moved(v: Any, k: int = k) -> float:
                return self.pairing(g, replace(args, iter([*xs[:k], v, *xs[k + 1 :]])))

            want = numeric_gradient(moved, x)
            self.compare(bar, want, f"cotangent of operand {k}")
            if np.shape(bar) != np.shape(x):
                self.fail(f"the cotangent of operand {k} has shape {np.shape(bar)}, the operand {np.shape(x)}")

    def compare(self, have: Any, want: Any, what: str, tolerance: float | None = None) -> None:
        bound = tolerance or self.tolerance
        if not np.allclose(have, want, rtol=bound, atol=bound, equal_nan=True):
            self.fail(f"{what} is\n{have}\nbut should be\n{want}")

    # --- tangents -------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The parameters of the arguments that may carry a derivative."""
        return [name for (name, _), active in zip(self.given, self.active) if active]

    def compare_tangents(self, g: Any, out: Any, slots: Slots, bars: list[Any]) -> None:
        """By each argument, and by all of them: against differences, and against the pullbacks."""
        names = self.names()
        for chosen in [*([name] for name in names), names] if len(names) > 1 else [names]:
            moves = tuple(
                [replace(x, iter([self.move(leaf, n in chosen) for leaf in dynamic(x)])) for n, x in zip(names, slots)]
            )
            dots = {n: only_floats(d) for n, d in zip(names, moves) if n in chosen}
            t = self.tangent(out, slots, dots)
            if t is NotImplemented:
                continue
            what = f"tangent by {', '.join(chosen)}"
            want = self.slope(slots, moves)
            for part, slope, result in zip(t, want, self.outputs(out)):
                self.compare(part, slope, what)
                if np.shape(part) != np.shape(result):
                    self.fail(f"the {what} has shape {np.shape(part)}, the result {np.shape(result)}")
            forward = sum(_dot(a, b) for a, b in zip(self.outputs(g), t))
            terms = [_dot(bar, d) for bar, d in zip(bars, dynamic(moves), strict=True)]
            if not np.isclose(forward, sum(terms), rtol=1e-8, atol=1e-8 * max(1.0, *map(abs, terms)), equal_nan=True):
                self.fail(f"the {what}, times the cotangent, is {forward}; the pullback gives {sum(terms)}")

    def move(self, x: Any, moves: bool) -> Any:
        """A direction for a number or an array, in its kind and dtype."""
        d = self.direction(x) if moves else np.zeros(np.shape(x), np.result_type(x))
        return d.astype(x.dtype) if isinstance(x, np.ndarray) else type(x)(d)

    def tangent(self, out: Any, slots: Slots, dots: dict[str, Any]) -> Any:
        """The tangents of the results; NotImplemented if they come from a transposed pullback."""
        args, kwargs = self.bind(slots)
        with np.errstate(all="ignore"):
            found, rest = tangents.contributions(self.prim, out, args, kwargs, dots)
            if rest:
                return NotImplemented
            t = tangents.total(self.prim, found, out, dots)
        parts = [t] if self.prim.nout == 1 else t
        return [runtime.zeros(o) if part is None else part for part, o in zip(parts, self.outputs(out))]

    def slope(self, slots: Slots, moves: Slots, step: float = 1e-6) -> list[Any]:
        """The central differences of the results along a direction."""
        xs, ds = list(dynamic(slots)), list(dynamic(moves))
        sides = []
        for h in (step, -step):
            there = replace(slots, iter([x + h * d for x, d in zip(xs, ds)]))
            sides.append([np.asarray(o) for o in self.outputs(self.value(there))])
        return [(up - down) / (2 * step) for up, down in zip(*sides)]

    def compare_linear(self, slots: Slots) -> None:
        """The operation of a sum is the sum of the operations, in each group of arguments declared as linear."""
        names = self.names()
        for group in self.prim.linear:
            if not all(is_all_floats(arg) for name, arg in self.given if name in group):
                continue  # a number that is not moved stands among those that are
            both = []
            for _ in range(2):
                new = [replace(x, iter([self.move(leaf, True) for leaf in dynamic(x)])) for x in slots]
                both.append(tuple([y if n in group else x for n, x, y in zip(names, slots, new)]))
            xs, ys = (list(dynamic(s)) for s in both)
            chosen = [n in group for n, x in zip(names, slots) for _ in dynamic(x)]
            added = replace(slots, iter([x + 2 * y if c else x for c, x, y in zip(chosen, xs, ys)]))
            parts = [self.outputs(self.value(s)) for s in (added, *both)]
            for total, one, other in zip(*parts):
                self.compare(total, np.asarray(one) + 2 * np.asarray(other), f"sum, in which {group} are linear", 1e-9)

    # --- built into IR --------------------------------------------------------------------------------------------

    def emitted(self, b: Builder, slots: Slots) -> tuple[Slots, Any]:
        """The operation, made of parameters in place of the dynamic leaves: these arguments, and its results."""
        params = [parameter(b.region, x, f"x{k}") for k, x in enumerate(dynamic(slots))]
        new = replace(slots, iter(params))
        positional, kwargs = self.bind(new)
        return new, b.emit(self.prim, *positional, **kwargs)

    def call(self) -> tuple[Function, list[Any]]:
        """The primitive alone as a function of the dynamic leaves, and those."""
        body = Region()
        b = Builder(body)
        with b.active():
            _, out = self.emitted(b, self.slots)
        body.exit = tuple(self.outputs(out))
        return Function("operation", body), list(dynamic(self.slots))

    def build(self, g: Any, args: Slots) -> tuple[Function, list[Any]]:
        """The primitive and its rules as a function of the cotangents and the dynamic leaves, and those."""
        body = Region()
        b = Builder(body)
        if self.prepare is not None:
            self.prepare(b)
        with b.active():
            new, out = self.emitted(b, args)
            gs = []
            for value, item in zip(self.outputs(out), self.outputs(g)):
                t, given = value.type, type_of_constant(item)
                if t.kind != "list":
                    t = Ty("array", given.dtype, t.dims) if t.kind == "array" else given
                gs.append(body.param(t, "g"))
            pairs = self.rule_bars(gs[0] if self.prim.nout == 1 else tuple(gs), out, new)
            bars = [np.float64(0.0) if bar is None else b.emit(SUM_TO, bar, x) for x, bar in pairs]
        body.exit = (*bars, *self.outputs(out))
        return Function("rule", body), [*dynamic(args), *self.outputs(g)]

    def compare_ir(self, g: Any, out: Any, args: Slots, bars: list[Any], order: int) -> None:
        fn, inputs = self.build(g, args)
        verify(fn)
        with np.errstate(all="ignore"):
            found = interpret(fn, inputs)
            check_types(fn, inputs)
        for k, (have, want) in enumerate(zip(found, bars)):
            self.compare(have, want, f"cotangent of operand {k}, built into IR,", 1e-9)
        if order < 2:
            return
        count = len(bars)
        weights = [self.direction(bar) for bar in found[:count]]

        def pairing(values: list[Any]) -> float:
            with np.errstate(all="ignore"):
                return sum(_dot(w, r) for w, r in zip(weights, interpret(fn, values)))

        with np.errstate(all="ignore"):
            second = reverse_straight_line(fn, inputs, [*weights, *[None] * (len(fn.results) - count)])
        for k, x in enumerate(inputs):
            if not is_float(x) or isinstance(x, list):
                continue

            def moved(v: Any, k: int = k) -> float:
                return pairing([*inputs[:k], v, *inputs[k + 1 :]])

            want = numeric_gradient(moved, x)
            have = 0.0 if second[k] is None else second[k]
            self.compare(have, want, f"second derivative in input {k}", self.tolerance * 20)

    def direction(self, like: Any) -> Any:
        w: Any = self.rng.normal(size=np.shape(like))
        if np.iscomplexobj(like):
            w = w + 1j * self.rng.normal(size=np.shape(like))
        return w if isinstance(like, np.ndarray) else np.asarray(w)[()]

    # --- float32 --------------------------------------------------------------------------------------------------

    def single(self, args: Slots) -> None:
        """In float32 the gradient is float32, and near the one in float64."""
        xs = list(dynamic(args))
        if not xs or not all(isinstance(x, np.ndarray) and x.dtype in (np.float64, np.complex128) for x in xs):
            return
        small = replace(args, iter([x.astype(np.float32 if x.dtype == np.float64 else np.complex64) for x in xs]))
        big = replace(args, iter([x.astype(w.dtype) for x, w in zip(dynamic(small), xs)]))
        try:
            out, reference = self.value(small), self.value(big)
        except TypeError:
            return
        g = self.cotangent(out)
        g64 = (
            g.astype(np.result_type(reference))
            if self.prim.nout == 1
            else tuple([np.asarray(part, np.result_type(o)) for part, o in zip(g, reference)])
        )
        want = self.reverse(g64, reference, big)
        with np.errstate(all="ignore"):
            for k, ((x, bar), ref) in enumerate(zip(self.rule_bars(g, out, small), want)):
                if bar is None:
                    continue
                bar = runtime.sum_to(bar, x)
                if bar.dtype != x.dtype:
                    self.fail(f"the cotangent of operand {k} is {bar.dtype} for {x.dtype}")
                self.compare(bar, ref, f"float32 cotangent of operand {k}", 2e-2)
        fn, inputs = self.build(g, small)
        with np.errstate(all="ignore"):
            check_types(fn, inputs)


def _reduced(bar: Any, x: Any) -> Any:
    if bar is None:
        return np.zeros(np.shape(x), np.result_type(x))
    return runtime.sum_to(bar, x)


def _dot(g: Any, out: Any) -> float:
    if isinstance(out, list):
        return sum(_dot(a, b) for a, b in zip(g, out))
    return float(np.real(np.sum(np.asarray(g) * np.asarray(out))))


def numeric_gradient(f: Callable[[Any], float], x: Any, step: float = 1e-6) -> Any:
    """The gradient of a real function by central differences; for complex `x` it is df/dre - i df/dim."""
    base = np.array(x, copy=True)
    out = np.zeros(base.shape, base.dtype)

    def at(place: tuple[int, ...], change: Any) -> float:
        moved = base.copy()
        moved[place] += change
        if isinstance(x, np.ndarray):
            return f(moved)
        return f(moved[()] if isinstance(x, np.generic) else type(x)(moved[()]))

    for place in np.ndindex(base.shape):
        slope: Any = (at(place, step) - at(place, -step)) / (2 * step)
        if base.dtype.kind == "c":
            slope = slope - 1j * (at(place, step * 1j) - at(place, -step * 1j)) / (2 * step)
        out[place] = slope
    return out if isinstance(x, np.ndarray) else out[()]


def parameter(body: Region, x: Any, hint: str) -> Value:
    """A parameter with the facts that the compiler has of an argument like `x`."""
    if not isinstance(x, np.ndarray):
        return body.param(type_of_constant(x) if not isinstance(x, np.generic) else generic(x.dtype), hint)
    dims: list[int | Dim] = []
    for n in x.shape:
        if n == 1:
            dims.append(1)
        else:
            dim = body.dims.fresh()
            body.dims.mark_not_one(dim)
            body.dims.arg_roots.add(dim.root)
            dims.append(dim)
    return body.param(array(x.dtype, tuple(dims)), hint)


def reverse_straight_line(fn: Function, inputs: list[Any], seeds: list[Any]) -> list[Any]:
    """The cotangents of a function without control flow, its rules called on arrays: a plain second opinion."""
    env: dict[Value, Any] = dict(zip(fn.params, inputs))
    bars: dict[Value, Any] = {}

    def add(arg: Any, bar: Any) -> None:
        if isinstance(arg, (list, tuple)):
            for k, item in enumerate(arg):
                add(item, None if bar is None else bar[k])
        elif type(arg) is Value and bar is not None:
            bar = runtime.sum_to(bar, env[arg])
            bars[arg] = bar if arg not in bars else runtime.accum(bars[arg], bar)

    for op in fn.body.ops:
        _run(op, env)
    for out, seed in zip(fn.results, seeds):
        add(out, seed)
    for op in reversed(fn.body.ops):
        gs = [bars.get(r) for r in op.results]
        if all(g is None for g in gs):
            continue
        args, kwargs = map_leaves(env.__getitem__, op.args), map_leaves(env.__getitem__, op.kwargs)
        outs = [env[r] for r in op.results]
        for name, arg in named(op.prim, op.args, op.kwargs):
            if not any(v.type.may_be_float for v in leaves(arg)):
                continue
            rule = record.pullback(op.prim, name)
            if rule is None:
                if op.prim.nondiff:
                    continue
                raise RuleLookupError(
                    f"no rule for {op.prim.name} in {name!r}", remedy="register one with autodiff_compiler.vjp_rule"
                )
            nout = op.prim.nout
            add(arg, rule(gs[0] if nout == 1 else tuple(gs), outs[0] if nout == 1 else tuple(outs), *args, **kwargs))
    return [bars.get(p) for p in fn.params]


def _run(op: Op, env: dict[Value, Any]) -> None:
    assert op.prim.fn is not None
    found = op.prim.fn(*map_leaves(env.__getitem__, op.args), **map_leaves(env.__getitem__, op.kwargs))
    env.update(zip(op.results, [found] if op.prim.nout == 1 else found))


# --- facts ------------------------------------------------------------------------------------------------------------


def check_types(fn: Function, inputs: list[Any]) -> None:
    """Run a function without control flow and raise RuleError where a value does not have the facts of its type."""
    env: dict[Value, Any] = dict(zip(fn.params, inputs))
    lengths: dict[Any, int] = {}
    dims = fn.body.dims
    for v in fn.params:
        _hold(v.type, env[v], dims, lengths, f"parameter {v!r}")
    for op in fn.body.ops:
        _run(op, env)
        for v in op.results:
            _hold(v.type, env[v], dims, lengths, f"{op.prim.name} -> {v!r}")


def _hold(t: Ty, value: Any, dims: Any, lengths: dict[Any, int], what: str) -> None:
    wrong = broken_fact(t, value, dims, lengths)
    if wrong:
        raise RuleError(f"inferred type {t} of {what}: {wrong}, the value is {type(value).__name__} {value!r}")


def broken_fact(t: Ty, value: Any, dims: Any, lengths: dict[Any, int]) -> str:
    """What of the type is not true of the value, or nothing. `lengths` collects what symbolic lengths are."""
    kind = t.kind
    if kind == "list":
        if not isinstance(value, list):
            return "not a list"
        found = (broken_fact(t.elem, item, dims, {}) for item in value) if t.elem is not None else ()
        return next((f for f in found if f), "")
    if kind in ("shape", "object", "stack", "undef"):
        return "" if kind != "shape" or isinstance(value, tuple) else "not a tuple"
    python = isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
    if kind == "py" and not python:
        return "not a Python number"
    if kind == "generic" and not isinstance(value, np.generic):
        return "not a NumPy scalar"
    if kind == "scalar" and not (python or isinstance(value, np.generic)):
        return "not a scalar"
    if kind == "array" and not isinstance(value, np.ndarray):
        return "not an array"
    if (
        t.dtype is not None
        and not isinstance(value, (list, tuple))
        and np.result_type(value if not python else type(value)) != t.dtype
    ):
        return f"dtype {np.result_type(value)}"
    if t.dims is not None:
        shape = np.shape(value)
        if len(shape) != len(t.dims):
            return f"{len(shape)} axes"
        for d, n in zip(t.dims, shape):
            if not _length_holds(dims.find(d), n, lengths):
                return f"shape {shape} with lengths {lengths}"
            if n == 1 and dims.not_one(d):
                return "an axis of length 1 that should have another"
    if t.length is not None and not _length_holds(dims.find(t.length), int(value), lengths):
        return f"length {value}"
    return ""


def _length_holds(d: Any, n: int, lengths: dict[Any, int]) -> bool:
    if isinstance(d, int):
        return bool(d == n)
    if d.off and Dim(d.root) in lengths:
        return bool(max(lengths[Dim(d.root)] - d.off, 0) == n)
    if d.off:
        return bool(lengths.setdefault(d, n) == n)
    return bool(lengths.setdefault(d, n) == n)
