"""The ``doctor`` command: checks everything that a call needs."""
