"""TensorFlow's dtypes: what a value becomes, what may be combined, and what a gradient takes."""

from __future__ import annotations

import numpy as np
import pytest


def parametrized(cases):
    return pytest.mark.parametrize("case", cases, ids=[str(case[0]) for case in cases])


def names(tf):
    """What the expressions of the tables below are evaluated with."""
    return {
        "tf": tf,
        "np": np,
        "f": tf.constant([1.0, 2.0]),
        "d": tf.constant([1.0, 2.0], tf.float64),
        "h": tf.constant([1.0, 2.0], tf.float16),
        "i": tf.constant([1, 2]),
        "l": tf.constant([1, 2], tf.int64),
        "b": tf.constant([True, False]),
        "c": tf.constant(np.array([1.0, 2.0j])),
        "v": tf.Variable([1.0, 2.0]),
    }


# ------------------------------------------------------------------------------------------------- what a value becomes

MADE = [
    ("tf.constant(1.0)", "float32", 1.0),
    ("tf.constant(1)", "int32", 1),
    ("tf.constant(2**31 - 1)", "int32", 2**31 - 1),
    ("tf.constant(2**31)", "int64", 2**31),
    ("tf.constant(-2**31)", "int32", -(2**31)),
    ("tf.constant(-2**31 - 1)", "int64", -(2**31) - 1),
    ("tf.constant(2**40)", "int64", 2**40),
    ("tf.constant(1j)", "complex128", 1j),
    ("tf.constant(True)", "bool", True),
    ("tf.constant([1, 2.5])", "float32", [1.0, 2.5]),
    ("tf.constant((1.0, 2.0))", "float32", [1.0, 2.0]),
    ("tf.constant([])", "float32", []),
    ("tf.constant([1, 2**40])", "int64", [1, 2**40]),
    ("tf.constant(np.float64(1))", "float64", 1.0),
    ("tf.constant(np.float32(1))", "float32", 1.0),
    ("tf.constant(np.float16(1))", "float16", 1.0),
    ("tf.constant(np.int64(3))", "int64", 3),
    ("tf.constant(np.ones(2))", "float64", [1.0, 1.0]),
    ("tf.constant(np.arange(3))", "int64", [0, 1, 2]),
    ("tf.constant(np.ones(2, np.uint8))", "uint8", [1, 1]),
    ("tf.constant(np.array([True]))", "bool", [True]),
    ("tf.constant([np.float64(1), 2.0])", "float64", [1.0, 2.0]),
    ("tf.constant(np.complex64(1j))", "complex64", 1j),
    ("tf.constant(1, tf.float32)", "float32", 1.0),
    ("tf.constant(True, tf.float32)", "float32", 1.0),
    ("tf.constant(1.0, dtype='float64')", "float64", 1.0),
    ("tf.constant(1.0, dtype=np.float64)", "float64", 1.0),
    ("tf.constant(1, dtype=tf.complex64)", "complex64", 1.0),
    ("tf.constant(np.array([1.7]), tf.int32)", "int32", [1]),
    ("tf.constant([1, 2], shape=(2, 1))", "int32", [[1], [2]]),
    ("tf.constant(3.0, shape=(2, 2))", "float32", [[3.0, 3.0], [3.0, 3.0]]),
    ("tf.constant(f)", "float32", [1.0, 2.0]),
    ("tf.constant(v)", "float32", [1.0, 2.0]),
    ("tf.Variable(1.0)", "float32", 1.0),
    ("tf.Variable(1)", "int32", 1),
    ("tf.Variable(np.ones(2))", "float64", [1.0, 1.0]),
    ("tf.Variable(1, dtype=tf.float32)", "float32", 1.0),
    ("tf.Variable([1.0, 2.0], dtype=tf.float64)", "float64", [1.0, 2.0]),
    ("tf.Variable(lambda: 2.0)", "float32", 2.0),
    ("tf.Variable(v)", "float32", [1.0, 2.0]),
    ("tf.Variable(np.ones(2), dtype=tf.float32)", "float32", [1.0, 1.0]),
    ("tf.convert_to_tensor(1.0)", "float32", 1.0),
    ("tf.convert_to_tensor(1, tf.float32)", "float32", 1.0),
    ("tf.convert_to_tensor(np.ones(2), tf.float32)", "float32", [1.0, 1.0]),
    ("tf.convert_to_tensor(f, dtype_hint=tf.float64)", "float32", [1.0, 2.0]),
    ("tf.convert_to_tensor(v)", "float32", [1.0, 2.0]),
    ("tf.convert_to_tensor([f, f])", "float32", [[1.0, 2.0], [1.0, 2.0]]),
    ("tf.convert_to_tensor([f[0], 5.0])", "float32", [1.0, 5.0]),
    ("tf.range(4)", "int32", [0, 1, 2, 3]),
    ("tf.range(4.0)", "float32", [0.0, 1.0, 2.0, 3.0]),
    ("tf.range(1, 4)", "int32", [1, 2, 3]),
    ("tf.range(3, 0, -1)", "int32", [3, 2, 1]),
    ("tf.range(0, 1, 0.25)", "float32", [0.0, 0.25, 0.5, 0.75]),
    ("tf.range(4, dtype=tf.float32)", "float32", [0.0, 1.0, 2.0, 3.0]),
    ("tf.range(2**40, 2**40 + 2)", "int64", [2**40, 2**40 + 1]),
    ("tf.range(start=1, limit=9, delta=4)", "int32", [1, 5]),
    ("tf.linspace(0, 10, 3)", "float64", [0.0, 5.0, 10.0]),
    ("tf.linspace(0.0, 10.0, 3)", "float32", [0.0, 5.0, 10.0]),
    ("tf.linspace([0.0, 1.0], [1.0, 2.0], 3)", "float32", [[0.0, 1.0], [0.5, 1.5], [1.0, 2.0]]),
    ("tf.ones(2)", "float32", [1.0, 1.0]),
    ("tf.ones((2,), tf.float64)", "float64", [1.0, 1.0]),
    ("tf.zeros((2, 2), tf.int32)", "int32", [[0, 0], [0, 0]]),
    ("tf.zeros([])", "float32", 0.0),
    ("tf.zeros(f.shape)", "float32", [0.0, 0.0]),
    ("tf.zeros(tf.shape(f))", "float32", [0.0, 0.0]),
    ("tf.fill([2], 3)", "int32", [3, 3]),
    ("tf.fill([2], 3.0)", "float32", [3.0, 3.0]),
    ("tf.eye(2)", "float32", [[1.0, 0.0], [0.0, 1.0]]),
    ("tf.eye(2, 3)", "float32", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    ("tf.eye(2, dtype=tf.float64)", "float64", [[1.0, 0.0], [0.0, 1.0]]),
    ("tf.zeros_like(i)", "int32", [0, 0]),
    ("tf.ones_like(f)", "float32", [1.0, 1.0]),
    ("tf.ones_like([1.0, 2.0])", "float32", [1.0, 1.0]),
    ("tf.zeros_like(f, dtype=tf.int32)", "int32", [0, 0]),
    ("tf.zeros_like(v)", "float32", [0.0, 0.0]),
    ("tf.one_hot([0, 2], 3)", "float32", [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    ("tf.size(f)", "int32", 2),
    ("tf.rank(f)", "int32", 1),
    ("tf.shape(f)", "int32", [2]),
    ("tf.argmax(f)", "int64", 1),
    ("tf.argmax(f, output_type=tf.int32)", "int32", 1),
    ("tf.cast(f, tf.int32)", "int32", [1, 2]),
    ("tf.cast([1.7, -1.7], tf.int32)", "int32", [1, -1]),
    ("tf.cast(i, 'float32')", "float32", [1.0, 2.0]),
    ("tf.cast(b, tf.float32)", "float32", [1.0, 0.0]),
    ("tf.cast(True, tf.float32)", "float32", 1.0),
    ("tf.cast(f, float)", "float32", [1.0, 2.0]),
    ("tf.cast(1.5, tf.bool)", "bool", True),
    ("tf.cast(v, tf.float64)", "float64", [1.0, 2.0]),
    ("tf.cast(f, tf.complex64)", "complex64", [1.0, 2.0]),
    ("tf.complex(1.0, 2.0)", "complex64", 1 + 2j),
    ("tf.math.real(c)", "float64", [1.0, 0.0]),
    ("tf.math.imag(c)", "float64", [0.0, 2.0]),
    ("tf.abs(c)", "float64", [1.0, 2.0]),
    ("tf.reduce_mean(np.ones(3))", "float64", 1.0),
    ("tf.sin(np.float64(0))", "float64", 0.0),
    ("tf.reduce_mean([1, 2, 4])", "int32", 2),
    ("tf.reduce_sum(i)", "int32", 3),
    ("tf.reduce_max(i)", "int32", 2),
    ("tf.square(3)", "int32", 9),
    ("tf.abs(-3)", "int32", 3),
    ("tf.sign(i)", "int32", [1, 1]),
    ("tf.nn.relu(i)", "int32", [1, 2]),
    ("tf.cumsum([1, 2, 3])", "int32", [1, 3, 6]),
    ("tf.pow(2, 3)", "int32", 8),
    ("tf.pow(2.0, 3)", "float32", 8.0),
    ("tf.divide(1, 2)", "float64", 0.5),
    ("tf.truediv(i, i)", "float64", [1.0, 1.0]),
    ("tf.math.floordiv(7, 2)", "int32", 3),
    ("tf.math.floormod(-7, 3)", "int32", 2),
    ("tf.stack([1, 2.5])", "float32", [1.0, 2.5]),
    ("tf.concat([f, [3]], 0)", "float32", [1.0, 2.0, 3.0]),
    ("tf.where(b, f, 0)", "float32", [1.0, 0.0]),
    ("tf.clip_by_value([1, 5], 2, 3)", "int32", [2, 3]),
    ("tf.maximum(f, 1)", "float32", [1.0, 2.0]),
    ("tf.add(1.0, 2)", "float32", 3.0),
]


@parametrized(MADE)
def test_what_a_value_becomes(tf, case):
    expression, dtype, value = case
    result = eval(expression, names(tf))
    assert result.dtype.name == dtype
    assert result.numpy().dtype == np.dtype(dtype)
    assert result.numpy().tolist() == value


# ----------------------------------------------------------------------------------------------------- what is combined

COMBINED = [
    ("i / i", "float64", [1.0, 1.0]),
    ("i / 2", "float64", [0.5, 1.0]),
    ("2 / i", "float64", [2.0, 1.0]),
    ("l / l", "float64", [1.0, 1.0]),
    ("i // 2", "int32", [0, 1]),
    ("i % 2", "int32", [1, 0]),
    ("-7 // i", "int32", [-7, -4]),
    ("-7 % i", "int32", [0, 1]),
    ("i ** 2", "int32", [1, 4]),
    ("2 ** i", "int32", [2, 4]),
    ("i + np.ones(2)", "int32", [2, 3]),
    ("i + np.int64(2)", "int32", [3, 4]),
    ("np.int64(2) + i", "int32", [3, 4]),
    ("i + np.float64(2)", "int32", [3, 4]),
    ("i + 1", "int32", [2, 3]),
    ("l * 3", "int64", [3, 6]),
    ("-i", "int32", [-1, -2]),
    ("f + 1", "float32", [2.0, 3.0]),
    ("1 - f", "float32", [0.0, -1.0]),
    ("f + True", "float32", [2.0, 3.0]),
    ("f + np.float64(1)", "float32", [2.0, 3.0]),
    ("np.float64(1) + f", "float32", [2.0, 3.0]),
    ("f + np.ones(2)", "float32", [2.0, 3.0]),
    ("np.ones(2) + f", "float32", [2.0, 3.0]),
    ("np.ones((2, 2)) @ tf.ones((2, 1))", "float32", [[2.0], [2.0]]),
    ("f + np.arange(2)", "float32", [1.0, 3.0]),
    ("f * [3, 4]", "float32", [3.0, 8.0]),
    ("[3.0, 4.0] * f", "float32", [3.0, 8.0]),
    ("(1, 2) - f", "float32", [0.0, 0.0]),
    ("d * 1.5", "float64", [1.5, 3.0]),
    ("d + np.float32(1)", "float64", [2.0, 3.0]),
    ("h * 1.5", "float16", [1.5, 3.0]),
    ("c * 2", "complex128", [2.0, 4.0j]),
    ("c * 2.0", "complex128", [2.0, 4.0j]),
    ("v * 2", "float32", [2.0, 4.0]),
    ("2 * v", "float32", [2.0, 4.0]),
    ("np.ones(2) * v", "float32", [1.0, 2.0]),
    ("f * v", "float32", [1.0, 4.0]),
    ("v ** v", "float32", [1.0, 4.0]),
    ("f // 2.0", "float32", [0.0, 1.0]),
    ("-f % 1.5", "float32", [0.5, 1.0]),
    ("f / 0", "float32", [np.inf, np.inf]),
    ("f ** 2", "float32", [1.0, 4.0]),
    ("2.0 ** f", "float32", [2.0, 4.0]),
    ("abs(-f)", "float32", [1.0, 2.0]),
    ("~b", "bool", [False, True]),
    ("b & True", "bool", [True, False]),
    ("b | b", "bool", [True, False]),
    ("b ^ b", "bool", [False, False]),
    ("i & 1", "int32", [1, 0]),
    ("f > 1.5", "bool", [False, True]),
    ("1.5 >= f", "bool", [True, False]),
    ("i <= 1", "bool", [True, False]),
    ("v < f", "bool", [False, False]),
]


@parametrized(COMBINED)
def test_what_may_be_combined(tf, case):
    expression, dtype, value = case
    result = eval(expression, names(tf))
    assert type(result).__name__ == "EagerTensor"
    assert result.dtype.name == dtype
    assert result.numpy().tolist() == value


IN = "InvalidArgumentError"
REFUSED = [
    ("f + d", IN, "was expected to be a float tensor but is a double tensor"),
    ("d + f", IN, "was expected to be a double tensor but is a float tensor"),
    ("f + i", IN, "was expected to be a float tensor but is a int32 tensor"),
    ("i + l", IN, "was expected to be a int32 tensor but is a int64 tensor"),
    ("f * d", IN, "was expected to be a float tensor but is a double tensor"),
    ("f - d", IN, "was expected to be a float tensor but is a double tensor"),
    ("f / d", "TypeError", "must have the same dtype, got tf.float32 != tf.float64"),
    ("f ** d", IN, "was expected to be a float tensor but is a double tensor"),
    ("f < d", IN, "was expected to be a float tensor but is a double tensor"),
    ("f == d", IN, "was expected to be a float tensor but is a double tensor"),
    ("f + c", IN, "was expected to be a float tensor but is a complex128 tensor"),
    ("v + d", IN, "was expected to be a float tensor but is a double tensor"),
    ("tf.ones((2, 2)) @ tf.ones((2, 2), tf.float64)", IN, "was expected to be a float tensor but is a double tensor"),
    ("tf.concat([f, d], 0)", IN, "was expected to be a float tensor but is a double tensor"),
    ("tf.add(1, 2.5)", IN, "was expected to be a int32 tensor but is a float tensor"),
    ("i + 1.0", IN, "was expected to be a int32 tensor but is a float tensor"),
    ("i * 2.5", "TypeError", "Cannot convert 2.5 to EagerTensor of dtype int32"),
    ("2.5 + i", "TypeError", "Cannot convert 2.5 to EagerTensor of dtype int32"),
    ("tf.multiply(i, 2.5)", "TypeError", "Cannot convert 2.5 to EagerTensor of dtype int32"),
    ("tf.maximum(1, 2.5)", "TypeError", "Cannot convert 2.5 to EagerTensor of dtype int32"),
    ("tf.where(b, 1, 2.0)", "TypeError", "Cannot convert 2.0 to EagerTensor of dtype int32"),
    ("f * 1j", "TypeError", "Cannot convert 1j to EagerTensor of dtype float"),
    ("f + None", "ValueError", "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>)"),
    ("tf.constant(None)", "ValueError", "Attempt to convert a value (None) with an unsupported type"),
    ("tf.constant({'a': 1})", "ValueError", "Attempt to convert a value ({'a': 1}) with an unsupported type"),
    ("tf.constant([[1, 2], [3]])", "ValueError", "Can't convert non-rectangular Python sequence to Tensor"),
    ("tf.constant([True, 1])", "ValueError", "Can't convert Python sequence with mixed types to Tensor"),
    ("tf.constant(2**70)", "ValueError", "out-of-range integer"),
    ("tf.constant(1.5, tf.int32)", "TypeError", "Cannot convert 1.5 to EagerTensor of dtype int32"),
    ("tf.convert_to_tensor(1.5, tf.int32)", "TypeError", "Cannot convert 1.5 to EagerTensor of dtype int32"),
    ("tf.constant('a', tf.float32)", "TypeError", "Cannot convert 'a' to EagerTensor of dtype float"),
    ("tf.constant(f, tf.float64)", "TypeError", "with dtype tf.float64, but got dtype tf.float32"),
    ("tf.constant([1, 2, 3], shape=(2, 2))", "TypeError", "has 3 elements, but got `shape` (2, 2) with 4 elements"),
    (
        "tf.convert_to_tensor(f, tf.float64)",
        "ValueError",
        "Tensor conversion requested dtype float64 for Tensor with dtype float32",
    ),
    ("tf.convert_to_tensor(v, tf.float64)", "ValueError", "Incompatible type conversion requested to type float64"),
    ("b + b", IN, "bool"),
    ("-b", IN, "bool"),
    ("tf.sqrt(4)", IN, "int32"),
    ("tf.exp(i)", IN, "int32"),
    ("tf.sigmoid(1)", IN, "int32"),
    ("tf.norm([3, 4])", IN, "int32"),
    ("tf.reduce_sum(b)", IN, "bool"),
    ("f + [1, 2, 3]", IN, "Incompatible shapes: [2] vs. [3]"),
    ("f + tf.ones(3)", IN, "Incompatible shapes: [2] vs. [3]"),
    ("tf.ones((2, 3)) @ tf.ones((2, 3))", IN, "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"),
    ("f @ f", IN, "ndims must be"),
    ("i // 0", IN, "Integer division by zero"),
    ("i % 0", IN, "Integer division by zero"),
    ("tf.reshape(f, [3])", IN, "Input to reshape is a tensor with 2 values, but the requested shape has 3"),
    ("f[5]", IN, "slice index 5 of dimension 0 out of bounds"),
    ("tf.cast(f, 'nonsense')", "TypeError", "nonsense"),
    ("+f", "TypeError", "unary +"),
]


@parametrized(REFUSED)
def test_what_may_not_be_combined(tf, case):
    expression, name, message = case
    error = tf.errors.InvalidArgumentError if name == IN else {"TypeError": TypeError, "ValueError": ValueError}[name]
    with pytest.raises(error) as caught:
        eval(expression, names(tf))
    assert message in str(caught.value)


def test_the_error_classes(tf):
    assert issubclass(tf.errors.InvalidArgumentError, tf.errors.OpError)
    assert issubclass(tf.errors.OpError, Exception)
    assert not issubclass(tf.errors.InvalidArgumentError, ValueError)


# ---------------------------------------------------------------------------------------------------- dtypes themselves


def test_a_dtype_prints_its_name(tf):
    assert repr(tf.float32) == "tf.float32"
    assert str(tf.float32) == "<dtype: 'float32'>"
    assert tf.float32.name == "float32"
    assert repr(tf.constant(1).dtype) == "tf.int32"


def test_a_dtype_equals_what_names_it(tf):
    assert tf.float32 == np.float32
    assert tf.float32 == "float32"
    assert tf.float32 != tf.float64
    assert tf.constant(1.0).dtype == tf.float32
    assert {tf.float32: 1}[tf.float32] == 1


def test_what_a_dtype_tells(tf):
    assert tf.float32.is_floating and not tf.int32.is_floating
    assert tf.int32.is_integer and not tf.float32.is_integer
    assert tf.complex64.is_complex and not tf.float32.is_complex
    assert tf.bool.is_bool
    assert tf.complex64.real_dtype is tf.float32
    assert tf.float32.as_numpy_dtype is np.float32
    assert tf.float32.size == 4
    assert tf.float32.max == np.finfo(np.float32).max
    assert tf.int32.min == np.iinfo(np.int32).min


def test_as_dtype(tf):
    assert tf.as_dtype("float64") is tf.float64
    assert tf.as_dtype(np.int32) is tf.int32
    assert tf.as_dtype(np.dtype("float32")) is tf.float32
    assert tf.dtypes.as_dtype(float) is tf.float32
    assert tf.dtypes.float64 is tf.float64
    assert isinstance(tf.float32, tf.DType)


# -------------------------------------------------------------------------------------------------- dtypes of gradients


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_the_gradient_takes_the_dtype_of_its_source(tf, dtype):
    x = tf.Variable([1.0, 2.0], dtype=dtype)
    with tf.GradientTape() as tape:
        y = x * x
    gradient = tape.gradient(y, x)
    assert gradient.dtype.name == dtype
    assert gradient.numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_dtype_survives_a_computation(tf, dtype):
    x = tf.Variable([[0.5, 2.0]], dtype=dtype)
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tf.exp(tf.sin(x) * 2 + 1) / 3.0 - np.float64(1) + tf.nn.softmax(x) ** 2)
    assert y.dtype.name == dtype
    assert tape.gradient(y, x).dtype.name == dtype


def test_the_gradient_through_a_cast_goes_back(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.float64) ** 2
    gradient = tape.gradient(y, x)
    assert y.dtype == tf.float64
    assert gradient.dtype == tf.float32
    assert gradient.numpy().tolist() == [2.0, 4.0]


def test_the_gradient_of_a_float64_source_behind_a_float32_path(tf):
    x = tf.Variable(3.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.float32) * 2.0
    gradient = tape.gradient(y, x)
    assert gradient.dtype == tf.float64 and float(gradient) == 2.0


def test_the_gradient_of_a_complex_square_is_conjugated(tf):
    z = tf.constant(1.0 + 2.0j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    gradient = tape.gradient(y, z)
    assert gradient.dtype == tf.complex128
    assert gradient.numpy() == np.conj(2 * (1 + 2j))


COMPLEX = [
    ("tf.math.real(z)", 1.0),
    ("tf.math.imag(z)", 1.0j),
    ("tf.abs(z)", (1 + 2j) / np.sqrt(5)),
    ("tf.math.conj(z)", 1.0),
    ("tf.abs(z) ** 2", 2 + 4j),
    ("z * tf.math.conj(z)", 2 + 4j),
    ("tf.exp(z)", np.conj(np.exp(1 + 2j))),
    ("z ** 3", np.conj(3 * (1 + 2j) ** 2)),
    ("1.0 / z", np.conj(-1 / (1 + 2j) ** 2)),
    ("tf.sin(z)", np.conj(np.cos(1 + 2j))),
]


@parametrized(COMPLEX)
def test_gradients_of_complex_values(tf, case):
    expression, expected = case
    z = tf.constant(1.0 + 2.0j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = eval(expression, {"tf": tf, "z": z})
    np.testing.assert_allclose(tape.gradient(y, z).numpy(), expected, rtol=1e-12, atol=1e-12)


def test_the_gradient_through_a_complex_value_built_from_real_ones(tf):
    x, y = tf.Variable(1.0, dtype=tf.float64), tf.Variable(2.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        z = tf.complex(x, y)
        length = tf.math.real(z * tf.math.conj(z))
    gradients = tape.gradient(length, [x, y])
    assert [float(g) for g in gradients] == [2.0, 4.0]
    assert gradients[0].dtype == tf.float64


def test_the_gradient_through_a_cast_to_complex(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.abs(tf.cast(x, tf.complex64)) ** 2
    gradient = tape.gradient(y, x)
    assert gradient.dtype == tf.float32
    assert float(gradient) == pytest.approx(6.0)


def test_a_half_precision_gradient_is_accumulated_in_half_precision(tf):
    x = tf.Variable([1.0, 2.0], dtype=tf.float16)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tanh(x) * 0.5)
    assert tape.gradient(y, x).dtype == tf.float16
