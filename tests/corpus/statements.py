"""Statements."""

from __future__ import annotations

import contextlib
import functools

import numpy as np

import autodiff_compiler as ad


def case_string_flags(x):
    s = x
    for c in "stm":
        if c == "s":
            s = np.sin(s)
        elif c == "t":
            s = np.tanh(s)
        else:
            s = s * s
    return np.sum(s)


def case_raise_in_branch(x):
    if x[0] > 100:
        raise ValueError(f"bad {x[0]}")
    return np.sum(x)


def case_while_list_pop(x):
    st = [x[0], x[1], x[2]]
    s = 0.0
    while st:
        s = s * 2 + st.pop()
    return s


class AccClassStateLoop:
    def __init__(self):
        self.t = 0.0
        self.h = []

    def add(self, v):
        self.t = self.t + v
        self.h.append(v)


def case_class_state_loop(x):
    a = AccClassStateLoop()
    for i in range(len(x)):
        a.add(x[i] * x[i])
    return a.t + a.h[0] * a.h[-1]


def case_chained_comparison_effects(x):
    n = 0

    def g():
        nonlocal n
        n += 1
        return x[n % 3]

    if 0 < g() < g() < 5:
        return x[0] * n * g()
    return x[1] * n * g()


def case_zero_trips(x):
    y = x
    for i in range(0):
        y = y * i
    for r in np.zeros((0, 3)):
        y = y * r
    return np.sum(y * y)


def case_while_with_break_complex(x):
    i = 0
    s = x[0]
    while True:
        i += 1
        if i == 2:
            continue
        s = s * x[i % 3]
        if s > 3 or i > 6:
            break
    else:
        s = 0.0
    return s * s


def case_nested_loops_with_early_return(x):
    for i in range(3):
        t = x[i]
        for j in range(3):
            t = t * x[j]
            if t > 2.0 and i + j > 1:
                return t * (i + 1)
            if t < 0:
                break
    return x.sum()


def shift_of_helper_mutates_returns_view(a):
    a[1:] = a[:-1] * 2
    return a[1:]


def case_helper_mutates_returns_view(x):
    b = x.copy()
    v = shift_of_helper_mutates_returns_view(b)
    v[0] = x[2]
    return np.sum(b * b) + np.sum(v)


def case_grad_inside_loop_newton(x):
    t = x[0]
    F = lambda t: t**3 - x[1] * t - x[2]
    for _ in range(4):
        t = t - F(t) / ad.grad(F)(t)
    return t


class PAugAssignAttr:
    def __init__(self):
        self.v = np.zeros(3)
        self.k = 0


def case_aug_assign_attr(x):
    p = PAugAssignAttr()
    q = p
    q.v += x
    p.v[0] *= 2
    q.k += 3
    w = p.v
    p.v = p.v * x
    w[1] = 7.0
    return np.sum(p.v * q.v) * p.k + np.sum(w)


WGlobalArrayRead = np.arange(3.0)


def case_global_array_read(x):
    v = WGlobalArrayRead
    y = v * x
    y += WGlobalArrayRead
    return np.sum(y * y)


def case_print_assert(x):
    assert x[0] < 100, f"big {x[0]}"
    return np.sum(x) ** 2


def case_ternary_chain_of_arrays(x):
    y = x if x[0] > 1 else x * 2 if x[1] > 1 else x * 3
    return np.sum(y * y)


def case_boolean_index_assignment_with_array(x):
    a = x * 2
    a[x > 1] = x[x > 1] ** 2
    b = np.zeros(3)
    b[x < 1] = 5.0
    return np.sum(a * b) + np.sum(a)


def case_list_of_arrays_aliasing_loop(x):
    hist = []
    y = x.copy()
    for i in range(3):
        y = y * x
        hist.append(y)
    return sum((np.sum(h * h) for h in hist))


def case_dict_of_arrays_in_loop(x):
    p = {"w": x * 1.0, "b": np.zeros(3)}
    for i in range(4):
        p["b"] = p["b"] + p["w"] * i
        p["w"] *= 1.1
    return np.sum(p["b"] * p["w"])


def case_conditional_store_in_loop_reading_neighbours(x):
    a = np.zeros(6)
    a[:3] = x
    for t in range(3):
        for i in range(1, 5):
            if a[i - 1] > 0.9:
                a[i] = a[i] * 0.5 + a[i + 1] * a[i - 1]
            else:
                a[i] += 0.1 * a[i - 1]
    return np.sum(a * a)


def case_ternary_in_subscripts(x):
    i = 1
    return x[0 if i else 2] * x[(lambda k: k + 1)(i)]


def case_try_to_shadow_numpy_names(x):
    np_sum = np.sum
    sum = lambda v: np_sum(v) * 2
    abs = 3.0
    return sum(x) * abs


