"""From the SSA form to Python source, and from source to functions."""
