/** The front of the house: awning, sign, the ways through the page; its name is the tab's title too. */

import type { Order } from "@bella-vista/client";
import { type ReactNode, useEffect } from "react";
import type { Place } from "../model/hooks";
import { useHouse } from "../model/menu";
import { isPlaced } from "../model/order";
import { useTexts } from "../texts";
import "../styles/front.css";

export function Front({
  title,
  news = 0,
  place,
  order,
  children,
}: {
  /** What the tab's title says after the house's name. */
  title?: string;
  /** How much has come and waits; the tab says so. */
  news?: number;
  place?: Place;
  order?: Order | null;
  children?: ReactNode;
}) {
  const texts = useTexts();
  const { name } = useHouse();
  useEffect(() => {
    if (!name) return;
    document.title = `${news > 0 ? `(${news}) ` : ""}${title ? `${name}: ${title}` : name}`;
  }, [name, title, news]);
  const at = (here: boolean) => (here ? ("page" as const) : undefined);
  return (
    <header className="front">
      <div className="front-row">
        <p className="sign" lang="en">
          {name}
        </p>
        {place && (
          <nav className="ways" aria-label={texts.parts}>
            <a href="#talk" aria-current={at(place.at === "talk")}>
              {texts.talk}
            </a>
            <a href="#menu" aria-current={at(place.at !== "talk")}>
              {texts.menu}
            </a>
            <a href="#order" className="amount">
              {orderWay(order ?? null, texts)}
            </a>
          </nav>
        )}
        <div className="tools">{children}</div>
      </div>
    </header>
  );
}

function orderWay(order: Order | null, texts: ReturnType<typeof useTexts>): string {
  if (!order || order.item_count === 0) return texts.order;
  if (isPlaced(order)) return texts.orderNumber(order.order_number);
  return texts.orderCount(order.item_count, order.display.total);
}
