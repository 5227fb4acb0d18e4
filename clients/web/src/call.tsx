/** A call: the room, the session in it, sound, and the page on top. */

import { bellaVista, type Command, type Order } from "@bella-vista/client";
import { RoomAudioRenderer, RoomContext } from "@livekit/components-react";
import { AgentSession, Call } from "@typed-handoffs/client";
import { callRoom, roomTransport } from "@typed-handoffs/client/livekit";
import { useCall } from "@typed-handoffs/react";
import { createLocalAudioTrack, type LocalAudioTrack, Room, Track } from "livekit-client";
import { useEffect } from "react";
import { PageProvider, type Session, useNow } from "./model/page";
import { EveningPage } from "./parts/evening";
import { Settings } from "./parts/settings";
import { Trouble, type TroubleKind } from "./parts/trouble";
import { Devices, Microphone, MicrophoneGone, useMicrophone } from "./voice";

/** A call that was begun. */
export interface Line {
  room: Room;
  call: Call;
  session: Session;
  /** The guest's open microphone; null: they type. */
  microphone: LocalAudioTrack | null;
}

/** Begin a call; returns why not, if that fails. */
export async function dial(by: "voice" | "typing"): Promise<Line | TroubleKind> {
  let microphone: LocalAudioTrack | null = null;
  try {
    // The agent looks for a microphone when it comes, so it is opened first.
    if (by === "voice") microphone = await createLocalAudioTrack();
  } catch (error) {
    return microphoneTrouble(error);
  }
  const room = new Room({ stopLocalTrackOnUnpublish: false }); // a loss leaves the microphone open
  const call = new Call(callRoom(room), "");
  const session = new AgentSession<Order, Command>(roomTransport(room, { call }), bellaVista, {
    bringAgent: call.bringAgent,
  });
  await call.join();
  const { status, fault } = call.getSnapshot();
  if (status === "joined") return { room, call, session, microphone };
  microphone?.stop();
  await call.close();
  return fault ?? "no_server";
}

/** End a call for good: the next one is about another order. */
export async function hangUp({ call, microphone }: Line): Promise<void> {
  microphone?.stop();
  await call.leave();
}

function microphoneTrouble(error: unknown): TroubleKind {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError") return "microphone";
  return name === "NotFoundError" || name === "NotReadableError" ? "noMicrophone" : "no_server";
}

interface CallProps {
  line: Line;
  /** The guest has just begun it by typing; not so after a reload. */
  begunByTyping: boolean;
  onLanguage: (code: string) => void;
  /** The call has come to its end; the page stays. */
  onOver: () => void;
  /** The guest wants another call. */
  onAnother: () => void;
}

export default function CallPage(props: CallProps) {
  const { room, session } = props.line;
  return (
    <RoomContext.Provider value={room}>
      <RoomAudioRenderer />
      <PageProvider session={session}>
        <InCall {...props} />
      </PageProvider>
    </RoomContext.Provider>
  );
}

function InCall({ line, begunByTyping, onLanguage, onOver, onAnother }: CallProps) {
  const { room, call, session, microphone: track } = line;
  const now = useNow();
  const { status, fault } = useCall(call);
  const heard = track !== null && now.features.includes("push_to_talk");
  const unheard = track !== null && now.hello !== null && !heard;
  const microphone = useMicrophone(room, heard ? track : null);
  const over = now.status === "ended";
  useEffect(() => {
    if (over) onOver();
  }, [over, onOver]);
  useEffect(() => {
    if (over && status === "joining") void call.close(); // an agent would begin another call
  }, [over, status, call]);
  useEffect(() => {
    if (!track || status !== "joined") return;
    if (unheard) void room.localParticipant.unpublishTrack(track, true);
    else void room.localParticipant.publishTrack(track, { source: Track.Source.Microphone });
  }, [room, track, status, unheard]);
  const again = () => {
    void call.join();
    session.start().catch(() => {}); // told by the snapshot
  };
  return (
    <EveningPage
      settings={<Settings onLanguage={onLanguage}>{heard && <Devices room={room} />}</Settings>}
      microphone={heard && !microphone.gone ? <Microphone microphone={microphone} /> : undefined}
      gone={heard && microphone.gone && <MicrophoneGone onAgain={microphone.reopen} />}
      trouble={unheard && <Trouble kind="noHearing" soft />}
      elsewhere={fault === "elsewhere"}
      begunByTyping={begunByTyping}
      onTryNow={status === "joining" ? () => void call.resume() : undefined}
      onNewCall={over ? onAnother : again}
      onNewOrder={onAnother}
    />
  );
}
