"""Programs in which a value enters foreign code, or code that looks foreign: containers of the user's own classes,
methods called by the names of their classes, text, bytes, queues, arrays of objects.

``name: setup; lines | body; lines | result`` of a function of `x`. Programs in `REFUSED` may be refused, or have the right
gradient.
"""

# ruff: noqa: E501

RIGHT = r"""
list_sub_outer: class L(list): pass;; O = L([1.0, 2.0]) |  | O[0] * x + O[1] * x * x
cfg_outer: class Cfg(dict):;;     __getattr__ = dict.__getitem__;; C = Cfg(rate=3.0) |  | C.rate * x * x
cfg_outer_get: class Cfg(dict):;;     __getattr__ = dict.get;; C = Cfg(rate=3.0) |  | C.rate * x * x
ordered_move: from collections import OrderedDict | o = OrderedDict();; o["a"] = x;; o["b"] = 2.0;; o.move_to_end("a") | list(o.values())[1] * x
ordered_popitem: from collections import OrderedDict | o = OrderedDict();; o["a"] = x;; o["b"] = 2.0 | o.popitem(last=False)[1] * x
str_sub: class S(str): pass | o = S("a") | (x * x if o == "a" else x)
int_sub: class I(int): pass | o = I(3) | o * x
nt_sub: from collections import namedtuple;; class P(namedtuple("P", "a b")):;;     @property;;     def s(self): return self.a * self.b | o = P(x, 2.0) | o.s * x
nt_typing: from typing import NamedTuple;; class P(NamedTuple):;;     a: float;;     b: float = 2.0;;     def s(self): return self.a * self.b | o = P(x) | o.s() * x
u_append:  | l = [];; list.append(l, x) | l[0] * x
u_append2:  | l = [1.0];; list.append(l, x) | l[0] * l[1] * x
u_extend:  | l = [1.0];; list.extend(l, [x, x]) | l[2] * x
u_insert:  | l = [1.0];; list.insert(l, 0, x) | l[0] * x
u_pop:  | l = [1.0, x];; v = list.pop(l) | v * x * len(l)
u_sort:  | l = [3.0, x];; list.sort(l) | l[0] * x
u_list_setitem:  | l = [3.0];; list.__setitem__(l, 0, x) | l[0] * x
u_list_getitem:  | l = [x, 3.0] | list.__getitem__(l, 0) * x
u_dict_update:  | d = {};; dict.update(d, {"a": x}) | d["a"] * x
u_dict_update_kw:  | d = {};; dict.update(d, a=x) | d["a"] * x
u_dict_setitem:  | d = {};; dict.__setitem__(d, "a", x) | d["a"] * x
u_dict_get:  | d = {"a": x} | dict.get(d, "a") * x
u_dict_setdefault:  | d = {} | dict.setdefault(d, "a", x) * d["a"]
u_dict_values:  | d = {"a": x, "b": x * x} | sum(dict.values(d)) * x
u_deque: from collections import deque | q = deque();; deque.append(q, x) | q[0] * x
u_nd_setitem:  | a = np.zeros(2);; np.ndarray.__setitem__(a, 0, x) | a[0] * x
u_nd_getitem:  | a = np.array([x, 1.0]) | np.ndarray.__getitem__(a, 0) * x
u_nd_sum:  | a = np.array([x, x * x]) | np.ndarray.sum(a) * x
u_nd_mul:  | a = np.array([x, x * x]) | np.sum(np.ndarray.__mul__(a, a))
u_nd_imul:  | a = np.array([x, x * x]);; np.ndarray.__imul__(a, x) | np.sum(a)
u_nd_fill:  | a = np.zeros(2);; np.ndarray.fill(a, x) | np.sum(a * a)
u_nd_iadd_m:  | a = np.zeros(2);; a.__iadd__(x) | np.sum(a * a)
m_nd_setitem:  | a = np.zeros(2);; a.__setitem__(0, x) | a[0] * x
m_nd_getitem:  | a = np.array([x, 1.0]) | a.__getitem__(0) * x
m_list_setitem:  | l = [1.0];; l.__setitem__(0, x) | l[0] * x
m_dict_setitem:  | l = {};; l.__setitem__("a", x) | l["a"] * x
m_list_iadd:  | l = [1.0];; l.__iadd__([x]) | l[1] * x
m_float_mul:  |  | x.__mul__(x)
m_float_rsub:  |  | x.__rsub__(3.0) * x
u_float_mul:  |  | float.__mul__(x, x)
u_float_pow:  |  | float.__pow__(x, 2.0)
u_str_join:  | s = str.join(",", ["a", "b"]) | x * len(s)
op_setitem: import operator | a = np.zeros(2);; operator.setitem(a, 0, x) | a[0] * x
op_setitem_list: import operator | a = [0.0];; operator.setitem(a, 0, x) | a[0] * x
op_setitem_dict: import operator | a = {};; operator.setitem(a, "k", x) | a["k"] * x
op_getitem: import operator | a = [x] | operator.getitem(a, 0) * x
op_iadd: import operator | a = np.zeros(2);; operator.iadd(a, x) | a[0] * x
op_iadd_f: import operator | a = operator.iadd(x, x) | a * x
op_imul_list: import operator | a = [x];; b = operator.imul(a, 2) | a[1] * b[0]
op_iconcat: import operator | a = [x];; operator.iconcat(a, [x * x]) | a[1] * a[0]
op_itemgetter: import operator | a = [x, x * x] | operator.itemgetter(1)(a) * x
op_attrgetter: import operator;; class O: pass | o = O();; o.v = x | operator.attrgetter("v")(o) * x
op_methodcaller: import operator | a = [x];; operator.methodcaller("append", x * x)(a) | a[1] * x
op_mul: import operator |  | operator.mul(x, x)
osetattr: class O: pass | o = O();; object.__setattr__(o, "a", x) | o.a * x
osetattr_out: class O: pass;; G = O() | object.__setattr__(G, "a", x) | G.a * x
osetattr_arg: class O:;;     a = 1.0;; G = O();; G.a = 2.0 | object.__setattr__(G, "a", x) | G.a * x
setattr: class O: pass | o = O();; setattr(o, "a", x) | o.a * x
setattr_out: class O: pass;; G = O() | setattr(G, "a", x) | G.a * x
vars_set: class O: pass | o = O();; vars(o)["a"] = x | o.a * x
dict_update: class O: pass | o = O();; o.__dict__.update(a=x) | o.a * x
getattr_out: class O: pass;; G = O();; G.a = 1.0 | G.a = x | getattr(G, "a") * x
contextvar_read: from contextvars import ContextVar;; V = ContextVar("V", default=1.5) |  | V.get() * x * x
contextvar_w: from contextvars import ContextVar;; V = ContextVar("V", default=1.5) | V.set(x) | x * x
tlocal_read: import threading;; T = threading.local();; T.v = 2.0 |  | T.v * x
tolist:  | a = np.array([x, 1.0]) | a.tolist()[0] * x
item:  | a = np.array([x, 1.0]) | a.item(0) * x
itemset_flat:  | a = np.zeros(2);; a.flat[0] = x | a[0] * x
local_import:  | import collections as C;; q = C.deque();; q.append(x) | q[0] * x
local_import2:  | from math import sin | sin(x)
str_only:  | s = str(x) | x * x
str_len:  | s = str(x);; n = len(s) | x * x + 0 * n
fstr_key:  | d = {};; d[f"{1}"] = x | d["1"] * x
fromfunction:  |  | np.sum(np.fromfunction(lambda i: i * x * x, (3,)))
piecewise:  | a = np.array([x, -x]) | np.sum(np.piecewise(a, [a < 0, a >= 0], [lambda v: v * v, lambda v: v ** 3]))
apply_along:  | a = np.array([[x, x * x]]) | np.sum(np.apply_along_axis(lambda r: r * r, 1, a))
structured:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; a["p"] += x | np.sum(a["p"] * x)
structured_set:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; a["p"] = x | np.sum(a["p"] * x)
structured_item:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; a[0] = (x, 1.0) | a["p"][0] * x
structured_item2:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; a["p"][0] = x | a["p"][0] * x
structured_item3:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; a[0]["p"] = x | a["p"][0] * x
structured_outer: A = np.ones(2, dtype=[("p", float), ("q", float)]) |  | np.sum(A["p"] * x * x)
structured_outer_st: A = np.ones(2, dtype=[("p", float), ("q", float)]) | a = A.copy();; a["p"] *= x | np.sum(a["p"] * x)
logging: import logging;; log = logging.getLogger("t") | logging.info("%s", x);; log.debug("a %s", x);; log.info(f"{x}") | x * x
print:  | print(x, end="");; print(f"{x:.2f} {x}", end="") | x * x
print_len:  | n = print(x, end="") | (x * x if n is None else x)
warn: import warnings | warnings.filterwarnings("ignore");; warnings.warn(f"v {x}") | x * x
print_file: import io;; B = io.StringIO() | print(x, file=B) | x * x
fsum: import math |  | math.fsum([x, x * x])
prod: import math |  | math.prod([x, x * x])
sumprod: import math |  | math.hypot(x, x * x)
dist: import math |  | math.dist([x, 1.0], [0.0, x * x])
modf: import math | m, e = math.modf(x) | m * x + e
np_gen_noise:  |  | np.random.default_rng(1).normal(0.0, 1.0) * x * x
np_gen_choice_p:  | r = np.random.default_rng(1) | r.choice(2, p=[0.5, 0.5]) * x
reduce: import functools |  | functools.reduce(lambda a, b: a * b, [x, x, 2.0])
reduce_op: import functools, operator |  | functools.reduce(operator.mul, [x, x, 2.0])
partial: import functools |  | functools.partial(pow, x)(2)
map_c: import math |  | sum(map(math.sin, [x, x * x]))
filter_c:  |  | sum(filter(None, [x, 0.0, x * x]))
accumulate: import itertools |  | sum(itertools.accumulate([x, x * x]))
starmap: import itertools |  | sum(itertools.starmap(pow, [(x, 2)]))
zip_:  |  | sum(a * b for a, b in zip([x], [x]))
sorted_key:  |  | sorted([x, 3.0], key=lambda v: -v)[1] * x
timer: import time | t = time.time();; y = x * x;; dt = time.time() - t | y
time_sleep: import time | time.sleep(0 * int(x)) | x * x
array_obj_out: class Box:;;     __slots__ = ("v",);; B = Box() | B.v = x | B.v * x
lib_inst: import random;; class K: pass;; o = random.Random(2) | o.foo = x | o.foo * x
simplens2: from types import SimpleNamespace | n = SimpleNamespace(v=x) | n.v * x
bound_meth_list:  | l = [];; ap = l.append;; ap(x) | l[0] * x
bound_meth_arr_read: O = np.ones(2);; UP = O.sum | O2 = UP() | O2 * x
map_append:  | l = [];; any(map(l.append, [x, x * x])) | l[1] * x
list_map_append:  | l = [];; list(map(l.append, [x, x * x])) | l[1] * x
lru: import functools;; @functools.lru_cache;; def h(v): return v * v |  | h(x) * x
iter_next:  | it = iter([x, x * x]);; next(it) | next(it) * x
func_default: def h(a=[1.0]): return a | h()[0] = x | h()[0] * x
setdefault_out: D = {} | D.setdefault("k", []).append(x) | D["k"][-1] * x
copy_: import copy |  | copy.copy(x) * x
deepcopy: import copy |  | copy.deepcopy([x])[0] * x
copyreg: import copyreg |  | x * x
np_copyto:  | a = np.zeros(2);; np.copyto(a, x) | a[0] * x
np_set_printopts:  | np.set_printoptions(precision=4) | x * x
np_ndenum:  | a = np.array([x, 1.0]);; s = 0.0;; for k, v in np.ndenumerate(a): s = s + v * x | s
np_errcall:  |  | np.float64(x) * x
newbyteorder:  | a = np.array([x, 1.0]) | a.astype(">f8")[0] * x
reduce_uf:  | a = np.array([x, 1.0]) | np.add.reduce(a) * x
dunder_call: class C:;;     def __call__(self, v): return v * v;; K = C() |  | K(x)
lib_call: import functools;; @functools.singledispatch;; def h(v): return v * v |  | h(x)
max_key:  |  | max([x, 0.1], key=lambda v: v * v) * x
stopiter:  |  | next(iter([x])) * x
cfg_outer_item: class Cfg(dict):;;     __getattr__ = dict.__getitem__;; C = Cfg(rate=3.0) |  | C["rate"] * x * x
cfg_outer_two: class Cfg(dict):;;     __getattr__ = dict.get;; C = Cfg(rate=3.0) |  | (C.rate * x * x if C.other is None else x)
cfg_outer_py: class Cfg(dict):;;     def __getattr__(self, k): return self[k];; C = Cfg(rate=np.array([1.0, 2.0])) |  | np.sum(C.rate * x * x)
cfg_outer_nested: class Cfg(dict):;;     __getattr__ = dict.__getitem__;; C = Cfg(opt=Cfg(lr=0.5), n=3) |  | C.opt.lr * x ** C.n
cfg_outer_missing: class Cfg(dict):;;     __getattr__ = dict.__getitem__;; C = Cfg(rate=3.0) | try:;;     r = C.other;; except KeyError:;;     r = 2.0 | r * x * x
list_outer_override: class L(list):;;     def __getitem__(self, k): return list.__getitem__(self, k) * 2.0;; O = L([1.0, 2.0]) |  | O[0] * x * x
list_outer_neg: class L(list): pass;; O = L([1.0, 2.0]) |  | O[-1] * x * x
tuple_outer: class T(tuple): pass;; O = T((1.0, 2.0)) |  | O[1] * x * x
unbound_dict_len:  | d = {"a": x} | dict.__len__(d) * x * d["a"]
nested_gg:  | h = lambda v: v ** 4 | ad.grad(ad.grad(h))(x)
nested_argnums:  | g = ad.grad(argnums=1)(lambda p, q: p * q * q) | g(2.0, x) * x
nested_deco:  | @ad.grad(argnums=1);; def h(p, q): return p * q * q | h(x, x)
nested_vgdeco:  | @ad.value_and_grad(argnums=(0, 1));; def h(p, q): return p * q * q;; v, (a, b) = h(x, x) | v + a * b
variant_19: class L(list): pass | o = L();; o.append(x) | (1.0 if o[0] > 0.5 else 2.0) * x
variant_23: import collections;; G = collections.UserDict() | G["k"] = x | G["k"] * x
variant_24: from types import SimpleNamespace as N | n = N();; n.__dict__["v"] = x | n.v * x
variant_30: import operator;; G = {"a": 1.0} | operator.setitem(G, "a", x) | G["a"] * x
variant_31: import operator;; G = np.zeros(2) | operator.setitem(G, 0, x) | G[0] * x
variant_32: G = np.zeros(2) | np.copyto(G, x) | G[0] * x
variant_33: G = np.zeros(2) | np.ndarray.fill(G, x) | G[0] * x
variant_34: G = np.zeros(2) | np.ndarray.__setitem__(G, 0, x) | G[0] * x
variant_35: G = [1.0] | list.__setitem__(G, 0, x) | G[0] * x
variant_36: G = {} | dict.update(G, a=x) | G["a"] * x
variant_37:  | a = np.zeros(2);; np.ndarray.__iadd__(a, x) | a[0] * x
variant_38:  | a = np.zeros(2);; b = a.__iadd__(x) | b[0] * x
variant_39:  | a = np.array([3.0, x]);; np.ndarray.sort(a) | a[0] * x
variant_40:  | a = np.array([3.0, x]) | np.ndarray.reshape(a, (2, 1))[1, 0] * x
variant_42:  | a = np.array([3.0, x]) | np.ndarray.dot(a, a)
variant_43:  | a = np.array([3.0, x]) | np.float64.__mul__(a[1], x)
variant_44:  | a = np.array([3.0, x]) | a.__len__() * x
variant_45:  | a = [3.0, x] | a.__len__() * x * a.__getitem__(1)
variant_46:  | a = [3.0, x];; it = a.__iter__();; next(it) | it.__next__() * x
variant_47:  | a = {"k": x} | (x if a.__contains__("k") else 1.0) * a.__getitem__("k")
variant_48:  | a = (3.0, x) | tuple.__getitem__(a, 1) * x
variant_49:  | a = (3.0, x) | tuple.__add__(a, (x,))[2] * x
variant_50:  |  | (2.0).__rpow__(x)
variant_51:  |  | x.__pow__(2)
variant_52:  |  | x.__neg__() * x
variant_53:  |  | x.__truediv__(2.0) * x
variant_54:  |  | abs(x.__sub__(3)) * x
variant_55:  |  | (1.0 if x.__lt__(3.0) else 2.0) * x
variant_56:  | a = np.zeros(3);; a.__setitem__(slice(0, 2), x) | np.sum(a) * x
variant_57:  | a = np.zeros(2, dtype=[("p", float, (2,)), ("k", int)]);; a["p"][0, 1] = x;; a["k"] = 3 | np.sum(a["p"]) * x
variant_58:  | a = np.zeros(2, dtype=[("p", float), ("k", int)]);; b = a.copy();; b["p"] = x | np.sum(a["p"] + b["p"]) * x
variant_59:  | a = np.zeros(2, dtype=[("p", float), ("k", int)]);; b = a[1:];; b["p"] = x | np.sum(a["p"]) * x
variant_60:  | a = np.zeros(2, dtype=[("p", float), ("k", int)]);; r = a[0];; r["p"] = x | np.sum(a["p"]) * x
variant_62:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; a["p"] = x;; b = a if x > 0.1 else a.copy() | np.sum(b["p"]) * x
variant_65:  | a = np.zeros(2, dtype=[("p", float), ("q", [("r", float)])]);; a["q"]["r"] = x | np.sum(a["q"]["r"]) * x
variant_66:  | a = np.zeros((), dtype=[("p", float)]);; a["p"] = x | a["p"] * x
variant_68:  | a = np.zeros(2, dtype="f8,f8");; a["f0"] = x | np.sum(a["f0"]) * x
variant_70:  | a = np.zeros(2, dtype=[("p", float)]);; s = 0.0;; a["p"] = x;; for r in a: s = s + r["p"] | s * x
variant_71:  | a = np.zeros(2, dtype=[("p", float)]);; a["p"] = x;; m = a[a["p"] > 0.1] | np.sum(m["p"]) * x
variant_75:  | b = np.array([x, None]) | b[0] * x
variant_77:  | b = np.array([x, "a"]) | float(b[0]) * x
variant_88: import itertools | c = itertools.chain([x], [x * x]) | sum(c) * x
variant_96: import random;; R = random.Random(1) | R.v = x | R.v * x
variant_97: import threading;; E = threading.Event() | E.val = x | E.val * x
variant_102: class M:;;     def __setattr__(self, n, v): object.__setattr__(self, n, v * 2.0) | m = M();; m.a = x | m.a * x
variant_103: class M:;;     def __setattr__(self, n, v): self.__dict__[n] = v * 2.0 | m = M();; m.a = x | m.a * x
variant_104: class M:;;     def __setattr__(self, n, v): super().__setattr__(n, v * 2.0) | m = M();; m.a = x | m.a * x
variant_105: class M:;;     def __getattr__(self, n): return 3.0 | m = M();; m.a = x | m.a * m.b * x
list_sub: class L(list): pass | o = L();; o.append(x) | o[0] * x
list_sub_init: class L(list): pass | o = L([x, 2.0]) | o[0] * o[1] * x
list_sub_method: class L(list):;;     def total(self): return sum(self) | o = L();; o.append(x);; o.append(x * x) | o.total() * x
list_sub_init2: class L(list):;;     def __init__(self, a):;;         super().__init__();;         self.append(a) | o = L(x) | o[0] * x
list_sub_override: class L(list):;;     def append(self, v):;;         super().append(v * 2.0) | o = L();; o.append(x) | o[0] * x
list_sub_override2: class L(list):;;     def append(self, v):;;         list.append(self, v * 2.0) | o = L();; o.append(x) | o[0] * x
list_sub_attr: class L(list): pass | o = L();; o.scale = x;; o.append(3.0) | o[0] * o.scale * x
list_sub_getitem: class L(list):;;     def __getitem__(self, k): return list.__getitem__(self, k) * 2.0 | o = L();; o.append(x) | o[0] * x
list_sub_iter: class L(list): pass | o = L();; o.extend([x, x * x]) | sum(o) + sum(v * v for v in o)
list_sub_len: class L(list): pass | o = L();; o.append(x) | len(o) * x
list_sub_outer_store: class L(list): pass;; O = L([1.0, 2.0]) | O[0] = x | O[0] * x
list_sub_outer_append: class L(list): pass | o = O = L();; O.append(x) | O[-1] * x
list_sub_slice: class L(list): pass | o = L([x, x * x, 1.0]) | o[:2][1] * x
list_sub_np: class L(list): pass | o = L([x, x * x, 1.0]) | np.sum(np.array(o) * x)
list_sub_isinstance: class L(list): pass | o = L([x]) | (o[0] * x if isinstance(o, list) else 0.0)
dict_sub: class D(dict): pass | o = D();; o["a"] = x | o["a"] * x
dict_sub_kw: class D(dict): pass | o = D(a=x, b=2.0) | o["a"] * o["b"] * x
cfg: class Cfg(dict):;;     __getattr__ = dict.__getitem__ | o = Cfg(a=x, b=2.0) | o.a * o.b * x
cfg_set: class Cfg(dict):;;     __getattr__ = dict.__getitem__;;     __setattr__ = dict.__setitem__ | o = Cfg();; o.a = x | o.a * o["a"] * x
cfg_outer_write: class Cfg(dict):;;     __getattr__ = dict.__getitem__;;     __setattr__ = dict.__setitem__;; C = Cfg(rate=3.0) | C.rate = x | C.rate * x
cfg_def: class Cfg(dict):;;     def __getattr__(self, k): return self[k] | o = Cfg(a=x) | o.a * x
cfg_def_try: class Cfg(dict):;;     def __getattr__(self, k):;;         try:;;             return self[k];;         except KeyError:;;             raise AttributeError(k) | o = Cfg(a=x) | o.a * x
dict_sub_missing: class D(dict):;;     def __missing__(self, k): return 3.0 | o = D(a=x) | o["a"] * o["b"]
dict_sub_items: class D(dict): pass | o = D(a=x, b=x * x) | sum(v for k, v in o.items()) * x
dict_sub_get: class D(dict): pass | o = D(a=x) | o.get("a", 0.0) * o.get("c", 2.0) * x
dict_sub_update: class D(dict): pass | o = D();; o.update(a=x, b=3.0) | o["a"] * o["b"] * x
dict_sub_setitem: class D(dict):;;     def __setitem__(self, k, v): super().__setitem__(k, v * 2.0) | o = D();; o["a"] = x | o["a"] * x
ordered_sub: from collections import OrderedDict;; class D(OrderedDict): pass | o = D();; o["a"] = x | o["a"] * x
default_sub: from collections import defaultdict;; class D(defaultdict): pass | o = D(float);; o["a"] += x | o["a"] * x
default_sub2: from collections import defaultdict;; class D(defaultdict):;;     def __init__(self): super().__init__(list) | o = D();; o["a"].append(x) | o["a"][0] * x
counter_sub: from collections import Counter;; class D(Counter): pass | o = D();; o["a"] += x | o["a"] * x
deque_sub: from collections import deque;; class Q(deque): pass | o = Q();; o.append(x) | o[0] * x
deque_sub_max: from collections import deque;; class Q(deque): pass | o = Q(maxlen=2);; o.append(1.0);; o.append(x);; o.append(x * x) | o[0] * x
deque_sub_init: from collections import deque;; class Q(deque):;;     def __init__(self): super().__init__(maxlen=3) | o = Q();; o.append(x) | o[0] * x
userdict_outer: from collections import UserDict;; class D(UserDict): pass;; O = D(a=2.0) |  | O["a"] * x * x
set_sub: class S(set): pass | o = S();; o.add(1);; o.add(2) | len(o) * x
tuple_sub: class T(tuple): pass | o = T((x, 2.0)) | o[0] * o[1] * x
tuple_sub_new: class T(tuple):;;     def __new__(cls, a, b): return super().__new__(cls, (a, b)) | o = T(x, 2.0) | o[0] * o[1] * x
tuple_sub_method: class T(tuple):;;     def dot(self, o): return sum(a * b for a, b in zip(self, o)) | o = T((x, 2.0)) | o.dot(o)
abc_cls: from abc import ABC, abstractmethod;; class B(ABC):;;     @abstractmethod;;     def f(self, v): ...;; class C(B):;;     def f(self, v): return v * v |  | C().f(x)
generic_cls: from typing import Generic, TypeVar;; T = TypeVar("T");; class G(Generic[T]):;;     def __init__(self, v): self.v = v |  | G(x).v * x
cfg_outer_missing2: class Cfg(dict):;;     __missing__ = lambda self, k: 5.0;; C = Cfg(rate=3.0) |  | C["other"] * x * x
cfg_outer_foreign: class Cfg(dict): pass;; C = Cfg(rate=3.0) | dict.update(C, rate=x) | C["rate"] * x
cfg_outer_foreign2: class Cfg(dict): pass;; C = Cfg(rate=3.0) | dict.__setitem__(C, "rate", x) | C["rate"] * x
list_outer_foreign: class L(list): pass;; O = L([1.0, 2.0]) | list.__setitem__(O, 0, x) | O[0] * x
list_outer_foreign2: class L(list): pass;; O = L([1.0, 2.0]) | list.append(O, x) | O[-1] * x
variant_1: class L(list): pass | o = L();; p = o;; p.append(x) | o[0] * x
variant_2: class L(list): pass | o = L();; for k in range(2): o.append(x * k) | o[1] * x
variant_3: class D(dict): pass | o = D();; o.setdefault("a", x) | o["a"] * x
variant_4: class D(dict): pass | o = D(a=1.0);; y = o["a"];; o.update(a=x) | y * x
variant_5: class D(dict): pass | o = D(a=x) | float(o["a"]) * x
variant_6: class L(list): pass | o = L();; o.append(x) | float(o.pop()) * x
variant_7: class L(list): pass | o = L();; o.append(x) | (o[0] if len(o) else 0.0) * x
variant_8: class L(list): pass | o = L();; o.append(x) | max(o) * x
variant_9: class L(list): pass | o = L();; o.append(x);; a = np.asarray(o) | a[0] * x
variant_10: class L(list): pass | o = L();; o.append(x);; v, = o | v * x
variant_11: class L(list): pass | o = L();; o.append(x) | (lambda *a: a[0])(*o) * x
variant_12: class D(dict): pass | o = D();; o.update(a=x) | (lambda a: a)(**o) * x
variant_13: class L(list): pass | o = L();; o.append(x);; l = list(o) | l[0] * x
variant_14: class L(list): pass | o = L();; o.append(x) | np.sum(o) * x
variant_15: class L(list): pass | o = L();; o.append(x) | sorted(o)[0] * x
variant_16: class L(list): pass | o = L();; o.append(x) | [v * 2.0 for v in o][0] * x
variant_17: class L(list): pass | o = L();; o.append(x) | o.index(x) * 1.0 + x * x
variant_20: class L(list): pass | o = L();; o.append(x);; s = 0.0;; for v in o: s += v | s * x
variant_21: class A(list): pass;; G = A() | G.clear();; G.append(x);; y = G.pop() | y * x
variant_22: class A(dict): pass;; G = A() | G["k"] = x | G["k"] * x
variant_89: import copy;; class L(list): pass | o = copy.copy(L([x])) | o[0] * x
userlist: from collections import UserList | o = UserList();; o.append(x) | o[0] * x
userlist_sub: from collections import UserList;; class L(UserList): pass | o = L([x]);; o.append(x * x) | o[0] * o[1]
userdict: from collections import UserDict | o = UserDict();; o["a"] = x | o["a"] * x
userdict_sub: from collections import UserDict;; class D(UserDict):;;     def __setitem__(self, k, v): super().__setitem__(k, v * 2.0) | o = D();; o["a"] = x | o["a"] * x
userdict_kw: from collections import UserDict;; class D(UserDict): pass | o = D(a=x) | o["a"] * x
"""

