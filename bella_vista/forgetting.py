"""Erases a guest by their telephone number or e-mail address: from all their orders at once.

The framework erases each order. This module finds the guest's orders, and removes the contact where another
guest's order mentions it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.app.app import App
from agents.app.forgetting import Commands, Erasure, ErasureReport
from agents.app.settings import AppSettings
from agents.app.states import STAFF, as_state_faults
from bella_vista.settings import NOUN, ORDER_SCHEMA
from bella_vista.traces import Contact
from state.commands import CancelOrder
from state.context import OrderContext
from state.forgetting import command_with_words_cut, with_words_cut
from state.order import OrderState
from state.shared import SharedState, SqlStore, StateError, read_state, write_state
from state.stages import IN_THE_KITCHEN, ORDERING, wrong_stage


@dataclass
class GuestReport(ErasureReport):
    """The report on erasing one guest.

    Args:
        mentions: Other guests' orders that mentioned the guest's number or address.
        others: Other orders with a number or an address that was on one of the guest's; they were
            left unchanged.
    """

    noun: str = NOUN
    mentions: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def nothing_found(self) -> bool:
        """Whether there was nothing to erase, and nothing is left to do."""
        found = self.erased or self.mentions or self.refused or self.in_logs
        return not found and not self.left

    def more(self) -> list[str]:
        """Return what happened to other orders."""
        lines = [
            f"Order {order_id} is another guest's: mentions were cut out, its transcript deleted."
            for order_id in self.mentions
        ]
        if self.nothing_found:
            lines.append("Nothing was found in orders, transcripts or logs.")
        if self.others:
            lines.append(
                "Other orders have a number or an address that was on the guest's, and were left"
                f" unchanged: {', '.join(self.others)}."
            )
        return lines


async def close_order(shared: SharedState[OrderState, OrderContext]) -> None:
    """Cancel an order that was not placed.

    Raises:
        WrongStage: The kitchen has it and is not done.
    """
    if shared.state.stage in ORDERING:
        await shared.apply(CancelOrder(), actor=STAFF)
    elif shared.state.stage in IN_THE_KITCHEN:
        raise wrong_stage(
            shared.state,
            "The kitchen still needs its guest. Complete it (orders advance), then repeat this"
            " command.",
        )


async def forget_guest(
    app: App[OrderState, OrderContext],
    store: SqlStore,
    settings: AppSettings,
    contact: Contact,
    logs: Sequence[Path],
) -> GuestReport:
    """Erase a guest's personal data from all that is stored, and check that it is gone.

    The guest's orders are those with this number or address in any version.

    Args:
        app: The restaurant.
        store: A store of all restaurants' orders.
        settings: The settings used for cancelling orders.
        contact: The guest's number or address.
        logs: The program's own logs.

    Raises:
        StateFaults: The database cannot be used at all.
    """
    report = GuestReport()
    erasure = Erasure(app, store, settings, logs, report)
    erasure.traces.add(contact)
    mentioning: list[str] = []
    with as_state_faults(NOUN):
        found = await store.eraser.search(contact.stored_in)
        await store.eraser.drop_leases(contact.stored_in)
    for order_id in found:
        try:
            stored = await store.read(order_id)
            versions = [_order(stored.initial), *(_order(entry.state) for entry in stored.entries)]
            if versions[-1].stage in IN_THE_KITCHEN or any(map(contact.is_of, versions)):
                await erasure.add(stored)
            else:
                mentioning.append(order_id)
        except StateError as fault:
            report.left.append(fault.message)
    await erasure.run()
    for order_id in mentioning:
        try:
            await store.eraser.rewrite(
                order_id, lambda state, commands: _cut(contact, state, commands)
            )
        except StateError as fault:
            report.left.append(fault.message)
        else:
            report.mentions.append(order_id)
        erasure.forget_recordings(order_id)
    await erasure.check()
    try:
        await _look_in_orders(store, contact, erasure, report)
    except StateError as fault:
        report.left.append(fault.message)
    report.left = list(dict.fromkeys(report.left))
    return report


async def _look_in_orders(
    store: SqlStore,
    contact: Contact,
    erasure: Erasure[OrderState, OrderContext],
    report: GuestReport,
) -> None:
    for order_id in await store.eraser.search(contact.stored_in):
        if order_id not in report.refused and not any(order_id in line for line in report.left):
            report.left.append(erasure.written_again(order_id))
    others: set[str] = set()
    for trace in erasure.traces - {contact}:
        if trace.kind == "email" or trace.is_number:
            kind = "phone" if trace.is_number else "email"
            others |= {*await store.eraser.search(Contact(kind, trace.text).stored_in)}
    report.others = sorted(others - {*report.refused})


def _cut(contact: Contact, state: str, commands: Commands) -> tuple[str, Commands]:
    return (
        write_state(with_words_cut(_order(state), contact.cut)),
        tuple(command_with_words_cut(command, contact.cut) for command in commands),
    )


def _order(state: str) -> OrderState:
    return read_state(OrderState, state, "An order", schema=ORDER_SCHEMA)
