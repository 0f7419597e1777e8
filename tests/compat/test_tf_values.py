"""TensorFlow's gradients at points where they are easy to get wrong, each a clause of its own."""

from __future__ import annotations

import numpy as np
import pytest

NAN, INF = float("nan"), float("inf")


def gradient(tf, function, value, dtype="float32"):
    x = tf.Variable(value, dtype=dtype)
    with tf.GradientTape() as tape:
        y = function(tf, x)
    result = tape.gradient(y, x)
    return None if result is None else np.asarray(tf.convert_to_tensor(result)).tolist()


STEPS = [
    ("floor", lambda tf, x: tf.floor(x)),
    ("ceil", lambda tf, x: tf.math.ceil(x)),
    ("round", lambda tf, x: tf.round(x)),
    ("rint", lambda tf, x: tf.math.rint(x)),
    ("greater", lambda tf, x: tf.cast(x > 1.0, tf.float32)),
    ("equal", lambda tf, x: tf.cast(tf.equal(x, 1.0), tf.float32)),
    ("zeros_like", lambda tf, x: tf.zeros_like(x)),
    ("ones_like", lambda tf, x: tf.ones_like(x)),
    ("shape", lambda tf, x: tf.cast(tf.shape(x), tf.float32)),
    ("argmax", lambda tf, x: tf.cast(tf.argmax(x), tf.float32)),
    ("one_hot of argmax", lambda tf, x: tf.one_hot(tf.argmax(x), 3)),
    ("cast to an integer and back", lambda tf, x: tf.cast(tf.cast(x, tf.int32), tf.float32)),
]


@pytest.mark.parametrize("function", [f for _, f in STEPS], ids=[name for name, _ in STEPS])
def test_none(tf, function):
    assert gradient(tf, function, [0.5, 1.5, -2.0]) is None


@pytest.mark.parametrize("function", [f for _, f in STEPS], ids=[name for name, _ in STEPS])
def test_none_beside_another_path(tf, function):
    assert gradient(tf, lambda tf, x: tf.reduce_sum(function(tf, x)) + tf.reduce_sum(3.0 * x), [0.5, 1.5]) == [3.0, 3.0]


