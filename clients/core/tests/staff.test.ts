import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type BoardOptions, StaffBoard } from "../src/staff.js";
import { notIn } from "../src/unknown.js";

interface Order {
  order_id: string;
  version: number;
  stage: string;
}

const order = (id: string, version: number, stage = "placed"): Order => ({
  order_id: id,
  version,
  stage,
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A page server whose answers and events the test gives. */
function server(options: Partial<BoardOptions> = {}) {
  const streams: FakeEvents[] = [];
  const requests: { method: string; path: string; body: Record<string, unknown> }[] = [];
  const answers: (Response | Error)[] = [];
  const board = new StaffBoard<Order>({
    noun: "order",
    plural: "orders",
    ...options,
    fetch: async (path, init) => {
      const body = init?.body ? JSON.parse(String(init.body)) : {};
      requests.push({ method: init?.method ?? "GET", path: String(path), body });
      const answer = answers.shift() ?? new Response(null, { status: 204 });
      if (answer instanceof Error) throw answer;
      return answer;
    },
    eventSource: (url) => {
      const events = new FakeEvents(url);
      streams.push(events);
      return events as unknown as EventSource;
    },
  });
  return { board, streams, requests, answers, look: board.getSnapshot };
}

class FakeEvents {
  readyState = 0;
  onerror: () => void = () => {};
  readonly #listeners = new Map<string, ((event: { data: string }) => void)[]>();

  constructor(readonly url: string) {}

  addEventListener(name: string, listener: (event: { data: string }) => void): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  tell(name: string, data: unknown): void {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    for (const listener of this.#listeners.get(name) ?? []) listener({ data: text });
  }

  fail(forGood = false): void {
    this.readyState = forGood ? 2 : 0;
    this.onerror();
  }

  close(): void {
    this.readyState = 2;
  }
}

const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });
const error = (status: number, type: string, reason?: string) =>
  json(status, { error: { type, detail: type, reason } });

function live() {
  const all = server();
  all.board.start();
  const [events] = all.streams as [FakeEvents];
  events.tell("snapshot", { orders: [order("o-2", 3), order("o-1", 7)], house: { paused: false } });
  return { ...all, events };
}

test("a board shows the newest states and each change of them, the newest version last", () => {
  const { board, events, look } = live();
  expect(events.url).toBe("/api/staff/events");
  expect(look()).toMatchObject({ status: "live", settings: { house: { paused: false } } });
  const untouched = look().states[1];
  events.tell("order", order("o-3", 1));
  events.tell("order", order("o-2", 5, "ready"));
  events.tell("order", order("o-2", 4, "preparing")); // came late
  events.tell("house", { paused: true });
  expect(look().states).toEqual([order("o-3", 1), order("o-2", 5, "ready"), order("o-1", 7)]);
  expect(look().states[2]).toBe(untouched);
  expect(look().settings).toEqual({ house: { paused: true } });
  board.close();
  events.tell("order", order("o-4", 1));
  expect(look()).toMatchObject({ status: "idle" });
  expect(look().states).toHaveLength(3);
});

test("what the client does not know of a state is shown, and told to the developer once", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const known = { fields: ["order_id", "version", "stage"], values: { stage: ["placed"] } };
  const { board, streams, look } = server({ unknownIn: notIn(known) });
  board.start();
  const newer = { ...order("o-1", 1, "on_its_way"), rider: "Bo" };
  streams[0]?.tell("snapshot", { orders: [order("o-2", 1), newer] });
  streams[0]?.tell("order", { ...newer, version: 2 });
  expect(look().states[1]).toEqual({ ...newer, version: 2 });
  expect(warn.mock.calls.flat()).toEqual([
    '[typed-handoffs] unknown to this client: stage "on_its_way"',
    "[typed-handoffs] unknown to this client: field rider",
  ]);
  warn.mockRestore();
});

test("a state whose user was erased leaves the board", () => {
  const { events, look } = live();
  events.tell("removed", { order_id: "o-2" });
  events.tell("removed", { order_id: "o-7" }); // not shown
  expect(look().states).toEqual([order("o-1", 7)]);
});

