"""``try``: the gradient is that of the way taken, through the body or through a handler."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.in_context import X, check_program

CASES: list[Any] = []


def case(*rest: Any) -> Any:
    """A function of an array of three, and of these other arguments."""

    def add(f: Any) -> Any:
        CASES.append(pytest.param(f, rest, id=f.__name__))
        return f

    return add


@case()
def cholesky_ok(x):
    A = np.outer(x, x) + np.eye(3)
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        L = np.linalg.cholesky(A + 10 * np.eye(3))
    return np.sum(L * L * L)


@case()
def cholesky_fails(x):
    A = np.outer(x, x) - np.eye(3)
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        L = np.linalg.cholesky(A + 10 * np.eye(3))
    return np.sum(L * L * L)


@case()
def dict_key(x):
    d = {"a": x[0]}
    try:
        return d["b"]
    except KeyError:
        return x[1] ** 2


@case()
def converts(x):
    try:
        k = int("3")
    except ValueError:
        k = 1
    return np.sum(x * k)


@case("u")
def does_not_convert(x, s):
    try:
        k = int(s)
    except ValueError:
        k = 7
    return np.sum(x**k)


@case(2.0)
def zerodiv_float(x, y):
    s = 0.0
    for i in range(3):
        try:
            q = 1.0 / (i * y)
        except ZeroDivisionError as e:
            q = 5.0
        s = s + x[i] ** 2 * q
    return s


@case(0)
def indexerror_end(x, n):
    s = 0.0
    i = n
    while True:
        try:
            s = s + x[i] ** 2
        except IndexError:
            break
        i += 1
    return s * x[0]


@case(0)
def indexerror_aug(x, n):
    s = 0.0
    i = n
    while True:
        try:
            s += x[i] ** 2
            i += 1
        except IndexError:
            break
    return s * x[0]


def check_raise_caught(v):
    if v > 2:
        raise ValueError("big", 3)
    return v * v


@case()
def raise_caught(x):
    s = 1.0
    for i in range(3):
        try:
            w = check_raise_caught(x[i])
        except (TypeError, ValueError) as e:
            w = x[i] * len(e.args)
        s = s * w
    return s


def h_handlers_several(v, k):
    if k == 0:
        raise ValueError(k)
    if k == 1:
        raise TypeError
    if k == 2:
        raise RuntimeError("x")
    return v


@case(5)
def handlers_several(x, n):
    s = 0.0
    for k in range(n):
        try:
            t = h_handlers_several(x[k % 3], k)
        except ValueError:
            t = x[0] ** 2
        except TypeError:
            t = x[1] ** 3
        except Exception:
            t = np.sin(x[2])
        else:
            t = t * x[0]
        s = s + t * (k + 1)
    return s


@case()
def runs_finally(x):
    s = 0.0
    for i in range(3):
        try:
            if i == 1:
                continue
            s = s + x[i] ** 2
        finally:
            s = s * 1.5
    return s


@case()
def finally_after_return(x):
    y = x * 1.0
    try:
        return y.sum() * 2
    finally:
        y[0] = 100.0


@case(5)
def nested_tries(x, n):
    try:
        try:
            z = x[n]
        except TypeError:
            z = x[0]
    except IndexError:
        z = x[1] ** 2
    return z * z


@case(5)
def raises_again(x, n):
    try:
        try:
            z = x[n]
        except IndexError:
            raise
    except LookupError:
        z = x[1] ** 2
    return z * z


@case(1)
def return_in_loop(x, n):
    for i in range(5):
        try:
            if x[i + n] > 2:
                return x[i + n] ** 2
        except IndexError:
            return x[0] ** 3
    return 0.0


@case(5)
def loop_in_try(x, n):
    s = 0.0
    try:
        t = 1.0
        for i in range(n):
            t = t * x[i] ** 2
        s = t
    except IndexError:
        s = np.sum(x * x)
    return s


@case(3)
def loop_in_try_ok(x, n):
    s = 0.0
    try:
        t = 1.0
        for i in range(n):
            t = t * x[i] ** 2
        s = t
    except IndexError:
        s = np.sum(x * x)
    return s


@case(4)
def loop_in_try_in_loop(x, n):
    s = 1.0
    for k in range(n):
        try:
            t = s
            for i in range(k, k + 2):
                t = np.sin(t * x[i] ** 2)
            s = t * s
        except IndexError:
            s = s * np.sum(x * x)
    return s


@case(5)
def handler_stores(x, n):
    y = x * 1.0
    for k in range(n):
        try:
            v = x[k] ** 2
        except IndexError:
            y[0] = y[0] ** 2
        else:
            y[k] = y[k] * v
    return np.sum(y)


def get_key_in_helper(d, k):
    try:
        return d[k]
    except KeyError:
        return 2.0


@case()
def key_in_helper(x):
    d = {"a": x[0], "b": x[1]}
    return sum(get_key_in_helper(d, k) ** 2 for k in ("a", "b", "c")) * x[0]


@case(1)
def unreached_index(x, n):
    xs = [x, x * 2]
    if n > 5:
        return np.sum(xs[7])
    return np.sum(xs[0])


@case(5)
def try_else_finally_loop(x, n):
    s = 0.0
    c = 0
    for i in range(n):
        try:
            v = x[i] * x[0]
        except IndexError:
            s = s + x[1]
            continue
        else:
            s = s + v**2
        finally:
            c += 1
        s = s * 1.1
    return s * c


@case()
def assert_caught(x):
    try:
        assert x[0] > 3, "small"
        return x[1]
    except AssertionError:
        return x[2] ** 2


@case()
def assert_msg(x):
    assert x[0] > 0, f"bad {x[0]}"
    assert isinstance(x, np.ndarray)
    return x[0] ** 2


@case()
def raise_from(x):
    try:
        try:
            raise KeyError("a") from ValueError("b")
        except KeyError as e:
            raise RuntimeError(f"{x[0]:.1f}") from e
    except RuntimeError as e:
        return x[1] ** 2 * len(str(e))


class MyErr_custom_exception(ValueError):
    def __init__(self, a, b):
        super().__init__(a)
        self.b = b


@case(2)
def custom_exception(x, n):
    try:
        if n > 1:
            raise MyErr_custom_exception("q", n)
        y = x[0]
    except MyErr_custom_exception as e:
        y = x[1] * e.b
    return y * y


@case(2)
def raise_instance(x, n):
    err = ValueError("no")
    try:
        if n > 1:
            raise err
        y = x[0]
    except ValueError:
        y = x[1]
    return y * y


ERRS_exception_hierarchy_in_tuple_var = (KeyError, IndexError)


@case(12)
def exception_hierarchy_in_tuple_var(x, n):
    try:
        y = x[n]
    except ERRS_exception_hierarchy_in_tuple_var:
        y = x[1]
    return y * y


@case(3)
def continue_in_finally_loops_nested(x, n):
    s = 0.0
    for i in range(n):
        for j in range(2):
            try:
                if j == 1:
                    break
                if i == 1:
                    continue
                s += x[i] ** 2
            finally:
                s *= 1.1
        else:
            s += x[0]
    return s


@case(3)
def try_in_while_with_retry(x, n):
    jitter = 0.0
    A = np.outer(x, x) - np.eye(3)
    while True:
        try:
            L = np.linalg.cholesky(A + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter = max(jitter * 10, 0.1)
    return np.sum(L * L * L) + jitter


@case("3.5")
def float_parse(x, s):
    try:
        v = float(s)
    except (TypeError, ValueError):
        v = 2.0
    return np.sum(x**v)


@case(3)
def attribute_error(x, o):
    try:
        k = o.missing
    except AttributeError:
        k = 3
    return np.sum(x**k)


@case()
def type_error(x):
    try:
        n = len(x[0])
    except TypeError:
        n = 1
    return np.sum(x) * n + x[0] ** 2


@case(3)
def name_error(x, n):
    try:
        if n > 5:
            y = x[0]
        z = y
    except UnboundLocalError:
        z = x[1] ** 2
    return z


@case()
def stop_iteration(x):
    it = iter([x[0], x[1]])
    s = 0.0
    while True:
        try:
            s += next(it) ** 2
        except StopIteration:
            break
    return s


@case()
def shape_mismatch(x):
    w = np.ones(4)
    try:
        return np.sum(x * w)
    except ValueError:
        return np.sum(x * x)


@case(np.ones((4, 2)))
def matmul_shape(x, w):
    try:
        return np.sum(x @ w)
    except ValueError:
        return np.sum(x * x)


@case()
def unpack_error(x):
    try:
        a, b = x
    except ValueError:
        a, b, _ = x
    return a * b


@case()
def changes_and_changes_back(x):
    k = 0
    try:
        k = 1
        y = x[7]
        k = 0
    except IndexError:
        y = x[k]
    return y


@case(1)
def old_value_in_handler(x, n):
    s = np.sum(x)
    u = s
    for i in range(3):
        try:
            s = s * x[i] ** 2
            t = x[i + n]
            s = s + t
        except IndexError:
            s = u * x[0]
        u = s
    return s


@case(5)
def loop_carried_init_read_in_handler(x, n):
    s = np.sum(x)
    try:
        t = s
        for i in range(n):
            t = t * x[i]
        r = t
    except IndexError:
        r = s * s
    return r * s


@case(5)
def arrays_in_place_on_completed_path(x, n):
    y = x * 1.0
    for i in range(n):
        z = y.copy()
        try:
            w = z[i] * x[0]
            z *= w
            z[0] = z[1] * w
        except IndexError:
            y = y * x
        else:
            y = z
    return np.sum(y * y)


@case(2)
def validation_unused(x, n):
    try:
        x[n]
        math.sqrt(n - 5.0)
        k = 2
    except IndexError:
        k = 3
    except ValueError:
        k = 4
    return np.sum(x**k)


@case()
def validation_inv_unused(x):
    A = np.outer(x, x) * 0.0
    try:
        np.linalg.inv(A)
        k = 2
    except np.linalg.LinAlgError:
        k = 3
    return np.sum(x**k)


@case(2)
def validation_reshape_concat_unused(x, n):
    k = 0
    try:
        x.reshape(n, 2)
    except ValueError:
        k += 3
    try:
        np.concatenate([x, np.ones((n, n))])
    except ValueError:
        k += 3
    try:
        np.ones((n, 2)) @ x
    except ValueError:
        k += 1
    try:
        x + np.ones(n + 2)
    except ValueError:
        k += 1
    try:
        x[np.array([n + 5])]
    except IndexError:
        k += 1
    try:
        np.zeros(-n)
    except ValueError:
        k += 1
    try:
        np.eye(2)[n, 0, 0]
    except IndexError:
        k += 1
    return np.sum(x**k)


def recursive_6(x, n):
    if n == 0:
        return x[0]
    try:
        v = x[n] ** 2
    except IndexError:
        v = x[1]
    return recursive_6(x, n - 1) * v


@case(20)
def recursion_with_try(x, n):
    return recursive_6(x, n)


def recursive_7(x, n):
    if n > 30:
        raise ValueError("deep")
    return recursive_7(x, n + 1) * x[0]


@case(0)
def recursion_raising(x, n):
    try:
        return recursive_7(x, n)
    except ValueError:
        return x[1] ** 2


def recursive_8(x, n, m):
    if n > m:
        raise ValueError("deep")
    if n > 14:
        return x[0]
    return recursive_8(x, n + 1, m) * x[1] * np.sin(x[2])


@case(0)
def recursion_raising_in_loop_partially(x, n):
    s = 1.0
    for m in (12, 20, 13, 30):
        try:
            s = s + recursive_8(x, n, m) * s
        except ValueError:
            s = s * x[1] ** 2
    return s


@case(0)
def while_in_try_with_pushes_and_partial(x, n):
    s = 1.0
    for k in range(4):
        i = 0
        try:
            t = 1.0
            while t < 100:
                if i % 2:
                    t = t * x[i] ** 2 + 1
                else:
                    t = t * np.exp(x[i % 3])
                i = i + 1 + k
            s = s * t
        except IndexError:
            s = s + np.sin(s)
    return s


@case(5)
def try_else_finally_nested_break(x, n):
    s = 0.0
    for i in range(n):
        try:
            try:
                if i == 2:
                    raise KeyError(i)
                s = s + x[i] ** 2
            except KeyError:
                s = s * 1.3
                if n > 3:
                    continue
            else:
                if i == 5:
                    break
                s = s * x[0]
            finally:
                s = s + x[1]
        except IndexError:
            s = 3.0 * x[2]
            break
    else:
        s = 0.0
    return s


@case(4)
def handler_uses_array_not_changed_and_stored_before(x, n):
    y = np.zeros(3)
    y[0] = x[0] ** 2
    for i in range(n):
        try:
            v = y[i] * x[i]
        except IndexError:
            v = y[0] * y[1]
        y[1] = v + y[1] * x[1]
    return np.sum(y * y)


@contextlib.contextmanager
def manager_12(v):
    try:
        yield v * 2
    except KeyError:
        pass
    finally:
        pass


@case(5)
def with_in_try_in_with(x, n):
    s = x[0]
    for i in range(n):
        with np.errstate(all="ignore"), manager_12(x[1]) as w:
            with manager_12(w) as w2:
                if i == 1:
                    raise KeyError
                t = s * w2
            try:
                u = x[i] * 2
            except IndexError:
                u = x[0]
        s = s * u * 0.5
    return s


@contextlib.contextmanager
def manager_13(v):
    w = v * 2
    yield w


@case()
def generator_manager_returns(x):
    for i in range(3):
        with manager_13(x[i]) as w:
            if w > 2:
                return w**2
    return 0.0


class Scaled_14:
    def __init__(self, v):
        self.v = v

    @contextlib.contextmanager
    def scaled(self, k):
        old = self.v
        self.v = self.v * k
        try:
            yield self
        finally:
            self.v = old


@case()
def manager_method(x):
    c = Scaled_14(x[0])
    with c.scaled(3.0) as d:
        y = d.v**2
    return y * c.v


class Resource_15:
    def __init__(self, v):
        self.v = v
        self.open = 1

    def close(self):
        self.open = 0


@case()
def closing(x):
    with contextlib.closing(Resource_15(x)) as r:
        y = np.sum(r.v**2)
    return y * (2 - r.open)


@case()
def iterator_next_in_try(x):
    it = iter([x[0], x[1], x[2]])
    s = 0.0
    for k in range(5):
        try:
            v = next(it)
        except StopIteration:
            v = x[0]
        s = s + v**2
    return s


@case(4)
def match_in_try_in_loop(x, n):
    s = 1.0
    for i in range(n):
        try:
            match i:
                case 0:
                    s = s * x[0]
                case 1 | 2 if x[i] > 1:
                    s = s + x[i] ** 2
                case _:
                    raise ValueError(i)
        except ValueError as e:
            match e.args:
                case _:
                    s = s * 1.5
    return s


@case(5)
def isinstance_error_dispatch(x, n):
    s = 0.0
    for i in range(n):
        try:
            if i == 1:
                raise KeyError("a")
            v = x[i]
        except LookupError as e:
            v = x[0] ** 2 if isinstance(e, KeyError) else x[1] ** 3
        s = s + v
    return s


@case()
def float_errors_raise_mode(x):
    s = 0.0
    for k in range(3):
        try:
            with np.errstate(divide="raise"):
                y = 1.0 / (x - x[k])
            v = np.sum(y)
        except FloatingPointError:
            v = np.sum(x * x)
        s = s + v
    return s


@case()
def changes_a_name(x):
    total = 0.0
    try:
        for k in range(5):
            total = total + x[k]
    except IndexError:
        return total
    return 0.0


@case()
def changes_an_array_on_a_path_that_raises(x):
    a = x * 1.0
    try:
        if x[0] > 0:
            a[0] = 5.0
            raise ValueError
    except ValueError:
        pass
    return np.sum(a)


@case()
def changes_a_list(x):
    xs = [x[0]]
    try:
        xs.append(x[1])
        xs.append(x[9])
    except IndexError:
        pass
    return sum(xs)


@case()
def changes_by_a_closure(x):
    t = x[0]

    def double():
        nonlocal t
        t = t * 2

    try:
        double()
        x[9]
    except IndexError:
        pass
    return t


@pytest.mark.parametrize(("f", "rest"), CASES)
def test_gradient(f: Any, rest: tuple[Any, ...]) -> None:
    check_program(f, rest)


class Failure(ValueError):
    pass


def raises_with_values(x, n):
    if n > 0:
        raise Failure(f"{n} at {x[0]:.2f}", n)
    return x[0]


def raises_always(x, n):
    raise Failure("always") from KeyError(n)


def raises_in_the_handler(x, n):
    try:
        return x[n + 7]
    except IndexError:
        raise Failure("none") from None


def is_not_caught(x, n):
    try:
        y = x[n + 7]
    except KeyError:
        y = x[0]
    return y


def is_raised_again(x, n):
    try:
        y = x[n + 7]
    except IndexError:
        x = x * 2
        raise
    return y


def has_no_such_key(x, n):
    d = {"a": x[0]}
    return x[0] * d["a"] if n < 1 else x[0] * d["b"]


def unpacks_too_few(x, n):
    if n > 0:
        a, b = [x[0], x[1], x[2]]
        return a * b
    return x[0]


def is_caught_by_another_handler_only(x, n):
    try:
        try:
            raise KeyError(n)
        finally:
            x = x * 2
    except (ValueError, TypeError):
        return x[0]


RAISING = [
    raises_with_values, raises_always, raises_in_the_handler, is_not_caught, is_raised_again, has_no_such_key,
    unpacks_too_few, is_caught_by_another_handler_only,
]  # fmt: skip


@pytest.mark.parametrize("f", RAISING)
def test_the_gradient_raises_what_the_function_raises(f: Any) -> None:
    for g in (ad.grad(f), ad.value_and_grad(f), ad.grad(lambda x, n: np.sum(ad.grad(f)(x, n)))):
        with pytest.raises(Exception) as expected:
            f(X.copy(), 1)
        with pytest.raises(type(expected.value)) as caught:
            g(X.copy(), 1)
        if not isinstance(caught.value, ad.AutodiffError):
            assert type(caught.value) is type(expected.value)
            assert caught.value.args == expected.value.args
            assert repr(caught.value.__cause__) == repr(expected.value.__cause__)


def changes_in_the_middle_of_a_statement(x):
    a = np.zeros(3)

    def put(k):
        a[k] = x[k]
        return x[k]

    try:
        y = put(0) + put(1) + x[9]
    except IndexError:
        y = a[0]
    return y


def changes_in_part(x):
    a = x * 1.0
    with np.errstate(all="raise"):
        try:
            a /= x - x[0]
        except FloatingPointError:
            pass
    return np.sum(a)


def changes_in_a_comprehension(x):
    xs = []
    try:
        y = [xs.append(v) or x[k + 2] for k, v in enumerate(x)]
    except IndexError:
        y = xs
    return sum(y)


@pytest.mark.parametrize("f", [changes_in_the_middle_of_a_statement, changes_in_part, changes_in_a_comprehension])
def test_what_the_body_left_half_done_is_not_read(f: Any) -> None:
    with pytest.raises(ad.AutodiffError, match=r"may or may not have been changed by the body of the `try`"):
        ad.grad(f)(X)


def test_what_an_exception_carries_has_no_derivative() -> None:
    def f(x, n):
        try:
            if n > 1:
                raise Failure(x[0] * 3)
            y = x[0]
        except Failure as e:
            y = x[1] * e.args[0]
        return y

    with pytest.raises(ad.AutodiffError):
        ad.grad(f)(X, 2)


@pytest.mark.parametrize("lengths", [(3, 4, 1, 2), (4, 3, 2, 1)])
def test_shapes_decide_at_each_call(lengths: tuple[int, ...]) -> None:
    def f(x, w):
        y = x * 1.0
        try:
            y[:] = x * w
            y = y + w
        except ValueError:
            return np.sum(x**3)
        return np.sum(y * y)

    g = ad.grad(f)
    for n in lengths:
        fits = n in (1, 3)
        np.testing.assert_allclose(g(X, np.ones(n)), 2 * (X + 1) if fits else 3 * X**2)
