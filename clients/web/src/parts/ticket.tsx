/** The ticket: the order as the restaurant has it, changed by hand where it still can be. */

import type { Order, OrderItem } from "@bella-vista/client";
import {
  type FormEvent,
  memo,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { details } from "../model/changes";
import {
  addressOf,
  useChangedLately,
  useDelayed,
  useFocusBack,
  useOneAtATime,
} from "../model/hooks";
import { MenuContext, openDays, servicesOf, soldOutOf, useHouse } from "../model/menu";
import { cameToNothing, canOrder, handover, holdsTax, isPlaced, presentOf } from "../model/order";
import { useNow, usePage } from "../model/page";
import {
  allergenText,
  capital,
  clock,
  dateText,
  daysBetween,
  dayText,
  humanised,
  presentAt,
  presentHere,
} from "../model/words";
import { type Texts, useTexts } from "../texts";
import { Icon } from "./icons";
import { Nothing } from "./placed";
import { Refused } from "./refused";
import "../styles/ticket.css";

const NEW_MS = 3000;

export function Ticket() {
  const texts = useTexts();
  const now = useNow();
  const order = now.state;
  const late = useDelayed(now.pending > 0, 500);
  const words = texts.ticket;
  return (
    <aside className="ticket" id="order" tabIndex={-1} aria-labelledby="order-title">
      <header>
        <h2 id="order-title">{titleOf(order, texts)}</h2>
        {order && !canOrder(order) && (
          <span className="stamp">{words.stamp[order.stage] ?? humanised(order.stage)}</span>
        )}
      </header>
      {order && (
        <Contents
          order={order}
          confirmed={now.confirmed}
          late={late}
          over={now.status === "ended"}
        />
      )}
      {!order && <p className="empty">{words.empty}</p>}
    </aside>
  );
}

function titleOf(order: Order | null, texts: Texts): string {
  if (!order) return texts.ticket.title;
  if (isPlaced(order)) return texts.ticket.number(order.order_number);
  if (order.stage === "review") return texts.ticket.readBack;
  return texts.ticket.title;
}

function Contents({
  order,
  confirmed,
  late,
  over,
}: {
  order: Order;
  confirmed: Order | null;
  late: boolean;
  over: boolean;
}) {
  const texts = useTexts();
  const words = texts.ticket;
  const menu = useContext(MenuContext);
  const open = canOrder(order) && !over;
  // Once it is read back, a change begins with taking it up again.
  const editable = open && order.stage === "open";
  const list = useRef<HTMLUListElement>(null);
  const opened = useRef(false);
  useEffect(() => {
    opened.current = true;
  }, []);

  // After a line is gone its place is the next one's, and the focus goes there.
  const focusAfter = useCallback((place: number) => {
    const lines = list.current?.children ?? [];
    const next = (lines[place] ?? lines[place - 1]) as HTMLElement | undefined;
    const target = next?.querySelector<HTMLElement>("[data-remove]");
    (target ?? document.getElementById("order"))?.focus();
  }, []);
  const asConfirmed = new Map(confirmed?.order_items.map((item) => [item.id, item]));
  return (
    <>
      <Way order={order} editable={editable} />
      <Allergies order={order} editable={editable} />
      {order.order_items.length === 0 ? (
        <div className="empty">
          <p>{words.empty}</p>
          <a className="button quiet" href={addressOf({ at: "menu" })}>
            {words.toMenu}
          </a>
        </div>
      ) : (
        <ul ref={list}>
          {order.order_items.map((item, place) => (
            <ItemOf
              key={item.id}
              item={item}
              place={place}
              currencyText={order.display.order_items[item.id]?.line_total}
              editable={editable}
              soldOut={open ? soldOutOf(menu, item).join(", ") : ""}
              opened={opened}
              notSent={late && asConfirmed.get(item.id)?.quantity !== item.quantity}
              onGone={focusAfter}
            />
          ))}
        </ul>
      )}
      <RefusedAtGoneLine order={order} />
      {order.order_items.length > 0 && <Sums order={order} late={late} />}
      {late && confirmed && confirmed.item_count > 0 && (
        <p className="fine">
          {words.seen}{" "}
          <span lang="en">
            {confirmed.order_items.map((item) => `${item.quantity} × ${item.name}`).join(", ")}
          </span>
          . {texts.changed.total(confirmed.display.total)}
        </p>
      )}
      {order.notes.map((note) => (
        <div className="block" key={note.id}>
          <p>
            <i>{note.content}</i>
          </p>
          {editable && <RemoveNote id={note.id} title={note.content} />}
        </div>
      ))}
      {editable && <Extras order={order} />}
      {isPlaced(order) && (
        <div className="block">
          {order.payment_method && (
            <p>
              {order.payment_method === "cash" ? words.payCash : words.payCard},{" "}
              {words.payAt[handover(order)]}
            </p>
          )}
          <p className="fine">{words.fixed}</p>
        </div>
      )}
      {open && <Steps order={order} />}
      {cameToNothing(order) && (
        <div className="block">
          <Nothing order={order} />
        </div>
      )}
    </>
  );
}

/** A line; a change of another one leaves it as it is. */
const ItemOf = memo(function ItemOf({
  item,
  place,
  currencyText,
  editable,
  soldOut,
  opened,
  notSent,
  onGone,
}: {
  item: OrderItem;
  place: number;
  currencyText: string | undefined;
  editable: boolean;
  /** What of it is sold out now, while it can still be changed. */
  soldOut: string;
  /** Whether the ticket stood there before: then a line that comes is new. */
  opened: RefObject<boolean>;
  notSent: boolean;
  onGone: (place: number) => void;
}) {
  const texts = useTexts();
  const { edit } = usePage();
  const words = texts.ticket;
  const isNew = useChangedLately(`${item.size} ${item.modifications}`, NEW_MS, opened.current);
  const at = lineAt(item.id);
  const set = (quantity: number) =>
    void edit(at, { op: "change_item", line_id: item.id, quantity });
  const remove = async () => {
    onGoneSoon();
    await edit(at, { op: "remove_item", line_id: item.id });
  };
  const onGoneSoon = () => requestAnimationFrame(() => requestAnimationFrame(() => onGone(place)));
  return (
    <li className={isNew ? "item fresh" : "item"}>
      <h3 lang="en">
        {!editable && <span className="amount">{item.quantity} × </span>}
        <span className="name">{item.name}</span>{" "}
        {isNew && (
          <span className="tag" lang={texts.code}>
            {words.isNew}
          </span>
        )}
      </h3>
      <span className="amount">{notSent ? words.waits : currencyText}</span>
      {details(item) && (
        <p className="details" lang="en">
          {details(item)}
        </p>
      )}
      {item.note && (
        <p className="details">
          <i>{item.note}</i>
        </p>
      )}
      {soldOut && (
        <p className="warning">
          <Icon name="warning" />
          {words.soldOut(soldOut)}
        </p>
      )}
      {item.allergens_met.length > 0 && (
        <p className="warning">
          <Icon name="warning" />
          {words.holds(allergenText(item.allergens_met, texts.card.allergens))}
        </p>
      )}
      {editable && (
        <div className="row">
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields */}
          <span className="stepper" role="group" aria-label={words.howMany(item.name)}>
            <button
              type="button"
              aria-label={words.fewer(item.name)}
              onClick={() => (item.quantity > 1 ? set(item.quantity - 1) : void remove())}
            >
              −
            </button>
            <output>{item.quantity}</output>
            <button
              type="button"
              aria-label={words.more(item.name)}
              onClick={() => set(item.quantity + 1)}
            >
              +
            </button>
          </span>
          <a className="button quiet" href={addressOf({ at: "line", id: item.id })}>
            {words.change}
            <span className="unseen"> {item.name}</span>
          </a>
          <button type="button" className="button quiet" data-remove onClick={remove}>
            {words.remove}
            <span className="unseen"> {item.name}</span>
          </button>
          {notSent && <span className="not-sent">{words.notSent}</span>}
        </div>
      )}
      <Refused place={at} />
    </li>
  );
});

