"""Forms of code that public packages are written in."""

from __future__ import annotations

import ast
import dataclasses
import functools
import io
import json
import sys
import tokenize
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import autodiff_compiler as ad
from tests.differences import differences

M = np.array([[1.0, 2.0], [3.0, 5.0]])


def check(f: Any, *args: Any) -> None:
    """The gradient by the first argument is that of central differences."""
    np.testing.assert_allclose(ad.grad(f)(*args), differences(f, *args), rtol=1e-6, atol=1e-8)


def unpacked_flat(m):
    a, b, c, d = m.T.flat
    return a * b + c * d * d


def uncopied(m):
    a = np.array(m, dtype=np.float64, copy=False)[:1, :2]
    return np.sum(a * a)


def uncopied_and_stored(m):
    a = np.asarray(m, copy=False)
    a[0] = 2.0 * a[1]
    return np.sum(m * m)


def joined_with_a_number_of_two_kinds(m):
    w = 0.5 - m[0, 0]
    w = 0 if w < -1.0 else np.cos(w)
    return np.sum(np.r_[w, m[1]] ** 3)


def places_of_one_argument(m):
    rows = np.where(m[0] > 1.5)[0]
    (columns,) = np.where(m[:, 1] > 1.5)
    return np.sum(m[rows] ** 2) + np.sum(m[columns, 0] * m[np.where(m > 2.5)].sum())


def rolled_axes(m):
    t = np.stack([m, 2.0 * m, m * m])
    return np.sum(np.transpose(t, np.roll(range(t.ndim), 1))[0] * m[0] * np.arange(3.0)[:, None])


def number_of_axes_that_only_the_run_tells(m):
    r = np.squeeze(m[0, :1] * 1.0 if m[0, 0] < 100.0 else m)
    a, b = np.array(r, ndmin=1), np.array(r, ndmin=2)
    a *= 3.0
    return np.sum(a * m[1]) + np.sum(b[0] * m) + min(r, m[1, 1]) * r + max(m[0, 1], r * 5.0)


def squeezed_eigenvector(m):
    values, vectors = np.linalg.eig(m[:3, :3])
    place = np.where(abs(np.real(values)) > 1.0)[0]
    v = np.real(vectors[:, place[-1]]).squeeze()
    v /= v[0]
    return np.sum(v) + np.sum(np.imag(values))


def number_at_a_bool(m):
    total = 0
    for k in range(2):
        p = np.sum(m[k]) ** 2
        total += np.sum(p[p < 30.0] ** 2)
    return total


def arrays_at_a_bool(m):
    yes, no = m[0, 0] < 2.0, m[0, 0] > 2.0
    kept = m[yes] * 2.0
    kept *= m
    column = m[yes, 1] ** 2 * m[yes, :, 1]
    m[no] = 7.0
    m[yes] = m * m
    return np.sum(kept) + np.sum(column) + np.sum(m[no, 0] ** 3) + np.sum(m[None, True][0] ** 2) + np.sum(m[:, no])


def total_of_a_number_or_an_array(m):
    total = 1.5
    for k in range(3):
        y = m[0, 1] if m[k % 2, 0] > 2.0 else m[0]
        total *= np.sum(y)
        total += np.mean(y) + np.max(y)
    return total


class Poses:
    """One matrix or several, as its argument has it."""

    def __init__(self, m):
        if m.shape == (2, 2):
            self.data = [m]
        elif m.shape[1] == 3:
            self.data = [row for row in m]
        else:
            raise ValueError(m.shape)

    @property
    def matrix(self):
        if len(self.data) == 1:
            return self.data[0]
        else:
            return self.data


def as_matrix(m):
    if m.ndim == 2:
        return m
    elif m.ndim == 1:
        return np.diag(m)
    else:
        return None


def square(pose):
    zeros = np.zeros((2, 2), dtype=pose.dtype)
    return pose @ pose + zeros


class Scaled:
    """Its value is a matrix or a list, as the numbers have it."""

    def __init__(self, m):
        self.m = m
        self.calls = 0

    @property
    def value(self):
        return self.kept

    @functools.cached_property
    def kept(self):
        self.calls += 1
        return self.m * 2.0 if self.m[0, 0] > 0.5 else [self.m]

    @property
    def direct(self):
        if self.m[0, 0] > 0.5:
            return self.m * 2.0
        return [self.m]


def property_of_two_kinds(m):
    return np.sum(square(Poses(np.cos(m)).matrix) * m) + np.sum(square(Scaled(m).direct))


