"""``tf.config``: there are no devices, and functions run eagerly."""

from __future__ import annotations

from typing import Any

from .functions import functions_run_eagerly, run_functions_eagerly
from .namespace import lazy


def list_physical_devices(device_type: str | None = None) -> list[Any]:
    """No devices."""
    return []


def list_logical_devices(device_type: str | None = None) -> list[Any]:
    """No devices."""
    return []


__all__ = ["functions_run_eagerly", "list_logical_devices", "list_physical_devices", "run_functions_eagerly"]
__getattr__, __dir__ = lazy(__name__, {"functions": "functions_run_eagerly run_functions_eagerly"})
