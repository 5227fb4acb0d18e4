import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from state.menu import MenuFaults, menu_schema, read_menu

ROOT = Path(__file__).parents[3]
MENUS = (*sorted((ROOT / "tests/menus").glob("*.yaml")), ROOT / "bella_vista/menu.yaml")
SCHEMA = menu_schema()

EVERY_KEY = """\
restaurant:
  {id: r, name: R, currency: EUR, timezone: Europe/Rome, phone: "1", transfer_to: "+12125550142", address: A,
   hours: {monday: closed, tuesday: "9:00-12:00", wednesday: closed, thursday: closed, friday: closed, saturday: closed, sunday: closed},
   closed_on: [2026-12-25], facts: {a: b},
   service: {pickup: {lead_minutes: 1}, delivery: {lead_minutes: 1, fee: "1", minimum: "1", postcodes: ["1"]}},
   payment: [cash], tax: {mode: added, rounding: per_line, rates: {food: "1"}},
   tip: {base: total, suggested: [1], maximum: 2}, limits: {quantity: 1, lines: 1, total: "1"}}
sizes: {small: [little]}
coupons: {A: {percent: 1, minimum: "1", until: 2026-12-31, combinable: true}, B: {amount: "1"}}
options:
  g: {aliases: [h], choose: 1, default: c, counted: false, portions: [half], amounts: {extra: 2},
      choices: {c: {price: "1", aliases: [d], allergens: [x], diets: [y], available: true}}}
sections:
  - name: S
    aliases: [s]
    served: [{days: [monday], hours: "9:00-10:00"}]
    dishes:
      - {name: D, aliases: [e], description: t, price: {small: "1"}, default_size: small, with: [w], extra: {w: "1"},
         options: [g], diets: [y], allergens: [x], tax: food, minimum_age: 18, available: true, served: {days: [friday]}}
combos: [{name: K, aliases: [k], description: t, price: "1", available: true, served: {days: [friday]}, parts: [{choose: 1, from: [D]}]}]
suggestions: [{after: S, offer: D}]
"""


def fits(value: Any, schema: dict[str, Any], where: str = "menu") -> list[str]:
    """A JSON Schema validator for the few words that our schema uses."""
    known = {"$ref", "allOf", "anyOf", "const", "enum", "type", "properties", "required"}
    known |= {"additionalProperties", "propertyNames", "minProperties", "items", "minItems"}
    known |= {"pattern", "minLength", "minimum", "maximum", "description", "title"}
    known |= {"$schema", "definitions"}
    assert not schema.keys() - known, schema.keys() - known
    wrong: list[str] = []
    if "$ref" in schema:
        wrong += fits(value, SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]], where)
    for part in schema.get("allOf", ()):
        wrong += fits(value, part, where)
    if "anyOf" in schema and all(fits(value, part, where) for part in schema["anyOf"]):
        wrong.append(f"{where}: {value!r} fits none")
    if "const" in schema and value != schema["const"]:
        wrong.append(f"{where}: is not {schema['const']}")
    if "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{where}: {value!r} is none of {schema['enum']}")
    kinds = schema.get("type", [])
    kind = (
        "null"
        if value is None
        else "boolean"
        if isinstance(value, bool)
        else {dict: "object", list: "array", str: "string", int: "integer", float: "number"}[
            type(value)
        ]
    )
    allowed = {kinds} if isinstance(kinds, str) else set(kinds)
    if allowed and kind not in allowed and not (kind == "integer" and "number" in allowed):
        wrong.append(f"{where}: is {kind}, not {allowed}")
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            wrong.append(f"{where}: {value!r} does not fit {schema['pattern']}")
        if len(value) < schema.get("minLength", 0):
            wrong.append(f"{where}: is too short")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            wrong.append(f"{where}: {value} is out of bounds")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            wrong.append(f"{where}: is empty")
        for at, item in enumerate(value):
            wrong += fits(item, schema.get("items", {}), f"{where}[{at}]")
    if isinstance(value, dict):
        wrong += [f"{where}: needs {key}" for key in schema.get("required", ()) if key not in value]
        if len(value) < schema.get("minProperties", 0):
            wrong.append(f"{where}: is empty")
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", {})
        for key, item in value.items():
            if key in properties:
                wrong += fits(item, properties[key], f"{where}.{key}")
            elif others is False:
                wrong.append(f"{where}: {key} is unknown")
            else:
                wrong += fits(item, others, f"{where}.{key}")
    return wrong


