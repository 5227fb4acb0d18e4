/** Bella Vista's order: its types, and what a page shows before the agent has answered. */

import { type App, notIn } from "@typed-handoffs/client";
import { type Command, KNOWN, NOUN, type OrderView } from "./contract.gen.js";

export type {
  ChargeView,
  ChoiceView,
  Command,
  Contract,
  DishView,
  FulfilmentView,
  LineView as OrderItem,
  MenuSection,
  MenuSections,
  MenuUnchanged,
  NoteView,
  OptionView,
  OrderView as Order,
  PartChoice,
  PartView,
  SectionView,
  ServedView,
  Stage,
} from "./contract.gen.js";
export { KNOWN };

/** The application, for an `AgentSession`. */
export const bellaVista: App<OrderView, Command> = {
  noun: NOUN,
  optimistic,
  unknownIn: notIn(KNOWN),
  empty: KNOWN.empty,
};

/** The order as a command will leave it, without the amounts, which the agent computes. */
function optimistic(order: OrderView, command: Command): OrderView | null {
  const { order_items: lines } = order;
  switch (command.op) {
    case "change_item": {
      const { line_id, name, size, quantity, modifications, parts, note } = command;
      if (name || parts) return null; // what fits the other dish stays chosen
      const after = lines.map((line) =>
        line.id === line_id
          ? {
              ...line,
              size: size ?? line.size,
              quantity: quantity ?? line.quantity,
              modifications: modifications ?? line.modifications,
              note: note === "" ? null : (note ?? line.note),
            }
          : line,
      );
      return { ...order, order_items: after };
    }
    case "remove_item": {
      if (typeof command.quantity === "number") return null; // twice would be two pieces fewer
      return { ...order, order_items: lines.filter((line) => line.id !== command.line_id) };
    }
    case "change_note": {
      const notes = order.notes.map((note) =>
        note.id === command.note_id
          ? {
              ...note,
              title: command.title ?? note.title,
              content: command.content ?? note.content,
            }
          : note,
      );
      return { ...order, notes };
    }
    case "remove_note":
      return { ...order, notes: order.notes.filter((note) => note.id !== command.note_id) };
    case "add_allergy":
      return order.allergies.includes(command.name)
        ? null
        : { ...order, allergies: [...order.allergies, command.name] };
    case "remove_allergy": {
      const name = command.name.toLowerCase();
      const allergies = order.allergies.filter((one) => one.toLowerCase() !== name);
      return allergies.length === order.allergies.length ? null : { ...order, allergies };
    }
    case "set_customer":
      return {
        ...order,
        customer_name: command.name ?? order.customer_name,
        phone: command.phone ?? order.phone,
        email: command.email ?? order.email,
      };
    case "set_tip":
      if (typeof command.percentage === "number") {
        return { ...order, tip_percentage: command.percentage };
      }
      return null;
    case "choose_payment":
      return { ...order, payment_method: command.method };
    case "give_feedback":
      return {
        ...order,
        feedback_rating: command.rating ?? order.feedback_rating,
        feedback_comment: command.comment ?? order.feedback_comment,
      };
    default:
      return null;
  }
}
