// @vitest-environment jsdom

import type { DishView, OrderItem } from "@bella-vista/client";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { Sheet } from "../src/parts/sheet";
import menu from "../stories/fixtures/menu.json";
import { call, orders } from "../stories/room";

afterEach(cleanup);

test("the sheet of a combo on the ticket shows its parts, and changes one of them alone", async () => {
  const { session } = await call(orders.empty);
  const apply = vi.spyOn(session, "apply").mockResolvedValue(orders.empty);
  const combo = menu.sections
    .flatMap((section) => section.dishes as unknown as DishView[])
    .find((dish) => dish.name === "Lunch for two") as DishView;
  const part = (name: string) => ({ name, size: null, modifications: [] as string[] });
  const plain = { ...part("Meatball sub"), modifications: ["no cheese"] };
  const line = {
    ...{ id: "L4", name: combo.name, size: null, quantity: 1, note: null, modifications: [] },
    parts: [plain, part("Chicken panino"), part("Iced tea"), part("Cola")],
  } as unknown as OrderItem;
  render(
    <PageProvider session={session}>
      <Sheet dish={combo} section="Combos" order={orders.empty} line={line} back={() => {}} />
    </PageProvider>,
  );
  const fields = screen.getAllByRole<HTMLSelectElement>("combobox");
  expect(fields.map((field) => field.value)).toEqual(line.parts.map((one) => one.name));

  fireEvent.change(fields[3] as HTMLElement, { target: { value: "Lemon soda" } });
  fireEvent.click(screen.getByRole("button", { name: /^Change it/ }));
  expect(apply).toHaveBeenCalledWith({
    op: "change_item",
    line_id: "L4",
    parts: [plain, part("Chicken panino"), part("Iced tea"), { name: "Lemon soda" }],
    quantity: 1,
    note: "",
  });
});
