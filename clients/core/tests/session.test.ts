import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AgentSession, AppError, CallError, type EarlierLine } from "../src/index.js";
import { refused } from "../src/testing.js";
import {
  APP,
  type Basket,
  type BasketRoom,
  basketRoom,
  type Command,
  failing,
  joined,
  ONE,
} from "./counter.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const SET: Command = { op: "set", id: "L1", quantity: 3 };

function pass(ms = 0): Promise<unknown> {
  return vi.advanceTimersByTimeAsync(ms);
}

/** Let each call fail as the list says, then work. */
function failingWith(...errors: (CallError | undefined)[]) {
  return () => {
    const error = errors.shift();
    if (error) throw error;
  };
}

/** How a promise ends; nothing is unhandled meanwhile. */
function outcome(promise: Promise<unknown>): { value?: unknown; error?: AppError } {
  const seen: { value?: unknown; error?: AppError } = {};
  promise.then(
    (value) => {
      seen.value = value;
    },
    (error) => {
      seen.error = error;
    },
  );
  return seen;
}

describe("meeting the agent", () => {
  test("a session says hello, subscribes and shows the state", async () => {
    const { room, look } = await joined(basketRoom(ONE));

    expect(room.calls.map((call) => call.method)).toEqual(["hello", "basket.subscribe"]);
    expect(look()).toMatchObject({ status: "ready", version: 0, activeAgent: "greeter" });
    expect(look().state?.lines).toEqual(ONE.lines);
    expect(look().hello).toMatchObject({ agent: "fake", protocol: 1, resume_code: "code" });
  });

  test("nothing is called before the start, and the status says where it stands", async () => {
    const room = basketRoom();
    const session = new AgentSession(room.transport, APP, { warn: failing });
    const status = () => session.getSnapshot().status;

    expect([status(), room.listened]).toEqual(["idle", false]);
    const started = session.start();
    expect(status()).toBe("connecting");
    room.connection("connected");
    expect(status()).toBe("waiting_for_agent");
    room.join();
    await started;
    expect(status()).toBe("ready");
  });

  test("hello is repeated while the agent is arriving", async () => {
    const room = basketRoom();
    room.connection("connected");
    room.join();
    room.onRequest = failingWith(
      new CallError(1400),
      new CallError(1501),
      refused(5003, "unavailable"),
    );
    const session = new AgentSession(room.transport, APP, { warn: failing });
    const started = session.start();
    await pass(1000);
    await started;
    expect(session.getSnapshot().status).toBe("ready");
  });

  test("an agent that is missing is brought, and given up in the end", async () => {
    const room = basketRoom();
    room.connection("connected");
    const bringAgent = vi.fn(async () => {});
    const session = new AgentSession(room.transport, APP, { warn: failing, bringAgent });
    const started = outcome(session.start());

    await pass(4_900);
    expect(bringAgent).not.toHaveBeenCalled();
    await pass(6_000);
    expect(bringAgent).toHaveBeenCalledTimes(2);
    await pass(30_000);
    expect(started.error).toMatchObject({ code: 1401, type: "no_agent" });
    expect(session.getSnapshot()).toMatchObject({ status: "failed", problem: "no_agent" });

    room.join(); // one comes after all
    await pass();
    expect(session.getSnapshot()).toMatchObject({ status: "ready", problem: null });
  });

  test("a failure to bring an agent is told to the developer, and it is tried again", async () => {
    const room = basketRoom();
    room.connection("connected");
    const warn = vi.fn();
    const bringAgent = vi.fn(async () => {
      throw new Error("503");
    });
    const session = new AgentSession(room.transport, APP, { warn, bringAgent });
    void session.start();
    await pass(11_000);
    expect(bringAgent).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledTimes(1);
    room.join();
    await pass(300);
    expect(session.getSnapshot().status).toBe("ready");
  });

  test("an agent that refuses this client is not asked again", async () => {
    const room = basketRoom();
    room.connection("connected");
    room.join();
    room.onRequest = () => {
      throw refused(4003, "forbidden", { detail: "This room is another user's." });
    };
    const session = new AgentSession(room.transport, APP, { warn: failing });
    await expect(session.start()).rejects.toMatchObject({ code: 4003 });
    expect(session.getSnapshot()).toMatchObject({ status: "failed", problem: "refused" });
    expect(session.getSnapshot().lastError?.detail).toBe("This room is another user's.");

    room.onRequest = () => {};
    await session.start();
    expect(session.getSnapshot()).toMatchObject({ status: "ready", lastError: null });
  });

  test("a call that never settles is given up, and the agent asked again", async () => {
    const room = basketRoom();
    room.connection("connected");
    room.join();
    let hangs = true;
    room.onRequest = async () => {
      if (hangs) await new Promise(() => {});
    };
    const session = new AgentSession(room.transport, APP, { warn: failing });
    void session.start();
    await pass(5_000);
    hangs = false;
    expect(session.getSnapshot().status).toBe("waiting_for_agent");
    await pass(6_000);
    expect(session.getSnapshot().status).toBe("ready");
  });

  test("another agent is met at once; what the last one announced no longer counts", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));
    room.yourTurn();
    expect(look().turn?.yours).toBe(true);
    room.change({ op: "note", text: "before" });
    room.join();
    expect(look()).toMatchObject({ status: "waiting_for_agent", turn: null });
    await session.start();
    expect(look()).toMatchObject({ status: "ready", version: 1 });
    room.change({ op: "note", text: "after" });
    expect(look().state?.note).toBe("after");
  });

  test("what is said while no agent is there is said to the next one", async () => {
    const { room, session } = await joined();
    room.leave();
    const said = session.say("hello?");
    await pass(3_000);
    room.join();
    await pass();
    expect(await said).toEqual({ turn: 1 });
    expect(room.heard).toEqual(["hello?"]);
  });

  test("after a loss of the connection the session subscribes again", async () => {
    const { room, look } = await joined(basketRoom(ONE));
    room.connection("reconnecting");
    expect(look().status).toBe("reconnecting");
    room.change({ op: "note", text: "missed" });
    room.connection("connected");
    await pass();
    expect(look()).toMatchObject({ status: "ready", state: { note: "missed" } });
    room.change({ op: "note", text: "next" });
    expect(look().state?.note).toBe("next");
  });

  test("a room that is left is a failure that another connection ends", async () => {
    const { room, session, look } = await joined();
    room.connection("disconnected");
    expect(look()).toMatchObject({ status: "failed", problem: "disconnected" });
    await expect(session.say("still there?")).rejects.toMatchObject({ type: "disconnected" });
    room.connection("connecting");
    room.connection("connected");
    await pass();
    expect(look()).toMatchObject({ status: "ready", problem: null });
  });
});

