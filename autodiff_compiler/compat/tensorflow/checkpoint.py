"""Checkpoints: the values of the variables of modules, layers and optimizers in files, by where they stand.

The files are NumPy's (``.npz``): TensorFlow does not read them, and its own are not read here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .errors import NotFoundError
from .module import Module, is_variable
from .variables import Variable

_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


class Checkpoint:
    """What to save together: objects by name, or one object whose variables have their own names.

    Objects are variables, `tf.Module`, Keras layers, models and optimizers, and lists and mappings of these. Layers and
    optimizers have to be built before `restore`: values of variables that are not there yet are not kept for them.

    >>> import os, tempfile
    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> v = tf.Variable(1.0)
    >>> checkpoint = tf.train.Checkpoint(v=v)
    >>> path = checkpoint.save(os.path.join(tempfile.mkdtemp(), "ckpt"))
    >>> _ = v.assign(5.0)
    >>> _ = checkpoint.restore(path)
    >>> v.numpy()
    np.float32(1.0)
    """

    def __init__(self, root: Any = None, **kwargs: Any):
        self._root = root
        self._names = list(kwargs)
        self._counter: Variable | None = None
        vars(self).update(kwargs)

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called."""
        if self._counter is None:
            self._counter = Variable(np.int64(0), trainable=False, name="save_counter")
        return self._counter

    def _variables(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        parts = [] if self._root is None else [("", self._root)]
        parts += [(name, getattr(self, name)) for name in self._names]
        if self._counter is not None:
            parts.append(("save_counter", self._counter))
        seen: set[int] = set()
        for name, part in parts:
            found.update((key.strip("/") + _VALUE, v) for key, v in _walk(name, part, seen))
        return found

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values to ``<file_prefix>.npz``; the prefix is returned."""
        path = str(os.fspath(file_prefix))
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path + ".npz", "wb") as file:
            np.savez(file, **{key: v.numpy() for key, v in self._variables().items()})
        return path

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values under the prefix and a number, one more each time, and note it as the latest in the
        directory. The path is returned."""
        count = int(self.save_counter.numpy()) + 1
        self.save_counter.assign(np.int64(count))
        path = self.write(f"{os.fspath(file_prefix)}-{count}")
        _note(os.path.dirname(path), [path])
        return path

    def read(self, save_path: Any, options: Any = None) -> LoadStatus:
        """Assign what `write` wrote. Raises NotFoundError if there is no such file, ValueError for other shapes."""
        return self.restore(save_path)

    def restore(self, save_path: Any, options: Any = None) -> LoadStatus:
        """Assign what is in a checkpoint to the variables that are there; nothing for None. What came of it is
        returned.

        Raises NotFoundError if there is no such checkpoint, ValueError for a value of another shape.
        """
        if save_path is None:
            return LoadStatus([], [])
        values = _load(os.fspath(save_path))
        own = self._variables()
        for key, v in own.items():
            if key not in values:
                continue
            value = values[key]
            if not v.shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"Received incompatible tensor with shape {value.shape} when attempting to restore variable with "
                    f"shape {v.shape} and name {v.name}."
                )
            v.assign(value)
        rest = [key for key in values if key not in own and not key.startswith("save_counter/")]
        return LoadStatus([v for key, v in own.items() if key not in values], rest)


class LoadStatus:
    """What came of restoring: which variables got no value, and which values no variable."""

    def __init__(self, unmatched: list[Any], unused: list[str]):
        self._unmatched, self._unused = unmatched, unused

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raise AssertionError if a variable got no value."""
        if self._unmatched:
            raise AssertionError(
                f"Found {len(self._unmatched)} Python objects that were not bound to checkpointed values, likely due "
                f"to changes in the Python program. Showing {min(len(self._unmatched), 10)} of {len(self._unmatched)} "
                f"unmatched objects: {self._unmatched[:10]}"
            )
        return self

    def assert_consumed(self) -> LoadStatus:
        """Raise AssertionError if a variable got no value, or a value no variable."""
        self.assert_existing_objects_matched()
        if self._unused:
            raise AssertionError(
                "Unresolved values in the checkpoint, of objects that are not there, or not built yet: "
                f"{', '.join(self._unused[:10])}"
            )
        return self

    assert_nontrivial_match = assert_existing_objects_matched

    def expect_partial(self) -> LoadStatus:
        """Nothing: there are no warnings about what was not used."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing: values were assigned already."""


