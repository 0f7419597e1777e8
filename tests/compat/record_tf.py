"""Records what the real TensorFlow computes for the cases of tf_operations: python -m tests.compat.record_tf.

Writes tests/compat/tf_operations.json, which test_tf_operations.py compares with. Needs tensorflow.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.compat.tf_operations import cases, measure

FILE = Path(__file__).with_name("tf_operations.json")


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


def main() -> int:
    import tensorflow as tf

    recorded, failed = {}, 0
    for group, case, dtype in cases():
        key = f"{group}: {case.name} in {dtype}" if len(case.dtypes) > 1 else f"{group}: {case.name}"
        try:
            result = measure(tf, case, dtype)
        except Exception as error:
            print(f"{key}: {type(error).__name__}: {str(error)[:200]}")
            failed += 1
            continue
        assert key not in recorded, key
        entry: dict[str, Any] = {"value": plain(result["value"])}
        for part in ("gradients", "second"):
            if part in result:
                entry[part] = {name: plain(tensor) for name, tensor in result[part].items()}
        recorded[key] = entry
    lines = [f"{json.dumps(key)}: {json.dumps(entry, separators=(',', ':'))}" for key, entry in recorded.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(recorded)} recorded, {failed} failed, {FILE.stat().st_size} bytes")
    return failed


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    sys.exit(main())
