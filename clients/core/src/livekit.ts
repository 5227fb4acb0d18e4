/** A LiveKit room as the connection to an agent; the only file that imports livekit-client. */

import {
  ConnectionState,
  DisconnectReason,
  type Participant,
  ParticipantKind,
  type RemoteParticipant,
  type Room,
  RoomEvent,
  RpcError,
} from "livekit-client";
import type { Call, CallRoom } from "./call.js";
import { CallError } from "./errors.js";
import type { AgentPresence, Connection, TranscriptPiece, Transport } from "./types.js";

const TRANSCRIPTION = "lk.transcription";
const SEGMENT = "lk.segment_id";
const FINAL = "lk.transcription_final";
const ON_BEHALF = "lk.publish_on_behalf";

/** Codes of a call that the agent did not acknowledge: it may be gone, though it is still listed. */
const UNREACHED = new Set([1401, 1501, 1503, 1505]);

const CONNECTIONS: Record<ConnectionState, Connection> = {
  [ConnectionState.Disconnected]: "disconnected",
  [ConnectionState.Connecting]: "connecting",
  [ConnectionState.Connected]: "connected",
  [ConnectionState.Reconnecting]: "reconnecting",
  [ConnectionState.SignalReconnecting]: "reconnecting",
};

/** Reasons for which joining again would fail, or put out the same user on another device. */
const FINAL_ENDS: ReadonlySet<DisconnectReason> = new Set([
  DisconnectReason.DUPLICATE_IDENTITY,
  DisconnectReason.PARTICIPANT_REMOVED,
  DisconnectReason.ROOM_DELETED,
]);

/** A LiveKit room, for a `Call`. */
export function callRoom(room: Room): CallRoom {
  return {
    connect: (url, token) => room.connect(url, token),
    disconnect: () => room.disconnect(),
    onEnded(listener) {
      const ended = (reason?: DisconnectReason) =>
        listener(reason !== undefined && FINAL_ENDS.has(reason));
      room.on(RoomEvent.Disconnected, ended);
      return () => room.off(RoomEvent.Disconnected, ended);
    },
  };
}

/** A list of text streams that grows: LiveKit's `setupTextStream(room, topic)` makes one. */
export interface TextStreams {
  subscribe(
    listener: (
      streams: readonly {
        text: string;
        participantInfo: { identity: string };
        streamInfo: { id: string; attributes?: Record<string, string> };
      }[],
    ) => void,
  ): { unsubscribe(): void };
}

export interface RoomTransportOptions {
  /** The call that joins the room: while it joins again after a loss, the connection is being restored. */
  call?: Call;
  /**
   * Gives the transcripts instead of the room's own handler: LiveKit allows one handler per topic, and its components'
   * `useTranscriptions` and `useSessionMessages` are one.
   */
  textStreams?: (room: Room, topic: string) => TextStreams;
}

/**
 * The connection to the newest agent in a room, connected or not.
 *
 * @param room - The room; only one session may use it at a time.
 */
