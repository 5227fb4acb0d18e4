"""A bistro with a menu, a test's clock, and helpers that apply commands to an order."""

from datetime import datetime, timedelta
from functools import cache
from itertools import count

from state.commands import OrderCommand
from state.context import OrderContext
from state.menu import Menu, read_menu
from state.opening import open_order
from state.order import OrderState

FRIDAY_AT_SEVEN = datetime.fromisoformat("2026-11-20T19:00:00-05:00")

CARD = """
restaurant:
  id: blue-door
  name: The Blue Door
  currency: USD
  timezone: America/New_York
  phone: "+1 212 555 0142"
  hours:
    monday: closed
    tuesday: ["11:30-14:30", "17:30-22:00"]
    wednesday: ["11:30-14:30", "17:30-22:00"]
    thursday: ["11:30-14:30", "17:30-22:00"]
    friday: ["11:30-14:30", "17:30-01:00"]
    saturday: ["17:30-01:00"]
    sunday: ["12:00-22:00"]
  service:
    pickup: {lead_minutes: 20}
    delivery: {lead_minutes: 45, fee: "3.50", minimum: "20.00", postcodes: ["10012", "10014"]}
  payment: [cash, card]
  tax: {mode: added, rounding: per_rate, rates: {food: "8.875", alcohol: "10"}}
  tip: {base: subtotal, maximum: 30}
  limits: {quantity: 20, lines: 6, total: "400.00"}
sizes:
  large: [big]
coupons:
  TEN: {percent: 10, combinable: true}
  FIVE: {amount: "5.00", combinable: true}
  ALONE: {percent: 20}
  BIG: {percent: 50, minimum: "30.00"}
  OLD: {amount: "1.00", until: "2026-11-19"}
  TODAY: {amount: "1.00", until: "2026-11-20"}
options:
  crust:
    choose: 1
    default: thin
    choices: {thin: "0", pan: "1.00"}
  toppings:
    choose: 0-4
    portions: [half]
    amounts: {light: 1, extra: 2}
    choices: {ham: "2.00", olives: {price: {small: "1.00", large: "1.50"}}}
  dressing:
    choose: 1
    choices: {vinaigrette: "0", ranch: "0.50"}
sections:
  - name: Pizza
    aliases: [pizzas]
    dishes:
      - name: Margherita
        price: {small: "9.00", large: "13.50"}
        with: [tomato, mozzarella, basil]
        extra: {mozzarella: "1.50"}
        options: [crust, toppings]
        allergens: [gluten, milk]
      - {name: Funghi, price: {small: "10.00", large: "14.50"}, with: [mushrooms, basil], options: [toppings]}
      - {name: Calzone, price: "12.00", available: false}
  - name: Salads
    dishes:
      - {name: House salad, price: "7.00", options: [dressing], with: [walnuts]}
  - name: Drinks
    dishes:
      - {name: Cola, aliases: [coke], price: {can: "2.00", bottle: "3.50"}, default_size: can}
      - {name: Water, price: "2.50"}
      - {name: House red, price: "6.00", minimum_age: 21, tax: alcohol}
  - name: Lunch
    served: [{days: [tuesday, wednesday, thursday, friday], hours: "11:30-14:30"}]
    dishes:
      - {name: Soup of the day, price: "5.50"}
combos:
  - name: Dinner for two
    price: "24.00"
    parts:
      - {choose: 2, from: [Margherita, Funghi]}
      - {choose: 2, from: [House red]}
  - name: Lunch deal
    price: "10.00"
    parts:
      - {choose: 1, from: [Margherita, Soup of the day, Calzone]}
      - {choose: 1, from: [Cola, Water]}
"""


@cache
def card(text: str = CARD) -> Menu:
    """Read a menu, cached."""
    return read_menu(text, "bistro.yaml")


class Bistro:
    """A small restaurant with a test's clock."""

    def __init__(self, menu: Menu | None = None, now: datetime = FRIDAY_AT_SEVEN) -> None:
        self.menu = menu or card()
        self.now = now
        ids = count(1)
        self.context = OrderContext(
            menu=self.menu, now=lambda: self.now, new_id=lambda: f"id-{next(ids)}"
        )

    def order(self, *commands: OrderCommand) -> OrderState:
        """Make an order by these commands."""
        order = open_order(
            self.menu, order_id="o-1", order_number="17", channel="terminal", now=self.now
        )
        return self.after(order, *commands)

    def after(self, order: OrderState, *commands: OrderCommand) -> OrderState:
        """Return the order after these commands."""
        for command in commands:
            order = command.apply(order, self.context)
        return order

    def wait(self, **time: float) -> None:
        """Advance the clock."""
        self.now += timedelta(**time)
