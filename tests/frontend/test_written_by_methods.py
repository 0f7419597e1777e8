"""Special methods and callbacks that a library runs, and that write to what the function reads: the value is the new
one, or the function is refused. It is never the one from before."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.frontend.own_code import objects_among
from autodiff_compiler.ir.core import Value
from autodiff_compiler.ir.types import OBJECT
from tests.programs.checks import load

HEAD = """
import math, struct, re, datetime, operator, io, json, textwrap, logging, copy, decimal, fractions
import collections, heapq, bisect, itertools, functools, string, pprint, sys, os, statistics, random, array, zlib
import numpy as np
G = 1.0
L = [1.0]
A = np.ones(2)
class R:
    k = 1.0
    def w(self):
        global G
        G += 1.0
        L[0] += 1.0
        A[0] += 1.0
        self.k += 1.0
    def __repr__(self): self.w(); return "r"
    def __str__(self): self.w(); return "s"
    def __format__(self, spec): self.w(); return "f"
    def __index__(self): self.w(); return 1
    def __int__(self): self.w(); return 1
    def __float__(self): self.w(); return 1.0
    def __complex__(self): self.w(); return 1.0+0j
    def __bool__(self): self.w(); return True
    def __len__(self): self.w(); return 1
    def __bytes__(self): self.w(); return b"x"
    def __hash__(self): self.w(); return 3
    def __eq__(self, other): self.w(); return True
    def __lt__(self, other): self.w(); return False
    def __gt__(self, other): self.w(); return False
    def __le__(self, other): self.w(); return False
    def __contains__(self, o): self.w(); return True
    def __abs__(self): self.w(); return 1.0
    def __round__(self, n=0): self.w(); return 1.0
    def __floor__(self): self.w(); return 1
    def __ceil__(self): self.w(); return 1
    def __trunc__(self): self.w(); return 1
    def __neg__(self): self.w(); return 1.0
    def __divmod__(self, o): self.w(); return (1, 1)
    def __rdivmod__(self, o): self.w(); return (1, 1)
    def __pow__(self, o, m=None): self.w(); return 1.0
    def __fspath__(self): self.w(); return "/tmp"
    def __dir__(self): self.w(); return ["a"]
    def __sizeof__(self): self.w(); return 10
    def __copy__(self): self.w(); return self
    def __deepcopy__(self, memo): self.w(); return self
    def __instancecheck__(self, o): self.w(); return True
    def write(self, t): self.w()
    def flush(self): self.w()
    def read(self, n=-1): self.w(); return "1"
class I(R):
    n = 0
    def __iter__(self): self.w(); return iter([1.0, 2.0])
class N(R):
    def __array__(self, dtype=None, copy=None): self.w(); return np.ones(2)
class U(R):
    def __array_ufunc__(self, *a, **k): self.w(); return 1.0
    def __array_function__(self, *a, **k): self.w(); return 1.0
class T(datetime.tzinfo):
    def utcoffset(self, dt):
        global G
        G += 1.0; L[0] += 1.0; A[0] += 1.0; r.k += 1.0
        return datetime.timedelta(0)
    def dst(self, dt): return datetime.timedelta(0)
    def tzname(self, dt): self.utcoffset(dt); return "x"
def cb(m):
    r.w()
    return "x"
def key(v):
    r.w()
    return v
pat = re.compile("a")
class H(logging.Handler):
    def emit(self, record): r.w()
logger = logging.getLogger("xx"); logger.propagate = False; logger.addHandler(H())
r = R(); it = I(); n = N(); u = U(); tz = T()
d0 = datetime.datetime(2020, 1, 1, tzinfo=tz)
class F(string.Formatter):
    def format_field(self, v, s): r.w(); return "x"
fm = F()
class M(dict):
    def __missing__(self, k): r.w(); return 1.0
mm = M()
class FL(float):
    def __repr__(self): r.w(); return "1"
    __str__ = __repr__
