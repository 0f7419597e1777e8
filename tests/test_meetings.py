"""Lists, arrays, keys and strings of NumPy's where they meet: who has the say, what is nested too deeply, which keys
are one. Each program is compared with a run of the function."""

import pytest

from .live_runs import module_of, outcome

HEAD = """import collections, functools
import numpy as np
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
