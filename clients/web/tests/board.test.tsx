// @vitest-environment jsdom

import type { Command, Order } from "@bella-vista/client";
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { StaffBoard } from "@typed-handoffs/client/staff";
import { afterEach, expect, test, vi } from "vitest";
import { type House, MenuContext, USUAL } from "../src/model/menu";
import { languages, type Texts, TextsContext } from "../src/texts";
import { Board, type StaffOrder } from "../staff/board";
import { orders } from "../stories/room";

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A board, and what the page server tells it. */
function board(...first: Order[]) {
  return boardIn("en", ...first);
}

function boardIn(language: string, ...first: Order[]) {
  const { tell } = unloaded(language);
  tell("snapshot", { orders: first });
  return tell;
}

/** A board that waits for its orders, and what it asks of the page server. */
function unloaded(language = "en", house = USUAL) {
  const requests: { path: string; body: Record<string, unknown> }[] = [];
  const answers: Promise<Response>[] = [];
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    if (path === "/api/menu") return json(200, { sections: [] });
    requests.push({ path, body: JSON.parse(String(init?.body ?? "{}")) });
    return answers.shift() ?? json(200, {});
  });
  const listeners = new Map<string, (event: MessageEvent) => void>();
  const events = {
    addEventListener: (name: string, take: (event: MessageEvent) => void) =>
      listeners.set(name, take),
    readyState: 0,
    onerror: () => {},
    close() {},
  };
  render(
    <TextsContext value={languages[language] as Texts}>
      <MenuContext value={{ house: house as House, sections: [] }}>
        <Board
          board={
            new StaffBoard<StaffOrder, Command>({
              ...{ noun: "order", plural: "orders" },
              eventSource: () => events as unknown as EventSource,
            })
          }
        />
      </MenuContext>
    </TextsContext>,
  );
  const tell = (name: string, data: object) =>
    act(() => listeners.get(name)?.({ data: JSON.stringify(data) } as MessageEvent));
  /** The stream is lost; for good if its answer was an error. */
  const lose = (forGood = false) =>
    act(async () => {
      events.readyState = forGood ? 2 : 0;
      events.onerror();
    });
  return { tell, lose, requests, answers };
}

const json = (status: number, body: object) => new Response(JSON.stringify(body), { status });

const press = (name: string) =>
  act(async () => {
    fireEvent.click(screen.getByRole("button", { name }));
  });

const order = (number: string, parts: object = {}) =>
  ({ ...orders.placed, order_id: number, order_number: number, ...parts }) as Order;

test("an order in a stage of a newer server hangs on a rail of its own", () => {
  board(order("101"), order("102", { stage: "on_its_way" }));
  const rail = screen.getByRole("region", { name: "On its way" });
  expect(within(rail).getByRole("heading", { name: "102" })).toBeTruthy();
  expect(within(rail).queryByRole("button")).toBeNull();
  expect(screen.getAllByRole("region")).toHaveLength(6); // four rails, this one, the house
});

test("a screen reader is told of an order that comes, and of a guest who wants a person", () => {
  const tell = board(order("101"));
  expect(screen.getByRole("status").textContent).toBe("");
  tell("order", order("102"));
  expect(screen.getByRole("status").textContent).toBe("New order: 102");
  expect(screen.queryByRole("alert")).toBeNull();
  tell("order", order("102", { version: 99, person_wanted: true }));
  expect(screen.getByRole("alert").textContent).toContain("102 wants a person: Ada");
});

test.each([
  ["en", "Reason: asks about a cake for twelve"],
  ["de", "Grund: asks about a cake for twelve"],
])("the board says why a person is wanted, in %s", (language, told) => {
  const tell = boardIn(language, order("101", { person_wanted: true, person_reason: null }));
  expect(screen.getByRole("alert").querySelector("p")).toBeNull();
  tell("order", order("102", { person_wanted: true })); // of an older server
  expect(screen.getByRole("alert").querySelector("p")).toBeNull();
  const person_reason = "asks about a cake for twelve";
  tell("order", order("103", { person_wanted: true, person_reason }));
  expect(within(screen.getByRole("alert")).getByText(told)).toBeTruthy();
});

test("refusing an order begins with its reason", () => {
  board(order("101"));
  fireEvent.click(screen.getByRole("button", { name: "Refuse 101" }));
  expect(document.activeElement).toBe(screen.getByLabelText("Why?"));
});

