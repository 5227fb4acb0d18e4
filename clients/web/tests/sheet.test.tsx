// @vitest-environment jsdom

import type { DishView, OrderItem } from "@bella-vista/client";
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { Sheet } from "../src/parts/sheet";
import { languages, type Texts, TextsContext } from "../src/texts";
import { call, dishOf, orders } from "../stories/room";
import { standIn } from "./jsdom";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const part = (name: string, size: string | null, ...modifications: string[]) => ({
  ...{ name, size, modifications },
});
const more = (dish: string) => screen.getByRole("button", { name: `One more ${dish}` });
const fewer = (dish: string) => screen.getByRole("button", { name: `One fewer ${dish}` });
const choices = (dish: string) => within(screen.getByRole("group", { name: dish }));
const add = () => fireEvent.click(screen.getByRole("button", { name: /^Add to order/ }));

/** Open the sheet of a combo, to change a line of the ticket or to add one. */
async function opened(
  combo: DishView,
  { line = {} as Partial<OrderItem>, find = dishOf, language = "en" } = {},
) {
  const { session } = await call(orders.empty);
  const apply = vi.spyOn(session, "apply").mockResolvedValue(orders.empty);
  const whole = { id: "L4", name: combo.name, size: null, quantity: 1, note: null };
  render(
    <TextsContext value={languages[language] as Texts}>
      <PageProvider session={session}>
        <Sheet
          dish={combo}
          section="Combos"
          find={find}
          order={orders.empty}
          {...(line.parts ? { line: { ...whole, modifications: [], ...line } as OrderItem } : {})}
          back={() => {}}
        />
      </PageProvider>
    </TextsContext>,
  );
  return apply;
}

const combo = (name: string, ...parts: DishView["parts"]): DishView => {
  const dish = dishOf(name) as DishView;
  return parts.length > 0 ? { ...dish, parts } : dish;
};

test("the sheet of a combo on the ticket shows its parts, and changes one of them alone", async () => {
  const sub = part("Meatball sub", null, "no cheese"); // the menu does not have it any more
  const apply = await opened(combo("Lunch for two"), {
    line: {
      parts: [sub, part("Chicken panino", null), part("Iced tea", null), part("Cola", "bottle")],
    },
  });
  const counted = screen
    .getAllByRole("group", { name: /^How many (?!Lunch for two)/ })
    .map((group) => group.querySelector("output")?.textContent);
  expect(counted).toEqual(["1", "0", "1", "1", "0", "0", "1", "0", "0"]);

  fireEvent.click(fewer("Cola"));
  fireEvent.click(more("Lemon soda"));
  fireEvent.click(screen.getByRole("button", { name: /^Change it/ }));
  expect(apply).toHaveBeenCalledWith({
    op: "change_item",
    line_id: "L4",
    parts: [
      { name: "Meatball sub", modifications: ["no cheese"] },
      { name: "Chicken panino" },
      { name: "Lemon soda", size: "can" },
      { name: "Iced tea" },
    ],
    quantity: 1,
    note: "",
  });
});

test("of several dishes a guest says how many of each, and no more than there are to choose", async () => {
  const apply = await opened(combo("Lunch for two"));
  expect(screen.getAllByText("0 of 2 chosen")).toHaveLength(2);
  add();
  expect(screen.getByRole("alert").textContent).toBe(
    "Please choose 2 more: Chicken panino, Caprese panino, Meatball sub.",
  );

  fireEvent.click(more("Caprese panino"));
  fireEvent.click(more("Caprese panino"));
  fireEvent.click(more("Caprese panino")); // there is no third
  expect(more("Chicken panino").getAttribute("aria-disabled")).toBe("true");
  fireEvent.click(more("Cola"));
  expect(screen.getByText("1 of 2 chosen").tagName).toBe("OUTPUT");
  add();
  expect(screen.getByRole("alert").textContent).toBe(
    "Please choose 1 more: Cola, Diet cola, Lemon soda …",
  );
  expect(apply).not.toHaveBeenCalled();

  fireEvent.click(more("Still water"));
  expect(screen.queryByRole("alert")).toBeNull();
  add();
  expect(apply).toHaveBeenCalledWith({
    op: "add_item",
    name: "Lunch for two",
    parts: [
      { name: "Caprese panino" },
      { name: "Caprese panino" },
      { name: "Cola", size: "can" },
      { name: "Still water" },
    ],
    quantity: 1,
  });
});

test("the choices of a dish are those of all of it, until each is chosen by itself", async () => {
  const apply = await opened(combo("Lunch for two", { choose: 4, dishes: ["Cola", "Lemon soda"] }));
  fireEvent.click(more("Cola"));
  fireEvent.click(more("Cola"));
  fireEvent.click(choices("Cola").getByRole("radio", { name: /^Bottle/ }));
  fireEvent.click(more("Cola"));
  fireEvent.click(choices("Cola").getByRole("button", { name: "Choose for each Cola by itself" }));
  fireEvent.click(choices("Cola 2").getByRole("radio", { name: "No" }));
  fireEvent.click(choices("Cola 3").getByRole("radio", { name: "Can" }));
  fireEvent.click(more("Lemon soda"));
  add();

  const bottle = { name: "Cola", size: "bottle" };
  expect(apply.mock.calls[0]?.[0]).toMatchObject({
    parts: [
      bottle,
      { ...bottle, modifications: ["no ice"] },
      { name: "Cola", size: "can" },
      { name: "Lemon soda" },
    ],
  });
});