const lineAt = (id: string) => `line ${id}`;

/** What was refused at a line that somebody else has taken off meanwhile. */
function RefusedAtGoneLine({ order }: { order: Order }) {
  const place = usePage().refusal?.place;
  const isThere = order.order_items.some((item) => lineAt(item.id) === place);
  return place?.startsWith(lineAt("")) && !isThere ? <Refused place={place} /> : null;
}

function Sums({ order, late }: { order: Order; late: boolean }) {
  const texts = useTexts();
  const words = texts.ticket;
  const amounts = order.display;
  const tax = late ? words.waits : amounts.tax;
  const taxWithin = holdsTax(order);
  return (
    <dl className="sums">
      <dt>{words.subtotal}</dt>
      <dd className="amount">{late ? words.waits : amounts.subtotal}</dd>
      {order.discounts.map((charge) => (
        <Sum
          key={charge.code}
          name={<span lang="en">{charge.name}</span>}
          amount={`−${amounts.discounts[charge.code]}`}
        />
      ))}
      {order.coupons
        .filter((code) => order.discounts.every((charge) => charge.code !== code))
        .map((code) => (
          <Sum key={code} name={`${words.coupon} ${code}`} amount={words.couponIdle} />
        ))}
      {order.fees.map((charge) => (
        <Sum
          key={charge.code}
          name={charge.code === "delivery" ? words.delivery : <span lang="en">{charge.name}</span>}
          amount={amounts.fees[charge.code] ?? ""}
        />
      ))}
      {!taxWithin && <Sum name={words.tax} amount={tax} />}
      {order.tip > 0 && (
        <Sum
          name={order.tip_percentage ? words.tipPercent(order.tip_percentage) : words.tip}
          amount={amounts.tip}
        />
      )}
      <dt className="total">{words.total}</dt>
      <dd className="amount total">{late ? "…" : amounts.total}</dd>
      {taxWithin && <Sum name={words.taxWithin} amount={tax} />}
    </dl>
  );
}

