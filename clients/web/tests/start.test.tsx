// @vitest-environment jsdom

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "../src/app";
import { serveMenu } from "../stories/room";
import { standIn } from "./jsdom";

beforeEach(() => {
  standIn();
  serveMenu();
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("after a call by voice that could not begin, the next try is by voice too", async () => {
  const asked = vi.fn(() => Promise.reject(new DOMException("", "AbortError")));
  vi.stubGlobal("navigator", { mediaDevices: { getUserMedia: asked }, languages: ["en"] });
  render(<App />);
  fireEvent.click(screen.getByRole("button", { name: "Start talking" }));
  const again = await screen.findByRole("button", { name: "Try again" }, { timeout: 20_000 });
  expect(asked).toHaveBeenCalledTimes(1);
  fireEvent.click(again);

  await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(2), { timeout: 20_000 });
}, 60_000);
