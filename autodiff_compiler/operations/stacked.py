"""The rules for stacks that stand in modules of their own. The transform that needs them imports them."""

from ..pristine import hold
from . import stacked_filters, stacked_parts, stacked_products

hold("operations.stacked")

__all__ = ["stacked_filters", "stacked_parts", "stacked_products"]
