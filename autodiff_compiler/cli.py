"""The command line: show, check and time the gradient of a function in a file.

python -m autodiff_compiler show  FILE.py:FUNCTION
python -m autodiff_compiler check FILE.py:FUNCTION --inputs "(np.ones(3), 0.5)"
python -m autodiff_compiler bench FILE.py:FUNCTION --inputs data.npz
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import inspect
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_STEP = 6e-6  # about the cube root of a double's precision, where central differences are best
_NO_INPUTS = """\
no inputs for {name}. Put a function next to it that returns a tuple of arguments,

    def example_inputs():
        return (np.ones(3), 0.5)

or pass --inputs "(np.ones(3), 0.5)", or --inputs FILE.npz with an array for each parameter. If functions in the file
need different inputs, call the one for this function {name}_example_inputs"""


class UserError(Exception):
    """An error that is reported without a traceback."""


@dataclass
class Target:
    """A function and the arguments to call it with."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    names: list[str]  # of the positional arguments
    argnums: int | tuple[int, ...]

    def positions(self) -> tuple[int, ...]:
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)


# Finding the function and its inputs ---------------------------------------------------------------


def _describe(error: BaseException) -> str:
    """An exception of the user's code as text: its place, class and message."""
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {text}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename != __file__ and not frame.filename.startswith("<"):
            return f"{frame.filename}:{frame.lineno}: {text}"
    return text


def _load_module(path: str) -> Any:
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path}")
    stem = os.path.splitext(os.path.basename(path))[0]
    # A file with the name of an imported module must not replace it.
    name = f"_autodiff_file_{stem}" if stem in sys.modules else stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # as Python does for a script
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UserError(f"cannot load {path}: {_describe(error)}") from error
    return module


def _evaluate_inputs(text: str, module: Any) -> Any:
    if text.endswith(".npz"):
        try:
            with np.load(text, allow_pickle=False) as data:
                # A 0-d array stands for a number.
                return {key: data[key].item() if data[key].ndim == 0 else data[key] for key in data.files}
        except (OSError, ValueError) as error:
            raise UserError(f"cannot read {text}: {error}") from error
    try:
        return eval(text, {"np": np, **vars(module)})
    except Exception as error:
        raise UserError(f"--inputs {text!r} raises {type(error).__name__}: {error}") from error


def _find_inputs(module: Any, qualified: str, function: Any, found: Any, text: str | None) -> Any:
    if text is not None:
        return _evaluate_inputs(text, module)
    hooks = [
        getattr(module, f"{qualified.rpartition('.')[2]}_example_inputs", None),
        getattr(found, "example_inputs", None),
        getattr(function, "example_inputs", None),
        getattr(module, "example_inputs", None),
    ]
    for hook in hooks:
        if hook is not None:
            try:
                return hook() if callable(hook) else hook
            except Exception as error:
                raise UserError(f"example_inputs raises: {_describe(error)}") from error
    raise UserError(_NO_INPUTS.format(name=qualified))


def _bind(
    function: Callable[..., Any], inputs: Any, qualified: str
) -> tuple[tuple[Any, ...], dict[str, Any], list[str]]:
    """The arguments as positional and keyword ones, and the names of the positional ones."""
    args, kwargs = (
        ((), inputs) if isinstance(inputs, dict) else (inputs if isinstance(inputs, tuple) else (inputs,), {})
    )
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise UserError(f"the inputs do not fit {qualified}: {error}") from error
    names: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{k}]" for k in range(len(bound.args) - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return bound.args, bound.kwargs, names[: len(bound.args)]


def _parse_argnums(text: str, names: list[str]) -> int | tuple[int, ...]:
    positions = []
    for item in text.split(","):
        item = item.strip()
        if item in names:
            positions.append(names.index(item))
        elif item.isdecimal() and int(item) < len(names):
            positions.append(int(item))
        else:
            raise UserError(f"--argnums {text}: there is no argument {item!r} among {', '.join(names)}")
    return positions[0] if len(positions) == 1 else tuple(positions)


