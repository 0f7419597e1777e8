"""A view that a loop binds, stores through and leaves behind is read after the loop."""

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.live_runs import module_of

STORES = {
    "scale": "q *= 1.1",
    "add": "q += x[0]",
    "item": "q[0] = q[1] * q[0]",
    "out": "np.multiply(q, x[0], out=q)",
    "helper": "q = h(q, x)",
    "some trips": "if x[i] > 1.0:\n            q *= 1.1",
    "view of it": "q *= x[0]\n        r = q[:1]\n        r *= q[1]",
    "swap": "q *= 1.1\n        a, b = b, a",
    "sum": "q *= x[i]\n        s = q.sum() + s",
}
LOOPS = {
    "for": "for i in range(3):\n        {}",
    "for break": "for i in range(3):\n        {}\n        if i == 1 and q[0] > 0.0:\n            break",
    "while": "i = -1\n    while i < 2:\n        i += 1\n        {}",
    "array": "for i, _ in enumerate(x):\n        {}",
    "else": "for i in range(3):\n        {}\n    else:\n        q[1] = x[2]",
    "finally": "try:\n      for i in range(3):\n        {}\n        s += x[i]\n    finally:\n        s = s * 2.0",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_view_after_loop(loop, tmp_path):
    views = ("a[1:]", "a[::-1]", "a.reshape(3, 1)[:, 0]", "a[None, :2][0]")
    text = "import numpy as np\ndef h(v, x):\n    v *= x[0]\n    return v\n"
    programs = [(store, view) for k, store in enumerate(STORES) for view in (views[0], views[1 + k % 3])]
    for k, (store, view) in enumerate(programs):
        body = LOOPS[loop].format(f"q = {view}\n        {STORES[store]}")
        text += (
            f"def f{k}(x):\n    a, b, s = x * 2, x * 3, 0.0\n    {body}\n    return (a * a).sum() + q[0] * s + q[1]\n"
        )
    module = module_of(text, tmp_path, "program")
    x = np.array([0.7, 1.3, 0.4])
    for k, program in enumerate(programs):
        f = getattr(module, f"f{k}")
        value, grad = ad.value_and_grad(f)(x)
        slope = [(f(x + e) - f(x - e)) / 2e-6 for e in np.eye(3) * 1e-6]
        assert abs(value - f(x)) < 1e-9 and np.allclose(grad, slope, rtol=1e-5, atol=1e-6), program
