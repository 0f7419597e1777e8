"""Names around the edges that programs use: strings, initializers of `tf`."""

from __future__ import annotations

import numpy as np
import pytest


def test_strings_are_joined(tf):
    assert (tf.constant("a") + tf.constant("b")).numpy() == b"ab"
    assert (tf.constant("a") + "b").dtype == tf.string
    assert (tf.constant(["a", "bb"]) + "c").numpy().tolist() == [b"ac", b"bbc"]


def test_initializers_of_tf(tf):
    assert tf.ones_initializer()((2,), dtype=tf.int32).numpy().tolist() == [1, 1]
    assert tf.zeros_initializer()((2,)).dtype == tf.float32
    assert tf.constant_initializer(2.0)((2,)).numpy().tolist() == [2.0, 2.0]
    assert tf.random_normal_initializer(stddev=0.1)((3, 2)).shape == (3, 2)
    assert float(np.abs(tf.random_uniform_initializer(-0.5, 0.5)((30,))).max()) <= 0.5


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
