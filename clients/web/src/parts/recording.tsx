/** Says that the call is recorded; the guest can refuse it. */

import { useLayoutEffect, useRef, useState } from "react";
import { useNow, usePage } from "../model/page";
import { useTexts } from "../texts";

export function Recording() {
  const words = useTexts().recording;
  const { session } = usePage();
  const recorded = useNow().features.includes("recorded");
  const [refusal, setRefusal] = useState<"none" | "asked" | "failed">("none");
  const told = useRef<HTMLParagraphElement>(null);
  const [wasRecorded, setWasRecorded] = useState(recorded);
  if (recorded && !wasRecorded) setWasRecorded(true);
  const done = wasRecorded && !recorded; // by the button, or by words
  // The button has gone: a keyboard goes on from what stands in its place.
  useLayoutEffect(() => {
    if (done && refusal === "asked") told.current?.focus();
  }, [done, refusal]);
  if (done)
    return (
      <p className="note soft" role="status" tabIndex={-1} ref={told}>
        {words.refused}
      </p>
    );
  if (!recorded) return null;
  const refuse = async () => {
    setRefusal("asked");
    try {
      await session.refuseRecording();
    } catch {
      setRefusal("failed");
    }
  };
  return (
    <section className="note soft" aria-label={words.label}>
      <p>{words.recorded}</p>
      {refusal === "failed" && <p role="alert">{words.failed}</p>}
      <div className="row">
        <button
          type="button"
          className="button"
          aria-disabled={refusal === "asked"}
          onClick={() => refusal !== "asked" && void refuse()}
        >
          {words.refuse}
        </button>
      </div>
    </section>
  );
}
