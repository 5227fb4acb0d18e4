"""The talk with one guest about his order: the agents, what his clients are shown, and what is kept of it."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from livekit import rtc
from livekit.agents.llm import LLM

from agents.handoff import Call, Ended, Event, Heard, TurnWithdrawn, YourTurn, stop
from agents.roster import restaurant_call
from bella_vista.rooms.house import House
from bella_vista.rooms.opening import Opened
from bella_vista.rooms.page import Page
from bella_vista.rooms.patience import Silence
from bella_vista.rooms.resume_codes import resume_code
from bella_vista.rooms.words import NOBODY_THERE, STILL_THERE
from bella_vista.transcript import CallRecord
from rpc.order_session import OrderSession
from state.context import OrderContext
from state.order import Channel, OrderState

logger = logging.getLogger(__name__)

STOP_LIMIT_S = 5.0
"""How long the end of a talk waits for what still runs in it, in seconds."""


class Talk:
    """A guest, his order and the agents, once it is known who he is and what his order is.

    Args:
        house: What all calls share.
        room: The room, connected.
        opened: The order.
        guest: The identity of the guest.
        channel: How he talks to the house.
        present: Whether he is in the room.
        ended: Called when the talk has ended.
        lost: Called when the guest cannot be heard or spoken to any more; without it they are shown the words.
    """

    def __init__(
        self,
        house: House,
        room: rtc.Room,
        opened: Opened,
        *,
        guest: str,
        channel: Channel,
        present: Callable[[], bool],
        ended: Callable[[Ended], None],
        lost: Callable[[], None] | None = None,
    ) -> None:
        self._house = house
        self._room = room
        self._guest = guest
        self.channel: Channel = channel
        self._present = present
        self._on_end = ended
        self._lost = lost
        self._model: LLM[Any] = house.model()
        self.call: Call[OrderState, OrderContext] = restaurant_call(
            opened.shared,
            think_limit_s=house.patience_of(self._model),
            resumed=opened.resumed,
            turn=opened.before.turn,
            preamble=opened.preamble,
        )
        self.call.queued.extend(opened.before.unanswered)
        self._record = CallRecord(self.call, house.store, words=house.words)
        self._record.drop_older_than(house.words_days)
        self._finished = False
        self._silence = Silence(house.patience[channel], self._still_there, self._nobody_there)
        code = resume_code(self.call.state.order_id, house.secret)
        self.order_session = OrderSession(
            self.call.shared,
            self.call,
            agent=house.agent,
            resume_code=code,
            spoken=opened.before.spoken,
            store=self._record.say,
        )
        self.page = Page(
            room.local_participant,
            self.call,
            self.order_session.views,
            guest=guest,
            resume_code=code,
            silent=channel == "phone",
            touched=self._silence.broken,
        )
        self.call.subscribe(self._told)

    async def start(self) -> None:
        """Let the first agent open."""
        await self._house.media.start(
            self.call, self._model, self._room, self._guest, self.channel, self._lost
        )

    def stop_waiting(self) -> None:
        """Ask the guest nothing more."""
        self._silence.stops()

    async def finish(self) -> None:
        """Stop the conversation and keep what was said; the order can still be read by the desk and the page."""
        if self._finished:
            return
        self._finished = True
        self._silence.stops()
        self.call.end("user_left")
        try:
            async with asyncio.timeout(STOP_LIMIT_S):
                await stop(self.call)
        except TimeoutError:
            logger.warning("the call did not stop in time")
        except RuntimeError:  # its session never began
            await self.call.aclose()
        await self._record.aclose()
        await self._house.media.aclose()
        await self._model.aclose()

    async def aclose(self) -> None:
        """Stop everything."""
        await self.page.aclose()
        await self.finish()

    def _told(self, event: Event) -> None:
        match event:
            case Heard():
                self._silence.broken()
                self._silence.stops()
            case TurnWithdrawn():
                self._silence.stops()
            case YourTurn():
                if self._present():
                    self._silence.begins()
            case Ended():
                self._on_end(event)
            case _:
                pass

    def _still_there(self) -> None:
        self.call.speak(STILL_THERE)

    def _nobody_there(self) -> None:
        self.call.close_after_reply("user_left")
        self.call.speak(NOBODY_THERE)
