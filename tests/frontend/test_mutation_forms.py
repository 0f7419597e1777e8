"""Every way we know to write into an array, or to get a second name for it: the gradient is right, or refused."""

from __future__ import annotations

import pytest

from tests.programs.random_programs import check, check_lowering

# Each is the body of a function of two arrays `x`, `y` of one length and a float `s`, before a weighted sum of them.
FORMS = """
np.add.at(y, [0, 0], s)
np.add.at(y, np.array([0, 0, 1]), s * y[0])
np.subtract.at(y, np.array([0, 0]), s)
np.multiply.at(y, np.array([0, 0]), s)
np.copyto(y, x)
np.copyto(y, x, where=x > 0)
np.put(y, [0, 1], s)
np.place(y, y > 1, [s])
np.putmask(y, y > 1, s)
np.fill_diagonal(y.reshape(1, -1), s)
np.put_along_axis(y, np.array([0]), s, 0)
y.sort()
y.put([0], s)
y.partition(1)
y.setfield(s, float)
np.random.default_rng(0).shuffle(y)
np.ndarray.sort(y)
np.ndarray.fill(y, s)
y.fill(s)
np.exp(x, out=y)
np.exp(x, y)
np.cumsum(x, out=y)
np.cumsum(x, 0, None, y)
x.cumsum(0, None, y)
np.clip(x, 0, 1, out=y)
x.clip(0, 1, out=y)
x.clip(0, 1, y)
np.clip(x, 0, 1, y)
np.dot(x, x, y[:1].reshape(()))
np.matmul(np.eye(len(x)), x, out=y)
np.take(x, [0, 1, 2], out=y[:3])
np.add(x, x, y)
np.add(x, x, where=x > 0, out=y)
np.nan_to_num(y, copy=False)
np.nan_to_num(y, copy=False)[0] = s
y.flat[0] = s
y.flat = s
y[:] = x
y.real[0] = s
y.__setitem__(0, s)
y.__iadd__(s)
operator.iadd(y, s)
operator.setitem(y, 0, s)
functools.partial(np.copyto, y)(x)
functools.partial(operator.setitem, y, 0)(s)
list(map(y.__setitem__, [0, 1], [s, s]))
np.lib.stride_tricks.as_strided(y, (3,), y.strides)[0] = s
np.asarray(y)[0] = s
np.ascontiguousarray(y)[0] = s
np.array(y, copy=None)[0] = s
np.array(y, copy=False)[0] = s
np.array(y)[0] = s
np.atleast_1d(y)[0] = s
np.atleast_2d(y)[0, 0] = s
np.squeeze(y)[0] = s
np.expand_dims(y, 0)[0, 0] = s
np.split(y, 2)[0][0] = s
np.moveaxis(y[None], 0, 1)[0] = s
np.swapaxes(y[None], 0, 1)[0] = s
np.ravel(y)[0] = s
np.reshape(y, (-1, 1))[0] = s
y.view()[0] = s
np.flip(y)[0] = s
y.squeeze()[0] = s
np.rollaxis(y[None], 1)[0] = s
np.require(y)[0] = s
np.asanyarray(y)[0] = s
np.real(y)[0] = s
np.hsplit(y, 2)[1][0] = s
np.trim_zeros(y)[0] = s
np.positive(y)[0] = s
y.astype(float, copy=False)[0] = s
np.asarray(y, dtype=float)[0] = s
np.array_split(y, 2)[0][0] = s
for r in np.nditer(y, op_flags=['readwrite']): r[...] = s
for v in np.ndindex(y.shape): y[v] = s
for k, v in np.ndenumerate(y): y[k] = v * s
t = memoryview(y); t[0] = s
[z] = [y]; z[0] = s
z = list([y])[0]; z[0] = s
z = sorted([y], key=len)[0]; z[0] = s
z = max([y], key=len); z[0] = s
z = dict(a=y)['a']; z[0] = s
z = (lambda q: q)(y); z[0] = s
z = next(iter([y])); z[0] = s
z = copy.copy(y); z[0] = s
z = copy.deepcopy(y); z[0] = s
z = [y][0]; w = [*[z]]; w[0][0] = s
d = {}; d['q'] = y; d['q'][1] = s
d = {'q': [y]}; d['q'][0][1] = s
z, *w = [y, x]; z[0] = s
for a, b in zip([y], [x]): a[0] = s
for k, a in enumerate([x, y]): a[k] = s
for a in (x, y): a += s
z = getattr(y, 'T'); z[0] = s
y.shape = (-1, 1)
y.T[0] = s
y, z = x, y; z[0] = s; y[1] = s
del y; y = x * s
y = y + G; G[0] = 1.0
z = y[1:]; z += x[:-1]; z[0] = s
z = y[::-1]; z[1:] = y[:-1] * s
y[1:] = y[:-1]
y[1:] += y[:-1] * s
y[:-1] *= y[1:]
y[::2] = y[1::2] * s
y[x > 0] = x[x > 0] * s
y[x > 0] += s
y[np.argsort(x)] = x * s
y[[0, 0, 1]] += s
y[[0, 1]] = y[[1, 0]]
y[...] = s
y[-1], y[0] = y[0], y[-1]
y[0] = y[1] = s * y[2]
(y)[0] = s
y[0:0] = s
y[np.newaxis, 0] = s
y[True] = s
y[int(s > 0)] = s
x = y; x[0] = s
x, y = y, x; x[0] = s
z = x; z = z * s; z[0] = s
z = y if s > 0 else x; z[0] = s
z = [x, y][int(s > 0)]; z[0] = s
z = x if s > 0 else x * 1.0; x[0] = s; y = y + z
""".strip().splitlines()


def source_of(form: str) -> str:
    return f"""import copy
import functools
import operator

import numpy as np

G = np.ones(1)


def f(x, y, s):
    {form}
    weights = np.arange(1.0, y.size + 1.0).reshape(y.shape)
    return np.sum(y * y * weights) + 3.0 * np.sum(x * x * x)
"""


@pytest.mark.parametrize("form", FORMS)
def test_gradient_is_right_or_refused(form: str) -> None:
    result = check(source_of(form), 1)
    assert not result.startswith("WRONG"), result


@pytest.mark.parametrize("form", FORMS)
def test_lowering_is_right_or_refused(form: str) -> None:
    result = check_lowering(source_of(form), 1)
    assert not result.startswith("WRONG"), result
