"""Formats the report of an erasure; nothing in it identifies the guest."""

from collections.abc import Iterator

from bella_vista.forgetting import ErasureReport

_CALLED = {
    "name": ("name", "names"),
    "phone": ("telephone number", "telephone numbers"),
    "email": ("e-mail address", "e-mail addresses"),
    "address": ("address", "addresses"),
    "comment": ("comment", "comments"),
    "words": ("other text", "other texts"),
}


def report(done: ErasureReport) -> Iterator[str]:
    """Report what was found and erased, and where it was searched for afterwards."""
    if done.nothing_found:
        yield "Nothing was found in orders, transcripts or logs."
        yield from _looked(done)
        return
    for order_id, stage in done.orders.items():
        was = "was not placed and is cancelled now" if order_id in done.cancelled else stage.value
        yield f"Order {order_id} ({was}): the guest was erased."
    if done.orders:
        yield f"Erased: {', '.join(_taken(done))}; {_count(done.lines, 'line')} of transcripts."
    for order_id in done.mentions:
        yield f"Order {order_id} is another guest's: mentions were cut out, its transcript deleted."
    if done.in_logs:
        yield f"Overwritten in the logs: {_count(done.in_logs, 'place')}."
    if done.others:
        yield (
            "Other orders have a number or an address that was on the guest's, and were left unchanged:"
            f" {', '.join(done.others)}."
        )
    if not done.left and not done.busy:
        yield from _looked(done)


def failures(done: ErasureReport) -> Iterator[str]:
    """Report what could not be done, and how to fix it."""
    for order_id, stage in done.busy.items():
        yield (
            f"Order {order_id} is {stage.value}: the kitchen still needs its guest, so it was left"
            " unchanged. Complete it (orders advance), then repeat this command."
        )
    yield from done.left
    if done.left:
        yield "Not everything is erased: fix the above, then repeat this command."


def _looked(done: ErasureReport) -> Iterator[str]:
    places = ["all orders and transcripts", *map(str, done.looked_in)]
    yield f"Searched afterwards: {', '.join(places)}: nothing left."
    if done.too_short:
        yield (
            f"{_count(done.too_short, 'text')} too short to be searched for in files: searched for in"
            " orders only."
        )


def _taken(done: ErasureReport) -> Iterator[str]:
    for kind, names in _CALLED.items():
        if count := done.taken.get(kind, 0):
            yield f"{count} {names[count != 1]}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
