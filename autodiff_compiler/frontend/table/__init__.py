"""The table of handlers: the modules that enter them. See `handlers`."""

import ast
import collections
import functools
import itertools
import math
import sys

import numpy as np

from ...ir.sites import OF_STATEMENTS
from ...kernels.callbacks import contents, made_object, unchanged
from ..definitions import derived, folded, known, lifted, may_be_zero, place, refuse
from ..handlers import later
from ..inputs import BASES
from ..pseudo import Expanded
from . import builtin_functions  # noqa: F401

# Few programs need the other modules. They are imported when a program first uses one of these.
_strides = np.lib.stride_tricks
_array = np.ndarray
# fmt: off
later("comprehensions", ast.ListComp, ast.SetComp, ast.DictComp)
later("iterators", ast.GeneratorExp)
later("matching", ast.Match)
later("try_statements", ast.Try, Expanded)
later("callbacks", lifted, derived, made_object, contents, unchanged)
later("table.array_copies", np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.copy,
      np.fromiter)
later("table.array_functions", folded, known, may_be_zero, place, refuse, np.can_cast, np.column_stack,
      np.common_type, np.compress, np.convolve, np.delete, np.dtype, np.extract, np.finfo, np.hstack, np.iinfo,
      np.insert, np.issubdtype, np.lib.array_utils.normalize_axis_index, np.pad, np.promote_types, np.repeat,
      np.resize, np.result_type, np.take, np.vstack, "pandas")
later("table.array_methods", (_array,))
later("table.array_views", _array.view, _strides.as_strided, _strides.sliding_window_view, np.atleast_1d,
      np.atleast_2d, np.expand_dims, np.isfortran, np.isscalar, np.moveaxis, np.ndim, np.ravel, np.reshape, np.shape,
      np.size, np.squeeze, np.swapaxes, np.transpose, np.where)
later("table.array_writers", _array.fill, _array.partition, _array.put, _array.resize, _array.sort, (np.ufunc,),
      np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask)
later("table.call_forms", np.vectorize.__call__, np.concatenate, np.einsum, np.interp, np.linspace, np.ndarray,
      np.stack)
later("table.class_functions", callable, delattr, getattr, hasattr, hash, isinstance, issubclass, setattr, type, vars,
      object.__setattr__)
later("table.contexts", ast.With, sys.exc_info, *[sys.exception] if hasattr(sys, "exception") else [])
later("table.dict_methods", (dict, collections.OrderedDict, collections.defaultdict), "collections",
      vars(dict)["fromkeys"], vars(collections.OrderedDict)["fromkeys"])
later("table.iterables", iter, next, enumerate, zip, map, filter, reversed, sum, any, all, functools.reduce, math.prod,
      math.fsum, math.dist, *[math.sumprod] if hasattr(math, "sumprod") else [], "statistics")
later("table.iterators", "itertools", vars(itertools.chain)["from_iterable"])
later("table.list_methods", (list, tuple, range, slice))
later("table.object_functions", "dataclasses", "copy", "logging", object.__new__,
      *[base.__new__ for base in BASES], *OF_STATEMENTS)
later("table.ordered_lists", "_heapq", "heapq", "_bisect", "bisect")
later("table.orders", sorted, min, max)
later("table.refused_functions", eval, exec, globals, locals, input, compile, __import__, id, memoryview, object,
      functools.lru_cache, functools.cache, np.shares_memory, np.may_share_memory, sys._getframe,
      "inspect", "traceback")
later("table.set_methods", set, frozenset, (set, frozenset, collections.deque), collections.deque)
later("table.syntax_trees", "ast")
later("table.tape_functions", "autodiff_compiler.tape.custom")
later("table.text_methods", (str, bytes), vars(str)["maketrans"], vars(bytes)["maketrans"])
# fmt: on
