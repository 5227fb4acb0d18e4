/** Before the call and in it. What a call needs is loaded when it starts. */

import type { LocalAudioTrack } from "livekit-client";
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { Boundary } from "./parts/boundary";
import { Settings } from "./parts/settings";
import { Trouble, type TroubleKind } from "./parts/trouble";
import { Welcome } from "./parts/welcome";
import { firstLanguage, languages, rememberLanguage, TextsContext } from "./texts";
import { fetchToken, leave, Refused, type Token } from "./token";

const loadCall = () => import("./call");
const Call = lazy(loadCall);

/** How the guest is in a call, while one goes on: a reload goes on with it. */
const IN_CALL = "bella-vista.in-call";

type By = "voice" | "typing";

type Phase =
  | { at: "before"; trouble?: TroubleKind }
  | { at: "starting" }
  | { at: "call"; token: Token; microphone: LocalAudioTrack | null };

export function App() {
  const [texts, setTexts] = useState(firstLanguage);
  const [phase, setPhase] = useState<Phase>({ at: "before" });
  const starting = useRef(false);

  useEffect(() => {
    document.documentElement.lang = texts.code;
  }, [texts]);

  const start = useCallback(async (by: By) => {
    if (starting.current) return;
    starting.current = true;
    setPhase({ at: "starting" });
    let microphone: LocalAudioTrack | null = null;
    try {
      // The agent looks for a microphone when it comes, so it is opened first.
      const { openMicrophone } = await loadCall();
      if (by === "voice") microphone = await openMicrophone();
      const token = await fetchToken();
      inCall(by);
      setPhase({ at: "call", token, microphone });
    } catch (error) {
      microphone?.stop();
      inCall(null);
      setPhase({ at: "before", trouble: troubleOf(error) });
    } finally {
      starting.current = false;
    }
  }, []);

  useEffect(() => {
    const by = wasInCall();
    if (by) void start(by);
    // Ready by the time Start is pressed.
    else void loadCall().catch(() => {});
  }, [start]);

  const again = useCallback(
    async (by: By, another: boolean) => {
      setPhase({ at: "starting" });
      if (another) await leave();
      await start(by);
    },
    [start],
  );
  const over = useCallback(() => inCall(null), []);
  const fail = useCallback((trouble: TroubleKind) => {
    inCall(null);
    setPhase({ at: "before", trouble });
  }, []);

  const chooseLanguage = (code: string) => {
    const chosen = languages[code];
    if (!chosen) return;
    rememberLanguage(code);
    setTexts(chosen);
  };
  return (
    <TextsContext value={texts}>
      <Boundary>
        {phase.at === "call" ? (
          <Suspense>
            <Call
              token={phase.token}
              microphone={phase.microphone}
              onLanguage={chooseLanguage}
              onOver={over}
              onFail={fail}
              onAgain={again}
            />
          </Suspense>
        ) : (
          <Welcome
            settings={<Settings onLanguage={chooseLanguage} />}
            busy={phase.at === "starting"}
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
                  <button type="button" className="button" onClick={() => void start("typing")}>
                    {texts.trouble.again}
                  </button>
                )}
              </Trouble>
            )}
          </Welcome>
        )}
      </Boundary>
    </TextsContext>
  );
}

/** Troubles of which the guest can also do without. */
const MICROPHONE: ReadonlySet<TroubleKind> = new Set(["microphone", "noMicrophone"]);

function troubleOf(error: unknown): TroubleKind {
  if (error instanceof Refused) return error.fault;
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError") return "microphone";
  return name === "NotFoundError" || name === "NotReadableError" ? "noMicrophone" : "no_server";
}

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
