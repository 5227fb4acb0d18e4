// @vitest-environment jsdom

import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "../src/app";
import { type Menu, MenuContext, USUAL } from "../src/model/menu";
import { Welcome } from "../src/parts/welcome";
import menu from "../stories/fixtures/menu.json";
import { serveMenu } from "../stories/room";
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