test("staff press each step of an order", async () => {
  const { tell, requests } = unloaded();
  tell("snapshot", { orders: [order("101", { version: 4, stage: "preparing" })] });
  await press("Ready 101");
  tell("order", order("101", { version: 5, stage: "ready" }));
  await press("Handed over 101");
  tell("order", order("101", { version: 6, stage: "completed" }));
  expect(screen.queryByRole("heading", { name: "101" })).toBeNull();
  expect(requests).toMatchObject([
    { path: "/api/staff/orders/101", body: { op: "mark_ready", version: 4 } },
    { path: "/api/staff/orders/101", body: { op: "complete_order", version: 5 } },
  ]);
});

test("staff accept an order as promised, or with a later time in the zone of the restaurant", async () => {
  vi.useFakeTimers({ now: Date.parse("2026-06-01T00:00:00Z") });
  const fulfilment = { kind: "pickup", when: null, address: null };
  const at = (time: string) => ({ fulfilment: { ...fulfilment, ready_at: time } });
  const { tell, requests } = unloaded();
  const orders = [
    order("101", at("2026-11-20T23:50:00-05:00")),
    order("102", at("2026-11-20T19:00:00Z")),
    order("103", at("2026-06-20T23:45:00+05:30")),
  ];
  tell("snapshot", { orders });
  await press("Accept 102");
  for (const [number, time] of [
    ["101", "12:10 am"],
    ["103", "11:55 pm"],
  ] as const) {
    const slip = screen.getByRole("article", { name: number });
    fireEvent.click(within(slip).getByRole("radio", { name: time }));
    await press(`Accept ${number}`);
  }
  expect(requests.map(({ body }) => [body.op, body.ready_at])).toEqual([
    ["accept_order", undefined],
    ["accept_order", "2026-11-21T00:10:00-05:00"],
    ["accept_order", "2026-06-20T23:55:00+05:30"],
  ]);
});

test("once the promised time has passed, the times to accept an order with count from now", async () => {
  vi.useFakeTimers({ now: Date.parse("2026-11-20T23:59:55Z") });
  const ready_at = "2026-11-20T19:00:00-05:00";
  const parts = { fulfilment: { kind: "pickup", when: null, address: null, ready_at } };
  const { tell, requests } = unloaded();
  tell("snapshot", { orders: [order("101", parts), order("102", parts), order("103", parts)] });
  const times = () =>
    within(screen.getByRole("article", { name: "101" }))
      .getAllByRole("radio")
      .map((radio) => radio.closest("label")?.textContent);
  expect(times()).toEqual(["7:00 pm", "7:10 pm", "7:20 pm"]);
  await press("Accept 102");
  act(() => vi.advanceTimersByTime(65_000));
  expect(times()).toEqual(["7:11 pm", "7:21 pm", "7:31 pm"]);
  await press("Accept 101");
  const last = screen.getByRole("article", { name: "103" });
  fireEvent.click(within(last).getByRole("radio", { name: "7:31 pm" }));
  await press("Accept 103");
  expect(requests.map(({ path, body }) => [path.slice(-3), body.ready_at])).toEqual([
    ["102", undefined],
    ["101", "2026-11-20T19:11:00-05:00"],
    ["103", "2026-11-20T19:31:00-05:00"],
  ]);
});

test("staff refuse an order with a reason, and not without", async () => {
  const { tell, requests } = unloaded();
  tell("snapshot", { orders: [order("101")] });
  await press("Refuse 101");
  await press("Refuse 101");
  expect(requests).toEqual([]);
  fireEvent.change(screen.getByLabelText("Why?"), { target: { value: " no more flour " } });
  await press("Refuse 101");
  expect(requests).toMatchObject([{ body: { op: "refuse_order", reason: "no more flour" } }]);
});

test.each([
  ["en", "Answered 101"],
  ["de", "Erledigt 101"],
])("staff say that they have answered a guest, in %s", async (language, button) => {
  const { tell, requests } = unloaded(language);
  tell("snapshot", { orders: [order("101", { version: 4, person_wanted: true, stage: "open" })] });
  await press(button);
  expect(requests).toMatchObject([{ body: { op: "mark_answered", version: 4 } }]);
  tell("order", order("101", { version: 5, person_wanted: false, stage: "open" }));
  expect(screen.queryByRole("alert")).toBeNull();
});

test("a guest of a finished order wants a person until they are answered", () => {
  board(order("101", { person_wanted: true, stage: "completed" }));
  expect(screen.getByRole("alert").textContent).toContain("101 wants a person");
});

