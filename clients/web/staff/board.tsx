/** The pass: orders as they come, what the kitchen does with them, and what the house has. */

import { type Command, KNOWN, type Order } from "@bella-vista/client";
import { AppError } from "@typed-handoffs/client";
import type { StaffBoard } from "@typed-handoffs/client/staff";
import { useStaffBoard } from "@typed-handoffs/react";
import {
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { details } from "../src/model/changes";
import { MenuContext } from "../src/model/menu";
import { allergenText, clock, dayText, humanised, presentAt } from "../src/model/words";
import { Front } from "../src/parts/front";
import { reasonOf } from "../src/parts/refused";
import { useTexts } from "../src/texts";
import { useChime } from "./chime";
import { useSending } from "./sending";
import "../src/styles/ticket.css";
import "./board.css";

/** An order as the page server shows it to staff. */
export type StaffOrder = Order & {
  /** Why a person is wanted; an older server does not say. */
  person_reason?: string | null;
};

type OrderBoard = StaffBoard<StaffOrder, Command>;

interface House {
  paused: boolean;
  sold_out: readonly string[];
}

function houseOf(setting: unknown): House {
  return { paused: false, sold_out: [], ...(setting as object) };
}

const RAILS = ["placed", "accepted", "preparing", "ready"] as const;
/** How long after the promised time an order may be ready, in minutes. */
const LATER_MIN = [0, 10, 20];
/** How long from now, once that time has passed. */
const FROM_NOW_MIN = [10, 20, 30];

const isUnknown = (stage: Order["stage"]) => !KNOWN.values.stage.includes(stage);

export function Board({ board }: { board: OrderBoard }) {
  const words = useTexts().staff;
  const now = useStaffBoard(board);
  const time = useTime();
  const placed = now.states.filter((order) => order.stage === "placed");
  const wanted = now.states.filter((order) => order.person_wanted);
  const chime = useChime(
    now.loaded
      ? [
          ...placed.map(({ order_id }) => order_id),
          ...wanted.map(({ order_id }) => `person ${order_id}`),
        ]
      : null,
  );
  if (now.status === "login") {
    return (
      <>
        <Front title={words.title} />
        <Login board={board} expired={now.expired} />
      </>
    );
  }
  const front = (
    <Front title={words.title} news={placed.length}>
      <label className="switch">
        <span>{words.sound}</span>
        <input type="checkbox" checked={chime.on} onChange={chime.toggle} />
      </label>
      <button type="button" className="button quiet" onClick={() => void board.logout()}>
        {words.logout}
      </button>
    </Front>
  );
  if (!now.loaded) {
    return (
      <>
        {front}
        <main className="board">
          <h1 className="unseen">{words.title}</h1>
          {now.status === "reconnecting" ? (
            <p className="calls" role="alert">
              {words.unreachable}
            </p>
          ) : (
            <p role="status">{words.connecting}</p>
          )}
        </main>
      </>
    );
  }
  const house = houseOf(now.settings.house);
  // An order in a stage of a newer server hangs on a rail of its words.
  const stages = new Set([...RAILS, ...now.states.map((order) => order.stage).filter(isUnknown)]);
  return (
    <>
      {front}
      <main className="board">
        <h1 className="unseen">{words.title}</h1>
        <Arrivals orders={placed} />
        {now.status === "reconnecting" && (
          <p className="calls" role="alert">
            {words.old}
          </p>
        )}
        {wanted.length > 0 && (
          <div className="calls" role="alert">
            <ul aria-label={words.wanted}>
              {wanted.map((order) => (
                <li key={order.order_id}>
                  <Wanted order={order} board={board} />
                </li>
              ))}
            </ul>
          </div>
        )}
        <div className="rails">
          {[...stages].map((stage) => {
            const title = words.rails[stage] ?? humanised(stage);
            const here = now.states.filter((order) => order.stage === stage);
            const orders = here.reverse().sort(bySoonest);
            return (
              <section className="rail" key={stage} aria-label={title}>
                <h2>
                  {title} <span className="amount">{orders.length}</span>
                </h2>
                <ul>
                  {orders.map((order) => (
                    <li key={order.order_id}>
                      <Slip order={order} board={board} time={time} />
                    </li>
                  ))}
                </ul>
              </section>
            );
          })}
        </div>
        <HousePanel house={house} board={board} />
      </main>
    </>
  );
}

/** The order that is to be ready first hangs first; of two for the same time, the one that waits longer. */
function bySoonest(one: Order, other: Order): number {
  const ready = ({ fulfilment }: Order) => Date.parse(fulfilment?.ready_at ?? "") || 0;
  const placed = ({ stage_times: { placed } }: Order) => Date.parse(placed ?? "") || 0;
  return ready(one) - ready(other) || placed(one) - placed(other);
}

/** Tells a screen reader each order that comes, once. */
function Arrivals({ orders }: { orders: readonly Order[] }) {
  const words = useTexts().staff;
  const known = useRef(new Set(orders.map((order) => order.order_id)));
  const [text, setText] = useState("");
  useEffect(() => {
    const came = orders.filter((order) => !known.current.has(order.order_id));
    for (const order of came) known.current.add(order.order_id);
    if (came.length > 0) setText(words.came(came.map((order) => order.order_number).join(", ")));
  }, [orders, words]);
  return (
    <p role="status" className="unseen">
      {text}
    </p>
  );
}

/** How often the board looks whether an order has become late, in milliseconds. */
const LOOK_MS = 10_000;

/** The time, as `Date.now` has it. */
function useTime(): number {
  const [time, setTime] = useState(Date.now);
  useEffect(() => {
    const looking = setInterval(() => setTime(Date.now()), LOOK_MS);
    return () => clearInterval(looking);
  }, []);
  return time;
}

/** One guest who wants a person, until staff have answered them. */
function Wanted({ order, board }: { order: StaffOrder; board: OrderBoard }) {
  const words = useTexts().staff;
  const { pending, refused, send } = useSending();
  return (
    <>
      <b>{words.wants(order.order_number, order.customer_name ?? "")}</b>{" "}
      {order.phone && <a href={`tel:${order.phone}`}>{order.phone}</a>}
      {order.person_reason && <p>{words.wantedFor(order.person_reason)}</p>}
      <div className="row">
        <Press
          pending={pending}
          onPress={() => send(() => board.apply(order.order_id, { op: "mark_answered" }))}
        >
          {words.answered}
          <span className="unseen"> {order.order_number}</span>
        </Press>
      </div>
      <Sent pending={pending} refused={refused} />
    </>
  );
}

/** A button for what staff send: while something is under way, it can be reached and not pressed. */
function Press(props: {
  pending: boolean;
  kind?: "main" | "stop" | "quiet";
  onPress?: () => void;
  children: ReactNode;
}) {
  return (
    <button
      type={props.onPress ? "button" : "submit"}
      className={props.kind ? `button ${props.kind}` : "button"}
      aria-disabled={props.pending}
      onClick={props.onPress}
    >
      {props.children}
    </button>
  );
}

/** That something is under way, or why it was refused. */
function Sent({ pending, refused }: { pending: boolean; refused: AppError | null }) {
  const texts = useTexts();
  return (
    <>
      {pending && (
        <p className="fine" role="status">
          {texts.staff.sending}
        </p>
      )}
      {refused && (
        <p className="refused" role="alert">
          {reasonOf(refused, texts)}
        </p>
      )}
    </>
  );
}

function Login({ board, expired }: { board: OrderBoard; expired: boolean }) {
  const words = useTexts().staff;
  const id = useId();
  const [password, setPassword] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    setWrong(null);
    try {
      await board.login(password);
    } catch (error) {
      setWrong(AppError.from(error).code === 401 ? words.wrong : words.notNow);
    }
  };
  return (
    <main className="login">
      <form onSubmit={enter}>
        <h1>{words.title}</h1>
        {expired && <p role="alert">{words.expired}</p>}
        <label className="label" htmlFor={id}>
          {words.password}
        </label>
        <input
          id={id}
          className="field"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {wrong && (
          <p className="refused" role="alert">
            {wrong}
          </p>
        )}
        <button type="submit" className="button main">
          {words.login}
        </button>
      </form>
    </main>
  );
}

