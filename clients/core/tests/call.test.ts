/** A call: its token, a lost connection, and connections that never settle. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Call, type CallRoom } from "../src/index.js";

class FakeCallRoom implements CallRoom {
  connects: string[] = [];
  disconnects = 0;
  outcome: () => Promise<void> = async () => {};
  ended: (final: boolean) => void = () => {};

  connect(url: string, token: string): Promise<void> {
    this.connects.push(`${url} ${token}`);
    return this.outcome();
  }
  async disconnect(): Promise<void> {
    this.disconnects += 1;
    this.ended(false);
  }
  onEnded(listener: (final: boolean) => void): () => void {
    this.ended = listener;
    return () => {};
  }
}

let room: FakeCallRoom;
let call: Call;
let asked: string[];
let answers: () => Promise<Response>;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  answers = async () =>
    Response.json({ server_url: "ws://rooms", participant_token: "t" }, { status: 201 });
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    return answers();
  });
  room = new FakeCallRoom();
  call = new Call(room, "http://server/", { pauses: [500, 1_000] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("joins with the page server's token, once", async () => {
  await Promise.all([call.join(), call.join()]);
  expect(asked).toEqual(["http://server/api/token"]);
  expect(room.connects).toEqual(["ws://rooms t"]);
  expect(call.getSnapshot()).toEqual({ status: "joined", fault: null });
});

test("joins again after a loss, with a new token", async () => {
  await call.join();
  room.ended(false);
  expect(call.getSnapshot()).toEqual({ status: "joining", fault: "no_server" });
  await vi.advanceTimersByTimeAsync(500);
  expect(call.getSnapshot().status).toBe("joined");
  expect(asked).toHaveLength(2);
});

test("a call that another device has taken over is not taken back", async () => {
  await call.join();
  room.ended(true);
  await call.resume();
  await vi.advanceTimersByTimeAsync(100_000);
  expect(call.getSnapshot()).toEqual({ status: "lost", fault: "elsewhere" });
  expect(room.connects).toHaveLength(1);
});

test("stays lost after the last pause, until it is resumed", async () => {
  room.outcome = () => Promise.reject(new Error("no route"));
  await call.join();
  await vi.advanceTimersByTimeAsync(1_500);
  expect(call.getSnapshot()).toEqual({ status: "lost", fault: "no_server" });
  expect(room.connects).toHaveLength(3);
  room.outcome = async () => {};
  await call.resume();
  expect(call.getSnapshot()).toEqual({ status: "joined", fault: null });
});

test("resuming does not wait for the pause", async () => {
  await call.join();
  room.ended(false);
  await call.resume();
  expect(call.getSnapshot().status).toBe("joined");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(room.connects).toHaveLength(2);
});

test("a connection that never settles ends by the limit", async () => {
  room.outcome = () => new Promise(() => {});
  call = new Call(room, "", { limit: 5_000, pauses: [] });
  const joining = call.join();
  await vi.advanceTimersByTimeAsync(5_000);
  await joining;
  expect(call.getSnapshot()).toEqual({ status: "lost", fault: "no_server" });
  expect(room.disconnects).toBe(1);
});

test.each([
  [403, "refused"],
  [429, "too_many"],
  [503, "no_server"],
])("a token refused with %i is told as %s", async (status, fault) => {
  answers = async () => new Response(null, { status });
  call = new Call(room, "", { pauses: [] });
  await call.join();
  expect(call.getSnapshot()).toEqual({ status: "lost", fault });
  expect(room.connects).toEqual([]);
});

test("a call that is left while it is being joined stays left", async () => {
  let connected = () => {};
  room.outcome = () =>
    new Promise((resolve) => {
      connected = resolve;
    });
  const joining = call.join();
  await vi.waitFor(() => expect(room.connects).toHaveLength(1));
  await call.leave();
  connected();
  await joining;
  expect(call.getSnapshot().status).toBe("out");
  expect(room.disconnects).toBe(2); // the second one ends what came up after leaving
  expect(asked).toEqual(["http://server/api/token", "http://server/api/leave"]);
});

test("an older connection that comes up during a newer attempt is ended first", async () => {
  const connected: (() => void)[] = [];
  const order: string[] = [];
  room.outcome = () =>
    new Promise((resolve) => {
      order.push("connect");
      connected.push(resolve);
    });
  const disconnect = room.disconnect.bind(room);
  room.disconnect = () => {
    order.push("disconnect");
    return disconnect();
  };
  const first = call.join();
  await vi.waitFor(() => expect(connected).toHaveLength(1));
  await call.leave();
  const second = call.join();
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(["connect", "disconnect"]);
  connected[0]?.();
  await vi.waitFor(() => expect(connected).toHaveLength(2));
  expect(order).toEqual(["connect", "disconnect", "disconnect", "connect"]);
  connected[1]?.();
  await Promise.all([first, second]);
  expect(call.getSnapshot()).toEqual({ status: "joined", fault: null });
});

test("an older connection that comes up after its limit, with a newer one, begins another attempt", async () => {
  const connected: (() => void)[] = [];
  room.outcome = () => new Promise((resolve) => connected.push(resolve));
  call = new Call(room, "", { limit: 5_000, pauses: [500] });
  void call.join();
  await vi.advanceTimersByTimeAsync(5_500);
  expect(connected).toHaveLength(2); // the first one has not settled
  connected[0]?.();
  connected[1]?.(); // LiveKit settles both together
  await vi.waitFor(() => expect(connected).toHaveLength(3));
  expect(room.disconnects).toBe(2);
  connected[2]?.();
  await vi.waitFor(() => expect(call.getSnapshot().status).toBe("joined"));
});

test("a call that is closed is not joined again by itself, and comes back to the same room", async () => {
  await call.join();
  room.ended(false);
  await call.close();
  await vi.advanceTimersByTimeAsync(100_000);
  expect(call.getSnapshot()).toEqual({ status: "out", fault: null });
  expect(room.connects).toHaveLength(1);
  await call.join();
  expect(asked.map((url) => url.split("/api/")[1])).toEqual(["token", "token"]);
});

test("a call that is joined while it is being left asks for a token after leaving", async () => {
  await call.join();
  const leaving = call.leave();
  await Promise.all([leaving, call.join()]);
  expect(asked.map((url) => url.split("/api/")[1])).toEqual(["token", "leave", "token"]);
  expect(call.getSnapshot().status).toBe("joined");
});
