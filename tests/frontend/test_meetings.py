"""Lists, arrays, keys and strings of NumPy's where they meet: who has the say, what is nested too deeply, which keys
are one. Each program is compared with a run of the function."""

import pytest

from tests.live_runs import module_of, outcome

HEAD = """import collections, enum, functools
import numpy as np
class Color(enum.Enum):
    RED = 1
    BLUE = 3
class Way(enum.Flag):
    IN = enum.auto()
    OUT = enum.auto()
    BOTH = IN | OUT
class Bits(enum.IntFlag):
    A = 1
    B = 2
class Row:
    def __init__(self, n): self.r = [1.0] * n
    def __getitem__(self, i):
        if isinstance(i, slice): return [self.r[k] for k in range(*i.indices(len(self.r)))]
        return self.r[i]
    def __setitem__(self, i, v):
        if isinstance(i, slice):
            for k in range(*i.indices(len(self.r))): self.r[k] = v
        else: self.r[i] = v
    def __delitem__(self, i): del self.r[i]
    def __len__(self): return len(self.r)
class Right:
    def __radd__(self, o): return 5.0 * len(o)
    def __rmul__(self, o): return 7.0 * len(o)
class O: pass
class Length:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
@functools.cache
def kind(k, j=0): return 1.0 if k is True else 2.0 if isinstance(k, float) else 3.0
@functools.lru_cache(typed=True)
def typed(k): return 1.0 if k is True else 2.0 if isinstance(k, float) else 3.0
"""