describe("edits", () => {
  test("an edit is shown at once and confirmed by the agent", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));

    const done = session.apply(SET);

    expect(look().state?.lines[0]?.quantity).toBe(3);
    expect(look().confirmed?.lines[0]?.quantity).toBe(1);
    expect(look().pending).toBe(1);
    expect((await done).lines[0]?.quantity).toBe(3);
    expect(look()).toMatchObject({ pending: 0, version: 1 });
    expect(look().state).toBe(look().confirmed);
    expect(room.state.lines[0]?.quantity).toBe(3);
  });

  test("a refused edit is taken back, and the reason is kept until the next one", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));
    room.onRequest = (method) => {
      if (method === "basket.apply") throw refused(4022, "refused", { reason: "sold_out" });
    };
    const done = outcome(session.apply(SET));
    expect(look().state?.lines[0]?.quantity).toBe(3);
    await pass();
    expect(done.error).toBeInstanceOf(AppError);
    expect(look().state?.lines[0]?.quantity).toBe(1);
    expect(look().lastError).toMatchObject({ code: 4022, reason: "sold_out" });

    room.onRequest = () => {};
    void session.apply(SET);
    expect(look().lastError).toBeNull();
  });

  test("an edit whose answer is lost is sent again with the same key and carried out once", async () => {
    const { room, session, look } = await joined();
    room.onReply = failingWith(new CallError(1502), new CallError(1503));
    const done = session.apply({ op: "more" });
    await pass(2_000);
    expect((await done).count).toBe(1);
    expect(look()).toMatchObject({ version: 1, state: { count: 1 } });
    const sent = room.calls.filter((call) => call.method === "basket.apply");
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map((call) => call.payload.key)).size).toBe(1);
  });

  test("an edit is answered by the agent that replaces the one it was sent to", async () => {
    const { room, session } = await joined();
    room.onReply = async (method) => {
      if (method === "basket.apply") await new Promise(() => {});
    };
    const done = outcome(session.apply({ op: "more" }));
    await pass();
    room.onReply = () => {};
    room.join();
    await pass(300);
    expect(done.value).toMatchObject({ count: 1 });
    expect(room.state.count).toBe(1);
  });

  test("an edit that no one answers is given up; what became of it is read", async () => {
    const { room, session, look } = await joined();
    room.onReply = (method) => {
      if (method === "basket.apply") throw new CallError(1502);
    };
    room.holding = true; // the change is not pushed either
    const done = outcome(session.apply({ op: "more" }));
    await pass(40_000);
    expect(done.error).toMatchObject({ code: 1502, unanswered: true });
    expect(look()).toMatchObject({ pending: 0, state: { count: 1 } });
  });

  test("edits made in a row are each based on the one before", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));
    const all = [2, 3, 4].map((quantity) => session.apply({ op: "set", id: "L1", quantity }));
    expect(look()).toMatchObject({ pending: 3, state: { lines: [{ quantity: 4 }] } });
    await Promise.all(all);
    expect(room.state.lines[0]?.quantity).toBe(4);
    const versions = room.calls.flatMap(({ payload }) =>
      "command" in payload ? [payload.version] : [],
    );
    expect(versions).toEqual([0, 1, 2]);
  });

  test("edits in a row that cannot be foreseen do not conflict with each other", async () => {
    const room = basketRoom(ONE);
    room.connection("connected");
    room.join();
    const blind = { noun: "basket" };
    const session = new AgentSession<Basket, Command>(room.transport, blind, { warn: failing });
    await session.start();
    await Promise.all([session.apply(SET), session.apply({ op: "size", id: "L1", size: "large" })]);
    expect(room.state.lines[0]).toMatchObject({ quantity: 3, size: "large" });
  });

  test("an edit is sent again if the other change is at another place", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));
    room.holding = true;
    room.change({ op: "size", id: "L1", size: "large" }); // not heard of yet
    const done = session.apply(SET);
    await pass();
    expect((await done).lines).toMatchObject([{ quantity: 3, size: "large" }]);
    expect(look().state?.lines).toMatchObject([{ quantity: 3, size: "large" }]);
  });

  test("an edit of what somebody else has changed meanwhile is taken back", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));
    room.holding = true;
    room.change({ op: "set", id: "L1", quantity: 7 });
    const done = outcome(session.apply(SET));
    await pass();
    expect(done.error).toMatchObject({ code: 4009, type: "version_conflict" });
    expect(look()).toMatchObject({ pending: 0, state: { lines: [{ quantity: 7 }] } });
    expect(room.state.lines[0]?.quantity).toBe(7);
  });

  test("an edit made before such a change is heard of is not sent over it", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));
    room.onRequest = failingWith(new CallError(1501)); // the first attempt is lost
    const done = outcome(session.apply(SET));
    await pass();
    room.change({ op: "set", id: "L1", quantity: 7 }); // this client hears of it
    await pass(1_000);
    expect(done.error).toMatchObject({ code: 4009 });
    expect(look().state?.lines[0]?.quantity).toBe(7);
  });

  test("a version that is given is sent as it is", async () => {
    const { room, session } = await joined(basketRoom(ONE));
    room.change({ op: "note", text: "one" });
    room.change({ op: "set", id: "L1", quantity: 7 });
    const done = outcome(session.apply(SET, { version: 1 }));
    await pass();
    expect(done.error).toMatchObject({ code: 4009 });
    expect(room.calls.at(-1)?.payload).toMatchObject({ version: 1 });
  });

  test("a version that is given is that of the first of several commands", async () => {
    const { room, session } = await joined(basketRoom(ONE));
    const all: Command[] = [SET, { op: "size", id: "L1", size: "large" }];
    const done = outcome(session.apply(all, { version: 0 }));
    await pass();
    expect(done.error).toBeUndefined();
    expect(room.state.lines[0]).toMatchObject({ quantity: 3, size: "large" });
  });

  test("an edit before the state is known names no version", async () => {
    const room = basketRoom();
    room.connection("connected");
    const session = new AgentSession(room.transport, APP, { warn: failing });
    void session.start();
    const done = session.apply({ op: "more" });
    room.join();
    await pass();
    expect((await done).count).toBe(1);
    expect(room.calls.at(-1)?.payload).not.toHaveProperty("version");
  });

  test("several commands are sent one after the other, up to the first refusal", async () => {
    const { room, session, look } = await joined();
    const done = outcome(session.apply([{ op: "more" }, { op: "forbidden" }, { op: "more" }]));
    await pass();
    expect(done.error).toMatchObject({ reason: "sold_out" });
    expect([room.state.count, look().pending]).toEqual([1, 0]);
    expect((await session.apply([{ op: "more" }, { op: "more" }])).count).toBe(3);
  });

  test("an edit waits as long as the agent asks for", async () => {
    const { room, session } = await joined();
    const busy = refused(4029, "rate_limited", { retryable: true, retry_after_ms: 3_000 });
    room.onRequest = failingWith(busy);
    const done = outcome(session.apply({ op: "more" }));
    await pass(2_900);
    expect(done.value).toBeUndefined();
    await pass(200);
    expect(done.value).toMatchObject({ count: 1 });
  });

  test("a client that is not known to the agent says hello once and repeats the edit", async () => {
    const { room, session } = await joined();
    let known = false;
    room.onRequest = (method) => {
      if (method === "hello") known = true;
      if (!known) throw refused(4003, "forbidden");
    };
    const done = outcome(session.apply({ op: "more" }));
    await pass(300);
    expect(done.value).toMatchObject({ count: 1 });
    room.onRequest = (method) => {
      if (method === "basket.apply") throw refused(4003, "forbidden");
    };
    const forbidden = outcome(session.apply({ op: "more" }));
    await pass(300);
    expect(forbidden.error).toMatchObject({ code: 4003 });
  });
});

