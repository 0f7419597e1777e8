"""A plain dispatcher (to be replaced by specialize)."""
from __future__ import annotations
from typing import Any
from ..frontend.inputs import fetch, key_of
from ..tree import flatten
class Dispatcher:
    def __init__(self, fn, compile, lower):
        self.fn, self.compile, self.lower = fn, compile, lower
        self.entries = {}
    def entry(self, args, kwargs):
        return self._entry(args, kwargs)[0]
    def _entry(self, args, kwargs):
        leaves, tree = flatten((args, kwargs))
        key = (repr(tree), tuple(key_of(x) for x in leaves))
        if key not in self.entries:
            lowered = self.lower(self.fn, args, kwargs)
            inputs = lowered.inputs
            n = len(inputs)
            c = self.compile(lowered, args, kwargs)
            self.entries[key] = (c, getattr(self, 'last_inputs', None) or inputs, lowered)
        return self.entries[key]
    def __call__(self, args, kwargs):
        c, inputs, lowered = self._entry(args, kwargs)
        values = list(args)
        for name in lowered.params[len(values):]:
            values.append(kwargs[name])
        return c.call(*[fetch(i.path, tuple(values)) for i in inputs])
