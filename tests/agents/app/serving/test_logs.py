import io
import json
import logging
from typing import Any

import pytest

from agents.app.serving.logs import JsonLines, PlainLines, RedactingFilter

WORDS = "Baker Street"
SECRET = 'a-"secret"-key'


class Log:
    def __init__(self, name: str, formatter: logging.Formatter) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.addFilter(RedactingFilter("shop.desk"))
        self.handler.setFormatter(formatter)
        self.logger = logging.Logger(name, logging.DEBUG)
        self.logger.addHandler(self.handler)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def ours() -> Log:
    return Log("shop.desk.rooms", JsonLines([SECRET]))


@pytest.fixture
def foreign() -> Log:
    return Log("livekit.agents", JsonLines([SECRET]))


def test_our_own_log_records_keep_their_data(ours: Log) -> None:
    ours.logger.info("moved: %s", "on", extra={"room": "r", "tries": 2, "order": object()})

    (line,) = ours.read()
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "logger": "shop.desk.rooms",
        "message": "moved: on",
        "room": "r",
        "tries": 2,
    }


@pytest.mark.parametrize("name", ["shop.desk", "agents.handoff", "rpc.page", "state.shared.sql"])
def test_the_frameworks_and_the_applications_messages_are_whole(name: str) -> None:
    log = Log(name, JsonLines([]))
    log.logger.info("a lease: %s", "lost", extra={"tries": 2})

    (line,) = log.read()
    assert (line["message"], line["tries"]) == ("a lease: lost", 2)


@pytest.mark.parametrize("name", ["shop", "shop.desks", "agents2.handoff", "livekit.agents"])
def test_every_other_message_is_cut_before_its_values(name: str) -> None:
    log = Log(name, JsonLines([]))
    log.logger.info("a lease: %s", WORDS, extra={"tries": 2})

    (line,) = log.read()
    assert line["message"] == "a lease"
    assert "tries" not in line


def test_of_an_exception_the_kind_and_the_places_are_kept(ours: Log) -> None:
    try:
        raise KeyError(WORDS)
    except KeyError:
        ours.logger.exception("it failed", stack_info=True)

    (line,) = ours.read()
    assert line["error"] == "KeyError"
    assert line["at"][0].startswith(__file__)
    assert WORDS not in ours.text


@pytest.mark.parametrize(
    ("message", "values", "kept"),
    [
        ("failed to say: %s", (WORDS,), "failed to say"),
        (f"unknown function `{WORDS}` called", (), "unknown function"),
        (f"Task exception\nfuture: <Task {WORDS}>", (), "Task exception"),
        (f"Exception in callback said({WORDS!r})", (), "Exception in callback said"),
        ("heard '%s'", (WORDS,), "heard"),
        ("%d of %d", (WORDS,), "%d of %d"),
    ],
)
def test_of_a_librarys_message_the_beginning_is_kept(
    foreign: Log, message: str, values: tuple[object, ...], kept: str
) -> None:
    data = {"text": WORDS, "error": ValueError(WORDS), "job_id": "AJ_1", "lk.pii.text": WORDS}
    foreign.logger.warning(message, *values, extra=data)

    (line,) = foreign.read()
    assert (line["message"], line["error"], line["job_id"]) == (kept, "ValueError", "AJ_1")
    assert WORDS not in foreign.text


@pytest.mark.parametrize("formatter", [JsonLines([SECRET]), PlainLines([SECRET])])
def test_a_secret_is_never_written_in_whatever_form(formatter: logging.Formatter) -> None:
    log = Log("shop.desk", formatter)

    log.logger.info("key %s", SECRET, extra={"url": f"wss://{SECRET}@host", "list": f"{SECRET}!"})

    assert SECRET not in log.text
    assert json.dumps(SECRET)[1:-1] not in log.text
    assert log.text.count("[secret]") == 3


def test_a_developers_line_does_not_repeat_the_message() -> None:
    log = Log("shop.desk", PlainLines([]))

    log.logger.info("%s: method failed", "order.apply", extra={"method": "order.apply", "code": 1})

    assert log.text.endswith("order.apply: method failed  [code=1]\n")


def test_a_record_that_was_made_harmless_twice_says_the_same() -> None:
    record = logging.LogRecord(
        "asyncio", logging.ERROR, __file__, 1, "Task died: %s", (WORDS,), None
    )

    for _ in range(2):
        RedactingFilter().filter(record)

    assert record.getMessage() == "Task died"


BLOCKED = (
    "event loop blocked for %.0fms%s; synchronous work on the agent loop delays audio and turn"
    " handling, move it to a thread or an async client"
)
STACK = """\
  File "/srv/hotel/hotel_app.py", line 12, in policy
    time.sleep(0.3)  # Baker Street
  File "/srv/hotel/rates.py", line 40, in rate
    return table[guest]
"""


@pytest.mark.parametrize("at", [' at "/srv/hotel/rates.py", line 40, in rate', ""])
def test_a_blocked_event_loop_is_logged_with_its_place(at: str) -> None:
    log = Log("livekit.agents", JsonLines([]))
    log.logger.warning(BLOCKED, 312.0, at, extra={"stack": STACK, "task": WORDS})

    (line,) = log.read()
    assert line["message"].startswith("event loop blocked for 312ms")
    assert not line["message"].endswith(" at")
    assert line["at"] == ["/srv/hotel/rates.py:40 rate"]
    assert WORDS not in log.text


def test_a_developer_reads_that_place_too() -> None:
    log = Log("livekit.agents", PlainLines([]))
    log.logger.warning(BLOCKED, 312.0, ' at "x", line 4, in y', extra={"stack": STACK})

    assert log.text.splitlines()[1:] == ["    /srv/hotel/rates.py:40 rate"]


def test_lines_of_the_native_library_are_warnings() -> None:
    log = Log("livekit", JsonLines([]))
    native = "%s:%s:%s - %s"
    log.logger.error(native, "livekit::rtc_engine", 446, "livekit::rtc_engine", "resuming")
    log.logger.info(native, "livekit::rtc_engine", 447, "livekit::rtc_engine", "resumed")
    log.logger.error("error putting to queue")

    assert [line["level"] for line in log.read()] == ["warning", "info", "error"]
