"""Numbers beside a dish that comes in numbers, and beside all the others."""

from pathlib import Path

import pytest

from bella_vista.local.understanding.understander import Understander
from state.menu import load_menu

MENU = Path(__file__).parent / "menus" / "diner.yaml"
STRIPS = """
      - {name: Chicken strips, aliases: [strips], price: {three: "6.50", five: "9.50"}}
"""


@pytest.fixture(scope="module")
def understander(tmp_path_factory: pytest.TempPathFactory) -> Understander:
    """A diner that has strips in threes and fives."""
    text = MENU.read_text("utf-8")
    before, heading, after = text.partition("  - name: Sides\n    dishes:")
    path = tmp_path_factory.mktemp("menus") / "diner.yaml"
    path.write_text(f"{before}{heading}{STRIPS.rstrip()}{after}", "utf-8")
    return Understander(load_menu(path))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("three large fries", [(3, "Fries", "large")]),
        ("five root beers", [(5, "Root beer", None)]),
        ("three strips", [(1, "Chicken strips", "three")]),
        ("5 piece strips", [(1, "Chicken strips", "five")]),
        ("two five-piece strips", [(2, "Chicken strips", "five")]),
        ("5 pieces of cherry pie", [(5, "Cherry pie", None)]),
        ("strips, five, and three coffees", [(1, "Chicken strips", "five"), (3, "Coffee", None)]),
    ],
)
def test_a_number_is_a_size_only_beside_a_dish_that_comes_so(
    understander: Understander, line: str, wanted: list[tuple[int, str, str | None]]
) -> None:
    commands = understander.understand(line).commands

    found = [(c.fields["quantity"], c.fields["name"], c.fields.get("size")) for c in commands]
    assert found == wanted


def test_some_of_several_are_no_size(understander: Understander) -> None:
    commands = understander.understand("five shakes, three of them vanilla").commands

    assert [(c.fields["quantity"], c.fields["modifications"]) for c in commands] == [
        (3, ["vanilla"])
    ]
