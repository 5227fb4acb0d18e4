"""What a model is told of its tools is true, also of odd tools, slow disks and writes that overlap."""

import asyncio
from typing import Any, ClassVar, Literal

import pytest

from agents.handoff import Action, Call, Tool
from state.shared import Applied, Command, Refused
from tests.agents.hotel import Reception, Stay
from tests.agents.matrix.own import BookSlowly, SetNights, WaitForEver
from tests.agents.matrix.rows import BAR, CONCIERGE, SORRY, Reply, made
from tests.agents.matrix.stage import Talk


class OneMore(Action):
    """Look how many nights there are, ask the house's computer, and write down one more."""

    op: Literal["one_more"] = "one_more"
    looks_again: bool = False
    times: int = 1
    takes_s: float = 1.0

    async def run(self, call: Call[Any, Any]) -> str:
        nights = call.state.nights
        await asyncio.sleep(self.takes_s)
        for more in range(1, self.times + 1):
            seen = None
            if self.looks_again:
                nights, seen = call.state.nights, call.shared.version
                more = 1
            await call.shared.apply(SetNights(nights=nights + more), actor="desk", seen=seen)
        return "Booked."


class OneMoreLast(OneMore):
    """Book one more night, after everything else."""

    op: Literal["one_more_last"] = "one_more_last"  # type: ignore[assignment]
    goes_last: ClassVar[bool] = True

    async def run(self, call: Call[Any, Any]) -> str:
        await call.shared.apply(SetNights(nights=call.state.nights + 1), actor="desk")
        return "Booked."


class WriteInTheEnd(Action):
    """Never heed being given up, and write in the end."""

    op: Literal["write_in_the_end"] = "write_in_the_end"
    refusals: ClassVar[list[Exception]]

    async def run(self, call: Call[Any, Any]) -> str:
        for _ in range(20):
            try:
                await asyncio.sleep(1.0)
            except asyncio.CancelledError:
                continue
        try:
            await call.shared.apply(SetNights(nights=13), actor="desk")
        except Exception as error:
            self.refusals.append(error)
            raise
        return "Booked."


class NotAnError(BaseException):
    """No ``Exception``."""


class Ends(Action):
    """Raise what is no ``Exception``."""

    op: Literal["ends"] = "ends"
    how: Literal["exit", "own"] = "exit"

    async def run(self, call: Call[Any, Any]) -> str:
        await asyncio.sleep(0)
        raise SystemExit(3) if self.how == "exit" else NotAnError


class EndsIt(Command[Stay, None]):
    """Raise what is no ``Exception``, as a command."""

    op: Literal["ends_it"] = "ends_it"

    def apply(self, state: Stay, context: None) -> Stay:
        raise SystemExit(3)


class OddFacts(Action):
    """Refuse with facts that JSON cannot write."""

    op: Literal["odd_facts"] = "odd_facts"
    which: Literal["round", "keys", "no_text", "half"] = "round"

    async def run(self, call: Call[Any, Any]) -> str:
        class NoText:
            def __repr__(self) -> str:
                raise RuntimeError("no text")

        circle: dict[Any, Any] = {}
        circle["it"] = circle
        if self.which == "half":
            raise Refused("Half \ud83d an emoji.", odd="\ud83d")
        facts: dict[str, Any] = {"round": circle, "keys": {(1, 2): 3}, "no_text": NoText()}
        raise Refused("The house is full.", odd=facts[self.which])


class Answers(Action):
    """Answer what a test wants."""

    op: Literal["answers"] = "answers"
    answer: ClassVar[Any] = None

    async def run(self, call: Call[Any, Any]) -> str:
        answer: str = self.answer
        return answer


class Desk(Reception):
    offers: tuple[Tool, ...] = (
        *(*Reception.offers, SetNights, OneMore, OneMoreLast, WriteInTheEnd),
        *(Ends, EndsIt, OddFacts, Answers, BookSlowly, WaitForEver),
    )


