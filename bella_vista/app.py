"""The restaurant's declaration, named ``APP``, and its worker, named ``server``, as livekit-agents calls it.

Jobs run in processes of their own, which import this module by name. It imports neither livekit
nor the state: a command that needs neither should not wait for them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from agents.app.app import App, Environment, NewState
from agents.app.importing import later, loaded
from agents.app.parts import (
    CommandLine,
    Forgetting,
    Phone,
    Replay,
    Rooms,
    Stored,
    Terminal,
    Web,
    WorkerProcesses,
)
from agents.app.words import Words
from bella_vista.settings import NOUN, ORDER_SCHEMA, Settings

if TYPE_CHECKING:
    from livekit.agents.llm import LLM

    from agents.app.serving.worker import Worker
    from agents.handoff import Call
    from state.context import OrderContext
    from state.order import OrderState


def _with_what_lines_hold(order: dict[str, Any]) -> dict[str, Any]:
    """Migrate from schema 1, whose lines have no ``holds``: ``null`` means not known."""
    lines = [{**line, "holds": None} for line in order["order_items"]]
    return {**order, "order_items": lines}


def _context(environment: Environment) -> "OrderContext":
    from bella_vista.house import house_of
    from bella_vista.menus import served_menu
    from state.context import OrderContext

    menu = served_menu(environment.settings.menu)
    now = environment.clock(ZoneInfo(menu.restaurant.timezone))
    return OrderContext(
        menu=menu,
        now=now,
        new_id=environment.new_id,
        house=house_of(environment.live),
        refresh=environment.live.refresh,
    )


def _new(context: "OrderContext", new: NewState) -> "OrderState":
    from state.opening import open_order

    return open_order(
        context.menu,
        order_id=new.id,
        order_number=new.number,
        channel=new.channel,
        now=context.now(),
    )


def _local_model(context: "OrderContext", settings: Settings) -> "LLM[Any]":
    # It loads the words of the menu and the language, so only this model imports them.
    from bella_vista.local.model import LocalLLM

    return LocalLLM(context.menu, now=context.now)


def _choices(call: "Call[OrderState, OrderContext]") -> Sequence[str]:
    from agents.telling import choices

    return choices(call.last_refusal) or call.shared.context.menu.restaurant.payment


_PAGE = Path(__file__).parents[1] / "clients/web/dist"
"""Where the page is built."""

APP: "App[OrderState, OrderContext]" = App(
    name="bella-vista",
    noun=NOUN,
    plural="orders",
    prefix="bella",
    settings=Settings,
    state=lambda: loaded("state.order:OrderState"),
    schema=ORDER_SCHEMA,
    migrate={1: _with_what_lines_hold},
    context=_context,
    title=lambda context: context.menu.restaurant.name,
    owner=lambda context: context.menu.restaurant.id,
    new=_new,
    graph=later("agents.roster:restaurant_graph"),
    policy=later("agents.roster:restaurant_policy"),
    model=_local_model,
    view=later("state.view:view"),
    page=lambda: loaded("rpc.restaurant:ORDER_PAGE"),
    commands=later("bella_vista.commands:commands_of"),
    stored=Stored(
        refuse_resume=later("bella_vista.orders:refuse_resume"),
        resumed=later("bella_vista.orders:reprice"),
        given_up=later("bella_vista.orders:flag_for_staff"),
    ),
    forgetting=Forgetting(
        keep=later("state.forgetting:without_guest"),
        close=later("bella_vista.forgetting:close_order"),
        identifying=("customer_name", "phone", "email", "address"),
    ),
    rooms=Rooms(
        attributes=lambda order: {"stage": order.stage.value},
        choices=_choices,
        comment=later("bella_vista.page_comments:comment"),
        staff_comment=later("bella_vista.page_comments:staff_comment"),
        terms=lambda context: [dish.name for dish in context.menu.dishes],
        sentences=lambda context: loaded("bella_vista.local.spoken:spoken_sentences")(context.menu),
        meaning=lambda context: loaded("bella_vista.local.spoken:spoken_meaning")(context.menu),
        words=Words(
            not_found="I am sorry, I could not find the order you wanted to go on with.",
            moved="Your order goes on in another place now, so I leave this one. Goodbye!",
            broken_off="I am sorry, something is wrong here and this call cannot go on. What you"
            " have ordered so far is kept. Please try again later.",
            user_silent="I do not hear anything, so I will hang up now. Your order is kept."
            " Goodbye!",
            noted="I have let our staff know that you would like a person; if we have your number,"
            " they call you back. What else can I do for you?",
        ),
    ),
    web=Web(
        page=_PAGE,
        documents={"menu": later("rpc.menu_pages:whole_menu")},
        live={"house": later("bella_vista.house:set_house")},
        waits_for_staff=later("bella_vista.orders:waits_for_staff"),
        for_staff=later("bella_vista.orders:for_staff"),
    ),
    phone=Phone(
        caller_number=later("bella_vista.orders:keep_number"),
        transfer_to=lambda context: context.menu.restaurant.transfer_to,
        person_there=later("bella_vista.orders:person_there"),
        summary=later("bella_vista.orders:sum_up"),
        not_reached=later("bella_vista.orders:flag_for_staff"),
    ),
    terminal=Terminal(
        summary=later("bella_vista.receipt:summary"),
        listing=later("bella_vista.orders_pages:order_list"),
        text=later("bella_vista.orders_pages:order_page"),
        zone=lambda order, context: order.opened_at.tzinfo,
    ),
    command_line=CommandLine(
        help="Bella Vista: a restaurant whose four agents take one order.",
        options={"menu": ("FILE", "The menu; Bella Vista's own by default.")},
        schemas={
            "menu": later("state.menu:menu_schema"),
            "rpc": later("rpc.restaurant:order_contract"),
        },
        state_commands=later("bella_vista.commands:order_commands_of"),
        context_name="menu",
        describe_context=lambda context: (
            f"{context.menu.restaurant.name}, {len(context.menu.dishes)} dishes"
        ),
    ),
    replay=Replay(
        fields=lambda: loaded("bella_vista.order_fields:OrderFields"),
        start_from=later("bella_vista.starting_order:commands_to"),
        generated=("ready_at", "created_at", "updated_at"),
        same=later("state.menu.words:same_words"),
    ),
    worker=WorkerProcesses(
        serving=lambda settings: loaded("bella_vista.menus:keep_menu_copy")(settings.menu),
        preload=(
            "agents.roster",
            "bella_vista.house",
            "bella_vista.menus",
            "bella_vista.local.model",
            "bella_vista.local.preloaded",
            "bella_vista.orders",
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
