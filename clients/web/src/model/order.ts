/** Questions about an order. */

import type { Order } from "@bella-vista/client";
import { presentAt } from "./words";

const ORDERING = new Set(["open", "review", "confirmed"]);

/** Whether the guest can still change it. */
export function canOrder(order: Order): boolean {
  return ORDERING.has(order.stage);
}

/** Whether it was placed, and neither called off nor refused. A stage of a newer server comes after placing. */
export function isPlaced(order: Order): boolean {
  return !canOrder(order) && !cameToNothing(order);
}

/** Whether it has come to an end without food. */
export function cameToNothing(order: Order): boolean {
  return order.stage === "cancelled" || order.stage === "failed";
}

/** Whether the prices hold the tax already, so that the total has none on top. */
export function holdsTax({ subtotal, discounts, fees, tax, tip, total }: Order): boolean {
  const sum = (charges: Order["fees"]) => charges.reduce((all, { amount }) => all + amount, 0);
  return total !== subtotal - sum(discounts) + sum(fees) + tax + tip;
}

/** Where the order is handed over; pickup until the guest says otherwise. */
export function handover(order: Order): "pickup" | "delivery" {
  return order.fulfilment?.kind ?? "pickup";
}

/**
 * The time in the restaurant's zone when the order was last taken a stage further; before that, the present one.
 *
 * Both are of the day that the guest is told about: a call is no longer than an evening, and staff move an order on the
 * day that it is for.
 *
 * @param like - An ISO 8601 time in that zone.
 */
export function presentOf(order: Order, like: string): string {
  const times = Object.values(order.stage_times).sort((a, b) => Date.parse(a) - Date.parse(b));
  return times.at(-1) ?? presentAt(like);
}
