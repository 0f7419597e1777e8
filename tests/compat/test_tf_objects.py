"""TensorFlow's tensors, variables and shapes as Python objects: what they print, equal, convert to and refuse."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest


def parametrized(cases):
    return pytest.mark.parametrize("case", cases, ids=[str(case[0]) for case in cases])


def names(tf):
    return {
        "tf": tf,
        "np": np,
        "math": math,
        "f": tf.constant([1.0, 2.0]),
        "s": tf.constant(2.5),
        "i": tf.constant([1, 2]),
        "m": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "v": tf.Variable([1.0, 2.0]),
        "w": tf.Variable(3.0, name="mine"),
        "shape": tf.TensorShape([2, 3]),
    }


# ------------------------------------------------------------------------------------------------------------- printing

PRINTED = [
    ("repr(f)", "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
    ("str(f)", "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"),
    ("repr(s)", "<tf.Tensor: shape=(), dtype=float32, numpy=2.5>"),
    ("str(s)", "tf.Tensor(2.5, shape=(), dtype=float32)"),
    ("repr(i)", "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"),
    ("str(i)", "tf.Tensor([1 2], shape=(2,), dtype=int32)"),
    (
        "repr(m)",
        "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[1., 2.],\n       [3., 4.]], dtype=float32)>",
    ),
    ("str(m)", "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)"),
    ("repr(tf.constant(0.1))", "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>"),
    ("str(tf.constant(0.1))", "tf.Tensor(0.1, shape=(), dtype=float32)"),
    ("repr(tf.constant(0.1, tf.float64))", "<tf.Tensor: shape=(), dtype=float64, numpy=0.1>"),
    ("repr(tf.constant(1e20))", "<tf.Tensor: shape=(), dtype=float32, numpy=1.0000000200408773e+20>"),
    ("repr(tf.constant(3))", "<tf.Tensor: shape=(), dtype=int32, numpy=3>"),
    ("repr(tf.constant(True))", "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
    ("repr(tf.constant([True, False]))", "<tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>"),
    ("repr(tf.constant(1 + 2j))", "<tf.Tensor: shape=(), dtype=complex128, numpy=(1+2j)>"),
    ("repr(tf.constant(float('nan')))", "<tf.Tensor: shape=(), dtype=float32, numpy=nan>"),
    ("repr(tf.constant(np.ones(2)))", "<tf.Tensor: shape=(2,), dtype=float64, numpy=array([1., 1.])>"),
    (
        "repr(tf.zeros((0, 3)))",
        "<tf.Tensor: shape=(0, 3), dtype=float32, numpy=array([], shape=(0, 3), dtype=float32)>",
    ),
    ("repr(tf.constant('hey'))", "<tf.Tensor: shape=(), dtype=string, numpy=b'hey'>"),
    ("str(tf.constant('hey'))", "tf.Tensor(b'hey', shape=(), dtype=string)"),
    ("str(tf.range(2000))", "tf.Tensor([   0    1    2 ... 1997 1998 1999], shape=(2000,), dtype=int32)"),
    ("repr(v)", "<tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
    ("str(v)", "<tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
    ("repr(w)", "<tf.Variable 'mine:0' shape=() dtype=float32, numpy=3.0>"),
    (
        "repr(tf.Variable([[1, 2], [3, 4]], name='m'))",
        "<tf.Variable 'm:0' shape=(2, 2) dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>",
    ),
    ("repr(f.shape)", "TensorShape([2])"),
    ("str(f.shape)", "(2,)"),
    ("repr(s.shape)", "TensorShape([])"),
    ("str(s.shape)", "()"),
    ("repr(shape)", "TensorShape([2, 3])"),
    ("str(shape)", "(2, 3)"),
    ("repr(tf.TensorShape([2, None]))", "TensorShape([2, None])"),
    ("str(tf.TensorShape([2, None]))", "(2, None)"),
    ("repr([f.shape, m.shape])", "[TensorShape([2]), TensorShape([2, 2])]"),
    ("f'{s}'", "2.5"),
    ("f'{s:.2f}'", "2.50"),
    ("'%s' % s", "tf.Tensor(2.5, shape=(), dtype=float32)"),
    ("'%.3f' % s", "2.500"),
    ("f'{f}'", "[1. 2.]"),
    ("f'{f!r}'", "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
    ("f'{w.shape} {shape}'", "() (2, 3)"),
    (
        "repr(f.ref())",
        "<Reference wrapping <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>>",
    ),
    ("type(f).__name__", "EagerTensor"),
    ("type(v).__name__", "ResourceVariable"),
    ("type(f + 1).__name__", "EagerTensor"),
    ("type(v + 1).__name__", "EagerTensor"),
    ("v.name", "Variable:0"),
    ("w.name", "mine:0"),
]


@parametrized(PRINTED)
def test_what_is_printed(tf, case):
    expression, expected = case
    assert eval(expression, names(tf)) == expected


def test_print_of_tensors(tf, capsys):
    print(tf.constant(6.0), tf.constant([1, 2]))
    assert (
        capsys.readouterr().out == "tf.Tensor(6.0, shape=(), dtype=float32) tf.Tensor([1 2], shape=(2,), dtype=int32)\n"
    )


# -------------------------------------------------------------------------------------------------- plain Python values

VALUES = [
    ("isinstance(f, tf.Tensor)", True),
    ("isinstance(v, tf.Tensor)", False),
    ("isinstance(v, tf.Variable)", True),
    ("isinstance(f, tf.Variable)", False),
    ("tf.is_tensor(f)", True),
    ("tf.is_tensor(v)", True),
    ("tf.is_tensor(1.0)", False),
    ("tf.is_tensor(np.ones(1))", False),
    ("tf.executing_eagerly()", True),
    ("float(s)", 2.5),
    ("int(s)", 2),
    ("bool(s)", True),
    ("bool(tf.constant([0.0]))", False),
    ("complex(s)", 2.5 + 0j),
    ("float(w)", 3.0),
    ("int(tf.Variable(3))", 3),
    ("bool(w)", True),
    ("len(f)", 2),
    ("[10, 20, 30][tf.constant(2)]", 30),
    ("list(range(tf.constant(3)))", [0, 1, 2]),
    ("math.sqrt(tf.constant(4.0))", 2.0),
    ("f.ndim", 1),
    ("f.dtype.name", "float32"),
    ("[float(element) for element in f]", [1.0, 2.0]),
    ("[float(element) for element in v]", [1.0, 2.0]),
    ("[row.numpy().tolist() for row in m]", [[1.0, 2.0], [3.0, 4.0]]),
    ("float(max(f))", 2.0),
    ("float(sum(f))", 3.0),
    ("[float(t) for t in sorted([s, tf.constant(1.0)])]", [1.0, 2.5]),
    ("f is not None and f != None", True),
    ("f == None", False),
    ("None == f", False),
    ("(f == f).numpy().tolist()", [True, True]),
    ("(f != f).numpy().tolist()", [False, False]),
    ("(f == [1, 3]).numpy().tolist()", [True, False]),
    ("(f == v).numpy().tolist()", [True, True]),
    ("(v == v).numpy().tolist()", [True, True]),
    ("(v == 1.0).numpy().tolist()", [True, False]),
    ("(v != 1.0).numpy().tolist()", [False, True]),
    ("bool(f == tf.constant([1.0, 2.0, 3.0]))", False),
    ("bool(f != tf.constant([1.0, 2.0, 3.0]))", True),
    ("(m == f).numpy().tolist()", [[True, True], [False, False]]),
    ("{f.ref(): 1}[f.ref()]", 1),
    ("f.ref().deref() is f", True),
    ("v.ref().deref() is v", True),
    ("f.ref() == tf.constant([1.0, 2.0]).ref()", False),
    ("type(s.numpy())", np.float32),
    ("type(f.numpy())", np.ndarray),
    ("tf.constant('a').numpy()", b"a"),
    ("v.trainable", True),
    ("tf.Variable(1.0, trainable=False).trainable", False),
    ("v.shape == (2,)", True),
    ("v.dtype.name", "float32"),
    ("f.shape[0]", 2),
    ("shape == (2, 3)", True),
    ("shape == [2, 3]", True),
    ("shape != (2, 3)", False),
    ("shape == tf.TensorShape([2, 3])", True),
    ("shape.as_list()", [2, 3]),
    ("shape.rank", 2),
    ("shape.ndims", 2),
    ("len(shape)", 2),
    ("list(shape)", [2, 3]),
    ("tuple(shape)", (2, 3)),
    ("shape.num_elements()", 6),
    ("shape + [4] == (2, 3, 4)", True),
    ("shape + (4,) == (2, 3, 4)", True),
    ("(1,) + shape == (1, 2, 3)", True),
    ("[1] + shape == (1, 2, 3)", True),
    ("repr(shape[1:])", "TensorShape([3])"),
    ("shape[-1]", 3),
    ("shape[0] * shape[1]", 6),
    ("3 in shape", True),
    ("shape.is_fully_defined()", True),
    ("tf.TensorShape([2, None]).is_fully_defined()", False),
    ("shape.is_compatible_with([2, None])", True),
    ("hash(shape) == hash(tf.TensorShape([2, 3]))", True),
    ("int(np.prod(shape))", 6),
    ("int(tf.reduce_prod(shape))", 6),
    ("np.zeros(shape).shape", (2, 3)),
    ("f.get_shape() == (2,)", True),
    ("f.shape.concatenate([3]).as_list()", [2, 3]),
]


@parametrized(VALUES)
def test_plain_values(tf, case):
    expression, expected = case
    value = eval(expression, names(tf))
    assert value == expected and type(value) is type(expected)


# ------------------------------------------------------------------------------------------------------ what is refused

REFUSED = [
    ("hash(f)", TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key."),
    ("{f}", TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key."),
    ("hash(v)", TypeError, "Variable is unhashable. Instead, use variable.ref() as the key."),
    ("bool(f)", ValueError, "The truth value of an array with more than one element is ambiguous"),
    ("bool(f == f)", ValueError, "The truth value of an array with more than one element is ambiguous"),
    ("float(f)", TypeError, ""),
    ("len(s)", TypeError, "Scalar tensor has no `len()`"),
    ("len(v)", TypeError, "has no len()"),
    ("list(s)", TypeError, "Cannot iterate over a scalar tensor."),
    ("range(s)", (TypeError, AttributeError), ""),
    ("f['a']", TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar"),
    ("f[1.0]", TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar"),
    ("f[i]", TypeError, "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar"),
    ("f.T", AttributeError, "object has no attribute 'T'"),
    ("f.reshape(2)", AttributeError, "object has no attribute 'reshape'"),
    ("f.astype('float64')", AttributeError, "object has no attribute 'astype'"),
    ("f.tolist()", AttributeError, "object has no attribute 'tolist'"),
    ("f.size", AttributeError, "object has no attribute 'size'"),
    ("f.mean()", AttributeError, "object has no attribute 'mean'"),
    ("f.item()", AttributeError, "object has no attribute 'item'"),
    ("f.assign(f)", AttributeError, "object has no attribute 'assign'"),
    ("f.name", AttributeError, "Tensor.name is undefined when eager execution is enabled."),
    ("f.nonsense", AttributeError, "nonsense"),
    ("v.nonsense", AttributeError, "nonsense"),
    ("tf.nonsense", AttributeError, "nonsense"),
    ("tf.math.nonsense", AttributeError, "nonsense"),
    ("tf.nn.nonsense", AttributeError, "nonsense"),
    (
        "v.assign([1.0, 2.0, 3.0])",
        ValueError,
        "Shape mismatch.The variable shape (2,), and the assigned value shape (3,)",
    ),
    ("v.assign(1.0)", ValueError, "Shape mismatch.The variable shape (2,), and the assigned value shape ()"),
    (
        "v.assign(tf.ones(2, tf.float64))",
        ValueError,
        "Tensor conversion requested dtype float32 for Tensor with dtype float64",
    ),
    ("tf.Variable(1).assign(2.5)", TypeError, "Cannot convert 2.5 to EagerTensor of dtype int32"),
]


@parametrized(REFUSED)
def test_what_is_refused(tf, case):
    expression, error, message = case
    with pytest.raises(error) as caught:
        eval(expression, names(tf))
    assert message in str(caught.value)


def test_an_element_of_a_tensor_cannot_be_assigned(tf):
    f = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError, match="does not support item assignment"):
        f[0] = 5.0


def test_an_element_of_a_variable_cannot_be_assigned_by_index(tf):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(TypeError, match="does not support item assignment"):
        v[0] = 5.0


# ------------------------------------------------------------------------------------------------------------- in place

IN_PLACE = [
    ("v += 1.0", "assign_add"),
    ("v -= 1.0", "assign_sub"),
]


@parametrized(IN_PLACE)
def test_in_place_operators_of_a_variable(tf, case):
    statement, method = case
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(RuntimeError) as caught:
        exec(statement, {"v": v})
    operator = statement.split()[1]
    assert str(caught.value).startswith(
        f"`variable {operator} value` with `tf.Variable`s is not supported. Use `variable.{method}(value)`"
    )
    assert v.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("statement", ["v *= 2.0", "v /= 2.0", "v **= 2.0"])
def test_other_in_place_operators_of_a_variable(tf, statement):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(RuntimeError):
        exec(statement, {"v": v})


def test_in_place_operators_of_a_tensor_rebind_the_name(tf):
    t = tf.constant([1.0, 2.0])
    before = t
    t += 1.0
    assert t is not before
    assert before.numpy().tolist() == [1.0, 2.0]
    assert t.numpy().tolist() == [2.0, 3.0]
    t *= 2.0
    t -= 1.0
    t /= 3.0
    t **= 2.0
    assert t.numpy().tolist() == pytest.approx([1.0, 25.0 / 9.0])


def test_in_place_operators_of_a_tensor_keep_the_path(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        y *= x
        y += x
    assert float(tape.gradient(y, x)) == 7.0


# ----------------------------------------------------------------------------------------------------------- assignment


def test_assign_returns_the_variable_as_it_is_now(tf):
    v = tf.Variable([1.0, 2.0])
    result = v.assign([3.0, 4.0])
    assert isinstance(result, tf.Variable)
    assert result.numpy().tolist() == [3.0, 4.0]
    assert v.numpy().tolist() == [3.0, 4.0]


def test_assign_without_reading(tf):
    v = tf.Variable([1.0, 2.0])
    assert v.assign([3.0, 4.0], read_value=False) is None
    assert v.numpy().tolist() == [3.0, 4.0]


def test_assign_add_and_assign_sub(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign_add([1.0, 1.0])
    v.assign_sub([0.5, 0.0])
    assert v.numpy().tolist() == [1.5, 3.0]


def test_assign_add_of_another_shape(tf):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        v.assign_add(1.0)


def test_assign_takes_what_constant_takes(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign([1, 2])
    v.assign(np.array([3.0, 4.0]))
    v.assign(v * 2.0)
    v.assign(tf.Variable([7.0, 8.0]))
    assert v.numpy().tolist() == [7.0, 8.0]
    assert v.dtype == tf.float32


def test_assign_of_a_slice(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0, 1].assign(9.0)
    v[1].assign([5.0, 6.0])
    assert v.numpy().tolist() == [[1.0, 9.0], [5.0, 6.0]]


def test_a_value_read_before_assign_stays(tf):
    v = tf.Variable([1.0, 2.0])
    read, array, value = v + 0.0, v.numpy(), v.read_value()
    v.assign([10.0, 20.0])
    v.assign_add([1.0, 1.0])
    assert read.numpy().tolist() == [1.0, 2.0]
    assert array.tolist() == [1.0, 2.0]
    assert value.numpy().tolist() == [1.0, 2.0]


def test_writing_into_what_numpy_returned_does_not_change_the_variable(tf):
    v = tf.Variable([1.0, 2.0])
    array = v.numpy()
    if array.flags.writeable:
        array[0] = 9.0
    assert (v + 0.0).numpy().tolist() == [1.0, 2.0]


def test_constant_copies_the_array(tf):
    array = np.array([1.0, 2.0])
    t, v = tf.constant(array), tf.Variable(array)
    array[0] = 9.0
    assert t.numpy().tolist() == [1.0, 2.0]
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_variable_from_a_variable_is_its_own(tf):
    v = tf.Variable([1.0, 2.0])
    w = tf.Variable(v)
    v.assign([3.0, 4.0])
    assert w.numpy().tolist() == [1.0, 2.0]


# ------------------------------------------------------------------------------------------------------ NumPy beside it


def test_an_array_beside_a_tensor_keeps_the_path(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = np.array([3.0, 4.0]) * x
        z = np.float64(2.0) * y + np.ones(2)
    assert type(z).__name__ == "EagerTensor"
    assert tape.gradient(z, x).numpy().tolist() == [6.0, 8.0]


def test_a_function_of_numpy_gives_an_array_and_breaks_the_path(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        mean = np.mean(x * x)
        exp = np.exp(x)
        y = tf.reduce_sum(tf.constant(exp)) * mean
    assert isinstance(mean, np.float32)
    assert type(exp) is np.ndarray
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("function", ["mean", "sum", "exp", "sqrt", "stack", "max", "asarray", "array"])
def test_functions_of_numpy_take_tensors_and_variables(tf, function):
    call = getattr(np, function)
    wrap = (lambda value: [value, value]) if function == "stack" else (lambda value: value)
    expected = call(wrap(np.array([1.0, 2.0], np.float32)))
    for value in (tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])):
        result = call(wrap(value))
        assert isinstance(result, (np.ndarray, np.generic))
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)


def test_numpy_compares_tensors(tf):
    np.testing.assert_allclose(tf.constant([1.0, 2.0]), [1.0, 2.0])
    np.testing.assert_array_equal(tf.Variable([1.0, 2.0]), [1.0, 2.0])
    assert np.allclose(tf.constant([1.0, 2.0]), np.array([1.0, 2.0]))


def test_numpy_converts_with_a_dtype(tf):
    assert np.array(tf.constant([1.0, 2.0]), np.float64).dtype == np.float64
    assert np.asarray(tf.constant([1, 2])).dtype == np.int32


def test_what_matplotlib_needs(tf):
    for value in (tf.constant([1.0, 2.0]), tf.constant(2.5)):
        assert hasattr(value, "__array__") and hasattr(value, "__float__")
        assert isinstance(value.ndim, int)
        assert len(value.shape) == value.ndim


def test_copies(tf):
    f, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0], name="mine")
    assert copy.copy(f).numpy().tolist() == [1.0, 2.0]
    assert copy.deepcopy(f).numpy().tolist() == [1.0, 2.0]
    other = copy.deepcopy(v)
    other.assign([3.0, 4.0])
    assert v.numpy().tolist() == [1.0, 2.0]
    assert isinstance(other, tf.Variable) and other.name == "mine:0"


def test_pickle(tf):
    f = pickle.loads(pickle.dumps(tf.constant([1.0, 2.0])))
    assert isinstance(f, tf.Tensor) and f.numpy().tolist() == [1.0, 2.0]


def test_methods_and_functions_agree(tf):
    x = tf.constant([1.0, 4.0])
    assert tf.add(x, x).numpy().tolist() == (x + x).numpy().tolist()
    assert tf.math.add is tf.add and tf.math.sin is tf.sin
    assert tf.math.reduce_sum is tf.reduce_sum
    assert tf.sigmoid is tf.math.sigmoid or float(tf.sigmoid(0.0)) == float(tf.math.sigmoid(0.0)) == 0.5


# ------------------------------------------------------------------------------------------------------------ tf.Module


def test_variables_of_a_module_are_sorted_by_attribute(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(1.0, name="first")
            self.b = tf.Variable(2.0, name="second")
            self.a = tf.Variable(3.0, trainable=False, name="third")

    model = Model()
    assert [v.name for v in model.variables] == ["third:0", "second:0", "first:0"]
    assert [v.name for v in model.trainable_variables] == ["second:0", "first:0"]
    assert isinstance(model.variables, tuple) and isinstance(model.trainable_variables, tuple)
    assert [v.name for v in model.non_trainable_variables] == ["third:0"]


def test_own_variables_come_before_those_of_submodules(tf):
    class Inner(tf.Module):
        def __init__(self, number):
            super().__init__()
            self.v = tf.Variable(number)

    class Outer(tf.Module):
        def __init__(self):
            super().__init__()
            self.a = Inner(1.0)
            self.z = tf.Variable(2.0)
            self.layers = [Inner(3.0), Inner(4.0)]
            self.table = {"k": Inner(5.0)}

    model = Outer()
    assert [float(v) for v in model.trainable_variables] == [2.0, 1.0, 3.0, 4.0, 5.0]
    assert len(model.submodules) == 4


def test_a_variable_reached_twice_is_listed_once(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.a = tf.Variable(1.0)
            self.b = self.a

    assert len(Model().variables) == 1


def test_the_default_name_of_a_module_is_in_snake_case(tf):
    class MyDenseLayer(tf.Module):
        pass

    assert MyDenseLayer().name == "my_dense_layer"
    assert MyDenseLayer(name="other").name == "other"
    with pytest.raises(ValueError):
        MyDenseLayer(name="not a name")


def test_scopes_name_variables(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__(name="outer")
            with self.name_scope:
                self.v = tf.Variable(1.0, name="v")

        @tf.Module.with_name_scope
        def __call__(self, x):
            if not hasattr(self, "w"):
                self.w = tf.Variable(2.0, name="w")
            return x * self.w

    model = Model()
    model(tf.constant(1.0))
    assert model.v.name == "outer/v:0"
    assert model.w.name == "outer/w:0"
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf.Variable(1.0, name="v").name == "a/b/v:0"
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_gradients_of_a_module(tf):
    class Linear(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0], [2.0]])
            self.b = tf.Variable([0.5])

        def __call__(self, x):
            return x @ self.w + self.b

    model = Linear()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.constant([[1.0, 2.0], [3.0, 4.0]])) ** 2)
    b, w = tape.gradient(loss, model.trainable_variables)
    np.testing.assert_allclose(b.numpy(), [17.0])
    np.testing.assert_allclose(w.numpy(), [[40.0], [57.0]])


# ---------------------------------------------------------------------------------------------------------- tf.function


def test_a_decorated_function_keeps_the_path(tf):
    @tf.function
    def f(x, y):
        return tf.sin(x) * y

    x = tf.Variable(0.5)
    with tf.GradientTape() as tape:
        y = f(x, tf.constant(3.0)) + x
    assert float(tape.gradient(y, x)) == pytest.approx(3 * math.cos(0.5) + 1, rel=1e-6)


def test_a_decorated_function_reads_a_variable(tf):
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        return v * v * x

    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    assert float(tape.gradient(y, v)) == 12.0
    v.assign(5.0)
    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    assert float(y) == 50.0
    assert float(tape.gradient(y, v)) == 20.0


def test_a_tape_in_a_decorated_function(tf):
    v = tf.Variable(3.0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = (v - x) ** 2
        gradient = tape.gradient(loss, v)
        v.assign_sub(0.25 * gradient)
        return loss

    losses = [float(step(tf.constant(1.0))) for _ in range(3)]
    assert losses == [4.0, 1.0, 0.25]
    assert float(v) == 1.25


def test_a_decorated_function_with_control_flow_in_python(tf):
    @tf.function
    def power(x, n):
        y = tf.ones_like(x)
        for _ in range(n):
            y = y * x
        return y

    x = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = power(x, 3)
    assert tape.gradient(y, x).numpy().tolist() == [12.0, 27.0]


def test_a_decorated_function_with_control_flow_on_tensors(tf):
    @tf.function
    def f(x):
        while tf.reduce_sum(x) < 100.0:
            x = x * 2.0
        if x > 150.0:
            return x * 3.0
        return x

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = f(x)
    assert float(y) == 128.0
    assert float(tape.gradient(y, x)) == 128.0


def test_tf_function_with_options_and_as_a_call(tf):
    f = tf.function(lambda x: x * x)
    g = tf.function(jit_compile=False, reduce_retracing=True)(lambda x: x * x * x)
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y, z = f(x), g(x)
    assert float(tape.gradient(y, x)) == 6.0
    assert float(tape.gradient(z, x)) == 27.0


def test_second_order_through_a_decorated_function(tf):
    @tf.function
    def f(x):
        return x**3

    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(x)
        dy = inner.gradient(y, x)
    assert float(dy) == 12.0
    assert float(outer.gradient(dy, x)) == 12.0


def test_a_decorated_function_returns_structures(tf):
    @tf.function
    def f(x):
        return {"a": x * 2.0, "b": (x * x, x)}

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        result = f(x)
    assert float(tape.gradient(result["b"][0], x)) == 6.0


# ------------------------------------------------------------------------------------ what keeps the path, what cuts it


def test_py_function_keeps_the_path(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.py_function(lambda value: value * value, [x], tf.float32)
    assert float(y) == 9.0
    assert float(tape.gradient(y, x)) == 6.0


def test_numpy_function_cuts_the_path(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.numpy_function(lambda value: value * value, [x], tf.float32)
    assert float(y) == 9.0
    assert tape.gradient(y, x) is None


def test_a_dataset_cuts_the_path(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        total = tf.constant(0.0)
        for element in tf.data.Dataset.from_tensor_slices(x * 1.0):
            total = total + element
    assert float(total) == 3.0
    assert tape.gradient(total, x) is None


def test_a_dataset_in_batches(tf):
    xs, ys = np.arange(5, dtype=np.float32), np.arange(5)
    batches = list(tf.data.Dataset.from_tensor_slices((xs, ys)).batch(2))
    assert [x.numpy().tolist() for x, _ in batches] == [[0.0, 1.0], [2.0, 3.0], [4.0]]
    assert batches[0][1].dtype == tf.int64
