/** The page of a call: talk or menu on the left, the ticket on the right, the dock below. */

import { type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { announced } from "../model/changes";
import { addressOf, goTo, type Place, useMedia, usePlace } from "../model/hooks";
import { useRefusedEarlier } from "../model/last";
import { type FindDish, MenuContext, type MenuState, useMenu } from "../model/menu";
import { cameToNothing, canOrder, isPlaced } from "../model/order";
import { useCourse, useNow, usePage } from "../model/page";
import { useTexts } from "../texts";
import { Agents } from "./agents";
import { Dock } from "./dock";
import { Feedback } from "./feedback";
import { Front } from "./front";
import { Ring } from "./house";
import { LastOrder } from "./last-order";
import { Adding, type Browsing, Menu, NOTHING_BROWSED } from "./menu";
import { Payment } from "./payment";
import { Person } from "./person";
import { Nothing, Placed, RefusedEarlier, StageAnnouncer } from "./placed";
import { Recording } from "./recording";
import { Script } from "./script";
import { Sheet } from "./sheet";
import { Ticket } from "./ticket";
import { Banner, CallTrouble, Closed } from "./trouble";
import "../styles/table.css";

export function EveningPage({
  settings,
  microphone,
  gone,
  trouble,
  elsewhere = false,
  begunByTyping = false,
  onTryNow,
  onNewCall,
  onNewOrder = onNewCall,
}: {
  settings: ReactNode;
  /** The dock's microphone, where the agent can hear. */
  microphone?: ReactNode;
  /** Stands in its place when it is gone. */
  gone?: ReactNode;
  /** Shown if the microphone cannot be used. */
  trouble?: ReactNode;
  /** The same guest has joined from another tab or device. */
  elsewhere?: boolean;
  /** The guest has just begun the call by typing. */
  begunByTyping?: boolean;
  /** Does not wait for the next attempt to join again, while there is one. */
  onTryNow?: () => void;
  onNewCall: () => void;
  /** Ends the call and begins one about another order. */
  onNewOrder?: () => void;
}) {
  const texts = useTexts();
  const { forget } = usePage();
  const now = useNow();
  const place = usePlace();
  const order = now.state;
  const over = now.status === "ended";
  const [browsing, setBrowsing] = useState<Browsing>(NOTHING_BROWSED);
  const met = now.hello !== null;
  const ordering = !over && order !== null && canOrder(order) && order.order_items.length > 0;
  const menu = useMenu(met, place.at !== "talk" || ordering);
  const house = menu.menu?.house ?? null;
  const before = useContext(MenuContext);
  const [refused, seen] = useRefusedEarlier(order?.order_id ?? null);
  const refusedEarlier = order && <RefusedEarlier orders={refused} onSeen={seen} />;
  const phone = useMedia("(max-width: 47.99rem)");
  // A refusal belongs to the place it was made at.
  // biome-ignore lint/correctness/useExhaustiveDependencies: going elsewhere is the reason
  useEffect(forget, [place, forget]);
  const talk = useFocusOfTalk(place);

  return (
    <MenuContext value={menu.menu ?? before}>
      <a className="skip" href="#dock">
        {texts.skip}
      </a>
      <Front place={place} order={order}>
        <Person order={order} />
        {settings}
      </Front>
      <Banner onTryNow={onTryNow} />
      <div className="table">
        {place.at === "talk" ? (
          <main ref={talk} className="talk" id="talk" tabIndex={-1} aria-labelledby="talk-title">
            <h1 className="unseen" id="talk-title">
              {texts.script.title((house ?? before?.house)?.name ?? "")}
            </h1>
            <Agents />
            <CallTrouble elsewhere={elsewhere} onAgain={onNewCall} />
            {trouble}
            <Recording />
            <Closed house={house} />
            {refusedEarlier}
            {order && isPlaced(order) && <Placed order={order} />}
            {order && cameToNothing(order) && (
              <div className="note">
                <Nothing order={order} />
                <div className="row">
                  {!over && (
                    <button type="button" className="button" onClick={onNewOrder}>
                      {texts.dock.newOrder}
                    </button>
                  )}
                  <Ring />
                </div>
              </div>
            )}
            <Script brief={order !== null && isPlaced(order)} />
            {!over && (order?.stage === "review" || order?.stage === "confirmed") && (
              <Payment order={order} />
            )}
            {order && isPlaced(order) && <Feedback order={order} over={over} />}
            {!over && order?.stage === "open" && <LastOrder hello={now.hello} order={order} />}
          </main>
        ) : (
          // Without the id "menu": a browser that follows "#menu" to an element takes the focus from the link.
          <main className="card">
            {refusedEarlier}
            <Closed house={house} />
            <Card
              place={place}
              menu={menu}
              over={over}
              browsing={browsing}
              onBrowse={setBrowsing}
            />
          </main>
        )}
        <Dock
          slim={phone && place.at !== "talk"}
          captioned={place.at !== "talk"}
          microphone={microphone}
          gone={gone}
          elsewhere={elsewhere}
          begunByTyping={begunByTyping}
          onNewCall={onNewCall}
          onNewOrder={onNewOrder}
        />
        <Ticket />
      </div>
      <Announcer />
      <StageAnnouncer order={now.confirmed} />
    </MenuContext>
  );
}

/** Moves the focus with the link to the talk, which comes after the link is followed: the newest line is shown there. */
function useFocusOfTalk(place: Place) {
  const talk = useRef<HTMLElement>(null);
  useEffect(() => {
    const followed = document.activeElement?.getAttribute("href") === addressOf(place);
    if (followed) talk.current?.focus({ preventScroll: true });
  }, [place]);
  return talk;
}

/** The menu, or one dish's sheet in its place. */
function Card({
  place,
  menu,
  over,
  browsing,
  onBrowse,
}: {
  place: Place;
  menu: MenuState;
  /** The call has ended: the menu is there to look at, as it was before the call. */
  over: boolean;
  browsing: Browsing;
  onBrowse: (browsing: Browsing) => void;
}) {
  const texts = useTexts();
  const order = useNow().state;
  const [opened, setOpened] = useState<string>();
  const line =
    place.at === "line" ? order?.order_items.find((item) => item.id === place.id) : undefined;
  const wanted = place.at === "dish" ? place.name : line?.name;
  const find: FindDish = (name) =>
    menu.menu?.sections.flatMap((section) => section.dishes).find((dish) => dish.name === name);
  const found = menu.menu?.sections
    .map((section) => ({ section, dish: section.dishes.find((dish) => dish.name === wanted) }))
    .find(({ dish }) => dish !== undefined);
  useEffect(() => {
    if (place.at === "dish") setOpened(place.name);
  }, [place]);

  if (!wanted)
    return (
      <Menu
        state={menu}
        order={order}
        actions={over ? undefined : (dish) => <Adding dish={dish} order={order} />}
        opened={opened}
        browsing={browsing}
        onBrowse={onBrowse}
      />
    );
  if (!order || !found?.dish) return <p className="fine">{texts.card.loading}</p>;
  const { dish, section } = found;
  return (
    <Sheet
      key={`${dish.name} ${line?.id}`}
      dish={dish}
      section={section.name}
      find={find}
      order={order}
      line={line}
      over={over}
      back={() => {
        goTo({ at: line ? "talk" : "menu" });
        if (line) focusLine(line.id);
      }}
    />
  );
}

/** Give the focus back to the line whose sheet was open. */
function focusLine(id: string) {
  const opener = `.ticket [href="${addressOf({ at: "line", id })}"]`;
  document.querySelector<HTMLElement>(opener)?.focus();
}

/** Tells a screen reader each change of the ticket once; the ticket itself is silent. */
function Announcer() {
  const texts = useTexts();
  const { told } = useCourse();
  const order = useNow().confirmed;
  const last = useRef(told);
  const [text, setText] = useState("");
  useEffect(() => {
    if (told === last.current || !order) return;
    last.current = told;
    setText(announced(told, order, texts));
  }, [told, order, texts]);
  return (
    <p role="status" className="unseen">
      {text}
    </p>
  );
}
