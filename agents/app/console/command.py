"""The ``console`` command: a conversation in a terminal, from the settings to the end of the call."""

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from livekit.agents.llm import LLM

from agents.app.app import AnyApp, App, Environment
from agents.app.console.event_lines import EventLines
from agents.app.console.plain import PlainConsole
from agents.app.console.wording import Lost, closing_lines, summary_of_call
from agents.app.declaration import named_faults
from agents.app.live import LiveSettings
from agents.app.models.choice import language_model, models_of_agents, reply_limit_of
from agents.app.parts import C, S
from agents.app.settings import AppSettings
from agents.app.states import (
    StateFaults,
    id_of,
    is_erased,
    new_state,
    open_store,
    resume_state,
)
from agents.app.terminal.input import InputLines, is_dumb, piped, typed
from agents.app.terminal.logs import log_to_file, log_to_stderr
from agents.app.terminal.signals import on_signals
from agents.app.terminal.stdio import discard_stdout, print_error
from agents.app.transcript import CallRecord
from agents.handoff import Call, Ended, EndReason, Event, start_text, stop
from agents.testing import ScriptedLLM
from state.shared import SharedState, SqlStore, StateError, UnknownState

if TYPE_CHECKING:
    from agents.app.replay.recording import ConversationRecorder

logger = logging.getLogger(__name__)

FAILED = 1

WATCH_S = 2.0
"""How often to check that the state is still held here, in seconds."""

STOP_LIMIT_S = 5.0
"""How long the end of a call waits for its running work, in seconds."""


class ConsoleDisplay(Protocol):
    """The output of a conversation, for a person or for a program."""

    def opens(self) -> None:
        """The call starts."""

    def tell(self, event: Event) -> None:
        """Show an event of the call."""

    def closes(self, reason: EndReason, lost: Lost | None) -> None:
        """The call is over; it may have lost its state."""


@dataclass
class ConsoleConversation:
    """A conversation between a call and a user at a terminal.

    Args:
        call: The call, not started.
        typed: Whether the input is typed interactively; else it comes from a pipe or a file.
        store: Holds the state, if it is stored.
        lost: Why the call has lost its state.
        live: The settings that staff change while the call runs.
    """

    call: Call[Any, Any]
    model: LLM[Any]
    display: ConsoleDisplay
    lines: InputLines
    typed: bool
    llm_by_agent: Mapping[str, LLM[Any]] = field(default_factory=dict)
    store: SqlStore | None = None
    lost: Lost | None = None
    live: LiveSettings = field(default_factory=LiveSettings)
    output_error: OSError | None = None
    """Why stdout can no longer be written to."""

    async def run(self) -> EndReason:
        """Run the conversation to its end; returns why it ended."""
        self.call.subscribe(self._on_event)
        with on_signals(self._on_user_left):
            self._show(self.display.opens)
            try:
                await start_text(self.call, self.model, llm_by_agent=self.llm_by_agent)
                self.call.spawn(self._watch_state())
                await self._run_turns()
            except Exception:  # of any type: the user is shown how to resume the conversation
                logger.exception("conversation failed")
                self.call.end("failed")
            finally:
                await self._stop()
        reason = self.call.ended or "failed"
        self.lines.close()
        if self.lost is not None or self.call.shared.taken_over:
            self.lost = "taken over"
            with suppress(StateError):  # the database cannot be read: either is possible
                if self.store is not None and await is_erased(self.store, self._state_id):
                    self.lost = "erased"
        self._show(lambda: self.display.closes(reason, self.lost))
        return reason

    def state_lost(self) -> None:
        """The state can no longer be written: end the call after the reply under way."""
        self.lost = "taken over"
        if self.call.turns.is_user_turn:
            self.call.end("failed")
        else:
            self.call.close_after_reply("failed")

    @property
    def _state_id(self) -> str:
        return self.call.shared.state_id

    async def _watch_state(self) -> None:
        """End the call when another process has taken the state over, or it was erased."""
        while self.store is not None and self.lost is None:
            await asyncio.sleep(WATCH_S)
            with suppress(StateError):  # the database cannot be read: retried at the next check
                if not await self.store.holds(self._state_id):
                    self.state_lost()
            await self.live.refresh()

    async def _run_turns(self) -> None:
        await self.call.answered()
        while self.call.ended is None:
            line = await self.lines.following()
            if line is None:
                self.call.end("user_left" if self.typed or self.lines.left else "input_ended")
                return
            self.call.user_said(line)
            await self.call.answered()

    async def _stop(self) -> None:
        try:
            async with asyncio.timeout(STOP_LIMIT_S):
                await stop(self.call)
        except TimeoutError:
            logger.warning("call did not stop within %g s", STOP_LIMIT_S)

    def _on_user_left(self) -> None:
        self.call.end("user_left")
        self.lines.leave()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Ended):
            self.lines.leave()
        elif self.call.ended is None:
            self._show(lambda: self._show_event(event))

    def _show_event(self, event: Event) -> None:
        with self.lines.aside():
            self.display.tell(event)

    def _show(self, show: Callable[[], None]) -> None:
        """Show something; if stdout is closed the user has left."""
        if self.output_error is not None:
            return
        try:
            show()
        except OSError as error:
            self.output_error = error
            self._on_user_left()


