"""`python -m tests.public PACKAGE ...`: the figures by package, what is refused and why, and what is wrong."""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from .judging import Verdict, judged
from .recording import Recorded, record

KINDS = ("right", "edge", "refused", "wrong", "crashed", "slow", "useless")


def run(
    package: str,
    calls: int,
    seconds: float,
    only: str,
    verbose: bool,
    before: list[Verdict] | None = None,
    sample: int | None = None,
) -> list[Verdict]:
    """The verdicts on a package. Of an earlier run, those that were right or of no use are taken over."""
    verdicts = []
    recorded = sampled([call for call in record(package, calls, 20.0) if only in call.target.name], sample)
    known: dict[str, list[Verdict]] = {}
    for verdict in before or ():
        known.setdefault(verdict.name, []).append(verdict)
    for number, call in enumerate(recorded):
        if known.get(call.target.name):
            verdict = known[call.target.name].pop(0)
            if verdict.kind in ("right", "useless"):
                verdicts.append(verdict)
                continue
        verdict = judged(call, seconds, number)
        verdicts.append(verdict)
        if verbose:
            print(
                f"{verdict.kind:8} {verdict.name} {verdict.reason} {verdict.seconds:.1f}", file=sys.stderr, flush=True
            )
    return verdicts


def sampled(recorded: list[Recorded], count: int | None) -> list[Recorded]:
    """The calls of so many functions. Which ones depends on their names alone, so a later run takes the same."""
    names = sorted({call.target.name for call in recorded}, key=lambda name: hashlib.md5(name.encode()).digest())
    chosen = set(names[:count])
    return [call for call in recorded if call.target.name in chosen]


def table(by_package: dict[str, list[Verdict]]) -> str:
    lines = [
        "| package | calls of use | right | edge | refused | wrong | crashed | slow | of no use |",
        "|---|" + "---|" * 8,
    ]
    rows = dict(by_package)
    if len(rows) > 1:
        rows["all"] = [verdict for verdicts in by_package.values() for verdict in verdicts]
    for package, verdicts in rows.items():
        counts = collections.Counter(verdict.kind for verdict in verdicts)
        of_use = sum(counts.values()) - counts["useless"]
        share = f" ({100 * counts['right'] / of_use:.1f} %)" if of_use else ""
        rest = " | ".join(str(counts[kind]) for kind in KINDS[1:])
        lines.append(f"| {package} | {of_use} | {counts['right']}{share} | {rest} |")
    return "\n".join(lines)


def reasons(verdicts: list[Verdict], kinds: tuple[str, ...], examples: int) -> str:
    found = collections.Counter((v.kind, v.reason) for v in verdicts if v.kind in kinds)
    lines = []
    for (kind, reason), count in found.most_common():
        same = [v for v in verdicts if (v.kind, v.reason) == (kind, reason)]
        lines.append(f"{count:4} {kind}: {reason}")
        for verdict in same[:examples]:
            lines.append(f"       {verdict.name}")
            lines += ["          " + line for line in verdict.detail.splitlines()[-4:]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.public", description=__doc__)
    parser.add_argument("packages", nargs="+", help="names of packages as they are imported")
    parser.add_argument(
        "--calls", type=int, default=2, help="calls of each function, with arguments of different kinds"
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="for each call")
    parser.add_argument("--only", default="", help="a part of the names of the functions to look at")
    parser.add_argument("--sample", type=int, help="look at so many functions of each package only, always the same")
    parser.add_argument("--examples", type=int, default=2, help="of each reason")
    parser.add_argument("--json", type=Path, help="a file to which all verdicts are written")
    parser.add_argument("--again", action="store_true", help="only what was neither right nor of no use in that file")
    parser.add_argument("--verbose", action="store_true", help="one line for each call")
    given = parser.parse_args()
    os.environ.setdefault("AUTODIFF_COMPILER_CHECK", "1")
    os.environ.setdefault("AUTODIFF_COMPILER_CACHE", "off")
    os.environ.setdefault("AUTODIFF_COMPILER_NOTICE", "off")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    by_package: dict[str, list[Verdict]] = {}
    earlier = json.loads(given.json.read_text()) if given.again else {}
    for package in given.packages:
        before = [Verdict(**verdict) for verdict in earlier.get(package, ())]
        by_package[package] = run(package, given.calls, given.seconds, given.only, given.verbose, before, given.sample)
        if given.json:
            given.json.write_text(json.dumps({p: [asdict(v) for v in vs] for p, vs in by_package.items()}, indent=1))
    verdicts = [verdict for group in by_package.values() for verdict in group]
    print(table(by_package), "\n")
    print(reasons(verdicts, KINDS[1:6], given.examples), "\n")
    print(reasons(verdicts, KINDS[6:], 0))
    for verdict in verdicts:
        if verdict.kind in ("wrong", "crashed"):
            print(f"\n# {verdict.kind}: {verdict.name}\n# " + verdict.detail.replace("\n", "\n# "))
            print(verdict.program)
