"""Graphs of operations, for systems without tapes: each value refers to what made it."""
