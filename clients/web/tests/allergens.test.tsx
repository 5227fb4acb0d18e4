// @vitest-environment jsdom

import { readFileSync } from "node:fs";
import type { DishView } from "@bella-vista/client";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { factsText } from "../src/parts/menu";
import { Sheet } from "../src/parts/sheet";
import { Ticket } from "../src/parts/ticket";
import { languages, type Texts, TextsContext } from "../src/texts";
import menu from "../stories/fixtures/menu.json";
import { call, dishOf, orders } from "../stories/room";
import { standIn } from "./jsdom";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const german = languages.de as Texts;
const english = languages.en as Texts;

test("every family of allergens has a German name", () => {
  const families = readFileSync("../state/language/en/allergens.py", "utf8");
  const names = [...families.matchAll(/^ {4}"([a-z ]+)": listed\(/gm)].map((found) => found[1]);
  expect(names).toContain("tree nuts");
  expect(names.length).toBeGreaterThan(12);
  for (const name of names) expect(german.card.allergens, name).toHaveProperty([name as string]);
});

test("allergens of a dish stand in the page's language, other words as the menu has them", () => {
  const dish = { diets: [], allergens: ["Gluten", "tree nuts", "annatto"], minimum_age: null };
  const facts = (texts: Texts) => factsText(dish as unknown as DishView, texts);
  expect(facts(german)).toBe("Enthält Gluten, Schalen\u00adfrüchte, annatto.");
  expect(facts(english)).toBe("Holds Gluten, tree nuts, annatto.");
});

test.each([
  ["de", ["Milch", "annatto", "Enthält Milch, annatto."]],
  ["en", ["milk", "annatto", "Holds milk, annatto."]],
])("the ticket names allergies and what meets them, in %s", async (language, texts) => {
  const [item] = orders.ordering.order_items;
  const line = { ...item, allergens_met: ["milk", "annatto"] } as typeof item;
  const { session } = await call({
    ...orders.ordering,
    allergies: ["milk", "annatto"],
    order_items: [line as NonNullable<typeof line>],
  });
  render(
    <TextsContext value={languages[language] as Texts}>
      <PageProvider session={session}>
        <Ticket />
      </PageProvider>
    </TextsContext>,
  );
  for (const text of texts) expect(screen.getByText(text)).toBeTruthy();
});

test("the sheet says in German what a dish holds as chosen, and what of it was told", async () => {
  const order = { ...orders.empty, allergies: ["milk"] };
  const { session } = await call(order);
  const dish = menu.sections
    .flatMap((section) => section.dishes as unknown as DishView[])
    .find((one) => one.allergens.includes("milk") && one.options.length === 0) as DishView;
  render(
    <TextsContext value={german}>
      <PageProvider session={session}>
        <Sheet dish={dish} section="" find={dishOf} order={order} back={() => {}} />
      </PageProvider>
    </TextsContext>,
  );
  expect(screen.getByText(/^So gewählt.*\bMilch\b/)).toBeTruthy();
  expect(screen.getByText("Sie haben gesagt: Milch.")).toBeTruthy();
});
