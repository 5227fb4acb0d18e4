// @vitest-environment jsdom
import type { EarlierLine } from "@typed-handoffs/client";
import { refused } from "@typed-handoffs/client/testing";
import { beforeEach, expect, test, vi } from "vitest";
import { Evening } from "../src/model/evening";
import { call, orders } from "../stories/room";

beforeEach(() => {
  sessionStorage.clear();
  vi.useRealTimers();
});

const scenes = (evening: Evening) =>
  evening.getCourse().scenes.map((scene) => {
    if (scene.kind === "line") return scene.line.text;
    if (scene.kind === "handoff") return `${scene.from} -> ${scene.to}`;
    return scene.told
      .map((one) => `${one.off ? "-" : "+"}${one.count ?? ""} ${one.word}`)
      .join("; ");
  });

async function begun(order = orders.ordering, earlier: EarlierLine[] = []) {
  const started = await call(order, { agent: "greeter", earlier });
  const evening = new Evening(started.session);
  const say = (id: string, agent: string | null, text: string) =>
    started.room.transcribe({
      segmentId: id,
      from: agent ? "agent" : "user",
      text,
      attributes: agent ? { active_agent: agent } : {},
    });
  return { ...started, evening, say };
}

test("a handoff stands before the first words of the agent that took over, once", async () => {
  const { room, evening, say } = await begun();
  say("1", "greeter", "Welcome.");
  say("2", "order_taker", "What would you like?");
  room.activeAgent = "order_taker";
  room.attributes({ "bella.active_agent": "order_taker" });

  expect(scenes(evening)).toEqual(["Welcome.", "greeter -> order_taker", "What would you like?"]);
});

test("changes in a row read as one, and end as they began are none", async () => {
  const { room, evening, say } = await begun();
  say("1", null, "Make it four.");
  room.change({ op: "change_item", line_id: "L1", quantity: 3 });
  room.change({ op: "change_item", line_id: "L1", quantity: 4 });
  expect(scenes(evening)).toEqual(["Make it four.", "+4 Margherita"]);

  room.change({ op: "change_item", line_id: "L1", quantity: 2 });
  expect(scenes(evening)).toEqual(["Make it four."]);

  room.change({ op: "remove_item", line_id: "L1" });
  expect(scenes(evening)).toEqual(["Make it four.", "-2 Margherita"]);
});

test("words that were not accepted are taken back", async () => {
  const { room, session, evening } = await begun();
  room.onRequest = (method) => {
    if (method === "say") throw refused(4022, "refused");
  };
  const said = session.say("Hello?").catch(() => "refused");
  expect(scenes(evening)).toEqual(["Hello?"]);

  expect(await said).toBe("refused");
  expect(scenes(evening)).toEqual([]);
});

/** What the agent keeps: an agent's lines, or the user's without one. */
const kept = (...lines: [agent: string | null, text: string][]): EarlierLine[] =>
  lines.map(([agent, text], number) => ({
    number,
    turn: 0,
    speaker: agent === null ? "user" : "agent",
    agent,
    text,
    interrupted: false,
  }));

test("a reload brings the script back, and another order begins another", async () => {
  const first = await begun();
  first.say("1", "greeter", "Anything else?");
  first.room.change({ op: "change_item", line_id: "L1", quantity: 3 });
  first.say("2", null, "Two Margheritas.");
  first.room.change({ op: "change_item", line_id: "L1", quantity: 2 });
  first.say("3", "order_taker", "Two.");
  first.say("4", "order_taker", "Anything else?");
  const before = scenes(first.evening);
  expect(before).toContain("+3 Margherita");
  expect(before).toContain("+2 Margherita");
  first.evening.close();

  const said = kept(
    ["greeter", "Anything else?"],
    [null, "Two Margheritas."],
    ["order_taker", "Two. Anything else?"],
  );
  const again = await begun(orders.ordering, said);
  again.say("5", "order_taker", "Welcome back.");
  await vi.waitFor(() => expect(scenes(again.evening)).toHaveLength(8));
  expect(scenes(again.evening)).toEqual([
    ...before.slice(0, 5),
    "Two. Anything else?",
    "Welcome back.",
    "order_taker -> greeter",
  ]);
  again.evening.close();

  const other = await begun({ ...orders.empty, order_id: "another" });
  expect(scenes(other.evening)).toEqual([]);
});

test("what was said on another device stands there, and its handoffs are no news", async () => {
  const said = kept(["greeter", "Welcome."], [null, "A pizza."], ["order_taker", "Which one?"]);
  const { session } = await call(orders.ordering, { agent: "order_taker", earlier: said });
  const evening = new Evening(session);
  await vi.waitFor(() => expect(scenes(evening)).toHaveLength(4));
  expect(scenes(evening)[2]).toBe("greeter -> order_taker");
  expect(evening.getCourse().handoff).toBeNull();
});

test("an agent that is left from the call before makes no handoff", async () => {
  const { session } = await call(orders.empty, { agent: "greeter" });
  const begun = session.getSnapshot();
  let now: typeof begun = { ...begun, confirmed: null, activeAgent: "feedback" };
  let tell = () => {};
  const subscribe = (listener: () => void) => {
    tell = listener;
    return () => {};
  };
  const evening = new Evening({ getSnapshot: () => now, subscribe });
  const handoffs = [{ confirmed: null }, {}, { activeAgent: "order_taker" }].map((news) => {
    now = { ...begun, ...news };
    tell();
    return evening.getCourse().handoff;
  });

  expect(handoffs).toEqual([null, null, { from: "greeter", to: "order_taker" }]);
});
