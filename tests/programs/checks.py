"""The checks of one random program.

- the value of the SSA form, and of the emitted forward sweep, against the function's own;
- the gradient against central differences, along random directions; and entry by entry where these disagree;
- the second derivative, likewise;
- the optimised, emitted adjoint against the unoptimised one, run by the reference interpreter;
- a gradient loaded from the disk cache against the one that was compiled, bit by bit;
- a second size and other branches on the code of the first; float32 arguments;
- arguments come back unchanged, results are fresh, and effects outside of the function are those of the plain call.

A program is a text that defines ``f``. It may also define

``pack(x, y, s)``, ``unpack(g)``  the arguments of f from two arrays and a float; three cotangents from its gradient
``prepare(run)``                  sets all that lives outside of the functions; called before each call
``state()``                       numbers that f writes outside
"""

from __future__ import annotations

import atexit
import copy
import functools
import itertools
import linecache
import os
import re
import shutil
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import autodiff_compiler as ad
from autodiff_compiler.api.cache import VARIABLE
from autodiff_compiler.api.options import CHECKING
from autodiff_compiler.api.transforms import differentiated, hand_through, lower_any
from autodiff_compiler.errors import InternalError
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.lowered import fetch
from autodiff_compiler.transforms import pipeline
from autodiff_compiler.transforms.batch import NotBatchedError, batch
from autodiff_compiler.tree import flatten, unflatten

os.environ[CHECKING] = "1"  # what is lowered is compared with a run of the function

Args = tuple[Any, ...]
STEPS = (1e-4, 1e-5, 1e-6)
DIRECTIONS = 2
LARGEST = 1e5  # beyond, differences say little
CHECKS = (
    "second",
    "plain",
    "warm",
    "float32",
    "tangent",
    "batch",
    "examples",
    "jacobian",
    "checkpoint",
    "budget",
    "loose",
)
RANGES = re.compile(r"for (\w+) in range\(([^:\n]*)\):")
DEFAULTS = """

def pack(x, y, s):
    return x, y, s


def unpack(g):
    return g
"""
SECOND = """

def directional(x, y, s, vx, vy, vs):
    gx, gy, gs = unpack(gradient(*pack(x, y, s)))
    return np.sum(gx * vx) + np.sum(gy * vy) + gs * vs
"""


class Timeout(BaseException):
    """Raised where a check takes too long. It is no Exception, so only the checker catches it."""


class Refused(Exception):
    pass


class Wrong(Exception):
    pass


def load(source: str, name: str = "random_program") -> dict[str, Any]:
    """Run the source so that `inspect` finds it; the globals."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    module = sys.modules[name] = types.ModuleType(name)  # dataclasses look there
    exec(compile(source, filename, "exec"), module.__dict__)
    return module.__dict__


def arguments(source: str, seed: int, n: int, m: int = 4) -> Args:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, n) if "m = x.shape[0]" in source else n)
    return x, rng.normal(size=n), float(rng.normal())


def fresh(args: Args) -> Args:
    return tuple([a.copy() if isinstance(a, np.ndarray) else a for a in args])


class Program:
    """The loaded program, as functions of two arrays and a float."""

    def __init__(self, source: str, name: str = "random_program"):
        self.source = source
        text = source + ("" if "\ndef pack(" in source else DEFAULTS)
        self.names = load(text + SECOND, name)
        self.names["ad"] = ad
        self.f = self.names["f"]
        self.pack = self.names["pack"]
        self.unpack = self.names["unpack"]
        packed = self.pack(np.ones((4, 4) if "m = x.shape[0]" in source else 4), np.ones(4), 1.0)
        self.gradient = self.names["gradient"] = ad.grad(self.f, argnums=tuple(range(len(packed))))
        self.changes = "prepare" in self.names
        self.run = 0

    def prepare(self) -> None:
        if self.changes:
            self.names["prepare"](self.run)

    def value(self, *args: Any) -> float:
        self.prepare()
        return float(self.f(*self.pack(*fresh(args))))

    def state(self) -> Any:
        return copy.deepcopy(self.names["state"]()) if "state" in self.names else None

    def gradient_of(self, args: Args) -> Args:
        """The gradient. Raises `Refused` for a refusal, and `Wrong` for any other exception."""
        self.prepare()
        with refusals(""):
            return tuple(self.unpack(self.gradient(*self.pack(*args))))


@contextmanager
def refusals(what: str) -> Iterator[None]:
    try:
        yield
    except (Refused, Wrong):
        raise
    except InternalError as error:
        raise Wrong(f"{what}{error}") from None
    except ad.AutodiffError as error:
        raise Refused(what + " / ".join(str(error).strip().splitlines())) from None
    except Exception as error:
        raise Wrong(f"{what}raises {told(error)}") from None


def told(error: BaseException) -> str:
    """The text of an unexpected exception, with the line that raised it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename.rpartition('/')[2]}:{place.lineno})"


