/** For pages made with LiveKit's own components. */

import { setupTextStream } from "@livekit/components-core";
import { useRoomContext } from "@livekit/components-react";
import { AgentSession, type App, type SessionOptions } from "@typed-handoffs/client";
import { roomTransport } from "@typed-handoffs/client/livekit";
import { type ReactNode, useMemo } from "react";
import { AgentSessionProvider } from "./hooks.js";

/**
 * Gives the hooks a session in the room of LiveKit's `SessionProvider` or `RoomContext`.
 *
 * LiveKit's own hooks for transcripts and messages can be used beside it.
 *
 * @param app - The application. Keep it the same object.
 * @param options - Of the session, as they are at first.
 */
export function RoomAgentSessionProvider<S, C extends { op: string }>(props: {
  app: App<S, C>;
  options?: SessionOptions;
  children?: ReactNode;
}): ReactNode {
  const { app, options, children } = props;
  const room = useRoomContext();
  // biome-ignore lint/correctness/useExhaustiveDependencies: options written in place are new each time
  const session = useMemo(
    () => new AgentSession(roomTransport(room, { textStreams: setupTextStream }), app, options),
    [room, app],
  );
  return <AgentSessionProvider session={session}>{children}</AgentSessionProvider>;
}
