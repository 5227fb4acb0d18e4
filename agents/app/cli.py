"""The command line of an application. Commands import their dependencies when they run.

Exit codes: 0 success, 1 a failure while the command ran, 2 wrong usage or a faulty file or setting.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from agents.app.app import AnyApp, Environment
from agents.app.cli_options import (
    Events,
    command_typed,
    id_argument,
    one_of,
    option,
    whole_number,
    with_options,
)
from agents.app.declaration import COMMANDS, AppFaults, named_faults, of_kind
from agents.app.faults import InputError
from agents.app.importing import gc_paused, later, missing_modules
from agents.app.settings import AppSettings, SettingsFaults, has_livekit_settings
from agents.app.terminal.stdio import make_streams_safe, print_error, printable, say

if TYPE_CHECKING:
    from agents.app.forgetting import ErasureReport
    from state.shared import SqlStore

T = TypeVar("T")

FAILED, WRONG_USAGE = 1, 2

_GRAPH_FORMATS = ("mermaid", "dot", "text")
"""The output formats of the graph."""

_WEB_MODULES = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "itsdangerous": "itsdangerous",
    "argon2": "argon2-cffi",
}


def run(app: AnyApp) -> NoReturn:
    """Run an application's command line as a process; by default Ctrl-C ends it at once, without a message."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    try:
        main(app)
    except SystemExit as stop:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        # Without cleanup: threads of livekit 1.1.21 can abort the process at exit.
        os._exit(stop.code if isinstance(stop.code, int) else 0)


