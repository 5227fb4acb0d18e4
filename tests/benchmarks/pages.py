"""How fast the restaurant's page is: in a Chromium of this machine, on the real web server, rooms and agents."""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents.app.livekit_server import HOW_TO_GET, find_program
from tests.agents.restaurant import bella_vista
from tests.benchmarks.measuring import Spread
from tests.benchmarks.report import Table
from tests.benchmarks.rooms.deployment import WATCHED, Deployment, deployed
from tests.clients.guest import Browser, Guest, guests
from tests.clients.toolchain import chromium_program, run_node

INTERACTIVE_MS, SHOWN_MS, CONFIRMED_MS, PUSHED_MS, FRAME_MS = 2000, 50, 100, 100, 50
"""Budgets. An edit is shown "at once" if it is painted within the longest frame that is allowed."""

START = "Start by typing"

LIMIT_S = 60
"""How long anything may take."""

REST_S = 2
"""How long the page is measured at rest: its longest frame then is the machine's own limit."""

PACE_MS = 60
"""How long a guest takes from one edit to the next at least; 20 calls a second are allowed."""

RECORDER = """
(() => {
  const seen = {}, waits = [], told = {};
  const times = Object.fromEntries(
    ["start", "order", "turn"].map((name) => [name, new Promise((tell) => (seen[name] = tell))]),
  );
  let frame = 0, longestFrame = 0, longestTask = 0;
  const TEXTS = { quantities: ".item output", total: ".sums .amount.total" };
  const PLACES = { start: ".invitation button", order: ".stepper button", turn: ".dock.yours" };
  const text = (selector) =>
    [...document.querySelectorAll(selector)].map((one) => one.textContent).join();
  const painted = (tell) =>
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => tell(performance.now());
      channel.port2.postMessage(0);
    });
  new MutationObserver(() => {
    for (const [name, selector] of Object.entries(PLACES)) {
      if (!seen[name] || !document.querySelector(selector)) continue;
      painted(seen[name]);
      delete seen[name];
    }
    for (const [name, selector] of Object.entries(TEXTS)) {
      const now = text(selector);
      if (now === told[name]) continue;
      told[name] = now;
      for (const wait of waits.splice(0)) {
        if (wait.name === name) painted(wait.tell);
        else waits.push(wait);
      }
    }
  }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTask = Math.max(longestTask, duration);
  }).observe({ type: "longtask" });
  const tick = (now) => {
    if (frame) longestFrame = Math.max(longestFrame, now - frame);
    frame = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  const next = (name) => new Promise((tell) => waits.push({ name, tell }));
  window.recorder = {
    times,
    async edit(name, pace) {
      await new Promise((done) => setTimeout(done, pace));
      const shown = next("quantities"), confirmed = next("total"), begin = performance.now();
      document.querySelector(`[aria-label="${name}"]`).click();
      return [(await shown) - begin, (await confirmed) - begin];
    },
    async change() {
      const at = await next("total");
      return (performance.timeOrigin + at) / 1000;
    },
    longest: () => [longestFrame, longestTask],
    forget: () => { longestFrame = longestTask = 0; },
  };
})();
"""


@dataclass(frozen=True)
class Pages:
    """How often each thing is done on the page.

    Args:
        visits: How often the page is opened, a call begun, and reloaded.
        edits: How often a quantity is changed by hand, on a short order and on a long one.
        words: How often the agent adds a dish, to each: an order takes 20 of one, and no more than $500.
        lines: How long the long order is.
    """

    visits: int
    edits: int
    words: int
    lines: int


def measure(plan: Pages) -> list[Table]:
    """Measure the page, if there is all that it takes."""
    program = find_program()
    try:
        if program is None:
            pytest.skip(f"there is no LiveKit server here ({HOW_TO_GET})")
        chromium_program()
        with tempfile.TemporaryDirectory() as built:
            run_node("node_modules/vite/bin/vite.js", "build", "web", "--outDir", built)
            at = {"BELLA_VISTA_AT": "2026-11-20T18:00", "BELLA_VISTA_IDLE": "2"}
            with deployed(program, WATCHED, **at) as deployment:
                return [asyncio.run(_measured(deployment, Path(built), plan))]
    except (pytest.skip.Exception, pytest.fail.Exception) as missing:
        return [Table(f"The page was left out: {missing}", ())]


async def _measured(deployment: Deployment, page: Path, plan: Pages) -> Table:
    table = Table(
        "The restaurant's page in Chromium, ms",
        ("median", "quartiles", "most"),
        note="Until it is painted. An edit is timed from the click, an agent's change from its commit. A frame is the"
        " time between two of the browser's animation frames, a task what its main thread does in one piece, waiting"
        " for a core included. Processor is what an edit costs the main thread, until it is confirmed.",
        subject="the page",
    )
    async with _web_server(deployment, page) as url, guests() as browser:
        guest = await _visits(table, browser, url, plan)
        await _edits(table, guest, "a quantity by hand", plan)
        await _words(table, deployment, guest, "the agent adds a dish", plan)
        await _fill(guest, plan.lines)
        await _recorded(guest, "forget()")
        await asyncio.sleep(REST_S)
        idle = await _recorded(guest, "longest()")
        await _recorded(guest, "forget()")
        await _edits(table, guest, f"a quantity by hand, {plan.lines} lines", plan)
        await _words(table, deployment, guest, f"the agent adds a dish, {plan.lines} lines", plan)
        frame, task = await _recorded(guest, "longest()")
        name = f"{plan.lines} lines: the longest"
        _add(table, f"{name} frame", [frame], FRAME_MS, limit=idle[0])
        _add(table, f"{name} task", [task], FRAME_MS, limit=idle[1])
    return table


