"""Compiled entries as text on disk: what a dispatcher needs to use emitted source without lowering the function again.

An entry is a line of JSON and the emitted source. The JSON holds the inputs and guards of the lowering, whose paths
start at arguments and at functions. Functions, classes and objects stand in a table: each with the way to it from the
live function, and with its fingerprint. A loaded entry is used only if every one of them is found and is what it was.
Then its guards hold the live objects, exactly as if it had been compiled in this process.

The emitted source is stored without its comments, and an entry names no line of the user's: `places` says where the
statements stand now. What cannot be written this way is not stored. Whatever is wrong with an entry makes it a miss.

An entry in two stages, see `two_stages`, has the prologue as well, and the facts that both are made for. Functions that
were made for solvers, see `made`, are written as text. Both name lines, so such an entry is a miss if a function stands
elsewhere now.
"""

from __future__ import annotations

import functools
import json
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..codegen.load import Emitted
from ..codegen.notes import Note
from ..errors import is_interruption
from ..ir.core import RULES_OF_USERS, Function, Loc, Region, structural_key
from ..ir.types import OBJECT, Dim, Dims, Terms, Ty, array
from ..kernels.callbacks import DERIVED, Callback
from ..late import late
from ..lowered import OBJECT_KEY, Fact, Guard, Input, Lowered, fetch, location_of
from ..made import MADE, Made, function_of, text_of, tree_of
from ..tree import children
from . import places
from .cache import DiskCache, default_folder, key_of
from .fingerprint import NotPortable, digest, find, fingerprint, function_print, import_name
from .two_stages import LOG, OBJECT_CLASSES, Stages

FORMAT = "4"
# Entries under one key: functions with one text may see different things, such as the closures that a function returns.
SLOTS = 4
# What solvers are handed can be differentiated.
DERIVED.update(
    zip(
        ("pullback", "jacobian", "half_square"),
        late(__package__, "callbacks", "pullback_of", "jacobian_of", "half_square_of"),
    )
)


class Unusable(Exception):
    """The entry is not for what is there now."""


class _Damaged(Exception):
    """The entry is for nobody: not what was written, or nothing that can be run."""


# --- constants --------------------------------------------------------------------------------------------------------


def _plain(x: Any) -> Any:
    """A constant as JSON that says its type."""
    if x is None or type(x) in (bool, int, str):
        return x
    if type(x) is tuple:
        return {"tuple": [_plain(y) for y in x]}
    if type(x) is float:
        return {"float": x.hex()}
    if type(x) is bytes:
        return {"bytes": x.hex()}
    if x is Ellipsis:
        return {"ellipsis": 0}
    if isinstance(x, np.dtype):
        if np.dtype(x.str) == x and x.fields is None and x.metadata is None:
            return {"dtype": x.str}
    raise NotPortable(type(x).__name__)


def _constant(x: Any) -> Any:
    if type(x) is not dict:
        return x
    ((kind, value),) = x.items()
    if kind == "tuple":
        return tuple([_constant(y) for y in value])
    if kind == "float":
        return float.fromhex(value)
    if kind == "bytes":
        return bytes.fromhex(value)
    if kind == "dtype":
        return np.dtype(value)
    return Ellipsis


# --- the table of objects ---------------------------------------------------------------------------------------------


