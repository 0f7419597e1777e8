"""Specialisation: finds the compiled code that is valid for the arguments of a call.

Code is compiled for the signature of the arguments. For a number that is its Python type. For an array it is the dtype,
the number of axes, and which axes have length 1. Code relies on guards, too, such as the identity of functions in
globals and closures. Each entry has a small generated function that checks all this and fetches the hidden inputs. The
shapes of earlier calls are in a set, so a call with one of them costs one hash.
"""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import deep
from ..collector import collector_paused
from ..duck import is_duck
from ..errors import AliasError, ArgumentError, AutodiffError, InternalError, UnsupportedError, is_interruption
from ..ir import budget
from ..ir.apart import with_known_axes
from ..ir.core import Function, Region, structural_key
from ..ir.spelling import identifier
from ..ir.types import Dim, length_of
from ..locks import Lock
from ..lowered import Guard, Lowered, bind_arguments, held, is_missing, key_of, leaving_out, location_of
from ..tracebacks import DISPATCH
from ..tree import class_lookup, flatten
from .two_stages import LOG, Log, Refit

MAX_ENTRIES = 128
MAX_SHAPES = 4096


class _Miss:
    """The result of an entry for arguments that it is not valid for."""

    def __repr__(self) -> str:
        return "miss"


MISS = _Miss()


