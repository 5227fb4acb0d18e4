// @vitest-environment jsdom

import { act, cleanup, renderHook } from "@testing-library/react";
import { Room } from "livekit-client";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageProvider } from "../src/model/page";
import { useMicrophone } from "../src/voice";
import { call, orders } from "../stories/room";
import { standIn } from "./jsdom";

beforeEach(standIn);
afterEach(() => {
  cleanup();
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

test("a reload leaves the microphone as the guest has chosen it", async () => {
  const room = new Room();
  const opened = async () => {
    const { session } = await call(orders.empty);
    const wrapper = ({ children }: { children: ReactNode }) => (
      <PageProvider session={session}>{children}</PageProvider>
    );
    return renderHook(() => useMicrophone(room, null), { wrapper });
  };
  const before = await opened();
  expect(before.result.current.mode).toBe("push_to_talk");
  act(() => before.result.current.setMode("open"));
  before.unmount();

  const after = await opened();
  expect(after.result.current.mode).toBe("open");
});