class _Writer:
    """Collects the objects that an entry refers to: number k is reached by ``rows[k][0]`` and has the fingerprint
    ``rows[k][1]``."""

    def __init__(self, root: Any, args: tuple[Any, ...]):
        self.args = args
        self.rows: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.pinned = False  # something in the entry names the lines of functions
        self.keep: list[Any] = []  # so that the ids stay taken
        self.add(root, ["root"])
        if isinstance(root, types.MethodType):
            self.add(root.__func__, ["method", 0])

    def add(self, obj: Any, how: list[Any]) -> int:
        """The number of an object that `how` leads to."""
        found = self.numbers.get(id(obj))
        if found is not None:
            return found
        name = import_name(obj)
        if name is not None:
            how = ["import", *name]
        number = self.numbers[id(obj)] = len(self.rows)
        self.keep.append(obj)
        self.rows.append([how, _print_of(how, obj)])
        if isinstance(obj, type):
            for k, base in enumerate(obj.__mro__[1:], 1):
                self.add(base, ["base", number, k])
        elif hasattr(type(obj), "__autodiff_portable__"):
            self.add(obj.primal, ["primal", number])
        elif isinstance(obj, types.FunctionType) and obj.__code__ in MADE:
            made = MADE[obj.__code__]
            self.add(made.owner, ["owner", number])
            for held, value in made.cells.items():
                if isinstance(value, types.FunctionType) and value.__code__ in MADE:
                    self.add(value, ["held", number, held])
        return number

    def known(self, obj: Any) -> int:
        """The number of an object that must be known already, or have a name."""
        found = self.numbers.get(id(obj))
        if found is not None:
            return found
        if isinstance(obj, Callback):
            return self.add(obj, self.callback(obj))
        if isinstance(obj, types.FunctionType) and obj.__code__ in MADE:
            return self.add(obj, self.made(obj, MADE[obj.__code__]))
        if import_name(obj) is None:
            raise NotPortable(repr(type(obj)))
        return self.add(obj, [])

    def callback(self, obj: Callback) -> list[Any]:
        """The way to a function that a solver is handed."""
        if obj.origin is not None:
            parent, *way = obj.origin
            return ["derived", self.known(parent), *way]
        return ["callback", self.known(obj.fn), obj.like, obj.__name__, obj.left_out]

    def made(self, fn: types.FunctionType, made: Made) -> list[Any]:
        """The way to a function that was made of a tree."""
        self.pinned = True
        cells = [[name, *self.cell(value)] for name, value in made.cells.items()]
        return ["made", self.known(made.owner), made.file, *text_of(made.tree), cells]

    def cell(self, value: Any) -> list[Any]:
        try:
            return ["constant", _plain(value)]
        except NotPortable:
            return ["object", self.known(value)]

    def path(self, path: tuple[Any, ...]) -> list[Any]:
        out: list[Any] = []
        for step in path:
            kind = step[0]
            if kind in ("global", "cell", "default"):
                out.append([kind, self.known(step[1]), _plain(step[2])])
            elif kind == "object":
                out.append([kind, self.known(step[1])])
            elif kind == "log":
                out.append([kind])
            else:
                out.append([kind, _plain(step[1])])
        return out

    def guard(self, guard: Guard) -> list[Any]:
        path = self.path(guard.path)
        if guard.kind == "is":
            return [path, "is", self.add(guard.expected, ["path", path])]
        if guard.kind == "type":
            number = self.add(guard.expected, ["type", path])
            return [path, "type", number, _attributes(fetch(guard.path, self.args))]
        if guard.kind in ("same", "distinct"):
            return [path, guard.kind, self.path(guard.expected)]
        if guard.kind == "apart":
            return [path, guard.kind, [self.path(other) for other in guard.expected]]
        if guard.kind not in ("eq", "len", "keys", "absent", "lacks", "without"):
            raise NotPortable(guard.kind)
        return [path, guard.kind, _plain(guard.expected)]


def _attributes(obj: Any) -> str:
    """The names of an object's own attributes: which of them there are decides what is looked up in the class."""
    if import_name(type(obj)) is not None:
        return ""
    return " ".join(sorted(str(k) for k in getattr(obj, "__dict__", ())))