test("dishes of a line that differ stand each by itself", async () => {
  await opened(combo("Lunch for two", { choose: 3, dishes: ["Cola", "Lemon soda"] }), {
    line: { parts: [part("Cola", "can"), part("Cola", "bottle"), part("Lemon soda", "can")] },
  });

  expect(screen.getAllByText(/^Size and options of/).map((one) => one.textContent)).toEqual([
    "Size and options of Cola 1Can",
    "Size and options of Cola 2Bottle",
    "Size and options of Lemon sodaCan",
  ]);
});

test("what there is no choice of stands chosen", async () => {
  const apply = await opened(
    combo(
      "Lunch for two",
      { choose: 2, dishes: ["Espresso"] },
      { choose: 2, dishes: ["Cola", "Lemon soda"] },
    ),
    {
      find: (name) => {
        const dish = dishOf(name);
        return dish && { ...dish, available: name !== "Cola" };
      },
    },
  );
  expect(screen.getByText("Included").parentElement?.textContent).toContain("2 × Espresso");
  expect(screen.getByText("2 of 2 chosen")).toBeTruthy(); // Cola is sold out
  fireEvent.click(fewer("Lemon soda"));
  fireEvent.click(more("Cola"));
  expect(screen.getByText("1 of 2 chosen")).toBeTruthy();
  fireEvent.click(more("Lemon soda"));
  add();

  expect(apply.mock.calls[0]?.[0]).toMatchObject({
    parts: ["Espresso", "Espresso", "Lemon soda", "Lemon soda"].map((name) => ({ name })),
  });
});

test("each dish of a combo has its own size and options, at what they add to its price", async () => {
  const family = combo(
    "Family pizza night",
    { choose: 2, dishes: ["Marinara", "Margherita", "Diavola"] },
    { choose: 1, dishes: ["Marinara", "Margherita"] },
    { choose: 1, dishes: ["House salad"] },
  );
  const apply = await opened(family, {
    find: (name) => {
      const dish = dishOf(name);
      return dish && { ...dish, available: name !== "Marinara" };
    },
  });
  const field = screen.getByRole<HTMLSelectElement>("combobox");
  expect(field.value).toBe("Margherita"); // Marinara is sold out
  expect(field.querySelector("[disabled]")?.textContent).toBe("Marinara: Sold out today");
  expect(more("Marinara").getAttribute("aria-disabled")).toBe("true");
  fireEvent.change(field, { target: { value: "Margherita" } });
  fireEvent.click(more("Diavola"));
  fireEvent.click(more("Diavola"));
  expect(screen.getByRole("button", { name: "Add to order, $52.00" })).toBeTruthy();

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
      { name: "Diavola", size: "small", modifications: ["no honey"] },
      { name: "Diavola", size: "small", modifications: ["no honey"] },
      { name: "Margherita", size: "large", modifications: ["pan"] },
      { name: "House salad", size: "small" },
    ],
    quantity: 1,
  });
});

test.each([
  ["en", "still to choose: 2", "still to choose: 1"],
  ["de", "noch zu wählen: 2", "noch zu wählen: 1"],
])(
  "each group says what is still to be chosen, and the first has the focus, in %s",
  async (...row) => {
    const [language, two, one] = row;
    await opened(combo("Lunch for two"), { language });
    expect(screen.queryByText(two)).toBeNull();
    fireEvent.submit(screen.getByRole("form"));
    expect(screen.getAllByText(two)).toHaveLength(2);
    const [panini, drinks] = screen
      .getAllByRole("group")
      .filter((group) => group.matches("fieldset"));
    expect(panini?.contains(document.activeElement)).toBe(true);

    const plus = () => within(panini as HTMLElement).getAllByText("+")[0] as HTMLElement;
    fireEvent.click(plus());
    expect(within(panini as HTMLElement).getByText(one)).toBeTruthy();
    fireEvent.click(plus());
    fireEvent.submit(screen.getByRole("form"));
    expect(screen.getAllByText(two)).toHaveLength(1);
    expect(drinks?.contains(document.activeElement)).toBe(true);
  },
);

test("a choice that a dish of a combo needs is asked for", async () => {
  const coffee = dishOf("Espresso") as DishView;
  const apply = await opened(combo("Lunch for two", { choose: 1, dishes: ["Espresso"] }), {
    find: (name) =>
      name === "Espresso"
        ? { ...coffee, options: coffee.options.map((option) => ({ ...option, default: null })) }
        : dishOf(name),
  });
  expect(screen.getByText("Size and options of Espresso").closest("details")?.open).toBe(true);
  add();
  expect(screen.getByRole("alert").textContent).toBe("Please choose: Espresso, bean.");
  expect(screen.getByText("still to choose: 1").closest("legend")?.textContent).toContain("Bean");
  expect(document.activeElement?.closest("fieldset")?.textContent).toContain("Bean");
  expect(apply).not.toHaveBeenCalled();
});

test("what is on a dish already is chosen there alone, unless a line has more of it", async () => {
  const sheet = (name: string) => screen.queryAllByRole("radiogroup", { name }).length;
  const pizza = dishOf("Pizza your way") as DishView;
  await opened(pizza);
  expect(sheet("mozzarella")).toBe(1);
  expect(sheet("buffalo mozzarella")).toBe(1);
  cleanup();

  await opened(pizza, { line: { size: "large", modifications: ["half mozzarella"], parts: [] } });
  expect(sheet("mozzarella")).toBe(2);
});
