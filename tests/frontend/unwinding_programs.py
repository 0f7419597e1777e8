"""Programs in which an exception passes a clean-up on its way to its handler.

They combine all kinds of clean-ups, exceptions, changed variables and places of the handler."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

HEADER = '''
import contextlib

import numpy as np


class Box:
    def __init__(self):
        self.v = 0.0


class Failure(Exception):
    pass


class Worse(Failure):
    def __init__(self, text, level):
        super().__init__(text)
        self.level = level


def boom(x):
    raise Worse("no", 3)


def boom_if(x):
    y = x * 2.0
    if y > 0.1:
        raise KeyError("big")
    return y


def boom_below(x):
    return boom_if(x) * 2.0


class Changes:
    """Changes what it was given on its way out, `swallows` what it says."""

    def __init__(self, x, box, a, l, swallows=False):
        self.x, self.box, self.a, self.l, self.swallows = x, box, a, l, swallows
        self.told = 0.0

    def __enter__(self):
        self.told = 1.0
        return self

    def __exit__(self, kind, error, trace):
        x, box, a, l = self.x, self.box, self.a, self.l
        self.told = self.told + (2.0 if kind is None else 3.0) * x
        {clean}
        return self.swallows and kind is not None and issubclass(kind, Exception)

    def close(self):
        x, box, a, l = self.x, self.box, self.a, self.l
        {clean}


class Changing:
    def __init__(self, x, box, a, l):
        self.x, self.box, self.a, self.l = x, box, a, l

    def __enter__(self):
        return self.x * 3.0

    def __exit__(self, *info):
        x, box, a, l = self.x, self.box, self.a, self.l
        {clean}


@contextlib.contextmanager
def changes(x, box, a, l):
    w = x * 2.0
    try:
        yield w
    finally:
        {clean}


@contextlib.contextmanager
def changes_other(x, box, a, l):
    try:
        yield x
    except Exception as error:
        {clean}
        raise RuntimeError("other") from error


@contextlib.contextmanager
def swallows(x, box, a, l):
    try:
        yield x
    except (LookupError, Failure, ArithmeticError, ValueError, AssertionError, np.linalg.LinAlgError, OSError):
        {clean}
'''

# How the exception arises.
RAISES = {
    "raise": "raise KeyError('k')",
    "from": "raise Worse('w', 2) from ValueError('v')",
    "condition": "if x > 0.1:\n    raise Failure('big')",
    "not_raised": "if x > 9.0:\n    raise Failure('big')",
    "index": "q = q + a[n]",
    "list_index": "q = q + [x, 1.0][n]",
    "key": "q = q + {'a': x}['b']",
    "known_key": "q = q + {'a': x}[s]",
    "division": "q = q + 1 // m",
    "linalg": "q = q + np.linalg.cholesky(np.eye(2) * -x)[0, 0]",
    "helper": "q = boom(x)",
    "helper_if": "q = q + boom_if(x)",
    "helper_below": "q = q + boom_below(x)",
    "conversion": "q = q * int(s)",
    "assert": "assert x < 0.1, 'large'",
    "loop": "for k in range(9):\n    q = q + a[k] * x",
    "while": "k = 0\nwhile True:\n    q = q + a[k] * x\n    k += 1",
    "later": "q = x * 3.0\na[1] = q\nraise KeyError(q)",
    "later_index": "q = x * 3.0\nq = q + a[n]",
}
CLEANS = {
    "name": "q = q + x * x",
    "new_name": "r = x * x",
    "array": "a[0] = x * x",
    "array_add": "a[:2] += x * x",
    "list": "l.append(x * x)",
    "attribute": "box.v = box.v + x * x",
    "branch": "if x > 0.5:\n    box.v = x * x\nelse:\n    box.v = 1.0",
    "loop": "for k in range(2):\n    a[k] = a[k] + x * x",
    "raises": "box.v = x * x\nif x > 0.1:\n    raise OSError(5, 'while cleaning up')",
    "tries": "try:\n    boom_if(x)\nexcept KeyError:\n    box.v = x * x",
}
LEAVES = {"return": "return x * x * 3.0", "break": "q = x * x\nbreak", "continue": "q = q + x * x\ncontinue"}
INNER = {
    "finally": "try:\n    {raise}\nfinally:\n    {clean}",
    "except_finally": "try:\n    {raise}\nexcept TypeError:\n    q = 100.0\nfinally:\n    {clean}",
    "handler_raises": "try:\n    {raise}\nexcept Exception:\n    q = q * 2.0\n    raise\nfinally:\n    {clean}",
    "else_finally": "try:\n    r = 2.0\nexcept TypeError:\n    pass\nelse:\n    {raise}\nfinally:\n    {clean}",
    "two": "try:\n    try:\n        {raise}\n    finally:\n        {clean}\nfinally:\n    q = q * x",
    "class": "with Changes(x, box, a, l) as c:\n    {raise}",
    "class_blind": "with Changing(x, box, a, l) as c:\n    {raise}",
    "class_swallows": "with Changes(x, box, a, l, True) as c:\n    {raise}",
    "pair": "with Changes(x, box, a, l) as c, Changing(x + 1.0, box, a, l):\n    {raise}",
    "generator": "with changes(x, box, a, l) as c:\n    {raise}",
    "generator_other": "with changes_other(x, box, a, l) as c:\n    {raise}",
    "generator_swallows": "with swallows(x, box, a, l) as c:\n    {raise}",
    "suppress": "with contextlib.suppress(TypeError):\n    with Changing(x, box, a, l):\n        {raise}",
    "suppressed": "with contextlib.suppress(Exception):\n    with Changing(x, box, a, l):\n        {raise}",
    "closing": "with contextlib.closing(Changes(x, box, a, l)):\n    {raise}",
    "in_loop": "for j in range(2):\n    try:\n        if j == 1:\n            {raise}\n    finally:\n        {clean}",
}
MANAGED = {k for k, text in INNER.items() if "{clean}" not in text}
START = "q, r = x + 1.0, 0.0\na, l, box = np.zeros(3), [], Box()"
RESULT = "return q + 2.0 * r + 3.0 * a[0] + 0.5 * a[1] + 5.0 * sum(l) + 7.0 * box.v"
CAUGHT = "(LookupError, Failure, ArithmeticError, ValueError, AssertionError, RuntimeError, OSError)"
CATCHES = {
    "same": """
