"""The small programs by which whole families of programs were wrong once: in both orders, without and with what another
process left in the cache, and with other seeds of the hash function."""

from __future__ import annotations

from pathlib import Path

from tests.processes import refused, run_in_processes, wrong

HEAD = "import copy, datetime, enum, functools, itertools, math, types\nimport numpy as np\n\n"

# By name: the text of a module with f(x).
PROGRAMS = {
    # A list or tuple that meets an array.
    "list into array": "def f(x):\n    a = np.zeros(2)\n    a[:] = [x, x * x]\n    return a[0] * a[1]",
    "tuple at an index": "def f(x):\n    a = np.zeros((2, 2))\n    a[1] = (x, x * x)\n    return a[1, 0] * a[1, 1]",
    "list at a mask": "def f(x):\n    a = np.zeros(3)\n    a[np.array([True, False, True])] = [x, x * x]\n    return a[0] * a[2]",
    "list at a list": "def f(x):\n    a = np.zeros(3)\n    a[[0, 2]] = [x, x * x]\n    return a[0] * a[2]",
    "rotation": "def f(x):\n    c, s = np.cos(x), np.sin(x)\n    r = np.zeros((2, 2))\n    r[:] = [[c, -s], [s, c]]\n    return (r @ np.array([1.0, 2.0]))[0]",
    "copyto": "def f(x):\n    a = np.zeros(2)\n    np.copyto(a, [x, x * x])\n    return a[0] * a[1]",
    "flat of list": "def f(x):\n    a = np.zeros((2, 2))\n    a.flat[:] = [x, x * x, 1.0, x]\n    return a[0, 0] * a[0, 1] + a[1, 1]",
    "record of list": "def f(x):\n    r = np.zeros(2, dtype=[('a', float)])\n    r['a'] = [x, 1.0]\n    return r['a'][0] ** 2",
    "grown list": "def f(x):\n    l = []\n    for k in range(3):\n        l.append(x * k)\n    a = np.zeros(3)\n    a[:] = l\n    return np.sum(a * a)",
    "full of list": "def f(x):\n    return np.sum(np.full((2, 3), [x, 2.0, x * x]) ** 2)",
    "add.at of list": "def f(x):\n    a = np.zeros(3)\n    np.add.at(a, [0, 0, 2], [x, x * x, 1.0])\n    return np.sum(a * a)",
    "list minus its maximum": "def f(x):\n    l = [x, x * x]\n    return np.sum(np.exp(l - np.max(l)))",
    "list to a power": "def f(x):\n    return np.sum(np.array([x, 2.0]) ** 2.0 * [x, 1.0])",
    # The order of sets.
    "set of words": "D = {'alpha': 1.0, 'beta': 2.0, 'gamma': 3.0}\ndef f(x):\n    s = 0.0\n    for k in {'alpha', 'beta', 'gamma'}:\n        s = s * 2 + D[k] * x * x\n    return s",
    "popped word": "D = {'alpha': 1.0, 'beta': 2.0, 'gamma': 3.0}\ndef f(x):\n    return D[{'alpha', 'beta', 'gamma'}.pop()] * x * x",
    "list of a set": "D = {'alpha': 1.0, 'beta': 2.0, 'gamma': 3.0}\ndef f(x):\n    return D[list(frozenset(['gamma', 'beta', 'alpha']))[0]] * x * x",
    "longest word": "D = {'alpha': 1.0, 'omega': 2.0, 'gamma': 3.0}\ndef f(x):\n    return D[max({'alpha', 'omega', 'gamma'}, key=len)] * x * x",
    "hash of a word": "def f(x):\n    return x * x * (1 + 'abc'.__hash__() % 7 + str.__hash__('abd') % 7 + b'abc'.__hash__() % 5 + hash('abe') % 3)",
    # Exceptions that pass a clean-up.
    "finally below an outer try": "def f(x):\n    q = 1.0\n    try:\n        try:\n            raise KeyError\n        finally:\n            q = x * x\n    except KeyError:\n        pass\n    return q",
    "__exit__ below an outer try": "class M:\n    def __enter__(self):\n        return self\n    def __exit__(self, *a):\n        self.v = self.v * self.v\ndef f(x):\n    m = M()\n    m.v = x\n    try:\n        with m:\n            raise ValueError\n    except ValueError:\n        pass\n    return m.v",
    "error at run time": "def f(x):\n    q = 1.0\n    try:\n        try:\n            y = [x][int(x * 0) + 3]\n        finally:\n            q = x * x\n    except IndexError:\n        pass\n    return q",
    "helper with a clean-up": "def h(v, out):\n    try:\n        return v * out[7]\n    finally:\n        out.append(v)\ndef f(x):\n    l = [x * x]\n    try:\n        h(x, l)\n    except IndexError:\n        pass\n    return sum(l)",
    "return inside try": "def h(v):\n    try:\n        return v * v\n    finally:\n        w = v\n        w = w * 2.0\ndef f(x):\n    return h(x) * x",
    # Truth of objects.
    "IntEnum": "class Mode(enum.IntEnum):\n    OFF = 0\n    ON = 1\nM = Mode.OFF\ndef f(x):\n    return x * x if M else x ** 3",
    "enum of strings": "class E(str, enum.Enum):\n    NO = ''\n    YES = 'y'\ndef f(x):\n    return x * x if not E.NO else x ** 3",
    "__bool__": "class B:\n    def __bool__(self):\n        return False\nb = B()\ndef f(x):\n    return x * x if bool(b) else x ** 3",
    "__len__": "class B:\n    def __len__(self):\n        return 0\nb = B()\ndef f(x):\n    return x * x if b else x ** 3",
    # Augmented assignment and setters.
    "property": "class B:\n    def __init__(self, a):\n        self._a = a\n    @property\n    def a(self):\n        return self._a * 1.0\n    @a.setter\n    def a(self, v):\n        self._a = v\ndef f(x):\n    b = B(x)\n    b.a += x\n    return b.a * x",
    "__setitem__": "class B:\n    def __getitem__(self, k):\n        return self.v\n    def __setitem__(self, k, v):\n        self.v = v * 2.0\ndef f(x):\n    b = B()\n    b.v = x\n    b[0] += x\n    return b.v * x",
    "__setattr__": "class B:\n    def __setattr__(self, name, v):\n        self.__dict__[name] = v * 3.0\ndef f(x):\n    b = B()\n    b.a = x\n    b.a += x\n    return b.a * x",
    "rebound target": "class B:\n    pass\ndef f(x):\n    b = B()\n    b.a = x\n    def h():\n        b.a = 5.0\n        return x\n    b.a += h()\n    return b.a * x",
    "item of a tuple": "def f(x):\n    t = (x, 1.0)\n    t[0] += x\n    return t[0] * x",
    # Strings of NumPy's.
    "np.str_": "S = np.str_('sq')\ndef f(x):\n    return x * x if S == 'sq' else x",
    "item of an array of names": "N = np.array(['sq', 'cube'])\ndef f(x):\n    return x * x if N[0] == 'sq' else x",
    "np.str_ in a tuple": "S = np.str_('sq')\ndef f(x):\n    return x * x if S in ('a', 'sq') else x",
    "np.str_ in match": "S = np.str_('sq')\ndef f(x):\n    match S:\n        case 'sq':\n            return x * x\n    return x",
    # Questions.
    "function is itself": "def f(x):\n    def h(v):\n        return v\n    return x * x if h == h else x",
    "function in a list": "def h(v):\n    return v\nHS = [h, abs]\ndef f(x):\n    return x * x if h in HS else x",
    "bound methods": "class O:\n    def m(self):\n        pass\no = O()\ndef f(x):\n    return x * x if o.m == o.m else x",
    "dates": "A, B = datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)\ndef f(x):\n    return x * x if A == B else x",
    "namespaces": "A, B = types.SimpleNamespace(a=1), types.SimpleNamespace(a=1)\ndef f(x):\n    return x * x if A == B else x",
    "class of a number": "def f(x):\n    return x * x if x.__class__ is float else x",
    "base of an array": "def f(x):\n    a = np.zeros(2)\n    a[0] = x\n    return a[0] * x if a.base is None else x",
    "nan in a list": "def f(x):\n    return x * x if np.nan in [np.nan] else x",
    "__call__ of an array": "def f(x):\n    return x * x if hasattr(np.zeros(2) * x, '__call__') else x ** 3",
    "text of a dtype": "def f(x):\n    v = np.array([x, 2.0])\n    d = v.dtype\n    texts = str(d), repr(d), f'{d}', '%s' % d, '{}'.format(d), str(d.type), str(v[0].dtype)\n    return x * x * sum(len(t) for t in texts)",
    "registered class": "import abc\nclass A(abc.ABC):\n    pass\nclass B:\n    pass\nb = B()\ndef f(x):\n    return x * x if isinstance(b, A) else x ** 3\ndef change():\n    A.register(B)\nsteps = [change]",
    # Iterators.
    "iterator of a dictionary": "def f(x):\n    d = {0: x, 1: 7.0}\n    return d[next(iter(d))] * x",
    "any, then sum": "def f(x):\n    it = iter([x, 2.0, x * x])\n    return x if not any(v > 1.5 for v in it) else sum(it) * x",
    "late scale": "def f(x):\n    s = x\n    g = (x * s for _ in range(2))\n    t = next(g)\n    s = 10.0\n    return t + next(g)",
    "islice with effects": "def f(x):\n    seen = []\n    g = ((seen.append(v), v * x)[1] for v in (1.0, 2.0, 3.0))\n    t = sum(itertools.islice(g, 2))\n    return t * len(seen)",
    "calls of a key": "def f(x):\n    n = []\n    m = max([x, 0.1, 0.2], key=lambda v: (n.append(1), v)[1])\n    return m * m * len(n)",
    # Order of evaluation.
    "key before value": "def f(x):\n    log = [x]\n    def e(v):\n        log.append(log[-1] * v + x)\n        return log[-1]\n    d = {len([e(2.0)]): e(3.0)}\n    return d[1] * log[1]",
    "star and keyword": "def h(*a, k):\n    return sum(a) * k\ndef f(x):\n    l = [x]\n    def g():\n        l.append(x * x)\n        return 2.0\n    return h(*l, k=g())",
    # Copies.
    "deepcopy of an alias": "def f(x):\n    a = np.array([x, 1.0])\n    b = copy.deepcopy([a, a])\n    b[0][0] = 2.0 * x\n    return b[1][0] * x",
    # Views.
    "meshgrid without copies": "def f(x):\n    v = np.array([x, 2.0])\n    a, b = np.meshgrid(v, v, copy=False)\n    v[1] = x * x\n    return np.sum(a * b)",
    "windows written to": "def f(x):\n    v = np.array([x, 2.0, 3.0])\n    w = np.lib.stride_tricks.sliding_window_view(v, 2, writeable=True)\n    w[0, 1] = x * x\n    return np.sum(w)",
    "copied windows": "def f(x):\n    w = np.lib.stride_tricks.sliding_window_view(np.array([x, 2.0, 3.0]) * x, 2).copy()\n    w[0, 1] = x * x\n    return np.sum(w)",
    "flat overlap": "def f(x):\n    a = np.array([[x, 2.0, 3.0, 4.0], [1.0, x, 5.0, 6.0]])\n    a[:, ::2].flat = a[1]\n    return np.sum(a * np.arange(8.0).reshape(2, 4))",
    "Fortran order": "def f(x):\n    a = np.asfortranarray(np.outer([x, 2.0], [1.0, x]))\n    a.ravel()[0] = 5.0\n    return np.sum(a)",
    # Caches.
    "cached helper": "K = 2.0\n@functools.lru_cache(maxsize=None)\ndef h(n):\n    return K * n\ndef f(x):\n    return h(3) * x * x\ndef change():\n    global K\n    K = 5.0\nsteps = [change]",
    # Keys that are equal.
    "keys that are equal": "D = {1: 0.7}\ndef f(x):\n    return sum(v * x * x * (2.0 if k is True else 3.0) for k, v in D.items())\ndef one():\n    D.clear()\n    D[True] = 0.7\ndef two():\n    D.clear()\n    D[1.0] = 0.7\nsteps = [one, two]",
    # Functions that are replaced.
    "replaced function": "def f(x):\n    return math.sin(x) * np.sin(x)\nkept = math.sin, np.sin\ndef change():\n    math.sin, np.sin = math.cos, np.cos\ndef back():\n    math.sin, np.sin = kept\nsteps = [change, back]",
    # A number where the function raises.
    "norm of a vector": "def f(x):\n    return np.linalg.norm(np.array([x, 1.0]), 1, axis=(0, 1))",
    "rollaxis of a vector": "def f(x):\n    return np.sum(np.rollaxis(np.array([x, 1.0]), 1))",
    "weights of sum zero": "def f(x):\n    return np.average(np.array([x, 1.0]), weights=[1.0, -1.0])",
    "cumulative_sum of a matrix": "def f(x):\n    return np.sum(np.cumulative_sum(np.ones((2, 2)) * x))",
    "multi_dot of one": "def f(x):\n    return np.linalg.multi_dot([np.array([x, 1.0])])",
    "vander of a matrix": "def f(x):\n    return np.sum(np.vander(np.ones((2, 2)) * x))",
    # What enters foreign code.
    "list of one's own": "class L(list):\n    pass\ndef f(x):\n    o = L()\n    o.append(x)\n    return o[0] * x",
    "settings": "class Cfg(dict):\n    __getattr__ = dict.__getitem__\nC = Cfg(rate=2.0)\ndef f(x):\n    return C.rate * x * x",
    "append of the class": "def f(x):\n    l = []\n    list.append(l, x)\n    return l[0] * x",
    "setitem of the class": "def f(x):\n    a = np.zeros(2)\n    np.ndarray.__setitem__(a, 0, x)\n    return a[0] * x",
    "text and back": "def f(x):\n    return float(str(x)) * x",
    "record field": "def f(x):\n    a = np.zeros(2, dtype=[('p', float)])\n    a['p'] += x\n    return a['p'][0] * x",
    # Zero times infinity.
    "distances": "def f(x):\n    v = np.array([x, 2.0, x * x])\n    return np.exp(-np.sqrt(((v[:, None] - v) ** 2)) ** 2).sum()",
    # What crashed.
    "array without axes": "def f(x):\n    s = np.array(x)\n    return s * s[()]",
    "range": "def f(x):\n    return x * x * sum(range(10)[2:5]) if range(3) else x",
    "large power": "def f(x):\n    return (x * 0.5 + 0.65) ** 3 * min(1.0, 2 ** 70)",
    "one array to stack": "def f(x):\n    return np.sum(np.vstack(np.ones((2, 2)) * x) * x)",
    "order in memory": "def f(x):\n    a = np.ones((2, 2), order='F') * x\n    a.ravel()[1] = 5.0\n    a.T.reshape(-1)[2] = x * x\n    a.ravel(order='F')[1] += x\n    return np.sum(a * [[1.0, 2.0], [3.0, 4.0]])",
    "windows of a copy": "def f(x):\n    w = np.lib.stride_tricks.sliding_window_view(np.array([x, 2.0, x]), 2).copy()\n    w *= x\n    return np.sum(w * w)",
    "diagonal written to": "def f(x):\n    m = np.eye(2) * x\n    np.diag(m)[0] = 1.0\n    return np.sum(m)",
    "returned argument": "def relax(p, b):\n    p[0] = p[0] * 0.9 + b\n    return p\ndef f(x):\n    p = np.array([x, 1.0])\n    for _ in range(100):\n        p = relax(p, x * x)\n    return p[0]",
}  # fmt: skip
REFUSED = {
    "base of an array", "flat overlap", "meshgrid without copies", "text and back", "windows written to",
}  # fmt: skip
SEEDS = (0, 1, 1, 0)


def test_in_both_orders_cold_and_warm_with_two_seeds(tmp_path: Path) -> None:
    programs = {name: HEAD + text + "\n" for name, text in PROGRAMS.items()}
    runs = run_in_processes(programs, tmp_path, SEEDS)
    assert not wrong(runs)
    assert refused(runs) == REFUSED
    compiled = [sum(count for _, count in run.values()) for run in runs]
    assert compiled[3] < compiled[0] / 2, compiled  # the others read what the first has left
