// @vitest-environment jsdom

import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { refused } from "@typed-handoffs/client/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { Dock } from "../src/parts/dock";
import { call, orders } from "../stories/room";
import { standIn } from "./jsdom";
import { openPage } from "./whole-page";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  location.hash = "";
});

test("words that were not sent stay, and so do those typed meanwhile", async () => {
  const { room, session } = await call(orders.empty);
  render(
    <PageProvider session={session}>
      <Dock onNewOrder={() => {}} />
    </PageProvider>,
  );
  const field = await screen.findByLabelText<HTMLInputElement>("Type to the restaurant");
  const type = (text: string) => fireEvent.change(field, { target: { value: text } });
  const send = () => fireEvent.submit(field.form as HTMLFormElement);
  room.onRequest = (method) => {
    if (method === "say") throw refused(4022, "refused");
  };
  for (const said of ["two margheritas", "and a cola"]) {
    type(said);
    send();
  }
  type("without ice");
  const lost = await screen.findByRole("alert");
  await waitFor(() => expect(within(lost).getAllByRole("listitem")).toHaveLength(2));
  expect([...lost.querySelectorAll("q")].map((one) => one.textContent)).toEqual([
    "two margheritas",
    "and a cola",
  ]);
  expect(field.value).toBe("without ice");

  room.onRequest = () => {};
  fireEvent.click(screen.getByRole("button", { name: "Send again two margheritas" }));
  await waitFor(() =>
    expect(session.getSnapshot().lines).toMatchObject([{ text: "two margheritas", final: true }]),
  );
  expect(within(lost).getAllByRole("listitem")).toHaveLength(1);
  expect(field.value).toBe("without ice");
});

test("where the talk is not on the page, the dock has the question that is to be answered", async () => {
  const { room } = await openPage(orders.review, { hash: "#menu" });
  act(() => {
    const attributes = { active_agent: "order_taker" };
    room.transcribe({ from: "agent", text: "Is that right?", final: true, attributes });
    room.yourTurn({ expects: "yes_no" });
  });
  const dock = within(screen.getByRole("region", { name: "Speaking and typing" }));

  expect(dock.getByText("Is that right?").lang).toBe("en");
  location.hash = "#talk";
  await waitFor(() => expect(dock.queryByText("Is that right?")).toBeNull());
  expect(dock.getByText("Yes or no?")).toBeTruthy();
});

const dock = () => within(screen.getByRole("region", { name: "Speaking and typing" }));

test("beside the refusal of an order, while the call goes on, a button begins another one", async () => {
  const onNewOrder = vi.fn();
  const { room } = await openPage(orders.placed, { page: { onNewOrder } });
  expect(dock().queryByRole("button", { name: "New order" })).toBeNull();
  await act(() => room.change({ op: "refuse_order", reason: "No flour" }));
  expect(dock().getByText("The restaurant could not take the order.")).toBeTruthy();
  expect(dock().getByText("Reason: No flour")).toBeTruthy();
  fireEvent.click(dock().getByRole("button", { name: "New order" }));
  expect(onNewOrder).toHaveBeenCalledOnce();
  const talk = within(screen.getByRole("main"));
  fireEvent.click(talk.getByRole("button", { name: "New order" })); // a phone's dock has none
  expect(onNewOrder).toHaveBeenCalledTimes(2);

  await act(() => room.endCall("agent_ended"));
  expect(screen.getAllByRole("button", { name: "New order" })).toHaveLength(1);
});

test.each(["disconnected", "moved"])(
  "a call that goes on elsewhere says so alone: %s",
  async (how) => {
    const { room } = await openPage(orders.ordering, { page: { elsewhere: how !== "moved" } });
    await act(() =>
      how === "moved" ? room.endCall("moved") : Promise.resolve(room.connection("disconnected")),
    );
    const told = screen.getAllByText("The call goes on in another window");

    expect(told).toHaveLength(2); // in the talk and in the dock
    expect(dock().getByRole("heading").textContent).toBe("The call goes on in another window");
    expect(screen.queryByText("No one can be reached")).toBeNull();
    expect(dock().queryByLabelText("Type to the restaurant")).toBeNull();
  },
);

test("a call that is begun by typing has the focus in the field, once", async () => {
  const { room } = await openPage(orders.empty, { page: { begunByTyping: true } });
  expect(document.activeElement).toBe(dock().getByLabelText("Type to the restaurant"));
  screen.getByRole("main").focus();
  await act(() => room.connection("disconnected"));
  expect(dock().queryByLabelText("Type to the restaurant")).toBeNull();
  await act(() => room.connection("connected"));
  await dock().findByLabelText("Type to the restaurant");
  expect(document.activeElement).toBe(screen.getByRole("main"));
  cleanup();

  await openPage(orders.empty);
  expect(document.activeElement).toBe(document.body);
});
