/** The menu before the call: dishes, prices and allergens to look at. */

import { useEffect, useRef, useState } from "react";
import { takesNoOrders, useMenu } from "../model/menu";
import { useTexts } from "../texts";
import { Menu, NOTHING_BROWSED } from "./menu";
import { closedText } from "./trouble";

export default function MenuBefore() {
  const texts = useTexts();
  const state = useMenu(true, true);
  const [browsing, setBrowsing] = useState(NOTHING_BROWSED);
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView(); // a newer browser's returns a promise, which is no cleanup
  }, []);
  const house = state.menu?.house;
  return (
    <section className="before-menu" id="menu" ref={place} aria-label={texts.card.title}>
      {house && takesNoOrders(house) && <p className="note soft">{closedText(house, texts)}</p>}
      <Menu state={state} order={null} browsing={browsing} onBrowse={setBrowsing} />
    </section>
  );
}
