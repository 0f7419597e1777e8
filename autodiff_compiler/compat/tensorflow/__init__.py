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
        "": "autodiff autograph bitwise config data debugging dtypes errors image keras linalg math nest nn random "
        "raw_ops signal train version",
        "control": "case cond control_dependencies device foldl foldr get_static_value group init_scope map_fn "
        "no_op print=print_ scan switch_case timestamp tuple=tuple_ vectorized_map while_loop",
        "debugging": "Assert assert_equal assert_greater assert_less assert_rank",
        "functions": "function numpy_function py_function",
        "slices": "IndexedSlices",
        "data": "TensorSpec",
        "dtypes": "DType as_dtype bool=bool_ complex128 complex64 double=float64 float16 float32 float64 "
        "half=float16 int16 int32 int64 int8 string uint16 uint32 uint64 uint8",
        "special": "histogram_fixed_width",
        "shapes": "TensorShape",
        "tensor_array": "TensorArray",
        "module": "Module",
        "keras": "initializers losses optimizers",
        "keras.initializers": "constant_initializer=Constant ones_initializer=Ones zeros_initializer=Zeros "
        "random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform",
        "tensors": "Tensor constant convert_to_tensor is_tensor",
        "variables": "Variable VariableAggregation VariableSynchronization",
        "naming": "get_current_name_scope name_scope",
        "elementwise": "abs=abs_ acos acosh add add_n asin asinh atan atan2 atanh bitcast cast complex=complex_ "
        "cos cosh divide equal exp floor greater greater_equal identity identity_n less less_equal logical_and "
        "logical_not logical_or maximum minimum multiply negative not_equal pow realdiv round saturate_cast "
        "scalar_mul sigmoid sign sin sinh sqrt square subtract tan tanh truediv truncatediv truncatemod",
        "reductions": "argmax argmin cumsum reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean "
        "reduce_min reduce_prod reduce_sum",
        "creation": "eye fill linspace meshgrid one_hot ones ones_like range=range_ sequence_mask zeros zeros_like",
        "shaping": "broadcast_dynamic_shape broadcast_static_shape broadcast_to concat ensure_shape expand_dims "
        "pad rank repeat reshape reverse reverse_sequence roll shape shape_n size slice=slice_ split squeeze "
        "stack strided_slice tile transpose unravel_index unstack",
        "indexing": "argsort boolean_mask dynamic_partition dynamic_stitch gather gather_nd scatter_nd "
        "searchsorted sort tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
        "tensor_scatter_nd_sub tensor_scatter_nd_update unique unique_with_counts where",
        "clipping": "clip_by_global_norm clip_by_norm clip_by_value",
        "linear_algebra": "einsum matmul norm tensordot",
        "gradients": "GradientTape RegisterGradient UnconnectedGradients custom_gradient grad_pass_through "
        "no_gradient recompute_grad stop_gradient",
    },
)
