/** Before the call and in it. What a call needs is loaded when it starts. */

import { lazy, Suspense, useCallback, useEffect, useRef, useState } from "react";
import type { Line } from "./call";
import { usePlacedOrder } from "./model/last";
import { Boundary } from "./parts/boundary";
import { House } from "./parts/house";
import { Settings } from "./parts/settings";
import { Trouble, type TroubleKind } from "./parts/trouble";
import { Welcome } from "./parts/welcome";
import { firstLanguage, languages, rememberLanguage, TextsContext } from "./texts";

const loadCall = () => import("./call");
const Call = lazy(loadCall);

/** How the guest is in a call, while one goes on: a reload goes on with it. */
const IN_CALL = "bella-vista.in-call";

type By = "voice" | "typing";

type Phase =
  | { at: "before"; trouble?: TroubleKind; by?: By }
  | { at: "starting" }
  | { at: "call"; line: Line; begunByTyping: boolean };

export function App() {
  const [texts, setTexts] = useState(firstLanguage);
  const [phase, setPhase] = useState<Phase>({ at: "before" });
  const starting = useRef(false);
  const placed = usePlacedOrder(phase.at === "before");

  useEffect(() => {
    document.documentElement.lang = texts.code;
  }, [texts]);

  const start = useCallback(async (by: By, again = false) => {
    if (starting.current) return;
    starting.current = true;
    setPhase({ at: "starting" });
    try {
      const { dial } = await loadCall();
      const line = await dial(by);
      const failed = typeof line === "string";
      inCall(failed ? null : by);
      setPhase(
        failed
          ? { at: "before", trouble: line, by }
          : { at: "call", line, begunByTyping: by === "typing" && !again },
      );
    } catch {
      setPhase({ at: "before", trouble: "no_server", by }); // the page's own scripts could not be loaded
    } finally {
      starting.current = false;
    }
  }, []);

  useEffect(() => {
    const by = wasInCall();
    if (by) void start(by, true);
    // Ready by the time Start is pressed.
    else void loadCall().catch(() => {});
  }, [start]);

  const another = async (line: Line) => {
    setPhase({ at: "starting" });
    const { hangUp } = await loadCall();
    await hangUp(line);
    await start(line.microphone ? "voice" : "typing");
  };
  const over = useCallback(() => inCall(null), []);

  const chooseLanguage = (code: string) => {
    const chosen = languages[code];
    if (!chosen) return;
    rememberLanguage(code);
    setTexts(chosen);
  };
  return (
    <TextsContext value={texts}>
      <Boundary>
        <House reading={phase.at !== "call"}>
          {phase.at === "call" ? (
            <Suspense>
              <Call
                line={phase.line}
                begunByTyping={phase.begunByTyping}
                onLanguage={chooseLanguage}
                onOver={over}
                onAnother={() => void another(phase.line)}
              />
            </Suspense>
          ) : (
            <Welcome
              settings={<Settings onLanguage={chooseLanguage} />}
              busy={phase.at === "starting"}
              placed={placed}
              onStart={(by) => void start(by)}
            >
              {phase.at === "before" && phase.trouble && (
                <Trouble kind={phase.trouble}>
                  {MICROPHONE.has(phase.trouble) ? (
                    <>
                      <button type="button" className="button" onClick={() => void start("voice")}>
                        {texts.trouble.askAgain}
                      </button>
                      <button
                        type="button"
                        className="button quiet"
                        onClick={() => void start("typing")}
                      >
                        {texts.trouble.typing}
                      </button>
                    </>
                  ) : (
                    <button
                      type="button"
                      className="button"
                      onClick={() => void start(phase.by ?? "typing")}
                    >
                      {texts.trouble.again}
                    </button>
                  )}
                </Trouble>
              )}
            </Welcome>
          )}
        </House>
      </Boundary>
    </TextsContext>
  );
}

/** Troubles of which the guest can also do without. */
const MICROPHONE: ReadonlySet<TroubleKind> = new Set(["microphone", "noMicrophone"]);

function wasInCall(): By | null {
  try {
    const by = sessionStorage.getItem(IN_CALL);
    return by === "voice" || by === "typing" ? by : null;
  } catch {
    return null;
  }
}

function inCall(by: By | null): void {
  try {
    if (by) sessionStorage.setItem(IN_CALL, by);
    else sessionStorage.removeItem(IN_CALL);
  } catch {
    // Only a reload is affected.
  }
}
