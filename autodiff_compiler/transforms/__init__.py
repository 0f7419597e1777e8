"""Passes over the IR: each takes verified IR to verified IR."""
