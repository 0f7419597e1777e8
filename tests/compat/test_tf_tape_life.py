"""TensorFlow's GradientTape: when it records, when it can be asked, and when it lets go."""

from __future__ import annotations


def test_gradient_of_a_square(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x**2
    assert tape.gradient(y, x).numpy() == 6.0