def as_an_editor_reads(text: str) -> Any:
    """The YAML of editors: like ours, but that a date is a text and only true and false are flags."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if not tag.endswith((":timestamp", ":bool"))
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf")
    )
    return yaml.load(text, Loader)


def test_the_committed_schema_is_the_one_the_reader_goes_by() -> None:
    committed = json.loads((ROOT / "bella_vista/menu.schema.json").read_text(encoding="utf-8"))

    assert committed == SCHEMA


def test_the_card_points_its_editor_at_the_schema() -> None:
    first = (ROOT / "bella_vista/menu.yaml").read_text(encoding="utf-8").splitlines()[0]

    assert first == "# yaml-language-server: $schema=menu.schema.json"
    assert (ROOT / "bella_vista/menu.schema.json").is_file()


# The kebab shop writes `available: no`, which our reader takes; editors want true or false.
@pytest.mark.parametrize(
    "path", [path for path in MENUS if path.stem != "kebab"], ids=lambda path: path.stem
)
def test_accepted_menus_fit_the_schema(path: Path) -> None:
    assert fits(as_an_editor_reads(path.read_text(encoding="utf-8")), SCHEMA) == []


def test_the_schema_refuses_what_the_reader_refuses() -> None:
    written = as_an_editor_reads(EVERY_KEY)
    assert fits(written, SCHEMA) == []

    written["sections"][0]["dishes"][0]["prize"] = "1"
    written["restaurant"]["hours"]["monday"] = "late"
    written["coupons"]["A"]["percent"] = "-1"
    del written["suggestions"][0]["offer"]

    assert len(fits(written, SCHEMA)) == 4


def keys() -> list[tuple[str, str]]:
    kinds = {kind: part for kind, part in SCHEMA["definitions"].items() if "properties" in part}
    return [(kind, key) for kind, part in kinds.items() for key in part["properties"]]


def test_every_key_of_the_schema_is_described() -> None:
    for kind, part in SCHEMA["definitions"].items():
        for key, schema in part.get("properties", {}).items():
            assert kind == "hours" or schema.get("description"), f"{kind}.{key}"


def test_the_menu_with_every_key_has_every_key() -> None:
    read_menu(EVERY_KEY, "here")
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(str(key) for key in value)
        for item in (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        ):
            walk(item)

    walk(as_an_editor_reads(EVERY_KEY))
    assert {key for _, key in keys()} <= found


@pytest.mark.parametrize("key", sorted({key for _, key in keys()} - {"default"}))
def test_no_key_of_the_schema_is_passed_over_by_the_reader(key: str) -> None:
    """A mapping in a list fits no key, so a reader that looks at it finds a fault."""
    written = as_an_editor_reads(EVERY_KEY)
    broken = 0

    def walk(value: Any) -> None:
        nonlocal broken
        for name, item in list(value.items()) if isinstance(value, dict) else ():
            if name == key:
                value[name] = [[{"nonsense": [1]}]]
                broken += 1
            else:
                walk(item)
        for item in value if isinstance(value, list) else ():
            walk(item)

    walk(written)

    assert broken
    with pytest.raises(MenuFaults):
        read_menu(json.dumps(written, default=date.isoformat), "here")


def test_every_key_is_explained_in_the_docs() -> None:
    page = (ROOT / "docs/menus.md").read_text(encoding="utf-8")
    days = {"wednesday", "thursday", "friday", "sunday"}

    for _, key in keys():
        assert key in days or re.search(rf"\b{key}\b", page), f"docs/menus.md does not name {key}"


def test_every_menu_in_the_docs_can_be_read() -> None:
    page = (ROOT / "docs/menus.md").read_text(encoding="utf-8")
    blocks = [as_an_editor_reads(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.S)]
    whole = blocks[0]

    assert len(blocks) >= 5
    for block in blocks:
        text = json.dumps({**whole, **block})
        assert read_menu(text, "docs/menus.md").dishes
        assert fits({**whole, **block}, SCHEMA) == []
