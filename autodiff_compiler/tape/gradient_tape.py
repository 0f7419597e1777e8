"""`GradientTape`: which operations of eager code are differentiated, decided while it runs."""

from __future__ import annotations

import enum
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from operator import is_
from typing import Any

import numpy as np

from ..transforms.batch import NotBatchedError
from .barrier import record_barrier
from .connect import View
from .jacobians import batch_jacobian, jacobian
from .nest import flatten, is_nested, map_nested, pack_like
from .printer import show_pullback, show_recording
from .pullback import Pullback, Request, request
from .recording import CONSTANT, STATE, Recording, TrieNode
from .sweep import conjugated, run_pullback, sweep
from .tensor import Operand, wrap

# How often a warning is given in a process: a training loop would give it at every step.
MAX_WARNINGS = {"watch": 5, "inside": 1}
_warned = {"watch": 0, "inside": 0}

SECOND_USE = "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
INSIDE = (
    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient than "
    "calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to increased CPU "
    "and memory usage). Only call GradientTape.gradient inside the context if you actually want to trace the gradient "
    "in order to compute higher order derivatives."
)


class UnconnectedGradients(enum.Enum):
    """What `gradient` gives for a source that the target does not depend on: None, or zeros of the source's shape."""

    NONE = "none"
    ZERO = "zero"


NONE = UnconnectedGradients.NONE  # an attribute of an enum takes as long to look up as a small operation does


