"""Compiled pullbacks and pushforwards of recordings.

The records between sources and targets become IR, which the compiler's reverse or forward transform differentiates.
Then the operations of the records are cut out. The recording has their values, which become parameters.
"""

from __future__ import annotations

import copy
import operator
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..codegen.emit import emit_function
from ..codegen.load import load
from ..collector import collector_paused
from ..errors import AutodiffError
from ..ir.core import DERIVED, Builder, Function, Loc, Op, Region, Value, leaves, type_of
from ..ir.opset import PRIMS
from ..ir.rewrite import clone_function, clone_op, replace_values, substitute, used_values
from ..ir.types import Dim, Dims, Ty, array, generic, length_of, type_of_constant
from ..locks import Lock
from ..transforms import pipeline
from ..transforms.batch import NotBatchedError, batch
from ..transforms.simplify import drop_dead
from .connect import Record, View, between, records_of
from .recording import BARRIER, LEAF, PULL, Reader, Recording, SlotRef, TrieNode, count_pullback

if TYPE_CHECKING:
    from .machine import Clock, Machine
    from .plan import Plan

FILE = "<tape>"  # the file in the `loc` of a recorded operation; its line is the first slot of the results
ADD = PRIMS[operator.add]
SUM = PRIMS[np.sum]
STEP = PRIMS[np.greater]


# Keeps a value from rewrites: another tape may have recorded the value but not the operation that made it.
OPAQUE = PRIMS[operator.pos]


class Pullback:
    """One compiled pullback, or pushforward.

    run:      the compiled function. It takes the values of the slots `needed`, then the seeds if `seeded`.
    fetch:    from the values of a recording, those of the slots `needed`.
    function: its IR before stores in place, to be differentiated again.
    source:   its text.
    complex:  a result may be complex.
    machine, clock: for tapes with other backends, see `machine`.
    asked:    how often it was run for the usual gradient. plan: the plan for that, see `plan`.
    """

    __slots__ = (
        "run", "needed", "fetch", "seeded", "function", "source", "dims", "leaves", "complex", "ask", "machine",
        "clock", "lock", "asked", "plan", "_depends", "_stacked",
    )  # fmt: skip

    def __init__(
        self, function: Function, needed: tuple[int, ...], seeded: bool, dims: Dims, sizes: list[tuple[Any, Ty]]
    ):
        self.ask: Request | None = None  # the request that it was made for
        self.machine: Machine | None = None
        self.clock: Clock | None = None
        self.lock = Lock()
        self.asked = 0
        self.plan: Plan | None = None
        self._stacked: Pullback | bool = True
        self.needed = needed
        self.fetch: Callable[[list[Any]], tuple[Any, ...]] = fetcher(needed)
        self.seeded = seeded
        self.function = function
        self._depends: tuple[tuple[int, ...], ...] | None = None
        self.complex = any(type_of(g).dtype is None or type_of(g).dtype.kind == "c" for g in function.results)  # type: ignore[union-attr]
        self.dims = dims.conditions()
        self.leaves = [t for _, t in sizes]
        analysis = pipeline.restore_in_place(function, before_change=self._keep)
        emitted = emit_function(function, analysis, "pullback", quick=True)
        self.source = emitted.source
        self.run = load(emitted.source, emitted.name, emitted.objects)

    def _keep(self) -> None:
        self.function, _ = clone_function(self.function)

    @property
    def depends(self) -> tuple[tuple[int, ...], ...]:
        """For each result, the positions of the parameters on which it depends differentiably."""
        if self._depends is None:
            self._depends = dependence(self.function, self.ask is not None and not self.ask.node.masks)
        return self._depends

    def stacked(self) -> Pullback | None:
        """The pullback of a stack of cotangents. Seeds and results have one more axis in front.

        None if an operation has no batching rule.
        """
        if self._stacked is True:
            with Request.lock, collector_paused():
                first = len(self.needed)
                try:
                    function = batch(self.function, set(range(first, len(self.function.params))))
                    made = Pullback(function, self.needed, True, function.body.dims, [])
                    made.ask, made.leaves = self.ask, self.leaves
                    self._stacked = made
                except NotBatchedError:
                    self._stacked = False
        return self._stacked or None  # type: ignore[return-value]

    def accepts(self, values: Sequence[Any]) -> bool:
        """It may be run for these leaves, too: their kinds, dtypes and lengths fit what it was compiled for."""
        lengths: dict[int, int] = {}
        for v, t in zip(values, self.leaves):
            if type(v) is not np.ndarray:
                if t.kind == "array" or not same_kind(v, t):
                    return False
                continue
            if t.kind != "array" or v.dtype != t.dtype or t.dims is None or len(t.dims) != v.ndim:
                return False
            for d, n in zip(t.dims, v.shape):
                if isinstance(d, Dim):
                    if n < 2:
                        return False
                    lengths[d.root] = n
                elif d != n:
                    return False
        return self.dims.hold(lengths) and all(
            length_of(a, lengths) == length_of(b, lengths) for a, b in self.dims.constraints
        )