const toFocus = (field: HTMLElement | null) => {
  field?.focus();
};

/** One order on a rail. */
function Slip({ order, board, time }: { order: Order; board: OrderBoard; time: number }) {
  const texts = useTexts();
  const words = texts.staff;
  const [choice, setChoice] = useState(0);
  const [refusing, setRefusing] = useState(false);
  const [reason, setReason] = useState("");
  const sending = useSending();
  const { pending } = sending;
  const id = useId();
  const send = (command: Command) => sending.send(() => board.apply(order.order_id, command));
  const readyAt = order.fulfilment?.ready_at;
  const day = readyAt ? dayText(readyAt, presentAt(readyAt, time), texts.code) : "";
  const late = readyAt && NOT_READY.has(order.stage) && Date.parse(readyAt) < time;
  const choices = readyAt ? readyTimes(readyAt, time) : [];
  const name = order.order_number;
  const next = NEXT[order.stage];
  return (
    <article className="ticket" aria-labelledby={`${id}-number`}>
      <header>
        <h3 id={`${id}-number`}>{name}</h3>
        {readyAt &&
          (late ? (
            <b className="met">{words.late(clock(readyAt, texts.code), day)}</b>
          ) : (
            <span className="amount">{words.readyAt(clock(readyAt, texts.code), day)}</span>
          ))}
      </header>
      <p>
        {texts.ticket[order.fulfilment?.kind ?? "pickup"]}
        {order.fulfilment?.address && `, ${order.fulfilment.address}`}
        {order.customer_name && `, ${order.customer_name}`}
        {order.phone && (
          <>
            , <a href={`tel:${order.phone}`}>{order.phone}</a>
          </>
        )}
      </p>
      {order.allergies.length > 0 && (
        <p className="row">
          {order.allergies.map((allergy) => (
            <span className="stamp" key={allergy}>
              {words.allergy(allergenText([allergy], texts.card.allergens))}
            </span>
          ))}
        </p>
      )}
      <ul className="items" lang="en">
        {order.order_items.map((item) => (
          <li key={item.id}>
            <b>
              {item.quantity} × {item.name}
            </b>
            <span className="details">{details(item)}</span>
            {item.note && <i>{item.note}</i>}
            {item.allergens_met.length > 0 && (
              <b className="met">
                {texts.ticket.holds(allergenText(item.allergens_met, texts.card.allergens))}
              </b>
            )}
          </li>
        ))}
      </ul>
      {order.notes.map((note) => (
        <p key={note.id}>
          <i>{note.content}</i>
        </p>
      ))}
      <p className="fine">
        {order.payment_method === "cash" ? texts.ticket.payCash : texts.ticket.payCard}:{" "}
        <span className="amount">{order.display.total}</span>
      </p>
      <Sent pending={pending} refused={sending.refused} />
      {order.stage === "placed" && readyAt && !refusing && (
        <fieldset>
          <legend className="fine">{words.ready}</legend>
          <div className="choice-row">
            {choices.map((ready, place) => (
              <label key={LATER_MIN[place]}>
                <input
                  type="radio"
                  name={`${id}-ready`}
                  checked={choice === place}
                  onChange={() => setChoice(place)}
                />
                {clock(ready, texts.code)}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {order.stage === "placed" &&
        (refusing ? (
          <form
            className="row"
            onSubmit={(event) => {
              event.preventDefault();
              if (reason.trim()) send({ op: "refuse_order", reason: reason.trim() });
            }}
          >
            <label className="label" htmlFor={`${id}-reason`}>
              {words.reason}
            </label>
            <input
              ref={toFocus}
              id={`${id}-reason`}
              className="field"
              value={reason}
              maxLength={280}
              onChange={(event) => setReason(event.target.value)}
            />
            <Press kind="stop" pending={pending}>
              {words.refuse}
              <span className="unseen"> {name}</span>
            </Press>
            <button type="button" className="button quiet" onClick={() => setRefusing(false)}>
              {texts.cancel}
            </button>
          </form>
        ) : (
          <div className="row">
            <Press
              kind="main"
              pending={pending}
              onPress={() => {
                const ready = choices[choice];
                const differs = ready !== undefined && ready !== readyAt;
                send({ op: "accept_order", ...(differs ? { ready_at: ready } : {}) });
              }}
            >
              {words.accept}
              <span className="unseen"> {name}</span>
            </Press>
            <button type="button" className="button stop" onClick={() => setRefusing(true)}>
              {words.refuse}
              <span className="unseen"> {name}</span>
            </button>
          </div>
        ))}
      {next && (
        <Press kind="main" pending={pending} onPress={() => send({ op: next })}>
          {words.next[order.stage]}
          <span className="unseen"> {name}</span>
        </Press>
      )}
    </article>
  );
}

const NEXT: Record<string, "start_preparing" | "mark_ready" | "complete_order"> = {
  accepted: "start_preparing",
  preparing: "mark_ready",
  ready: "complete_order",
};

/** The stages of an order whose food is not ready. */
const NOT_READY: ReadonlySet<string> = new Set(["placed", "accepted", "preparing"]);

/** When staff may say that an order will be ready: as promised or later; from now, if that has passed. */
function readyTimes(promised: string, time: number): readonly string[] {
  const passed = Math.ceil((time - Date.parse(promised)) / 60_000);
  return passed > 0
    ? FROM_NOW_MIN.map((minutes) => after(promised, passed + minutes))
    : LATER_MIN.map((minutes) => after(promised, minutes));
}

/** A time some minutes later, with the same offset. */
export function after(iso: string, minutes: number): string {
  return minutes === 0 ? iso : presentAt(iso, Date.parse(iso) + minutes * 60_000);
}

/** Pause new orders, and say what is sold out. */
function HousePanel({ house, board }: { house: House; board: OrderBoard }) {
  const texts = useTexts();
  const words = texts.staff;
  const id = useId();
  const [dish, setDish] = useState("");
  const { pending, refused, send } = useSending();
  const dishes = useContext(MenuContext)?.sections.flatMap((section) => section.dishes) ?? [];
  const set = (fields: object) => send(() => board.change("house", fields));
  return (
    <section className="house" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{words.house}</h2>
      <label className="switch">
        <span>{words.pause}</span>
        <input
          type="checkbox"
          checked={house.paused}
          aria-disabled={pending}
          onChange={({ target: { checked } }) => set({ paused: checked })}
        />
      </label>
      <h3>{words.soldOut}</h3>
      <ul>
        {house.sold_out.map((name) => (
          <li className="row" key={name}>
            <span lang="en">{name}</span>
            <Press kind="quiet" pending={pending} onPress={() => set({ remove_sold_out: [name] })}>
              {words.backOn}
              <span className="unseen"> {name}</span>
            </Press>
          </li>
        ))}
      </ul>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          const name = dish.trim();
          if (!name || pending) return;
          set({ add_sold_out: [name] });
          setDish("");
        }}
      >
        <label className="label" htmlFor={id}>
          {words.dish}
        </label>
        <input
          id={id}
          className="field"
          list={`${id}-dishes`}
          value={dish}
          onChange={(event) => setDish(event.target.value)}
        />
        <datalist id={`${id}-dishes`}>
          {dishes.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Press pending={pending}>{words.soldOutNow}</Press>
      </form>
      <Sent pending={pending} refused={refused} />
      <p className="fine">{words.atOnce}</p>
    </section>
  );
}