function Sum({ name, amount }: { name: ReactNode; amount: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="amount">{amount}</dd>
    </>
  );
}

/** Pickup or delivery, when, to whom. */
function Way({ order, editable }: { order: Order; editable: boolean }) {
  const texts = useTexts();
  const words = texts.ticket;
  const title = useWayTitle();
  const [editing, setEditing] = useState(false);
  const opener = useFocusBack<HTMLButtonElement>(editing);
  const way = order.fulfilment;
  if (editing && editable) return <WayForm order={order} onDone={() => setEditing(false)} />;
  const dayOf = (time: string, since: string | null = null) =>
    dayText(time, since ?? presentOf(order, time), texts.code);
  // Staff accept it with a time.
  const accepted = isPlaced(order) && order.stage !== "placed";
  const ready = way?.ready_at
    ? words.readyAbout(clock(way.ready_at, texts.code), dayOf(way.ready_at, way.when))
    : "";
  const differs = way?.ready_at?.slice(0, 16) !== way?.when?.slice(0, 16);
  return (
    <div className="block">
      <p>
        {way ? (
          <>
            <b>{words[way.kind]}</b>,{" "}
            {way.when
              ? words.at(clock(way.when, texts.code), dayOf(way.when))
              : (accepted && ready) || words.asap}
            {ready &&
              differs &&
              (canOrder(order) || (accepted && way.when !== null)) &&
              `, ${ready}`}
            {way.address && `, ${words.to(way.address)}`}
            {order.customer_name && (
              <>
                , {words.forName("")}
                <b>{order.customer_name}</b>
              </>
            )}
          </>
        ) : (
          <b>{title}</b>
        )}
      </p>
      {editable && (
        <button
          ref={opener}
          type="button"
          className="button quiet"
          onClick={() => setEditing(true)}
        >
          {way ? words.change : words.choose}
          <span className="unseen"> {title}</span>
        </button>
      )}
    </div>
  );
}

/** What is asked about the handover, of a house that may have one way alone. */
function useWayTitle(): string {
  const words = useTexts().ticket;
  return servicesOf(useHouse()).length > 1 ? words.pickupOrDelivery : words.whenAndWho;
}

