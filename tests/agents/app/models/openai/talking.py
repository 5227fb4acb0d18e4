"""The restaurant on a model at a server on this machine, and a whole order for it to take."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from livekit.agents.llm import LLM
from pydantic import SecretStr

from agents.app.models.openai import OpenAIModel
from agents.testing import Conversation
from agents.testing.providers import Answer, Providers, Usage, calls, says
from state.context import OrderContext
from state.order import OrderState
from tests.agents.restaurant import restaurant

KEY = "sk-test-0123456789"
USAGE = tuple(Usage().model_dump().values())
"""What each good reply says it cost: tokens of the prompt, of the reply, and cached ones."""
GREETING = says("Good evening, this is the automatic assistant.")

WHOLE_ORDER: tuple[tuple[str, tuple[Answer, ...]], ...] = (
    (
        "Hi, Ada here. Two large Margheritas, one without basil",
        (
            calls(("set_customer", {"name": "Ada"}), "transfer_to_order_taker"),
            calls(
                ("add_item", {"name": "Margherita", "size": "large", "quantity": 1}),
                (
                    "add_item",
                    {
                        "name": "Margherita",
                        "size": "large",
                        "quantity": 1,
                        "modifications": ["no basil"],
                    },
                ),
            ),
            says("Two large Margheritas, one without basil. Pickup or delivery?"),
        ),
    ),
    (
        "pickup, that is all",
        (
            calls(("set_fulfilment", {"kind": "pickup"})),
            calls("read_back", say="Let me read that back."),
            says("Two large Margheritas, one without basil, for pickup. Is that right?"),
        ),
    ),
    ("yes", (calls("confirm_order", "transfer_to_payment"), says("Cash or card?"))),
    (
        "cash",
        (
            calls(("choose_payment", {"method": "cash"})),
            says("Cash at pickup. Shall I place the order?"),
        ),
    ),
    (
        "yes please",
        (
            calls("place_order", "transfer_to_feedback"),
            says("It is placed. How was this call, one to five?"),
        ),
    ),
    ("five", (calls(("give_feedback", {"rating": 5})), says("Thank you!"))),
)


def script(*, greeting: Answer = GREETING) -> list[Answer]:
    return [greeting, *(answer for _, answers in WHOLE_ORDER for answer in answers)]


def model_at(server: Providers, *, attempt_s: float = 5.0, retries: int = 2) -> OpenAIModel:
    return OpenAIModel(
        "test-model",
        base_url=server.openai_url,
        api_key=SecretStr(KEY),
        attempt_s=attempt_s,
        retries=retries,
    )


@asynccontextmanager
async def talking_on(model: LLM[Any]) -> AsyncIterator[Conversation[OrderState, OrderContext]]:
    """A conversation on a model that is closed after it."""
    try:
        async with Conversation(restaurant(), model) as talk:
            yield talk
    finally:
        await model.aclose()


@asynccontextmanager
async def talking(
    answers: Sequence[Answer], **how: Any
) -> AsyncIterator[tuple[Conversation[OrderState, OrderContext], Providers]]:
    """A conversation on a server that answers like this."""
    async with Providers(answers).running() as server, talking_on(model_at(server, **how)) as talk:
        yield talk, server