def run_console(
    app: App[S, C],
    settings: AppSettings,
    *,
    state_id: str | None,
    events: bool,
    again: str,
    record: Path | None = None,
) -> int:
    """Run a conversation in this terminal; returns the exit code.

    Args:
        app: The application.
        settings: The model, the clock, the database, and the application's own.
        state_id: The stored state to resume; a new one without it.
        events: Whether to write JSON lines.
        again: This command as it was called, for the hint how to resume.
        record: The file to record the conversation in; it must not exist.

    Raises:
        InputError: An input cannot be used.
    """
    environment, recording = Environment.of(settings), None
    if record is not None:
        # Imported late: it loads the form of conversation files.
        from agents.app.replay.recording import ConversationRecorder

        recording = ConversationRecorder(app, record, settings)
        environment = recording.environment(environment)
    context = app.make_context(environment)
    on_screen = not events and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    if on_screen:
        log_to_file(app.name, settings.secrets)
    else:
        log_to_stderr(settings.secrets)
    return asyncio.run(
        _converse(
            app, settings, context, environment.live, state_id, events, on_screen, again, recording
        )
    )


async def _converse(
    app: App[S, C],
    settings: AppSettings,
    context: C,
    live: LiveSettings,
    state_id: str | None,
    events: bool,
    on_screen: bool,
    again: str,
    recording: "ConversationRecorder[S, C] | None",
) -> int:
    model = language_model(app, context, settings)
    own = models_of_agents(app, context, settings)
    async with open_store(app, settings.database, app.owner_of(context)) as store:
        live.read_from(store)
        await live.refresh()
        if state_id is None:
            shared = await new_state(app, store, context, "terminal")
        else:
            shared = await _resumed(app, settings, store, context, state_id)
        call = app.call(shared, think_limit_s=reply_limit_of(model, *own.values()))
        resume_command = f"{again} --{app.noun} {shared.state_id}"
        if recording is not None:
            recording.start(call)
        with named_faults("view, terminal"):
            display, lines = _display_and_input(app, call, events, on_screen, resume_command)
        typing = sys.stdin is not None and sys.stdin.isatty()
        conversation = ConsoleConversation(
            call,
            model,
            display,
            lines,
            typed=typing,
            llm_by_agent=own,
            store=store,
            live=live,
        )
        record = CallRecord(
            call, store, channel="terminal", words=settings.transcript, lost=conversation.state_lost
        )
        record.drop_older_than(settings.transcript_days)
        try:
            reason = await conversation.run()
        finally:
            if recording is not None:
                await recording.aclose()
            await record.aclose()
            for one in (model, *own.values()):
                await one.aclose()
    if reason == "failed" and events:
        summary = summary_of_call(app, call)
        print_error(*closing_lines(summary, reason, resume_command, conversation.lost))
    code = _exit_code(conversation, reason)
    if recording is not None:
        print_error(recording.outcome())
        return FAILED if recording.fault is not None else code
    return code


async def _resumed(
    app: App[S, C], settings: AppSettings, store: SqlStore, context: C, typed: str
) -> SharedState[S, C]:
    """Resume a state; a number that only other owners' states have is refused as their ids are."""
    try:
        return await resume_state(app, store, context, typed)
    except StateFaults as fault:
        if not isinstance(fault.__cause__, UnknownState):
            raise
        async with open_store(app, settings.database, None) as every_owners:
            state_id = await id_of(app.noun, every_owners, typed)
        if state_id == typed.strip().lower():
            raise
        return await resume_state(app, store, context, state_id)


def _exit_code(conversation: ConsoleConversation, reason: EndReason) -> int:
    if conversation.output_error is not None:
        discard_stdout()
        if isinstance(conversation.output_error, BrokenPipeError):
            return 0
        print_error(f"stdout: {conversation.output_error.strerror}")
        return FAILED
    model = conversation.model
    if isinstance(model, ScriptedLLM) and len(model.requests) > len(model.script):
        print_error(f"the script has only {len(model.script)} steps")
        return FAILED
    return FAILED if reason == "failed" else 0


def _display_and_input(
    app: AnyApp,
    call: Call[Any, Any],
    events: bool,
    on_screen: bool,
    resume_command: str,
) -> tuple[ConsoleDisplay, InputLines]:
    if events:
        return EventLines(app, call, sys.stdout), piped()
    if not on_screen:
        return PlainConsole(app, call, sys.stdout, resume_command=resume_command), piped()
    if is_dumb():
        display = PlainConsole(
            app, call, sys.stdout, resume_command=resume_command, answers_here=True
        )
        return display, typed(display.typed)
    # Imported late: rich takes some time to import.
    from agents.app.console.screen import Screen, terminal

    screen = Screen(app, call, terminal(), resume_command=resume_command)
    return screen, typed(screen.typed)