def signature_of(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The signature of the arguments, as a hashable key.

    >>> signature_of((1.0,))
    (('number', <class 'float'>),)
    """
    leaves, tree = flatten(args)
    key: tuple[Any, ...] = tuple([key_of(x) for x in leaves])
    return key if tree == ("tuple", tuple([("leaf", k) for k in range(len(args))])) else (*key, repr(tree))


def _has_code(obj: Any) -> bool:
    return isinstance(obj, types.FunctionType)


# Types whose values are the same if they are equal.
_EQUAL_IF_OF_ONE_TYPE = frozenset([str, int, bool, bytes, type(None), type(Ellipsis)])


class _Names:
    """The local names and constants of one generated function."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"ndarray": np.ndarray, "MISS": MISS}
        self.constants: dict[int, str] = {}
        self.lines: list[str] = []
        self.locals: dict[Any, str] = {}

    def constant(self, obj: Any) -> str:
        if obj is None or obj is True or obj is False:
            return repr(obj)
        if type(obj) is str or (type(obj) is int and abs(obj) < 1 << 64):
            return repr(obj)
        name = self.constants.get(id(obj))
        if name is None:
            name = self.constants[id(obj)] = f"k{len(self.constants)}"
            self.namespace[name] = obj
        return name

    def fetch(self, path: tuple[tuple[Any, ...], ...]) -> str:
        """The local variable for the object at the path. The first use emits the statement that fetches it."""
        found = self.locals.get(path)
        if found is not None:
            return found
        step = path[-1]
        kind = step[0]
        if kind == "arg":
            return f"a{step[1]}"
        if kind == "log":
            return "log"
        if kind == "global":
            text = f"{self.constant(step[1].__globals__)}[{step[2]!r}]"
        elif kind == "cell":
            fn = step[1]
            text = f"{self.constant(fn.__closure__[fn.__code__.co_freevars.index(step[2])])}.cell_contents"
        elif kind == "default":
            field = "__defaults__" if isinstance(step[2], int) else "__kwdefaults__"
            text = f"{self.constant(step[1])}.{field}[{step[2]!r}]"
        elif kind == "object":
            return self.constant(step[1])
        elif kind == "item":
            text = f"{self.fetch(path[:-1])}[{self.constant(step[1])}]"
        elif kind == "inner":
            return self.fetch(path[:-1])
        elif kind == "held":
            self.namespace["held"] = held
            text = f"held({self.fetch(path[:-1])})"
        elif kind == "call":
            text = f"{self.fetch(path[:-1])}({', '.join(map(self.constant, step[1]))})"
        elif kind == "member":
            self.namespace["class_lookup"] = class_lookup
            text = f"class_lookup({self.fetch(path[:-1])}, {step[1]!r})"
        else:
            holder = self.fetch(path[:-1])
            plain = identifier(step[1], "x") == step[1]
            text = f"{holder}.{step[1]}" if plain else f"getattr({holder}, {step[1]!r})"
        name = f"v{len(self.locals)}"
        self.locals[path] = name
        self.lines.append(f"{name} = {text}")
        return name

    def check(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): return MISS")

    def helper(self, fn: Any) -> str:
        self.namespace[fn.__name__] = fn
        return str(fn.__name__)

    def guard(self, guard: Guard) -> None:
        expected = guard.expected
        if guard.kind == "process":
            return
        if guard.kind == "missing":
            self.check(f"{self.helper(is_missing)}({expected!r})")
            return
        if guard.kind == "absent":
            self.check(f"{expected!r} not in {self.constant(guard.path[0][1].__globals__)}")
            return
        x = self.fetch(guard.path)
        if guard.kind == "lacks":
            self.check(f"{expected!r} not in getattr({x}, '__dict__', ())")
            return
        if guard.kind == "without":
            self.check(f"not hasattr({x}, {expected!r})")
            return
        if guard.kind in ("same", "distinct"):
            self.check(f"{x} {'is' if guard.kind == 'same' else 'is not'} {self.fetch(expected)}")
            return
        if guard.kind == "apart":
            several = ", ".join([f"id({y})" for y in (x, *map(self.fetch, expected))])
            self.check(f"len({{{several}}}) == {len(expected) + 1}")
            return
        e = self.constant(expected)
        if guard.kind == "is" or (
            guard.kind == "eq" and (expected is None or isinstance(expected, bool) or expected is Ellipsis)
        ):
            same_code = f" and {x}.__code__ is {self.constant(expected.__code__)}" if _has_code(expected) else ""
            self.check(f"{x} is {e}{same_code}")
        elif guard.kind == "eq" and not isinstance(expected, (str, int, bytes, np.dtype, types.BuiltinFunctionType)):
            self.check(f"{self.helper(structural_key)}({x}) == {self.constant(structural_key(expected))}")
        elif guard.kind == "eq":
            t = self.constant(type(expected))
            same = f"{x} is {e} or " if e.startswith("k") else ""
            self.check(f"{same}(type({x}) is {t} and {x} == {e})")
        elif guard.kind == "type":
            self.check(f"type({x}) is {self.constant(expected)}")
        elif guard.kind == "len":
            self.check(f"len({x}) == {expected}")
        elif guard.kind == "keys" and all(type(k) in _EQUAL_IF_OF_ONE_TYPE for k in expected):
            self.check(f"tuple({x}) == {self.constant(expected)}")
            if guard.path[-1:] != (("attr", "__dict__"),):
                self.check(f"[*map(type, {x})] == {self.constant([type(k) for k in expected])}")
        elif guard.kind == "keys":
            self.check(f"{self.helper(structural_key)}(tuple({x})) == {self.constant(structural_key(expected))}")
        elif guard.kind == "order":
            outside = ", ".join([self.fetch(leaf.path) for leaf in expected.history.leaves])
            self.check(f"{self.constant(expected)}.holds({outside})")
        else:
            raise AssertionError(guard.kind)


class Entry:
    """One compiled function with its guards. ``entry.call(*args)`` gives `MISS` for arguments that do not fit."""

    def __init__(
        self, fn: Any, lowered: Lowered, run: Callable[..., Any], refit: Callable[..., Any] | None = None,
        plain: Callable[..., Any] | None = None,
    ):  # fmt: skip
        self.fn = fn
        self.plain = plain or fn  # called for its error where shapes do not fit together
        self.lowered = lowered
        self.run = run
        self.refit = refit  # of an entry in two stages: goes on with another, see `stages`
        self.shapes: set[Any] = set()
        self.namespace: dict[str, Any] = {}
        self.instead: Entry | None = None
        self.call = self._generate()

    def prefer(self, other: Entry) -> None:
        """Call another entry for those of the arguments that it is valid for, too."""
        mine, its = self.call, other.call

        def call(*values: Any) -> Any:
            out = its(*values)
            return mine(*values) if out is MISS else out

        self.instead, self.call = other, call

    def codes(self) -> Iterator[Entry]:
        """The entry whose code runs, in the order in which they are tried."""
        if self.instead is not None:
            yield self.instead
        yield self

    def accepts(self, values: tuple[Any, ...]) -> bool:
        """It is valid for these arguments. To be called only while no other thread can reach the entry."""
        self.namespace["run"] = _found
        try:
            return self.call(*values) is not MISS
        finally:
            self.namespace["run"] = self.run

    def _generate(self) -> Callable[..., Any]:
        low = self.lowered
        names = _Names()
        n = len(low.params)
        leaves: list[str] = []

        def leaf(k: int) -> None:
            item = low.inputs[k]
            x = names.fetch(item.path)
            leaves[k] = x
            if item.key[0] == "object":
                return
            if item.key[0] == "number":
                names.check(f"type({x}) is {names.constant(item.key[1])}")
            else:
                d = names.constant(item.key[1])
                cls = "ndarray" if item.key[0] == "array" else names.constant(item.key[4])
                names.check(f"type({x}) is {cls} and ({x}.dtype is {d} or {x}.dtype == {d})")

        leaves += [""] * len(low.inputs)
        for k, item in enumerate(low.inputs):
            if len(item.path) == 1 and item.path[0][0] == "arg":
                leaf(k)
        if _has_code(self.fn):
            # The code of a function may be replaced, for example by IPython's autoreload.
            names.check(f"{names.constant(self.fn)}.__code__ is {names.constant(self.fn.__code__)}")
        for guard in low.guards:
            names.guard(guard)
        for k, text in enumerate(leaves):
            if not text:
                leaf(k)
        checks = [f"    {line}" for line in names.lines]
        order = [k for k, item in enumerate(low.inputs) if item.key[0] in ("array", "duck")]
        in_order = [leaves[k] for k in order]
        if in_order:
            shapes = ", ".join(f"{x}.shape" for x in in_order) if len(in_order) > 1 else f"{in_order[0]}.shape"
            names.namespace["shapes"], names.namespace["new_shapes"] = self.shapes, self._new_shapes
            checks.append(f"    s = {f'({shapes})' if len(in_order) > 1 else shapes}")
            checks.append(
                "    if s not in shapes and not new_shapes(s, ("
                + "".join(f"a{k}, " for k in range(n))
                + ")): return MISS"
            )
        if low.no_alias:
            names.namespace["may_share"], names.namespace["overlap"] = np.may_share_memory, self._overlap
            names.namespace["apart"] = apart
            for i, j in low.no_alias:
                x = leaves[i]
                same = f"may_share({x}, {leaves[j]})" if i != j else f"not ({x}.flags.forc or apart({x}))"
                checks.append(f"    if {same}: overlap({i}, {j})")
        names.namespace["run"] = self.run
        self.namespace = names.namespace
        params = [f"a{k}" for k in range(n)]
        staged = any(item.path == LOG for item in low.inputs)
        source = [f"def call({', '.join([*params, 'log=None'] if staged else params)}):"]
        # A guarded global, attribute or item may be gone: that is a miss. Errors about shapes and overlaps are raised
        # on purpose, and pass.
        on_purpose = [c for c in checks if "overlap(" in c or "new_shapes(" in c]
        names.namespace["is_interruption"] = is_interruption
        if any(len(item.path) > 1 or item.hidden for item in low.inputs) or low.guards:
            source += [
                "  try:",
                *([c for c in checks if c not in on_purpose] or ["    pass"]),
                "  except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:",
                "    if is_interruption(error): raise",
                "    return MISS",
            ]
            checks = on_purpose
        source += ["  if True:", *(checks or ["    pass"])]
        if self.refit is None:
            source.append(f"  return run({', '.join(leaves)})")
        else:
            names.namespace["refit"], names.namespace["Refit"] = self.refit, Refit
            source.append(f"  try: return run({', '.join(leaves)})")
            source.append(f"  except Refit as failed: again = refit(failed.log, ({''.join(f'{a}, ' for a in params)}))")
            source.append("  return again()")
        exec(compile("\n".join(source), DISPATCH, "exec"), names.namespace)
        self.source = "\n".join(source)
        return names.namespace["call"]  # type: ignore[no-any-return]

    def _new_shapes(self, shapes: Any, args: tuple[Any, ...]) -> bool:
        """New shapes fit the types, and lengths that must be equal are. If so, they are kept in `shapes`."""
        low = self.lowered
        arrays = [item for item in low.inputs if item.key[0] in ("array", "duck")]
        given = shapes if len(arrays) > 1 else (shapes,)
        lengths: dict[int, int] = {}
        for item, shape in zip(arrays, given):
            dims = item.type.dims
            assert dims is not None
            if len(dims) != len(shape):
                return False
            for d, n in zip(dims, shape):
                if isinstance(d, Dim):
                    if not n >= 2:  # the length of a duck array may be nan
                        return False
                    lengths[d.root] = n
                elif d != n:
                    return False
            if item.shape is not None and item.shape != shape:
                return False
        known = low.function.body.dims
        if not known.hold(lengths):
            return False
        for a, b in known.constraints:
            if length_of(a, lengths) != length_of(b, lengths):
                self._raise_as_primal(args)
        if len(self.shapes) >= MAX_SHAPES:
            self.shapes.clear()
        self.shapes.add(shapes)
        return True

    def _raise_as_primal(self, args: tuple[Any, ...]) -> None:
        """Shapes do not fit together: the original function raises its own error."""
        positional, keywords = split_arguments(self.fn, self.lowered.params, args)
        kept = {id(x): x for x in flatten((positional, keywords))[0] if is_duck(x)}
        self.plain(*copy.deepcopy(positional, kept), **copy.deepcopy(keywords, kept))
        raise AutodiffError(
            "the derivative needs some lengths of the arguments to be equal, and here they differ",
            self.lowered.loc,
            "for np.linalg.svd of a matrix that is not square, pass full_matrices=False",
        )

    def _overlap(self, i: int, j: int) -> None:
        a, b = self.lowered.inputs[i], self.lowered.inputs[j]
        if i == j:
            raise AliasError(
                f"unprovable alias: several elements of the array {a.name!r} may be one in memory, "
                "and the function writes to it",
                self.lowered.loc,
                f"pass a copy of it, {a.name}.copy()",
            )
        raise AliasError(
            f"unprovable alias: the arrays {a.name!r} and {b.name!r} may share memory, "
            f"and the function writes to {a.name!r}",
            self.lowered.loc,
            f"pass a copy of one of them, {b.name}.copy()",
        )


def apart(x: Any) -> bool:
    """No two elements of an array share memory, as far as its strides show."""
    reach = 0
    for stride, n in sorted(zip(map(abs, x.strides), x.shape)):
        if n > 1:
            if stride < reach + x.itemsize:
                return False
            reach += stride * (n - 1)
    return True


def split_arguments(fn: Any, names: list[str], values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The (args, kwargs) of a call from its bound parameters."""
    try:
        signature = inspect.signature(fn, follow_wrapped=False)
    except ValueError:
        return values, {}
    bound = inspect.BoundArguments(signature, dict(zip(names, values)))
    return bound.args, bound.kwargs


class Dispatcher:
    """Finds or makes the compiled entry for a call.

    Parameters
    ----------
    fn: the Python function.
    disk: the transformation that reads and writes entries on disk, or None.
    compile_entry: ``compile_entry(lowered, args, kwargs)`` gives the callable that takes the inputs in order.
    lower: ``lower(args, kwargs)`` gives the lowered function.

    Attributes
    ----------
    fronts: for positional calls, the entry used last, by the number of arguments. If it gives `MISS`, `finish` tries
    all entries.
    """

    def __init__(
        self, fn: Any, compile_entry: Callable[[Lowered, tuple[Any, ...], dict[str, Any]], Callable[..., Any]],
        lower: Callable[[tuple[Any, ...], dict[str, Any]], Lowered], disk: Any = None,
    ):  # fmt: skip
        self.fn = fn
        self.compile_entry = compile_entry
        self.lower = lower
        self.disk = disk
        self.entries: dict[tuple[str, ...], list[Entry]] = {}
        self.lock = Lock()
        self.sites: dict[Any, int] = {}  # the numbers of places that are observed, see `stages`
        try:
            params = list(inspect.signature(fn, follow_wrapped=False).parameters.values())
            kinds = {p.kind for p in params}
            # Positional arguments are the first parameters, one to one.
            self.simple = not kinds & {inspect.Parameter.VAR_POSITIONAL}
            self.positional = [
                p.name
                for p in params
                if p.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            ]
        except ValueError:
            self.simple, self.positional = False, []
        self.fronts: dict[int, Callable[..., Any]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        front = None if kwargs else self.fronts.get(len(args))
        if front is not None:
            result = front(*args)
            if result is not MISS:
                return result
        return self.finish(*self.bind(args, kwargs))

    @property
    def _plain(self) -> Any:
        """What the call computes without the compiler, if that is not the function itself."""
        return None if self.disk is None else self.disk._plain()

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """The names and the values of the parameters that the call gives."""
        if self.simple and not kwargs and len(args) <= len(self.positional):
            return tuple(self.positional[: len(args)]), args
        names, values, _ = bind_arguments(self.fn, args, kwargs)
        return tuple(names), tuple(values)

    def finish(self, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
        """Try all entries. Make a new one if none is valid."""
        tried = list(self.entries.get(names, ()))
        for e in tried:
            result = e.call(*values)
            if result is not MISS:
                self._to_front(names, e)
                return result
        done: list[Log] = []
        entry = self.make(names, values, tried, done)
        result = entry.call(*values, log=done[-1]) if done else entry.call(*values)
        if result is MISS:
            raise ArgumentError(
                "the new code is not valid for the arguments that it was compiled for",
                location_of(self.fn),
                "call it again if another thread changed an argument meanwhile; an object whose == is not true of "
                "itself cannot be an argument",
            )
        return result

    def entry_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        """The entry for these arguments. It is compiled if need be, and not run."""
        names, values = self.bind(args, kwargs)
        return self.make(names, values, [], [])

    def codes(self) -> list[Entry]:
        """The entries whose code runs, of all signatures."""
        return [e for entries in list(self.entries.values()) for entry in list(entries) for e in entry.codes()]

    def make(self, names: tuple[str, ...], values: tuple[Any, ...], tried: list[Entry], done: list[Log]) -> Entry:
        """Lower and compile for these arguments. `tried`: entries that are not valid for them.

        If the function has to be run for that, the log of what was done is appended to `done`.
        """
        try:
            return self._make(names, values, tried, done)
        except RecursionError:
            # The outermost compilation starts again, since it holds the locks of all inner ones.
            if budget.current() is not None or deep.is_deep():
                raise
        return deep.run(lambda: self._make(names, values, tried, done))  # type: ignore[no-any-return]

    def _make(self, names: tuple[str, ...], values: tuple[Any, ...], tried: list[Entry], done: list[Log]) -> Entry:
        with self.lock:
            for found in self.entries.get(names, ()):
                # Another thread may have made an entry meanwhile.
                for e in found.codes() if found not in tried else ():
                    if fits(e, values):
                        return e
            key = None if self.disk is None else self.disk._key(names, values)
            entry = None if key is None else self._from_disk(names, key, values)
            if entry is None:
                entry = leaving_out(lambda: self._made(names, values, done, key))
            if self.disk is not None:
                self.disk._watch(entry, names)
            entries = self.entries.setdefault(names, [])
            entries.insert(0, entry)
            del entries[MAX_ENTRIES:]
            self._to_front(names, entry)
            return entry

    def _made(self, names: tuple[str, ...], values: tuple[Any, ...], done: Any, key: str | None) -> Entry:
        """A new entry; `done`: the log of what was done to see what values are, which is not to be done again."""
        unseen: AutodiffError | None = None
        if not done:
            try:
                with collector_paused():
                    return self._compiled(names, values, key)
            except AutodiffError as error:
                if not self._may_observe(error) or any(map(is_duck, flatten(values)[0])):
                    raise
                unseen = error
        try:
            observed: Entry = self.disk._observed(names, values, done, unseen, key)
        except AutodiffError as later:
            later.on_a_path = later.on_a_path or (unseen is not None and unseen.on_a_path)
            raise
        return observed

    def _may_observe(self, error: AutodiffError) -> bool:
        """The function may be run to know more of its values, as that may help."""
        certain = error.certain or isinstance(error, (ArgumentError, InternalError))
        return self.disk is not None and not certain and budget.current() is None

    def _compiled(self, names: tuple[str, ...], values: tuple[Any, ...], key: str | None) -> Entry:
        positional, keywords = split_arguments(self.fn, list(names), values)
        with budget.compiling(getattr(self.fn, "__name__", type(self.fn).__name__), location_of(self.fn)):
            lowered, run = with_known_axes(lambda: self._attempted(positional, keywords))
        if key is not None:
            self.disk._keep(key, lowered, values, run)
        return Entry(self.fn, for_calls(lowered), run, plain=self._plain)

    def _attempted(self, positional: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Lowered, Callable[..., Any]]:
        """The lowered function, and what is compiled of it."""
        lowered = self.lower(positional, keywords)
        try:
            with InternalError.during("the compilation", lowered.function.name):
                return lowered, self.compile_entry(lowered, positional, keywords)
        except InternalError as error:
            error.loc = error.loc or location_of(self.fn)
            raise
        except (RecursionError, SyntaxError, MemoryError) as error:
            if isinstance(error, SyntaxError) and not str(error).startswith("too many"):
                raise
            if isinstance(error, RecursionError) and not deep.is_deep():
                raise
            raise UnsupportedError(
                "the function is nested too deeply to be compiled",
                location_of(self.fn),
                "put parts of it into functions, use a loop, or look the case up in a dictionary",
            ) from None

    def _from_disk(self, names: tuple[str, ...], key: str, values: tuple[Any, ...]) -> Entry | None:
        for lowered, run in self.disk._restore(key, values):
            try:
                entry = Entry(self.fn, lowered, run, self.disk._refit(names, run), self._plain)
                if entry.accepts(values):
                    return entry
            except Exception as error:  # shapes do not fit, or arrays overlap: the compiler has the better message
                if is_interruption(error):
                    raise
                return None
        return None

    def _to_front(self, names: tuple[str, ...], entry: Entry) -> None:
        # The order only saves time, so do not wait while another thread compiles.
        if self.lock.acquire(blocking=False):
            try:
                found = self.entries[names]
                if found and found[0] is not entry and entry in found:
                    found.remove(entry)
                    found.insert(0, entry)
            finally:
                self.lock.release()
        if self.simple and list(names) == self.positional[: len(names)]:
            self.fronts[len(names)] = entry.call


def fits(entry: Entry, values: tuple[Any, ...]) -> bool:
    """The entry is valid for these arguments. It is not run."""
    return Entry(entry.fn, entry.lowered, _found).call(*values) is not MISS


def for_calls(lowered: Lowered) -> Lowered:
    """What calls need of a lowered function: no IR, only the conditions on lengths."""
    dims = lowered.function.body.dims.conditions()
    return replace(lowered, function=Function(lowered.function.name, Region(dims)))


def _found(*leaves: Any) -> None:
    """Stands in for a compiled function where only its guards are checked."""
