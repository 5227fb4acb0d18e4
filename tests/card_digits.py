"""Looks for a card number's digits in what was stored, shown or logged."""

import re

_RANDOM = re.compile(
    r"(?<![0-9A-Za-z-])(?=[0-9a-f-]{8})[0-9a-f-]*[a-f][0-9a-f-]*"  # an id or a checksum
    r"|\b\d{10}\.\d+"  # a time in seconds
)


def has_digits(digits: str, text: str) -> bool:
    """Whether a text has these digits outside ids, checksums and times, which have them by chance."""
    return digits in _RANDOM.sub("", text)
