"""The model that follows a file of rules, in conversations of the hotel."""

from pathlib import Path
from typing import Literal

import pytest
from livekit.agents.llm import ChatContext, ChatMessage
from pydantic import BaseModel, Field

from agents.handoff import STILL_RUNNING, Call, Graph, HandedOver, Handoff
from agents.handoff.carry import note
from agents.handoff.tool_use import CUT_OFF
from agents.testing import Conversation, Rules, RulesError, RulesLLM, load_rules
from agents.testing.rules import LOST
from state.shared import SharedState
from tests.agents import hotel
from tests.agents.hotel import AddNights, Stay, can_go_out

RULES = r"""
reception:
  - say: Good evening!
  - pattern: 'i am (?P<name>(?-i:[A-Z]\w+))(?: (?P<more>indeed))?'
    calls: [{name: set_guest, arguments: {name: "{name}"}}]
    say: "Thank you, {name}{more}."
  - pattern: '(?P<nights>\d+) nights and out'
    calls:
      - {name: add_nights, arguments: {nights: 2}}
      - {name: transfer_to_concierge}
  - pattern: '\d+ nights'
    calls: [{name: add_nights, arguments: {nights: 40}}]
  - pattern: out
    calls: [{name: transfer_to_concierge}]
  - pattern: price
    calls: [{name: ask_rate}]
    say: "{output} Good?"
  - pattern: twice
    calls: [{name: ask_rate}, {name: ask_rate}]
  - pattern: hello
    say: Hello!
  - pattern: spend
    calls: [{name: no_such_tool}]
  - refused: refused
    say: "First this: {needs}."
concierge:
  - calls: [{name: telephone}]
    say: "Where to? {output}"
  - pattern: weather
    say: It rains.
  - pattern: tosca
    calls: [{name: buy_ticket, arguments: {show: Tosca}}]
    say: Tosca it is.
  - pattern: bye
    calls: [{name: end_call}]
    say: Goodbye!
"""


class Reception(hotel.Reception):
    prompt = "You are the Reception; the Concierge sells tickets."


class Concierge(hotel.Concierge):
    prompt = "You are the concierge, and no reception."


def rules_of(folder: Path, text: str) -> Rules:
    file = folder / "rules.yaml"
    file.write_text(text, encoding="utf-8")
    return load_rules(file)


@pytest.fixture
def model(tmp_path: Path) -> RulesLLM:
    return RulesLLM(rules_of(tmp_path, RULES))


def call_of(stay: Stay | None = None, *, speaker: str | None = None) -> Call[Stay, None]:
    graph = Graph(
        (Reception, Concierge),
        (
            Handoff(
                "reception",
                "concierge",
                when="At once.",
                condition=can_go_out,
                satisfied_by=(AddNights,),
            ),
        ),
        start="reception",
    )
    return Call(SharedState(stay or Stay(), None, speaker=speaker), graph)


async def test_a_rule_calls_its_tool_with_the_words_found_and_speaks_after_it(
    model: RulesLLM,
) -> None:
    async with Conversation(call_of(), model) as talk:
        turn = await talk.user_says("Hello, I am Ada")

    assert talk.greeting.said == ["Good evening!"]
    assert turn.said == ["Thank you, Ada."]
    assert talk.state.guest == "Ada"


async def test_the_first_rule_that_applies_is_taken(model: RulesLLM) -> None:
    async with Conversation(call_of(), model) as talk:
        turn = await talk.user_says("hello, what is the price?")

    assert turn.said == ["A night is 120 euros. Good?"]


async def test_without_words_of_its_own_a_rule_says_what_its_tools_answered(
    model: RulesLLM,
) -> None:
    async with Conversation(call_of(), model) as talk:
        turn = await talk.user_says("twice, please")

    assert turn.said == ["A night is 120 euros. A night is 120 euros."]


@pytest.mark.parametrize(
    ("instructions", "said"),
    [
        ("You are the loan desk, beside the reception.", "Which book?"),
        ("You are loan_desk.", "Which book?"),
        ("You are the reception, beside the loan desk.", "Good evening!"),
        (
            "You lend books.",
            "My rules are for reception, loan_desk, and my instructions name none of these agents.",
        ),
    ],
)
def test_the_rules_are_those_of_the_agent_that_the_instructions_name_first(
    tmp_path: Path, instructions: str, said: str
) -> None:
    rules = rules_of(
        tmp_path, "reception: [{say: 'Good evening!'}]\nloan_desk: [{say: 'Which book?'}]"
    )
    context = ChatContext([ChatMessage(role="system", content=[instructions])])

    _, step = RulesLLM(rules).step(context, [], {})

    assert step.say == said


async def test_the_model_says_when_no_rule_applies(model: RulesLLM) -> None:
    async with Conversation(call_of(), model) as talk:
        lost = await talk.user_says("sing me a song")
        not_offered = await talk.user_says("spend it")

    assert (lost.said, not_offered.said) == ([LOST], [LOST])
    assert not_offered.tools == []


EXAMPLES = r"""
reception:
  - say: Good evening!
  - pattern: 'name is (?P<name>\w+)'
    say: "{name}, how many nights?"
    example: My name is Ada
  - pattern: '(?P<nights>\d+) nights'
    calls: [{name: set_guest, arguments: {name: "{name}"}}]
    say: "{nights} nights for {name}."
    example: 2 nights
  - pattern: spend
    calls: [{name: no_such_tool}]
    example: spend it
  - pattern: bye
    say: Goodbye!
    example: bye
"""


async def test_when_no_rule_applies_two_examples_are_named_first_those_not_said_yet(
    tmp_path: Path,
) -> None:
    async with Conversation(call_of(), RulesLLM(rules_of(tmp_path, EXAMPLES))) as talk:
        first = await talk.user_says("sing me a song")
        await talk.user_says("my name is Ada")
        second = await talk.user_says("sing me a song")

    assert first.said == [f'{LOST} You can say, for example, "My name is Ada" or "2 nights".']
    assert second.said == [f'{LOST} You can say, for example, "2 nights" or "bye".']


async def test_what_a_rule_without_calls_has_found_is_known_later(tmp_path: Path) -> None:
    async with Conversation(call_of(), RulesLLM(rules_of(tmp_path, EXAMPLES))) as talk:
        asked = await talk.user_says("my name is Ada")
        done = await talk.user_says("2 nights")

    assert asked.said == ["Ada, how many nights?"]
    assert done.said == ["2 nights for Ada."]
    assert [tool.arguments for tool in done.tools] == [{"name": "Ada"}]


async def test_the_second_of_two_commands_for_one_part_is_refused_as_a_version_conflict(
    tmp_path: Path,
) -> None:
    rules = r"""
reception:
  - say: Good evening!
  - pattern: '(?P<first>\w+) and (?P<more>\w+) here'
    calls:
      - {name: set_guest, arguments: {name: "{first}"}}
      - {name: set_guest, arguments: {name: "{more}"}}
    say: All noted.
  - refused: version_conflict
    say: I have noted the first. Could you say the rest again?
"""
    async with Conversation(call_of(), RulesLLM(rules_of(tmp_path, rules))) as talk:
        turn = await talk.user_says("Ada and Bob here")

    assert turn.said == ["I have noted the first. Could you say the rest again?"]
    assert [tool.is_error for tool in turn.tools] == [False, True]
    assert turn.refused == []
    assert talk.state.guest == "Ada"


async def test_a_refusal_is_said_by_its_code_or_as_it_is(model: RulesLLM) -> None:
    async with Conversation(call_of(), model) as talk:
        handoff = await talk.user_says("I want to go out")
        command = await talk.user_says("99 nights")

    assert handoff.said == ["First this: nights."]
    assert command.tools[0].is_error
    assert command.said == ["nights: has to be at most 14"]


async def test_the_next_agent_opens_or_acts_on_what_was_said(model: RulesLLM) -> None:
    async with Conversation(call_of(), model) as talk:
        opened = await talk.user_says("2 nights and out")
        last = await talk.user_says("bye")
    async with Conversation(call_of(Stay(nights=1)), model) as acts:
        acted = await acts.user_says("Out, to Tosca")
    async with Conversation(call_of(Stay(nights=1)), model) as chats:
        chatted = await chats.user_says("Out, whatever the weather")
        weather = await chats.user_says("The weather?")
    async with Conversation(call_of(Stay(), speaker="concierge"), model) as opens:
        greeted = opens.greeting

    assert (opened.handoffs, opened.said) == (
        [("reception", "concierge")],
        ["Where to? The theatre has seats."],
    )
    assert last.said == ["Goodbye!"]
    assert last.ended is not None
    assert (acted.said, acts.state.tickets) == (["Tosca it is."], ("Tosca",))
    assert (chatted.said, weather.said) == (["Where to? The theatre has seats."], ["It rains."])
    assert greeted.said == ["Where to? "]


async def test_a_user_who_has_reconnected_hears_the_agents_last_words_instead_of_the_opening(
    tmp_path: Path,
) -> None:
    returning = "  - returning: true\n    say: Welcome back. {last}\n"
    model = RulesLLM(rules_of(tmp_path, RULES.replace("reception:\n", f"reception:\n{returning}")))

    async with Conversation(call_of(), model) as talk:
        await talk.user_says("I am Ada")
        await talk.call.come_back()
        await talk.call.answered()
        await talk.call.come_back()
        await talk.call.answered()
        heard = [
            item.text_content for item in talk.call.session.history.items if item.type == "message"
        ]

    assert heard[0] == talk.greeting.said[0]
    assert heard[-3:] == ["Thank you, Ada.", *2 * ["Welcome back. Thank you, Ada."]]


async def test_each_message_of_several_is_acted_on(model: RulesLLM) -> None:
    async with Conversation(call_of(), model) as talk:
        talk.user_says_nowait("I am Ada")
        talk.user_says_nowait("hello")
        await talk.answered()

    assert talk.state.guest == "Ada"
    assert "Hello!" in talk.turns[-1].said[-1]


async def test_refusals_of_several_messages_are_each_said_once(model: RulesLLM) -> None:
    async with Conversation(call_of(), model) as talk:
        for text in ("99 nights", "50 nights", "out"):
            talk.user_says_nowait(text)
        await talk.answered()
        turn = talk.turns[-1]

    assert [tool.is_error for tool in turn.tools] == [True, True]
    assert turn.refused[0].reason == "sibling_failed"
    assert turn.said == ["nights: has to be at most 14"]


async def test_two_models_of_rules_in_one_conversation_act_once_each(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, RULES)
    own = {"concierge": RulesLLM(rules)}
    stay = Stay(nights=1)
    async with Conversation(call_of(stay), RulesLLM(rules), llm_by_agent=own) as talk:
        for text in (
            "hello",
            "I am Ada",
            "out",
        ):  # its call is the third reply, as that of "Tosca" is
            await talk.user_says(text)
        turn = await talk.user_says("Tosca")

    assert [tool.name for tool in turn.tools] == ["buy_ticket"]
    assert turn.said == ["Tosca it is."]
    assert talk.state.tickets == ("Tosca",)


class Evening(BaseModel):
    """What the reception tells the concierge."""

    show: str
    seats: int = Field(ge=1, le=8)
    day: str | None = None
    wishes: tuple[str, ...] = ()
    price: dict[str, int] = Field(default_factory=dict)


WITH_ARGUMENTS = r"""
reception:
  - say: Good evening!
  - pattern: '(?P<seats>\d+) for (?P<show>\w+)(?: on (?P<day>\w+))?(?:, (?P<wish>\w+))?'
    calls:
      - name: transfer_to_concierge
        arguments:
          {show: "{show}", seats: "{seats}", day: "{day}", wishes: ["{wish}", quiet], price: {most: "{seats}0"}}
  - refused: not_valid
    say: "That is not possible: {message}"
concierge:
  - say: "{seats} for {show}{day}, {wishes}: in which row?"
  - pattern: 'row (?P<row>\d+)'
    calls: [{name: buy_ticket, arguments: {show: "{show}, row {row}"}}]
    say: "{show} it is, in row {row}."
"""


def with_arguments(folder: Path) -> tuple[Call[Stay, None], RulesLLM]:
    graph = Graph(
        (Reception, Concierge),
        (Handoff("reception", "concierge", when="At once.", arguments=Evening),),
        start="reception",
    )
    return Call(SharedState(Stay(), None), graph), RulesLLM(rules_of(folder, WITH_ARGUMENTS))


async def test_a_rule_fills_the_arguments_of_a_handoff_and_the_next_agent_uses_them(
    tmp_path: Path,
) -> None:
    async with Conversation(*with_arguments(tmp_path)) as talk:
        turn = await talk.user_says("3 for Tosca, balcony")
        bought = await talk.user_says("in row 4")

    assert turn.handoffs == [("reception", "concierge")]
    (handed,) = [event for event in turn.events if isinstance(event, HandedOver)]
    assert {name: value for name, value in handed.arguments.items() if value is not None} == {
        **{"show": "Tosca", "seats": 3, "wishes": ["balcony", "quiet"]},
        "price": {"most": 30},
    }
    assert turn.said == ["3 for Tosca, balcony, quiet: in which row?"]
    assert talk.state.tickets == ("Tosca, row 4",)
    assert bought.said == ["Tosca it is, in row 4."]


WITH_UNKNOWN_NAMES = r"""
reception:
  - pattern: nights
    calls: [{name: set_guest, arguments: {name: Ada}}, {name: add_night}]
  - pattern: more
    calls: [{name: add_nights, arguments: {night: 2}}]
  - pattern: out
    calls: [{name: transfer_to_concierge, arguments: {show: Tosca, row: 4}}]
conciergerie:
  - say: Where to?
"""


def test_names_that_the_graph_does_not_have_are_faults_with_their_lines(tmp_path: Path) -> None:
    graph = with_arguments(tmp_path)[0].graph
    file = tmp_path / "rules.yaml"
    file.write_text(WITH_UNKNOWN_NAMES, encoding="utf-8")

    with pytest.raises(RulesError) as found:
        load_rules(file, graph)

    tool, argument, of_handoff, agent = found.value.faults
    assert tool.startswith(
        "rules.yaml:4: reception 1 calls 2 name: reception has no tool add_night, only set_guest, "
    )
    assert argument == (
        "rules.yaml:6: reception 2 calls 1 arguments night: add_nights has no argument night; "
        "it has nights"
    )
    assert of_handoff == (
        "rules.yaml:8: reception 3 calls 1 arguments row: transfer_to_concierge has no argument row; "
        "it has day, price, seats, show, wishes"
    )
    assert agent == (
        "rules.yaml:10: conciergerie: there is no such agent; the agents are reception, concierge"
    )
    file.write_text(WITH_ARGUMENTS, encoding="utf-8")
    assert [*load_rules(file, graph)] == ["reception", "concierge"]


class Coming(BaseModel):
    """What the reception tells the concierge."""

    show: str
    when: Literal["tonight", "tomorrow"]


class Mute(hotel.Concierge):
    prompt = "You help the reception."


WITH_MISSPELT_NAMES = r"""
reception:
  - say: Good evening!
  - pattern: 'for (?P<show>\w+)'
    calls: [{name: transfer_to_concierge, arguments: {show: "{shoe}", when: tonigth}}]
  - pattern: 'i am (?P<name>\w+)'
    say: "Hello {name}."
  - pattern: 'who am i'
    say: "You are {name}."
  - pattern: 'for (?P<show>\w+) (?P<day>\w+)'
    calls: [{name: transfer_to_concierge, arguments: {show: "{show}", when: "{day}"}}]
  - refused: not_valid
    say: "{field} is wrong."
concierge:
  - say: "{show}, {wen}?"
"""


def test_what_no_pattern_or_handoff_names_and_no_argument_can_be_is_a_fault(tmp_path: Path) -> None:
    handoff: Handoff[Stay] = Handoff("reception", "concierge", when="At once.", arguments=Coming)
    graph = Graph((Reception, Mute), (handoff,), start="reception")
    file = tmp_path / "rules.yaml"
    file.write_text(WITH_MISSPELT_NAMES, encoding="utf-8")

    with pytest.raises(RulesError) as found:
        load_rules(file, graph)

    assert found.value.faults == (
        'rules.yaml:4: reception 2: nothing is called {shoe} here - did you mean "show"?',
        "rules.yaml:5: reception 2 calls 1 arguments when: has to be one of tonight, tomorrow",
        "rules.yaml:15: concierge: the instructions of concierge name reception first, so its rules"
        " are not found",
        'rules.yaml:15: concierge 1: nothing is called {wen} here - did you mean "when"?',
    )


async def test_arguments_of_a_handoff_that_do_not_fit_are_refused_as_a_tools_are(
    tmp_path: Path,
) -> None:
    async with Conversation(*with_arguments(tmp_path)) as talk:
        turn = await talk.user_says("9 for Tosca on Friday")

    assert turn.handoffs == []
    assert turn.said == ["That is not possible: seats: has to be at most 8"]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("- say: [", ["rules.yaml:2: "]),
        ("reception: Hello", ["reception: has to be a list"]),
        (
            "reception:\n- {pattern: '(', say: a}\n- {calls: [{name: b}]}\n- pattern: c\n- saay: d",
            [
                "rules.yaml:2: reception 1 pattern: has to be a valid regular expression",
                "rules.yaml:3: reception 2: a rule without a pattern says something",
                "rules.yaml:4: reception 3: a rule says or calls something",
                "rules.yaml:5: reception 4 saay: there is no such field here",
            ],
        ),
        ("reception: [{say: a}]\nreception: [{say: b}]", ['rules.yaml:2: "reception"']),
        (
            "reception: [{pattern: a, refused: b, say: c}]",
            ["rules.yaml:1: reception 1: a rule has only one of pattern, refused and returning"],
        ),
        (
            "reception: [{returning: true, calls: [{name: b}], say: c}]",
            [
                "rules.yaml:1: reception 1: a rule with refused or returning says something and calls"
            ],
        ),
    ],
)
def test_faulty_rules_are_refused_with_every_place(
    tmp_path: Path, text: str, faults: list[str]
) -> None:
    with pytest.raises(RulesError) as refused:
        rules_of(tmp_path, text)

    assert [fault for fault in faults if fault not in str(refused.value)] == []


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ('Nothing was changed. refused: Not today. {"needs": ["a", "b"]}', "First this: a, b."),
        ("Nothing was changed. closed: We have {no} time. {x}", "We have {no} time. {x}"),
        ("Not handed over. other: Later.", "Later."),
        ("The plan: Basic. Rows: 3", "The plan: Basic. Rows: 3"),
        ("Two seats.", "Two seats."),
    ],
)
def test_a_refusal_is_told_from_any_other_result(model: RulesLLM, output: str, said: str) -> None:
    result = ChatMessage(role="assistant", content=[f"(telephone: {output})"])
    instructions = ChatMessage(role="system", content=["You are the Reception."])

    _, step = model.step(ChatContext([instructions, result]), [], {})

    assert (step.say, step.calls) == (said, ())


def test_a_tool_that_still_runs_is_no_result(model: RulesLLM) -> None:
    instructions = ChatMessage(role="system", content=["You are the reception."])
    running = ChatMessage(role="assistant", content=[f"(telephone: {STILL_RUNNING})"])

    _, step = model.step(ChatContext([instructions, running]), [], {})

    assert STILL_RUNNING not in (step.say or "")


def test_a_tool_that_was_cut_off_is_named_and_nothing_said_is_meant_for_the_model(
    model: RulesLLM,
) -> None:
    instructions = ChatMessage(role="system", content=["You are the reception."])
    lost = note("ask_supplier", CUT_OFF.format(asked="ask supplier"))

    _, step = model.step(ChatContext([instructions, lost]), [], {})

    assert step.say == "It is not known how ask supplier ended: we were cut off meanwhile."