test("a lost connection is restored with a new snapshot", () => {
  const { events, look } = live();
  events.fail();
  expect(look().status).toBe("reconnecting");
  events.tell("snapshot", { orders: [order("o-9", 1)], house: { paused: true } });
  events.tell("house", { paused: false });
  expect(look()).toMatchObject({ status: "live", states: [{ order_id: "o-9" }] });
  expect(look().settings).toEqual({ house: { paused: false } });
});

test("a server that does not answer is told from a house without orders", async () => {
  const { board, answers, streams, look } = server();
  expect(look()).toMatchObject({ status: "idle", loaded: false });
  board.start();
  expect(look()).toMatchObject({ status: "connecting", loaded: false });
  streams[0]?.fail();
  expect(look()).toMatchObject({ status: "reconnecting", loaded: false });
  board.close();
  board.start();
  answers.push(new TypeError("network"));
  streams[1]?.fail(true);
  expect(look()).toMatchObject({ status: "connecting", loaded: false });
  await vi.advanceTimersByTimeAsync(500);
  expect(look()).toMatchObject({ status: "reconnecting", loaded: false });
  await vi.advanceTimersByTimeAsync(1_000);
  streams[2]?.tell("snapshot", { orders: [], house: {} });
  expect(look()).toMatchObject({ status: "live", loaded: true });
  streams[2]?.fail();
  expect(look()).toMatchObject({ status: "reconnecting", loaded: true });
  board.close();
  expect(look().loaded).toBe(false);
});

