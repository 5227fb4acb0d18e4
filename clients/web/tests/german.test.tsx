// @vitest-environment jsdom

import type { DishView } from "@bella-vista/client";
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageProvider, type Session } from "../src/model/page";
import { Dock } from "../src/parts/dock";
import { EveningPage } from "../src/parts/evening";
import { Menu, NOTHING_BROWSED } from "../src/parts/menu";
import { Sheet } from "../src/parts/sheet";
import { Ticket } from "../src/parts/ticket";
import { TextsContext } from "../src/texts";
import { de } from "../src/texts/de";
import { call, dishOf, orders, serveMenu } from "../stories/room";
import { standIn } from "./jsdom";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function german(session: Session, part: ReactNode) {
  render(
    <TextsContext value={de}>
      <PageProvider session={session}>{part}</PageProvider>
    </TextsContext>,
  );
}

test("a German guest is asked how they pay in German, and the agent hears its own word", async () => {
  const { room, session } = await call(orders.confirmed, { agent: "payment" });
  const say = vi.spyOn(session, "say").mockResolvedValue({ turn: 1 });
  german(session, <Dock onNewOrder={() => {}} />);
  await act(() => room.yourTurn({ expects: "choice", choices: ["cash", "card"] }));
  const answers = within(screen.getByRole("group", { name: "Schnelle Antworten" }));
  const buttons = answers.getAllByRole("button");

  expect(buttons.map((one) => [one.textContent, one.lang])).toEqual([
    ["Bar", ""],
    ["Karte", ""],
  ]);
  fireEvent.click(buttons[0] as HTMLElement);
  expect(say).toHaveBeenCalledWith("cash");
});

test("sizes and options stay as on the menu, and are read in its language", async () => {
  const { room, session } = await call(orders.ordering);
  german(session, <Dock onNewOrder={() => {}} />);
  await act(() => room.yourTurn({ expects: "choice", choices: ["small", "large"] }));
  const answers = within(screen.getByRole("group", { name: "Schnelle Antworten" }));
  expect(answers.getAllByRole("button").map((one) => [one.textContent, one.lang])).toEqual([
    ["Small", "en"],
    ["Large", "en"],
  ]);
  cleanup();

  const pizza = dishOf("Pizza your way") as DishView;
  const section = { name: "Pizza", served: [], dishes: [pizza] };
  const menu = { house: { currency: "USD" }, sections: [section] } as never;
  german(
    session,
    <Menu
      state={{ menu, failed: false, read: () => {} }}
      order={null}
      browsing={NOTHING_BROWSED}
      onBrowse={() => {}}
    />,
  );
  const price = screen.getByText("small").closest(".price");
  expect(price?.textContent).toBe("small $12.50, large $18.00");
  expect([...(price?.querySelectorAll("[lang=en]") ?? [])].map((one) => one.textContent)).toEqual([
    "small",
    "large",
  ]);
  cleanup();

  german(
    session,
    <Sheet dish={pizza} section="Pizza" find={dishOf} order={orders.ordering} back={() => {}} />,
  );
  const toppings = screen.getByText("Toppings");
  expect([toppings.lang, toppings.closest("legend")?.textContent]).toEqual([
    "en",
    "Toppings, bis zu 12",
  ]);
  const row = screen.getAllByRole("radiogroup", { name: "mozzarella" })[0];
  expect(row?.lang).toBe("en");
  expect(row?.querySelector("label")?.lang).toBe("de");
});

test("the ticket's summary and charges are German, apart from the menu's words", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const fees = [{ code: "delivery", name: "Delivery", amount: 350 }];
  const display = { ...orders.ordering.display, fees: { delivery: "$3.50" } };
  const { room, session } = await call({ ...orders.ordering, fees, display });
  german(session, <Ticket />);
  expect(screen.getByText("Lieferung", { selector: "dt" })).toBeTruthy();

  room.connection("reconnecting");
  fireEvent.click(screen.getByRole("button", { name: "Eins mehr: Margherita" }));
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  const seen = screen.getByText(/So hat es das Restaurant zuletzt:/);
  expect(seen.textContent).toBe(
    "So hat es das Restaurant zuletzt: 2 × Margherita, 1 × Pizza your way, 1 × House salad." +
      ` Summe ${orders.ordering.display.total}.`,
  );
  expect(seen.querySelector("[lang=en]")?.textContent).toMatch(/^2 × Margherita/);
});

test("what changed is told in German, with the menu's words in the menu's language", async () => {
  serveMenu();
  const { room, session } = await call(orders.ordering);
  german(session, <EveningPage settings={null} onNewCall={() => {}} />);
  await act(() => room.change({ op: "add_item", name: "Cola", size: "can", quantity: 1 }));
  await act(() => room.change({ op: "add_allergy", name: "milk" }));
  const told = screen.getByText(/^Auf dem Zettel/, { selector: ".happened" });

  expect(told.textContent).toBe("Auf dem Zettel: 1 × Cola, can; Allergie Milch");
  const english = [...told.querySelectorAll("[lang=en]")].map((one) => one.textContent);
  expect(english).toEqual(["1 × Cola", ", can"]);
});