describe("the state", () => {
  test("a change of the agent is shown and told once", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));
    const changes = vi.fn();
    session.onChange(changes);
    room.holding = true;
    room.change({ op: "note", text: "the bell is broken" });
    const [push] = room.pushes;
    if (push) for (let times = 0; times < 3; times += 1) room.deliver(push, true);
    expect(look()).toMatchObject({ version: 1, state: { note: "the bell is broken" } });
    expect(changes).toHaveBeenCalledTimes(1);
    expect(changes.mock.calls[0]?.[0]).toMatchObject({ base: 0, version: 1, own: false });
    expect(look().state?.lines).toBe(look().confirmed?.lines);
    const own = session.apply({ op: "more" });
    room.pushes.length = 0;
    await own;
    expect(changes.mock.calls[1]?.[0]).toMatchObject({ base: 1, version: 2, own: true });
  });

  test("a gap is filled", async () => {
    const { room, look } = await joined();
    room.holding = true;
    room.change({ op: "more" });
    room.pushes.length = 0;
    room.holding = false;
    room.change({ op: "more" });
    await pass();
    expect(look()).toMatchObject({ version: 2, state: { count: 2 } });
  });

  test("a push that overtakes the answer to subscribe is not lost", async () => {
    const room = basketRoom();
    room.connection("connected");
    room.join();
    let late: () => void = () => {};
    room.onReply = async (method) => {
      if (method === "basket.subscribe") {
        await new Promise<void>((resolve) => {
          late = resolve;
        });
      }
    };
    const session = new AgentSession(room.transport, APP, { warn: failing });
    const started = session.start();
    await pass();
    room.change({ op: "more" });
    late();
    await started;
    await pass();
    expect(session.getSnapshot()).toMatchObject({ version: 1, state: { count: 1 } });
  });

  test("a version in a notice or an attribute tells that a change was missed", async () => {
    const { room, look } = await joined();
    room.holding = true;
    room.change({ op: "more" });
    room.pushes.length = 0;
    room.holding = false;
    room.yourTurn();
    await pass();
    expect(look().version).toBe(1);
    room.holding = true;
    room.change({ op: "more" });
    room.attributes({ "shop.version": "2", "shop.active_agent": "cashier" });
    await pass(1_000);
    expect(look()).toMatchObject({ version: 2, activeAgent: "cashier" });
  });

  test("a patch that does not fit is told to the developer, and the state is read", async () => {
    const warn = vi.fn();
    const { room, look } = await joined(basketRoom(), { warn });
    room.holding = true;
    room.change({ op: "more" });
    room.pushes.length = 0;
    room.holding = false;
    const patch = [{ op: "replace", path: "/nowhere/at", value: 1 }];
    room.push("basket_state_changed", { base_version: 0, version: 1, patch });
    await pass();
    expect(look()).toMatchObject({ version: 1, state: { count: 1 } });
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test("an empty patch only says that there is a new version", async () => {
    const { room, look } = await joined();
    room.holding = true;
    room.change({ op: "more" });
    room.pushes.length = 0;
    room.holding = false;
    room.push("basket_state_changed", { base_version: 1, version: 1, patch: [] });
    await pass();
    expect(look()).toMatchObject({ version: 1, state: { count: 1 } });
  });

  test("the snapshot is the same object until something changes", async () => {
    const { room, session, look } = await joined(basketRoom(ONE));
    const listener = vi.fn();
    const unsubscribe = session.subscribe(listener);
    const before = look();
    room.attributes({});
    expect(look()).toBe(before);
    expect(listener).not.toHaveBeenCalled();
    room.yourTurn();
    expect(look()).not.toBe(before);
    expect(listener).toHaveBeenCalledTimes(1);
    unsubscribe();
    room.withdrawTurn();
    expect(listener).toHaveBeenCalledTimes(1);
  });

  test("a listener that fails is told to the developer and stops nothing", async () => {
    const warn = vi.fn();
    const { room, session, look } = await joined(basketRoom(), { warn });
    session.subscribe(() => {
      throw new Error("a fault of the page");
    });
    room.change({ op: "more" });
    expect(look().state?.count).toBe(1);
    expect(warn).toHaveBeenCalledWith("a listener failed", expect.any(Error));
  });
});

describe("the turn", () => {
  test("a notice says what is expected until it is withdrawn", async () => {
    const { room, look } = await joined();
    room.yourTurn({ expects: "choice", choices: ["small", "large"], text: "Your turn." });
    expect(look().turn).toEqual({
      turn: 0,
      yours: true,
      agent: "greeter",
      expects: "choice",
      choices: ["small", "large"],
      text: "Your turn.",
    });
    room.withdrawTurn();
    expect(look().turn?.yours).toBe(false);
  });

  test("the last notice holds, and one of an earlier turn that comes late does not", async () => {
    const { room, session, look } = await joined();
    room.holding = true;
    room.yourTurn();
    const [early] = room.pushes;
    await session.say("hello");
    room.holding = false;
    room.yourTurn({ active_agent: "cashier" });
    room.yourTurn({ expects: "yes_no" });
    if (early) room.deliver(early);
    room.withdrawTurn(0);
    expect(look().turn).toMatchObject({ turn: 1, yours: true, expects: "yes_no" });
  });

  test("it is no longer the user's turn once they have said something", async () => {
    const { room, session, look } = await joined();
    room.yourTurn();
    await session.say("hello");
    expect(look().turn).toMatchObject({ turn: 0, yours: false });
  });

  test("an attribute that comes late does not bring the last agent back", async () => {
    const { room, look } = await joined();
    room.attributes({ "shop.version": "0", "shop.active_agent": "greeter", "lk.agent.name": "x" });
    room.change({ op: "more" });
    room.yourTurn({ active_agent: "cashier" });
    room.attributes({ "shop.version": "0", "shop.active_agent": "greeter" });
    expect(look().activeAgent).toBe("cashier");
    room.attributes({ "shop.version": "1", "shop.active_agent": "farewell" });
    expect(look().activeAgent).toBe("farewell");
  });

  test("push-to-talk is refused where it is not offered", async () => {
    const { room, session } = await joined();
    await session.startTurn();
    await session.endTurn();
    await session.cancelTurn();
    await session.setMicrophone("push_to_talk");
    expect(room.calls.slice(-4)).toMatchObject([
      { method: "start_turn" },
      { method: "end_turn" },
      { method: "cancel_turn" },
      { method: "set_microphone", payload: { mode: "push_to_talk" } },
    ]);
    const old = basketRoom();
    old.hello = { features: ["say"] };
    const { session: other } = await joined(old);
    await expect(other.startTurn()).rejects.toMatchObject({ type: "not_offered" });
    expect(old.calls.at(-1)?.method).toBe("basket.subscribe");
  });
});

describe("the end of a call", () => {
  test("the end is shown; words start another call about another state", async () => {
    const { room, session, look } = await joined();
    await session.apply({ op: "more" });
    room.yourTurn();
    room.endCall("agent_ended", "abcd");
    expect(look()).toMatchObject({
      status: "ended",
      turn: null,
      ended: { reason: "agent_ended", resumeCode: "abcd" },
      state: { count: 1 },
    });
    const late = outcome(session.apply({ op: "more" }));
    await pass();
    expect(late.error).toMatchObject({ code: 4022, reason: "call_over" });

    expect(await session.say("one more thing")).toEqual({ turn: 1 });
    await pass();
    expect(look()).toMatchObject({ status: "ready", ended: null, version: 0, state: { count: 0 } });
    room.change({ op: "more" });
    expect(look().state?.count).toBe(1);
  });

  test.each(["say", "hello", "basket.subscribe"])(
    "a call that has ended before it is met is over: told during %s",
    async (during) => {
      const { room, session, look } = await joined();
      room.endCall("agent_ended", "the-first");
      room.hello = { resume_code: "the-second" };
      room.onReply = (method) => {
        if (method !== during) return;
        room.onReply = () => {};
        room.endCall("agent_ended", "the-second");
      };
      await session.say("bye");
      await pass();

      expect(look()).toMatchObject({ status: "ended", ended: { resumeCode: "the-second" } });
    },
  );

  test("the first turn notice after the end belongs to another call", async () => {
    const { room, look } = await joined();
    room.endCall("user_left");
    room.yourTurn();
    await pass();
    expect(look()).toMatchObject({ status: "ready", ended: null, turn: { yours: true } });
  });

  test("a reconnect after the end says no hello, which would start another call", async () => {
    const { room, look } = await joined();
    room.endCall("agent_ended");
    const calls = room.calls.length;
    room.connection("reconnecting");
    room.connection("connected");
    await pass(1_000);
    expect(room.calls).toHaveLength(calls);
    expect(look().status).toBe("ended");
  });

  test("a room that is closed after the end takes nothing from the end", async () => {
    const { room, session, look } = await joined();
    room.endCall("agent_ended", "abcd");
    room.leave();
    room.connection("disconnected");
    await pass(1_000);
    expect(look()).toMatchObject({
      status: "ended",
      problem: null,
      ended: { reason: "agent_ended", resumeCode: "abcd" },
    });
    const words = outcome(session.say("one more thing"));
    await pass();
    expect(words.error).toMatchObject({ code: 1505, type: "disconnected" });
    expect(look()).toMatchObject({ status: "ended", lines: [] });
  });

  test("an edit for an earlier state is not made to the next one", async () => {
    const { room, session, look } = await joined();
    room.onRequest = (method) => {
      if (method === "basket.apply") throw new CallError(1501);
    };
    const done = outcome(session.apply({ op: "note", text: "for the first" }));
    await pass();
    room.endCall("agent_ended");
    await session.say("another");
    await pass();
    expect(look()).toMatchObject({ version: 0, state: { note: null } });
    room.onRequest = () => {};
    await pass(5_000);
    expect(done.error).toMatchObject({ code: 4004 });
    expect(room.state.note).toBeNull();
  });

  test("a repeat that is answered about an earlier state does not show that state", async () => {
    const { room, session, look } = await joined();
    await session.apply({ op: "more" }, { key: "once" });
    room.endCall("agent_ended");
    await session.say("another");
    await pass();
    expect((await session.apply({ op: "more" }, { key: "once" })).count).toBe(1);
    expect(look()).toMatchObject({ version: 0, state: { count: 0 } });
  });
});

