/** Whatever happens on the way, client and agent end with the same state, and nothing counts twice. */

import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AgentSession, type AppError, CallError, type EarlierLine } from "../src/index.js";
import { APP, type Basket, basketRoom, type Command, ONE } from "./counter.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Fault = "request lost" | "reply lost" | "never answered" | "busy";

type Event =
  | { kind: "agent"; command: Command }
  | { kind: "client"; command: Command }
  | { kind: "say" }
  | { kind: "deliver" | "repeat" | "drop"; which: number }
  | { kind: "fault"; fault: Fault }
  | { kind: "replaced" | "left" | "reconnect" | "attributes" }
  | { kind: "pass"; ms: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constant<Command>({ op: "more" }),
  fc.record({ op: fc.constant("set" as const), id: fc.constant("L1"), quantity: fc.nat(9) }),
  fc.record({ op: fc.constant("size" as const), id: fc.constant("L1"), size: fc.string() }),
  fc.record({ op: fc.constant("note" as const), text: fc.string() }),
);

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("agent" as const), command }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("client" as const), command }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("say" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("deliver" as const, "repeat" as const, "drop" as const),
      which: fc.nat(5),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("fault" as const),
      fault: fc.constantFrom<Fault>("request lost", "reply lost", "never answered", "busy"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "replaced" as const,
        "left" as const,
        "replaced" as const,
        "reconnect" as const,
        "attributes" as const,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 1, 300, 12_000),
    }),
  },
);

const history = fc.array(fc.record({ one: event, atOnce: fc.boolean() }), {
  minLength: 5,
  maxLength: 40,
  size: "max",
});

/** Let the events happen to a client; the next call meets the next fault. */
async function live(events: readonly { one: Event; atOnce: boolean }[]) {
  const room = basketRoom(ONE);
  const faults: Fault[] = [];
  room.holding = true;
  /** Take the next fault, if it is this one. */
  const fails = (fault: Fault) => {
    if (faults[0] !== fault) return false;
    faults.shift();
    return true;
  };
  room.onRequest = async () => {
    if (fails("request lost")) throw new CallError(1501);
    if (fails("busy")) throw new CallError(5003);
    if (fails("never answered")) await new Promise(() => {});
  };
  room.onReply = () => {
    if (fails("reply lost")) throw new CallError(1502);
  };
  room.connection("connected");
  room.join();
  const versions: number[] = [];
  const warn = (message: string, detail?: unknown) => {
    if (message.startsWith("a listener failed")) throw detail;
  };
  const session = new AgentSession<Basket, Command>(room.transport, APP, { warn });
  session.onChange((change) => {
    expect(session.getSnapshot().confirmed).toBe(change.after);
    versions.push(change.version);
  });
  session.start().catch(() => {});
  await vi.advanceTimersByTimeAsync(0);
  const asked = { more: 0, said: 0 };
  const answered = { more: 0, said: [] as string[] };
  for (const { one, atOnce } of events) {
    const push = "which" in one ? room.pushes[one.which] : undefined;
    switch (one.kind) {
      case "agent":
        room.change(one.command);
        break;
      case "client": {
        const counts = one.command.op === "more" ? 1 : 0;
        asked.more += counts;
        session.apply(one.command).then(
          () => {
            answered.more += counts;
          },
          () => {},
        );
        break;
      }
      case "say": {
        asked.said += 1;
        const text = `words ${asked.said}`;
        session.say(text).then(
          () => answered.said.push(text),
          () => {},
        );
        break;
      }
      case "deliver":
      case "repeat":
        if (push) room.deliver(push, one.kind === "repeat");
        break;
      case "drop":
        if (push) room.pushes.splice(room.pushes.indexOf(push), 1);
        break;
      case "fault":
        faults.push(one.fault);
        break;
      case "replaced":
        room.join();
        break;
      case "left":
        room.leave();
        break;
      case "reconnect":
        room.connection("reconnecting");
        await vi.advanceTimersByTimeAsync(10);
        room.connection("connected");
        break;
      case "attributes":
        room.attributes({ "basket.version": String(room.version) });
        break;
      case "pass":
        await vi.advanceTimersByTimeAsync(one.ms);
        break;
    }
    if (!atOnce) await vi.advanceTimersByTimeAsync(0);
  }
  return { room, session, faults, asked, answered, versions };
}

