// @vitest-environment jsdom

import type { DishView } from "@bella-vista/client";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { Sheet } from "../src/parts/sheet";
import { Ticket } from "../src/parts/ticket";
import menu from "../stories/fixtures/menu.json";
import { call, dishOf, orders } from "../stories/room";
import { standIn } from "./jsdom";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test("a browser whose focus() returns a promise opens and closes what takes the focus", async () => {
  // Like scrollIntoView(), whose promise React took for a cleanup.
  const focus = vi
    .spyOn(HTMLElement.prototype, "focus")
    .mockImplementation(() => Promise.resolve() as unknown as undefined);
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  const { session } = await call(orders.empty);
  const [section] = menu.sections;
  const dish = section?.dishes[0] as unknown as DishView;
  render(
    <PageProvider session={session}>
      <Sheet
        dish={dish}
        section={section?.name ?? ""}
        find={dishOf}
        order={orders.empty}
        back={() => {}}
      />
      <Ticket />
    </PageProvider>,
  );
  fireEvent.click(screen.getByRole("button", { name: /Pickup or delivery/ }));
  expect(focus.mock.contexts).toEqual([
    screen.getByRole("heading", { level: 1, name: dish.name }),
    screen.getByRole("radio", { name: "Pickup" }),
  ]);
  cleanup();
  expect(errors).not.toHaveBeenCalled();
});
