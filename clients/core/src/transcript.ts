/** The lines of a call, put together from pieces that may come in any number and twice. */

import type { EarlierLine, Line, TranscriptPiece } from "./types.js";

/** How many lines are kept. */
export const MOST_LINES = 500;

/** The attribute of pieces that names the utterance they are part of, as the agent keeps it. */
const UTTERANCE = "utterance";

/** How a line is found among those that the agent has kept: by its utterance, or as the user's words of a turn. */
interface Mark {
  utterance?: string | null | undefined;
  turn?: number | undefined;
  /** The line stands here as the agent has kept it: pieces of its utterance say no more. */
  whole?: boolean;
}

export class Transcript {
  lines: readonly Line[] = [];
  /** The marks of lines, by the lines' ids. */
  readonly #marks = new Map<string, Mark>();
  /** The lines that stood here when the connection was lost. */
  #before: ReadonlySet<string> = new Set();

  /**
   * Put in what the agent has kept: in the place of its live words, or where it is missing.
   *
   * @param kept - Lines that follow one another, oldest first.
   * @param since - The turn from which on words may have come here as well.
   */
  put(kept: readonly EarlierLine[], since: number): void {
    const known = this.#known(kept, since);
    const lines: Line[] = [];
    const placed = new Map<EarlierLine, Line>();
    for (const line of this.lines) {
      const one = known.get(line.id);
      if (one !== undefined && placed.has(one)) continue; // another piece of it
      // The agent keeps card numbers out of typed words.
      const whole = one && !isTyped(line) ? { ...asLine(one), id: line.id } : line;
      if (one !== undefined) placed.set(one, whole);
      lines.push(whole);
    }
    let at = 0;
    for (const one of kept) {
      let line = placed.get(one);
      if (line === undefined) {
        // What the agent has not kept was said before the loss.
        for (let old = lines[at]; old && this.#isOld(old) && !known.has(old.id); old = lines[at])
          at += 1;
        line = this.#unique(asLine(one));
        lines.splice(at, 0, line);
      }
      at = Math.max(at, lines.indexOf(line) + 1);
      this.#mark(line, one);
    }
    this.#keep(lines);
  }

  /** Put earlier lines in front. */
  precede(kept: readonly EarlierLine[]): void {
    this.#keep([...kept.map(asLine), ...this.lines]);
  }

  /** The connection is lost: what is missing from now on follows the lines that stand here. */
  lost(): void {
    this.#before = new Set(this.lines.map((line) => line.id));
  }

  /** Turns are counted from the start again: by another agent, or in another call. */
  recounted(): void {
    for (const mark of this.#marks.values()) mark.turn = undefined;
  }

  /** Find the lines that are here whole or in part, by their ids. */
  #known(kept: readonly EarlierLine[], since: number): Map<string, EarlierLine> {
    const known = new Map<string, EarlierLine>();
    for (const { id } of this.lines) {
      const mark = this.#marks.get(id);
      const one = kept.find((one) => mark !== undefined && isMarked(one, mark));
      if (one !== undefined) known.set(id, one);
    }
    // An older agent names no utterances, nor are they stored of its words, and typed words may be unanswered.
    const found = new Set(known.values());
    const rest = kept.filter((one) => one.turn >= since && !found.has(one));
    for (const line of this.lines) {
      const mark = this.#marks.get(line.id);
      if (known.has(line.id)) continue;
      const same = (one: EarlierLine) => !(mark?.utterance && one.utterance) && isAlike(one, line);
      const at = rest.findIndex(same);
      for (const one of at < 0 ? [] : rest.splice(at, 1)) known.set(line.id, one);
    }
    return known;
  }

  #mark({ id }: Line, { utterance, speaker, turn }: EarlierLine): void {
    this.#marks.set(id, {
      utterance: utterance ?? this.#marks.get(id)?.utterance,
      turn: speaker === "user" ? turn : undefined,
      whole: true,
    });
  }

  #isWhole(utterance: string): boolean {
    for (const mark of this.#marks.values()) {
      if (mark.whole && mark.utterance === utterance) return true;
    }
    return false;
  }

  #isOld(line: Line): boolean {
    const isPending = isTyped(line) && !line.final; // answered after all this
    return this.#before.has(line.id) && !isPending;
  }

  /** A replacement agent may number its lines from the start again. */
  #unique(line: Line): Line {
    let { id } = line;
    while (this.lines.some((one) => one.id === id)) id += "+";
    return { ...line, id };
  }

  /** Take a piece of a segment; a later one replaces the text. Returns whether anything changed. */
  take(piece: TranscriptPiece, activeAgent: string | null): boolean {
    const { segmentId: id, from: speaker, text, final, attributes } = piece;
    const utterance = attributes[UTTERANCE];
    if (utterance === undefined ? this.#isLastKept(piece) : this.#isWhole(utterance)) return false;
    const agent = speaker === "agent" ? (attributes.active_agent ?? activeAgent) : null;
    const known = this.lines.find((line) => line.id === id);
    if (utterance !== undefined) this.#marks.set(id, { utterance });
    if (known === undefined) {
      if (text.trim() === "") return false;
      // One sentence follows the other: what comes before a new one of the same speaker is complete.
      this.#complete((line) => line.speaker === speaker && !isTyped(line));
      if (speaker === "user" && final) this.interrupt();
      this.#add({ id, speaker, agent, text, final, interrupted: false });
      return true;
    }
    // A piece that comes twice or late says less than what is known; the user's last one may be shorter.
    const isLate = known.final && !(final && speaker === "user");
    if (isLate && text.length <= known.text.length) return false;
    if (known.final === final && known.text === text) return false;
    if (speaker === "user" && final && !known.final) this.interrupt();
    const named = attributes.active_agent ?? known.agent;
    this.#replace(known, { ...known, agent: named, text, final: final || known.final });
    return true;
  }

  /** Whether these are the agent's last words as they are kept: an older agent may keep them before it sends them. */
  #isLastKept({ segmentId, from, text }: TranscriptPiece): boolean {
    const last = this.lines.at(-1);
    if (from === "user" || last?.speaker !== "agent" || last.id === segmentId) return false;
    return last.id.startsWith(EARLIER) && folded(last.text).startsWith(folded(text));
  }

  /** Add what the user types; `accepted` or `rejected` follows. */
  typed(key: string, text: string): void {
    const id = TYPED + key;
    if (this.lines.some((line) => line.id === id)) return;
    this.#add({ id, speaker: "user", agent: null, text, final: false, interrupted: false });
  }

  /** The user's words are those of a turn. */
  accepted(key: string, turn: number): void {
    const id = TYPED + key;
    this.interrupt();
    this.#complete((line) => line.id === id);
    const typed = this.lines.find((line) => line.id === id);
    const kept = this.lines.find(
      (line) => line !== typed && this.#marks.get(line.id)?.turn === turn,
    );
    this.#marks.set(id, { ...(kept && this.#marks.get(kept.id)), turn });
    if (typed === undefined || kept === undefined) return;
    this.lines = this.lines.filter((line) => line !== typed);
    this.#replace(kept, typed);
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
    this.#keep([...this.lines, line]);
  }

  /** Keep the newest of these lines, and no marks without a line. */
  #keep(lines: readonly Line[]): void {
    this.lines = lines.slice(-MOST_LINES);
    if (this.#marks.size <= 2 * MOST_LINES) return;
    const here = new Set(this.lines.map(({ id }) => id));
    for (const id of this.#marks.keys()) if (!here.has(id)) this.#marks.delete(id);
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

function isTyped({ id }: Line): boolean {
  return id.startsWith(TYPED);
}

function isMarked({ utterance, speaker, turn }: EarlierLine, mark: Mark): boolean {
  if (utterance && utterance === mark.utterance) return true;
  return speaker === "user" && turn === mark.turn;
}

/** Whether a line has the words of a kept one, those of an agent as far as they have come. */
function isAlike(kept: EarlierLine, line: Line): boolean {
  const [all, words] = [folded(kept.text), folded(line.text)];
  return (
    kept.speaker === line.speaker &&
    (words === all || (words !== "" && kept.speaker === "agent" && all.startsWith(words)))
  );
}

function folded(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
