import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from agents.app.console.plain import PlainConsole
from agents.app.console.screen import Screen
from agents.handoff import Event, Heard, Said, YourTurn
from bella_vista.app import APP
from state.commands import AddItem
from tests.bella_vista.small_restaurant import restaurant

TURN: Sequence[Event] = (
    Heard(1, "my card is [card]"),
    Said(1, "greeter", "One moment, please."),
    Said(1, "order_taker", "One Tiramisu. Anything else?"),
    YourTurn(1, "order_taker", 1, "yes_no"),
)


async def shown(width: int) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None)
    screen = Screen(
        APP, restaurant(AddItem(name="Tiramisu")), console, resume_command="again --order an-order"
    )
    screen.opens()
    screen.typed("my card is 4111 1111 1111 1111")
    for event in TURN:
        screen.tell(event)
    screen.closes("user_left")
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [20, 40, 75, 76, 100, 300])
async def test_nothing_is_wider_than_the_screen(width: int) -> None:
    lines = await shown(width)

    assert all(len(line) <= width for line in lines if "an-order" not in line)


async def test_a_wide_screen_shows_the_order_beside_the_talk() -> None:
    lines = await shown(100)

    assert any("One Tiramisu. Anything else?" in line and "Tiramisu   " in line for line in lines)


async def test_a_narrow_screen_shows_the_order_below_the_talk() -> None:
    text = "\n".join(await shown(40))

    assert text.index("Anything else?") < text.index("1 x Tiramisu")


async def test_a_screen_says_who_speaks_whose_turn_it_is_and_how_to_go_on() -> None:
    text = "\n".join(await shown(100))

    assert "Greeter      One moment, please." in text
    assert "Your turn: Order taker listens for yes or no" in text
    assert "Order 47" in text
    assert text.rstrip().endswith("again --order an-order")


async def test_a_guest_sees_their_redacted_words() -> None:
    assert "(understood as: my card is [card])" in await shown(100)


def test_a_transcript_names_the_speaker_of_each_line_and_ends_with_the_order() -> None:
    out = io.StringIO()
    transcript = PlainConsole(
        APP, restaurant(AddItem(name="Tiramisu")), out, resume_command="again"
    )

    for event in TURN:
        transcript.tell(event)
    transcript.closes("input_ended")

    assert out.getvalue().splitlines() == [
        "You: my card is [card]",
        "Greeter: One moment, please.",
        "Order taker: One Tiramisu. Anything else?",
        "",
        "",
        "1 x Tiramisu                             $6.50",
        "Subtotal                                 $6.50",
        "Tax                                      $0.58",
        "Total                                    $7.08",
        "",
        "Order 47 is open.",
        "Go on with: again",
    ]


def test_a_voice_cannot_steer_the_terminal() -> None:
    out = io.StringIO()
    transcript = PlainConsole(APP, restaurant(), out, resume_command="again")

    transcript.tell(Said(1, "greeter", "\x1b[2Jgone\x07"))

    assert out.getvalue() == "Greeter: [2Jgone\n"
