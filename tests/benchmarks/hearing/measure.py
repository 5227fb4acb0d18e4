"""How much of what guests say local speech-to-text gets right, asks for again, and gets wrong unnoticed."""

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from agents.app.local_speech.language_models import LanguageModels, language_models, plain
from agents.app.local_speech.recognizer import Recognized, Recognizer
from bella_vista.local.spoken import spoken_meaning, spoken_sentences
from bella_vista.local.understanding.understander import Understander, as_json
from tests.bella_vista.local.scoring import AFTERNOON, menu_of
from tests.benchmarks.hearing.guests import GUESTS, LINES, Guest, Samples, between_silences
from tests.benchmarks.report import Table

RIGHT, ASKED, WRONG = "right", "asked again", "silently wrong"

MOST_WRONG = 3.0
"""Budget: of clean lines so many percent may be taken for something else."""

_PIECE = 800
_FILE = Path(__file__).with_name("lines.txt")
_NEEDED = ("flite", "espeak-ng")


_SAME = {"right": "yes"}
_POLITE = {"greeting", "thanks"}


@dataclass(frozen=True)
class Line:
    """A line.

    Args:
        expected: The kind of answer that was expected.
        text: The words that are said.
        number: Its place among all lines.
    """

    expected: str
    text: str
    number: int

    @property
    def guest(self) -> Guest:
        """The voice that says it: each line has one voice, and every voice the same share."""
        return GUESTS[self.number % len(GUESTS)]


def read_lines() -> tuple[list[Line], list[Line]]:
    """Return the lines of orders, and those that are none."""
    lines: list[Line] = []
    kind = ""
    for text in _FILE.read_text("utf-8").splitlines():
        if text.startswith("["):
            kind = text[1:-1]
        elif text and not text.startswith("#"):
            lines.append(Line(kind, text, len(lines)))
    orders = [line for line in lines if line.expected != "no order"]
    return orders, [line for line in lines if line.expected == "no order"]


class Hearing:
    """Hears lines as a call does, and judges what came of each.

    Args:
        models: The language models.
    """

    def __init__(self, models: LanguageModels) -> None:
        self._models = models
        self._menu = menu_of("trattoria")
        self._understander = Understander(self._menu)

    def outcomes(self, lines: list[Line], way: str) -> Iterator[tuple[Line, str]]:
        """Judge each line, said on one kind of line; each voice is one caller."""
        callers = {guest: Recognizer(self._models) for guest in GUESTS}
        for line in lines:
            sound = between_silences(line.guest.says(line.text), line.number)
            sound = LINES[way](sound, line.number)
            yield line, self._judged(callers[line.guest], line, sound)

    def _judged(self, recognizer: Recognizer, line: Line, sound: Samples) -> str:
        recognizer.begin(line.expected)
        for at in range(0, len(sound), _PIECE):
            recognizer.listen(sound[at : at + _PIECE].tobytes())
        heard = recognizer.end()
        if not heard.words or not self._is_sure(heard):
            return ASKED
        meant, _ = self._meaning(line.text)
        taken, asks = self._meaning(heard.text)
        if taken == meant:
            return RIGHT
        return ASKED if asks else WRONG

    def _is_sure(self, heard: Recognized) -> bool:
        return heard.is_sure(meaning=self._models.meaning)

    def _meaning(self, text: str) -> tuple[str, bool]:
        """Return how the local model understands a line, and whether it asks the guest about it.

        Where it makes nothing of a line, its words count.
        """
        now = AFTERNOON.replace(tzinfo=self._menu.restaurant.zone)
        understood = self._understander.understand(text, now=now)
        seen = as_json(understood)
        made = {name: seen[name] for name in ("commands", "answers", "question")}
        made["intents"] = sorted({_SAME.get(one, one) for one in understood.intents} - _POLITE)
        if not any(made.values()):
            return plain(text), True
        return json.dumps(made, sort_keys=True, default=str).casefold(), bool(made["question"])

    def does_something(self, line: Line) -> bool:
        """Whether words that are no order would change one."""
        recognizer = Recognizer(self._models)
        sound = between_silences(line.guest.says(line.text), line.number)
        recognizer.begin()
        recognizer.listen(sound.tobytes())
        heard = recognizer.end()
        return self._is_sure(heard) and bool(self._understander.understand(heard.text).commands)


def measure(count: int) -> list[Table]:
    """Say lines in every voice and on every kind of line, and count what came of them.

    Args:
        count: How many lines.
    """
    orders, other_lines = read_lines()
    orders = orders[:count]
    table = Table(
        "Spoken lines, recognised without a key, %",
        (RIGHT, ASKED, WRONG),
        note=f"{len(orders)} lines that the language models were not made from, each by one of"
        f" {len(GUESTS)} voices of flite and espeak-ng. Right: the local model makes the same commands, answers,"
        " questions and intents of what was heard as of what was said. Asked again: it was not heard well, or the local"
        " model asks back. The speakers are programs: people were not measured.",
        subject="Spoken lines",
    )
    if missing := [name for name in _NEEDED if shutil.which(name) is None]:
        table.note = f"Spoken lines were left out: there is no {' and no '.join(missing)} here."
        return [table]
    voices = Table("Clean lines by voice, %", (RIGHT, ASKED, WRONG))
    with tempfile.TemporaryDirectory() as folder:
        menu = menu_of("trattoria")
        said = spoken_sentences(menu)
        known = {plain(one) for some in said.values() for one in some}
        same = sum(plain(line.text) in known for line in orders)
        table.note += f" {same} short ones happen to be among the sentences they were made from."
        models = language_models(said, folder=Path(folder))
        hearing = Hearing(replace(models, meaning=spoken_meaning(menu)))
        for way in LINES:
            found = [*hearing.outcomes(orders, way)]
            _add(table, way, Counter(outcome for _, outcome in found), way == "clean")
            if way == "clean":
                for guest in GUESTS:
                    own = Counter(outcome for line, outcome in found if line.guest == guest)
                    _add(voices, guest.name, own, False)
        others = list(islice(other_lines, count))
        led = sum(map(hearing.does_something, others))
        table.add(f"{len(others)} lines that are no orders", "", "", f"{led} changed one")
    return [table, voices]


def _add(table: Table, name: str, found: "Counter[str]", judged: bool) -> None:
    total = sum(found.values())
    if not total:
        return
    shares = {outcome: 100 * found[outcome] / total for outcome in (RIGHT, ASKED, WRONG)}
    table.add(
        name,
        *(f"{share:.0f}" if share >= 10 else f"{share:.1f}" for share in shares.values()),
        measured=round(shares[WRONG], 1) if judged else None,
        budget=MOST_WRONG if judged else None,
    )
