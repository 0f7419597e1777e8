"""Functions."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

import autodiff_compiler as ad


def case_nonlocal(x):
    t = 0.0

    def add(v):
        nonlocal t
        t += v

    for i in range(3):
        add(x[i] * i)
    return t * t


def case_reduce_array(x):
    return functools.reduce(operator.mul, x)


def ev_of_recursion_tuple_tree(t, x):
    if isinstance(t, int):
        return x[t]
    return ev_of_recursion_tuple_tree(t[0], x) * ev_of_recursion_tuple_tree(t[1], x)


def case_recursion_tuple_tree(x):
    return ev_of_recursion_tuple_tree(((0, 1), (2, (0, 0))), x)


def h_of_default_mutable_arg(v, acc=[1.0, 2.0]):
    return v * acc[0] + acc[1]


def case_default_mutable_arg(x):
    return h_of_default_mutable_arg(x[0]) * h_of_default_mutable_arg(x[1], [3.0, x[2]])


def case_store_into_argument_used_later(x):
    y = x[::2]
    x[0] = x[1] * x[2]
    y *= 3
    return np.sum(x * x) + y[0]


def case_grad_inside(x):

    def inner(t):
        return np.sum(t * t * t)

    g = ad.grad(inner)(x)
    return np.sum(g * x)


def case_lambda_late_binding(x):
    fs = []
    for i in range(3):
        fs.append(lambda v: v * i)
    return sum((g(x[0]) for g in fs))


def case_closure_cell_changes(x):
    k = 1.0

    def g(v):
        return v * k

    a = g(x[0])
    k = x[1]
    b = g(x[0])
    return a * b


def case_sort_argsort_take(x):
    o = np.argsort(-x)
    y = np.sort(x)[::-1]
    return (
        np.sum(y * np.array([1.0, 2.0, 3.0])) + np.sum(x[o] * np.array([3.0, 1.0, 2.0])) + np.take(x, [0, 0, 1]).prod()
    )


def case_star_in_call_of_np(x):
    a = [x, x * 2]
    return np.sum(np.stack([*a, x]) * np.stack((*a, x * x)))


def case_local_function_recursive_mutual(x):

    def even(n, v):
        return v if n == 0 else odd(n - 1, v * x[0])

    def odd(n, v):
        return v if n == 0 else even(n - 1, v * x[1])

    return even(5, x[2])


def case_enumerate_start_and_unpack_nested(x):
    s = 0.0
    for k, (a, (b, c)) in enumerate([(x[0], (x[1], 2)), (x[2], (x[0], 3))], start=2):
        s += a * b * c * k
    return s


def case_numpy_ufunc_kwargs_where(x):
    a = np.zeros(3)
    np.sqrt(x, where=x > 1, out=a)
    return np.sum(a * x) + np.sum(x[x > 1]) + np.add.reduce(x * x) + np.multiply.outer(x, x).sum()


def case_kw_order_effects(x):
    log = []

    def a(v):
        log.append(v)
        return v * 2

    def b(p, q=1.0):
        return p * q

    r = b(q=a(x[0]), p=a(x[1]))
    return r * log[0]


def case_nested_function_mutates_captured_array(x):
    buf = np.zeros(4)

    def push(i, v):
        buf[i] = v
        buf[3] += v * v

    for i in range(3):
        push(i, x[i] * 2)
    return np.sum(buf * buf)


def case_user_names_like_ours(x):
    x_bar = x * 2
    t0 = x_bar[0]
    b_x = 1.0
    g = t0 * x
    out = np.sum(g)
    bar = out
    grad = bar
    _ = grad
    np_ = _
    stack = [out]
    acc = stack[0]
    for i in range(2):
        t0 = t0 * acc
        x_bar = x_bar + t0
    return np.sum(x_bar) * np_


def g_of_star_args_forwarded(*args, **kw):
    return h_of_star_args_forwarded(*args[::-1], **kw)


def h_of_star_args_forwarded(a, b, /, c=1.0, *, d=2.0):
    return a * b * b + c * d


def case_star_args_forwarded(x):
    return g_of_star_args_forwarded(x[0], x[1], d=x[2]) + g_of_star_args_forwarded(x[0], x[2], c=x[1])


def case_argmax_index(x):
    i = np.argmax(x)
    j = int(np.argmin(x))
    return x[i] * x[j] ** 2


def zero_of_second_use_after_mutation_by_helper_of_arg_slice(a):
    a[:] = 0.0


def case_second_use_after_mutation_by_helper_of_arg_slice(x):
    y = x * x
    zero_of_second_use_after_mutation_by_helper_of_arg_slice(y[1:])
    return np.sum(y * x)


def g_of_keyword_only_positional_only(a, /, b=2.0, *rest, c, d=1.0, **more):
    return a * b + sum(rest) * c + d * more.get("e", 0.0)


def case_keyword_only_positional_only(x):
    return g_of_keyword_only_positional_only(x[0], c=x[1]) + g_of_keyword_only_positional_only(
        x[0], x[1], x[2], 1.0, c=2.0, d=x[0], e=x[2]
    )


def g_of_partial_nested(a, b, c=1.0):
    return a * b * b + c


def case_partial_nested(x):
    p = functools.partial(g_of_partial_nested, x[0])
    q = functools.partial(p, c=x[1])
    return q(x[2]) + p(1.0) + functools.partial(g_of_partial_nested, b=x[1])(x[2])


def case_closures_in_list(x):

    def make(k):
        return lambda v: v * k

    fs = [make(x[i]) for i in range(3)]
    y = 1.0
    for fn in fs:
        y = fn(y) + 1
    return y


@functools.lru_cache(maxsize=None)
def power_of_singledispatch_and_cache(n):
    return 1 if n == 0 else 2 * power_of_singledispatch_and_cache(n - 1)


@functools.cache
def affine_of_singledispatch_and_cache(a):
    return a * 3.0 + 1


def case_singledispatch_and_cache(x):
    return affine_of_singledispatch_and_cache(x[0]) * power_of_singledispatch_and_cache(
        4
    ) + affine_of_singledispatch_and_cache(x[0])


def total_of_of_recursion_deep_data(v, i):
    if i == len(v):
        return 0.0
    return v[i] * v[i] + total_of_of_recursion_deep_data(v, i + 1)


def case_recursion_deep_data(x):
    return total_of_of_recursion_deep_data(x, 0)


def case_out_arguments(x):
    a = np.empty(3)
    np.multiply(x, 2, out=a)
    np.add(a, x, out=a)
    b = np.empty(())
    np.sum(a * a, out=b)
    c = np.empty((3, 3))
    np.dot(np.outer(x, x), np.outer(x, a), out=c)
    d = np.zeros(3)
    np.sqrt(x, where=x > 1, out=d)
    np.clip(d, 0.1, 1.3, out=d)
    np.cumsum(a, out=a)
    return b + c[0, 1] + np.sum(d * a)


def case_math_functions(x):
    return (
        math.exp(x[0]) * math.hypot(x[1], x[2])
        + math.erf(x[0])
        + math.lgamma(x[1])
        + math.fsum([x[0], x[1]])
        + math.prod([x[0], x[1]])
        + math.dist([x[0], x[1]], [1.0, 2.0])
        + math.atan2(x[0], x[1])
    )
