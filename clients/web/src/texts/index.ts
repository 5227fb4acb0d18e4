import { createContext, useContext } from "react";
import { de } from "./de";
import { en, type Texts } from "./en";

export type { Facts, Texts } from "./en";

/** The languages of the page, by their code. */
export const languages: Readonly<Record<string, Texts>> = { en, de };

const REMEMBERED = "bella-vista.language";

export const TextsContext = createContext<Texts>(en);

/** The words of the page in the chosen language. */
export function useTexts(): Texts {
  return useContext(TextsContext);
}

/** The language chosen before, else the browser's first one that the page has. */
export function firstLanguage(): Texts {
  const wanted = [remembered(), ...navigator.languages].filter((code) => code !== null);
  for (const code of wanted) {
    const texts = languages[code.slice(0, 2).toLowerCase()];
    if (texts) return texts;
  }
  return en;
}

/** Keeps the language for the next visit; a browser that keeps nothing is no reason to fail. */
export function rememberLanguage(code: string): void {
  try {
    localStorage.setItem(REMEMBERED, code);
  } catch {}
}

function remembered(): string | null {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
}
