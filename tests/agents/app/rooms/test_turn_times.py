"""Where the time of each turn went: for the client, in the log, as a span, and in the worker's metrics."""

import logging
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from livekit.agents import telemetry
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents.app.rooms.media import Media
from agents.handoff import Latency
from agents.testing import ToneTTS
from tests.agents.app.rooms.conftest import Calls, Changed
from tests.agents.app.rooms.restaurant_worker import Restaurant, turn
from tests.agents.app.rooms.test_speech import answered, speech
from tests.agents.app.serving.processes import LONG_S, free_port
from tests.livekit import LiveKit, is_turn, until
from tests.speaking import speaking

PARTS = ["transcript", "endpointing", "llm", "tts", "total"]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The spans that livekit's tracer and ours record."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    before = telemetry.tracer._tracer_provider
    telemetry.set_tracer_provider(provider)
    yield exporter
    telemetry.set_tracer_provider(before)
    provider.shutdown()


async def test_a_spoken_answer_tells_where_its_time_went(
    calls: Calls,
    changed: Changed,
    livekit: LiveKit,
    room_name: str,
    spans: InMemorySpanExporter,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "agents.app.rooms.turn_times")
    measured: list[Latency] = []
    house = changed(
        media=Media(lambda: speech(ToneTTS(character_s=0.004))), measured=measured.append
    )
    async with (
        livekit.joined(room_name) as guest,
        speaking(guest.room) as ada,
        calls.agent(room_name, house=house) as agent,
    ):
        await until(partial(answered, agent, 0), what="the greeting")
        await ada.says(0)
        await until(lambda: is_turn(guest, 1), what="the notice")

    (took,) = measured
    assert [*took.parts] == PARTS
    (notice,) = [one for one in guest.turns if one.get("latency_ms")]
    assert notice["turn"] == 1
    assert notice["latency_ms"] == {name: round(s * 1000) for name, s in took.parts.items()}
    (logged,) = [vars(one) for one in caplog.records if one.message == "turn answered"]
    assert (logged["turn"], logged["channel"]) == (1, "web_voice")
    assert logged["total_ms"] == notice["latency_ms"]["total"]
    done = {span.name: span for span in spans.get_finished_spans()}
    assert {"user_turn", "agent_turn", "llm_node", "tts_node", "bella.your_turn"} <= done.keys()
    ours = [span for span in spans.get_finished_spans() if span.name == "bella.your_turn"]
    assert [span.attributes["bella.turn"] for span in ours if span.attributes] == [0, 1]
    assert ours[-1].attributes is not None
    assert ours[-1].attributes["bella.latency.total"] == took.total
    assert ours[-1].context is not None
    assert done["agent_turn"].context is not None
    assert ours[-1].context.trace_id == done["agent_turn"].context.trace_id


@pytest.mark.timeout(200)
async def test_a_worker_counts_the_turns_of_its_calls(
    livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    port = free_port()
    # One of its own: the worker that other tests share would take the call instead.
    restaurant = Restaurant(livekit, tmp_path)
    counted: dict[str, float] = {}
    async with (
        restaurant.worker(BELLA_VISTA_METRICS_PORT=str(port)) as worker,
        restaurant.greeted(room_name) as (guest, _),
        aiohttp.ClientSession() as web,
    ):
        await guest.call("say", {"text": "two large margheritas"})
        told = await turn(guest, 1)
        # The job sends its turn to the worker, which counts it when it comes to it.
        deadline = time.monotonic() + LONG_S
        while not counted.get("bella_turn_total_seconds_count"):
            async with web.get(f"http://127.0.0.1:{port}/metrics") as answer:
                lines = (await answer.text()).splitlines()
            pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
            counted = {name: float(value) for name, value in pairs}
            if time.monotonic() > deadline:
                pytest.fail(f"{told} {counted}\n{worker.running.text}\n{guest.what_happened()}")

    assert counted["bella_turn_total_seconds_count"] == 1
    assert counted["bella_turn_transcript_seconds_count"] == 0
    assert any(name.startswith("lk_agents_active_job_count") for name in counted)
