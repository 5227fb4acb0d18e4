"""Groups of optional arguments of ``App``; each has a default for everything.

Their functions may import dependencies when they are called.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import tzinfo
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from agents.app.words import Words, asks_recording, refuses_recording

if TYPE_CHECKING:
    import typer

    from agents.app.terminal.summary import Summary
    from agents.handoff import Call
    from state.shared import Applied, Command, SharedState

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")

Channel: TypeAlias = Literal["terminal", "phone", "web_voice", "web_text"]
"""The channel between a user and the agents."""


JsonObject: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, kw_only=True)
class Stored(Generic[S, C]):
    """Hooks of stored states.

    Args:
        refuse_resume: Returns the reason why a state cannot be resumed in a context, as the end of a
            sentence that begins with its name; ``None`` if it can be resumed.
        resumed: Called with a state that was just resumed.
        given_up: Called with the state of a call that failed and could not be continued, and with
            the reason, for staff.
    """

    refuse_resume: Callable[[S, C], str | None] = lambda state, context: None
    resumed: "Callable[[SharedState[S, C]], Awaitable[object]] | None" = None
    given_up: "Callable[[SharedState[S, C], str], Awaitable[object]] | None" = None


@dataclass(frozen=True, kw_only=True)
class Forgetting(Generic[S, C]):
    """The data of a stored state that is kept when its user is erased.

    Its id, the times and the names of its commands are kept in any case; its transcript never.

    Args:
        keep: Returns a copy of a state without its user's data. It is called with every stored
            version and again with its own result, which it must return unchanged. By default every
            version becomes the initial state.
        close: Closes an open state before it is erased, as staff do. It raises ``Refused`` while the
            user is still needed; the state is left unchanged then, and the reason is shown.
        identifying: The names of the fields whose texts identify a person; these texts are
            overwritten in logs too.
    """

    keep: Callable[[S], S] | None = None
    close: "Callable[[SharedState[S, C]], Awaitable[object]] | None" = None
    identifying: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedState(Generic[S]):
    """One state in a list.

    Args:
        id: Its id.
        number: Its number.
        version: Its present version.
        agent: Its active agent.
        state: The state; ``None`` when it cannot be read.
        fault: Why it cannot be read.
    """

    id: str
    number: str
    version: int
    agent: str | None
    state: S | None
    fault: str | None = None


@dataclass(frozen=True, kw_only=True)
class Terminal(Generic[S, C]):
    """How states look in a terminal.

    Args:
        summary: Returns the summary of a view; by default a row for each field that is
            set, and for each object in a list.
        listing: Formats a list of stored states; by default a line for each.
        text: Formats one stored state; by default its summary.
        zone: Returns the time zone for a state's transcript; by default this machine's.
    """

    summary: "Callable[[Mapping[str, Any]], Summary] | None" = None
    listing: Callable[[Sequence[ListedState[S]]], str] | None = None
    text: Callable[[S], str] | None = None
    zone: Callable[[S, C], tzinfo | None] | None = None


@dataclass(frozen=True, kw_only=True)
class CommandLine(Generic[S, C]):
    """Additions to the command line, and its texts.

    Args:
        help: The first line of its help.
        options: The application's own settings that are options too: the metavar and the help of each.
        schemas: Further schemas for ``schema``, by name.
        state_commands: Makes, for the application, further commands besides ``list``, ``show`` and
            ``forget``, or replaces these.
        context_name: The name of the context in ``doctor``, such as ``menu``.
        describe_context: Describes the context for ``doctor``.
    """

    help: str = ""
    options: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    schemas: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    state_commands: "Callable[[Any], typer.Typer] | None" = None
    context_name: str = "context"
    describe_context: Callable[[C], str] = lambda context: "it can be made"


@dataclass(frozen=True)
class Changes(Generic[S, C]):
    """Changes that the user or staff made outside the conversation, and that have no comment yet.

    Args:
        applied: Each change of the state, oldest first; empty if staff changed live settings only.
        state: The current state.
        context: The context of the rules.
        live: The live settings before and after, if staff changed them.
    """

    applied: "Sequence[Applied[S]]"
    state: S
    context: C
    live: tuple[JsonObject, JsonObject] | None = None

    @property
    def stretches(self) -> list[tuple[S, S]]:
        """The states before and after each run of changes without another writer in between."""
        found: list[tuple[S, S]] = []
        for one in self.applied:
            if found and found[-1][1] == one.before:
                found[-1] = found[-1][0], one.state
            else:
                found.append((one.before, one.state))
        return found


@dataclass(frozen=True)
class Comment:
    """An agent's comment on changes.

    Args:
        about: The topic, in the application's own terms; ``Said.about`` has it.
        words: The sentences.
        agent: The agent that says them; it takes over first if it is another than the active one and
            the declared handoffs lead to it. By default the active agent says them.
    """

    about: str
    words: str
    agent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rooms(Generic[S, C]):
    """Options for calls in rooms.

    Args:
        attributes: LiveKit attributes of the agent besides agent and version, without the prefix.
        choices: Returns the user's choices if the expected kind of answer is a choice.
        comment: Returns an agent's comment on changes that the user made in a client; by default
            there are no comments.
        staff_comment: Returns a comment on changes that staff made, in a client or on the board, of
            the state or of live settings.
        terms: Returns the words that speech-to-text should know, for a context.
        sentences: Returns the sentences that users may say, for a context, by the expected kind of
            answer, including ``open``. Local speech-to-text recognises only the words of these
            sentences, and requires them.
        written: Converts the words of local speech-to-text, in lower case with a comma at each
            pause, to written text, for instance with digits.
        meaning: Returns a function that maps texts of the same meaning to equal values, for a
            context. Local speech-to-text recognises each utterance twice, and accepts it if both
            texts have the same meaning. By default the words have to be the same.
        refuses_recording: Whether the user refuses in a message to be recorded; by default in English.
        asks_recording: Whether the user asks in a message if the call is recorded; by default in
            English.
        words: The sentences about the call itself.
    """

    attributes: Callable[[S], Mapping[str, str]] = lambda state: {}
    choices: "Callable[[Call[S, C]], Sequence[str]] | None" = None
    comment: Callable[[Changes[S, C]], Comment | None] | None = None
    staff_comment: Callable[[Changes[S, C]], Comment | None] | None = None
    terms: Callable[[C], Sequence[str]] = lambda context: ()
    sentences: Callable[[C], Mapping[str, Sequence[str]]] | None = None
    written: Callable[[str], str] = str
    meaning: Callable[[C], Callable[[str], object]] | None = None
    refuses_recording: Callable[[str], bool] = refuses_recording
    asks_recording: Callable[[str], bool] = asks_recording
    words: Words = field(default_factory=Words)


@dataclass(frozen=True)
class CallSummary:
    """The summary of a call, for the person to whom its user is transferred.

    Args:
        spoken: A few sentences, which are spoken to the person.
        written: The whole summary, in lines.
    """

    spoken: str
    written: str = ""


@dataclass(frozen=True, kw_only=True)
class Phone(Generic[S, C]):
    """Options for calls by telephone.

    Args:
        caller_number: Called with a new state and the telephone number of its caller.
        transfer_to: Returns the number to which callers are transferred if they cannot be served, or
            if they ask for a person and an agent offers ``PutThrough``.
        person_there: Whether a person answers at that number now.
        summary: Summarizes a call for the person whom a warm transfer calls; the last argument is the
            user's reason.
        not_reached: Called with the state and the user's reason if no person was reached; stores it
            for staff.
    """

    caller_number: "Callable[[SharedState[S, C], str], Awaitable[object]] | None" = None
    transfer_to: Callable[[C], str | None] = lambda context: None
    person_there: Callable[[C], bool] = lambda context: True
    summary: Callable[[S, C, str], CallSummary] = lambda state, context, reason: CallSummary(
        f"A caller would like to speak to a person. {reason}"
    )
    not_reached: "Callable[[SharedState[S, C], str], Awaitable[object]] | None" = None


@dataclass(frozen=True, kw_only=True)
class Web(Generic[S, C]):
    """Options of the web server.

    Args:
        page: The folder of the built page.
        documents: Functions that return public JSON documents below ``/api/`` from the context, by
            name. Called in threads.
        live: The settings that staff may change while calls run, by name: functions of the context,
            the present values and those that were sent. They return the new values, and raise
            ``Rejected`` for invalid ones. They are called in the event loop, so they must not block,
            and again if another page server changed the setting first. A command whose rules read
            these settings refreshes them in ``Command.prepare``, by ``Environment.live.refresh``.
        waits_for_staff: Whether a state needs an action by staff: it then stays on the board however
            old it is. Called in threads.
        staff_role: The role of staff who have logged in: they may send the commands of that role.
        for_staff: Returns, as JSON, fields of a state that only staff see, in addition to its view; they
            do not replace fields of the view. Called in threads.
    """

    page: Path | None = None
    documents: Mapping[str, Callable[[C], JsonValue]] = field(default_factory=dict)
    live: Mapping[str, Callable[[C, JsonObject, JsonObject], JsonObject]] = field(
        default_factory=dict
    )
    staff_role: str = "staff"
    waits_for_staff: Callable[[S], bool] = lambda state: False
    for_staff: Callable[[S], JsonObject] = lambda state: {}


class Fields(BaseModel):
    """Fields of a state's view; only those that are given are compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def given(self) -> dict[str, Any]:
        """The fields that were given."""
        return self.model_dump(exclude_unset=True)


