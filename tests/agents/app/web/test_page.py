"""The files of the page, the documents beside it, and the order of the cookie."""

from pathlib import Path

import pytest

from agents.app.rooms.room_lease import lease_name
from agents.app.rooms.state_of_call import resume_code
from agents.app.states import new_state
from tests.agents.app.web.conftest import HASH, SECRET, Serve, Site


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """What a bundler leaves behind."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>the page")
    (folder / "staff.html").write_text("<!doctype html>the board")
    (folder / "assets/app-4f2a.js").write_text("start()")
    (tmp_path / "secret.txt").write_text("not yours")
    return folder


async def test_the_page_is_served_and_brings_the_cookie(serve: Serve, page: Path) -> None:
    async with serve(web_page=page, staff_password_hash=HASH) as site, site.browser() as browser:
        document = await browser.get("/")
        again = await browser.get("/", headers={"if-none-match": document.headers["etag"]})
        script = await browser.get("/assets/app-4f2a.js")
        staff = await browser.get("/staff")

    assert document.text == "<!doctype html>the page"
    assert document.headers["cache-control"] == "private, no-cache"
    assert "bella_visitor=" in document.headers["set-cookie"]
    assert again.status_code == 304
    assert script.text == "start()"
    assert "immutable" in script.headers["cache-control"]
    assert "set-cookie" not in script.headers
    assert staff.text == "<!doctype html>the board"


async def test_texts_are_compressed_for_browsers_that_take_it(serve: Serve, page: Path) -> None:
    script = page / "assets/app-4f2a.js"
    script.write_text("start();" * 1000)
    asking = {"accept-encoding": "gzip"}
    async with serve(web_page=page) as site, site.browser() as browser:
        packed = await browser.get("/assets/app-4f2a.js", headers=asking)
        plain = await browser.get("/assets/app-4f2a.js", headers={"accept-encoding": "identity"})
        known = {**asking, "if-none-match": packed.headers["etag"]}
        again = await browser.get("/assets/app-4f2a.js", headers=known)
        script.write_text("stop();" * 1000)
        changed = await browser.get("/assets/app-4f2a.js", headers=asking)
        document = await browser.get("/", headers=asking)

    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < 200
    assert "accept-encoding" in packed.headers["vary"].lower()
    assert "immutable" in packed.headers["cache-control"]
    assert "javascript" in packed.headers["content-type"]
    assert packed.text == plain.text == "start();" * 1000
    assert "content-encoding" not in plain.headers
    assert again.status_code == 304
    assert changed.text == "stop();" * 1000
    assert document.text == "<!doctype html>the page"
    assert "bella_visitor=" in document.headers["set-cookie"]


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "/nothing.js"]
)
async def test_nothing_beside_the_page_is_served(serve: Serve, page: Path, path: str) -> None:
    async with serve(web_page=page) as site, site.browser() as browser:
        answer = await browser.get(path)

    assert answer.status_code == 404
    assert "not yours" not in answer.text


async def test_without_a_page_a_text_says_what_to_do(serve: Serve, tmp_path: Path) -> None:
    async with serve(web_page=tmp_path) as site, site.browser() as browser:
        answer = await browser.get("/")

    assert answer.headers["content-type"].startswith("text/plain")
    assert str(tmp_path) in answer.text
    assert "web --page FOLDER" in answer.text


async def test_the_menu_can_be_read_before_a_call(serve: Serve) -> None:
    async with serve(at="2026-11-20T19:00") as site, site.browser() as browser:
        answer = await browser.get("/api/menu")
        same = await browser.get("/api/menu", headers={"if-none-match": answer.headers["etag"]})

    menu = answer.json()
    assert answer.headers["content-encoding"] == "gzip"
    assert {*menu} == {"menu_version", "house", "sections"}
    assert menu["house"]["name"] == "Bella Vista"
    assert menu["house"]["open_now"] is True
    assert menu["house"]["opens_at"] is None
    assert menu["house"]["hours"]["friday"] == ["11:30-15:00", "17:00-00:30"]
    assert [section["name"] for section in menu["sections"]][-1] == "Combos"
    assert menu["sections"][0]["dishes"][0]["sizes"]
    assert same.status_code == 304
    assert same.content == b""


async def test_a_closed_house_says_when_it_opens(serve: Serve) -> None:
    async with serve(at="2026-11-23T19:00") as site, site.browser() as browser:
        house = (await browser.get("/api/menu")).json()["house"]

    assert house["open_now"] is False
    assert house["opens_at"] == "2026-11-24T11:30:00-05:00"


async def begin(site: Site, room: str, identity: str) -> str:
    """Begin an order in a room, as an agent does; returns its id."""
    app, store = site.server._app, site.store
    shared = await new_state(app, store, site.server._context, "web_text")
    place = lease_name(site.settings.agent_name, room)
    await store.leases.take(place, "AJ_1", seconds=60)
    await store.leases.assign(place, "AJ_1", state_id=shared.state_id, user=identity)
    return shared.state_id


async def test_the_order_is_its_own_guests_and_nobody_elses(serve: Serve) -> None:
    async with serve() as site, site.browser() as ada, site.browser() as bob:
        told = (await ada.post("/api/token")).json()
        none_yet = await ada.get("/api/order")
        order_id = await begin(site, told["room_name"], told["participant_identity"])
        hers = await ada.get("/api/order")
        await bob.post("/api/token")
        his = await bob.get("/api/order")
        async with site.browser() as stranger:
            nobodys = await stranger.get("/api/order")

    assert none_yet.status_code == 404
    assert hers.status_code == 200
    assert hers.json()["version"] == 0
    assert hers.json()["order"]["order_id"] == order_id
    assert hers.headers["cache-control"] == "no-store"
    assert (his.status_code, nobodys.status_code) == (404, 401)


async def test_an_earlier_order_is_shown_to_those_who_have_its_code(serve: Serve) -> None:
    async with serve() as site, site.browser() as ada, site.browser() as stranger:
        told = (await ada.post("/api/token")).json()
        first = await begin(site, told["room_name"], told["participant_identity"])
        await begin(site, "the next room", told["participant_identity"])
        code = resume_code(first, SECRET, site.server._app.name)
        shown = await ada.post("/api/order", json={"resume_code": code})
        wrong = [
            await ada.post("/api/order", json={"resume_code": f"{first}.{'a' * 26}"}),
            await ada.post("/api/order", json={"resume_code": 4711}),
            await ada.post("/api/order", json={"resume_code": code, "version": 0}),
            await ada.post("/api/order"),
            await stranger.post("/api/order", json={"resume_code": code}),
        ]

    assert (shown.status_code, shown.headers["cache-control"]) == (200, "no-store")
    assert (shown.json()["version"], shown.json()["order"]["order_id"]) == (0, first)
    assert [one.status_code for one in wrong] == [404, 400, 400, 400, 401]


async def test_an_order_that_another_guest_has_in_the_room_is_not_shown(serve: Serve) -> None:
    async with serve() as site, site.browser() as ada:
        told = (await ada.post("/api/token")).json()
        await begin(site, told["room_name"], "user-of-another-page")
        answer = await ada.get("/api/order")

    assert answer.status_code == 404


async def test_without_a_database_the_order_cannot_be_read(serve: Serve, tmp_path: Path) -> None:
    async with serve(database=f"sqlite:///{tmp_path}/no/such/folder.db") as site:
        async with site.browser() as browser:
            await browser.post("/api/token")
            (tmp_path / "no").write_text("a file where the folder would be")
            answer = await browser.get("/api/order")

    assert (answer.status_code, answer.json()["error"]["type"]) == (503, "unavailable")
