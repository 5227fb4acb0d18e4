/**
 * Drives a real browser for tests/clients: one JSON request a line on stdin, one JSON answer a line on stdout.
 *
 * What a guest would do, and no more: pages, buttons, fields, keys. A page's own errors come with the answer.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--use-fake-ui-for-media-stream",
  "--use-fake-device-for-media-stream",
  "--allow-loopback-in-peer-connection",
];
const [, , executablePath, limit, ...flags] = process.argv;

const browser = await chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
/** The pages by their names, and what went wrong in them. */
const pages = new Map();
const wrong = [];
/** The pages whose processor time is looked at, with the debugger's session. */
const watches = new WeakMap();

const methods = {
  /** Open a page of its own, as another guest has it. */
  async open({ page: name, width = 1280, height = 900, speaks = false, script, ...rest }) {
    const context = await browser.newContext({
      viewport: { width, height },
      reducedMotion: "reduce",
      ...rest,
    });
    context.setDefaultTimeout(Number(limit));
    if (speaks) await context.addInitScript(giveVoiceAndEars);
    if (script) await context.addInitScript(script);
    const page = await context.newPage();
    page.on("pageerror", (error) => wrong.push(`${name}: ${error.stack ?? error}`));
    page.on("console", (message) => {
      if (message.type() === "error") wrong.push(`${name}: ${message.text()}`);
    });
    pages.set(name, page);
  },
  close: async ({ page }) => {
    await on(page).context().close();
    pages.delete(page);
  },
  /** All guests leave; what was complained about goes with them. */
  async leave() {
    for (const page of pages.values()) await page.context().close();
    pages.clear();
    wrong.length = 0;
  },
  /** Change what the guest's system wants: `colorScheme`, `forcedColors`; what is not named is as at first. */
  emulate: ({ page, colorScheme = null, forcedColors = null }) =>
    on(page).emulateMedia({ colorScheme, forcedColors }),
  goto: ({ page, url }) => on(page).goto(url),
  reload: ({ page }) => on(page).reload(),
  press: ({ page, role = "button", name, within }) => found(page, role, name, within).click(),
  check: ({ page, role = "radio", name, within }) =>
    found(page, role, name, within).check({ force: true }),
  fill: ({ page, label, text }) => on(page).getByLabel(label, { exact: true }).fill(text),
  select: ({ page, label, value }) =>
    on(page).getByRole("combobox", { name: label, exact: true }).selectOption(value),
  /** Press a button and keep it pressed, until `release`. */
  async hold({ page, name }) {
    await found(page, "button", name).hover();
    await on(page).mouse.down();
  },
  release: ({ page }) => on(page).mouse.up(),
  /** Speak into the microphone; answers at the end of the sound. */
  speak: ({ page, wav }) => on(page).evaluate((sound) => window.guest.speak(sound), wav),
  /** Wait until the page's loudspeaker is this loud; a negative level: until it is quieter. */
  async loudness({ page, level }) {
    await on(page).waitForFunction(
      (wanted) => (wanted < 0 ? guest.loudness() < -wanted : guest.loudness() > wanted),
      level,
    );
  },
  key: ({ page, key }) => on(page).keyboard.press(key),
  focused: ({ page }) =>
    on(page).evaluate(() => {
      const focused = document.activeElement;
      return (focused?.getAttribute("aria-label") ?? focused?.textContent ?? "").trim();
    }),
  see: ({ page, selector, text }) =>
    on(page)
      .locator(selector, text === undefined ? {} : { hasText: text })
      .first()
      .waitFor({ state: "attached" }),
  unsee: ({ page, selector, text }) =>
    on(page)
      .locator(selector, text === undefined ? {} : { hasText: text })
      .first()
      .waitFor({ state: "detached" }),
  texts: ({ page, selector }) => on(page).locator(selector).allInnerTexts(),
  evaluate: ({ page, expression }) => on(page).evaluate(expression),
  until: ({ page, expression }) =>
    on(page)
      .waitForFunction(expression)
      .then(() => null),
  /** Wait until something holds; this, unlike all else here, is no gesture for the browser. */
  look: ({ page, expression }) => looked(page, expression).then(() => null),
  /** Press something as a hand does: the press alone is a gesture. */
  async tap({ page, selector }) {
    const place = `document.fonts.status === "loaded" && (() => {
      const found = document.querySelector(${JSON.stringify(selector)});
      const { x, y, width, height } = found?.getBoundingClientRect() ?? {};
      const middle = [x + width / 2, y + height / 2];
      return found?.contains(document.elementFromPoint(...middle)) && middle;
    })()`;
    // What is still being laid out would move away from below the pointer.
    let before;
    let at = await looked(page, place);
    while (String(at) !== String(before)) {
      before = at;
      at = await looked(page, place);
    }
    await on(page).mouse.click(...at);
  },
  async shot({ page, path, whole = false }) {
    await on(page).screenshot({ path, fullPage: whole });
  },
  /** The processor time of the page's main thread so far, in seconds. */
  async work({ page }) {
    let watch = watches.get(on(page));
    if (!watch) {
      watch = await on(page).context().newCDPSession(on(page));
      await watch.send("Performance.enable", { timeDomain: "threadTicks" });
      watches.set(on(page), watch);
    }
    const { metrics } = await watch.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value;
  },
  /** What axe finds on the page as it is. */
  async axe({ page, without = [] }) {
    // The page's own policy allows no foreign script in it; the debugger's is not the page's.
    await on(page).evaluate(AXE);
    return on(page).evaluate(async (rules) => {
      const { violations } = await window.axe.run(document, {
        rules: Object.fromEntries(rules.map((rule) => [rule, { enabled: false }])),
        runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
      });
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary}`),
      );
    }, without);
  },
  wrong: () => wrong.splice(0),
};

/** Runs in the page before its own scripts: a microphone that plays what is given, and a meter of what is played. */
function giveVoiceAndEars() {
  const context = new AudioContext();
  const mouth = new GainNode(context);
  const ears = new AnalyserNode(context, { fftSize: 32_768 }); // the last 0.7 seconds
  const samples = new Float32Array(ears.fftSize);
  const followed = new WeakSet();
  navigator.mediaDevices.getUserMedia = async () => {
    void context.resume(); // it may run once the guest has pressed something
    const microphone = new MediaStreamAudioDestinationNode(context, { channelCount: 1 });
    mouth.connect(microphone);
    return microphone.stream;
  };
  window.guest = {
    async speak(wav) {
      const bytes = Uint8Array.from(atob(wav), (character) => character.charCodeAt(0));
      const buffer = await context.decodeAudioData(bytes.buffer);
      const voice = new AudioBufferSourceNode(context, { buffer });
      voice.connect(mouth);
      voice.start();
      await new Promise((ended) => voice.addEventListener("ended", ended));
    },
    /** The effective level of what the page plays now; 1 is the loudest sound there is. */
    loudness() {
      void context.resume();
      for (const { srcObject, paused, muted, volume } of document.querySelectorAll("audio")) {
        if (!srcObject || paused || muted || volume === 0 || followed.has(srcObject)) continue;
        followed.add(srcObject);
        context.createMediaStreamSource(srcObject).connect(ears);
      }
      ears.getFloatTimeDomainData(samples);
      return Math.hypot(...samples) / Math.sqrt(samples.length);
    },
  };
}

function on(name) {
  const page = pages.get(name);
  if (!page) throw new Error(`there is no page ${name}`);
  return page;
}

/** The value of an expression once there is one; playwright's own evaluation would count as a gesture. */
async function looked(name, expression) {
  const debug = await on(name).context().newCDPSession(on(name));
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`not so in time: ${expression}`)), Number(limit)).unref();
  });
  const seen = debug.send("Runtime.evaluate", {
    awaitPromise: true,
    returnByValue: true,
    expression: `new Promise((done) => {
      const look = () => {
        const value = ${expression};
        if (value) done(value);
        else requestAnimationFrame(look);
      };
      look();
    })`,
  });
  const { result } = await Promise.race([seen, late]);
  await debug.detach();
  return result.value;
}

/** The words that a page shows, so that a failed test tells them. */
async function shown(name) {
  const words = await pages
    .get(name)
    ?.evaluate(() => document.body.innerText)
    .catch(String);
  return words === undefined ? "" : `The page shows:\n${words.replace(/\n\s*/g, "\n")}`;
}

function found(page, role, name, within) {
  const scope = within === undefined ? on(page) : on(page).locator(within);
  return scope.getByRole(role, { name, exact: true }).first();
}

process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { method, ...given } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await methods[method](given)) ?? null };
  } catch (error) {
    answer = { error: `${error}\n${await shown(given.page)}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