def _find_target(options: argparse.Namespace) -> Target:
    path, colon, qualified = options.target.rpartition(":")
    if not colon or not path or not qualified:
        raise UserError(f"{options.target!r} is not of the form FILE.py:FUNCTION")
    module = _load_module(path)
    found = module
    for part in qualified.split("."):
        if not hasattr(found, part):
            own = [
                k for k, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == module.__name__
            ]
            functions = ", ".join(k for k in own if not k.endswith("example_inputs"))
            raise UserError(f"{path} has no {qualified}; it has {functions or 'no functions'}")
        found = getattr(found, part)
    # For a function under @grad, take the function that the user wrote.
    function = getattr(found, "primal", found)
    if not callable(function):
        raise UserError(f"{qualified} in {path} is not a function")
    inputs = _find_inputs(module, qualified, function, found, options.inputs)
    args, kwargs, names = _bind(function, inputs, qualified)
    argnums: Any
    if options.argnums is not None:
        argnums = _parse_argnums(options.argnums, names)
    else:
        declared = getattr(found, "argnums", None) if found is not function else None
        argnums = _declared(declared, names)
        if argnums is None:
            positions = [k for k, arg in enumerate(args) if any(_is_inexact(leaf) for _, leaf in _leaves(arg, ()))]
            if not positions:
                raise UserError(
                    f"no argument of {qualified} is a floating point number or array: there is no derivative"
                )
            argnums = positions[0] if options.command == "show" or len(positions) == 1 else tuple(positions)
    return Target(qualified, function, args, kwargs, names, argnums)


def _declared(argnums: Any, names: list[str]) -> int | tuple[int, ...] | None:
    """The argnums of a gradient object as positions. None if it has none, or unknown ones."""
    if isinstance(argnums, str):
        return names.index(argnums) if argnums in names else None
    if isinstance(argnums, (tuple, list)):
        positions = [_declared(item, names) for item in argnums]
        return tuple(p for p in positions if isinstance(p, int)) if all(isinstance(p, int) for p in positions) else None
    return argnums if isinstance(argnums, int) else None


# Nested arguments ----------------------------------------------------------------------------------

Path = tuple[Any, ...]


def _is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, (float, complex, np.inexact)) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc")


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, (tuple, list)):
        for key, item in enumerate(value):
            yield from _leaves(item, (*path, key))
    else:
        yield path, value


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(value: Any, path: Path, new: Any) -> Any:
    """The nested value with another leaf at the path."""
    if not path:
        return new
    inner = _with(value[path[0]], path[1:], new)
    if isinstance(value, dict):
        return {**value, path[0]: inner}
    items = list(value)
    items[path[0]] = inner
    if isinstance(value, tuple):
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return items


# The commands --------------------------------------------------------------------------------------


def _call_primal(target: Target, args: tuple[Any, ...]) -> Any:
    try:
        # Copies, because the function may write into its arguments.
        return target.function(*copy.deepcopy(args), **copy.deepcopy(target.kwargs))
    except Exception as error:
        raise UserError(f"{target.name} itself raises with these inputs: {_describe(error)}") from error


def _gradient_of(target: Target) -> Any:
    import autodiff_compiler as ad

    return ad.grad(target.function, argnums=target.argnums)


def show(target: Target, options: argparse.Namespace) -> int:
    _call_primal(target, target.args)
    gradient = _gradient_of(target)
    if options.passes:
        stages = gradient.passes(*target.args, **target.kwargs)
        text = "\n".join(f"# after the pass {name!r}\n{ir}" for name, ir in stages)
    elif options.ir:
        text = gradient.ir(*target.args, **target.kwargs)
    else:
        text = gradient.source(*target.args, **target.kwargs)
    print(_coloured(text.rstrip("\n"), options), flush=True)
    return 0


def _coloured(text: str, options: argparse.Namespace) -> str:
    if options.ir or options.passes or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return text
    return str(highlight(text, PythonLexer(), TerminalFormatter())).rstrip("\n")


