"""How a text to be erased is recognised in the bytes of files."""

import json
from pathlib import Path

import pytest

from agents.app.traces import Trace, found_in_files, overwritten


@pytest.mark.parametrize("text", ["Zoë Öz", "ZOË ÖZ", "zoë öz"])
@pytest.mark.parametrize("escaped", [True, False])
def test_bytes_are_known_in_both_ways_of_json_and_across_pieces(
    text: str, escaped: bool, tmp_path: Path
) -> None:
    name = Trace("name", "Zoë Öz")
    written = json.dumps(text, ensure_ascii=escaped)[1:-1].encode()
    file = tmp_path / "orders.db"
    for before in (b"", b"x" * ((1 << 20) - 3), b"x" * ((2 << 20) - 3)):
        file.write_bytes(before + written + b"y" * 9)

        assert found_in_files([file], [name]) == {name: [file]}


def test_only_a_text_of_its_own_is_written_over(tmp_path: Path) -> None:
    log = tmp_path / "console.log"
    log.write_text("Anna in Annapolis; ANNA? Savanna, Annaë\n")

    assert overwritten(log, [Trace("name", "Anna")]) == 2
    assert log.read_text() == "**** in Annapolis; ****? Savanna, Annaë\n"


@pytest.mark.parametrize("number", ["+13125550199", "+999123456789"])
def test_a_number_is_found_in_any_notation_also_one_that_no_country_has(number: str) -> None:
    spaced = f"{number[-10:-7]} {number[-7:-4]}-{number[-4:]}".encode()

    assert Trace("phone", number).in_bytes(b"call " + spaced) is number.startswith("+1312")
    assert Trace("phone", number).in_bytes(number.encode())
