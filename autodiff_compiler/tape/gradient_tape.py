"""`GradientTape`: records operations of eager code while it runs, and differentiates what they compute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from ..api.options import backend_of
from ..tracebacks import trim, trimmed
from .barrier import record_barrier
from .connect import NONE, UnconnectedGradients, View
from .jacobians import batch_jacobian, jacobian
from .machine import runner, source_of
from .nest import flatten, is_nested, map_nested, pack_like
from .plan import AFTER, plan_for
from .printer import show_pullback, show_recording
from .pullback import Pullback, Request, request
from .recorder import Recorder
from .recording import CONSTANT, STATE, Recording, TrieNode
from .sweep import conjugated, run_pullback, sweep
from .tensor import Operand, wrap

SECOND_USE = "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
INSIDE = (
    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient than "
    "calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to increased CPU "
    "and memory usage). Only call GradientTape.gradient inside the context if you actually want to trace the gradient "
    "in order to compute higher order derivatives."
)


class GradientTape(Recorder):
    """Records operations on tensors and variables, to differentiate what they compute.

    persistent: `gradient` and the like may be called more than once.
    watch_accessed_variables: trainable variables are watched when they are read.
    backend: how gradients are computed: "numpy", or "native" for machine code, which Numba compiles at the first
        gradient of a structure. "auto" begins with NumPy code, and goes on with machine code for structures where that
        is faster. See docs/tape.md.

    A tape records the operations of its own thread, while its ``with`` block is open.

    >>> import autodiff_compiler as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.GradientTape() as tape:
    ...     y = x * x
    >>> tape.gradient(y, x).numpy()
    np.float64(6.0)
    """

    __slots__ = ("_persistent", "_backend", "_explicit", "_seen", "_ran")
    _used_up = f"{SECOND_USE}: make it with persistent=True, or record again on a new tape"

    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True,
        backend: Literal["numpy", "native", "auto"] = "numpy",
    ):  # fmt: skip
        # As in `Recorder`, but fast: each step of a training loop makes a tape.
        self._auto = watch_accessed_variables
        self._rec = None
        self._recording = False
        self._start = 0
        self._spans = self._watched = ()
        self._persistent = persistent
        self._backend = backend if backend == "numpy" else backend_of(backend)
        self._explicit: tuple[Any, ...] = ()  # variables that it was told to watch
        # For `watched_variables` of a tape that was used up: variables with their slots, the node, the tape's spans.
        self._seen: tuple[tuple[Iterable[tuple[int, Any]], TrieNode, tuple[tuple[int, int], ...]], ...] = ()
        self._ran: tuple[Pullback, ...] = ()  # the pullbacks of the last gradient

    # --- life ---------------------------------------------------------------------------------------------------

    def _release(self) -> None:
        """Let go of the recording. `watched_variables` gives the same as before."""
        rec = self._rec
        if rec is not None and self._auto:
            variables = rec.variables
            if variables:
                self._seen = (*self._seen, (variables.items(), rec.node, self._spans))
        self._rec = None
        self._spans = self._watched = ()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pause this tape: operations in the ``with`` block are not recorded on it.

        Raises RuntimeError if the tape was never entered, ValueError if it is not recording.
        """
        if self._rec is None and not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forget operations, watched tensors and variables, as if the block had just been entered."""
        self._pop()
        self._spans = self._watched = ()
        self._seen = self._explicit = ()
        self._rec = STATE.rec  # other tapes go on
        self._push()

    # --- watching -------------------------------------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Record the operations on a tensor from here on, so that it may be a source of `gradient`.

        tensor: a tensor or variable, or a nest of them. Trainable variables are watched without this call.
        Raises ValueError for other objects. A tensor of integers or booleans gives a warning and is not watched.
        """
        rec = self._rec
        many = tensor if type(tensor) is list else [tensor]
        pairs = () if rec is None else rec.watch_constants(many)
        if pairs:
            self._watched = (*self._watched, *pairs)
            if len(pairs) == len(many):
                return
        for x in many[len(pairs) :]:
            self._watch(x)

    def _watch(self, tensor: Any) -> None:
        """`watch` in any case."""
        for x in flatten(tensor):
            if not isinstance(x, Operand):
                raise self._not_a_tensor(x)
            if not _may_be_watched(x):
                self._warn(
                    "watch",
                    f"The dtype of the watched tensor must be floating (e.g. {self._floating}), got %r",
                    x.dtype if hasattr(x, "dtype") else np.asarray(x._value).dtype,
                )
                continue
            rec = self._rec
            if rec is None:
                raise RuntimeError(
                    "watch() of a tape that was never entered, or was used up: call it inside of the with block"
                )
            at = rec.node.count
            self._watched = (*self._watched, *[(slot, at) for slot in rec.watch(x)])
            if hasattr(x, "_serial"):
                self._explicit = (*self._explicit, x)

    def _check_sources(self, flat: list[Any]) -> None:
        for x in flat:
            if not isinstance(x, Operand):
                raise self._not_a_tensor(x)

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that the tape watches: those that were read, and those given to `watch`.

        They come in the order of their creation.
        """
        return tuple(sorted(self._variables(), key=lambda v: getattr(v, "_serial", 0)))

    def _variables(self) -> tuple[Any, ...]:
        found: dict[int, Any] = {id(v): v for v in self._explicit}
        seen = self._seen
        if self._rec is not None:
            end = ((self._start, self._rec.node.count + 1),) if self._recording else ()
            if self._auto:
                seen = (*seen, (self._rec.variables.items(), self._rec.node, (*self._spans, *end)))
        for leaves, node, spans in seen:
            variables = dict(leaves)
            slots = {slot for slot in variables if any(a <= slot < b for a, b in spans)}
            if len(slots) < len(variables):
                slots |= self._used(node, spans) & set(variables)
            found.update((id(variables[slot]), variables[slot]) for slot in sorted(slots))
        return tuple(found.values())

    def _used(self, end: TrieNode, spans: tuple[tuple[int, int], ...]) -> set[int]:
        """The slots of the operands of the records in these spans."""
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

        target: a tensor, or a nest of tensors. All elements are summed.
        sources: a tensor or variable, or a nest of them. The result has the same structure.
        output_gradients: weights of the target's elements, with its structure and shapes; 1 by default.
        unconnected_gradients: `UnconnectedGradients.NONE` or `ZERO`: the result for a source that the target does not
            depend on.

        Returns tensors of the sources' shapes and dtypes, or None for an unconnected source. Raises RuntimeError at the
        second use of a tape that is not persistent; TypeError, ValueError or AttributeError for arguments that are no
        tensors.

        >>> import autodiff_compiler as ad
        >>> w, b = ad.Variable([1.0, 2.0]), ad.Variable(0.5)
        >>> with ad.GradientTape() as tape:
        ...     y = w * w + b
        >>> [g.numpy() for g in tape.gradient(y, [w, b])]
        [array([2., 4.]), np.float64(2.0)]
        """
        try:
            rec = self._rec
            if rec is None:
                raise RuntimeError(self._used_up)
            if output_gradients is None and not self._recording and unconnected_gradients is NONE and STATE.rec is None:
                plan = rec.node.plan
                if plan is not None:
                    usual = plan(self, rec, target, sources)
                    if usual is not None:
                        return usual
                usual = self._usual(rec, target, sources)
                if usual is not None:
                    return usual
            return self._any_gradient(rec, target, sources, output_gradients, unconnected_gradients)
        except BaseException as error:
            __tracebackhide__ = True
            trim(error)
            raise

    def _any_gradient(
        self, rec: Recording, target: Any, sources: Any, output_gradients: Any, unconnected_gradients: Any
    ) -> Any:
        """`gradient` in any case."""
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
            self._check_sources(flat)
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
        """`gradient` in the usual case, without its overhead. None if the case is not the usual one.

        That is: the target is a tensor, the sources are a leaf or a list of leaves, and no tape is open. The pullback
        for the structure is compiled already.
        """
        if rec.barriers or rec.versions:
            return None
        single = sources.__class__ is not list
        flat = (sources,) if single else sources
        known = rec.known
        try:
            if target._token is not rec.token:
                return None
            slots = tuple([known[id(x)][0] for x in flat])
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
        run = pull.run if self._backend == "numpy" else runner(pull, self._backend)
        pull.asked += 1
        if pull.asked == AFTER:
            pull.plan = plan_for(self, rec, ask, pull, flat)
        if pull.plan is not None:
            rec.node.plan = pull.plan
        results = run(*pull.fetch(values))
        self._ran = (pull,)
        if not self._persistent:
            self._release()
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
        """The part of the recording that belongs to this tape."""
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
        """The cotangents of the sources, with None for those that are not connected.

        stacked: seeds and results are stacks of cotangents. Raises NotBatchedError where that is not possible.
        """
        if len(rec.values) != rec.node.count:
            raise RuntimeError(
                "an operation was interrupted while this tape recorded it: compute it again, on a new tape"
            )
        slots = [rec.slots(x) for x in sources]
        ends: list[tuple[Any, Any]] = []  # targets on the recording, with their seeds
        direct: list[tuple[Any, Any]] = []  # other targets, which may still be sources themselves
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
            ran: list[Pullback] = []

            def run(rec: Recording, ask: Request, seeds: list[Any], cls: type[Any]) -> dict[int, Any]:
                pull = ask.pullback(rec.values)
                ran.append(pull.stacked() or pull if stacked else pull)
                return run_pullback(rec, ask, seeds, cls, stacked, self._backend)

            found = sweep(rec, view, ends, wanted, cls, run, stacked)
            self._ran = tuple(ran)
            return found
        # A tape that was opened later has not recorded the operations before.
        open_now = STATE.rec.tapes if STATE.rec is not None else ()
        opaque = any(t is not self and t._start > (view.spans[0][0] if view.spans else 0) for t in open_now)
        ask = request(rec, targets, wanted, view, seeded, opaque)
        if not ask.sources:
            return {}
        pull = ask.pullback(rec.values)
        self._ran = (pull.stacked() or pull if stacked else pull,)
        return run_pullback(rec, ask, [s for _, s in ends] if seeded else [], cls, stacked, self._backend)

    @trimmed
    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any = NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """The derivative of each element of `target` by each element of the sources.

        The result has the structure of `sources`. For each source it is a tensor of shape
        ``(*target.shape, *source.shape)``, or None if it is not connected. Where all operations have batching rules,
        the pullback runs once for all elements of the target. `parallel_iterations` has no effect.
        ``experimental_use_pfor=False`` needs a persistent tape, as in TensorFlow. Raises RuntimeError at the second
        use of a tape that is not persistent, AttributeError for a target that is no tensor.

        >>> import autodiff_compiler as ad
        >>> x = ad.Variable([1.0, 2.0])
        >>> with ad.GradientTape() as tape:
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy()
        array([[2., 0.],
               [0., 4.]])
        """
        return jacobian(self, target, sources, _unconnected(unconnected_gradients), experimental_use_pfor)

    @trimmed
    def batch_jacobian(
        self, target: Any, source: Any, unconnected_gradients: Any = NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """For each row of a batch, the derivative of the target's row by the source's row.

        target: shape (b, m...). source: shape (b, n...). The result is a tensor of shape (b, m..., n...).
        Row i of the target must depend on row i of the source only. This is not checked: if it depends on row j, too,
        the derivatives by both rows are added. Raises ValueError for shapes that do not fit, RuntimeError at the second
        use of a tape that is not persistent.

        >>> import autodiff_compiler as ad
        >>> x = ad.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with ad.GradientTape() as tape:
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy()
        array([[[2., 0.],
                [0., 4.]],
        <BLANKLINE>
               [[6., 0.],
                [0., 8.]]])
        """
        return batch_jacobian(self, target, source, _unconnected(unconnected_gradients), experimental_use_pfor)

    # --- to read --------------------------------------------------------------------------------------------------

    def ir(self) -> str:
        """The recording as IR text. Raises RuntimeError if the tape was never entered, or was used up."""
        rec = self._need("ir")
        return show_recording(rec.node, rec.values)

    @trimmed
    def source(self, target: Any = None, sources: Any = None) -> str:
        """The code that `gradient` runs for `target` and `sources`. Comments above it show the recorded operations.

        It does not use up the tape. Without arguments: the code of this tape's last gradient. Raises RuntimeError if
        there was none yet, or if the tape was used up.
        """
        if target is None:
            if not self._ran:
                raise RuntimeError("no gradient was taken from this tape yet: call source(target, sources)")
            return _shown(self._ran, self._backend)
        rec = self._need("source")
        flat = flatten(sources)
        self._check_sources(flat)
        state = STATE
        outside, before = state.rec, self._ran
        state.rec = None  # no tape shall record this
        try:
            self._ran = ()
            self._gradient(rec, _targets(target), flat, None)
            return _shown(self._ran, self._backend) or "# no operation of the tape leads from the sources to the target"
        finally:
            state.rec, self._ran = outside, before

    def _need(self, what: str) -> Recording:
        if self._rec is None:
            raise RuntimeError(
                f"{what}() of a tape that was never entered, or was used up: call it before the gradient, or make the "
                "tape persistent"
            )
        return self._rec


def _shown(ran: tuple[Pullback, ...], backend: str) -> str:
    parts = [source_of(pull, backend) or (pull.source if pull.ask is None else show_pullback(pull.ask, pull))
             for pull in ran]  # fmt: skip
    return "\n\n".join(dict.fromkeys(parts))


def _may_be_watched(x: Any) -> bool:
    v = x._value
    return not isinstance(v, (np.ndarray, np.generic)) or v.dtype.kind in "fc"


def _unconnected(value: Any) -> UnconnectedGradients:
    if type(value) is UnconnectedGradients:
        return value
    try:
        return UnconnectedGradients(getattr(value, "value", value))
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}") from None


