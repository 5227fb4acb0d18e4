"""What happens to a test whose tool this machine does not have."""

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skip the test; with ``CI=true`` it fails, since CI installs all it needs.

    Args:
        what: What there is not, and how to install it.
    """
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(what)
    pytest.skip(what)
