"""New arrays of one number, in a shape or in the shape of another array."""

from __future__ import annotations

import numpy as np

from .row import row

row("creation", np.zeros, "Zeros", "Zeros, float32 unless told otherwise.", "zeros", "torch.zeros torch.empty",
    "np.zeros np.empty")  # fmt: skip
row("creation", np.ones, "Ones", "Ones, float32 unless told otherwise.", "ones", "torch.ones", "np.ones")
row("likeness", np.zeros_like, "ZerosLike", "Zeros in the shape and dtype of another.", "zeros_like",
    "torch.zeros_like torch.empty_like", "np.zeros_like np.empty_like")  # fmt: skip
row("likeness", np.ones_like, "OnesLike", "Ones in the shape and dtype of another.", "ones_like", "torch.ones_like",
    "np.ones_like")  # fmt: skip
row("likeness", np.full_like, "FullLike", "One number in the shape and dtype of another.", "",
    "torch.full_like (input, fill_value, *, dtype=None, **options)",
    "np.full_like (a, fill_value, dtype=None)")  # fmt: skip
row("arrays", lambda n, m, batch, dtype: np.broadcast_to(np.eye(n, m, dtype=dtype), (*(batch or ()), n, m or n)), "Eye",
    "The identity matrix, or a batch of it.",
    "eye linalg.eye (num_rows, num_columns=None, batch_shape=None, dtype='float32', name=None)",
    operands=0)  # fmt: skip
