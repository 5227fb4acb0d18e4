/** React hooks for an agent's state, turn and words. */

export {
  AgentSessionProvider,
  useActiveAgent,
  useAgentSession,
  useApply,
  useAppState,
  useCall,
  useLines,
  usePushToTalk,
  useSnapshot,
  useStaffBoard,
  useTurn,
} from "./hooks.js";
