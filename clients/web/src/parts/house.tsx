/** The house: its menu for all that it holds, and how guests reach it. */

import type { ReactNode } from "react";
import { MenuContext, useHouse, useMenu } from "../model/menu";
import { useTexts } from "../texts";

/** Reads the menu for all that it holds: its own house's name, and what the house sells. */
export function House({ reading = true, children }: { reading?: boolean; children: ReactNode }) {
  const { menu } = useMenu(reading, false);
  return <MenuContext value={menu}>{children}</MenuContext>;
}

/** The number of the house, to be rung by a press; nothing where the menu has none. */
export function Ring() {
  const texts = useTexts();
  const { phone } = useHouse();
  if (!phone) return null;
  return (
    <a className="ring" href={`tel:${phone.replaceAll(/[^+\d]/g, "")}`}>
      {texts.house.ring(phone)}
    </a>
  );
}
