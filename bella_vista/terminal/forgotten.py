"""What became of forgetting a guest, as a person reads it; nothing in it says who that was."""

from collections.abc import Iterator

from bella_vista.forgetting import Forgotten

_CALLED = {
    "name": ("name", "names"),
    "phone": ("telephone number", "telephone numbers"),
    "email": ("e-mail address", "e-mail addresses"),
    "address": ("address", "addresses"),
    "comment": ("comment", "comments"),
    "words": ("other text", "other texts"),
}


def report(done: Forgotten) -> Iterator[str]:
    """Say what was found and taken out, and where it was looked for afterwards."""
    if done.nothing_found:
        yield "Nothing was found: no order, no talk and no log has it."
        yield from _looked(done)
        return
    for order_id, stage in done.orders.items():
        was = "was not placed and is cancelled now" if order_id in done.cancelled else stage.value
        yield f"Order {order_id} ({was}) has no guest any more."
    if done.orders:
        yield f"Taken out: {', '.join(_taken(done))}; {_count(done.lines, 'line')} of talk."
    for order_id in done.mentions:
        yield f"Order {order_id} is another guest's: what it said of him was cut out, its talk dropped."
    if done.in_logs:
        yield f"Written over in the logs: {_count(done.in_logs, 'place')}."
    if done.others:
        yield (
            "A number or an address that stood beside it is on other orders too, which were left alone:"
            f" {', '.join(done.others)}."
        )
    if not done.left and not done.busy:
        yield from _looked(done)


def failures(done: Forgotten) -> Iterator[str]:
    """Say what could not be done, and what to do about it."""
    for order_id, stage in done.busy.items():
        yield (
            f"Order {order_id} is {stage.value}: the house still needs its guest, so it was left alone."
            " Take it to its end (orders advance), then forget him again."
        )
    yield from done.left
    if done.left:
        yield "Not everything is gone: put that right, then forget him again."


def _looked(done: Forgotten) -> Iterator[str]:
    places = ["every order and all that was said", *map(str, done.looked_in)]
    yield f"Looked for afterwards in {', '.join(places)}: gone."
    if done.untold:
        yield (
            f"{_count(done.untold, 'text')} too short to mean anything in a file: looked for in the"
            " orders only."
        )


def _taken(done: Forgotten) -> Iterator[str]:
    for kind, names in _CALLED.items():
        if count := done.taken.get(kind, 0):
            yield f"{count} {names[count != 1]}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
