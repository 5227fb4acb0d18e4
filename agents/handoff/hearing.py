"""What a guest has said aloud, until it is taken up as one thing he said.

livekit-agents 1.8.9 drops a finished turn while it changes agents ("skipping user input, speech scheduling is
paused") and while a reply may not be interrupted. Here the words stay until somebody has taken them up.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from livekit.agents.voice import ErrorEvent, UserStateChangedEvent

if TYPE_CHECKING:
    from agents.handoff.call import Call

logger = logging.getLogger(__name__)

PATIENCE_S = 4.0
"""How long finished words wait for the end of their turn, in seconds, before they are taken for all of it."""

_LONGEST_BREATH = 3
"""So many times over they wait for a guest who is said to be speaking still."""


class Hearing:
    """What the user says aloud in one call.

    Args:
        call: Takes in what was heard.
    """

    def __init__(self, call: "Call[Any, Any]") -> None:
        self.speaking = False
        """Whether the guest speaks just now, as far as anybody can tell."""
        self.patience_s = PATIENCE_S
        self._call = call
        self._heard: list[str] = []
        self._screened = False
        self._in_doubt = False
        self._deaf = False
        self._second_chance = False
        self._breaths = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def awaits_words(self) -> bool:
        """Whether the guest is saying something that nobody has taken up yet, or may have."""
        return self.speaking or self._in_doubt or bool(self._heard)

    # -- what the speech-to-text model reports ----------------------------------------------------------------------

    def in_passing(self, text: str) -> str:
        """Return what may be shown of words that are still being said."""
        self._screened, self._deaf = True, False
        try:
            return self._call.policy.redact_partial(text).strip()
        except Exception:  # what cannot be judged stays outside
            logger.exception("words in passing were not let in")
            return ""

    def finished(self, text: str) -> str:
        """Take note of words that have been said; returns what is let in of them, once for all."""
        self._screened, self._deaf = True, False
        try:
            words = self._call.policy.redact_input(text).strip()
        except Exception:  # what cannot be judged stays outside, and the guest is asked again
            logger.exception("words were not let in")
            self._call.speak(self._call.policy.trouble)
            return ""
        if words:
            self._second_chance = True
            self._heard.append(words)
            self._wait()
        return words

    def state_changed(self, event: UserStateChangedEvent) -> None:
        """The guest begins or stops to speak."""
        was_speaking, self.speaking = self.speaking, event.new_state == "speaking"
        if was_speaking and not self.speaking:
            self._in_doubt = True  # the words of it may still come
            self._wait()

    def failed(self, event: ErrorEvent) -> None:
        """Tell the guest that he is not heard, once until he is heard again."""
        error = event.error
        if getattr(error, "type", "") != "stt_error" or error.recoverable:
            return
        logger.error("the guest is not heard: %s", type(error.error).__name__)
        if self._call.speech_lost is not None:
            if self._second_chance:
                self._second_chance = False
                self._call.speak(self._call.policy.trouble)
            else:
                self._call.speech_lost()
        elif not self._deaf:
            self._deaf = True
            self._call.speak(self._call.policy.cannot_hear)

    # -- taking up ---------------------------------------------------------------------------------

    def turn_ended(self, text: str) -> None:
        """Take in what the guest said in a turn that has ended.

        Args:
            text: All of it, as livekit knows it; it counts only where nothing was reported here.
        """
        if not self._screened:
            self._call.hear(text)
        else:
            self._take_in()
            self._call.turns.look_again()  # a reply may have ended meanwhile, for want of these words

    def agent_changes(self) -> None:
        """Take in what was said to the agent that leaves: nobody else will say that its turn has ended."""
        if not self.speaking:
            self._take_in()

    def _take_in(self) -> None:
        self._stop_waiting()
        words, self._heard = " ".join(self._heard), []
        if words:
            self._call.take_in(words)

    def _wait(self) -> None:
        self._stop_waiting(doubt=self._in_doubt)
        self._rearm()

    def _rearm(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.patience_s, self._waited)

    def _waited(self) -> None:
        self._timer = None
        if self.speaking and self._breaths < _LONGEST_BREATH:
            self._breaths += 1
            self._rearm()
            return
        self._in_doubt = False
        if self._heard:
            logger.warning("the end of what the guest said was not noticed")
            self._take_in()
        else:
            self._call.turns.look_again()

    def _stop_waiting(self, *, doubt: bool = False) -> None:
        self._in_doubt = doubt
        self._breaths = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Wait for nothing any more."""
        self._stop_waiting()
        self._heard.clear()
