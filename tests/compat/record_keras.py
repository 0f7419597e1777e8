"""Writes keras_values.json: the results of the real Keras for the cases in keras_cases.py.

python -m tests.compat.record_keras, with a Python that has TensorFlow
"""

from __future__ import annotations

import json
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf

from tests.compat.keras_cases import all_cases

VALUES = Path(__file__).with_name("keras_values.json")


def main() -> None:
    found = {name: function(tf, *arguments) for name, (function, *arguments) in all_cases().items()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    VALUES.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print(f"{len(found)} cases")


if __name__ == "__main__":
    main()
