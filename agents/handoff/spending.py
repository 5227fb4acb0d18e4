"""What the models of one call report to have cost, in tokens."""

from dataclasses import dataclass

from livekit.agents.llm import CompletionUsage


@dataclass(frozen=True, slots=True)
class Cost:
    """What models cost: the requests that reported it, and their tokens.

    ``cached_tokens`` are those of the prompt that the provider had kept from before; they are part of
    ``prompt_tokens``.

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
    """Adds up what a call's replies cost. A model that reports nothing costs nothing here."""

    def __init__(self) -> None:
        self.total = Cost()
        self._untold = Cost()

    def report(self, usage: CompletionUsage) -> None:
        """Take note of what one model request cost."""
        cost = Cost(1, usage.prompt_tokens, usage.completion_tokens, usage.prompt_cached_tokens)
        self.total += cost
        self._untold += cost

    def untold(self) -> Cost | None:
        """Return what was spent since this was last asked, if anything was."""
        cost, self._untold = self._untold, Cost()
        return cost if cost.model_calls else None