class _Reader:
    """The same table with the live objects."""

    def __init__(self, rows: list[Any], root: Any, args: tuple[Any, ...]):
        self.args = args
        self.objects: list[Any] = []
        for how, expected in rows:
            obj = root if how == ["root"] else self.find(how)
            if _print_of(how, obj) != expected:
                raise Unusable
            self.objects.append(obj)

    def find(self, how: list[Any]) -> Any:
        kind = how[0]
        if kind == "import":
            found = find(how[1], how[2])
            if found is None:
                raise Unusable
            return found
        if kind == "path":
            return fetch(self.path(how[1]), self.args)
        if kind == "type":
            return type(fetch(self.path(how[1]), self.args))
        if kind == "base":
            return self.objects[how[1]].__mro__[how[2]]
        if kind == "method":
            return self.objects[how[1]].__func__
        if kind == "made":
            _, owner, file, text, lines, cells = how
            held = {name: self.objects[x] if way == "object" else _constant(x) for name, way, x in cells}
            return function_of(tree_of(text, lines), self.objects[owner], file, held)
        if kind == "owner":
            return MADE[self.objects[how[1]].__code__].owner
        if kind == "held":
            return MADE[self.objects[how[1]].__code__].cells[how[2]]
        if kind == "callback":
            made = Callback(self.objects[how[1]], how[2], how[3])
            made.left_out = how[4]
            return made
        if kind == "derived":
            return getattr(self.objects[how[1]], how[2])(*how[3:])
        return self.objects[how[1]].primal

    def path(self, path: list[Any]) -> tuple[Any, ...]:
        out: list[Any] = []
        for step in path:
            kind = step[0]
            if kind in ("global", "cell", "default"):
                out.append((kind, self.objects[step[1]], _constant(step[2])))
            elif kind == "object":
                out.append((kind, self.objects[step[1]]))
            elif kind == "log":
                out += LOG
            elif kind == "call":
                args = _constant(step[1])
                out.append((kind, args, structural_key(args)))
            else:
                out.append((kind, _constant(step[1])))
        return tuple(out)

    def guard(self, row: list[Any]) -> Guard:
        path, kind = self.path(row[0]), row[1]
        if kind == "type" and _attributes(fetch(path, self.args)) != row[3]:
            raise Unusable
        if kind in ("same", "distinct"):
            return Guard(path, kind, self.path(row[2]))
        if kind == "apart":
            return Guard(path, kind, tuple([self.path(other) for other in row[2]]))
        expected = self.objects[row[2]] if kind in ("is", "type") else _constant(row[2])
        if kind == "eq":
            # The dispatcher checks all guards. This one often tells entries apart, so ask before anything is built.
            now = fetch(path, self.args)
            if type(now) is not type(expected) or now != expected:
                raise Unusable
        return Guard(path, kind, expected)


def _print_of(how: list[Any], obj: Any) -> str:
    if how == ["root"]:
        return _root_print(obj)
    return how[0] if isinstance(obj, Callback) else fingerprint(obj)


def _root_print(fn: Any) -> str:
    """What identifies the function that was differentiated."""
    if isinstance(fn, types.MethodType):
        fn = fn.__func__
    if isinstance(fn, functools.partial):
        return "partial " + _root_print(fn.func)
    # Of an object that can be called: its class. The guards tell the rest.
    return function_print(fn) if isinstance(fn, types.FunctionType) else fingerprint(type(fn))


# --- inputs -----------------------------------------------------------------------------------------------------------


def _input_row(writer: _Writer, item: Input) -> list[Any]:
    key = item.key
    if key[0] == "number":
        shown: list[Any] = ["number", writer.known(key[1])]
    elif key[0] == "object":
        return [writer.path(item.path), item.name, ["object"], item.hidden, [], None]
    elif key[0] == "duck":
        raise NotPortable("an array of another library")
    else:
        shown = ["array", _plain(key[1]), key[2], list(key[3])]
    dims = item.type.dims
    assert dims is not None
    shape = None if item.shape is None else list(item.shape)
    return [writer.path(item.path), item.name, shown, item.hidden, list(map(_dim_row, dims)), shape]


def _read_input(reader: _Reader, row: list[Any]) -> Input:
    path, name, shown, hidden, lengths, shape = row
    dims = tuple(map(_dim, lengths))
    if shown[0] == "object":
        return Input(reader.path(path), name, OBJECT, OBJECT_KEY, hidden)
    if shown[0] == "number":
        key: tuple[Any, ...] = ("number", reader.objects[shown[1]])
        t = Ty("py", None, dims)
    else:
        key = ("array", _constant(shown[1]), shown[2], tuple(shown[3]))
        t = array(key[1], dims)
    return Input(reader.path(path), name, t, key, hidden, None if shape is None else tuple(shape))


def _dim_row(d: Any) -> Any:
    return [d.root, d.off] if isinstance(d, Dim) else d


def _dim(d: Any) -> Any:
    return Dim(*d) if isinstance(d, list) else d


