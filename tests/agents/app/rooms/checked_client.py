"""A client whose every call, reply, error and push is held against the committed contract.

It reads ``rpc/contract.json`` as a page's author does, and shares no code with what it checks::

    ada = Checked(client)
    order = (await ada.call("get_order_state"))["order"]
    assert (await ada.refused("get_order_state", "[]"))["code"] == 4000
"""

import copy
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from livekit import rtc

from agents.app.rooms.process_context import ProcessContext
from state.context import OrderContext
from state.order import OrderState
from tests.agents.app.rooms.conftest import Agent, Calls
from tests.livekit import LONG_S, Client, LiveKit, until

CONTRACT: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[4] / "rpc" / "contract.json").read_text(encoding="utf-8")
)

LONGEST_REPLY = 15_360
"""What clients of livekit's first RPC version take, in bytes."""

LARGE: Mapping[str, Any] = {"op": "add_item", "name": "Margherita", "size": "large", "quantity": 2}
TIRAMISU: Mapping[str, Any] = {"op": "add_item", "name": "Tiramisu", "quantity": 1}

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_SAYS_NOTHING = {"title", "description", "default", "discriminator"}


class Checked:
    """A client that calls methods and checks every reply against the contract.

    Args:
        client: Its connection to the room.
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(
        self, method: str, payload: Mapping[str, Any] | str | None = None, **how: Any
    ) -> dict[str, Any]:
        """Call a method that answers; the request and the reply have their forms."""
        sent = payload if isinstance(payload, str) else _json(payload or {})
        text = await self.client.call_text(method, sent, **how)
        reply: dict[str, Any] = json.loads(text, parse_constant=_no_json)
        form = CONTRACT["methods"][method]
        fits(json.loads(sent or "{}"), form["request"])
        fits(reply, form["reply"])
        assert len(text.encode()) < LONGEST_REPLY
        if reply.get("status") == "error":
            assert reply["error"]["code"] in form["errors_in_reply"]
            assert reply["error"]["version"] == reply["version"]
            assert reply["error"]["detail"] == reply["message"]
            assert CONTRACT["errors"][str(reply["error"]["code"])] == reply["error"]["type"]
        return reply

    def what_happened(self) -> str:
        """Return everything that reached the client."""
        return self.client.what_happened()

    async def refused(
        self, method: str, payload: Mapping[str, Any] | str | None = None, **how: Any
    ) -> dict[str, Any]:
        """Call a method that is refused; returns what the error's data says.

        On a busy machine livekit may give a call up before the agent's answer arrives: it is made again.
        """
        sent = payload if isinstance(payload, str) else _json(payload or {})
        deadline = time.monotonic() + LONG_S
        while True:
            try:
                answer = await self.client.call_text(method, sent, **how)
            except rtc.RpcError as error:
                if (
                    error.code != rtc.RpcError.ErrorCode.CONNECTION_TIMEOUT
                    or time.monotonic() > deadline
                ):
                    return error_of(error, method)
            else:
                pytest.fail(f"{method} {sent[:200]} was answered: {answer[:300]}")

    async def state(
        self, operation: str, kind: str | None = None, object_id: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """Call ``agent.state``; returns the envelope."""
        return await self.call("agent.state", state(operation, kind, object_id, **more))

    async def apply(
        self, op: str, *, version: int | None = None, key: str | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Change the order by a command; returns the order it made."""
        asked = _given(command={"op": op, **fields}, version=version, key=key)
        order: dict[str, Any] = (await self.call("order.apply", asked))["order"]
        return order

    async def step(self, op: str, **fields: Any) -> dict[str, Any]:
        """Change the order by a command that names the version seen just now."""
        return await self.apply(op, version=(await self.order())["version"], **fields)

    async def order(self) -> dict[str, Any]:
        """Read the order."""
        order: dict[str, Any] = (await self.call("get_order_state"))["order"]
        return order

    async def heard(self, words: str) -> None:
        """Wait until an agent has said something with these words in it."""
        await until(
            lambda: any(words.casefold() in one.casefold() for one in self.client.said),
            what=f"an agent that says {words!r}",
        )

    async def turn(self, number: int = 0) -> None:
        """Wait for the turn notice with this number, or a later one."""
        await until(
            lambda: (
                self.client.turns
                and self.client.turns[-1]["your_turn"]
                and self.client.turns[-1]["turn"] >= number
            ),
            what=f"turn {number}",
        )

    async def pushed(self, version: int) -> None:
        """Wait until this version, or a newer one, was pushed."""
        await until(
            lambda: self.client.changes and self.client.changes[-1]["version"] >= version,
            what=f"a push of version {version}",
        )

    async def say(self, text: str) -> int:
        """Say something and wait for the next turn; returns its number."""
        turn: int = (await self.call("say", {"text": text}))["turn"]
        await self.turn(turn)
        return turn


