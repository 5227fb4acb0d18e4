"""The house as staff set it while calls run: read by the rules, changed over HTTP."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.app.live import LiveSettings
from rpc.gateway import part
from state.context import OrderContext
from state.house import AS_USUAL, House

_Names = Annotated[tuple[str, ...], Field(max_length=500)]


class HouseChange(BaseModel):
    """A request of the staff: only the given fields change."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    paused: bool | None = None
    sold_out: _Names | None = None
    """All that is sold out: it replaces what was."""
    add_sold_out: _Names = ()
    """Dishes and choices to mark as sold out, besides those that others have marked meanwhile."""
    remove_sold_out: _Names = ()
    """Dishes and choices that can be ordered again."""


def house_of(live: LiveSettings) -> Callable[[], House]:
    """Return a function that returns the house as this process last read it."""
    read: tuple[object, House] = (None, AS_USUAL)

    def house() -> House:
        nonlocal read
        stored = live.values.get("house")
        if stored is not read[0]:
            read = (stored, stored_house(stored))
        return read[1]

    return house


def set_house(
    context: OrderContext, present: Mapping[str, JsonValue], sent: Mapping[str, JsonValue]
) -> Mapping[str, JsonValue]:
    """Change the house.

    Names that are stored are kept as they are, also those that have left the menu.

    Args:
        context: The context of the rules.
        present: The house as it is stored.
        sent: What staff have sent, of the fields of ``HouseChange``.

    Raises:
        BadParams: A field is unknown or invalid.
        NotOnMenu: A name is neither stored nor on the menu.
    """
    change = part(HouseChange, sent)
    house = stored_house(present)
    menu, stored = context.menu, house.sold_out

    def named(names: Iterable[str]) -> list[str]:
        # A name that has left the menu is not searched for: that may find another dish.
        return [name if name in stored else menu.item(name).name for name in names]

    sold_out = stored if change.sold_out is None else named(change.sold_out)
    back = named(change.remove_sold_out)
    left = [name for name in (*sold_out, *named(change.add_sold_out)) if name not in back]
    update: dict[str, object] = {"sold_out": tuple(dict.fromkeys(left))}
    if change.paused is not None:
        update["paused"] = change.paused
    house = house.model_copy(update=update)
    return house.model_dump(mode="json")


def stored_house(stored: object) -> House:
    """Read the house from the live settings; as usual if they are of a later release."""
    try:
        return House.model_validate(stored or {})
    except ValidationError:  # of a later release
        return AS_USUAL
