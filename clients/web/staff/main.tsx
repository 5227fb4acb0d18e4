import type { Command, Order } from "@bella-vista/client";
import { StaffBoard } from "@typed-handoffs/client/staff";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Boundary } from "../src/parts/boundary";
import { firstLanguage, TextsContext } from "../src/texts";
import { Board } from "./board";
import "../src/styles/tokens.css";
import "../src/styles/base.css";

const texts = firstLanguage();
document.documentElement.lang = texts.code;
const board = new StaffBoard<Order, Command>({ noun: "order", plural: "orders" });
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <TextsContext value={texts}>
        <Boundary>
          <Board board={board} />
        </Boundary>
      </TextsContext>
    </StrictMode>,
  );
}
