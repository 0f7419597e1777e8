"""Programs with iterators: expressions that make one, consumers that take items, and effects of the items."""

from __future__ import annotations

from collections.abc import Iterator

# What an item does when it is computed: a statement before, the body of `e(v)`, what it has left behind, what the
# consumer does in between, and what a function that is called for each item reads.
EFFECTS = {
    "list": (
        "log = []",
        "log.append(v)\n        return v * (1.0 + 0.1 * len(log))",
        "sum(log) * 0.7 + len(log) * x",
        "log.append(5 * x)",
        "len(log)",
    ),
    "array": (
        "c = np.ones(2) * x",
        "c[0] = c[0] * 1.5 + v\n        return v * c[0]",
        "c[0] + c[1]",
        "c[0] = c[0] * 1.1 + x",
        "c[0]",
    ),
    "closure": (
        "s = 1.0 * x",
        "nonlocal s\n        s = s * 1.5 + v\n        return v * s",
        "s",
        "s = s * 1.1 + 0.3",
        "s",
    ),
    "dict": (
        "d = {'n': x}",
        "d['n'] = d['n'] * 1.5 + v\n        return v * d['n']",
        "d['n']",
        "d['n'] = d['n'] * 1.1 + 1",
        "d['n']",
    ),
    "none": ("s = 1.0 * x", "return v * s", "s", "s = s * 1.1 + 0.3", "s"),
}
MAKERS = {
    "genrange": "(e(x * k) for k in range(4))",
    "genlist": "(e(v) for v in [x, 2 * x, -x, 0.5 * x])",
    "genarr": "(e(v) for v in a)",
    "genif": "(e(v) for v in [x, 2 * x, -x, 0.5 * x] if v > 0)",
    "genifs": "(e(x * k) for k in (1, 2, 3, 4) if k != 2)",
    "genifarr": "(e(v) for v in a if v > 0.2)",
    "genife": "(v for v in [x, 2 * x, -x, 3 * x] if e(v) > 0)",
    "gennest": "(e(u * v) for u in (x, 2.0) for v in (1.0, x))",
    "maplist": "map(e, [x, 2 * x, -x, 0.5 * x])",
    "maparr": "map(e, a)",
    "maprange": "map(lambda k: e(x * k), range(4))",
    "filterlist": "filter(lambda v: e(v) > 0, [x, 2 * x, -x, 3 * x])",
    "filterk": "(x * k for k in filter(lambda k: e(x * k) is not None and k != 2, (1, 2, 3, 4)))",
    "filterarr": "filter(lambda v: e(v) > 0, a)",
    "chain": "itertools.chain(map(e, [x, 2 * x]), (e(v) for v in [3 * x, x]))",
    "chainit": "itertools.chain.from_iterable([e(v), e(v * 2)] for v in [x, 3 * x])",
    "accum": "itertools.accumulate(map(e, [x, 2 * x, -x, 0.5 * x]))",
    "accumf": "itertools.accumulate([x, 2 * x, -x, 0.5 * x], lambda p, q: p + e(q))",
    "star": "itertools.starmap(lambda p, q: e(p * q), [(x, 1.0), (2.0, x), (x, x), (1.0, 1.0)])",
    "islice": "itertools.islice(map(e, [x, 2 * x, -x, 0.5 * x, 3 * x, x]), 1, 5)",
    "isliceinf": "itertools.islice(map(e, itertools.count(1)), 4)",
    "take": "itertools.takewhile(lambda k: k < 40, map(lambda k: (e(x * k), k)[1], (1, 2, 3, 4, 50, 6)))",
    "drop": "itertools.dropwhile(lambda k: k < 2, map(lambda k: (e(x * k), k)[1], (1, 2, 3, 4, 5)))",
    "enum": "(v * k for k, v in enumerate(map(e, [x, 2 * x, -x, 0.5 * x]), 1))",
    "zip": "(u * v for u, v in zip(map(e, [x, 2 * x, -x, 0.5 * x, x]), (e(w) for w in [1.0, 2.0, x, x])))",
    "zipe": "(u * v for u, v in zip(map(e, [x, 2 * x, -x, 0.5 * x, x]), [1.0, x, 2.0, 3.0]))",
    "pairwise": "(p * q for p, q in itertools.pairwise(map(e, [x, 2 * x, -x, 0.5 * x, x])))",
    "cycle": "itertools.islice(itertools.cycle(map(e, [x, 2 * x])), 4)",
    "compress": "itertools.compress(map(e, [x, 2 * x, -x, 0.5 * x]), [1, 0, 1, 1])",
    "filterfalse": "itertools.filterfalse(lambda v: e(v) > 1, [x, 2 * x, -x, 3 * x])",
    "ziplong": "(u * v for u, v in itertools.zip_longest(map(e, [x, 2 * x]), map(e, [x, 3.0, 2.0]), fillvalue=1.0))",
    "dict": "iter({0.5: e(x), 1.5: e(2 * x), 2.5: 2, 3.5: 1})",
    "dictv": "iter({0: e(x), 1: e(2 * x), 2: x, 3: x}.values())",
    "list": "iter([e(x), e(2 * x), x, 3.0])",
    "rev": "reversed([e(x), e(2 * x), x, 3.0])",
    "tee": "itertools.tee(map(e, [x, 2 * x, -x, 0.5 * x]))[0]",
    "group": "(sum(g) * k for k, g in itertools.groupby(map(lambda k: (e(x * k), k)[1], (1, 1, 2, 4)), lambda k: k))",
    "sentinel": "iter(lambda: (e(x), len(marks), marks.append(1))[1], 4)",
    "arriter": "iter(a)",
    "product": "(e(u * v) for u, v in itertools.product(map(e, (x, 2.0)), (1.0, x)))",
}
# `%B` is what the consumer does in between.
CONSUMERS = {
    "next": """
    r = next(it)
    %B""",
    "next2": """
    r = next(it)
    %B
    r = r + 3 * next(it)""",
    "nextdef": """
    r = next(it, 1.5)
    %B
    r = r + 2 * next(it, 2.5)""",
    "break": """
    r = 0.0
    for v in it:
        %B
        r = r + v
        break""",
    "breakif": """
    r = 0.0
    n = 0
    for v in it:
        %B
        n += 1
        r = r + v * n
        if n == 2:
            break""",
    "breakdyn": """
    r = 0.0
    for v in it:
        %B
        r = r + v
        if r > 1.0:
            break""",
    "for": """
    r = 0.0
    n = 1.0
    for v in it:
        %B
        r = r + v * n
        n += 1.0""",
    "twofor": """
    r = 0.0
    for v in it:
        r = r + v
        break
    %B
    for v in it:
        r = r * 1.1 + v""",
    "zip": """
    r = 0.0
    for v, w in zip(it, [1.0, 2.0]):
        %B
        r = r + v * w""",
    "zip2": """
    r = 0.0
    for w, v in zip([1.0, 2.0], it):
        %B
        r = r + v * w
    r = r + 5 * next(it, 2.0)""",
    "zipself": """
    r = 0.0
    for u, v in zip(it, it):
        %B
        r = r * 1.2 + u - v * v""",
    "islice": """
    r = sum(itertools.islice(it, 2))
    %B
    r = r + 5 * next(it, 2.0)""",
    "in": """
    r = 1.0 if 2.0 in it else 2.0
    %B
    r = r + 5 * next(it, 2.0)""",
    "any": """
    r = 1.0 if any(v > 0.9 for v in it) else 2.0
    %B
    r = r + sum(it)""",
    "all": """
    r = 1.0 if all(v < 0.9 for v in it) else 2.0
    %B
    r = r + sum(it)""",
    "anyit": """
    r = 1.0 if any(it) else 2.0
    %B
    r = r + sum(it)""",
    "sum": """
    r = sum(it)
    %B
    r = r + sum(it)""",
    "sum2": "r = sum(v * s2() for v in it)",
    "sorted": """
    q = sorted(it)
    %B
    r = q[0] * 2 + q[1]""",
    "sortedkey": """
    q = sorted(it, key=e)
    r = q[0] * 2 + q[1]""",
    "max": """
    r = max(it)
    %B""",
    "maxkey": """
    r = max(it, key=e)
    %B""",
    "minkey": """
    r = min(it, key=lambda v: e(v) * 2, default=1.0)
    %B""",
    "list": """
    q = list(it)
    %B
    r = q[0] + q[-1] * 2 + len(list(it))""",
    "dict": """
    q = dict(enumerate(it))
    %B
    r = q[0] + 2 * q[1]""",
    "unpack": """
    p, *q = it
    %B
    r = p + 3 * q[0] + len(q)""",
    "star": """
    r = h(*it)
    %B""",
    "display": """
    q = [*it, 1.0]
    %B
    r = q[0] + q[1] * 2 + len(q)""",
    "extend": """
    q = [1.0]
    q.extend(it)
    %B
    r = q[0] + q[1] * 2 + len(q)""",
    "map": """
    q = map(lambda v: e(v) + 1.0, it)
    r = next(q)
    %B
    r = r + 2 * next(q)""",
    "comp": """
    q = [e(v) for v in it]
    r = q[0] + q[1] * 2""",
    "reduce": """
    r = functools.reduce(lambda p, q: p * 0.5 + e(q), it)
    %B""",
    "takewhile": """
    r = sum(itertools.takewhile(lambda v: v < 1.5, it))
    %B
    r = r + 3 * next(it, 1.0)""",
    "enumerate": """
    r = 0.0
    for k, v in enumerate(it):
        %B
        r = r + v * k
        if k == 1:
            break
    r = r + 2 * next(it, 1.0)""",
    "dictstore": """
    o = {'it': it}
    r = next(o['it'])
    %B
    r = r + 2 * next(o['it'], 1.0)""",
    "lit": """
    r = sum([v for v in it][:2])
    %B""",
    "array": """
    r = np.array(list(it)).sum()
    %B""",
    "genover": """
    g = (v * s2() for v in it)
    r = next(g)
    %B
    r = r + 2 * next(g, 1.0)""",
}


def source(maker: str, consumer: str, effect: str) -> str:
    setup, body, left, between, read = EFFECTS[effect]
    return f"""import itertools, functools
import numpy as np


def f(x):
    a = np.array([0.3, 1.1, -0.4, 0.9]) * x
    marks = []
    {setup}

    def e(v):
        {body}

    def s2():
        return {read}

    def h(p, q, *rest):
        return p + q * 2 + len(rest)

    it = {MAKERS[maker]}
    {CONSUMERS[consumer].strip().replace("%B", between)}
    return r + ({left})
"""


def programs(maker: str) -> Iterator[tuple[str, str]]:
    """One program for every second consumer. The effects take turns."""
    effects = list(EFFECTS)
    start = list(MAKERS).index(maker)
    for k, consumer in enumerate(CONSUMERS):
        if (start + k) % 2:
            continue  # the next maker has it
        effect = effects[(start + k) // 2 % len(effects)]
        yield f"{consumer}/{effect}", source(maker, consumer, effect)
