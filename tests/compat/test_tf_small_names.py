"""Names around the edges that programs use: strings."""

from __future__ import annotations

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
