"""Programs with generator functions, for `test_generators`. `e` writes down when it runs."""

RIGHT = {
    "for": """
def g2():
    e(1)
    yield x
    e(2)
    yield x * x
    e(3)
for v in g2():
    r = r + v * e(10)""",
    "lazy": """
def g2():
    e(1)
    yield x
it = g2()
e(5)
for v in it:
    r = r + v
for v in it:
    r = r + 100 * v""",
    "break": """
def g2():
    e(1)
    yield x
    e(2)
    yield x * x
    e(3)
for v in g2():
    r = r + v * e(10)
    break""",
    "break else": """
def g2():
    yield x
    yield x * x
for v in g2():
    r = r + v
    if v > 1.2:
        break
else:
    r = r + 100""",
    "else": """
def g2():
    yield x
    yield x * x
for v in g2():
    r = r + v
    if v > 100.2:
        break
else:
    r = r + 100 * x""",
    "continue": """
def g2():
    for v in a:
        e(1)
        yield v * v
        e(2)
for v in g2():
    if v > 4:
        continue
    r = r + v
    e(3)""",
    "loop break": """
def g2():
    for v in a:
        e(1)
        yield v * v
        e(2)
last = 0.0
for v in g2():
    last = v
    if v > 4:
        e(7)
        break
    r = r + v
r = r + last""",
    "loop new name": """
def g2():
    for v in a:
        yield v * v
for v in g2():
    last = v * 2
r = r + last * v""",
    "loop return": """
def g2():
    for v in a:
        e(1)
        yield v * v
        e(2)
def h2():
    for v in g2():
        if v > 4:
            return v * e(9)
        e(3)
    return 0.0
r = h2()""",
    "return first": """
def g2():
    e(1)
    yield x
    e(2)
def h2():
    for v in g2():
        return v * e(9)
r = h2()""",
    "return maybe": """
def g2():
    e(1)
    yield x
    e(2)
    yield x * x
def h2():
    l.append(1.0)
    for v in g2():
        l.append(v)
        if v > 1.2:
            return v * e(9)
        l[0] = v
    return 3 * x
r = h2() + sum(l)""",
    "finally": """
def g2():
    try:
        for v in a:
            e(1)
            yield v
            e(2)
    finally:
        e(4)
for v in g2():
    r = r + v
    if v > 2:
        break
e(5)""",
    "finally done": """
def g2():
    try:
        for v in a:
            yield v
    finally:
        e(4)
it = g2()
for v in it:
    r = r + v
e(5)""",
    "finally return": """
def g2():
    try:
        for v in a:
            e(1)
            yield v
            e(2)
    finally:
        e(4)
def h2():
    for v in g2():
        if v > 2:
            return v * e(9)
    return x
r = h2()""",
    "sum": """
def g2(n):
    for k in range(n):
        yield x * k
r = sum(g2(4)) + max(g2(3)) + len(list(g2(2)))""",
    "list": """
def g2(n):
    for v in a:
        yield v * n
q = list(g2(2.0))
r = q[1] * q[3] + len(q)""",
    "array": """
def g2(n):
    for v in a:
        yield v * n
q = np.array(list(g2(2.0)))
r = np.sum(q * q)""",
    "comp": """
def g2(n):
    for v in a:
        e(1)
        yield v * n
q = [v * e(2) for v in g2(2.0) if v > 2.5]
r = sum(q)""",
    "genexp": """
def g2(n):
    for v in a:
        e(1)
        yield v * n
r = sum(v * e(2) for v in g2(2.0) if v > 2.5)""",
    "genexp for": """
def g2(n):
    for v in a:
        e(1)
        yield v * n
for w in (v * e(2) for v in g2(2.0) if v > 2.5):
    r = r + w
    e(3)
    if r > 10: break""",
    "zip": """
def g2(n):
    for v in a:
        yield v * n
for u, w in zip(l, g2(2.0)):
    r = r + u * w""",
    "zip effects": """
def g2(n):
    for v in a:
        e(1)
        yield v * n
for u, w in zip(l, g2(2.0)):
    r = r + u * w * e(2)""",
    "zip first": """
def g2(n):
    for v in a:
        e(1)
        yield v * n
for w, u in zip(g2(2.0), l):
    r = r + u * w * e(2)""",
    "enumerate": """
def g2(n):
    for v in a:
        yield v * n
for k, w in enumerate(g2(2.0)):
    r = r + k * w""",
    "enumerate effects": """
def g2(n):
    for v in a:
        e(1)
        yield v * n
for k, w in enumerate(g2(2.0), 1):
    r = r + k * w * e(2)
    if k > 2: break""",
    "zip array": """
def g2(n):
    for v in a:
        yield v * n
for u, w in zip(a, g2(2.0)):
    r = r + u * w""",
    "zip array effects": """
def g2(n):
    for v in a:
        e(1)
        yield v * n
for u, w in zip(a, g2(2.0)):
    r = r + u * w * e(2)""",
    "zip infinite": """
def g2():
    v = x
    while True:
        yield v
        v = v * 1.5
for u, w in zip(a, g2()):
    r = r + u * w""",
    "zip infinite range": """
def g2():
    v = x
    while True:
        yield v
        v = v * 1.5
for u, w in zip(range(3), g2()):
    r = r + u * w""",
    "infinite break": """
def g2():
    v = x
    while True:
        yield v
        v = v * 1.5
for w in g2():
    r = r + w
    if w > 20: break""",
    "infinite break static": """
def g2():
    v = x
    while True:
        yield v
        v = v * 1.5
k = 0
for w in g2():
    r = r + w
    k += 1
    if k == 3: break""",
    "islice": """
def g2():
    v = x
    while True:
        e(1)
        yield v
        v = v * 1.5
for w in itertools.islice(g2(), 3):
    r = r + w * e(2)""",
    "unpack": """
def g2():
    e(1)
    yield x
    e(2)
    yield x * x
    e(3)
p, q = g2()
r = p * q""",
    "unpack short": """
def g2():
    yield x
p, q = g2()
r = p * q""",
    "star": """
def g2():
    e(1)
    yield x
    yield x * x
r = h(*g2(), e(4))""",
    "next": """
def g2():
    e(1)
    yield x
    e(2)
    yield x * x
    e(3)
it = g2()
e(5)
r = next(it)
e(6)
r = r + 2 * next(it)
e(7)""",
    "next stop": """
def g2():
    yield x
it = g2()
r = next(it)
r = r + 2 * next(it)""",
    "next default": """
def g2():
    yield x
it = g2()
r = next(it)
r = r + 2 * next(it, 7 * x)""",
    "next while": """
def g2(v):
    while True:
        yield v
        v = v * v
it = g2(x)
r = next(it) + next(it) + 3 * next(it)""",
    "next in loop": """
def g2(v):
    while True:
        yield v
        t = v * v
        v = t
it = g2(x)
r = next(it)
for k in range(int(3 * x)):
    r = r + next(it)""",
    "next name in loop": """
def g2(v):
    first = True
    while True:
        yield v
        if not first:
            v = v + t
        t = v * 2
        first = False
it = g2(x)
r = next(it)
for k in range(int(3 * x)):
    r = r + next(it)""",
    "next then for": """
def g2(v):
    for k in range(4):
        e(1)
        yield v * k
        e(2)
it = g2(x)
r = next(it)
for v in it:
    r = r + v * e(3)""",
    "yield from": """
def g1():
    e(1)
    yield x
    e(2)
def g2():
    yield from g1()
    e(3)
    yield from a
    yield from [x, 2 * x]
for v in g2():
    r = r + v * e(4)""",
    "yield from break": """
def g1():
    e(1)
    yield x
    e(2)
    yield 2 * x
def g2():
    yield from g1()
    e(3)
    yield from a
for v in g2():
    r = r + v * e(4)
    if v > 2: break""",
    "recursive": """
def walk(t):
    if isinstance(t, tuple):
        for s in t:
            yield from walk(s)
    else:
        e(1)
        yield t
r = sum(k * v for k, v in enumerate(walk((x, (2 * x, (3 * x, x)), x))))""",
    "pipeline": """
def g1(xs):
    for v in xs:
        e(1)
        yield v * v
def g2(xs):
    for v in xs:
        e(2)
        yield v + 1.0
for v in g2(g1(a)):
    r = r + v * e(3)""",
    "pipeline break": """
def g1(xs):
    for v in xs:
        e(1)
        yield v * v
def g2(xs):
    for v in xs:
        e(2)
        if v > 3: yield v + 1.0
for v in g2(g1(a)):
    r = r + v * e(3)
    if v > 9: break""",
    "mutates arg": """
def g1(xs):
    for k in range(len(xs)):
        xs[k] = xs[k] * 2
        yield xs[k]
for v in g1(a):
    a[0] = a[0] + v
    r = r + v
r = r + a.sum()""",
    "yields view": """
def g1():
    for k in range(len(a)):
        yield a[k:k + 1]
for v in g1():
    v *= x
r = r + a.sum()""",
    "yields same array 2": """
def g1():
    b = np.zeros(3)
    for k in range(len(a)):
        b[k % 3] = a[k]
        yield b
for v in g1():
    v[1] = v[1] * x + 1
    r = r + v.sum()""",
    "nonlocal": """
t = 0.0
def g1():
    nonlocal t
    for k in range(3):
        t = t + x
        yield t
for v in g1():
    t = t * 2
    r = r + v
r = r + t""",
    "same name": """
def g1():
    r = 5.0
    for k in range(3):
        r = r * 2
        yield r
for k in g1():
    r = r + k * x""",
    "nested": """
def g1(n):
    for k in range(n):
        yield k * x
for u in g1(3):
    for w in g1(4):
        if w > 2: break
        r = r + u * w
    else:
        r = r + 1.0
    if u > 2: break
r = r * x""",
    "nested dynamic": """
def g1(n):
    for k in a:
        yield k * x * n
for u in g1(3):
    for w in g1(4):
        if w > 12: break
        r = r + u * w
    else:
        r = r + 1.0
    if u > 12: continue
    r = r + 2 * x
r = r * x""",
    "body raises": """
def g1():
    for k in a:
        e(1)
        yield k
try:
    for u in g1():
        e(2)
        if u > 3: raise ValueError
        r = r + u
except ValueError:
    r = r * 3
e(4)""",
    "body raises finally": """
def g1():
    try:
        for k in a:
            e(1)
            yield k
    finally:
        e(7)
try:
    for u in g1():
        e(2)
        if u > 3: raise ValueError
        r = r + u
except ValueError:
    e(8)
    r = r * 3
e(4)""",
    "gen raises": """
def g1():
    for k in a:
        e(1)
        if k > 3: raise KeyError
        yield k
try:
    for u in g1():
        e(2)
        r = r + u
except KeyError:
    e(8)
    r = r * 3
e(4)""",
    "gen raises after": """
def g1():
    yield x
    raise KeyError
for u in g1():
    r = r + u""",
    "wrong args": """
def g1(k):
    yield x
it = g1()
e(1)""",
    "default args": """
def g1(k=e(1), *b, c=e(2), **d):
    e(3)
    yield x * k * c * len(b) * d['z']
e(4)
for v in g1(5, 6, z=7): r = r + v""",
    "any": """
def g1():
    for v in a:
        e(1)
        yield v
q = any(v > 2 for v in g1())
r = x if q else 2 * x""",
    "in": """
def g1():
    for v in (1, 2, 3):
        e(v)
        yield v
r = x if 2 in g1() else 2 * x""",
    "send value": """
def g1():
    q = yield x
    yield x if q is None else 2 * x
for v in g1():
    r = r + v""",
    "while dynamic": """
def g1(v):
    while v < 30:
        yield v
        v = v * v + 0.5
for v in g1(x):
    r = r + v
    w = v
r = r * w""",
    "early return": """
def g1(n):
    for k in range(n):
        if k * x > 2:
            return
        yield k * x
    yield 100 * x
for v in g1(5):
    r = r + v""",
    "early return array": """
def g1():
    for k in a:
        if k * x > 4:
            return
        yield k * x
    yield 100 * x
for v in g1():
    r = r + v
    if v > 100: r = r * 2""",
    "list grows": """
def g1():
    for k in a:
        l.append(k)
        yield k
for v in g1():
    l.append(v * 2)
    if v > 2: l.pop()
r = sum(l)""",
    "dict": """
def g1():
    for k in range(3):
        yield k, k * x
q = dict(g1())
r = q[2]""",
    "object state": """
def g1():
    for k in a:
        o.v = o.v + k
        yield o
for q in g1():
    q.v = q.v * 1.1
    r = r + o.v""",
    "best none": """
def g1():
    for k in a:
        yield k * k
best = None
for q in g1():
    if best is None or q > best:
        best = q
r = best""",
    "sorted": """
def g1():
    for k in a:
        yield -k
r = sorted(g1())[0]""",
    "closure late": """
k = 1.0
def g1():
    for v in a:
        yield v * k
it = g1()
k = 3.0 * x
r = sum(it)""",
    "tee": """
def g1():
    for v in (1.0, 2.0, 3.0):
        yield v * x
p, q = itertools.tee(g1())
for u, w in zip(p, q): r = r + u * w""",
    "string join": """
def g1():
    for v in (1.0, 2.0, 3.0):
        yield str(v)
r = len(','.join(g1())) * x""",
    "if gen": """
def g1():
    for v in a: yield v
def g2():
    for v in a: yield 2 * v
for v in (g1() if x > 1 else g2()):
    r = r + v""",
    "if gen dyn": """
def g1(k):
    for v in a: yield v * k
it = g1(2.0)
if x > 5:
    it = g1(3.0)
for v in it:
    r = r + v""",
    "gen called twice": """
def g1():
    for v in a: yield v
for v in g1():
    for w in g1():
        r = r + v * w""",
    "lambda": """
q = lambda: (yield x)
for v in q(): r = r + v""",
    "write outer loop": """
def g1(s):
    for v in a: yield v * s
s = 1.0
for k in range(3):
    for v in g1(s):
        s = s + 0.1 * v
    r = r + s""",
    "split in body": """
c = np.zeros(5)
def g1():
    for v in (x, 2 * x, 3 * x):
        yield v
        c[1] = c[1] + 1.0
for v in g1():
    b = a if v > 2 else c
    b[0] = b[0] * 2 + v
r = a.sum() + 2 * c.sum()""",
    "split in gen": """
c = np.zeros(5)
def g1():
    for v in (x, 2 * x, 3 * x):
        b = a if v > 2 else c
        b[0] = b[0] * 2 + v
        yield b
for b in g1():
    b[1] = b[1] + x
r = a.sum() + 2 * c.sum()""",
    "dict key": """
d2 = {}
def g1():
    for k in range(3):
        yield k, k * x
for k, v in g1():
    d2[k] = v
r = d2[1] + d2[2]""",
    "list of lists": """
def g1():
    row = []
    for v in a:
        row.append(v)
        if len(row) == 2:
            yield row
            row = []
    if row:
        yield row
for q in g1():
    r = r * 2 + q[0] * len(q)""",
    "batches": """
def batches(z, n):
    for i in range(0, len(z), n):
        yield z[i:i + n]
for k, b in enumerate(batches(a, 2)):
    r = r + np.sum(b ** 2) * (k + 1)""",
    "window": """
def pairs(it):
    it = iter(it)
    prev = next(it)
    for v in it:
        yield prev, v
        prev = v
for u, v in pairs(a):
    r = r + u * v""",
    "window list": """
def pairs(it):
    it = iter(it)
    prev = next(it)
    for v in it:
        yield prev, v
        prev = v
for u, v in pairs(l):
    r = r + u * v * e(1)""",
    "while newton": """
def newton(v):
    while True:
        v = 0.5 * (v + 2 * x / v)
        yield v
last = 10.0
for v in newton(x):
    if abs(v - last) < 1e-10:
        break
    last = v
r = v""",
    "gen in gen class": """
o.w = []
def g1():
    for k in range(3):
        o.w.append(k * x)
        yield o.w
for w in g1():
    w.append(x)
    r = r + len(w) * w[-2]
r = r + sum(o.w)""",
    "closure over loop var": """
fs = []
def g1():
    for k in range(3):
        yield lambda: k * x
for q in g1():
    fs.append(q)
r = fs[0]() + 10 * fs[1]()""",
    "rebinds arg": """
def g1(z):
    for k in range(3):
        z = z * 2
        yield z
z = x
for v in g1(z):
    z = z + v
r = z""",
    "array aug": """
def g1(z):
    for k in range(3):
        z *= 2
        yield z
for v in g1(a):
    r = r + v[k if (k := 1) else 0]
r = r + a.sum()""",
    "break in try in body": """
def g1():
    for v in a:
        e(1)
        yield v
for v in g1():
    try:
        if v > 3:
            break
        r = r + l[int(v)]
    except IndexError:
        r = r + 100 * x
    finally:
        e(2)""",
    "continue finally": """
def g1():
    for v in a:
        try:
            if v > 3: continue
            yield v
        finally:
            e(3)
for v in g1():
    r = r + v
    e(4)""",
    "return value unused": """
def g1():
    yield x
    return 5 * x
for v in g1(): r = r + v""",
    "any gen": """
def g1():
    for v in a:
        e(1)
        yield v > 3
r = x if any(g1()) else 2 * x""",
    "all gen": """
def g1():
    for v in (1, 0, 1):
        e(v)
        yield v
r = x if all(g1()) else 2 * x""",
    "map gen": """
def g1():
    for v in a:
        e(1)
        yield v
for w in map(lambda v: v * e(2), g1()):
    r = r + w
    if r > 20: break""",
    "filter gen": """
def g1():
    for v in a:
        e(1)
        yield v
for w in filter(lambda v: e(2) and v > 3, g1()):
    r = r + w * e(3)""",
    "chain gen": """
def g1():
    for v in a:
        yield v
for w in itertools.chain(g1(), [x], g1()):
    r = r + w""",
    "zip two": """
def g1():
    for v in a:
        yield v
for u, w in zip(g1(), g1()):
    r = r + w * u""",
    "zip same": """
def g1():
    for v in (x, 2 * x, 3 * x, 4 * x):
        e(1)
        yield v
it = g1()
for u, w in zip(it, it):
    r = r + w * u * e(2)""",
    "zip array changes": """
def g1():
    for v in (x, 2 * x, 3 * x):
        a[1] = a[1] + v
        yield v
for u, w in zip(a, g1()):
    r = r + u * w
    a[2] = a[2] * 2""",
    "accumulate": """
def g1():
    for v in a:
        yield v
r = sum(itertools.accumulate(g1()))""",
    "starred assign": """
def g1():
    for v in (x, 2 * x, 3 * x):
        e(1)
        yield v
p, *q = g1()
r = p * len(q) + q[1]""",
    "dictcomp": """
def g1():
    for k in range(3):
        e(k)
        yield k
q = {k: k * x for k in g1()}
r = q[2]""",
    "set": """
def g1():
    for k in range(3):
        yield k
r = len(set(g1())) * x""",
    "extend": """
def g1():
    for v in a:
        yield v
        l.append(7 * x)
l.extend(g1())
r = sum(v * k for k, v in enumerate(l))""",
    "np sum": """
def g1():
    for v in a:
        yield v
r = np.sum(np.fromiter(g1(), float))""",
    "min max": """
def g1():
    for v in a:
        yield (v - 3) ** 2
r = min(g1()) + max(g1())""",
    "reduce": """
def g1():
    for v in a:
        yield v
r = functools.reduce(lambda p, q: p * q, g1())""",
    "nested fn nonlocal in body": """
def g1():
    for v in a:
        yield v
def h2():
    t = 0.0
    def add(v):
        nonlocal t
        t = t + v
    for v in g1():
        add(v * v)
    return t
r = h2()""",
    "truth": """
def g1():
    yield x
q = g1()
r = x if q else 2 * x""",
    "is same iter": """
def g1():
    yield x
q = g1()
r = x if iter(q) is q else 2 * x""",
    "held in list": """
def g1(k):
    for v in a: yield v * k
gens = [g1(1.0), g1(2.0)]
for q in gens:
    for v in q:
        r = r + v""",
    "held in attr": """
def g1(k):
    for v in (1.0, 2.0, 3.0): yield v * k * x
o.it = g1(2.0)
r = next(o.it)
r = r + 3 * next(o.it)""",
    "returned": """
def g1(k):
    for v in a: yield v * k
def mk(k):
    e(1)
    return g1(k)
for v in mk(3.0): r = r + v""",
    "passed on": """
def g1(k):
    for v in a: yield v * k
def use(it):
    t = 0.0
    for v in it:
        t = t + v
        if t > 10: return t
    return -t
r = use(g1(3.0))""",
    "nested grad": """
import autodiff_compiler as ad
def f2(z):
    def g1():
        for k in range(4): yield z ** k
    return sum(g1())
r = ad.grad(f2)(x)""",
    "async-like pipeline": """
def src():
    for v in a: yield v
def dbl(s):
    for v in s: yield 2 * v
def lim(s, n):
    k = 0
    for v in s:
        if k >= n: return
        k += 1
        yield v
r = sum(lim(dbl(src()), 3))""",
    "lim effects": """
def src():
    for v in a:
        e(1)
        yield v
def lim(s, n):
    k = 0
    for v in s:
        if k >= n: return
        k += 1
        yield v
for v in lim(src(), 3): r = r + v * e(2)""",
    "mut while iterating list": """
def g1():
    for v in l:
        yield v
for v in g1():
    if len(l) < 6: l.append(v * 2)
    r = r + v""",
    "global-ish state": """
def counter():
    n = 0
    while True:
        n += 1
        yield n
c = counter()
for v in l:
    r = r + v * next(c)""",
    "swap": """
def g1():
    u, v = x, 2 * x
    for k in range(4):
        u, v = v, u * v
        yield u
for w in g1(): r = r + w""",
    "next in loop from start": """
def g2(v):
    while True:
        yield v
        t = v * 1.1
        v = t
it = g2(x)
for k in range(int(3 * x)):
    r = r + next(it)""",
}

