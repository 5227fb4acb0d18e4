/** A page with a session in a real room that does what a test tells it. */

import { AgentSession } from "@typed-handoffs/client";
import { roomTransport } from "@typed-handoffs/client/livekit";
import { Room } from "livekit-client";
import { bellaVista } from "../../../bella-vista/src/index.js";
import { controlled } from "./control.js";

let tell: (what: object) => void = () => {};

const room = new Room();
const session = new AgentSession(roomTransport(room), bellaVista, {
  warn: (message, detail) => tell({ warned: `${message} ${detail ?? ""}` }),
  bringAgent: async () => tell({ missing: true }),
  limits: { missing: 1_000 },
});

controlled(
  {
    connect: (url: string, token: string) => room.connect(url, token),
    start: () => session.start(),
    say: (...given: Parameters<typeof session.say>) => session.say(...given),
    apply: (...given: Parameters<typeof session.apply>) => session.apply(...given),
    request: (method: string, payload: object) => session.request(method, payload),
    simulate: (scenario: Parameters<Room["simulateScenario"]>[0]) =>
      room.simulateScenario(scenario),
  },
  (send) => {
    tell = send;
    session.subscribe(() => tell({ snapshot: session.getSnapshot() }));
    session.onChange(({ base, version, own }) => tell({ change: { base, version, own } }));
    tell({ snapshot: session.getSnapshot() });
  },
);
