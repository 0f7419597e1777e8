"""Which functions of NumPy's give arrays whose axes are in C order in memory, by the names of their primitives."""

IN_C_ORDER = frozenset({"np.zeros", "np.ones", "np.empty", "np.full", "np.arange", "np.eye", "np.identity", "np.dot"})
# Their results are new, and in C order if their operands are, besides those of elementwise functions.
KEEP_C_ORDER = frozenset({
    "np.sum", "np.mean", "np.prod", "np.max", "np.min", "np.amax", "np.amin", "np.std", "np.var", "np.cumsum",
    "np.cumprod", "np.where", "np.zeros_like", "np.ones_like", "np.full_like", "np.empty_like", "np.stack",
    "np.concatenate", "np.vstack", "np.hstack", "np.outer", "np.clip", "np.tile", "np.array", "np.copy", "np.round",
})  # fmt: skip