describe("a long loss of the connection", () => {
  /** An edit that was carried out, and whose answer was lost with the connection. */
  async function inDoubt(how: "reconnecting" | "disconnected") {
    const { room, session, look } = await joined(basketRoom(ONE));
    room.onReply = () => {
      room.onReply = () => {};
      room.pushes.length = 0; // lost as well
      room.holding = false;
      room.onRequest = failingWith(...Array(500).fill(new CallError(1502)));
      room.connection(how);
      throw new CallError(1502);
    };
    room.holding = true;
    const done = outcome(session.apply(SET));
    await pass(90_000);
    return { room, session, look, done };
  }

  test.each(["reconnecting", "disconnected"] as const)(
    "an edit on its way is shown as pending, and decided afterwards: %s",
    async (how) => {
      const { room, look, done } = await inDoubt(how);
      expect(done).toEqual({});
      expect(look()).toMatchObject({ pending: 1, state: { lines: [{ quantity: 3 }] } });
      expect(look().confirmed?.lines[0]?.quantity).toBe(1);

      room.change({ op: "set", id: "L1", quantity: 5 }); // somebody else, meanwhile
      room.onRequest = () => {};
      room.connection("connected");
      await pass(3_000);
      expect(done.value).toBeTruthy();
      expect(look()).toMatchObject({ status: "ready", pending: 0, lastError: null });
      expect(look().state?.lines[0]?.quantity).toBe(5);
      expect(room.version).toBe(2);
    },
  );

  test("it is refused if its order is not open any more, or the agent serves somebody else", async () => {
    const another = await inDoubt("reconnecting");
    another.room.onRequest = () => {};
    another.room.stateId = "state-2";
    another.room.connection("connected");
    await pass(3_000);
    expect(another.done.error).toMatchObject({ code: 4004 });

    const stranger = await inDoubt("reconnecting");
    stranger.room.onRequest = () => {
      throw refused(4003, "forbidden");
    };
    stranger.room.connection("connected");
    await pass(3_000);
    expect(stranger.done.error).toMatchObject({ code: 4003 });
  });

  test("an agent that never answers it is not waited for without end", async () => {
    const { room, done } = await inDoubt("reconnecting");
    room.onRequest = (method) => {
      if (method === "basket.apply") throw new CallError(1502);
    };
    room.connection("connected");
    await pass(45_000);
    expect(done.error).toMatchObject({ code: 1502, unanswered: true });
  });

  test("words on their way stay, and closing the session gives up", async () => {
    const { room, session, look } = await joined();
    room.onRequest = failingWith(...Array(500).fill(new CallError(1502)));
    room.connection("reconnecting");
    const said = outcome(session.say("two pizzas"));
    await pass(90_000);
    expect(said).toEqual({});
    expect(look().lines).toMatchObject([{ text: "two pizzas", final: false }]);
    session.close();
    await pass(3_000);
    expect(said.error).toMatchObject({ type: "closed" });
  });
});

describe("what is said", () => {
  test("segments are put together, each with the agent whose words they are", async () => {
    const { room, look } = await joined();
    room.transcribe({ text: "Good", final: false, attributes: { active_agent: "greeter" } });
    room.transcribe({ text: "Good evening.", attributes: { active_agent: "greeter" } });
    room.transcribe({ segmentId: "U1", from: "user", text: "to pizzas", final: false });
    room.transcribe({ segmentId: "U1", from: "user", text: "two pizzas", final: true });
    room.transcribe({ segmentId: "U1", from: "user", text: "to pizzas", final: false }); // late
    room.transcribe({ segmentId: "S2", text: "  " });
    expect(look().lines).toEqual([
      {
        id: "S1",
        speaker: "agent",
        agent: "greeter",
        text: "Good evening.",
        final: true,
        interrupted: false,
      },
      {
        id: "U1",
        speaker: "user",
        agent: null,
        text: "two pizzas",
        final: true,
        interrupted: false,
      },
    ]);
  });

  test("typed words stand there at once, and interrupt the agent", async () => {
    const { room, session, look } = await joined();
    room.transcribe({ text: "We have Margherita, Funghi,", final: false });
    const said = session.say("stop");
    expect(look().lines.at(-1)).toMatchObject({ speaker: "user", text: "stop", final: false });
    await said;
    expect(look().lines).toMatchObject([{ interrupted: true }, { text: "stop", final: true }]);
    room.yourTurn();
    expect(look().lines[0]).toMatchObject({ final: true, interrupted: true });
  });

  test("typed words that are refused disappear, and the reason is kept until the next", async () => {
    const { room, session, look } = await joined();
    room.onRequest = () => {
      throw refused(4001, "invalid_params");
    };
    await expect(session.say("x".repeat(1001))).rejects.toMatchObject({ code: 4001 });
    expect(look().lines).toEqual([]);
    expect(look().lastError).toMatchObject({ code: 4001 });

    room.onRequest = () => {};
    void session.say("two pizzas");
    expect(look().lastError).toBeNull();
  });

  test("words whose answer is lost are heard once", async () => {
    const { room, session, look } = await joined();
    room.onReply = failingWith(new CallError(1502), refused(5004, "outcome_unknown"));
    const said = session.say("two pizzas");
    await pass(2_000);
    expect(await said).toEqual({ turn: 1 });
    expect(room.heard).toEqual(["two pizzas"]);
    expect(look().lines).toHaveLength(1);
  });
});