def case_while_with_array_cond(x):
    v = x.copy()
    while (v < 50).all():
        v = v * v + 1
    return np.log(v).sum()


def case_break_from_nested_w_stores(x):
    a = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            a[i, j] = x[i] * x[j]
            if a[i, j] > 2.0:
                break
        else:
            a[i] *= 2
            continue
        a[:, i] += 1
        if i == 1:
            break
    return np.sum(a * a)


def case_loop_var_after_loop(x):
    for i, v in enumerate(x):
        w = v * i
    return v * w * i


class NetClassWithListStateAndMethodsMutating:
    def __init__(self, x):
        self.ws = [x * k for k in range(1, 4)]
        self.n = 0

    def fwd(self, v):
        for w in self.ws:
            v = np.tanh(w * v)
            self.n += 1
        return v


def case_class_with_list_state_and_methods_mutating(x):
    n = NetClassWithListStateAndMethodsMutating(x)
    return np.sum(n.fwd(x)) * n.n


def case_return_in_with_errstate_loop(x):
    with np.errstate(all="ignore"):
        for i in range(3):
            if x[i] > 1:
                return x[i] ** 3
    return 0.0


def case_string_ops_for_mode(x):
    mode = "ReLU".lower().strip()
    return np.sum(np.maximum(x - 1, 0)) if mode.startswith("re") else 0.0


def step_of_hist_of_tuple_returns(v, w):
    return (v * w, v + w)


def case_hist_of_tuple_returns(x):
    a, b = (x[0], x[1])
    for _ in range(4):
        a, b = step_of_hist_of_tuple_returns(a, b)
    return a + b


def case_matrix_loops_gauss(x):
    A = np.outer(x, x) + np.eye(3) * 3
    b = x.copy()
    n = 3
    for k in range(n):
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    y = np.zeros(n)
    for i in range(n - 1, -1, -1):
        y[i] = (b[i] - A[i, i + 1 :] @ y[i + 1 :]) / A[i, i]
    return y.sum()


def case_match_sequence_star(x):
    shape = (x[0], x[1], 3)
    match shape:
        case [a, *rest, 2]:
            return a
        case [a, b, int(k)] if k > 2:
            return a * b * k
        case _:
            return x[2]


def case_match_mapping_rest(x):
    p = {"kind": "scale", "by": x[0], "extra": 1}
    match p:
        case {"kind": "shift", "by": d}:
            return np.sum(x + d)
        case {"kind": "scale", "by": s, **rest}:
            return np.sum(x * s * len(rest))
    return 0.0


class PointMatchClassAndGuard:
    __match_args__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


def case_match_class_and_guard(x):
    p = PointMatchClassAndGuard(x[0], x[1])
    match p:
        case PointMatchClassAndGuard(a, b) if a > b:
            return a * 3
        case PointMatchClassAndGuard(a=v, b=w):
            return v * w * w


def case_match_run_time_number(x):
    s = 0.0
    for i in range(4):
        match i % 3:
            case 0:
                s += x[0]
            case 1 | 2 as k:
                s += x[k] * s
    return s


def case_match_tuple_of_types(x):
    out = 1.0
    for item in (1, 2.0, "a", (x[0], x[1]), None, x):
        match item:
            case int():
                out = out * 2
            case float():
                out = out * 3
            case str():
                out = out * 0.5
            case [a, b]:
                out = out * a * b
            case None:
                out = out + 1
            case _:
                out = out * item[2]
    return out


def case_try_cholesky(x):
    A = np.outer(x, x) - 0.5 * np.eye(3)
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        L = np.linalg.cholesky(A + np.eye(3) * (1 + x[0]))
    return np.sum(L * L) + L[2, 0]


def case_try_else_finally(x):
    s = 0.0
    for k in (0, 1, 2):
        try:
            v = x[k] * {0: 1.0, 2: 2.0}[k]
        except KeyError:
            v = x[1] * 7.0
        else:
            v = v * x[0]
        finally:
            s = s + v * v
    return s


def case_try_zero_division(x):
    s = 0.0
    for i in range(3):
        try:
            s += float(x[i]) / i
        except ZeroDivisionError:
            s += float(x[i]) ** 2
    return s


def case_try_except_as(x):

    def check(v):
        if v > 1.0:
            raise ValueError("too big", v)
        return v * v

    s = 0.0
    for i in range(3):
        try:
            s += check(x[i])
        except ValueError as e:
            s += 3 * x[i] + len(e.args)
    return s


def case_try_return_in_loop(x):
    y = [x[0], x[1], x[2]]
    i = 0
    s = 1.0
    while True:
        try:
            s = s * y[i]
        except IndexError:
            return s * s
        i += 1


def case_finally_return_path(x):
    log = []

    def g(v):
        try:
            return v * v
        finally:
            log.append(v)

    r = g(x[0]) + g(x[1])
    return r * log[0] * log[1]