def _walk(path: str, x: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """The variables inside an object, each once, by where they stand."""
    if x is None or isinstance(x, (str, bytes, int, float, np.ndarray)) or id(x) in seen:
        return
    if is_variable(x):
        seen.add(id(x))
        yield path, x
    elif isinstance(x, (list, tuple)):
        for k, item in enumerate(x):
            yield from _walk(f"{path}/{k}", item, seen)
    elif isinstance(x, Mapping):
        for key in sorted(x, key=str):
            yield from _walk(f"{path}/{key}", x[key], seen)
    elif hasattr(x, "weights") or hasattr(x, "apply_gradients"):  # a layer, or an optimizer
        seen.add(id(x))
        for k, v in enumerate(x.weights if hasattr(x, "weights") else x.variables):
            yield from _walk(f"{path}/variables/{k}", v, seen)
    elif isinstance(x, (Module, Checkpoint)):
        seen.add(id(x))
        for name in sorted(vars(x)):
            if not name.startswith("_"):
                yield from _walk(f"{path}/{name}", vars(x)[name], seen)


def _load(path: str) -> dict[str, Any]:
    try:
        with np.load(path + ".npz", allow_pickle=False) as found:
            return {key: found[key] for key in found.files}
    except FileNotFoundError:
        raise NotFoundError(
            None, None,
            f"Error when restoring from checkpoint or SavedModel at {path}: Failed to find any matching files for "
            f"{path}\nPlease double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the "
            "'-1' in 'path/to/ckpt-1').",
        ) from None  # fmt: skip


def _note(directory: str, paths: list[str]) -> None:
    """Write which checkpoints a directory has, the latest last."""
    names = [os.path.basename(p) for p in paths]
    lines = [f'model_checkpoint_path: "{names[-1]}"', *[f'all_model_checkpoint_paths: "{n}"' for n in names]]
    with open(os.path.join(directory, "checkpoint"), "w") as file:
        file.write("\n".join(lines) + "\n")


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The path of the latest checkpoint that was saved in a directory, None if there is none."""
    directory = os.fspath(checkpoint_dir)
    try:
        with open(os.path.join(directory, latest_filename or "checkpoint")) as file:
            found = re.search(r'^model_checkpoint_path: "(.*)"', file.read(), re.M)
    except FileNotFoundError:
        return None
    path = None if found is None else os.path.join(directory, found[1])
    return path if path is not None and os.path.exists(path + ".npz") else None


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names and shapes of the values in a checkpoint."""
    values = _load(latest_checkpoint(ckpt_dir_or_file) or os.fspath(ckpt_dir_or_file))
    return sorted((key, list(value.shape)) for key, value in values.items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """A value of a checkpoint, by its name."""
    return _load(latest_checkpoint(ckpt_dir_or_file) or os.fspath(ckpt_dir_or_file))[name]


class CheckpointManager:
    """Keeps the last checkpoints in a directory: `max_to_keep` of them, all for None."""

    def __init__(
        self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None, checkpoint_name: str = "ckpt",
        init_fn: Any = None, **unused: Any,
    ):  # fmt: skip
        if unused:
            raise ValueError(f"CheckpointManager takes max_to_keep and checkpoint_name here, not {sorted(unused)}")
        self.checkpoint, self.directory, self._init = checkpoint, os.fspath(directory), init_fn
        self._most, self._prefix = max_to_keep, os.path.join(self.directory, checkpoint_name)
        self._paths: list[str] = []
        if latest_checkpoint(self.directory) is not None:
            with open(os.path.join(self.directory, "checkpoint")) as file:
                names = re.findall(r'^all_model_checkpoint_paths: "(.*)"', file.read(), re.M)
            self._paths = [os.path.join(self.directory, n) for n in names]

    @property
    def checkpoints(self) -> list[str]:
        """The paths that are kept, the latest last."""
        return list(self._paths)

    @property
    def latest_checkpoint(self) -> str | None:
        return self._paths[-1] if self._paths else None

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None) -> str:
        """Write a checkpoint, with this number or the next one, and delete those that are too many."""
        if checkpoint_number is None:
            path = self.checkpoint.save(self._prefix)
        else:
            path = self.checkpoint.write(f"{self._prefix}-{int(checkpoint_number)}")
        self._paths = [p for p in self._paths if p != path] + [path]
        while self._most is not None and len(self._paths) > self._most:
            old = self._paths.pop(0) + ".npz"
            if os.path.exists(old):
                os.remove(old)
        _note(self.directory, self._paths)
        return path

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its path; without one, call `init_fn` and return None."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
        elif self._init is not None:
            self._init()
        return self.latest_checkpoint