describe("another version of the agent", () => {
  test("what an older agent does not send is there all the same, and told once", async () => {
    const room = basketRoom(ONE);
    const { note: _, ...older } = ONE;
    room.state = older as Basket;
    room.connection("connected");
    room.join();
    const warn = vi.fn();
    const app = { ...APP, empty: { note: null, lines: [] } };
    const session = new AgentSession(room.transport, app, { warn });
    await session.start();
    expect(session.getSnapshot().state).toMatchObject({ ...ONE, note: null });
    expect((await session.apply({ op: "more" })).note).toBeNull();
    room.change({ op: "more" });
    await pass();
    expect(session.getSnapshot().state).toMatchObject({ note: null, count: ONE.count + 2 });
    expect(warn.mock.calls).toEqual([["an older agent does not send note"]]);
  });

  test("a newer one works, and the developer is told what is unknown, once", async () => {
    const warn = vi.fn();
    const room = basketRoom(ONE);
    room.hello = { protocol: 2, mood: "sunny" };
    const app = { ...APP, unknownIn: () => ["field colour", 'stage "baking"'] };
    room.connection("connected");
    room.join();
    const session = new AgentSession<Basket, Command>(room.transport, app, { warn });
    await session.start();
    await session.apply(SET);
    room.yourTurn({ expects: "colour", mood: "sunny" });
    expect(session.getSnapshot()).toMatchObject({
      status: "ready",
      turn: { expects: "open", yours: true },
      hello: { protocol: 2, mood: "sunny" },
    });
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      "the agent speaks protocol 2, this client 1: a newer client is needed",
      "unknown to this client: field colour",
      'unknown to this client: stage "baking"',
      "the agent expects colour, unknown here",
    ]);
  });

  test("an older one that sends less works as well", async () => {
    const room = basketRoom();
    const { session, look } = await joined(room);
    session.close();
    room.hello = {
      features: undefined,
      resume_code: undefined,
      turn: undefined,
      basket_id: undefined,
    };
    await session.start();
    room.push("your_turn_to_speak", { turn: 0, your_turn: true, expects: "open" });
    expect(look()).toMatchObject({ status: "ready", features: [], turn: { agent: "greeter" } });
    await session.apply({ op: "more" });
    expect(look().state?.count).toBe(1);
  });

  test("what cannot be read is told to the developer and changes nothing", async () => {
    const warn = vi.fn();
    const { room, look } = await joined(basketRoom(ONE), { warn });
    const before = look();
    for (const payload of ["", "[]", "null", "{", '"x"']) {
      room.deliver({ agent: "agent-1", method: "your_turn_to_speak", payload });
      room.deliver({ agent: "agent-1", method: "basket_state_changed", payload });
      room.deliver({ agent: "agent-1", method: "call_ended", payload });
    }
    room.push("basket_state_changed", { version: "two", patch: 7 });
    await pass(1_000);
    expect(look()).toBe(before);
    expect(warn).toHaveBeenCalledTimes(3);
  });

  test("an answer that is no JSON object is an error, not a crash", async () => {
    const { room, session } = await joined();
    for (const reply of ["[]", "{", "null"]) {
      room.transport.call = async () => reply;
      const asked = outcome(session.request("get_menu"));
      await pass(1_000);
      expect(asked.error).toMatchObject({ code: 1500, type: "bad_reply" });
    }
  });
});

describe("other calls", () => {
  test("only a call that does no harm twice is repeated", async () => {
    const { room, session } = await joined();
    let calls = 0;
    room.onRequest = () => {
      calls += 1;
      throw new CallError(calls < 3 ? 1502 : 1400);
    };
    const read = outcome(session.request("get_menu"));
    await pass(2_000);
    expect([calls, read.error?.code]).toEqual([3, 1400]);
    calls = 0;
    const written = outcome(session.request("basket.book"));
    await pass(2_000);
    expect([calls, written.error?.code]).toEqual([1, 1502]);
    calls = 0;
    void session.request("basket.book", { key: "k" }).catch(() => {});
    await pass(2_000);
    expect(calls).toBe(3);
  });

  test("a closed session listens to nothing, and starts again as the same", async () => {
    const { room, session, look } = await joined();
    const waiting = outcome(session.request("get_menu", { key: "k" }));
    const edit = outcome(session.apply({ op: "more" }));
    session.close();
    await pass();
    expect([waiting.error?.type, edit.error?.type]).toEqual(["closed", "closed"]);
    expect([look().status, room.listened]).toEqual(["idle", false]);
    await expect(session.say("hello")).rejects.toMatchObject({ type: "closed" });
    const first = session.start();
    expect(session.start()).toStrictEqual(first);
    await first;
    await session.apply({ op: "more" });
    expect(look().status).toBe("ready");
  });

  test("two sessions in one room are a mistake that is told", async () => {
    const { room } = await joined();
    const second = new AgentSession(room.transport, APP, { warn: failing });
    await expect(second.start()).rejects.toThrow("has a handler already");
    room.change({ op: "more" });
  });
});

describe("a call that is recorded", () => {
  test("the user refuses it, and it is said no longer that it is", async () => {
    const room = basketRoom();
    room.hello = { features: ["recorded", "push_to_talk"] };
    const { session, look } = await joined(room);
    room.onReply = failingWith(new CallError(1502));
    const refusal = session.refuseRecording();
    expect(look().features).toEqual(["recorded", "push_to_talk"]);
    await pass(1_000);
    await refusal;
    expect(look().features).toEqual(["push_to_talk"]);
    expect(room.calls.slice(2).map((call) => call.method)).toEqual([
      "refuse_recording",
      "refuse_recording",
    ]);
  });

  test("a refusal by words is seen as well", async () => {
    const room = basketRoom();
    room.hello = { features: ["recorded"] };
    const { look } = await joined(room);
    room.attributes({ "basket.recorded": "true" });
    expect(look().features).toEqual(["recorded"]);
    room.attributes({ "basket.recorded": "false" });
    expect(look().features).toEqual([]);
  });

  test("a refusal that is not heard is told", async () => {
    const room = basketRoom();
    room.hello = { features: ["recorded"] };
    const { session, look } = await joined(room);
    room.onRequest = () => {
      throw refused(5000, "internal");
    };
    await expect(session.refuseRecording()).rejects.toMatchObject({ code: 5000 });
    expect(look().features).toEqual(["recorded"]);
  });
});

/** A talk with an agent that names utterances, or with an older one. */
function talk(named: boolean) {
  /** Lines by turns: the agent's, or the user's after a ">". */
  const told = (...turns: string[][]): EarlierLine[] =>
    turns
      .flatMap((texts, turn) => texts.map((text) => ({ turn, text })))
      .map(({ turn, text }, number) => ({
        number,
        turn,
        speaker: text.startsWith(">") ? "user" : "agent",
        agent: text.startsWith(">") ? null : "greeter",
        text: text.replace(/^>/, ""),
        interrupted: false,
        // Typed words have none.
        ...(named ? { utterance: text.startsWith(">") ? null : `U${turn}:${text}` } : {}),
      }));

  /** An agent's live words: a part of a line that it keeps, or others. */
  const speak = (
    room: BasketRoom,
    text: string,
    kept: readonly EarlierLine[],
    segmentId = text,
  ) => {
    const line = kept.find((one) => one.speaker === "agent" && one.text.includes(text));
    const utterance = line?.utterance ?? `U:${text}`;
    const attributes: Record<string, string> = named ? { utterance } : {};
    room.transcribe({ segmentId, text: text.slice(0, 4), final: false, attributes });
    room.transcribe({ segmentId, text, attributes });
    room.transcribe({ segmentId, text, attributes }); // pieces may come twice
  };

  /** A client that comes back to a call; `meanwhile` happens before it has what was said. */
  async function back(earlier: EarlierLine[], meanwhile: (room: BasketRoom) => void = () => {}) {
    const room = basketRoom();
    room.earlier = earlier;
    room.turn = earlier.at(-1)?.turn ?? 0;
    room.onReply = (method) => {
      if (method === "get_transcript") meanwhile(room);
    };
    const { session, look } = await joined(room);
    await pass();
    return { room, session, look, texts: () => look().lines.map((line) => line.text) };
  }

  const GREETED = told(
    ["Welcome. What may I bring you?"],
    [">two pizzas", "Two pizzas. And to drink?"],
  );

  const SAID = told(["Hello."], [">two pizzas", "Two pizzas. And to drink?", "We have cola."]);
  const LAST = SAID.map((line) => line.text);

  const [USER, REPLY] = [
    told([], [">two pizzas"]),
    told([], [">two pizzas", "Two pizzas. And to drink?", "We have cola."]),
  ];

  const MISSED = told(
    ["Welcome. What may I bring you?"],
    [">two pizzas", "Two pizzas. And to drink?"],
    [">cola", "One cola.", "Anything else?"],
  );

  /** A client that has heard the first words, loses the connection, and has it back after `meanwhile`. */
  async function lost(
    heard: string[],
    said: EarlierLine[],
    meanwhile: (room: BasketRoom, session: AgentSession<Basket, Command>) => unknown = () => {},
  ) {
    const { room, session, look, texts } = await back([]);
    for (const [number, text] of heard.entries()) {
      if (text.startsWith(">")) await session.say(text.slice(1));
      else speak(room, text, [...said, ...MISSED], `H${number}`);
    }
    room.earlier = said;
    room.turn = said.at(-1)?.turn ?? 0;
    room.connection("reconnecting");
    await meanwhile(room, session);
    room.connection("connected");
    await pass(300);
    const asked = () => room.calls.filter((call) => call.method === "get_transcript").length;
    return { room, session, look, texts, asked };
  }

  return { told, speak, back, lost, GREETED, SAID, LAST, USER, REPLY, MISSED };
}

