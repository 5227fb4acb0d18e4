// @vitest-environment jsdom

import { act, cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "../src/app";
import { keepPlaced } from "../src/model/last";
import { de } from "../src/texts/de";
import { en } from "../src/texts/en";
import { orders, serveEarlier, serveMenu, serveOrder } from "../stories/room";
import { standIn } from "./jsdom";
import { openPage } from "./whole-page";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  serveOrder(null);
  localStorage.clear();
  vi.unstubAllGlobals();
});

async function page(order = orders.placed, texts = en) {
  const { room } = await openPage(order, { texts });
  return room;
}

test.each([
  [en, "The restaurant could not take the order.", "Reason: No more flour"],
  [de, "Das Restaurant konnte die Bestellung nicht annehmen.", "Grund: No more flour"],
])("a refused order says why, in the talk and on the ticket: $code", async (texts, what, why) => {
  await page({ ...orders.placed, stage: "failed", ended_reason: "No more flour" }, texts);

  for (const part of [screen.getByRole("main"), screen.getByRole("complementary")]) {
    expect(within(part).getByText(what)).toBeTruthy();
    expect(within(part).getByText(why)).toBeTruthy();
  }
});

const STEPS = ["accept_order", "start_preparing", "mark_ready", "complete_order"] as const;

const unseen = (role: string) =>
  screen
    .getAllByRole(role)
    .filter((each) => each.className === "unseen")
    .map((each) => each.textContent)
    .join("");

test.each([
  [
    en,
    [
      "Number 101. The kitchen has accepted it. Ready at 7:20 pm.",
      "Number 101. In the oven. Ready at 7:20 pm.",
      "Number 101. Ready for you.",
      "Number 101. With you. Enjoy it.",
    ],
  ],
  [
    de,
    [
      "Nummer 101. Die Küche hat es angenommen. Fertig um 19:20.",
      "Nummer 101. Im Ofen. Fertig um 19:20.",
      "Nummer 101. Fertig für Sie.",
      "Nummer 101. Bei Ihnen. Guten Appetit.",
    ],
  ],
])("each step of the kitchen is told to a screen reader once: $code", async (texts, told) => {
  const room = await page(orders.placed, texts);
  expect(unseen("status")).toBe("");
  for (const [place, op] of STEPS.entries()) {
    await act(() => room.change({ op }));
    expect(unseen("status")).toBe(told[place]);
  }
  await act(() => room.change({ op: "give_feedback", rating: 5 }));
  expect(unseen("status")).not.toContain(told[2]);
});

test("a refusal by the house is told at once, with its reason", async () => {
  const room = await page();
  await act(() => room.change({ op: "refuse_order", reason: "No flour" }));

  expect(unseen("alert")).toBe(
    "Number 101. The restaurant could not take the order. Reason: No flour",
  );
  expect(unseen("status")).toBe("");
});

test("after goodbye the kitchen's steps go on to be shown and told", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const room = await page();
  serveOrder(orders.placed);
  await act(() => room.endCall("agent_ended"));
  const version = orders.placed.version + 1;
  serveOrder({ ...orders.placed, version, stage: "accepted" });
  await act(() => vi.advanceTimersByTimeAsync(5_000));

  expect(screen.getByText("Accepted", { selector: ".stamp" })).toBeTruthy();
  expect(unseen("status")).toContain("The kitchen has accepted it.");
});

test("an order of another call is not shown in place of this one", async () => {
  const room = await page();
  serveOrder({ ...orders.placed, order_id: "another", version: 99, stage: "ready" });
  await act(() => room.endCall("agent_ended"));
  await vi.waitFor(() => expect(localStorage.getItem("bella-vista.placed")).toBeNull());

  expect(screen.getByText("Placed", { selector: ".stamp" })).toBeTruthy();
});

test("a page that is opened again shows the placed order until a new call begins", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  serveMenu();
  serveOrder(orders.placed);
  keepPlaced(orders.placed.order_id);
  render(<App />);
  expect(await screen.findByRole("heading", { name: "Number 101" })).toBeTruthy();
  expect(screen.getByRole("button", { name: "Start talking" })).toBeTruthy();

  serveOrder({ ...orders.placed, stage: "failed", ended_reason: "No flour" });
  await act(() => vi.advanceTimersByTimeAsync(5_000));
  expect(screen.getByText("Reason: No flour")).toBeTruthy();
  expect(unseen("alert")).toContain("The restaurant could not take the order.");
  expect(localStorage.getItem("bella-vista.placed")).toBeNull(); // told once
});

test("a guest who has placed nothing is asked for no order", async () => {
  serveMenu();
  serveOrder(orders.placed);
  const asked = vi.spyOn(globalThis, "fetch");
  render(<App />);
  await screen.findByRole("heading", { level: 1 });

  expect(asked.mock.calls.map(([path]) => path)).not.toContain("/api/order");
});

const REFUSED = { ...orders.placed, stage: "failed", ended_reason: "No flour" } as const;
const NEXT = { ...orders.ordering, order_id: "the-next-one" };

test.each([
  [en, "Your earlier order, number 101", "I have seen it"],
  [de, "Ihre frühere Bestellung, Nummer 101", "Gesehen"],
])("a refusal of the order before is told in the next call: $code", async (texts, title, seen) => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  await page(orders.placed, texts);
  cleanup(); // the guest begins another order
  serveEarlier("code", orders.placed);
  await page(NEXT, texts);
  await act(() => vi.advanceTimersByTimeAsync(5_000));
  expect(screen.queryByText(title)).toBeNull();

  serveEarlier("code", REFUSED);
  await act(() => vi.advanceTimersByTimeAsync(5_000));
  const note = within(screen.getByText(title).closest("[role=alert]") as HTMLElement);
  expect(note.getByText(/No flour$/)).toBeTruthy();
  await act(() => note.getByRole("button", { name: seen }).click());
  await act(() => vi.advanceTimersByTimeAsync(5_000));
  expect(screen.queryByText(title)).toBeNull();
});

test("a refusal of an order before the last one is told at the welcome until it was seen", async () => {
  await page();
  cleanup();
  serveEarlier("code", REFUSED);
  serveMenu();
  serveOrder(NEXT);
  render(<App />);
  expect(await screen.findByText("Your earlier order, number 101")).toBeTruthy();
  expect(screen.getByText("Reason: No flour")).toBeTruthy();

  await act(() => screen.getByRole("button", { name: "I have seen it" }).click());
  expect(screen.queryByText("Your earlier order, number 101")).toBeNull();
  expect(localStorage.getItem("bella-vista.earlier")).toBeNull();
});

test("a refusal that was told in its own call is not told again", async () => {
  const room = await page();
  expect(localStorage.getItem("bella-vista.earlier")).not.toBeNull();
  await act(() => room.change({ op: "refuse_order", reason: "No flour" }));

  expect(localStorage.getItem("bella-vista.earlier")).toBeNull();
});
