"""What an application decides about its calls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from state.shared import Applied, Command, Refused

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C")


@dataclass(frozen=True)
class CallPolicy(Generic[S, C]):
    """How an application's calls go; everything has a working default.

    Args:
        digest: The state as every model request shows it: short text, as data, in one line; several lines are
            joined by ``/``. Takes state and version.
        describe_result: What a model is told of a change it made.
        expects: What kind of answer an agent waits for; takes the state, who speaks and the last refusal.
        redact_input: What may enter of what a guest says; the place to take secrets out of it.
        redact_partial: What may be shown of words that are still being said aloud. It gets more of the same words
            again and again and must keep nothing of them; without it nothing is shown of them.
        redact_output: What may leave of what a model says or gives its tools, before anybody keeps or hears it.
        safe_prefix: Up to where a text that is still being said can be judged by ``redact_output``; the rest of it
            waits for what follows.
        trouble: Said when the model fails or has nothing to say.
        farewell: Said instead when the call ends after it.
        cannot_hear: Said to a guest whose words cannot be understood because the model that hears fails.
        cannot_speak: Shown to a guest when the model that speaks fails.
        tool_limit_s: How long a tool may work, in seconds; its commit is not counted. Keep it below 5:
            livekit-agents 1.8.9 waits five seconds for the tools of a reply that the guest interrupts,
            then talks on without what they answer.
        think_limit_s: How long a model may be silent within a reply, in seconds.
        handoffs_per_turn: How many handoffs one thing the guest said may cause; 0 for none at all.
            An agent that has just taken over hands over to nobody while it opens, so it is one at most,
            unless the application has an agent speak up unasked.
        remembers: How many items of the talk with one agent its model is shown: words, tool calls and their
            answers. What is older it knows from the digest.

    Raises:
        ValueError: Words that are said as they stand are blank, or a limit lets nothing happen.
    """

    digest: Callable[[S, int], str] = lambda state, version: state.model_dump_json(
        exclude_none=True
    )
    describe_result: Callable[[Applied[S], Command[S, C]], str] = lambda applied, command: "Done."
    expects: Callable[[S, str, Refused | None], str] = lambda state, speaker, refusal: "open"
    redact_input: Callable[[str], str] = str
    redact_partial: Callable[[str], str] = lambda text: "..."
    redact_output: Callable[[str], str] = str
    safe_prefix: Callable[[str], int] = len
    trouble: str = "I am sorry, I lost the thread for a moment. Could you say that again?"
    farewell: str = "I have to say goodbye now."
    cannot_hear: str = "I am sorry, I cannot hear you just now. If you can, please type instead."
    cannot_speak: str = "I have lost my voice for a moment. Please read what I say."
    tool_limit_s: float = 4.0
    think_limit_s: float = 30.0
    handoffs_per_turn: int = 3
    remembers: int = 200

    def __post_init__(self) -> None:
        faults = [
            f"{name} is blank: the guest would hear nothing"
            for name in ("trouble", "farewell", "cannot_hear", "cannot_speak")
            if not getattr(self, name).strip()
        ]
        faults += [
            f"{name} has to be above 0"
            for name in ("tool_limit_s", "think_limit_s", "remembers")
            if not getattr(self, name) > 0
        ]
        if self.handoffs_per_turn < 0:
            faults.append("handoffs_per_turn cannot be below 0")
        if faults:
            raise ValueError("; ".join(faults))