fl = FL(1.0)
"""

FORMS = """
"%r" % r
"%s" % r
"%d" % r
"%s %s" % (r, 1)
f"{r}"
f"{r!r}"
f"{[r]}"
f"{(r,)}"
f"{dict(a=r)}"
str(r)
repr(r)
str([r])
str((r, 1))
str({"a": r})
repr([r])
"{}".format(r)
"{!r}".format(r)
"{0.k}".format(r)
"{}".format([r])
format(r)
format(r, "x")
ascii(r)
print(r, file=io.StringIO())
print("a", file=r)
struct.pack("<d", r)
struct.pack("<i", r)
[1, 2][r]
(1, 2)[r]
"abc"[r]
A[r]
np.arange(3)[r]
math.sqrt(r)
math.floor(r)
math.ceil(r)
math.trunc(r)
math.gcd(r, 2)
math.hypot(r, 1.0)
math.isfinite(r)
math.factorial(r)
math.fsum([r])
float(r)
int(r)
complex(r)
bool(r)
len(r)
bytes(r)
hash(r)
abs(r)
round(r)
round(r, 1)
-r
divmod(r, 2)
divmod(2, r)
pow(r, 2)
pow(r, 2, 3)
r ** 2
not r
1 if r else 2
r and 1
range(r)
range(3)[r]
hex(r)
oct(r)
bin(r)
chr(r)
operator.index(r)
operator.truth(r)
operator.neg(r)
operator.abs(r)
operator.contains(r, 1)
1 in r
r == 1
r < 1
r != 1
r in [1, 2]
r in (1, 2)
r in {1, 2}
1 in [r]
[r] == [1]
(r, 1) == (1, 1)
[1].count(r)
[r].index(1)
max(r, r)
min(r, r)
max([r, r])
sorted([r, r])
heapq.nlargest(1, [r, r])
bisect.bisect([1, 2], r)
bisect.bisect([r], 1)
{r: 1}
{r}
{1: 2}.get(r)
{3: 2}.get(r)
set([r])
frozenset([r])
dict([(r, 1)])
np.array(n)
np.asarray(n)
np.array([r], dtype=float)
np.array([r])
np.float64(r)
np.int64(r)
np.full(2, r)
np.zeros(r)
np.ones((r, 2))
np.sum(n)
np.sin(n)
np.add(n, 1.0)
A + n
A * u
np.sin(u)
np.sum(u)
np.sum(it)
sum(it)
max(it)
"".join(map(str, it))
any(it)
all(it)
dict.fromkeys(it)
math.fsum(it)
collections.Counter(it)
collections.deque(it)
copy.copy(r)
copy.deepcopy(r)
copy.deepcopy([r])
os.fspath(r)
os.path.join(r, "a")
os.path.exists(r)
dir(r)
sys.getsizeof(r)
isinstance(1, type(r))
pat.sub(cb, "aa")
re.sub("a", cb, "aa")
re.sub(pat, cb, "aa")
pat.subn(cb, "aa")
sorted([2, 1], key=key)
max([2, 1], key=key)
list(map(key, [1]))
list(filter(key, [1]))
functools.reduce(lambda a, b: key(b), [1, 2])
d0.isoformat()
d0.utcoffset()
d0.astimezone(datetime.timezone.utc)
str(d0)
d0 == d0
d0 < d0.replace(year=2021)
d0 - d0
d0.timestamp()
datetime.datetime.fromtimestamp(1, tz)
d0.strftime("%Y %Z")
d0.tzname()
hash(d0)
logger.warning("x")
logger.warning("%s", r)
logging.getLogger("xx").error("x")
json.dumps({"a": 1}, default=key)
json.dumps([r], default=str)
json.dumps([r], default=cb)
json.loads("[1.5]", parse_float=key)
pprint.pformat(r)
pprint.pformat([r])
textwrap.dedent(str(r))
string.Template("$a").substitute(a=r)
fm.format("{}", 1)
mm[1]
"{a}".format_map(mm)
str(fl)
repr(fl)
f"{fl}"
"%r" % fl
[fl].__repr__()
fractions.Fraction(r)
decimal.Decimal(r)
itertools.islice([1, 2], r)
list(itertools.islice([1, 2], r))
list(itertools.repeat(1, r))
"a" * r
[1] * r
random.Random(1).sample([1, 2], r)
array.array("d", [r])
zlib.crc32(bytes(r))
np.isclose(r, 1.0)
np.where(r, 1, 2)
np.maximum(r, 1.0)
np.sqrt(r)
np.linspace(0, 1, r)
np.arange(r)
np.repeat([1.0], r)
np.reshape(A, (r, 2))
np.take(A, r)
np.array2string(np.array([r], dtype=object))
r.__repr__()
object.__repr__(r)
getattr(r, "k")
io.StringIO(str(r))
"abc".startswith("a", r)
"abc".replace("a", "b", r)
"abc".center(r)
"a,b".split(",", r)
"abc".find("c", r)
int.from_bytes(b"a", "big")
slice(r)
[1, 2, 3][r:]
[1, 2, 3][:r]
A[:r]
enumerate([1], r)
list(enumerate([1], r))
sum([1], r)
sum([r, 1], 0)
np.random.default_rng(r)
datetime.date(2020, r, r)
""".strip().splitlines()

READ = ("G", "L[0]", "A[0]", "r.k")  # a global name, a list, an array, an attribute


@pytest.mark.parametrize("k", range(len(FORMS)))
def test_what_a_library_runs_may_write(k: int) -> None:
    text = f"{HEAD}\n\ndef f(x):\n    {FORMS[k]}\n    return x * {READ[k % 4]}\n"
    try:
        want = load(text, "written_by_methods")["f"](2.0) / 2.0
    except TypeError:
        pytest.skip("there is no such method")
    try:
        value, gradient = ad.value_and_grad(load(text, "written_by_methods")["f"])(2.0)
    except (ad.AutodiffError, TypeError):
        return
    assert (value, gradient) == (2.0 * want, want)


# Methods that read, or store in what they make: the function is compiled, and reads what it wants afterwards.
READERS = """
def __repr__(self): return "R(%r)" % self.k
def __repr__(self): return f"{type(self).__name__}({self.k!r}, {', '.join(str(v) for v in self.items)})"
def __repr__(self): parts = []; parts.append(str(self.k)); return "".join(parts)
def __repr__(self): text = "R"; text += str(self.k); return text
def __repr__(self): named = {"k": self.k}; named["l"] = 1; return str(named)
def __repr__(self): return "R({})".format(helper(self.k))
def __repr__(self): return self.text() + self.name
def __repr__(self): return object.__repr__(self)
def __repr__(self): return np.array2string(np.array(self.items), precision=3)
def __repr__(self): return str(sorted(self.items)) + str(max(self.items))
def __repr__(self): return repr(Other(self.k))
def __format__(self, spec): return format(self.k, spec)
def __eq__(self, other): return isinstance(other, R) and self.k == other.k
""".strip().splitlines()
READER = """
import bisect, numpy as np
G, L, A = 1.0, [1.0], np.ones(2)

