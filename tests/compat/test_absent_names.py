"""What names that are not there raise: AttributeError for attributes, ImportError for imports, with what is close."""

from __future__ import annotations

import pytest

import autodiff_compiler.compat.tensorflow as tf

PACKAGE = "autodiff_compiler.compat"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "tensorflow.keras.layers import Dens",
            "cannot import name 'Dens' from 'tf.keras.layers'. Did you mean: 'Dense'",
        ),
        ("tensorflow.keras.layers import Dense, ConvLSTM2D", "cannot import name 'ConvLSTM2D' from 'tf.keras.layers'"),
        ("tensorflow.keras.optimizers import (Adam,\n Adom)", "cannot import name 'Adom' from .*Did you mean: 'Adam'"),
        ("tensorflow import Tensr", "cannot import name 'Tensr' from .*Did you mean: 'Tensor'"),
        ("tensorflow.keras import datasets", "cannot import name 'datasets' from 'tf.keras'"),
        ("tensorflow.math import sine", "cannot import name 'sine' from .*Did you mean: 'sin'"),
        ("torch.nn import Linea", "cannot import name 'Linea' from .*Did you mean: 'Linear'"),
        ("mxnet import autogrd", "cannot import name 'autogrd' from .*Did you mean: 'autograd'"),
    ],
)
def test_an_import_says_what_is_there(line, message):
    with pytest.raises(ImportError, match=message):
        exec(f"from {PACKAGE}.{line}")


def test_an_attribute_does_so_too():
    with pytest.raises(AttributeError, match="has no attribute 'Dens'. Did you mean: 'Dense'"):
        tf.keras.layers.Dens
    assert not hasattr(tf.keras.layers, "Dens") and getattr(tf.math, "sine", 3) == 3


def test_everything_can_be_imported_at_once():
    names = {}
    exec(f"from {PACKAGE}.tensorflow.keras.layers import *", names)
    assert "Conv2D" in names and "Dense" in names
