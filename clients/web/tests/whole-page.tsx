/** The page of a call in jsdom, for tests of more than one of its parts. */

import { render } from "@testing-library/react";
import { PageProvider } from "../src/model/page";
import { EveningPage } from "../src/parts/evening";
import { type Texts, TextsContext } from "../src/texts";
import { en } from "../src/texts/en";
import { call, orders, serveMenu } from "../stories/room";

/** Start a call about an order and show its page at a hash, for a house and what is sold out there, in a language, after a hello that says more. */
export async function openPage(
  order = orders.ordering,
  { hash = "", house = {}, soldOut = [] as string[], texts = en as Texts, hello = {} } = {},
) {
  serveMenu(house, soldOut);
  location.hash = hash;
  const evening = await call(order, { hello });
  render(
    <TextsContext value={texts}>
      <PageProvider session={evening.session}>
        <EveningPage settings={null} onNewCall={() => {}} />
      </PageProvider>
    </TextsContext>,
  );
  return evening;
}
