"""Erases a guest's personal data from orders, transcripts and logs, and checks that it is gone.

The traces found in the guest's orders are erased from the logs first and from the orders then, each
in one transaction, so that an interrupted run can be repeated. The database's files are rewritten
every time, even if no order of the guest is left: an earlier run may have been interrupted before
that.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pydantic import JsonValue

from agents.app.states import STAFF, as_state_faults
from bella_vista.orders import kitchen_context
from bella_vista.settings import NOUN, ORDER_SCHEMA
from bella_vista.traces import Contact, Trace, found_in_files, overwritten
from state.commands import CancelOrder
from state.errors import WrongStage
from state.forgetting import (
    command_with_words_cut,
    command_without_guest,
    texts_about_guest,
    texts_in_command,
    with_words_cut,
    without_guest,
)
from state.order import OrderState, Stage
from state.shared import SharedState, SqlStore, StateError, Stored, read_state, write_state
from state.stages import IN_THE_HOUSE, ORDERING

_Commands: TypeAlias = tuple[dict[str, JsonValue], ...]
_Edit: TypeAlias = Callable[[str, _Commands], tuple[str, _Commands]]


@dataclass
class ErasureReport:
    """What was erased, and what could not be. It names orders and files, never the guest.

    Args:
        orders: The guest's orders by id, each with its present stage.
        cancelled: Those of them that had not been placed.
        mentions: Other guests' orders that mentioned the guest's number or address.
        taken: How many different texts were erased, by kind.
        lines: How many lines of transcripts were deleted.
        in_logs: How many occurrences in logs were overwritten.
        busy: Orders in preparation; they were left unchanged.
        others: Other orders with a number or an address that was on one of the guest's; they were
            left unchanged.
        looked_in: The files that were searched at the end.
        too_short: How many of the texts were too short to be searched for in files.
        left: What could not be done, as lines.
    """

    orders: dict[str, Stage] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)
    lines: int = 0
    in_logs: int = 0
    busy: dict[str, Stage] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    looked_in: list[Path] = field(default_factory=list)
    too_short: int = 0
    left: list[str] = field(default_factory=list)

    @property
    def nothing_found(self) -> bool:
        """Whether there was nothing to erase, and nothing is left to do."""
        found = self.orders or self.mentions or self.busy or self.in_logs
        return not found and not self.left


async def forget_guest(store: SqlStore, contact: Contact, logs: Sequence[Path]) -> ErasureReport:
    """Erase a guest's personal data from all that is stored, and check that it is gone.

    The guest's orders are those with this number or address in any version. They are kept without
    the guest: lines, prices, times, stage, payment and tip. An order that was not placed is
    cancelled.

    Args:
        store: A store of all restaurants' orders.
        contact: The guest's number or address.
        logs: The program's own logs.

    Raises:
        OrderFaults: The database cannot be used at all.
    """
    return await _Erasure(store, contact, logs).run()


class _Erasure:
    def __init__(self, store: SqlStore, contact: Contact, logs: Sequence[Path]) -> None:
        self._store = store
        self._contact = contact
        self._logs = tuple(logs)
        self._traces: set[Trace] = {contact}
        self._done = ErasureReport()

    async def run(self) -> ErasureReport:
        done = self._done
        own: list[tuple[Stored, OrderState]] = []
        mentioning: list[Stored] = []
        with as_state_faults(NOUN):
            found = await self._store.eraser.search(self._contact.stored_in)
            await self._store.eraser.drop_leases(self._contact.stored_in)
        for order_id in found:
            try:
                stored = await self._store.read(order_id)
                versions = list(_versions(stored))
            except StateError as fault:
                done.left.append(fault.message)
                continue
            if versions[-1].stage in IN_THE_HOUSE:
                done.busy[order_id] = versions[-1].stage
            elif any(map(self._contact.is_of, versions)):
                own.append((stored, versions[-1]))
                self._add_traces(versions, [one for row in stored.entries for one in row.commands])
            else:
                mentioning.append(stored)
        self._clean_logs()
        for stored, order in own:
            await self._forget(stored, order)
        for stored in mentioning:
            if await self._rewrite(stored.state_id, self._cut):
                done.mentions.append(stored.state_id)
        await self._check()
        return done

    def _add_traces(
        self, orders: Sequence[OrderState], commands: Sequence[dict[str, JsonValue]]
    ) -> None:
        texts = [text for order in orders for text in texts_about_guest(order)]
        texts += [text for command in commands for text in texts_in_command(command)]
        own = (self._contact.kind, self._contact.text)
        self._traces |= {Trace(kind, text) for kind, text in texts if (kind, text) != own}

    def _clean_logs(self) -> None:
        traces = [trace for trace in self._traces if trace.identifies]
        for log in self._logs:
            try:
                self._done.in_logs += overwritten(log, traces)
            except OSError as fault:
                self._done.left.append(f"The log {log}: {fault.strerror or 'it cannot be changed'}")

    async def _forget(self, stored: Stored, order: OrderState) -> None:
        order_id = stored.state_id
        try:
            if order.stage in ORDERING:
                shared = SharedState.restored(stored, OrderState, kitchen_context(order))
                await shared.apply(CancelOrder(), actor=STAFF)
                self._done.cancelled.append(order_id)
                order = shared.state
            lines = len(await self._store.said(order_id))
        except WrongStage:  # placed meanwhile
            self._done.busy[order_id] = Stage.PLACED
            return
        except StateError as fault:
            self._done.left.append(fault.message)
            return
        if await self._rewrite(order_id, self._without_guest):
            self._done.orders[order_id] = order.stage
            self._done.lines += lines

    async def _rewrite(self, order_id: str, edit: _Edit) -> bool:
        try:
            await self._store.eraser.rewrite(order_id, edit)
        except StateError as fault:
            self._done.left.append(fault.message)
            return False
        return True

    def _without_guest(self, state: str, commands: _Commands) -> tuple[str, _Commands]:
        order = _order(state)
        self._add_traces([order], commands)
        return write_state(without_guest(order)), tuple(map(command_without_guest, commands))

    def _cut(self, state: str, commands: _Commands) -> tuple[str, _Commands]:
        cut = self._contact.cut
        return (
            write_state(with_words_cut(_order(state), cut)),
            tuple(command_with_words_cut(command, cut) for command in commands),
        )

    # -- checking ---------------------------------------------------------------------------------

    async def _check(self) -> None:
        done = self._done
        for trace in self._traces:
            done.taken[trace.kind] = done.taken.get(trace.kind, 0) + 1
        done.too_short = sum(not trace.is_searchable for trace in self._traces)
        try:
            await self._store.eraser.wipe()
            for order_id in done.orders:
                if (
                    not _is_clean(await self._store.read(order_id))
                    or await self._store.said(order_id)
                    or await self._store.leases.of(order_id)
                ):
                    done.left.append(f"Order {order_id}: it was written again meanwhile")
            await self._look_in_orders()
            await self._look_in_files()
        except StateError as fault:
            done.left.append(fault.message)
        except OSError as fault:
            done.left.append(f"{fault.filename}: {fault.strerror or 'it cannot be read'}")

    async def _look_in_orders(self) -> None:
        done = self._done
        for order_id in await self._store.eraser.search(self._contact.stored_in):
            if order_id not in done.busy and not any(order_id in line for line in done.left):
                done.left.append(f"Order {order_id}: it was written again meanwhile")
        beside = [
            Contact(trace.kind, trace.text)
            for trace in self._traces
            if trace != self._contact and (trace.kind == "email" or trace.is_number)
        ]
        for contact in beside:
            done.others += await self._store.eraser.search(contact.stored_in)
        done.others = sorted({*done.others} - {*done.busy})

    async def _look_in_files(self) -> None:
        done = self._done
        files = await self._store.eraser.files()
        traces = sorted(
            (trace for trace in self._traces if trace.is_searchable), key=lambda trace: trace.text
        )
        done.looked_in = [*files, *self._logs]
        hits = found_in_files(files, traces)
        # A match may belong to another guest, or be a word of the menu: then it is still in an
        # order.
        dead = set(hits)

        def look(stored: str) -> bool:
            small = stored.encode(errors="replace").lower()
            dead.difference_update([trace for trace in dead if trace.in_bytes(small)])
            return False

        await self._store.eraser.search(look)
        done.left += [f"{path}: a trace is left in it" for trace in dead for path in hits[trace]]
        for log in self._logs:
            small = log.read_bytes().lower()
            if any(any(trace.places(small)) for trace in traces if trace.identifies):
                done.left.append(f"{log}: a trace is left in it")
        done.left = list(dict.fromkeys(done.left))


def _versions(stored: Stored) -> Iterator[OrderState]:
    for state in (stored.initial, *(entry.state for entry in stored.entries)):
        yield _order(state, f"Order {stored.state_id}")


def _order(state: str, what: str = "An order") -> OrderState:
    return read_state(OrderState, state, what, schema=ORDER_SCHEMA)


def _is_clean(stored: Stored) -> bool:
    """Whether an order holds no personal data."""
    return all(without_guest(order) == order for order in _versions(stored)) and all(
        entry.key is None
        and all(command_without_guest(command) == command for command in entry.commands)
        for entry in stored.entries
    )
