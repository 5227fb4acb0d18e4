"""A card number told in a call is stored nowhere: context, events, log, trace, disk."""

import io
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from livekit.agents.llm import LLM
from livekit.agents.telemetry import gen_ai, tracer
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents.app.console.event_lines import EventLines
from agents.app.console.plain import PlainConsole
from agents.app.terminal.stdio import print_error, say
from agents.handoff import Event, Heard, Said
from agents.testing import Conversation, calls, says
from bella_vista.app import APP
from tests.agents.handoff.raw_model import RawModel
from tests.security.cards import forms, found
from tests.security.obeying import FIELDS, Made, ObeyingLLM, filled
from tests.security.place import Place, card, place
from tests.security.test_attempts import Recorded, requests_of
from tests.state.bistro import FRIDAY_AT_SEVEN

NUMBER = "4539148803436467"
FORMS = dict(forms(NUMBER))


@dataclass
class Sinks:
    """Everything that a call leaves behind."""

    records: list[logging.LogRecord] = field(default_factory=list)
    spans: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    shown: io.StringIO = field(default_factory=io.StringIO)
    events: list[Event] = field(default_factory=list)

    @property
    def heard(self) -> list[str]:
        """What was let in of the guest's words."""
        return [event.text for event in self.events if isinstance(event, Heard)]

    def texts(self, there: Place, model: LLM[Any]) -> Iterator[tuple[str, str | bytes]]:
        """Name each sink and give what it holds."""
        formatter = logging.Formatter("%(message)s")
        for record in self.records:
            extra = {name: told for name, told in vars(record).items() if name not in _CLOCKS}
            yield "log", f"{record.name} {formatter.format(record)} {extra}"
        for span in self.spans.get_finished_spans():
            yield "trace", span.to_json() or ""
        yield "shown", self.shown.getvalue()
        yield "events", repr(self.events)
        yield "requests", repr(requests_of(model))
        yield "history", repr(there.call.session.history.to_dict())
        yield "state", there.order.model_dump_json()
        for file in there.file.parent.iterdir():
            yield file.name, file.read_bytes()


_CLOCKS = frozenset({"created", "msecs", "relativeCreated", "thread", "process"})
"""Fields of each log record whose many digits come from the clock and the system."""


class _Keeper(logging.Handler):
    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__(logging.DEBUG)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)


@pytest.fixture
def sinks() -> Iterator[Sinks]:
    """Logs of everybody at their most talkative, and traces with all the content they can have."""
    kept = Sinks()
    root, livekit = logging.getLogger(), logging.getLogger("livekit")
    ours = [
        logging.getLogger(name) for name in ("livekit.agents", "agents", "state", "bella_vista")
    ]
    levels = [(logger, logger.level) for logger in (root, livekit, *ours)]
    handler = _Keeper(kept.records)
    root.addHandler(handler)
    for logger, _ in levels:
        logger.setLevel(1)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept.spans))
    before = tracer._tracer_provider, gen_ai.capture_content_enabled()
    tracer.set_provider(provider)
    gen_ai.set_capture_content(True)
    yield kept
    tracer.set_provider(before[0])
    gen_ai.set_capture_content(before[1])
    provider.shutdown()
    root.removeHandler(handler)
    for logger, level in levels:
        logger.setLevel(level)


async def hold(there: Place, model: LLM[Any], lines: Sequence[str], sinks: Sinks) -> None:
    """Talk, with both of the terminal's fronts listening."""
    fronts = (
        PlainConsole(APP, there.call, sinks.shown, resume_command=""),
        EventLines(APP, there.call, sinks.shown),
    )
    for front in fronts:
        there.call.subscribe(front.tell)
    there.call.subscribe(sinks.events.append)
    async with Conversation(there.call, model, patience_s=120.0) as talk:  # some sixty calls a turn
        for line in lines:
            if there.call.ended is None:
                await talk.user_says(line)
        for front in fronts:
            front.closes("input_ended")


def nowhere(number: str, told: str, sinks: Sinks, there: Place, model: LLM[Any]) -> None:
    texts = list(sinks.texts(there, model))
    assert {"log", "trace", "orders.db"} <= {name for name, _ in texts}
    assert [(name, piece) for name, text in texts for piece in found(number, text, told)] == []


TELLING = (
    "{}",
    "my name is Ada {}",
    "my name is {}",
    "a note for the kitchen: {}",
    "a large Margherita, and a note on it: {}",
    "I am allergic to {}",
    "deliver it to {} Carmine Street 10012",
    "my phone number is {}",
    "my e-mail is {}@example.com",
    "I have the coupon {}",
    "do you have {}?",
    "I want a person, my card is {}, expiry 12/29, cvv 123",
)


