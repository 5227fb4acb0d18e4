/** The app as it is, with a page server that cannot be reached. */

import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { AudioSession } from "@livekit/react-native";
import { act, fireEvent, render, screen } from "@testing-library/react-native";
import { AppState, type AppStateStatus } from "react-native";
import config from "../app.config";
import { App } from "../src/app";

const realFetch = globalThis.fetch;
let asked: string[];
/** What the page server has as its menu; null: it cannot be reached. */
let menu: object | null;
let watching: Set<(state: AppStateStatus) => void>;

beforeEach(() => {
  jest.useFakeTimers();
  watching = new Set();
  jest.spyOn(AppState, "addEventListener").mockImplementation((_, listener) => {
    watching.add(listener);
    return { remove: () => watching.delete(listener) };
  });
  asked = [];
  menu = null;
  globalThis.fetch = (async (url: string) => {
    if (url.endsWith("/api/menu") && menu !== null) return { ok: true, json: async () => menu };
    if (!url.endsWith("/api/menu")) asked.push(url);
    throw new TypeError("Network request failed");
  }) as unknown as typeof fetch;
});

afterEach(() => {
  globalThis.fetch = realFetch;
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** Tell the app where it is. */
const is = (state: AppStateStatus) =>
  act(async () => {
    for (const listener of watching) listener(state);
  });

test("an app that comes to the front joins its call at once, and does not wait", async () => {
  render(<App />);
  await is("active");
  expect(asked).toEqual([]); // no call was begun
  fireEvent.press(screen.getByRole("button", { name: "Start" }));
  await act(async () => {});
  expect(asked).toHaveLength(1);
  await is("background");
  expect(asked).toHaveLength(1);
  await is("active");
  expect(asked).toHaveLength(2);
});

test("the sound is the app's while it is shown", async () => {
  const begin = jest.spyOn(AudioSession, "startAudioSession");
  const end = jest.spyOn(AudioSession, "stopAudioSession");
  const { unmount } = render(<App />);
  expect(begin).toHaveBeenCalledTimes(1);
  expect(end).not.toHaveBeenCalled();
  await act(async () => unmount());
  expect(end).toHaveBeenCalledTimes(1);
  expect(watching.size).toBe(0);
});

test("iOS lets the agent's voice go on in the background", () => {
  expect(config.ios?.infoPlist).toMatchObject({ UIBackgroundModes: ["audio"] });
});

test("the app has the name of the menu's house, also where it is read late", async () => {
  render(<App />);
  await act(async () => {});
  expect(screen.queryByRole("header")).toBeNull();
  menu = { house: { name: "Corner Bakery" } };
  fireEvent.press(screen.getByRole("button", { name: "Start" }));
  await act(async () => {});
  expect(screen.getByRole("header").props.children).toBe("Corner Bakery");
});

test.each([[{}], [{ house: {} }], [{ house: { name: 7 } }], [{ house: { name: "" } }]])(
  "a menu without a name is no name: %j",
  async (told) => {
    menu = told;
    render(<App />);
    await act(async () => {});
    expect(screen.queryByRole("header")).toBeNull();
    expect(screen.getByRole("button", { name: "Start" })).toBeTruthy();
  },
);
