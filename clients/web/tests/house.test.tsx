// @vitest-environment jsdom

import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { languages } from "../src/texts";
import { orders } from "../stories/room";
import { standIn } from "./jsdom";
import { openPage } from "./whole-page";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** The page of a house with cash and pickup alone, and tips of its own. */
async function page(order = orders.ordering) {
  const house = {
    lead_minutes: { pickup: 10, delivery: null },
    payment_methods: ["cash"],
    tips: [5, 10],
    tip_base: "total",
  };
  const { room } = await openPage(order, { house });
  return room;
}

test("a house with one way of paying and tips of its own offers no others", async () => {
  const order = { ...orders.confirmed, tip: 0, tip_percentage: null, payment_method: null };
  await page({ ...order, subtotal: 6000, tax: 500, total: 6500 });
  const tips = within(await screen.findByRole("group", { name: "Tip" }));
  await tips.findByText("5 %");

  expect(tips.getAllByRole("radio").map((one) => one.closest("label")?.textContent)).toEqual([
    "None",
    "5 %$3.25",
    "10 %$6.50",
    "Other",
  ]);
  expect(screen.getByRole("radio", { name: "Cash" })).toBeTruthy();
  expect(screen.queryByRole("radio", { name: "Card" })).toBeNull();
  expect(screen.queryByText(/No card number/)).toBeNull();
});

test("the tips that can be tapped are those of the menu", async () => {
  const room = await page({ ...orders.confirmed, tip: 0, tip_percentage: null });
  await screen.findByText("5 %");
  room.yourTurn({ expects: "amount" });
  const answers = within(await screen.findByRole("group", { name: "Quick answers" }));

  expect(answers.getAllByRole("button").map((one) => one.textContent)).toEqual([
    "No tip",
    "5 %",
    "10 %",
  ]);
});

test("a house that does not deliver is not asked to", async () => {
  await page({ ...orders.ordering, fulfilment: null });
  fireEvent.click(await screen.findByRole("button", { name: "Choose When, and for whom?" }));
  const ways = within(screen.getByRole("group", { name: "When, and for whom?" }));

  expect(ways.getAllByRole("radio").map((one) => one.closest("label")?.textContent)).toEqual([
    "Pickup",
  ]);
});

test.each([
  [languages.en, "First choose how you pay: You pay at pickup"],
  [languages.de, "Wählen Sie zuerst, wie Sie zahlen: Sie zahlen beim Abholen"],
])("an order that cannot be placed yet says why", async (texts, told) => {
  await openPage({ ...orders.confirmed, payment_method: null }, { texts });
  const hint = screen.getByRole("link", { name: texts?.pay.at.pickup ?? "" }).closest("p");

  expect(hint?.textContent).toBe(told);
  cleanup();
  await openPage(orders.confirmed, { texts });
  expect(screen.queryByRole("link", { name: texts?.pay.at.pickup ?? "" })).toBeNull();
});
