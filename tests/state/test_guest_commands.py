"""What is known of the guest: name, contact, allergies, notes, feedback, the wish for a person."""

from typing import Any

import pytest
from pydantic import ValidationError

from state.commands import (
    AddAllergy,
    AddNote,
    CallPerson,
    ChangeNote,
    GiveFeedback,
    MarkAnswered,
    RemoveAllergy,
    RemoveNote,
    SetCustomer,
)
from state.errors import NotFound, NotValid, WrongStage
from state.order import Stage
from tests.state.bistro import Bistro


def test_a_name_is_kept_as_it_was_said() -> None:
    assert (
        Bistro().order(SetCustomer(name="  Ada  🍕 \n Lovelace ")).customer_name
        == "Ada 🍕 Lovelace"
    )


def test_one_thing_said_leaves_the_others_alone() -> None:
    order = Bistro().order(SetCustomer(name="Ada"), SetCustomer(phone="212 555 0142"))

    assert (order.customer_name, order.phone, order.email) == ("Ada", "+12125550142", None)


def test_a_guest_who_declines_to_give_a_name_has_answered() -> None:
    order = Bistro().order(SetCustomer(name="", phone="", email=""))

    assert (order.customer_name, order.phone, order.email) == ("", "", "")


@pytest.mark.parametrize(
    "phone",
    [
        "(212) 555-0142",
        "+1 212 555 0142",
        "1-212-555-0142",
        "two one two, five five five, oh one four two",
        "212.555.0142",
    ],
)
def test_a_telephone_number_is_kept_in_one_form(phone: str) -> None:
    assert Bistro().order(SetCustomer(phone=phone)).phone == "+12125550142"


def test_a_foreign_number_keeps_its_country() -> None:
    assert Bistro().order(SetCustomer(phone="+49 1512 3456789")).phone == "+4915123456789"


@pytest.mark.parametrize(
    ("phone", "why"),
    [
        ("123", "too_short"),
        ("555-0142", "too_short"),
        ("2125550142212555", "too_long"),
        ("my cat", "not_a_number"),
        ("0000000000", "not_a_number"),
        ("4242 4242 4242 4242", "not_a_number"),
    ],
)
def test_an_invalid_telephone_number_is_asked_for_again(phone: str, why: str) -> None:
    with pytest.raises(NotValid) as refused:
        Bistro().order(SetCustomer(phone=phone))

    assert refused.value.facts == {"field": "phone", "why": why}
    assert phone not in refused.value.message


@pytest.mark.parametrize(
    ("email", "kept"),
    [
        ("ada@example.com", "ada@example.com"),
        ("Ada@EXAMPLE.com", "Ada@example.com"),
        ("ada dot lovelace at example dot com", "ada.lovelace@example.com"),
    ],
)
def test_an_email_address_is_kept(email: str, kept: str) -> None:
    assert Bistro().order(SetCustomer(email=email)).email == kept


@pytest.mark.parametrize("email", ["a@b@c", "ada", "ada@", "ada at home", "ada@example"])
def test_an_invalid_email_address_is_asked_for_again(email: str) -> None:
    with pytest.raises(NotValid) as refused:
        Bistro().order(SetCustomer(email=email))

    assert refused.value.facts == {"field": "email", "why": "not_an_address"}


@pytest.mark.parametrize(
    "fields",
    [{}, {"name": "x" * 300}, {"name": 5}, {"email": "x" * 300}, {"name": None, "phone": None}],
)
def test_an_invalid_customer_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SetCustomer.model_validate(fields)


@pytest.mark.parametrize(
    "name", ["'; DROP TABLE orders;--", "{{7*7}}", "<script>alert(1)</script>"]
)
def test_a_strange_name_is_a_name(name: str) -> None:
    assert Bistro().order(SetCustomer(name=name)).customer_name == name


def test_an_allergy_is_on_the_order_once() -> None:
    order = Bistro().order(
        AddAllergy(name="Nuts"), AddAllergy(name="nuts "), AddAllergy(name="milk")
    )

    assert order.allergies == ("Nuts", "milk")


def test_an_allergy_is_taken_off_in_any_case_of_its_letters() -> None:
    bistro = Bistro()
    order = bistro.order(AddAllergy(name="Nuts"), AddAllergy(name="milk"))

    order = bistro.after(order, RemoveAllergy(name=" nuts"))
    assert order.allergies == ("milk",)
    with pytest.raises(NotFound) as refused:
        bistro.after(order, RemoveAllergy(name="nuts"))
    assert refused.value.facts == {"kind": "allergy", "id": "nuts", "possible": ["milk"]}


