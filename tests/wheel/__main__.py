"""Build the framework's wheel: ``python -m tests.wheel [FOLDER]``; the folder is ``dist`` if none is given."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.wheel.build import ROOT, WheelError, build

with TemporaryDirectory() as work:
    try:
        file = build(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "dist", Path(work))
    except WheelError as error:
        sys.exit(str(error))
sys.stdout.write(f"{file}\n")
