"""Lists whose length changes after what is read of them: the adjoint makes a list of zeros as long as the list was."""

import pytest

from tests.live_runs import module_of, outcome

MAKE = "l = []\n    for i in range(4): l.append(x * (i + 1))\n    "
PROGRAMS = {
    "pop": "return l.pop() * x",
    "pop first": "y = l.pop(); z = l.pop(0); return y * z * x",
    "pop unread": "y = l[1] * x; l.pop(); l.pop(); return y",
    "pop in a loop": "y = l[2] * x\n    for _ in range(3): l.pop()\n    return y * len(l)",
    "pop while": "y = 0.0\n    while l: y = y + l.pop() * x\n    return y",
    "pop in a try": "y = l[3] * l[2]\n    try: l.pop(); l.pop()\n    except IndexError: pass\n    return y * x",
    "pop in a branch": "y = l[3] * x\n    if x > 1.0: l.pop()\n    return y * len(l)",
    "del": "y = l[-1] * x; del l[0]; del l[-1]; l.append(3.0); return y",
    "del slice": "y = l[-1] * x; del l[1:]; return y * l[0]",
    "clear": "y = l[2] * x; l.clear(); return y",
    "append": "y = l[2] * x\n    for k in range(3): l.append(2.0)\n    return y + len(l)",
    "insert": "y = l[3] * x; l.insert(0, 1.0); return y * l[1]",
    "store": "y = l[3] * x; l[3] = 1.0; return y",
    "arrays": "m = []\n    for i in range(3): m.append(np.ones(2) * l[i])\n    y = m.pop() @ m[1]; m.pop(0); return y",
    "tuples": "m = []\n    for v in l: m.append((v, x))\n    a, b = m.pop(); m.insert(0, (1.0, 2.0)); return a * b * x",
    "deque": "q = collections.deque(l); return q.pop() * x + q.popleft()",
    "two lists": "m = [l, l[:]]; y = m[0].pop() * m[1][3]; m[1].pop(); return y * len(l)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    text = f"import collections\nimport numpy as np\ndef f(x):\n    {MAKE}{PROGRAMS[name]}\n"
    text += "def g(x):\n    s = 0.0\n    for k in range(2): s = s + f(x) * (k + 1)\n    return s\n"
    module = module_of(text, tmp_path, "short")
    assert outcome(module.f) == "right"
    assert outcome(module.g) in ("right", "refused")
