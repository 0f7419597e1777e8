"""Drop-in modules: code for other systems runs here when its import line changes."""
