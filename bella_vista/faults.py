"""What a person did wrong, in lines that say what to change."""

from collections.abc import Iterable


class Faulty(Exception):
    """Something a person gave cannot be used; ``faults`` lists everything that is wrong with it."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))
