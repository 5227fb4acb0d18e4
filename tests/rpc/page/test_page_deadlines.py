"""Whatever a client's time allows: a write that is not stored by then is told so, and one that is unknown as well."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from livekit import rtc
from pydantic import BaseModel

from rpc.gateway import Caller, Gateway, Request
from rpc.page import PageMethod, PageMethods, Session
from state.shared import Entry, NotStored, SharedState
from tests.rpc.page.workshop import DRIVER_1, SPEC, AddJob, Context, Repair, Workshop
from tests.virtual_time import in_virtual_time

SECOND = 1.0
"""The least time that livekit gives a method, in seconds."""


class AddOil(Request):
    """What an application's own method takes."""

    key: str


class Added(BaseModel):
    """What it returns."""

    version: int


async def add_oil(session: Session[Repair, Context], request: AddOil, caller: Caller) -> Added:
    """Write as an application does that knows nothing of deadlines."""
    applied = await session.shared.apply(AddJob(work="oil"), actor="driver", key=request.key)
    return Added(version=applied.version)


async def add_oil_in_a_task(
    session: Session[Repair, Context], request: AddOil, caller: Caller
) -> Added:
    return await asyncio.create_task(add_oil(session, request, caller))


WITH_OWN = replace(
    SPEC,
    methods=tuple(
        PageMethod(name=name, request=AddOil, replies=(Added,), answer=answer)
        for name, answer in (("add_oil", add_oil), ("add_oil_in_a_task", add_oil_in_a_task))
    ),
)


class Disk:
    """A journal that begins and ends writing when the test says so."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._asked: list[tuple[Entry, asyncio.Future[None]]] = []

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked.append((entry, written))
        return written

    async def after(self, version: int) -> Sequence[Entry]:
        for _, written in tuple(self._asked):  # as in a queue
            await asyncio.wait((written,))
        return self.entries[version:]

    def begin(self) -> bool:
        """Begin to write what was asked for last; return whether it is still wanted."""
        gate = self._asked[-1][0].gate
        return gate is None or gate.begin()

    def write(self) -> None:
        """Write everything that is still wanted."""
        for entry, written in self._asked:
            if entry.gate is not None and not entry.gate.begin():
                written.set_exception(NotStored("withdrawn"))
            else:
                self.entries.append(entry)
                written.set_result(None)
        self._asked.clear()


class Place:
    """A workshop's page over a journal."""

    def __init__(self) -> None:
        self.disk = Disk()
        self.page = Workshop(WITH_OWN)
        self.shared = SharedState(Repair(), Context(), journal=self.disk)
        session = Session(
            WITH_OWN, self.shared, self.page.conversation, state_id="r-1", agent="workshop"
        )
        self.page.methods.open(session, self.page)

    async def call(self, method: str, payload: dict[str, Any], limit_s: float) -> dict[str, Any]:
        """Call a method; return the reply, or the error's data."""
        try:
            sent = json.dumps(payload)
            told = await self.page.gateway.handle(method, DRIVER_1, sent, limit_s)
        except rtc.RpcError as error:
            told = error.data or ""
        reply: dict[str, Any] = json.loads(told)
        error_object: dict[str, Any] = reply.get("error", reply)
        return error_object


APPLY = ("repair.apply", {"command": {"op": "add_job", "work": "oil"}, "key": "k"})
CREATE = (
    "agent.state",
    {"operation": "create", "object_type": "job", "data": {"work": "oil"}, "key": "k"},
)
OWN = ("add_oil", {"key": "k"})
IN_A_TASK = ("add_oil_in_a_task", {"key": "k"})
EITHER = pytest.mark.parametrize(
    "request_", [APPLY, CREATE, OWN, IN_A_TASK], ids=["apply", "agent.state", "own", "task"]
)


@in_virtual_time
async def in_time(story: Callable[[Place], Awaitable[None]]) -> None:
    await story(Place())


@EITHER
def test_what_is_not_begun_in_time_is_not_stored_and_may_be_retried(
    request_: tuple[str, dict[str, Any]],
) -> None:
    async def story(place: Place) -> None:
        error = await place.call(*request_, SECOND)
        assert (error["code"], error["retryable"]) == (5003, True)
        assert asyncio.get_running_loop().time() < SECOND
        place.disk.write()
        assert (place.disk.entries, place.shared.version) == ([], 0)

        asyncio.get_running_loop().call_later(0.1, place.disk.write)
        reply = await place.call(*request_, SECOND)
        assert (reply["version"], place.shared.version) == (1, 1)

    in_time(story)


@EITHER
def test_what_is_begun_in_time_is_unknown_and_done_once(
    request_: tuple[str, dict[str, Any]],
) -> None:
    async def story(place: Place) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, place.disk.begin)
        for number in (1, 2):  # also when it is asked for again meanwhile
            error = await place.call(*request_, SECOND)
            assert (error["code"], error["retryable"]) == (5004, True)
            assert loop.time() < number * SECOND
        place.disk.write()
        await asyncio.sleep(1)
        assert place.shared.version == 1, "it counts without another write"

        reply = await place.call(*request_, SECOND)
        assert (reply["version"], len(place.disk.entries)) == (1, 1)

    in_time(story)


def test_what_waits_for_another_writer_is_not_stored_and_may_be_retried() -> None:
    async def story(place: Place) -> None:
        first = asyncio.create_task(place.call(*APPLY, 8.0))
        await asyncio.sleep(0.1)
        same = await place.call(*APPLY, SECOND)
        other = await place.call(APPLY[0], {**APPLY[1], "key": "other"}, SECOND)
        place.disk.write()

        assert (same["code"], other["code"]) == (5004, 5003)
        assert (await first)["version"] == 1
        assert len(place.disk.entries) == 1

    in_time(story)


def test_hello_may_be_called_again_if_the_call_does_not_open_in_time() -> None:
    async def story(place: Place) -> None:
        async def never(caller: Caller) -> None:
            await asyncio.Event().wait()

        methods = PageMethods(SPEC, never).methods()
        gateway = Gateway(
            methods,
            role_of={DRIVER_1: "driver"}.get,
            is_there=lambda identity: True,
            version=lambda: None,
        )
        with pytest.raises(rtc.RpcError) as refused:
            await gateway.handle("hello", DRIVER_1, "{}", SECOND)
        assert refused.value.code == 5003
        assert asyncio.get_running_loop().time() < SECOND

    in_time(story)


def test_words_for_a_call_that_cannot_begin_in_the_callers_time_may_be_sent_again() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    async def story(place: Place) -> None:
        page = Workshop(again=never)
        page.conversation.over = True
        with pytest.raises(rtc.RpcError) as refused:
            await page.gateway.handle("say", DRIVER_1, '{"text": "hello?"}', SECOND)
        assert refused.value.code == 5003
        assert asyncio.get_running_loop().time() < SECOND

    in_time(story)
