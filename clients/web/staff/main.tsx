import { type Command, KNOWN } from "@bella-vista/client";
import { notIn } from "@typed-handoffs/client";
import { StaffBoard } from "@typed-handoffs/client/staff";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { keepFocus } from "../src/model/focus";
import { Boundary } from "../src/parts/boundary";
import { House } from "../src/parts/house";
import { firstLanguage, TextsContext } from "../src/texts";
import { Board, type StaffOrder } from "./board";
import "../src/styles/tokens.css";
import "../src/styles/base.css";

const texts = firstLanguage();
document.documentElement.lang = texts.code;
document.title = texts.staff.title;
const board = new StaffBoard<StaffOrder, Command>({
  noun: "order",
  plural: "orders",
  unknownIn: notIn({ ...KNOWN, fields: [...KNOWN.fields, "person_reason"] }),
});
keepFocus();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <TextsContext value={texts}>
        <Boundary>
          <House>
            <Board board={board} />
          </House>
        </Boundary>
      </TextsContext>
    </StrictMode>,
  );
}