def test_notes_carry_ids_and_times() -> None:
    bistro = Bistro()
    order = bistro.order(AddNote(title="Bell", content="It is broken.\nPlease call."))
    note = order.notes[0]
    assert (note.id, note.title, note.content) == ("id-1", "Bell", "It is broken.\nPlease call.")
    assert note.created_at == note.updated_at == bistro.now

    created = bistro.now
    bistro.wait(minutes=2)
    order = bistro.after(order, ChangeNote(note_id="id-1", content="It works again."))
    note = order.notes[0]
    assert (note.title, note.content) == ("Bell", "It works again.")
    assert (note.created_at, note.updated_at) == (created, bistro.now)

    assert bistro.after(order, RemoveNote(note_id="id-1")).notes == ()


def test_a_note_that_is_gone_is_not_found() -> None:
    bistro = Bistro()
    order = bistro.order(AddNote(title="Bell", content="broken"), RemoveNote(note_id="id-1"))

    for command in (RemoveNote(note_id="id-1"), ChangeNote(note_id="id-1", title="Door")):
        with pytest.raises(NotFound) as refused:
            bistro.after(order, command)
        assert refused.value.facts["kind"] == "note"
        with pytest.raises(NotFound):
            command.touches(order)


@pytest.mark.parametrize(
    "command",
    [
        lambda: AddNote(title="", content="x"),
        lambda: AddNote(title="x", content=" \u200b "),
        lambda: AddNote(title="x", content="x" * 281),
        lambda: ChangeNote(note_id="id-1"),
        lambda: AddAllergy(name=""),
        lambda: RemoveAllergy(name=""),
        lambda: CallPerson(reason=""),
    ],
)
def test_an_empty_or_endless_text_is_refused(command: Any) -> None:
    with pytest.raises(ValidationError):
        command()


def test_a_note_can_still_be_made_while_the_kitchen_works() -> None:
    bistro = Bistro()
    order = bistro.order().model_copy(update={"stage": Stage.PREPARING})

    assert bistro.after(order, AddAllergy(name="nuts")).allergies == ("nuts",)
    with pytest.raises(WrongStage):
        bistro.after(
            order.model_copy(update={"stage": Stage.COMPLETED}), AddNote(title="a", content="b")
        )


def test_feedback_takes_the_last_rating_and_adds_comments() -> None:
    bistro = Bistro()
    order = bistro.order().model_copy(update={"stage": Stage.PLACED})

    order = bistro.after(
        order,
        GiveFeedback(rating=3, comment="Slow."),
        GiveFeedback(rating=5),
        GiveFeedback(comment="Friendly!"),
    )

    assert (order.feedback_rating, order.feedback_comment) == (5, "Slow.\nFriendly!")


def test_an_endless_comment_is_cut() -> None:
    bistro = Bistro()
    order = bistro.order().model_copy(update={"stage": Stage.PLACED})

    order = bistro.after(order, GiveFeedback(comment="x" * 5000), GiveFeedback(comment="y"))

    assert order.feedback_comment == "x" * 1000


@pytest.mark.parametrize("rating", [0, 6, 4.5, "5", "ten", True])
def test_a_rating_is_one_to_five(rating: Any) -> None:
    with pytest.raises(ValidationError):
        GiveFeedback(rating=rating)
    with pytest.raises(ValidationError):
        GiveFeedback()


@pytest.mark.parametrize("stage", [Stage.OPEN, Stage.CONFIRMED, Stage.CANCELLED, Stage.FAILED])
def test_feedback_is_given_once_the_order_is_placed(stage: Stage) -> None:
    bistro = Bistro()

    with pytest.raises(WrongStage):
        bistro.after(bistro.order().model_copy(update={"stage": stage}), GiveFeedback(rating=5))


@pytest.mark.parametrize("stage", list(Stage))
def test_a_person_can_be_called_at_any_time(stage: Stage) -> None:
    bistro = Bistro()

    order = bistro.after(
        bistro.order().model_copy(update={"stage": stage}), CallPerson(reason="lost")
    )

    assert (order.person_wanted, order.person_reason, order.stage) == (True, "lost", stage)


@pytest.mark.parametrize("stage", list(Stage))
def test_a_call_for_a_person_is_answered_once_at_any_time(stage: Stage) -> None:
    bistro = Bistro()
    order = bistro.order().model_copy(update={"stage": stage})
    called = bistro.after(order, CallPerson(reason="lost"))

    answered = bistro.after(called, MarkAnswered())

    assert (answered.person_wanted, answered.person_reason) == (False, None)
    assert answered.stage == stage
    assert bistro.after(answered, MarkAnswered()) == answered


def test_a_note_s_parts_are_changed_one_by_one_and_others_stay() -> None:
    bistro = Bistro()
    order = bistro.order(
        AddNote(title="Bell", content="It is broken."), AddNote(title="Dog", content="It barks.")
    )

    order = bistro.after(order, ChangeNote(note_id="id-1", title="Door"))
    order = bistro.after(order, ChangeNote(note_id="id-2", content="It bites."))

    assert [(note.title, note.content) for note in order.notes] == [
        ("Door", "It is broken."),
        ("Dog", "It bites."),
    ]
