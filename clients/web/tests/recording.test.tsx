// @vitest-environment jsdom

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { refused } from "@typed-handoffs/client/testing";
import { afterEach, expect, test } from "vitest";
import { PageProvider } from "../src/model/page";
import { Recording } from "../src/parts/recording";
import { call, orders } from "../stories/room";

afterEach(cleanup);

async function shown(features: string[]) {
  const { room, session } = await call(orders.ordering, { features });
  render(
    <PageProvider session={session}>
      <Recording />
      <p>shown</p>
    </PageProvider>,
  );
  await screen.findByText("shown");
  return room;
}

test("a guest refuses the recording, also after it did not get through", async () => {
  const room = await shown(["recorded"]);
  expect(screen.getByText("This call is recorded.")).toBeTruthy();
  const refuse = () => fireEvent.click(screen.getByRole("button", { name: "Do not record me" }));
  room.onRequest = () => {
    throw refused(5000, "internal");
  };
  refuse();
  expect((await screen.findByRole("alert")).textContent).toContain("did not get through");

  room.onRequest = () => {};
  refuse();
  const told = await screen.findByText(/is not recorded/);
  expect(document.activeElement).toBe(told);
  expect(screen.queryByRole("button")).toBeNull();
  expect(room.calls.filter(({ method }) => method === "refuse_recording")).toHaveLength(1);
});

test("a guest who refuses by words reads that it counts, and keeps the focus", async () => {
  const room = await shown(["recorded"]);
  room.attributes({ "bella.recorded": "false" });
  await screen.findByText(/is not recorded/);
  expect(document.activeElement).toBe(document.body);
  expect(screen.queryByRole("button")).toBeNull();
});

test("where nothing is recorded nothing is said of it", async () => {
  await shown([]);
  expect(screen.queryByText(/record/)).toBeNull();
});
