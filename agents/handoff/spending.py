"""The token usage that the models of one call report."""

from dataclasses import dataclass

from livekit.agents.llm import CompletionUsage


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
