// @vitest-environment jsdom

import type { Command, Order } from "@bella-vista/client";
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type FakeRoom, refused } from "@typed-handoffs/client/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { orders } from "../stories/room";
import { standIn } from "./jsdom";
import { openPage } from "./whole-page";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  location.hash = "";
});

const MARGHERITA = { op: "add_item", name: "Margherita", size: "large" };
const TARTUFO = { op: "add_item", name: "Tartufo", size: "large" };
const SALAD = { op: "add_item", name: "House salad", size: "small", quantity: 2 };
const PEANUTS = { op: "add_allergy", name: "peanuts" };
const COMBO = {
  op: "add_item",
  name: "Family pizza night",
  parts: [{ name: "Margherita", size: "large", modifications: ["no basil"] }, { name: "Cola" }],
};

const sent = (room: FakeRoom<Order, Command>) =>
  room.calls
    .filter(({ method }) => method === "order.apply")
    .map(({ payload }) => (payload.command as Command).op);

async function offered(...last_order: object[]) {
  const { room } = await openPage(orders.empty, { hello: { last_order } });
  const section = await screen.findByRole("region", { name: "The same as last time?" });
  return { room, section: within(section) };
}

test("a dish that is sold out today is told, and the rest is ordered", async () => {
  const { room, section } = await offered(MARGHERITA, TARTUFO, SALAD);
  fireEvent.click(section.getByRole("button", { name: "Start with these" }));
  const refusal = await screen.findByText("Tartufo is sold out today. Instead: Quattro formaggi.");

  expect(refusal.getAttribute("role")).toBe("alert");
  expect(room.state.order_items.map(({ name, quantity }) => [name, quantity])).toEqual([
    ["Margherita", 1],
    ["House salad", 2],
  ]);
  expect(screen.queryByRole("region", { name: "The same as last time?" })).toBeNull();
});

test("where nothing of it can be ordered, the reason stands with the offer", async () => {
  const { room, section } = await offered(TARTUFO);
  fireEvent.click(section.getByRole("button", { name: "Start with these" }));

  expect((await section.findByRole("alert")).textContent).toMatch(/^Tartufo is sold out today/);
  expect(room.state.order_items).toEqual([]);
});

test("a combo is offered with the choices of its dishes", async () => {
  const { section } = await offered(COMBO);

  expect(section.getByRole("listitem").textContent).toBe(
    "1 × Family pizza night Large Margherita no basil, Cola",
  );
});

test("the allergies are offered with the dishes, and noted before them", async () => {
  const { room, section } = await offered(PEANUTS, MARGHERITA);
  expect(section.getByText("peanuts").parentElement?.textContent).toBe("Allergiespeanuts");
  expect(section.getAllByRole("listitem")).toHaveLength(1);
  fireEvent.click(section.getByRole("button", { name: "Start with these" }));
  await screen.findByRole("button", { name: "Remove peanuts" });
  await waitFor(() => expect(room.state.item_count).toBe(1));

  expect(room.state.allergies).toEqual(["peanuts"]);
  expect(sent(room)).toEqual(["add_allergy", "add_item"]);
});

test("an allergy that cannot be noted is told, and no dish is added without it", async () => {
  const { room, section } = await offered(PEANUTS, MARGHERITA);
  let tried = 0;
  room.onRequest = (method) => {
    if (method !== "order.apply" || tried++ > 0) return;
    throw refused(4022, "refused", { reason: "not_possible" });
  };
  fireEvent.click(section.getByRole("button", { name: "Start with these" }));

  expect((await section.findByRole("alert")).textContent).toMatch(/^peanuts: /);
  expect([tried, sent(room)]).toEqual([1, []]);
});