# Central differences ------------------------------------------------------------------------------


def moved(args: Args, direction: Args, h: float) -> Args:
    return (*[a + h * d for a, d in zip(args, direction)], *args[len(direction) :])


def unit(args: Args, k: int, index: Any) -> Args:
    """The direction of one entry of argument k."""
    out = [np.zeros_like(a) if isinstance(a, np.ndarray) else 0.0 for a in args[: k + 1]]
    if isinstance(out[k], np.ndarray):
        out[k][index] = 1.0
    else:
        out[k] = 1.0
    return tuple(out)


def judge(f: Callable[..., Any], args: Args, direction: Args, got: float, scale: float) -> bool | None:
    """`got` is f's derivative along `direction`. None where differences cannot tell (a kink or a jump is
    near)."""
    middle = float(f(*fresh(args)))
    estimates, one_sided = [], []
    for h in STEPS:
        up, down = float(f(*moved(args, direction, h))), float(f(*moved(args, direction, -h)))
        estimates.append((up - down) / (2 * h))
        one_sided.append(abs((up - middle) / h - (middle - down) / h))
        tolerance = 2e-5 * max(abs(estimates[-1]), 1.0, 0.01 * scale)
        if abs(estimates[-1] - got) <= tolerance:
            return True
    spread = max(estimates) - min(estimates)
    size = max(map(abs, estimates))
    # A smooth function's one-sided differences draw together as h shrinks; at a kink they stay apart, and at a jump
    # they run away.
    if not np.isfinite(spread) or spread > 1e-3 * max(size, 1e-2) or one_sided[1] > 1e-2 * max(size, 0.1):
        return None
    return bool(abs(estimates[1] - got) <= 2e-3 * max(size, 1e-2))


def compare(
    f: Callable[..., Any], gradient: Args, args: Args, what: str, seed: int, again: Callable[[Args], Args] | None = None
) -> bool:
    """Differences show that the gradient is right. Raises `Wrong` if they show that it is wrong. The gradient is that
    of the first `len(gradient)` arguments; `again` computes it. If rounding the arguments changes it, as where huge
    numbers enter a sine, differences tell nothing."""
    try:
        return _compare(f, gradient, args, what, seed)
    except Wrong:
        if again is not None and chaotic(again, args, gradient):
            return False
        raise


def chaotic(gradient: Callable[[Args], Args], args: Args, got: Args) -> bool:
    rng = np.random.default_rng(0)
    for _ in range(4):
        near = [a * (1 + 1e-13 * rng.normal(size=np.shape(a))) for a in args]
        there = gradient(tuple([a if np.ndim(a) else float(a) for a in near]))
        size = max(1.0, *[float(np.max(np.abs(g), initial=0.0)) for g in got])
        if any(not np.allclose(a, b, rtol=1e-3, atol=1e-3 * min(size, 1e3)) for a, b in zip(there, got)):
            return True
    return False


