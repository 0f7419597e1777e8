"""Layers, by their Keras names."""

from ..layer import Layer
from ..names import public as _public
from .activation import ELU, Activation, LeakyReLU, ReLU, Softmax
from .convolution import Conv1D, Conv2D
from .core import Dense, Dropout, Embedding, Lambda
from .input import Input, InputLayer
from .merging import Add, Average, Concatenate, Maximum, Minimum, Multiply, Subtract
from .normalization import BatchNormalization, LayerNormalization
from .pooling import AveragePooling2D, GlobalAveragePooling2D, GlobalMaxPooling2D, MaxPooling2D
from .shaping import Flatten, Identity, Permute, RepeatVector, Rescaling, Reshape, ZeroPadding2D

MaxPool2D, AvgPool2D = MaxPooling2D, AveragePooling2D
GlobalAvgPool2D, GlobalMaxPool2D = GlobalAveragePooling2D, GlobalMaxPooling2D
Convolution1D, Convolution2D = Conv1D, Conv2D

__all__ = [
    "Activation", "Add", "Average", "AveragePooling2D", "AvgPool2D", "BatchNormalization", "Concatenate", "Conv1D",
    "Conv2D", "Convolution1D", "Convolution2D", "Dense", "Dropout", "ELU", "Embedding", "Flatten",
    "GlobalAveragePooling2D", "GlobalAvgPool2D", "GlobalMaxPool2D", "GlobalMaxPooling2D", "Identity", "Input",
    "InputLayer", "Lambda", "Layer", "LayerNormalization", "LeakyReLU", "MaxPool2D", "MaxPooling2D", "Maximum",
    "Minimum", "Multiply", "Permute", "ReLU", "RepeatVector", "Rescaling", "Reshape", "Softmax", "Subtract",
    "ZeroPadding2D",
]  # fmt: skip

__getattr__, __dir__ = _public("tf.keras.layers", __all__)
