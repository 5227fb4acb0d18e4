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
  "--autoplay-policy=no-user-gesture-required",
  "--allow-loopback-in-peer-connection",
];
const [, , executablePath, limit] = process.argv;

const browser = await chromium.launch({ executablePath, args: FLAGS });
/** The pages by their names, and what went wrong in them. */
const pages = new Map();
const wrong = [];
/** The pages whose processor time is looked at, with the debugger's session. */
const watches = new WeakMap();

const methods = {
  /** Open a page of its own, as another guest has it. */
  async open({ page: name, width = 1280, height = 900, script, ...rest }) {
    const context = await browser.newContext({
      viewport: { width, height },
      reducedMotion: "reduce",
      ...rest,
    });
    context.setDefaultTimeout(Number(limit));
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
  goto: ({ page, url }) => on(page).goto(url),
  reload: ({ page }) => on(page).reload(),
  press: ({ page, role = "button", name, within }) => found(page, role, name, within).click(),
  check: ({ page, role = "radio", name, within }) =>
    found(page, role, name, within).check({ force: true }),
  fill: ({ page, label, text }) => on(page).getByLabel(label, { exact: true }).fill(text),
  select: ({ page, label, value }) =>
    on(page).getByLabel(label, { exact: true }).selectOption(value),
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
  async axe({ page }) {
    // The page's own policy allows no foreign script in it; the debugger's is not the page's.
    await on(page).evaluate(AXE);
    return on(page).evaluate(async () => {
      const { violations } = await window.axe.run(document, {
        runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
      });
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary}`),
      );
    });
  },
  wrong: () => wrong.splice(0),
};

function on(name) {
  const page = pages.get(name);
  if (!page) throw new Error(`there is no page ${name}`);
  return page;
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
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
