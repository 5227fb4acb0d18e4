"""A card that uses every key a menu may have."""

from collections.abc import Mapping, Sequence

from tests.state.properties.cards import Card

EVERY_KEY: Card = {
    "restaurant": {
        "id": "every-key",
        "name": "Every Key",
        "currency": "USD",
        "timezone": "America/New_York",
        "phone": "+1 212 555 0142",
        "address": "1 Long Row",
        "transfer_to": "+12125550143",
        "hours": {
            "monday": "closed",
            "tuesday": ["11:30-14:30", "17:30-22:00"],
            "wednesday": "10:00-20:00",
            "thursday": "10:00-20:00",
            "friday": ["17:30-01:00"],
            "saturday": ["17:30-01:00"],
            "sunday": "12:00-22:00",
        },
        "closed_on": ["2026-12-25"],
        "facts": {"parking": "Behind the house."},
        "service": {
            "pickup": {"lead_minutes": 20},
            "delivery": {
                "lead_minutes": 45,
                "fee": "3.50",
                "minimum": "20.00",
                "postcodes": ["10012"],
            },
        },
        "payment": ["cash", "card"],
        "tax": {"mode": "added", "rounding": "per_line", "rates": {"food": "8.875", "wine": "10"}},
        "tip": {"base": "total", "suggested": [10, 15], "maximum": 30},
        "limits": {"quantity": 20, "lines": 40, "total": "400.00"},
    },
    "sizes": {"large": ["big"]},
    "coupons": {
        "TEN": {"percent": 10, "minimum": "15.00", "until": "2026-12-31", "combinable": True},
        "TWO": {"amount": "2.00"},
    },
    "options": {
        "crust": {"choose": 1, "default": "thin", "choices": {"thin": "0", "pan": "1.00"}},
        "toppings": {
            "aliases": ["on top"],
            "choose": "0-9",
            "portions": ["half"],
            "amounts": {"light": 1, "extra": 2},
            "choices": {
                "ham": {
                    "price": {"small": "1.00", "large": "1.50"},
                    "aliases": ["prosciutto"],
                    "allergens": ["celery"],
                    "diets": ["keto"],
                    "available": True,
                },
                "olives": "0.50",
            },
        },
        "shots": {"choose": "0-4", "counted": True, "choices": {"shot": "0.90"}},
    },
    "sections": [
        {
            "name": "Pizza",
            "aliases": ["pizzas"],
            "served": [{"days": ["friday", "saturday"], "hours": "17:30-23:00"}],
            "dishes": [
                {
                    "name": "Margherita",
                    "aliases": ["plain one"],
                    "description": "Tomato, mozzarella.",
                    "price": {"small": "9.00", "large": "13.50"},
                    "default_size": "small",
                    "with": ["tomato", "mozzarella"],
                    "extra": {"mozzarella": {"small": "1.00", "large": "1.50"}},
                    "options": ["crust", "toppings"],
                    "diets": ["vegetarian"],
                    "allergens": ["milk"],
                    "tax": "food",
                    "available": True,
                    "served": {"hours": "17:30-23:00"},
                }
            ],
        },
        {
            "name": "Drinks",
            "dishes": [
                {"name": "Latte", "price": "4.20", "options": ["shots"]},
                {"name": "Red", "price": "6.00", "minimum_age": 21, "tax": "wine"},
            ],
        },
    ],
    "combos": [
        {
            "name": "Supper",
            "aliases": ["supper deal"],
            "description": "For one.",
            "price": "14.00",
            "parts": [{"choose": 1, "from": ["Margherita"]}, {"from": ["Drinks"]}],
            "available": True,
            "served": [{"days": ["friday"], "hours": ["18:00-22:00"]}],
        }
    ],
    "suggestions": [{"after": "Pizza", "offer": "Latte"}],
}


def places(value: object) -> list[tuple[str | int, ...]]:
    """Every place within a card, as the steps that lead there."""
    found: list[tuple[str | int, ...]] = []
    steps: list[tuple[str | int, object]] = []
    if isinstance(value, Mapping):
        steps = [*value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        steps = [*enumerate(value)]
    for step, inner in steps:
        found.append((step,))
        found += [(step, *rest) for rest in places(inner)]
    return found
