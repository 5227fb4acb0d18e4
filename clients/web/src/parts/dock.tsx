/** The dock: whose turn it is, quick answers, microphone, typing. The lamp shines when the turn is yours. */

import type { Order } from "@bella-vista/client";
import type { Snapshot, Turn } from "@typed-handoffs/client";
import {
  type FormEvent,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useReservedHeight } from "../model/hooks";
import { useHouse } from "../model/menu";
import { cameToNothing } from "../model/order";
import { useNow, usePage } from "../model/page";
import { capital } from "../model/words";
import { type Texts, useTexts } from "../texts";
import { theAgent } from "./agents";
import { Icon } from "./icons";
import { Lamp } from "./lamp";
import { Nothing } from "./placed";
import "../styles/dock.css";

type Mood =
  | "yours"
  | "speaking"
  | "thinking"
  | "connecting"
  | "waiting"
  | "held"
  | "over"
  | "failed";

/** The mood that the dock shows, from the state of the session. */
export function moodOf(now: Snapshot<Order>): Mood {
  switch (now.status) {
    case "idle":
    case "connecting":
      return "connecting";
    case "waiting_for_agent":
      return "waiting";
    case "reconnecting":
      return "held";
    case "ended":
      return "over";
    case "failed":
      return "failed";
    case "ready":
      if (now.turn?.yours) return "yours";
      return now.lines.at(-1)?.final === false ? "speaking" : "thinking";
  }
}

export function Dock({
  slim = false,
  captioned = slim,
  microphone,
  gone,
  elsewhere = false,
  begunByTyping = false,
  onNewOrder,
  onNewCall = onNewOrder,
}: {
  /** As low as it can be: over the menu on a phone. */
  slim?: boolean;
  /** The talk is not on the page: the dock has what was said last. */
  captioned?: boolean;
  microphone?: ReactNode;
  /** Stands in the microphone's place when it is gone. */
  gone?: ReactNode;
  /** The same guest has joined from another tab or device. */
  elsewhere?: boolean;
  /** The guest has just begun the call by typing: the field has the focus. */
  begunByTyping?: boolean;
  onNewOrder: () => void;
  /** Goes on with a call that was lost. */
  onNewCall?: () => void;
}) {
  const texts = useTexts();
  const now = useNow();
  const moved = elsewhere || now.ended?.reason === "moved";
  const mood = moved ? "failed" : moodOf(now);
  const [heading, hint] = moved
    ? [texts.trouble.elsewhere.title, texts.dock.hintOver]
    : headingOf(mood, now, texts, microphone !== undefined);
  const ends = mood === "over" || mood === "failed";
  const lost = now.state && cameToNothing(now.state) ? now.state : null;
  const newest = now.lines.findLast((line) => line.speaker === "agent" && line.final);
  const title = useId();
  const dock = useReservedHeight("--dock-height");
  const focus = useRef(begunByTyping);
  return (
    <section
      ref={dock}
      className={`dock ${mood}${slim ? " slim" : ""}${captioned ? " captioned" : ""}`}
      id="dock"
      tabIndex={-1}
      aria-label={texts.dock.label}
    >
      <div className="turn">
        {mood === "speaking" || mood === "thinking" ? (
          <Bars still={mood !== "speaking"} />
        ) : (
          <Lamp />
        )}
        <div role="status" aria-atomic="true">
          <h2 id={title}>{heading}</h2>
          {captioned && newest && mood === "yours" ? (
            <p className="caption" lang="en">
              {newest.text}
            </p>
          ) : (
            <p>{hint}</p>
          )}
        </div>
      </div>
      {mood === "yours" && now.turn && <QuickAnswers turn={now.turn} />}
      {lost && (
        <div className="lost">
          <Nothing order={lost} />
          {!ends && (
            <button type="button" className="button" onClick={onNewOrder}>
              {texts.dock.newOrder}
            </button>
          )}
        </div>
      )}
      {!ends && (microphone ?? gone)}
      {ends ? (
        <div className="row">
          <button
            type="button"
            className="button"
            onClick={mood === "over" ? onNewOrder : onNewCall}
          >
            {mood === "over" ? texts.dock.newOrder : texts.trouble.callAgain}
          </button>
        </div>
      ) : (
        <Typing turn={now.turn} voice={microphone !== undefined} focus={focus} />
      )}
    </section>
  );
}

function headingOf(
  mood: Mood,
  now: Snapshot<Order>,
  texts: Texts,
  voice: boolean,
): readonly [string, string] {
  const words = texts.dock;
  switch (mood) {
    case "yours": {
      const expects = now.turn?.expects ?? "open";
      const hint = expects === "open" && !voice ? words.hintTyping : words.hint[expects];
      return [words.yourTurn, hint ?? ""];
    }
    case "speaking":
      return [
        words.speaking(capital(theAgent(now.activeAgent ?? "other", texts))),
        words.hintSpeaking,
      ];
    case "thinking":
      return [words.thinking, words.hintThinking];
    case "connecting":
      return [words.connecting, words.hintConnecting];
    case "waiting":
      return [words.waitingForAgent, words.hintConnecting];
    case "held":
      return [words.held, words.hintHeld];
    case "over":
      return [words.over, words.hintOver];
    case "failed":
      return [words.failed, words.hintOver];
  }
}

