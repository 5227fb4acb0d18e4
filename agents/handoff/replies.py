"""The agents' words in one call: replies requested from a model, and given texts."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from livekit.agents import NOT_GIVEN
from livekit.agents import Agent as LivekitAgent
from livekit.agents.llm import ChatItem, ChatMessage, CompletionUsage
from livekit.agents.voice import SpeechHandle

from agents.handoff.call_base import AnyCall
from agents.handoff.carry import unanswered
from agents.handoff.events import Said
from agents.handoff.livekit_workarounds import (
    add_user_message,
    current_speech,
    utterance_name,
)
from agents.handoff.model_output import (
    PendingCalls,
    Reply,
    replace_lone_surrogates,
    without_framework_marks,
)

logger = logging.getLogger(__name__)

SAY = "Say exactly this: "
"""Begins the instructions of a reply with a given text, for which no model is requested."""

_SEVERAL = (
    "The user's last {count} messages are unanswered. Act on each that has not been acted on yet, in order; then"
    " say for each what was done, or ask about it."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Token usage: the number of model requests that reported it, and their tokens.

    ``cached_tokens`` is the part of ``prompt_tokens`` that came from the provider's prompt cache.

    >>> Cost(1, 900, 20, 800) + Cost(1, 950, 10, 900)
    Cost(model_calls=2, prompt_tokens=1850, completion_tokens=30, cached_tokens=1700)
    """

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.model_calls + other.model_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )


class Spending:
    """Adds up the token usage of a call. A model that reports nothing is not counted."""

    def __init__(self) -> None:
        self.total = Cost()
        self._unreported = Cost()

    def report(self, usage: CompletionUsage) -> None:
        """Add the usage of one model request."""
        cost = Cost(1, usage.prompt_tokens, usage.completion_tokens, usage.prompt_cached_tokens)
        self.total += cost
        self._unreported += cost

    def take_unreported(self) -> Cost | None:
        """Return the usage since the previous call of this method, if any."""
        cost, self._unreported = self._unreported, Cost()
        return cost if cost.model_calls else None


@dataclass(frozen=True, slots=True)
class _Basis:
    """The source of an agent's words: a version of the state, and a topic if they have one."""

    version: int | None = None
    about: str | None = None


_NO_BASIS = _Basis()


class LateResults(Protocol):
    """Results that come after their reply, and are told with the next one."""

    def present(self, agent: LivekitAgent) -> str:
        """Show them to an agent; returns its instructions for them, empty for none."""
        ...

    def told_by(self, speech: SpeechHandle) -> None:
        """Note that a reply has been shown them."""

    def reply_ended(self, speech: SpeechHandle, *, spoken: bool) -> None:
        """Count them as told, if the reply was spoken to its end."""


