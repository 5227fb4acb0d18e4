"""livekit's real plugins against the stand-ins: what is well formed is answered, faults come as told, the rest is refused."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest
from livekit.agents import APIConnectOptions, APIError, utils
from livekit.agents.stt import STT, SpeechEvent, SpeechEventType
from livekit.agents.tts import TTS
from livekit.plugins import cartesia, deepgram, openai

from agents.testing import line, silence, until
from agents.testing.providers import (
    Providers,
    Scenario,
    ScenarioError,
    Speech,
    Utterance,
    calls,
    says,
)

KEY = "test-key"
ONCE = APIConnectOptions(max_retry=0, timeout=2.0)
FINAL = SpeechEventType.FINAL_TRANSCRIPT
INTERIM = SpeechEventType.INTERIM_TRANSCRIPT


# The plugins leave connections that a server has closed to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
async def _session() -> AsyncIterator[None]:
    async with utils.http_context.open():
        yield
    gc.collect()


def nova(url: str) -> STT[Any]:
    return deepgram.STT(api_key=KEY, base_url=f"{url}/v1/listen")


def flux(url: str) -> STT[Any]:
    return deepgram.STTv2(api_key=KEY, base_url=f"{url}/v2/listen")


def ink(url: str) -> STT[Any]:
    return cartesia.STT(api_key=KEY, base_url=url)


HEARS: dict[str, Callable[[str], STT[Any]]] = {"nova": nova, "flux": flux, "ink": ink}
hears = pytest.mark.parametrize("build", HEARS.values(), ids=HEARS)


async def heard(
    stt: STT[Any], *, utterances: int = 1, finals: int | None = None
) -> list[SpeechEvent]:
    """Say some sentences and collect what is heard until as many finals have come."""
    wanted = utterances if finals is None else finals
    events: list[SpeechEvent] = []
    try:
        async with asyncio.timeout(15), stt.stream(conn_options=ONCE) as stream:
            for number in range(utterances):
                for frame in line(number):
                    stream.push_frame(frame)
            for frame in silence(0.5):
                stream.push_frame(frame)
            async for event in stream:
                events.append(event)
                if sum(one.type == FINAL for one in events) == wanted:
                    break
    finally:
        await stt.aclose()
    return events


def words(events: list[SpeechEvent], kind: SpeechEventType) -> list[str]:
    return [event.alternatives[0].text for event in events if event.type == kind]


@hears
async def test_each_stretch_of_sound_is_heard_as_the_scenario_says(
    build: Callable[[str], STT[Any]],
) -> None:
    second = Utterance(text="make that three", interim=("make that free",))
    async with Providers(hears=["two nights", second], key=KEY).running() as server:
        events = await heard(build(server.url), utterances=2)

    assert words(events, FINAL) == ["two nights", "make that three"]
    assert "make that free" in words(events, INTERIM)
    assert server.faults == []
    assert {asked.key for asked in server.asked} == {KEY}


@pytest.mark.parametrize("build", [nova], ids=["nova"])
async def test_a_final_may_come_twice_or_never(build: Callable[[str], STT[Any]]) -> None:
    never = Utterance(text="lost", interim=("lo",), finals=0)
    script = [never, Utterance(text="twice", finals=2)]
    async with Providers(hears=script).running() as server:
        events = await heard(build(server.url), utterances=2)

    assert words(events, FINAL) == ["twice", "twice"]


@hears
async def test_a_connection_that_closes_is_an_error_of_the_plugin(
    build: Callable[[str], STT[Any]],
) -> None:
    broken = [Utterance(text="lost", closes=1011)]
    async with Providers(hears=broken).running() as server:
        with pytest.raises(APIError):
            await heard(build(server.url), utterances=2)


@hears
async def test_a_wrong_key_is_refused(build: Callable[[str], STT[Any]]) -> None:
    async with Providers(key="another").running() as server:
        with pytest.raises(APIError) as refused:
            await heard(build(server.url))

    assert getattr(refused.value, "status_code", None) == 401


@hears
async def test_a_provider_may_refuse_everything(build: Callable[[str], STT[Any]]) -> None:
    server = Providers()
    server.refuses.update({"deepgram": 429, "cartesia": 429})
    async with server.running():
        with pytest.raises(APIError) as refused:
            await heard(build(server.url))

    assert getattr(refused.value, "status_code", None) == 429


async def spoken(tts: TTS[Any], text: str) -> float:
    """Have a text spoken; return the length of its sound in seconds."""
    if tts.capabilities.streaming:
        async with tts.stream(conn_options=ONCE) as stream:
            stream.push_text(text)
            stream.end_input()
            length = sum([event.frame.duration async for event in stream])
    else:
        async with tts.synthesize(text, conn_options=ONCE) as chunks:
            length = sum([event.frame.duration async for event in chunks])
    await tts.aclose()
    return length


def sonic(server: Providers) -> TTS[Any]:
    return cartesia.TTS(api_key=KEY, base_url=server.url)


def voice(server: Providers) -> TTS[Any]:
    return openai.TTS(api_key=KEY, base_url=server.openai_url)


SPEAKS = {"cartesia": sonic, "openai": voice}
speaks = pytest.mark.parametrize("build", SPEAKS.values(), ids=SPEAKS)


@speaks
async def test_a_text_is_spoken_for_as_long_as_the_scenario_says(
    build: Callable[[Providers], TTS[Any]],
) -> None:
    async with Providers(speaks=[Speech(seconds=0.7)], key=KEY).running() as server:
        length = await spoken(build(server), "Good evening.")

    assert length == pytest.approx(0.7, abs=0.15)
    assert server.faults == []


async def test_sound_of_another_context_is_not_played() -> None:
    async with Providers(speaks=[Speech(seconds=0.7, stray=True)]).running() as server:
        assert await spoken(sonic(server), "Good evening.") == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize("ends", ["nothing", "error", "closed"])
async def test_speech_that_breaks_off_is_an_error_of_the_plugin(ends: Any) -> None:
    async with Providers(speaks=[Speech(seconds=0.2, ends=ends)]).running() as server:
        with pytest.raises(APIError):
            await spoken(sonic(server), "Good evening.")


async def test_sound_of_another_sample_rate_has_another_length() -> None:
    async with Providers(speaks=[Speech(seconds=1.0, rate=12_000)]).running() as server:
        assert await spoken(sonic(server), "Good evening.") == pytest.approx(0.5, abs=0.05)


async def test_a_recording_is_transcribed() -> None:
    async with Providers(hears=["two nights"], key=KEY).running() as server:
        stt = openai.STT(api_key=KEY, base_url=server.openai_url, use_realtime=False)
        event = await stt.recognize([*line(0)], conn_options=ONCE)
        await stt.aclose()
        await stt._client.close()  # the plugin's own aclose leaves it open

    assert event.alternatives[0].text == "two nights"


@pytest.mark.parametrize(
    ("path", "query", "reason"),
    [
        ("/v1/listen", "model=nova-3&encoding=linear16&sample_rate=7", "sample_rate"),
        ("/v1/listen", "model=nova-3&encoding=opus&sample_rate=16000", "linear16"),
        ("/v1/listen", "model=flux-general-en&encoding=linear16&sample_rate=16000", "no model"),
        ("/v1/listen", "model=nova-99&encoding=linear16&sample_rate=16000", "no model nova-99"),
        ("/v1/listen", "model=nova-3&encoding=linear16&sample_rate=16000&nmae=1", "nmae"),
        ("/v2/listen", "model=nova-3&encoding=linear16&sample_rate=16000", "no model"),
    ],
)
async def test_what_deepgram_would_refuse_is_refused(path: str, query: str, reason: str) -> None:
    headers = {"Authorization": f"Token {KEY}"}
    async with Providers().running() as server, aiohttp.ClientSession() as http:
        async with http.get(f"{server.url}{path}?{query}", headers=headers) as answer:
            text = await answer.text()

    assert answer.status == 400
    assert reason in text
    assert server.faults == [f"deepgram: {text}"]


async def test_models_and_voices_that_are_added_are_accepted() -> None:
    body = {"model": "tts-99", "voice": "of our own", "input": "Good evening."}
    headers = {"Authorization": f"Bearer {KEY}"}
    statuses = []
    for models, voices in (((), ()), (["tts-99"], ()), (["tts-99"], ["of our own"])):
        server = Providers(models=models, voices=voices)
        async with server.running(), aiohttp.ClientSession() as http:
            address = f"{server.openai_url}/audio/speech"
            async with http.post(address, json=body, headers=headers) as answer:
                statuses.append(answer.status)

    assert statuses == [404, 400, 200]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (
            "/v1/listen?model=nova-3&encoding=linear16&sample_rate=16000",
            {"Authorization": f"Token {KEY}"},
        ),
        ("/stt/turns/websocket?encoding=pcm_s16le&sample_rate=16000", {"X-API-Key": KEY}),
    ],
    ids=["deepgram", "cartesia"],
)
async def test_half_a_sample_is_refused(path: str, headers: dict[str, str]) -> None:
    async with (
        Providers().running() as server,
        aiohttp.ClientSession() as http,
        http.ws_connect(f"{server.url}{path}", headers=headers) as socket,
    ):
        await socket.send_bytes(b"\0\0\0")
        while not (await socket.receive()).type.name.startswith("CLOS"):
            pass

    assert socket.close_code == 1008
    assert [fault.partition(": ")[2] for fault in server.faults] == [
        "a piece of sound has half a sample"
    ]


def tool(**schema: Any) -> dict[str, Any]:
    function = {"name": "book", "strict": True, "parameters": {"type": "object", **schema}}
    return {"type": "function", "function": function}


CALL = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": "{}"}}
REFUSED: dict[str, dict[str, Any]] = {
    "unknown key msgs": {"msgs": []},
    "an output without its call": {"messages": [{"role": "tool", "tool_call_id": "c1"}]},
    "a call without its output": {
        "messages": [{"role": "assistant", "tool_calls": [CALL]}, {"role": "user", "content": "x"}]
    },
    "unknown role waiter": {"messages": [{"role": "waiter", "content": "x"}]},
    "additionalProperties must be false": {"tools": [tool(properties={})]},
    "each property must be required": {
        "tools": [tool(properties={"day": {}}, required=[], additionalProperties=False)]
    },
}


@pytest.mark.parametrize("reason", REFUSED)
async def test_what_openai_would_refuse_is_refused(reason: str) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    body = {"model": "gpt-4.1", "messages": [], **REFUSED[reason]}
    async with Providers([says("Hello.")]).running() as server, aiohttp.ClientSession() as http:
        address = f"{server.openai_url}/chat/completions"
        async with http.post(address, json=body, headers=headers) as answer:
            text = await answer.text()

    assert answer.status == 400
    assert reason in text
    assert len(server.faults) == 1


async def test_a_request_beyond_the_scenario_is_a_fault() -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    body = {"model": "gpt-4.1", "messages": []}
    async with Providers().running() as server, aiohttp.ClientSession() as http:
        address = f"{server.openai_url}/chat/completions"
        async with http.post(address, json=body, headers=headers) as answer:
            error = json.loads(await answer.text())["error"]

    assert (answer.status, error["message"]) == (400, "the scenario has no reply left")
    assert server.faults == ["openai: the scenario has no reply left"]


def test_a_scenario_is_a_file() -> None:
    scenario = Scenario.read(
        """
        replies:
          - say: Good evening.
          - calls: [{name: book, arguments: {day: Monday}}]
          - {status: 429, delay_s: 0.1}
        hears: [two nights, {text: sure, interim: [yet], delay_s: 0.2}]
        speaks: [{seconds: 0.5, ends: closed, code: 1006}]
        """
    )

    assert scenario.replies[:2] == (says("Good evening."), calls(("book", {"day": "Monday"})))
    assert scenario.hears[1].interim == ("yet",)
    assert scenario.speaks[0].ends == "closed"


def test_everything_wrong_in_a_scenario_is_listed() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.read("replies: [{say: 1}]\nhears: [{txet: no}]\nspeaks: [{ends: badly}]\n")

    assert [fault.partition(":")[0] for fault in str(caught.value).splitlines()] == [
        "replies.0.say",
        "hears.0.text",
        "hears.0.txet",
        "speaks.0.ends",
    ]


@pytest.mark.parametrize("text", ["[", "- a list", "a text"])
def test_a_file_that_is_no_scenario_says_so(text: str) -> None:
    with pytest.raises(ScenarioError):
        Scenario.read(text)


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"type": "session.update", "session": {"type": "realtime", "modalities": []}}, "unknown"),
        (
            {
                "type": "response.create",
                "response": {"tools": [{"type": "function", "name": "add", "strict": True}]},
            },
            "unknown",
        ),
        ({"type": "conversation.item.delete", "item_id": "none"}, "item_delete"),
        ({"type": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty"),
        ({"type": "response.cancel"}, "response_cancel_not_active"),
        (
            {
                "type": "conversation.item.create",
                "item": {"type": "function_call_output", "call_id": "c", "output": "1"},
            },
            "invalid_value",
        ),
    ],
)
async def test_the_realtime_api_refuses_what_the_service_refuses(
    event: dict[str, Any], code: str
) -> None:
    async with (
        Providers(key=KEY).running() as server,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {KEY}"}) as http,
        http.ws_connect(f"{server.openai_url}/realtime?model=gpt-realtime") as socket,
    ):
        assert (await socket.receive_json())["type"] == "session.created"
        await socket.send_json({"event_id": "mine", **event})
        error = (await socket.receive_json())["error"]

    assert error["event_id"] == "mine"
    assert error["code"].startswith(code)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("chat/completions", {"model": "m", "messages": [], "stream": True}),
        ("audio/speech", {"model": "tts-1", "input": "Good evening.", "voice": "ash"}),
    ],
)
async def test_a_delay_ends_when_the_stand_in_closes(path: str, body: dict[str, Any]) -> None:
    hour_s = 3600.0
    providers = Providers(
        replies=[says("Good evening.", delay_s=hour_s)], speaks=[Speech(delay_s=hour_s)], key=KEY
    )
    headers = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession(headers=headers) as http:
        async with providers.running() as server:
            asking = asyncio.create_task(http.post(f"{server.openai_url}/{path}", json=body))
            await until(lambda: server.asked)
        async with asyncio.timeout(10), await asking as answer:
            assert answer.status == 200
    assert server.faults == []
