"""The base of errors that list everything wrong with an input."""

from collections.abc import Iterable


class InputError(Exception):
    """Settings, a file or a database cannot be used; ``faults`` lists everything wrong with it."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))
