"""Functions of `scipy.fft`: how calls are written for the records, and the transforms along several axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft

from ...definitions import defines, refuse
from .. import fourier


def _options(workers: Any, plan: Any, norm: Any = None) -> Any:
    if plan is not None:
        refuse("a transform of scipy.fft with plan=", "leave it out")
    options: Any = {}
    if norm is not None:
        options["norm"] = norm
    if workers is not None:
        options["workers"] = workers
    return options


def _along_one(fn: Any) -> Any:
    def transform(
        x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        options = _options(workers, plan, norm)
        if axis != -1:
            options["axis"] = axis
        return fn(x, **options) if n is None else fn(x, n, **options)

    return transform


def _along_axes(first: Any, others: Any, axes: Any, forward: Any) -> Any:
    """A transform along several axes: `first` along the last of them, `others` along the rest."""

    def transform(
        x: Any, s: Any = None, axes: Any = axes, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        x = np.asarray(x)
        options = _options(workers, plan, norm)
        pairs = fourier.axes_and_lengths(x, s, axes)
        steps = [*[(others, *pair) for pair in pairs[:-1]], *[(first, *pair) for pair in pairs[-1:]]]
        for fn, axis, n in steps[::-1] if forward else steps:
            x = fn(x, axis=axis, **options) if n is None else fn(x, n, axis=axis, **options)
        return x

    return transform


for _name, _first, _others, _forward in (
    ("fft", fft.fft, fft.fft, True), ("ifft", fft.ifft, fft.ifft, True), ("rfft", fft.rfft, fft.fft, True),
    ("irfft", fft.irfft, fft.ifft, False),
):  # fmt: skip
    defines(getattr(fft, _name))(_along_one(_first))
    defines(getattr(fft, f"{_name}n"))(_along_axes(_first, _others, None, _forward))
    defines(getattr(fft, f"{_name}2"))(_along_axes(_first, _others, (-2, -1), _forward))


def _opposite(norm: Any) -> Any:
    return "ortho" if norm == "ortho" else None if norm == "forward" else "forward"


@defines(fft.hfft)
def hfft(
    x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None,
) -> Any:  # fmt: skip
    return fft.irfft(np.conj(x), n, axis, _opposite(norm), workers=workers, plan=plan)


@defines(fft.ihfft)
def ihfft(
    x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None,
) -> Any:  # fmt: skip
    return np.conj(fft.rfft(x, n, axis, _opposite(norm), workers=workers, plan=plan))


def _hermitian(axes: Any) -> Any:
    def transform(
        x: Any, s: Any = None, axes: Any = axes, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        return fft.irfftn(np.conj(x), s, axes, _opposite(norm), workers=workers, plan=plan)

    return transform


def _inverse_hermitian(axes: Any) -> Any:
    def transform(
        x: Any, s: Any = None, axes: Any = axes, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        return np.conj(fft.rfftn(x, s, axes, _opposite(norm), workers=workers, plan=plan))

    return transform


defines(fft.hfftn)(_hermitian(None))
defines(fft.hfft2)(_hermitian((-2, -1)))
defines(fft.ihfftn)(_inverse_hermitian(None))
defines(fft.ihfft2)(_inverse_hermitian((-2, -1)))

# --- cosine and sine transforms ---------------------------------------------------------------------------------------


def _real_options(type: Any, norm: Any, workers: Any, orthogonalize: Any) -> Any:
    options = _options(workers, None, norm)
    if type != 2:
        options["type"] = type
    if orthogonalize is not None:
        options["orthogonalize"] = orthogonalize
    return options


def _real_transform(fn: Any) -> Any:
    def transform(
        x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
        workers: Any = None, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        options = _real_options(type, norm, workers, orthogonalize)
        if axis != -1:
            options["axis"] = axis
        if n is not None:
            options["n"] = n
        return fn(x, **options)

    return transform


def _real_transforms(fn: Any) -> Any:
    def transform(
        x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
        workers: Any = None, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        x = np.asarray(x)
        if isinstance(axes, int):
            axes = (axes,)
        if isinstance(s, int):
            s = (s,)
        options = _real_options(type, norm, workers, orthogonalize)
        for axis, n in fourier.axes_and_lengths(x, s, axes):
            x = fn(x, axis=axis, **options) if n is None else fn(x, n=n, axis=axis, **options)
        return x

    return transform


for _name in ("dct", "idct", "dst", "idst"):
    defines(getattr(fft, _name))(_real_transform(getattr(fft, _name)))
    defines(getattr(fft, f"{_name}n"))(_real_transforms(getattr(fft, _name)))

# --- frequencies, shifts ----------------------------------------------------------------------------------------------


@defines(fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    return np.fft.fftshift(x, axes)


@defines(fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    return np.fft.ifftshift(x, axes)


@defines(fft.fftfreq)
def fftfreq(n: Any, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Any:
    return ((np.arange(n) + n // 2) % n - n // 2) * (1.0 / (n * d))


@defines(fft.rfftfreq)
def rfftfreq(n: Any, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Any:
    return np.arange(n // 2 + 1) * (1.0 / (n * d))
