// @vitest-environment jsdom

import type { OrderItem } from "@bella-vista/client";
import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { refused } from "@typed-handoffs/client/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { languages } from "../src/texts";
import { orders, serveMenu } from "../stories/room";
import { standIn } from "./jsdom";
import { openPage } from "./whole-page";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  location.hash = "";
});

async function page(order = orders.ordering, hash = "#talk") {
  const { room } = await openPage(order, { hash });
  return room;
}

const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const fill = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const ticket = () => within(screen.getByRole("complementary"));

test("a dish that was sold out meanwhile is refused at its sheet, with what there is instead", async () => {
  const room = await page(orders.ordering, "#menu/Tartufo");
  fireEvent.click(await screen.findByRole("radio", { name: "Large $32.00" }));
  press("Add to order, $32.00");
  const refusal = await within(screen.getByRole("form", { name: "Tartufo" })).findByRole("alert");

  expect(refusal.textContent).toBe("Tartufo is sold out today. Instead: Quattro formaggi.");
  expect(room.state.order_items).toHaveLength(3);
});

test.each([
  [languages.en, "Margherita: sold out now. Change this line or remove it."],
  [languages.de, "Margherita: gerade aus. Bitte die Zeile ändern oder streichen."],
])("a line of a dish that is sold out meanwhile says so: $code", async (texts, told) => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  await openPage(orders.ordering, { texts });
  expect(screen.queryByText(told)).toBeNull();
  serveMenu({}, ["Margherita"]);
  await act(() => vi.advanceTimersByTimeAsync(5_000));
  expect(ticket().getAllByText(told)).toHaveLength(1);

  serveMenu();
  await act(() => vi.advanceTimersByTimeAsync(5_000));
  expect(screen.queryByText(told)).toBeNull();
  vi.useRealTimers();
});

test("a combo with a part that is sold out says which, and a placed order says nothing", async () => {
  const [first, ...others] = orders.ordering.order_items;
  const part = { name: "Cola", size: "can", modifications: [] };
  const items = [{ ...(first as OrderItem), name: "Lunch for two", parts: [part] }, ...others];
  const order = { ...orders.ordering, order_items: items };
  const { room } = await openPage(order, { soldOut: ["Cola"] });
  expect(await ticket().findByText(/^Cola: sold out now/)).toBeTruthy();

  await act(() => room.change({ op: "place_order" }));
  expect(screen.queryByText(/sold out now/)).toBeNull();
});

test("a note on a line leaves out what stays as it is", async () => {
  const room = await page(orders.ordering, "#line/L1");
  fireEvent.change(await screen.findByLabelText(/^A wish/), { target: { value: "well done" } });
  fireEvent.click(screen.getByRole("button", { name: /^Change it/ }));
  await waitFor(() => expect(room.state.order_items[0]?.note).toBe("well done"));
  const { quantity } = orders.ordering.order_items[0] as OrderItem;

  const sent = room.calls.find(({ method }) => method === "order.apply")?.payload;
  expect(sent).toMatchObject({ command: { op: "change_item" } });
  expect((sent as { command: unknown }).command).toEqual({
    ...{ op: "change_item", line_id: "L1", quantity, note: "well done" },
  });
});

test("a line that somebody else has changed meanwhile says so, and shows what it is now", async () => {
  const room = await page();
  room.holding = true; // the page has not heard of it
  room.change({ op: "change_item", line_id: "L1", quantity: 7 });
  press("One more Margherita");
  const name = screen.getByText("Margherita", { selector: ".name" });
  const line = within(name.closest("li") as HTMLElement);
  const refusal = await line.findByRole("alert");

  expect(refusal.textContent).toBe(
    "This changed meanwhile. Look at the ticket, then decide again.",
  );
  expect(line.getByText("7", { selector: "output" })).toBeTruthy();
  press("One more Margherita");
  await waitFor(() => expect(room.state.order_items[0]?.quantity).toBe(8));
  expect(screen.queryByText(/changed meanwhile/)).toBeNull();
});

const STILL = "Still needed: pickup or delivery";

async function notReadBack() {
  const room = await page();
  await act(() => new Promise((settled) => setTimeout(settled))); // the address has changed: a refusal would go
  room.onRequest = (method) => {
    if (method === "order.apply") {
      throw refused(4022, "refused", { reason: "missing", facts: { needs: ["fulfilment"] } });
    }
  };
  press("That is all, read it back");
  expect((await ticket().findByRole("alert")).textContent).toContain(STILL);
  room.onRequest = () => {};
  return room;
}