@asynccontextmanager
async def served(
    calls: Calls,
    livekit: LiveKit,
    room_name: str,
    *,
    house: ProcessContext[OrderState, OrderContext] | None = None,
    **how: Any,
) -> AsyncIterator[tuple[Checked, Agent]]:
    """Have a guest and an agent in a room, up to the guest's first turn."""
    async with (
        livekit.joined(room_name, **how) as client,
        calls.agent(room_name, house=house) as agent,
    ):
        await client.hello()
        ada = Checked(client)
        await ada.turn()
        yield ada, agent
        for call in client.calls:
            fits(call.data, CONTRACT["pushes"][call.method]["payload"])


@asynccontextmanager
async def served_with_staff(
    calls: Calls, livekit: LiveKit, room_name: str
) -> AsyncIterator[tuple[Checked, Checked]]:
    """Have a guest, a member of staff who has said hello, and an agent in a room, up to the first turn."""
    async with (
        livekit.joined(room_name, staff=True) as staff,
        served(calls, livekit, room_name) as (ada, _),
    ):
        await staff.hello()
        yield ada, Checked(staff)


def state(
    operation: str, kind: str | None = None, object_id: str | None = None, **more: Any
) -> dict[str, Any]:
    """Write a request of ``agent.state``."""
    return _given(operation=operation, object_type=kind, object_id=object_id, **more)


async def placed(ada: Checked) -> dict[str, Any]:
    """Order something for pickup, from the page alone."""
    await ada.apply(**LARGE)
    for op, fields in (
        ("set_fulfilment", {"kind": "pickup"}),
        ("read_back", {}),
        ("confirm_order", {}),
        ("choose_payment", {"method": "cash"}),
    ):
        await ada.step(op, **fields)
    return await ada.step("place_order")


def error_of(error: rtc.RpcError, method: str) -> dict[str, Any]:
    """Look closely at a refusal; returns what its data says."""
    assert error.code not in range(1400, 1600), f"{error.code} {error.message}"
    told: dict[str, Any] = json.loads(error.data or "", parse_constant=_no_json)
    fits(told, CONTRACT["error"])
    assert told["code"] == error.code
    assert told["code"] in CONTRACT["methods"][method]["errors"], (method, told)
    assert CONTRACT["errors"][str(error.code)] == told["type"]
    assert 0 < len(error.message.encode()) <= 256
    assert len((error.data or "").encode()) <= LONGEST_REPLY
    return told


def fits(value: Any, form: Mapping[str, Any]) -> None:
    """Hold a value against a form of the contract; fails with what is wrong, and where."""
    wrong = misfit(value, form)
    assert wrong is None, wrong


