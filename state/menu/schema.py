"""Which keys a menu may have and what stands behind them: for the reader, and for editors as JSON Schema."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_HOURS = r"^\d{1,2}:\d\d\s*[-\u2013]\s*\d{1,2}:\d\d$"


def menu_schema() -> dict[str, Any]:
    """Return the JSON Schema of a menu as people write it in YAML.

    Editors complete and check a menu by it. It knows the form only; that names refer to something is
    checked when the menu is read.
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/menu",
        "title": "A menu",
        "definitions": {
            **_VALUES,
            **{
                kind: _mapping(about, required, keys)
                for kind, (about, required, keys) in _KINDS.items()
            },
        },
    }


def keys_of(kind: str) -> Mapping[str, Any]:
    """Return the keys that this kind of mapping may have, with the schema of each."""
    return _KINDS[kind][2]


def required_keys(kind: str) -> tuple[str, ...]:
    """Return the keys without which this kind of mapping cannot be read."""
    return _KINDS[kind][1]


def _mapping(about: str, required: tuple[str, ...], keys: dict[str, Any]) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "description": about,
        "properties": keys,
        "additionalProperties": False,
    }
    if required:
        schema["required"] = list(required)
    return schema


def _ref(name: str, about: str = "") -> dict[str, JsonValue]:
    # Draft 7 ignores what stands beside a $ref, so a description needs the allOf around it.
    reference: dict[str, JsonValue] = {"$ref": f"#/definitions/{name}"}
    return {"description": about, "allOf": [reference]} if about else reference


def _list_of(name: str, about: str) -> dict[str, JsonValue]:
    return {"description": about, "type": "array", "minItems": 1, "items": _ref(name)}


def _by_name(name: str, about: str, names: str) -> dict[str, JsonValue]:
    return {
        "description": about,
        "type": "object",
        "propertyNames": {"minLength": 1, "description": names},
        "additionalProperties": _ref(name),
    }


def _one_of(about: str, *values: str) -> dict[str, JsonValue]:
    return {"description": about, "enum": list(values)}


def _whole(about: str, least: int, most: int) -> dict[str, JsonValue]:
    return {"description": about, "type": "integer", "minimum": least, "maximum": most}


_VALUES: dict[str, Any] = {
    "text": {"type": ["string", "number", "boolean"], "minLength": 1},
    "texts": {
        "description": "One text or a list of them.",
        "anyOf": [
            {"$ref": "#/definitions/text"},
            {"type": "array", "items": {"$ref": "#/definitions/text"}},
        ],
    },
    "money": {
        "description": 'An amount as people write it, in quotes: "9.50".',
        "type": ["string", "number"],
        "pattern": r"^\d+(\.\d+)?$",
        "minimum": 0,
    },
    "prices": {
        "description": "One amount, or one for each size.",
        "anyOf": [
            {"$ref": "#/definitions/money"},
            {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {"$ref": "#/definitions/money"},
            },
        ],
    },
    "number": {
        "description": "A number, with or without decimals.",
        "type": ["string", "number"],
        "pattern": r"^\d+(\.\d+)?\s*%?$",
        "minimum": 0,
    },
    "date": {
        "description": "A day: 2026-12-25.",
        "type": "string",
        "pattern": r"^\d{4}-\d\d-\d\d$",
    },
    "spans": {
        "description": 'Hours like "11:30-14:30", one or a list. An end not after the start is on the next day.',
        "anyOf": [
            {"type": "string", "pattern": _HOURS},
            {"type": "array", "items": {"type": "string", "pattern": _HOURS}},
        ],
    },
    "day_hours": {
        "description": 'The hours of a day, or "closed".',
        "anyOf": [{"const": "closed"}, {"$ref": "#/definitions/spans"}],
    },
    "served": {
        "description": "When it is served; always while the house is open, if nothing is said.",
        "anyOf": [
            {"$ref": "#/definitions/served_when"},
            {"type": "array", "items": {"$ref": "#/definitions/served_when"}},
        ],
    },
    "choice": {
        "description": "What a choice costs, or more about it.",
        "anyOf": [
            {"$ref": "#/definitions/money"},
            {"$ref": "#/definitions/choice_details"},
            {"type": "null"},
        ],
    },
}

_ALIASES = _ref("texts", "What people also say for it.")
_AVAILABLE = {"description": "false when it is sold out.", "type": "boolean"}
_ALLERGENS = _ref("texts", "The allergens in it.")
_DIETS = _ref("texts", "The diets it fits: vegetarian, vegan, gluten free.")
_SERVED = _ref("served", "When it is served.")

