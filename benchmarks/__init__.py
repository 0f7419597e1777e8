"""Workloads with hand-written adjoints, and the script that times them (``python -m benchmarks.run``)."""
