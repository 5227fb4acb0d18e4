"""A page of docs as a reader types it: every file into a folder, every command in a shell."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?:\*\*`(?P<file>[\w.]+)`\*\*[^\n]*\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


@dataclass
class Typed:
    """The reader's folder, the commands that ran in it, and the output the pages promise."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    """Settings of the reader's, beside those of this process."""
    ran: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, str]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """The commands that were left out."""

    def follow(self, page: str, *, without: tuple[str, ...] = ()) -> None:
        """Write a page's files and run its commands, from top to bottom.

        Args:
            page: The page's file, in ``docs``.
            without: Commands that contain one of these are left out.
        """
        command = ""
        for block in BLOCK.finditer((ROOT / "docs" / page).read_text(encoding="utf-8")):
            if block["file"]:
                file = self.folder / block["file"]
                before = file.read_text(encoding="utf-8") + "\n\n" if file.exists() else ""
                file.write_text(before + block["text"], encoding="utf-8")
            elif block["kind"] == "sh" and any(self.folder.iterdir()):
                command = block["text"].strip()
                if any(word in command for word in without):
                    self.left += command.splitlines()
                    continue
                self.ran[command] = self.run(command)
            elif block["kind"] == "text" and command in self.ran:
                self.shown.append((self.ran[command], block["text"]))

    def run(self, command: str) -> str:
        """Run a command with the environment's programs and no key."""
        own = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        own["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        own["MYPY_CACHE_DIR"] = str(ROOT / ".mypy_cache" / "readers")
        own.pop("PYTHONPATH", None)
        own |= self.environment
        done = subprocess.run(
            ["sh", "-ec", command], cwd=self.folder, env=own, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout
