"""What guests say beside their dishes: that it is right, that it is all, who they are, where, and what they tip."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bella_vista.local.english import ask
from bella_vista.local.understanding.meaning import LineSeen, OrderSeen
from bella_vista.local.understanding.understander import Understander
from bella_vista.menus import menu_file
from state.menu import load_menu

MENU = load_menu(menu_file(None))
UNDERSTANDER = Understander(MENU)
NOW = datetime(2026, 11, 20, 19, tzinfo=MENU.restaurant.zone)


def wishes(text: str, expects: str | None = None) -> list[dict[str, Any]]:
    understood = UNDERSTANDER.understand(text, expects=expects, now=NOW)
    return [draft.as_dict() for draft in understood.commands]


def intents(text: str, expects: str | None = None) -> tuple[str, ...]:
    return UNDERSTANDER.understand(text, expects=expects, now=NOW).intents


@pytest.mark.parametrize(
    "text",
    [
        *("Yes, all of that is right.", "spot on", "right now its right", "the rest is right"),
        *("that all sounds good to me", "yes, the whole order is correct", "exactly as it is"),
    ],
)
def test_agreement_is_said_in_many_words(text: str) -> None:
    assert {"yes", "right"} <= {*intents(text, "yes_no")}


@pytest.mark.parametrize(
    "text",
    [
        *("good grief that is expensive", "it sure is pricey", "perfect, with extra cheese"),
        *("yeah let me think", "yes but make it two", "right, and a blorg"),
    ],
)
def test_a_remark_or_a_change_is_no_yes_to_the_reading(text: str) -> None:
    assert "right" not in intents(text, "yes_no")


@pytest.mark.parametrize(
    "text", ["is that right", "is all of that right?", "that is not all right"]
)
def test_a_question_or_a_no_is_no_agreement(text: str) -> None:
    assert "right" not in intents(text, "yes_no")


def test_right_now_is_a_time_where_a_time_was_asked_for() -> None:
    assert "right" not in intents("right now", "time")


@pytest.mark.parametrize(
    "text",
    [
        *("that's all for tomorrow", "ok so that's all we need", "No, that's the whole order."),
        *("and an oj that's everything it's for pickup", "and a cola, that's all I think"),
    ],
)
def test_that_is_all_is_said_in_many_words(text: str) -> None:
    assert "done" in intents(text)


def test_all_the_cheese_ends_no_order() -> None:
    assert "done" not in intents("that is all the cheese i want")


@pytest.mark.parametrize(
    ("text", "tip"),
    [
        ("Add a dollar tip", {"amount": 100}),
        ("the middle one", {"percentage": 18}),
        ("go ahead without one", {"percentage": 0}),
    ],
)
def test_a_tip_is_said_in_many_words(text: str, tip: dict[str, int]) -> None:
    assert wishes(text, "amount") == [{"op": "set_tip", **tip}]


def test_a_percentage_beside_a_way_of_paying_is_a_tip() -> None:
    assert wishes("Card, ten percent, please.") == [
        {"op": "choose_payment", "method": "card"},
        {"op": "set_tip", "percentage": 10},
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hi, I'm calling to order some dinner", None),
        ("good evening, Walter here again, I want to order", "Walter"),
    ],
)
def test_who_calls(text: str, name: str | None) -> None:
    named = [one["name"] for one in wishes(text) if one["op"] == "set_customer"]
    assert named == ([name] if name else [])


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("48 East 7th Street, the postcode is 10003", "48 East 7th Street, 10003"),
        ("48 East 7th Street zip code 10003", "48 East 7th Street, 10003"),
        ("deliver to 48 East 7th Street. The postcode is 10003.", "48 East 7th Street, 10003"),
    ],
)
def test_a_postcode_that_is_announced_belongs_to_its_street(text: str, address: str) -> None:
    assert wishes(text) == [{"op": "set_fulfilment", "kind": "delivery", "address": address}]


def test_an_allergy_in_a_note_is_an_allergy() -> None:
    assert wishes("Please note on the ticket that I am allergic to fish and shellfish.") == [
        {"op": "add_allergy", "name": "fish"},
        {"op": "add_allergy", "name": "shellfish"},
    ]


def test_a_note_beside_an_allergy_stays() -> None:
    said = "please put a note that my son is allergic to peanuts and call when you arrive"
    assert {one["op"] for one in wishes(said)} == {"add_allergy", "add_note"}


@pytest.mark.parametrize("text", ["Is this Bella Vista?", "is this the Bella Vista restaurant?"])
def test_guests_ask_whether_they_have_the_right_house(text: str) -> None:
    answers = UNDERSTANDER.understand(text, now=NOW).answers
    assert [(one.kind, one.subject) for one in answers] == [("facts", "name")]


def test_what_is_put_on_a_dish_is_a_question() -> None:
    answers = UNDERSTANDER.understand("What do you put on the calzone?", now=NOW).answers
    assert [(one.kind, one.subject) for one in answers] == [("contents", "Calzone")]


@pytest.mark.parametrize("text", ["no garlic knots", "No drinks", "no dessert for me today"])
def test_what_nobody_ordered_is_declined(text: str) -> None:
    understood = UNDERSTANDER.understand(text, now=NOW)
    assert (understood.commands, understood.intents) == ((), ("no",))


@pytest.mark.parametrize("text", ["no cheese", "no onions"])
def test_what_lies_on_a_dish_is_left_off_and_not_declined(text: str) -> None:
    assert "no" not in intents(text)


@pytest.mark.parametrize(
    ("text", "expects", "wish"),
    [
        ("Make it fifteen percent", "amount", {"op": "set_tip", "percentage": 15}),
        ("give them ten percent", "yes_no", {"op": "set_tip", "percentage": 10}),
        ("june park", "name", {"op": "set_customer", "name": "June Park"}),
        ("Yolanda, with a Y", "name", {"op": "set_customer", "name": "Yolanda"}),
        ("collect", None, {"op": "set_fulfilment", "kind": "pickup"}),
    ],
)
def test_one_wish(text: str, expects: str | None, wish: dict[str, Any]) -> None:
    assert wishes(text, expects) == [wish]


def test_a_name_that_sounds_like_a_drink_is_a_name() -> None:
    kebab = load_menu(Path(__file__).parents[2] / "menus" / "kebab.yaml")
    commands = Understander(kebab).understand("pick up, Malte", now=NOW).commands
    assert [(one.op, one.fields.get("name")) for one in commands] == [
        ("set_fulfilment", None),
        ("set_customer", "Malte"),
    ]


@pytest.mark.parametrize(
    ("text", "expects", "address"),
    [
        ("delivery to 22 The Headrow, 10012", None, "22 The Headrow, 10012"),
        (
            "It's 270 Lafayette Street, 8th floor, 10012",
            "address",
            "270 Lafayette Street, 8th floor, 10012",
        ),
        (
            "Can I get this delivered to 8 Wellington Street, 10012?",
            None,
            "8 Wellington Street, 10012",
        ),
        (
            "perfect, Calle de Fernando el Católico 12, 10012 please",
            None,
            "Calle de Fernando el Católico 12, 10012",
        ),
        ("Address is 15 Mott Street, apartment 2C", "address", "15 Mott Street, apartment 2C"),
    ],
)
def test_addresses(text: str, expects: str | None, address: str) -> None:
    assert wishes(text, expects)[-1].get("address") == address


def test_a_wish_to_be_written_is_a_note() -> None:
    (note,) = wishes("Please write happy birthday on the box")
    assert (note["op"], note["content"]) == ("add_note", "write happy birthday on the box")


@pytest.mark.parametrize(
    ("text", "expects", "wish"),
    [
        ("card when he comes", "choice", {"op": "choose_payment", "method": "card"}),
        ("Card, sorry, cash, I meant cash", "choice", {"op": "choose_payment", "method": "cash"}),
        ("I'll pass on the tip", "amount", {"op": "set_tip", "percentage": 0}),
        ("Patrick O'Neill", "name", {"op": "set_customer", "name": "Patrick O'Neill"}),
        ("its for manny", "name", {"op": "set_customer", "name": "Manny"}),
        ("surname's Okafor", None, {"op": "set_customer", "name": "Okafor"}),
    ],
)
def test_one_wish_and_nothing_to_ask(text: str, expects: str | None, wish: dict[str, Any]) -> None:
    understood = UNDERSTANDER.understand(text, expects=expects, now=NOW)
    assert [draft.as_dict() for draft in understood.commands] == [wish]
    assert understood.question is None


@pytest.mark.parametrize("text", ["okay, done", "alright thats all folks", "no that's it sorry"])
def test_an_end_may_begin_with_any_word(text: str) -> None:
    assert "done" in intents(text)


def test_fifteen_is_minutes_where_somebody_is_there_in_fifteen() -> None:
    (wish,) = wishes("ill be there in 15")
    assert (wish["kind"], wish["when"]) == ("pickup", "2026-11-20T19:15:00-05:00")


@pytest.mark.parametrize(
    ("text", "ops", "address"),
    [
        (
            "2 lg margs deliv 140 sullivan st 10012",
            ["add_item", "set_fulfilment"],
            "140 sullivan st 10012",
        ),
        (
            "delivery for 415 South Berendo Street 10012 name Hyun",
            ["set_fulfilment", "set_customer"],
            "415 South Berendo Street 10012",
        ),
        ("sure it's 301 Bowery apartment 5", ["set_fulfilment"], "301 Bowery apartment 5"),
        (
            "one lasagna to Pannierstraße 30 10012",
            ["add_item", "set_fulfilment"],
            "Pannierstraße 30 10012",
        ),
    ],
)
def test_an_address_beside_other_things(text: str, ops: list[str], address: str) -> None:
    made = wishes(text)
    assert [one["op"] for one in made] == ops
    assert [one["address"] for one in made if "address" in one] == [address]


LASAGNA = OrderSeen(items=(LineSeen("L1", 1, "Lasagna"),))


def upon_a_lasagna(text: str, expects: str | None = None) -> list[dict[str, Any]]:
    understood = UNDERSTANDER.understand(text, order=LASAGNA, expects=expects, now=NOW)
    return [draft.as_dict() for draft in understood.commands]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("you can put Jonas", "Jonas"), ("just Alex is fine", "Alex"), ("Jo", "Jo")),
        *(("the Johnson family", "Johnson"), ("make it out to Sandra", "Sandra")),
        *(("Lena, like I said", "Lena"), ("Ana Paula de Souza", "Ana Paula de Souza")),
        ("you can use my first name, Mia", "Mia"),
    ],
)
def test_a_name_is_given_in_many_words_where_it_was_asked_for(text: str, name: str) -> None:
    assert upon_a_lasagna(text, "name too") == [{"op": "set_customer", "name": name}]


@pytest.mark.parametrize("text", ["the other one", "asdf qwer zxcv", "large", "in a minute"])
def test_what_else_is_said_to_that_is_no_name(text: str) -> None:
    assert all("name" not in one for one in upon_a_lasagna(text, "name too"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("order for jamal 1 lasagna", "Jamal"), ("lasagna pickup deb", "Deb")),
        *(("nina will pick it up", "Nina"), ("pickup at 7 for nina", "Nina")),
        *(
            ("good evening, it's mrs. baker, one lasagna", "Mrs Baker"),
            ("change the name to Nina", "Nina"),
        ),
        ("pick up order under the name of Silva, one lasagna", "Silva"),
        ("this is annika berg i'd like a lasagna", "Annika Berg"),
    ],
)
def test_a_name_is_told_by_what_stands_beside_it(text: str, name: str) -> None:
    named = [one["name"] for one in wishes(text) if one["op"] == "set_customer"]
    assert [one.casefold() for one in named] == [name.casefold()]


@pytest.mark.parametrize(
    "text",
    [
        *("this is ridiculous and late", "pickup asap", "a dr pepper", "to go, tonight"),
        *("pickup please, cancel that", "under twenty dollars"),
    ],
)
def test_what_only_stands_like_a_name_is_none(text: str) -> None:
    assert not [one for one in wishes(text) if one["op"] == "set_customer"]


@pytest.mark.parametrize(
    "text",
    [
        *("for Tom a lasagna", "Priya wants a lasagna", "and Tom said a lasagna"),
        *("and a lasagna for Ben", "for Tom the same", "another one for lucy"),
    ],
)
def test_who_else_gets_a_dish_is_neither_a_dish_nor_the_guest(text: str) -> None:
    understood = UNDERSTANDER.understand(text, order=LASAGNA, now=NOW)
    assert [draft.as_dict() for draft in understood.commands] == [
        {"op": "add_item", "name": "Lasagna", "quantity": 1}
    ]
    assert (understood.question, understood.not_understood) == (None, ())


@pytest.mark.parametrize(
    ("text", "expects", "wanted"),
    [
        ("eight", "fulfilment", []),
        ("8 is fine", "fulfilment", []),
        ("card, 15", "choice", [("choose_payment", "card"), ("set_tip", 15)]),
        ("the card again", "choice", [("choose_payment", "card")]),
        ("pickup, no rush, 10 is fine", None, [("set_fulfilment", "pickup")]),
    ],
)
def test_a_number_is_no_food_where_something_else_was_asked(
    text: str, expects: str | None, wanted: list[tuple[str, Any]]
) -> None:
    said = [(one.pop("op"), next(iter(one.values()))) for one in upon_a_lasagna(text, expects)]
    assert sorted(said, key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize(
    ("text", "expects", "at"),
    [
        ("pickup, make it 10", "fulfilment", "22:00"),
        ("I'll get it in about an hour and a half", None, "20:30"),
        ("my son will get it around 8:45", None, "20:45"),
        ("pickup half an hour from now", None, "19:30"),
        ("pickup at half nine", None, "21:30"),
        ("around 8 would be good, pickup", None, "20:00"),
    ],
)
def test_times_of_a_pickup(text: str, expects: str | None, at: str) -> None:
    (wish,) = upon_a_lasagna(text, expects)
    assert (wish["op"], wish["kind"], wish["when"][11:16]) == ("set_fulfilment", "pickup", at)


@pytest.mark.parametrize(
    ("text", "expects", "wish"),
    [
        ("the lowest one", "amount", {"op": "set_tip", "percentage": 15}),
        ("the highest", "amount", {"op": "set_tip", "percentage": 20}),
        ("I'll tip the driver in cash", "amount", {"op": "set_tip", "percentage": 0}),
        ("zero percent", "amount", {"op": "set_tip", "percentage": 0}),
        ("not tonight", "amount", {"op": "set_tip", "percentage": 0}),
        ("add five dollars for the driver", "amount", {"op": "set_tip", "amount": 500}),
        ("tap my phone", "choice", {"op": "choose_payment", "method": "card"}),
        ("I'd rather pay in cash", "choice", {"op": "choose_payment", "method": "cash"}),
        ("one of us is celiac", None, {"op": "add_allergy", "name": "celiac"}),
        (
            "no nuts anywhere please, my son is allergic",
            None,
            {"op": "add_allergy", "name": "nuts"},
        ),
        ("I don't do well with lactose", None, {"op": "add_allergy", "name": "lactose"}),
    ],
)
def test_what_is_said_beside_the_food(text: str, expects: str | None, wish: dict[str, Any]) -> None:
    assert upon_a_lasagna(text, expects) == [wish]


def test_a_list_of_allergies_is_noted() -> None:
    noted = [one["name"] for one in upon_a_lasagna("allergies: peanuts and sesame")]
    assert noted == ["peanuts", "sesame"]


@pytest.mark.parametrize(
    "text",
    [
        *("can you include plastic cutlery", "and please add napkins and forks"),
        *("please don't ring the bell", "the driver should use the side entrance"),
        "can you ask the kitchen to cut it in small pieces?",
    ],
)
def test_what_the_house_is_asked_to_do_is_a_note(text: str) -> None:
    assert [one["op"] for one in upon_a_lasagna(text)] == ["add_note"]


def test_what_somebody_is_allergic_to_is_left_off_where_it_is() -> None:
    said = UNDERSTANDER.understand("a caesar salad no anchovies cuz im allergic", now=NOW).commands
    assert [(one.op, one.fields.get("modifications")) for one in said] == [
        ("add_item", ["no anchovies"]),
        ("add_allergy", None),
    ]


def test_something_else_may_stand_behind_an_address() -> None:
    said = "120 East 4th Street, Apt 9, New York, NY 10003, and ring the bell"
    assert upon_a_lasagna(said, "fulfilment")[0]["address"].endswith("Apt 9, New York, NY 10003")


@pytest.mark.parametrize("text", ["do the lasagna", "well do the lasagna and a tiramisu"])
def test_do_begins_an_order_too(text: str) -> None:
    assert [one["op"] for one in wishes(text)][0] == "add_item"


@pytest.mark.parametrize(
    ("text", "dish"),
    [("tiramisu have eggs", "Tiramisu"), ("the lasagna got gluten in it", "Lasagna")],
)
def test_a_question_may_lack_its_first_word(text: str, dish: str) -> None:
    understood = UNDERSTANDER.understand(text, now=NOW)
    assert [(one.kind, one.subject) for one in understood.answers] == [("allergens", dish)]
    assert understood.commands == ()


def test_what_another_is_asked_is_no_order() -> None:
    said = "one calzone babe do you want the garlic bread or the knots okay one garlic knots"
    ordered = [one["name"] for one in wishes(said) if one["op"] == "add_item"]
    assert ordered == ["Calzone", "Garlic knots"]


def test_a_part_of_a_combo_is_named_again_with_how_it_is_to_be() -> None:
    menu = load_menu(Path(__file__).parents[2] / "menus" / "peruvian.yaml")
    understander, now = Understander(menu), datetime(2026, 11, 20, 19, tzinfo=menu.restaurant.zone)
    asked = understander.understand("the menu pollo", now=now).question
    said = "quarter chicken with yuca, the causa and an inca kola"
    (command,) = understander.understand(said, pending=asked, now=now).commands

    assert command.fields["name"] == "Menú pollo"
    assert [dict(part) for part in command.fields["parts"]] == [
        {"name": "Pollo a la brasa", "size": "quarter", "modifications": ["yuca fries"]},
        {"name": "Causa limeña"},
        {"name": "Inca Kola"},
    ]


def test_a_name_without_a_greeting_is_a_name_before_a_pickup() -> None:
    said = wishes("it's kenji for pickup, a tiramisu")
    assert said[0] == {"op": "set_customer", "name": "Kenji"}
    assert [one["op"] for one in said] == ["set_customer", "set_fulfilment", "add_item"]


@pytest.mark.parametrize(
    "text",
    [
        *("I have a code, welcome ten", "my code is W-E-L-C-O-M-E-10", "can I use welcome10"),
        *("code welcome one zero", "the welcome ten coupon please", "w e l c o m e 1 0"),
    ],
)
def test_a_code_is_said_or_spelled(text: str) -> None:
    assert upon_a_lasagna(text) == [{"op": "apply_coupon", "code": "WELCOME10"}]


def test_a_code_is_spelt_otherwise_and_its_number_is_not() -> None:
    assert upon_a_lasagna("the code neighbour5") == [{"op": "apply_coupon", "code": "NEIGHBOR5"}]
    assert upon_a_lasagna("the code neighbor 6") == []


@pytest.mark.parametrize(
    "text",
    [
        *("is there anyone I can talk to", "could you have a person call me"),
        "can you put me through to the restaurant",
    ],
)
def test_a_person_is_asked_for(text: str) -> None:
    assert [one["op"] for one in upon_a_lasagna(text)] == ["call_person"]


def test_a_wish_that_hangs_on_an_answer_waits_for_it() -> None:
    said = "is the tiramisu with eggs? if not, one please"
    understood = UNDERSTANDER.understand(said, now=NOW)
    assert [one.kind for one in understood.answers] == ["contents"]
    assert understood.commands == ()
    assert [one["op"] for one in wishes("do you have tiramisu? if so, one please")] == ["add_item"]


def test_what_is_not_on_the_menu_takes_no_part_in_the_next_change() -> None:
    menu = load_menu(Path(__file__).parents[2] / "menus" / "coffee-bar.yaml")
    understander, now = Understander(menu), datetime(2026, 11, 20, 9, tzinfo=menu.restaurant.zone)
    order = OrderSeen(
        items=(
            LineSeen("L1", 1, "Caffè latte", "grande", ("oat",)),
            LineSeen("L2", 1, "Cappuccino", "tall", ("shot",)),
        )
    )
    asked = understander.understand("and a frobnicator", order=order, now=now).question
    said = "and can the oat one be iced?"
    understood = understander.understand(said, pending=asked, order=order, now=now)

    assert [draft.as_dict() for draft in understood.commands] == [
        {"op": "change_item", "line_id": "L1", "modifications": ["oat", "iced"]}
    ]


def test_what_something_is_swapped_for_is_no_guest() -> None:
    order = OrderSeen(
        items=(LineSeen("L1", 1, "Gelato", None, ("scoop of vanilla", "scoop of chocolate")),)
    )
    said = "swap the chocolate for stracciatella"
    (command,) = UNDERSTANDER.understand(said, order=order, now=NOW).commands
    assert command.fields["modifications"] == ["scoop of vanilla", "scoop of stracciatella"]


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("pickup saturday the 5th of december at 1pm", "2026-12-05T13:00:00-05:00"),
        ("pickup saturday, december 5 at noon", "2026-12-05T12:00:00-05:00"),
        ("pickup on the 2nd, at 6 pm", "2026-12-02T18:00:00-05:00"),
        ("pickup the 24th of november at 6pm", "2026-11-24T18:00:00-05:00"),
        ("pickup tomorrow at 6pm", "2026-11-21T18:00:00-05:00"),
    ],
)
def test_a_date_beside_its_day_of_the_week_is_that_date(text: str, when: str) -> None:
    assert wishes(text) == [{"op": "set_fulfilment", "kind": "pickup", "when": when}]


@pytest.mark.parametrize(
    ("text", "name"), [("s o o dash j i n", "Soo-Jin"), ("it is A N N hyphen L I", "Ann-Li")]
)
def test_a_hyphen_is_spelled_within_a_name(text: str, name: str) -> None:
    assert wishes(text, "name") == [{"op": "set_customer", "name": name}]


@pytest.mark.parametrize(
    "text",
    [
        "can you make sure the driver doesn't ring, baby sleeping",
        "tell the driver not to ring the bell",
        "could you ask the courier to knock",
    ],
)
def test_what_the_driver_is_asked_is_noted(text: str) -> None:
    assert wishes(text) == [{"op": "add_note", "title": "At the door", "content": text}]


@pytest.mark.parametrize("text", ["half a lasagna", "half lasagna half margherita, large"])
def test_halves_of_dishes_are_refused_in_words_that_say_why(text: str) -> None:
    question = UNDERSTANDER.understand(text, now=NOW).question

    assert question is not None
    assert "comes whole, not in halves" in ask(question)