test.each([
  ["en", "Late: promised for 7:00 pm", "ready 7:00 pm"],
  ["de", "Zu spät: zugesagt für 19:00", "fertig 19:00"],
])("an order is late once its time has passed and its food is not ready, in %s", (...row) => {
  const [language, late, inTime] = row;
  vi.useFakeTimers({ now: Date.parse("2026-11-20T23:59:55Z") });
  const fulfilment = { kind: "pickup", when: null, address: null };
  const parts = { fulfilment: { ...fulfilment, ready_at: "2026-11-20T19:00:00-05:00" } };
  const stages = ["placed", "accepted", "preparing", "ready"];
  boardIn(language, ...stages.map((stage) => order(stage, { ...parts, stage })));
  expect(screen.getAllByText(inTime)).toHaveLength(4);
  act(() => vi.advanceTimersByTime(10_000));
  expect(screen.getAllByText(late)).toHaveLength(3);
  const ready = screen.getByRole("article", { name: "ready" });
  expect(within(ready).getByText(inTime)).toBeTruthy();
});

test.each([
  [
    "en",
    "ready Wednesday, 1:00 pm",
    "ready 11:30 pm",
    "Late: promised for Monday, November 16, 7:00 pm",
  ],
  [
    "de",
    "fertig Mittwoch, 13:00",
    "fertig 23:30",
    "Zu spät: zugesagt für Montag, 16. November, 19:00",
  ],
])(
  "the order that is to be ready first hangs first, one for another day with its day, in %s",
  (...row) => {
    const [language, ...told] = row;
    vi.useFakeTimers({ now: Date.parse("2026-11-20T22:50:00-05:00") });
    const due = (number: string, ready_at: string) =>
      order(number, { fulfilment: { kind: "pickup", when: null, address: null, ready_at } });
    boardIn(
      language,
      due("103", "2026-11-20T23:30:00-05:00"),
      due("102", "2026-11-25T13:00:00-05:00"),
      due("101", "2026-11-16T19:00:00-05:00"),
    );
    const slips = screen.getAllByRole("article");
    expect(slips.map((slip) => within(slip).getByRole("heading").textContent)).toEqual([
      "101",
      "103",
      "102",
    ]);
    const [wednesday, tonight, late] = told as [string, string, string];
    for (const [place, text] of [late, tonight, wednesday].entries())
      expect(within(slips[place] as HTMLElement).getByText(text)).toBeTruthy();
  },
);

test("orders for the same time hang as they came", () => {
  const { tell } = unloaded();
  const fulfilment = {
    kind: "pickup",
    when: null,
    address: null,
    ready_at: "2026-11-20T19:30:00-05:00",
  };
  const placed = (time: string) =>
    ({ fulfilment, stage_times: { placed: `2026-11-20T${time}-05:00` } }) as Partial<Order>;
  tell("snapshot", {
    orders: [order("101", placed("19:02:00")), order("102", placed("19:01:00"))],
  });
  const names = screen
    .getAllByRole("article")
    .map((one) => within(one).getByRole("heading").textContent);
  expect(names).toEqual(["102", "101"]);
});

test("a guest who left a number can be rung from their ticket", () => {
  board(order("101", { phone: "+12125550142" }), order("102", { phone: null }));
  const rung = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(rung).toEqual(["tel:+12125550142"]);
});

test.each([
  ["en", "Connecting.", "The server does not answer.", "The connection is lost."],
  ["de", "Verbindung wird aufgebaut.", "Der Server antwortet nicht.", "Die Verbindung ist weg."],
])("without its orders the board shows no empty rails, in %s", async (...row) => {
  const [language, connecting, unreachable, old] = row;
  const { tell, lose } = unloaded(language);
  expect(screen.getByRole("status").textContent).toContain(connecting);
  expect(screen.queryByRole("region")).toBeNull();
  await lose();
  expect(screen.getByRole("alert").textContent).toContain(unreachable);
  expect(screen.queryByRole("region")).toBeNull();
  tell("snapshot", { orders: [] });
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.getAllByRole("region")).toHaveLength(5);
  await lose();
  expect(screen.getByRole("alert").textContent).toContain(old);
  expect(screen.getAllByRole("region")).toHaveLength(5);
});

test.each([
  ["en", "Ready 101", "Sending…"],
  ["de", "Fertig 101", "Wird gesendet …"],
])(
  "what is pressed is shown as sent until it is answered, and sent once, in %s",
  async (...row) => {
    const [language, button, sending] = row;
    const { tell, requests, answers } = unloaded(language);
    const preparing = order("101", { version: 4, stage: "preparing" });
    tell("snapshot", { orders: [preparing, order("102", { stage: "preparing" })] });
    let answer: (response: Response) => void = () => {};
    answers.push(new Promise((settle) => (answer = settle)));
    await press(button);
    await press(button);
    const slip = screen.getByRole("article", { name: "101" });
    expect(within(slip).getByRole("status").textContent).toBe(sending);
    expect(screen.getByRole("button", { name: button }).ariaDisabled).toBe("true");
    expect(requests).toHaveLength(1);
    await act(async () => answer(json(409, { error: { type: "refused", detail: "Not now." } })));
    expect(within(slip).queryByRole("status")).toBeNull();
    expect(within(slip).getByRole("alert").textContent).toBe("Not now.");
    await press(button);
    expect(requests).toHaveLength(2);
    expect(within(slip).queryByRole("alert")).toBeNull();
  },
);

