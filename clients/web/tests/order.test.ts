import { describe, expect, test } from "vitest";
import { announced, details, happened, inWords } from "../src/model/changes";
import {
  clock,
  dayAndClock,
  dayText,
  halfOf,
  hoursText,
  humanised,
  money,
  presentAt,
  presentHere,
} from "../src/model/words";
import { de } from "../src/texts/de";
import { en } from "../src/texts/en";
import { orders } from "../stories/room";

const { empty, ordering, review } = orders;
const told = (before: typeof empty, after: typeof empty, texts = en) =>
  happened(before, after).map((one) => inWords(one, texts).join(""));

describe("what happened to the order", () => {
  test("lines, allergies and the guest's name are told as the ticket has them", () => {
    expect(told(empty, ordering)).toEqual([
      "2 × Margherita, large, no basil",
      "1 × Pizza your way, large, half ham, other half mushrooms",
      "1 × House salad, small",
      "allergy tree nuts",
    ]);
    expect(told(ordering, review)).toEqual(["pickup", "for Ada"]);
    expect(told(ordering, review, de)).toEqual(["Abholung", "für Ada"]);
  });

  test("a line that is gone is told as gone, and a total is announced with it", () => {
    const [first, ...others] = ordering.order_items;
    const after = { ...ordering, order_items: others };
    const news = happened(ordering, after);

    expect(news).toEqual([{ what: "item", off: true, word: first?.name, count: 2 }]);
    expect(announced(news, after, en)).toBe("Off your ticket: 2 × Margherita. Total $72.40.");
  });

  test("a note is told when it comes and when it goes", () => {
    const note = { id: "N1", title: "", content: "no cutlery", created_at: "", updated_at: "" };
    const noted = { ...ordering, notes: [note] };

    expect(told(ordering, noted)).toEqual(["note: no cutlery"]);
    expect(happened(noted, noted)).toEqual([]);
    expect(happened(noted, ordering)).toEqual([{ what: "note", off: true, word: "no cutlery" }]);
  });

  test("a tip in percent that moves with the order is no news", () => {
    const before = { ...ordering, tip_percentage: 18, tip: 1000 };

    expect(told(before, { ...before, tip: 1200 })).toEqual([]);
    const without = { ...before, tip_percentage: 0, tip: 0 };
    expect(told(before, without)).toEqual(["no tip"]);
    expect(announced(happened(before, without), without, en)).toMatch("On your ticket: no tip.");
  });

  test("the size of a dish with one size is not said", () => {
    expect(details({ size: "regular", modifications: [], parts: [] })).toBe("");
  });

  test("dishes of a combo that are the same stand once, with their number", () => {
    const cola = { name: "Cola", size: "can", modifications: [] };
    const pizza = { name: "Margherita", size: "small", modifications: ["no basil"] };
    const parts = [pizza, cola, { ...pizza, modifications: [] }, cola, cola];

    expect(details({ size: null, modifications: [], parts })).toBe(
      "Small Margherita no basil, 3 × can Cola, small Margherita",
    );
  });
});

describe("times, money and names", () => {
  test("a time is the restaurant's, wherever the guest is", () => {
    expect(clock("2026-11-24T19:20:01.970636-05:00", "en")).toBe("7:20 pm");
    expect(clock("2026-11-24T19:20:01+09:00", "de")).toBe("19:20");
    expect(clock("soon", "en")).toBe("soon");
    expect(dayAndClock("2026-11-24T11:30:00-05:00", "en")).toBe("Tuesday, 11:30 am");
    expect(dayAndClock("2026-11-24T00:30:00+09:00", "de")).toBe("Dienstag, 0:30");
    expect(dayAndClock("soon", "en")).toBe("soon");
  });

  test.each([
    ["11:30-15:00", "11:30 am–3:00 pm", "11:30–15:00"],
    ["17:00-00:30", "5:00 pm–12:30 am", "17:00–0:30"],
    ["late", "late", "late"],
  ])("hours are written as times are: %s", (hours, english, german) => {
    expect(hoursText(hours, "en")).toBe(english);
    expect(hoursText(hours, "de")).toBe(german);
  });

  test("the present is told in the zone of a time, on its day there", () => {
    const now = Date.parse("2026-11-24T03:30:00Z");
    expect(presentAt("2026-11-30T19:20:01.908360-05:00", now)).toBe("2026-11-23T22:30:00-05:00");
    expect(presentAt("2026-11-30T19:20:00+05:30", now)).toBe("2026-11-24T09:00:00+05:30");
    expect(presentAt("2026-11-30T19:20:00Z", now)).toBe("2026-11-24T03:30:00Z");
    expect(Date.parse(presentHere(new Date(now)))).toBe(now);
  });

  test.each([
    ["2026-11-23T23:50:00-05:00", "", ""],
    ["2026-11-24T00:10:00-05:00", "Tuesday", "Dienstag"],
    ["2026-11-29T12:00:00-05:00", "Sunday", "Sonntag"],
    ["2026-11-30T12:00:00-05:00", "Monday, November 30", "Montag, 30. November"],
    ["2026-11-22T12:00:00-05:00", "Sunday, November 22", "Sonntag, 22. November"],
    ["soon", "", ""],
  ])("a time on another day has its day: %s", (iso, english, german) => {
    const present = "2026-11-23T22:30:00-05:00";
    expect(dayText(iso, present, "en")).toBe(english);
    expect(dayText(iso, present, "de")).toBe(german);
  });

  test("money has the currency's digits, and half a cent is rounded up", () => {
    expect([money(1950, "USD"), money(1950, "JPY")]).toEqual(["$19.50", "¥1,950"]);
    expect([halfOf(300), halfOf(275)]).toEqual([150, 138]);
  });

  test("an agent without a word of its own keeps its name", () => {
    expect(humanised("wine_waiter")).toBe("Wine waiter");
  });
});