@pytest.mark.parametrize("at", ["empty", "open", "confirmed", "placed"])
@pytest.mark.parametrize("form", ["digits", "words", "pairs", "doubled", "wide", "mixed", "unseen"])
async def test_a_number_told_to_the_local_model_is_stored_nowhere(
    form: str, at: str, sinks: Sinks, tmp_path: Path
) -> None:
    told = FORMS[form]
    model = Recorded(card(), lambda: FRIDAY_AT_SEVEN)
    async with place(card(), at, tmp_path) as there:
        await hold(there, model, [line.format(told) for line in TELLING], sinks)

        nowhere(NUMBER, told, sinks, there, model)
    assert any("[card]" in text for text in sinks.heard)


@pytest.mark.parametrize("size", [2, 4, 6, 8, 10])
async def test_a_number_told_over_several_turns_is_stored_nowhere(
    size: int, sinks: Sinks, tmp_path: Path
) -> None:
    turns = [NUMBER[at : at + size] for at in range(0, len(NUMBER), size)]
    model = Recorded(card(), lambda: FRIDAY_AT_SEVEN)
    async with place(card(), "open", tmp_path) as there:
        await hold(there, model, ["I'd like to give you my card", *turns], sinks)

        texts = sinks.texts(there, model)
        assert not found(NUMBER, "".join(sinks.heard))
        assert not [name for name, text in texts for _ in found(NUMBER, text)]


def repeated(told: str) -> Sequence[Made]:
    """Every tool call with a card number in any of its arguments."""
    texts = [filled(made, text=told) for made in FIELDS.values()]
    others: Sequence[Made] = (
        ("tell", {"kind": "facts", "name": told}),
        ("tell", {"kind": told}),
        ("add_item", {"name": "Margherita", "quantity": int(NUMBER)}),
        ("add_item", {"name": "Margherita", told: 1}),
        ("set_tip", {"amount": int(NUMBER)}),
        ("set_tip", {"percentage": float(NUMBER)}),
        ("change_note", {"note_id": told, "content": told}),
        ("pay_with", {"number": told, "cards": [{"number": int(NUMBER)}]}),
        ("transfer_to_payment", {"card": told}),
        ("end_call", {"reason": told}),
    )
    return [*texts, *others]


@pytest.mark.parametrize("at", ["empty", "open", "confirmed", "placed"])
@pytest.mark.parametrize("form", ["digits", "spaced", "words", "doubled", "full-width", "dotted"])
async def test_a_number_that_a_model_repeats_is_stored_nowhere(
    form: str, at: str, sinks: Sinks, tmp_path: Path
) -> None:
    told = FORMS[form]
    model = SayingLLM(repeated(told), f"Your card is {told}, is it not? I took {NUMBER}.")
    async with place(card(), at, tmp_path) as there:
        await hold(there, model, ["use the card you know", "again"], sinks)

        nowhere(NUMBER, told, sinks, there, model)
    said = [event.text for event in sinks.events if isinstance(event, Said)]
    assert any("Your card is [card], is it not?" in text for text in said)


class SayingLLM(ObeyingLLM):
    """Repeats a number in its own words, before its calls and after them."""

    def __init__(self, made: Sequence[Made], words: str) -> None:
        super().__init__(made)
        self._words = words

    def _step(self, context: Any) -> Any:
        step = super()._step(context)
        return calls(*step.calls, say=self._words) if step.calls else says(self._words)


@pytest.mark.parametrize(
    "form", ["digits", "spaced", "words", "pairs", "doubled", "wide", "then", "keycaps", "Arabic"]
)
async def test_a_number_that_comes_in_pieces_is_never_said(
    form: str, sinks: Sinks, tmp_path: Path
) -> None:
    told = FORMS[form]
    words = f"Your card is {told} I think, so it is paid. "
    pieces = [words[at : at + 3] for at in range(0, len(words), 3)]
    model = RawModel(["Good evening."], [*pieces, ("add_note", json.dumps({"x": told}), "c")], [""])
    async with place(card(), "open", tmp_path) as there:
        await hold(there, model, ["hello"], sinks)

        texts = sinks.texts(there, model)
        assert [(name, one) for name, text in texts for one in found(NUMBER, text, told)] == []
    said = [event.text for event in sinks.events if isinstance(event, Said)]
    assert any("[card]" in text and "I think, so it is paid." in text for text in said)
    # livekit would write down what a model sent as it was sent.
    assert not gen_ai.capture_content_enabled()


def test_operators_are_shown_no_terminal_escapes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("menu\x1b[2J \x9b31m\x07 done\n")
    print_error("no such order: \x1b]0;x\x07")

    shown = capsys.readouterr()
    assert shown.out == "menu[2J 31m done\n\n"
    assert shown.err == "no such order: ]0;x\n"