test("a refusal goes with the next words of the guest", async () => {
  const room = await notReadBack();
  act(() => room.transcribe({ from: "agent", text: "Anything else?", final: true }));
  expect(ticket().getByText(new RegExp(STILL))).toBeTruthy();
  fill("Type to the restaurant", "pickup please");
  fireEvent.submit(screen.getByLabelText("Type to the restaurant").closest("form") as HTMLElement);

  await waitFor(() => expect(ticket().queryByText(new RegExp(STILL))).toBeNull());
});

test("a refusal goes with the next change of the order", async () => {
  const room = await notReadBack();
  await act(() => room.change({ op: "add_allergy", name: "milk" }));

  expect(ticket().queryByText(new RegExp(STILL))).toBeNull();
});

test("an allergy is taken off by hand, and a refusal of it is seen", async () => {
  const room = await page({ ...orders.ordering, allergies: ["tree nuts", "milk"] });
  press("Remove tree nuts");
  await waitFor(() => expect(room.state.allergies).toEqual(["milk"]));
  expect(ticket().queryByText("tree nuts")).toBeNull();
  const told = screen.getByText(/^Off your ticket:/, { selector: ".happened" });
  expect(told.textContent).toBe("Off your ticket: allergy tree nuts");

  room.onRequest = (method) => {
    if (method === "order.apply") throw refused(4022, "refused", { reason: "wrong_stage" });
  };
  press("Remove milk");
  const refusal = await ticket().findByRole("alert");
  expect(refusal.textContent).toBe("That is not possible any more at this point.");
  expect(ticket().getByText("milk")).toBeTruthy();
});

