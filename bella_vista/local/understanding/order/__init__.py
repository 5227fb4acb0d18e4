"""A reading carried out on a copy of the order."""
