import type { DishView, OrderItem } from "@bella-vista/client";
import { expect, test } from "vitest";
import {
  allergensOf,
  type Chosen,
  choiceOf,
  estimate,
  firstChoice,
  meets,
  missing,
  modificationsOf,
  search,
} from "../src/model/menu";
import menu from "../stories/fixtures/menu.json";

const dish = (name: string) =>
  menu.sections
    .flatMap((section) => section.dishes as unknown as DishView[])
    .find((each) => each.name === name) as DishView;
const pizza = dish("Pizza your way");
const salad = dish("House salad");

const chosen = (of: DishView, part: Partial<Chosen>): Chosen => ({ ...firstChoice(of), ...part });

test("what stands chosen anyway is not said", () => {
  expect(modificationsOf(salad, firstChoice(salad))).toEqual([]);
  expect(firstChoice(salad).size).toBe("large");
});

test("a size without a default has to be chosen", () => {
  expect(missing(pizza, firstChoice(pizza))).toBe("size");
  expect(missing(pizza, chosen(pizza, { size: "large" }))).toBeNull();
});

test("halves, amounts and options become the menu's words, at the menu's price", () => {
  const choice = chosen(pizza, {
    size: "large",
    amounts: { mozzarella: "extra" },
    taken: { crust: { pan: "all" }, toppings: { ham: "half", mushrooms: "other half" } },
  });

  expect(modificationsOf(pizza, choice)).toEqual([
    "extra mozzarella",
    "pan",
    "half ham",
    "other half mushrooms",
  ]);
  expect(estimate(pizza, choice)).toBe(1800 + 300 + 250 + 150 + 150);
});

const line = (part: Partial<OrderItem>) =>
  ({ size: "large", quantity: 2, note: null, modifications: [], parts: [], ...part }) as OrderItem;

test("a line of the ticket is chosen again as it is", () => {
  for (const modifications of [
    ["no mozzarella", "gluten free", "half ham", "other half mushrooms"],
    ["extra mozzarella", "pan", "ham"],
    [],
  ]) {
    const again = choiceOf(pizza, line({ modifications }));

    expect(modificationsOf(pizza, again)).toEqual(modifications);
  }
  const dressed = choiceOf(salad, line({ size: "small", modifications: ["caesar dressing"] }));
  expect(modificationsOf(salad, dressed)).toEqual(["caesar dressing"]);
  expect(allergensOf(salad, dressed)).toEqual(["egg", "fish", "milk"]);
});

test("a word that the sheet cannot show is not lost by a change of another", () => {
  const modifications = ["no mozzarella", "onions on the side"];
  const again = choiceOf(pizza, line({ size: "small", modifications }));

  expect(again.size).toBe("small");
  expect(modificationsOf(pizza, { ...again, amounts: {} })).toEqual(["onions on the side"]);
  expect(estimate(pizza, again)).toBeNull();
});

test("an allergy meets the family it names, in either wording", () => {
  expect(meets(["tree nuts", "milk"], ["nuts"])).toEqual(["tree nuts"]);
  expect(meets(["egg"], ["eggs"])).toEqual(["egg"]);
  expect(meets(["milk"], ["tree nuts"])).toEqual([]);
});

test.each([
  ["margherita", ["Margherita"]],
  ["margerita", ["Margherita"]],
  ["margheritaa", ["Margherita"]],
  ["margherito", ["Margherita"]],
  ["magrherita", ["Margherita"]],
  ["Márgherita", ["Margherita"]],
  ["marhgerito", []], // two faults
  ["coal", []], // too short: "cola" may be meant, or not
  ["pannz", ["Panna cotta"]],
])("the search for %s forgives one fault in a long word", (words, names) => {
  const dishes = menu.sections.flatMap((section) => section.dishes as unknown as DishView[]);

  expect([...search(dishes, words)].map(({ name }) => name)).toEqual(names);
});
