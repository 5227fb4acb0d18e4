"""How a number and an address are recognised, as people write them and as files hold them."""

import json

import pytest

from bella_vista.traces import NoContact, contact_of
from tests.state.bistro import Bistro

US = Bistro().menu.restaurant
GERMANY = US.model_copy(update={"phone": "+49 30 901820"})


@pytest.mark.parametrize(
    "written",
    [
        *("+12125550199", "12125550199", "2125550199", "212 555 0199", "(212) 555-0199"),
        *("+1 (212) 555-0199", "212.555.0199", "1-212-555-0199", "001 212 555 0199"),
        *("21 25 55 01 99", "+1 212\u00a0555\u00a00199", "212/555-0199", "212\u2011555\u20110199"),
        *("call 212 555 0199.", "my number:2125550199, thanks", "Zoë's: (212)5550199"),
    ],
)
def test_a_number_is_known_in_every_writing(written: str) -> None:
    phone = contact_of("212 555 0199", US)

    for stored in (written, json.dumps({"content": [f"so:\n{written}\nyes"]}), f'["{written}"]'):
        assert phone.stored_in(stored), stored
        assert phone.in_stored(stored), stored
    assert not phone.stored_in(phone.cut(written))


@pytest.mark.parametrize(
    "written",
    [
        *("+122125550199", "21255501990", "3212555019", "+44 212 555 0199", "0044 212 555 0199"),
        *("212 555 019", "212, 555, 0199 and more", "2026-11-20T21:25:55.019900+00:00"),
    ],
)
def test_another_number_is_another_one(written: str) -> None:
    assert not contact_of("+12125550199", US).stored_in(json.dumps({"note": written}))


@pytest.mark.parametrize(
    "written",
    ["+49301234567", "030 1234567", "(030) 123 45 67", "+49 (0)30 1234567", "0049301234567"],
)
def test_the_restaurants_country_says_what_a_number_is(written: str) -> None:
    phone = contact_of("030 / 1234567", GERMANY)

    assert phone.text == "+49301234567"
    assert phone.stored_in(written)
    assert not contact_of("+4930123456", GERMANY).stored_in(written)


def test_a_day_is_no_number_of_eight_digits() -> None:
    denmark = contact_of("+45 20 26 11 20", US)

    assert denmark.stored_in('"call 20261120"')
    assert not denmark.stored_in('{"at":"2026-11-20T19:00:00-05:00"}')


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ADA@Example.com", True),
        ("write to ada@example.com.", True),
        ('{"note": "to:\\nada@example.com"}', True),
        ("<ada@example.com>", True),
        ("xada@example.com", False),
        ("x.ada@example.com", False),
        ("ada@example.com.au", False),
        ("ada@example.community", False),
    ],
)
def test_an_address_is_known_whatever_its_case_and_a_longer_one_is_another(
    written: str, meant: bool
) -> None:
    assert contact_of("ada@example.com", US).stored_in(written) is meant


@pytest.mark.parametrize("typed", ["Ada", "", "12", "ada@", "@example.com", "ada@b@c.org", "+"])
def test_other_input_is_refused(typed: str) -> None:
    with pytest.raises(NoContact, match="neither a telephone number nor an e-mail address"):
        contact_of(typed, US)
