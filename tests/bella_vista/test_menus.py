"""Which menu is served."""

import logging
import os
import tempfile
from pathlib import Path

import pytest

from agents.app.faults import InputError
from bella_vista.menus import OWN, keep_menu_copy, served_menu


@pytest.fixture
def menu(tmp_path: Path) -> Path:
    file = tmp_path / "menu.yaml"
    file.write_bytes(OWN.read_bytes())
    return file


def test_a_menu_that_is_broken_later_is_served_as_it_was_and_mended_as_it_is(
    menu: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = menu.read_text()
    with keep_menu_copy(menu):
        menu.write_text("restaurant: 5\n")
        served = served_menu(menu)
        (told,) = caplog.messages
        menu.write_text(good.replace("Margherita", "Regina"))
        mended = served_menu(menu)

    assert served.restaurant.name == "Bella Vista"
    assert "serving the last valid one" in told
    assert f"{menu}:1" in told
    assert mended.version != served.version


def test_without_a_copy_a_broken_menu_is_refused(menu: Path) -> None:
    with keep_menu_copy(menu):
        pass
    menu.write_text("restaurant: 5\n")

    with pytest.raises(InputError, match="menu.yaml:1: "):
        served_menu(menu)


def test_where_nothing_can_be_written_it_is_served_without_a_copy(
    menu: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(menu.parent / "there is none"))

    with keep_menu_copy(menu), caplog.at_level(logging.WARNING):
        assert served_menu(menu).restaurant.name == "Bella Vista"

    assert caplog.messages == ["backup copy of the menu not written"]
    assert "_BELLA_VISTA_GOOD_MENU" not in os.environ