def _difference(f: Callable[[Any], float], leaf: Any, index: Any) -> complex:
    """The central difference of `f` by one entry of `leaf`, with an error of fourth order in the step.

    For a complex entry it is the derivative by the real part minus 1j times the derivative by the imaginary part.
    """

    def moved(amount: Any) -> float:
        if isinstance(leaf, np.ndarray):
            out = leaf.copy()
            out[index] += amount
            return f(out)
        return f(leaf + amount)

    entry = leaf[index] if isinstance(leaf, np.ndarray) else leaf
    h = 20 * _STEP * max(1.0, abs(entry))

    def along(direction: Any) -> float:
        near = moved(h * direction) - moved(-h * direction)
        far = moved(2 * h * direction) - moved(-2 * h * direction)
        return float((8 * near - far) / (12 * h))

    return along(1.0) - 1j * along(1.0j) if np.iscomplexobj(leaf) else along(1.0)


def check(target: Target, options: argparse.Namespace) -> int:
    value = _call_primal(target, target.args)
    # Differences are taken in double precision, where they are more accurate.
    doubled = tuple(_in_double(arg) for arg in target.args)
    result = _gradient_of(target)(*target.args, **target.kwargs)
    gradients = result if isinstance(target.argnums, tuple) else (result,)
    rows, fine, sampled = [], True, False
    rng = np.random.default_rng(0)
    for position, gradient in zip(target.positions(), gradients):
        for path, leaf in _leaves(target.args[position], ()):
            if not _is_inexact(leaf):
                continue
            got = _at(gradient, path)
            name = target.names[position] + "".join(f"[{key!r}]" for key in path)
            if np.shape(got) != np.shape(leaf):
                rows.append([name, str(np.shape(leaf)), "-", "-", f"NO, gradient has shape {np.shape(got)}"])
                fine = False
                continue

            def f(new: Any, position: int = position, path: Path = path) -> float:
                args = list(doubled)
                args[position] = _with(args[position], path, new)
                return float(np.real(_call_primal(target, tuple(args))))

            entries = list(np.ndindex(np.shape(leaf)))
            if len(entries) > options.entries:
                entries = [entries[k] for k in sorted(rng.choice(len(entries), options.entries, replace=False))]
                sampled = True
            wide = _at(doubled[position], path)
            want = np.array([_difference(f, wide, index) for index in entries])
            have = np.array([got[index] if index else got for index in entries])
            error = np.abs(have - want)
            scale = max(float(np.max(np.abs(want), initial=0.0)), 1e-300)
            absolute = float(np.max(error, initial=0.0))
            precision = 1e-6 if np.result_type(leaf).itemsize >= (16 if np.iscomplexobj(leaf) else 8) else 1e-3
            # Rounding in the function's value limits the accuracy of a difference for a small gradient.
            noise = 1e-9 * abs(float(np.real(value)))
            ok = bool(absolute <= (options.tolerance or precision) * scale + noise)  # False for a nan
            fine &= ok
            rows.append([name, str(np.shape(leaf)), f"{absolute:.2e}", f"{absolute / scale:.2e}", "ok" if ok else "NO"])
    _print_table(["argument", "shape", "max abs error", "max rel error", "ok"], rows)
    if sampled:
        print(f"({options.entries} entries of each larger argument, chosen at random)")
    print("the gradient agrees with central differences" if fine else "the gradient DISAGREES with central differences")
    return 0 if fine else 1


def _in_double(value: Any) -> Any:
    for path, leaf in list(_leaves(value, ())):
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc":
            value = _with(value, path, leaf.astype(np.complex128 if leaf.dtype.kind == "c" else np.float64))
        elif isinstance(leaf, np.inexact):
            value = _with(value, path, complex(leaf) if np.iscomplexobj(leaf) else float(leaf))
    return value


def _time(call: Callable[[], Any], seconds: float) -> list[float]:
    """Seconds per call, in rounds that together take about `seconds`."""
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-7)
    rounds = 15
    number = max(1, int(seconds / rounds / once))
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(number):
            call()
        times.append((time.perf_counter() - start) / number)
        if sum(times) * number > 3 * seconds:
            break
    return times