# Of each kind of mapping: what it is, the keys it needs, and all it may have.
_KINDS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "menu": (
        "A restaurant's card.",
        ("restaurant", "sections"),
        {
            "restaurant": _ref("restaurant", "The house."),
            "sizes": _by_name("texts", "Other words for the sizes.", "A size used by dishes."),
            "coupons": _by_name("coupon", "What coupons take off.", "The code."),
            "options": _by_name(
                "group", "Groups of choices, shared by dishes.", "The group's name."
            ),
            "sections": _list_of("section", "The headings of the card, in order."),
            "combos": _list_of("combo", "Several dishes for one price."),
            "suggestions": _list_of("suggestion", "What is offered once, after something else."),
        },
    ),
    "restaurant": (
        "The house: its name, hours, services and rules of money.",
        ("id", "name", "currency", "timezone", "hours"),
        {
            "id": {
                "description": "A short name for machines; it stands in every order.",
                "type": "string",
                "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
            },
            "name": _ref("text", "The name as guests know it."),
            "currency": {
                "description": "Its ISO 4217 code: USD, EUR, JPY.",
                "type": "string",
                "pattern": "^[A-Z]{3}$",
            },
            "timezone": {
                "description": "Its IANA name: America/New_York.",
                "type": "string",
                "minLength": 1,
            },
            "phone": _ref("text", "The telephone number guests call."),
            "transfer_to": {
                "description": "Where a caller is transferred when there is no speech for them: a telephone"
                " number with its country (+12125550142), or a SIP address (sip:desk@example.com).",
                "type": "string",
                "pattern": r"^(\+[ ().-]*[1-9]([ ().-]*[0-9]){6,14}[ ().-]*|sips?:([^\s@]+@)?[A-Za-z0-9][^\s@]*)$",
            },
            "address": _ref("text", "Where the house is."),
            "hours": _ref("hours", "When the house is open."),
            "closed_on": {
                "description": "Days on which it stays closed.",
                "type": "array",
                "items": {"$ref": "#/definitions/date"},
            },
            "facts": _by_name("text", "What guests ask, and the answer.", "What it is about."),
            "service": _ref("service", "How guests get their food; pickup if nothing is said."),
            "payment": {
                "description": "What guests can pay with at handover.",
                "type": "array",
                "minItems": 1,
                "items": {"enum": ["cash", "card"]},
            },
            "tax": _ref("tax", "How tax is reckoned."),
            "tip": _ref("tip", "How a tip is reckoned."),
            "limits": _ref("limits", "Beyond these a person is called."),
        },
    ),
    "hours": (
        "Opening hours by day; a day that is not named is closed.",
        (),
        {day: _ref("day_hours") for day in _DAYS},
    ),
    "service": (
        "How guests get their food.",
        (),
        {
            "pickup": _ref("pickup", "Guests fetch it."),
            "delivery": _ref("delivery", "It is brought to them."),
        },
    ),
    "pickup": (
        "How guests fetch their food.",
        (),
        {"lead_minutes": _whole("Minutes from order to handover.", 0, 1440)},
    ),
    "delivery": (
        "How food is brought.",
        (),
        {
            "lead_minutes": _whole("Minutes from order to the guest's door.", 0, 1440),
            "fee": _ref("money", "What bringing it costs."),
            "minimum": _ref("money", "The least an order must come to."),
            "postcodes": _ref("texts", "Where it is brought; everywhere if nothing is said."),
        },
    ),
    "tax": (
        "How tax is reckoned.",
        (),
        {
            "mode": _one_of("Whether prices include it.", "added", "included"),
            "rounding": _one_of("Where it is rounded.", "per_rate", "per_line"),
            "rates": _by_name("number", "Percent by name; the first is the default.", "The rate."),
        },
    ),
    "tip": (
        "How a tip is reckoned.",
        (),
        {
            "base": _one_of("What a percentage is taken of.", "subtotal", "total"),
            "suggested": {
                "description": "Percentages that are offered.",
                "type": "array",
                "items": {"$ref": "#/definitions/number"},
            },
            "maximum": _ref("number", "The highest percentage taken; 30 if nothing is said."),
        },
    ),
    "limits": (
        "Beyond these a person is called.",
        (),
        {
            "quantity": _whole("The most of one line.", 1, 10_000),
            "lines": _whole("The most lines.", 1, 1_000),
            "total": _ref("money", "The highest total."),
        },
    ),
    "coupon": (
        "What a coupon takes off: a percentage or an amount.",
        (),
        {
            "percent": _ref("number", "Percent of the subtotal."),
            "amount": _ref("money", "An amount."),
            "minimum": _ref("money", "The least the order must come to."),
            "until": _ref("date", "The last day it is good for."),
            "combinable": {
                "description": "Whether it goes with others that say the same; false if nothing is said.",
                "type": "boolean",
            },
        },
    ),
    "group": (
        "Choices that go together: a crust, toppings, shots.",
        ("choices",),
        {
            "aliases": _ALIASES,
            "choose": {
                "description": 'How many: 1, "0-3". As many as there are, if nothing is said.',
                "type": ["string", "integer"],
                "pattern": r"^\d+(\s*-\s*\d+)?$",
                "minimum": 0,
            },
            "default": _ref(
                "text", "The choice taken when nothing is said; the price includes it."
            ),
            "counted": {
                "description": 'Whether a choice can be had several times ("three shots").',
                "type": "boolean",
            },
            "portions": {
                "description": "[half] lets a choice lie on one half, for half its price.",
                "anyOf": [
                    {"const": "half"},
                    {"type": "array", "items": {"enum": ["half"]}},
                ],
            },
            "amounts": _by_name(
                "number", "Amounts and what they multiply the price by.", 'A word: "extra".'
            ),
            "choices": {
                "description": "The choices and their prices.",
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {"$ref": "#/definitions/choice"},
            },
        },
    ),
    "choice_details": (
        "A choice and more about it.",
        (),
        {
            "price": _ref("prices", "What it costs; nothing if nothing is said."),
            "aliases": _ALIASES,
            "allergens": _ALLERGENS,
            "diets": _DIETS,
            "available": _AVAILABLE,
        },
    ),
    "section": (
        "A heading of the card with its dishes.",
        ("name", "dishes"),
        {
            "name": _ref("text", "The heading."),
            "aliases": _ALIASES,
            "served": _SERVED,
            "dishes": _list_of("dish", "The dishes, in order."),
        },
    ),
    "dish": (
        "Something that can be ordered by itself.",
        ("name", "price"),
        {
            "name": _ref("text", "The name on the card; no two dishes share one."),
            "aliases": _ALIASES,
            "description": _ref("text", "A sentence for the guest."),
            "price": _ref("prices", "What it costs, or what each size costs."),
            "default_size": _ref(
                "text", "The size taken when none is said; without it guests are asked."
            ),
            "with": _ref("texts", "What is in it and can be left off, made light or extra."),
            "extra": _by_name(
                "prices", "What extra of something in it costs.", 'One of the words of "with".'
            ),
            "options": _ref("texts", "Its groups of choices, in order."),
            "diets": _DIETS,
            "allergens": _ALLERGENS,
            "tax": _ref("text", "Its tax rate; the first if nothing is said."),
            "minimum_age": _whole("How old a guest has to be.", 1, 120),
            "available": _AVAILABLE,
            "served": _SERVED,
        },
    ),
    "served_when": (
        "Days and hours.",
        (),
        {
            "days": {
                "description": "The days; every day if nothing is said.",
                "type": "array",
                "minItems": 1,
                "items": {"enum": _DAYS},
            },
            "hours": _ref("spans", "The hours; all day if nothing is said."),
        },
    ),
    "combo": (
        "Several dishes for one price.",
        ("name", "price", "parts"),
        {
            "name": _ref("text", "The name on the card."),
            "aliases": _ALIASES,
            "description": _ref("text", "A sentence for the guest."),
            "price": _ref("money", "The price of all parts together."),
            "parts": _list_of("part", "What it consists of."),
            "available": _AVAILABLE,
            "served": _SERVED,
        },
    ),
    "part": (
        "One part of a combo: so many of these dishes.",
        ("from",),
        {
            "choose": _whole("How many; 1 if nothing is said.", 1, 50),
            "from": _ref("texts", "Dishes, or sections: all their dishes."),
        },
    ),
    "suggestion": (
        "What is offered once, after something else was ordered.",
        ("after", "offer"),
        {
            "after": _ref("text", "A section, a dish or a combo."),
            "offer": _ref("text", "A dish or a combo."),
        },
    ),
}
