"""Foreign origins, floods, large bodies, proxies, security headers; refusals are counted and logged."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.app.settings import SettingsFaults
from agents.app.web.cookies import Visitor
from agents.app.web.protection import BURST, CLIENTS_PER_ADDRESS, MAX_BODY, MAX_HEADERS
from bella_vista.settings import Settings
from tests.agents.app.web.conftest import HASH, HERE, Serve

ALLOWED = "https://www.example.com"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 201),
        (HERE, 201),
        (HERE.replace("http:", "https:"), 201),  # behind a proxy that ends TLS
        (ALLOWED, 201),
        ("http://www.example.com", 403),
        ("https://evil.example", 403),
        (f"{HERE}.evil.example", 403),
        (f"{HERE}:81", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
    ],
)
async def test_only_pages_of_known_origins_may_call(
    serve: Serve, origin: str | None, status: int
) -> None:
    headers = {"origin": origin} if origin is not None else {}
    async with serve(web_origins=f"{ALLOWED}, http://localhost:5173") as site:
        async with site.browser() as browser:
            answer = await browser.post("/api/token", headers=headers)

    assert answer.status_code == status
    named = answer.headers.get("access-control-allow-origin")
    assert named == (ALLOWED if origin == ALLOWED else None)
    if status == 403:
        assert answer.json()["error"]["type"] == "forbidden"
        assert "set-cookie" not in answer.headers


async def test_a_page_over_http_does_not_count_as_the_one_over_https(serve: Serve) -> None:
    async with serve() as site, site.browser(origin="https://pizza.example") as browser:
        answer = await browser.post("/api/token", headers={"origin": HERE})

    assert answer.status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
async def test_a_server_on_this_machine_is_called_by_no_name_of_another(
    serve: Serve, caplog: pytest.LogCaptureFixture, host: str
) -> None:
    async with serve(web_host=host, web_origins=ALLOWED) as site, site.browser() as browser:
        for name in ("evil.example", "evil.example:8000", "localhost.evil.example", "", "[", "a b"):
            for path in ("/api/token", "/api/order", "/healthz", "/"):
                method = "POST" if path == "/api/token" else "GET"
                headers = {"host": name, "origin": f"http://{name}"}
                answer = await browser.request(method, path, headers=headers)
                assert (answer.status_code, answer.json()["error"]["type"]) == (421, "misdirected")
                assert "set-cookie" not in answer.headers
                assert answer.headers["x-content-type-options"] == "nosniff"
        refused = site.server.refusals.counts["host"]

        here = (
            "localhost",
            "LOCALHOST:8000",
            "127.0.0.1:8000",
            "[::1]:8000",
            "page.localhost:8000",
        )
        # Of an address a page of another name cannot be: as the emulator of a phone calls this machine.
        for name in (*here, "10.0.2.2:8000", "www.example.com"):
            answer = await browser.get("/healthz", headers={"host": name})
            assert answer.status_code == 200, name

    assert refused == 24
    assert "evil" not in caplog.text


@pytest.mark.parametrize("how", [{"web_host": "0.0.0.0"}, {"web_proxies": "127.0.0.1"}])
async def test_a_server_for_others_has_any_name(serve: Serve, how: dict[str, str]) -> None:
    async with serve(**{"web_host": "127.0.0.1", **how}) as site, site.browser() as browser:
        assert (await browser.post("/api/token")).status_code == 201


async def test_a_listed_origin_on_another_site_calls_with_the_cookie(serve: Serve) -> None:
    async with serve(web_origins=ALLOWED) as site:
        async with site.browser(origin="https://pizza.example") as browser:
            asking = {
                "origin": ALLOWED,
                "access-control-request-method": "POST",
                "access-control-request-headers": "content-type",
            }
            preflight = await browser.options("/api/token", headers=asking)
            strange = await browser.options(
                "/api/token", headers={**asking, "origin": "https://evil.example"}
            )
            answer = await browser.post("/api/token", json={}, headers={"origin": ALLOWED})

    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-credentials"] == "true"
    assert preflight.headers["access-control-allow-origin"] == ALLOWED
    assert strange.status_code == 403
    assert "access-control-allow-origin" not in strange.headers
    assert "SameSite=none" in answer.headers["set-cookie"]
    assert "Secure" in answer.headers["set-cookie"]


async def test_a_flood_from_one_address_is_refused_and_others_are_served(serve: Serve) -> None:
    async with serve() as site, site.browser() as flooding, site.browser("192.0.2.2") as other:
        answers = [await flooding.get("/api/order") for _ in range(1000)]
        calm = await other.get("/api/order")
        page = await flooding.get("/healthz")

    refused = [answer for answer in answers if answer.status_code == 429]
    assert 0 < len(answers) - len(refused) < 2 * BURST
    assert refused[-1].json()["error"]["type"] == "too_many_requests"
    assert int(refused[-1].headers["retry-after"]) >= 1
    assert calm.status_code == 401
    assert page.status_code == 200
    assert site.server.refusals.counts["rate"] == len(refused)


async def test_tokens_are_limited_more_strictly(serve: Serve) -> None:
    async with serve() as site, site.browser("2001:db8::1") as flooding:
        answers = []
        for _ in range(40):
            flooding.cookies.clear()
            answers.append(await flooding.post("/api/token"))
        async with site.browser("2001:db8::2") as household:
            same = await household.post("/api/token")

    assert {answer.status_code for answer in answers} == {201, 429}
    assert same.status_code == 429  # of IPv6 everybody has 2 ** 64 addresses


@pytest.mark.usefixtures("no_time_passes")
async def test_a_guest_with_a_cookie_asks_for_so_many_tokens_wherever_they_are(
    serve: Serve,
) -> None:
    async with serve() as site, site.browser("192.0.2.1") as browser:
        answers = [await browser.post("/api/token") for _ in range(40)]
        async with site.browser("198.51.100.9") as elsewhere:
            elsewhere.cookies = browser.cookies
            moved = await elsewhere.post("/api/token")

    assert [one.status_code for one in answers] == [201] * 31 + [429] * 9  # the first had no cookie
    assert moved.status_code == 429


@pytest.mark.usefixtures("no_time_passes")
async def test_guests_behind_one_address_have_a_limit_each(serve: Serve) -> None:
    async with serve() as site, site.browser() as flooding, site.browser() as other:
        for browser in (flooding, other):
            await browser.post("/api/token")
        answers = [await flooding.get("/api/order") for _ in range(2 * BURST)]
        calm = await other.get("/api/order")
        tokens = [(await other.post("/api/token")).status_code for _ in range(20)]

    assert answers[-1].status_code == 429
    assert calm.status_code == 404
    assert set(tokens) == {201}


@pytest.mark.usefixtures("no_time_passes")
@pytest.mark.parametrize(("forged", "most"), [(True, 1), (False, CLIENTS_PER_ADDRESS)])
async def test_many_cookies_do_not_help_one_client(serve: Serve, forged: bool, most: int) -> None:
    async with serve() as site, site.browser() as flooding:
        sign = site.server._cookie._signer.dumps

        def cookie() -> str:
            one = Visitor.new()
            return f"{one.identity}.{one.room}" if forged else str(sign([one.identity, one.room]))

        answers = [
            await flooding.get("/api/order", headers={"cookie": f"bella_visitor={cookie()}"})
            for _ in range(1000)
        ]

    served = [answer for answer in answers if answer.status_code != 429]
    assert len(served) == most * BURST


@pytest.mark.usefixtures("no_time_passes")
async def test_many_cookies_are_no_more_guesses_of_the_password(serve: Serve) -> None:
    async with serve(staff_password_hash=HASH) as site, site.browser() as browser:
        tried = []
        for _ in range(8):
            browser.cookies.clear()
            await browser.post("/api/token")
            answer = await browser.post("/api/staff/login", json={"password": "a guess"})
            tried.append(answer.status_code)

    assert tried == [401] * 5 + [429] * 3
    assert site.server.refusals.counts == {"login": 8}


async def test_a_proxys_word_counts_only_if_it_is_trusted(serve: Serve) -> None:
    said = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"}
    async with serve(web_proxies="192.0.2.0/24") as site:
        async with site.browser() as proxy, site.browser("198.51.100.1") as other:
            behind = await proxy.post("/api/token", headers=said)
            forged = await other.post("/api/token", headers=said)
            flood = [await proxy.get("/api/order", headers=said) for _ in range(100)]
            next_guest = await proxy.get(
                "/api/order", headers={**said, "x-forwarded-for": "203.0.113.10"}
            )

    assert "Secure" in behind.headers["set-cookie"]
    assert "Secure" not in forged.headers["set-cookie"]
    assert (flood[-1].status_code, next_guest.status_code) == (429, 401)


async def test_a_large_body_is_refused_however_it_is_sent(serve: Serve) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * (MAX_BODY // 20)

    async with serve() as site, site.browser() as browser:
        whole = await browser.post("/api/token", content=b"x" * (MAX_BODY + 1))
        chunked = await browser.post("/api/token", content=pieces())

    for answer in (whole, chunked):
        assert (answer.status_code, answer.json()["error"]["type"]) == (413, "too_large")


@pytest.mark.parametrize("path", ["/healthz", "/api/order"])
async def test_large_headers_are_refused(serve: Serve, path: str) -> None:
    async with serve() as site, site.browser() as browser:
        answer = await browser.get(path, headers={"x-long": "x" * MAX_HEADERS})

    assert (answer.status_code, answer.json()["error"]["type"]) == (431, "too_large")
    assert site.server.refusals.counts == ({"headers": 1} if path.startswith("/api/") else {})


async def test_only_a_few_cookies_are_checked(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve() as site, site.browser() as browser:
        checked: list[str] = []
        cookie = site.server._cookie
        monkeypatch.setattr(cookie, "_visitor", lambda written: checked.append(written))
        many = "; ".join(f"bella_visitor_{number}=a.b.c" for number in range(400))
        answer = await browser.get("/api/order", headers={"cookie": many})

    assert answer.status_code == 401
    assert len(checked) <= 32  # 16 for the limit, 16 for the answer


async def test_one_known_origin_does_not_excuse_another(serve: Serve) -> None:
    async with serve() as site, site.browser() as browser:
        for both in ((HERE, "https://evil.example"), ("https://evil.example", HERE)):
            headers = [("origin", origin) for origin in both]
            answer = await browser.post("/api/token", headers=headers)
            assert answer.status_code == 403


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/api/menu", "/api/nothing", "/nothing", "/api/"]
)
async def test_every_answer_has_the_security_headers(serve: Serve, path: str) -> None:
    async with serve() as site, site.browser() as browser:
        answer = await browser.get(path)

    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "connect-src 'self' wss://rooms.example https://rooms.example;" in policy
    assert "frame-ancestors 'self'" in policy
    assert "object-src 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "unsafe-eval" not in policy
    assert answer.headers["permissions-policy"] == "microphone=(self), camera=(), geolocation=()"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert "*" not in answer.headers.get("access-control-allow-origin", "")


async def test_an_answer_to_a_failure_has_the_security_headers(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(web_origins=ALLOWED) as site:

        def fail(visitor: object) -> None:
            raise RuntimeError("a fault of ours")

        monkeypatch.setattr(site.server.arrivals, "expect", fail)
        async with site.browser(raises=False) as browser:
            answer = await browser.post("/api/token", headers={"origin": ALLOWED})

    assert (answer.status_code, answer.json()["error"]["type"]) == (500, "internal")
    assert "a fault of ours" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["access-control-allow-origin"] == ALLOWED


async def test_refusals_are_logged_without_what_was_sent(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with serve() as site, site.browser("192.0.2.77") as browser:
        token = await browser.post("/api/token", json={"participant_name": "Ada-in-the-name"})
        await browser.post("/api/token", json={"room_name": "secret-4711"})
        await browser.post("/api/token", headers={"origin": "https://secret-4711.example"})
        await browser.get("/api/order", headers={"cookie": "bella_visitor=secret-4711"})

    told = [(one.getMessage(), getattr(one, "reason", "")) for one in caplog.records]
    assert {reason for text, reason in told if text == "request refused"} == {
        *("token", "origin", "cookie")
    }
    logged = "\n".join(str(vars(one)) for one in caplog.records)
    for secret in ("secret-4711", "Ada-in-the-name", "192.0.2.77", token.json()["room_name"]):
        assert secret not in logged


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("web_origins", "*"),
        ("web_origins", "example.com"),
        ("web_origins", "https://example.com/page"),
        ("web_proxies", "*"),
        ("web_proxies", "proxy.example"),
        ("web_livekit_url", "https://example.com"),
        ("web_port", "70000"),
    ],
)
def test_wrong_settings_are_named(
    clean_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(Settings.variable(name), value)

    with pytest.raises(SettingsFaults) as wrong:
        Settings.read()

    assert str(wrong.value).startswith(f"BELLA_VISTA_{name.upper()}: ")
