/** The app: one room and its call; a session for each call until it is left. */

import { bellaVista, type Command, type Order } from "@bella-vista/client";
import { AudioSession } from "@livekit/react-native";
import { AgentSession, Call } from "@typed-handoffs/client";
import { callRoom, roomTransport } from "@typed-handoffs/client/livekit";
import { useCall } from "@typed-handoffs/react";
import Constants from "expo-constants";
import { Room } from "livekit-client";
import { useCallback, useEffect, useState } from "react";
import { AppState } from "react-native";
import { useHouseName } from "./house";
import { Screen } from "./screen";

/** The page server, as the phone reaches it. */
const SERVER: string = Constants.expoConfig?.extra?.server ?? "";

export function App() {
  const [{ room, call }] = useState(made);
  const house = useHouseName(SERVER, useCall(call).status);
  useEffect(() => {
    void AudioSession.startAudioSession();
    const watching = AppState.addEventListener("change", (state) => {
      if (state === "active") void call.resume();
    });
    return () => {
      watching.remove();
      void room.disconnect();
      void AudioSession.stopAudioSession();
    };
  }, [room, call]);
  const onMicrophone = useCallback((on: boolean) => hear(room, on), [room]);
  const openSession = () =>
    new AgentSession<Order, Command>(roomTransport(room, { call }), bellaVista, {
      bringAgent: call.bringAgent,
    });
  return <Screen house={house} call={call} openSession={openSession} onMicrophone={onMicrophone} />;
}

function made() {
  const room = new Room();
  return { room, call: new Call(callRoom(room), SERVER) };
}

/** Turn the microphone on or off. Refused permission leaves it off, and throws. */
async function hear(room: Room, on: boolean): Promise<void> {
  await room.localParticipant.setMicrophoneEnabled(on);
}
