export {
  Call,
  type CallFault,
  type CallOptions,
  type CallRoom,
  type CallSnapshot,
  type CallStatus,
} from "./call.js";
export { AppError, CallError } from "./errors.js";
export type { Operation } from "./json.js";
export { AgentSession, newKey } from "./session.js";
export type {
  AgentPresence,
  App,
  Change,
  Connection,
  EarlierLine,
  Expects,
  Hello,
  Limits,
  Line,
  Problem,
  SessionOptions,
  Snapshot,
  Status,
  TranscriptPiece,
  Transport,
  Turn,
} from "./types.js";
export { completed, type Known, notIn } from "./unknown.js";
