"""Which order a call is about: the one the guest had here, the one of their resume code, or a new one."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass

from agents.app.job_metadata import JobMetadata
from agents.app.rooms.resume_codes import order_of
from agents.app.rooms.room_lease import DATABASE_WAIT_S, RENEW_EVERY_S
from bella_vista.orders import SYSTEM, OrderFaults, new_order, resume_order
from bella_vista.rooms.prior_call import PriorCall, read_prior_call
from bella_vista.rooms.words import ORDER_NOT_FOUND, may_be_missing
from state.commands import SetCustomer
from state.context import OrderContext
from state.order import Channel, OrderState
from state.shared import JournalFault, Lease, Refused, SharedState, SqlStore

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Opened:
    """The order a call is about.

    Args:
        shared: The order.
        resumed: Whether the guest has talked about it before.
        prior: What was said then.
        preamble: What the guest has to be told first.
    """

    shared: SharedState[OrderState, OrderContext]
    resumed: bool = False
    prior: PriorCall = PriorCall()
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
    """Open the order of a call; retries while the database is locked or does not answer.

    A resume code proves ownership. An order that is only named, or that was served in this room
    before, is resumed only for its own guest; to others it does not exist.

    Args:
        store: Keeps the orders.
        context: The menu and the clock.
        metadata: The dispatch's metadata.
        lease: What the room's lease says of the last call here.
        guest: The guest's identity.
        channel: How the guest talks to us.
        speaker: The agent that speaks first.
        secret: Signs resume codes.

    Raises:
        OrderFaults: The database cannot be used.
    """
    asked = metadata.resume_code is not None or metadata.order_id is not None
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + DATABASE_WAIT_S
    while True:
        try:
            order_id = await _named(store, metadata, lease, guest, secret)
            opened = await _resumed(store, context, order_id) if order_id is not None else None
            if opened is None:
                shared = await new_order(store, context, channel, speaker)
                opened = Opened(shared, preamble=ORDER_NOT_FOUND if asked else "")
        except (OrderFaults, JournalFault) as fault:
            if not fault.passing or loop.time() > give_up_at:
                raise
            logger.warning("order not opened yet, retrying: %s", fault)
            await asyncio.sleep(RENEW_EVERY_S)
        else:
            return opened


async def _resumed(store: SqlStore, context: OrderContext, order_id: str) -> Opened | None:
    """Resume an order; ``None`` if it cannot be continued."""
    try:
        shared = await resume_order(store, context, order_id)
    except OrderFaults as fault:
        if fault.passing:
            raise
        logger.info("order could not be resumed: %s", "; ".join(map(str, fault.faults)))
        return None
    # Read only after taking the order over: until then another process may still answer and write.
    prior = await read_prior_call(store, shared.state.order_id)
    told = may_be_missing(prior.in_doubt) if prior.in_doubt else ""
    return Opened(shared, resumed=True, prior=prior, preamble=told)


async def keep_number(shared: SharedState[OrderState, OrderContext], number: str) -> None:
    """Store the caller's telephone number, if it is valid and the order has none."""
    if number and shared.state.phone is None:  # an empty one would mean that the guest withholds it
        with suppress(Refused, ValueError):  # withheld, or not a telephone number
            await shared.apply(SetCustomer(phone=number), actor=SYSTEM, key="sip.phoneNumber")


async def _named(
    store: SqlStore, metadata: JobMetadata, lease: Lease, guest: str, secret: str
) -> str | None:
    if metadata.supersedes is not None and lease.open and lease.guest == guest:
        return (
            lease.state_id
        )  # a lost job may have served another order than the one it was dispatched for
    if metadata.resume_code is not None:
        return order_of(metadata.resume_code, secret)
    if metadata.order_id is not None:
        order_id = metadata.order_id.strip().lower()
        known = await store.lease_of(order_id)
        return order_id if known is None or known.guest in (None, guest) else None
    if lease.open and lease.state_id is not None and lease.guest == guest:
        return lease.state_id
    return None
