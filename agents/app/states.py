"""An application's stored states: started, resumed, listed and shown."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from platformdirs import user_data_path

from agents.app.app import AnyApp, App, NewState, View
from agents.app.declaration import named_faults
from agents.app.faults import InputError
from agents.app.parts import C, Channel, ListedState, S
from state.shared import (
    JournalFault,
    Listed,
    Moment,
    OtherOwner,
    SharedState,
    SqlStore,
    StateError,
    StoredState,
    UnknownState,
    write_state,
)

SYSTEM, STAFF = "system", "staff"
"""The actors of changes that are made by neither an agent nor the user."""

_SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUP = rf"(?!\d{{4}})[{_SIGNS}]{{4}}"
_ID = re.compile("-".join([_GROUP] * 3))
_FIRST_NUMBER, _NUMBERS = 101, 899
_LISTED = 10_000
"""The number of the newest states that are searched for a number."""


class StateFaults(InputError):
    """The database or the named state cannot be used."""

    @property
    def passing(self) -> bool:
        """Whether the fault is transient: a retry in some seconds may succeed."""
        return isinstance(self.__cause__, JournalFault) and self.__cause__.passing

    @property
    def unreadable(self) -> bool:
        """Whether the state exists and cannot be read."""
        return isinstance(self.__cause__, JournalFault) and not self.__cause__.passing


def default_database(app: AnyApp) -> str:
    """Return the default database: a file in the user's data directory."""
    file = user_data_path(app.name, appauthor=False) / f"{app.plural}.db"
    return "sqlite:///" + quote(str(file), safe="/:\\")


def open_store(app: AnyApp, url: str | None, owner: str | None, *, create: bool = True) -> SqlStore:
    """Create a store of states; nothing is opened yet.

    Args:
        app: The application.
        url: The database's URL; the default database without it.
        owner: The owner of its states; with ``None`` it reads those of every owner and creates none.
        create: Whether a missing database is created.
    """
    return SqlStore(
        url or default_database(app),
        owner=owner,
        schema=app.schema,
        migrate=app.migrate,
        create=create,
    )


async def new_state(
    app: App[S, C], store: SqlStore, context: C, channel: Channel
) -> SharedState[S, C]:
    """Store a new state under its owner's next number.

    Raises:
        StateFaults: The database cannot be used.
    """
    state_id = new_id()

    def begin(ordinal: int) -> str:
        return write_state(app.make_state(context, NewState(state_id, number_of(ordinal), channel)))

    with as_state_faults(app.noun):
        stored = await store.create(state_id, begin, speaker=app.agents.start)
        return SharedState.restored(stored, app.state_type, context)


async def resume_state(
    app: App[S, C], store: SqlStore, context: C, state_id: str
) -> SharedState[S, C]:
    """Resume a stored state by its id or number; its previous holder can no longer write it.

    Raises:
        StateFaults: There is no such state, it cannot be continued, or the database cannot be used.
    """
    with as_state_faults(app.noun):
        state_id = await id_of(app.noun, store, state_id)

        def check(stored: StoredState) -> None:  # raises before the takeover of an ended state
            _refuse(app, context, state_id, stored.read(app.state_type))

        stored = await store.take(state_id, check=check)
        shared = SharedState.restored(stored, app.state_type, context)
        if app.stored.resumed is not None:
            with named_faults("stored.resumed", with_text=False, but=(StateError,)):
                await app.stored.resumed(shared)
    return shared


async def list_states(app: App[S, C], store: SqlStore, limit: int) -> list[ListedState[S]]:
    """List states, newest first; an unreadable one is listed with the reason.

    Raises:
        StateFaults: The database cannot be used.
    """
    with as_state_faults(app.noun):
        return [_listed(app, one) for one in await store.list(limit)]


async def show_state(app: App[S, C], store: SqlStore, state_id: str) -> tuple[S, View]:
    """Read a state and its view.

    Raises:
        StateFaults: There is no such state, it cannot be read, or the database cannot be used.
    """
    with as_state_faults(app.noun):
        stored = await store.read(await id_of(app.noun, store, state_id))
        state = stored.read(app.state_type)
    with named_faults("view"):
        return state, app.view_of(state, stored.version, stored.speaker, stored.state_id)


async def show_transcript(app: AnyApp, store: SqlStore, state_id: str) -> list[Moment]:
    """Read the stored transcript of a state.

    Raises:
        StateFaults: There is no such state, or the database cannot be used.
    """
    with as_state_faults(app.noun):
        return await store.said(await id_of(app.noun, store, state_id))


async def is_erased(store: SqlStore, state_id: str) -> bool:
    """Whether a state that a call holds was erased: it has no lease, and no transcript.

    Raises:
        StateError: The database cannot be used.
    """
    return await store.leases.of(state_id) is None and not await store.said(state_id)


def new_id() -> str:
    """Create an id that can be read out and typed, and does not look like a number.

    Each group has a letter, so no part of it is redacted as a card or telephone number.
    """
    groups: list[str] = []
    while len(groups) < 3:
        group = "".join(secrets.choice(_SIGNS) for _ in range(4))
        if not group.isdigit():
            groups.append(group)
    return "-".join(groups)


def is_id(typed: str) -> bool:
    """Whether a text has the form of an id that ``new_id`` creates.

    >>> is_id("xj26-2kv8-zvn3"), is_id("2125-5501-4299")
    (True, False)
    """
    return _ID.fullmatch(typed.strip().lower()) is not None


def number_of(ordinal: int) -> str:
    """Return a state's number, which is short enough to say: three digits, from 101 again after 999.

    >>> number_of(1), number_of(899), number_of(900)
    ('101', '999', '101')
    """
    return str(_FIRST_NUMBER + (ordinal - 1) % _NUMBERS)


async def id_of(noun: str, store: SqlStore, typed: str) -> str:
    """Resolve a state's id or number to its id.

    Numbers repeat after 899 states, so a number resolves to the newest state that has it.

    Raises:
        StateFaults: Several owners have a state of that number.
    """
    typed = typed.strip().lower()
    if not typed.isdecimal():
        return typed
    newest: dict[str, str] = {}
    for one in await store.list(_LISTED):
        if number_of(one.ordinal) == typed:
            newest.setdefault(one.owner, one.state_id)
    if len(newest) > 1:
        known = ", ".join(f"{state_id} ({owner})" for owner, state_id in newest.items())
        raise StateFaults([f"Several owners have the {noun} {typed}: name its id: {known}."])
    return next(iter(newest.values()), typed)


def _listed(app: App[S, C], one: Listed) -> ListedState[S]:
    number = number_of(one.ordinal)
    try:
        state = one.read(app.state_type)
    except JournalFault as fault:
        return ListedState(one.state_id, number, one.version, None, None, fault.why)
    return ListedState(one.state_id, number, one.version, one.speaker, state)


def _refuse(app: App[S, C], context: C, state_id: str, state: S) -> None:
    with named_faults("stored.refuse_resume", with_text=False):
        why = app.stored.refuse_resume(state, context)
    if why is not None:
        raise StateFaults([f"{app.noun.capitalize()} {state_id} {why}: it cannot be continued."])


@contextmanager
def as_state_faults(noun: str) -> Iterator[None]:
    """Convert state errors into ``StateFaults`` with a message for an operator."""
    try:
        yield
    except UnknownState as error:
        raise StateFaults([f"There is no {noun} {error.facts['id']}."]) from error
    except OtherOwner as error:
        raise StateFaults(
            [f"{noun.capitalize()} {error.facts['id']} belongs to another owner."]
        ) from error
    except StateError as error:
        raise StateFaults([error.message]) from error
