"""A talk in a process of its own that is killed on its way to the disk: what ``test_killed_between_writes.py`` starts.

Its guest says the first thing at once. What else happens, and where it dies, comes as JSON in ``Plan``'s form.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from agents.app.job_metadata import JobMetadata
from agents.app.rooms.state_of_call import Opened, open_for
from agents.app.transcript import CallRecord
from agents.handoff import Call, Said, start_text, stop
from bella_vista.app import APP
from bella_vista.local.model import LocalLLM
from bella_vista.menus import menu_file
from rpc.gateway import Caller
from rpc.page import Session
from rpc.restaurant import GUEST, ORDER_PAGE
from state.commands import AddNote
from state.context import OrderContext
from state.menu import load_menu
from state.order import OrderState
from state.shared import Lease, SqlStore
from tests.stored_orders import open_store

NOW = datetime(2026, 11, 20, 18, tzinfo=UTC)
ADA = Caller(identity="ada", role=GUEST)
NOBODYS = Lease("room", "bella-vista", None, NOW, NOW)
LONG_S = 50


@dataclass
class Plan:
    """What happens in the talk.

    Args:
        first: What the guest says.
        meanwhile: What the guest says while the first dish is being written; acknowledged before that is stored.
        note: Whether the guest also writes a note on the page then.
        dies: The dish that is never written: the process is killed when it would be.
        after: The dish after which the process is killed at once, when it has been written.
    """

    first: str
    meanwhile: str = ""
    note: bool = False
    dies: str = ""
    after: str = ""


class Talking:
    """One talk about an order, as a room holds it, in text."""

    def __init__(self, store: SqlStore, opened: Opened[OrderState, OrderContext]) -> None:
        self.call: Call[OrderState, OrderContext] = APP.call(
            opened.shared,
            resumed=opened.resumed,
            turn=opened.prior.turn,
            preamble=opened.preamble,
        )
        self.call.answer(opened.prior.unanswered)
        self._record = CallRecord(self.call, store, channel="web_text")
        self.order_session = Session(
            ORDER_PAGE,
            self.call.shared,
            self.call,
            state_id=self.call.state.order_id,
            agent="bella-vista",
            spoken=opened.prior.spoken,
            store=self._record.say,
        )
        self.said: list[str] = []
        self.call.subscribe(self._listen)

    def _listen(self, event: object) -> None:
        if isinstance(event, Said):
            self.said.append(event.text)

    async def start(self) -> None:
        """Let the first agent open."""
        model = LocalLLM(self.call.shared.context.menu, now=lambda: NOW)
        await start_text(self.call, model)

    async def say(self, text: str) -> int:
        """Say something as a client does, under a key; returns when it is acknowledged."""
        return await self.order_session.say(text, ADA, text)

    async def aclose(self) -> None:
        """End it."""
        await stop(self.call)
        await self._record.aclose()


def orders_of(address: str) -> tuple[SqlStore, OrderContext]:
    """Return where the orders are kept, and the restaurant."""
    menu = load_menu(menu_file(None))
    context = OrderContext(menu=menu, now=lambda: NOW, new_id=lambda: str(uuid4()))
    return open_store(address, menu.restaurant.id), context


async def opened(
    store: SqlStore, context: OrderContext, order_id: str | None
) -> Opened[OrderState, OrderContext]:
    """Open an order as a room does, for Ada."""
    return await open_for(
        APP,
        store,
        context,
        JobMetadata(state_id=order_id),
        NOBODYS,
        user="ada",
        channel="web_text",
        secret="a-secret-of-the-tests-that-is-long-enough",
    )


async def _be_killed(address: str, plan: Plan) -> None:
    store, context = orders_of(address)
    talking = Talking(store, await opened(store, context, None))
    _tell(talking.call.state.order_id)
    loop = asyncio.get_running_loop()
    heard, kept = threading.Event(), threading.Event()

    async def meanwhile() -> None:
        heard.set()
        if plan.note:
            note = AddNote(title="door", content="left")
            await talking.order_session.write(note, ADA, version=None, key="note")
        if plan.meanwhile:
            await talking.say(plan.meanwhile)
            _tell("kept")
            kept.set()

    from state.shared.sql.database import Database
    from state.shared.sql.rows import EntryRow, Row, RowResult

    write = Database.write

    def watched(
        database: Database, wanted: Sequence[Row], *, alone: bool = False
    ) -> list[RowResult]:
        entries = [row.entry for row in wanted if isinstance(row, EntryRow)]
        dishes = [command.get("name") for entry in entries for command in entry.commands]
        ops = [command.get("op") for entry in entries for command in entry.commands]
        if plan.dies in dishes:
            if plan.meanwhile:
                kept.wait(LONG_S)
            os.kill(os.getpid(), signal.SIGKILL)
        if "add_item" in ops and not heard.is_set():
            asyncio.run_coroutine_threadsafe(meanwhile(), loop)
            heard.wait()
        outcomes = write(database, wanted, alone=alone)
        if plan.after in dishes:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcomes

    # Nothing else sees every row before it is one.
    setattr(Database, "write", watched)  # noqa: B010
    await talking.start()
    await talking.say(plan.first)
    await asyncio.Event().wait()


def _tell(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def written(plan: Plan) -> str:
    """Return a plan as ``main`` reads it."""
    return json.dumps(asdict(plan))


def main(address: str, plan: str) -> None:
    """Hold a talk until it is killed."""
    known: dict[str, Any] = json.loads(plan)
    asyncio.run(_be_killed(address, Plan(**known)))


if __name__ == "__main__":
    main(*sys.argv[1:])