def call_in_an_argument_of_a_call(m):
    return np.sum(Poses(square(Poses(m if m[0, 0] > 2.0 else m[0]).matrix if m[0, 0] > 2.0 else m)).matrix)


def vector(v):
    """As an array of floats, whatever it is."""
    if isinstance(v, (list, tuple)):
        return np.array(v)
    return v.astype("O" if v.dtype.kind == "O" else np.float64)


def one_of_two_dtypes(m):
    q = np.r_[m[0], 1.0]
    data = q if np.sum(q) > 1.0 else np.r_[0, 0, 1]
    return np.sum(vector(data) ** 2)


def one_of_two_ranks(m):
    part = m if m[0, 0] > 2.0 else m[0]
    return np.sum(vector(0.5 * part) ** 2)


def unit(v):
    n = np.sum(v * v)
    if n < 1e-10:
        return None, None
    return v / n, n


def none_on_one_path(m):
    v, n = unit(np.r_[m[0], m[1]])
    return n * np.sum(vector(v[1:3]) ** 3)


def several_at_once(m):
    a, b, c = np.atleast_2d(m, m[0], m[1, 1])
    return np.linalg.cond(a @ b.T @ c + np.eye(2)) + np.sum(np.linalg.inv(np.atleast_1d(a, b)[0]))


FORMS = [
    number_at_a_bool, arrays_at_a_bool, total_of_a_number_or_an_array,
    unpacked_flat, uncopied, uncopied_and_stored, joined_with_a_number_of_two_kinds, places_of_one_argument,
    squeezed_eigenvector, property_of_two_kinds, call_in_an_argument_of_a_call, one_of_two_dtypes, one_of_two_ranks,
    none_on_one_path, several_at_once, rolled_axes, number_of_axes_that_only_the_run_tells,
]  # fmt: skip


@pytest.mark.parametrize("f", FORMS)
def test_gradient(f: Any) -> None:
    check(f, M)


def test_what_a_property_keeps_is_not_taken_along() -> None:
    def f(m):
        obj = Scaled(m)
        return np.sum(square(obj.kept)) * np.sum(obj.kept[0]) * obj.calls

    def g(m):
        obj = Scaled(m)
        return np.sum(square(obj.value)) * np.sum(obj.kept[0]) * obj.calls

    for fn in (f, g):
        with pytest.raises(ad.UnsupportedError, match="different kinds of things"):
            ad.grad(fn)(M)


def test_none_that_is_subscripted_raises() -> None:
    def f(x):
        v, _ = unit(x)
        return v[0]

    with pytest.raises(TypeError, match="not subscriptable"):
        ad.grad(f)(np.zeros(2))
    with pytest.raises(TypeError, match="not subscriptable"):
        ad.grad(lambda x: x * unit(np.zeros(2))[0][0])(1.0)


def test_flat_in_a_name_is_refused() -> None:
    def f(m):
        a = m.flat
        return a[0]

    with pytest.raises(ad.UnsupportedError, match="value of its own"):
        ad.grad(f)(M)


class Base:
    weight = 3.0


class Derived(Base):
    weight = 4.0


WEIGHTS = {Base: 5.0}


def test_the_classes_that_a_class_is_derived_from() -> None:
    def f(x, obj):
        for cls in type(obj).__mro__:
            if cls in WEIGHTS:
                x = x * WEIGHTS[cls]
        return x * sum(cls.weight for cls in type(obj).__mro__[:-1]) * type(obj).__bases__[0].weight

    assert ad.grad(f)(2.0, Derived()) == f(1.0, Derived()) == 5.0 * 7.0 * 3.0
    assert ad.grad(f)(2.0, Base.__new__(type("Other", (Derived,), {"weight": 1.0}))) == 5.0 * 8.0 * 4.0


def test_what_is_a_scalar() -> None:
    def f(x, a):
        kinds = [x, a, [1.0], "text", None, np.float64(2.0), (1,), 3]
        return x * sum((k + 1) * np.isscalar(kind) for k, kind in enumerate(kinds))

    assert ad.grad(f)(2.0, M) == f(1.0, M)


