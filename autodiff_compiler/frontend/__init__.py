"""From a Python function to the IR: an abstract interpreter over the syntax tree, specialised on the types of the
arguments."""

from .inputs import Guard, Input, fetch, key_of
from .lower import Interpreter, Lowered, bind_arguments, lower

__all__ = ["Guard", "Input", "Interpreter", "Lowered", "bind_arguments", "fetch", "key_of", "lower"]