describe("what was said before", () => {
  const { told, speak, back, lost, GREETED, MISSED } = talk(true);

  test("it stands first, once, as it was said", async () => {
    const { room, session, look, texts } = await back(GREETED);
    room.transcribe({ segmentId: "S9", text: "Welcome back." });
    await session.say("hello");
    expect(texts()).toEqual([...GREETED.map((line) => line.text), "Welcome back.", "hello"]);
    expect(look().lines[1]).toEqual({
      id: "earlier:1",
      speaker: "user",
      agent: null,
      text: "two pizzas",
      final: true,
      interrupted: false,
    });
    room.join(); // another process: this client has it already
    await pass();
    expect(texts()).toHaveLength(5);
    expect(room.calls.filter((call) => call.method === "get_transcript")).toHaveLength(1);
  });

  test("an agent that cannot tell is not asked", async () => {
    const { room } = await joined();
    await pass();
    expect(room.calls.map((call) => call.method)).toEqual(["hello", "basket.subscribe"]);
  });

  test("a long talk is read in pages, the newest lines first, up to what is kept", async () => {
    const many = told(Array.from({ length: 520 }, (_, number) => `Line ${number}`));
    const { look, texts } = await back(many);
    expect(texts()).toEqual(many.slice(20).map((line) => line.text));
    expect(new Set(look().lines.map((line) => line.id)).size).toBe(500);

    const few = told(Array.from({ length: 120 }, (_, number) => `Line ${number}`));
    expect((await back(few)).texts()).toEqual(few.map((line) => line.text));
  });

  test("if no answer comes it is asked again, and the next agent after a refusal", async () => {
    const lost = [new CallError(1502), new CallError(1503)];
    const warn = vi.fn();
    const room = basketRoom();
    room.earlier = GREETED;
    room.onReply = (method) => {
      const error = method === "get_transcript" && lost.shift();
      if (error) throw error;
    };
    const { look } = await joined(room, { warn });
    await pass(1_000);
    expect(look().lines).toHaveLength(3);

    const other = basketRoom();
    other.earlier = GREETED;
    other.onRequest = (method) => {
      if (method === "get_transcript") throw refused(5000, "internal");
    };
    const later = await joined(other, { warn });
    await pass(1_000);
    expect(later.look().lines).toHaveLength(0);
    expect(warn).toHaveBeenCalledTimes(1);
    other.onRequest = () => {};
    other.join();
    await pass(1_000);
    expect(later.look().lines).toHaveLength(3);
  });

  test("words typed meanwhile stand once", async () => {
    const room = basketRoom();
    room.earlier = told([], [">two pizzas"]);
    const { session, look } = await joined(room);
    await session.say("two pizzas");
    await pass();
    expect(look().lines.map((line) => line.text)).toEqual(["two pizzas"]);
  });

  test("words typed during a loss stand after what was missed, and once", async () => {
    const { session, texts } = await lost([MISSED[0]?.text ?? ""], MISSED, (_, session) => {
      void session.say("wine");
    });
    const all = MISSED.map((line) => line.text);
    expect(texts()).toEqual([...all, "wine"]);
    await session.say("no");
    expect(texts()).toEqual([...all, "wine", "no"]);
  });

  test("words of which the answer was lost stand where they were heard", async () => {
    const { room, session, texts } = await back([]);
    speak(room, "Welcome. What may I bring you?", MISSED);
    room.onReply = () => {
      room.earlier = MISSED;
      room.connection("reconnecting");
      room.onReply = () => {};
      throw new CallError(1502);
    };
    void session.say("two pizzas");
    await pass();
    room.connection("connected");
    await pass(1_000);
    expect(texts()).toEqual(MISSED.map((line) => line.text));
    expect(room.heard).toEqual(["two pizzas"]);
  });

  test("typed words that the agent keeps in another form stand once, as they were typed", async () => {
    const kept = told(["What is your card number?"], [">[card]", "I take no card numbers."]);
    const { texts } = await lost(["What is your card number?", ">4242 4242"], kept);
    expect(texts()).toEqual(["What is your card number?", "4242 4242", "I take no card numbers."]);
  });

  test("after a loss another call's lines are not taken for missed ones", async () => {
    const { texts, asked } = await lost(["Goodbye."], MISSED, (room) => {
      room.stateId = "state-2";
    });
    expect([texts(), asked()]).toEqual([["Goodbye."], 1]);
  });

  test("an agent that cannot tell is not asked after a loss either", async () => {
    const { room, look } = await joined();
    room.transcribe({ text: "Welcome." });
    room.connection("reconnecting");
    room.connection("connected");
    await pass(300);
    room.yourTurn();
    await pass();
    expect(look().lines).toHaveLength(1);
    expect(room.calls.map((call) => call.method)).not.toContain("get_transcript");
  });

  test("words that could not be sent before a loss stand behind what was said meanwhile", async () => {
    const { room, session, texts } = await back(GREETED);
    room.onRequest = failing;
    void session.say("cola");
    await pass();
    room.connection("reconnecting");
    const [said, heard] = [
      told([], [], ["Are you there?"]),
      told([], [], ["Are you there?"], [">cola"]),
    ];
    const after = (lines: EarlierLine[]) =>
      lines.map((line) => ({
        ...line,
        turn: line.speaker === "user" ? 2 : 1,
        number: line.number + GREETED.length,
      }));
    room.earlier = [...GREETED, ...after(said)];
    room.onRequest = async (method) => {
      if (method === "say") await new Promise((resolve) => setTimeout(resolve, 100));
    };
    room.connection("connected");
    await pass();
    const all = [...GREETED.map((line) => line.text), "Are you there?", "cola"];
    expect(texts()).toEqual(all);
    await pass(1_000);
    room.earlier = [...GREETED, ...after(heard)];
    room.yourTurn();
    await pass();
    expect(texts()).toEqual(all);
  });

  test("words that are heard before what was missed is read stand behind it", async () => {
    const { room, session, texts } = await back(GREETED);
    room.onRequest = failing;
    void session.say("cola");
    await pass();
    room.connection("reconnecting");
    room.onRequest = () => {};
    const later = told(["Are you there?"], [">cola", "One cola."]);
    const kept = later.map((line) => ({
      ...line,
      turn: line.turn + 1,
      number: line.number + 3,
    }));
    room.earlier = [...GREETED, ...kept];
    room.connection("connected");
    await pass(1_000);
    expect(texts()).toEqual([...GREETED, ...kept].map((line) => line.text));
  });
});

