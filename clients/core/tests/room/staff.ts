/** A page with a board of staff that does what a test tells it. */

import { StaffBoard } from "@typed-handoffs/client/staff";
import { controlled } from "./control.js";

const board = new StaffBoard<object>({ noun: "order", plural: "orders" });

controlled(
  {
    start: () => board.start(),
    login: (password: string) => board.login(password),
    logout: () => board.logout(),
    apply: (...given: Parameters<typeof board.apply>) => board.apply(...given),
    change: (name: string, fields: object) => board.change(name, fields),
  },
  (tell) => {
    board.subscribe(() => tell({ snapshot: board.getSnapshot() }));
    tell({ snapshot: board.getSnapshot() });
  },
);
