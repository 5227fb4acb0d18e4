"""A change carries the last turn whose words it acts on, so that words not acted on are known."""

import asyncio
from collections.abc import Callable

from agents.testing import Conversation, ScriptedLLM, calls, says, until
from state.shared import Entry
from tests.agents.hotel import hotel


class Paper:
    """A journal that is always written, and tells of its first row before that."""

    def __init__(self) -> None:
        self.rows: list[Entry] = []
        self.first: Callable[[], object] = lambda: None

    def append(self, entry: Entry) -> "asyncio.Future[None]":
        if not self.rows:
            self.first()
        self.rows.append(entry)
        written = asyncio.get_running_loop().create_future()
        written.set_result(None)
        return written

    async def after(self, version: int) -> list[Entry]:
        return [row for row in self.rows if row.version > version]

    @property
    def turns(self) -> list[tuple[object, int | None]]:
        """What was done, each with the turn it acts on."""
        return [(row.commands[0]["op"], row.turn) for row in self.rows]


async def test_words_that_come_while_a_reply_acts_are_none_that_it_acts_on() -> None:
    paper = Paper()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls(("add_nights", {"nights": 1}), ("set_guest", {"name": "Ada"})),
            calls(("add_nights", {"nights": 2})),
            says("Three nights."),
        ]
    )

    async with Conversation(hotel(journal=paper), model) as talk:
        await talk.answered()
        paper.first = lambda: talk.call.user_said("And two more")
        talk.user_says_nowait("One night, for Ada")
        await until(lambda: talk.call.turn == 2)
        await talk.answered()

    assert paper.turns == [("add_nights", 1), ("set_guest", 1), ("add_nights", 2)]


async def test_the_next_voice_acts_on_all_that_it_was_told() -> None:
    paper = Paper()
    model = ScriptedLLM(
        [
            says("Good evening."),
            calls("transfer_to_bar"),
            calls(("set_guest", {"name": "Ada"})),
            says("Done."),
        ]
    )

    async with Conversation(hotel(journal=paper), model) as talk:
        await talk.answered()
        paper.first = lambda: talk.call.user_said("I am Ada")
        talk.user_says_nowait("I am thirsty")
        await until(lambda: talk.call.turn == 2)
        await talk.answered()

    assert paper.turns == [("hand_over", None), ("set_guest", 2)]
