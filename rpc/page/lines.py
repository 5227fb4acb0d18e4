"""The lines of a conversation, for a client that was not there."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rpc.page.forms import Transcript, TranscriptLine

MOST_LINES = 500
"""How many lines are kept; the oldest is dropped first."""

LARGEST_PAGE = 14_000
"""The largest total size of the lines in one reply, in bytes."""

LONGEST_LINE = 2_000
"""The maximum length of a line, in characters: of four bytes each, one fits into a reply."""


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """The redacted words of the user or an agent.

    Args:
        turn: The number of user turns by then.
        agent: The agent; ``None`` for the user.
        text: The words.
        interrupted: Whether the user cut them short.
        utterance: The utterance that their live transcriptions name, if it is known.
    """

    turn: int
    agent: str | None
    text: str
    interrupted: bool = False
    utterance: str | None = None


class Lines:
    """The lines of a conversation, the newest ``MOST_LINES`` of them.

    Args:
        earlier: The lines so far, oldest first.
    """

    def __init__(self, earlier: Iterable[SpokenLine] = ()) -> None:
        self._lines: deque[SpokenLine] = deque(maxlen=MOST_LINES)
        self._dropped = 0
        for line in earlier:
            self.add(line)

    def add(self, line: SpokenLine) -> None:
        """Add a line; if the words of a user's turn come several times, the last ones count."""
        if not line.text.strip():
            return
        if line.agent is None:
            for at in range(len(self._lines) - 1, -1, -1):
                known = self._lines[at]
                if known.agent is None and known.turn <= line.turn:
                    if known.turn == line.turn:
                        self._lines[at] = replace(known, text=line.text, utterance=line.utterance)
                        return
                    break
        self._dropped += len(self._lines) == MOST_LINES
        self._lines.append(line)

    def clear(self) -> None:
        """Forget all lines."""
        self._dropped += len(self._lines)
        self._lines.clear()

    def page(self, before: int | None) -> Transcript:
        """Return the newest lines before a number, as many as fit into a reply."""
        end = len(self._lines) if before is None else before - self._dropped
        shown: deque[TranscriptLine] = deque()
        room = LARGEST_PAGE
        at = min(end, len(self._lines))
        while at > 0:
            line = self._shown(at - 1)
            room -= len(line.model_dump_json().encode()) + 1
            if room < 0:
                break
            shown.appendleft(line)
            at -= 1
        return Transcript(lines=tuple(shown), earlier=at > 0)

    def _shown(self, at: int) -> TranscriptLine:
        line = self._lines[at]
        text = line.text if len(line.text) <= LONGEST_LINE else f"{line.text[: LONGEST_LINE - 1]}…"
        return TranscriptLine(
            number=self._dropped + at,
            turn=line.turn,
            speaker="user" if line.agent is None else "agent",
            agent=line.agent,
            text=text,
            interrupted=line.interrupted,
            utterance=line.utterance,
        )