async def _visits(table: Table, browser: Browser, url: str, plan: Pages) -> Guest:
    """Open the page, begin a call, order, reload; returns the last guest."""
    await (await _visit(browser, url))[0].close()  # warms the agents' processes and the servers
    visits = [await _visit(browser, url) for _ in range(plan.visits)]
    opened, begun, reloaded = zip(*(times for _, times in visits), strict=True)
    _add(table, "opened: Start can be pressed", opened, INTERACTIVE_MS)
    _add(table, "Start: the guest's turn, greeted by an agent", begun, INTERACTIVE_MS)
    _add(table, "reloaded in a call: the order can be changed", reloaded, INTERACTIVE_MS)
    for guest, _ in visits[:-1]:
        await guest.close()
    return visits[-1][0]


async def _visit(browser: Browser, url: str) -> tuple[Guest, tuple[float, float, float]]:
    guest = await browser.guest(script=RECORDER)
    await guest.goto(url)
    opened = await _time(guest, "start")
    before = await guest.evaluate("performance.now()")
    await guest.press(START)
    begun = await _time(guest, "turn") - before
    await guest.say("a tiramisu please")
    await guest.hear("Tiramisu")
    await guest.reload()
    return guest, (opened, begun, max(await _time(guest, "order"), await _time(guest, "turn")))


async def _time(guest: Guest, what: str) -> float:
    """Wait until something has been painted; returns when, in milliseconds since the page was asked for."""
    return float(await _recorded(guest, f"times.{what}"))


async def _recorded(guest: Guest, what: str) -> Any:
    async with asyncio.timeout(LIMIT_S):
        return await guest.evaluate(f"recorder.{what}")


async def _edits(table: Table, guest: Guest, name: str, plan: Pages) -> None:
    taken: list[list[float]] = []
    before = await guest.do("work")
    for number in range(plan.edits + 2):
        button = "One fewer Tiramisu" if number % 2 else "One more Tiramisu"
        taken.append(await _recorded(guest, f"edit({json.dumps(button)}, {PACE_MS})"))
    worked = (await guest.do("work") - before) * 1000 / len(taken)
    shown, confirmed = zip(*taken[2:], strict=True)
    _add(table, f"{name}: shown", shown, SHOWN_MS)
    _add(table, f"{name}: confirmed", confirmed, CONFIRMED_MS)
    table.add(f"{name}: processor, both frames", f"{worked:.0f}", "", "")


async def _words(
    table: Table, deployment: Deployment, guest: Guest, name: str, plan: Pages
) -> None:
    taken: list[float] = []
    for _ in range(plan.words):
        await guest.evaluate("void (recorder.changed = recorder.change())")
        await guest.say("another tiramisu please")
        shown = await _recorded(guest, "changed")
        await guest.see(".dock.yours")
        committed = [one for one in _changes(deployment) if one <= shown]
        taken.append((shown - committed[-1]) * 1000)
    _add(table, f"{name}: shown", taken, PUSHED_MS)


def _changes(deployment: Deployment) -> list[float]:
    """Return when the agents have added dishes, by the machine's clock."""
    lines = [
        line for file in deployment.folder.glob("*.jsonl") for line in file.read_text().splitlines()
    ]
    notes = [json.loads(line) for line in lines if '"changed"' in line and line.endswith("}")]
    return sorted(one["wall"] for one in notes if "add_item" in one["ops"])


async def _fill(guest: Guest, lines: int) -> None:
    """Order until the order has so many lines."""
    dishes = (dish for dish in bella_vista().dishes if len(dish.sizes) < 2 and not dish.options)
    while len(await guest.texts(".item .name")) < lines:
        name = next(dishes).name
        await guest.say(f"one {name} please")
        await guest.hear(name)  # some are not served in the evening


def _add(table: Table, name: str, taken: Any, budget: float, limit: float | None = None) -> None:
    spread = Spread.of(taken)
    table.add(
        name,
        f"{spread.median:.0f}",
        f"{spread.low:.0f}-{spread.high:.0f}",
        f"{spread.most:.0f}",
        measured=round(spread.median, 1),
        budget=budget,
        limit=limit,
        limit_is="the same page at rest" if limit is not None else "",
    )


@asynccontextmanager
async def _web_server(deployment: Deployment, page: Path) -> AsyncIterator[str]:
    """Serve the page; gives its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bella_vista", "web", "--port", "0", "--page", str(page)),
        env={**deployment.environment, "BELLA_VISTA_AT": "2026-11-20T18:00"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        word, _, url = (await process.stdout.readline()).decode().strip().partition(" ")
        if word != "ready":
            raise RuntimeError("the web server did not start")
        yield url
    finally:
        process.terminate()
        await process.wait()
