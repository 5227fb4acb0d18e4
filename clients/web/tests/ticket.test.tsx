// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { Ticket } from "../src/parts/ticket";
import { call, longer, orders } from "../stories/room";

const drawn = vi.hoisted(() => [] as string[]);

vi.mock("../src/model/changes", async (original) => {
  const changes = await original<typeof import("../src/model/changes")>();
  const details: typeof changes.details = (item) => {
    drawn.push((item as { id?: string }).id ?? "");
    return changes.details(item);
  };
  return { ...changes, details };
});

afterEach(cleanup);

test("a change of one line of a long order draws no other line again", async () => {
  const { session } = await call(longer(orders.ordering, 30));
  render(
    <PageProvider session={session}>
      <Ticket />
    </PageProvider>,
  );
  expect(new Set(drawn).size).toBe(30);
  drawn.length = 0;
  const [, second] = screen.getAllByRole("button", { name: /^One more/ });
  await act(async () => {
    fireEvent.click(second as HTMLElement);
    await vi.waitFor(() => expect(session.getSnapshot().pending).toBe(0));
  });
  expect(new Set(drawn)).toEqual(new Set(["L2"]));
});