function Bars({ still }: { still: boolean }) {
  return (
    <span className={`bars${still ? " still" : ""}`} aria-hidden="true">
      <i />
      <i />
      <i />
      <i />
      <i />
    </span>
  );
}

interface Answer {
  label: string;
  /** The language of the label, where it is the agent's or the menu's. */
  lang?: "en";
  /** The whole name, where the label is short. */
  name?: string;
  says: string;
}

/** The words that a tapped answer says. Agents speak English in every language of the page. */
function answersFor(
  turn: Turn,
  order: Order | null,
  tips: readonly number[],
  texts: Texts,
): Answer[] {
  switch (turn.expects) {
    case "yes_no":
      return [
        { label: texts.dock.yes, says: "Yes" },
        { label: texts.dock.no, says: "No" },
      ];
    case "choice":
      return choicesOf(turn, texts);
    case "rating":
      return [1, 2, 3, 4, 5].map((count) => ({
        label: `${count}`,
        name: texts.dock.stars(count),
        says: `${count} star${count === 1 ? "" : "s"}`,
      }));
    case "amount":
      if (order && order.tip_percentage === null) {
        return [
          { label: texts.dock.noTip, says: "No tip" },
          ...tips.map((percent) => ({ label: `${percent} %`, says: `${percent} percent` })),
        ];
      }
      return [];
    default:
      return choicesOf(turn, texts);
  }
}

function choicesOf(turn: Turn, texts: Texts): Answer[] {
  return (turn.choices ?? []).map((choice) => {
    const known = texts.dock.choices[choice.toLowerCase()];
    return known
      ? { label: known, says: choice }
      : { label: capital(choice), lang: "en", says: choice };
  });
}

function QuickAnswers({ turn }: { turn: Turn }) {
  const texts = useTexts();
  const { session } = usePage();
  const order = useNow().state;
  const { tips } = useHouse();
  const answers = answersFor(turn, order, tips, texts);
  if (answers.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div className={`answers ${turn.expects}`} role="group" aria-label={texts.dock.answers}>
      {answers.map(({ label, lang, name, says }) => (
        <button
          key={says}
          type="button"
          className="button"
          aria-label={name}
          lang={lang}
          onClick={() => void session.say(says).catch(() => {})}
        >
          {label}
          {turn.expects === "rating" && <Icon name="star" />}
        </button>
      ))}
    </div>
  );
}

/** The field for typing. What cannot be sent yet waits in the script; what was not sent stands above the field. */
function Typing({
  turn,
  voice,
  focus,
}: {
  turn: Turn | null;
  voice: boolean;
  /** Whether the field takes the focus; once. */
  focus: RefObject<boolean>;
}) {
  const texts = useTexts();
  const { session } = usePage();
  const [text, setText] = useState("");
  const [lost, setLost] = useState<readonly string[]>([]);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (focus.current) field.current?.focus({ preventScroll: true });
    focus.current = false;
  }, [focus]);
  const id = useId();
  const words = texts.dock;
  const expects = turn?.yours ? turn.expects : "open";
  const placeholder =
    expects === "name"
      ? words.placeholderName
      : expects === "contact"
        ? words.placeholderContact
        : voice
          ? words.placeholderVoice
          : words.placeholder;

  const say = (said: string) =>
    session.say(said).catch(() => setLost((before) => [...before, said]));
  const send = (event: FormEvent) => {
    event.preventDefault();
    const said = text.trim();
    if (!said) return;
    setText("");
    void say(said);
  };
  const sendAgain = (place: number, said: string) => {
    setLost(lost.filter((_, other) => other !== place));
    field.current?.focus(); // the button goes
    void say(said);
  };
  return (
    <form className="typing" onSubmit={send}>
      {lost.length > 0 && (
        <div className="waits" role="alert">
          <p>{words.notSent}</p>
          <ul>
            {lost.map((said, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same words may be lost twice
              <li key={place}>
                <q>{said}</q>{" "}
                <button
                  type="button"
                  className="button quiet"
                  onClick={() => sendAgain(place, said)}
                >
                  {words.sendAgain}
                  <span className="unseen"> {said}</span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
      <label className="unseen" htmlFor={id}>
        {words.typeLabel}
      </label>
      <input
        ref={field}
        id={id}
        className="field"
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder={placeholder}
        maxLength={1000}
        enterKeyHint="send"
        autoComplete={expects === "name" ? "name" : expects === "contact" ? "tel" : "off"}
      />
      <button type="submit" className="button">
        <Icon name="arrow" />
        <span className="unseen">{words.send}</span>
      </button>
    </form>
  );
}
