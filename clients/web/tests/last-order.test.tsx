// @vitest-environment jsdom

import { cleanup, fireEvent, screen, within } from "@testing-library/react";
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
const COMBO = {
  op: "add_item",
  name: "Family pizza night",
  parts: [{ name: "Margherita", size: "large", modifications: ["no basil"] }, { name: "Cola" }],
};

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