VALUES = [
    ("sign is zeros, not None", lambda tf, x: tf.sign(x), [-2.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    ("sqrt at 0", lambda tf, x: tf.sqrt(x), [0.0, 4.0], [INF, 0.25]),
    ("sqrt at 0 where the upstream is 0", lambda tf, x: tf.where(x > 0.0, tf.sqrt(x), 0.0), [0.0, 4.0], [0.0, 0.25]),
    ("sqrt at 0 times 0", lambda tf, x: tf.sqrt(x) * 0.0, [0.0, 4.0], [0.0, 0.0]),
    (
        "rsqrt at 0 where the upstream is 0",
        lambda tf, x: tf.where(x > 0.0, tf.math.rsqrt(x), 0.0),
        [0.0, 4.0],
        [0.0, -1 / 16],
    ),
    # A zero of a choice meets infinity: nan, as the product is.
    ("log where it is not chosen", lambda tf, x: tf.where(x > 0.0, tf.math.log(x), 0.0), [0.0, 2.0], [NAN, 0.5]),
    (
        "log1p where it is not chosen",
        lambda tf, x: tf.where(x > 0.0, tf.math.log1p(x - 1.0), 0.0),
        [0.0, 2.0],
        [NAN, 0.5],
    ),
    ("a quotient where it is not chosen", lambda tf, x: tf.where(x > 0.0, 1.0 / x, 0.0), [0.0, 2.0], [NAN, -0.25]),
    ("a power where it is not chosen", lambda tf, x: tf.where(x > 0.0, x**-1.0, 0.0), [0.0, 2.0], [NAN, -0.25]),
    ("log below clip_by_value", lambda tf, x: tf.clip_by_value(tf.math.log(x), -1.0, 1.0), [0.0, 2.0], [NAN, 0.5]),
    ("a quotient above clip_by_value", lambda tf, x: tf.clip_by_value(1.0 / x, -1.0, 1.0), [0.0, 2.0], [NAN, -0.25]),
    ("log below maximum", lambda tf, x: tf.maximum(tf.math.log(x), -1.0), [0.0, 2.0], [NAN, 0.5]),
    ("a quotient above minimum", lambda tf, x: tf.minimum(1.0 / x, 1.0), [0.0, 2.0], [NAN, -0.25]),
    ("log below relu", lambda tf, x: tf.nn.relu(tf.math.log(x)), [0.0, 2.0], [NAN, 0.5]),
    ("log that is not read", lambda tf, x: tf.math.log(x)[1:], [0.0, 2.0], [NAN, 0.5]),
    ("log that is not gathered", lambda tf, x: tf.gather(tf.math.log(x), [1]), [0.0, 2.0], [NAN, 0.5]),
    ("log times 0", lambda tf, x: tf.math.log(x) * 0.0, [0.0, 2.0], [NAN, 0.0]),
    ("norm at 0", lambda tf, x: tf.norm(x), [0.0, 0.0], [NAN, NAN]),
    (
        "norm of rows, one of them 0",
        lambda tf, x: tf.norm(x, axis=1),
        [[0.0, 0.0], [3.0, 4.0]],
        [[NAN, NAN], [0.6, 0.8]],
    ),
    (
        "clip_by_value at the bounds",
        lambda tf, x: tf.clip_by_value(x, 1.0, 3.0),
        [0.0, 1.0, 2.0, 3.0, 4.0],
        [0.0, 1.0, 1.0, 1.0, 0.0],
    ),
    ("reduce_max splits ties evenly", lambda tf, x: tf.reduce_max(x), [1.0, 5.0, 5.0, 5.0], [0.0, 1 / 3, 1 / 3, 1 / 3]),
    ("reduce_min splits ties evenly", lambda tf, x: tf.reduce_min(x), [1.0, 5.0, 1.0], [0.5, 0.0, 0.5]),
    ("maximum at a tie", lambda tf, x: tf.maximum(x, 5.0), [1.0, 5.0, 6.0], [0.0, 1.0, 1.0]),
    ("maximum at a tie, as the second", lambda tf, x: tf.maximum(5.0, x), [1.0, 5.0, 6.0], [0.0, 0.0, 1.0]),
    ("minimum at a tie", lambda tf, x: tf.minimum(x, 5.0), [1.0, 5.0, 6.0], [1.0, 1.0, 0.0]),
    ("maximum of a value with itself", lambda tf, x: tf.maximum(x, x), [1.0, 2.0], [1.0, 1.0]),
    ("relu at 0", lambda tf, x: tf.nn.relu(x), [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    ("abs at 0", lambda tf, x: tf.abs(x), [-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]),
    ("reduce_prod with one zero", lambda tf, x: tf.reduce_prod(x), [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    ("reduce_prod with two zeros", lambda tf, x: tf.reduce_prod(x), [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]),
    ("pow at 0", lambda tf, x: x**2.0, [0.0, 3.0], [0.0, 6.0]),
    ("pow at 0, exponent 1", lambda tf, x: x**1.0, [0.0, 3.0], [1.0, 1.0]),
    ("pow of a negative base", lambda tf, x: x**3.0, [-2.0], [12.0]),
    ("pow by its exponent, base 0", lambda tf, x: tf.pow(0.0, x), [2.0], [0.0]),
    ("pow by its exponent, negative base", lambda tf, x: tf.pow(-2.0, x), [2.0], [0.0]),
    ("divide_no_nan by 0", lambda tf, x: tf.math.divide_no_nan(1.0, x), [0.0, 2.0], [0.0, -0.25]),
    ("xlogy at 0", lambda tf, x: tf.math.xlogy(x, 0.0), [0.0], [0.0]),
    ("softplus far out", lambda tf, x: tf.math.softplus(x), [-200.0, 200.0], [0.0, 1.0]),
    ("log_softmax far out", lambda tf, x: tf.nn.log_softmax(x)[0], [1000.0, 0.0], [0.0, 0.0]),
    ("logsumexp far out", lambda tf, x: tf.reduce_logsumexp(x), [1000.0, 0.0], [1.0, 0.0]),
    ("gather of the same row twice", lambda tf, x: tf.gather(x, [1, 1, 0]), [1.0, 2.0], [1.0, 2.0]),
    ("an empty sum", lambda tf, x: tf.reduce_sum(x), [], []),
    ("relu6 at its corners", lambda tf, x: tf.nn.relu6(x), [0.0, 6.0, 3.0], [0.0, 0.0, 1.0]),
    ("floormod", lambda tf, x: x % 3.0, [5.0, -5.0], [1.0, 1.0]),
    ("floordiv", lambda tf, x: x // 3.0 + 0.0 * x, [5.0, -5.0], [0.0, 0.0]),
]


@pytest.mark.parametrize("name, function, value, expected", VALUES, ids=[case[0] for case in VALUES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradient(tf, name, function, value, expected):
    np.testing.assert_allclose(gradient(tf, function, value), expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_log_at_zero(tf):
    assert gradient(tf, lambda tf, x: tf.math.log(x), [0.0, 2.0]) == [INF, 0.5]


def test_maximum_gives_a_tie_to_its_first_argument(tf):
    x, y = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        larger, smaller = tf.maximum(x, y), tf.minimum(x, y)
    assert [g.numpy().tolist() for g in tape.gradient(larger, [x, y])] == [[1.0, 0.0], [0.0, 1.0]]
    assert [g.numpy().tolist() for g in tape.gradient(smaller, [x, y])] == [[1.0, 1.0], [0.0, 0.0]]


def test_where_sends_each_element_one_way(tf):
    x, y = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        z = tf.where([True, False], x * x, y * y)
    assert [g.numpy().tolist() for g in tape.gradient(z, [x, y])] == [[2.0, 0.0], [0.0, 8.0]]


def test_clip_by_global_norm_is_differentiable(tf):
    x = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        (clipped,), norm = tf.clip_by_global_norm([x], 1.0)
        y = clipped[0]
    assert float(norm) == 5.0
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [0.128, -0.096], rtol=1e-5)


def test_second_order_at_a_kink(tf):
    x = tf.Variable([-1.0, 0.0, 1.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.nn.relu(x) ** 2
        first = inner.gradient(y, x)
    assert first.numpy().tolist() == [0.0, 0.0, 2.0]
    assert outer.gradient(first, x).numpy().tolist() == [0.0, 0.0, 2.0]


def test_second_order_of_pow_at_zero(tf):
    x = tf.Variable([0.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        first = inner.gradient(y, x)
    assert outer.gradient(first, x).numpy().tolist() == [0.0, 12.0]


def test_third_order(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as third, tf.GradientTape() as second, tf.GradientTape() as first:
        y = x**5
    assert float(first.gradient(y, x)) == 80.0
    assert second.gradient(y, x) is not None and third.gradient(y, x) is not None


def test_softmax_cross_entropy_has_second_derivatives(tf):
    logits, labels = tf.Variable([[0.5, -1.0, 2.0]]), tf.constant([[0.0, 1.0, 0.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        first = inner.gradient(loss, logits)
    hessian = outer.jacobian(first, logits).numpy()[0, :, 0, :]
    p = np.exp([0.5, -1.0, 2.0]) / np.exp([0.5, -1.0, 2.0]).sum()
    np.testing.assert_allclose(first.numpy()[0], p - [0, 1, 0], rtol=1e-5)
    np.testing.assert_allclose(hessian, np.diag(p) - np.outer(p, p), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["relu", "relu6"])
def test_the_second_derivative_of_relu_is_zeros(tf, name):
    x = tf.Variable([-1.0, 0.0, 2.0])
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = getattr(tf.nn, name)(x)
        first = inner.gradient(y, x)
        again = tf.nn.relu(x) * x
        product = outer.gradient(again, x)
    assert first.numpy().tolist() == [0.0, 0.0, 1.0]
    assert outer.gradient(first, x).numpy().tolist() == [0.0, 0.0, 0.0]
    assert outer.gradient(product, x).numpy().tolist() == [0.0, 0.0, 2.0]


def test_choices_have_no_second_derivative(tf):
    x = tf.Variable([-1.0, 0.0, 2.0])
    for f in (lambda x: tf.maximum(x, 0.0), lambda x: tf.where(x > 0.0, x, 0.0), lambda x: 3.0 * x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = f(x)
            first = inner.gradient(y, x)
        assert outer.gradient(first, x) is None


def test_zero_times_infinity_in_a_function_that_is_run_again(tf):
    x = tf.constant([0.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(lambda x: tf.where(x > 0.0, tf.math.log(x), 0.0))(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [NAN, 0.5])


def test_zero_times_infinity_in_jacobians(tf):
    x = tf.Variable([0.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.where(x > 0.0, tf.math.log(x), 0.0)
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), [[NAN, 0.0], [NAN, 0.5]])


@pytest.mark.parametrize("k", [0, 1, -2])
def test_the_diagonal_may_be_infinite(tf, k):
    x = tf.Variable([[INF, 2.0, 3.0], [4.0, NAN, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.linalg.diag(x, k=k)
        total = tf.reduce_sum(tf.where(tf.math.is_finite(y), y, 0.0) * 2.0)
    np.testing.assert_array_equal(y.numpy(), [np.diag(row, k) for row in x.numpy()])
    assert tape.gradient(total, x).numpy().tolist() == [[0.0, 2.0, 2.0], [2.0, 0.0, 2.0]]


def test_dropout_of_infinity(tf):
    tf.random.set_seed(3)
    y = tf.keras.layers.Dropout(0.5)(tf.fill([50], INF), training=True)
    assert set(y.numpy().tolist()) == {0.0, INF}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tf.nn.leaky_relu(x, alpha=v)", -2.0),
        ("tf.nn.silu(x, v)", 1.0214514),
        ("tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], x, v)", 2.1269281),
        ("tf.nn.weighted_cross_entropy_with_logits(tf.constant([1.0, 0.0]), x, pos_weight=v)", 2.1269281),
    ],
)
def test_settings_that_are_variables_have_gradients(tf, expression, expected):
    x, v = tf.constant([-2.0, 1.0]), tf.Variable(0.5)
    for watched in (False, True):
        with tf.GradientTape() as tape:
            if watched:
                tape.watch(x)
            y = tf.reduce_sum(eval(expression, {"tf": tf, "x": x, "v": v}))
        assert float(tape.gradient(y, v)) == pytest.approx(expected, rel=1e-5)


def test_weights_and_labels_take_the_dtype_of_logits(tf):
    x, weights = tf.constant([-2.0, 1.0]), np.array([2.0, 3.0])
    y = tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], x, weights)
    assert y.dtype == tf.float32
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a double tensor but is a float"):
        tf.nn.weighted_cross_entropy_with_logits(tf.constant([1.0, 0.0], tf.float64), x, 2.0)