REFUSED = r"""
cfg_init: class Cfg(dict):;;     def __init__(self, *a, **k):;;         super().__init__(*a, **k);;         self.__dict__ = self | o = Cfg(a=x) | o.a * x
set_sub_val: class S(set): pass | o = S();; o.add(x) | sum(o) * x
set_val:  | o = set();; o.add(x) | sum(o) * x
float_sub: class P(float): pass | o = P(x) | o * x
float_sub_attr: class P(float):;;     def sq(self): return self * self | o = P(x) | o.sq() * 1.0
ndarray_sub: class A(np.ndarray): pass | o = np.zeros(2).view(A);; o[0] = x | o[0] * x
ndarray_sub2: class A(np.ndarray):;;     def __new__(cls, v): return np.asarray(v).view(cls) | o = A([x, 1.0]) | np.sum(o * x)
typed_dict: from typing import TypedDict;; class P(TypedDict):;;     a: float | o = P(a=x) | o["a"] * x
chainmap: from collections import ChainMap | o = ChainMap({"a": x}, {"b": 2.0}) | o["a"] * o["b"] * x
chainmap_set: from collections import ChainMap | o = ChainMap({}, {"b": 2.0});; o["a"] = x | o["a"] * o["b"]
mapproxy: from types import MappingProxyType | o = MappingProxyType({"a": x}) | o["a"] * x
mapproxy2: from types import MappingProxyType | d = {"a": 1.0};; o = MappingProxyType(d);; d["a"] = x | o["a"] * x
osetattr_m: class O: pass | o = O();; o.__setattr__("a", x) | o.a * x
vars_out: class O: pass;; G = O() | vars(G)["a"] = x | G.a * x
vars_out2: class O: pass;; G = O();; G.a = 1.0 | vars(G)["a"] = x | G.a * x
dict_update_out: class O: pass;; G = O();; G.a = 1.0 | G.__dict__.update(a=x) | G.a * x
dict_out_read: class O: pass;; G = O();; G.a = 1.0 | G.a = x | G.__dict__["a"] * x
dict_out_read2: class O: pass;; G = O();; G.a = 1.0 | G.a = x | vars(G)["a"] * x
ogetattribute: class O: pass;; G = O();; G.a = 1.0 | G.a = x | object.__getattribute__(G, "a") * x
ogetattribute2: class O: pass | o = O();; o.a = x | object.__getattribute__(o, "a") * x
globals_set: g = 1.0 | globals()["g"] = x | g * x
globals_read: g = 1.0 |  | globals()["g"] * x
contextvar: from contextvars import ContextVar;; V = ContextVar("V", default=1.0) | V.set(x) | V.get() * x
contextvar_tok: from contextvars import ContextVar;; V = ContextVar("V", default=1.0) | t = V.set(x);; y = V.get() * x;; V.reset(t) | y
tlocal: import threading;; T = threading.local() | T.v = x | T.v * x
tlocal_made: import threading | t = threading.local();; t.v = x | t.v * x
queue: import queue;; Q = queue.Queue() | Q.put(x) | Q.get() * x
queue_made: import queue | q = queue.Queue();; q.put(x) | q.get() * x
squeue: import queue;; Q = queue.SimpleQueue() | Q.put(x) | Q.get() * x
heappush: import heapq | h = [];; heapq.heappush(h, x);; heapq.heappush(h, 5.0) | h[0] * x
heappop: import heapq | h = [5.0, x];; heapq.heapify(h);; v = heapq.heappop(h) | v * x
heap_nsmallest: import heapq | h = [5.0, x] | heapq.nsmallest(1, h)[0] * x
heap_outer: import heapq;; H = [] | heapq.heappush(H, x);; v = heapq.heappop(H) | v * x
insort: import bisect | h = [0.1, 5.0];; bisect.insort(h, x) | h[1] * x
bisect: import bisect | h = [0.1, 5.0];; k = bisect.bisect(h, x) | h[k] * x
array_array: from array import array | a = array("d", [x]) | a[0] * x
array_append: from array import array | a = array("d");; a.append(x) | a[0] * x
array_outer: from array import array;; A = array("d", [1.0]) | A[0] = x | A[0] * x
array_outer_append: from array import array;; A = array("d", [1.0]) | A.append(x) | A[-1] * x
array_outer_read: from array import array;; A = array("d", [1.5]) |  | A[0] * x * x
struct: import struct | b = struct.pack("d", x) | struct.unpack("d", b)[0] * x
struct_into: import struct;; B = bytearray(8) | struct.pack_into("d", B, 0, x) | struct.unpack_from("d", B)[0] * x
ctypes: import ctypes | c = ctypes.c_double(x) | c.value * x
ctypes_set: import ctypes;; C = ctypes.c_double(1.0) | C.value = x | C.value * x
ctypes_read: import ctypes;; C = ctypes.c_double(2.0) |  | C.value * x * x
memview:  | a = np.zeros(2);; m = memoryview(a);; m[0] = x | a[0] * x
a_data:  | a = np.zeros(2);; a.data[0] = x | a[0] * x
a_data_read:  | a = np.array([x, 1.0]) | a.data[0] * x
tobytes:  | a = np.array([x, 1.0]) | np.frombuffer(a.tobytes())[0] * x
view_same:  | a = np.array([x, 1.0]) | np.sum(a.view() * x)
view_dtype:  | a = np.array([x, 1.0]) | np.sum(a.view(np.float64) * x)
view_int:  | a = np.array([x, 1.0]);; b = a.view(np.int64) | b.view(np.float64)[0] * x
view_int_store:  | a = np.array([x, 1.0]);; b = a.view(np.int64);; b[1] = b[0] | a[1] * x
view_complex:  | a = np.array([x, 1.0]) | a.view(np.complex128)[0].real * x
view_c2f:  | a = np.array([x + 1j * x]) | a.view(np.float64)[1] * x
pickle: import pickle |  | pickle.loads(pickle.dumps(x)) * x
json: import json |  | json.loads(json.dumps([x]))[0] * x
json_write: import json | s = json.dumps({"x": x}) | x * x
weakref: import weakref;; class O: pass | o = O();; o.v = x;; r = weakref.ref(o) | r().v * x
weakval: import weakref;; class O: pass;; G = O();; W = weakref.WeakValueDictionary();; W["g"] = G;; G.v = 1.0 | G.v = x | W["g"].v * x
import_deque:  | q = __import__("collections").deque();; q.append(x) | q[0] * x
import_math:  |  | __import__("math").sin(x)
importlib: import importlib | m = importlib.import_module("math") | m.sin(x)
eval:  |  | eval("x * x")
exec:  | d = {};; exec("y = 3", d) | x * x
astype_str:  |  | float(np.array([x]).astype(str).astype(float)[0]) * x
astype_str2:  | a = np.array([x, 1.0]) | np.sum(a.astype(str).astype(float) * x)
astype_obj:  | a = np.array([x, 1.0]) | np.sum(a.astype(object) * x)
float_str:  |  | float(str(x)) * x
float_f:  |  | float(f"{x}") * x
float_fr:  |  | float(f"{x!r}") * x
float_repr:  |  | float(repr(x)) * x
float_pct:  |  | float("%.17g" % x) * x
float_fmt:  |  | float("{}".format(x)) * x
float_format:  |  | float(format(x, ".17g")) * x
float_hex:  |  | float.fromhex(x.hex()) * x
as_ratio:  | n, d = x.as_integer_ratio() | n / d * x
eval_str:  |  | eval(str(x)) * x
obj_array:  | a = np.array([x], dtype=object) | a[0] * x
obj_array2:  | a = np.empty(2, dtype=object);; a[0] = x | a[0] * x
frompyfunc: F = np.frompyfunc(lambda v: v * v, 1, 1) |  | F(x) * 1.0
vectorize: F = np.vectorize(lambda v: v * v) |  | np.sum(F(np.array([x, x])))
vectorize_in:  |  | np.sum(np.vectorize(lambda v: v * v)(np.array([x, x])))
fromiter:  |  | np.sum(np.fromiter((x * k for k in range(3)), dtype=float) * x)
apply_over:  | a = np.array([[x, x * x]]) | np.sum(np.apply_over_axes(np.sum, a, [0]))
structured_made:  | a = np.array([(x, 1.0)], dtype=[("p", float), ("q", float)]) | a["p"][0] * x
recarray:  | a = np.rec.array([(1.0, 2.0)], dtype=[("p", float), ("q", float)]);; a.p = x | a.p[0] * x
recarray2:  | a = np.rec.fromarrays([np.array([x])], names="p") | a.p[0] * x
ma:  | a = np.ma.array([x, 1.0], mask=[False, True]) | a.sum() * x
ma2:  | a = np.array([x, 1.0]) | np.ma.masked_where(a > 0.9, a).sum() * x
matrix:  | a = np.matrix([[x, 1.0]]) | np.sum(a * a.T)
memmap: import tempfile, os;; M = np.memmap(os.path.join(tempfile.mkdtemp(), "m"), dtype=float, shape=(2,), mode="w+") | M[0] = x | M[0] * x
sys_write: import sys | sys.stdout.write(f"{x} ") | x * x
sys_stderr: import sys | sys.stderr.write(str(x) + " ") | x * x
print_file_read: import io;; B = io.StringIO() | B.seek(0);; B.truncate();; print(x, file=B) | float(B.getvalue()) * x
io_write: import io;; B = io.StringIO() | B.seek(0);; B.truncate();; B.write(str(x)) | float(B.getvalue()) * x
io_made: import io | b = io.StringIO();; b.write(str(x)) | float(b.getvalue()) * x
stat_mean: import statistics |  | statistics.mean([x, x * x])
stat_fmean: import statistics |  | statistics.fmean([x, x * x])
stat_stdev: import statistics |  | statistics.stdev([x, x * x, 3.0])
stat_median: import statistics |  | statistics.median([x, x * x, 3.0])
frexp: import math | m, e = math.frexp(x) | math.ldexp(m, e) * x
fraction: from fractions import Fraction |  | float(Fraction(x)) * x
decimal: from decimal import Decimal |  | float(Decimal(x)) * x
decimal2: from decimal import Decimal | d = Decimal(str(x)) | x * x
rand_gauss: import random | random.seed(1) | random.gauss(x, 1.0) * x
rand_uniform: import random | random.seed(1) | random.uniform(0.0, x) * x
rand_choice: import random | random.seed(1) | random.choice([x, x]) * x
rand_shuffle: import random | l = [x, x * x];; random.seed(1);; random.shuffle(l) | l[0] * x
rand_sample: import random | l = [x, x * x];; random.seed(1) | random.sample(l, 1)[0] * x
rand_inst: import random;; R = random.Random(1) | R.seed(1) | R.gauss(x, 1.0) * x
np_normal:  | np.random.seed(1) | np.random.normal(x, 1.0) * x
np_normal_scale:  | np.random.seed(1) | np.random.normal(0.0, x) * x
np_gen:  |  | np.random.default_rng(1).normal(x, 1.0) * x
np_gen_uniform:  | r = np.random.default_rng(1) | r.uniform(0.0, x) * x
np_gen_shuffle:  | r = np.random.default_rng(1);; a = np.array([x, x * x]);; r.shuffle(a) | a[0] * x
np_gen_perm:  | r = np.random.default_rng(1);; a = np.array([x, x * x]) | r.permutation(a)[0] * x
np_gen_choice:  | r = np.random.default_rng(1);; a = np.array([x, x * x]) | r.choice(a) * x
np_gen_expo:  | np.random.seed(1) | np.random.exponential(x)
os_env: import os | n = os.environ.get("NOPE", "2") | x * int(n)
re_use: import re | m = re.match("a", "abc") | (x * x if m else x)
datetime: import datetime | d = datetime.timedelta(seconds=x) | d.total_seconds() * x
simplens: from types import SimpleNamespace;; N = SimpleNamespace(v=1.0) | N.v = x | N.v * x
bound_meth_out: O = [1.0];; AP = O.append | AP(x) | O[-1] * x
bound_meth_out_d: O = {};; UP = O.__setitem__ | UP("a", x) | O["a"] * x
bound_meth_arr: O = np.zeros(2);; UP = O.__setitem__ | UP(0, x) | O[0] * x
bound_fill: O = np.zeros(2);; UP = O.fill | UP(x) | O[0] * x
slots_desc: class Box:;;     __slots__ = ("v",) | b = Box();; Box.v.__set__(b, x) | b.v * x
slots_desc_get: class Box:;;     __slots__ = ("v",) | b = Box();; b.v = x | Box.v.__get__(b) * x
type_call: class O: pass | o = type("Q", (), {"v": x}) | o.v * x
type_setattr: class O: pass | type.__setattr__(O, "v", x) | O.v * x
class_attr: class O: v = 1.0 | O.v = x | O.v * x
func_attr: def h(): pass | h.v = x | h.v * x
mod_attr: import types as T;; M = T.ModuleType("M") | M.v = x | M.v * x
sys_modules: import sys, types as T;; M = T.ModuleType("MMM");; sys.modules["MMM"] = M | setattr(sys.modules["MMM"], "v", x) | M.v * x
np_save: import io;; B = io.BytesIO() | B.seek(0);; np.save(B, np.array([x]));; B.seek(0) | np.load(B)[0] * x
np_savetxt: import io;; B = io.StringIO() | np.savetxt(B, np.array([x])) | x * x
np_put:  | a = np.zeros(2);; np.put(a, 0, x) | a[0] * x
np_array2string:  | s = np.array2string(np.array([x])) | x * x
np_fromstring:  |  | np.fromstring(str(x), sep=" ")[0] * x
np_testing:  | np.testing.assert_allclose(x, x) | x * x
np_nditer:  | a = np.array([x, 1.0]);; s = 0.0;; for v in np.nditer(a): s = s + v * x | s
np_nditer_w:  | a = np.array([x, 1.0]);; with np.nditer(a, op_flags=["readwrite"]) as it:;;     for v in it: v[...] = v * v | np.sum(a)
np_polyfit:  |  | np.polyfit(np.array([0.0, 1.0, 2.0]), np.array([x, 1.0, x * x]), 1)[0]
np_poly1d:  |  | np.poly1d([x, 1.0])(x)
np_polynomial:  |  | np.polynomial.Polynomial([x, 1.0])(x)
np_ndarray_new:  | a = np.ndarray((2,), buffer=np.array([x, 1.0])) | a[0] * x
as_strided: from numpy.lib.stride_tricks import as_strided | a = np.array([x, 1.0]) | as_strided(a, (2,), (8,))[0] * x
byteswap:  | a = np.array([x, 1.0]) | a.byteswap().byteswap()[0] * x
setflags:  | a = np.array([x, 1.0]);; a.setflags(write=False) | a[0] * x
interface:  | a = np.array([x, 1.0]) | np.asarray(a.__array_interface__["data"][0] * 0.0 + x) * x
array_fn:  | a = np.array([x, 1.0]) | a.__array__()[0] * x
call_uf:  |  | np.multiply.__call__(x, x)
mutseq: from collections.abc import MutableSequence;; class L(MutableSequence):;;     def __init__(self): self.d = [];;     def __getitem__(self, k): return self.d[k];;     def __setitem__(self, k, v): self.d[k] = v;;     def __delitem__(self, k): del self.d[k];;     def __len__(self): return len(self.d);;     def insert(self, k, v): self.d.insert(k, v) | o = L();; o.append(x) | o[0] * x
mutmap: from collections.abc import MutableMapping;; class L(MutableMapping):;;     def __init__(self): self.d = {};;     def __getitem__(self, k): return self.d[k];;     def __setitem__(self, k, v): self.d[k] = v;;     def __delitem__(self, k): del self.d[k];;     def __len__(self): return len(self.d);;     def __iter__(self): return iter(self.d) | o = L();; o.update({"a": x}) | o["a"] * x
number_cls: from numbers import Number |  | (x * x if isinstance(x, Number) else x)
exc_args:  | try:;;     raise ValueError(x);; except ValueError as e:;;     y = e.args[0] | y * x
exc_str:  | try:;;     raise ValueError(x);; except ValueError as e:;;     y = float(str(e)) | y * x
exc_attr: class E(Exception):;;     def __init__(self, v): self.v = v | try:;;     raise E(x);; except E as e:;;     y = e.v | y * x
nested_vjp:  | y, pull = ad.vjp(lambda v: v * v, x) | y + pull(1.0)[0]
variant_25: class O: pass | o = O();; o.__dict__ = {"v": x} | o.v * x
variant_26: class O: v = 1.0 | o = O();; setattr(O, "v", x) | o.v * x
variant_27: G = {"a": 1.0};; P = G | G["a"] = x | P["a"] * x
variant_28: G = [1.0];; P = [G] | P[0][0] = x | G[0] * x
variant_29: import sys;; g = 1.0 | sys.modules[__name__].__dict__["g"] = x | g * x
variant_61:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; a["p"] = x;; a[1] = a[0];; a["p"][0] = 2.0 | np.sum(a["p"]) * x
variant_63:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; a["p"] = x | np.sum(a[["p", "q"]]["p"]) * x
variant_64:  | a = np.zeros(2, dtype=[("p", float), ("q", float)]);; for n in ("p", "q"): a[n] += x | np.sum(a["p"] * a["q"])
variant_69:  | a = np.zeros(2, dtype=[("p", float)]).view(np.recarray);; a.p = x | a.p[0] * x
variant_72:  | a = np.zeros(2, dtype=[("p", float)]);; a["p"] = x;; b = np.concatenate([a, a]) | np.sum(b["p"]) * x
variant_73:  | a = np.zeros(2, dtype=[("p", float)]);; a["p"] = [x, 2.0 * x] | np.sort(a, order="p")["p"][1] * x
variant_74:  | a = np.full(2, x);; b = np.zeros(2, dtype=object);; b[:] = a | b[0] * x
variant_76:  | b = np.array([[x], [x, x]], dtype=object) | b[0][0] * x
variant_78:  | b = np.array([x]).astype("U8") | float(b[0]) * x
variant_79:  | b = np.asarray([x], dtype="O") | b[0] * x
variant_80:  | b = str(x);; c = b + "0" | float(c) * x
variant_81:  | b = "%s" % x;; c = b.strip() | float(c) * x
variant_82:  | b = [str(x), "2"];; c = ",".join(b) | float(c.split(",")[0]) * x
variant_83:  | b = f"{x}".encode() | float(b) * x
variant_84: import io | b = io.StringIO();; print(x, file=b) | float(b.getvalue()) * x
variant_85: import contextlib, io | b = io.StringIO();; with contextlib.redirect_stdout(b): print(x) | float(b.getvalue()) * x
variant_87: import functools | h = functools.lru_cache(lambda v: v * v) | h(x) * x
variant_91: import array | A = array.array("d", [1.0, 2.0]);; A[0] = x | A[0] * x
variant_92: import array | A = array.array("d");; A.extend([x, x]);; b = np.array(A) | b[0] * x
variant_93: B = bytearray(8) | np.frombuffer(B, dtype=float)[0] = x | np.frombuffer(B, dtype=float)[0] * x
variant_94: import math | m, e = math.frexp(x) | m * 2.0 ** e * x
variant_95: import cmath | r, p = cmath.polar(x) | r * x
variant_98: import decimal | d = decimal.Decimal(x) * 2 | float(d) * x
variant_99: import logging;; class H(logging.Handler):;;     def emit(self, r): self.last = r.args[0];; H1 = H();; LG = logging.getLogger("qq");; LG.addHandler(H1);; LG.setLevel(10) | LG.info("%s", x) | H1.last * x
variant_106:  | class M:;;     def __init__(self, v): vars(self).update(v=v) | M(x).v * x
"""
