/** What the app says, in one place. */

export const texts = {
  title: "Bella Vista",
  start: "Start",
  joinAgain: "Join again",
  leave: "Leave",
  you: "You",
  type: "Type to the restaurant",
  say: "Say",
  hold: "Hold to talk",
  release: "Release to send",
  noMicrophone:
    "The microphone could not be used. Allow it in the settings of this phone, or type instead.",
  ended: "The call is over. Say something to start another.",
  failed: "The restaurant could not take the order.",
  why: (reason: string) => `The reason: ${reason}`,
  notSaid: "That was not delivered. Please try again.",
  agent: (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " "),
  turn: (yours: boolean) => (yours ? "Your turn" : "Please listen"),
  more: (name: string) => `One more ${name}`,
  fewer: (name: string) => `One ${name} less`,
  quantity: (quantity: number, name: string) => `${quantity} ${name}`,
  status: {
    idle: "",
    connecting: "Connecting",
    waiting_for_agent: "Waiting for an agent",
    reconnecting: "Reconnecting",
    ended: "Call ended",
    failed: "Not connected",
  } as const satisfies Record<string, string>,
  fault: {
    no_server: "The restaurant cannot be reached.",
    refused: "The restaurant does not accept this call.",
    too_many: "Too many calls. Please wait a moment.",
    elsewhere: "This call goes on elsewhere.",
  },
  problem: {
    no_agent: "No agent answers.",
    refused: "The agent does not serve this app.",
    disconnected: "The connection is lost.",
  },
};