def helper(k):
    out = []
    for i in range(2):
        out += [i * k]
    return out[-1]

class Other:
    def __init__(self, k):
        self.k = k
    def __repr__(self):
        return str(self.k)

class R:
    def __init__(self):
        self.k, self.items = 1.0, [2.0, 1.0]
    {method}
    def text(self):
        return str(self.k)
    @property
    def name(self):
        return "r"
    def set_k(self, k):
        self.k = k

r = R()

def f(x):
    text = f"{{[r]}}" + "%s" % r + "{{:}}".format(r)
    return x * (G + L[0] + A[0] + r.k)
"""


READERS += [
    "def __repr__(self): return str(bisect.bisect_right([1.0, 2.0], self.k))",
    "def __repr__(self): return str([min, max][self.k > 0.0]((self.k, 2.0)))",
]


@pytest.mark.parametrize("method", READERS)
def test_methods_that_only_read(method: str) -> None:
    f = load(READER.format(method=method), "reading_methods")["f"]
    assert ad.value_and_grad(f)(2.0) == (8.0, 4.0)


def test_a_method_that_writes_to_its_object_alone() -> None:
    method = "def __repr__(self): self.k += 1.0; return 'r'"
    text = READER.format(method=method).replace(" + r.k)", ")")
    assert ad.value_and_grad(load(text, "reading_methods")["f"])(2.0) == (6.0, 3.0)
    with pytest.raises(ad.UnsupportedError, match=r"this R can be reached by R\.__repr__ in line 32"):
        ad.grad(load(READER.format(method=method), "reading_methods")["f"])(2.0)


def test_an_item_of_a_new_container_may_be_an_older_one() -> None:
    text = READER.format(method="def __repr__(self): held = [L]; held[0][0] += 1.0; return 'r'")
    with pytest.raises(ad.UnsupportedError, match=r"can be reached by R\.__repr__"):
        ad.grad(load(text, "reading_methods")["f"])(2.0)


def test_the_error_names_the_method() -> None:
    text = READER.format(method="def __repr__(self): L[0] += 1.0; return 'r'")
    with pytest.raises(ad.UnsupportedError) as caught:
        ad.grad(load(text, "reading_methods")["f"])(2.0)
    assert "'G' can be reached by R.__repr__ in line 32, which may have changed it" in str(caught.value)


def test_objects_are_noted_once() -> None:
    """What is made of two values that hold an object holds it once, however long the chain is."""
    one, other = Value(OBJECT), Value(OBJECT)
    r = object.__new__(type("R", (), {}))
    held = {one: [r], other: [r]}
    assert objects_among(held, (one, [other, (r, 1.0)], slice(one, None), "text", np.ones(2))) == [r]
    assert objects_among(held, (1.0, None, Value(OBJECT))) == []
