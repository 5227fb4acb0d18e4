import { expect, test, vi } from "vitest";
import { type House, menuFrom, takesNoOrders } from "../src/model/menu";
import { closedText } from "../src/parts/trouble";
import { de } from "../src/texts/de";
import { en } from "../src/texts/en";

const house = (parts: Partial<House>) => ({ paused: false, ...parts }) as House;

test("a house that is open takes orders, also one that says nothing about it", () => {
  expect(takesNoOrders(house({ open_now: true, opens_at: null }))).toBe(false);
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  expect(takesNoOrders(menuFrom('{"sections": []}').house)).toBe(false);
  expect(takesNoOrders(menuFrom('{"sections": [], "house": {}}').house)).toBe(false);
  const told = warn.mock.calls.map(([text]) => text);
  expect(told.filter((text) => text.endsWith("house.paused"))).toHaveLength(1);
  warn.mockRestore();
});

test("a closed house says when it opens", () => {
  const closed = house({ open_now: false, opens_at: "2026-11-24T11:30:00-05:00" });

  expect(takesNoOrders(closed)).toBe(true);
  expect(closedText(closed, en)).toContain("closed until Tuesday, 11:30 am");
  expect(closedText(closed, de)).toContain("geschlossen bis Dienstag, 11:30");
  expect(closedText({ ...closed, opens_at: null }, en)).toBe(en.closed.closed);
});

test("paused orders are told first", () => {
  const paused = house({ paused: true, open_now: false, opens_at: "2026-11-24T11:30:00-05:00" });

  expect(takesNoOrders({ ...paused, open_now: true })).toBe(true);
  expect(closedText(paused, en)).toBe(en.closed.paused);
});
