// @vitest-environment jsdom

import { act, cleanup, render, renderHook, screen } from "@testing-library/react";
import { AgentSession, type App } from "@typed-handoffs/client";
import { FakeRoom } from "@typed-handoffs/client/testing";
import { type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, expect, test, vi } from "vitest";
import {
  AgentSessionProvider,
  useActiveAgent,
  useAgentSession,
  useApply,
  useAppState,
  useLines,
  usePushToTalk,
  useSnapshot,
  useTurn,
} from "../src/index.js";

interface Count {
  count: number;
}
type Command = { op: "set"; count: number };

const app: App<Count, Command> = {
  noun: "counter",
  optimistic: (_, { count }) => ({ count }),
};

afterEach(cleanup);

function counter() {
  const room = new FakeRoom<Count, Command>({
    noun: "counter",
    state: { count: 0 },
    reduce: (_, { count }) => ({ count }),
    features: ["push_to_talk"],
  });
  room.connection("connected");
  room.join();
  const session = new AgentSession(room.transport, app, {
    warn: (message, detail) => expect.fail(`${message} ${detail}`),
  });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <AgentSessionProvider session={session}>{children}</AgentSessionProvider>
  );
  return { room, session, wrapper };
}

/** Let everything happen that is due. */
const settled = () => act(async () => {});

function Page(): ReactNode {
  const { state, pending } = useAppState<Count>();
  const turn = useTurn();
  const agent = useActiveAgent();
  return (
    <p>
      {agent ?? "no agent"}: {state?.count ?? "-"} ({pending}) {turn?.yours ? "your turn" : "wait"}
    </p>
  );
}

const shown = () => document.body.textContent;

test("hooks show state, turn and agent as they change", async () => {
  const { room, wrapper } = counter();
  render(<Page />, { wrapper });
  expect(shown()).toBe("no agent: - (0) wait");
  await settled();
  expect(shown()).toBe("greeter: 0 (0) wait");
  act(() => room.change({ op: "set", count: 2 }));
  act(() => room.yourTurn({ active_agent: "cashier" }));
  expect(shown()).toBe("cashier: 2 (0) your turn");
});

test("an edit is shown at once, by every hook", async () => {
  const { wrapper } = counter();
  const { result } = renderHook(
    () => ({
      one: useAppState<Count>(),
      other: useAppState<Count>(),
      apply: useApply<Count, Command>(),
    }),
    { wrapper },
  );
  await settled();
  const { apply } = result.current;
  act(() => void apply({ op: "set", count: 5 }));
  expect(result.current.one).toMatchObject({ state: { count: 5 }, pending: 1 });
  expect(result.current.other.state).toBe(result.current.one.state);
  await settled();
  expect(result.current.one).toMatchObject({
    state: { count: 5 },
    pending: 0,
    version: 1,
    error: null,
  });
  expect(result.current.apply).toBe(apply);
});

test("in strict mode the session ends up started once, and after unmounting closed", async () => {
  const { room, session, wrapper } = counter();
  const errors = vi.spyOn(console, "error");
  const { unmount } = render(
    <StrictMode>
      <Page />
    </StrictMode>,
    { wrapper: ({ children }) => <StrictMode>{wrapper({ children })}</StrictMode> },
  );
  await settled();
  expect(shown()).toBe("greeter: 0 (0) wait");
  expect(room.listened).toBe(true);
  unmount();
  expect(room.listened).toBe(false);
  expect(session.getSnapshot().status).toBe("idle");
  act(() => room.connection("reconnecting"));
  await settled();
  expect(errors).not.toHaveBeenCalled();
  errors.mockRestore();
});

test("a component that only shows the agent is not rendered again by an edit", async () => {
  const { room, wrapper } = counter();
  let renders = 0;
  const { result } = renderHook(
    () => {
      renders += 1;
      return useActiveAgent();
    },
    { wrapper },
  );
  await settled();
  expect(result.current).toBe("greeter");
  const before = renders;
  act(() => room.change({ op: "set", count: 9 }));
  expect(renders).toBe(before);
});

test("on the server nothing is started, and the first picture is the same", () => {
  const { room, wrapper: Wrapper } = counter();
  const html = renderToString(
    <Wrapper>
      <Page />
    </Wrapper>,
  );
  expect(html).toContain("no agent");
  expect(room.listened).toBe(false);
});

test("what is said comes line by line", async () => {
  const { room, wrapper } = counter();
  const { result } = renderHook(() => ({ lines: useLines(), all: useSnapshot() }), { wrapper });
  await settled();
  act(() => room.transcribe({ text: "Good evening." }));
  expect(result.current.lines).toMatchObject([{ speaker: "agent", text: "Good evening." }]);
  expect(result.current.all.lines).toBe(result.current.lines);
});

let talk: ReturnType<typeof usePushToTalk> | undefined;

function TalkButton(): ReactNode {
  talk = usePushToTalk();
  return null;
}

test("push-to-talk goes from start to end, and is cancelled with its button", async () => {
  const { room, wrapper } = counter();
  const { rerender } = render(<TalkButton />, { wrapper });
  await settled();
  expect(talk).toMatchObject({ offered: true, talking: false });
  await act(async () => {
    void talk?.start();
    void talk?.start(); // a key that repeats
  });
  expect(talk?.talking).toBe(true);
  await act(async () => {
    await talk?.end();
    await talk?.end();
  });
  expect(talk?.talking).toBe(false);
  await act(async () => talk?.start());
  rerender(<p />);
  await settled();
  const called = room.calls.slice(2).map((call) => call.method);
  expect(called).toEqual(["start_turn", "end_turn", "start_turn", "cancel_turn"]);
});

test("a hook outside of a provider says what is missing", () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  expect(() => renderHook(() => useAgentSession())).toThrow("AgentSessionProvider");
  errors.mockRestore();
});

test("markup in the state is text", async () => {
  const { room, wrapper } = counter();
  render(<Page />, { wrapper });
  await settled();
  act(() => room.yourTurn({ active_agent: "<img src=x onerror=alert(1)>" }));
  expect(screen.getByText(/<img src=x/)).toBeTruthy();
  expect(document.querySelector("img")).toBeNull();
});
