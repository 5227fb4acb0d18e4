/** The page of a call in jsdom, for tests of more than one of its parts. */

import { render } from "@testing-library/react";
import type { ComponentProps } from "react";
import { PageProvider } from "../src/model/page";
import { EveningPage } from "../src/parts/evening";
import { type Texts, TextsContext } from "../src/texts";
import { en } from "../src/texts/en";
import { call, orders, serveMenu } from "../stories/room";

interface Opened {
  hash?: string;
  house?: object;
  /** The dishes that are sold out. */
  soldOut?: readonly string[];
  texts?: Texts;
  /** Added to the answer to `hello`. */
  hello?: Record<string, unknown>;
  /** Further properties of the page. */
  page?: Partial<ComponentProps<typeof EveningPage>>;
}

/** Start a call about an order and show its page. */
export async function openPage(
  order = orders.ordering,
  { hash = "", house = {}, soldOut = [], texts = en, hello = {}, page = {} }: Opened = {},
) {
  serveMenu(house, soldOut);
  location.hash = hash;
  const evening = await call(order, { hello });
  render(
    <TextsContext value={texts}>
      <PageProvider session={evening.session}>
        <EveningPage settings={null} onNewCall={() => {}} {...page} />
      </PageProvider>
    </TextsContext>,
  );
  return evening;
}
