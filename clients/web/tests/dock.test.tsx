// @vitest-environment jsdom

import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { refused } from "@typed-handoffs/client/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { Dock } from "../src/parts/dock";
import { call, orders } from "../stories/room";

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
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
