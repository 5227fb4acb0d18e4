"""The token endpoint: what it gives, to whom it gives the same again, and what it refuses."""

import asyncio
import json
from typing import Any

import pytest

from agents.app.web.cookies import VisitorCookie
from examples.clinic.app import APP as CLINIC
from tests.agents.app.web.conftest import HERE, SECRET, URL, Serve


async def test_a_token_lets_its_bearer_join_one_room_and_speak_there(serve: Serve) -> None:
    async with serve() as site, site.browser() as browser:
        answer = await browser.post("/api/token", json={"participant_name": " Ada\n L. "})
        claims = site.claims(answer)

    told = answer.json()
    assert claims.video is not None
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert told["server_url"] == URL
    assert (told["room_name"], told["participant_identity"]) == (claims.video.room, claims.identity)
    assert claims.name == "Ada L."
    assert claims.video.can_publish_sources == ["microphone"]
    granted = {name for name, value in vars(claims.video).items() if value}
    assert granted == {
        *("room_join", "room", "can_publish", "can_publish_sources"),
        *("can_subscribe", "can_publish_data"),
    }
    assert claims.attributes in (None, {})
    assert claims.room_config is not None
    assert not claims.room_config.agents  # no agent comes by the token


async def test_a_token_lasts_for_minutes(serve: Serve) -> None:
    from base64 import urlsafe_b64decode

    async with serve() as site, site.browser() as browser:
        token = (await browser.post("/api/token")).json()["participant_token"]

    claims = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))
    assert 120 <= claims["exp"] - claims["nbf"] <= 600


async def test_identities_and_rooms_cannot_be_guessed(serve: Serve) -> None:
    async with serve() as site, site.browser() as ada, site.browser() as bob:
        replies = [(await one.post("/api/token", json={})).json() for one in (ada, bob)]

    for name in ("participant_identity", "room_name"):
        first, second = (reply[name] for reply in replies)
        assert first != second
        assert len(first.partition("-")[2]) == 32  # 128 bits in hexadecimal


async def test_the_cookie_brings_the_same_user_back(serve: Serve) -> None:
    async with serve() as site, site.browser() as browser:
        first = await browser.post("/api/token", json={})
        second = await browser.post("/api/token", json={})

    names = ("room_name", "participant_identity")
    assert [first.json()[name] for name in names] == [second.json()[name] for name in names]
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie


async def test_over_https_the_cookie_never_leaves_it(serve: Serve) -> None:
    async with serve() as site, site.browser(origin="https://pizza.example") as browser:
        answer = await browser.post("/api/token")

    assert "Secure" in answer.headers["set-cookie"]
    assert "max-age" in answer.headers["strict-transport-security"]


async def test_two_tokens_that_a_page_asks_for_at_once_are_one_users(
    serve: Serve, tmp_path: Any
) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page/index.html").write_text("<!doctype html>")
    async with serve(web_page=tmp_path / "page") as site, site.browser() as browser:
        await browser.get("/")
        answers = await asyncio.gather(*(browser.post("/api/token", json={}) for _ in range(2)))

    assert len({answer.json()["room_name"] for answer in answers}) == 1


async def test_after_leaving_the_next_token_names_another_room(serve: Serve) -> None:
    async with serve() as site, site.browser() as browser:
        first = (await browser.post("/api/token")).json()
        left = await browser.post("/api/leave")
        second = (await browser.post("/api/token")).json()

    assert left.status_code == 204
    assert first["participant_identity"] == second["participant_identity"]
    assert first["room_name"] != second["room_name"]


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "x",
        "\\x00",
        VisitorCookie("n", SECRET, "clinic")._signer.dumps(
            ["user-" + "a" * 32, "room-" + "a" * 32]
        ),
        VisitorCookie("n", "another secret", "bella-vista")._signer.dumps(["user-1", "room-1"]),
        VisitorCookie("n", SECRET, "bella-vista")._signer.dumps(["admin", "room-" + "a" * 32]),
        VisitorCookie("n", SECRET, "bella-vista")._signer.dumps({"a": 1, "b": 2}),
        VisitorCookie("n", SECRET, "bella-vista")._signer.dumps(7),
    ],
    ids=[
        "empty",
        "a letter",
        "zero",
        "other application",
        "other secret",
        "names",
        "keys",
        "number",
    ],
)
async def test_a_forged_cookie_is_nobodys(serve: Serve, forged: str) -> None:
    async with serve() as site, site.browser() as browser:
        browser.headers["cookie"] = f"bella_visitor={forged}"
        order = await browser.get("/api/order")
        token = await browser.post("/api/token")

    assert order.status_code == 401
    assert order.json()["error"]["type"] == "unauthorized"
    assert token.status_code == 201
    assert len(token.json()["participant_identity"].partition("-")[2]) == 32