def same_kind(v: Any, t: Ty) -> bool:
    known = type_of_constant(v)
    return known.kind == t.kind and known.dtype == t.dtype


def has_axes(value: Any) -> bool:
    return type(value) is np.ndarray and value.ndim > 0


def kinds(slots: tuple[tuple[int, bool], ...]) -> list[str]:
    """Texts that compute the key of a compiled pullback from the values of a recording.

    The key has the shape and dtype of each array in these slots, and the class of each other value.
    """
    out = []
    for s, axes in slots:
        out += [f"values[{s}].shape", f"values[{s}].dtype"] if axes else [f"values[{s}].__class__"]
    return out


def fetcher(slots: tuple[int, ...]) -> Callable[[list[Any]], tuple[Any, ...]]:
    """A function from the values of a recording to the tuple of those in these slots."""
    if len(slots) > 1:
        return operator.itemgetter(*slots)
    if slots:
        (only,) = slots
        return lambda values: (values[only],)
    return lambda values: ()


class Request:
    """A request for the gradient of some slots by others in one structure, with the pullbacks compiled for it.

    Parameters
    ----------
    targets: the slots whose sum is differentiated. If `seeded`, the seeds are their cotangents.
    sources: the slots to differentiate by.
    records, alive: the records of the tape, and the slots that carry a derivative for it (see `records_of`).
    forward: a pushforward is asked for: the seeds are the tangents of the sources, the results those of the targets.
    opaque: another tape will record the pullback, and it may have recorded only a part of the records.
    """

    __slots__ = (
        "node", "targets", "sources", "seeded", "forward", "opaque", "plain", "records", "reached", "leaf_slots",
        "fetch", "open", "kinds", "kind_of", "exact", "found",
    )  # fmt: skip
    lock = Lock()

    def __init__(
        self,
        node: TrieNode,
        targets: tuple[int, ...],
        sources: tuple[int, ...],
        seeded: bool,
        records: list[Record],
        alive: set[int],
        opaque: bool = False,
        forward: bool = False,
    ):
        self.forward = forward
        self.opaque = opaque
        self.plain = False
        self.node = node
        self.targets = targets
        self.seeded = seeded
        wanted = {s for s in sources if s in alive or s in targets}
        self.records, reached = between(records, wanted, set(targets))
        self.sources = tuple(dict.fromkeys(s for s in sources if s in reached))
        self.reached = reached
        self.leaf_slots: tuple[int, ...] | None = None
        self.fetch: Callable[[list[Any]], tuple[Any, ...]] = fetcher(())
        # Leaves whose types are not part of the structure, and whether they were arrays with axes at the first request.
        self.open: tuple[tuple[int, bool], ...] = ()
        self.kinds: list[str] = []
        self.kind_of: Callable[[list[Any]], Any] = fetcher(())
        self.exact: dict[Any, Pullback] = {}
        self.found: list[Pullback] = []

    @property
    def results(self) -> tuple[int, ...]:
        """The slots whose cotangents or tangents are the results."""
        return self.targets if self.forward else self.sources

    def plainly(self) -> Request:
        """The same request without rewrites. Its pullback reads the values that the rules of the records read."""
        made = copy.copy(self)
        made.plain = True
        made.leaf_slots, made.exact, made.found = None, {}, []
        return made

    def pullback(self, values: list[Any]) -> Pullback:
        """The pullback for these values, compiled unless there is one that accepts them."""
        if self.leaf_slots is not None:
            try:
                return self.exact[self.kind_of(values)]
            except (KeyError, AttributeError):
                pass
        return self._make(values)

    def _make(self, values: list[Any]) -> Pullback:
        with self.lock, collector_paused():
            if self.leaf_slots is not None:
                given = self.fetch(values)
                for known in self.found:
                    if known.accepts(given):
                        self._keep(values, known)
                        return known
            build = _Build(self, values)
            made = build.pullback
            made.ask = self
            count_pullback()
            if self.leaf_slots is None:
                typed = {n.last for n in self.node.path() if n.key[0] == LEAF and n.key[3] is not None}
                self.fetch = fetcher(build.leaf_slots)
                self.open = tuple([(s, has_axes(values[s])) for s in build.leaf_slots if s not in typed])
                self.kinds = kinds(self.open)
                key = "".join(f"{part}, " for part in self.kinds)
                self.kind_of = load(f"def kinds(values):\n    return ({key})\n", "kinds")
                self.leaf_slots = build.leaf_slots
            self._keep(values, made)
            self.found.append(made)
            return made

    def _keep(self, values: list[Any], made: Pullback) -> None:
        # `kind_of` is made for the leaves of the first request. Where these were arrays, it does not tell a number from
        # an array without axes. Where they were numbers, it does not look at the shapes of arrays.
        if any(not has_axes(values[s]) if axes else type(values[s]) is np.ndarray for s, axes in self.open):
            return
        if len(self.exact) > 4096:
            self.exact.clear()
        self.exact[self.kind_of(values)] = made