function WayForm({ order, onDone }: { order: Order; onDone: () => void }) {
  const texts = useTexts();
  const { edit } = usePage();
  const words = texts.ticket;
  const id = useId();
  const title = useWayTitle();
  const way = order.fulfilment;
  const house = useHouse();
  const services = servicesOf(house);
  const zoned = way?.ready_at ?? house.opens_at ?? Object.values(order.stage_times)[0];
  const present = zoned ? presentAt(zoned) : presentHere();
  const days = openDays(house.hours, present, way?.when ?? null);
  const [kind, setKind] = useState(way?.kind ?? services[0] ?? "pickup");
  const [day, setDay] = useState(way?.when?.slice(0, 10) ?? "");
  const [time, setTime] = useState(way?.when?.slice(11, 16) ?? "");
  const [address, setAddress] = useState(way?.address ?? "");
  const [name, setName] = useState(order.customer_name ?? "");
  const start = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    start.current?.focus();
  }, []);
  const keep = async (event: FormEvent) => {
    event.preventDefault();
    const when = day ? `${day}T${time}` : "asap";
    const kept = await edit("way", {
      op: "set_fulfilment",
      kind,
      when,
      ...(kind === "delivery" ? { address } : {}),
    });
    if (!kept) return;
    if (name.trim() !== (order.customer_name ?? "")) {
      if (!(await edit("way", { op: "set_customer", name: name.trim() }))) return;
    }
    onDone();
  };
  return (
    <form className="block form" onSubmit={keep}>
      <fieldset>
        <legend className="label">{title}</legend>
        <div className="choice-row">
          {services.map((each, place) => (
            <label key={each}>
              <input
                ref={place === 0 ? start : undefined}
                type="radio"
                name={`${id}-kind`}
                checked={kind === each}
                onChange={() => setKind(each)}
              />
              {words[each]}
            </label>
          ))}
        </div>
      </fieldset>
      {kind === "delivery" && (
        <div>
          <label className="label" htmlFor={`${id}-address`}>
            {words.address}
          </label>
          <input
            id={`${id}-address`}
            className="field"
            value={address}
            required
            maxLength={280}
            autoComplete="street-address"
            onChange={(event) => setAddress(event.target.value)}
          />
        </div>
      )}
      <div className="moment">
        <div>
          <label className="label" htmlFor={`${id}-day`}>
            {words.day}
          </label>
          <select
            id={`${id}-day`}
            className="field"
            value={day}
            onChange={(event) => setDay(event.target.value)}
          >
            <option value="">{capital(words.asap)}</option>
            {days.map((each) => (
              <option key={each} value={each}>
                {dayChoice(each, present, texts)}
              </option>
            ))}
          </select>
        </div>
        {day && (
          <div>
            <label className="label" htmlFor={`${id}-time`}>
              {words.time}
            </label>
            <input
              id={`${id}-time`}
              className="field"
              type="time"
              required
              value={time}
              onChange={(event) => setTime(event.target.value)}
            />
          </div>
        )}
      </div>
      <div>
        <label className="label" htmlFor={`${id}-name`}>
          {words.name}
        </label>
        <input
          id={`${id}-name`}
          className="field"
          value={name}
          maxLength={80}
          autoComplete="name"
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <Refused place="way" />
      <FormEnd onCancel={onDone} />
    </form>
  );
}

/** A day of the next ones, as a guest chooses it. */
function dayChoice(day: string, present: string, texts: Texts): string {
  const next = daysBetween(present, day);
  if (next === 0) return texts.ticket.today;
  return next === 1 ? texts.ticket.tomorrow : dateText(day, texts.code);
}

function FormEnd({ onCancel }: { onCancel: () => void }) {
  const texts = useTexts();
  return (
    <div className="row">
      <button type="submit" className="button main">
        {texts.save}
      </button>
      <button type="button" className="button quiet" onClick={onCancel}>
        {texts.cancel}
      </button>
    </div>
  );
}

function Allergies({ order, editable }: { order: Order; editable: boolean }) {
  const texts = useTexts();
  const { edit } = usePage();
  const words = texts.ticket;
  const [adding, setAdding] = useState(false);
  const [name, setName] = useState("");
  const id = useId();
  const opener = useFocusBack<HTMLButtonElement>(adding);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (adding) field.current?.focus();
  }, [adding]);
  const close = () => {
    setAdding(false);
    setName("");
  };
  const keep = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() && (await edit("allergies", { op: "add_allergy", name: name.trim() }))) close();
  };
  return (
    <div className="block">
      <div className="row">
        <b>{words.allergies}</b>
        {order.allergies.map((allergy) => {
          const known = allergenText([allergy], texts.card.allergens);
          return (
            <span className="row" key={allergy}>
              <span className="stamp">{known}</span>
              {editable && (
                <button
                  type="button"
                  className="button quiet"
                  aria-label={`${words.remove} ${known}`}
                  onClick={() => void edit("allergies", { op: "remove_allergy", name: allergy })}
                >
                  {words.remove}
                </button>
              )}
            </span>
          );
        })}
        {order.allergies.length === 0 && <span className="fine">{words.noAllergies}</span>}
      </div>
      {editable && !adding && (
        <button ref={opener} type="button" className="button quiet" onClick={() => setAdding(true)}>
          {words.add}
          <span className="unseen"> {words.allergies}</span>
        </button>
      )}
      {adding && (
        <form className="form" onSubmit={keep}>
          <label className="label" htmlFor={id}>
            {words.allergyLabel}
          </label>
          <input
            ref={field}
            id={id}
            className="field"
            value={name}
            maxLength={80}
            onChange={(event) => setName(event.target.value)}
          />
          <FormEnd onCancel={close} />
        </form>
      )}
      <Refused place="allergies" />
    </div>
  );
}

