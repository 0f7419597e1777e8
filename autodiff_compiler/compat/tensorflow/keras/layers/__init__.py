"""Layers, by their Keras names."""

from ..layer import Layer
from ..names import public as _public
from .activation import ELU, Activation, LeakyReLU, ReLU, Softmax
from .cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from .convolution import Conv1D, Conv2D
from .core import Dense, Dropout, Embedding, Lambda, Masking
from .input import Input, InputLayer
from .merging import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)  # fmt: skip
from .normalization import BatchNormalization, LayerNormalization
from .pooling import AveragePooling2D, GlobalAveragePooling2D, GlobalMaxPooling2D, MaxPooling2D
from .recurrent import GRU, LSTM, RNN, SimpleRNN
from .shaping import Flatten, Identity, Permute, RepeatVector, Rescaling, Reshape, ZeroPadding2D
from .wrappers import Bidirectional, TimeDistributed

MaxPool2D, AvgPool2D = MaxPooling2D, AveragePooling2D
GlobalAvgPool2D, GlobalMaxPool2D = GlobalAveragePooling2D, GlobalMaxPooling2D
Convolution1D, Convolution2D = Conv1D, Conv2D

__all__ = [
    "Activation", "Add", "Average", "AveragePooling2D", "AvgPool2D", "BatchNormalization", "Bidirectional",
    "Concatenate", "Conv1D", "Conv2D", "Convolution1D", "Convolution2D", "Dense", "Dot", "Dropout", "ELU",
    "Embedding", "Flatten", "GRU", "GRUCell", "GlobalAveragePooling2D", "GlobalAvgPool2D", "GlobalMaxPool2D",
    "GlobalMaxPooling2D", "Identity", "Input", "InputLayer", "LSTM", "LSTMCell", "Lambda", "Layer",
    "LayerNormalization", "LeakyReLU", "Masking", "MaxPool2D", "MaxPooling2D", "Maximum", "Minimum", "Multiply",
    "Permute", "RNN", "ReLU", "RepeatVector", "Rescaling", "Reshape", "SimpleRNN", "SimpleRNNCell", "Softmax",
    "StackedRNNCells", "Subtract", "TimeDistributed", "ZeroPadding2D", "add", "average", "concatenate", "dot",
    "maximum", "minimum", "multiply", "subtract",
]  # fmt: skip

__getattr__, __dir__ = _public("tf.keras.layers", __all__)