@pytest.mark.parametrize("value", [2.0, [1.0, 2.0], np.ones(2, np.float32)], ids=["a number", "a list", "float32"])
def test_a_copy_that_is_forbidden_raises_as_in_numpy(value: Any) -> None:
    def f(x):
        return np.sum(np.array(x, dtype=np.float64, copy=False))

    def handled(x):
        try:
            return np.sum(np.array(x, dtype=np.float64, copy=False))
        except ValueError:
            return np.sum(np.asarray(x) * 3.0)

    with pytest.raises(ValueError, match="Unable to avoid copy"):
        f(value)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        ad.grad(f)(value)
    np.testing.assert_allclose(ad.grad(handled)(value), np.full(np.shape(value), 3.0))


def strides_of_windows(m):
    v = m.ravel() * 1.0
    w = as_strided(v, shape=(v.size - 1, 2), strides=(v.itemsize, v.itemsize), writeable=False)
    return np.sum(w[:, 0] * w[:, 1] ** 2)


def strides_that_stay(m):
    return np.prod(as_strided(m, (3,), (0,))) + np.sum(as_strided(m, (2,), (3 * m.itemsize,)) ** 2)


def items_at_a_list_of_places(m):
    v = m.ravel()
    places = [k for k in range(len(v)) if v[k] > 1.5]
    y = v * 1.0
    y[places] = v[places] ** 2
    return np.outer(y[places], v[places]).sum() + np.sum(m[:, [k for k in range(2) if m[0, k] > 5.0]])


def names_that_are_extended(m, sizes):
    names: list[Any] = []
    for name, (single, size) in sizes.items():
        if single:
            names.append(name)
            continue
        names.extend([f"{name}[{k}]" for k in range(size)])
    return m.ravel()[names.index("b[1]")] ** 2 * len(names)


@pytest.mark.parametrize(
    "f", [strides_of_windows, strides_that_stay, items_at_a_list_of_places], ids=lambda f: f.__name__
)
def test_elements_elsewhere(f: Any) -> None:
    check(f, M)


def test_strides_of_what_is_stored_to() -> None:
    def f(m, which):
        v = m.ravel() * 1.0
        w = as_strided(v, (3, 2), (8, 8))
        (v if which else w)[0] = 5.0
        return np.sum(w if which else v)

    def beyond(m):
        return np.sum(as_strided(m, (9,), (8,)))

    with pytest.raises(ad.AliasError):
        ad.grad(f)(M, True)
    with pytest.raises(ad.AliasError):
        ad.grad(f)(M, False)
    with pytest.raises(NotImplementedError, match="beyond the elements"):
        ad.grad(beyond)(M)
    with pytest.raises(ad.UnsupportedError, match="one behind the other"):
        ad.grad(lambda m: np.sum(as_strided(m, (2,), (8,))))(M.T)


def test_names_that_are_extended() -> None:
    for sizes in ({"a": (True, 1), "b": (False, 2)}, {"b": (False, 3)}):
        check(names_that_are_extended, M, sizes)


def pairs_of_complex_numbers(m):
    z = np.exp(1j * m) * m
    w = np.asarray(m, dtype=np.complex128).view("float64")
    return np.sum(M.repeat(2, axis=1) * z.view(float) ** 2 + w * m.repeat(2, axis=1))


def pairs_as_complex_numbers(m):
    z = m.view(complex)
    kept = m.ravel()[::2].copy().view(np.complex128)
    return np.sum(np.abs(z) ** 2 * z.real) + np.sum((kept * kept).imag) + np.sum(m.view()[0] * m.view(m.dtype)[1])


def stored_through_pairs(m):
    y = m.copy()
    z = y.view(complex)
    z *= 2j * m[0, 0]
    again = m.view()
    again[0] = m[1] ** 2
    return np.sum((z * z).imag) + np.sum(m)


@pytest.mark.parametrize("f", [pairs_of_complex_numbers, pairs_as_complex_numbers, stored_through_pairs])
def test_memory_read_as_other_numbers(f: Any) -> None:
    check(f, M)


def test_views_as_other_dtypes_that_are_refused() -> None:
    def read_after_a_store(m):
        y = m.copy()
        y.view(complex)[0] = 3.0
        return np.sum(y)

    with pytest.raises(ad.AliasError, match="may share memory"):
        ad.grad(read_after_a_store)(M)
    with pytest.raises(ValueError, match="must be contiguous"):
        ad.grad(lambda m: np.sum(m.ravel()[::2].view(complex).real))(M)
    with pytest.raises(ad.UnsupportedError, match="Fortran order"):
        ad.grad(lambda m: np.sum(m.copy(order="F").view(complex).real))(M)
    with pytest.raises(ad.UnsupportedError, match="dtype float64 as int64"):
        ad.grad(lambda m: np.sum(m.view(np.int64)) * 1.0)(M)


