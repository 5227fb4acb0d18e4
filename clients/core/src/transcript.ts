/** The lines of a call, put together from pieces that may come in any number and twice. */

import type { EarlierLine, Line, TranscriptPiece } from "./types.js";

/** How many lines are kept. */
export const MOST_LINES = 500;

export class Transcript {
  lines: readonly Line[] = [];
  /** What was said before, as far as it may still come as pieces. */
  #onItsWay = "";
  /** The segments that came so. */
  readonly #doubles = new Set<string>();

  /**
   * Take what was said before this client was there, oldest first; words that it got as well stand once.
   *
   * @param since - The turn at which it came: words of earlier ones cannot have reached it.
   */
  restore(told: readonly EarlierLine[], since: number): void {
    const recent = told.filter((line) => line.turn >= since);
    const by = (speaker: "user" | "agent") => recent.filter((line) => line.speaker === speaker);
    const words = joined(by("agent"));
    const got = joined(this.lines.filter((line) => line.speaker === "agent"));
    // The agent notes a reply before it sends it.
    const place = got ? overlap(words, got) : words.length - joined(by("agent").slice(-1)).length;
    this.#onItsWay = words.slice(place);
    const spoken = by("user").map((line) => folded(line.text));
    const lines = this.lines;
    this.lines = [];
    this.lines = lines.filter(({ id, speaker, text, final }) =>
      speaker === "user" ? !spoken.includes(folded(text)) : !this.#isDouble(id, text, final),
    );
    this.precede(told);
  }

  /** Put earlier lines in front. */
  precede(told: readonly EarlierLine[]): void {
    this.lines = [...told.map(asLine), ...this.lines].slice(-MOST_LINES);
  }

  /** Put in what is missing of a reply that was under way when the client came, now that the agent has kept it. */
  amend(told: readonly EarlierLine[]): void {
    const earlier = this.lines.filter((line) => line.id.startsWith(EARLIER));
    const known = Math.max(-1, ...earlier.map((line) => Number(line.id.slice(EARLIER.length))));
    const here = this.lines.slice(earlier.length);
    const kept = told.filter(({ number, speaker, text }) => {
      const typed = here.some((line) => line.speaker === speaker && line.text === text);
      return number > known && !(speaker === "user" && typed);
    });
    const reply = kept.filter((line) => line.speaker === "agent");
    const words = joined(reply);
    const got = joined(here.filter((line) => line.speaker === "agent"));
    let missing = got ? overlap(words, got) : words.length;
    if (got && missing === words.length) return; // other words
    if (!got) this.#onItsWay = joined(reply.slice(-1));
    const missed = kept.flatMap((line): EarlierLine[] => {
      if (missing <= 0) return [];
      if (line.speaker === "user") return [line];
      const text = folded(line.text);
      const part = missing < text.length ? text.slice(0, missing).trimEnd() : line.text;
      missing -= text.length + 1;
      return [{ ...line, text: part }];
    });
    const place = here.findIndex((line) => line.speaker === "agent");
    const before = place < 0 ? here : here.slice(0, place);
    const after = place < 0 ? [] : here.slice(place);
    this.lines = [...earlier, ...before, ...missed.map(asLine), ...after].slice(-MOST_LINES);
  }

  /** Take a piece of a segment; a later one replaces the text. Returns whether anything changed. */
  take(piece: TranscriptPiece, activeAgent: string | null): boolean {
    const { segmentId: id, from: speaker, text, final } = piece;
    if (speaker === "agent" && this.#isDouble(id, text, final)) return false;
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

  /** Whether a piece is of words that stand there already. */
  #isDouble(id: string, text: string, final: boolean): boolean {
    if (this.#doubles.has(id)) return true;
    if (this.lines.some((line) => line.id === id)) return false;
    const piece = folded(text);
    if (!this.#onItsWay.startsWith(piece)) {
      this.#onItsWay = ""; // newer words have begun
      return false;
    }
    if (final) {
      this.#doubles.add(id);
      this.#onItsWay = this.#onItsWay.slice(piece.length).trimStart();
    }
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
    this.#onItsWay = "";
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

/** The id of a line that the agent has kept is made of its number. */
const EARLIER = "earlier:";

function asLine({ number, speaker, agent, text, interrupted }: EarlierLine): Line {
  return { id: `${EARLIER}${number}`, speaker, agent, text, final: true, interrupted };
}

function folded(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function joined(lines: readonly { text: string }[]): string {
  return folded(lines.map((line) => line.text).join(" "));
}

/** The place in a text from which another one says the same, as far as both go; its end if there is none. */
function overlap(text: string, other: string): number {
  const places = [...text.matchAll(/\S+/g)].map((word) => word.index);
  const same = (at: number) => text.startsWith(other, at) || other.startsWith(text.slice(at));
  return places.find(same) ?? text.length;
}