class TestAnActionIsDecidedOnWhatItsReplyWasShown:
    async def test_two_tools_that_read_wait_and_write_lose_no_update(self) -> None:
        replies: list[Reply] = [[made("one_more"), made("one_more")], [SORRY]]
        async with Talk(replies, agents=[Desk]) as talk:
            await talk.user_says("A night, and a night")

            assert talk.call.state.nights == 1
            assert talk.outputs[0] == "Booked."
            assert "version_conflict: This was decided on version 0" in talk.outputs[1]
            await talk.goes_on()

    async def test_a_concurrent_write_of_the_page_is_not_lost(self) -> None:
        async with Talk([[made("one_more")], [SORRY]], agents=[Desk]) as talk:
            talk.call.user_said("A night")
            await asyncio.sleep(0.5)
            await talk.call.shared.apply(SetNights(nights=5), actor="page")
            await talk.until_turn()

            assert talk.call.state.nights == 5
            assert "version_conflict: This was decided on version 0" in talk.outputs[0]

    async def test_one_that_looks_again_writes_on_top(self) -> None:
        more = [made("one_more", looks_again=True, takes_s=seconds) for seconds in (1.0, 2.0)]
        replies: list[Reply] = [more, ["Two."]]
        async with Talk(replies, agents=[Desk]) as talk:
            await talk.user_says("A night, and a night")

            assert (talk.call.state.nights, talk.outputs) == (2, ["Booked.", "Booked."])

    async def test_its_own_writes_are_no_surprise_to_it(self) -> None:
        async with Talk([[made("one_more", times=3)], ["Three."]], agents=[Desk]) as talk:
            await talk.user_says("Three nights, one by one")

            assert (talk.call.state.nights, talk.outputs) == (3, ["Booked."])

    async def test_a_final_tool_follows_the_writes_of_its_own_reply_only(self) -> None:
        replies: list[Reply] = [[made("one_more_last"), made("set_nights", nights=3)], ["Four."]]
        async with Talk(replies, agents=[Desk]) as talk:
            await talk.user_says("Three nights and one")

            assert (talk.call.state.nights, sorted(talk.outputs)) == (4, ["Booked.", "Done."])

    async def test_the_row_says_which_turn_it_acts_on(self) -> None:
        async with Talk([[made("one_more")], ["One."]], agents=[Desk]) as talk:
            await talk.user_says("A night")

            assert [row.turn for row in talk.disk.rows] == [1]


class TestAConditionHoldsWhenItsHandoffIsWritten:
    @pytest.mark.parametrize("writer", ["page", "staff"])
    async def test_a_concurrent_write_of_another_counts_as_a_conflict(self, writer: str) -> None:
        async with Talk([[CONCIERGE], [SORRY]], agents=[Desk], stay=Stay(nights=2)) as talk:
            talk.disk.takes_s = 0.4
            talk.call.user_said("The theatre")
            if writer == "page":
                await talk.call.shared.apply(SetNights(nights=0), actor="page")
            else:  # beside us, under our hold: our own row finds its version taken
                row = Stay(nights=0).model_dump_json()
                talk.disk.others_write(row, touched=("nights",))
            await talk.until_turn()

            assert (talk.handoffs, talk.refused) == ([], ["refused"])
            assert "The guest has booked no night yet." in talk.shown()
            assert talk.call.speaker == "reception"

    async def test_it_is_asked_again_after_every_race_that_was_lost(self) -> None:
        asked: list[int] = []

        def condition(stay: Stay) -> Refused | None:
            asked.append(stay.nights)
            return None if stay.nights else Refused("No nights.")

        talk = Talk([], stay=Stay(nights=2))
        talk.disk.takes_s = 0.4
        writing = asyncio.create_task(
            talk.call.shared.apply(SetNights(nights=9), actor="page", provided=condition)
        )
        for nights in (1, 0):
            await asyncio.sleep(0.2)
            talk.disk.others_write(Stay(nights=nights).model_dump_json(), touched=("nights",))
            await asyncio.sleep(0.2)

        with pytest.raises(Refused, match="No nights"):
            await writing
        assert (asked, talk.call.state.nights) == ([2, 1, 0], 0)

    async def test_it_is_asked_of_the_state_before_the_change(self) -> None:
        shared = Talk([], stay=Stay(nights=1)).call.shared
        with pytest.raises(Refused, match="No nights"):
            await shared.apply(
                *(SetNights(nights=0), SetNights(nights=4)),
                actor="page",
                provided=lambda stay: Refused("No nights.") if stay.nights == 1 else None,
            )

        assert shared.state.nights == 1


class TestWhatIsToldOfAChange:
    @pytest.mark.parametrize("told", [None, "", "  ", 5, ["Booked."]])
    async def test_a_teller_without_words_leaves_the_change_done(self, told: Any) -> None:
        def tell(applied: Applied[Any], command: Any) -> Any:
            return told

        replies: list[Reply] = [[made("set_nights", nights=2)], ["Two."]]
        async with Talk(replies, agents=[Desk], describe_result=tell) as talk:
            await talk.user_says("Two nights")

            assert (talk.call.state.nights, talk.outputs, talk.said) == (2, ["Done."], ["Two."])

    @pytest.mark.parametrize("error", [SystemExit(1), asyncio.CancelledError(), NotAnError()])
    async def test_a_teller_that_fails_in_any_way_leaves_the_change_done(
        self, error: BaseException
    ) -> None:
        def tell(applied: Applied[Any], command: Any) -> str:
            raise error

        replies: list[Reply] = [[made("set_nights", nights=2)], ["Two."]]
        async with Talk(replies, agents=[Desk], describe_result=tell) as talk:
            await talk.user_says("Two nights")

            assert (talk.call.state.nights, talk.outputs, talk.said) == (2, ["Done."], ["Two."])

    @pytest.mark.parametrize(
        ("answer", "output"),
        [(None, "Done."), ("", "Done."), (object(), "Done."), (3, "3"), (["a"], "['a']")],
    )
    async def test_an_action_without_words_is_done(self, answer: object, output: str) -> None:
        Answers.answer = answer
        replies: list[Reply] = [[made("answers")], ["Done."]]
        async with Talk(replies, agents=[Desk]) as talk:
            await talk.user_says("Do it")

            assert (talk.outputs, talk.said) == ([output], ["Done."])

    async def test_no_request_holds_what_cannot_be_encoded(self) -> None:
        Answers.answer = "\ud83d"
        replies: list[Reply] = [
            *([made("answers")], ["One."]),
            *([made("odd_facts", which="half")], ["Two."]),
            *([made("set_nights", nights=2)], ["Three."]),
        ]
        async with Talk(
            replies,
            agents=[Desk],
            describe_result=lambda applied, command: "told \ud83d",
            digest=lambda stay, version: f"digest \ud83d {stay.nights}",
        ) as talk:
            for words in ("hi \ud83d", "again", "and again"):
                await talk.user_says(words)

            assert "hi \ufffd" in talk.shown()
            assert talk.shown().encode()
            assert len(talk.said) == 3