def request(
    rec: Recording, targets: tuple[int, ...], sources: tuple[int, ...], view: View, seeded: bool = False,
    opaque: bool = False,
) -> Request:  # fmt: skip
    """The request for these slots in the structure that the recording has reached. See `Request`."""
    key = (targets, sources, view.spans, view.watched, view.auto, seeded, opaque)
    node = rec.node
    found = node.pulls.get(key)
    if found is None:
        records, alive = records_of(node, view, rec.values)
        found = node.pulls[key] = Request(node, targets, sources, seeded, records, alive, opaque)
    return found


def type_of_leaf(value: Any, dims: Dims) -> Ty:
    """The type of a value. Lengths 0 and 1 are part of it; other lengths are symbolic."""
    if type(value) is not np.ndarray:
        return generic(value.dtype) if isinstance(value, np.generic) else type_of_constant(value)
    axes: list[Any] = []
    for n in value.shape:
        if n < 2:
            axes.append(n)
            continue
        axis = dims.fresh()
        dims.mark_not_one(axis)
        dims.arg_roots.add(axis.root)
        dims.lengths[axis.root] = n
        axes.append(axis)
    return array(value.dtype, tuple(axes))


class _Build:
    """Builds the IR of the records of a request, and compiles the pullback."""

    def __init__(self, ask: Request, values: list[Any]):
        self.values = values
        self.opaque, self.plain = ask.opaque, ask.plain
        self.body = Region()
        self.b = Builder(self.body)
        self.env: dict[int, Value] = {}
        self.sizes: list[tuple[Any, Ty]] = []
        self.leaves: list[int] = []
        self.fake: dict[Value, int] = {}  # parameters made by `perturbed`, with the slots of their sources
        self.names = names_of(ask.node)
        wanted = set(ask.sources)
        sources: dict[int, Value] = {}
        for record in ask.records:
            self.add(record)
            for slot in record.results:
                if slot in wanted:
                    sources[slot] = self.perturbed(slot)
        for slot in ask.sources:
            if slot not in sources:
                sources[slot] = self.value(slot)
        exits = [self.value(t) for t in ask.targets if t in self.env or t in sources]  # the others depend on no source
        fn = Function("pullback", self.body, {})
        wrt = [self.body.params.index(sources[s]) for s in ask.sources]
        try:
            out = self.pushed(fn, wrt, exits) if ask.forward else self.pulled(fn, wrt, exits, ask)
        except AutodiffError as error:  # its location is a slot, which means nothing to the user
            raise type(error)(error.message, None, error.remedy) from None
        needed = self.cut(out, [self.fake.get(p, slot) for p, slot in self.param_slots()])
        self.leaf_slots = tuple(self.leaves)
        self.pullback = Pullback(out, needed, ask.seeded, out.body.dims, self.sizes)

    def pulled(self, fn: Function, wrt: list[int], exits: list[Value], ask: Request) -> Function:
        """The adjoint."""
        seeds: list[Any] = []
        for k, v in enumerate(exits):
            seeds.append(None if ask.seeded else 1.0)
            if not ask.seeded and v.type.dims != ():
                self.b.loc = None
                exits[k] = self.b.emit(SUM, v)
        self.body.exit = tuple(exits)
        out = pipeline.adjoint(fn, wrt, seeds=seeds, use_up=True, optimise=not ask.plain, masks=ask.node.masks)
        out.meta["wrt"] = wrt
        pipeline.finish(out, len(wrt))
        return out

    def pushed(self, fn: Function, wrt: list[int], exits: list[Value]) -> Function:
        """The tangents of the targets, without their values."""
        self.body.exit = tuple(exits)
        out = pipeline.pushforward(fn, wrt, marked=True)
        out.body.exit = out.body.exit[len(exits) :]
        out.meta["seed_params"] = len(wrt)
        return out

    def param_slots(self) -> list[tuple[Value, int]]:
        slot_of = {v: s for s, v in self.env.items()}
        return [(p, slot_of.get(p, -1)) for p in self.body.params]

    def name(self, slot: int) -> str:
        return self.names.get(slot) or f"v{slot}"

    def value(self, slot: int) -> Value:
        """The IR value of a slot. If no record of the request makes it, it is a parameter."""
        found = self.env.get(slot)
        if found is None:
            t = type_of_leaf(self.values[slot], self.body.dims)
            found = self.env[slot] = self.body.param(t, self.name(slot))
            self.leaves.append(slot)
            self.sizes.append((slot, t))
        return found

    def perturbed(self, slot: int) -> Value:
        """Add a parameter to the intermediate result in this slot. Its cotangent is that of the result."""
        v = self.env[slot]
        p = self.body.param(v.type, self.name(slot))
        self.fake[p] = slot
        self.b.loc = Loc(FILE, slot, 1, 1)
        self.env[slot] = self.b.emit(ADD, v, p)
        self.env[slot].type = v.type
        return p

    def add(self, record: Record) -> None:
        if self.plain:
            self.b = Builder(self.body)  # a new one does not merge equal operations of two records
        head = record.node.key[0]
        assert head != BARRIER
        if head == PULL:
            self.inline(record)
            return
        prim, args, kwargs, results = Reader(record.node).operands()
        args, kwargs = self.operands(args), self.operands(kwargs)
        self.b.loc = Loc(FILE, results[0], 0, 0)
        out = self.b.emit(prim, *args, **kwargs)
        for slot, v in zip(results, (out,) if prim.nout == 1 else out):
            self.refine(v, self.values[slot])
            self.env[slot] = self.b.emit(OPAQUE, v) if self.opaque else v

    def operands(self, arg: Any) -> Any:
        if type(arg) is SlotRef:
            return self.value(arg.number)
        if isinstance(arg, tuple):
            return tuple([self.operands(a) for a in arg])
        if isinstance(arg, list):
            return [self.operands(a) for a in arg]
        if isinstance(arg, dict):
            return {k: self.operands(a) for k, a in arg.items()}
        if isinstance(arg, slice):
            return slice(*[self.operands(a) for a in (arg.start, arg.stop, arg.step)])
        return arg

    def refine(self, v: Value, value: Any) -> None:
        """Where inference does not know a type, take it from the recorded value.

        That is sound, since the types of the leaves determine it.
        """
        t = v.type
        if isinstance(value, np.ndarray):
            if t.kind != "array" or t.dtype is None or t.dims is None or len(t.dims) != value.ndim:
                known = t.dims is not None and len(t.dims) == value.ndim
                dims = t.dims if known else tuple([self.body.dims.fresh() for _ in value.shape])
                v.type = array(value.dtype, dims)
        elif isinstance(value, np.generic):
            v.type = generic(value.dtype)

    def inline(self, record: Record) -> None:
        """Add the operations of a pullback that was itself recorded."""
        key = record.node.key
        reader = Reader(record.node)
        operands = [self.value(reader.read(a).number) for a in key[2:]]
        inner: Function = key[1].function
        mapping: dict[Value, Any] = dict(zip(inner.params, operands))
        self.b.loc = None
        for op in inner.body.ops:
            if op.regions:
                new = clone_op(op, mapping, self.body)
                new.loc = None
                for made in [*new.results, *[v for r in new.regions for o in r.walk() for v in o.results]]:
                    made.type = Ty(made.type.kind, made.type.dtype, None)  # its symbolic lengths are not those here
                continue
            # Built anew, so that inference finds the symbolic lengths of this function.
            out = self.b.emit(op.prim, *substitute(op.args, mapping), **substitute(op.kwargs, mapping))
            mapping.update(zip(op.results, (out,) if op.prim.nout == 1 else out))
        for slot, out in zip(record.results, inner.results):
            v = mapping.get(out, out) if type(out) is Value else out
            if type(v) is not Value:
                continue  # a constant: nothing depends on it
            self.refine(v, self.values[slot])
            self.env[slot] = v

    def cut(self, fn: Function, slots: list[int]) -> tuple[int, ...]:
        """Replace the forward operations by parameters for the values of their slots.

        Gives the slots of the parameters in front of the seeds, in order.
        """
        body = fn.body
        seeds = fn.meta["seed_params"]
        count = len(body.params) - seeds
        by_slot: dict[int, Value] = {}
        mapping: dict[Value, Any] = {}
        params: list[Value] = []
        for p, slot in zip(body.params[:count], slots):
            if slot in by_slot:
                mapping[p] = by_slot[slot]
                continue
            by_slot[slot] = p
            params.append(p)
        ops: list[Op] = []
        for op in body.ops:
            if op.tag == DERIVED:
                ops.append(op)
                continue
            op.droppable = not op.prim.effects
            recorded = op.loc is not None and op.loc.file == FILE
            if not (recorded and op.droppable):
                ops.append(op)
            for k, result in enumerate(op.results if recorded else ()):
                slot = op.loc.line + k  # type: ignore[union-attr]
                known = by_slot.get(slot)
                if known is None:
                    known = by_slot[slot] = Value(result.type, self.name(slot), None, body)
                    params.append(known)
                mapping[result] = known
        body.ops[:] = ops
        body.params[:count] = params
        replace_values(body, mapping)
        drop_dead(fn)
        used = used_values(body)
        slot_of = {v: s for s, v in by_slot.items()}
        kept = [p for p in params if p in used]
        body.params[: len(params)] = kept
        fn.meta.pop("wrt", None)
        return tuple([slot_of[p] for p in kept])


