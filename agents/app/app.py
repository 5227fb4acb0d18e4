"""The declaration of an application, checked as a whole when it is made."""

import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cached_property
from inspect import iscoroutinefunction, isfunction
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, cast
from uuid import uuid4

from pydantic import BaseModel, JsonValue

from agents.app.channel import Channel
from agents.app.clock import running_clock
from agents.app.faults import InputError
from agents.app.importing import loaded
from agents.app.parts import (
    C,
    CommandLine,
    Forgetting,
    Phone,
    Replay,
    Rooms,
    S,
    Stored,
    Terminal,
    WorkerProcesses,
)
from agents.app.settings import AppSettings, settings_of

if TYPE_CHECKING:
    import typer
    from livekit.agents.llm import LLM

    from agents.app.terminal.summary import Summary
    from agents.handoff import Call, CallPolicy, Graph
    from rpc.page import ObjectType, PageMethod, PageSpec
    from state.shared import Command, SharedState

View = dict[str, JsonValue]
"""A state as clients see it."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_WORD = re.compile(r"[a-z][a-z0-9_]*")

COMMANDS = ("console", "dev", "start", "join", "replay", "graph", "schema", "doctor")
"""The commands that every application has."""


class AppFaults(InputError):
    """The declaration of an application is invalid; ``faults`` says what to do about each fault."""


@dataclass(frozen=True)
class Environment:
    """The arguments for making an application's context.

    Args:
        settings: The settings, an instance of the application's class.
        clock: Returns a clock of a time zone: of the present, or as ``--at`` or a conversation
            file says.
        new_id: Returns a new unique id.
    """

    settings: Any
    clock: Callable[[tzinfo], Callable[[], datetime]]
    new_id: Callable[[], str]

    @staticmethod
    def of(settings: AppSettings) -> "Environment":
        """Return the environment of a process that serves users."""
        return Environment(
            settings, lambda zone: running_clock(zone, settings.at), lambda: str(uuid4())
        )


@dataclass(frozen=True)
class NewState:
    """The arguments for making a new state.

    Args:
        id: Its unique id.
        number: A number short enough to say; numbers repeat after some hundred states.
        channel: How the user talks to the agents.
    """

    id: str
    number: str
    channel: Channel


@dataclass(frozen=True, kw_only=True)
class App(Generic[S, C]):
    """An application: its state, its agents, and its options.

    The command line, the worker, the rooms, the console and replay come from it.

    Args:
        name: The application's name: clients see it, and the environment variables begin with it
            in capitals.
        noun: The application's name for a state: it gives ``--order``, ``order_id`` and ``order.apply``.
        plural: The noun's plural: it gives ``orders list``.
        prefix: The prefix of the LiveKit attributes, as in ``bella.version``.
        state: The model of the state, frozen; or a function that imports it, for commands that do
            not need it.
        schema: The version of the state's form.
        migrate: Functions that carry a stored state from a version of its form to the next one.
        context: Makes what the rules may use, once per process.
        new: Makes the initial state.
        graph: The agents and handoffs.
        policy: The decisions about calls, for a context; made for each call.
        view: The state as clients see it; takes the state, its version and the active agent. By
            default the whole state and these two. The state's id is added if it is missing.
        roles: The commands that each role may send from a client; the user's role comes first.
        objects: The object types that ``agent.state`` serves, by name.
        methods: Further RPC methods.
        page: Makes all that clients can read and change, instead of the four above.
        model: Builds the language model that needs no key, named ``local``.
        models: Language models of single agents, by the agent's name: each a function of context and
            settings that builds one, or returns ``None`` for the call's model. A script answers for
            all agents.
        settings: The settings' class; by default those of every application.
        commands: Further commands of the command line.
        title: The application's own title, for a context.
        owner: The owner of stored states, for a context; states of several owners may share a
            database.
        stored: Hooks of stored states.
        forgetting: The data of a stored state that is kept when its user is erased.
        rooms: Options for calls in rooms.
        phone: Options for calls by telephone.
        terminal: How states look in a terminal.
        command_line: Additions to the command line.
        replay: The fields of a state in conversation files.
        worker: Hooks of a worker that serves rooms.

    Raises:
        AppFaults: Everything wrong with the declaration.
    """

    name: str
    noun: str
    plural: str
    prefix: str
    state: type[S] | Callable[[], type[S]]
    schema: int = 1
    migrate: Mapping[int, Callable[[Any], Any]] = field(default_factory=dict)
    context: Callable[[Environment], C]
    new: Callable[[C, NewState], S]
    graph: "Graph[S] | Callable[[], Graph[S]]"
    policy: "Callable[[C], CallPolicy[S, C]] | None" = None
    view: Callable[[S, int, str | None], View] | None = None
    roles: "Mapping[str, Collection[type[Command[S, C]]]]" = field(default_factory=dict)
    objects: "Mapping[str, ObjectType[S, C]]" = field(default_factory=dict)
    methods: "Sequence[PageMethod[S, C]]" = ()
    page: "Callable[[], PageSpec[S, C]] | None" = None
    model: "Callable[[C, Any], LLM[Any]] | None" = None
    models: "Mapping[str, Callable[[C, Any], LLM[Any] | None]]" = field(default_factory=dict)
    settings: type[AppSettings] = AppSettings
    commands: "Callable[[App[S, C]], typer.Typer] | None" = None
    title: Callable[[C], str] | None = None
    owner: Callable[[C], str] | None = None
    stored: Stored[S, C] = field(default_factory=Stored[S, C])
    forgetting: Forgetting[S, C] = field(default_factory=Forgetting[S, C])
    rooms: Rooms[S, C] = field(default_factory=Rooms[S, C])
    phone: Phone[S, C] = field(default_factory=Phone[S, C])
    terminal: Terminal[S, C] = field(default_factory=Terminal[S, C])
    command_line: CommandLine[S, C] = field(default_factory=CommandLine[S, C])
    replay: Replay[S, C] = field(default_factory=Replay[S, C])
    worker: WorkerProcesses = field(default_factory=WorkerProcesses)
    module: str = field(default="", repr=False)
    """The module that declares it, which other processes import; found by itself."""

    def __post_init__(self) -> None:
        if not self.module:
            object.__setattr__(self, "module", _importable(_caller()))
        if faults := list(self._faults()):
            sys.excepthook = _report_faults
            raise AppFaults(faults)
        if self.settings is AppSettings:
            object.__setattr__(self, "settings", settings_of(self.name))

    def _faults(self) -> Iterator[str]:
        if not _NAME.fullmatch(self.name):
            yield f'name: "{self.name}" has to be words in lower case joined by hyphens, as bella-vista'
        for what in ("noun", "plural", "prefix"):
            if not _WORD.fullmatch(getattr(self, what)):
                yield f'{what}: "{getattr(self, what)}" has to be one word in lower case, as order'
        if self.plural in COMMANDS:
            yield f'plural: "{self.plural}" is a command already: {", ".join(COMMANDS)}'
        if self.noun == self.plural:
            yield f'plural: has to differ from the noun "{self.noun}"'
        if isinstance(self.state, type) or not callable(self.state):
            yield from _model_faults(self.state)
        if not _is_migrated(self.schema, self.migrate):
            # Imported only then, so that help and the worker do not wait for it.
            from state.shared.schema import schema_faults

            yield from schema_faults(self.schema, self.migrate)
        if self.page is None and (self.roles or self.objects or self.methods):
            from rpc.page import PageFaults

            try:
                _ = self.page_spec
            except PageFaults as error:
                yield from (f"roles, objects, methods: {fault}" for fault in error.faults)
        for name, kind in _PARTS.items():
            if not isinstance(getattr(self, name), kind):
                yield f"{name}: has to be {kind.__name__}(...), of {kind.__module__}"
        if not callable(self.graph):
            yield from self._faults_of_models(self.graph)
        if not issubclass(self.settings, AppSettings):
            yield f"settings: {self.settings.__name__} has to derive from AppSettings"

    def _faults_of_models(self, graph: "Graph[S]") -> Iterator[str]:
        if unknown := [name for name in self.models if name not in graph.agents]:
            known = ", ".join(graph.agents)
            yield f"models: there is no agent {', '.join(unknown)}: there are {known}"

    # -- used by the framework -----------------------------------------------------------------------

    @cached_property
    def page_spec(self) -> "PageSpec[S, C]":
        """The declaration of the data that clients in a room can read and change."""
        from rpc.page import PageSpec

        if self.page is not None:
            return self.page()
        return PageSpec(
            noun=self.noun,
            view=self.view_of,
            roles=self.roles or {"user": ()},
            user=next(iter(self.roles), "user"),
            objects=self.objects,
            methods=tuple(self.methods),
        )

    @cached_property
    def state_type(self) -> type[S]:
        """The model of the state.

        Raises:
            AppFaults: It cannot be one.
        """
        if isinstance(self.state, type):
            return cast("type[S]", self.state)
        made = self.state()
        if faults := list(_model_faults(made)):
            raise AppFaults(faults)
        return made

    @cached_property
    def agents(self) -> "Graph[S]":
        """The graph.

        Raises:
            AppFaults: ``models`` names an agent that does not exist.
        """
        from agents.handoff import Graph

        graph = self.graph if isinstance(self.graph, Graph) else self.graph()
        if faults := list(self._faults_of_models(graph)):
            raise AppFaults(faults)
        return graph

    def view_of(self, state: S, version: int, agent: str | None, state_id: str = "") -> View:
        """Return the view of a state; its id is added if the application's view has none."""
        if self.view is not None:
            view = self.view(state, version, agent)
        else:
            view = {**state.model_dump(mode="json"), "version": version, "active_agent": agent}
        key = f"{self.noun}_id"
        return {key: state_id, **view} if state_id and key not in view else view

    def summary_of(self, view: Mapping[str, Any]) -> "Summary":
        """Return the summary of a view."""
        from agents.app.terminal.summary import summary_of_view

        summary = self.terminal.summary
        return summary_of_view(self.noun, view) if summary is None else summary(view)

    def title_of(self, context: C) -> str:
        """Return what the application calls itself."""
        if self.title is not None:
            return self.title(context)
        return self.name.replace("-", " ").title()

    def owner_of(self, context: C) -> str:
        """Return the owner of the states that are stored."""
        return self.name if self.owner is None else self.owner(context)

    def policy_of(self, context: C) -> "CallPolicy[S, C]":
        """Return the policy of calls."""
        from agents.handoff import CallPolicy

        return CallPolicy() if self.policy is None else self.policy(context)

    def call(
        self,
        shared: "SharedState[S, C]",
        *,
        think_limit_s: float | None = None,
        resumed: bool | None = None,
        turn: int = 0,
        preamble: str = "",
    ) -> "Call[S, C]":
        """Make a call over a state.

        Args:
            shared: The state, new or resumed.
            think_limit_s: How long a model may be silent within a reply, in seconds; by default as
                the policy says.
            resumed: Whether it continues an earlier conversation, as ``Call`` has it.
            turn: The number of the user's turns before it.
            preamble: Said before the first agent opens.
        """
        from dataclasses import replace

        from agents.handoff import Call

        policy = self.policy_of(shared.context)
        if think_limit_s is not None:
            policy = replace(policy, think_limit_s=think_limit_s)
        return Call(shared, self.agents, policy, resumed=resumed, turn=turn, preamble=preamble)

    def cli(self) -> NoReturn:
        """Run the command line of this application and exit with its code."""
        from agents.app.cli import run

        run(self)

    @property
    def a_noun(self) -> str:
        """The noun with its article."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @property
    def package(self) -> str:
        """The package of the module that declares it, or that module."""
        return self.module.rpartition(".")[0] or self.module

    @property
    def command(self) -> str:
        """The command line that runs it, as an operator types it."""
        program = sys.modules["__main__"]
        if self.module in sys.modules or _importable(vars(program)) != self.module:
            return f"python -m {self.package}"
        if program.__spec__ is not None:
            return f"python -m {self.module.removesuffix('.__main__')}"
        return f"python {shlex.quote(sys.argv[0])}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it by name: another process imports the module that declares it."""
        return load_app, (self.path,)

    @property
    def path(self) -> str:
        """Where other processes import it from: ``module:NAME``.

        Raises:
            AppFaults: It is not a variable of a module that can be imported.
        """
        # A file that is run, and not imported, is the module __main__.
        for module in (self.module, "__main__"):
            for name, value in vars(sys.modules.get(module, object)).items():
                if value is self:
                    return f"{self.module}:{name}"
        raise AppFaults([f"{self.module} has no variable that holds the application {self.name}"])


