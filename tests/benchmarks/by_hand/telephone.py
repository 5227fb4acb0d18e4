"""An agent for telephones as livekit's own documentation shows one: it greets its callers, and answers them.

Run as a module it is a worker with one warm process, for the stand-ins that the restaurant's settings name.
"""

import asyncio
import logging
import os

from livekit.agents import Agent, AgentServer, AgentSession, JobContext, JobProcess
from livekit.plugins import cartesia, deepgram, openai, silero

GREETING = (
    "Good evening, welcome to Bella Vista! I am the restaurant's automatic assistant."
    " May I have your name, and what can I get you?"
)


def prewarm(process: JobProcess) -> None:
    """Load the voice detector before there is a call."""
    process.userdata["vad"] = silero.VAD.load()


def _idle() -> float:
    """Take calls however busy the machine is."""
    return 0.0


server = AgentServer(
    setup_fnc=prewarm, load_fnc=_idle, num_idle_processes=1, host="127.0.0.1", port=0
)


@server.rtc_session(agent_name=os.environ.get("BELLA_VISTA_AGENT_NAME", ""))
async def entrypoint(ctx: JobContext) -> None:
    """Greet the caller."""
    url = os.environ["BELLA_VISTA_TTS_BASE_URL"]
    session: AgentSession[None] = AgentSession(
        vad=ctx.proc.userdata["vad"],
        stt=deepgram.STT(base_url=f"{url}/v1/listen"),
        llm=openai.LLM(),
        tts=cartesia.TTS(base_url=url),
        # Its defaults ask services in the cloud.
        turn_handling={
            "turn_detection": "vad",
            "interruption": {"mode": "vad"},
            "preemptive_generation": {"enabled": False},
        },
    )
    agent = Agent(instructions="You take the orders of a restaurant's callers.")
    await session.start(agent, room=ctx.room, record=False)
    session.say(GREETING)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(server.run())
