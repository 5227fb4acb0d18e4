"""Which order a call in a room is about: the one its guest was at, the one he has a code for, or a new one."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass

from bella_vista.job import JobMetadata
from bella_vista.orders import HOUSE, OrderFaults, new_order, resume_order
from bella_vista.rooms.before import Before, talk_before
from bella_vista.rooms.resume_codes import order_of
from bella_vista.rooms.seat import PATIENCE_S, RENEWED_S
from bella_vista.rooms.words import ORDER_NOT_FOUND, may_be_missing
from state.commands import SetCustomer
from state.context import OrderContext
from state.order import Channel, OrderState
from state.shared import JournalFault, Lease, Refused, SharedState, SqlStore

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Opened:
    """The order of a call.

    Args:
        shared: It.
        resumed: Whether the guest has talked about it before.
        before: What was said then.
        preamble: What he has to be told before anything else.
    """

    shared: SharedState[OrderState, OrderContext]
    resumed: bool = False
    before: Before = Before()
    preamble: str = ""


async def open_for(
    store: SqlStore,
    context: OrderContext,
    metadata: JobMetadata,
    lease: Lease,
    *,
    guest: str,
    channel: Channel,
    speaker: str,
    secret: str,
) -> Opened:
    """Open the order that a call is about; a database that is locked or does not answer is waited for.

    A code proves by itself whose order it is. An order that is only named, or that was being taken in this
    place before, goes on for the guest it was taken from and for nobody else: to all others it is not there.

    Args:
        store: Keeps the orders.
        context: The menu and the clock.
        metadata: What the dispatch says.
        lease: What is known of this place.
        guest: The identity of who is here.
        channel: How he talks to the house.
        speaker: The agent that speaks first.
        secret: What codes are made with.

    Raises:
        OrderFaults: The database cannot be used.
    """
    asked = metadata.resume_code is not None or metadata.order_id is not None
    loop = asyncio.get_running_loop()
    patient_until = loop.time() + PATIENCE_S
    while True:
        try:
            order_id = await _named(store, metadata, lease, guest, secret)
            opened = await _resumed(store, context, order_id) if order_id is not None else None
            if opened is None:
                shared = await new_order(store, context, channel, speaker)
                opened = Opened(shared, preamble=ORDER_NOT_FOUND if asked else "")
        except (OrderFaults, JournalFault) as fault:
            if not fault.passing or loop.time() > patient_until:
                raise
            logger.warning("the order cannot be opened yet: %s", fault)
            await asyncio.sleep(RENEWED_S)
        else:
            return opened


async def _resumed(store: SqlStore, context: OrderContext, order_id: str) -> Opened | None:
    """Go on with an order; ``None`` if it cannot be continued."""
    try:
        shared = await resume_order(store, context, order_id)
    except OrderFaults as fault:
        if fault.passing:
            raise
        logger.info("an order could not be continued: %s", "; ".join(map(str, fault.faults)))
        return None
    # Not before it was taken: until then another process may still answer and write.
    before = await talk_before(store, shared.state.order_id)
    told = may_be_missing(before.in_doubt) if before.in_doubt else ""
    return Opened(shared, resumed=True, before=before, preamble=told)


async def keep_number(shared: SharedState[OrderState, OrderContext], number: str) -> None:
    """Write down the number that somebody calls from, if it is one and none is known."""
    if number and shared.state.phone is None:  # an empty one would say that he keeps it to himself
        with suppress(Refused, ValueError):  # withheld, or no number of a telephone
            await shared.apply(SetCustomer(phone=number), actor=HOUSE, key="sip.phoneNumber")


async def _named(
    store: SqlStore, metadata: JobMetadata, lease: Lease, guest: str, secret: str
) -> str | None:
    if metadata.supersedes is not None and lease.open and lease.guest == guest:
        return lease.state_id  # a lost job may have been at another order than it was sent for
    if metadata.resume_code is not None:
        return order_of(metadata.resume_code, secret)
    if metadata.order_id is not None:
        order_id = metadata.order_id.strip().lower()
        known = await store.lease_of(order_id)
        return order_id if known is None or known.guest in (None, guest) else None
    if lease.open and lease.state_id is not None and lease.guest == guest:
        return lease.state_id
    return None
