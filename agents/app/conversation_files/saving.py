"""Writes a file as a whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from agents.app.faults import InputError


class OutputFile:
    """A file to be written, perhaps several times; readers find a complete one or none.

    Args:
        path: The file.
        new: Whether it must not exist before the first write.

    Raises:
        InputError: It cannot be written there, or exists and must not.
    """

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self.path = path
        self._new = new
        if new and os.path.lexists(path):
            raise InputError([f"{path} exists already: name a new file, or delete this one"])
        if path.is_dir():
            raise InputError([f"{path} is a folder, not a file"])
        if not path.parent.is_dir():
            raise InputError([f"{path}: there is no folder {path.parent}"])
        if not os.access(path.parent, os.W_OK):
            raise InputError([f"{path}: the folder {path.parent} cannot be written to"])

    def write(self, data: bytes) -> None:
        """Replace the file; the former one stays until the new one is complete.

        Raises:
            FileExistsError: It must be new, and another program has made it meanwhile.
            OSError: It cannot be written.
        """
        if self.path.exists() and not self.path.is_file():  # a device or a pipe
            self.path.write_bytes(data)
            return
        unfinished = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            with unfinished.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if self._new:
                self._appear(unfinished)
                self._new = False
            else:
                os.replace(unfinished, self.path)
        finally:
            with suppress(OSError):
                unfinished.unlink()

    def _appear(self, unfinished: Path) -> None:
        """Give the file its name, unless that exists."""
        try:
            os.link(unfinished, self.path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if os.path.lexists(self.path):
                raise FileExistsError(17, "File exists", str(self.path)) from None
            os.replace(unfinished, self.path)