test("once the order is read back its allergies stand without buttons", async () => {
  await page({ ...orders.review, allergies: ["milk"] });

  expect(ticket().getByText("milk")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Remove milk" })).toBeNull();
});

const inPanel = () => within(screen.getByRole("dialog"));
const sendPanel = () =>
  fireEvent.submit(screen.getByRole("dialog").querySelector("form") as HTMLFormElement);

test("a guest asks for a person, and sees that it was asked", async () => {
  const room = await page({ ...orders.ordering, phone: "+12125550142" });
  press(/^Ask for a person/);
  expect(screen.queryByLabelText("The number to call you at")).toBeNull();
  fill("What is it about?", "A cake for twelve");
  const asked: unknown[] = [];
  room.onRequest = (method) => void asked.push(method);
  sendPanel();

  expect(await screen.findByText(/Someone from the restaurant will get in touch/)).toBeTruthy();
  expect(room.calls.at(-1)?.payload).toMatchObject({
    command: { op: "call_person", reason: "A cake for twelve" },
  });
});

test.each([
  [languages.en, /^Ask for a person/, "The number to call you at"],
  [languages.de, /^Nach einem Menschen/, "Nummer, unter der wir Sie erreichen"],
])("a guest who wants a person leaves a number to be reached at", async (texts, open, label) => {
  const { room } = await openPage(orders.ordering, { texts });
  press(open);
  const field = inPanel().getByLabelText<HTMLInputElement>(label);
  expect(field.required).toBe(true);
  fireEvent.change(field, { target: { value: "212 555 0142" } });
  sendPanel();
  await waitFor(() =>
    expect(room.calls.at(-1)?.payload).toMatchObject({ command: { op: "call_person" } }),
  );
  const sent = room.calls.filter(({ method }) => method === "order.apply");
  expect(sent.at(-2)?.payload).toMatchObject({
    command: { op: "set_customer", phone: "212 555 0142" },
  });
});

test("a guest who has asked for a person in the talk can leave a number", async () => {
  const room = await page({ ...orders.ordering, person_wanted: true });
  press(/^Ask for a person/);
  expect(inPanel().getByRole("status").textContent).toMatch(/^Asked. Leave a number/);
  expect(inPanel().queryByLabelText("What is it about?")).toBeNull();
  fill("The number to call you at", "212 555 0143");
  sendPanel();
  expect(await inPanel().findByText(/Someone from the restaurant will get in touch/)).toBeTruthy();
  expect(room.calls.at(-1)?.payload).toMatchObject({
    command: { op: "set_customer", phone: "212 555 0143" },
  });
});

test("after the end a person is not offered in vain", async () => {
  const room = await page();
  await act(() => room.endCall("agent_ended"));
  press(/^Ask for a person/);

  expect(
    screen.getByText("The call has ended. Begin a new one, and ask for a person there."),
  ).toBeTruthy();
  expect(screen.queryByLabelText("What is it about?")).toBeNull();
});

test("the menu is searched by names and by what is in the dishes", async () => {
  await page(orders.ordering, "#menu");
  await screen.findByRole("heading", { name: "Garlic bread" });
  const main = within(screen.getByRole("main"));
  const dishes = () => main.queryAllByRole("heading", { level: 3 }).map((one) => one.textContent);
  fill("Search the menu", "gnocchi PESTO");
  await waitFor(() => expect(dishes()).toEqual(["Gnocchi al pesto"]));
  expect(screen.getByText("1 dish")).toBeTruthy();
  fill("Search the menu", "gnochi pseto");
  await waitFor(() => expect(dishes()).toEqual(["Gnocchi al pesto"]));
  fill("Search the menu", "mascarpone-free unicorn");
  expect(await screen.findByText("No dish holds these words.")).toBeTruthy();
  expect(dishes()).toEqual([]);

  press("Desserts");
  await waitFor(() => expect(dishes()).toEqual(["Tiramisu", "Panna cotta", "Cannoli"]));
});

test("dishes that hold what the guest must not have are marked, and hidden when they wish", async () => {
  await page({ ...orders.ordering, allergies: ["milk"] }, "#menu");
  await screen.findByRole("heading", { name: "Garlic bread" });
  press("Desserts");
  expect((await screen.findAllByText("You told us: milk.")).length).toBeGreaterThan(0);
  fireEvent.click(screen.getByRole("checkbox", { name: "Hide what holds milk" }));

  await waitFor(() => expect(screen.queryByText("You told us: milk.")).toBeNull());
  expect(screen.queryByRole("heading", { name: "Panna cotta" })).toBeNull();
  expect(screen.getByText(/No dish is promised to be free of anything/)).toBeTruthy();
});

test("a note for the kitchen is added and taken off", async () => {
  const room = await page();
  fill("Note for the kitchen", "  no cutlery ");
  press("Add the note");
  expect(await ticket().findByText("no cutlery", { selector: "i" })).toBeTruthy();
  expect(screen.getByLabelText<HTMLInputElement>("Note for the kitchen").value).toBe("");
  press("Add the note"); // nothing is written: nothing is added
  expect(room.state.notes).toHaveLength(1);

  press("Remove no cutlery");
  await waitFor(() => expect(ticket().queryByText("no cutlery", { selector: "i" })).toBeNull());
});

test("a wish for a dish goes with it, and stands on the ticket", async () => {
  await page(orders.ordering, "#line/L1");
  await screen.findByLabelText(/^A wish for this dish/);
  fill(/^A wish for this dish/, "cut in eight");
  press(/^Change it/);

  expect(await ticket().findByText("cut in eight")).toBeTruthy();
});

test("a code that does not count says why, and one that does can be taken off", async () => {
  await page();
  fill("Code", "SUMMER26");
  press("Use the code");
  expect((await ticket().findByRole("alert")).textContent).toBe("This code has expired.");
  fill("Code", "NOSUCH");
  press("Use the code");
  expect(await ticket().findByText("This code does not work.")).toBeTruthy();
  expect(screen.getByLabelText<HTMLInputElement>("Code").value).toBe("NOSUCH");
  fill("Code", "WELCOME10");
  press("Use the code");
  expect(await ticket().findByText("WELCOME10", { selector: ".stamp" })).toBeTruthy();
  expect(ticket().queryByRole("alert")).toBeNull();
  press("Take off the code WELCOME10");
  await waitFor(() => expect(ticket().queryByText("WELCOME10", { selector: ".stamp" })).toBeNull());
});

test("a comment is sent with the stars, and an empty one is not", async () => {
  const room = await page(orders.placed);
  const comment = screen.getByLabelText<HTMLTextAreaElement>(/^Anything to add/);
  const send = () => fireEvent.submit(comment.form as HTMLFormElement);
  const before = room.calls.length;
  send();
  fireEvent.change(comment, { target: { value: "The best crust in town" } });
  send();

  expect(await screen.findByText("Thank you. We have written it down.")).toBeTruthy();
  expect(room.calls.slice(before).map(({ payload }) => payload.command)).toEqual([
    { op: "give_feedback", comment: "The best crust in town" },
  ]);
  expect(comment.value).toBe("");
});

test("a tip that was said as an amount stands chosen", async () => {
  const { display } = orders.confirmed;
  const said = { tip: 500, tip_percentage: null, display: { ...display, tip: "$5.00" } };
  await page({ ...orders.confirmed, ...said });
  const tips = within(screen.getByRole("group", { name: "Tip" }));
  const checked = tips.getAllByRole<HTMLInputElement>("radio").filter((one) => one.checked);

  expect(checked.map((one) => one.closest("label")?.textContent)).toEqual(["Other$5.00"]);
});

test("a code that takes nothing off yet stands on the ticket and says so", async () => {
  const discounts = [{ code: "NEIGHBOR5", name: "Coupon NEIGHBOR5 (5 %)", amount: 333 }];
  const display = { ...orders.ordering.display, discounts: { NEIGHBOR5: "$3.33" } };
  const total = orders.ordering.total - 333;
  const coupons = ["NEIGHBOR5", "WELCOME10"];
  await page({ ...orders.ordering, coupons, discounts, total, display });
  const names = [...document.querySelectorAll(".sums dt")].map((one) => one.textContent);

  expect(names).toEqual([
    ...["Subtotal", "Coupon NEIGHBOR5 (5 %)", "Code WELCOME10", "Tax", "Total"],
  ]);
  expect(ticket().getByText("nothing off yet")).toBeTruthy();
});

test.each([
  [languages.en, "of which tax"],
  [languages.de, "davon Steuer"],
])("tax that the prices hold stands below the total", async (texts, taxWithin) => {
  const sums = { subtotal: 4500, tax: 344, total: 4500 };
  const shown = { subtotal: "$45.00", tax: "$3.44", total: "$45.00" };
  const display = { ...orders.ordering.display, ...shown };
  await openPage({ ...orders.ordering, ...sums, display }, { texts });
  const names = [...document.querySelectorAll(".sums dt")].map((one) => one.textContent);
  const amounts = [...document.querySelectorAll(".sums dd")].map((one) => one.textContent);

  expect(names).toEqual([texts?.ticket.subtotal, texts?.ticket.total, taxWithin]);
  expect(amounts).toEqual(["$45.00", "$45.00", "$3.44"]);
});

test.each([
  [languages.en, "Pickup, for Wednesday, 12:15 pm, for Ada"],
  [languages.de, "Abholung, am Mittwoch um 12:15, für Ada"],
])("a time on another day is told with its day", async (texts, told) => {
  const when = "2026-11-25T12:15:00-05:00"; // the call is on Tuesday
  const fulfilment = { kind: "pickup" as const, when, address: null, ready_at: when };
  await openPage({ ...orders.review, fulfilment }, { texts });

  expect(document.querySelector(".ticket .block p")?.textContent).toBe(told);
});

test("as soon as possible has its day too, where that is another one", async () => {
  const ready_at = "2026-11-25T11:50:00-05:00";
  const fulfilment = { kind: "pickup" as const, when: null, address: null, ready_at };
  await openPage({ ...orders.review, fulfilment });

  expect(ticket().getByText("Pickup").closest("p")?.textContent).toBe(
    "Pickup, as soon as possible, ready on Wednesday about 11:50 am, for Ada",
  );
});

test.each([
  [null, "Pickup, ready about 7:35 pm, for Ada"],
  ["2026-11-24T19:35:00-05:00", "Pickup, for 7:35 pm, for Ada"],
  ["2026-11-24T19:20:00-05:00", "Pickup, for 7:20 pm, ready about 7:35 pm, for Ada"],
])("an order that staff have accepted has their time on the ticket: %s", async (when, told) => {
  const ready_at = "2026-11-24T19:35:00-05:00";
  const fulfilment = { kind: "pickup" as const, when, address: null, ready_at };
  const room = await page({ ...orders.placed, fulfilment });
  expect(ticket().getByText("Pickup").closest("p")?.textContent).not.toContain("ready");
  await act(() => room.change({ op: "accept_order" }));

  expect(ticket().getByText("Pickup").closest("p")?.textContent).toBe(told);
});

test("the heading of a new line is read as words of their own", async () => {
  const room = await page();
  await act(() => room.change({ op: "add_item", name: "Tiramisu" }));

  expect(ticket().getByRole("heading", { name: "Tiramisu new" })).toBeTruthy();
});

describe("the time, by hand", () => {
  const WEEK = ["tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
  const hours = { monday: [], ...Object.fromEntries(WEEK.map((day) => [day, ["12:00-22:00"]])) };
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-24T18:55:00-05:00") });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const open = async (texts = languages.en) => {
    const { room } = await openPage(orders.ordering, { texts, house: { hours } });
    await waitFor(() => expect(document.title).toContain("Bella Vista"));
    fireEvent.click(ticket().getByRole("button", { name: /^(Choose|Wählen) / }));
    return { room, day: ticket().getByRole<HTMLSelectElement>("combobox") };
  };

  test.each([
    [languages.en, ["As soon as possible", "Today", "Tomorrow", "Thursday, November 26"], "Monday"],
    [
      languages.de,
      ["So bald wie möglich", "Heute", "Morgen", "Donnerstag, 26. November"],
      "Montag",
    ],
  ])("a guest chooses among the days on which the house opens", async (texts, first, closed) => {
    const { day } = await open(texts);
    const offered = [...day.options].map((option) => option.textContent ?? "");

    expect(offered.slice(0, 4)).toEqual(first);
    expect(offered).toHaveLength(13);
    expect(offered.filter((each) => each.startsWith(closed ?? ""))).toEqual([]);
  });

  test("the day and the time are sent, and a day has to have a time", async () => {
    const { room, day } = await open();
    expect(ticket().queryByLabelText("At what time?")).toBeNull();
    fireEvent.change(day, { target: { value: "2026-11-27" } });
    const time = ticket().getByLabelText<HTMLInputElement>("At what time?");
    expect(time.required).toBe(true);
    fireEvent.change(time, { target: { value: "13:15" } });
    fireEvent.click(ticket().getByRole("button", { name: "Keep it" }));

    await waitFor(() => expect(room.calls.at(-1)?.method).toBe("order.apply"));
    expect(room.calls.at(-1)?.payload).toMatchObject({
      command: { op: "set_fulfilment", kind: "pickup", when: "2026-11-27T13:15" },
    });
  });
});

const SOON = "2026-11-25T11:50:00-05:00";

test.each([
  [
    { why: "too_soon", possible: [SOON] },
    "That is too soon. The earliest is Wednesday, November 25, 11:50 am.",
    "Das ist zu früh. Frühestens geht es am Mittwoch, 25. November, 11:50.",
  ],
  [
    { why: "closed", possible: [SOON] },
    "We are closed then. We open on Wednesday, November 25, 11:50 am.",
    "Dann haben wir geschlossen. Wir öffnen am Mittwoch, 25. November, 11:50.",
  ],
  [{ why: "closed", possible: [] }, "We are closed then.", "Dann haben wir geschlossen."],
  [
    { why: "below_minimum", minimum: 2000, short: 450 },
    "We deliver from $20.00 on: $4.50 is missing. Add something, or pick it up.",
    "Wir liefern ab $20.00: Es fehlen $4.50. Nehmen Sie etwas dazu, oder holen Sie es ab.",
  ],
  [
    { why: "paused", possible: [] },
    "We take no orders just now. Please try again a little later.",
    "Wir nehmen gerade keine Bestellungen an. Bitte versuchen Sie es etwas später.",
  ],
])("a refusal is told in the words of the page, for guests: $why", async (facts, ...told) => {
  const error = { reason: "choice_not_possible", facts, detail: "Tell the guest to try later." };
  for (const [place, code] of ["en", "de"].entries()) {
    const texts = languages[code] as (typeof languages)["en"];
    const { room } = await openPage(orders.ordering, { texts });
    room.onRequest = () => {
      throw refused(4022, "refused", error);
    };
    press(texts?.ticket.done ?? "");
    expect((await ticket().findByRole("alert")).textContent).toBe(told[place]);
    cleanup();
  }
});

test.each([
  ["2026-11-24T20:15:00-05:00", "Pickup, for 8:15 pm, for Ada"],
  ["2026-11-24T20:30:00-05:00", "Pickup, for 8:15 pm, ready about 8:30 pm, for Ada"],
])("a time that was asked for is told once, unless it is ready at %s", async (ready_at, told) => {
  const when = "2026-11-24T20:15:00-05:00";
  const fulfilment = { kind: "pickup" as const, when, address: null, ready_at };
  await page({ ...orders.review, fulfilment });

  expect(ticket().getByText("Pickup").closest("p")?.textContent).toBe(told);
});
