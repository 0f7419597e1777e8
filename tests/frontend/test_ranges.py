"""Ranges are sequences: items, parts, methods, truth, comparisons."""

import pytest

from tests.live_runs import HEAD, module_of, outcome

PROGRAMS = {
    "range truth": """
q = range(3)
r = x if q else 2 * x""",
    "range truth empty": """
q = range(3, 3)
r = x if q else 2 * x""",
    "range truth dyn": """
q = range(int(x * 3))
r = x if q else 2 * x""",
    "range not": "r = x if not range(0) else 2 * x",
    "range slice": "r = sum(range(10)[2:5]) * x",
    "range slice step": "r = sum(range(10)[::-2]) * x + sum(range(0, 20, 3)[1:-1:2])",
    "range slice iter": """
for k in range(10)[2:8:3]:
    r = r + k * x""",
    "range slice dyn": """
n = int(x * 5)
for k in range(n)[1:-1]:
    r = r + k * x""",
    "range index": "r = x * range(3, 30, 3)[4] + range(10)[-1]",
    "range index oob": "r = x * range(3)[5]",
    "range .index": "r = x * range(3, 30, 3).index(9)",
    "range .count": "r = x * range(3, 30, 3).count(9) + range(3).count(7)",
    "range .index miss": "r = x * range(3).index(9)",
    "range in": "r = x if 9 in range(3, 30, 3) else 2 * x",
    "range in float": "r = x if 9.5 in range(30) else 2 * x",
    "range in float int": "r = x if 9.0 in range(30) else 2 * x",
    "range in dyn": "r = x if x in range(3) else 2 * x",
    "range in int dyn": "r = x if int(x * 5) in range(3, 30, 2) else 2 * x",
    "range eq": "r = x if range(0, 3, 2) == range(0, 4, 2) else 2 * x",
    "range ne": "r = x if range(0, 3, 2) != range(0, 5, 2) else 2 * x",
    "range eq list": "r = x if range(2) == [0, 1] else 2 * x",
    "range len": "r = x * len(range(10, 0, -3)) + len(range(5, 5))",
    "range len dyn": """
n = int(x * 5)
r = x * len(range(n, 0, -2)) + len(range(1, n))""",
    "range reversed": """
for k in reversed(range(2, 9, 3)):
    r = r * 2 + k * x""",
    "range reversed step": """
for k in reversed(range(9, 2, -3)):
    r = r * 2 + k * x""",
    "range neg": """
for k in range(5, -5, -2):
    r = r * 1.1 + k * x""",
    "range star": "r = h(*range(3)) * x",
    "range list star": """
q = [*range(3), x]
r = sum(q)""",
    "range attrs": """
q = range(2, 9, 3)
r = x * q.start + q.stop * q.step""",
    "range unpack": """
u, v, w2 = range(3)
r = u + v * x + w2""",
    "range hash key": """
d2 = {range(3): x}
r = d2[range(0, 3)]""",
    "range bool": "r = bool(range(3)) * x",
    "range min": "r = min(range(3, 9)) * x + max(range(0, 10, 4)) + sum(range(4))",
    "range sorted": "r = sorted(range(3), reverse=True)[0] * x",
    "range array": "r = (np.array(range(3)) * x).sum()",
    "range is": """
q = range(3)
r = x if q is q else 2 * x""",
    "range isinstance": "r = x if isinstance(range(3), range) else 2 * x",
    "range zip": """
for i, j in zip(range(3), range(5, 0, -1)):
    r = r + i * j * x""",
    "range slice arr": "r = a[range(1, 4)].sum() if False else a[list(range(1, 4))].sum()",
    "range neg index": """
q = range(10, 0, -3)
r = q[1] * x + q[-1]""",
    "range dyn index": """
n = int(x * 3)
r = range(4, 20, 2)[n] * x""",
    "range or": """
q = range(0) or range(2)
r = len(q) * x""",
}

REFUSED = {"range hash key"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path, capsys):
    text = HEAD.replace("{BODY}", PROGRAMS[name].strip().replace("\n", "\n    "))
    assert outcome(module_of(text, tmp_path, "program").f) == ("refused" if name in REFUSED else "right")
