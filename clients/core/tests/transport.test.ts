/** The connection that a session sees while its call joins a LiveKit room again. */

import { EventEmitter } from "node:events";
import { ConnectionState, type Room, RoomEvent } from "livekit-client";
import { expect, test } from "vitest";
import type { Call, CallStatus } from "../src/index.js";
import { roomTransport } from "../src/livekit.js";

test("a connection is being restored as long as the call joins again", () => {
  const room = Object.assign(new EventEmitter(), { state: ConnectionState.Connected });
  const changed = new EventEmitter();
  let status: CallStatus = "joined";
  const call = {
    getSnapshot: () => ({ status, fault: null }),
    subscribe: (listener: () => void) => {
      changed.on("change", listener);
      return () => changed.off("change", listener);
    },
  } as unknown as Call;
  const seen: string[] = [];
  roomTransport(room as unknown as Room, { call }).onConnection((state) => seen.push(state));

  room.state = ConnectionState.Disconnected;
  room.emit(RoomEvent.ConnectionStateChanged, room.state);
  status = "joining";
  changed.emit("change");
  expect(seen).toEqual(["connected", "reconnecting", "reconnecting"]);
  status = "lost";
  changed.emit("change");
  expect(seen.at(-1)).toBe("disconnected");
});
