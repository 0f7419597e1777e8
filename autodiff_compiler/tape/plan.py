"""Plans: the gradient that a training loop asks for at each step, as one generated function.

At each step, a training loop records the same structure, and asks for the gradient of the same slot by the same leaves.
After some steps, the node that the recording has reached has a plan. It compares what is asked for with what it was
made for, runs the pullback, and makes the tensors. Where something differs it gives None, and `gradient` goes the
general way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..codegen.load import load
from .recording import CONSTANT, NOTHING, Recording

if TYPE_CHECKING:
    from .pullback import Pullback, Request

AFTER = 4  # gradients; to make a plan takes longer than they do
MAX_LEAVES = 64  # the text has some lines for each leaf
MAX_NEEDED = 64
Plan = Callable[[Any, Recording, Any, Any], Any]

_TEXT = """
def plan(tape, rec, target, sources):
    values = rec.values
    if (
        {one}tape._spans is not spans
        or tape._watched != watched
        or tape._auto is not auto
        or tape._backend != "numpy"
        or len(values) != {count}
        or rec.versions is not NOTHING
        or rec.barriers is not NOTHING
        or rec.absorbed is not NOTHING
    ):
        return None
    try:
        if target._token is not rec.token or target._slot != {target}:
            return None
        {sources} = {given}
        leaves = rec.known.values()
        {leaves} = leaves
        if {others}:
            return None
        if ({unlike}) and exact[{kinds}] is not pull:
            return None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    {results} = run({needed})
    tape._ran = ran
    if not tape._persistent:
{seen}        tape._rec = None
        tape._spans = tape._watched = ()
{tensors}
    return {out}
"""
_SEEN = """\
        seen = tape._seen
        read = ({leaves}, rec.node, spans)
        tape._seen = (*seen, read) if seen else (read,)
"""
_TENSOR = """
    t{k} = class{k}()
    t{k}._value = g{k}
    t{k}._token = CONSTANT
    t{k}._slot = -1
"""


def plan_for(tape: Any, rec: Recording, ask: Request, pull: Pullback, sources: Sequence[Any]) -> Plan | None:
    """The plan for the gradient that is just asked for. None if it is of no training loop, or of a very large one."""
    leaves = list(rec.known.values())
    if tape._spans is not rec.node.whole or rec.absorbed or pull.complex or len(leaves) > MAX_LEAVES:
        return None
    scope: dict[str, Any] = {
        "CONSTANT": CONSTANT, "NOTHING": NOTHING, "spans": tape._spans, "watched": tape._watched, "auto": tape._auto,
        "pull": pull, "exact": ask.exact, "run": pull.run, "fetch": pull.fetch, "ran": (pull,),
    }  # fmt: skip
    places = {slot: k for k, (slot, _) in enumerate(leaves)}
    others, unlike = [], []
    for k, (x, slot) in enumerate(zip(sources, ask.sources)):
        j = places[slot]
        others.append(f"s{k} is not x{j} or a{j} != {slot} or type(s{k}) is not source{k}")
        scope[f"source{k}"], scope[f"class{k}"] = type(x), x._tensor_class
    for k, (part, kind) in enumerate(zip(ask.kinds, ask.kind_of(rec.values))):
        unlike.append(f"{part} {'!=' if type(kind) is tuple else 'is not'} kind{k}")
        scope[f"kind{k}"] = kind
    variables = [j for j, (_, x) in enumerate(leaves) if x._trainable]
    read = "".join(f"(a{j}, x{j}), " for j in variables)
    count = len(sources)
    names = ", ".join(f"t{k}" for k in range(count))
    text = _TEXT.format(
        one="" if count == 1 else "type(sources) is not list\n        or ",
        count=rec.node.count,
        target=ask.targets[0],
        sources="".join(f"s{k}, " for k in range(count)),
        given="sources if type(sources) is list else (sources,)" if count == 1 else "sources",
        leaves="".join(f"(a{j}, x{j}), " for j in range(len(leaves))),
        others=" or ".join(others),
        unlike=" or ".join(unlike) or "False",
        kinds="(" + "".join(f"{part}, " for part in ask.kinds) + ")",
        results=", ".join(f"g{k}" for k in range(count)),
        needed=", ".join(f"values[{s}]" for s in pull.needed) if len(pull.needed) <= MAX_NEEDED else "*fetch(values)",
        seen=_SEEN.format(leaves="leaves" if len(variables) == len(leaves) else f"({read})")
        if variables and tape._auto
        else "",
        tensors="".join(_TENSOR.format(k=k) for k in range(count)),
        out="[t0] if type(sources) is list else t0" if count == 1 else f"[{names}]",
    )
    return load(text, "plan", scope)
