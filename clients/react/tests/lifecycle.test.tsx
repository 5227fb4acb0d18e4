// @vitest-environment jsdom
/** The hooks beside the session's: mounted twice by React's strict mode, unmounted, rendered on a server. */

import { RoomContext } from "@livekit/components-react";
import { act, cleanup, render, renderHook } from "@testing-library/react";
import { AgentSession, type App, Call } from "@typed-handoffs/client";
import { StaffBoard } from "@typed-handoffs/client/staff";
import { FakeRoom, refused } from "@typed-handoffs/client/testing";
import { Room } from "livekit-client";
import { type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { bellaVista, type Command, type Order } from "../../bella-vista/src/index.js";
import { useConfirmedOrder, useOrder } from "../../bella-vista/src/react.js";
import ordering from "../../web/stories/fixtures/ordering.json";
import { AgentSessionProvider, useCall, usePushToTalk, useStaffBoard } from "../src/index.js";
import { RoomAgentSessionProvider } from "../src/livekit.js";

const ORDER = ordering as unknown as Order;
const strict = { wrapper: StrictMode };
const settled = () => act(async () => {});

let errors: MockInstance;
beforeEach(() => {
  errors = vi.spyOn(console, "error");
});
afterEach(() => {
  cleanup();
  expect(errors).not.toHaveBeenCalled();
  errors.mockRestore();
});

class FakeEvents extends EventTarget {
  readyState = 0;
  tell(name: string, data: unknown) {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
  }
  close() {
    this.readyState = 2;
  }
}

function staff() {
  const streams: FakeEvents[] = [];
  const board = new StaffBoard<{ order_id: string; version: number }>({
    noun: "order",
    plural: "orders",
    eventSource: () => {
      const events = new FakeEvents();
      streams.push(events);
      return events as unknown as EventSource;
    },
  });
  const open = () => streams.filter((one) => one.readyState !== 2);
  return { board, streams, open };
}

test("a board in strict mode has one stream of events, and none when it is unmounted", async () => {
  const { board, streams, open } = staff();
  const { result, unmount } = renderHook(() => useStaffBoard(board), strict);
  await settled();
  expect(open()).toHaveLength(1);
  expect(result.current.status).toBe("connecting");

  act(() => streams[0]?.tell("snapshot", { orders: [{ order_id: "late", version: 1 }] }));
  expect(result.current.states).toEqual([]); // that stream was closed
  act(() => open()[0]?.tell("snapshot", { orders: [{ order_id: "a", version: 1 }] }));
  expect(result.current).toMatchObject({ status: "live", states: [{ order_id: "a" }] });

  unmount();
  expect(open()).toEqual([]);
  expect(board.getSnapshot().status).toBe("idle");
});

test("a board on the server opens nothing", () => {
  const { board, streams } = staff();
  const Board = () => <p>{useStaffBoard(board).status}</p>;
  expect(renderToString(<Board />)).toBe("<p>idle</p>");
  expect(streams).toEqual([]);
});

test("a call is followed in strict mode and on the server, and goes on when unmounted", async () => {
  vi.stubGlobal("fetch", async () =>
    Response.json({ server_url: "ws://rooms", participant_token: "t" }, { status: 201 }),
  );
  const connect = vi.fn(async () => {});
  const call = new Call({ connect, disconnect: async () => {}, onEnded: () => () => {} }, "");
  const Status = () => <p>{useCall(call).status}</p>;
  expect(renderToString(<Status />)).toBe("<p>out</p>");
  const { unmount } = render(<Status />, strict);
  expect(document.body.textContent).toBe("out");
  await act(() => call.join());
  expect(document.body.textContent).toBe("joined");
  unmount();
  expect(call.getSnapshot().status).toBe("joined");
  expect(connect).toHaveBeenCalledTimes(1);
  vi.unstubAllGlobals();
});

const app: App<unknown, { op: string }> = { noun: "order" };

test("a session in LiveKit's room is not started on the server", () => {
  const room = new Room();
  const html = renderToString(
    <RoomContext.Provider value={room}>
      <RoomAgentSessionProvider app={app}>
        <p>here</p>
      </RoomAgentSessionProvider>
    </RoomContext.Provider>,
  );
  expect(html).toContain("here");
  room.registerRpcMethod("call_ended", async () => ""); // free
});

function ordered() {
  const room = new FakeRoom<Order, Command>({
    noun: "order",
    state: ORDER,
    reduce: (order, command) => {
      if (command.op === "change_item" && command.quantity === 9)
        throw refused(4022, "over_limit", { detail: "No more than eight." });
      return bellaVista.optimistic?.(order, command) ?? order;
    },
    features: ["push_to_talk"],
  });
  room.connection("connected");
  room.join();
  const session = new AgentSession<Order, Command>(room.transport, bellaVista);
  const wrapper = ({ children }: { children: ReactNode }) => (
    <StrictMode>
      <AgentSessionProvider session={session}>{children}</AgentSessionProvider>
    </StrictMode>
  );
  return { room, wrapper };
}

test("an order has its edits under way, the confirmed one not yet, and a refusal is told", async () => {
  const { wrapper } = ordered();
  const { result } = renderHook(() => ({ ...useOrder(), confirmed: useConfirmedOrder() }), {
    wrapper,
  });
  await settled();
  const quantities = () =>
    [result.current.order, result.current.confirmed].map((one) => one?.order_items[0]?.quantity);
  expect(quantities()).toEqual([2, 2]);
  const set = (quantity: number) =>
    result.current.apply({ op: "change_item", line_id: "L1", quantity });

  act(() => void set(5));
  expect(quantities()).toEqual([5, 2]);
  expect(result.current.pending).toBe(1);
  await settled();
  expect(quantities()).toEqual([5, 5]);
  expect(result.current.error).toBeNull();

  act(() => void set(9).catch(() => {}));
  expect(quantities()).toEqual([9, 5]);
  await settled();
  expect(quantities()).toEqual([5, 5]);
  expect(result.current.error?.detail).toBe("No more than eight.");
});

test("an order on the server is not there yet", () => {
  const { room, wrapper: Wrapper } = ordered();
  const Total = () => <p>{useOrder().order?.display.total ?? "none"}</p>;
  const html = renderToString(
    <Wrapper>
      <Total />
    </Wrapper>,
  );
  expect(html).toBe("<p>none</p>");
  expect(room.listened).toBe(false);
});

test("push-to-talk in strict mode begins a turn once, and cancels it with its button", async () => {
  const { room, wrapper } = ordered();
  let talk: ReturnType<typeof usePushToTalk> | undefined;
  const TalkButton = () => {
    talk = usePushToTalk();
    return null;
  };
  const { rerender } = render(<TalkButton />, { wrapper });
  await settled();
  await act(async () => talk?.start());
  expect(talk?.talking).toBe(true);
  rerender(<p />);
  await settled();
  const turns = room.calls.map((one) => one.method).filter((one) => one.endsWith("_turn"));
  expect(turns).toEqual(["start_turn", "cancel_turn"]);
});
