"""From IR to Python source, and from source to functions."""
