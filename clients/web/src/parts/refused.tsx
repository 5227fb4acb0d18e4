/** Why an edit was refused, at the place where it was made. */

import type { AppError } from "@typed-handoffs/client";
import { useHouse } from "../model/menu";
import { usePage } from "../model/page";
import { type Texts, useTexts } from "../texts";
import type { Facts } from "../texts/en";

/** A refusal in the words of the page; what it has no words for is said in the server's. */
export function reasonOf(error: AppError, texts: Texts, currency = "USD"): string {
  const facts: Facts = { currency, ...error.facts };
  if (Array.isArray(facts.needs)) {
    facts.needs = facts.needs.map((need) => texts.needs[String(need)] ?? String(need));
  }
  const keys = [facts.why, error.reason, error.type, error.unanswered ? "unreachable" : null];
  for (const key of keys) {
    const worded = typeof key === "string" ? texts.errors[key] : undefined;
    if (worded) return worded(facts);
  }
  return error.detail || texts.errors.other?.(facts) || "";
}

export function Refused({ place }: { place: string }) {
  const texts = useTexts();
  const { refusal } = usePage();
  const { currency } = useHouse();
  if (refusal?.place !== place) return null;
  return (
    <p className="refused" role="alert">
      {reasonOf(refusal.error, texts, currency)}
    </p>
  );
}
