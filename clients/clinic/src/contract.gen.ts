// Made from the application's contract by typed-handoffs-types; do not edit.

/** The application's name for its state. */
export const NOUN = "visit";

/** What a state has: its fields, the possible values of those that have a few, and those that may be empty. */
export const KNOWN = {
  "fields": [
    "visit_id",
    "version",
    "active_agent",
    "stage",
    "patient",
    "reason",
    "wanted",
    "slot",
    "plan",
    "text_sent",
    "rating",
    "arrived"
  ],
  "values": {
    "stage": [
      "open",
      "booked",
      "arrived"
    ],
    "reason": [
      "check_up",
      "cleaning",
      "toothache",
      "other"
    ]
  },
  "nested": {
    "patient": {
      "fields": [
        "name",
        "phone"
      ],
      "values": {}
    }
  },
  "empty": {
    "active_agent": null,
    "patient": null,
    "reason": null,
    "wanted": null,
    "slot": null,
    "plan": null,
    "text_sent": null,
    "rating": null,
    "arrived": false
  }
} as const;

export type State = Contract["State"];

export type Command = SetPhone | SetReason | ChooseSlot | CheckIn;
export type JsonValue = unknown;

export interface Contract {
  State: VisitView;
  Command: Command;
  Requests: {
    hello: HelloRequest;
    say: SayRequest;
    get_transcript: GetTranscriptRequest;
    refuse_recording: RefuseRecordingRequest;
    start_turn: StartTurnRequest;
    end_turn: EndTurnRequest;
    cancel_turn: CancelTurnRequest;
    set_microphone: SetMicrophoneRequest;
    get_visit_state: GetVisitStateRequest;
    "visit.book": BookRequest;
    "visit.apply": VisitApplyRequest;
    "visit.subscribe": VisitSubscribeRequest;
    "visit.unsubscribe": VisitUnsubscribeRequest;
  };
  Replies: {
    hello: HelloReply;
    say: SayReply;
    get_transcript: Transcript;
    refuse_recording: Done;
    start_turn: TurnReply;
    end_turn: TurnReply;
    cancel_turn: TurnReply;
    set_microphone: MicrophoneReply;
    get_visit_state: WholeVisit | Unchanged | VisitPatch;
    "visit.book": BookReply;
    "visit.apply": WholeVisit;
    "visit.subscribe": WholeVisit;
    "visit.unsubscribe": Done;
  };
}
/**
 * A visit as clients see it. Times are ISO 8601 with offset.
 */
export interface VisitView {
  visit_id: string;
  version: number;
  active_agent: string | null;
  stage: "open" | "booked" | "arrived";
  patient: PatientView | null;
  reason: ("check_up" | "cleaning" | "toothache" | "other") | null;
  wanted: string | null;
  slot: string | null;
  plan: string | null;
  text_sent: string | null;
  rating: number | null;
  arrived: boolean;
}
/**
 * A patient: of the telephone number only the last digits.
 */
export interface PatientView {
  name: string;
  phone: string | null;
}
/**
 * Store the telephone number of the patient.
 */
export interface SetPhone {
  op: "set_phone";
  /**
   * Digits, with the country's code if the patient says it.
   */
  phone: string;
}
/**
 * Store why the patient wants to come.
 */
export interface SetReason {
  op: "set_reason";
  reason: "check_up" | "cleaning" | "toothache" | "other";
}
/**
 * Choose a slot. It is not booked yet: say day and time, and ask whether to book it.
 */
export interface ChooseSlot {
  op: "choose_slot";
  /**
   * As find_slots lists it, or weekday and time: 'tuesday 9:30'.
   */
  slot: string;
}
/**
 * The patient has come. For the clinic's staff.
 */
export interface CheckIn {
  op: "check_in";
  arrived?: true;
}
/**
 * Join the call. Answered once you are the bound patient and can be heard.
 */
export interface HelloRequest {}
/**
 * Say something to the agent, as if spoken. Interrupts a reply in progress.
 */
export interface SayRequest {
  /**
   * The patient's words.
   */
  text: string;
  key?: string | null;
}
/**
 * Read the transcript of the visit: its newest lines, or those before a number.
 */
export interface GetTranscriptRequest {
  /**
   * The number of the first line that you have.
   */
  before?: number | null;
}
/**
 * Stop recording this call and later ones about this visit, and delete the recordings.
 */