export function roomTransport(
  room: Room,
  { call, textStreams }: RoomTransportOptions = {},
): Transport {
  /** Agents that did not answer, while another one may. */
  const silent = new Set<string>();
  const agentListeners = new Set<() => void>();

  const current = (): RemoteParticipant | undefined => {
    const agents = [...room.remoteParticipants.values()]
      .filter((one) => one.kind === ParticipantKind.AGENT && !one.attributes[ON_BEHALF])
      .sort((one, other) => (other.joinedAt?.getTime() ?? 0) - (one.joinedAt?.getTime() ?? 0));
    if (agents.every((one) => silent.has(one.identity))) silent.clear();
    return agents.find((one) => !silent.has(one.identity));
  };

  const setSilent = (identity: string, isSilent: boolean) => {
    if (silent.has(identity) === isSilent) return;
    if (isSilent) silent.add(identity);
    else silent.delete(identity);
    for (const listener of [...agentListeners]) listener();
  };

  /** The speaker of a transcript; undefined for a participant that is neither the user nor an agent. */
  const speakerOf = (identity: string): TranscriptPiece["from"] | undefined => {
    if (identity === room.localParticipant.identity) return "user";
    const participant = room.remoteParticipants.get(identity);
    return participant?.kind === ParticipantKind.AGENT ? "agent" : undefined;
  };

  return {
    async call(method, payload, timeoutMs) {
      const agent = current();
      if (agent === undefined) throw new CallError(1401, "no agent is in the room");
      const { identity } = agent;
      try {
        const reply = await room.localParticipant.performRpc({
          destinationIdentity: identity,
          method,
          payload,
          responseTimeout: timeoutMs,
        });
        setSilent(identity, false);
        return reply;
      } catch (error) {
        if (!(error instanceof RpcError)) throw new CallError(1505, String(error));
        setSilent(identity, UNREACHED.has(error.code));
        throw new CallError(error.code, error.message, error.data);
      }
    },

    handle(method, handler) {
      room.registerRpcMethod(method, async ({ callerIdentity, payload }) => {
        // Any participant can call this. An agent that is told "unsupported" sends it again after hello.
        if (callerIdentity !== current()?.identity) {
          throw new RpcError(
            RpcError.ErrorCode.UNSUPPORTED_METHOD,
            "only for the agent that was met",
          );
        }
        return handler(payload);
      });
      return () => room.unregisterRpcMethod(method);
    },

    onTranscription(listener) {
      if (textStreams !== undefined)
        return followed(textStreams(room, TRANSCRIPTION), speakerOf, listener);
      room.registerTextStreamHandler(TRANSCRIPTION, async (reader, { identity }) => {
        let text = "";
        const tell = (ended: boolean) => {
          const from = speakerOf(identity);
          if (from === undefined) return;
          const attributes = reader.info.attributes ?? {};
          // An agent's sentence is one stream. What the user says is a stream for each guess.
          const final = from === "agent" ? ended : ended && attributes[FINAL] === "true";
          listener({
            segmentId: attributes[SEGMENT] ?? reader.info.id,
            from,
            text,
            final,
            attributes,
          });
        };
        try {
          for await (const chunk of reader) {
            text += chunk;
            tell(false);
          }
        } catch {
          // the stream broke off: what was received is all there will be
        }
        tell(true);
      });
      return () => room.unregisterTextStreamHandler(TRANSCRIPTION);
    },

    onConnection(listener) {
      const look = () => {
        const connection = CONNECTIONS[room.state];
        const status = call?.getSnapshot().status;
        // The room says so before the call does: then it is still `joined`.
        const restoring = status === "joining" || status === "joined";
        listener(connection === "disconnected" && restoring ? "reconnecting" : connection);
      };
      room.on(RoomEvent.ConnectionStateChanged, look);
      const detach = call?.subscribe(look);
      look();
      return () => {
        room.off(RoomEvent.ConnectionStateChanged, look);
        detach?.();
      };
    },

    onAgent(listener) {
      let told = "";
      const look = () => {
        const agent = current();
        const presence: AgentPresence = {
          present: agent !== undefined,
          id: agent?.identity ?? null,
          attributes: { ...agent?.attributes },
        };
        const text = JSON.stringify(presence);
        if (text === told) return;
        told = text;
        listener(presence);
      };
      const attributesChanged = (_: Record<string, string>, participant: Participant) => {
        if (!participant.isLocal) look();
      };
      room
        .on(RoomEvent.ParticipantConnected, look)
        .on(RoomEvent.ParticipantDisconnected, look)
        .on(RoomEvent.ConnectionStateChanged, look)
        .on(RoomEvent.ParticipantAttributesChanged, attributesChanged);
      agentListeners.add(look);
      look();
      return () => {
        room
          .off(RoomEvent.ParticipantConnected, look)
          .off(RoomEvent.ParticipantDisconnected, look)
          .off(RoomEvent.ConnectionStateChanged, look)
          .off(RoomEvent.ParticipantAttributesChanged, attributesChanged);
        agentListeners.delete(look);
      };
    },
  };
}

function followed(
  streams: TextStreams,
  speakerOf: (identity: string) => TranscriptPiece["from"] | undefined,
  listener: (piece: TranscriptPiece) => void,
): () => void {
  const told = new Map<string, string>();
  const subscription = streams.subscribe((list) => {
    for (const { text, participantInfo, streamInfo } of list) {
      const from = speakerOf(participantInfo.identity);
      if (from === undefined) continue;
      const attributes = streamInfo.attributes ?? {};
      const segmentId = attributes[SEGMENT] ?? streamInfo.id;
      const final = attributes[FINAL] === "true";
      const news = `${final} ${text}`;
      if (told.get(segmentId) === news) continue;
      told.set(segmentId, news);
      listener({ segmentId, from, text, final, attributes });
    }
  });
  return () => subscription.unsubscribe();
}
