/** The app: one room, one session, one call. */

import { bellaVista, type Command, type Order } from "@bella-vista/client";
import { AudioSession } from "@livekit/react-native";
import { AgentSession, Call } from "@typed-handoffs/client";
import { callRoom, roomTransport } from "@typed-handoffs/client/livekit";
import Constants from "expo-constants";
import { Room } from "livekit-client";
import { useEffect, useState } from "react";
import { AppState } from "react-native";
import { Screen } from "./screen";

export function App() {
  const [{ room, call, session }] = useState(() => made(Constants.expoConfig?.extra?.server ?? ""));
  useEffect(() => {
    void AudioSession.startAudioSession();
    const watching = AppState.addEventListener("change", (state) => {
      if (state === "active") void call.resume();
      else if (state === "background") hear(room, false);
    });
    return () => {
      watching.remove();
      void room.disconnect();
      void AudioSession.stopAudioSession();
    };
  }, [room, call]);
  return <Screen call={call} session={session} onMicrophone={(on) => hear(room, on)} />;
}

function made(server: string) {
  const room = new Room();
  const call = new Call(callRoom(room), server);
  const session = new AgentSession<Order, Command>(roomTransport(room), bellaVista, {
    bringAgent: call.bringAgent,
  });
  return { room, call, session };
}

/** Turn the microphone on or off. Refused permission leaves it off; typing still works. */
async function hear(room: Room, on: boolean): Promise<void> {
  await room.localParticipant.setMicrophoneEnabled(on).catch(() => {});
}
