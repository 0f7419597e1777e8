"""Gradients of public packages, as their authors wrote them: an optional check, which pytest does not collect.

`python -m tests.public fluids opfunu` runs the doctests of these packages, their shipped tests and the calls in
`obvious`, and records what their public functions are called with. Each recorded call is differentiated by all of its
floating arguments and compared with central differences. `recording` finds the calls, `drivers` writes each as a small
program, `judging` differentiates it, and `report` counts. Install the packages with `pip install -e '.[public]'`.
"""
