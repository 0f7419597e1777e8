"""`tf.train.Checkpoint` and `CheckpointManager`: what is written comes back."""

from __future__ import annotations

import os

import numpy as np
import pytest


def trained(tf, steps):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    optimizer = tf.keras.optimizers.Adam(0.1)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(np.ones((4, 3), np.float32)) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return model, optimizer


def test_training_goes_on_where_it_ended(tf, tmp_path):
    model, optimizer = trained(tf, 3)
    step = tf.Variable(3)
    path = tf.train.Checkpoint(step=step, optimizer=optimizer, net=model).save(tmp_path / "run" / "ckpt")
    assert os.path.basename(path) == "ckpt-1"
    other, other_optimizer = trained(tf, 1)
    checkpoint = tf.train.Checkpoint(step=tf.Variable(0), optimizer=other_optimizer, net=other)
    checkpoint.restore(path).assert_consumed()
    assert int(checkpoint.step) == 3 and int(other_optimizer.iterations) == 3
    for a, b in zip(model.get_weights() + [v.numpy() for v in optimizer.variables],
                    other.get_weights() + [v.numpy() for v in other_optimizer.variables]):  # fmt: skip
        np.testing.assert_array_equal(a, b)


def test_modules_lists_and_mappings(tf, tmp_path):
    module = tf.Module()
    module.a, module.l, module.d = tf.Variable(2.0), [tf.Variable(3.0)], {"k": tf.Variable([4.0, 5.0])}
    path = tf.train.Checkpoint(module).write(str(tmp_path / "m"))
    assert os.path.basename(path) == "m"
    value = "/.ATTRIBUTES/VARIABLE_VALUE"
    listed = [entry for entry in tf.train.list_variables(path) if not entry[0].startswith("_")]
    assert listed == [("a" + value, []), ("d/k" + value, [2]), ("l/0" + value, [])]
    assert tf.train.load_variable(path, "d/k" + value).tolist() == [4.0, 5.0]
    for v in module.variables:
        v.assign(tf.zeros_like(v))
    tf.train.Checkpoint(module).read(path)
    assert [v.numpy().tolist() for v in module.variables] == [2.0, [4.0, 5.0], 3.0]


def test_a_manager_keeps_the_last_ones(tf, tmp_path):
    v = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "kept"), max_to_keep=2)
    assert manager.latest_checkpoint is None
    checkpoint.restore(manager.latest_checkpoint)
    for k in range(4):
        v.assign(float(k))
        manager.save()
    assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-3", "ckpt-4"]
    assert os.path.basename(tf.train.latest_checkpoint(str(tmp_path / "kept"))) == "ckpt-4"
    checkpoint.restore(manager.checkpoints[0])
    assert v.numpy() == 2.0
    again = tf.train.CheckpointManager(checkpoint, str(tmp_path / "kept"), max_to_keep=2)
    assert os.path.basename(again.restore_or_initialize()) == "ckpt-4" and v.numpy() == 3.0
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        checkpoint.restore(str(tmp_path / "kept" / "ckpt-1"))


def test_what_does_not_fit(tf, tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(str(tmp_path / "v"))
    with pytest.raises(ValueError, match=r"Received incompatible tensor with shape \(\) when attempting to restore"):
        tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).restore(path)
    status = tf.train.Checkpoint(w=tf.Variable(1.0)).restore(path)
    with pytest.raises(AssertionError, match=r"Found \d Python objects that were not bound to checkpointed values"):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError):
        tf.train.Checkpoint().restore(path).assert_consumed()
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