describe.each([
  ["an agent that names utterances", true],
  ["an older agent", false],
])("what was said before, by %s", (_, named) => {
  const { told, speak, back, lost, GREETED, SAID, LAST, USER, REPLY, MISSED } = talk(named);

  test.each<[string, string[], string[], string[]]>([
    ["the last words", ["We have cola."], [], []],
    ["the last words, and more", ["We have cola.", "Or wine."], [], ["Or wine."]],
    ["all of it", ["Two pizzas. And to drink?", "We have cola."], [], []],
    ["nothing yet, the last words follow", [], ["We have cola.", "Or wine."], ["Or wine."]],
    ["other words", ["Or beer?", "Or wine."], [], ["Or beer?", "Or wine."]],
    ["other words with the same end", ["Well: We have cola."], [], ["Well: We have cola."]],
    ["other words afterwards", [], ["Or wine.", "Or beer."], ["Or wine.", "Or beer."]],
  ])("words that came meanwhile stand once: %s", async (_, before, after, more) => {
    const say = (room: BasketRoom, texts: string[]) => {
      for (const text of texts) speak(room, text, SAID);
    };
    const { room, texts } = await back(SAID, (room) => say(room, before));
    say(room, after);
    expect(texts()).toEqual([...LAST, ...more]);
  });

  test("the same words of an earlier turn stand where they were said, and again", async () => {
    const greeted = told(["Anything else?"], [">no"]);
    const { texts } = await back(greeted, (room) => speak(room, "Anything else?", []));
    expect(texts()).toEqual(["Anything else?", "no", "Anything else?"]);
  });

  test.each<[string, string[], string[], EarlierLine[], string[]]>([
    ["its rest came", ["We have cola."], [], REPLY, []],
    ["its end came", ["Two pizzas. And to drink?"], [], REPLY, []],
    ["none of it came", [], [], REPLY, []],
    ["none of it came yet", [], ["We have cola."], REPLY, []],
    ["all of it came", ["Two pizzas. And to drink?", "We have cola."], [], REPLY, []],
    ["the agent has kept nothing of it", ["One moment."], [], USER, ["One moment."]],
  ])(
    "a reply that was under way is whole at its end: %s",
    async (_, before, after, kept, other) => {
      const { room, session, texts } = await back(USER);
      for (const text of before) speak(room, text, REPLY);
      room.earlier = kept;
      room.yourTurn();
      await pass();
      for (const text of after) speak(room, text, REPLY);
      const reply = [...kept.map((line) => line.text), ...other];
      expect(texts()).toEqual(reply);
      expect(room.calls.filter((call) => call.method === "get_transcript")).toHaveLength(2);

      room.yourTurn(); // from now on all words come here
      await session.say("no");
      speak(room, "We have cola.", [], "S");
      await pass();
      expect(texts()).toEqual([...reply, "no", "We have cola."]);
      expect(room.calls.filter((call) => call.method === "get_transcript")).toHaveLength(2);
    },
  );

  test("a turn that is told before what was said is there is not missed", async () => {
    const { texts } = await back(USER, (room) => {
      if (room.earlier === REPLY) return;
      speak(room, "We have cola.", REPLY);
      room.earlier = REPLY;
      room.yourTurn();
    });
    await pass();
    expect(texts()).toEqual(["two pizzas", "Two pizzas. And to drink?", "We have cola."]);
  });

  test.each<[string, string[], string[]]>([
    ["a reply", [MISSED[0]?.text ?? "", ">two pizzas"], []],
    ["all", [], []],
    ["two turns", [MISSED[0]?.text ?? ""], []],
    [
      "the last line",
      [
        "Welcome. What may I bring you?",
        ">two pizzas",
        "Two pizzas. And to drink?",
        ">cola",
        "One cola.",
      ],
      [],
    ],
    ["nothing", MISSED.map(({ speaker, text }) => (speaker === "user" ? ">" : "") + text), []],
    ["the rest of a line", ["Welcome. What may I bring you?", ">two pizzas", "Two piz"], []],
    [
      "what is followed by live words",
      ["Welcome. What may I bring you?", ">two pizzas"],
      ["One cola.", "Anything else?"],
    ],
    [
      "what is followed by newer words",
      ["Welcome. What may I bring you?", ">two pizzas"],
      ["We close at ten."],
    ],
  ])("what is said during a loss of the connection is put in: %s", async (_, heard, live) => {
    const { room, texts, asked } = await lost(heard, MISSED, (room) => {
      room.onRequest = (method) => {
        if (method !== "get_transcript") return;
        for (const text of live) speak(room, text, MISSED);
      };
    });
    const newer = live.includes("We close at ten.") ? live : [];
    const all = [...MISSED.map((line) => line.text), ...newer].join(" ");
    expect(texts().join(" ")).toBe(all);
    expect(asked()).toBe(2);

    room.yourTurn();
    await pass();
    expect(texts().join(" ")).toBe(all);
    expect(asked()).toBe(3);
    room.connection("reconnecting"); // nothing is said
    room.connection("connected");
    await pass(300);
    room.yourTurn();
    await pass();
    expect(texts().join(" ")).toBe(all);
    room.yourTurn();
    await pass();
    expect(asked()).toBe(5);
  });

  test("the lines that a page shows stay the same ones", async () => {
    const { look } = await lost(["Welcome. What may I bring you?", ">two pizzas", "Two"], MISSED);
    expect(look().lines.map((line) => [line.id.replace(/:.*-.*/, ""), line.text])).toEqual([
      ["H0", "Welcome. What may I bring you?"],
      ["typed", "two pizzas"],
      ["H2", "Two pizzas. And to drink?"],
      ["earlier:3", "cola"],
      ["earlier:4", "One cola."],
      ["earlier:5", "Anything else?"],
    ]);
  });

  test("pieces of a missed reply that still come are not shown again", async () => {
    const { room, texts } = await lost(["Welcome. What may I bring you?"], MISSED);
    speak(room, "Anything else?", MISSED);
    speak(room, "Or a dessert?", MISSED);
    expect(texts()).toEqual([...MISSED.map((line) => line.text), "Or a dessert?"]);
  });

  test("a reply that is under way when the connection is back is whole at its end", async () => {
    const heard = ["Welcome. What may I bring you?", ">two pizzas", "Two"];
    const { room, texts } = await lost(heard, MISSED.slice(0, 2));
    room.earlier = MISSED.slice(0, 3);
    room.yourTurn();
    await pass();
    expect(texts()).toEqual(MISSED.slice(0, 3).map((line) => line.text));
  });

  test("a long loss is read in pages, back to what is known", async () => {
    const many = told(
      ...Array.from({ length: 220 }, (_, number) => [`Line number ${number} is this.`]),
    );
    const all = many.map((line) => line.text);
    const { room, texts } = await back(many.slice(0, 100));
    room.earlier = many;
    room.connection("reconnecting");
    room.connection("connected");
    await pass(300);
    expect(texts()).toEqual(all);
    const asked = room.calls.filter((call) => call.method === "get_transcript");
    expect(asked.slice(2).map((call) => call.payload)).toEqual([
      {},
      { before: 170 },
      { before: 120 },
    ]);
  });

  test("an agent that comes during a loss and knows only its own words takes nothing away", async () => {
    const anew = told(["Welcome back. Where were we?"]);
    const { room, look, texts } = await back(GREETED);
    room.connection("reconnecting");
    room.earlier = anew;
    room.turn = 0;
    room.join();
    room.connection("connected");
    await pass(300);
    expect(texts()).toEqual([...GREETED, ...anew].map((line) => line.text));
    expect(new Set(look().lines.map((line) => line.id)).size).toBe(4);
  });

  test("what is said while the session is closed is put in when it starts again", async () => {
    const { room, session, texts } = await back(MISSED.slice(0, 3));
    session.close();
    room.earlier = MISSED;
    await session.start();
    await pass();
    expect(texts()).toEqual(MISSED.map((line) => line.text));
  });

  test("typed words that the agent keeps in another form stand once at the end of a turn", async () => {
    const { room, session, texts } = await back(GREETED);
    await session.say("4242 4242");
    speak(room, "I take no card numbers.", []);
    const kept = { ...GREETED[1], turn: 2, number: 3, text: "[card]" } as EarlierLine;
    const utterance = named ? { utterance: "U:I take no card numbers." } : {};
    const reply = {
      ...GREETED[0],
      turn: 2,
      number: 4,
      text: "I take no card numbers.",
      ...utterance,
    };
    room.earlier = [...GREETED, kept, reply as EarlierLine];
    room.yourTurn();
    await pass();
    expect(texts().slice(3)).toEqual(["4242 4242", "I take no card numbers."]);
  });

  test("an answer that was lost with its agent stays, and its question stands once", async () => {
    const heard = ["Welcome. What may I bring you?", ">two pizzas", "Let me look."];
    const said = told(["Welcome. What may I bring you?"], [">two pizzas", "Here I am again."]);
    const { texts } = await lost(heard, said, (room) => room.join());
    const spoken = heard.map((text) => text.replace(">", ""));
    expect(texts()).toEqual([...spoken, "Here I am again."]);
  });

  test("a late piece of a line that was completed does not shorten it", async () => {
    const heard = ["Welcome. What may I bring you?", ">two pizzas", "Two"];
    const { room, texts } = await lost(heard, MISSED.slice(0, 3));
    speak(room, "Two pizzas.", MISSED, "H2");
    expect(texts()[2]).toBe("Two pizzas. And to drink?");
  });

  test("what was said before is read however long the connection is lost meanwhile", async () => {
    const room = basketRoom();
    room.earlier = told(["Hello."]);
    room.onReply = (method) => {
      if (method !== "get_transcript") return;
      room.connection("reconnecting");
      room.onReply = () => {};
      throw new CallError(1502);
    };
    const { look } = await joined(room);
    await pass();
    speak(room, "Hello.", told(["Hello."]));
    room.connection("disconnected");
    room.connection("reconnecting");
    await pass(60_000);
    const said = told(["Hello.", "Are you there?", "What may I bring you?"]);
    room.earlier = said;
    room.onRequest = (method) => {
      if (method !== "get_transcript") return;
      speak(room, "What may I bring you?", said);
    };
    room.connection("connected");
    await pass(1_000);
    expect(look().lines.map((line) => line.text)).toEqual(said.map((line) => line.text));
  });
});

