/** A call: the room, the session in it, sound, and the page on top. */

import { bellaVista, type Command, type Order } from "@bella-vista/client";
import { RoomAudioRenderer, RoomContext } from "@livekit/components-react";
import { AgentSession } from "@typed-handoffs/client";
import { roomTransport } from "@typed-handoffs/client/livekit";
import {
  createLocalAudioTrack,
  DisconnectReason,
  type LocalAudioTrack,
  Room,
  RoomEvent,
  Track,
} from "livekit-client";
import { useEffect, useState } from "react";
import { PageProvider, useNow } from "./model/page";
import { EveningPage } from "./parts/evening";
import { Settings } from "./parts/settings";
import { Trouble, type TroubleKind } from "./parts/trouble";
import { bringAgent, type Token } from "./token";
import { Devices, Microphone, useMicrophone } from "./voice";

interface CallProps {
  token: Token;
  /** The guest's open microphone; null: they type. */
  microphone: LocalAudioTrack | null;
  onLanguage: (code: string) => void;
  /** The call has come to its end; the page stays. */
  onOver: () => void;
  /** The call could not begin. */
  onFail: (trouble: TroubleKind) => void;
  /** Call again; `another` for a new call in a new room. */
  onAgain: (by: "voice" | "typing", another: boolean) => void;
}

interface Line {
  room: Room;
  session: AgentSession<Order, Command>;
}

/** Ask for the guest's microphone. Rejects with the browser's reason. */
export function openMicrophone(): Promise<LocalAudioTrack> {
  return createLocalAudioTrack();
}

export default function Call(props: CallProps) {
  const { token, microphone, onFail } = props;
  const [line, setLine] = useState<Line | null>(null);
  const [elsewhere, setElsewhere] = useState(false);

  useEffect(() => {
    const room = new Room();
    const session = new AgentSession<Order, Command>(roomTransport(room), bellaVista, {
      bringAgent,
    });
    let left = false;
    room.on(RoomEvent.Disconnected, (reason) => {
      if (reason === DisconnectReason.DUPLICATE_IDENTITY) setElsewhere(true);
    });
    setLine({ room, session });
    const join = async () => {
      await room.connect(token.server_url, token.participant_token);
      if (microphone && !left) {
        await room.localParticipant.publishTrack(microphone, { source: Track.Source.Microphone });
      }
    };
    join().catch(() => {
      if (left) return;
      microphone?.stop(); // the room stops only what it has published
      onFail("no_server");
    });
    return () => {
      left = true;
      void room.disconnect();
    };
  }, [token, microphone, onFail]);

  if (!line) return null;
  return (
    <RoomContext.Provider value={line.room}>
      <RoomAudioRenderer />
      <PageProvider session={line.session}>
        <InCall room={line.room} elsewhere={elsewhere} {...props} />
      </PageProvider>
    </RoomContext.Provider>
  );
}

function InCall({
  room,
  microphone: track,
  elsewhere,
  onLanguage,
  onOver,
  onAgain,
}: CallProps & { room: Room; elsewhere: boolean }) {
  const now = useNow();
  const heard = track !== null && now.features.includes("push_to_talk");
  const unheard = track !== null && now.hello !== null && !heard;
  const microphone = useMicrophone(room, heard);
  const over = now.status === "ended";
  useEffect(() => {
    if (over) onOver();
  }, [over, onOver]);
  useEffect(() => {
    if (unheard && track) void room.localParticipant.unpublishTrack(track);
  }, [unheard, room, track]);
  return (
    <EveningPage
      settings={<Settings onLanguage={onLanguage}>{heard && <Devices room={room} />}</Settings>}
      microphone={heard ? <Microphone microphone={microphone} /> : undefined}
      trouble={unheard && <Trouble kind="noHearing" soft />}
      elsewhere={elsewhere}
      onNewCall={() => onAgain(track ? "voice" : "typing", over)}
    />
  );
}
