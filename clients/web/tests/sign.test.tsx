// @vitest-environment jsdom

import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "../src/app";
import { type Menu, MenuContext, USUAL } from "../src/model/menu";
import { House } from "../src/parts/house";
import { Welcome } from "../src/parts/welcome";
import { TextsContext } from "../src/texts";
import { de } from "../src/texts/de";
import { en } from "../src/texts/en";
import menu from "../stories/fixtures/menu.json";
import { orders, serveMenu } from "../stories/room";
import { standIn } from "./jsdom";
import { openPage } from "./whole-page";

beforeEach(() => {
  standIn();
  location.hash = "";
  document.title = "";
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("before a call the page has the name of the menu's house", async () => {
  serveMenu({ name: "Corner Bakery" });
  render(<App />);

  expect(await screen.findByText("Corner Bakery")).toBeTruthy();
  expect(document.title).toBe("Corner Bakery");
  expect(document.body.textContent).not.toContain("Bella Vista");
});

test("in a call the page has the name of the menu's house", async () => {
  await openPage(undefined, { house: { name: "Corner Bakery" } });

  expect(await screen.findByText("Corner Bakery")).toBeTruthy();
  expect(document.title).toBe("Corner Bakery");
  expect(screen.getByRole("main", { name: "Your talk with Corner Bakery" })).toBeTruthy();
  expect(document.body.textContent).not.toContain("Bella Vista");
});

/** What is drawn on the start page of a house with these sections of the menu. */
function drawn(sections: object[]): string | undefined {
  const { container, unmount } = render(
    <MenuContext value={{ house: USUAL, sections } as unknown as Menu}>
      <Welcome settings={null} busy={false} onStart={() => {}} />
    </MenuContext>,
  );
  const drawing = container.querySelector(".tablecloth svg")?.outerHTML;
  unmount();
  return drawing;
}

test("only a house that sells pizza has one on its start page", () => {
  const pizza = drawn(menu.sections);
  const none = drawn(menu.sections.filter(({ name }) => name === "Salads"));

  expect(pizza).toBeTruthy();
  expect(none).toBeTruthy();
  expect(none).not.toBe(pizza);
  expect(drawn(menu.sections.filter(({ name }) => name === "Pizza"))).toBe(pizza);
});

test.each([
  [en, "Ring us: +1 206 555 0111", "We are closed until Saturday, 11:30 am."],
  [de, "Anrufen: +1 206 555 0111", "Wir haben geschlossen bis Samstag, 11:30."],
])(
  "before a call a guest sees where the house is, its number, and that it is closed: $code",
  async (texts, ring, closed) => {
    const address = "1201 Pike Street, Seattle";
    serveMenu({
      ...{ phone: "+1 206 555 0111", address },
      open_now: false,
      opens_at: "2026-11-21T11:30:00-08:00",
    });
    render(
      <TextsContext value={texts}>
        <House>
          <Welcome settings={null} busy={false} onStart={() => {}} />
        </House>
      </TextsContext>,
    );

    expect((await screen.findByRole<HTMLAnchorElement>("link", { name: ring })).href).toBe(
      "tel:+12065550111",
    );
    expect(screen.getByText(address, { exact: false })).toBeTruthy();
    expect(screen.getByText(closed, { exact: false })).toBeTruthy();
  },
);

test.each([
  ["pickup", "1201 Pike Street, Seattle", 1],
  ["delivery", "1201 Pike Street, Seattle", 0],
  ["pickup", null, 0],
] as const)("a placed order says where it is picked up: %s, %s", async (kind, address, times) => {
  const fulfilment = { kind, when: null, address: null, ready_at: "2026-11-24T19:20:00-05:00" };
  await openPage({ ...orders.placed, fulfilment }, { house: { phone: null, address } });
  await waitFor(() => expect(document.title).toContain("Bella Vista"));

  expect(screen.queryAllByText(/^Pick it up at 1201 Pike Street, Seattle\./)).toHaveLength(times);
  expect(screen.queryByRole("link", { name: /^Ring us/ })).toBeNull();
});
