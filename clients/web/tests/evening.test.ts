// @vitest-environment jsdom
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

async function begun(order = orders.ordering) {
  const started = await call(order, { agent: "greeter" });
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

test("a reload brings the script back, and another order begins another", async () => {
  const first = await begun();
  first.say("1", null, "Two Margheritas.");
  first.room.change({ op: "change_item", line_id: "L1", quantity: 3 });
  first.evening.close();

  const again = await begun();
  expect(scenes(again.evening)).toEqual(["Two Margheritas.", "+3 Margherita"]);

  const other = await begun({ ...orders.empty, order_id: "another" });
  expect(scenes(other.evening)).toEqual([]);
});
