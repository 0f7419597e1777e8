"""Random programs with views, reshapes and stores, on arrays of different layouts in memory."""

from __future__ import annotations

import collections
import linecache
import random
from typing import Any

import numpy as np

from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.frontend.lower import lower
from autodiff_compiler.ir.interp import interpret
from autodiff_compiler.lowered import fetch
from autodiff_compiler.tree import unflatten

NAMES = "xaby"
ARRAYS = ["{n}", "{n}.T", "{n}.reshape(-1)", "{n}.ravel()", "{n}.reshape(2, -1)", "{n}[1:]", "{n}.copy()", "{n} * 2"]
ARRAYS += ["np.sin({n})", "np.asarray({n})", "({n} if c > 0 else {m})", "{n}[::-1]", "np.squeeze({n})", "{n}"]
ARRAYS += ["{n}.reshape(-1)[::2]", "np.moveaxis(np.atleast_2d({n}), 0, 1)"]
NUMBERS = ["{n}.flat[{k}]", "{n}.sum() * 0.1", "c", "1.25", "{n}.ravel()[-1] * 0.5"]
STORES = ["{n} = {array}", "{n} = {array}", "{n}.flat[{k}] = {v}", "{n}.reshape(-1)[{k}] = {v}", "{n} *= {v}"]
STORES += ["{n}[0] = {v}", "{n}.T[-1] += {v}", "{n}.ravel()[1:3] *= {v}", "np.put({n}, [0, 2], [{v}, {v}])"]
STORES += ["{n}[...] = {v}", "if", "for"]
RESULT = "np.sum(np.arange({n}.size) * np.sin({n}.ravel()))"


def program(r: random.Random) -> str:
    def statement(indent: int) -> list[str]:
        pad, form = "    " * indent, r.choice(STORES)
        n, m, k = r.choice(NAMES), r.choice(NAMES), r.randrange(3)
        if form in ("if", "for"):
            if indent > 2:
                return [f"{pad}c = c * 0.7"]
            head = f"if c > {k - 1}:" if form == "if" else f"for i in range({k + 1}):"
            return [pad + head, *statement(indent + 1), *statement(indent + 1)]
        v = r.choice(NUMBERS).format(n=m, k=k)
        return [pad + form.format(n=n, k=k, v=v, array=r.choice(ARRAYS).format(n=m, m=n))]

    lines = ["def f(x, c):", "    a = x * 1.5", "    b = x", "    y = a.ravel()"]
    for _ in range(r.randrange(3, 7)):
        lines += statement(1)
    return "\n".join([*lines, "    return " + " + ".join(RESULT.format(n=n) for n in NAMES)]) + "\n"


def laid_out(layout: int) -> Any:
    x = np.cos(np.arange(12.0)).reshape(4, 3) * 1.3 + 0.2
    out = [np.empty((4, 3)), np.empty((4, 3), order="F"), np.empty((8, 6))[::2, ::2]][layout]
    out[...] = x
    return out


def test_random_layouts() -> None:
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(150):
        r = random.Random(seed)
        source, name = program(r), f"<layouts {seed}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        namespace: dict[str, Any] = {"np": np, "__name__": "layouts"}
        exec(compile(source, name, "exec"), namespace)
        f = namespace["f"]
        for layout in range(3):
            c = r.choice([-0.5, 0.5, 1.5])
            try:
                want = f(laid_out(layout), c)
            except Exception:
                continue
            args = (laid_out(layout), c)
            try:
                lowered = lower(f, args)
            except AutodiffError as error:
                assert "cannot handle" not in str(error), f"seed {seed}: {error}\n{source}"
                counts["refused"] += 1
                continue
            got = unflatten(lowered.out, interpret(lowered.function, [fetch(i.path, args) for i in lowered.inputs]))
            assert np.allclose(got, want), f"seed {seed}, layout {layout}: {got} instead of {want}\n{source}"
            counts["ok"] += 1
    assert counts["ok"] > 100, counts