def test_text_of_classes() -> None:
    def f(x, values):
        other = [k for k, v in values.items() if callable(v) or "ndarray" in repr(type(v)) or str(type(v)) == str(Own)]
        return x ** len(other)

    values = {"sin": np.sin, "a": np.zeros(2), "b": 2.0, "c": Own(), "d": 3}
    assert ad.grad(f)(2.0, values) == 3 * 2.0**2


class Own:
    pass


class Held:
    def __init__(self, weight):
        self.weight = weight


HELD = Held(3.0)


def changed(value):
    HELD.weight = 5.0
    return 1.0


def text_is_read_before(x):
    found = json.loads('{"a": 2}')
    kinds = list(tokenize.tokenize(io.BytesIO(json.dumps({"b": 3}).encode()).readline))
    return x**2 * HELD.weight * found["a"] * len(kinds)


def trees_are_changed_before(x):
    try:
        tree = ast.parse("a + 1")
    except SyntaxError:
        return x
    ast.fix_missing_locations(tree)
    for node in tree.body:
        ast.fix_missing_locations(node)
    return x**2 * HELD.weight


def test_what_reads_text_changes_nothing() -> None:
    assert ad.grad(trees_are_changed_before)(2.0) == 2 * 2.0 * 3.0
    tokens = len(list(tokenize.tokenize(io.BytesIO(b'{"b": 3}').readline)))
    assert ad.grad(text_is_read_before)(2.0) == 2 * 2.0 * 3.0 * 2 * tokens

    def f(x, default):
        return x * len(json.dumps(HELD, default=default)) * HELD.weight

    with pytest.raises(ad.UnsupportedError):
        ad.grad(f)(2.0, changed)
    HELD.weight = 3.0


class Report:
    def __init__(self):
        self.info = sys.exc_info()
        self.text = str(self.info[1])


def reported_by_another(x):
    try:
        y = [1.0, 2.0][int(x * 10)]
    except Exception:
        report = Report()
        return x * len(report.text) if report.info[0] is IndexError else x * x
    return y * x**3


def innermost_exception(x):
    try:
        try:
            raise KeyError("k")
        except KeyError:
            try:
                raise ValueError("value")
            except ValueError:
                n = len(str(sys.exc_info()[1]))
            m = len(str(sys.exc_info()[1]))
            n *= issubclass(sys.exc_info()[0], LookupError)  # type: ignore[arg-type]
            raise
    except LookupError:
        return x * n * m


def passing_by(x):
    try:
        raise KeyError("k")
    except KeyError:
        try:
            try:
                raise ValueError("value")
            finally:
                z = sys.exc_info()[0] is KeyError
        except ValueError:
            return x * (1 + z)


def test_the_exception_that_is_handled() -> None:
    check(reported_by_another, 0.15)
    check(reported_by_another, 0.9)
    check(innermost_exception, 0.3)
    with pytest.raises(ad.UnsupportedError, match="where no handler of the function runs"):
        ad.grad(passing_by)(0.3)


class Counted:
    def __init__(self):
        self.count = 0
        self.weight = 2.0

    def value(self, x):
        self.count = self.count + 1
        found = json.loads('{"a": 2.5}')
        return x * found["a"] * self.weight * self.count


def test_writes_beside_what_reads_text() -> None:
    counted = Counted()
    gradient = ad.grad(lambda x: counted.value(x) ** 2)
    assert gradient(2.0) == 2 * 2.0 * (2.5 * 2.0) ** 2
    assert gradient(2.0) == 2 * 2.0 * (2.5 * 2.0 * 2) ** 2
    assert counted.count == 2


def newton_from_none(x):
    guess: Any = 1 if x > 9.0 else 1.3
    last: Any = None
    for _ in range(9):
        value, slope = guess * guess - x, 2.0 * guess
        if slope == 0.0:
            guess = last + 0.5 * (guess - last)  # None only before the first trip
        if guess == last:
            break
        last, guess = guess, guess - value / slope
    root = guess.real
    root += root  # in place if it were an array
    return root


@pytest.mark.parametrize("x", [2.0, 16.0, np.float64(2.0)])
def test_a_number_beside_none_stays_a_number(x: Any) -> None:
    check(newton_from_none, x)


def test_a_number_beside_none_raises() -> None:
    def f(x):
        guess = 1 if x > 9.0 else 1.3
        guess - None
        return x * guess

    with pytest.raises(TypeError, match="unsupported operand"):
        ad.grad(f)(2.0)