describe("utterances", () => {
  /** A line as the agent keeps it: the user's after a ">". */
  const line = (
    number: number,
    turn: number,
    text: string,
    more: Partial<EarlierLine> = {},
  ): EarlierLine => ({
    number,
    turn,
    speaker: text.startsWith(">") ? "user" : "agent",
    agent: text.startsWith(">") ? null : "greeter",
    text: text.replace(/^>/, ""),
    interrupted: false,
    utterance: null,
    ...more,
  });

  const piece = (utterance: string, text: string, segmentId = text, final = true) => ({
    segmentId,
    text,
    final,
    attributes: { utterance },
  });

  /** A client that has the connection back after a loss, with what the agent has kept. */
  async function back(room: BasketRoom, kept: EarlierLine[], turn = 0) {
    room.connection("reconnecting");
    room.earlier = kept;
    room.turn = turn;
    room.connection("connected");
    await pass(300);
  }

  async function met() {
    const room = basketRoom();
    room.earlier = [];
    const { session, look } = await joined(room);
    await pass();
    return { room, session, look, texts: () => look().lines.map(({ text }) => text) };
  }

  test("equal words are told apart", async () => {
    const { room, look } = await met();
    room.transcribe(piece("U2", "Yes."));
    room.onRequest = (method) => {
      if (method === "get_transcript") room.transcribe(piece("U4", "Yes.", "S4", false));
    };
    await back(room, [
      line(0, 0, "Yes.", { utterance: "U1" }),
      line(1, 0, "Yes.", { utterance: "U2" }),
      line(2, 0, "Yes.", { utterance: "U3" }),
    ]);
    room.transcribe(piece("U3", "Yes.", "S3"));
    expect(look().lines.map(({ id }) => id)).toEqual(["earlier:0", "Yes.", "earlier:2", "S4"]);
  });

  test("what the user says in several segments is one line once it is kept", async () => {
    const { room, look } = await met();
    room.transcribe({ ...piece("U1", "two"), from: "user" });
    room.transcribe({ ...piece("U1", "pizzas"), from: "user" });
    room.transcribe(piece("U2", "Two pizzas.", "S", false));
    const said = line(0, 1, ">two pizzas", { utterance: "U1" });
    await back(room, [said], 1);
    expect(look().lines).toMatchObject([{ id: "two", text: "two pizzas" }, { id: "S" }]);
    room.transcribe({ ...piece("U1", "pizzas"), from: "user" });
    expect(look().lines).toHaveLength(2);
  });

  test("of words that are cut short what was heard stands there, in the agent's form", async () => {
    const { room, session, look } = await met();
    room.transcribe(piece("U1", "Your card is 4242, and we have", "S", false));
    await session.say("stop");
    const cut = line(1, 1, "Your card is [card],", { utterance: "U1", interrupted: true });
    await back(room, [line(0, 1, ">stop"), cut, line(2, 1, "Yes?", { utterance: "U2" })], 1);
    room.transcribe(piece("U1", "Your card is 4242, and we have it", "S"));
    expect(look().lines).toMatchObject([
      { id: "S", text: "Your card is [card],", interrupted: true, final: true },
      { text: "stop" },
      { text: "Yes?" },
    ]);
  });

  test("a page that is loaded during an utterance has it once, and whole", async () => {
    const { room, texts } = await met();
    room.transcribe(piece("U1", "to drink?", "S", false));
    expect(texts()).toEqual(["to drink?"]);
    room.earlier = [line(0, 0, "Two pizzas. And to drink?", { utterance: "U1" })];
    room.yourTurn();
    await pass();
    room.transcribe(piece("U1", "to drink?", "S"));
    expect(texts()).toEqual(["Two pizzas. And to drink?"]);
  });

  test("another process, which knows no utterances of the first, takes nothing away", async () => {
    const { room, session, texts } = await met();
    room.transcribe(piece("U1", "Hello."));
    await session.say("yes");
    room.transcribe(piece("U2", "One mom", "S", false));
    room.join();
    const stored = [line(0, 0, "Hello."), line(1, 1, ">yes")];
    await back(room, [...stored, line(2, 1, "Yes?", { utterance: "V1" })], 1);
    expect(texts()).toEqual(["Hello.", "yes", "One mom", "Yes?"]);
    room.transcribe(piece("V1", "Yes?"));
    await session.say("yes");
    await back(room, [line(2, 1, "Yes?", { utterance: "V1" }), line(3, 2, ">yes")], 2);
    expect(texts()).toEqual(["Hello.", "yes", "One mom", "Yes?", "yes"]);
  });

  test("words of the same turn of an agent that counts from the start are others", async () => {
    const { room, session, texts } = await met();
    await session.say("two pizzas");
    await session.say("and a cola");
    await back(room, [line(0, 0, "Welcome back."), line(1, 1, ">a salad")], 1);
    expect(texts()).toEqual(["two pizzas", "and a cola", "Welcome back.", "a salad"]);
  });

  test("words of the same turn of another call are others", async () => {
    const { room, session, texts } = await met();
    await session.say("two pizzas");
    room.endCall("agent_ended");
    expect(await session.say("one more thing")).toEqual({ turn: 1 });
    await pass();
    await back(room, [line(0, 1, ">one more thing"), line(1, 1, "Yes?")], 1);
    expect(texts()).toEqual(["two pizzas", "one more thing", "Yes?"]);
  });

  test("typed words that the agent has kept before it answers stand once", async () => {
    const { room, session, texts } = await met();
    room.onReply = () => {
      room.onReply = () => {};
      throw new CallError(1502);
    };
    void session.say("4242 4242");
    await pass();
    await back(room, [line(0, 1, ">[card]"), line(1, 1, "Thank you.", { utterance: "U1" })], 1);
    await pass(1_000);
    expect(room.heard).toEqual(["4242 4242"]);
    expect(texts()).toEqual(["4242 4242", "Thank you."]);
  });
});
