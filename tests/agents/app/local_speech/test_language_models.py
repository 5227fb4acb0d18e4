"""The files of what users may say: made once, found again, and complete when they are found."""

import logging
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agents.app.local_speech import language_models as module
from agents.app.local_speech.language_models import language_models, plain
from agents.app.local_speech.pronunciations import pronunciations
from agents.app.local_speech.trigrams import arpa
from tests.sounds import speech_program

SAID = {"open": ["two large Margheritas, please", "I'd like a diavola"], "yes_no": ["yes", "no"]}


@pytest.mark.processes
def test_they_are_made_once_for_the_same_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = language_models(SAID, folder=tmp_path)
    monkeypatch.setattr(module, "_make", lambda *given: pytest.fail("made again"))
    again = language_models(SAID, folder=tmp_path)

    assert again == made
    assert [path.name for path in tmp_path.iterdir()] == [made.dictionary.parent.name]
    assert "margheritas" in made.by_kind["open"].read_text()
    assert "margheritas" not in made.by_kind["yes_no"].read_text()


@pytest.mark.processes
def test_other_sentences_are_another_model(tmp_path: Path) -> None:
    one = language_models(SAID, folder=tmp_path)
    other = language_models({**SAID, "yes_no": ["yes"]}, folder=tmp_path)

    assert one.dictionary.parent != other.dictionary.parent


def test_what_is_no_longer_used_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    old = language_models(SAID, folder=tmp_path).dictionary.parent
    used = language_models({"open": ["yes"]}, folder=tmp_path).dictionary.parent
    draft, underway = tmp_path / "draft-1", tmp_path / "draft-2"
    draft.mkdir()
    underway.mkdir()
    month_ago = time.time() - 31 * 86_400
    for one in (old, used, draft):
        os.utime(one, (month_ago, month_ago))
    language_models({"open": ["yes"]}, folder=tmp_path)
    new = language_models({"open": ["no"]}, folder=tmp_path).dictionary.parent

    assert {*tmp_path.iterdir()} == {used, new, underway}


@pytest.mark.processes
def test_words_that_no_dictionary_has_are_pronounced_by_both_programs(tmp_path: Path) -> None:
    speech_program("t2p")
    speech_program("espeak-ng")
    lines = language_models(SAID, folder=tmp_path).dictionary.read_text().splitlines()

    assert "please P L IY Z" in lines
    assert [line for line in lines if line.startswith("margheritas")] == [
        "margheritas M AA R G R IY T AH S",
        "margheritas(2) M AA R G ER IY T AH Z",
    ]


def test_without_a_program_a_word_is_not_heard_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with caplog.at_level(logging.WARNING):
        made = language_models(SAID, folder=tmp_path)

    assert "margheritas" not in made.dictionary.read_text()
    assert "margheritas" not in made.by_kind["open"].read_text()
    assert "a diavola" not in made.by_kind["open"].read_text()
    assert "words without a pronunciation are not recognised: 2" in caplog.text


@pytest.mark.processes
def test_a_program_that_fails_or_hangs_gives_no_pronunciation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hang(command: list[str], **how: Any) -> None:
        raise subprocess.TimeoutExpired(command, how["timeout"])

    monkeypatch.setattr(shutil, "which", lambda name: f"/nowhere/{name}")
    assert pronunciations(["diavola"]) == {"diavola": ()}
    monkeypatch.setattr(subprocess, "run", hang)
    assert pronunciations(["diavola"]) == {"diavola": ()}


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OSError, match="file"):
        language_models(SAID, folder=tmp_path / "file")


def test_half_made_files_are_never_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(sentences: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(module, "arpa", broken)
    with pytest.raises(OSError, match="No space"):
        language_models(SAID, folder=tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_another_process_that_was_faster_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    usual = arpa

    def beaten(sentences: Any) -> str:
        monkeypatch.setattr(module, "arpa", usual)
        language_models(SAID, folder=tmp_path)
        return usual(sentences)

    monkeypatch.setattr(module, "arpa", beaten)
    made = language_models(SAID, folder=tmp_path)

    assert made.dictionary.is_file()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("said", [{}, {"open": []}, {"yes_no": ["yes"]}])
def test_there_is_something_that_may_always_be_said(said: dict[str, list[str]]) -> None:
    with pytest.raises(ValueError, match="open"):
        language_models(said)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Two large Margheritas, please!", "two large margheritas please"),
        ("I\u2019d like it", "i'd like it"),
        ("jalape\u00f1os 'n' cr\u00e8me br\u00fbl\u00e9e", "jalapenos n creme brulee"),
        ("  -- ", ""),
    ],
)
def test_a_text_becomes_the_recognisers_words(text: str, words: str) -> None:
    assert plain(text) == words
