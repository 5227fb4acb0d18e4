"""The declaration of an application, checked as a whole when it is made."""

import json
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, cast
from uuid import uuid4

from pydantic import JsonValue

from agents.app.clock import running_clock
from agents.app.declaration import (
    AppFaults as AppFaults,
)
from agents.app.declaration import (
    attempt,
    declaration_faults,
    faults_of_graph,
    faults_of_state,
    named_faults,
    of_kind,
    page_arguments,
)
from agents.app.faults import report_faults
from agents.app.importing import loaded
from agents.app.live import LiveSettings
from agents.app.parts import (
    C,
    Channel,
    CommandLine,
    Forgetting,
    Phone,
    Replay,
    Rooms,
    S,
    Stored,
    Terminal,
    Web,
    WorkerProcesses,
)
from agents.app.settings import AppSettings, settings_of
from agents.app.words import ABOUT_RECORDING_WORDS

if TYPE_CHECKING:
    from typing import TypeAlias

    import typer
    from livekit.agents.llm import LLM

    from agents.app.terminal.summary import Summary
    from agents.handoff import Call, CallPolicy, Graph
    from rpc.page import ObjectType, PageMethod, PageSpec
    from state.shared import Command, SharedState

    Settings: TypeAlias = Any
    """An instance of the application's class."""

View = dict[str, JsonValue]
"""A state as clients see it."""


