"""The errors of the reverse transform: each says where a derivative would be lost, and why.

Takes the operation at which the derivative would be lost. Gives the exception to raise.

>>> import autodiff_compiler as ad
>>> def f(x):
...     return float(str(x))
>>> try:
...     ad.grad(f)(1.0)
... except ad.AutodiffError as error:
...     print(error.message)
no derivative rule for str with respect to its argument '*args', which depends on a differentiated input
"""

from __future__ import annotations

from ..errors import RuleLookupError, UnsupportedError
from ..families import family_of, known_versions
from ..ir.core import Loc, Op, Value


def crossing(op: Op) -> Exception:
    return UnsupportedError(
        "a derivative would have to pass through an exception, which was raised with a differentiated value",
        op.loc,
        "return the value, or bind it to a name before raising",
    )


def missing_rule(op: Op, name: str) -> Exception:
    family = family_of(op.prim.fn)
    versions = known_versions(family) if family is not None else ""
    if versions:
        error = RuleLookupError(
            f"the derivatives of {op.prim.name} are known for {versions}",
            op.loc,
            "use such a version of SciPy, or register a rule with autodiff_compiler.vjp_rule (docs/rules.md)",
        )
    elif op.prim.name.endswith(" of an object"):
        error = RuleLookupError(
            "no derivative rule where what is differentiated meets an object of which only the run tells what it is, "
            "such as a column of a table",
            _meeting(op).loc,
            "take an array of it first: column.to_numpy(), or np.asarray(...)",
        )
    else:
        error = RuleLookupError(
            f"no derivative rule for {op.prim.name} with respect to its argument {name!r}, "
            "which depends on a differentiated input",
            op.loc,
            "register one with autodiff_compiler.vjp_rule (docs/rules.md), "
            "or keep the value out of the differentiated path",
        )
    error.certain = True
    return error


def _meeting(op: Op) -> Op:
    """The first operation in which numbers meet an object, on the way to one that reads an object."""
    found, todo = op, [op]
    for reached in todo:  # which grows on the way
        kinds = [a.type.kind for a in reached.args if type(a) is Value]
        if 0 < kinds.count("object") < len(kinds):
            found = reached
        todo += [v.op for v in reached.operands() if v.op is not None and v.op not in todo]
    return found


def container_given(op: Op, name: str) -> Exception:
    return UnsupportedError(
        f"{op.prim.name} is given a list or tuple of differentiated values for its argument {name!r}, of which its "
        "derivative rule makes nothing",
        op.loc,
        "make an array of it first: np.array(...)",
    )


def tainted(op: Op, keeper: Op) -> Exception:
    what = f"what {op.prim.name} gives" if op.prim.foreign else "what is read here"
    where = f" in line {keeper.loc.line}" if keeper.loc is not None else ""
    return UnsupportedError(
        f"{what} may hold a differentiated value, whose derivative is lost: one entered "
        f"{keeper.prim.name}{where}, which keeps no record of derivatives",
        op.loc,
        "keep it in a variable, list, dictionary or object of the function's own; or, if it is no part of the result, "
        "read it in another function",
    )


def without_numbers(op: Op) -> Exception:
    return without_numbers_at(op.loc)


def without_numbers_at(loc: Loc | None) -> Exception:
    return UnsupportedError(
        "a derivative would have to pass through an array of objects, strings or records",
        loc,
        "use arrays of floats, one for each field",
    )