def _compare(f: Callable[..., Any], gradient: Args, args: Args, what: str, seed: int) -> bool:
    scale = abs(float(f(*fresh(args))))
    for k, g in enumerate(gradient):
        if np.shape(g) != np.shape(args[k]):
            raise Wrong(f"{what} of argument {k} has shape {np.shape(g)}, not {np.shape(args[k])}")
    rng = np.random.default_rng(seed)
    verdicts = []
    for _ in range(DIRECTIONS):
        direction = tuple([rng.normal(size=np.shape(a)) if np.ndim(a) else float(rng.normal()) for a in args])
        direction = direction[: len(gradient)]
        along = float(sum(np.sum(g * d) for g, d in zip(gradient, direction)))
        verdicts.append(judge(f, args, direction, along, scale))
    if all(verdicts):
        return True
    # Entry by entry: which is wrong, or which can be told although a kink is near.
    decided = any(verdicts)
    for k, g in enumerate(gradient):
        for index in np.ndindex(np.shape(g)):
            got = float(g[index]) if index else float(g)
            verdict = judge(f, args, unit(args, k, index), got, scale)
            if verdict is False:
                up, down = (float(f(*moved(args, unit(args, k, index), h))) for h in (STEPS[1], -STEPS[1]))
                want = (up - down) / (2 * STEPS[1])
                raise Wrong(f"{what} of argument {k} at {list(index)} is {got!r}, differences give {want!r}")
            decided |= verdict is True
    if verdicts == [False] * DIRECTIONS:
        raise Wrong(f"{what} is wrong along random directions, although each entry seems right")
    return decided


# The checks ---------------------------------------------------------------------------------------


def check_program(source: str, seed: int, checks: tuple[str, ...]) -> str:
    """ "ok: ..." with the checks that could be made, "refused: ...", "skip: ..." or "WRONG: ..."."""
    try:
        with cache_folder("warm" in checks):
            return _check(source, seed, checks)
    except Refused as error:
        return f"refused: {error}"
    except Wrong as error:
        return f"WRONG: {error}"


def _check(source: str, seed: int, checks: tuple[str, ...]) -> str:
    program = Program(source)
    done = set()
    cold = []
    # The second run is at another size, on what the first compiled; the third takes other branches.
    for run, n in enumerate((4, 6, 4)):
        program.run = run
        args = arguments(source, 10 * seed + run, n)
        try:
            with np.errstate(over="raise"):
                value = program.value(*args)
        except FloatingPointError:
            continue  # infinity times zero in the gradient would be right
        except Timeout:
            return "skip: the program does not end"
        except Exception as error:
            return f"skip: the program raises {error!r}"
        if not np.isfinite(value) or abs(value) > LARGEST:
            continue
        got = check_call(program, args, program.state())
        cold.append((run, args, got))
        if run == 0:
            check_forward(program, args, value)
        if "plain" in checks and run != 2 and check_plain(program, args, got, f"run {run}"):
            done.add("plain")
        if compare(program.value, got, args, f"run {run}: the gradient", seed + run, program.gradient_of):
            done.add("differences")
        if "tangent" in checks and check_tangent(program, args, value, seed + run):
            done.add("tangent")
        if "batch" in checks and check_batch(program, args, got, seed + run):
            done.add("batch")
        if "jacobian" in checks and run != 1 and check_jacobian(program, args, got, seed + run):
            done.add("jacobian")
        if "examples" in checks and check_examples(program, args, seed + run):
            done.add("examples")
        if "budget" in checks and run != 2 and check_budget(program, args, got):
            done.add("budget")
        if "loose" in checks and run != 2 and check_loose(program, args, got, value):
            done.add("loose")
        if "checkpoint" in checks and run != 2 and check_checkpoint(program, args, got):
            done.add("checkpoint")
        if "float32" in checks and run == 0 and check_float32(program, args, got):
            done.add("float32")
    if "differences" not in done:
        return "skip: no usable point"
    program.run = 0
    if "warm" in checks and check_warm(program, cold):
        done.add("warm")
    if "second" in checks and check_second(program, seed):
        done.add("second")
    return "ok: " + " ".join(sorted(done))


