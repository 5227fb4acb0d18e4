// @vitest-environment jsdom

import type { Command, Order } from "@bella-vista/client";
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { StaffBoard } from "@typed-handoffs/client/staff";
import { afterEach, expect, test, vi } from "vitest";
import { languages, type Texts, TextsContext } from "../src/texts";
import { Board, type StaffOrder } from "../staff/board";
import { orders } from "../stories/room";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** A board, and what the page server tells it. */
function board(...first: Order[]) {
  return boardIn("en", ...first);
}

function boardIn(language: string, ...first: Order[]) {
  vi.stubGlobal("fetch", async () => new Response("{}"));
  const listeners = new Map<string, (event: MessageEvent) => void>();
  const events = {
    addEventListener: (name: string, take: (event: MessageEvent) => void) =>
      listeners.set(name, take),
    close() {},
  };
  render(
    <TextsContext value={languages[language] as Texts}>
      <Board
        board={
          new StaffBoard<StaffOrder, Command>({
            ...{ noun: "order", plural: "orders" },
            eventSource: () => events as unknown as EventSource,
          })
        }
      />
    </TextsContext>,
  );
  const tell = (name: string, data: object) =>
    act(() => listeners.get(name)?.({ data: JSON.stringify(data) } as MessageEvent));
  tell("snapshot", { orders: first });
  return tell;
}

const order = (number: string, parts: object = {}) =>
  ({ ...orders.placed, order_id: number, order_number: number, ...parts }) as Order;

test("an order in a stage of a newer server hangs on a rail of its own", () => {
  board(order("101"), order("102", { stage: "on_its_way" }));
  const rail = screen.getByRole("region", { name: "On its way" });
  expect(within(rail).getByRole("heading", { name: "102" })).toBeTruthy();
  expect(within(rail).queryByRole("button")).toBeNull();
  expect(screen.getAllByRole("region")).toHaveLength(6); // four rails, this one, the house
});

test("a screen reader is told of an order that comes, and of a guest who wants a person", () => {
  const tell = board(order("101"));
  expect(screen.getByRole("status").textContent).toBe("");
  tell("order", order("102"));
  expect(screen.getByRole("status").textContent).toBe("New order: 102");
  expect(screen.queryByRole("alert")).toBeNull();
  tell("order", order("102", { version: 99, person_wanted: true }));
  expect(screen.getByRole("alert").textContent).toContain("102 wants a person: Ada");
});

test.each([
  ["en", "Reason: asks about a cake for twelve"],
  ["de", "Grund: asks about a cake for twelve"],
])("the board says why a person is wanted, in %s", (language, told) => {
  const tell = boardIn(language, order("101", { person_wanted: true, person_reason: null }));
  expect(screen.getByRole("alert").querySelector("p")).toBeNull();
  tell("order", order("102", { person_wanted: true })); // of an older server
  expect(screen.getByRole("alert").querySelector("p")).toBeNull();
  const person_reason = "asks about a cake for twelve";
  tell("order", order("103", { person_wanted: true, person_reason }));
  expect(within(screen.getByRole("alert")).getByText(told)).toBeTruthy();
});

test("refusing an order begins with its reason", () => {
  board(order("101"));
  fireEvent.click(screen.getByRole("button", { name: "Refuse 101" }));
  expect(document.activeElement).toBe(screen.getByLabelText("Why?"));
});
