"""Parts of a declaration that few applications need: groups of arguments of ``App``.

Each has a default for everything. A function may import what it needs when it is called.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from agents.app.words import Words

if TYPE_CHECKING:
    import typer

    from agents.app.app import App
    from agents.app.replay.form import Fields
    from agents.app.rooms.comments import Changes, Comment
    from agents.app.states import ListedState
    from agents.app.terminal.summary import Summary
    from agents.handoff import Call
    from state.shared import Command, SharedState

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


@dataclass(frozen=True, kw_only=True)
class Stored(Generic[S, C]):
    """What happens to stored states.

    Args:
        refuse_resume: Returns why a state cannot be continued in a context, to follow its name in a
            sentence; ``None`` if it can.
        resumed: Called with a state that was just resumed.
        given_up: Called with the state of a call that broke off and could not be continued, and the
            reason for staff.
    """

    refuse_resume: Callable[[S, C], str | None] = lambda state, context: None
    resumed: "Callable[[SharedState[S, C]], Awaitable[object]] | None" = None
    given_up: "Callable[[SharedState[S, C], str], Awaitable[object]] | None" = None


@dataclass(frozen=True, kw_only=True)
class Forgetting(Generic[S, C]):
    """What is kept of a stored state when its user is erased.

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
    listing: "Callable[[Sequence[ListedState[S]]], str] | None" = None
    text: Callable[[S], str] | None = None
    zone: Callable[[S, C], tzinfo | None] | None = None


@dataclass(frozen=True, kw_only=True)
class CommandLine(Generic[S, C]):
    """What the command line has besides the framework's commands, and how it names things.

    Args:
        help: The first line of its help.
        options: Settings of the application's own that are options: the metavar and the help of each.
        schemas: Further schemas that ``schema`` writes, by name.
        state_commands: Further commands beside ``list``, ``show`` and ``forget``; one with the same
            name replaces it.
        context_name: What ``doctor`` calls the context, as ``menu``.
        describe_context: Describes the context for ``doctor``.
    """

    help: str = ""
    options: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    schemas: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    state_commands: "Callable[[App[S, C]], typer.Typer] | None" = None
    context_name: str = "context"
    describe_context: Callable[[C], str] = lambda context: "it can be made"


@dataclass(frozen=True, kw_only=True)
class Rooms(Generic[S, C]):
    """What is particular about calls in rooms.

    Args:
        attributes: LiveKit attributes of the agent besides agent and version, without the prefix.
        choices: The choices that a user has at their turn, if they are to choose.
        comment: Words what an agent says to changes that the user made in a client; without it they
            are not commented on.
        terms: Words that speech-to-text should know, for a context.
        words: The sentences that are said about the call itself.
    """

    attributes: Callable[[S], Mapping[str, str]] = lambda state: {}
    choices: "Callable[[Call[S, C]], Sequence[str]] | None" = None
    comment: "Callable[[Changes[S, C]], Comment | None] | None" = None
    terms: Callable[[C], Sequence[str]] = lambda context: ()
    words: Words = field(default_factory=Words)


@dataclass(frozen=True, kw_only=True)
class Phone(Generic[S, C]):
    """What is particular about calls by telephone.

    Args:
        caller_number: Called with the telephone number of a caller whose state is new.
        transfer_to: The number to which a caller is transferred who cannot be served.
    """

    caller_number: "Callable[[SharedState[S, C], str], Awaitable[object]] | None" = None
    transfer_to: Callable[[C], str | None] = lambda context: None


@dataclass(frozen=True, kw_only=True)
class Replay(Generic[S, C]):
    """What conversation files say about a state.

    Args:
        fields: Returns the form of the fields of the view; by default those of its JSON.
        start_from: Returns the commands that lead from a new state to a file's fields; by default
            the fields are set.
    """

    fields: "Callable[[], type[Fields]] | None" = None
    start_from: "Callable[[Any], Iterable[Command[S, C]]] | None" = None


@dataclass(frozen=True, kw_only=True)
class WorkerProcesses:
    """What a worker does before and while it serves rooms.

    Args:
        serving: Entered while it serves, with its settings.
        preload: Modules that it imports before its first call.
    """

    serving: Callable[[Any], AbstractContextManager[Any]] = lambda settings: nullcontext()
    preload: Sequence[str] = ()