type Step =
  | "more"
  | "say"
  | "told"
  | "reconnecting"
  | "disconnected"
  | "connected"
  | "left"
  | "replaced";

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Step>("more", "say", "told") },
    { weight: 2, arbitrary: fc.constantFrom<Step>("reconnecting", "disconnected", "left") },
    { weight: 1, arbitrary: fc.constantFrom<Step>("connected", "replaced") },
    { weight: 3, arbitrary: fc.constantFrom(1, 3, 300, 45_000) },
  ),
  { minLength: 5, maxLength: 30, size: "max" },
);

test("however long a loss takes, what is taken back was not carried out, and all else is there once", async () => {
  let outlasted = 0;
  const history = async (events: readonly (Step | number)[]) => {
    const room = basketRoom(ONE);
    let connection = "connected";
    let breaks = 0;
    room.onRequest = room.onReply = async () => {
      const before = breaks;
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (connection !== "connected" || breaks !== before) throw new CallError(1502);
    };
    room.earlier = [];
    room.connection("connected");
    room.join();
    const session = new AgentSession<Basket, Command>(room.transport, APP, { warn: () => {} });
    session.start().catch(() => {});
    await vi.advanceTimersByTimeAsync(10);

    const told: EarlierLine[] = [];
    const done = { more: 0, say: 0 };
    const refusals: AppError[] = [];
    let asked = 0;
    for (const event of [...events, "connected", "replaced"] as const) {
      if (typeof event === "number") {
        const { pending, status } = session.getSnapshot();
        await vi.advanceTimersByTimeAsync(event);
        const kept = pending > 0 && session.getSnapshot().pending === pending;
        if (kept && event > 30_000 && status === "reconnecting") outlasted += 1;
      } else if (event === "told") {
        if (!room.present) continue;
        const number = told.length;
        const text = `This is line ${number}.`;
        const rest = { turn: room.turn, speaker: "agent" as const, agent: "greeter" };
        told.push({ ...rest, number, text, interrupted: false });
        room.earlier = [...told];
        if (connection === "connected") room.transcribe({ segmentId: text, text });
      } else if (event === "more" || event === "say") {
        asked += 1;
        const under = event === "more" ? session.apply({ op: "more" }) : session.say(`${asked}`);
        under.then(
          () => {
            done[event] += 1;
          },
          (error) => refusals.push(error),
        );
      } else if (event === "left") room.leave();
      else if (event === "replaced") room.join();
      else {
        connection = event;
        breaks += 1;
        room.connection(event);
      }
    }
    await vi.advanceTimersByTimeAsync(120_000);

    expect({ more: room.state.count, say: room.heard.length }).toEqual(done);
    expect(done.more + done.say + refusals.length).toBe(asked);
    // Only a session that has failed refuses: what it never sent.
    expect(refusals.filter((error) => ![1401, 1505].includes(error.code))).toEqual([]);
    expect(session.getSnapshot()).toMatchObject({ status: "ready", pending: 0 });
    expect(session.getSnapshot().state).toEqual(room.view);
    const lines = session.getSnapshot().lines.filter((line) => line.speaker === "agent");
    expect(lines.map((line) => line.text)).toEqual(told.map((line) => line.text));
    session.close();
  };
  await fc.assert(fc.asyncProperty(steps, history), { numRuns: 300 });
  expect(outlasted).toBeGreaterThan(0);
});

test("client and agent end with the same state", async () => {
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      const byAgent = events.filter(({ one }) => one.kind === "agent" && one.command.op === "more");
      const { room, session, faults, asked, answered, versions } = await live(events);

      // Nothing goes wrong any more, and one more change is delivered.
      faults.length = 0;
      room.pushes.length = 0;
      room.holding = false;
      if (!room.present) room.join();
      // An agent that has answered nothing for long is given up; a page offers to try again.
      if (session.getSnapshot().status === "failed") session.start().catch(() => {});
      await vi.advanceTimersByTimeAsync(120_000);
      room.change({ op: "note", text: "the last" });
      await vi.advanceTimersByTimeAsync(1_000);

      const end = session.getSnapshot();
      expect(end).toMatchObject({ status: "ready", pending: 0, version: room.version });
      expect(end.confirmed).toEqual(room.view);
      expect(end.state).toBe(end.confirmed);
      // What was acknowledged is there, and nothing is there twice.
      const count = room.state.count - byAgent.length;
      expect(count).toBeGreaterThanOrEqual(answered.more);
      expect(count).toBeLessThanOrEqual(asked.more);
      expect(new Set(room.heard).size).toBe(room.heard.length);
      expect(room.heard).toEqual(expect.arrayContaining(answered.said));
      // The state never goes back.
      expect(versions).toEqual([...versions].sort((one, other) => one - other));
      session.close();
    }),
    { numRuns: 300 },
  );
});
