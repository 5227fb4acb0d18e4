"""Agents of the hotel whose own code, or whose tools, do what they should not."""

import asyncio
from typing import Any, ClassVar, Literal

from agents.handoff import Action, Call, Tool
from state.shared import Command
from tests.agents.hotel import AddNights, Bar, Concierge, Reception, Stay

SECRET = "and this text is secret"


class SetNights(Command[Stay, None]):
    """Write down how many nights, without a look at what was said."""

    op: Literal["set_nights"] = "set_nights"
    nights: Any = None

    def apply(self, state: Stay, context: None) -> Stay:
        return state.model_copy(update={"nights": self.nights})

    def touches(self, state: Stay) -> tuple[str, ...]:
        return ("nights",)


class BookAndFail(Action):
    """Book a night; the key machine fails after it."""

    op: Literal["book_and_fail"] = "book_and_fail"

    async def run(self, call: Call[Any, Any]) -> str:
        await call.shared.apply(AddNights(nights=1), actor="desk")
        raise RuntimeError(f"the key machine is broken, {SECRET}")


class FailAndBook(Action):
    """Try the key machine, and book a night when it works."""

    op: Literal["fail_and_book"] = "fail_and_book"

    async def run(self, call: Call[Any, Any]) -> str:
        raise RuntimeError(f"the key machine is broken, {SECRET}")


class BookSlowly(Action):
    """Book a night more than there are, asking the house's computer meanwhile."""

    op: Literal["book_slowly"] = "book_slowly"

    async def run(self, call: Call[Any, Any]) -> str:
        await asyncio.sleep(1.0)
        await call.shared.apply(AddNights(nights=1), actor="desk")
        return "Booked."


class WaitForEver(Action):
    """Ask a house that never answers."""

    op: Literal["wait_for_ever"] = "wait_for_ever"

    async def run(self, call: Call[Any, Any]) -> str:
        await asyncio.sleep(3600)
        return "They answered."


class HangInTheEnd(Action):
    """Ask a house that never answers, over a line that never closes."""

    op: Literal["hang_in_the_end"] = "hang_in_the_end"
    closed: ClassVar[asyncio.Event]

    async def run(self, call: Call[Any, Any]) -> str:
        try:
            await asyncio.sleep(3600)
        finally:
            await self.closed.wait()
        return "They answered."


class BookAndWait(Action):
    """Book a night, then ask a house that never answers."""

    op: Literal["book_and_wait"] = "book_and_wait"

    async def run(self, call: Call[Any, Any]) -> str:
        await call.shared.apply(AddNights(nights=1), actor="desk")
        await asyncio.sleep(3600)
        return "They answered."


class Busy(Action):
    """Take two seconds."""

    op: Literal["busy"] = "busy"

    async def run(self, call: Call[Any, Any]) -> str:
        await asyncio.sleep(2.0)
        return "Done at last."


class Stubborn(Action):
    """Not let itself be given up."""

    op: Literal["stubborn"] = "stubborn"

    async def run(self, call: Call[Any, Any]) -> str:
        for _ in range(3):
            try:
                await asyncio.sleep(2.0)
            except asyncio.CancelledError:
                continue
        return "Done at last."


class Desk(Reception):
    """A reception with every tool that can go wrong."""

    offers: tuple[Tool, ...] = (
        *Reception.offers,
        SetNights,
        BookAndFail,
        FailAndBook,
        BookSlowly,
        WaitForEver,
        HangInTheEnd,
        BookAndWait,
        Busy,
        Stubborn,
    )


class FailingBar(Bar):
    """A bar whose own entering fails."""

    async def on_enter(self) -> None:
        raise RuntimeError(SECRET)


class LateFailingBar(Bar):
    """A bar that opens and fails after it."""

    async def on_enter(self) -> None:
        await super().on_enter()
        raise RuntimeError(SECRET)


class MuteBar(Bar):
    """A bar that forgets to open."""

    async def on_enter(self) -> None:
        pass


class HangingBar(Bar):
    """A bar whose own entering never ends."""

    async def on_enter(self) -> None:
        await asyncio.sleep(3600)


class OwnWordsBar(Bar):
    """A bar that opens in its own words."""

    async def on_enter(self) -> None:
        self.session.generate_reply(instructions="Sing.", tool_choice="none")


class BusyBar(Bar):
    """A bar that does something of its own before it opens."""

    entered: ClassVar[int] = 0

    async def on_enter(self) -> None:
        BusyBar.entered += 1
        await asyncio.sleep(0.5)
        await super().on_enter()


class BusierBar(BusyBar):
    """A bar that does something more."""

    async def on_enter(self) -> None:
        await super().on_enter()


class UnwrittenBar(Bar):
    """A bar whose instructions cannot be read."""

    @property
    def prompt(self) -> str:  # type: ignore[override]
        raise RuntimeError(SECRET)


class NosyBar(Bar):
    """A bar with a property that always fails."""

    @property
    def regulars(self) -> str:
        raise RuntimeError(SECRET)


class LeavingReception(Reception):
    """A reception whose own leaving fails."""

    async def on_exit(self) -> None:
        raise RuntimeError(SECRET)


class LingeringReception(Reception):
    """A reception whose own leaving never ends."""

    async def on_exit(self) -> None:
        await asyncio.sleep(3600)


class LostConcierge(Concierge):
    """A concierge who does not know what to offer."""

    def offers_now(self, state: Stay) -> Any:
        raise RuntimeError(SECRET)
