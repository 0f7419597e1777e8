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


REFUSED = [
    ("tf.split(v, 2)", "should evenly divide the split dimension"),
    ("tf.split(v, [1, 1])", "must match input shape along split_dim"),
    ("tf.slice(v, [2], [2])", "Expected size"),
    ("tf.unstack(tf.constant(1.0))", "not in range"),
    ("tf.pad(v, [[1, 1]], 'WRAP')", 'is one of "CONSTANT"'),
    ("tf.concat([v, tf.ones((1, 1))], 0)", "dimensions"),
    ("tf.stack([v, v[:2]])", "same shape"),
    ("tf.add_n([v, v[:2]])", "one shape"),
    ("tf.transpose(v, [0, 1])", "axes"),
    ("tf.reshape(v, [-1, 2])", "requires a multiple of 2"),
    ("tf.ensure_shape(v, [None, 2])", "not compatible"),
    ("tf.gather(v, [3])", "is not in"),
    ("tf.gather(v, [-1])", "is not in"),
    ("tf.gather_nd(v, [[3]])", "does not index into shape"),
    ("tf.gather_nd(v, [[0, 0]])", "innermost dimension length"),
    ("tf.tensor_scatter_nd_add(v, [[0]], [1.0, 2.0])", "updates for these indices have the shape"),
    ("tf.nn.top_k(v, 4)", "at least k columns"),
    ("tf.nn.bias_add(v[None], [1.0])", "Must provide 3 biases"),
    ("tf.nn.conv2d(image, tf.ones((2, 2, 2, 1)), 1, 'SAME')", "evenly divisible by filter depth"),
    ("tf.nn.conv2d(image, v, 1, 'SAME')", "equally many dimensions"),
    ("tf.nn.conv2d(image, tf.ones((2, 2, 3, 1)), 1, 'SAME', 'NCHW')", "the channels come last here"),
    ("tf.nn.depthwise_conv2d(image, tf.ones((2, 2, 2, 1)), 1, 'SAME')", "must have the same depth"),
    ("tf.nn.conv2d_transpose(image, tf.ones((2, 2, 5, 3)), [1, 4, 4, 3], 1)", "does not match batch 1 and outputs 5"),
    ("tf.squeeze(v, 0)", "Can not squeeze"),
    ("tf.nn.softmax_cross_entropy_with_logits(tf.ones((2, 2)), v)", "broadcast"),
    ("tf.nn.sparse_softmax_cross_entropy_with_logits(5, v)", "outside the valid range"),
    ("tf.linalg.cholesky(-tf.eye(2))", "Cholesky decomposition was not successful"),
    ("tf.fill([2], v)", "must be a scalar"),
    ("tf.range(0, 3, 0)", "Requires delta != 0"),
]


@pytest.mark.parametrize(("expression", "message"), REFUSED)
def test_what_operations_refuse(tf, expression, message):
    names = {"tf": tf, "v": tf.constant([1.0, 2.0, 3.0]), "image": tf.ones((1, 4, 4, 3))}
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        eval(expression, names)
    assert message in str(caught.value)


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
