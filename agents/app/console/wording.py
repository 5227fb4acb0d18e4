"""Texts about a call for a terminal: agents' names, turn notices, the cost, the closing lines."""

from collections.abc import Iterator
from typing import Any, Literal

from agents.app.app import AnyApp, View
from agents.app.terminal.summary import Summary
from agents.handoff import Call, Cost, EndReason, YourTurn
from state.privacy.text import clean

Lost = Literal["erased", "taken over"]
"""How a call has lost its state: it was erased, or another process has taken it over."""

_SHOWN = 200

_EXPECTED = {
    "yes_no": " for yes or no",
    "choice": " for one of the choices",
    "rating": " for a number from 1 to 5",
    "amount": " for an amount",
    "name": " for your name",
    "contact": " for a phone number or an e-mail address",
}


def speaker_name(agent: str) -> str:
    """Return an agent's name for display.

    >>> speaker_name("order_taker")
    'Order taker'
    """
    return agent.replace("_", " ").capitalize()


def view_of_call(app: AnyApp, call: Call[Any, Any]) -> View:
    """Return the view of a call's present state."""
    shared = call.shared
    speaker = shared.speaker or call.speaker
    return app.view_of(shared.state, shared.version, speaker, shared.state_id)


def summary_of_call(app: AnyApp, call: Call[Any, Any]) -> Summary:
    """Return the summary of a call's present state."""
    return app.summary_of(view_of_call(app, call))


def whose_turn(event: YourTurn) -> str:
    """Return the turn notice: the agent that listens, and the expected kind of answer.

    >>> whose_turn(YourTurn(turn=3, agent="payment", version=7, expects="yes_no"))
    'Your turn: Payment listens for yes or no'
    """
    name = speaker_name(event.agent)
    return f"Your turn: {name} listens{_EXPECTED.get(event.expects, '')}"


def heard_notice(typed: str | None, heard: str) -> str | None:
    """Return the user's input as the call heard it, if it differs from the typed text.

    >>> heard_notice("it is 4111 1111 1111 1111", "it is [card]")
    '(understood as: it is [card])'
    """
    if typed is None or clean(typed) == clean(heard):
        return None
    text = clean(heard)
    return f"(understood as: {text if len(text) <= _SHOWN else text[:_SHOWN] + ' ...'})"


def cost_line(cost: Cost) -> str | None:
    """Return a line with the cost of a call, if its models report it.

    >>> cost_line(Cost(model_calls=12, prompt_tokens=14300, completion_tokens=412, cached_tokens=11000))
    '12 model calls: 14,300 tokens read (11,000 of them cached), 412 written'
    """
    if not cost.model_calls:
        return None
    calls = f"{cost.model_calls} model call{'' if cost.model_calls == 1 else 's'}"
    cached = f" ({cost.cached_tokens:,} of them cached)" if cost.cached_tokens else ""
    return (
        f"{calls}: {cost.prompt_tokens:,} tokens read{cached}, {cost.completion_tokens:,} written"
    )


def closing_lines(
    summary: Summary, reason: EndReason, resume_command: str, lost: Lost | None
) -> Iterator[str]:
    """Return the closing lines: the state's status, and how to continue it.

    Args:
        summary: The summary of the ended call's state.
        reason: Why it ended.
        resume_command: The command that continues it.
        lost: How the call has lost its state, if it has.
    """
    if lost == "erased":
        yield f"{summary.title} was erased while you talked: nothing of it is kept."
        return
    if lost == "taken over":
        yield f"Another process has taken over {summary.title}; it goes on there."
        return
    if reason == "failed":
        yield "The conversation broke off."
    if summary.status:
        yield f"{summary.title} is {summary.status}."
    if summary.phase != "ended":
        yield f"{'Go on with' if summary.phase == 'open' else 'Come back to it with'}: {resume_command}"
