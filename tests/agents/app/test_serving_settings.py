import pytest

from agents.app.livekit_server import API_KEY, API_SECRET
from agents.app.settings import SettingsFaults
from bella_vista.settings import Settings
from tests.commands import main

SECRET = "0123456789abcdef0123456789abcdef"

pytestmark = pytest.mark.usefixtures("clean_folder")


def given(monkeypatch: pytest.MonkeyPatch, url: str, key: str, secret: str) -> None:
    monkeypatch.setenv("LIVEKIT_URL", url)
    monkeypatch.setenv("LIVEKIT_API_KEY", key)
    monkeypatch.setenv("LIVEKIT_API_SECRET", secret)


def faults(**options: object) -> list[str]:
    with pytest.raises(SettingsFaults) as caught:
        Settings.read_for_rooms(**options)
    return list(caught.value.faults)


def names(said: list[str]) -> list[str]:
    return [line.partition(":")[0] for line in said]


def test_a_talk_in_a_terminal_needs_no_livekit(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "nonsense", "devkey", "short")

    assert Settings.read().model == "local"


def test_missing_settings_are_listed_with_all_other_faults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BELLA_VISTA_IDLE", "-1")
    monkeypatch.setenv("BELLA_VISTA_METRICS_PORT", "8081")

    assert names(faults(at="supper time")) == [
        "--at",
        "LIVEKIT_URL",
        "LIVEKIT_API_KEY",
        "LIVEKIT_API_SECRET",
        "BELLA_VISTA_IDLE",
        "BELLA_VISTA_METRICS_PORT",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "rooms.example",
        "https://rooms.example",
        "wss://",
        "wss://rooms.example:0",
        "wss://rooms.example:port",
        "wss://rooms .example",
        "wss://key:my-password@rooms.example",
        "wss://rooms.example?key=my-password",
    ],
)
def test_an_invalid_url_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    given(monkeypatch, url, "a-key", SECRET)

    (fault,) = faults()

    assert fault.startswith("LIVEKIT_URL: ")
    assert "my-password" not in fault


@pytest.mark.parametrize(
    ("key", "secret", "wrong"),
    [
        ("devkey", "secret", ["LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"]),
        (API_KEY, API_SECRET, ["LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"]),
        ("a-key", API_SECRET, ["LIVEKIT_API_SECRET"]),
        ("a-key", SECRET[:31], ["LIVEKIT_API_SECRET"]),
        ("a-key", SECRET, []),
    ],
)
@pytest.mark.parametrize(
    "url", ["wss://rooms.example", "ws://192.168.1.4:7880", "ws://127.0.0.1.example"]
)
def test_keys_that_everybody_knows_are_for_this_machine_only(
    monkeypatch: pytest.MonkeyPatch, url: str, key: str, secret: str, wrong: list[str]
) -> None:
    given(monkeypatch, url, key, secret)

    said = faults() if wrong else []

    assert names(said) == wrong
    assert not any(secret in line for line in said)
    for here in ("ws://localhost:7880", "ws://127.0.0.1:7880", "ws://[::1]:7880"):
        given(monkeypatch, here, key, secret)
        assert Settings.read_for_rooms().livekit_url == here


def test_the_key_to_the_server_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "wss://rooms.example/", "a-key", f" {SECRET} ")

    settings = Settings.read_for_rooms()

    assert settings.secrets == (SECRET,)
    assert SECRET not in repr(settings)
    assert settings.livekit_url == "wss://rooms.example"


def test_speech_that_is_switched_off_cannot_be_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BELLA_VISTA_TTS", "what it sets is undone")
    monkeypatch.delenv("BELLA_VISTA_TTS")
    monkeypatch.setenv("BELLA_VISTA_STT", "none")
    with pytest.raises(SystemExit) as stopped:
        main(["dev", "--speech"])

    assert stopped.value.code == 2
    assert "BELLA_VISTA_STT: is none, but --speech is given" in capsys.readouterr().err
