"""Erases a user's personal data from stored states, transcripts and logs, and checks that it is gone.

Logs are cleaned first and states then, each in one transaction, so that an interrupted run can be
repeated. The database's files are rewritten every time: an earlier run may have been interrupted
before that.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Generic, TypeAlias

from pydantic import JsonValue, ValidationError

from agents.app.app import App, Environment
from agents.app.declaration import named_faults
from agents.app.parts import C, S
from agents.app.recordings import files_of, forget_recordings, recordings_folder
from agents.app.settings import AppSettings
from agents.app.states import as_state_faults, id_of
from agents.app.traces import Trace, found_in_files, overwritten, texts_in
from state.shared import (
    Command,
    HandOver,
    JournalFault,
    Refused,
    SharedState,
    SqlStore,
    StateError,
    StoredState,
    read_state,
    write_state,
)

Commands: TypeAlias = tuple[dict[str, JsonValue], ...]
"""The commands of one change, as the journal stores them."""

_HANDOFF_FIELDS = frozenset(HandOver.model_fields) - {"arguments"}


@dataclass
class ErasureReport:
    """The report of an erasure. It names states and files, never their users.

    Args:
        erased: The ids of the states that were erased.
        refused: The states that were left unchanged, each with the reason.
        texts: How many different texts were erased.
        lines: How many lines of transcripts were deleted.
        recordings: How many recordings were deleted.
        in_logs: How many occurrences in logs were overwritten.
        searched: The files that were searched at the end.
        too_short: How many texts were too short to search for in files.
        left: The failures, as lines.
    """

    noun: str
    erased: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    texts: int = 0
    lines: int = 0
    recordings: int = 0
    in_logs: int = 0
    searched: list[Path] = field(default_factory=list)
    too_short: int = 0
    left: list[str] = field(default_factory=list)

    def done(self) -> Iterator[str]:
        """Return sentences that list the erased data."""
        for state_id in self.erased:
            yield f"{self.noun.capitalize()} {state_id}: its user was erased."
        if self.erased:
            yield f"Erased: {_count(self.texts, 'text')}; {_count(self.lines, 'line')} of transcripts."
        if self.recordings:
            yield f"Deleted: {_count(self.recordings, 'recording')}."
        yield from self.more()
        if self.in_logs:
            yield f"Overwritten in the logs: {_count(self.in_logs, 'place')}."
        if self.left or self.refused:
            return
        if self.too_short:
            yield (
                f"{_count(self.too_short, 'text')} too short to be searched for in files: searched"
                " for in the database's rows only."
            )
        places = ["all rows of the database", *map(str, self.searched)]
        yield f"Searched afterwards: {', '.join(places)}: nothing left."

    def more(self) -> Sequence[str]:
        """Return the application's own sentences about the erasure."""
        return ()

    def failed(self) -> Iterator[str]:
        """Return the failures, and how to fix them."""
        for state_id, why in self.refused.items():
            yield f"{self.noun.capitalize()} {state_id} was left unchanged: {why}"
        yield from self.left
        if self.left:
            yield "Not everything is erased: fix the above, then repeat this command."


async def forget_state(
    app: App[S, C], store: SqlStore, settings: AppSettings, state_id: str, logs: Sequence[Path]
) -> ErasureReport:
    """Erase the user of one stored state, and check that nothing of them is left.

    Args:
        app: The application; its ``Forgetting`` declares the data to keep.
        store: A store of all owners' states.
        settings: The settings used to make the context, if the state has to be closed first.
        state_id: The id, or the number.
        logs: The program's own logs.

    Raises:
        StateFaults: There is no such state, it cannot be read, or the database cannot be used.
    """
    erasure = Erasure(app, store, settings, logs, ErasureReport(app.noun))
    with as_state_faults(app.noun):
        await erasure.add(await erasure.read(await id_of(app.noun, store, state_id)))
    await erasure.run()
    await erasure.check()
    return erasure.report


