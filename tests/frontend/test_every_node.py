"""Every kind of node that Python's `ast` knows: it works, or it is refused where it stands."""

from __future__ import annotations

import ast
import linecache
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

# Bodies of a function of an array `x`; "works", or a piece of what the error says.
SAMPLES = [
    ("return x.sum() + 1.5 - +2 * x[0] / 3 // 7 % 5 ** 2", "works"),
    ("return (x @ x) * ((1 << 2) >> 1 | 4 & 6 ^ 1) * ~3 * -1", "works"),
    ("return x[0] if not (x[0] > 1 and x[1] < 2 or x[0] >= 5) else x[1]", "works"),
    ("return x[0] * (1 <= 2 == 2 != 3) * (None is None) * (None is not x) * (1 in (1, 2)) * (3 not in [1])", "works"),
    ("a, [b, *c] = x[0], (x[1], x[2])\nreturn a * b * c[0]", "works"),
    ("y = x.copy()\ny[1:] *= 2\ny += 1\nz: float = y[0]\nreturn z * y[-1]", "works"),
    ("d = {'a': x[0], **{'b': x[1]}}\nreturn d['a'] * d['b']", "works"),
    ("s = {1, 2}\nreturn x[0] * sum(s)", "works"),
    ("return sum([v * v for v in x]) + sum(v for v in x)", "works"),
    ("return {k: x[k] for k in (0, 1)}[1] * len({i for i in (1, 2)})", "works"),
    ("f = lambda v, /, w=2, *, k=3: v * w * k\nreturn f(*[x[0]], **{'k': 2})", "works"),
    ("def g(v):\n    return v * v\nreturn g(x[0])", "works"),
    ("del_me = 1\ndel del_me\nassert x[0] > 0, f'{x[0]!r:>5}'\npass\nreturn x[0] ** 2", "works"),
    ("if (n := len(x)) > 2:\n    return x[0] * n\nelse:\n    return x[1]", "works"),
    ("s = 0.0\nfor k in range(3):\n    if k == 1:\n        continue\n    s += x[k]\nelse:\n    s *= 2\n"
     "return s", "works"),
    ("k = 0\nwhile True:\n    k += 1\n    if k > 2:\n        break\nreturn x[0] * k", "works"),
    ("import math\nfrom math import exp\nreturn exp(x[0]) * math.pi", "works"),
    ("global X\nreturn x[0] * 2", "works"),
    ("t = x[0]\ndef g():\n    nonlocal t\n    t = t * x[1]\ng()\nreturn t", "works"),
    ("try:\n    return x[7]\nexcept IndexError as e:\n    return x[0] ** 2\nfinally:\n    pass", "works"),
    ("with np.errstate(all='ignore'):\n    return x[0] ** 2", "works"),
    ("raise ValueError('no')", "no"),
    ("match (1, [x[0], 2], {'k': x[1]}, None):\n"
     "    case (1, [a, *_], {'k': b, **rest}, None) if a > 0:\n        return a * b\n"
     "    case int(real=1) | _ as other:\n        return x[2]", "works"),
    ("class Inner:\n    pass\nreturn x[0]", "class definition"),
    ("def g():\n    yield x[0]\nreturn sum(g())", "works"),
    ("def g():\n    yield from [x[0]]\nreturn sum(g())", "works"),
    ("y = yield x[0]\nreturn y", "generator"),
    ("async def g():\n    return x[0]\nreturn g()", "async"),
    ("async def g():\n    await h()\n    async for k in h():\n        pass\n    async with h():\n        pass\n"
     "return x[0]", "async"),
    ("return sum([v async for v in x])", "async"),
    ("return x[...][0] * x[0:2:1][1]", "works"),
]  # fmt: skip
if sys.version_info >= (3, 11):
    SAMPLES.append(("try:\n    return x[0]\nexcept* ValueError:\n    pass\nreturn x[1]", "try/except*"))
if sys.version_info >= (3, 12):
    SAMPLES += [
        ("type A = int\nreturn x[0] * 2", "type"),
        ("def g[T, *Ts, **P](v: T) -> T:\n    return v * v\nreturn g(x[0])", "works"),
    ]
if sys.version_info >= (3, 14):
    SAMPLES.append(("return len(t'{x[0]}') * x[0]", "TemplateStr"))

DEPRECATED = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "AugLoad", "AugStore", "Param", "Suite", "Index",
              "ExtSlice", "slice"}  # fmt: skip


def made(body: str, name: str) -> Any:
    kind = "async def" if "async for v in x]" in body else "def"
    source = f"{kind} {name}(x):\n" + textwrap.indent(body, "    ") + "\n"
    file = f"<sample {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize(("k", "body", "outcome"), [(k, *s) for k, s in enumerate(SAMPLES)])
def test_works_or_is_refused(k: int, body: str, outcome: str) -> None:
    f = made(body, f"sample_{k}")
    x = np.array([0.7, 1.3, 2.1])
    if outcome == "works":
        found = ad.grad(f)(x)
        for j in range(3):
            step = np.eye(3)[j] * 1e-6
            assert abs(found[j] - (f(x + step) - f(x - step)) / 2e-6) < 1e-5
        return
    with pytest.raises(Exception, match=outcome) as caught:
        ad.grad(f)(x)
    if outcome != "no":
        assert isinstance(caught.value, ad.AutodiffError)
        assert caught.value.loc is not None and caught.value.loc.file == f"<sample sample_{k}>"
        assert "^" in str(caught.value)


def test_no_node_is_forgotten() -> None:
    seen = {
        type(n).__name__
        for body, _ in SAMPLES
        for n in ast.walk(ast.parse("async def f():\n" + textwrap.indent(body, "    ")))
    }
    kinds = [ast.stmt, ast.expr, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.comprehension, ast.excepthandler]
    kinds += [getattr(ast, name) for name in ("pattern", "type_param") if hasattr(ast, name)]
    concrete = {
        c.__name__ for kind in kinds for c in (kind.__subclasses__() or [kind]) if c.__module__ in ("ast", "_ast")
    }
    assert concrete - DEPRECATED <= seen
