"""``mxnet.gluon``: layers, losses, trainers."""

from __future__ import annotations

from ...space import namespace, public
from . import datasets as _data
from . import layers as _layers
from . import losses as _losses
from .block import Block, HybridBlock, Parameter
from .trainer import Trainer

nn = namespace(f"{__name__}.nn", "Layers.", _layers.MEMBERS)
loss = namespace(f"{__name__}.loss", "Losses.", _losses.MEMBERS)
data = namespace(f"{__name__}.data", "Datasets and batches.", _data.MEMBERS)
__all__ = ["Block", "HybridBlock", "Parameter", "Trainer", "data", "loss", "nn"]
__getattr__, __dir__ = public(__name__, __all__)
