"""Whole conversations at the front desk. The model is played; everything else is real."""

import logging
from pathlib import Path

import pytest

from agents.testing import (
    Conversation,
    RulesLLM,
    ScriptedLLM,
    calls,
    load_rules,
    says,
)
from examples.clinic.commands import Identify, SetReason
from examples.clinic.desk import DESK, digest
from examples.clinic.tests.kit import ADA, MARY, TUESDAY, WEDNESDAY, Front
from examples.clinic.visit import ClinicState, Insurance
from state.shared import SharedState, SqlStore

RULES = Path(__file__).parents[1] / "rules.yaml"


async def test_a_patient_books_through_all_four_agents(front: Front) -> None:
    model = ScriptedLLM(
        [
            says("Hello, this is the automatic assistant. Your name and date of birth?"),
            calls(("identify", ADA)),
            says("Thank you. What brings you to us?"),
            calls(("set_reason", {"reason": "toothache"}), "transfer_to_scheduling"),
            calls("find_slots"),
            says("Monday at 9:00 or at 9:30?"),
            calls(("choose_slot", {"slot": "2026-11-24T09:30"})),
            says("Tuesday at 9:30. Shall I book it?"),
            calls("book_visit"),
            says("It is booked. Anything else?"),
            calls("transfer_to_insurance"),
            says("Your member number?"),
            calls(("check_insurance", {"member_id": "M4411"})),
            says("You are covered."),
            calls("transfer_back"),
            says("Anything else?"),
            calls("transfer_to_survey"),
            calls("send_text"),
            says("May I send you a text message?"),
            calls("send_text"),
            says("It is on its way. From one to five, how was this call?"),
            calls(("rate", {"rating": 5}), "end_call"),
            says("Thank you, goodbye!"),
        ]
    )

    async with Conversation(front.call(), model) as talk:
        await talk.user_says("Ada Lovelace, born December 10, 1990")
        await talk.user_says("I have a toothache")
        await talk.user_says("Tuesday at half past nine?")
        await talk.user_says("Yes")
        await talk.user_says("Will my insurance pay?")
        await talk.user_says("M4411")
        front.insurer.answers.set()
        await talk.results_told()
        await talk.user_says("Thanks")
        await talk.user_says("That is all")
        await talk.user_says("Yes, please")
        last = await talk.user_says("Five")

    visit = talk.state
    assert (visit.stage, visit.slot, visit.reason) == ("booked", TUESDAY, "toothache")
    assert visit.insurance is not None
    assert visit.insurance.plan == "Dental Basic"
    assert (visit.text_sent, visit.rating) == (TUESDAY, 5)
    assert last.ended is not None


@pytest.mark.parametrize("agent", ["reception", "scheduling", "insurance"])
async def test_bye_ends_the_call_with_every_agent(front: Front, agent: str) -> None:
    words = {"scheduling": ["check-up", "312 555 0199"], "insurance": ["about my insurance"]}

    async with Conversation(front.call(), RulesLLM(load_rules(RULES, DESK))) as talk:
        await talk.user_says("Hello, I am Mary Shelley, born 1997-08-30")
        for said in words.get(agent, []):
            await talk.user_says(said)
        assert talk.call.speaker == agent
        last = await talk.user_says("bye")

    assert last.said == ["Thank you for calling. Goodbye!"]
    assert last.ended is not None


async def test_a_name_without_the_date_of_birth_is_kept_and_the_date_asked_for(
    front: Front,
) -> None:
    async with Conversation(front.call(), RulesLLM(load_rules(RULES, DESK))) as talk:
        asked = await talk.user_says("my name is Mary Shelley")
        wrong = await talk.user_says("30/8/1997")
        await talk.user_says("1997-08-30")

    assert asked.said == ["Thank you, Mary Shelley. And your date of birth, like 1990-12-10?"]
    assert wrong.said == ["Could you say the date of birth like 1990-12-10, please?"]
    assert talk.state.patient is not None
    assert talk.state.patient.name == "Mary Shelley"


async def test_what_the_desk_names_as_an_example_is_what_its_rules_take(front: Front) -> None:
    async with Conversation(front.call(), RulesLLM(load_rules(RULES, DESK))) as talk:
        await talk.user_says("I am Ana Diaz, born 1990-12-10")
        lost = await talk.user_says("let me think")

    assert talk.state.patient is not None
    assert lost.said[0].endswith(
        'You can say, for example, "I have a toothache" or "Where are you?".'
    )


