"""``tf.train``: checkpoints."""

from .namespace import lazy

__getattr__, __dir__ = lazy(
    __name__, {"checkpoint": "Checkpoint CheckpointManager latest_checkpoint list_variables load_variable"}
)