class Replies:
    """Requests the replies of one call and reports what has been said.

    Args:
        preamble: Spoken once before anything else, and repeated with the next reply if it was
            interrupted; empty for nothing.
    """

    _late: LateResults

    def __init__(self, call: AnyCall, preamble: str) -> None:
        self.preamble = preamble
        """Text to be spoken before anything else, until all of it has been spoken."""
        self.spending = Spending()
        self.pending_calls = PendingCalls()
        """The tool calls that have not started, with the replies they belong to."""
        self._call = call
        self._hint: Callable[[], str] = str
        self._shown_turn = 0
        self._queued: list[tuple[str, _Basis]] = []
        self._basis_of: dict[SpeechHandle, _Basis] = {}
        self._utterances: WeakKeyDictionary[SpeechHandle, str] = WeakKeyDictionary()
        """The utterances under way, by the replies they are part of."""
        self._over_user: Callable[[], bool] = lambda: False
        self._over: WeakSet[SpeechHandle] = WeakSet()
        """The replies that are spoken although the user is speaking."""

    def speak_over_user_if(self, applies: Callable[[], bool]) -> None:
        """Ask a function whether a reply is to be spoken although the user is speaking.

        livekit-agents 1.8.9 begins no reply that may be interrupted while the user is speaking, so
        such a reply may not be until ``let_interrupt``.
        """
        self._over_user = applies

    def let_interrupt(self) -> None:
        """Let the user interrupt the replies again that are spoken although they are speaking."""
        for speech in self._over:
            if not speech.interrupted:
                speech.allow_interruptions = True
        self._over.clear()

    def decides_transfer(self, speech: SpeechHandle) -> None:
        """Note that a reply decides on a transfer, which also decides whether it may be interrupted."""
        self._over.discard(speech)

    def use_hint(self, hint: Callable[[], str]) -> None:
        """Ask a function for instructions with every request; it returns an empty text for none."""
        self._hint = hint

    def tell_with_replies(self, late: LateResults) -> None:
        """Have late results told with the replies."""
        self._late = late

    def request(self, words: Sequence[str], *, instructions: str = "", **how: Any) -> SpeechHandle:
        """Have the active agent reply.

        Args:
            words: The user's messages since the last request, one text each, in order; may be
                empty.
            instructions: Instructions for this reply only.
            how: Further arguments of ``AgentSession.generate_reply``.

        Raises:
            RuntimeError: The session is closing.
        """
        session = self._call.session
        if words:
            self._call.user_spoke_on()
        said = [text for one in words if (text := without_framework_marks(one))]
        agent = session.current_agent
        if how.get("tool_choice") != "none":
            hint = unanswered_hint(agent.chat_ctx.items, len(said))
            instructions = f"{instructions} {hint}".strip()
        instructions = f"{instructions} {self._late.present(agent)}".strip()
        instructions = f"{instructions} {self._hint()}".strip()
        speech = self._generate(
            user_input=said[-1] if said else NOT_GIVEN,
            instructions=instructions or NOT_GIVEN,
            **how,
        )
        self._based_on(speech, _NO_BASIS)
        self._late.told_by(speech)
        # livekit-agents 1.8.9 takes one message per reply. Earlier ones are added to the history
        # now: the reply reads the history in its own task and appends its message after them.
        for text in said[:-1]:
            add_user_message(session, text)
        return speech

    def _generate(self, **how: Any) -> SpeechHandle:
        over = self._over_user()
        speech = self._call.session.generate_reply(
            allow_interruptions=False if over else NOT_GIVEN, **how
        )
        if over:
            self._over.add(speech)
        return speech

    def takes(self, turn: int) -> None:
        """Note the last turn whose messages were passed to a reply request or to the next agent."""
        self._shown_turn = turn

    def start(self, agent: str) -> Reply:
        """Start a reply of an agent: it is shown the current state and the user messages so far."""
        return Reply(agent, self._call.shared.version, self._shown_turn)

    def reply_of(self, call_id: str) -> Reply:
        """Return the reply of a tool call; a new one with the current state if none is known."""
        return self.pending_calls.take(call_id) or self.start(self._call.active.name)

    @property
    def apology(self) -> str:
        """The fallback sentence for a model that fails or returns nothing."""
        policy = self._call.policy
        return policy.trouble if self._call.closing is None else policy.farewell

    def speak(self, words: str, *, about: str | None = None, version: int | None = None) -> None:
        """Say a text verbatim; see ``Call.speak``."""
        if version is None and about is not None:
            version = self._call.shared.version
        if not self._call.active.can_reply or self._call.user_holds:
            self._queued.append((words, _Basis(version, about)))
            return
        try:
            speech = self._generate(
                instructions=f"{SAY}{replace_lone_surrogates(words)}", tool_choice="none"
            )
        except RuntimeError:  # the session is closing
            logger.debug("nothing spoken: the session is closing")
        else:
            self._based_on(speech, _Basis(version, about))

    def speak_queued(self) -> bool:
        """Say the texts that were queued while no agent could speak; returns whether there were any."""
        queued, self._queued = self._queued, []
        for words, basis in queued:
            self.speak(words, about=basis.about, version=basis.version)
        return bool(queued)

    def shows(self, version: int | None) -> None:
        """Note which version the words of the present reply are made from; None for no version."""
        if (speech := current_speech()) is not None:
            self._based_on(speech, _Basis(version))

    def begin_utterance(self) -> str:
        """Return the name of the utterance that the present reply's words are part of until ``said``."""
        utterance = utterance_name()
        if (speech := current_speech()) is not None:
            utterance = self._utterances.setdefault(speech, utterance)
        return utterance

    def said(self, item: ChatMessage, turn: int) -> None:
        """Report an agent's words: the whole reply, or the played part of it."""
        text = item.text_content or ""
        # Without audio it is unknown whether an interrupted reply was delivered: livekit-agents
        # 1.8.9 adds the item before it sends the text.
        known = not item.interrupted or self._call.session.output.audio is not None
        if known and self.preamble in text:
            self.preamble = ""
        speech = current_speech()
        basis = self._basis_of.get(speech, _NO_BASIS) if speech is not None else _NO_BASIS
        utterance = self._utterances.pop(speech, None) if speech is not None else None
        agent, cut = self._call.active.name, item.interrupted
        self._call.emit(Said(turn, agent, text, cut, basis.version, basis.about, utterance))

    def _based_on(self, speech: SpeechHandle, basis: _Basis) -> None:
        if speech not in self._basis_of:
            speech.add_done_callback(self._ended)
        self._basis_of[speech] = basis

    def _ended(self, speech: SpeechHandle) -> None:
        basis = self._basis_of.pop(speech, _NO_BASIS)
        words = any(item.text_content for item in speech.chat_items if item.type == "message")
        self._late.reply_ended(speech, spoken=words and basis.version is not None)


def verbatim_text(items: Sequence[ChatItem]) -> str | None:
    """Return the text this reply has to say verbatim, if there is one."""
    # livekit-agents 1.8.9 adds the calls that are still running, such as the one that speaks.
    last = next((item for item in reversed(items) if item.type == "message"), None)
    if last is None or last.role != "system":
        return None
    text = last.text_content or ""
    return text.removeprefix(SAY) if text.startswith(SAY) else None


def unanswered_hint(items: Sequence[ChatItem], queued_count: int) -> str:
    """Return the instructions for a reply to several messages; empty for fewer than two.

    Args:
        items: The history.
        queued_count: How many messages will be added to it.
    """
    queued_count += len(unanswered(items))
    return _SEVERAL.format(count=queued_count) if queued_count > 1 else ""