async def test_the_model_without_a_key_follows_a_whole_visit(front: Front) -> None:
    model = RulesLLM(load_rules(RULES, DESK))

    async with Conversation(front.call(), model) as talk:
        await talk.user_says("Hello, I am Mary Shelley, born 1997-08-30")
        asked = await talk.user_says("My tooth hurts")
        offered = await talk.user_says("312 555 0199")
        await talk.user_says("Tuesday at 9:30")
        await talk.user_says("yes")
        await talk.user_says("does my insurance pay?")
        insured = await talk.user_says("it is m4411")
        front.insurer.answers.set()
        await talk.results_told()
        await talk.user_says("thanks")
        consent = await talk.user_says("that is all")
        await talk.user_says("yes")
        await talk.user_says("5")
        last = await talk.user_says("bye")

    assert asked.said == ["I need this first: phone. Could you tell me?"]
    assert "Monday, November 23 at 9:00" in offered.said[0]
    assert insured.said == [
        "I am asking your insurer; this can take up to half a minute.",
        "Covered by Dental Basic.",
    ]
    assert consent.said == ["May I send you a text message with your appointment?"]
    assert len(front.messages.sent) == 1
    assert (talk.state.slot, talk.state.rating) == (TUESDAY, 5)
    assert last.ended is not None


async def test_a_handoff_without_a_phone_number_is_refused_and_what_was_said_stays(
    front: Front,
) -> None:
    model = ScriptedLLM(
        [
            says("Your name?"),
            calls(
                ("identify", MARY),
                ("set_reason", {"reason": "cleaning"}),
                "transfer_to_scheduling",
            ),
            says("Under which number can we reach you?"),
            calls(("set_phone", {"phone": "312 555 0199"}), "transfer_to_scheduling"),
            says("On which day?"),
        ]
    )

    async with Conversation(front.call(), model) as talk:
        refused = await talk.user_says("Mary Shelley, 30 August 1997, a cleaning please")
        handed = await talk.user_says("312 555 0199")

    assert [one.reason for one in refused.refused] == ["not_ready"]
    assert '"missing": ["phone"]' in model.requests[2].texts[-1][1]
    assert handed.handoffs == [("reception", "scheduling")]
    assert talk.state.reason == "cleaning"


async def test_a_returning_patient_is_not_asked_for_a_phone_number(front: Front) -> None:
    model = ScriptedLLM(
        [
            says("Your name?"),
            calls(
                ("identify", ADA), ("set_reason", {"reason": "check_up"}), "transfer_to_scheduling"
            ),
            says("On which day?"),
        ]
    )

    async with Conversation(front.call(), model) as talk:
        turn = await talk.user_says("Ada Lovelace, 10 December 1990, a check-up")

    assert turn.handoffs == [("reception", "scheduling")]
    assert talk.state.patient is not None
    assert talk.state.patient.returning


async def test_a_slot_that_another_visit_takes_meanwhile_is_refused(front: Front) -> None:
    model = ScriptedLLM(
        [
            says("On which day?"),
            calls(("choose_slot", {"slot": "tuesday 9:30"})),
            says("Tuesday at 9:30. Shall I book it?"),
            calls("book_visit"),
            says("That one has just been taken. Tuesday at 10:00?"),
        ]
    )

    async with Conversation(front.call(front.ready(), agent="scheduling"), model) as talk:
        await talk.user_says("Tuesday at 9:30")
        await front.another_context().calendar.take(TUESDAY, "another visit")
        turn = await talk.user_says("Yes")

    (booking,) = turn.tools
    assert booking.is_error
    assert "slot_taken" in booking.output
    assert "Monday, November 23 at 9:00" in booking.output
    assert talk.state.slot is None


async def test_the_talk_goes_on_while_the_insurer_takes_its_time(front: Front) -> None:
    state = front.after(Identify(**ADA), SetReason(reason="check_up"))
    model = ScriptedLLM(
        [
            says("Your member number?"),
            calls(("check_insurance", {"member_id": "m 4411"})),
            calls("ask_clinic"),
            says("We are at 12 Maple Street."),
            says("You are covered by Dental Basic."),
        ]
    )

    async with Conversation(front.call(state, agent="insurance"), model) as talk:
        asked = await talk.user_says("M 4411")
        meanwhile = await talk.user_says("Where are you?")
        assert talk.state.insurance is None
        front.insurer.answers.set()
        await talk.results_told()

    assert asked.said == ["I am asking your insurer; this can take up to half a minute."]
    assert meanwhile.said == ["We are at 12 Maple Street.", "You are covered by Dental Basic."]
    assert [turn.turn for turn in meanwhile.your_turns] == [2, 2]
    assert ("assistant", "(check_insurance: Covered by Dental Basic.)") in (
        model.requests[-1].texts
    )
    assert talk.state.insurance == Insurance(member_id="M4411", plan="Dental Basic")
    assert len(front.insurer.keys) == 1


