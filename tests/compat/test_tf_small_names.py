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
