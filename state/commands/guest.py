"""Commands about the guest: name, contact, allergies, notes, feedback."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from state.commands.base import OrderCommand, ensure, not_found
from state.contact import ContactText, email_of, phone_of
from state.context import OrderContext
from state.order import Note, OrderState
from state.privacy.text import COMMENT, Comment, Line, Name, Paragraph, Words
from state.stages import can_annotate, can_give_feedback, can_order

NoteId = Annotated[Words, Field(description="The note's id.")]


class SetCustomer(OrderCommand):
    """Keep the guest's name, telephone number or e-mail address. Give only what the guest has said.

    A guest who would rather not say gives an empty text.
    """

    op: Literal["set_customer"] = "set_customer"
    demands_version: ClassVar[bool] = True
    touched: ClassVar[tuple[str, ...]] = ("customer",)

    name: Annotated[Name | None, Field(description="The name for the order.")] = None
    phone: Annotated[ContactText | None, Field(description="The telephone number, in digits.")] = (
        None
    )
    email: Annotated[
        ContactText | None, Field(description="The e-mail address, such as ada@example.com.")
    ] = None

    @model_validator(mode="after")
    def _says_something(self) -> "SetCustomer":
        if self.name is None and self.phone is None and self.email is None:
            raise ValueError("give a name, a phone or an email")
        return self

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Replace the given fields."""
        ensure(can_order(order))
        update: dict[str, str] = {}
        if self.name is not None:
            update["customer_name"] = self.name
        if self.phone is not None:
            update["phone"] = phone_of(self.phone, context.menu.restaurant) if self.phone else ""
        if self.email is not None:
            update["email"] = email_of(self.email) if self.email else ""
        return order.model_copy(update=update)


class AddAllergy(OrderCommand):
    """Write an allergy on the order, for the kitchen. Do it whenever the guest mentions one.

    It promises nothing: never say that a dish is safe.
    """

    op: Literal["add_allergy"] = "add_allergy"
    touched: ClassVar[tuple[str, ...]] = ()
    name: Annotated[
        Words, Field(description="What they must not have, in their own word: 'shrimp'.")
    ]

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Add it, unless it is noted already."""
        ensure(can_annotate(order))
        if self.name.casefold() in (allergy.casefold() for allergy in order.allergies):
            return order
        return order.model_copy(update={"allergies": (*order.allergies, self.name)})


class RemoveAllergy(OrderCommand):
    """Take an allergy off the order."""

    op: Literal["remove_allergy"] = "remove_allergy"
    touched: ClassVar[tuple[str, ...]] = ()
    name: Annotated[Words, Field(description="The allergy, as it stands on the order.")]

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Remove it."""
        ensure(can_annotate(order))
        name = self.name.casefold()
        left = tuple(allergy for allergy in order.allergies if allergy.casefold() != name)
        if left == order.allergies:
            not_found("allergy", self.name, [*order.allergies])
        return order.model_copy(update={"allergies": left})


class AddNote(OrderCommand):
    """Write a note to the restaurant that belongs to no dish, such as 'the bell is broken, please call'."""

    op: Literal["add_note"] = "add_note"
    touched: ClassVar[tuple[str, ...]] = ()
    title: Annotated[Words, Field(description="What it is about, in a few words.")]
    content: Annotated[Paragraph, Field(description="The note itself.")]

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Add it under a new id."""
        ensure(can_annotate(order))
        now = context.now()
        note = Note(
            id=context.new_id(),
            title=self.title,
            content=self.content,
            created_at=now,
            updated_at=now,
        )
        return order.model_copy(update={"notes": (*order.notes, note)})


class ChangeNote(OrderCommand):
    """Change a note. What you give replaces what was there."""

    op: Literal["change_note"] = "change_note"
    note_id: NoteId
    title: Annotated[Words | None, Field(description="The new title.")] = None
    content: Annotated[Paragraph | None, Field(description="The new text.")] = None

    @model_validator(mode="after")
    def _says_something(self) -> "ChangeNote":
        if self.title is None and self.content is None:
            raise ValueError("give a title or a content")
        return self

    def touches(self, state: OrderState) -> tuple[str, ...]:
        """Return this note."""
        return (f"notes/{_note(state, self.note_id).id}",)

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Replace the given fields."""
        ensure(can_annotate(order))
        note = _note(order, self.note_id)
        changed = note.model_copy(
            update={
                "title": self.title or note.title,
                "content": self.content or note.content,
                "updated_at": context.now(),
            }
        )
        notes = tuple(changed if there.id == note.id else there for there in order.notes)
        return order.model_copy(update={"notes": notes})


class RemoveNote(OrderCommand):
    """Take a note off the order."""

    op: Literal["remove_note"] = "remove_note"
    note_id: NoteId

    def touches(self, state: OrderState) -> tuple[str, ...]:
        """Return this note."""
        return (f"notes/{_note(state, self.note_id).id}",)

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Remove it."""
        ensure(can_annotate(order))
        note = _note(order, self.note_id)
        return order.model_copy(
            update={"notes": tuple(there for there in order.notes if there.id != note.id)}
        )


class GiveFeedback(OrderCommand):
    """Keep what the guest says about the evening, once the order is placed.

    The rating is the guest's own number; never work one out from their words.
    """

    op: Literal["give_feedback"] = "give_feedback"
    rating: Annotated[
        int | None,
        Field(strict=True, ge=1, le=5, description="Stars from 1 to 5, as the guest gave them."),
    ] = None
    comment: Annotated[
        Comment | None, Field(description="The guest's own words, added to earlier ones.")
    ] = None

    @model_validator(mode="after")
    def _says_something(self) -> "GiveFeedback":
        if self.rating is None and self.comment is None:
            raise ValueError("give a rating or a comment")
        return self

    def touches(self, state: OrderState) -> tuple[str, ...]:
        """Return the rating, if it changes; a comment is only added to earlier ones."""
        return ("feedback",) if self.rating is not None else ()

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Replace the rating; add the comment to earlier ones."""
        ensure(can_give_feedback(order))
        update: dict[str, object] = {}
        if self.rating is not None:
            update["feedback_rating"] = self.rating
        if self.comment is not None:
            said = (
                f"{order.feedback_comment}\n{self.comment}"
                if order.feedback_comment
                else self.comment
            )
            update["feedback_comment"] = said[:COMMENT]
        return order.model_copy(update=update)


class CallPerson(OrderCommand):
    """Ask for a member of staff: when the guest wants a person, or when you cannot help them."""

    op: Literal["call_person"] = "call_person"
    touched: ClassVar[tuple[str, ...]] = ()
    reason: Annotated[Line, Field(description="Why, in a few words for the staff.", min_length=1)]

    def change(self, order: OrderState, context: OrderContext) -> OrderState:
        """Set the flag that staff see."""
        return order.model_copy(update={"person_wanted": True, "person_reason": self.reason})


def _note(order: OrderState, note_id: str) -> Note:
    for note in order.notes:
        if note.id == note_id:
            return note
    not_found("note", note_id, [note.id for note in order.notes])