def bench(target: Target, options: argparse.Namespace) -> int:
    given = copy.deepcopy(target.args)
    _call_primal(target, target.args)
    target.function(*given, **copy.deepcopy(target.kwargs))
    writes = not all(
        np.array_equal(a, b)
        for (_, a), (_, b) in zip(_leaves(given, ()), _leaves(target.args, ()))
        if isinstance(a, np.ndarray)
    )
    # The disk cache would hide the time of compiling.
    saved = os.environ.get("AUTODIFF_COMPILER_CACHE")
    os.environ["AUTODIFF_COMPILER_CACHE"] = "off"
    try:
        start = time.perf_counter()
        gradient = _gradient_of(target)
        gradient(*target.args, **target.kwargs)
        first = time.perf_counter() - start
    finally:
        if saved is None:
            del os.environ["AUTODIFF_COMPILER_CACHE"]
        else:
            os.environ["AUTODIFF_COMPILER_CACHE"] = saved
    if writes:
        primal = _time(lambda: target.function(*copy.deepcopy(target.args), **target.kwargs), options.seconds)
    else:
        primal = _time(lambda: target.function(*target.args, **target.kwargs), options.seconds)
    backward = _time(lambda: gradient(*target.args, **target.kwargs), options.seconds)
    rows = [
        ["primal", _pretty(min(primal)), _pretty(statistics.median(primal))],
        ["gradient", _pretty(min(backward)), _pretty(statistics.median(backward))],
        [
            "ratio",
            f"{min(backward) / min(primal):.2f}",
            f"{statistics.median(backward) / statistics.median(primal):.2f}",
        ],
        ["first gradient", _pretty(first), ""],
    ]
    _print_table(["", "minimum", "median"], rows)
    if writes:
        print(f"({target.name} writes into its arguments: the primal's time includes copying them)")
    return 0


def report(target: Target, options: argparse.Namespace) -> int:
    """The adjoint, the check and the timings, one after the other."""
    show(target, options)
    print()
    code = check(target, options)
    print()
    bench(target, options)
    return code


def _pretty(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


# The command line ----------------------------------------------------------------------------------


def _positive(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be positive")
    return value


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("target", metavar="FILE.py:FUNCTION")
    common.add_argument(
        "--inputs", metavar="EXPR|FILE.npz", help="arguments: a Python expression (np is there) or a .npz file"
    )
    common.add_argument("--argnums", metavar="A,B", help="arguments to differentiate by: positions or names")
    checking = argparse.ArgumentParser(add_help=False)
    checking.add_argument(
        "--entries", type=_positive, default=100, help="entries checked in each argument (default 100)"
    )
    checking.add_argument("--tolerance", type=float, help="relative error allowed (default 1e-6, for float32 1e-3)")
    timing = argparse.ArgumentParser(add_help=False)
    timing.add_argument("--seconds", type=float, default=0.5, help="how long to measure each side (default 0.5)")
    showing = argparse.ArgumentParser(add_help=False)
    showing.add_argument("--ir", action="store_true", help="print the SSA form, not Python")
    showing.add_argument("--passes", action="store_true", help="print the SSA form after each pass")
    parser = argparse.ArgumentParser(prog="autodiff_compiler", description="Show, check and time compiled gradients.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("show", parents=[common, showing], help="print the generated adjoint").set_defaults(run=show)
    commands.add_parser("check", parents=[common, checking], help="compare with central differences").set_defaults(
        run=check
    )
    commands.add_parser("bench", parents=[common, timing], help="time primal and gradient").set_defaults(run=bench)
    every = commands.add_parser(
        "report", parents=[common, showing, checking, timing], help="all three: show, check, bench"
    )
    every.set_defaults(run=report)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all is well, 1 if a check failed, 2 for an error."""
    options = _parser().parse_args(argv)
    from .errors import AutodiffError

    try:
        code: int = options.run(_find_target(options), options)
        return code
    except (UserError, AutodiffError) as error:
        sys.stdout.flush()
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader closed the pipe. Python would fail to flush into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
