"""One table of operations, from which the modules of TensorFlow, PyTorch and MXNet are made.

To add an operation to all three, add one row to the module of its family:

    row("function", np.cbrt, "Cbrt", "The cube root.", "math.cbrt", "cbrt cbrt_", "npx.cbrt")

The first argument is the kind: how arguments become arrays. The second computes the operation on arrays, with NumPy's
functions, the kernels and `autodiff_compiler.nn`; its derivative is the compiler's. Then come the name that graphs and
messages have, what `help` says, and the places in TensorFlow, PyTorch and MXNet. A place is a name with its module. In
PyTorch a bare name is a function and a method, ``.name`` only a method, ``torch.name`` only a function, and a name that
ends in ``_`` writes into its first operand. The parameters are those of the kind, unless they follow in parentheses:

    row("arrays", kernels.logsumexp, "LogSumExp", "...", "reduce_logsumexp (input_tensor, axis=None, keepdims=False)")

Where a system has other values or slopes than the rest (NaN, ties, integers), `own` gives its computing function.

The kinds, and what they take:

- "function": a smooth function of each element; "root": one whose slope is infinite at 0; "plain": one that also takes
  integers in TensorFlow; "activation": one that may have settings.
- "step": a step function, by which TensorFlow gives no gradient; "still": one whose gradient is zeros; "predicate": a
  function without gradient.
- "operator": what Python has an operator for; "pair": another function of two tensors of one dtype; "comparison" and
  "logical": functions of two tensors without gradient.
- "reduction": sums, means and the like; "truth": `any`, `all`; "index": `argmax`, `argmin`; "running": running sums.
- "along": functions of the rows along an axis, such as softmax.
- "creation": arrays of a shape; "new": other arrays of numbers; "likeness": arrays in the shape and dtype of another,
  without gradient.
- "elements": functions of each element of `operands` tensors or numbers, in the dtype that these promote to; then
  settings.
- "view": what shares the memory of its operand. Only PyTorch has rows of these two kinds.
- "arrays": everything else. In TensorFlow the first `operands` parameters are tensors, and the first is a list of them
  where `operands` is -1; in PyTorch all that are tensors.

Optimizers, and most losses, are not rows: `optimizers` and `losses` have their one implementation, and the systems'
functions differ in arguments and messages. The same holds for convolution and pooling with the channels first.
"""

from __future__ import annotations

import functools

from ... import tape  # noqa: F401  (as in `module_tables`: this package may be a layer's first import)
from . import activations as activations
from . import creation as creation
from . import elementwise as elementwise
from . import indexing as indexing
from . import linear_algebra as linear_algebra
from . import losses as losses
from . import reductions as reductions
from . import scattering as scattering
from . import shaping as shaping
from . import sorting as sorting
from . import windows as windows
from .row import ROWS, Row

__all__ = ["ROWS", "Row", "entries"]


@functools.cache
def entries(system: str) -> dict[str, dict[str, Row]]:
    """The rows of a system, by module and name; the system itself is the module ``""``."""
    found: dict[str, dict[str, Row]] = {"": {}}
    for made in ROWS:
        for place in made.names(system):
            module, _, name = place.rpartition(".")
            found.setdefault(module, {})[name] = made
    return found