def misfit(value: Any, form: Mapping[str, Any], at: str = "$") -> str | None:
    """Say where a value has not its form: the part of JSON Schema that the contract uses, and no more."""
    for rule, says in form.items():
        wrong: str | None = None
        match rule:
            case "$ref":
                wrong = misfit(value, CONTRACT["$defs"][says.removeprefix("#/$defs/")], at)
            case "type":
                right = isinstance(value, _TYPES[says])
                if isinstance(value, bool) and says != "boolean":
                    right = False
                wrong = None if right else f"{at} is no {says}: {value!r:.80}"
            case "anyOf" | "oneOf":
                wrongs = [misfit(value, one, at) for one in says]
                right = wrongs.count(None) == 1 or (rule == "anyOf" and None in wrongs)
                wrong = None if right else f"{at} fits none, or several: {wrongs}"
            case "const" | "enum":
                among = [says] if rule == "const" else says
                wrong = None if value in among else f"{at} is not one of {among}: {value!r:.80}"
            case "required":
                if isinstance(value, dict) and (gone := [one for one in says if one not in value]):
                    wrong = f"{at} lacks {gone}"
            case "properties":
                if isinstance(value, dict):
                    inside = (
                        misfit(value[one], sub, f"{at}.{one}")
                        for one, sub in says.items()
                        if one in value
                    )
                    wrong = next((one for one in inside if one), None)
            case "additionalProperties":
                if isinstance(value, dict):
                    more = value.keys() - form.get("properties", {}).keys()
                    if says is False:
                        wrong = f"{at} has {sorted(more)} too many" if more else None
                    elif isinstance(says, dict):
                        inside = (misfit(value[one], says, f"{at}.{one}") for one in more)
                        wrong = next((one for one in inside if one), None)
            case "items":
                if isinstance(value, list):
                    inside = (misfit(one, says, f"{at}[{n}]") for n, one in enumerate(value))
                    wrong = next((one for one in inside if one), None)
            case "minLength" | "minItems":
                if isinstance(value, str | list) and len(value) < says:
                    wrong = f"{at} is shorter than {says}"
            case "maxLength" | "maxItems":
                if isinstance(value, str | list) and len(value) > says:
                    wrong = f"{at} is longer than {says}"
            case "minimum":
                wrong = f"{at} is below {says}" if _number(value) and value < says else None
            case "maximum":
                wrong = f"{at} is above {says}" if _number(value) and value > says else None
            case _ if rule not in _SAYS_NOTHING:
                raise NotImplementedError(f"{rule} at {at}")
        if wrong is not None:
            return wrong
    return None


def patched(document: Any, patch: list[dict[str, Any]]) -> Any:
    """Carry out a JSON Patch as RFC 6902 has it; returns a new document, and fails where it does not fit."""
    result = copy.deepcopy(document)
    for step in patch:
        assert step.keys() == {"op", "path"} | ({"value"} if step["op"] != "remove" else set())
        if step["path"] == "":
            assert step["op"] in ("add", "replace")
            result = copy.deepcopy(step["value"])
            continue
        assert step["path"].startswith("/")
        *way, last = (
            part.replace("~1", "/").replace("~0", "~") for part in step["path"][1:].split("/")
        )
        place = result
        for part in way:
            place = place[_index(part)] if isinstance(place, list) else place[part]
        _carry_out(place, last, step)
    return result


def _carry_out(place: Any, last: str, step: dict[str, Any]) -> None:
    value = copy.deepcopy(step.get("value"))
    where: Any = last
    if isinstance(place, list):
        where = len(place) if last == "-" else _index(last)
        assert where <= len(place) - (step["op"] != "add"), step
    elif step["op"] != "add":
        assert last in place, step
    match step["op"]:
        case "add" if isinstance(place, list):
            place.insert(where, value)
        case "add" | "replace":
            place[where] = value
        case "remove":
            del place[where]
        case _:
            pytest.fail(f"there is no such step: {step}")


def _index(part: str) -> int:
    assert part == str(int(part)), part
    return int(part)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _no_json(name: str) -> None:
    pytest.fail(f"{name} is no JSON")