AnyApp = App[Any, Any]

_PARTS: Mapping[str, type[Any]] = {
    "stored": Stored,
    "forgetting": Forgetting,
    "rooms": Rooms,
    "phone": Phone,
    "terminal": Terminal,
    "command_line": CommandLine,
    "replay": Replay,
    "worker": WorkerProcesses,
}


def _caller() -> dict[str, Any]:
    """Return the globals of the module that declares an application; ``App[S, C](...)`` calls through typing."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in (__name__, "typing"):
        frame = frame.f_back
    return frame.f_globals if frame is not None else {}


def _importable(module: Mapping[str, Any]) -> str:
    """Return the name by which other processes import a module, also if it is run as a program.

    Args:
        module: Its variables.
    """
    name = str(module["__name__"])
    if name not in ("__main__", "__mp_main__"):
        return name
    if (spec := module.get("__spec__")) is not None:  # python -m
        return str(spec.name)
    return Path(module["__file__"]).stem if "__file__" in module else name


def _report_faults(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """End a program whose declaration is faulty as the command line ends with a faulty input."""
    if not isinstance(error, AppFaults):
        return sys.__excepthook__(kind, error, trace)
    from agents.app.terminal.streams import print_error

    print_error(*error.faults)
    raise SystemExit(2)


def _is_migrated(schema: object, migrate: Mapping[int, Callable[[Any], Any]]) -> bool:
    """Return whether a plain function leads from each earlier version to the next one."""
    return (
        type(schema) is int
        and schema > 0
        and set(migrate) == set(range(1, schema))
        and all(isfunction(one) and not iscoroutinefunction(one) for one in migrate.values())
    )


def _model_faults(state: object) -> Iterator[str]:
    if not (isinstance(state, type) and issubclass(state, BaseModel)):
        yield "state: has to be a pydantic model"
    else:
        from state.shared.shapes import model_faults

        yield from (f"state: {fault}" for fault in model_faults(state))


def load_app(path: str) -> AnyApp:
    """Import an application.

    Args:
        path: ``module:NAME``.
    """
    return cast("AnyApp", loaded(path))
