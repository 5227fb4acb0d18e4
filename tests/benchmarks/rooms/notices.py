"""How long it takes until a client is notified of the guest's turn."""

from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table, ms
from tests.benchmarks.rooms.deployment import Deployment, Noted

MOST_MS = 20.0
WORDS = ("When are you open?", "What is in the Margherita?", "Do you have tiramisu?")


async def measure(deployment: Deployment, turns: int) -> Table:
    """Say so many things, and look at each turn's notice."""
    table = Table(
        "From the guest's turn to its notice, ms",
        ("median", "quartiles", "p99", "most"),
        note="It leaves when the client is called. One that had not left when the guest spoke again is not among"
        " them. The second line has the way to the client in it.",
    )
    async with deployment.place() as place:
        guest = place.guest
        for number in range(turns):
            told = await guest.call("say", {"text": WORDS[number % len(WORDS)]}, to=place.agent)
            await guest.is_given(told["turn"])
        true, left = (_by_turn(place.noted(what)) for what in ("true", "told"))
        arrived = {
            call.data["turn"]: call.at
            for call in guest.calls
            if call.method == "your_turn_to_speak" and call.data["your_turn"]
        }
    leaving = Spread.of([left[turn] - true[turn] for turn in left])
    _add(table, "until it leaves", leaving, MOST_MS)
    _add(table, "until the client has it", Spread.of([arrived[turn] - true[turn] for turn in left]))
    return table


def _by_turn(noted: list[Noted]) -> dict[int, float]:
    """Return when each turn was noted first."""
    first: dict[int, float] = {}
    for one in noted:
        first.setdefault(one["turn"], one["at"])
    return first


def _add(table: Table, name: str, spread: Spread, budget: float | None = None) -> None:
    table.add(
        name,
        ms(spread.median),
        f"{ms(spread.low)}-{ms(spread.high)}",
        ms(spread.p99),
        ms(spread.most),
        measured=round(spread.most * 1000, 1),
        budget=budget,
    )
