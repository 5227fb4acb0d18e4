import { describe, expect, test } from "vitest";
import { bellaVista, type Command, type Order } from "../src/index.js";

const ORDER = {
  order_items: [
    { id: "L1", name: "Margherita", size: "large", quantity: 2, modifications: [], note: "hot" },
    { id: "L2", name: "Tiramisu", size: null, quantity: 1, modifications: [], note: null },
  ],
  notes: [{ id: "N1", title: "Bell", content: "broken" }],
  allergies: ["nuts"],
  customer_name: null,
  phone: null,
  email: null,
  tip_percentage: null,
  payment_method: null,
  feedback_rating: null,
  feedback_comment: null,
  total: 4200,
  stage: "open",
} as unknown as Order;

const foresee = (command: Command) => bellaVista.optimistic?.(ORDER, command) ?? null;

describe("what is shown before the agent has answered", () => {
  const cases: [Command, Partial<Order> | null][] = [
    [
      { op: "change_item", line_id: "L1", quantity: 3, note: "" },
      {
        order_items: [
          { ...ORDER.order_items[0], quantity: 3, note: null },
          ORDER.order_items[1],
        ] as Order["order_items"],
      },
    ],
    [{ op: "change_item", line_id: "L1", name: "Funghi" }, null],
    [{ op: "remove_item", line_id: "L1" }, { order_items: ORDER.order_items.slice(1) }],
    [{ op: "remove_item", line_id: "L1", quantity: 1 }, null],
    [{ op: "add_item", name: "Funghi" }, null],
    [
      { op: "change_note", note_id: "N1", content: "works" },
      { notes: [{ ...ORDER.notes[0], content: "works" }] as Order["notes"] },
    ],
    [{ op: "remove_note", note_id: "N1" }, { notes: [] }],
    [{ op: "add_allergy", name: "milk" }, { allergies: ["nuts", "milk"] }],
    [{ op: "add_allergy", name: "nuts" }, null],
    [{ op: "remove_allergy", name: "Nuts" }, { allergies: [] }],
    [{ op: "remove_allergy", name: "milk" }, null],
    [{ op: "set_customer", name: "Ada" }, { customer_name: "Ada" }],
    [{ op: "set_tip", percentage: 15 }, { tip_percentage: 15 }],
    [{ op: "set_tip", amount: 300 }, null],
    [{ op: "choose_payment", method: "card" }, { payment_method: "card" }],
    [{ op: "give_feedback", rating: 5 }, { feedback_rating: 5 }],
    [{ op: "place_order" }, null],
  ];
  test.each(cases)("%o", (command, changed) => {
    expect(foresee(command)).toEqual(changed === null ? null : { ...ORDER, ...changed });
  });

  test("what has been done already changes nothing more", () => {
    for (const [command] of cases) {
      const once = foresee(command);
      if (once !== null) expect(bellaVista.optimistic?.(once, command) ?? once).toEqual(once);
    }
  });
});

test("fields and stages of a newer agent are named", () => {
  const newer = { ...ORDER, stage: "flambéed", mood: "sunny" } as unknown as Order;
  expect(bellaVista.unknownIn?.(ORDER)).toEqual([]);
  expect(bellaVista.unknownIn?.(newer)).toEqual(['stage "flambéed"', "field mood"]);
  const [line] = ORDER.order_items;
  const inside = { ...ORDER, order_items: [{ ...line, mood: "sunny" }] } as unknown as Order;
  expect(bellaVista.unknownIn?.(inside)).toEqual(["field order_items.mood"]);
});