class GradientTape:
    """Records operations on tensors and variables, to differentiate what they compute.

    persistent: whether `gradient` and the like may be called more than once.
    watch_accessed_variables: whether trainable variables are watched when they are read.

    A tape sees the operations of its own thread, while its ``with`` block is open.

    >>> import autodiff_compiler as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.GradientTape() as tape:
    ...     y = x * x
    >>> tape.gradient(y, x).numpy()
    np.float64(6.0)
    """

    # What few tapes have.
    _explicit: tuple[Any, ...] = ()  # variables that it was told to watch
    # What tells which variables were read, after the tape was used: variables by slot, a structure, spans in it.
    _seen: tuple[tuple[dict[int, Any], TrieNode, tuple[tuple[int, int], ...]], ...] = ()
    _ran: tuple[Pullback, ...] = ()  # what ran for the last gradient
    _logger = logging.getLogger("autodiff_compiler")
    _masks = True  # a cotangent that a choice makes zero stays zero beside an infinite partial

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent = persistent
        self._auto = watch_accessed_variables
        self._rec: Recording | None = None
        self._recording = False
        self._start = 0  # the first slot of what it is recording
        self._spans: tuple[tuple[int, int], ...] = ()  # slots that it has recorded
        self._watched: tuple[tuple[int, int], ...] = ()  # slots, each with the slot from which on it is watched

    # --- life -----------------------------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        state = STATE
        if self._rec is None and not self._recording and state.rec is None:
            # The first tape of its thread, as `_push` does it: every step of a training loop comes here.
            state.rec = self._rec = rec = Recording(self._masks)
            rec.auto = self._auto
            rec.tapes = (self,)
            self._start = 0
            self._recording = True
        else:
            self._push()
        return self

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        if not self._recording:
            return
        rec = self._rec
        assert rec is not None
        self._recording = False
        end = rec.node.count
        if end > self._start:
            span = (self._start, end)
            self._spans = (*self._spans, span) if self._spans else (span,)
        if len(rec.tapes) == 1:
            rec.tapes = ()
            state = STATE
            if state.rec is rec:
                state.rec = None
        else:
            rec.tapes = tuple([t for t in rec.tapes if t is not self])
            rec.auto = any(t._auto for t in rec.tapes)

    def _push(self) -> None:
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        state = STATE
        own, home = self._rec, state.rec
        if home is None:
            if own is None:
                self._rec = home = Recording(self._masks)
            elif own.tapes:
                raise RuntimeError("this tape shares its recording with a tape that is open in another thread")
            else:
                home = own
            state.rec = home
        elif own is None:
            self._rec = home
        elif own is not home:
            self._join(home)
        self._start = home.node.count
        self._recording = True
        home.tapes = (*home.tapes, self)
        home.auto = any(t._auto for t in home.tapes)

    def _join(self, home: Recording) -> None:
        """Go on in another recording, which takes over what this tape has recorded so far."""
        assert self._rec is not None
        before = home.node.count
        moved = home.absorb(self._rec)
        at_end = [*moved, home.node.count]
        self._spans = tuple([(moved[slot], moved[slot] + 1) for a, b in self._spans for slot in range(a, b)])
        self._watched = tuple([(moved[slot], at_end[at]) for slot, at in self._watched])
        self._rec = home
        for tape in home.tapes:  # what was taken over is not theirs
            if before > tape._start:
                tape._spans = (*tape._spans, (tape._start, before))
            tape._start = home.node.count

    def _pop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self.__exit__()

    def _release(self) -> None:
        """Let go of everything; `watched_variables` stays what it was."""
        rec = self._rec
        if rec is not None and self._auto and rec.variables:
            self._seen = (*self._seen, (rec.variables, rec.node, self._spans))
        self._rec = None
        self._spans = self._watched = ()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pause this tape: operations in the ``with`` block are not recorded on it.

        Raises RuntimeError before the tape was entered, ValueError where it is not recording.
        """
        if self._rec is None and not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forget operations, watched tensors and variables, as if the block had been entered just now."""
        self._pop()
        self._spans = self._watched = ()
        self._seen = self._explicit = ()
        self._rec = STATE.rec  # other tapes go on
        self._push()

    # --- watching -------------------------------------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Differentiate by these tensors too, from here on. `tensor`: a tensor or variable, or a nest of them.

        Raises ValueError for anything else.
        """
        for x in flatten(tensor):
            if not isinstance(x, Operand):
                raise not_a_tensor(x)
            if not _may_be_watched(x):
                self._warn(
                    "watch",
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    x.dtype if hasattr(x, "dtype") else np.asarray(x._value).dtype,
                )
                continue
            rec = self._rec
            if rec is None:
                raise RuntimeError("watch() called on a tape that was never entered, or was used up")
            at = rec.node.count
            self._watched = (*self._watched, *[(slot, at) for slot in rec.watch(x)])
            if hasattr(x, "_serial"):
                self._explicit = (*self._explicit, x)

    def _warn(self, about: str, message: str, *args: Any) -> None:
        if _warned[about] < MAX_WARNINGS[about]:
            _warned[about] += 1
            self._logger.warning(message, *args)

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were watched when they were read, or explicitly, in the order of their creation."""
        return tuple(sorted(self._variables(), key=lambda v: getattr(v, "_serial", 0)))

    def _variables(self) -> tuple[Any, ...]:
        found: dict[int, Any] = {id(v): v for v in self._explicit}
        seen = self._seen
        if self._rec is not None:
            end = ((self._start, self._rec.node.count + 1),) if self._recording else ()
            if self._auto:
                seen = (*seen, (self._rec.variables, self._rec.node, (*self._spans, *end)))
        for variables, node, spans in seen:
            slots = {slot for slot in variables if any(a <= slot < b for a, b in spans)}
            if len(slots) < len(variables):
                slots |= self._used(node, spans) & set(variables)
            found.update((id(variables[slot]), variables[slot]) for slot in sorted(slots))
        return tuple(found.values())

    def _used(self, end: TrieNode, spans: tuple[tuple[int, int], ...]) -> set[int]:
        """Slots that the records in these spans read."""
        from .connect import read

        out: set[int] = set()
        for node in end.path():
            assert node.parent is not None
            if any(a <= node.parent.count < b for a, b in spans):
                out.update(read(node).operands)
        return out

    # --- derivatives ----------------------------------------------------------------------------------------------

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None,
        unconnected_gradients: Any = NONE,
    ) -> Any:  # fmt: skip
        """The derivative of the sum of `target` with respect to `sources`.

        target: a tensor, or a nest of tensors, whose elements are all summed.
        sources: a tensor or variable, or a nest of them. The result has the same structure.
        output_gradients: weights of the target's elements, of its structure and shapes; one by default.
        unconnected_gradients: what to give where the target does not depend on a source.

        Returns tensors in the sources' shapes and dtypes, or None. Raises RuntimeError at the second use of a tape that
        is not persistent, TypeError and ValueError for arguments that are no tensors.
        """
        rec = self._rec
        if rec is None:
            raise RuntimeError(SECOND_USE)
        if output_gradients is None and not self._recording and unconnected_gradients is NONE and STATE.rec is None:
            usual = self._usual(rec, target, sources)
            if usual is not None:
                return usual
        if self._recording:
            if not self._persistent:
                self._pop()
            else:
                self._warn("inside", INSIDE)
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to "
                "be differentiated, but received None."
            )
        unconnected = _unconnected(unconnected_gradients)
        kind = type(sources)
        flat = sources if kind is list or kind is tuple and not hasattr(kind, "_fields") else None
        if flat is None or not all(isinstance(x, Operand) for x in flat):
            flat = flatten(sources)
            _check_sources(flat)
        targets = [target] if isinstance(target, Operand) else _targets(target)
        seeds = None if output_gradients is None else _seeds(targets, output_gradients)
        try:
            grads = self._gradient(rec, targets, flat, seeds)
        finally:
            if not self._persistent:
                self._release()
        if unconnected is not NONE:
            grads = [_zeros(x) if g is None else g for g, x in zip(grads, flat)]
        if kind is list and flat is sources:
            return grads
        if flat is not sources and not is_nested(sources):
            return grads[0]
        return pack_like(sources, grads)

    def _usual(self, rec: Recording, target: Any, sources: Any) -> Any:
        """The usual case, a tensor by a leaf or a list of leaves, with a structure that was seen before and no tape
        open; None if it is not."""
        if rec.barriers or rec.versions:
            return None
        single = sources.__class__ is not list
        flat = (sources,) if single else sources
        variables = rec.variables
        try:
            if target._token is not rec.token:
                return None
            if len(flat) == len(variables) and all(map(is_, variables.values(), flat)):
                slots = tuple(variables)  # all variables in the order in which they were read first, as is most usual
            else:
                known = rec.known
                slots = tuple([known[id(x)][1] for x in flat])
        except (AttributeError, KeyError):
            return None
        ask = rec.node.pulls.get(((target._slot,), slots, self._spans, self._watched, self._auto, False, False))
        if ask is None or ask.sources != slots:
            return None
        values = rec.values
        if len(values) != rec.node.count:
            return None
        try:
            pull = ask.exact[ask.kind_of(values)]
        except (KeyError, AttributeError):
            pull = ask.pullback(values)
        if pull.complex and target._conjugate:
            return None
        results = pull.run(*pull.fetch(values))
        self._ran = (pull,)
        if not self._persistent:  # as in `_release`
            if self._auto and rec.variables:
                read = (rec.variables, rec.node, self._spans)
                self._seen = (*self._seen, read) if self._seen else (read,)
            self._rec = None
            self._spans = self._watched = ()
        if single:
            t = flat[0]._tensor_class()
            t._value = results
            t._token = CONSTANT
            t._slot = -1
            return t
        if len(slots) == 1:
            results = (results,)
        out = []
        kind: Any = None
        for value, x in zip(results, flat):
            if x.__class__ is not kind:
                kind = x.__class__
                cls = x._tensor_class
            t = cls()
            t._value = value
            t._token = CONSTANT
            t._slot = -1
            out.append(t)
        return out

    def _view(self, rec: Recording) -> View:
        spans = self._spans
        if self._recording:
            spans = (*spans, (self._start, rec.node.count))
        watched = self._watched
        if self._explicit and rec.versions:  # a variable that was assigned to is still watched
            known = {slot for slot, _ in watched}
            for x in self._explicit:
                later = [slot for slot in rec.slots(x) if slot not in known]
                watched = (*watched, *[(slot, slot) for slot in later])
        if rec.became:
            watched = (*watched, *[rec.became[slot] for slot, _ in watched if slot in rec.became])
        return View(spans, watched, self._auto)

    def _gradient(
        self, rec: Recording, targets: list[Any], sources: Any, seeds: list[Any] | None, stacked: bool = False
    ) -> list[Any]:
        """The cotangents of the sources, or None. `stacked`: the seeds, and the results, are stacks of cotangents;
        raises NotBatchedError where that is not possible."""
        if len(rec.values) != rec.node.count:
            raise RuntimeError(
                "an operation was interrupted while this tape recorded it: compute it again, on a new tape"
            )
        slots = [rec.slots(x) for x in sources]
        ends: list[tuple[Any, Any]] = []  # targets that the recording knows, with their seeds
        direct: list[tuple[Any, Any]] = []  # those that it does not: they may still be sources
        for k, x in enumerate(targets):
            if not _may_be_watched(x):
                continue
            seed = None if seeds is None else seeds[k]
            at = rec.slots(x)
            if at:
                at_now = at[-1]
                ends.append((at_now, seed))
            else:
                direct.append((x, seed))
        conjugate = bool(sources) and sources[0]._conjugate
        if conjugate:
            ends = [(at, conjugated(seed)) for at, seed in ends]
        results = self._run(rec, ends, slots, seeds is not None, sources, stacked)
        if conjugate:
            results = {at: conjugated(g) for at, g in results.items()}
        out = []
        for x, at in zip(sources, slots):
            parts = [results[s] for s in at if s in results]
            total = parts[0] if parts else None
            for part in parts[1:]:
                total = total + part
            for y, seed in direct:
                if y is x:
                    g = seed if seed is not None else _ones(x)
                    total = g if total is None else total + g
            if total is not None and not at and not isinstance(total, x._tensor_class):
                total = wrap(x._tensor_class, total)
            out.append(total)
        return out

    def _run(
        self, rec: Recording, ends: list[tuple[Any, Any]], slots: list[tuple[int, ...]], seeded: bool, sources: Any,
        stacked: bool,
    ) -> dict[int, Any]:  # fmt: skip
        if not ends:
            return {}
        cls = sources[0]._tensor_class if len(sources) else None
        if cls is None:
            return {}
        wanted = tuple([s for at in slots for s in at])
        targets = tuple([t for t, _ in ends])
        view = self._view(rec)
        if rec.barriers:
            if stacked:
                raise NotBatchedError("a function with its own gradient")
            ran: list[Pullback] = []

            def run(rec: Recording, ask: Request, seeds: list[Any], cls: type[Any]) -> dict[int, Any]:
                ran.append(ask.pullback(rec.values))
                return run_pullback(rec, ask, seeds, cls)

            found = sweep(rec, view, ends, wanted, cls, run)
            self._ran = tuple(ran)
            return found
        # Another tape that was opened later has not seen how all of the values came about.
        open_now = STATE.rec.tapes if STATE.rec is not None else ()
        opaque = any(t is not self and t._start > (view.spans[0][0] if view.spans else 0) for t in open_now)
        ask = request(rec, targets, wanted, view, seeded, opaque)
        if not ask.sources:
            return {}
        pull = ask.pullback(rec.values)
        self._ran = (pull.stacked() or pull if stacked else pull,)
        return run_pullback(rec, ask, [s for _, s in ends] if seeded else [], cls, stacked)

    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any = NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """The derivative of each element of `target` by each element of the sources.

        The result has the structure of `sources`; its parts have the shape of the target followed by that of the
        source. The pullback runs for all elements of the target at once where its operations have rules for that.
        `parallel_iterations` is accepted and has no effect; ``experimental_use_pfor=False`` needs a persistent tape, as
        in TensorFlow.
        """
        return jacobian(self, target, sources, _unconnected(unconnected_gradients), experimental_use_pfor)

    def batch_jacobian(
        self, target: Any, source: Any, unconnected_gradients: Any = NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """For each row of a batch, the derivative of the target's row by the source's row.

        target: shape (b, m...), source: shape (b, n...); the result has shape (b, m..., n...). Rows must not depend on
        each other: what row i of the target owes to row j of the source would be added to what it owes to its own.
        """
        return batch_jacobian(self, target, source, _unconnected(unconnected_gradients), experimental_use_pfor)

    # --- to read --------------------------------------------------------------------------------------------------

    def ir(self) -> str:
        """What was recorded, as the text of the compiler's IR."""
        rec = self._need("ir")
        return show_recording(rec.node, rec.values)

    def source(self, target: Any = None, sources: Any = None) -> str:
        """The code of the gradient of `target` with respect to `sources`, as `gradient` runs it, below the operations
        whose values it takes; it does not use up the tape. Without arguments: that of this tape's last gradient.

        Raises RuntimeError where there is none yet, or the tape was used up.
        """
        if target is None:
            if not self._ran:
                raise RuntimeError("no gradient was taken from this tape yet: call source(target, sources)")
            return _shown(self._ran)
        rec = self._need("source")
        flat = flatten(sources)
        _check_sources(flat)
        state = STATE
        outside, before = state.rec, self._ran
        state.rec = None  # what runs here is for nobody to differentiate
        try:
            self._ran = ()
            self._gradient(rec, _targets(target), flat, None)
            return _shown(self._ran) or "# no operation of the tape leads from the sources to the target"
        finally:
            state.rec, self._ran = outside, before

    def _need(self, what: str) -> Recording:
        if self._rec is None:
            raise RuntimeError(
                f"{what}() of a tape that was never entered, or was used up: call it before the gradient, or make the "
                "tape persistent"
            )
        return self._rec


def _shown(ran: tuple[Pullback, ...]) -> str:
    parts = [pull.source if pull.ask is None else show_pullback(pull.ask, pull) for pull in ran]
    return "\n\n".join(dict.fromkeys(parts))


def _may_be_watched(x: Any) -> bool:
    v = x._value
    kind = v.dtype.kind if isinstance(v, (np.ndarray, np.generic)) else "f"
    return kind in "fc"


def _unconnected(value: Any) -> UnconnectedGradients:
    if type(value) is UnconnectedGradients:
        return value
    try:
        return UnconnectedGradients(getattr(value, "value", value))
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}") from None


