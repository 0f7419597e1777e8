"""`tf.data`: a pipeline of a small data set."""

from __future__ import annotations

import numpy as np
import pytest


def test_a_pipeline(tf):
    x, y = np.arange(10.0, dtype=np.float32).reshape(5, 2), np.arange(5)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    assert len(dataset) == 5 and len(dataset.batch(2)) == 3 and len(dataset.batch(2, drop_remainder=True)) == 2
    batches = list(dataset.batch(2))
    assert [tuple(a.shape) for a, _ in batches] == [(2, 2), (2, 2), (1, 2)]
    assert batches[1][0].numpy().tolist() == [[4.0, 5.0], [6.0, 7.0]] and batches[1][1].dtype == tf.int64
    shuffled = dataset.shuffle(5, seed=1)
    assert sorted(int(b) for _, b in shuffled) == [0, 1, 2, 3, 4]
    assert [tuple(b.shape) for _, b in dataset.shuffle(3).batch(4)] == [(4,), (1,)]


def test_mappings_are_structure(tf):
    dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]})
    assert [(int(e["a"]), e["b"].numpy().tolist()) for e in dataset] == [(1, [1.0]), (2, [2.0])]


def test_lengths_that_differ(tf):
    with pytest.raises(ValueError):
        tf.data.Dataset.from_tensor_slices((np.ones(2), np.ones(3)))


def test_no_gradient_passes(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = sum(tf.data.Dataset.from_tensor_slices(v * 2.0))
    assert float(y) == 6.0 and tape.gradient(y, v) is None