@pytest.mark.parametrize(
    ("answer", "fault", "words"),
    [
        (None, None, "The insurer knows no such member."),
        ("Dental Basic", ConnectionError("secret"), "unavailable: The insurer cannot be reached"),
    ],
)
async def test_the_patient_is_told_if_the_insurer_knows_no_such_member_or_fails(
    front: Front, answer: str | None, fault: Exception | None, words: str
) -> None:
    front.insurer.answer, front.insurer.fault = answer, fault
    model = ScriptedLLM(
        [
            says("Your member number?"),
            calls(("check_insurance", {"member_id": "M4411"})),
            says("I am sorry."),
        ]
    )

    async with Conversation(front.call(front.ready(), agent="insurance"), model) as talk:
        turn = await talk.user_says("M4411")
        front.insurer.answers.set()
        await talk.results_told()

    assert turn.said[-1] == "I am sorry."
    assert words in model.requests[-1].texts[-2][1]
    assert not any("secret" in text for _, text in model.requests[-1].texts)
    assert (talk.state.insurance is None) == (fault is not None)


def booked(front: Front) -> ClinicState:
    return front.ready().model_copy(update={"slot": TUESDAY})


async def test_no_message_is_sent_before_the_patient_has_agreed(front: Front) -> None:
    model = ScriptedLLM(
        [
            says("Hello."),
            calls("send_text", "send_text"),
            says("May I send you a text message?"),
            says("No message, then."),
        ]
    )

    async with Conversation(front.call(booked(front), agent="survey"), model) as talk:
        asked = await talk.user_says("That is all")
        await talk.user_says("No")

    assert all(tool.is_error and "not_answered" in tool.output for tool in asked.tools)
    assert front.messages.asked == 0
    assert talk.state.text_sent is None


async def test_a_message_is_sent_once(front: Front) -> None:
    model = ScriptedLLM(
        [
            says("Hello."),
            calls("send_text"),
            says("May I send you a text message?"),
            calls("send_text", "send_text"),
            says("Sent."),
            calls("send_text"),
            says("It has been sent already."),
        ]
    )

    async with Conversation(front.call(booked(front), agent="survey"), model) as talk:
        await talk.user_says("That is all")
        await talk.user_says("Yes")
        await talk.user_says("Did you send it?")

    (message,) = front.messages.sent.values()
    assert message == (
        "3125550199",
        "Maple Street Dental: your appointment is on Tuesday, November 24 at 9:30.",
    )
    assert talk.state.text_sent == TUESDAY


async def test_a_message_that_cannot_be_sent_is_told_and_can_be_tried_again(front: Front) -> None:
    front.messages.fault = ConnectionError("secret")
    model = ScriptedLLM(
        [
            says("Hello."),
            calls("send_text"),
            says("May I?"),
            calls("send_text"),
            says("Not sent."),
            calls("send_text"),
            says("Sent."),
        ]
    )

    async with Conversation(front.call(booked(front), agent="survey"), model) as talk:
        await talk.user_says("That is all")
        failed = await talk.user_says("Yes")
        assert talk.state.text_sent is None
        front.messages.fault = None
        await talk.user_says("Try again")

    assert failed.tools[0].output == (
        "Nothing was changed. unavailable: The message could not be sent. Say so."
    )
    assert len(front.messages.sent) == 1
    assert talk.state.text_sent == TUESDAY


async def test_a_visit_that_was_moved_is_announced_anew(front: Front) -> None:
    moved = front.ready().model_copy(update={"slot": WEDNESDAY, "text_sent": TUESDAY})
    model = ScriptedLLM(
        [says("Hello."), calls("send_text"), says("May I?"), calls("send_text"), says("Sent.")]
    )

    async with Conversation(front.call(moved, agent="survey"), model) as talk:
        await talk.user_says("That is all")
        await talk.user_says("Yes")

    assert talk.state.text_sent == WEDNESDAY


async def test_a_slot_is_not_booked_in_the_turn_that_chose_it(front: Front) -> None:
    model = ScriptedLLM(
        [
            says("On which day?"),
            calls(("choose_slot", {"slot": "tuesday 9:30"}), "book_visit"),
            says("Tuesday at 9:30. Shall I book it?"),
            calls("book_visit"),
            says("Booked."),
        ]
    )

    async with Conversation(front.call(front.ready(), agent="scheduling"), model) as talk:
        chosen = await talk.user_says("Tuesday at 9:30")
        await talk.user_says("Yes")

    assert "not_answered" in chosen.tools[1].output
    assert talk.state.slot == TUESDAY