def same(a: Any, b: Any) -> bool:
    return (
        type(a) is type(b) and np.array_equal(a, b, equal_nan=True) and getattr(a, "dtype", 0) == getattr(b, "dtype", 0)
    )


def same_state(a: list[Any] | None, b: list[Any] | None) -> bool:
    """The same types, and the same numbers except for the rounding of sums. NumPy adds in the order of memory, which differs
    between an array in Fortran order and its copy."""
    if a is None or b is None:
        return a is b
    return [type(v) for v in a] == [type(v) for v in b] and all(map(close, a, b))


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-13, atol=0.0, equal_nan=True)) if isinstance(b, float) else bool(a == b)


def check_call(program: Program, args: Args, left: Any) -> Args:
    """The gradient called twice is the same and fresh. It leaves arguments as they were, and has the plain call's effects
    outside."""
    given = fresh(args)
    got = program.gradient_of(given)
    if not same_state(program.state(), left):
        raise Wrong(f"the gradient leaves {program.state()!r} outside, the function {left!r}")
    again = program.gradient_of(given)
    for k, (a, b) in enumerate(zip(args, given)):
        if not same(a, b):
            raise Wrong(f"argument {k} was modified")
    for k, (a, b) in enumerate(zip(got, again, strict=True)):
        if not same(a, b):
            raise Wrong(f"the second call gives another gradient for argument {k}")
        if isinstance(a, np.ndarray) and any(np.shares_memory(a, c) for c in (b, given[0], given[1])):
            raise Wrong(f"the gradient of argument {k} is not a fresh array")
    return got


def check_value(program: Program, args: Args, found: float, want: float, what: str) -> None:
    """Values agree, unless rounding decides them: then arguments that differ in the last digit give other values, too."""
    if np.isclose(found, want, rtol=1e-9, atol=1e-9):
        return
    near = [program.value(*[a * (1 + step * np.finfo(float).eps) for a in args]) for step in range(1, 5)]
    if any(np.isclose(a, b, rtol=1e-9, atol=1e-9) for a, b in itertools.combinations([want, *near], 2)):
        raise Wrong(f"{what} {found!r}, of the function {want!r}")


def check_forward(program: Program, args: Args, want: float) -> None:
    """The value that the emitted forward sweep yields."""
    program.prepare()
    with refusals("value: "):
        found, _ = ad.value_and_grad(program.f, argnums=program.gradient.argnums)(*program.pack(*fresh(args)))
    check_value(program, args, found, want, "the value is")


def check_plain(program: Program, args: Args, got: Args, what: str, optimise: bool = False) -> bool:
    """The emitted adjoint against the unoptimised one, which the interpreter runs."""
    program.prepare()
    given = program.pack(*fresh(args))
    with refusals("lowering: "):
        lowered = lower_any(program.f, given, {})
    wanted, tree = differentiated(program.f, lowered, program.gradient.argnums, given, {})
    _, values = program.gradient._dispatch.bind(given, {})
    leaves = [fetch(item.path, values) for item in lowered.inputs]
    with refusals("unoptimised: "):
        adjoint = pipeline.adjoint(lowered.function, wanted.wrt, seeds=[1.0], optimise=optimise)
        hand_through(adjoint, wanted)
        verify(adjoint)
        plain = program.unpack(unflatten(tree, interpret(adjoint, leaves)))
    size = max(1.0, *[float(np.max(np.abs(g), initial=0.0)) for g in got])
    for k, (a, b) in enumerate(zip(plain, got, strict=True)):
        if not np.allclose(a, b, rtol=1e-8, atol=1e-10 * size, equal_nan=True):
            raise Wrong(f"{what}: the unoptimised adjoint gives {a!r} for argument {k}, the emitted one {b!r}")
    return True


