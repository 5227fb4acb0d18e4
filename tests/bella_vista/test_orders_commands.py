"""``orders list``, ``show`` and ``advance`` at the command line."""

import asyncio
import json
from pathlib import Path

import pytest

from bella_vista.cli import main
from bella_vista.orders import open_store
from state.commands import GiveFeedback, OrderCommand, SetCustomer
from state.view import view
from tests.bella_vista.test_orders import PLACED, SHORT, begun
from tests.state.house import House


@pytest.fixture(autouse=True)
def _nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("MENU", "MODEL", "AT", "DATABASE"):
        monkeypatch.delenv(f"BELLA_VISTA_{name}", raising=False)


def stored(*commands: OrderCommand, restaurant: str = "blue-door") -> str:
    """Store an order, and return its id."""

    async def begin() -> str:
        async with open_store("sqlite:///orders.db", restaurant) as store:
            return (await begun(store, *commands, house=House())).state.order_id

    return asyncio.run(begin())


def orders(*arguments: str, database: str | None = "sqlite:///orders.db") -> int:
    named = [] if database is None else ["--database", database]
    with pytest.raises(SystemExit) as left:
        main(["orders", *arguments, *named])
    assert isinstance(left.value.code, int)
    return left.value.code


def test_the_list_names_each_order(capsys: pytest.CaptureFixture[str]) -> None:
    placed = stored(*PLACED)
    fresh = stored(SetCustomer(name="[red]Bob[/red] :pizza:"))

    code = orders("list")

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert [line.split()[:3] for line in lines] == [
        ["No.", "Order", "Stage"],
        ["102", fresh, "open"],
        ["101", placed, "placed"],
    ]
    assert "[red]Bob[/red] :pizza:" in lines[1]
    assert "2x Margherita, 1x Dinner for two" in lines[2]
    assert "Restaurant" not in lines[0]


def test_the_list_says_whose_when_there_are_several(capsys: pytest.CaptureFixture[str]) -> None:
    stored()
    other = House().menu.model_copy(
        update={"restaurant": House().menu.restaurant.model_copy(update={"id": "red-door"})}
    )

    async def begin() -> None:
        async with open_store("sqlite:///orders.db", "red-door") as store:
            await begun(store, house=House(other))

    asyncio.run(begin())
    orders("list")

    out = capsys.readouterr().out
    assert "Restaurant" in out
    assert "blue-door" in out
    assert "red-door" in out


def test_where_nobody_has_ordered_there_are_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    assert orders("list", database=None) == 0
    assert capsys.readouterr().out == "There are no orders.\n"


def test_a_list_with_a_damaged_order_names_it_and_exits_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def begin() -> None:
        async with open_store("sqlite:///orders.db", "blue-door") as store:
            await store.create("strange", lambda ordinal: "{}")

    asyncio.run(begin())
    whole = stored(*SHORT)

    assert orders("list") == 1
    out = capsys.readouterr().out
    assert "cannot be read: it does not have the form of an order" in out
    assert whole in out


def test_an_order_is_shown_for_reading(capsys: pytest.CaptureFixture[str]) -> None:
    order_id = stored(*PLACED, GiveFeedback(rating=5, comment="lovely"))

    assert orders("show", order_id.upper()) == 0

    out = capsys.readouterr().out
    for said in (
        f"Order 101 ({order_id}): placed",
        "Guest: Ada, +12125550199, ada@example.com",
        "Delivery to 12 Carmine Street, 10014",
        "L1  2 x Margherita, large",
        "no basil",
        "note: well done",
        "Funghi, large",
        "Payment: card, at handover",
        "Allergies: walnuts",
        "Note: door: ring twice",
        "Rated 5 of 5",
        "Comment: lovely",
    ):
        assert said in out


def test_an_order_is_shown_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    order_id = stored(*PLACED)

    async def now() -> object:
        from bella_vista.orders import show_order

        async with open_store("sqlite:///orders.db", None) as store:
            order, _ = await show_order(store, order_id)
            return view(order, len(PLACED), "greeter")

    assert orders("show", order_id, "--json") == 0
    assert json.loads(capsys.readouterr().out) == asyncio.run(now())


def test_an_order_is_moved_on_until_it_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    order_id = stored(*PLACED)

    codes = [orders("advance", order_id) for _ in range(5)]

    said = capsys.readouterr()
    assert codes == [0, 0, 0, 0, 1]
    assert [line.split()[-2] for line in said.out.splitlines()] == [
        "accepted",
        "preparing",
        "ready",
        "completed",
    ]
    assert said.err == "The order is completed. There is no next step for the kitchen.\n"


@pytest.mark.parametrize("command", ["show", "advance"])
def test_an_order_that_is_not_there_is_wrong_use(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stored()

    assert orders(command, "abcd") == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "There is no order abcd.\n")


@pytest.mark.parametrize("command", [["list"], ["show", "abcd"], ["advance", "abcd"]])
@pytest.mark.parametrize(
    ("database", "said"),
    [
        ("sqlite:///broken.db", "the file is no database"),
        ("sqlite:///not-there.db", "there is no such file"),
        ("orders.db", "its address has to be sqlite:///path"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_line(
    command: list[str], database: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken.db").write_bytes(b"no database " * 100)

    assert orders(*command, database=database) == 2

    heard = capsys.readouterr()
    assert heard.out == ""
    assert said in heard.err
    assert heard.err.count("\n") == 1
    assert not Path("not-there.db").exists()


def test_the_database_can_be_a_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    order_id = stored()
    monkeypatch.setenv("BELLA_VISTA_DATABASE", "sqlite:///orders.db")

    assert orders("list", database=None) == 0
    assert order_id in capsys.readouterr().out
