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
  /** The lines that stood here when the connection was lost. */
  #before = new Set<string>();
  /** Those that came afterwards, before it was lost again. */
  #between = new Set<string>();

  /**
   * Take what was said before this client was there, oldest first; words that it got as well stand once.
   *
   * @param since - The turn at which it came: words of earlier ones cannot have reached it.
   */
  restore(told: readonly EarlierLine[], since: number): void {
    const recent = told.filter((line) => line.turn >= since);
    const by = (speaker: "user" | "agent") => recent.filter((line) => line.speaker === speaker);
    const words = joined(by("agent"));
    const lines = this.#without(new Set([...this.#before, ...this.#between]), words);
    const got = joined(lines.filter(isAgents));
    // The agent notes a reply before it sends it.
    const place = got ? overlap(words, got) : words.length - joined(by("agent").slice(-1)).length;
    this.#onItsWay = words.slice(place);
    const spoken = by("user").map((line) => folded(line.text));
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

  /** The connection is lost; `again` before what was missed by the last loss could be put in. */
  lost(again: boolean): void {
    const ids = this.lines.map((line) => line.id);
    if (!again) this.#before = new Set(ids);
    this.#between = new Set(again ? ids.filter((id) => !this.#before.has(id)) : []);
  }

  /**
   * Put in what is missing between the lines from before a loss, or from before the client came, and the live ones.
   *
   * @param kept - The newest lines that the agent has kept, oldest first.
   * @param since - The turn of the loss: what was said in earlier ones is not missing.
   * @param atEnd - The turn is over, all of it is kept: if the live words are not among these lines, they say the same
   *   in other words.
   */
  fill(kept: readonly EarlierLine[], since: number, atEnd: boolean): void {
    const told = kept.filter((line) => line.turn >= since);
    const words = wordsOf(told);
    const lines = this.#without(this.#between, words.join(" "));
    const before = lines.filter((line) => this.#isBefore(line));
    const after = lines.filter((line) => !this.#isBefore(line));
    const [got, live] = [wordsOf(before), wordsOf(after).join(" ")];
    const { end: start, matched } = known(words, got);
    const missing = words.slice(start).join(" ");
    const place = live ? overlap(missing, live) : missing.length;
    if (atEnd && live && place === missing.length) return;
    const end = start + split(missing.slice(0, place)).length;
    if (!live && missing) {
      // The agent notes a reply before it sends it.
      const last = split(joined(told.filter(isAgents).slice(-1))).length;
      this.#onItsWay = words.slice(Math.max(start, words.length - last)).join(" ");
    }
    // The user's lines since the last known words, or those of the turn.
    const latest = before.findLastIndex((line) => !isAgents(line) && !isPending(line));
    const from = matched || wordsOf(before.slice(0, Math.max(latest, 0))).length;
    let heard = 0;
    const own = before.filter((line) => {
      if (isAgents(line)) heard += split(line.text).length;
      return !isAgents(line) && heard >= from;
    });
    const texts = told.map((line) => folded(line.text));
    const head = after.slice(0, Math.max(after.findIndex(isAgents), 0));
    const put: Line[] = [];
    let at = 0;
    for (const line of told) {
      if (!isAgents(line)) {
        // Live words follow the user's.
        if (at < start || at > end || (at === end && !live)) continue;
        const same = (one: Line) => !isAgents(one) && folded(one.text) === folded(line.text);
        // The agent keeps card numbers out of typed words, and has spoken ones in their last form.
        const other = (one: Line) => !isPending(one) && !texts.includes(folded(one.text));
        const first = (one: Line) => head.includes(one) && other(one);
        const here = taken(own, same) ?? taken(own, other);
        const now = here ?? taken(after, same) ?? taken(after, first);
        if (now === undefined) put.push(this.#unique(asLine(line)));
        else if (now !== here) put.push(now);
        else if (isPending(now)) put.push(...before.splice(before.indexOf(now), 1));
        continue;
      }
      const [first, next] = [at, at + split(line.text).length];
      at = next;
      const part = words.slice(Math.max(first, start), Math.min(next, end));
      if (part.length === 0) continue;
      const cut = before.findLastIndex(isAgents);
      const begun = before[cut];
      if (first < start && matched === got.length && begun) {
        // The last word may have been cut as well.
        const text = [...split(begun.text).slice(0, -1), words[start - 1], ...part].join(" ");
        before[cut] = { ...begun, text, final: true, interrupted: line.interrupted };
        this.#doubles.add(begun.id);
      } else {
        const text = part.length < next - first ? part.join(" ") : line.text;
        put.push(this.#unique(asLine({ ...line, text })));
      }
    }
    // Words that the agent has not heard yet are answered after all this.
    const waiting = put.length > 0 ? own.filter(isPending) : [];
    const stay = before.filter((line) => !waiting.includes(line));
    this.lines = [...stay, ...put, ...waiting, ...after].slice(-MOST_LINES);
    for (const { id } of put) this.#before.add(id);
  }

  /** The lines without those of agents that lie between two gaps, and come again with what is missing around them. */
  #without(between: ReadonlySet<string>, words: string): Line[] {
    return this.lines.filter(
      (line) => !isAgents(line) || !between.has(line.id) || !words.includes(folded(line.text)),
    );
  }

  #isBefore({ id }: Line): boolean {
    return id.startsWith(EARLIER) || this.#before.has(id);
  }

  /** A replacement agent may number its lines from the start again. */
  #unique(line: Line): Line {
    let { id } = line;
    while (this.lines.some((one) => one.id === id)) id += "+";
    return { ...line, id };
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

function split(text: string): string[] {
  return text.match(/\S+/g) ?? [];
}

function isAgents({ speaker }: { speaker: "user" | "agent" }): boolean {
  return speaker === "agent";
}

/** Whether the agent may not have heard these typed words yet. */
function isPending({ id, final }: Line): boolean {
  return !final && id.startsWith(TYPED);
}

/** The words of the agents. */
function wordsOf(lines: readonly { speaker: "user" | "agent"; text: string }[]): string[] {
  return split(joined(lines.filter(isAgents)));
}

/** Take the first such line out of a list. */
function taken(lines: Line[], which: (line: Line) => boolean): Line | undefined {
  const at = lines.findIndex(which);
  return at < 0 ? undefined : lines.splice(at, 1)[0];
}

/** How many words in a row are taken for the same ones, and not for others that are alike. */
const ENOUGH = 4;

/**
 * Where the words that are known end among those that the agent has kept since a turn began.
 *
 * @returns `end`: how many of the kept words come before; `matched`: how many of the known ones the agent has kept.
 */
function known(kept: readonly string[], got: readonly string[]): { end: number; matched: number } {
  for (let matched = got.length; matched > 0; matched -= 1) {
    let [most, end] = [0, 0];
    for (let at = 1; at <= kept.length; at += 1) {
      let same = 0;
      for (; same < Math.min(matched, at); same += 1) {
        const [one, other] = [kept[at - 1 - same] ?? "", got[matched - 1 - same] ?? ""];
        const isCut = same === 0 && matched === got.length && one.startsWith(other);
        if (one !== other && !isCut) break;
      }
      if (same > most) [most, end] = [same, at];
    }
    const all = matched === got.length && (most === matched || most === end);
    if (most > 0 && (all || most >= ENOUGH)) return { end, matched };
  }
  return { end: 0, matched: 0 };
}

/** The place in a text from which another one says the same, as far as both go; its end if there is none. */
function overlap(text: string, other: string): number {
  const places = [...text.matchAll(/\S+/g)].map((word) => word.index);
  const same = (at: number) => text.startsWith(other, at) || other.startsWith(text.slice(at));
  return places.find(same) ?? text.length;
}
