/** The screen in a call with an agent that is no server. */

import type { Command, Order } from "@bella-vista/client";
import { bellaVista } from "@bella-vista/client";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { act, fireEvent, render, screen } from "@testing-library/react-native";
import { AgentSession, Call } from "@typed-handoffs/client";
import { FakeRoom, refused } from "@typed-handoffs/client/testing";
import kept from "../../web/stories/fixtures/ordering.json";
import { Screen } from "../src/screen";

const ORDER = kept as unknown as Order;
const settled = () => act(async () => {});

const realFetch = globalThis.fetch;
let asked: string[];
let status: number;

beforeEach(() => {
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

async function opened() {
  const room = new FakeRoom<Order, Command>({
    noun: "order",
    state: ORDER,
    reduce: (order, command) => {
      if (command.op === "change_item" && command.quantity === 5) {
        throw refused(4010, "refused", { detail: "No more than four." });
      }
      return bellaVista.optimistic?.(order, command) ?? order;
    },
    features: ["push_to_talk"],
  });
  const rooms = {
    connect: async () => {
      room.connection("connected");
      room.join();
    },
    disconnect: async () => room.connection("disconnected"),
    onEnded: () => () => {},
  };
  const call = new Call(rooms, "http://server", { pauses: [] });
  const session = new AgentSession(room.transport, bellaVista, { warn: () => {} });
  const onMicrophone = jest.fn(async (_: boolean) => {});
  render(<Screen call={call} session={session} onMicrophone={onMicrophone} />);
  fireEvent.press(screen.getByRole("button", { name: "Start" }));
  await settled();
  await settled();
  return { room, onMicrophone };
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

test("words are said and stand in the talk", async () => {
  const { room } = await opened();
  fireEvent.changeText(await screen.findByLabelText("Type to the restaurant"), "one tiramisu");
  fireEvent.press(screen.getByRole("button", { name: "Say" }));
  await settled();
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

test("a refused token is told", async () => {
  status = 403;
  await opened();
  expect(screen.getByRole("alert")).toHaveTextContent(/does not accept this call/);
});
