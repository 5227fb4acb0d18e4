"""The settings of staff for the whole house while calls run: paused orders, and sold-out items."""

from pydantic import BaseModel, ConfigDict


class House(BaseModel):
    """The house as staff have set it.

    Args:
        paused: Whether no orders are taken just now.
        sold_out: The names of the dishes and combos that are sold out, beside those of the menu.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    paused: bool = False
    sold_out: tuple[str, ...] = ()


AS_USUAL = House()
"""Nothing is set."""
