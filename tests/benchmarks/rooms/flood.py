"""A caller that makes thousands of calls as fast as possible and waits for none.

``perform_rpc`` of livekit 1.1.21 shows every event to every call under way, so that a thousand at once slow the
caller down and not the agent. Here the calls go to livekit's native side by themselves, and one queue takes what
comes back.

Run as a module it joins a room, says ``ready`` on stderr, floods the agent once somebody calls its method ``go``,
and writes what came of it as JSON.
"""

import asyncio
import json
import sys
import time
from collections import Counter

from livekit import rtc
from livekit.rtc._ffi_client import FfiClient
from livekit.rtc._proto.ffi_pb2 import FfiEvent, FfiRequest

GO = "go"
ANSWERS = "answers"
"""The key of the result that counts the answers by their code."""
WAIT_S = 30.0
"""How long the last answer may take; livekit gives a call up after seven seconds."""


async def flood(url: str, token: str, agent: str, method: str, payload: str, count: int) -> None:
    """Join a room, wait to be let go, and make so many calls."""
    room = rtc.Room()
    let_go = asyncio.Event()

    async def go(call: rtc.RpcInvocationData) -> str:
        let_go.set()
        return ""

    await room.connect(url, token)
    room.local_participant.register_rpc_method(GO, go)
    while (
        room.local_participant.permissions.can_publish_data
    ):  # the agent may not know of this caller yet
        try:
            await room.local_participant.perform_rpc(
                destination_identity=agent, method="hello", payload="{}"
            )
            break
        except rtc.RpcError:
            await asyncio.sleep(0.1)
    _say("ready")
    await let_go.wait()
    _say(json.dumps(await _fire(room.local_participant, agent, method, payload, count)))
    await room.disconnect()


async def _fire(
    caller: rtc.LocalParticipant, agent: str, method: str, payload: str, count: int
) -> dict[str, object]:
    request = FfiRequest()
    request.perform_rpc.local_participant_handle = caller._ffi_handle.handle
    request.perform_rpc.destination_identity = agent
    request.perform_rpc.method = method
    request.perform_rpc.payload = payload
    queue = FfiClient.instance.queue.subscribe(filter_fn=_is_answer)
    start = time.monotonic()
    await asyncio.to_thread(_hand_over, request, count)
    handed = time.monotonic()
    answers: Counter[int] = Counter()
    last_of_agent = handed
    try:
        async with asyncio.timeout(WAIT_S):
            while answers.total() < count:
                answer = (await queue.get()).perform_rpc
                code = answer.error.code if answer.HasField("error") else 0
                answers[code] += 1
                if code not in NOBODY:
                    last_of_agent = time.monotonic()
    except TimeoutError:
        pass
    finally:
        FfiClient.instance.queue.unsubscribe(queue)
    return {
        "start": start,
        "handed_s": handed - start,
        "answering_s": last_of_agent - start,
        "end": time.monotonic(),
        ANSWERS: dict(answers),
    }


def _hand_over(request: FfiRequest, count: int) -> None:
    for _ in range(count):
        FfiClient.instance.request(request)


def _is_answer(event: FfiEvent) -> bool:
    return event.HasField("perform_rpc")


NOBODY = (
    int(rtc.RpcError.ErrorCode.CONNECTION_TIMEOUT),
    int(rtc.RpcError.ErrorCode.SEND_FAILED),
)
"""What a caller is told whose call no agent has answered."""


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    url, token, agent, method, payload, count = sys.argv[1:]
    asyncio.run(flood(url, token, agent, method, payload, int(count)))
