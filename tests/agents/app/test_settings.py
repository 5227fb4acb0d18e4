import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.app.setting_values import NO_REALTIME_AUDIO
from agents.app.settings import SettingsFaults
from bella_vista.settings import Settings

KEY = "sk-test-0123456789"

pytestmark = pytest.mark.usefixtures("clean_folder")


def test_without_any_setting_everything_has_a_default() -> None:
    settings = Settings.read()

    assert settings.model == "local"
    assert (settings.menu, settings.at, settings.database) == (None, None, None)


def test_an_option_wins_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text(
        "BELLA_VISTA_MENU=file.yaml\nBELLA_VISTA_MODEL=script:file.yaml\n"
        "export BELLA_VISTA_DATABASE='sqlite:///file.db'\nOPENAI_API_KEY=sk-none\n"
    )
    monkeypatch.setenv("BELLA_VISTA_MENU", "environment.yaml")
    monkeypatch.setenv("BELLA_VISTA_MODEL", "script:environment.yaml")

    settings = Settings.read(menu="option.yaml")

    assert settings.menu == Path("option.yaml")
    assert settings.model == "script:environment.yaml"
    assert settings.database == "sqlite:///file.db"


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_AT", "")

    assert Settings.read().at is None


def test_a_time_is_read_as_people_write_it() -> None:
    assert Settings.read(at="2026-11-20T19:00").at == datetime.fromisoformat("2026-11-20T19:00")
    assert Settings.read(at="2026-11-20 19:00:30Z").at == datetime(
        2026, 11, 20, 19, 0, 30, tzinfo=UTC
    )


def test_everything_that_is_wrong_is_listed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_MODEL", "oracle")

    with pytest.raises(SettingsFaults) as caught:
        Settings.read(at="supper time")

    assert caught.value.faults == (
        'BELLA_VISTA_MODEL: there is no model "oracle": use local, openai, openai-realtime, or script:FILE',
        '--at: "supper time" is not a time: write it like 2026-11-20T19:00, with or without an offset',
    )


@pytest.mark.parametrize(
    "time", ["19:00", "5", "1970-01-01T00:00", "9999-12-31T23:59", "20.11.2026"]
)
def test_an_invalid_time_is_refused(time: str) -> None:
    with pytest.raises(SettingsFaults, match="--at"):
        Settings.read(at=time)


@pytest.mark.parametrize("model", ["OpenAI", "", "script:", "Local", "gpt"])
def test_a_model_that_is_not_there_is_refused(model: str) -> None:
    with pytest.raises(SettingsFaults, match="--model"):
        Settings.read(model=model)


def test_audio_of_a_realtime_model_is_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for value in ("on", "true", "1"):
        monkeypatch.setenv("BELLA_VISTA_REALTIME_AUDIO", value)
        with pytest.raises(SettingsFaults) as caught:
            Settings.read(model="openai-realtime")
        assert f"BELLA_VISTA_REALTIME_AUDIO: {NO_REALTIME_AUDIO}" in caught.value.faults

    monkeypatch.setenv("BELLA_VISTA_REALTIME_AUDIO", "off")
    assert Settings.read().realtime_audio is False
    assert Settings.unknown() == ()


def test_a_file_that_is_no_text_is_one_fault(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"BELLA_VISTA_MENU=\xff\xfe\n")

    with pytest.raises(SettingsFaults, match="^.env: cannot be read"):
        Settings.read()


def test_a_misspelt_setting_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_MODLE", "local")

    assert Settings.unknown() == (
        'there is no setting BELLA_VISTA_MODLE - did you mean "BELLA_VISTA_MODEL"?',
    )


def test_the_example_names_every_setting() -> None:
    text = (Path(__file__).parents[3] / ".env.example").read_text()

    named = re.findall(r"^#([A-Z_]+)=", text, re.MULTILINE)

    assert sorted(named) == sorted(Settings.variable(field) for field in Settings.model_fields)


def test_a_providers_settings_keep_its_own_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example/v1/")

    settings = Settings.read(model="openai")

    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == KEY
    assert settings.openai_base_url == "https://models.example/v1"


