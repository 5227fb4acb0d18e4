"""The house as staff set it while calls run: read by the rules, changed over HTTP."""

from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.app.live import LiveSettings
from rpc.gateway import part
from state.context import OrderContext
from state.house import AS_USUAL, House


class HouseChange(BaseModel):
    """What staff send: only what is given changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    paused: bool | None = None
    sold_out: Annotated[tuple[str, ...] | None, Field(max_length=500)] = None


def house_of(live: LiveSettings) -> Callable[[], House]:
    """Return a function that returns the house as this process last read it."""
    read: tuple[object, House] = (None, AS_USUAL)

    def house() -> House:
        nonlocal read
        stored = live.values.get("house")
        if stored is not read[0]:
            read = (stored, _house(stored))
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
        sent: What staff have sent: ``paused``, or the names of all that is sold out.

    Raises:
        BadParams: A field is unknown or invalid.
        NotOnMenu: A name is neither stored nor on the menu.
    """
    change = part(HouseChange, sent)
    house = _house(present)
    if change.paused is not None:
        house = house.model_copy(update={"paused": change.paused})
    if change.sold_out is not None:
        menu, stored = context.menu, house.sold_out
        # A name that has left the menu is not searched for: that may find another dish.
        named = (name if name in stored else menu.item(name).name for name in change.sold_out)
        house = house.model_copy(update={"sold_out": tuple(dict.fromkeys(named))})
    return house.model_dump(mode="json")


def _house(stored: object) -> House:
    try:
        return House.model_validate(stored or {})
    except ValidationError:  # of a later release
        return AS_USUAL
