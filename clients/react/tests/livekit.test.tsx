// @vitest-environment jsdom
import {
  RoomContext,
  SessionProvider,
  useSession,
  useTranscriptions,
} from "@livekit/components-react";
import { act, cleanup, render } from "@testing-library/react";
import type { App } from "@typed-handoffs/client";
import { Room, TokenSource } from "livekit-client";
import { StrictMode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { useSnapshot } from "../src/index.js";
import { RoomAgentSessionProvider } from "../src/livekit.js";

afterEach(cleanup);

const app: App<unknown, { op: string }> = { noun: "order" };

function Status() {
  return <p>{useSnapshot().status}</p>;
}

function Captions() {
  return <p>{useTranscriptions().length} captions</p>;
}

test.each([true, false])(
  "it works beside LiveKit's own hooks (they come first: %s)",
  async (first) => {
    const errors = vi.spyOn(console, "error");
    const room = new Room();
    const ours = (
      <RoomAgentSessionProvider app={app}>
        <Status />
      </RoomAgentSessionProvider>
    );
    const page = (withOurs: boolean) => (
      <StrictMode>
        <RoomContext.Provider value={room}>
          {first ? <Captions /> : null}
          {withOurs ? ours : null}
          {first ? null : <Captions />}
        </RoomContext.Provider>
      </StrictMode>
    );
    const { rerender, unmount } = render(page(true));
    await act(async () => {});
    expect(document.body.textContent).toContain("connecting");
    expect(document.body.textContent).toContain("0 captions");
    expect(() => room.registerRpcMethod("call_ended", async () => "")).toThrow(
      "already registered",
    );

    rerender(page(false));
    await act(async () => {});
    room.registerRpcMethod("call_ended", async () => ""); // free again
    room.unregisterRpcMethod("call_ended");
    rerender(page(true));
    await act(async () => {});
    unmount();
    room.registerTextStreamHandler("lk.transcription", async () => {});
    expect(errors).not.toHaveBeenCalled();
    errors.mockRestore();
  },
);

const tokens = TokenSource.literal({ serverUrl: "ws://127.0.0.1:9", participantToken: "token" });

test("it works in the room of LiveKit's SessionProvider", async () => {
  const errors = vi.spyOn(console, "error");
  let room: Room | undefined;
  function Page() {
    const session = useSession(tokens);
    room = session.room;
    return (
      <SessionProvider session={session}>
        <RoomAgentSessionProvider app={app}>
          <Status />
          <Captions />
        </RoomAgentSessionProvider>
      </SessionProvider>
    );
  }
  const { unmount } = render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
  await act(async () => {});
  expect(document.body.textContent).toContain("connecting");
  expect(() => room?.registerRpcMethod("call_ended", async () => "")).toThrow("already registered");
  unmount();
  room?.registerRpcMethod("call_ended", async () => "");
  expect(errors).not.toHaveBeenCalled();
  errors.mockRestore();
});