def case_reraise(x):
    try:
        try:
            if x[0] > -1:
                raise KeyError("k")
        except ValueError:
            return x[0]
        except KeyError:
            raise IndexError("i") from None
    except (IndexError, TypeError):
        return x[1] * x[2]
    return x[2]


@contextlib.contextmanager
def scaled_of_with_contextmanager(v, k):
    w = v * k
    yield w
    w = 0.0


def case_with_contextmanager(x):
    with scaled_of_with_contextmanager(x, 2.0) as a, scaled_of_with_contextmanager(a, x[0]) as b:
        s = np.sum(a * b)
    return s * s


def case_with_suppress(x):
    s = x[0]
    with contextlib.suppress(ValueError):
        if s > -5:
            raise ValueError
        s = s * 100
    return s * x[1]


class ScopeWithClassState:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1.0)
        return self

    def __exit__(self, kind, value, trace):
        self.log.append(2.0)
        return False


def case_with_class_state(x):
    log = []
    with ScopeWithClassState(log) as s:
        y = x * len(s.log)
    return np.sum(y * sum(log))


def case_walrus_comprehension(x):
    r = [w for i in range(3) if (w := (x[i] * i)) is not None]
    while (t := r.pop()) < 1.0:
        pass
    return t * sum(r) + w


def case_chained_assignment_targets(x):
    a = np.zeros(3)
    d = {}
    a[0] = d["k"] = c = x[0] * 2
    a[1:], (e, *g) = (x[1:], (x[2], 1.0, c))
    return np.sum(a * a) * d["k"] * e * g[1]


def case_del_everything(x):
    a = [x[0], x[1], x[2], 1.0]
    b = a
    del a[1:3], a[0]
    d = {"p": x[0], "q": x[1]}
    del d["p"]
    t = x[2]
    u = t
    del t
    return b[0] * d["q"] * u


def case_local_import(x):
    import math as m
    from functools import reduce as red

    return red(lambda a, b: a + m.sin(b), [x[0], x[1], x[2]])


def case_annotations(x: np.ndarray) -> float:
    y: np.ndarray = x * 2
    z: float
    z = y[0]
    return z * y[1]


def case_conditional_expressions_nested(x):
    g = lambda v, k=1: v * k
    return g(x[0] if x[1] > 1 else x[2], k=2 if x[0] < 1 else 3) * x[1 if x[2] > 2 else 0]


counts_of_global_counter = {"n": 0}
total_of_global_counter = 0


def case_global_counter(x):
    global total_of_global_counter
    total_of_global_counter += 1
    counts_of_global_counter["n"] += 1
    return np.sum(x * x)


memory_of_global_written_and_read = 0.0


def remember_of_global_written_and_read(v):
    global memory_of_global_written_and_read
    memory_of_global_written_and_read = v


def case_global_written_and_read(x):
    remember_of_global_written_and_read(x[0] * x[1])
    y = memory_of_global_written_and_read * x[2]
    remember_of_global_written_and_read(0.0)
    return y + memory_of_global_written_and_read


def scaled_by_of_decorators_with_arguments(k):

    def deco(fn):

        @functools.wraps(fn)
        def wrapper(*a, **kw):
            return k * fn(*a, **kw)

        return wrapper

    return deco


def squared_of_decorators_with_arguments(fn):
    return lambda v: fn(v) ** 2


@scaled_by_of_decorators_with_arguments(3.0)
@squared_of_decorators_with_arguments
def base_of_decorators_with_arguments(v):
    return np.sum(np.sin(v))


def case_decorators_with_arguments(x):
    return base_of_decorators_with_arguments(x)


def case_closure_cell_rebinding_loop(x):
    k = x[0]

    def g():
        return k * k

    s = 0.0
    for i in range(3):
        k = k * x[i]
        s += g()
    return s


def case_max_min_with_key(x):
    v = [x[0], x[1], x[2]]
    return max(v, key=lambda t: -t) * min(v, default=0.0) + max(x[0], x[1], x[2]) + max([], default=2.0)


def case_dict_keyed_by_loop(x):
    d = {}
    for i in range(3):
        d[i] = x[i] * x[i]
    p = {"W0": x, "W1": x * 2}
    s = d[0] * d[1] + d[2]
    for layer in range(2):
        s = s + np.sum(p[f"W{layer}"])
    return s


def case_conditional_alias_in_loop(x):
    a = x * 1.0
    c = x * 2.0
    for i in range(3):
        if x[i] > 1:
            b = a
        else:
            b = c
        b[i] = x[0] * b[i]
    return np.sum(a * c)


def case_shape_assigned(x):
    a = np.outer(x, x)
    a.shape = (9,)
    return np.sum(a * np.arange(9.0))