async def is_forgotten(app: App[S, C], store: SqlStore, state_id: str) -> bool:
    """Whether the user of a stored state was erased: a command of theirs has lost its content.

    Args:
        app: The application.
        store: A store of all owners' states.
        state_id: The id, or the number.

    Raises:
        StateFaults: There is no such state, or the database cannot be used.
    """
    with as_state_faults(app.noun):
        stored = await store.read(await id_of(app.noun, store, state_id), migrated=False)
    commands = [command for entry in stored.entries for command in entry.commands]
    return any(map(partial(_lacks_content, app.page_spec.ops), commands))


def _lacks_content(
    kinds: Mapping[str, type[Command[S, C]]], command: Mapping[str, JsonValue]
) -> bool:
    kind = kinds.get(str(command.get("op")))
    if kind is None or _erased_command(command) != command:
        return False
    try:
        kind.model_validate(command)
    except ValidationError:
        return True
    return False


class Erasure(Generic[S, C]):
    """Erases the users of states: ``add`` each, ``run``, then ``check``.

    Args:
        store: A store of all owners' states.
        settings: The settings used to make the context, if a state has to be closed first.
        logs: The program's own logs.
        report: The report, which is filled here.
    """

    def __init__(
        self,
        app: App[S, C],
        store: SqlStore,
        settings: AppSettings,
        logs: Sequence[Path],
        report: ErasureReport,
    ) -> None:
        self.report = report
        self.traces: set[Trace] = set()
        """The texts to be erased."""
        self._app = app
        self._store = store
        self._settings = settings
        self._logs = tuple(logs)
        self._recordings = recordings_folder(app, settings.database, settings.recordings)
        self._context: C | None = None
        self._states: list[StoredState] = []
        self._unreadable: set[str] = set()

    async def read(self, state_id: str) -> StoredState:
        """Read a state; if its migration fails, read it without migration.

        Of such a state only the first version is kept, since the application's functions cannot read it.

        Raises:
            StateError: It cannot be read, or the database cannot be used.
        """
        try:
            return await self._store.read(state_id)
        except JournalFault as fault:
            if fault.passing:
                raise
            stored = await self._store.read(state_id, migrated=False)
            self._unreadable.add(state_id)
            return stored

    async def add(self, stored: StoredState) -> None:
        """Close a state if the application declares so, and collect its texts to be erased.

        A state whose user is still needed is left unchanged, and listed in the report.

        Raises:
            StateError: It cannot be read, or the database cannot be used.
        """
        close = self._app.forgetting.close
        if close is not None and stored.state_id not in self._unreadable:
            if self._context is None:
                self._context = self._app.make_context(Environment.of(self._settings))
            shared: SharedState[S, C] = SharedState.restored(
                stored, self._app.state_type, self._context
            )
            try:
                with named_faults("forgetting.close", with_text=False, but=(StateError,)):
                    await close(shared)
            except Refused as refusal:
                self.report.refused[stored.state_id] = refusal.message
                return
            stored = await self._store.read(stored.state_id)
        for state in _versions(stored):
            self._collect(state, self._without_user(stored, state))
        for entry in stored.entries:
            for command in entry.commands:
                self._collect(json.dumps(command), json.dumps(_erased_command(command)))
        moments = await self._store.said(stored.state_id)
        self.traces |= {Trace("said", moment.text) for moment in moments}
        self.report.lines += len(moments)
        self._states.append(stored)

    async def run(self) -> None:
        """Erase the texts, first from the logs, then from the states."""
        self._clean_logs()
        for stored in self._states:

            def edit(
                state: str, commands: Commands, stored: StoredState = stored
            ) -> tuple[str, Commands]:
                kept, bare = (
                    self._without_user(stored, state),
                    tuple(map(_erased_command, commands)),
                )
                self._collect(state, kept)  # it may have been written after ``add``
                for command in commands:
                    self._collect(json.dumps(command), json.dumps(_erased_command(command)))
                return kept, bare

            try:
                await self._store.eraser.rewrite(
                    stored.state_id, edit, migrated=stored.state_id not in self._unreadable
                )
            except StateError as fault:
                self.report.left.append(fault.message)
            else:
                self.report.erased.append(stored.state_id)
            self.forget_recordings(stored.state_id)

    async def check(self) -> None:
        """Remove deleted data from the database's files, and search everything for remaining traces."""
        report = self.report
        report.texts = len(self.traces)
        report.too_short = sum(not trace.is_searchable for trace in self.traces)
        try:
            await self._store.eraser.wipe()
            for state_id in report.erased:
                if not await self._is_clean(state_id):
                    report.left.append(self.written_again(state_id))
                for file in files_of(self._recordings, state_id):
                    report.left.append(f"{file}: the recording is left")
            await self._search_files()
        except StateError as fault:
            report.left.append(fault.message)
        except OSError as fault:
            report.left.append(f"{fault.filename}: {fault.strerror or 'it cannot be read'}")
        report.left = list(dict.fromkeys(report.left))

    def forget_recordings(self, state_id: str) -> None:
        """Delete the recordings of calls about a state."""
        try:
            self.report.recordings += forget_recordings(self._recordings, state_id)
        except OSError as fault:
            why = fault.strerror or "it cannot be deleted"
            self.report.left.append(f"The recording {fault.filename}: {why}")

    def written_again(self, state_id: str) -> str:
        """Return the report's line for a state that was written during the erasure."""
        return f"{self.report.noun.capitalize()} {state_id}: it was written again meanwhile"

    # -- erasing and keeping -----------------------------------------------------------------------

    def _without_user(self, stored: StoredState, state: str) -> str:
        keep = self._app.forgetting.keep
        if keep is None or stored.state_id in self._unreadable:
            return stored.initial
        with named_faults("forgetting.keep", with_text=False, but=(StateError,)):
            return write_state(keep(self._read(state)))

    def _read(self, state: str) -> S:
        what = f"A version of the {self._app.noun}"
        return read_state(self._app.state_type, state, what, schema=self._app.schema)

    def _collect(self, before: str, after: str) -> None:
        """Note the texts that are erased between two JSON documents."""
        kept = {text for _, text in texts_in(after)}
        self.traces |= {Trace(*one) for one in texts_in(before) if one[1] not in kept}

    def _in_logs(self) -> list[Trace]:
        named = self._app.forgetting.identifying
        return [trace for trace in self.traces if trace.kind in named and trace.is_searchable]

    def _clean_logs(self) -> None:
        traces = self._in_logs()
        for log in self._logs:
            try:
                self.report.in_logs += overwritten(log, traces)
            except OSError as fault:
                why = fault.strerror or "it cannot be changed"
                self.report.left.append(f"The log {log}: {why}")

    # -- checking ----------------------------------------------------------------------------------

    async def _is_clean(self, state_id: str) -> bool:
        stored = await self.read(state_id)
        return (
            all(self._without_user(stored, state) == state for state in _versions(stored))
            and all(
                entry.key is None
                and all(_erased_command(command) == command for command in entry.commands)
                for entry in stored.entries
            )
            and not await self._store.said(state_id)
            and await self._store.leases.of(state_id) is None
        )

    async def _search_files(self) -> None:
        report = self.report
        files = await self._store.eraser.files()
        traces = sorted(
            (trace for trace in self.traces if trace.is_searchable), key=lambda trace: trace.text
        )
        report.searched = [*files, *self._logs]
        hits = found_in_files(files, traces)
        # A text that is still in a row belongs to another state, or is kept in this one.
        dead = set(hits)

        def look(stored: str) -> bool:
            small = stored.encode(errors="replace").lower()
            dead.difference_update([trace for trace in dead if trace.in_bytes(small)])
            return False

        await self._store.eraser.search(look)
        report.left += [f"{path}: a trace is left in it" for trace in dead for path in hits[trace]]
        in_logs = self._in_logs()
        for log in self._logs:
            small = log.read_bytes().lower()
            if any(any(trace.places(small)) for trace in in_logs):
                report.left.append(f"{log}: a trace is left in it")


def _versions(stored: StoredState) -> Iterator[str]:
    yield stored.initial
    yield from (entry.state for entry in stored.entries)


def _erased_command(command: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the kept part of a command: its name, and the agents of a handoff.

    >>> _erased_command({"op": "identify", "name": "Ada"})
    {'op': 'identify'}
    """
    kept = _HANDOFF_FIELDS if command.get("op") == "hand_over" else {"op"}
    return {name: value for name, value in command.items() if name in kept}


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
