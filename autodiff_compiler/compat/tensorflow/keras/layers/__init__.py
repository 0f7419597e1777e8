"""Layers, by their Keras names."""

from ..layer import Layer
from ..names import public as _public
from .activation import ELU, Activation, LeakyReLU, PReLU, ReLU, Softmax
from .attention import AdditiveAttention, Attention, MultiHeadAttention
from .cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from .convolution import Conv1D, Conv2D
from .core import (
    ActivityRegularization,
    Dense,
    Dropout,
    EinsumDense,
    Embedding,
    GaussianNoise,
    Lambda,
    Masking,
    SpatialDropout1D,
    SpatialDropout2D,
)
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
from .normalization import (
    BatchNormalization,
    GroupNormalization,
    LayerNormalization,
    RMSNormalization,
    UnitNormalization,
)
from .pooling import (
    AveragePooling1D,
    AveragePooling2D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    MaxPooling1D,
    MaxPooling2D,
)
from .preprocessing import Normalization
from .recurrent import GRU, LSTM, RNN, SimpleRNN
from .shaping import (
    Cropping2D,
    Flatten,
    Identity,
    Permute,
    RepeatVector,
    Rescaling,
    Reshape,
    UpSampling1D,
    UpSampling2D,
    ZeroPadding1D,
    ZeroPadding2D,
)
from .transposed import Conv1DTranspose, Conv2DTranspose, DepthwiseConv2D, SeparableConv2D
from .wrappers import Bidirectional, TimeDistributed

MaxPool1D, AvgPool1D = MaxPooling1D, AveragePooling1D
MaxPool2D, AvgPool2D = MaxPooling2D, AveragePooling2D
GlobalAvgPool1D, GlobalMaxPool1D = GlobalAveragePooling1D, GlobalMaxPooling1D
GlobalAvgPool2D, GlobalMaxPool2D = GlobalAveragePooling2D, GlobalMaxPooling2D
Convolution1D, Convolution2D = Conv1D, Conv2D
Convolution2DTranspose, SeparableConvolution2D = Conv2DTranspose, SeparableConv2D

__all__ = [
    "Activation", "ActivityRegularization", "Add", "AdditiveAttention", "Attention", "Average", "AveragePooling1D",
    "AveragePooling2D", "AvgPool1D", "AvgPool2D", "BatchNormalization", "Bidirectional", "Concatenate", "Conv1D",
    "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Convolution1D", "Convolution2D", "Convolution2DTranspose",
    "Cropping2D", "Dense", "DepthwiseConv2D", "Dot", "Dropout", "ELU", "EinsumDense", "Embedding", "Flatten", "GRU",
    "GRUCell", "GaussianNoise", "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAvgPool1D",
    "GlobalAvgPool2D", "GlobalMaxPool1D", "GlobalMaxPool2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D",
    "GroupNormalization", "Identity", "Input", "InputLayer", "LSTM", "LSTMCell", "Lambda", "Layer",
    "LayerNormalization", "LeakyReLU", "Masking", "MaxPool1D", "MaxPool2D", "MaxPooling1D", "MaxPooling2D",
    "Maximum", "Minimum", "MultiHeadAttention", "Multiply", "Normalization", "PReLU", "Permute", "RMSNormalization",
    "RNN", "ReLU", "RepeatVector", "Rescaling", "Reshape", "SeparableConv2D", "SeparableConvolution2D", "SimpleRNN",
    "SimpleRNNCell", "Softmax", "SpatialDropout1D", "SpatialDropout2D", "StackedRNNCells", "Subtract",
    "TimeDistributed", "UnitNormalization", "UpSampling1D", "UpSampling2D", "ZeroPadding1D", "ZeroPadding2D", "add",
    "average", "concatenate", "dot", "maximum", "minimum", "multiply", "subtract",
]  # fmt: skip

__getattr__, __dir__ = _public("tf.keras.layers", __all__)