def products_of(counts):
    made = {}
    a, b, c, d = counts
    if a - b != 0:
        made["left"] = a - b
    if a != 0:
        made["a"] = a
    if b != 0:
        made["b"] = b
    if c != 0:
        made["c"] = 2 * c
    if d != 0:
        made["d"] = d
    return made


def mixed(x, table):
    total = {}
    for counts, share in zip(table, x):
        for key, count in products_of(counts).items():
            if key in total:
                change = count * share
                if change != 0.0 and abs((change + total[key]) / change) < 1e-15:
                    total[key] = 0.0
                else:
                    total[key] += change
            else:
                total[key] = count * share
    return total["a"] ** 2 + total["left"] * total["c"]


def test_keys_that_ints_from_outside_decide() -> None:
    x = np.array([0.3, 0.5, 0.9])
    table = [[1, 0, 2, 0], [0, 2, 0, 1], [3, 1, 1, 1]]
    f = ad.grad(lambda x: mixed(x, table))
    for change in ((0, 0, 2), (1, 2, 0), (2, 1, 3)):
        np.testing.assert_allclose(f(x), differences(mixed, x, table), rtol=1e-6)
        row, column, count = change
        table[row][column] = count


def test_names_of_a_frame_that_one_path_has_left() -> None:
    x = np.array([0.3, 0.5, 0.9])
    table = [(1, 0), (0, 2), (2, 3)]

    def parts(n, c):
        made = {}
        if n != 0:
            made["n"] = n
        if c != 0:
            made["c"] = c
        return made

    def total(x):
        d = {}
        for (n, c), share in zip(table, x):
            for key, count in parts(n, c).items():
                if key in d:
                    change = count * share
                    d[key] = 0.0 if change > 9.0 else d[key] + change
                else:
                    d[key] = count * share
        return d

    check(lambda x: total(x)["c"] ** 2, x)


def test_a_weak_reference_does_nothing_to_its_object() -> None:
    def f(x):
        weak = weakref.ref(HELD)
        return x**2 * HELD.weight * (weak() is not None)

    assert ad.grad(f)(2.0) == 2 * 2.0 * HELD.weight


def filled_in_place_of_none(x):
    e, table, k = [None] * 3, [None for _ in range(len(x))], 0
    for i in range(3):
        e[i] = x[i] * 2.0
    while k < len(x):
        table[k] = [x[k] * e[0], 1.0 + k]
        k += 1
    for i, row in enumerate(table):
        table[i] = row[0] * row[1]
    return e[0] * e[1] + e[2] + table[1] * table[2]


def test_lists_that_begin_with_none() -> None:
    for x in (np.array([1.0, 2.0, 3.5]), np.array([-0.4, 0.3, 0.2])):
        check(filled_in_place_of_none, x)
        np.testing.assert_array_equal(ad.grad(filled_in_place_of_none)(x.tolist()), ad.grad(filled_in_place_of_none)(x))


@dataclasses.dataclass
class Reading:
    temperature: Any
    humidity: Any = 0.4
    factors: list[Any] = dataclasses.field(default_factory=lambda: [1.0, 2.0])

    def __post_init__(self) -> None:
        self.sum = self.temperature * self.factors[1] + self.humidity

    def index(self) -> Any:
        return self.sum * self.temperature


class Shifted(Reading):
    def __init__(self, temperature: Any, shift: Any) -> None:
        self.shift = shift
        super().__init__(temperature=temperature + shift)
        self.humidity = self.humidity * temperature

    def index(self) -> Any:
        return super().index() * self.humidity + self.shift


@dataclasses.dataclass(frozen=True)
class Fixed:
    rate: Any


class Doubled(Fixed):
    def __init__(self, rate: Any) -> None:
        Fixed.__init__(self, rate * 2.0)


def initialised_by_subclasses(m):
    first, second = Shifted(m[0, 0], m[0, 1]), Reading(m[1, 0])
    if m[0, 0] > 0.5:
        second.__init__(m[1, 1], 0.3)
    return first.index() * second.index() + Doubled(m[1, 0]).rate ** 2


def test_what_dataclasses_write_may_be_called_by_a_subclass() -> None:
    for m in (M, 0.3 * M):
        check(initialised_by_subclasses, m)
        assert ad.value_and_grad(initialised_by_subclasses)(m)[0] == initialised_by_subclasses(m)