def check_tangent(program: Program, args: Args, value: float, seed: int) -> bool:
    """The tangent along a random direction is the product of the gradient with it. Value, state and arguments are as
    the plain call leaves them."""
    rng = np.random.default_rng(seed)
    program.prepare()
    given = program.pack(*fresh(args))
    gradient = program.gradient(*given)
    leaves, tree = flatten(gradient)
    chosen = [rng.normal(size=np.shape(g)) if np.result_type(g).kind == "f" else g for g in leaves]
    direction = [d if isinstance(g, np.ndarray) else type(g)(d) for d, g in zip(chosen, leaves)]
    program.prepare()
    given = program.pack(*fresh(args))
    with refusals("tangent: "):
        found, along = ad.jvp(program.f, given, unflatten(tree, direction))
    check_value(program, args, found, value, "jvp: the value is")
    terms = [g * d for g, d in zip(leaves, direction) if np.result_type(g).kind == "f"]
    want = float(sum(map(np.sum, terms)))
    size = max(1.0, *[float(np.sum(np.abs(t))) for t in terms])
    if not np.isclose(along, want, rtol=1e-9, atol=1e-9 * size, equal_nan=True):
        raise Wrong(f"jvp: the tangent is {along!r}, the gradient gives {want!r}")
    return True


def check_jacobian(program: Program, args: Args, got: Args, seed: int) -> bool:
    """The Jacobian forwards, which goes by stacks of tangents, is the gradient. The linear function of `linearize` is the
    product with it. The Hessian times a direction is the tangent of the gradient."""
    rng = np.random.default_rng(seed)
    argnums = program.gradient.argnums

    def run(made: Any) -> Any:
        program.prepare()
        with refusals("jacobian: "):
            return made(*program.pack(*fresh(args)))

    want, tree = flatten(run(program.gradient))
    found, _ = flatten(run(ad.jacfwd(program.f, argnums)))
    _agree("jacfwd", found, want)
    moving = [np.result_type(g).kind == "f" for g in want]
    direction = [rng.normal(size=np.shape(g)) if m else g for g, m in zip(want, moving)]
    direction = [d if isinstance(g, np.ndarray) else type(g)(d) for d, g in zip(direction, want)]
    _, push = run(lambda *given: ad.linearize(program.f, *given))
    terms = [g * d for g, d, m in zip(want, direction, moving) if m]
    _agree("linearize", [push(*unflatten(tree, direction))], [float(sum(map(np.sum, terms)))], terms)
    if seed % 4 == 0 and all(moving) and sum(map(np.size, want)) < 40:
        hessian, _ = flatten(run(ad.hessian(program.f, argnums)))
        product, _ = flatten(run(lambda *given: ad.jvp(program.gradient, given, unflatten(tree, direction))[1]))
        count = len(want)
        for k, row in enumerate(product):
            blocks = hessian[k * count : (k + 1) * count]
            parts = [np.tensordot(b, d, np.ndim(d)) for b, d in zip(blocks, direction)]
            _agree("hessian", [sum(parts)], [row], [np.abs(b).max(initial=0.0) for b in blocks])
    return True


def _agree(what: str, found: list[Any], want: list[Any], sizes: Any = ()) -> None:
    size = max(1.0, *[float(np.max(np.abs(x), initial=0.0)) for x in (*want, *sizes)])
    for a, b in zip(found, want):
        if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=1e-9, atol=1e-10 * size, equal_nan=True):
            raise Wrong(f"{what}: {a!r}, and the gradient gives {b!r}")


untold: list[str] = []  # why functions were not batched, for those who look into it


