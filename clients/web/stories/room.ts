/** A made-up agent with a real order and a real menu: for stories and tests. */

import { bellaVista, type Command, type DishView, type Order } from "@bella-vista/client";
import { AgentSession, type EarlierLine } from "@typed-handoffs/client";
import { FakeRoom, refused } from "@typed-handoffs/client/testing";
import type { Session } from "../src/model/page";
import confirmed from "./fixtures/confirmed.json";
import empty from "./fixtures/empty.json";
import menuFile from "./fixtures/menu.json";
import ordering from "./fixtures/ordering.json";
import placed from "./fixtures/placed.json";
import review from "./fixtures/review.json";

const menu = menuFile as unknown as {
  menu_version: string;
  sections: readonly { name: string; served: []; dishes: readonly DishView[] }[];
};

export const orders = { empty, ordering, review, confirmed, placed } as unknown as Record<
  "empty" | "ordering" | "review" | "confirmed" | "placed",
  Order
>;

export interface Evening {
  room: FakeRoom<Order, Command>;
  session: Session;
}

/** A call with an order at some point of the evening. */
export async function call(
  order: Order,
  {
    agent = order.active_agent ?? "greeter",
    features = [] as readonly string[],
    earlier = null as readonly EarlierLine[] | null,
  } = {},
): Promise<Evening> {
  const room = new FakeRoom<Order, Command>({
    noun: "order",
    state: { ...order, active_agent: agent },
    reduce: reduced,
    features: ["say", "get_menu", "order.apply", "your_turn_to_speak", "call_ended", ...features],
  });
  room.stateId = order.order_id;
  room.version = order.version;
  room.activeAgent = agent;
  room.earlier = earlier;
  const session = new AgentSession<Order, Command>(room.transport, bellaVista);
  room.connection("connected");
  room.join();
  await session.start();
  return { room, session };
}

/** Give the page the menu in place of a page server. */
export function serveMenu(house: object = {}): void {
  const whole = { ...menu, house: { ...HOUSE, ...house } };
  const real = globalThis.fetch;
  globalThis.fetch = async (path, init) =>
    path === "/api/menu" ? new Response(JSON.stringify(whole)) : real(path, init);
}

const HOUSE = {
  currency: "USD",
  open_now: true,
  paused: false,
  opens_at: null,
  tips: [15, 18, 20],
};

/** An order with so many lines, those that it has again and again. */
export function longer(order: Order, lines: number): Order {
  const again = order.order_items;
  const items = Array.from({ length: lines }, (_, place) => ({
    ...(again[place % again.length] as Order["order_items"][number]),
    id: `L${place + 1}`,
  }));
  return summed({ ...order, order_items: items });
}

const text = (minor: number) => `$${(minor / 100).toFixed(2)}`;

/** The few commands that stories and tests carry out, with the amounts they change. */
function reduced(order: Order, command: Command): Order {
  switch (command.op) {
    case "change_item":
      return summed({
        ...order,
        order_items: order.order_items.map((item) =>
          item.id === command.line_id
            ? { ...item, quantity: command.quantity ?? item.quantity, note: command.note || null }
            : item,
        ),
      });
    case "remove_item":
      return summed({
        ...order,
        order_items: order.order_items.filter((item) => item.id !== command.line_id),
      });
    case "add_item": {
      if (command.name === "Tartufo") {
        throw refused(4022, "refused", {
          reason: "sold_out",
          facts: { name: "Tartufo", near: ["Quattro formaggi"] },
        });
      }
      const dish = menu.sections
        .flatMap((each) => each.dishes)
        .find((each) => each.name === command.name);
      const sizes = dish?.sizes ?? {};
      const size = command.size ?? dish?.default_size ?? null;
      return summed({
        ...order,
        order_items: [
          ...order.order_items,
          {
            id: `L${order.order_items.length + 1}`,
            name: command.name,
            size,
            quantity: command.quantity ?? 1,
            modifications: command.modifications ?? [],
            parts: [],
            unit_price: (size && sizes[size]) || Object.values(sizes)[0] || 0,
            line_total: 0,
            note: command.note ?? null,
            allergens_met: [],
          },
        ],
      });
    }
    case "set_tip":
      return summed({ ...order, tip_percentage: command.percentage ?? null });
    case "choose_payment":
      return { ...order, payment_method: command.method };
    case "confirm_order":
      return { ...order, stage: "confirmed" };
    case "place_order":
      return { ...order, stage: "placed" };
    case "reopen_order":
      return { ...order, stage: "open" };
    case "add_allergy":
      return { ...order, allergies: [...order.allergies, command.name] };
    case "give_feedback":
      return {
        ...order,
        feedback_rating: command.rating ?? order.feedback_rating,
        feedback_comment: command.comment ?? order.feedback_comment,
      };
    case "call_person":
      return { ...order, person_wanted: true };
    default:
      throw refused(4022, "refused", { reason: "not_possible" });
  }
}

function summed(order: Order): Order {
  const items = order.order_items.map((item) => ({
    ...item,
    line_total: item.unit_price * item.quantity,
  }));
  const subtotal = items.reduce((sum, item) => sum + item.line_total, 0);
  const tax = Math.round(subtotal * 0.08875);
  const tip = Math.round((subtotal * (order.tip_percentage ?? 0)) / 100);
  return {
    ...order,
    order_items: items,
    item_count: items.reduce((sum, item) => sum + item.quantity, 0),
    subtotal,
    tax,
    tip,
    total: subtotal + tax + tip,
    display: {
      ...order.display,
      subtotal: text(subtotal),
      tax: text(tax),
      tip: text(tip),
      total: text(subtotal + tax + tip),
      order_items: Object.fromEntries(
        items.map((item) => [
          item.id,
          { unit_price: text(item.unit_price), line_total: text(item.line_total) },
        ]),
      ),
    },
  };
}
