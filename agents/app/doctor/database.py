"""Checks whether states can be stored."""

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from sqlalchemy.engine import make_url

from agents.app.app import AnyApp
from agents.app.doctor.findings import Finding, fault, ok, warning
from agents.app.settings import AppSettings
from agents.app.states import default_database, open_store
from state.shared import StateError

LOW_DISK_SPACE = 200 * 1024 * 1024
"""Free disk space below which a warning is given, in bytes."""

_DEFAULT_OWNER = "doctor"


async def check_database_access(app: AnyApp, settings: AppSettings, owner: str | None) -> Finding:
    """Read from the database and write to it: only a write detects a full disk or missing rights."""
    url = settings.database or default_database(app)
    file = _database_file(url)
    if file is not None and not file.exists():
        return _check_missing_file(file)
    try:
        async with open_store(app, url, owner or _DEFAULT_OWNER, create=False) as store:
            await store.list(1)
            await store.try_writing()
    except StateError as error:
        return fault(
            "database", f"{error.message} See --database, {settings.variable('database')}."
        )
    if file is None:
        return ok("database", "it answers, can be written to, and its tables are complete")
    free = shutil.disk_usage(file.parent).free
    if free < LOW_DISK_SPACE:
        return warning(
            "database", f"{file}: only {free // 1_048_576} MiB are free on its disk: make room"
        )
    return ok("database", f"{file} can be written to, and its tables are complete")


def _database_file(url: str) -> Path | None:
    # SQLAlchemy raises several types of errors here; opening the database reports the cause.
    with suppress(Exception):
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            return Path(parsed.database)
    return None


def _check_missing_file(file: Path) -> Finding:
    there = next((folder for folder in file.absolute().parents if folder.exists()), Path("/"))
    if not _is_writable(there):
        return fault(
            "database",
            f"{file} does not exist, and {there} cannot be written to: name another file with"
            " --database, or grant the right",
        )
    return ok("database", f"{file} does not exist yet; the first call creates it")


def _is_writable(folder: Path) -> bool:
    try:
        # The mode bits are not enough: the file system may be read-only.
        with TemporaryFile(dir=folder) as trial:
            trial.write(b"doctor")
    except OSError:
        return False
    return True