def check_batch(program: Program, args: Args, got: Args, seed: int) -> bool:
    """Pushforward and adjoint on stacks of tangents and of cotangents, against the pushforward and the gradient."""
    rng = np.random.default_rng(seed)
    program.prepare()
    given = program.pack(*fresh(args))
    with refusals("lowering: "):
        lowered = lower_any(program.f, given, {})
    wanted, _ = differentiated(program.f, lowered, program.gradient.argnums, given, {})
    _, values = program.gradient._dispatch.bind(given, {})
    leaves = [fetch(item.path, values) for item in lowered.inputs]
    with refusals("batch: "):
        pushed = pipeline.pushforward(lowered.function, wanted.wrt)
        pulled = pipeline.adjoint(lowered.function, wanted.wrt)
    made = False
    shapes = [leaves[k] for k in wanted.wrt]
    for fn, like in ((pushed, shapes), (pulled, [1.0])):
        stacks = [rng.normal(size=(3, *np.shape(x))).astype(np.result_type(x)) for x in like]
        first = len(leaves)
        try:
            many = batch(fn, set(range(first, first + len(stacks))))
        except NotBatchedError as error:
            untold.append(str(error))
            continue
        verify(many)
        found = run_apart(program, many, [*leaves, *stacks])
        for k in range(3):
            each = [s[k] if np.ndim(s[k]) else type(x)(s[k]) for s, x in zip(stacks, like)]
            want = run_apart(program, fn, [*leaves, *each])
            for n, (a, b) in enumerate(zip(found, want)):
                if b is not None and isinstance(b, (float, np.ndarray, np.generic)):
                    size = max(1.0, float(np.max(np.abs(b), initial=0.0)))
                    if not np.allclose(a[k], b, rtol=1e-9, atol=1e-10 * size, equal_nan=True):
                        raise Wrong(f"batch: result {n} of example {k} is {a[k]!r}, alone {b!r}")
        made = True
    return made


def check_examples(program: Program, args: Args, seed: int) -> bool:
    """`ad.batch` of the program, and of its gradient, against a loop over three examples."""
    rng = np.random.default_rng(seed)
    if program.changes:
        return False  # each run would begin with the state that the one before has left
    several = []
    for _ in range(3):
        near = [a * rng.uniform(0.8, 1.2, size=np.shape(a)) for a in args]
        several.append(program.pack(*[np.float64(a) if np.ndim(a) == 0 else a for a in near]))
    found = [flatten(one) for one in several]
    stacks = [np.stack([np.asarray(x) for x in leaves]) for leaves in zip(*[leaves for leaves, _ in found])]
    alike = all(leaf.dtype.kind == "f" for leaf in stacks)
    if not alike or any("'copy'" in repr(tree) for _, tree in found) or any(tree != found[0][1] for _, tree in found):
        return False  # objects, and what differs in more than numbers
    given = unflatten(found[0][1], stacks)
    try:
        want = [np.asarray(program.f(*copy.deepcopy(one))) for one in several]
        slopes = [flatten(program.gradient(*copy.deepcopy(one)))[0] for one in several]
    except Exception:
        return False  # of floats of NumPy's, it is another program
    with refusals("examples: "):
        many = ad.batch(program.f)
        value = many(*copy.deepcopy(given))
        gradients = flatten(ad.batch(program.gradient)(*copy.deepcopy(given)))[0]
        back = flatten(ad.vjp(many, *copy.deepcopy(given))[1](np.ones(3)))[0]
    compare_stacks("the values of examples", [value], [[w] for w in want])
    compare_stacks("gradients of examples", gradients, slopes)
    compare_stacks("the gradient of a batch", back, slopes)
    check_examples_inside(program, given, slopes)
    if "once for each" in many.attempts(*copy.deepcopy(given)):
        untold.append("one by one")
    return True


