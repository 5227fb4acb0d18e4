import type { ReactNode } from "react";
import { MenuContext, useMenu } from "../model/menu";

/** Reads the menu for all that it holds: its own house's name, and what the house sells. */
export function House({ reading = true, children }: { reading?: boolean; children: ReactNode }) {
  const { menu } = useMenu(reading, false);
  return <MenuContext value={menu}>{children}</MenuContext>;
}
