/** The lines of a call, put together from pieces that may come in any number and twice. */

import type { Line, TranscriptPiece } from "./types.js";

const MOST_LINES = 500;

export class Transcript {
  lines: readonly Line[] = [];

  /** Take a piece of a segment; a later one replaces the text. Returns whether anything changed. */
  take(piece: TranscriptPiece, activeAgent: string | null): boolean {
    const { segmentId: id, from: speaker, text, final } = piece;
    const agent = speaker === "agent" ? (piece.attributes.active_agent ?? activeAgent) : null;
    const known = this.lines.find((line) => line.id === id);
    if (known === undefined) {
      if (text.trim() === "") return false;
      // One sentence follows the other: what comes before a new one of the same speaker is complete.
      this.#complete((line) => line.speaker === speaker && !line.id.startsWith(TYPED));
      if (speaker === "user" && final) this.interrupt();
      this.#add({ id, speaker, agent, text, final, interrupted: false });
      return true;
    }
    // A piece that comes twice or late says less than what is known.
    if (known.final && !final && text.length <= known.text.length) return false;
    if (known.final === final && known.text === text) return false;
    if (speaker === "user" && final && !known.final) this.interrupt();
    const named = piece.attributes.active_agent ?? known.agent;
    this.#replace(known, { ...known, agent: named, text, final: final || known.final });
    return true;
  }

  /** Add what the user types; `accepted` or `rejected` follows. */
  typed(key: string, text: string): void {
    const id = TYPED + key;
    if (this.lines.some((line) => line.id === id)) return;
    this.#add({ id, speaker: "user", agent: null, text, final: false, interrupted: false });
  }

  accepted(key: string): void {
    this.interrupt();
    this.#complete((line) => line.id === TYPED + key);
  }

  rejected(key: string): void {
    this.lines = this.lines.filter((line) => line.id !== TYPED + key);
  }

  /** The agents have said all there is. */
  silent(): void {
    this.#complete((line) => line.speaker === "agent");
  }

  /** The user has spoken: what an agent was saying is cut off. */
  interrupt(): void {
    this.lines = this.lines.map((line) =>
      line.speaker === "agent" && !line.final ? { ...line, interrupted: true } : line,
    );
  }

  #complete(which: (line: Line) => boolean): void {
    if (!this.lines.some((line) => !line.final && which(line))) return;
    this.lines = this.lines.map((line) =>
      !line.final && which(line) ? { ...line, final: true } : line,
    );
  }

  #add(line: Line): void {
    this.lines = [...this.lines, line].slice(-MOST_LINES);
  }

  #replace(old: Line, line: Line): void {
    this.lines = this.lines.map((one) => (one === old ? line : one));
  }
}

/** Typed words are not transcribed; the id of their line is made here. */
const TYPED = "typed:";
