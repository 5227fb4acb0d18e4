"""The parts of a guest's message that have been taken out of it so far."""

from dataclasses import dataclass, field
from typing import Any

from bella_vista.local.english.talking import words_of
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.words.tokens import Words


@dataclass
class Heard:
    """The parts that have been taken out of a message so far, each with its place."""

    drafts: list[tuple[int, Draft]] = field(default_factory=list)
    intents: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    age: int | None = None
    """How old the guest says that they are, in years."""

    def wish(self, words: Words, op: str, **fields: Any) -> None:
        """Note a command."""
        at = words.tokens[0].start if words.tokens else 0
        given = {name: value for name, value in fields.items() if value is not None}
        self.drafts.append((at, Draft(op, given)))

    def meant(self, intent: str) -> None:
        """Note a word that an agent acts on."""
        if intent not in self.intents:
            self.intents.append(intent)

    def has(self, op: str) -> bool:
        """Whether a command of this kind was noted."""
        return any(draft.op == op for _, draft in self.drafts)

    def instead(self, op: str, intent: str, meant: str) -> None:
        """Take a command back that was noted, and its intent for another."""
        self.drafts = [(at, draft) for at, draft in self.drafts if draft.op != op]
        self.intents = [meant if one == intent else one for one in self.intents]

    def asked(self, question: Question) -> None:
        """Note something to ask back."""
        self.questions.append(question)


def asks_before(words: Words, before: int) -> bool:
    """Whether a question begins before this place, so that what is said there is not stated."""
    asking = any(token.word in words_of("question words") for token in words.tokens[:before])
    return asking and words.said.endswith("?")