@dataclass(frozen=True)
class Environment:
    """The arguments for making an application's context.

    Args:
        settings: The settings, an instance of the application's class.
        clock: Returns a clock of a time zone; it shows the present time, or that of ``--at`` or of a
            conversation file.
        new_id: Returns a new unique id.
        live: The settings that staff change while calls run; rules read their present values.
    """

    settings: Any
    clock: Callable[[tzinfo], Callable[[], datetime]]
    new_id: Callable[[], str]
    live: LiveSettings = field(default_factory=LiveSettings)

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

    The command line, the worker, the rooms, the console and replay are built from it.

    Args:
        name: The application's name: clients see it, and the environment variables begin with it
            in capitals.
        noun: The application's name for a state: it gives ``--order``, ``order_id`` and ``order.apply``.
        plural: The noun's plural: it gives ``orders list``.
        prefix: The prefix of the LiveKit attributes, as in ``bella.version``.
        state: The model of the state, frozen; or a function that imports it, for commands that do
            not need it.
        schema: The schema version of the state.
        migrate: Functions that migrate a stored state to the next schema version, by the version
            they start from.
        context: Makes the context of the rules, once per process.
        new: Makes the initial state.
        graph: The agents and handoffs.
        policy: The decisions about calls, for a context; made for each call.
        view: The state as clients see it; takes the state, its version and the active agent. By
            default the whole state and these two. The state's id is added if it is missing.
        view_form: A model of the view, from which the contract and the clients' types are
            generated.
        roles: The commands that each role may send from a client; the user's role comes first.
        objects: The object types that ``agent.state`` serves, by name.
        methods: Further RPC methods.
        page: Declares everything that clients can read and change, instead of ``roles``, ``objects``
            and ``methods``.
        model: Builds the language model that needs no key, named ``local``.
        models: Functions that build the language models of single agents, by the agent's name, from
            context and settings; ``None`` means the call's model. A script answers for all agents.
        settings: The settings' class; by default one without settings of the application's own.
        commands: Further commands of the command line.
        title: The application's own title, for a context.
        owner: The owner of stored states, for a context; states of several owners may share a
            database.
        stored: Hooks of stored states.
        forgetting: The data of a stored state that is kept when its user is erased.
        rooms: Options for calls in rooms.
        phone: Options for calls by telephone.
        web: Options of the web server.
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
    view_form: type[object] | None = None
    roles: "Mapping[str, Collection[type[Command[S, C]]]]" = field(default_factory=dict)
    objects: "Mapping[str, ObjectType[S, C]]" = field(default_factory=dict)
    methods: "Sequence[PageMethod[S, C]]" = ()
    page: "Callable[[], PageSpec[S, C]] | None" = None
    model: "Callable[[C, Settings], LLM[Any]] | None" = None
    models: "Mapping[str, Callable[[C, Settings], LLM[Any] | None]]" = field(default_factory=dict)
    settings: type[AppSettings] = AppSettings
    commands: "Callable[[App[S, C]], typer.Typer] | None" = None
    title: Callable[[C], str] | None = None
    owner: Callable[[C], str] | None = None
    stored: Stored[S, C] = field(default_factory=Stored[S, C])
    forgetting: Forgetting[S, C] = field(default_factory=Forgetting[S, C])
    rooms: Rooms[S, C] = field(default_factory=Rooms[S, C])
    phone: Phone[S, C] = field(default_factory=Phone[S, C])
    web: Web[S, C] = field(default_factory=Web[S, C])
    terminal: Terminal[S, C] = field(default_factory=Terminal[S, C])
    command_line: CommandLine[S, C] = field(default_factory=CommandLine[S, C])
    replay: Replay[S, C] = field(default_factory=Replay[S, C])
    worker: WorkerProcesses = field(default_factory=WorkerProcesses)
    module: str = field(default="", repr=False)
    """The module that declares it, for the import in other processes; found automatically."""

    if not TYPE_CHECKING:

        def __new__(cls, *positional: object, **given: Any) -> Any:
            """Check all arguments at once; Python alone would report the first faulty one."""
            if faults := declaration_faults(cls, positional, given):
                raise AppFaults(faults)
            return super().__new__(cls)

    def __post_init__(self) -> None:
        if not self.module:
            object.__setattr__(self, "module", _importable(_caller()))
        if self.settings is AppSettings:
            object.__setattr__(self, "settings", settings_of(self.name))

    # -- used by the framework -----------------------------------------------------------------------

    @cached_property
    def page_spec(self) -> "PageSpec[S, C]":
        """The declaration of the data that clients in a room can read and change.

        Raises:
            AppFaults: The declaration is faulty, or cannot be made.
        """
        from rpc.page import PageSpec

        with named_faults("page"):
            if self.page is not None:
                return of_kind("page", self.page(), PageSpec)
            return PageSpec(**page_arguments(self, self.view_of))

    @cached_property
    def state_type(self) -> type[S]:
        """The model of the state.

        Raises:
            AppFaults: The class cannot be the model of a state.
        """
        if isinstance(self.state, type):
            return cast("type[S]", self.state)
        with named_faults("state"):
            made = self.state()
        if faults := list(faults_of_state(made, is_view=self.view is None)):
            raise AppFaults(faults)
        return made

    @cached_property
    def agents(self) -> "Graph[S]":
        """The graph.

        Raises:
            AppFaults: The graph cannot be made, or does not fit the state or ``models``.
        """
        from agents.handoff import Graph

        if isinstance(self.graph, Graph):
            graph = self.graph
        else:
            with named_faults("graph"):
                graph = of_kind("graph", self.graph(), Graph)
        if graph is self.graph and isinstance(self.state, type):  # checked when it was declared
            return graph
        if faults := list(faults_of_graph(self, graph, self.state_type)):
            raise AppFaults(faults)
        return graph

    def make_context(self, environment: Environment) -> C:
        """Make the context of the rules.

        Raises:
            AppFaults: ``context`` has raised an exception.
            InputError: A file that it reads is faulty.
        """
        with named_faults("context", environment.settings.secrets):
            return self.context(environment)

    def make_state(self, context: C, new: NewState) -> S:
        """Make the initial state.

        Raises:
            AppFaults: ``new`` has raised an exception, or returned no state.
        """
        with named_faults("new"):
            return of_kind("new", self.new(context, new), self.state_type)

    def make_parts(self) -> None:
        """Build the page, the state's model and the agents, so that faults are found before a call.

        Functions that import parts are called here for the first time; all other parts were checked
        at the declaration.

        Raises:
            AppFaults: Lists everything that cannot be made.
        """
        faults: dict[str, None] = {}
        for part in ("page_spec", "state_type", "agents"):
            try:
                getattr(self, part)
            except AppFaults as error:
                faults |= dict.fromkeys(error.faults)
        if faults:
            raise AppFaults(faults)

    def rehearse(self, context: C) -> None:
        """Build everything that a call needs, so that faults are found before the first call.

        Args:
            context: The context of the rules.

        Raises:
            AppFaults: A part cannot be made.
        """
        from state.shared import SharedState

        self.make_parts()
        state = self.make_state(context, NewState("rehearsed", "101", "terminal"))
        self.call(SharedState(state, context))
        with named_faults("view"):
            json.dumps(dict(self.view_of(state, 0, None, "rehearsed")))

    def view_of(self, state: S, version: int, agent: str | None, state_id: str = "") -> View:
        """Return the view of a state; its id is added if the application's view has none."""
        if self.view is not None:
            view = of_kind("view", self.view(state, version, agent), Mapping)
        else:
            view = {**state.model_dump(mode="json"), "version": version, "active_agent": agent}
        key = f"{self.noun}_id"
        return {key: state_id, **view} if state_id and key not in view else view

    def view_for_staff(self, state: S, version: int, agent: str | None, state_id: str) -> View:
        """Return the view of a state with the fields that only staff see."""
        more = of_kind("web.for_staff", self.web.for_staff(state), Mapping)
        return {**more, **self.view_of(state, version, agent, state_id)}

    def summary_of(self, view: Mapping[str, Any]) -> "Summary":
        """Return the summary of a view."""
        from agents.app.terminal.summary import summary_of_view

        summary = self.terminal.summary
        return summary_of_view(self.noun, view) if summary is None else summary(view)

    def title_of(self, context: C) -> str:
        """Return the application's own title."""
        if self.title is None:
            return self.name.replace("-", " ").title()
        with named_faults("title"):
            return of_kind("title", self.title(context), str)

    def owner_of(self, context: C) -> str:
        """Return the owner of the states that are stored."""
        if self.owner is None:
            return self.name
        with named_faults("owner"):
            return of_kind("owner", self.owner(context), str)

    def policy_of(self, context: C) -> "CallPolicy[S, C]":
        """Return the policy of calls."""
        from agents.handoff import CallPolicy

        if self.policy is None:
            return CallPolicy()
        with named_faults("policy"):
            return of_kind("policy", self.policy(context), CallPolicy)

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

        Raises:
            AppFaults: The policy cannot be made, or names a field that the state does not have.
        """
        from dataclasses import replace

        from agents.handoff import Call

        policy = self.policy_of(shared.context)
        if think_limit_s is not None:
            policy = replace(policy, think_limit_s=think_limit_s)
        with named_faults("policy"):
            call = Call(shared, self.agents, policy, resumed=resumed, turn=turn, preamble=preamble)
        call.turns.own_answer = lambda text: self.about_recording(call, text)
        return call

    def about_recording(
        self, call: "Call[S, C]", text: str, *, recorded: bool = False
    ) -> "str | None":
        """Return the answer to a user who asks whether their call is recorded, or None."""
        if not attempt("rooms.asks_recording", False, self.rooms.asks_recording, text):
            return None
        words = self.rooms.words
        answer = words.is_recorded if recorded else words.is_not_recorded
        return self.say_alone(call, text, answer)

    def say_alone(self, call: "Call[S, C]", text: str, answer: str) -> "str | None":
        """Return the answer to a message about recordings, or None if the message is long.

        A long message may ask for something else too: the active agent replies to it, after this
        answer.
        """
        if len(text.split()) <= ABOUT_RECORDING_WORDS:
            return answer
        call.replies.preamble = answer
        return None

    def cli(self) -> NoReturn:
        """Run the command line of this application and exit with its code."""
        # Imported late: the command line imports this module.
        run: Callable[[AnyApp], NoReturn] = loaded("agents.app.cli:run")
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
        # The module of a script is named __main__.
        for module in (self.module, "__main__"):
            for name, value in vars(sys.modules.get(module, object)).items():
                if value is self:
                    return f"{self.module}:{name}"
        raise AppFaults([f"{self.module} has no variable that holds the application {self.name}"])


AnyApp = App[Any, Any]

sys.excepthook = report_faults


def _caller() -> dict[str, Any]:
    """Return the globals of the module that calls ``App``; ``App[S, C](...)`` has a frame of ``typing``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in (__name__, "typing"):
        frame = frame.f_back
    return frame.f_globals if frame is not None else {}


def _importable(module: Mapping[str, Any]) -> str:
    """Return the name by which other processes import a module, even one that is run as a script."""
    name = str(module["__name__"])
    if name not in ("__main__", "__mp_main__"):
        return name
    if (spec := module.get("__spec__")) is not None:  # python -m
        return str(spec.name)
    return Path(module["__file__"]).stem if "__file__" in module else name


def load_app(path: str) -> AnyApp:
    """Import an application."""
    return cast("AnyApp", loaded(path))
