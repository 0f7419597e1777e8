"""tf.random: shapes, dtypes, ranges and reproducibility. The numbers themselves are our own generator's."""

from __future__ import annotations

import numpy as np
import pytest

DRAWS = [
    ("tf.random.normal([2, 3])", "float32", (2, 3)),
    ("tf.random.normal((2,), dtype=tf.float64)", "float64", (2,)),
    ("tf.random.normal(shape=())", "float32", ()),
    ("tf.random.uniform([3])", "float32", (3,)),
    ("tf.random.uniform((), 1, 2)", "float32", ()),
    ("tf.random.uniform([3], 0, 10, tf.int32)", "int32", (3,)),
    ("tf.random.uniform([3], maxval=10, dtype=tf.int64)", "int64", (3,)),
    ("tf.random.normal(tf.shape(tf.ones((2, 3))))", "float32", (2, 3)),
    ("tf.random.normal(tf.ones((2, 3)).shape)", "float32", (2, 3)),
]


@pytest.mark.parametrize("expression, dtype, shape", DRAWS)
def test_dtypes_and_shapes(tf, expression, dtype, shape):
    value = eval(expression, {"tf": tf})
    assert isinstance(value, tf.Tensor)
    assert value.dtype.name == dtype and value.shape == shape


def test_the_distribution_of_normal(tf):
    tf.random.set_seed(1)
    value = tf.random.normal([20000], mean=5.0, stddev=2.0).numpy()
    assert abs(value.mean() - 5.0) < 0.1 and abs(value.std() - 2.0) < 0.1


def test_the_range_of_uniform(tf):
    tf.random.set_seed(1)
    value = tf.random.uniform([20000], minval=-1.0, maxval=3.0).numpy()
    assert value.min() >= -1.0 and value.max() < 3.0
    assert abs(value.mean() - 1.0) < 0.05
    integers = tf.random.uniform([1000], 0, 4, tf.int32).numpy()
    assert set(integers.tolist()) == {0, 1, 2, 3}


def test_integers_need_a_maximum(tf):
    with pytest.raises(ValueError, match="Must specify maxval for integer dtype"):
        tf.random.uniform([3], dtype=tf.int32)


def test_the_global_seed_makes_draws_reproducible(tf):
    def draw():
        return tf.random.normal([3]).numpy().tolist(), tf.random.uniform([3]).numpy().tolist()

    tf.random.set_seed(5)
    first = draw()
    tf.random.set_seed(5)
    assert draw() == first
    assert draw() != first
    tf.random.set_seed(6)
    assert draw() != first


def test_two_draws_differ(tf):
    assert tf.random.normal([5]).numpy().tolist() != tf.random.normal([5]).numpy().tolist()


def test_a_seed_of_an_operation(tf):
    tf.random.set_seed(5)
    first = tf.random.normal([3], seed=1).numpy().tolist()
    tf.random.set_seed(5)
    assert tf.random.normal([3], seed=1).numpy().tolist() == first


def test_the_path_through_a_draw(tf):
    mean, deviation = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        noise = tf.random.normal([4])
        y = tf.reduce_sum(mean + deviation * noise)
    gradients = tape.gradient(y, [mean, deviation])
    assert float(gradients[0]) == 4.0
    assert float(gradients[1]) == pytest.approx(float(tf.reduce_sum(noise)), rel=1e-5)


def test_numpy_seeds_do_not_matter(tf):
    tf.random.set_seed(5)
    first = tf.random.normal([3]).numpy().tolist()
    np.random.seed(0)
    before = np.random.get_state()[1].tolist()
    tf.random.set_seed(5)
    assert tf.random.normal([3]).numpy().tolist() == first
    assert np.random.get_state()[1].tolist() == before
