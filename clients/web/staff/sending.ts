import { AppError } from "@typed-handoffs/client";
import { useRef, useState } from "react";

/** Sends what is pressed, one thing at a time: until it is answered, another press sends nothing. */
export function useSending() {
  const busy = useRef(false);
  const [pending, setPending] = useState(false);
  const [refused, setRefused] = useState<AppError | null>(null);
  const send = async (act: () => Promise<unknown>) => {
    if (busy.current) return;
    busy.current = true;
    setPending(true);
    setRefused(null);
    try {
      await act();
    } catch (error) {
      setRefused(AppError.from(error));
    } finally {
      busy.current = false;
      setPending(false);
    }
  };
  return { pending, refused, send };
}
