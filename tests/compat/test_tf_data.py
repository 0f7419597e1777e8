"""`tf.data`: datasets as TensorFlow's guide has them."""

from __future__ import annotations

import pytest


def values(dataset):
    return [x.tolist() if hasattr(x, "tolist") else x for x in dataset.as_numpy_iterator()]


def test_padded_batches(tf):
    dataset = tf.data.Dataset.range(1, 5).map(lambda x: (tf.fill([x], x), x))
    (first, _), (second, numbers) = dataset.padded_batch(2).as_numpy_iterator()
    assert first.tolist() == [[1, 0], [2, 2]] and second.tolist() == [[3, 3, 3, 0], [4, 4, 4, 4]]
    assert numbers.tolist() == [3, 4]
    minus = (tf.constant(-1, tf.int64), tf.constant(0, tf.int64))
    (first, _), _ = (
        dataset.padded_batch(2, padded_shapes=([3], []), padding_values=minus)
        .take(1)
        .concatenate(dataset.padded_batch(2).take(1))
    )
    assert first.numpy().tolist() == [[1, -1, -1], [2, 2, -1]]
    with pytest.raises(tf.errors.DataLossError, match="Attempted to pad to a smaller size than the input element"):
        list(dataset.padded_batch(2, padded_shapes=([1], [])))


def test_windows(tf):
    parts = tf.data.Dataset.range(7).window(3, shift=2, stride=2)
    assert [values(w) for w in parts] == [[0, 2, 4], [2, 4, 6], [4, 6], [6]]
    whole = tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    assert values(whole) == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    pairs = tf.data.Dataset.range(3).map(lambda x: (x, x * 2)).window(2)
    assert [[values(a), values(b)] for a, b in pairs] == [[[0, 1], [0, 2]], [[2], [4]]]


def test_interleaved(tf):
    def ten(x):
        return tf.data.Dataset.range(x + 1).map(lambda y: x * 10 + y)

    dataset = tf.data.Dataset.range(4).interleave(ten, cycle_length=2, block_length=2)
    assert values(dataset) == [0, 10, 11, 20, 21, 22, 30, 31, 32, 33]
    dataset = tf.data.Dataset.range(3).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
    assert values(dataset) == [0, 1, 0, 1, 2, 2]


def test_states_and_conditions(tf):
    numbers = tf.data.Dataset.range(5)
    assert values(numbers.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))) == [0, 1, 3, 6, 10]
    assert values(numbers.take_while(lambda x: x < 3)) == [0, 1, 2]
    assert values(tf.data.Dataset.from_tensor_slices([1, 1, 2, 1]).unique()) == [1, 2]
    assert values(numbers.apply(lambda d: d.take(2))) == [0, 1]


def test_specs_know_that_the_last_batch_is_shorter(tf):
    batched = tf.data.Dataset.range(6).batch(4)
    spec = "element_spec=TensorSpec(shape=(None,), dtype=tf.int64, name=None)>"
    assert [repr(d) for d in (batched, batched.prefetch(1), batched.take(1), batched.map(lambda x: x * 2))] == [
        f"<{kind} {spec}" for kind in ("_BatchDataset", "_PrefetchDataset", "_TakeDataset", "_MapDataset")
    ]
    assert repr(tf.data.Dataset.range(6).batch(2, drop_remainder=True)) == (
        "<_BatchDataset element_spec=TensorSpec(shape=(2,), dtype=tf.int64, name=None)>"
    )
    assert repr(tf.data.Dataset.range(6).window(2)) == (
        "<_WindowDataset element_spec=DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))>"
    )


def test_elements_of_other_shapes_are_no_batch(tf):
    dataset = tf.data.Dataset.range(1, 3).map(lambda x: tf.fill([x], x)).batch(2)
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"Cannot add tensor to the batch: number of elements does not match. Shapes are: \[tensor\]: \[2\], ",
    ):
        list(dataset)
