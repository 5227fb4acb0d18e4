// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import MenuBefore from "../src/parts/menu-before";
import menu from "../stories/fixtures/menu.json";

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const soldOut = (available: boolean) => ({
  ...menu,
  sections: menu.sections.map((section) => ({
    ...section,
    dishes: section.dishes.map((dish) => ({ ...dish, available })),
  })),
});
const house = { currency: "USD", open_now: true, paused: false, opens_at: null, tips: [] };

test("an open menu shows what staff change meanwhile, and stays while it cannot be read", async () => {
  vi.useFakeTimers();
  Element.prototype.scrollIntoView = () => {};
  const answers: (object | null)[] = [
    { ...soldOut(true), house },
    { ...soldOut(false), house },
    { ...soldOut(false), house: { ...house, paused: true } },
    null,
  ];
  vi.stubGlobal("fetch", async () => {
    const next = answers.shift();
    if (!next) throw new TypeError("no network");
    return new Response(JSON.stringify(next));
  });
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  render(<MenuBefore />);
  const later = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  await later(0);
  const dishes = screen.getAllByRole("heading", { level: 3 }).length;
  expect(dishes).toBeGreaterThan(0);
  expect(screen.queryByText("Sold out today")).toBeNull();
  expect(screen.queryByRole("button", { name: /^Add/ })).toBeNull();
  await later(5_000);
  expect(screen.getAllByText("Sold out today")).toHaveLength(dishes);
  await later(5_000);
  expect(screen.getByText(/We take no orders just now/)).toBeTruthy();
  await later(5_000);
  expect(warn).toHaveBeenCalled();
  expect(screen.getAllByText("Sold out today")).toHaveLength(dishes);
  warn.mockRestore();
});