OURS = {"agents": [{"agent_name": "bella-vista"}]}
ASKED: dict[str, tuple[Any, int]] = {
    "nothing": ({}, 201),
    "the name of 80": ({"participant_name": "x" * 80}, 201),
    "our agent": ({"participant_name": "web", "room_config": OURS}, 201),
    "fields that are not set": ({"room_name": "", "participant_attributes": {}}, 201),
    "a name of 81": ({"participant_name": "x" * 81}, 400),
    "a name that is none": ({"participant_name": 7}, 400),
    "a room": ({"room_name": "room-1"}, 400),
    "an identity": ({"participant_identity": "ada"}, 400),
    "metadata": ({"participant_metadata": "{}"}, 400),
    "attributes": ({"participant_attributes": {"bella.role": "staff"}}, 400),
    "another agent": ({"room_config": {"agents": [{"agent_name": "spy"}]}}, 400),
    "two agents": ({"room_config": {"agents": [{"agent_name": "bella-vista"}] * 2}}, 400),
    "an agent with metadata": (
        {"room_config": {"agents": [{"agent_name": "bella-vista", "metadata": "{}"}]}},
        400,
    ),
    "a room's settings": ({"room_config": {"empty_timeout": 9999}}, 400),
    "an unknown field": ({"ttl": "999h"}, 400),
    "a list": ([], 400),
    "a text": ("x", 400),
}


@pytest.mark.parametrize(("asked", "status"), ASKED.values(), ids=ASKED)
async def test_the_server_alone_chooses_all_but_the_name(
    serve: Serve, asked: Any, status: int
) -> None:
    async with serve() as site, site.browser() as browser:
        answer = await browser.post("/api/token", json=asked)

    assert answer.status_code == status
    if status == 400:
        error = answer.json()["error"]
        assert error["type"] == "bad_request"
        assert error["detail"]
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("body", [b"", b"  ", b"{}"])
async def test_a_request_need_not_say_anything(serve: Serve, body: bytes) -> None:
    async with serve() as site, site.browser() as browser:
        answer = await browser.post("/api/token", content=body)

    assert answer.status_code == 201


@pytest.mark.parametrize("body", [b"{", b'{"a":1,"a":2}', b"\xff", b'{"participant_name": NaN}'])
async def test_what_is_no_json_is_refused(serve: Serve, body: bytes) -> None:
    async with serve() as site, site.browser() as browser:
        answer = await browser.post("/api/token", content=body)

    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "bad_request"


async def test_pages_may_reach_the_server_by_another_address(serve: Serve) -> None:
    async with serve(web_livekit_url="wss://public.example") as site, site.browser() as browser:
        answer = await browser.post("/api/token")

    assert answer.json()["server_url"] == "wss://public.example"
    assert (
        "wss://public.example https://public.example" in (answer.headers["content-security-policy"])
    )


async def test_another_application_has_its_own_cookie_and_noun(serve: Serve, tmp_path: Any) -> None:
    async with serve(CLINIC, calendar=tmp_path / "c.db") as site, site.browser() as browser:
        answer = await browser.post("/api/token")
        visit = await browser.get("/api/visit")
        menu = await browser.get("/api/menu")

    assert answer.headers["set-cookie"].startswith("clinic_visitor_")
    assert (visit.status_code, visit.json()["error"]["type"]) == (404, "not_found")
    assert menu.status_code == 404


async def test_no_agent_is_brought_without_a_cookie_or_when_the_server_is_away(
    serve: Serve,
) -> None:
    async with serve(LIVEKIT_URL="ws://127.0.0.1:1") as site, site.browser(origin=HERE) as browser:
        stranger = await browser.post("/api/agent")
        await browser.post("/api/token")
        known = await browser.post("/api/agent")
        asking = await browser.post("/api/agent", json={"room": "x"})

    assert (stranger.status_code, stranger.json()["error"]["type"]) == (401, "unauthorized")
    assert (known.status_code, known.json()["error"]["type"]) == (503, "unavailable")
    assert asking.status_code == 400
