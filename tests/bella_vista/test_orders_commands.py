"""``orders list``, ``show`` and ``advance`` at the command line."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from state.commands import GiveFeedback, OrderCommand, SetCustomer
from state.shared import Moment
from state.view import view
from tests.bella_vista.small_restaurant import MENU
from tests.bella_vista.test_orders import PLACED, SHORT, begun
from tests.commands import main
from tests.sounds import wav
from tests.state.bistro import Bistro
from tests.stored_orders import open_store, show_order


@pytest.fixture(autouse=True)
def _nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "logs"))
    for name in ("MENU", "MODEL", "AT", "DATABASE"):
        monkeypatch.delenv(f"BELLA_VISTA_{name}", raising=False)


def stored(*commands: OrderCommand, restaurant: str = "blue-door") -> str:
    """Store an order, and return its id."""

    async def begin() -> str:
        async with open_store("sqlite:///orders.db", restaurant) as store:
            return (await begun(store, *commands, bistro=Bistro())).state.order_id

    return asyncio.run(begin())


def orders(*arguments: str, database: str | None = "sqlite:///orders.db") -> int:
    named = [] if database is None else ["--database", database]
    with pytest.raises(SystemExit) as left:
        main(["orders", *arguments, *named])
    assert isinstance(left.value.code, int)
    return left.value.code


def test_the_list_names_each_order(capsys: pytest.CaptureFixture[str]) -> None:
    placed = stored(*PLACED)
    fresh = stored(SetCustomer(name="[red]Bob[/red]:)"))

    code = orders("list")

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert [line.split()[:3] for line in lines] == [
        ["No.", "Order", "Stage"],
        ["102", fresh, "open"],
        ["101", placed, "placed"],
    ]
    assert "[red]Bob[/red]:)" in lines[1]
    assert "2x Margherita, 1x Dinner" in lines[2]
    assert "Restaurant" not in lines[0]


def test_the_list_fits_a_hundred_columns_and_cuts_what_is_long(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "Maximiliane Elisabeth von und zu Hohenfels"
    stored(SetCustomer(name=long), *PLACED[1:])

    orders("list")

    head, row = capsys.readouterr().out.splitlines()
    assert max(len(head), len(row)) <= 100
    assert "Maximiliane Eli…" in row
    assert head.endswith("Total")
    assert row.rpartition("  ")[2].startswith("$")


@pytest.mark.parametrize("command", ["show", "advance"])
def test_an_order_is_named_by_the_number_that_is_said(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    placed = stored(*PLACED)
    stored()

    assert orders(command, " 101 ") == 0
    assert placed in capsys.readouterr().out
    assert orders(command, "103") == 2
    assert "There is no order 103." in capsys.readouterr().err


def test_a_number_that_several_restaurants_have_is_asked_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second = stored(), stored_elsewhere("red-door")

    assert orders("show", "101") == 2

    told = capsys.readouterr().err
    assert f"{first} (blue-door)" in told
    assert f"{second} (red-door)" in told


def stored_elsewhere(restaurant: str) -> str:
    """Store an order of another restaurant, and return its id."""
    other = Bistro().menu.model_copy(
        update={"restaurant": Bistro().menu.restaurant.model_copy(update={"id": restaurant})}
    )

    async def begin() -> str:
        async with open_store("sqlite:///orders.db", restaurant) as store:
            return (await begun(store, bistro=Bistro(other))).state.order_id

    return asyncio.run(begin())


def test_the_list_says_whose_when_there_are_several(capsys: pytest.CaptureFixture[str]) -> None:
    stored()
    stored_elsewhere("red-door")
    orders("list")

    out = capsys.readouterr().out
    assert "Restaurant" in out
    assert "blue-door" in out
    assert "red-door" in out


def test_without_orders_the_list_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
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
    assert "cannot be read: it does not fit this program (" in out
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


def said_about(order_id: str) -> None:
    async def record() -> None:
        async with open_store("sqlite:///orders.db", None) as store:
            at = datetime(2026, 11, 21, 0, 5, tzinfo=UTC)
            await store.record(
                order_id,
                Moment(0, "began", "house", "terminal", at),
                Moment(0, "said", "greeter", "Good evening.", at),
                Moment(1, "heard", "guest", "a [red]\x1b[2Jpizza", at + timedelta(seconds=9)),
                Moment(1, "cut_short", "order_taker", "One", at + timedelta(seconds=10)),
                Moment(1, "spent", "order_taker", '{"model_calls": 2, "prompt_tokens": 1500}', at),
                Moment(1, "ended", "house", "user_left", at + timedelta(seconds=11)),
            )

    asyncio.run(record())


def test_the_transcript_is_shown_in_the_restaurants_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    order_id = stored(*SHORT)
    said_about(order_id)

    assert orders("show", order_id, "--transcript") == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"Order 101 ({order_id}): open"
    assert lines[-6:] == [
        "Said on 2026-11-20:",
        "",
        "19:05:00  Greeter      Good evening.",
        "19:05:09  Guest        a [red][2Jpizza",
        "19:05:10  Order taker  One ...",
        "2 model calls: 1,500 tokens read, 0 written",
    ]


def test_the_transcript_is_shown_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    order_id = stored(*SHORT)
    said_about(order_id)

    assert orders("show", order_id, "--transcript", "--json") == 0

    shown = json.loads(capsys.readouterr().out)
    assert shown["order_id"] == order_id
    assert shown["transcript"][1] == {
        **{"call": 1, "turn": 1, "at": "2026-11-20T19:05:09-05:00"},
        **{"who": "guest", "kind": "heard", "text": "a [red]\x1b[2Jpizza"},
    }
    assert [line["kind"] for line in shown["transcript"]] == ["said", "heard", "cut_short"]
    assert [call["prompt_tokens"] for call in shown["spent"]] == [1500]


def test_where_nothing_that_was_said_is_kept_that_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    order_id = stored(*SHORT)

    assert orders("show", order_id, "--transcript") == 0
    assert capsys.readouterr().out.endswith(
        "\nNo transcript is stored: it was switched off, has expired, or the user was erased.\n"
    )
    assert orders("show", order_id, "--transcript", "--json") == 0
    assert json.loads(capsys.readouterr().out)["transcript"] == []


GUEST = (SetCustomer(name="Zoë Öz", phone="+1 212 555 0199", email="zoe@example.com"),)


def test_a_guest_is_erased_and_the_report_has_no_data_of_theirs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    order_id = stored(*GUEST, *SHORT)
    said_about(order_id)

    assert orders("forget", "212 555 0199") == 0

    said = capsys.readouterr()
    assert said.err == ""
    assert f"Order {order_id}: its user was erased." in said.out
    assert said.out.splitlines()[-1].endswith("orders.db, orders.db.leases: nothing left.")
    for private in ("Zo", "Öz", "zoe", "212"):
        assert private not in said.out
    assert orders("show", order_id, "--transcript") == 0
    shown = capsys.readouterr().out
    assert "Guest: not known\n" in shown
    assert "The user of this order was forgotten" in shown
    assert orders("list") == 0
    assert order_id in capsys.readouterr().out
    assert orders("forget", "212 555 0199") == 0
    assert capsys.readouterr().out.startswith("Nothing was found")


@pytest.mark.parametrize("typed", ["212 555 0199", "the order"])
def test_the_recordings_of_an_erased_guests_calls_are_deleted(
    typed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order_id, other = stored(*GUEST, *SHORT), stored(SetCustomer(name="Bo"), *SHORT)
    folder = tmp_path / "orders.db.recordings" / "blue-door"
    folder.mkdir(parents=True)
    hers = [
        wav(folder / f"{order_id}_20261120T18{minute}.000000Z.wav", bytes(4_000))
        for minute in ("0100", "0200")
    ]
    anothers = wav(folder / f"{other}_20261120T180000.000000Z.wav", bytes(4_000))

    assert orders("forget", order_id if typed == "the order" else typed) == 0

    assert "Deleted: 2 recordings." in capsys.readouterr().out
    assert not any(file.exists() for file in hers)
    assert anothers.exists()


def test_an_order_in_the_kitchen_is_left_unchanged_and_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    order_id = stored(*PLACED)

    assert orders("forget", "ADA@example.com") == 1

    assert capsys.readouterr().err == (
        f"Order {order_id} was left unchanged: The order is placed. The kitchen still needs its"
        " guest. Complete it (orders advance), then repeat this command.\n"
    )
    for _ in range(4):
        orders("advance", order_id)
    assert orders("forget", "ADA@example.com") == 0


def test_without_orders_no_guest_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert orders("forget", "+12125550199", database=None) == 0
    assert capsys.readouterr().out.startswith("Nothing was found")


@pytest.mark.parametrize("typed", ["Ada", "123"])
def test_forget_accepts_an_order_a_number_or_an_address(
    typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(*PLACED)

    assert orders("forget", typed) == 2
    assert capsys.readouterr().err == f"There is no order {typed.lower()}.\n"


def test_one_order_is_forgotten_by_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    order_id, other = stored(*GUEST, *SHORT), stored(*GUEST, *SHORT)

    assert orders("forget", order_id) == 0

    assert f"Order {order_id}: its user was erased." in capsys.readouterr().out
    assert orders("show", order_id) == 0
    assert "was forgotten" in capsys.readouterr().out
    assert orders("show", other) == 0
    shown = capsys.readouterr().out
    assert "Guest: not known" not in shown
    assert "forgotten" not in shown


def test_an_id_that_reads_as_a_keypads_number_is_an_id(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.app.states.new_id", lambda: "xj26-2kv8-zvn3")
    order_id = stored(*GUEST, *SHORT)
    assert order_id == "xj26-2kv8-zvn3"

    assert orders("forget", "XJ26-2kv8-zvn3") == 0

    assert f"Order {order_id}: its user was erased." in capsys.readouterr().out


def test_a_number_without_its_country_is_the_menus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order_id = stored(SetCustomer(phone="+49 30 1234567"), *SHORT)
    german = MENU.read_text().replace('"+1 212 555 0142"', '"+49 30 901820"')
    (tmp_path / "german.yaml").write_text(german.replace("+1 212 555", "+49 30 555"))

    orders("forget", "030 1234567", "--menu", "german.yaml")

    assert order_id in capsys.readouterr().out


@pytest.mark.parametrize("command", ["show", "advance"])
def test_an_order_that_is_not_there_is_wrong_use(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stored()

    assert orders(command, "abcd") == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "There is no order abcd.\n")


@pytest.mark.parametrize(
    "command",
    [
        *(["list"], ["show", "abcd"], ["show", "abcd", "--transcript"], ["advance", "abcd"]),
        ["forget", "+12125550199"],
    ],
)
@pytest.mark.parametrize(
    ("database", "said"),
    [
        ("sqlite:///broken.db", "the file is no database"),
        ("sqlite:///not-there.db", "there is no such file"),
        ("orders.db", "--database: is not the address of a stored database"),
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


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bella:ses@me@127.0.0.1:1/orders",
        "postgresql://bella@127.0.0.1:1/orders?password=ses@me",
        "postgresql://bella:ses@me@127.0.0.1:none/orders",
    ],
)
def test_no_part_of_a_databases_password_is_shown(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert orders("list", database=address) == 2

    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert "ses" not in told
    assert "@me" not in told
    assert "me@" not in told


def test_a_misspelt_setting_is_told_here_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("BELLA_VISTA_DATABSE=sqlite:///other.db\n")

    orders("list", database=None)

    assert "there is no setting BELLA_VISTA_DATABSE" in capsys.readouterr().err
