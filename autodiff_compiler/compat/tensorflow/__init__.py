"""TensorFlow's names for eager code, over the compiler's tape: ``from autodiff_compiler.compat import tensorflow``.

There is no graph and no device: everything is NumPy, and `GradientTape` differentiates it by the compiler's own rules.
A name that is not there raises AttributeError.
"""

from __future__ import annotations

import logging
import warnings

from .namespace import lazy

# TensorFlow computes 1 / 0 and the like in silence. These warnings would come from the calls in here.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=__name__.replace(".", r"\."))

newaxis = None
__version__ = "2.21.0"


def get_logger() -> logging.Logger:
    """The logger of the warnings."""
    return logging.getLogger("tensorflow")


def executing_eagerly() -> bool:
    """True: there are no graphs."""
    return True


__getattr__, __dir__ = lazy(
    __name__,
    {
        "": "autodiff data dtypes errors image keras linalg math nn random",
        "control": "cond map_fn scan while_loop",
        "functions": "function numpy_function py_function",
        "slices": "IndexedSlices",
        "dtypes": "DType as_dtype bool=bool_ complex128 complex64 double=float64 float16 float32 float64 "
        "half=float16 int16 int32 int64 int8 string uint16 uint32 uint64 uint8",
        "shapes": "TensorShape",
        "module": "Module",
        "keras": "initializers losses optimizers",
        "tensors": "Tensor constant convert_to_tensor is_tensor",
        "variables": "Variable",
        "naming": "name_scope",
        "creation": "meshgrid range=range_",
        "shaping": "cast identity reshape transpose",
        "indexing": "boolean_mask gather where",
        "linear_algebra": "clip_by_global_norm clip_by_norm einsum matmul norm",
        "tapes": "GradientTape RegisterGradient UnconnectedGradients custom_gradient grad_pass_through gradients "
        "hessians no_gradient recompute_grad stop_gradient",
    },
    {
        "TensorArray": "Append to a Python list, and tf.stack it",
        "TensorSpec": "Convert the arguments by tf.convert_to_tensor",
        "autograph": "Functions run as they are written, so there is nothing to convert",
        "config": "Functions always run eagerly",
        "control_dependencies": "Operations run in the order of the program",
        "device": "There are no devices",
        "print": "Python's print shows tensors",
        "bfloat16": "NumPy has no such type, also with ml_dtypes: compute in tf.float32, or in tf.float16",
        "debugging": "Write assert, or if and raise",
        "nest": "Write a comprehension: tapes take and give nested structures as they are",
        "raw_ops": "Call the function of tf, tf.math or tf.nn",
        "signal": "Transform a function of np.fft with autodiff_compiler.function, and call it on tensors",
        "train": "Store the arrays of [v.numpy() for v in module.variables] with np.savez, and assign them again",
    },
)