def not_a_tensor(x: Any) -> ValueError:
    name = type(x).__name__
    return ValueError(f"Passed in object {x!r} of type {name!r}, not tf.Tensor or tf.Variable or ExtensionType.")


def _check_sources(flat: list[Any]) -> None:
    for x in flat:
        if not isinstance(x, Operand):
            raise not_a_tensor(x)


def _targets(target: Any) -> list[Any]:
    out = flatten(target)
    for x in out:
        if x is None:
            raise TypeError("Argument `target` holds None where a tensor has to be")
        if not isinstance(x, Operand):
            raise AttributeError(f"the target of a gradient has to be made of tensors; {x!r} is a {type(x).__name__}")
    return out


def _seeds(targets: list[Any], given: Any) -> list[Any]:
    flat = flatten(given)
    if len(flat) != len(targets):
        raise ValueError(f"output_gradients has {len(flat)} parts for {len(targets)} targets")
    out = []
    for x, g in zip(targets, flat):
        if g is None:
            g = _ones(x)
        elif not isinstance(g, Operand):
            g = wrap(x._tensor_class, np.asarray(g, np.asarray(x._value).dtype)[()])
        elif x._strict and g._value.dtype is not x._value.dtype:
            x._mismatch(g, "mul")
        shape = np.shape(x._value)
        if np.shape(g._value) != shape:
            if np.shape(g._value) != ():
                raise ValueError(f"output_gradients has shape {np.shape(g._value)} for a target of shape {shape}")
            g = g * _ones(x)
        out.append(g)
    return out


def _ones(x: Any) -> Any:
    return wrap(x._tensor_class, np.ones_like(x._value)[()])


def _zeros(x: Any) -> Any:
    """Zeros, through which nothing flows; open tapes know them, as the result of any operation on `x`."""
    return record_barrier([wrap(x._tensor_class, np.zeros_like(x._value)[()])], [x], lambda upstream: [None])[0]


__all__ = ["GradientTape", "UnconnectedGradients", "map_nested"]
