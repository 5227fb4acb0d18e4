// @vitest-environment jsdom

import type { DishView, OrderItem } from "@bella-vista/client";
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { Sheet } from "../src/parts/sheet";
import { call, dishOf, orders } from "../stories/room";
import { standIn } from "./jsdom";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("the sheet of a combo on the ticket shows its parts, and changes one of them alone", async () => {
  const { session } = await call(orders.empty);
  const apply = vi.spyOn(session, "apply").mockResolvedValue(orders.empty);
  const combo = dishOf("Lunch for two") as DishView;
  const part = (name: string, size: string | null, ...modifications: string[]) => ({
    ...{ name, size, modifications },
  });
  const sub = part("Meatball sub", null, "no cheese"); // the menu does not have it any more
  const line = {
    ...{ id: "L4", name: combo.name, size: null, quantity: 1, note: null, modifications: [] },
    parts: [sub, part("Chicken panino", null), part("Iced tea", "can"), part("Cola", "bottle")],
  } as unknown as OrderItem;
  render(
    <PageProvider session={session}>
      <Sheet
        dish={combo}
        section="Combos"
        find={dishOf}
        order={orders.empty}
        line={line}
        back={() => {}}
      />
    </PageProvider>,
  );
  const fields = screen.getAllByRole<HTMLSelectElement>("combobox");
  expect(fields.map((field) => field.value)).toEqual(line.parts.map((one) => one.name));

  fireEvent.change(fields[3] as HTMLElement, { target: { value: "Lemon soda" } });
  fireEvent.click(screen.getByRole("button", { name: /^Change it/ }));
  expect(apply).toHaveBeenCalledWith({
    op: "change_item",
    line_id: "L4",
    parts: [
      { name: "Meatball sub", modifications: ["no cheese"] },
      { name: "Chicken panino" },
      { name: "Iced tea", size: "can" },
      { name: "Lemon soda", size: "can" },
    ],
    quantity: 1,
    note: "",
  });
});

test("each dish of a combo has its own size and options, at what they add to its price", async () => {
  const { session } = await call(orders.empty);
  const apply = vi.spyOn(session, "apply").mockResolvedValue(orders.empty);
  const soldOut = new Set(["Marinara"]);
  const find = (name: string) => {
    const dish = dishOf(name);
    return dish && { ...dish, available: !soldOut.has(name) };
  };
  const combo: DishView = {
    ...(dishOf("Family pizza night") as DishView),
    parts: [
      { choose: 2, dishes: ["Marinara", "Margherita", "Diavola"] },
      { choose: 1, dishes: ["House salad"] },
    ],
  };
  render(
    <PageProvider session={session}>
      <Sheet dish={combo} section="Combos" find={find} order={orders.empty} back={() => {}} />
    </PageProvider>,
  );
  const [first, second] = screen.getAllByRole<HTMLSelectElement>("combobox");
  expect([first?.value, second?.value]).toEqual(["Margherita", "Margherita"]); // Marinara is sold out
  expect(first?.querySelector("[disabled]")?.textContent).toBe("Marinara: Sold out today");
  expect(screen.getByRole("button", { name: "Add to order, $52.00" })).toBeTruthy();

  fireEvent.change(second as HTMLElement, { target: { value: "Diavola" } });
  const choices = (dish: string) => within(screen.getByRole("group", { name: dish }));
  fireEvent.click(choices("Margherita").getByRole("radio", { name: "Large +$6.00" }));
  fireEvent.click(choices("Margherita").getByRole("radio", { name: /^Pan/ }));
  const leave = choices("Diavola").getByRole("radiogroup", { name: "honey" });
  fireEvent.click(within(leave).getByRole("radio", { name: "No" }));
  // A smaller salad than the one that the price covers takes nothing off.
  fireEvent.click(choices("House salad").getByRole("radio", { name: "Small" }));
  fireEvent.click(screen.getByRole("button", { name: "Add to order, $60.50" }));

  expect(apply).toHaveBeenCalledWith({
    op: "add_item",
    name: "Family pizza night",
    parts: [
      { name: "Margherita", size: "large", modifications: ["pan"] },
      { name: "Diavola", size: "small", modifications: ["no honey"] },
      { name: "House salad", size: "small" },
    ],
    quantity: 1,
  });
});

test("a choice that a dish of a combo needs is asked for", async () => {
  const { session } = await call(orders.empty);
  const apply = vi.spyOn(session, "apply");
  const coffee = dishOf("Espresso") as DishView;
  const find = (name: string) =>
    name === "Espresso"
      ? { ...coffee, options: coffee.options.map((option) => ({ ...option, default: null })) }
      : dishOf(name);
  const combo: DishView = {
    ...(dishOf("Lunch for two") as DishView),
    parts: [{ choose: 1, dishes: ["Espresso"] }],
  };
  render(
    <PageProvider session={session}>
      <Sheet dish={combo} section="Combos" find={find} order={orders.empty} back={() => {}} />
    </PageProvider>,
  );
  expect(screen.getByText("Size and options of Espresso").closest("details")?.open).toBe(true);
  fireEvent.click(screen.getByRole("button", { name: /^Add to order/ }));
  expect(screen.getByRole("alert").textContent).toBe("Please choose: Espresso, bean.");
  expect(apply).not.toHaveBeenCalled();
});