test("the house is changed once for two presses", async () => {
  const { tell, requests, answers } = unloaded();
  tell("snapshot", { orders: [], house: { paused: false, sold_out: ["Tiramisu"] } });
  let answer: (response: Response) => void = () => {};
  answers.push(new Promise((settle) => (answer = settle)));
  await press("Back on Tiramisu");
  await press("Back on Tiramisu");
  const dish = screen.getByLabelText("Find a dish");
  fireEvent.change(dish, { target: { value: "Diavola" } });
  await press("Sold out");
  expect(requests).toMatchObject([{ body: { remove_sold_out: ["Tiramisu"] } }]);
  expect((dish as HTMLInputElement).value).toBe("Diavola");
  await act(async () => answer(json(200, { paused: false, sold_out: [] })));
  await press("Sold out");
  expect(requests[1]).toMatchObject({ body: { add_sold_out: ["Diavola"] } });
});

test.each([
  ["en", "Your login has ended. Please log in again."],
  ["de", "Die Anmeldung ist abgelaufen. Bitte wieder anmelden."],
])("a login that has ended says so, and the first one does not, in %s", async (language, told) => {
  const { tell, lose, answers } = unloaded(language);
  const unauthorized = () => Promise.resolve(json(401, { error: { type: "unauthorized" } }));
  answers.push(unauthorized());
  await lose(true);
  expect(screen.queryByRole("alert")).toBeNull();
  const form = screen.getByRole("heading").closest("form") as HTMLFormElement;
  await act(async () => fireEvent.submit(form));
  tell("snapshot", { orders: [order("101")] });
  answers.push(unauthorized());
  await lose(true);
  expect(screen.getByRole("alert").textContent).toBe(told);
});

test.each([
  ["en", ["Allergy: lemon", "Allergy: milk"]],
  ["de", ["Allergie: lemon", "Allergie: Milch"]],
])("each allergy of an order is called one, in %s", (language, told) => {
  boardIn(language, order("101", { allergies: ["lemon", "milk"] }));
  const slip = screen.getByRole("article", { name: "101" });

  expect([...slip.querySelectorAll(".stamp")].map((one) => one.textContent)).toEqual(told);
});

/** Stands in for a browser's sound; returns when each tone begins. */
function hearing(): number[] {
  const begun: number[] = [];
  class Node {
    gain = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
    connect = (next: unknown) => next;
    start = (when: number) => void begun.push(when);
    stop() {}
  }
  vi.stubGlobal(
    "AudioContext",
    class {
      currentTime = 0;
      destination = {};
      close() {}
    },
  );
  vi.stubGlobal("OscillatorNode", Node);
  vi.stubGlobal("GainNode", Node);
  return begun;
}

test.each([
  ["en", "Sound for what comes"],
  ["de", "Ton, wenn etwas kommt"],
])("what comes is heard once staff have turned the sound on, in %s", (language, name) => {
  const begun = hearing();
  const tell = boardIn(language, order("101"));
  tell("order", order("102"));
  expect(begun).toHaveLength(0);
  fireEvent.click(screen.getByRole("checkbox", { name }));
  expect(begun).toHaveLength(2); // as a sample
  tell("order", order("103"));
  expect(begun).toHaveLength(4);
  tell("order", order("103", { version: 99, notes: [] }));
  tell("order", order("101", { version: 99, stage: "accepted" }));
  expect(begun).toHaveLength(4);
  tell("order", order("104", { stage: "open", person_wanted: true }));
  expect(begun).toHaveLength(6);
  fireEvent.click(screen.getByRole("checkbox", { name }));
  tell("order", order("105"));
  expect(begun).toHaveLength(6);
});

test("the tab says how many new orders wait", () => {
  const house = { ...USUAL, name: "Corner Bakery" };
  const { tell } = unloaded("en", house);
  tell("snapshot", { orders: [order("101"), order("102", { stage: "ready" })] });
  expect(document.title).toBe("(1) Corner Bakery: The pass");
  tell("order", order("101", { version: 99, stage: "accepted" }));
  expect(document.title).toBe("Corner Bakery: The pass");
});
