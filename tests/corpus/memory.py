"""Memory."""

from __future__ import annotations

import numpy as np


def case_negative_step_views(x):
    a = np.outer(x, x)
    b = a[::-1, ::2]
    b[0] *= x[0]
    c = b.T[1:]
    c += 1.0
    return np.sum(a * a)


def case_mask_2d(x):
    a = np.outer(x, x)
    m = a > 1.5
    a[m] *= 2
    a[~m] = x[0]
    a[m, ...] += a[m].sum()
    return np.sum(a * a)


def case_inplace_broadcast(x):
    a = np.ones((3, 3))
    a *= x
    a += x[:, None]
    a[1:] -= a[:-1]
    a /= x[0]
    a **= 2
    return np.sum(a)


def case_matmul_inplace(x):
    a = np.outer(x, x) + np.eye(3)
    b = a @ a
    a @= b
    return np.sum(a) * 0.01


def case_pad_concat(x):
    p = np.pad(x, 2)
    q = np.pad(x, 1, mode="edge")
    r = np.concatenate([p, q])
    return np.sum(r**2 * np.arange(len(r))) + np.sum(np.vstack([x, x * 2]) * np.hstack([x, x]).reshape(2, 3))


def case_aliased_slices_overlapping(x):
    a = np.concatenate([x, x])
    a[1:] = a[:-1] * 1.5
    a[:-1] += a[1:]
    a[::-1] += a
    return np.sum(a * a)


def case_reversed_view_store(x):
    a = x * 1.0
    a[::-1][0] = x[0] * 3
    r = a[::-1]
    a[0] = 7.0
    return np.sum(r * x * np.arange(3.0))


def case_x_and_scalars(x):
    s = np.zeros(())
    for v in x:
        s[...] = s * 2 + v
    t = s
    t += 1
    return float(s) * 2


def case_array_rank_change_var(x):
    y = x
    y = np.outer(y, y)
    y = y.sum(axis=0)
    y = y[0]
    return y * y


def case_softmax_masked(x):
    a = np.outer(x, x)
    m = a > 1
    s = np.where(m, a, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return np.sum(e / e.sum(axis=1, keepdims=True) * a)


def case_swapped_buffers(x):
    a, b, c = (x.copy(), np.zeros(3), np.zeros(3))
    for i in range(4):
        b[1:] = a[:-1] * 1.5
        b[0] = a[2]
        c[:] = a * b
        a, b, c = (b, c, a)
    return np.sum(a * b + c)


def case_rows_in_for(x):
    a = np.outer(x, x)
    for i, row in enumerate(a):
        row[i] = row[1] * 2
    for row, v in zip(a, x):
        row *= v
    return np.sum(a * a)


def case_diagonal_and_flat_views(x):
    a = np.outer(x, x)
    a.flat[4] = x[0]
    a.reshape(-1)[::4] += x
    a.T[0, 2] = x[2] ** 2
    a.swapaxes(0, 1)[1] *= 2
    return np.sum(a.flat[2:5]) + np.sum(np.diagonal(a) * x) + np.trace(a * a)


def case_ravel_of_a_transposed(x):
    a = np.outer(x, x * x)
    b = a.T.ravel()
    b[0] = 9.0
    c = a.ravel()
    c[1] = x[0]
    return np.sum(a * a) + np.sum(b * np.arange(9.0))


def case_conditional_alias_and_store(x):
    a = x * 1.0
    c = x * 2.0
    b = a if x[0] > 0.5 else c
    b[0] = 5.0 * x[1]
    return np.sum(a * c * b)


def case_conditional_kinds(x):
    r = None
    if x[0] > 0.5:
        r = (x * 2, x[1])
    if r is None:
        return np.sum(x)
    return np.sum(r[0] * r[0]) * r[1]


def case_mutators(x):
    a = np.zeros(3)
    np.copyto(a, x * x)
    np.put(a, [0, 2], x[:2] * 3)
    b = np.zeros(3)
    b.fill(x[1])
    np.putmask(b, x > 1, x * 2)
    m = np.outer(x, x)
    np.fill_diagonal(m, x[0] * 2)
    v = x[::-1] * 1.0
    v.sort()
    np.copyto(v, x, where=x > 2)
    return np.sum(a * x) + np.sum(b * b) + np.sum(m * m) + np.sum(v * np.arange(3.0))


def case_ufunc_at(x):
    a = np.zeros(3)
    np.add.at(a, [0, 0, 2], x)
    np.subtract.at(a, [1, 1], x[1:])
    np.multiply.at(a, [0, 2], x[:2])
    return np.sum(a * a)


def scale_of_same_array_twice(p, q):
    p *= 2
    return np.sum(p * q)


def case_same_array_twice(x):
    y = x * 1.0
    return scale_of_same_array_twice(y, y) + np.sum(y)


def case_rank_not_known(x):
    loss = 0
    for i in range(3):
        v = x
        if i == 1:
            v = x[0]
        loss += np.sum(v * v)
    return loss
