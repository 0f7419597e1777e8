"""The base of the abstract interpreter: frames, names, the heap, and the way to emit operations."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from ..errors import LOCATED, AliasError, ArgumentError, AutodiffError, UnsupportedError, is_interruption
from ..ir.budget import Budget, current
from ..ir.core import Builder, Loc, Op, Prim, Region, Value, type_of
from ..ir.foreign import GENERATOR, immutable_classes, loaded
from ..ir.opset import BUILD, COPY, DTYPE, GET, PRIMS, RAISE, SET, TUPLE, exception, infer_step, opaque
from ..ir.sites import STOP
from ..ir.types import Dims
from ..late import late
from ..lowered import is_of_python
from .avals import (
    Columns,
    Conflict,
    DictRef,
    Entries,
    Instance,
    ItemOf,
    Items,
    ListRef,
    Maybe,
    Obj,
    Origin,
    Overwritten,
    Poison,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    describe,
    is_constant,
    items_in,
    leaves_of,
    remedy_of,
)
from .ducks import refuse_duck_store
from .exits import DEAD, NORMAL
from .frames import Frame
from .handlers import Node, Val
from .inputs import Inputs
from .layout import order_like
from .observe import observed
from .own_code import objects_among
from .parts import Parts
from .plan import Plan, original
from .state import LIVE, BranchJoiner, Cells, State, emit_if
from .structures import LEAF, holds_lists

if TYPE_CHECKING:
    from .journal import Journal

demand, prefer_known = late(__package__, "causes", "demand", "prefer_known")
may_raise = late(__package__, "journal", "may_raise")
normalizer_of = late(__package__, "normal_form", "Normalizer")

T = TypeVar("T")


class Unreachable(Exception):
    """What is being lowered always raises: nothing after it runs."""


class Core(Parts):
    """What all parts of the interpreter share."""

    node: Any = None  # the syntax node of the call that a handler lowers, and the object that is called
    callee: Any = None

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.activations: list[Any] = []  # functions being inlined: tree, frame of definition, form of the arguments
        self.recursions: list[Any] = []  # the functions that call themselves being lowered
        self.limits: list[int] = []
        self.inlined_again = 0
        self.top = self.func_top = Region(Dims())
        self.func_scope = 1
        self.builder = Builder(self.top)
        self.builder.watch = self.may_raise_here
        self.cells = Cells()
        self.budget = current() or Budget("", None)
        # See `outside.Outside`: cells of which something was kept outside, and where; what containers are there.
        self.frozen: dict[int, Loc] = {}
        self.kept_as: dict[int, tuple[str, Any]] = {}
        self.kept_copies: dict[int, Any] = {}
        self.appended: dict[int, Any] = {}
        self.disturbed: dict[int, tuple[str, Loc]] = {}  # see `disturbed`
        self.live_objects: dict[Value, list[Any]] = {}  # the live objects that values are, or hold
        self.read_cells: set[int] = set()
        self.mirrored: int | None = None  # a list of which the next change has been done outside already
        self.wanted = self.plan.statements
        self.inputs = Inputs(self.top, self.cells, self.plan)
        self.state = State()
        self.frames: dict[int, Frame] = {}
        self.frame: Frame = None  # type: ignore[assignment]
        self.env_count = 0
        self.codes: dict[Value, frozenset[int]] = {}  # the exit codes that a dynamic code may have
        self.stored: set[int] = set()  # the inputs that are written to
        self.sources: dict[str, None] = {}
        self.functions: dict[Any, None] = {}  # those that were inlined
        self.caching: list[Any] = []  # functions under `functools.lru_cache` that are being inlined
        self.cached_keys: dict[Any, Any] = {}  # what such functions were called with, where that is constant
        self.histories: dict[Any, Any] = {}  # of sets: by the step that was done last
        self.flats: dict[int, Ref] = {}  # what ``.flat`` gave, by identity
        self.resized: list[int] = []  # the lists that were given other items, in order
        self.loop_memo: dict[Any, Any] = {}
        self.said: dict[Any, dict[str, Any]] = {}  # by loops being lowered, how they are reversed, if not as others
        self.assuming: list[Any] = []  # the loops being lowered of which it is not known yet what they rebind
        self.stack: list[Any] = []  # the functions being inlined
        self.journals: list[Journal] = []  # of the bodies of ``try`` statements being lowered
        self.exact = False  # within one of which each statement is lowered so that the state where it raises is known
        self.errors: set[Value] = set()  # values that are exceptions
        self.catching = 0  # how many of them may catch what is raised
        self.left: Any = NORMAL  # the exit code of the generator lowered last
        self.on_yield: Callable[[Any], Any] | None = None  # what a `yield` of the generator called next stands for
        self.suspended: set[int] = set()  # the scopes of generators that wait at a `yield`
        self.handling: list[Any] = []  # the exceptions that handlers being lowered handle
        # Names (with their scopes) and cells that are read, while somebody wants to know.
        self.reads: set[Any] | None = None
        self.exposed: set[tuple[int, str]] = set()  # names (with their scopes) that were read, and maybe not bound
        self.memos: set[int] = set()  # dictionaries that deepcopy() was given
        self.copying: dict[int, Any] = {}  # the copies that go with the memo which a ``__deepcopy__`` is given
        self.arms: set[Region] = set()  # of branches and handlers: what is in them may never run
        self.moved: dict[int, Any] = {}  # by identity: statements that follow a branch, and are lowered in an arm
        self.facts: dict[Value, bool] = {}  # conditions, by how they came out on the present path
        self.known_objects: dict[Value, Any] = {}  # what was seen of objects: the last part of their facts
        self.known: dict[Value, bool] = {}  # comparisons of constants that give NumPy's bool: its truth

    @functools.cached_property
    def normalizer(self) -> Any:
        return normalizer_of(self.wanted)

    def wants(self, node: Any) -> bool:
        """Something in the expression is to become a statement."""
        return bool(self.wanted) and bool(self.normalizer.wants(node))

    # --- locations and errors -------------------------------------------------------------------------------------

    def loc_of(self, node: Any) -> Loc:
        """The place of a node; of the user's call, where it is in the standard library."""
        frame: Any = self.frame
        if frame.site is not None:
            return frame.site  # type: ignore[no-any-return]
        while is_of_python(frame.file) and frame.caller is not None and hasattr(frame.call[0], "lineno"):
            node, frame = frame.call[0], frame.caller
        end = node.end_col_offset if node.end_lineno == node.lineno else -1
        loc = Loc(frame.file, node.lineno, node.col_offset, end if end is not None else -1, frame.name)
        if frame.called_at is not None:
            loc.caller = frame.called_at
        return loc

    def copy(self, kind: str, node: Node, name: str) -> AbstractContextManager[None]:
        """What is lowered in here is one more copy: of a loop's body, a helper, or what follows a branch."""
        return self.budget.copy(kind, original(node), name, self.loc_of(node))

    def at(self, node: Node) -> None:
        if node is not None and hasattr(node, "lineno"):
            self.builder.loc = self.loc_of(node)

    def fail(
        self,
        message: str,
        node: Node = None,
        remedy: str = "",
        error: type[AutodiffError] = UnsupportedError,
        cause: Any = None,
    ) -> NoReturn:
        """Raise the error, unless what causes it goes away where more is known: then start again."""
        loc = self.loc_of(node) if node is not None and hasattr(node, "lineno") else self.builder.loc
        if loc is not None and loc.file != self.frame.file and is_of_python(self.frame.file):
            message = f"{message} (in {self.frame.name!r} of Python's own library)"
        made = error(message, loc, remedy)
        if cause is not None:
            demand(self, cause, made)
        raise made

    def raises(self, error: type[Exception], arg: Any, node: Node, message: str = "", remedy: str = "") -> NoReturn:
        """What Python raises here, ``error(arg)``: when the program runs, if it gets here. Where it surely does, it is
        an error now."""
        located = next((LOCATED[c] for c in error.__mro__ if c in LOCATED), None)
        if located is not None and self.builder.region is self.top:
            self.fail(message or str(arg), node, remedy, located)
        made = self.emit(node, exception(error), *([] if arg is None else [arg]))
        self.emit(node, RAISE, made)
        raise Unreachable

    def folded(self, fn: Callable[..., Any], args: list[Val], kwargs: dict[str, Val], node: Node) -> Any:
        """A call on constants, made now. The hash of a string is another in each process, so it is asked for then."""
        if getattr(fn, "__name__", "") == "__hash__":
            return self.emit(node, opaque(hash, "hash"), *(args or [getattr(fn, "__self__", None)]))
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            if is_interruption(error):
                raise
            self.raises(type(error), error.args[0] if error.args else None, node)

    # --- emitting -------------------------------------------------------------------------------------------------

    def emit(self, node: Node, prim: Prim, *args: Val, **kwargs: Val) -> Val:
        self.at(node)
        if self.caching and prim.effects and prim is not RAISE:
            self.impure(self.caching[-1])
        objects = objects_among(self.live_objects, (*args, *kwargs.values()))
        if objects:
            self.handed_to(prim, objects, node)
        try:
            made = self.builder.emit(prim, *args, **kwargs)
            if objects and type(made) is Value and made.type.kind in ("object", "any", "list"):
                self.live_objects[made] = objects
            return observed(self, made, prim, node) if self.plan.watch is not None and type(made) is Value else made
        except AutodiffError:
            raise
        except (TypeError, ValueError, IndexError, AttributeError, AssertionError) as error:
            if is_interruption(error):
                raise
            self.fail(f"cannot lower this call of {prim.name}: {error}", node, "", ArgumentError)

    def fresh(self, value: Val, numpy: bool = True, contiguous: bool = False, like: Any = None) -> Any:
        """The abstract value for a result that shares memory with nothing; it is laid out in memory as `like` are."""
        if type(value) is not Value or value.type.is_scalar or value.type.kind in ("shape", "object", "stack"):
            return value
        if value.type.kind == "list":
            return ListRef(self.new_cell(Columns(LEAF, (value,), True)))
        cell = self.new_cell(value)
        if numpy:
            self.cells.numpy.add(cell)
        if contiguous or (value.type.ndim == 1 and value.type.kind == "array"):
            self.cells.contiguous.add(cell)
        elif like is not None and value.type.kind == "array":
            order_like(self, cell, like)
        return Ref(cell)

    def linked(self, value: Val, sources: list[Any], numpy: bool = True, cause: Any = None) -> Any:
        """The abstract value for a result that may share memory with the sources."""
        av = self.fresh(value, numpy)
        if type(av) in (Ref, ListRef):
            self.cells.contiguous.discard(av.cell)
            self.share(av.cell, self.cells_in(sources), cause)
        return av

    def share(self, cell: int, others: Iterable[int], cause: Any = None) -> None:
        """A cell may share memory with these, and so may be of the same inputs."""
        for other in others:
            self.state.link_view(cell, other, cause)
        self.cells.derive(cell, others)

    def cells_in(self, avs: Any) -> list[int]:
        """The cells of the arrays in these values, containers searched."""
        out: list[int] = []
        todo = list(avs)
        seen: set[int] = set()
        for av in todo:  # which grows on the way
            for leaf in leaves_of(av):
                if type(leaf) is Value or leaf.cell in seen:
                    continue
                seen.add(leaf.cell)
                out.append(leaf.cell)
                todo += items_in(self.held(leaf.cell))
        return out

    def is_observed(self, av: Val) -> bool:
        """An object of which only the run tells what it is."""
        return self.plan.watch is not None and type(av) is Value and av.type.kind == "object"

    def is_observing(self) -> bool:
        """What is lowered is run to see what values are."""
        return self.plan.watch is not None and self.plan.watch.observing

    def end_of_run(self, node: Node) -> int:
        """The end of a run that observes, where the lowering fails: what comes before can be run, and tells more."""
        self.emit(node, STOP)
        self.emit(node, RAISE, self.emit(node, exception(RuntimeError)))
        return DEAD

    # --- what exceptions leave behind -------------------------------------------------------------------------------

    def may_raise_here(self, op: Op) -> None:
        """An operation was appended: if it raises, handlers find what the state is now."""
        now: State | None = None
        for journal in self.journals:
            if not op.regions and may_raise(op, journal.floating):
                now = now or self.state.fork()
                journal.points.append((op, now))

    def half_done(self, cell: int, floating: bool = False) -> None:
        """What is done next to this may be done in part when it raises; `floating`: when a floating point error does,
        of which NumPy tells when it has written."""
        for journal in self.journals:
            if journal.floating or not floating:
                journal.half.update((cell, *self.state.links.get(cell, ())))

    # --- heap -----------------------------------------------------------------------------------------------------

    def new_cell(self, content: Any) -> int:
        """A cell that holds this."""
        cell = self.cells.new()
        self.state.heap[cell] = content
        return cell

    def in_state(self, state: State, compute: Callable[[], T]) -> T:
        """What `compute` gives in another state."""
        present, self.state = self.state, state
        try:
            return compute()
        finally:
            self.state = present

    def held(self, cell: int) -> Any:
        """What a cell holds now, or of which list it is an item."""
        if self.reads is not None:
            self.reads.add(cell)
        found = self.state.heap.get(cell)
        if found is None:
            found = self.inputs.initial[cell]
            self.state.heap[cell] = found
        return found

    def reading(self, compute: Callable[[], Any]) -> tuple[Any, set[Any]]:
        """What `compute` gives, and the names (with their scopes) and cells that it reads."""
        before, found = self.reads, set[Any]()
        self.reads = found
        try:
            return compute(), found
        finally:
            self.reads = before
            if before is not None:
                before |= found

    def content(self, cell: int) -> Any:
        """What a cell holds now."""
        found = self.held(cell)
        return self.resolved(found) if type(found) is ItemOf else found

    def checked(self, cell: int, node: Node, what: str = "array") -> Any:
        """What a cell holds now; an error if that is not known."""
        content = self.content(cell)
        if isinstance(content, Poison):
            self.poisoned(content, node, what)
        return content

    def poisoned(self, content: Poison, node: Node, what: str) -> NoReturn:
        if content.remedy:
            self.fail(f"this {what} {content.why}", node, content.remedy, cause=content)
        if type(content) is Overwritten:
            self.fail(f"this {what} {content.why}", node, "give the call a copy: a.copy()", AliasError, content)
        where, remedy, store = "", "make both paths agree, or copy with .copy()", content.store
        if store is not None:
            unknown = "whether that store changed it is not known when the program is compiled"
            where = f" in line {store.line} ({store.file}); {unknown}"
            remedy = "copy one of the two with .copy() before the store, so that they are surely separate"
        self.fail(f"unprovable alias: this {what} {content.why}{where}", node, remedy, AliasError, content)

    def read(self, ref: Ref, node: Node = None) -> Value:
        """The array that a reference is now."""
        base = self.checked(ref.cell, node)
        if not ref.path:
            return base  # type: ignore[no-any-return]
        part = self.emit(node, GET, base, ref.path)
        if not part.hint:
            part.hint = ref.hint
        return part  # type: ignore[no-any-return]

    def store(self, ref: Ref, step: tuple[Any, ...] | None, value: Val, node: Node, prim: Prim = SET) -> None:
        """``ref[step] = value``, an abstract value or an operand."""
        value = self.operand(self.as_array(value, node), node)
        if ref.cell in self.cells.read_only:
            self.raises(ValueError, "assignment destination is read-only", node)
        if LIVE in self.cells.origins.get(ref.cell, ()):
            what = "unprovable alias: this array was given by an unknown call, and may be one that lives outside"
            self.fail(what, node, "copy it with .copy() before the store", AliasError)
        base = self.checked(ref.cell, node)
        refuse_duck_store(self, base, value, node)
        if type(base) is Value and base.type.kind not in ("array",) and ref.cell not in self.cells.numpy:
            what = "unprovable alias: whether this is an array is not known, nor what a store into it changes"
            self.fail(what, node, "make it an array on every path, with np.array(...)", AliasError, ref)
        path = ref.path if step is None else (*ref.path, step)
        self.check_overlap(ref, step, value, node)
        _check_steps(self, base, ref.path, node)
        new = self.emit(node, prim, base, path or (("index", (Ellipsis,)),), value)
        if not new.hint:
            new.hint = self.cells.names.get(ref.cell) or base.hint
        inside = type(self.held(ref.cell)) is ItemOf
        self.write(ref.cell, new, node)
        if not inside:
            self.state.poison(ref.cell, self.loc_of(node))
        origins = self.cells.origins.get(ref.cell, frozenset())
        for number in origins - self.stored:
            self.inputs.guard_writeable(number)
        self.stored |= origins

    def refuse_outside(self, name: str, node: Node) -> NoReturn:
        what = f"a store into {name!r}, which lives outside of the function and was not passed to it"
        self.fail(what, node, "pass it as an argument, or copy it first")

    def mutate(self, cell: int, content: Any, node: Node, resized: bool = True, keeps_items: bool = False) -> None:
        """A list or dictionary changes in place: which items it has, not what is in them.

        resized: a list may get another length; keeps_items: the items that it had stay where they are.
        """
        if resized:
            self.resized.append(cell)
        if keeps_items:
            self.count_from_start(cell, node)
        elif type(content) in (Items, Columns):
            self.forget_items(cell, node)
        detached = cell in self.cells.detached
        kind = type(self.held(cell))
        item_like = detached or kind is Entries
        self.forget_parts(cell, content, node)
        self.write(cell, content, node)
        for other in self.state.links.get(cell, ()):
            found = self.state.heap.get(other)
            if found is None or isinstance(found, (Poison, ItemOf)):
                continue
            if type(found) is Value and found.type.kind == "array":
                continue  # what an array holds stays the same, whatever container it is in
            apart, known = other in self.cells.detached, type(found) in (Entries, Items)
            shared = item_like and (type(found) is Columns or apart or (detached and known))
            shared = shared or (kind is not ItemOf and type(found) is Columns and holds_lists(found.structure))
            # A list that was an item of another one may be this list.
            shared = shared or (kind is Items and apart and type(found) in (Items, Columns))
            if shared or self.cells.family(cell) & self.cells.family(other):
                cause = self.state.cause(cell, other)
                self.state.heap[other] = Poison(self.loc_of(node), "may be the one changed", cause)
        for paths in self.inputs.containers.values():
            held = [self.inputs.by_path.get(path) for path in paths]
            if len(held) > 1 and any(x is not None and x.cell == cell for x in held):
                what = "unprovable alias: this list or dictionary reaches the function in two ways"
                self.fail(what, node, "", AliasError)

    # --- operands -------------------------------------------------------------------------------------------------

    def operand(self, av: Val, node: Node = None) -> Val:
        """The IR operand for an abstract value: a value, a constant, or nested containers of them."""
        kind = type(av)
        if kind is Value or is_constant(av):
            return av
        if kind is Ref:
            return self.read(av, node)
        if kind is Obj:
            held = isinstance(av.obj, loaded(GENERATOR)) or type(av.obj) in immutable_classes()
            if held and av.path is not None and not isinstance(av.obj, np.dtype):
                return self.live_input(av.obj, av.path)
            self.only_looked_at(av, "", node)
            obj = self.pinned(av)
            return obj.value if isinstance(obj, (int, float, str)) and isinstance(obj, enum.Enum) else obj
        if kind is Seq:
            return tuple([self.operand(x, node) for x in av.items])
        if kind is SliceOf:
            return slice(*[self.operand(x, node) for x in av.parts()])
        if kind is ListRef:
            content = self.checked(av.cell, node, "list")
            if type(content) is Columns:
                return self.one_list(content, node)
            return [self.operand(x, node) for x in content.items]
        if kind is Instance:
            held = self.underlying(av, node, "__iter__", "__array__", "__repr__", "__str__")
            if type(held) in (Seq, ListRef):
                return self.operand(held, node)
        if kind is RangeOf:
            bounds = [self.operand(x, node) for x in av.parts()]
            return list(range(*bounds)) if all(map(is_constant, bounds)) else self.emit(node, PRIMS[np.arange], *bounds)
        if kind is Maybe:
            return self.operand(self.use(av, "", node), node)
        if kind is Conflict:
            self.fail(f"this {av.why}", node, av.remedy, cause=av)
        remedy = remedy_of(av, "pass numbers, arrays, or tuples and lists of them")
        self.fail(f"{describe(av)} cannot be used as a value here", node, remedy)

    def one_list(self, columns: Columns, node: Node) -> Value:
        """The IR list of numbers or arrays that a list is."""
        if len(columns.leaves) != 1 or hasattr(columns.structure, "parts") or hasattr(columns.structure, "av"):
            what = "a list of tuples, dictionaries or objects cannot be used as a value here"
            self.fail(what, node, "loop over it", cause=columns)
        leaf: Value = columns.leaves[0]
        return leaf

    def pinned(self, av: Obj) -> Any:
        """The object itself, to be built into the code, which is then for this object only."""
        if av.path is not None and len(av.path) + (av.path[0][0] != "object") > 1 and not isinstance(av.obj, np.dtype):
            self.inputs.guard(av.path, "is", av.obj)
        return av.obj

    def plain(self, av: Val, node: Node) -> Val:
        """An operand for text and for functions without a source: each container is what it is in Python."""
        kind = type(av)
        if kind is Seq and av.cls is None:
            return self.emit(node, TUPLE, *[self.plain(x, node) for x in av.items])
        if kind is Seq:
            return self.emit(node, BUILD, av.cls, (), *[self._apart(x, node) for x in av.items])
        if kind is RangeOf:
            return self.emit(node, BUILD, range, (), *[self.plain(x, node) for x in (av.start, av.stop, av.step)])
        if kind is ListRef or kind is DictRef:
            content = self.checked(av.cell, node, "container")
            names = content.keys if type(content) is Entries else ()
            if type(content) in (Items, Entries) and all(map(is_constant, names)):
                cls = list if kind is ListRef else dict
                return self.emit(node, BUILD, cls, tuple(names), *[self._apart(x, node) for x in content.items])
        return self.operand(av, node)

    def _apart(self, av: Val, node: Node) -> Val:
        """The same for an item of what is built: of an array a copy, since what holds it may outlive the function."""
        x = self.plain(av, node)
        return self.emit(node, COPY, x) if type(x) is Value and not x.type.is_scalar and x.type.kind != "object" else x

    # --- two paths ------------------------------------------------------------------------------------------------

    def possible(self, code: Any) -> frozenset[int]:
        """The exit codes that a code may be."""
        return frozenset({code}) if isinstance(code, int) else self.codes[code]

    @contextmanager
    def path(self, state: State, region: Region, fact: tuple[Value, bool] | None = None) -> Iterator[None]:
        """Lower one of several paths: in its own state and region. The state reached is left in `self.state`.

        `fact`: a condition, and whether it holds there; it is used where paths are lowered separately.
        """
        self.state = state
        self.arms.add(region)
        known = self.facts
        if fact is not None and self.plan.actions:
            self.facts = {**known, fact[0]: fact[1]}
        with self.builder.inside(region):
            try:
                yield
            finally:
                self.facts = known

    def joiner(self, a: State, b: State, regions: tuple[Region, Region], node: Node = None) -> BranchJoiner:
        for cell, content in self.inputs.initial.items():
            for state in (a, b):
                state.heap.setdefault(cell, content)
        made = BranchJoiner(self, a, b, regions)  # type: ignore[arg-type]
        made.origin = Origin(node, self.frame) if node is not None else None
        return made

    def branch(self, cond: Any, then: Callable[[], Any], orelse: Callable[[], Any], node: Node) -> Any:
        """The value of ``then() if cond else orelse()``, of which only one is run."""
        cond = self.facts.get(cond, cond) if isinstance(cond, Value) else cond
        if not isinstance(cond, Value):
            return then() if cond else orelse()
        regions = (self.builder.new_region(), self.builder.new_region())
        states = []
        dead = []
        start = self.state
        env = self.frame.env
        for region, lower, side in zip(regions, (then, orelse), (True, False)):
            with self.path(start.fork(), region, (cond, side)):
                try:
                    self.state.envs[env]["$value"] = lower()
                    states.append(self.state)
                    dead.append(False)
                except AutodiffError:
                    if not self.is_observing():
                        raise
                    self.end_of_run(node)
                    states.append(start.fork())
                    dead.append(True)
                except Unreachable:
                    states.append(start.fork())
                    dead.append(True)
        self.at(node)
        joiner = self.joiner(states[0], states[1], regions, node)
        if all(dead):
            emit_if(self.builder, cond, regions[0], regions[1], joiner)
            raise Unreachable
        joiner.dead = (dead[0], dead[1])
        self.state = joiner.run()
        emit_if(self.builder, cond, regions[0], regions[1], joiner)
        return self.use(self.state.envs[env].pop("$value"), "the value", node)

    def static_dtype(self, av: Val, node: Node) -> Val:
        x = self.operand(av, node)
        t = type_of(x)
        if t.dtype is not None and t.kind in ("array", "generic"):
            return Obj(t.dtype, None)
        if t.kind in ("array", "any"):
            prefer_known(self, av)  # arrays of two dtypes on two paths: each path asks for its own
        return self.emit(node, DTYPE, x)


def _check_steps(ctx: Core, base: Val, path: tuple[Any, ...], node: Node) -> None:
    t = type_of(base)
    for step in path:
        t, view = infer_step(ctx.builder, t, step)
        if not view:
            what = "unprovable alias: it is not known whether this is a view"
            ctx.fail(what, node, "store with one subscript", AliasError)