def test_openai_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")

    with pytest.raises(SettingsFaults, match="^OPENAI_API_KEY: is not set"):
        Settings.read(model="openai")


def test_a_server_of_ones_own_may_need_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")

    assert Settings.read(model="openai").openai_api_key is None


def test_the_local_model_needs_no_key() -> None:
    assert Settings.read(model="local").openai_api_key is None


def test_settings_of_other_programs_do_not_affect_the_local_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "not a key")

    assert Settings.read(model="local").model == "local"


def test_everything_wrong_with_a_provider_is_told_at_once_and_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = {
        "OPENAI_BASE_URL": f"http://{KEY}@models.example/v1",
        "OPENAI_API_KEY": f"{KEY} and more",
        "BELLA_VISTA_OPENAI_PATIENCE": "long",
        "BELLA_VISTA_OPENAI_LOCAL_LAST": "perhaps",
        "BELLA_VISTA_OPENAI_FALLBACK_BASE_URL": "models",
        "BELLA_VISTA_OPENAI_FALLBACK_API_KEY": f"{KEY}é",
    }
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SettingsFaults) as caught:
        Settings.read(model="openai")

    assert sorted(fault.split(":")[0] for fault in caught.value.faults) == sorted(wrong)
    assert KEY not in str(caught.value)


def test_a_missing_key_is_told_along_with_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_OPENAI_PATIENCE", "0")

    with pytest.raises(SettingsFaults) as caught:
        Settings.read(model="openai", at="supper time")

    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "--at",
        "BELLA_VISTA_OPENAI_PATIENCE",
        "OPENAI_API_KEY",
    ]


@pytest.mark.parametrize("address", ["", "models", "ftp://models/v1", "http://", "http://h:x/v1"])
def test_an_invalid_address_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_OPENAI_FALLBACK_BASE_URL", address or " ")

    with pytest.raises(SettingsFaults, match="^BELLA_VISTA_OPENAI_FALLBACK_BASE_URL"):
        Settings.read()


def test_a_placeholder_is_not_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    assert Settings.read(model="openai").secrets == ()


def test_settings_show_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("BELLA_VISTA_OPENAI_FALLBACK_API_KEY", f"{KEY}-2")

    settings = Settings.read(model="openai")

    assert KEY not in f"{settings!r} {settings} {settings.model_dump_json()}"
    assert settings.secrets == (KEY, f"{KEY}-2")


@pytest.mark.parametrize(("written", "kept"), [("on", True), ("off", False), ("", True)])
def test_the_transcript_can_be_switched_off(
    written: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELLA_VISTA_TRANSCRIPT", written)

    assert Settings.read().transcript is kept


@pytest.mark.parametrize("days", ["0", "-1", "thirty", "1.5", "99999"])
def test_how_long_it_is_kept_is_a_number_of_days(
    days: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings.read().transcript_days == 30
    monkeypatch.setenv("BELLA_VISTA_TRANSCRIPT_DAYS", days)

    with pytest.raises(SettingsFaults, match="^BELLA_VISTA_TRANSCRIPT_DAYS"):
        Settings.read()


def test_a_misspelt_setting_in_the_file_is_noticed_too(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BELLA_VISTA_DATABSE=sqlite:///orders.db\nOPENAI_MODEL=x\n")

    assert Settings.unknown() == (
        'there is no setting BELLA_VISTA_DATABSE - did you mean "BELLA_VISTA_DATABASE"?',
    )


@pytest.mark.parametrize(
    "address",
    ["sqlite:///", "sqlite://", "sqlite:///:memory:", " ", "orders.db", "mysql://root:pw@host/db"],
)
def test_an_address_of_no_stored_database_is_refused(address: str) -> None:
    with pytest.raises(SettingsFaults, match="--database: is not the address of a stored database"):
        Settings.read(database=address)


def test_a_switch_is_on_or_off_as_the_example_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_TRANSCRIPT", "maybe")

    with pytest.raises(SettingsFaults) as caught:
        Settings.read()

    assert caught.value.faults == ("BELLA_VISTA_TRANSCRIPT: has to be on or off",)
    monkeypatch.setenv("BELLA_VISTA_TRANSCRIPT", "off")
    assert Settings.read().transcript is False
