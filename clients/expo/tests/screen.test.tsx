/** The screen in a call with an agent that is no server. */

import type { Command, Order } from "@bella-vista/client";
import { bellaVista } from "@bella-vista/client";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { act, fireEvent, render, screen } from "@testing-library/react-native";
import { AgentSession, Call } from "@typed-handoffs/client";
import { FakeRoom, refused } from "@typed-handoffs/client/testing";
import { AppState, type AppStateStatus } from "react-native";
import ordering from "../../web/stories/fixtures/ordering.json";
import { Screen } from "../src/screen";

const ORDER = ordering as unknown as Order;
const settled = () => act(async () => {});

const realFetch = globalThis.fetch;
let asked: string[];
let status: number;
let watching: Set<(state: AppStateStatus) => void>;

beforeEach(() => {
  watching = new Set();
  jest.spyOn(AppState, "addEventListener").mockImplementation((_, listener) => {
    watching.add(listener);
    return { remove: () => watching.delete(listener) };
  });
  asked = [];
  status = 201;
  globalThis.fetch = (async (url: string) => {
    asked.push(url);
    const json = async () => ({ server_url: "ws://rooms", participant_token: "t" });
    return { status, ok: status < 300, json };
  }) as unknown as typeof fetch;
});

afterEach(() => {
  globalThis.fetch = realFetch;
});

async function opened(state = ORDER) {
  const room = new FakeRoom<Order, Command>({
    noun: "order",
    state,
    reduce: (order, command) => {
      if (command.op === "change_item" && command.quantity === 5) {
        throw refused(4010, "refused", { detail: "No more than four." });
      }
      if (command.op === "place_order") return { ...order, stage: "placed" };
      return bellaVista.optimistic?.(order, command) ?? order;
    },
    features: ["push_to_talk"],
  });
  let ended: (final: boolean) => void = () => {};
  const rooms = {
    connect: async () => {
      room.connection("connected");
      room.join();
    },
    disconnect: async () => room.connection("disconnected"),
    onEnded: (listener: (final: boolean) => void) => {
      ended = listener;
      return () => {};
    },
  };
  const lose = () =>
    act(async () => {
      room.connection("disconnected");
      ended(false);
    });
  const call = new Call(rooms, "http://server", { pauses: [] });
  const openSession = () => new AgentSession(room.transport, bellaVista, { warn: () => {} });
  const onMicrophone = jest.fn(async (_: boolean) => {});
  const shown = render(
    <Screen house={null} call={call} openSession={openSession} onMicrophone={onMicrophone} />,
  );
  fireEvent.press(screen.getByRole("button", { name: "Start" }));
  await settled();
  await settled();
  return { room, onMicrophone, lose, unmount: shown.unmount };
}

async function say(words: string) {
  fireEvent.changeText(await screen.findByLabelText("Type to the restaurant"), words);
  fireEvent.press(screen.getByRole("button", { name: "Say" }));
  await settled();
}

/** Tell the app that it is in the background. */
function inBackground() {
  for (const listener of watching) listener("background");
}

/** The microphone takes until `open` is called. */
function opening(onMicrophone: jest.Mock<(on: boolean) => Promise<void>>): () => Promise<void> {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  onMicrophone.mockImplementation((on) => (on ? opened : Promise.resolve()));
  return () => act(async () => open());
}

test("joins and shows the order, the agent and the turn", async () => {
  const { room } = await opened();
  expect(asked).toEqual(["http://server/api/token"]);
  expect(await screen.findByText("Margherita")).toBeTruthy();
  expect(screen.getByText("$72.40")).toBeTruthy();
  await act(async () => room.yourTurn());
  expect(screen.getByText("Your turn")).toBeTruthy();
  expect(screen.getByText("Greeter")).toBeTruthy();
});

test("a quantity is changed, and taken back if that is refused", async () => {
  const { room } = await opened();
  fireEvent.press(await screen.findByRole("button", { name: "One more Margherita" }));
  await settled();
  expect(screen.getByLabelText("3 Margherita")).toBeTruthy();
  expect(room.state.order_items[0]?.quantity).toBe(3);
  for (let more = 0; more < 2; more += 1) {
    fireEvent.press(screen.getByRole("button", { name: "One more Margherita" }));
    await settled();
  }
  expect(screen.getByLabelText("4 Margherita")).toBeTruthy();
  expect(screen.getByRole("alert")).toHaveTextContent("No more than four.");
});

test("an order that the restaurant has refused says why", async () => {
  await opened({ ...ORDER, stage: "failed", ended_reason: "The oven broke." });
  expect(await screen.findByRole("alert")).toHaveTextContent(
    "The restaurant could not take the order. The reason: The oven broke.",
  );
});

test("words are said and stand in the talk", async () => {
  const { room } = await opened();
  await say("one tiramisu");
  expect(room.heard).toEqual(["one tiramisu"]);
  expect(screen.getByText("You: one tiramisu")).toBeTruthy();
});

test("the microphone is on while the button is held", async () => {
  const { room, onMicrophone } = await opened();
  const hold = await screen.findByRole("button", { name: "Hold to talk" });
  fireEvent(hold, "pressIn");
  await settled();
  fireEvent(screen.getByRole("button", { name: "Release to send" }), "pressOut");
  await settled();
  expect(onMicrophone.mock.calls).toEqual([[true], [false]]);
  const methods = room.calls.map((one) => one.method);
  expect(methods).toEqual(expect.arrayContaining(["start_turn", "end_turn"]));
});

