"""``tf.linalg``."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "linear_algebra": "adjoint band_part cholesky cholesky_solve det diag diag_part eigh eigvalsh "
        "einsum inv l2_normalize logdet matmul matvec norm pinv qr "
        "slogdet solve svd tensordot trace triangular_solve",
        "shaping": "matrix_transpose",
        "creation": "eye",
        "clipping": "global_norm",
    },
)
