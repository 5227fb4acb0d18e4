/** A made-up agent with a real order and a real menu: for stories and tests. */

import { bellaVista, type Command, type DishView, type Order } from "@bella-vista/client";
import { AgentSession, type EarlierLine, type Limits } from "@typed-handoffs/client";
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
    hello = {} as Record<string, unknown>,
    limits = {} as Partial<Limits>,
  } = {},
): Promise<Evening> {
  const room = new FakeRoom<Order, Command>({
    noun: "order",
    state: { ...order, active_agent: agent },
    reduce: reduced,
    conflicts: (command, other) =>
      command.op === "change_item" &&
      other.op === "change_item" &&
      command.line_id === other.line_id,
    features: ["say", "get_menu", "order.apply", "your_turn_to_speak", "call_ended", ...features],
  });
  room.stateId = order.order_id;
  room.version = order.version;
  room.activeAgent = agent;
  room.earlier = earlier;
  room.hello = hello;
  const session = new AgentSession<Order, Command>(room.transport, bellaVista, { limits });
  room.connection("connected");
  room.join();
  await session.start();
  return { room, session };
}

/** A dish of the menu. */
export function dishOf(name: string): DishView | undefined {
  return menu.sections.flatMap((each) => each.dishes).find((each) => each.name === name);
}

/** Give the page the menu in place of a page server, with some dishes sold out. */
export function serveMenu(house: object = {}, soldOut: readonly string[] = []): void {
  const sections = menu.sections.map((section) => ({
    ...section,
    dishes: section.dishes.map((dish) =>
      soldOut.includes(dish.name) ? { ...dish, available: false } : dish,
    ),
  }));
  const whole = { ...menu, sections, house: { ...HOUSE, ...house } };
  const real = globalThis.fetch;
  globalThis.fetch = async (path, init) => {
    if (path === "/api/menu") return new Response(JSON.stringify(whole));
    if (path === "/api/order") {
      const { resume_code = null } = JSON.parse(String(init?.body ?? "{}"));
      return orderAnswer(resume_code === null ? kept : (earlier.get(resume_code) ?? null));
    }
    return real(path, init);
  };
}

let kept: Order | null = null;

/** Give the page an order in place of a page server. */
export function serveOrder(order: Order | null): void {
  kept = order;
}

const earlier = new Map<string, Order>();

/** Give the page the order of an earlier call in place of a page server, by its resume code. */
export function serveEarlier(code: string, order: Order): void {
  earlier.set(code, order);
}

function orderAnswer(order: Order | null): Response {
  if (order === null) return new Response("{}", { status: 404 });
  return new Response(JSON.stringify({ version: order.version, order }));
}

const HOUSE = {
  name: "Bella Vista",
  phone: "+1 212 555 0187",
  address: "48 Bleecker Street, New York, NY 10012",
  currency: "USD",
  open_now: true,
  paused: false,
  opens_at: null,
  hours: {},
  lead_minutes: { pickup: 20, delivery: 45 },
  payment_methods: ["cash", "card"],
  tips: [15, 18, 20],
  tip_base: "subtotal",
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
      const dish = dishOf(command.name);
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
            parts: (command.parts ?? []).map((part) => ({
              ...{ name: part.name, size: part.size ?? null },
              modifications: [...(part.modifications ?? [])],
            })),
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
    case "accept_order":
      return { ...order, stage: "accepted" };
    case "start_preparing":
      return { ...order, stage: "preparing" };
    case "mark_ready":
      return { ...order, stage: "ready" };
    case "complete_order":
      return { ...order, stage: "completed" };
    case "refuse_order":
      return { ...order, stage: "failed", ended_reason: command.reason };
    case "reopen_order":
      return { ...order, stage: "open" };
    case "add_allergy":
      return { ...order, allergies: [...order.allergies, command.name] };
    case "remove_allergy":
      return { ...order, allergies: order.allergies.filter((one) => one !== command.name) };
    case "give_feedback":
      return {
        ...order,
        feedback_rating: command.rating ?? order.feedback_rating,
        feedback_comment: command.comment ?? order.feedback_comment,
      };
    case "add_note": {
      const { title, content } = command;
      const note = { id: `N${order.notes.length + 1}`, title, content };
      return { ...order, notes: [...order.notes, { ...note, created_at: "", updated_at: "" }] };
    }
    case "remove_note":
      return { ...order, notes: order.notes.filter((note) => note.id !== command.note_id) };
    case "apply_coupon":
      if (command.code !== "WELCOME10") {
        const why = command.code === "SUMMER26" ? "expired" : "unknown";
        throw refused(4022, "refused", { reason: "coupon_not_valid", facts: { why } });
      }
      return { ...order, coupons: [...order.coupons, command.code] };
    case "remove_coupon":
      return { ...order, coupons: order.coupons.filter((code) => code !== command.code) };
    case "set_customer":
      return { ...order, phone: command.phone ?? order.phone };
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