def dependence(fn: Function, steps: bool = False) -> tuple[tuple[int, ...], ...]:
    """For each result, the positions of the parameters on which it depends differentiably.

    steps: the step in relu's rule counts as differentiable, with derivative zero, as in TensorFlow. (A comparison of
    the program itself is a parameter here.)
    """
    found: dict[Value, frozenset[int]] = {p: frozenset([k]) for k, p in enumerate(fn.params)}
    nothing: frozenset[int] = frozenset()

    def visit(op: Op) -> frozenset[int]:
        if op.prim.nondiff and not (steps and op.prim is STEP):
            return nothing
        skip = op.prim.shape_only
        operands = leaves([a for k, a in enumerate(op.args) if k not in skip] + [op.kwargs])
        out = frozenset().union(*[found.get(v, nothing) for v in operands])
        for region in op.regions:
            for param in region.params:
                found[param] = out
            for inner in region.ops:
                got = visit(inner)
                out |= got
                found.update(dict.fromkeys(inner.results, got))
            out |= frozenset().union(*[found.get(v, nothing) for v in leaves(region.exit)])
        return out

    for op in fn.body.ops:
        got = visit(op)
        for r in op.results:
            found[r] = got if r.type.may_be_float or op.prim is STEP else nothing
    return tuple([tuple(sorted(found.get(v, nothing))) if type(v) is Value else () for v in fn.results])


def names_of(node: TrieNode) -> dict[int, str]:
    """The names of variables, by slot."""
    out: dict[int, str] = {}
    for step in node.path():
        if step.key[0] == "leaf" and step.key[1]:
            # Python reads identifiers in this normal form.
            out[step.count - 1] = unicodedata.normalize("NFKC", step.key[1])
    return out


__all__ = ["NotBatchedError", "Pullback", "Request", "request"]
