"""Operands are evaluated in the order of the language reference: a helper in each place writes down when it runs."""

import sys

import pytest

from tests.live_runs import HEAD, module_of, outcome

PROGRAMS = {
    "dict display": """
d2 = {e(1): e(2, x), e(3): e(4, 2 * x)}
r = sum(d2.values())""",
    "dict unpack": """
d2 = {e(1): e(2, x), **e(3, {5: x}), e(6): e(7)}
r = d2[5] + d2[6]""",
    "list": """
q = [e(1), *e(2, [x, x]), e(3)]
r = sum(q)""",
    "set": """
q = {e(1), e(2), e(3)}
r = len(q) * x""",
    "tuple": """
q = e(1), *e(2, (x,)), e(3)
r = sum(q)""",
    "call": "r = h(e(1), e(2), k=e(3), j=e(4))",
    "call star": "r = h(e(1), *e(2, [x]), e(3), k=e(4), **e(5, {'m': x}))",
    "call star after kw": "r = h(k=e(1), *e(2, [x]))",
    "call star append": "r = h(*l, k=(l.append(x) or e(2)))",
    "call star append2": "r = h(*l, *(l.append(x) or [1.0]))",
    "call star dict": """
q = {'a': x}
r = h(**q, z=(q.update(b=2 * x) or 1.0))""",
    "call two stars": "r = h(*e(1, [x]), *e(2, [x, x]), **e(3, {'a': x}), **e(4, {'b': x}))",
    "call fn first": "r = e(1, h)(e(2))",
    "call fn rebinds": """
def swap():
    nonlocal h
    h = lambda *a: -7.0 * x
    return x
r = h(swap())""",
    "method rebinds": """
def swap():
    o.m = lambda *a: -7.0 * x
    return x
r = o.m(swap())""",
    "method obj rebinds": """
def swap():
    nonlocal o
    o = O(5 * x)
    return x
r = o.m(swap())""",
    "subscript": "r = e(1, a)[e(2)]",
    "slice": "r = e(0, a)[e(1):e(4):e(2)].sum()",
    "slice list": "r = sum(e(0, l)[e(1):e(4):e(2)])",
    "slice2": """
m = np.outer(a, a)
r = m[e(1), e(0):e(3)].sum()""",
    "store": """
e(1, a)[e(2)] = e(3)
r = a.sum()""",
    "store list": """
e(1, l)[e(2)] = e(3)
r = sum(l)""",
    "store dict": """
e(1, d)[e(2)] = e(3)
r = sum(d.values())""",
    "store obj": """
e(1, o)[e(2)] = e(3, x * x)
r = o.v""",
    "store attr": """
e(1, o).v = e(2, x * x)
r = o.v""",
    "store slice": """
e(1, a)[e(1):e(3)] = e(4)
r = a.sum()""",
    "tuple targets": """
e(1, a)[e(2)], e(3, l)[e(0)] = e(5), e(6)
r = a.sum() + sum(l)""",
    "chain assign": """
e(1, a)[e(2)] = e(3, l)[e(0)] = e(4)
r = a.sum() + sum(l)""",
    "star target": """
e(1, l)[e(0)], *q = e(2, [x, 2 * x, 3 * x])
r = sum(l) + sum(q)""",
    "star target2": """
*e(1, o).v, q = e(2, [x, 2 * x, 3 * x])
r = sum(o.v) + q""",
    "nested target": """
(e(1, l)[0], (e(2, l)[1], e(3, l)[2])) = e(4), (e(5), e(6))
r = sum(l)""",
    "swap items": """
l[0], l[1] = l[1], l[0]
r = l[0] + 2 * l[1]""",
    "index depends": """
i = 0
i, l[i] = 1, 9 * x
r = l[0] + 2 * l[1]""",
    "aug name": """
q = x
q += e(1)
r = q""",
    "aug sub": """
e(1, a)[e(2)] += e(3)
r = a.sum()""",
    "aug sub list": """
e(1, l)[e(2)] += e(3)
r = sum(l)""",
    "aug sub dict": """
e(1, d)[e(2)] *= e(3)
r = sum(d.values())""",
    "aug attr": """
e(1, o).v += e(2)
r = o.v""",
    "aug rebind": """
q = x
def k():
    nonlocal q
    q = 10 * x
    return x
q += k()
r = q""",
    "aug item rebind": """
def k():
    l[0] = 10 * x
    return x
l[0] += k()
r = l[0]""",
    "aug array item rebind": """
def k():
    a[0] = 10 * x
    return x
a[0] += k()
r = a[0]""",
    "aug attr rebind": """
def k():
    o.v = 10 * x
    return x
o.v += k()
r = o.v""",
    "compare chain": """
q = e(1) < e(2) < e(3)
r = x if q else 2 * x""",
    "compare chain short": """
q = e(2) < e(1) < e(3)
r = x if q else 2 * x""",
    "compare chain dyn": """
q = e(1) < e(2, x * 5) < e(3) < e(4)
r = x if q else 2 * x""",
    "in chain": """
q = e(1) in e(2, [1, 2]) not in e(3, [[3]])
r = x if q else 2 * x""",
    "bool and": """
q = e(1) and e(0) and e(3)
r = x + q""",
    "bool or": """
q = e(0) or e(2) or e(3)
r = x + q""",
    "bool dyn": """
q = e(1, x - 9) > 0 and e(2) or e(3)
r = x + q""",
    "ifexp": "r = e(2, x) if e(1) else e(3)",
    "ifexp dyn": "r = e(2, x) if e(1, x - 9) > 0 else e(3)",
    "lambda default": """
q = lambda v=e(1): e(2) + v
r = q() + q()""",
    "def default": """
def q(v=e(1), *, w=e(2)):
    return v + w + e(3)
r = q() + q()""",
    "decorators": """
def deco(k):
    log.append(k)
    def inner(fn):
        log.append(k * 10)
        return fn
    return inner
@deco(1)
@deco(2)
def q(v=e(3)):
    return v * x
r = q()""",
    "decorator called order": """
def deco(k):
    def inner(fn):
        return lambda *a: fn(*a) * k + k
    return inner
@deco(2)
@deco(3)
def q(v):
    return v * x
r = q(1.0)""",
    "annotation default": """
def q(v: e(1) = e(2)) -> e(3):
    return v
r = q() * x""",
    "annassign": """
q: float = e(1, x)
r = q""",
    "annassign sub": """
e(1, l)[e(2)]: float = e(3)
r = sum(l)""",
    "fstring": """
q = f'{e(1)} {e(2):>{e(5)}}'
r = len(q) * x""",
    "walrus": "r = (q := e(1)) + (q := e(2)) * q",
    "walrus operand": """
q = x
r = q + (q := 3 * x) + q""",
    "walrus array": """
i = 2
r = a[i] * (i := 1) + a[i]""",
    "assert": """
assert e(1), e(2)
r = x""",
    "del": """
del e(1, l)[e(2)], e(3, d)[e(1)]
r = sum(l) + sum(d.values())""",
    "with": """
with cm(e(1)) as e(2, l)[e(0)], cm(e(3)) as q:
    r = sum(l) + q * x""",
    "for target": """
for l[e(1)] in [x, 2 * x]:
    r = r + l[1] * e(2)""",
    "for target attr": """
for o.v in [x, 2 * x]:
    r = r + o.v * e(2)""",
    "for iter once": """
for q in e(1, [x, x]):
    r = r + q * e(2)""",
    "for tuple": """
for l[e(0)], l[e(1)] in [(x, 2 * x), (3 * x, x)]:
    r = r + l[0] * 2 + l[1]""",
    "comp": """
q = [e(v) for v in e(1, [2, 3]) if e(v)]
r = sum(q) * x""",
    "dictcomp": """
q = {e(v): e(v * 10) for v in e(1, [2, 3])}
r = sum(q.values()) * x""",
    "dictcomp value uses": """
n = [0]
def key():
    n[0] += 1
    return n[0]
q = {key(): n[0] * x for _ in range(3)}
r = sum(k * v for k, v in q.items())""",
    "setcomp": """
q = {e(v) for v in e(1, [2, 3])}
r = len(q) * x""",
    "binop": "r = e(1, x) + e(2, x) * e(3, x) ** e(2)",
    "binop rebind": """
def k():
    nonlocal x
    x = x * 3
    return x
r = x + k() + x""",
    "binop item": """
def k():
    a[0] = 10.0 * x
    return x
r = a[0] + k() + a[0]""",
    "binop array whole": """
def k():
    a[0] = 10.0 * x
    return x
r = (a + k()).sum()""",
    "binop array plus": """
def k():
    a[0] = 10.0 * x
    return x
r = (a * 1.0 + k()).sum()""",
    "binop list item": """
def k():
    l[0] = 10.0 * x
    return x
r = l[0] * k() + l[0]""",
    "binop attr": """
def k():
    o.v = 10.0 * x
    return x
r = o.v * k() + o.v""",
    "binop dict": """
def k():
    d[1] = 10.0 * x
    return x
r = d[1] * k() + d[1]""",
    "arg array": """
def k():
    a[0] = 10.0 * x
    return x
def q(u, v):
    return u[0] * v
r = q(a, k())""",
    "arg item": """
def k():
    a[0] = 10.0 * x
    return x
r = h(a[0], k(), a[0])""",
    "arg view": """
def k():
    a[0] = 10.0 * x
    return x
def q(u, v):
    return u.sum() * v
r = q(a[:2], k())""",
    "arg list": """
def k():
    l.append(10.0 * x)
    return x
def q(u, v):
    return sum(u) * v
r = q(l, k())""",
    "np call args": """
def k():
    a[0] = 10.0 * x
    return a
r = np.dot(a, k()) + np.sum(a)""",
    "np call args2": """
def k():
    a[0] = 10.0 * x
    return 2.0
r = np.sum(np.multiply(a, k()))""",
    "np tuple arg": """
def k():
    a[0] = 10.0 * x
    return x
r = np.sum(np.array([a[0], k(), a[0]]))""",
    "np stack": """
def k():
    a[0] = 10.0 * x
    return a
r = np.sum(np.stack([a, k()]) * np.arange(10.0).reshape(2, 5))""",
    "list of items": """
def k():
    a[0] = 10.0 * x
    return x
q = [a[0], k(), a[0]]
r = q[0] + 2 * q[1] + 3 * q[2]""",
    "return tuple": """
def k():
    l[0] = 10 * x
    return x
def q():
    return l[0], k(), l[0]
u, v, w2 = q()
r = u + v * 2 + w2 * 3""",
    "global effect": """
def k():
    global G
    G = G * 2.0
    return x
r = k() * 0.0 + x""",
    "nonlocal aug": """
s = x
def k():
    nonlocal s
    s += 1.0
    return s
r = k() * k() - k()""",
    "print": """
print(e(1), e(2), sep=e(3, ' '), end=e(4, ''))
r = x""",
    "min args": "r = min(e(1, x), e(2, 2 * x), key=e(3, abs))",
    "getattr": "r = getattr(e(1, o), e(2, 'v'))",
    "subscript method": "r = e(1, l).pop(e(0)) * e(2)",
    "unary": "r = -e(1, x) + (not e(0))",
    "try else": """
try:
    e(1)
except ValueError:
    e(2)
else:
    e(3)
finally:
    e(4)
r = x""",
    "match": """
match e(1):
    case 2 if e(9):
        r = x
    case 1 if e(2):
        r = x * e(3)""",
    "while": """
n = 0
while e(n) < 3:
    n += 1
else:
    e(7)
r = x""",
    "raise from": """
try:
    raise e(1, ValueError)(e(2)) from e(3, None)
except ValueError:
    r = x""",
    "partial": """
q = functools.partial(h, e(1), k=e(2))
r = q(e(3), j=e(4))""",
    "map lazy order": """
q = map(g, [1.0, 2.0])
e(5)
r = sum(q) * x""",
    "setdefault": "r = e(1, d).setdefault(e(7), e(3, x))",
    "dict()": """
q = dict(e(1, {'a': x}), b=e(2))
r = q['a'] * q['b']""",
    "slice obj": "r = a[slice(e(1), e(3))].sum()",
    "kw dup": "r = h(k=e(1, x), **e(2, {'k': x}))",
    "pos then fn": """
def q(a1, b1=2.0, *c1, d1=3.0, **f1):
    return a1 + b1 * 2 + sum(c1) * 3 + d1 * 4 + sum(f1.values()) * 5
r = q(e(1, x), *e(2, [x, x]), d1=e(3, x), z=e(4, x))""",
}

REFUSED = {"raise from"}


if sys.version_info >= (3, 11):
    PROGRAMS["starred index"] = """
m = np.outer(a, a)
q = (1, 2)
r = m[*q] if False else m[q]"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path, capsys):
    text = HEAD.replace("{BODY}", PROGRAMS[name].strip().replace("\n", "\n    "))
    assert outcome(module_of(text, tmp_path, "program").f) == ("refused" if name in REFUSED else "right")