test("a login that has ended by itself is told from one that is still to come", async () => {
  const { board, answers, streams, look } = server();
  board.start();
  answers.push(error(401, "unauthorized"));
  streams[0]?.fail(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(look()).toMatchObject({ status: "login", expired: false });
  await board.login("right");
  streams[1]?.tell("snapshot", { orders: [order("o-1", 1)], house: {} });
  answers.push(error(401, "unauthorized"));
  await expect(board.apply("o-1", { op: "mark_ready" })).rejects.toMatchObject({ code: 401 });
  expect(look()).toMatchObject({ status: "login", loaded: false, expired: true });
  answers.push(error(401, "unauthorized"));
  await expect(board.login("wrong")).rejects.toMatchObject({ code: 401 });
  expect(look().expired).toBe(true);
  await board.login("right");
  streams[2]?.tell("snapshot", { orders: [], house: {} });
  answers.push(error(401, "unauthorized"));
  streams[2]?.fail(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(look()).toMatchObject({ status: "login", expired: true });
  await board.login("right");
  await board.logout();
  expect(look()).toMatchObject({ status: "login", expired: false });
});

test("a server that answers with an error is asked again", async () => {
  const { events, answers, streams, look } = live();
  answers.push(error(503, "unavailable"));
  events.fail(true);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(streams).toHaveLength(2);
  streams[1]?.tell("snapshot", { orders: [], house: {} });
  expect(look()).toMatchObject({ status: "live", states: [] });
});

test("without a login the board asks for the password, and shows nothing", async () => {
  const { board, events, answers, streams, look } = live();
  answers.push(error(401, "unauthorized"));
  events.fail(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(look()).toMatchObject({ status: "login", states: [] });
  answers.push(error(401, "unauthorized"));
  await expect(board.login("wrong")).rejects.toMatchObject({ code: 401 });
  expect(look()).toMatchObject({ status: "login", lastError: { type: "unauthorized" } });
  await board.login("right");
  streams.at(-1)?.tell("snapshot", { orders: [order("o-1", 1)], house: {} });
  expect(look()).toMatchObject({ status: "live", lastError: null });
  await board.logout();
  expect(look()).toMatchObject({ status: "login", states: [] });
});

test("a command names the version that is shown, and its answer is shown", async () => {
  const { board, answers, requests, look } = live();
  answers.push(json(200, { version: 8, order: order("o-1", 8, "accepted") }));
  const done = board.apply("o-1", { op: "accept_order" });
  expect(look().pending).toBe(1);
  expect(await done).toEqual(order("o-1", 8, "accepted"));
  expect(look()).toMatchObject({
    pending: 0,
    states: [{ order_id: "o-2" }, { stage: "accepted" }],
  });
  expect(requests.at(-1)).toMatchObject({
    method: "POST",
    path: "/api/staff/orders/o-1",
    body: { op: "accept_order", version: 7 },
  });
});

test("a command whose answer is lost is repeated with the same key", async () => {
  const { board, answers, requests } = live();
  answers.push(new TypeError("network"), error(503, "unavailable"));
  answers.push(json(200, { version: 8, order: order("o-1", 8) }));
  const done = board.apply("o-1", { op: "mark_ready" });
  await vi.advanceTimersByTimeAsync(3_000);
  await done;
  expect(requests).toHaveLength(3);
  expect(new Set(requests.map((one) => one.body.key)).size).toBe(1);
});

const busy = (seconds: number) =>
  new Response(null, { status: 429, headers: { "Retry-After": String(seconds) } });

test("a busy server is asked again when it has said, and not before", async () => {
  const { board, answers, requests } = live();
  answers.push(busy(7), json(200, { version: 8, order: order("o-1", 8) }));
  const done = board.apply("o-1", { op: "mark_ready" });
  await vi.advanceTimersByTimeAsync(6_900);
  expect(requests).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(requests).toHaveLength(2);
  await done;
});

test("a wait that is longer than a command is repeated is told at once", async () => {
  const { board, answers, requests } = live();
  answers.push(busy(60));
  await expect(board.apply("o-1", { op: "mark_ready" })).rejects.toMatchObject({
    code: 429,
    retryAfterMs: 60_000,
  });
  expect(requests).toHaveLength(1);
});

test("events that a busy server refuses are asked for again when it has said", async () => {
  const { events, answers, streams } = live();
  answers.push(busy(9));
  events.fail(true);
  await vi.advanceTimersByTimeAsync(8_900);
  expect(streams).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(streams).toHaveLength(2);
});

test("a board that is open for long keeps the newest 1,000 states", () => {
  const { events, look } = live();
  for (let number = 3; number < 2_000; number += 1) events.tell("order", order(`o-${number}`, 1));
  expect(look().states).toHaveLength(1_000);
  expect(look().states[0]).toMatchObject({ order_id: "o-1999" });
  expect(look().states.at(-1)).toMatchObject({ order_id: "o-1000" });
});

test("a refused command is told, and not repeated", async () => {
  const { board, answers, requests, look } = live();
  answers.push(error(409, "refused", "wrong_stage"));
  await expect(board.apply("o-1", { op: "mark_ready" })).rejects.toMatchObject({ code: 409 });
  expect(look()).toMatchObject({
    pending: 0,
    lastError: { type: "refused", reason: "wrong_stage" },
  });
  expect(requests).toHaveLength(1);
  answers.push(new Response("<html>bad gateway", { status: 502, statusText: "Bad Gateway" }));
  await expect(board.apply("o-1", { op: "mark_ready" })).rejects.toMatchObject({ code: 502 });
});

test("what holds for all calls is changed", async () => {
  const { board, answers, requests, look } = live();
  answers.push(json(200, { paused: true, sold_out: [] }));
  await board.change("house", { paused: true });
  expect(requests.at(-1)).toMatchObject({ method: "PUT", path: "/api/staff/house" });
  expect(look().settings).toEqual({ house: { paused: true, sold_out: [] } });
});

test("changes made in a row are sent one after the other, each based on the one before", async () => {
  const { board, answers, requests } = live();
  const soldOut = (now: unknown) => (now as { sold_out?: string[] }).sold_out ?? [];
  answers.push(json(200, { sold_out: ["Tiramisu"] }), error(409, "refused"));
  answers.push(json(200, { sold_out: ["Tiramisu", "Diavola"] }));
  const first = board.change("house", (now) => ({ sold_out: [...soldOut(now), "Tiramisu"] }));
  const refused = board.change("house", { paused: 7 });
  const last = board.change("house", (now) => ({ sold_out: [...soldOut(now), "Diavola"] }));
  await first;
  await expect(refused).rejects.toMatchObject({ code: 409 });
  await last;
  expect(requests.map(({ body }) => body)).toEqual([
    { sold_out: ["Tiramisu"] },
    { paused: 7 },
    { sold_out: ["Tiramisu", "Diavola"] },
  ]);
});

test("an event that cannot be read stops nothing", () => {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { events, look } = live();
  events.tell("order", "{");
  events.tell("order", "null");
  events.tell("snapshot", {});
  expect(look().states).toHaveLength(2);
  expect(warned).toHaveBeenCalledTimes(2);
  warned.mockRestore();
});
