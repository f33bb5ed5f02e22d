"""A client on the official Python SDK: client.py AGENT_COMMAND PROMPT."""

import asyncio
import json
import os
import shlex
import sys
import time

from acp import PROTOCOL_VERSION, spawn_agent_process
from acp.schema import AllowedOutcome, RequestPermissionResponse, TextContentBlock

SLOW = "ACPBENCH_SLOW" in os.environ


class Client:
    def __init__(self):
        self.count = 0
        self.bytes = 0

    def on_connect(self, conn):
        pass

    async def session_update(self, session_id, update, **_):
        words = getattr(getattr(update, "content", None), "text", None)
        if isinstance(words, str):
            self.bytes += len(words)
        self.count += 1
        if SLOW and self.count % 100 == 0:
            await asyncio.sleep(0.001)

    async def request_permission(self, session_id, tool_call, options, **_):
        chosen = AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return RequestPermissionResponse(outcome=chosen)


async def main(command, prompt):
    client = Client()
    async with spawn_agent_process(client, *shlex.split(command)) as (agent, _):
        await agent.initialize(protocol_version=PROTOCOL_VERSION)
        session = await agent.new_session(cwd="/tmp", mcp_servers=[])
        began = time.perf_counter()
        text = TextContentBlock(type="text", text=prompt)
        await agent.prompt(session_id=session.session_id, prompt=[text])
        elapsed = (time.perf_counter() - began) * 1e3
        print(json.dumps({"count": client.count, "bytes": client.bytes, "elapsed_ms": elapsed}), flush=True)


asyncio.run(main(*sys.argv[1:]))