def check_checkpoint(program: Program, args: Args, got: Args) -> bool:
    """The gradient of the program with its loops in segments, against the gradient of the program; and the gradient of a
    checkpoint of it, if it has no effects."""
    number = "2" if program.run == 0 else "snapshots=2"
    text = RANGES.sub(rf"for \1 in ad.checkpointed(range(\2), {number}):", program.source)
    cut = Program(
        text.replace("import numpy as np\n", "import numpy as np\nimport autodiff_compiler as ad\n", 1), "cut_program"
    )
    whole = Program(program.source, "whole_program")
    whole.gradient = ad.grad(ad.checkpoint(whole.f), argnums=tuple(range(len(whole.pack(*args)))))
    program.gradient_of(fresh(args))
    left = program.state()
    for what, other in (("a program with loops in segments", cut), ("a checkpoint", whole)):
        other.run = program.run
        try:
            found = other.gradient_of(fresh(args))
        except Refused as error:
            if what == "a checkpoint" and ("has effects" in str(error) or "view that an inner" in str(error)):
                continue
            raise
        for k, (a, b) in enumerate(zip(found, got, strict=True)):
            size = max(1.0, float(np.max(np.abs(b), initial=0.0)))
            if not np.allclose(a, b, rtol=1e-9, atol=1e-10 * size, equal_nan=True):
                raise Wrong(f"{what} has the gradient {a!r} for argument {k}, and the program has {b!r}")
        if not same_state(other.state(), left):
            raise Wrong(f"{what} leaves {other.state()!r} outside, the program {left!r}")
    return True


def check_budget(program: Program, args: Args, got: Args) -> bool:
    """The gradient of the program within a budget of bytes, against that without one. The budget is so small that loops
    keep snapshots."""
    cut = Program(program.source, "kept_program")
    cut.run = program.run
    wrt = tuple(range(len(cut.pack(*args))))
    for budget in (600, 2000, 6000, 50_000):
        cut.gradient = ad.grad(cut.f, argnums=wrt, max_residual_bytes=budget)
        try:
            found = cut.gradient_of(fresh(args))
        except Refused as error:
            if "max_residual_bytes leaves" in str(error):
                continue
            if "max_residual_bytes, and a loop" in str(error):
                return False
            raise
        for k, (a, b) in enumerate(zip(found, got, strict=True)):
            size = max(1.0, float(np.max(np.abs(b), initial=0.0)))
            if not np.allclose(a, b, rtol=1e-9, atol=1e-10 * size, equal_nan=True):
                raise Wrong(f"with {budget} bytes to keep, the gradient is {a!r} for argument {k}, not {b!r}")
        return True
    return False


def check_loose(program: Program, args: Args, got: Args, value: float) -> bool:
    """The value and the gradient of the program in another order of operations, against those as written."""
    loose = Program(program.source, "loose_program")
    loose.run = program.run
    loose.prepare()
    compiled = ad.value_and_grad(loose.f, argnums=tuple(range(len(loose.pack(*args)))), reassociate=True)
    with refusals("reassociated: "):
        found, gradient = compiled(*loose.pack(*fresh(args)))
    size = max(1.0, *[float(np.max(np.abs(g), initial=0.0)) for g in got])
    agrees = np.allclose(found, value, rtol=1e-9, atol=1e-12, equal_nan=True)
    for a, b in zip(loose.unpack(gradient), got, strict=True):
        agrees = agrees and np.allclose(a, b, rtol=1e-8, atol=1e-9 * size, equal_nan=True)
    if not agrees and not chaotic(program.gradient_of, args, got):
        raise Wrong(f"in another order, the value is {found!r}, not {value!r}, or the gradient {gradient!r}")
    return True


def check_examples_inside(program: Program, given: Any, slopes: list[list[Any]]) -> None:
    """The gradient of a function that calls `ad.batch` of the program, against a loop over the gradients."""
    f = program.f

    def total(stacks: Any) -> Any:
        return np.sum(ad.batch(f)(*stacks))

    with refusals("examples inside: "):
        got = flatten(ad.grad(total)(tuple(copy.deepcopy(given))))[0]
    compare_stacks("the gradient of a sum over examples", got, slopes)


def compare_stacks(what: str, got: list[Any], want: list[list[Any]]) -> None:
    for n, leaf in enumerate(got):
        each = np.stack([np.asarray(w[n]) for w in want])
        size = max(1.0, float(np.max(np.abs(each), initial=0.0)))
        if leaf.dtype != each.dtype or not np.allclose(leaf, each, rtol=1e-8, atol=1e-9 * size, equal_nan=True):
            raise Wrong(f"{what}: leaf {n} is {leaf!r}, one by one {each!r}")


