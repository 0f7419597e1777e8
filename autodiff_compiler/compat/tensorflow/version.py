"""``tf.version``: the version of TensorFlow whose behaviour this follows."""

VERSION = "2.21.0"