async def test_no_card_number_is_kept_shown_or_logged(
    front: Front, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model = ScriptedLLM(
        [
            says("Your name?"),
            calls(("identify", {**MARY, "name": "Mary 4242 4242 4242 4242 Shelley"})),
            says("Thank you. I have noted 4242 4242 4242 4242."),
        ]
    )
    file = front.folder / "visits.db"

    async with SqlStore(f"sqlite:///{file}", owner="clinic", schema=1) as store:
        visit = await SharedState.open(store, "visit-1", front.after(), front.context)
        async with front.conversation(state=visit, model=model) as talk:
            turn = await talk.user_says("Mary Shelley. Bill 4242 4242 4242 4242 for it.")

    assert turn.heard == ["Mary Shelley. Bill [card] for it."]
    everything = [
        *(text for request in model.requests for _, text in request.texts),
        *map(repr, talk.events),
        caplog.text,
        *(path.read_bytes().decode("latin-1") for path in front.folder.iterdir()),
    ]
    assert not any("42424242" in text.replace(" ", "") for text in everything)


async def test_name_birth_date_and_phone_reach_no_model_by_the_state(
    front: Front, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model = ScriptedLLM([says("On which day?"), calls("find_slots"), says("Monday?")])
    secrets = ("Mary", "Shelley", "1997-08-30", "3125550199")

    async with Conversation(front.call(front.ready(), agent="scheduling"), model) as talk:
        await talk.user_says("When can I come?")

    shown = [text for request in model.requests for _, text in request.texts]
    assert not any(secret in text for text in (*shown, caplog.text) for secret in secrets)
    assert digest(front.ready(), 3) == (
        '{"stage": "open", "patient": "new", "phone_known": true, "reason": "cleaning"}'
    )


async def test_a_tool_that_breaks_changes_nothing_and_the_call_goes_on(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(type(front.context), "known", broken)
    model = ScriptedLLM(
        [
            says("Your name?"),
            calls(("identify", ADA), "transfer_to_scheduling"),
            says("I could not note that. And why do you come?"),
            calls(("set_reason", {"reason": "other"})),
            says("Noted."),
        ]
    )

    async with Conversation(front.call(), model) as talk:
        turn = await talk.user_says("Ada Lovelace, 10 December 1990")
        await talk.user_says("Something else")

    assert turn.tools[0].is_error
    assert "secret" not in turn.tools[0].output
    assert turn.handoffs == []
    assert (talk.state.patient, talk.state.reason) == (None, "other")


async def test_the_page_is_told_what_kind_of_answer_is_expected(front: Front) -> None:
    asked = [
        (front.after(), "reception"),
        (front.ready(), "reception"),
        (front.ready().model_copy(update={"wanted": TUESDAY}), "scheduling"),
        (booked(front), "survey"),
        (booked(front).model_copy(update={"text_sent": TUESDAY}), "survey"),
    ]
    expected: list[str] = []
    for state, agent in asked:
        async with Conversation(front.call(state, agent=agent), ScriptedLLM([says("Well?")])) as it:
            expected += [turn.expects for turn in it.greeting.your_turns]

    assert expected == ["name", "open", "yes_no", "yes_no", "rating"]


async def test_every_request_says_which_day_it_is(front: Front) -> None:
    model = ScriptedLLM([says("Your name?"), says("Good morning.")])

    async with Conversation(front.call(), model) as talk:
        front.clock.advance(hours=24)
        await talk.user_says("Hello")

    instructions = [request.texts[0][1] for request in model.requests]
    assert instructions[0].startswith("You are Reception at Maple Street Dental.")
    assert [text.rpartition("Today is ")[2] for text in instructions] == [
        "Sunday, 2026-11-22.",
        "Monday, 2026-11-23.",
    ]


async def test_reception_tells_scheduling_when_the_patient_wants_to_come(front: Front) -> None:
    model = ScriptedLLM(
        [
            says("Your name?"),
            calls(("transfer_to_scheduling", {"when": "Tuesday morning"})),
            says("Tuesday at 9:00?"),
        ]
    )

    async with Conversation(front.call(front.ready()), model) as talk:
        await talk.user_says("A cleaning, on Tuesday morning")

    assert ("assistant", '(handed_over: {"when": "Tuesday morning"})') in model.requests[-1].texts


@pytest.mark.parametrize("source", ["reception", "scheduling"])
async def test_insurance_hands_back_to_the_agent_that_asked(front: Front, source: str) -> None:
    model = ScriptedLLM(
        [
            says("Hello."),
            calls("transfer_to_insurance"),
            says("Your member number?"),
            calls("transfer_back"),
            says("What else?"),
        ]
    )

    async with Conversation(front.call(front.ready(), agent=source), model) as talk:
        await talk.user_says("Will my insurance pay?")
        turn = await talk.user_says("Never mind")

    assert turn.handoffs == [("insurance", source)]
