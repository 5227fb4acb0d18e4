"""The restaurant's app as workers run it, watched: how late its event loop is, and when a change
is stored and a turn notice leaves.

Each call writes what is seen of it into a file of its own, in the folder that ``BENCH_WATCH`` names.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from livekit import rtc
from livekit.agents import JobContext, JobProcess

from agents.app.app import App
from agents.app.rooms.job import prepare_process, serve_room
from agents.app.serving.app_worker import PRELOAD
from agents.app.serving.worker import Worker
from agents.handoff import Call, Event, YourTurn
from bella_vista.app import APP
from bella_vista.settings import Settings
from state.shared import Applied
from tests.benchmarks.rooms.lateness import note, ticks

WATCH = "BENCH_WATCH"

_settings = Settings.read()


def prepare(process: JobProcess) -> None:
    """Prepare a process as the app does."""
    prepare_process(APP, process)


server = Worker(
    _settings, setup=prepare, preload=(__name__, *PRELOAD, *APP.worker.preload), noun=APP.noun
)


@server.rtc_session(agent_name=_settings.agent_name)
async def entrypoint(ctx: JobContext) -> None:
    """Serve a room as the app does, and watch it."""
    watch = _Watch(ctx)
    await serve_room(ctx, APP)
    if ctx.room.isconnected():
        ctx.room.local_participant.add_rpc_interceptor(watch)


class _Watch(rtc.RpcInterceptor):
    """Writes down what is seen of one call."""

    def __init__(self, ctx: JobContext) -> None:
        file = Path(os.environ[WATCH]) / f"{ctx.job.room.name}.jsonl"
        self._file = file.open("a", buffering=1)

        make = App.call

        def watched(*given: Any, **more: Any) -> Call[Any, Any]:
            call = make(*given, **more)
            call.subscribe(self._on_event)  # before anybody else does
            call.shared.subscribe(self._on_change)
            return call

        patch.object(App, "call", watched).start()
        self._ticking = asyncio.get_running_loop().create_task(ticks(self._file))

    def _on_event(self, event: Event) -> None:
        if isinstance(event, YourTurn):
            note(self._file, "true", turn=event.turn)

    def _on_change(self, applied: Applied[Any]) -> None:
        note(self._file, "changed", wall=time.time(), ops=applied.ops)

    async def intercept_outgoing(self, call: rtc.RpcCallInfo, next: Any) -> str:
        """Note when a notice leaves."""
        if call.method == "your_turn_to_speak":
            payload = json.loads(call.payload)
            if payload["your_turn"]:
                note(self._file, "told", turn=payload["turn"])
        told: str = await next(call)
        return told
