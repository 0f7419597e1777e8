"""A program beside a run of the function itself: its value, its gradient by central differences, what it raises."""

import importlib.util

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError

X = 1.137


def module_of(text, folder, name):
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(f, x=X):
    """How a program comes out: "right", "refused", or what is wrong."""
    try:
        expected, error = f(x), None
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    except Exception as raised:
        error = raised
    try:
        value, grad = ad.value_and_grad(f)(x)
    except Exception as raised:
        if error is not None and isinstance(raised, type(error)):
            return "right"
        return "refused" if isinstance(raised, AutodiffError) else f"raises {raised!r}"
    if error is not None:
        return f"gives {value}, where the function raises {error!r}"
    if abs(value - expected) > 1e-9 * (1 + abs(expected)) or abs(grad - slope) > 1e-5 * (1 + abs(slope)):
        return f"{value} for {expected}, derivative {grad} for {slope}"
    return "right"