PROGRAMS = {
    # An array on the right of `l += a` adds, and the list is no list any more.
    "list += array": "l = [x]; l += np.array([x, 2.0]); return l.sum() * l[1]",
    "list += array, alias": "l = m = [x]; l += np.array([x, 2.0]); return l.sum() * l[1] + len(m)",
    "list += array, attribute": "o = O(); o.l = [x, x]; o.l += np.array([x, 2.0]); return o.l[0] * o.l[1]",
    "list += array, entry": "d = {'l': [x]}; d['l'] += np.ones(2) * x; return d['l'][0] * d['l'][1]",
    "list += number": "l = [x, 2.0]; l += np.float64(2.0); return l[0] * l[1]",
    "list += array, then append": "l = [x]; l += np.array([x]); l.append(x); return l[0]",
    "list *= array": "l = [x, 1.0]; l *= np.array([2.0, x]); return l @ l",
    "list *= int": "l = m = [x]; l *= 2; l *= np.int64(2); return sum(l) * len(m)",
    "list += tuple": "l = m = [x]; l += (x * x, 2.0); return sum(m) * m[1] * len(l)",
    "list += shape": "l = [x]; l += np.ones((2, 3)).shape; return sum(l) * x",
    # What is stored into a view as an array may not be nested deeper than it.
    "deep list": "a = np.zeros((2, 2)); a[0] = [[x, 1.0]]; return a.sum()",
    "deep list, slice": "a = np.zeros((2, 2)); a[0, :] = [[x, x * x]]; return (a * a).sum()",
    "deep list, whole": "a = np.zeros(2); a[...] = ((x, 1.0),); return a.sum()",
    "deep list, of arrays": "a = np.zeros(2); a[:] = [np.array([x, 1.0])]; return a.sum()",
    "deep list, of ranges": "a = np.zeros(2); a[:] = [range(2)]; return a.sum() * x",
    "deep list, column": "a = np.zeros((2, 2)); a[:, 0] = [[x], [x]]; return a.sum()",
    "deep array": "a = np.zeros(2); a[:] = np.array([[x, 1.0]]); return (a * a).sum()",
    "deep list, places": "a = np.zeros((2, 2)); a[[0]] = [[[x, 1.0]]]; return (a * a).sum()",
    "list that fits": "a = np.zeros((1, 2)); a[:] = [np.array([x, 1.0])]; return (a * a).sum()",
    "list that fits, axis": "a = np.zeros((2, 2)); a[:, None, 1] = [[x], [x]]; return (a * a).sum()",
    # A range is a container too.
    "range @": "a = np.array([x, x]); return a @ range(2) * x",
    "range *": "a = np.array([x, x]); return (range(1, 3) * a * range(2)).sum() * x",
    "range, dot": "a = np.array([x, x]); return np.dot(range(2), a) + np.stack([range(2), a]).sum() * x",
    "range, int cotangent": "a = np.array([x, x]); return sum(a @ range(2) * k for k in range(3))",
    # A length may be an integer of NumPy's.
    "length": "b = Length(np.int64(3)); return x ** len(b) * (2.0 if b else 3.0) * (type(len(b)) is int)",
    "length 0": "b = Length(np.int8(0)); return x * x if b else x ** 3",
    "length that is none": "return x * x if Length(1.0) else x ** 3",
    # Keys equal by hash: a cache that does not look at types gives what the first of them got.
    "cache": "return x * kind(1) + x * x * kind(True) + x ** 3 * kind(1.0)",
    "cache, two": "return x * kind(1, 2) + x * x * kind(True, 2) + x ** 3 * kind(1.0, 2) + kind(1, 3) * x",
    "cache, loop": "y = x\n    for k in (0, False, 0.0): y = y + x * kind(k, 7)\n    return y",
    "cache, typed": "return x * typed(1) + x * x * typed(True) + x ** 3 * typed(1.0)",
    # Members of enums: each is one object, also what an operator of flags gives.
    "enum": "return sum(x * m.value for m in Color) + len(Color) * x + {m: x for m in Color}[Color.RED]",
    "enum, loop": "y = x\n    for k, m in enumerate(Color): y = y + m.value * x ** k\n    return y * len(list(Color))",
    "flags": "m = Way.IN; n = m | Way.OUT; return (x if n is Way.BOTH else 2.0) * (x if m & Way.OUT else x * x)",
    "flags, not": "m = ~Way.IN; return (x if m == Way.OUT else 2.0) * (x if not m & Way.IN else 3.0)",
    "flags, int": "m = Bits.A | Bits.B; m ^= Bits.A; return (x if m is Bits.B else 2.0) * (3 if m & ~Bits.B else m)",
    "flags, loop": "s = x\n    for m in Bits: s = s * x if m & Bits.B else s + x\n    return s",
    # What a slice means for a length.
    "slices": "a = Row(4); a[1:3] = x; a[-1] = x * x; a[::2] = 2.0; return sum(a[:]) + sum(a[::-1]) * a[3]",
    "slices, del": "a = Row(4); a[0] = x; del a[1]; return a[0] * len(a) + sum(a[-2:]) * x",
    "slices, run time": "s = 0.0\n    for k in range(4): s = s + sum(slice(k, None, 1).indices(5)) * x\n    return s",
    # Arrays of iterators.
    "fromiter": "a = np.fromiter((x * k for k in range(3)), float); return a @ a + np.fromiter([x, 1.0], 'f8').sum()",
    "fromiter, map": "return np.fromiter(map(lambda v: v * x, [1.0, 2.0]), dtype=float, count=-1)[1] * x",
    "list += object": "l = [x, 2.0]; l += Right(); m = [x]; m *= Right(); return l * m * x",
    "list += no iterable": "l = [x, 2.0]; l += O(); return l[0]",
    "no iterable": "for k in O(): x = x * 2\n    return x",
    "no pair": "a, b = O(); return x",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    module = module_of(f"{HEAD}def f(x):\n    {PROGRAMS[name]}\n", tmp_path, "meeting")
    assert outcome(module.f) == "right"


def test_a_name_from_outside_may_be_a_string_of_numpys(tmp_path):
    module = module_of(
        "import numpy as np\nN = np.str_('sin')\ndef f(x): return getattr(np, N)(x) * x\n", tmp_path, "named"
    )
    assert outcome(module.f) == "right"