def f(x, n, m, s):
    {start}
    try:
        {inner}
    except {caught} as e:
        q = q * 2.0 + len(e.args)
    {result}
""",
    "else": """
def f(x, n, m, s):
    {start}
    try:
        {inner}
    except {caught}:
        pass
    else:
        q = q * 3.0
    {result}
""",
    "loop": """
def f(x, n, m, s):
    {start}
    for i in range(2):
        try:
            {inner}
        except {caught}:
            q = q + i
    {result}
""",
    "caller": """
def g(x, n, m, s, a, l, box):
    q, r = x + 1.0, 0.0
    {inner}
    return q + 2.0 * r


def f(x, n, m, s):
    {start}
    try:
        q = g(x, n, m, s, a, l, box)
    except {caught}:
        q = q * 0.5
    {result}
""",
    "two_up": """
def h(x, n, m, s, a, l, box):
    q, r = x + 1.0, 0.0
    {inner}
    return q + 2.0 * r


def g(x, n, m, s, a, l, box):
    try:
        return h(x, n, m, s, a, l, box) * 2.0
    finally:
        box.v = box.v * x + x


def f(x, n, m, s):
    {start}
    try:
        q = q + g(x, n, m, s, a, l, box)
    except {caught}:
        q = q * 0.5
    {result}
""",
    "nobody": """
def f(x, n, m, s):
    {start}
    {inner}
    {result}
""",
}
ARGUMENTS = (0.7, 10, 0, "q")


def filled(template: str, **parts: str) -> str:
    """The template with texts in place of names. Texts of several lines get the indentation of the name."""
    lines = []
    for line in template.split("\n"):
        name = line.strip()[1:-1] if line.strip()[:1] == "{" and line.strip()[-1:] == "}" else None
        if name in parts:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + inner if inner else inner for inner in parts[name].split("\n")]
        else:
            for key, value in parts.items():
                line = line.replace("{" + key + "}", value)
            lines.append(line)
    return "\n".join(lines)


def program(inner: str, raises: str, clean: str, catches: str) -> str:
    cleaning = CLEANS.get(clean) or LEAVES[clean]
    body = filled(INNER[inner], **{"raise": RAISES[raises], "clean": cleaning})
    made = CLEANS["attribute"] if inner not in MANAGED else cleaning
    header = filled(HEADER, clean=made)
    main = filled(CATCHES[catches], start=START, inner=body, result=RESULT, caught=CAUGHT)
    return f"{header}\n{main}"


def combinations() -> Iterator[tuple[str, str, str, str]]:
    """All combinations that make sense."""
    for inner, raises, clean, catches in itertools.product(INNER, RAISES, [*CLEANS, *LEAVES], CATCHES):
        if inner in MANAGED and (clean in LEAVES or "name" in clean):
            continue  # a manager has no names of the function that uses it
        if clean in ("break", "continue") and inner != "in_loop" and catches != "loop":
            continue
        yield inner, raises, clean, catches
