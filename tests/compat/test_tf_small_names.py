"""Names around the edges that programs use: strings, loops, extremes of nothing, shapes with unknown lengths."""

from __future__ import annotations

import numpy as np
import pytest


def test_strings_are_joined(tf):
    assert (tf.constant("a") + tf.constant("b")).numpy() == b"ab"
    assert (tf.constant("a") + "b").dtype == tf.string
    assert (tf.constant(["a", "bb"]) + "c").numpy().tolist() == [b"ac", b"bbc"]


def test_the_name_of_an_error(tf):
    with pytest.raises(TypeError) as found:
        tf.constant(1.5, tf.int32)
    assert type(found.value).__name__ == "TypeError"


def test_a_while_loop_gives_what_its_body_returns(tf):
    start = tf.constant(0)
    assert tf.while_loop(lambda k: k < 3, lambda k: (k + 1,), [start]) == (3,)
    assert tf.while_loop(lambda k: k < 3, lambda k: [k + 1], (start,)) == [3]
    assert tf.while_loop(lambda k: k < 0, lambda k: [k + 1], (start,)) == (0,)
    k, d = tf.while_loop(lambda k, d: k < 2, lambda k, d: (k + 1, {"a": d["a"] * 3}), (start, {"a": tf.constant(1)}))
    assert int(k) == 2 and int(d["a"]) == 9


def test_functions_of_parts_keep_the_path(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        squares = tf.map_fn(lambda part: part * part, x)
        pairs = tf.map_fn(lambda part: {"sum": part[0] + part[1]}, (x, 2.0 * x))
        sums = tf.scan(lambda state, part: state + part, x)
        backwards = tf.scan(lambda state, part: state * part, x, initializer=2.0, reverse=True)
        chosen = tf.cond(x[0] > 0.0, lambda: 3.0 * x, lambda: x)
    assert squares.numpy().tolist() == [1.0, 4.0, 9.0] and tape.gradient(squares, x).numpy().tolist() == [2.0, 4.0, 6.0]
    assert pairs["sum"].numpy().tolist() == [3.0, 6.0, 9.0]
    assert sums.numpy().tolist() == [1.0, 3.0, 6.0] and tape.gradient(sums, x).numpy().tolist() == [3.0, 2.0, 1.0]
    assert backwards.numpy().tolist() == [12.0, 12.0, 6.0]
    assert tape.gradient(chosen, x).numpy().tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(TypeError, match="must be callable"):
        tf.cond(True, 1, 2)


def test_operations_that_pick(tf):
    m = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert float(tf.gather_nd(m, [1, 2])) == 6.0
    assert tf.gather(m, [0, 2], axis=1, batch_dims=1).numpy().tolist() == [1.0, 6.0]
    assert tf.gather_nd(m, [[0], [2]], batch_dims=1).numpy().tolist() == [1.0, 6.0]
    assert tf.gather(m, [[2], [0]], axis=-1, batch_dims=-1).numpy().tolist() == [[3.0], [4.0]]
    assert [p.numpy().tolist() for p in tf.split(m[0], [1, -1])] == [[1.0], [2.0, 3.0]]
    assert tf.round(tf.constant([1, 2])).numpy().tolist() == [1, 2]
    v = tf.Variable([1.0, 2.0])
    v[0].assign_add(3.0)
    v[1].assign_sub(0.5)
    assert v.numpy().tolist() == [4.0, 1.5]


def test_extremes_of_nothing(tf):
    assert float(tf.reduce_max(tf.zeros(0))) == -np.inf
    assert tf.reduce_min(tf.zeros((2, 0)), 1).numpy().tolist() == [np.inf, np.inf]
    assert np.isnan(float(tf.reduce_max([1.0, np.nan])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no identity"):
        tf.reduce_max(tf.zeros(0, tf.int32))


def test_shapes_with_unknown_lengths(tf):
    shape = tf.TensorShape([2, None])
    assert shape.num_elements() is None and shape[1] is None and bool(tf.TensorShape([]))
    assert shape.is_compatible_with((2, 5)) and not shape.is_compatible_with((3, 5))
    assert shape != 3 and shape != "x" and isinstance(shape[:1], tf.TensorShape)
    with pytest.raises(ValueError, match="unknown number of axes"):
        tf.TensorShape(None)
    with pytest.raises(TypeError, match="Dimension value must be integer"):
        tf.TensorShape([1.5])


def test_options_that_are_not_there(tf):
    for call, absent in (
        (lambda: tf.Variable(1.0, caching_device="x"), "caching_device"),
        (lambda: tf.Variable(1.0).assign(2.0, use_locking=True), "use_locking"),
        (lambda: tf.linspace(0.0, 1.0, 3, axis=1), "axis"),
        (lambda: tf.one_hot(1, 3, on_value=2.0), "on_value"),
        (lambda: tf.matmul([[1.0]], [[1.0]], a_is_sparse=True), "a_is_sparse"),
        (lambda: tf.nn.dropout(tf.ones(3), 0.5, noise_shape=[1]), "noise_shape"),
        (lambda: tf.data.Dataset.from_tensor_slices([1, 2]).shuffle(2, reshuffle_each_iteration=False), "reshuffle"),
        (lambda: tf.while_loop(lambda k: k < 1, lambda k: k + 1, [0], back_prop=False), "back_prop"),
    ):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{absent}"):
            call()


def test_split_takes_a_number_or_the_lengths(tf):
    m = tf.constant(np.arange(12.0).reshape(2, 6))

    def lengths(*args):
        return [int(part.shape[args[1] if len(args) > 1 else 0]) for part in tf.split(m, *args)]

    assert lengths(3, 1) == lengths(tf.constant(3), 1) == lengths(np.int64(3), -1) == [2, 2, 2]
    assert lengths([1, -1, 2], 1) == lengths(np.array([1, 3, 2]), 1) == lengths(tf.constant([1, 3, 2]), 1) == [1, 3, 2]
    assert lengths(2) == [1, 1] and [p.shape[0] for p in tf.split(tf.zeros((0, 3)), 3)] == [0, 0, 0]
    for wrong, message in (
        (4, "evenly"),
        (0, "evenly"),
        (-2, "evenly"),
        ([1, 2], "must match"),
        ([-1, -1], "must match"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tf.split(m, wrong, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no axis"):
        tf.split(tf.constant(1.0), 1)
    for wrong in (2.0, [1.0, 5.0], "a", None):
        with pytest.raises(TypeError):
            tf.split(m, wrong, 1)