function RemoveNote({ id, title }: { id: string; title: string }) {
  const texts = useTexts();
  const { edit } = usePage();
  return (
    <button
      type="button"
      className="button quiet"
      onClick={() => void edit("extras", { op: "remove_note", note_id: id })}
    >
      {texts.ticket.remove}
      <span className="unseen"> {title}</span>
    </button>
  );
}

/** A code and a note for the kitchen, folded away until wanted. */
function Extras({ order }: { order: Order }) {
  const texts = useTexts();
  const { edit } = usePage();
  const words = texts.ticket;
  const [code, setCode] = useState("");
  const [note, setNote] = useState("");
  const [, oneAtATime] = useOneAtATime();
  const id = useId();
  const takeCode = async (event: FormEvent) => {
    event.preventDefault();
    if (code.trim() && (await edit("extras", { op: "apply_coupon", code: code.trim() })))
      setCode("");
  };
  const addNote = (event: FormEvent) => {
    event.preventDefault();
    const content = note.trim();
    if (!content) return;
    void oneAtATime(async () => {
      if (await edit("extras", { op: "add_note", title: "From the guest", content })) setNote("");
    });
  };
  return (
    <details className="block extras">
      <summary>{words.extras}</summary>
      {order.coupons.map((used) => (
        <p key={used} className="row">
          <span className="stamp">{used}</span>
          <button
            type="button"
            className="button quiet"
            onClick={() => void edit("extras", { op: "remove_coupon", code: used })}
          >
            {words.couponRemove(used)}
          </button>
        </p>
      ))}
      <form onSubmit={takeCode}>
        <label className="label" htmlFor={`${id}-code`}>
          {words.coupon}
        </label>
        <div className="row">
          <input
            id={`${id}-code`}
            className="field"
            value={code}
            maxLength={80}
            autoComplete="off"
            onChange={(event) => setCode(event.target.value)}
          />
          <button type="submit" className="button">
            {words.couponUse}
          </button>
        </div>
      </form>
      <form onSubmit={addNote}>
        <label className="label" htmlFor={`${id}-note`}>
          {words.noteLabel}
        </label>
        <div className="row">
          <input
            id={`${id}-note`}
            className="field"
            value={note}
            maxLength={280}
            onChange={(event) => setNote(event.target.value)}
          />
          <button type="submit" className="button">
            {words.noteAdd}
          </button>
        </div>
      </form>
      <Refused place="extras" />
    </details>
  );
}

/** The next step towards the kitchen, and the way back. */
function Steps({ order }: { order: Order }) {
  const texts = useTexts();
  const { edit } = usePage();
  const words = texts.ticket;
  const [busy, oneAtATime] = useOneAtATime();
  const go = (...commands: Parameters<typeof edit> extends [string, ...infer C] ? C : never) =>
    oneAtATime(() => edit("steps", ...commands));
  if (order.order_items.length === 0) return <Refused place="steps" />;
  const paid = order.payment_method !== null;
  return (
    <div className="steps">
      <Refused place="steps" />
      {order.stage === "open" && (
        <button
          type="button"
          className="button main"
          aria-disabled={busy}
          onClick={() => void go({ op: "read_back" })}
        >
          {words.done}
        </button>
      )}
      {order.stage === "review" && (
        <button
          type="button"
          className="button main big"
          aria-disabled={busy}
          onClick={() =>
            void go({ op: "confirm_order" }, ...(paid ? [{ op: "place_order" } as const] : []))
          }
        >
          {paid ? words.confirmAndPlace : words.confirm}
        </button>
      )}
      {order.stage === "confirmed" && (
        <button
          type="button"
          className="button main big"
          aria-disabled={busy || !paid}
          onClick={() => void go({ op: "place_order" })}
        >
          {words.place}
        </button>
      )}
      {order.stage === "confirmed" && !paid && (
        <p className="fine">
          {words.payFirst} <a href="#talk">{texts.pay.at[handover(order)]}</a>
        </p>
      )}
      {order.stage !== "open" && (
        <button
          type="button"
          className="button quiet"
          onClick={() => void go({ op: "reopen_order" })}
        >
          {words.reopen}
        </button>
      )}
    </div>
  );
}
