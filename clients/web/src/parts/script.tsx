/** What was said, written like a play: the speaker in the margin, what happened in italics. */

import type { Line } from "@typed-handoffs/client";
import { memo, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { type Happened, inWords } from "../model/changes";
import type { Scene } from "../model/evening";
import { useMedia } from "../model/hooks";
import { useCourse } from "../model/page";
import { capital, humanised } from "../model/words";
import { useTexts } from "../texts";
import { agentName, colourOf, theAgent } from "./agents";
import "../styles/script.css";

const LONG = 140;

/**
 * @param brief - Only the last lines stand open: the order is placed, and the page has other news.
 */
export function Script({ brief = false }: { brief?: boolean }) {
  const texts = useTexts();
  const { scenes } = useCourse();
  const phone = useMedia("(max-width: 47.99rem)");
  const newest = scenes.findLastIndex((scene) => scene.kind === "line");
  const open = brief ? 3 : phone ? 5 : 9;
  // Folding from the first scene shown, never within what came together.
  let fold = Math.max(0, Math.min(scenes.length - open, newest));
  while (fold > 0 && scenes[fold]?.kind === "change") fold -= 1;
  const folded = scenes.slice(0, fold).filter((scene) => scene.kind === "line").length;
  const from = folded > 1 ? fold : 0;
  const earlier = scenes.slice(0, from);
  const { end, following } = useFollow(scenes);
  return (
    <>
      {earlier.length > 0 && (
        // Opened, they stay in view; closed, the newest line does again.
        <details
          className="earlier"
          onToggle={({ currentTarget }) => {
            following.current = !currentTarget.open;
          }}
        >
          <summary>{texts.script.earlier(folded)}</summary>
          <div className="script">
            {earlier.map((scene) => (
              <SceneOf key={scene.id} scene={scene} />
            ))}
          </div>
        </details>
      )}
      <div className="script" role="log" aria-label={texts.script.log}>
        {scenes.slice(from).map((scene, place) => (
          <SceneOf key={scene.id} scene={scene} newest={from + place === newest} />
        ))}
      </div>
      <span ref={end} className="script-end" />
    </>
  );
}

function SceneOf({ scene, newest = false }: { scene: Scene; newest?: boolean }) {
  const texts = useTexts();
  if (scene.kind === "line") return <LineOf line={scene.line} newest={newest} />;
  if (scene.kind === "change") return <Told told={scene.told} />;
  return (
    <p className="handoff" aria-live="off">
      <span>
        <b>{capital(theAgent(scene.from, texts))}</b> {texts.script.handsOver}{" "}
        <b>{texts.script.to[scene.to] ?? humanised(scene.to)}</b>
      </span>
    </p>
  );
}

/** A line; other news of the call leave it as it is. */
const LineOf = memo(function LineOf({ line, newest }: { line: Line; newest: boolean }) {
  const texts = useTexts();
  const user = line.speaker === "user";
  const who = user ? texts.script.you : agentName(line.agent ?? "other", texts);
  const classes = ["line", user ? "of-user" : colourOf(line.agent ?? "other")];
  if (user) classes.push("by-user");
  if (newest) classes.push("newest");
  if (line.text.length > LONG) classes.push("long");
  return (
    <div className={classes.join(" ")} aria-hidden={line.final ? undefined : true}>
      <p className="who">{who}</p>
      {/* Agents speak English, whatever the language of the page is. */}
      <p className="said" lang={user ? undefined : "en"}>
        {line.final ? line.text : <span className="interim">{line.text}</span>}
      </p>
      {line.interrupted && <p className="happened">{texts.script.cutOff}</p>}
    </div>
  );
});

/** Changes of the ticket; read aloud by the page's status line instead of the log. */
function Told({ told }: { told: readonly Happened[] }) {
  const texts = useTexts();
  const on = told.filter((one) => !one.off);
  const off = told.filter((one) => one.off);
  return (
    <div className="line" aria-live="off">
      {on.length > 0 && (
        <p className="happened">
          {texts.script.onTicket} {on.map(worded)}
        </p>
      )}
      {off.length > 0 && (
        <p className="happened">
          {texts.script.offTicket} {off.map(worded)}
        </p>
      )}
    </div>
  );

  function worded(one: Happened, place: number): ReactNode {
    const [before, strong, after] = inWords(one, texts);
    const ofMenu = one.what === "item" ? "en" : undefined; // the menu's words in every language
    return (
      <span key={place}>
        {place > 0 && "; "}
        {before}
        <b lang={ofMenu}>{strong}</b>
        <span lang={ofMenu}>{after}</span>
      </span>
    );
  }
}

/** Keeps the newest line in view, unless the guest has scrolled away from it or opens the earlier lines. */
function useFollow(scenes: readonly Scene[]) {
  const end = useRef<HTMLSpanElement>(null);
  const following = useRef(true);
  /** The page's layout when the newest line was last brought into view. */
  const layout = useRef<readonly number[]>([]);
  const follow = useCallback(() => {
    const mark = end.current;
    if (!mark || !following.current) return;
    mark.scrollIntoView({ block: "nearest" });
    layout.current = layoutAround(mark);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new scene is a reason to look
  useLayoutEffect(follow, [scenes, follow]);
  useEffect(() => {
    function scrolled() {
      const mark = end.current;
      if (!mark) return;
      // A page whose layout changes scrolls by itself, too: only one that stayed the same was scrolled by the guest.
      const moved = layoutAround(mark).some(
        (one, place) => Math.abs(one - (layout.current[place] ?? 0)) > 1,
      );
      if (following.current && moved) return follow();
      // Near the end counts as reading along.
      const { top, bottom } = mark.getBoundingClientRect();
      following.current = bottom >= 0 && top <= innerHeight + 200;
    }
    // A dock that grows, for quick answers, must not cover what was just said; it reserves its height in this frame.
    const watch = new ResizeObserver(() => requestAnimationFrame(follow));
    watch.observe(document.body);
    const dock = document.getElementById("dock");
    if (dock) watch.observe(dock);
    addEventListener("scroll", scrolled, { passive: true });
    addEventListener("resize", follow);
    return () => {
      watch.disconnect();
      removeEventListener("scroll", scrolled);
      removeEventListener("resize", follow);
    };
  }, [follow]);
  return { end, following };
}

/** What moves a part of the page without anybody scrolling, in pixels. */
function layoutAround(mark: Element): readonly number[] {
  const top = mark.getBoundingClientRect().top + scrollY;
  return [top, document.documentElement.scrollHeight, innerWidth, innerHeight];
}