@dataclass(frozen=True, kw_only=True)
class Replay(Generic[S, C]):
    """The fields of a state in conversation files.

    Args:
        fields: Returns the form of the view's fields; by default any fields are accepted.
        start_from: Returns the commands that lead from a new state to a file's fields; by default
            the fields are set.
        settings: Returns the settings of a run from its empty folder; the run may write only there.
        generated: The names of fields that are generated for every state, besides ids, numbers and
            versions: such as a field that keeps ``NewState.number`` under another name than
            ``<noun>_number``. A file cannot set them, so they are neither compared at the start of a run
            nor recorded.
        same: Whether an expected text of a field and the actual one mean the same; by default they are equal.
    """

    fields: Callable[[], type[Fields]] | None = None
    start_from: "Callable[[Any], Iterable[Command[S, C]]] | None" = None
    settings: Callable[[Path], Mapping[str, Any]] = lambda folder: {}
    generated: Collection[str] = ()
    same: Callable[[str, str], bool] = eq


@dataclass(frozen=True, kw_only=True)
class WorkerProcesses:
    """Hooks of a worker that serves rooms.

    Args:
        serving: Returns a context that is entered while the worker serves, from the settings.
        preload: The modules to import before the first call.
    """

    serving: Callable[[Any], AbstractContextManager[Any]] = lambda settings: nullcontext()
    preload: Sequence[str] = ()