test.each([
  ["released", () => fireEvent(screen.getByRole("button", { name: "Hold to talk" }), "pressOut")],
  ["in the background", () => inBackground()],
  ["no longer shown", ({ unmount }: { unmount: () => void }) => unmount()],
])("no turn begins if it is %s while the microphone opens", async (_, stop) => {
  const { room, onMicrophone, unmount } = await opened();
  const open = opening(onMicrophone);
  fireEvent(await screen.findByRole("button", { name: "Hold to talk" }), "pressIn");
  await settled();
  await act(async () => stop({ unmount }));
  expect(onMicrophone.mock.calls).toEqual([[true]]); // turned off while it opens, it would stay on
  await open();
  await settled();
  expect(onMicrophone.mock.calls).toEqual([[true], [false]]);
  expect(room.calls.map((one) => one.method)).not.toContain("start_turn");
});

test("the microphone is off when the held button is no longer shown", async () => {
  const { onMicrophone, unmount } = await opened();
  fireEvent(await screen.findByRole("button", { name: "Hold to talk" }), "pressIn");
  await settled();
  await act(async () => unmount());
  expect(onMicrophone.mock.calls).toEqual([[true], [false]]);
});

test("a refused microphone is told, and begins no turn until it is allowed", async () => {
  const { room, onMicrophone } = await opened();
  onMicrophone.mockImplementation(async (on) => {
    if (on) throw new Error("NotAllowedError");
  });
  const methods = () => room.calls.map((one) => one.method);
  fireEvent(await screen.findByRole("button", { name: "Hold to talk" }), "pressIn");
  await settled();
  expect(screen.getByRole("alert")).toHaveTextContent(/The microphone could not be used/);
  fireEvent(screen.getByRole("button", { name: "Hold to talk" }), "pressOut");
  await settled();
  expect(methods()).not.toContain("start_turn");
  expect(methods()).not.toContain("end_turn");
  onMicrophone.mockImplementation(async () => {});
  fireEvent(screen.getByRole("button", { name: "Hold to talk" }), "pressIn");
  await settled();
  expect(screen.queryByRole("alert")).toBeNull();
  expect(methods()).toContain("start_turn");
});

test("an app that goes to the background while its guest talks cancels the turn", async () => {
  const { room, onMicrophone } = await opened();
  fireEvent(await screen.findByRole("button", { name: "Hold to talk" }), "pressIn");
  await settled();
  const held = screen.getByRole("button", { name: "Release to send" });
  await act(async () => inBackground());
  expect(onMicrophone.mock.calls).toEqual([[true], [false]]);
  fireEvent(held, "pressOut"); // the finger is lifted afterwards
  await settled();
  const turns = room.calls.map((one) => one.method).filter((one) => one.endsWith("_turn"));
  expect(turns).toEqual(["start_turn", "cancel_turn"]);
  expect(screen.getByRole("button", { name: "Hold to talk" })).toBeTruthy();
});

test("the second of two quick presses begins the turn", async () => {
  const { room, onMicrophone } = await opened();
  const open = opening(onMicrophone);
  const hold = await screen.findByRole("button", { name: "Hold to talk" });
  for (const event of ["pressIn", "pressOut", "pressIn"]) {
    fireEvent(hold, event);
    await settled();
  }
  await open();
  await settled();
  expect(onMicrophone.mock.calls).toEqual([[true], [false], [true]]);
  expect(room.calls.filter((one) => one.method === "start_turn")).toHaveLength(1);
  expect(screen.getByRole("button", { name: "Release to send" })).toBeTruthy();
});

test("the end of a call is shown, and leaving returns to the start", async () => {
  const { room } = await opened();
  await screen.findByText("Margherita");
  await act(async () => room.endCall("goodbye"));
  expect(screen.getByText("Call ended")).toBeTruthy();
  fireEvent.press(screen.getByRole("button", { name: "Leave" }));
  await settled();
  expect(screen.getByRole("button", { name: "Start" })).toBeTruthy();
  expect(asked).toContain("http://server/api/leave");
});

test("a call that is lost keeps its lines and its order, also when it is joined again", async () => {
  const { room, lose } = await opened();
  await say("one tiramisu");
  await lose();
  const kept = () => [screen.getByText("You: one tiramisu"), screen.getByText("Margherita")];
  expect(screen.getByText("Not connected")).toBeTruthy();
  expect(kept()).toHaveLength(2);
  fireEvent.press(screen.getByRole("button", { name: "Join again" }));
  await settled();
  expect(screen.getByText("Please listen")).toBeTruthy();
  expect(kept()).toHaveLength(2);
  await say("and a coffee");
  expect(room.heard).toEqual(["one tiramisu", "and a coffee"]);
});

test("a call after one that was left has lines of its own", async () => {
  await opened();
  await say("one tiramisu");
  fireEvent.press(screen.getByRole("button", { name: "Leave" }));
  await settled();
  fireEvent.press(screen.getByRole("button", { name: "Start" }));
  await settled();
  expect(screen.getByText("Margherita")).toBeTruthy();
  expect(screen.queryByText("You: one tiramisu")).toBeNull();
});

test("a refused token is told", async () => {
  status = 403;
  await opened();
  expect(screen.getByRole("alert")).toHaveTextContent(/does not accept this call/);
});

test("each line says what is on it, and a placed order its number and how far it is", async () => {
  const { room } = await opened();
  expect(screen.getByText("large, no basil")).toBeTruthy();
  expect(screen.getByText("large, half ham, other half mushrooms")).toBeTruthy();
  expect(screen.queryByText(/^Number/)).toBeNull();
  await act(async () => room.change({ op: "place_order" }));
  expect(screen.getByText("Number 101. Placed. The kitchen reads it.")).toBeTruthy();
});