def _targets(target: Any) -> list[Any]:
    out = flatten(target)
    for x in out:
        if x is None:
            raise TypeError("Argument `target` contains None in place of a tensor")
        if not isinstance(x, Operand):
            raise AttributeError(
                f"the target of a gradient has to be a tensor, and {x!r} is a {type(x).__name__}: compute it with "
                "tensors inside of the tape's with block"
            )
    return out


def _seeds(targets: list[Any], given: Any) -> list[Any]:
    flat = flatten(given)
    if len(flat) != len(targets):
        raise ValueError(
            f"output_gradients has {len(flat)} parts for {len(targets)} targets: give one tensor or None for each"
        )
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
                raise ValueError(
                    f"output_gradients has shape {np.shape(g._value)} for a target of shape {shape}: the shapes must "
                    "be equal"
                )
            g = g * _ones(x)
        out.append(g)
    return out


def _ones(x: Any) -> Any:
    return wrap(x._tensor_class, np.ones_like(x._value)[()])


def _zeros(x: Any) -> Any:
    """Zeros of the shape of `x`. Open tapes record them as an operation on `x` without a gradient."""
    return record_barrier([wrap(x._tensor_class, np.zeros_like(x._value)[()])], [x], lambda upstream: [None])[0]


__all__ = ["GradientTape", "UnconnectedGradients", "map_nested"]