class TestOddErrors:
    @pytest.mark.parametrize("which", ["round", "keys", "no_text"])
    async def test_facts_that_json_cannot_write_are_left_out(self, which: str) -> None:
        async with Talk([[made("odd_facts", which=which)], [SORRY]], agents=[Desk]) as talk:
            await talk.user_says("A night")

            assert talk.outputs == ["Nothing was changed. refused: The house is full."]
            await talk.goes_on()

    @pytest.mark.parametrize(
        "call", [made("ends", how="exit"), made("ends", how="own"), made("ends_it")]
    )
    async def test_a_base_exception_ends_the_tool_and_nothing_else(self, call: Any) -> None:
        async with Talk([[call], [SORRY]], agents=[Desk]) as talk:
            await talk.user_says("A night")

            assert talk.outputs == ["Nothing was changed. internal: Something went wrong inside."]
            await talk.goes_on()


class TestGivenUp:
    async def test_an_abandoned_tool_changes_nothing_later(self) -> None:
        WriteInTheEnd.refusals = []
        async with Talk([[made("write_in_the_end")], [SORRY]], agents=[Desk]) as talk:
            await talk.user_says("A night")
            await asyncio.sleep(30)

            assert talk.outputs[0].startswith("Nothing was changed. timeout:")
            assert "may still happen" in talk.outputs[0]
            assert (talk.call.state.nights, len(WriteInTheEnd.refusals)) == (0, 1)
            await talk.goes_on()

    async def test_ending_the_call_beside_a_handoff_is_not_told_that_something_changed(
        self,
    ) -> None:
        replies: list[Reply] = [[BAR, made("end_call")], ["A beer?"]]
        async with Talk(replies, agents=[Desk]) as talk:
            await talk.user_says("A beer and goodbye")

            assert talk.handoffs == ["bar"]
            assert [text[:22] for text in talk.outputs] == ["Nothing was changed. a"]

    async def test_another_writer_is_still_reported(self) -> None:
        async with Talk([[made("wait_for_ever")], [SORRY]], agents=[Desk]) as talk:
            talk.call.user_said("Ask them")
            await asyncio.sleep(1.0)
            await talk.call.shared.apply(SetNights(nights=5), actor="page")
            await talk.until_turn()

            assert talk.outputs[0].startswith("It was not finished, and something has been changed")


class TestASlowDisk:
    """Half a second for each change."""

    async def test_twelve_changes_of_one_reply_are_all_made(self) -> None:
        replies: list[Reply] = [[made("add_nights", nights=1)] * 12, ["Twelve."]]
        async with Talk(replies, agents=[Desk]) as talk:
            talk.disk.takes_s = 0.5
            await talk.user_says("Twelve nights, one by one")

            assert (talk.call.state.nights, set(talk.outputs)) == (12, {"Done."})
            assert talk.said == ["Twelve."]

    async def test_a_handoff_beside_them_waits_for_all(self) -> None:
        replies: list[Reply] = [[CONCIERGE, *[made("add_nights", nights=1)] * 12], ["The theatre."]]
        async with Talk(replies, agents=[Desk]) as talk:
            talk.disk.takes_s = 0.5
            await talk.user_says("Twelve nights and the theatre")

            assert (talk.call.state.nights, talk.handoffs) == (12, ["concierge"])

    async def test_an_action_is_not_given_up_over_the_changes_of_others(self) -> None:
        replies: list[Reply] = [
            [*[made("add_nights", nights=1)] * 11, made("book_slowly")],
            ["Twelve."],
        ]
        async with Talk(replies, agents=[Desk]) as talk:
            talk.disk.takes_s = 0.5
            await talk.user_says("Eleven nights and one")

            assert (talk.call.state.nights, set(talk.outputs)) == (12, {"Done.", "Booked."})
