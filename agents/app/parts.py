"""Parts of a declaration that few applications need: groups of arguments of ``App``.

Each has a default for everything. A function may import what it needs when it is called.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import tzinfo
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
"""How users talk to agents."""


JsonObject: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, kw_only=True)
class Stored(Generic[S, C]):
    """Hooks of stored states.

    Args:
        refuse_resume: Returns the reason why a state cannot be continued in a context, as the end of a
            sentence that begins with its name; ``None`` if it can be continued.
        resumed: Called with a state that was just resumed.
        given_up: Called with the state of a call that broke off and could not be continued, and the
            reason for staff.
    """

    refuse_resume: Callable[[S, C], str | None] = lambda state, context: None
    resumed: "Callable[[SharedState[S, C]], Awaitable[object]] | None" = None
    given_up: "Callable[[SharedState[S, C], str], Awaitable[object]] | None" = None


@dataclass(frozen=True, kw_only=True)
class Forgetting(Generic[S, C]):
    """The data of a stored state that is kept when its user is erased.

    Its id, the times and the names of its commands are kept in any case; its transcript never.

    Args:
        keep: Returns a state as it is kept, without its user; called with every stored version, and
            again with what it returned, which it must leave as it is. By default every version
            becomes the initial state.
        close: Closes an open state first, as staff do. Raises ``Refused`` while its user is still
            needed: the state is left unchanged then, and the reason is shown.
        identifying: The names of the fields whose texts identify a person wherever they are found:
            these are overwritten in logs as well.
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
        summary: The view as a person sees it; by default each field that is set.
        listing: Formats a list of stored states; by default a line each.
        text: Formats one stored state; by default its summary.
        zone: The time zone of the times in a stored state's transcript; by default this machine's.
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
        options: Settings of the application's own that are options: the metavar and the help of each.
        schemas: Further schemas that ``schema`` writes, by name.
        state_commands: Makes, for the application, further commands beside ``list``, ``show`` and ``forget``; one with the same
            name replaces it.
        context_name: The name of the context in ``doctor``, as ``menu``.
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
    """Changes that the user has made in a client and no agent has spoken to yet.

    Args:
        applied: Each change, oldest first; at least one.
        state: The current state.
        context: The context of the rules.
    """

    applied: "Sequence[Applied[S]]"
    state: S
    context: C

    @property
    def stretches(self) -> list[tuple[S, S]]:
        """The states before and after each run of changes that no other writer interrupted."""
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
    """

    about: str
    words: str


@dataclass(frozen=True, kw_only=True)
class Rooms(Generic[S, C]):
    """Options for calls in rooms.

    Args:
        attributes: LiveKit attributes of the agent besides agent and version, without the prefix.
        choices: The choices of a user at their turn, if a choice is expected.
        comment: Words the agents' comment on changes that the user made in a client; without it
            they are not commented on.
        terms: Words that speech-to-text should know, for a context.
        sentences: Sentences that users may say, for a context, by the kind of answer that is
            expected, ``open`` among them: local speech-to-text hears what these are made of, and
            cannot be used without them.
        written: Writes what it heard, words in lower case with a comma at each pause, as it is typed:
            with digits, for instance.
        meaning: Tells what a text means, for a context, as a value that equals those of the same
            meaning: it recognises each utterance twice, and believes what means the same both times.
            By default the words have to be the same.
        refuses_recording: Whether a message says that its user does not want to be recorded; by
            default in English.
        asks_recording: Whether a message asks if the call is recorded; by default in English.
        words: The sentences that are said about the call itself.
    """

    attributes: Callable[[S], Mapping[str, str]] = lambda state: {}
    choices: "Callable[[Call[S, C]], Sequence[str]] | None" = None
    comment: Callable[[Changes[S, C]], Comment | None] | None = None
    terms: Callable[[C], Sequence[str]] = lambda context: ()
    sentences: Callable[[C], Mapping[str, Sequence[str]]] | None = None
    written: Callable[[str], str] = str
    meaning: Callable[[C], Callable[[str], object]] | None = None
    refuses_recording: Callable[[str], bool] = refuses_recording
    asks_recording: Callable[[str], bool] = asks_recording
    words: Words = field(default_factory=Words)


@dataclass(frozen=True)
class CallSummary:
    """A call in short, for the person to whom its user is put through.

    Args:
        spoken: Said to them, in a few sentences.
        written: The whole, in lines.
    """

    spoken: str
    written: str = ""


@dataclass(frozen=True, kw_only=True)
class Phone(Generic[S, C]):
    """Options for calls by telephone.

    Args:
        caller_number: Called with the telephone number of a caller whose state is new.
        transfer_to: The number to which callers are transferred if they cannot be served, and put
            through if they ask for a person and an agent offers ``PutThrough``.
        person_there: Whether a person answers at that number now.
        summary: Sums up a call for the person whom a warm transfer calls; takes why the user wants
            a person as well.
        not_reached: Called with the state and the reason when no one was reached, so that staff
            see it.
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
        documents: Public documents below ``/api/``, by name: each a function of the context that
            returns JSON. Called in threads.
        live: What staff may change while calls run, by name: each a function of the context, the present
            values and those that were sent, which returns the new values. It raises ``Rejected`` for
            what cannot be set. Called in the event loop, so it must not block; called again if
            another page server was faster. A command whose rules read these settings refreshes them
            in ``Command.prepare``, by ``Environment.live.refresh``.
        waits_for_staff: Whether staff still have to do something with a state: it stays on their board
            however old it is. Called in threads.
        for_staff: Returns what staff see of a state beside its view, by field, as JSON; a field of the view
            stays as it is. Clients in a room never see it. Called in threads.
    """

    page: Path | None = None
    documents: Mapping[str, Callable[[C], JsonValue]] = field(default_factory=dict)
    live: Mapping[str, Callable[[C, JsonObject, JsonObject], JsonObject]] = field(
        default_factory=dict
    )
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
        fields: Returns the form of the fields of the view; by default those of its JSON.
        start_from: Returns the commands that lead from a new state to a file's fields; by default
            the fields are set.
        settings: Returns settings under which a run leaves nothing behind, for an empty folder of
            its own.
        generated: The names of fields that are generated for every state, whatever a file says,
            beside ids, numbers and versions: they are not compared where a file starts from them.
    """

    fields: Callable[[], type[Fields]] | None = None
    start_from: "Callable[[Any], Iterable[Command[S, C]]] | None" = None
    settings: Callable[[Path], Mapping[str, Any]] = lambda folder: {}
    generated: Collection[str] = ()


@dataclass(frozen=True, kw_only=True)
class WorkerProcesses:
    """Hooks of a worker that serves rooms.

    Args:
        serving: Entered while it serves, with its settings.
        preload: Modules that it imports before its first call.
    """

    serving: Callable[[Any], AbstractContextManager[Any]] = lambda settings: nullcontext()
    preload: Sequence[str] = ()
