/** React hooks for Bella Vista's order, inside an `AgentSessionProvider`. */

import { useApply, useAppState, useSnapshot } from "@typed-handoffs/react";
import type { Command, OrderView } from "./contract.gen.js";

/** The order with the edits under way, how to change it, and why the latest edit was refused. */
export function useOrder() {
  const { state: order, version, pending, error } = useAppState<OrderView>();
  return { order, version, pending, error, apply: useApply<OrderView, Command>() };
}

/** The order as the agent has it, without the edits under way. */
export function useConfirmedOrder(): OrderView | null {
  return useSnapshot<OrderView>().confirmed;
}