export interface RefuseRecordingRequest {}
/**
 * Begin a turn: interrupts the agent, and switches the microphone to push-to-talk.
 */
export interface StartTurnRequest {}
/**
 * End the turn. The reply to this request does not wait for the transcript.
 */
export interface EndTurnRequest {}
/**
 * End the turn and discard its words.
 */
export interface CancelTurnRequest {}
/**
 * Set the microphone mode: `push_to_talk` uses only the audio between `start_turn` and `end_turn`.
 */
export interface SetMicrophoneRequest {
  mode: "open" | "push_to_talk";
}
/**
 * Read the visit: as a whole, or the changes since a version.
 */
export interface GetVisitStateRequest {
  /**
   * The version you have.
   */
  since?: number | null;
}
/**
 * The payload of ``visit.book``.
 */
export interface BookRequest {
  slot: string;
  version: number;
  key?: string | null;
}
/**
 * Change the visit by a command, as the agents' tools do.
 */
export interface VisitApplyRequest {
  command: Command;
  version?: number | null;
  key?: string | null;
}
/**
 * Subscribe to changes of the visit, sent as `visit_state_changed`.
 */
export interface VisitSubscribeRequest {}
/**
 * Unsubscribe from changes.
 */
export interface VisitUnsubscribeRequest {}
/**
 * The present state of the call.
 */
export interface HelloReply {
  protocol: 1;
  /**
   * The agent's name.
   */
  agent: string;
  features: string[];
  visit_id: string;
  /**
   * The version of the visit in this reply.
   */
  version: number;
  /**
   * The agent that is active.
   */
  active_agent: string;
  /**
   * The number of user turns so far.
   */
  turn: number;
  /**
   * Continues this visit in another room; for the patient only.
   */
  resume_code: string | null;
}
/**
 * The words were accepted.
 */
export interface SayReply {
  /**
   * The number of this turn; `your_turn_to_speak` has it.
   */
  turn: number;
}
/**
 * A part of the transcript.
 */
export interface Transcript {
  /**
   * Oldest first.
   */
  lines: TranscriptLine[];
  /**
   * Whether there are lines before the first of these.
   */
  earlier: boolean;
}
/**
 * The words of the patient or an agent; redacted, and shortened if they are long.
 */
export interface TranscriptLine {
  /**
   * The line's number; later lines have higher ones.
   */
  number: number;
  /**
   * The number of the patient's turn; 0 before the first.
   */
  turn: number;
  /**
   * `user` is the patient, in every application.
   */
  speaker: "user" | "agent";
  /**
   * The agent; null for the patient.
   */
  agent: string | null;
  text: string;
  /**
   * Whether the patient interrupted it.
   */
  interrupted: boolean;
  /**
   * The attribute `utterance` of the live transcriptions of these words; null if it is not known, as of typed words and those that an earlier release has stored.
   */
  utterance: string | null;
}
/**
 * The request was carried out.
 */
export interface Done {
  ok: true;
}
/**
 * The request was carried out.
 */
export interface TurnReply {
  ok: true;
  /**
   * The turn's number; after `cancel_turn` that of the last turn before.
   */
  turn: number;
}
/**
 * The request was carried out.
 */
export interface MicrophoneReply {
  ok: true;
  mode: "open" | "push_to_talk";
}
/**
 * The whole visit.
 */
export interface WholeVisit {
  /**
   * The version of the visit in this reply.
   */
  version: number;
  visit: VisitView;
}
/**
 * The visit has not changed since the version sent.
 */
export interface Unchanged {
  /**
   * The version of the visit in this reply.
   */
  version: number;
  unchanged: true;
}
/**
 * The changes since ``base_version``.
 */
export interface VisitPatch {
  /**
   * The version of the visit in this reply.
   */
  version: number;
  base_version: number;
  patch: (Add | Remove | Replace)[];
}
/**
 * Add a value; in a list, insert it before this index.
 */
export interface Add {
  op: "add";
  /**
   * JSON Pointer from the view's root.
   */
  path: string;
  value: JsonValue;
}
/**
 * Remove the value.
 */
export interface Remove {
  op: "remove";
  path: string;
}
/**
 * Replace the value; an empty path is the whole view.
 */
export interface Replace {
  op: "replace";
  path: string;
  value: JsonValue;
}
/**
 * The booked slot, and the version of the visit that has it.
 */
export interface BookReply {
  version: number;
  slot: string;
  [k: string]: unknown;
}
