import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bella_vista.settings import Settings, SettingsFaults, read_settings, unknown_settings

pytestmark = pytest.mark.usefixtures("clean_folder")


def test_without_any_setting_everything_has_a_default() -> None:
    settings = read_settings()

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

    settings = read_settings(menu="option.yaml")

    assert settings.menu == Path("option.yaml")
    assert settings.model == "script:environment.yaml"
    assert settings.database == "sqlite:///file.db"


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_AT", "")

    assert read_settings().at is None


def test_a_time_is_read_as_people_write_it() -> None:
    assert read_settings(at="2026-11-20T19:00").at == datetime.fromisoformat("2026-11-20T19:00")
    assert read_settings(at="2026-11-20 19:00:30Z").at == datetime(
        2026, 11, 20, 19, 0, 30, tzinfo=UTC
    )


def test_everything_that_is_wrong_is_listed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_MODEL", "oracle")

    with pytest.raises(SettingsFaults) as caught:
        read_settings(at="supper time")

    assert caught.value.faults == (
        'BELLA_VISTA_MODEL: there is no model "oracle": use local, or script:FILE',
        '--at: "supper time" is no time: write it like 2026-11-20T19:00, with or without an offset',
    )


@pytest.mark.parametrize(
    "time", ["19:00", "5", "1970-01-01T00:00", "9999-12-31T23:59", "20.11.2026"]
)
def test_what_is_no_time_is_refused(time: str) -> None:
    with pytest.raises(SettingsFaults, match="--at"):
        read_settings(at=time)


@pytest.mark.parametrize("model", ["openai", "", "script:", "Local", "gpt"])
def test_a_model_that_is_not_there_is_refused(model: str) -> None:
    with pytest.raises(SettingsFaults, match="--model"):
        read_settings(model=model)


def test_a_file_that_is_no_text_is_one_fault(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"BELLA_VISTA_MENU=\xff\xfe\n")

    with pytest.raises(SettingsFaults, match="^.env: cannot be read"):
        read_settings()


def test_a_misspelt_setting_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLA_VISTA_MODLE", "local")

    assert unknown_settings() == ("BELLA_VISTA_MODLE",)


def test_the_example_names_every_setting() -> None:
    text = (Path(__file__).parents[2] / ".env.example").read_text()

    named = re.findall(r"^#BELLA_VISTA_([A-Z_]+)=", text, re.MULTILINE)

    assert [name.lower() for name in named] == list(Settings.model_fields)
