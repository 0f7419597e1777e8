"""The public transformations and what they stand on."""
