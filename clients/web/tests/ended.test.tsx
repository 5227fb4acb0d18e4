// @vitest-environment jsdom

import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
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

async function page(hash: string) {
  const { room, session } = await openPage(orders.ordering, { hash });
  return { apply: vi.spyOn(session, "apply"), end: () => act(() => room.endCall("agent_ended")) };
}

test("after the call has ended the menu can be looked at, and offers nothing to order", async () => {
  const { end } = await page("#menu");
  const menu = within(await screen.findByRole("main"));
  expect((await menu.findAllByText("Choose")).length).toBeGreaterThan(0);
  fireEvent.click(menu.getByRole("button", { name: "Weekday lunch" }));
  expect((await menu.findAllByText("Add")).length).toBeGreaterThan(0);
  const dishes = menu.getAllByRole("heading", { level: 3 }).length;
  await end();
  expect(screen.getByText("The call has ended")).toBeTruthy();
  expect(menu.queryByText("Add")).toBeNull();
  expect(menu.queryByText("Choose")).toBeNull();
  expect(menu.getAllByRole("heading", { level: 3 })).toHaveLength(dishes);
});

test("a sheet that is open when the call ends says so and adds nothing", async () => {
  const { apply, end } = await page("#menu/Garlic%20knots");
  const sheet = await screen.findByRole("form");
  expect(within(sheet).getByRole("button", { name: /^Add to order/ })).toBeTruthy();
  await end();
  expect(within(sheet).getByText("The call has ended")).toBeTruthy();
  expect(sheet.querySelector("[type=submit]")).toBeNull();
  fireEvent.submit(sheet);
  expect(apply).not.toHaveBeenCalled();
});