def main(app: AnyApp, arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code; input errors are reported without a traceback."""
    make_streams_safe()
    try:
        command_line(app)(args=arguments)
    except InputError as error:
        print_error(*error.faults)
        sys.exit(WRONG_USAGE)
    sys.exit(0)


def command_line(app: AnyApp) -> typer.Typer:
    """Build the commands of an application, including its own."""
    commands = typer.Typer(
        name=app.name,
        help=app.command_line.help,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    _add_conversation_commands(app, commands)
    _add_description_commands(app, commands)
    _add_room_commands(app, commands)
    _add_state_commands(app, commands)
    if app.commands is not None:
        commands.add_typer(_application_commands(app, app.commands))
    return commands


def _application_commands(app: AnyApp, make: Callable[[AnyApp], typer.Typer]) -> typer.Typer:
    """Make the application's own commands.

    Raises:
        AppFaults: They cannot be made, or one has the name of another command.
    """
    with named_faults("commands"):
        own = of_kind("commands", make(app), typer.Typer)
        taken = {*COMMANDS, app.plural} & typer.main.get_group(own).commands.keys()
    if taken:
        raise AppFaults(f'commands: "{name}" is a command already' for name in sorted(taken))
    return own


def _add_conversation_commands(app: AnyApp, commands: typer.Typer) -> None:
    @commands.command()
    @with_options(app, "model", "at", "database")
    def console(
        state: Annotated[
            str | None, option(f"--{app.noun}", "ID", f"Continue a stored {app.noun}.")
        ] = None,
        events: Events = False,
        record: Annotated[
            Path | None,
            option("--record", "FILE", "Write the conversation as a file for replay, too."),
        ] = None,
        **options: str | None,
    ) -> None:
        """Have a conversation in the terminal. Type, or pipe one user turn per line."""
        settings = read_settings(app, **options)
        with gc_paused():
            from agents.app.console.command import run_console

        app.make_parts()
        kept = {name: value for name, value in options.items() if name not in ("model", "at")}
        again = command_typed(app, "console", **kept)
        raise typer.Exit(
            run_console(app, settings, state_id=state, events=events, again=again, record=record)
        )

    @commands.command()
    @with_options(app, "model", "at")
    def replay(
        files: Annotated[
            list[str],
            typer.Argument(
                metavar="FILE...",
                help="Conversations in YAML: files, patterns, or folders of them.",
            ),
        ],
        repeat: Annotated[
            int,
            option(
                "--repeat",
                "K",
                "Run each K times; it passes if all runs do.",
                parser=whole_number(1, 1000),
            ),
        ] = 1,
        report: Annotated[
            Path | None, option("--junit", "FILE", "Write the results as JUnit XML, too.")
        ] = None,
        **options: str | None,
    ) -> None:
        """Run conversations from files. Shows the results and the expectations that failed."""
        settings = read_settings(app, **options)
        with gc_paused():
            from agents.app.replay.command import ReplayCommand

        app.make_parts()
        replayed = ReplayCommand(app, settings, options["model"] is not None, repeat, report)
        raise typer.Exit(replayed.run(files))


def _add_description_commands(app: AnyApp, commands: typer.Typer) -> None:
    @commands.command()
    def graph(
        picture: Annotated[
            str,
            option(
                "--format",
                f"[{'|'.join(_GRAPH_FORMATS)}]",
                "The output format.",
                parser=one_of(_GRAPH_FORMATS),
            ),
        ] = _GRAPH_FORMATS[0],
    ) -> None:
        """Draw the graph of handoffs between the agents."""
        from agents.handoff import dot, mermaid, outline

        app.make_parts()
        say({"mermaid": mermaid, "dot": dot, "text": outline}[picture](app.agents))

    schemas: dict[str, Callable[[], Any]] = {**app.command_line.schemas}
    schemas.setdefault("rpc", partial(_rpc_schema, app))
    form = "agents.app.conversation_files.reading:conversation_schema"
    schemas["conversation"] = partial(later(form), app)

    @commands.command()
    def schema(
        what: Annotated[
            str | None,
            typer.Argument(
                metavar=f"[{'|'.join(schemas)}]",
                parser=one_of(schemas),
                help="Which schema; lists them without it.",
            ),
        ] = None,
    ) -> None:
        """Write a JSON Schema. For editors and other programs: of a file format, or of the RPC."""
        if what is None:
            say("\n".join(schemas))
        else:
            with named_faults(f"command_line.schemas[{what!r}]"):
                written = json.dumps(schemas[what](), indent=2, ensure_ascii=False)
            say(written)


def _add_room_commands(app: AnyApp, commands: typer.Typer) -> None:
    @commands.command()
    @with_options(app, "model", "at", "database")
    def start(**options: str | None) -> None:
        """Serve rooms of a LiveKit server. Accepts calls until SIGTERM, then drains."""
        _export_options(app, serving=True, **options)
        from agents.app.serving.worker_process import run_worker

        raise typer.Exit(run_worker(app))

    @commands.command()
    @with_options(app, "model", "at", "database")
    def dev(
        server: Annotated[
            Path | None,
            option(
                "--server",
                "FILE",
                "The LiveKit server to run here meanwhile, if the settings name none.",
            ),
        ] = None,
        speech: Annotated[
            bool,
            option(
                "--speech", None, "Hear and speak on this machine where no provider's key is set."
            ),
        ] = False,
        **options: str | None,
    ) -> None:
        """Serve rooms during development. The worker restarts when a file changes; no call is cut off."""
        if speech:
            _choose_local_speech(app, **options)
        if server is not None or not has_livekit_settings():
            from agents.app.livekit_server import program_of

            server = program_of(server)
        _export_options(app, serving=server is None, **options)
        from agents.app.serving.reloading import run_dev

        raise typer.Exit(run_dev(app, server=server))

    @commands.command()
    @with_options(app, "model", "at", "database")
    def web(
        host: Annotated[
            str | None, option("--host", "ADDRESS", "The address to listen on.")
        ] = None,
        port: Annotated[
            int | None,
            option("--port", "N", "The port; 0 is any free one.", parser=whole_number(0, 65_535)),
        ] = None,
        page: Annotated[
            Path | None, option("--page", "FOLDER", "The built page to serve.", exists=True)
        ] = None,
        server: Annotated[
            Path | None,
            option(
                "--server",
                "FILE",
                "Run this LiveKit server program and the agents meanwhile, on this machine only.",
            ),
        ] = None,
        **options: str | None,
    ) -> None:
        """Serve a page and its token endpoint, until a signal."""
        if missing := missing_modules("web", _WEB_MODULES):
            raise InputError([missing])
        from agents.app.web.command import run_demo, run_web

        own = {"web_host": host, "web_port": port, "web_page": page}
        if server is not None:
            from agents.app.livekit_server import program_of

            _export_options(app, serving=False, **options)
            _offer_local_speech(app)
            raise typer.Exit(run_demo(app, program_of(server), **own))
        _warn_of_unknown_settings(app)
        raise typer.Exit(run_web(app, app.settings.read_for_rooms(**own, **options)))

    @commands.command("staff-password")
    def staff_password() -> None:
        """Write the hash of a password for staff.

        Asks for it twice, or reads it from stdin.
        """
        if missing := missing_modules("web", _WEB_MODULES):
            raise InputError([missing])
        from agents.app.web.staff import hash_password

        typed = sys.stdin.isatty()
        password = (
            typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
            if typed
            else sys.stdin.readline().rstrip("\r\n")
        )
        say(hash_password(password))

    @commands.command()
    def join(
        room: Annotated[
            str | None, option("--room", "NAME", "The room to join; a new one by default.")
        ] = None,
        identity: Annotated[
            str | None,
            option("--identity", "ID", "Your identity in the room; a new one by default."),
        ] = None,
        resume: Annotated[
            str | None, option("--resume", "CODE", f"Resume {app.a_noun} by its code.")
        ] = None,
        rpc: Annotated[
            tuple[str, str] | None,
            option("--rpc", "METHOD JSON", "Make one call and print its reply."),
        ] = None,
        events: Events = False,
        speech: Annotated[
            bool, option("--speech", None, "Speak and listen, besides typing.")
        ] = False,
        microphone: Annotated[
            Path | None,
            option(
                "--microphone",
                "FILE.wav",
                "With --speech: say this file, one utterance in each turn.",
            ),
        ] = None,
        loudspeaker: Annotated[
            Path | None,
            option("--loudspeaker", "FILE.wav", "With --speech: record the agents into this file."),
        ] = None,
    ) -> None:
        """Join a room as a user. Type, or pipe one user turn per line."""
        if (microphone or loudspeaker) and not speech:
            raise typer.BadParameter("--microphone and --loudspeaker need --speech")
        settings = app.settings.read_for_rooms()
        from agents.app.join.command import run_call, run_join

        place: dict[str, Any] = {"room": room, "identity": identity, "resume_code": resume}
        if rpc is not None:
            raise typer.Exit(run_call(app, settings, *rpc, **place))
        again = command_typed(app, "join")
        sound = (microphone, loudspeaker) if speech else None
        raise typer.Exit(run_join(app, settings, **place, events=events, again=again, sound=sound))

    @commands.command()
    @with_options(app, "model", "database")
    def doctor(**options: str | None) -> None:
        """Check everything a call needs. Lists the faults, and how to fix them."""
        from agents.app.doctor.command import run_doctor

        raise typer.Exit(run_doctor(app, **options))


def _add_state_commands(app: AnyApp, commands: typer.Typer) -> None:
    states = typer.Typer(help=f"List, show and forget stored {app.plural}.", no_args_is_help=True)
    commands.add_typer(states, name=app.plural)
    which = id_argument(app)

    @states.command("list")
    @with_options(app, "database", own=False)
    def list_command(
        limit: Annotated[
            int, option("--limit", "N", "How many, newest first.", parser=whole_number(1, 10_000))
        ] = 50,
        database: str | None = None,
    ) -> None:
        from agents.app.state_pages import listing
        from agents.app.states import list_states

        listed = with_store(app, database, lambda store: list_states(app, store, limit))
        if not listed:
            typer.echo(f"There are no {app.plural}.")
            return
        with named_faults("terminal"):
            text = listing(app, listed)
        typer.echo(printable(text))
        if any(one.state is None for one in listed):
            raise typer.Exit(FAILED)

    list_command.__doc__ = f"List the newest {app.plural}."

    @states.command("show", help=f"Show one {app.noun}.")
    @with_options(app, "database", own=False)
    def show_command(
        state_id: Annotated[str, which],
        as_json: Annotated[
            bool, option("--json", None, f"As one JSON object: the {app.noun}'s public view.")
        ] = False,
        transcript: Annotated[
            bool, option("--transcript", None, "Also show the transcript, with speakers and times.")
        ] = False,
        database: str | None = None,
    ) -> None:
        from agents.app.forgetting import is_forgotten
        from agents.app.state_pages import page
        from agents.app.states import show_state, show_transcript

        async def read(store: "SqlStore") -> Any:
            state, view = await show_state(app, store, state_id)
            moments = await show_transcript(app, store, state_id) if transcript else []
            return state, dict(view), moments, await is_forgotten(app, store, state_id)

        state, view, moments, forgotten = with_store(app, database, read)
        with named_faults("terminal"):
            text = page(app, state, view)
        if forgotten:
            text += (
                f"\n\nThe user of this {app.noun} was forgotten: what identified them is erased."
            )
        if transcript:
            from agents.app.state_pages import transcript_page
            from agents.app.transcript import group_by_call, transcript_data

            calls, zone = group_by_call(moments), _zone(app, state, database)
            user = app.page_spec.user
            view |= transcript_data(calls, zone, user)
            text += f"\n\n{transcript_page(calls, zone, user)}"
        with named_faults("view"):
            written = json.dumps(view, ensure_ascii=False, indent=2)
        typer.echo(written if as_json else printable(text))

    @states.command("forget", help=f"Erase the user of {app.a_noun}. Checks that nothing is left.")
    @with_options(app, "database")
    def forget_command(
        state_id: Annotated[str, which], database: str | None = None, **options: str | None
    ) -> None:
        from agents.app.forgetting import forget_state
        from agents.app.terminal.logs import log_files

        settings = read_settings(app, database=database, **options)
        logs = log_files(app.name)
        show_report(
            with_store(
                app, database, lambda store: forget_state(app, store, settings, state_id, logs)
            )
        )

    if app.command_line.state_commands is not None:
        with named_faults("command_line.state_commands"):
            states.add_typer(app.command_line.state_commands(app))


# -- helpers ---------------------------------------------------------------------------------------


def read_settings(app: AnyApp, **options: object) -> AppSettings:
    """Read the settings, and warn of unknown variables.

    Raises:
        SettingsFaults: Everything that is wrong.
    """
    _warn_of_unknown_settings(app)
    return app.settings.read(**options)


def with_store(app: AnyApp, database: str | None, ask: "Callable[[SqlStore], Awaitable[T]]") -> T:
    """Run a query on the store that an option or the settings name.

    The default database is created if it is missing; a database that is named must exist.
    """
    from agents.app.states import open_store

    named = read_settings(app, database=database).database

    async def asked() -> T:
        async with open_store(app, named, None, create=named is None) as store:
            return await ask(store)

    return asyncio.run(asked())


def _zone(app: AnyApp, state: Any, database: str | None) -> tzinfo | None:
    """Return the time zone in which a state is shown."""
    if app.terminal.zone is None:
        return None
    settings = app.settings.read(database=database)
    context = app.make_context(Environment.of(settings))
    with named_faults("terminal.zone"):
        return app.terminal.zone(state, context)


def show_report(report: "ErasureReport") -> None:
    """Print the report of an erasure, and exit with 1 if a part of it failed."""
    for line in report.done():
        typer.echo(printable(line))
    failed = list(report.failed())
    for line in failed:
        typer.echo(printable(line), err=True)
    if failed:
        raise typer.Exit(FAILED)


def _rpc_schema(app: AnyApp) -> Any:
    from rpc.page.contract import contract

    return contract(app.page_spec, f"The RPC of {app.name}")


def _warn_of_unknown_settings(app: AnyApp) -> None:
    print_error(*(f"warning: {fault}" for fault in app.settings.unknown()))


def _export_options(app: AnyApp, *, serving: bool, **options: str | None) -> None:
    """Validate options and export them to the environment, for the worker's processes."""
    _warn_of_unknown_settings(app)
    if serving:
        from agents.app.serving.worker_process import checked_settings

        checked_settings(app, **options)
    else:
        app.settings.read(**options)
    for name, value in options.items():
        if value is not None:
            os.environ[app.settings.variable(name)] = value


def _choose_local_speech(app: AnyApp, **options: str | None) -> None:
    """Choose local speech in the environment where no provider is named.

    Raises:
        SettingsFaults: Local speech cannot run on this machine.
    """
    from agents.app.models.speech_settings import (
        missing_for_speech,
        speech_faults,
        with_local_speech,
    )

    os.environ.update(with_local_speech(app.settings.read(**options)))
    settings = app.settings.read(**options)
    faults = speech_faults(settings)
    faults += tuple(
        f"{name}: is none, but --speech is given" for name in missing_for_speech(settings)
    )
    if faults:
        raise SettingsFaults(faults)


def _offer_local_speech(app: AnyApp) -> None:
    """Choose local speech in the environment if no provider is named; print a line if it cannot run."""
    from agents.app.models.speech_settings import local_speech_faults, with_local_speech
    from agents.app.serving.reloading import prepare_speech

    settings = app.settings.read()
    faults = local_speech_faults(settings)
    if faults is None:
        return
    if not faults:
        chosen = with_local_speech(settings)
        os.environ.update(chosen)
        try:
            prepare_speech(app)
        except InputError as error:
            faults = error.faults
            for name in chosen:
                del os.environ[name]
    if faults:
        print_error(f"Calls are typed, not spoken: {'; '.join(faults)}")
