"""Drop-in modules: code for other systems runs here when its import line changes."""

from .. import tape  # noqa: F401  (the package before its modules, also where threads import several layers at once)
