"""``tf.linalg``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "linear_algebra": "adjoint band_part cholesky cholesky_solve cross det diag diag_part eigh eigvalsh "
        "einsum expm inv l2_normalize logdet lstsq matmul matrix_rank matvec norm normalize pinv qr set_diag "
        "slogdet solve svd tensor_diag tensor_diag_part tensordot trace triangular_solve",
        "shaping": "matrix_transpose",
        "creation": "eye",
        "clipping": "global_norm",
    },
)