REFUSED = {
    "finally not temp": """
def g2():
    try:
        for v in a:
            e(1)
            yield v
            e(2)
    finally:
        e(4)
it = g2()
for v in it:
    r = r + v
    if v > 2:
        break
e(5)""",
    "next for": """
def g2(v):
    for k in range(3):
        yield v * k
    for w in a:
        yield w
it = g2(x)
r = next(it) + next(it) + 3 * next(it) + next(it) * next(it)""",
    "next then for array": """
def g2(v):
    for w in a:
        e(1)
        yield v * w
        e(2)
it = g2(x)
r = next(it)
for v in it:
    r = r + v * e(3)""",
    "for then next": """
def g2(v):
    for w in a:
        yield v * w
it = g2(x)
for v in it:
    r = r + v
    if r > 4: break
r = r + next(it)""",
    "yield from value": """
def g1():
    yield x
    return 2 * x
def g2():
    q = yield from g1()
    yield q
for v in g2():
    r = r + v""",
    "yields same array": """
def g1():
    b = np.zeros(3)
    for k in range(len(a)):
        b[k % 3] = a[k]
        yield b
q = []
for v in g1():
    q.append(v)
r = r + q[0][0] + q[1][2]""",
    "body raises except": """
def g1():
    try:
        for k in a:
            e(1)
            yield k
    except ValueError:
        e(7)
try:
    for u in g1():
        e(2)
        if u > 3: raise ValueError
        r = r + u
except ValueError:
    e(8)
    r = r * 3
e(4)""",
    "stop iteration": """
def g1():
    yield x
    raise StopIteration
try:
    for v in g1():
        r = r + v
except RuntimeError:
    r = r * 7""",
    "next inside": """
def g1():
    it = iter([x])
    while True:
        yield next(it)
try:
    for v in g1():
        r = r + v
except RuntimeError:
    r = r * 7""",
    "del": """
def g1():
    for v in a: yield v
it = g1()
it.close()
for v in it: r = r + v""",
    "split after partly": """
c = np.zeros(5)
def g1():
    for v in (x, 2 * x, 3 * x):
        yield v
for v in g1():
    if v > 2:
        b = a
        break
else:
    b = c
b[0] = 7 * x
r = a.sum() + 2 * c.sum()""",
    "dict key dyn": """
d2 = {}
def g1(n):
    for k in range(n):
        yield k, k * x
for k, v in g1(len(a) - 2):
    d2[k] = v
r = d2[1] + d2[2]""",
    "fib": """
def fib():
    u, v = x, 1.0
    while True:
        yield u
        u, v = v, u + v
for v in itertools.takewhile(lambda v: v < 20, fib()):
    r = r + v""",
    "chain effects": """
def g1():
    for v in a:
        e(1)
        yield v
for w in itertools.chain(g1(), [x]):
    r = r + w * e(2)""",
    "zip list changes": """
def g1():
    for v in a:
        yield v
for u, w in zip(l, g1()):
    l.append(w)
    r = r + u
    if r > 20: break""",
    "isinstance": """
import types
def g1():
    yield x
q = g1()
r = x if isinstance(q, types.GeneratorType) else 2 * x""",
    "recursion perms": """
def perms(items):
    if len(items) <= 1:
        yield items
    else:
        for k in range(len(items)):
            for p in perms(items[:k] + items[k + 1:]):
                yield [items[k]] + p
for p in perms([x, 2 * x, 3.0]):
    r = r + p[0] * p[1] - p[2] ** 2""",
    "recursion dyn": """
def down(v):
    if v > 0.1:
        yield v
        yield from down(v * 0.5)
for v in down(x): r = r + v""",
    "lim next after": """
def src():
    for v in (1.0, 2.0, 3.0, 4.0, 5.0):
        e(1)
        yield v
def lim(s, n):
    k = 0
    for v in s:
        if k >= n: return
        k += 1
        yield v
it = src()
for v in lim(it, 2): r = r + v * e(2)
r = r + next(it) * x""",
}
