import logging
import re
from pathlib import Path

import pytest
from livekit import api
from pydantic import TypeAdapter

from agents.app.terminal.logs import log_files, log_to_file, log_to_stderr

pytestmark = pytest.mark.usefixtures("clean_folder", "logs_as_before")

SECRET = "my card is 4111"


def fail() -> None:
    raise ValueError(SECRET)


def log_a_failure() -> None:
    logger = logging.getLogger("bella_vista.test")
    logger.info("not worth a line")
    try:
        fail()
    except ValueError:
        logger.exception("a tool failed", extra={"said": SECRET})


def test_stderr_gets_one_line_with_the_kind_and_place_and_never_the_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr()

    log_a_failure()

    line = capsys.readouterr().err
    assert re.fullmatch(
        rf"ERROR bella_vista.test: a tool failed \(ValueError at {re.escape(__file__)}:\d+, fail\)\n",
        line,
    )


def test_the_place_is_the_applications_own_and_not_a_librarys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr()
    try:
        TypeAdapter(int).validate_python(SECRET)
    except ValueError:
        logging.getLogger("bella_vista.test").exception("a tool failed")

    line = capsys.readouterr().err
    assert f"(ValidationError at {__file__}:" in line
    assert SECRET not in line


def test_a_file_gets_the_places_and_never_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    path = log_to_file("bella-vista")

    log_a_failure()

    assert path is not None
    text = path.read_text()
    assert "a tool failed (ValueError)\n" in text
    assert f"{__file__}:" in text
    assert SECRET not in text
    assert capsys.readouterr().err == ""


def test_the_files_of_logs_can_be_named(clean_folder: Path) -> None:
    assert log_files("bella-vista") == []
    path = log_to_file("bella-vista")
    assert path is not None
    old = path.with_name("console.log.1")
    old.touch()

    assert log_files("bella-vista") == [path, old]


def test_without_a_place_for_logs_the_talk_goes_on(
    clean_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (clean_folder / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(clean_folder / "file"))
    monkeypatch.setenv("HOME", str(clean_folder / "file"))

    assert log_to_file("bella-vista") is None
    log_a_failure()

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["bella_vista.test", "livekit.agents"])
def test_a_key_is_never_logged_by_any_logger(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A server may repeat the key it was sent, and a library may log what the server said."""
    log_to_stderr(["sk-test-0123456789"])

    logging.getLogger(name).error(
        "closing: %s", "body={'message': 'no such key: sk-test-0123456789'}"
    )

    assert capsys.readouterr().err == (
        f"ERROR {name}: closing: body={{'message': 'no such key: [secret]'}}\n"
    )


def test_a_short_secret_of_a_local_server_is_no_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr()

    api.AccessToken("devkey", "secret").with_identity("ada").to_jwt()

    assert capsys.readouterr().err == ""


def test_a_terminal_shows_no_line_of_the_native_library(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr()
    logger = logging.getLogger("livekit")
    logger.error("%s:%s:%s - %s", "livekit::rtc_engine", 446, "livekit::rtc_engine", "resuming")
    logger.error("error putting to queue")

    assert capsys.readouterr().err == "ERROR livekit: error putting to queue\n"