def _shapes_rows(shapes: Any) -> Any:
    return [list(map(_dim_row, dims)) for dims in shapes]


def _shapes(rows: Any) -> Any:
    return tuple([tuple(map(_dim, dims)) for dims in rows])


def _terms(rows: Any) -> Terms:
    return tuple([(root, int(factor)) for root, factor in rows])


def _tree(tree: Any) -> Any:
    """The structure of a result as JSON; without classes, and with plain constants only."""
    kind = tree[0]
    items = [_tree(t) for t in children(tree)]
    if kind == "leaf":
        return ["leaf", tree[1]]
    if kind == "static":
        return ["static", _plain(tree[1])]
    if kind == "dict":
        return ["dict", [_plain(k) for k in tree[1]], items]
    if kind == "like":
        return ["like", tree[1], list(tree[2]), items]
    if kind in ("tuple", "list"):
        return [kind, items]
    raise NotPortable(kind)


def _read_tree(tree: Any) -> Any:
    kind = tree[0]
    if kind == "leaf":
        return ("leaf", tree[1])
    if kind == "static":
        return ("static", _constant(tree[1]))
    items = tuple([_read_tree(t) for t in tree[-1]])
    if kind == "dict":
        return ("dict", tuple([_constant(k) for k in tree[1]]), items)
    if kind == "like":
        return ("like", tree[1], tuple(tree[2]), items)
    return (kind, items)


# --- entries ----------------------------------------------------------------------------------------------------------


