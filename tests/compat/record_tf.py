"""Records the results of the real TensorFlow for tf_operations and tf_models: python -m tests.compat.record_tf.

It writes tests/compat/tf_operations.json and tf_models.json, for the tests to compare with. It needs tensorflow.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tests.compat.tf_models import PROGRAMS
from tests.compat.tf_operations import cases, measure


def plain(tensor: Any) -> Any:
    """A tensor as JSON: its dtype, its shape and its entries (of complex numbers their parts)."""
    if tensor is None:
        return None
    array = np.asarray(tensor.numpy())
    flat = array.reshape(-1)
    if array.dtype.kind == "c":
        flat = flat.view(array.real.dtype)
    if array.dtype.kind == "f" or array.dtype.kind == "c":
        entries = [float(f"{entry:.12g}" if array.dtype.itemsize > 4 else f"{entry:.8g}") for entry in flat.tolist()]
    else:
        entries = flat.tolist()
    return [array.dtype.name, list(array.shape), entries]


def write(name: str, recorded: dict[str, Any]) -> None:
    lines = [f"{json.dumps(key)}: {json.dumps(entry, separators=(',', ':'))}" for key, entry in recorded.items()]
    file = Path(__file__).with_name(name)
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{name}: {len(recorded)} entries, {file.stat().st_size} bytes")


def operations(tf: Any) -> dict[str, Any]:
    recorded: dict[str, Any] = {}
    for group, case, dtype in cases():
        key = f"{group}: {case.name} in {dtype}" if len(case.dtypes) > 1 else f"{group}: {case.name}"
        assert key not in recorded, key
        result = measure(tf, case, dtype)
        entry: dict[str, Any] = {"value": plain(result["value"])}
        for part in ("gradients", "second"):
            if part in result:
                entry[part] = {name: plain(tensor) for name, tensor in result[part].items()}
        recorded[key] = entry
    return recorded


def models(tf: Any) -> dict[str, Any]:
    return {name: {key: plain(t) for key, t in run(tf).items()} for name, run in PROGRAMS.items()}


def main() -> None:
    import tensorflow as tf

    write("tf_operations.json", operations(tf))
    write("tf_models.json", models(tf))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    main()
