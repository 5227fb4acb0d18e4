"""The restaurant's declaration, named ``APP``, and its worker's server, named ``server``.

Jobs run in processes of their own, which import this module by name. It imports neither livekit
nor the state: a command that needs neither should not wait for them.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from agents.app.app import App, Environment, NewState
from agents.app.parts import (
    CommandLine,
    Forgetting,
    Phone,
    Replay,
    Rooms,
    Stored,
    Terminal,
    WorkerProcesses,
)
from agents.app.words import Words
from bella_vista.settings import NOUN, ORDER_SCHEMA, Settings

if TYPE_CHECKING:
    import typer
    from livekit.agents.llm import LLM

    from agents.app.replay.form import Fields
    from agents.app.rooms.comments import Changes, Comment
    from agents.app.serving.worker import Worker
    from agents.app.states import ListedState
    from agents.app.terminal.summary import Summary
    from agents.handoff import Call, CallPolicy, Graph
    from rpc.page import PageSpec
    from state.commands import OrderCommand
    from state.context import OrderContext
    from state.order import OrderState
    from state.shared import SharedState


def _state() -> "type[OrderState]":
    from state.order import OrderState

    return OrderState


def _with_what_lines_hold(order: dict[str, Any]) -> dict[str, Any]:
    """Migrate from schema 1, whose lines have no ``holds``: ``null`` means not known."""
    lines = [{**line, "holds": None} for line in order["order_items"]]
    return {**order, "order_items": lines}


def _graph() -> "Graph[OrderState]":
    from agents.roster import restaurant_graph

    return restaurant_graph()


def _policy(context: "OrderContext") -> "CallPolicy[OrderState, OrderContext]":
    from agents.roster import restaurant_policy

    return restaurant_policy(context)


def _context(environment: Environment) -> "OrderContext":
    from bella_vista.menus import served_menu
    from state.context import OrderContext

    menu = served_menu(environment.settings.menu)
    now = environment.clock(ZoneInfo(menu.restaurant.timezone))
    return OrderContext(menu=menu, now=now, new_id=environment.new_id)


def _new(context: "OrderContext", new: NewState) -> "OrderState":
    from state.opening import open_order

    return open_order(
        context.menu,
        order_id=new.id,
        order_number=new.number,
        channel=new.channel,
        now=context.now(),
    )


def _view(order: "OrderState", version: int, agent: str | None) -> dict[str, Any]:
    from state.view import view

    return view(order, version, agent)


def _summary(view: Any) -> "Summary":
    from bella_vista.receipt import summary

    return summary(view)


def _local_model(context: "OrderContext", settings: Settings) -> "LLM[Any]":
    # It loads the words of the menu and the language, so only this model imports them.
    from bella_vista.local.model import LocalLLM

    return LocalLLM(context.menu, now=context.now)


def _choices(call: "Call[OrderState, OrderContext]") -> Sequence[str]:
    from agents.telling import choices

    return choices(call.last_refusal) or call.shared.context.menu.restaurant.payment


def _page() -> "PageSpec[OrderState, OrderContext]":
    from rpc.restaurant import ORDER_PAGE

    return ORDER_PAGE


def _comment(changes: "Changes[OrderState, OrderContext]") -> "Comment | None":
    from bella_vista.page_comments import comment

    return comment(changes)


def _refuse_resume(order: "OrderState", context: "OrderContext") -> str | None:
    from state.stages import ENDED

    if order.restaurant_id != context.menu.restaurant.id:
        return "belongs to another restaurant"
    return f"is {order.stage.value}" if order.stage in ENDED else None


async def _resumed(shared: "SharedState[OrderState, OrderContext]") -> None:
    from bella_vista.orders import reprice

    await reprice(shared)


async def _caller_number(shared: "SharedState[OrderState, OrderContext]", number: str) -> None:
    from bella_vista.orders import keep_number

    await keep_number(shared, number)


async def _given_up(shared: "SharedState[OrderState, OrderContext]", reason: str) -> None:
    from bella_vista.orders import flag_for_staff

    await flag_for_staff(shared, reason)


def _zone(order: "OrderState", context: "OrderContext") -> tzinfo | None:
    return order.opened_at.tzinfo


def _describe(context: "OrderContext") -> str:
    menu = context.menu
    dishes = sum(len(section.dishes) for section in menu.sections)
    return f"{menu.restaurant.name}, {dishes} dishes"


def _terms(context: "OrderContext") -> list[str]:
    return [dish.name for section in context.menu.sections for dish in section.dishes]


def _serving(settings: Settings) -> AbstractContextManager[None]:
    from bella_vista.menus import keep_menu_copy

    return keep_menu_copy(settings.menu)


def _menu_schema() -> Any:
    from state.menu import menu_schema

    return menu_schema()


def _rpc_schema() -> Any:
    from rpc.restaurant import order_contract

    return order_contract()


def _listing(listed: "Sequence[ListedState[OrderState]]") -> str:
    from bella_vista.orders_pages import order_list

    return order_list(listed)


def _text(order: "OrderState") -> str:
    from bella_vista.orders_pages import order_page

    return order_page(order)


def _commands(app: "App[OrderState, OrderContext]") -> "typer.Typer":
    from bella_vista.commands import commands_of

    return commands_of(app)


def _order_commands(app: "App[OrderState, OrderContext]") -> "typer.Typer":
    from bella_vista.commands import order_commands_of

    return order_commands_of(app)


def _without_guest(order: "OrderState") -> "OrderState":
    from state.forgetting import without_guest

    return without_guest(order)


async def _close_order(shared: "SharedState[OrderState, OrderContext]") -> None:
    from bella_vista.forgetting import close_order

    await close_order(shared)


def _fields() -> "type[Fields]":
    from bella_vista.order_fields import OrderFields

    return OrderFields


def _start_from(fields: Any) -> "Iterable[OrderCommand]":
    from bella_vista.starting_order import commands_to

    return commands_to(fields)


APP: "App[OrderState, OrderContext]" = App(
    name="bella-vista",
    noun=NOUN,
    plural="orders",
    prefix="bella",
    settings=Settings,
    state=_state,
    schema=ORDER_SCHEMA,
    migrate={1: _with_what_lines_hold},
    context=_context,
    title=lambda context: context.menu.restaurant.name,
    owner=lambda context: context.menu.restaurant.id,
    new=_new,
    graph=_graph,
    policy=_policy,
    model=_local_model,
    view=_view,
    page=_page,
    commands=_commands,
    stored=Stored(refuse_resume=_refuse_resume, resumed=_resumed, given_up=_given_up),
    forgetting=Forgetting(
        keep=_without_guest,
        close=_close_order,
        identifying=("customer_name", "phone", "email", "address"),
    ),
    rooms=Rooms(
        attributes=lambda order: {"stage": order.stage.value},
        choices=_choices,
        comment=_comment,
        terms=_terms,
        words=Words(
            not_found="I am sorry, I could not find the order you wanted to go on with.",
            moved="Your order goes on in another place now, so I leave this one. Goodbye!",
            broken_off="I am sorry, something is wrong here and this call cannot go on. What you"
            " have ordered so far is kept. Please try again later.",
            nobody_there="I do not hear anything, so I will hang up now. Your order is kept."
            " Goodbye!",
        ),
    ),
    phone=Phone(
        caller_number=_caller_number,
        transfer_to=lambda context: context.menu.restaurant.transfer_to,
    ),
    terminal=Terminal(summary=_summary, listing=_listing, text=_text, zone=_zone),
    command_line=CommandLine(
        help="Bella Vista: a restaurant whose four agents take one order.",
        options={"menu": ("FILE", "The menu; Bella Vista's own by default.")},
        schemas={"menu": _menu_schema, "rpc": _rpc_schema},
        state_commands=_order_commands,
        context_name="menu",
        describe_context=_describe,
    ),
    replay=Replay(fields=_fields, start_from=_start_from),
    worker=WorkerProcesses(
        serving=_serving,
        preload=(
            "agents.roster",
            "bella_vista.menus",
            "bella_vista.local.model",
            "bella_vista.page_comments",
            "phonenumbers",
            "email_validator",
            "babel.dates",
            "babel.numbers",
            "rpc.restaurant",
            "state.opening",
            "state.view",
        ),
    ),
)
"""The restaurant."""


def __getattr__(name: str) -> "Worker":
    if name != "server":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agents.app.serving.app_worker import make_app_worker

    worker = make_app_worker(APP, APP.settings.read())
    globals()["server"] = worker
    return worker
