"""The decisions an application makes about its calls."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from state.privacy import redact, redact_whole, safe_length
from state.shared import Applied, Command, Refused

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


class PolicyError(ValueError):
    """A policy cannot work; ``faults`` lists everything that is wrong with it."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(faults))


ANSWER_KINDS = ("open", "yes_no", "choice", "rating", "amount", "name", "contact")
"""The kinds of answer that clients know; the first is the default."""

BACKCHANNELS = ("mhm", "mm", "mm-hm", "mm-hmm", "mmhmm", "hm", "hmm", "uh-huh", "aha", "ok", "okay")
"""Words by which users show that they listen. "Yes" is none: it may be the answer to a question."""


def hide_partial(text: str) -> str:
    """Show nothing of an interim transcript."""
    return "..."


@dataclass(frozen=True)
class CallPolicy(Generic[S, C]):
    """How an application's calls behave; everything has a working default.

    Args:
        digest: The part of the state that every model request shows: the names of fields, or a
            function that takes state and version and returns one short line of data; several lines
            are joined by ``/``. By default only the version is shown. It is rendered once per version,
            and again after ``Call.digest_changed``.
        describe_result: Describes a change to the model that made it.
        expects: Returns the kind of answer an agent waits for; takes the state, the active agent and the
            last refusal. The kinds are ``open``, ``yes_no``, ``choice``, ``rating``, ``amount``,
            ``name`` and ``contact``; any other counts as ``open`` and is logged.
        redact_input: Redacts the user's spoken and written words. By default card numbers and their
            security codes are redacted, also those told in several turns, by a
            ``state.privacy.Redactor`` of each call; ``str`` turns it off. Telephone numbers are
            kept: users give theirs so that it is stored.
        redact_partial: Redacts interim transcripts for display. It is called repeatedly with more
            of the same words and must not keep them. By default a transcript with more than four
            digits is hidden, since they may become a card number; with another ``redact_input``,
            nothing of interim transcripts is shown.
        redact_output: Redacts model text and tool arguments before they are stored, shown or
            spoken; by default whole card numbers and security codes. ``str`` turns it off.
        safe_prefix: Returns how much of an unfinished text ``redact_output`` can judge; the rest
            waits for what follows.
        trouble: Said when the model fails or returns nothing.
        farewell: Said instead when the call ends after it.
        say_again: Said when the user was heard and not understood: when a speech-to-text model marks
            a transcript as ``UNCLEAR``, fails in an utterance or returns no final transcript of it,
            and when the process of the agent dies in a push-to-talk turn.
        cannot_hear: Said to the user when the speech-to-text model fails.
        cannot_speak: Shown to the user when the text-to-speech model fails.
        backchannels: The words by which users show that they listen. While an agent speaks, such words alone
            neither interrupt it nor count as a message, unless its reply ends within 1.5 seconds:
            then they may be an answer. Empty: all words interrupt.
        tool_limit_s: How long a tool may work, in seconds; its commit is not counted. Keep it below
            5: livekit-agents 1.8.9 waits five seconds for the tools of an interrupted reply, then
            goes on without their results.
        think_limit_s: How long a model may be silent within a reply, in seconds.
        handoffs_per_turn: How many handoffs one user message may cause; 0 for none. An agent that
            has just taken over cannot transfer while it opens, so it is one at most, unless the
            application makes an agent speak unasked.
        remembers: How many history items of the current agent its model is shown: messages, tool
            calls and results. It knows older facts from the digest.

    Raises:
        PolicyError: A canned sentence is blank, a limit is out of range, or ``digest`` or
            ``backchannels`` is a single text.
    """

    digest: Sequence[str] | Callable[[S, int], str] = ()
    describe_result: Callable[[Applied[S], Command[S, C]], str] = lambda applied, command: "Done."
    expects: Callable[[S, str, Refused | None], str] = lambda state, speaker, refusal: "open"
    redact_input: Callable[[str], str] = redact
    redact_partial: Callable[[str], str] = hide_partial
    redact_output: Callable[[str], str] = redact_whole
    safe_prefix: Callable[[str], int] = safe_length
    trouble: str = "I am sorry, I lost the thread for a moment. Could you say that again?"
    farewell: str = "I have to say goodbye now."
    say_again: str = "I am sorry, I did not catch that. Could you say it again, please?"
    cannot_hear: str = "I am sorry, I cannot hear you just now. If you can, please type instead."
    cannot_speak: str = "I have lost my voice for a moment. Please read what I say."
    backchannels: Sequence[str] = BACKCHANNELS
    tool_limit_s: float = 4.0
    think_limit_s: float = 30.0
    handoffs_per_turn: int = 3
    remembers: int = 200

    def __post_init__(self) -> None:
        faults = [
            f"{name} is blank: the user would hear nothing"
            for name in ("trouble", "farewell", "say_again", "cannot_hear", "cannot_speak")
            if not getattr(self, name).strip()
        ]
        if isinstance(self.digest, str):
            faults.append(f"digest is not a tuple of field names: {self.digest!r}")
        if isinstance(self.backchannels, str):
            faults.append(f"backchannels is not a tuple of words: {self.backchannels!r}")
        faults += [
            f"{name} has to be above 0"
            for name in ("tool_limit_s", "think_limit_s", "remembers")
            if not getattr(self, name) > 0
        ]
        if self.handoffs_per_turn < 0:
            faults.append("handoffs_per_turn cannot be below 0")
        if faults:
            raise PolicyError(faults)

    def unknown_fields(self, state: S) -> list[str]:
        """Return the field names in ``digest`` that a state does not have."""
        known = {*type(state).model_fields, *type(state).model_computed_fields}
        return [] if callable(self.digest) else [name for name in self.digest if name not in known]

    def render_digest(self, state: S, version: int) -> str:
        """Render the state's digest for a model request."""
        if callable(self.digest):
            return self.digest(state, version)
        if not self.digest:
            return f'{{"version":{version}}}'
        shown = state.model_dump(mode="json", include={*self.digest}, exclude_none=True)
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