def run_apart(program: Program, fn: Any, leaves: list[Any]) -> Any:
    """The results of a function of the SSA form, with what lives outside as it was at first."""
    program.prepare()
    return interpret(fn, copy.deepcopy(leaves) if not program.changes else leaves)


def check_float32(program: Program, args: Args, got: Args) -> bool:
    """The gradient for float32 arrays is of float32, and about that for float64, unless a branch is near."""
    small = tuple([a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in args])
    try:
        if not np.isclose(program.value(*small), program.value(*args), rtol=1e-3, atol=1e-3):
            return False
    except Exception:
        return False  # e.g. an out= of float64
    given = fresh(small)
    narrow = program.gradient_of(given)
    for k, (a, b) in enumerate(zip(small, given)):
        if not same(a, b):
            raise Wrong(f"float32: argument {k} was modified")
    size = max(1.0, *[float(np.max(np.abs(g), initial=0.0)) for g in got])
    for k, (a, b) in enumerate(zip(narrow, got)):
        if isinstance(b, np.ndarray) and (not isinstance(a, np.ndarray) or a.dtype != np.float32):
            raise Wrong(f"float32: the gradient of argument {k} is {getattr(a, 'dtype', type(a))}")
        if not np.allclose(a, b, rtol=1e-2, atol=1e-2 * size):
            if rough(program, args, got, size):
                return False
            raise Wrong(f"float32: the gradient of argument {k} is {a!r}, for float64 {b!r}")
    return True


def rough(program: Program, args: Args, got: Args, size: float) -> bool:
    """Rounding the arguments moves the float64 gradient too."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        near = tuple([a * (1 + 3e-6 * rng.normal(size=np.shape(a))) for a in args])
        near = (*near[:2], float(near[2]))
        if any(not np.allclose(a, b, rtol=1e-3, atol=1e-3 * size) for a, b in zip(program.gradient_of(near), got)):
            return True
    return False


class NotStored(Exception):
    pass


def check_warm(program: Program, cold: list[tuple[int, Args, Args]]) -> bool:
    """As in a new process: the entry on disk of the first compilation gives the same numbers."""
    loaded = Program(program.source)

    def lower(*_: Any) -> Any:
        raise NotStored

    loaded.gradient._dispatch.lower = lower
    for run, args, want in cold:
        loaded.run = run
        loaded.prepare()
        try:
            got = tuple(loaded.unpack(loaded.gradient(*loaded.pack(*fresh(args)))))
        except NotStored:
            return False
        except Exception as error:
            raise Wrong(f"warm cache: raises {told(error)}") from None
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            if not same(a, b):
                raise Wrong(f"warm cache: run {run}: the gradient of argument {k} is {a!r}, compiled {b!r}")
    return True


def check_second(program: Program, seed: int) -> bool:
    args = arguments(program.source, 10 * seed, 4)
    rng = np.random.default_rng(seed)
    direction = (rng.normal(size=args[0].shape), rng.normal(size=args[1].shape), float(rng.normal()))
    h = program.names["directional"]

    def value(*args: Any) -> float:
        program.prepare()
        return float(h(*args))

    program.prepare()
    curvature = ad.grad(h, argnums=(0, 1, 2))
    with refusals("second order: "):
        got = curvature(*fresh(args), *direction)
    here = value(*args, *direction)
    if not np.isfinite(here) or abs(here) > LARGEST:
        return False
    return compare(value, got, (*args, *direction), "the second derivative", seed, lambda a: curvature(*a))


# A folder for the disk cache ----------------------------------------------------------------------


@functools.cache
def _folder() -> str:
    path = tempfile.mkdtemp(prefix="autodiff-programs.")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@contextmanager
def cache_folder(wanted: bool) -> Iterator[None]:
    """The disk cache in an empty folder of this process, or turned off."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = _folder() if wanted else "off"
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
        if wanted:
            for name in os.listdir(_folder()):
                os.unlink(os.path.join(_folder(), name))
