"""A function on stacks, against a loop over the examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_compiler.ir.core import Function, Op
from autodiff_compiler.ir.interp import interpret, watched
from autodiff_compiler.ir.rewrite import clone_function
from autodiff_compiler.ir.verify import verify
from autodiff_compiler.operations.check import broken_fact
from autodiff_compiler.transforms import pipeline
from autodiff_compiler.transforms.batch import batch


def stack_of(x: Any, count: int, rng: Any, scaled: bool = False) -> Any:
    """Examples like `x`, or multiples of it."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return np.stack([x] * count) if count else np.zeros((0, *x.shape), x.dtype)
    noise = rng.uniform(0.9, 1.1, size=(count, *([1] * x.ndim if scaled else x.shape)))
    return (x * noise).astype(x.dtype)


def example_of(stack: Any, x: Any, k: int) -> Any:
    """Number `k` of a stack, of the kind of `x`."""
    part = stack[k, ...] if isinstance(x, np.ndarray) else stack[k]
    return part if isinstance(x, (np.ndarray, np.generic)) else type(x)(part)


def hold_types(op: Op, args: Any, results: Any) -> None:
    for v, value in zip(op.results, results):
        wrong = broken_fact(v.type, value, op.parent.dims, {})  # type: ignore[union-attr]
        assert not wrong, f"{op.prim.name} gives {v.type}: {wrong}"


def compare(
    fn: Function, xs: list[Any], stacked: set[int], count: int = 3, rtol: float = 1e-10, scaled: bool = False
) -> Function:
    """Check `batch`: values, types, dtypes, and emitted code."""
    rng = np.random.default_rng(11)
    given = [stack_of(x, count, rng, scaled) if k in stacked else x for k, x in enumerate(xs)]
    made = batch(fn, stacked)
    verify(made)
    with np.errstate(all="ignore"):
        with watched(hold_types):
            found = interpret(made, given)
        each = []
        for k in range(count):
            args = [example_of(g, x, k) if n in stacked else x for n, (g, x) in enumerate(zip(given, xs))]
            each.append(interpret(fn, args))
    same(found, each, count, rtol)
    # As it is printed, with stores in place.
    from autodiff_compiler.codegen.emit import emit_function
    from autodiff_compiler.codegen.load import load

    printed = clone_function(made)[0]
    emitted = emit_function(printed, pipeline.restore_in_place(printed), "batched")
    with np.errstate(all="ignore"):
        run = load(emitted.source, emitted.name, emitted.objects)
        copies = [g.copy() if isinstance(g, np.ndarray) else g for g in given]
        out = run(*copies)
    same(out if len(made.results) != 1 or isinstance(out, tuple) else (out,), each, count, rtol)
    for a, b in zip(copies, given):
        assert np.array_equal(a, b, equal_nan=True), "an argument is changed"
    return made


def same(found: Any, each: list[Any], count: int, rtol: float) -> None:
    for n, got in enumerate(found):
        if not count:
            assert got is None or isinstance(got, list) or len(got) == 0
            continue
        parts = [out[n] for out in each]
        if isinstance(parts[0], list):
            same(got, parts, count, rtol)
            continue
        if parts[0] is None:
            assert got is None
            continue
        want = np.stack([np.asarray(p) for p in parts])
        assert isinstance(got, np.ndarray) and got.shape == want.shape, f"{np.shape(got)}, not {want.shape}"
        assert got.dtype == want.dtype, f"{got.dtype}, not {want.dtype}"
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)
