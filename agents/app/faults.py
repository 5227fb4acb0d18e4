"""Errors that list everything wrong with an input."""

from collections.abc import Iterable
from typing import ClassVar


class InputError(Exception):
    """Settings, a file or a database cannot be used; ``faults`` lists everything wrong with it."""

    names_places: ClassVar[bool] = True
    """Each fault says where it is, so ``report_faults`` names no line of the program."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))