def entry_key(transformed: Any, fn: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> str | None:
    """What selects the entries for this call; None where there are none."""
    folder = default_folder()
    if folder is None or RULES_OF_USERS:
        return None
    passes = sys.modules.get(f"{__package__.rpartition('.')[0]}.transforms.passes")  # it is not imported for this
    if passes is not None and passes.is_changed(transformed.options.left_out, transformed.options.reassociate):
        return None
    try:
        chain = []
        step = transformed
        while step is not fn and hasattr(type(step), "__autodiff_portable__"):
            chain += step.__autodiff_portable__()
            step = step.primal
        if step is not fn:
            return None
        about = [*chain, transformed.__name__, repr(names), str(getattr(fn, "__module__", "")), _root_print(fn)]
        return key_of(FORMAT, *about, *[_signature(v) for v in values])
    except (NotPortable, OSError) as error:
        if is_interruption(error):
            raise
        return None


def _signature(x: Any) -> str:
    """What of an argument selects the entry. Whether the entry fits is for its guards to say."""
    kind = type(x)
    if kind is np.ndarray:
        return f"{x.dtype!r} {x.ndim} {[k if n else ~k for k, n in enumerate(x.shape) if n < 2]}"
    if x is None or kind in (bool, str):
        return repr(x)
    if kind in (tuple, list):
        return f"{kind.__name__}({', '.join([_signature(y) for y in x])})"
    if kind is dict:
        return "{" + ", ".join([f"{k!r}: {_signature(y)}" for k, y in x.items()]) + "}"
    return f"{kind.__module__}.{kind.__qualname__}"


def store(key: str, fn: Any, lowered: Lowered, values: tuple[Any, ...], run: Any, sites: dict[Any, int]) -> None:
    """Write an entry; nothing happens if something in it has no portable form.

    run:   the compiled function, which may be in two stages
    sites: the numbers of the places that are observed
    """
    try:
        writer = _Writer(fn, values)
        guards = [writer.guard(g) for g in lowered.guards]
        inputs = [_input_row(writer, item) for item in lowered.inputs]
        for inlined in lowered.functions:
            # Each function whose text went into the code has to be found again, to see whether it changed.
            writer.known(inlined)
        marks = places.Marks(lowered.functions)
        emitted = run.__autodiff_emitted__
        code = _code_row(writer, marks, emitted)
        stages = _stages_row(writer, marks, run, sites) if isinstance(run, Stages) else None
        texts = [[writer.known(fn), *row] for fn, row in zip(lowered.functions, marks.rows())]
        dims = lowered.function.body.dims
        constraints = [[_dim_row(d) for d in pair] for pair in dims.constraints]
        assumed = [[_dim_row(a), _dim_row(b), equal] for a, b, equal in dims.assumed]
        smaller = [[_shapes_rows(a), _shapes_rows(b), answer] for a, b, answer in dims.smaller]
        details = getattr(run, "__autodiff_details__", None)
        header = {
            "objects": writer.rows, "guards": guards, "inputs": inputs, "code": code, "stages": stages, "texts": texts,
            "where": list(map(_where, lowered.functions)) if writer.pinned else None,
            "constraints": constraints, "assumed": assumed, "smaller": smaller, "params": lowered.params,
            "derived": [[root, *definition] for root, definition in dims.derived.items()], "at_least": dims.at_least,
            "no_alias": lowered.no_alias,
            "details": None if details is None else [_tree(details[0]), details[1], details[2]],
        }  # fmt: skip
        text = json.dumps(header, separators=(",", ":"))
    except (NotPortable, TypeError, ValueError, AttributeError, LookupError):
        return
    text = _sealed(key, "\n".join([text, *emitted.lines]))
    disk = DiskCache()
    slots = [digest(key, str(k)) for k in range(SLOTS)]
    free = [slot for slot in slots if disk.load(slot) is None]
    disk.store(free[0] if free else slots[int(digest(text)[:8], 16) % SLOTS], text)


def _code_row(writer: _Writer, marks: places.Marks, emitted: Emitted) -> list[Any]:
    """What emitted code names: the objects, the statements behind its comments, and places for errors."""
    bound = {name: writer.known(x) for name, x in emitted.objects.items() if not isinstance(x, Loc)}
    notes = [[note.at, *marks.statement(note.statement)] for note in emitted.notes]
    located = {name: [*marks.node(x), x.function] for name, x in emitted.objects.items() if isinstance(x, Loc)}
    return [bound, notes, located]


def _read_code(reader: _Reader, found: places.Found, row: list[Any], lines: list[str], name: str) -> Emitted:
    bound, notes, located = row
    objects = {name: reader.objects[number] for name, number in bound.items()}
    objects |= {name: found.loc(k, n, function) for name, (k, n, function) in located.items()}
    return Emitted(lines, name, objects, [Note(found.statement(k, n), at) for at, k, n in notes])


# --- stages -----------------------------------------------------------------------------------------------------------

_NUMBERS = {cls.__name__: cls for cls in (bool, int, float, complex)}
_CLASSES = {cls.__name__: cls for cls in OBJECT_CLASSES}


def _stages_row(writer: _Writer, marks: places.Marks, stages: Stages, sites: dict[Any, int]) -> list[Any]:
    prologue = stages.prologue.__autodiff_emitted__  # type: ignore[attr-defined]
    facts = [[site, _fact_row(writer, fact)] for site, fact in stages.facts.items()]
    names = [_plain(key) for key in sites]
    writer.pinned = True
    return [_code_row(writer, marks, prologue), prologue.lines, facts, names, stages.foreign, stages.writes]


def _where(fn: types.FunctionType) -> list[Any]:
    return [fn.__code__.co_filename, fn.__code__.co_firstlineno]


def _fact_row(writer: _Writer, fact: Fact) -> list[Any]:
    kind = fact[0]
    if kind == "py":
        return [kind, fact[1].__name__]
    if kind == "array":
        return [kind, _plain(fact[1]), fact[2], _plain(fact[3])]
    if kind == "generic":
        return [kind, _plain(fact[1])]
    if kind == "tuple":
        cls = None if fact[1] is None else writer.known(fact[1])
        return [kind, cls, [_fact_row(writer, part) for part in fact[2]]]
    if kind == "object":
        return [kind, fact[1], ""] if isinstance(fact[1], str) else [kind, "", fact[1].__name__]
    return [kind]


def _read_fact(reader: _Reader, row: list[Any]) -> Fact:
    kind = row[0]
    if kind == "py":
        return (kind, _NUMBERS[row[1]])
    if kind == "array":
        return (kind, _constant(row[1]), row[2], _constant(row[3]))
    if kind == "generic":
        return (kind, _constant(row[1]))
    if kind == "tuple":
        cls = None if row[1] is None else reader.objects[row[1]]
        return (kind, cls, tuple([_read_fact(reader, part) for part in row[2]]))
    if kind == "object":
        return (kind, _CLASSES[row[2]] if row[2] else row[1])
    return (kind,)


class Staged:
    """What an entry in two stages has beside the body. The places that are observed are in the order of their
    numbers."""

    def __init__(self, reader: _Reader, found: places.Found, row: list[Any], name: str):
        code, lines, facts, sites, self.foreign, self.writes = row
        self.prologue = _read_code(reader, found, code, lines, name)
        self.facts = {site: _read_fact(reader, fact) for site, fact in facts}
        self.sites = [_constant(key) for key in sites]


def load(key: str, fn: Any, values: tuple[Any, ...], build: Callable[..., Any]) -> Iterator[tuple[Lowered, Any]]:
    """The entries under the key that may be valid for these arguments: what was lowered, as far as calls need it, and
    the compiled function.

    ``build(lowered, emitted, details, staged)`` makes the function from the emitted source, and raises `Unusable` if
    that does not go with what this process has already.
    """
    disk = DiskCache()
    for k in range(SLOTS):
        text = disk.load(digest(key, str(k)))
        if text is None:
            continue  # it may have been pruned, and not those after it
        text = text.partition("\n")[2] if text == _sealed(key, text.partition("\n")[2]) else ""
        try:
            if not text:
                raise _Damaged
            found = _read(text, fn, values, build)
        except _Damaged:
            disk.drop(digest(key, str(k)))
            continue
        if found is not None:
            lowered, run, moved = found
            if moved:
                # The next process finds the lines where they are now.
                disk.store(digest(key, str(k)), _sealed(key, moved))
            yield lowered, run


def _sealed(key: str, text: str) -> str:
    """The text with a first line by which it is known to be whole, and of this key."""
    return f"{digest(key, text)}\n{text}"


def _read(text: str, fn: Any, values: tuple[Any, ...], build: Callable[..., Any]) -> tuple[Lowered, Any, str] | None:
    """What was lowered, the compiled function, and a new text for the entry if the user's statements have moved."""
    head, *lines = text.split("\n")
    try:
        header = json.loads(head)
        reader = _Reader(header["objects"], fn, values)
        guards = [reader.guard(row) for row in header["guards"]]
        inputs = [_read_input(reader, row) for row in header["inputs"]]
        found = places.Found([(reader.objects[number], *row) for number, *row in header["texts"]])
        where = header["where"]
        if where is not None and (found.moved or where != [_where(fn) for fn, *_ in found.functions]):
            raise Unusable
        name = getattr(fn, "__name__", "f")
        emitted = _read_code(reader, found, header["code"], lines, name)
        staged = None if header["stages"] is None else Staged(reader, found, header["stages"], name)
        moved = ""
        if found.moved:
            header["texts"] = [[number, *row] for (number, *_), row in zip(header["texts"], found.rows())]
            moved = "\n".join([json.dumps(header, separators=(",", ":")), *lines])
        dims = Dims(
            constraints=[(_dim(a), _dim(b)) for a, b in header["constraints"]],
            assumed=[(_dim(a), _dim(b), bool(equal)) for a, b, equal in header["assumed"]],
            smaller=[(_shapes(a), _shapes(b), bool(answer)) for a, b, answer in header["smaller"]],
            derived={int(root): (_terms(terms), int(divisor)) for root, terms, divisor in header["derived"]},
            at_least=[(_terms(terms), int(least)) for terms, least in header["at_least"]],
        )
        details = header["details"]
        if details is not None:
            details = (_read_tree(details[0]), details[1], details[2])
        lowered = Lowered(
            Function(name, Region(dims)), inputs, guards, ("static", None), [],
            list(header["params"]),
            [(i, j) for i, j in header["no_alias"]], [], location_of(fn),
        )  # fmt: skip
    except Exception as error:
        # Whatever it is, e.g. an attribute that is gone: compile instead.
        if is_interruption(error):
            raise
        return None
    try:
        run = build(lowered, emitted, details, staged)
        if run.__autodiff_arity__ == len(inputs):
            return lowered, run, moved
    except Unusable:
        return None
    except Exception as error:
        if is_interruption(error):
            raise
    raise _Damaged
