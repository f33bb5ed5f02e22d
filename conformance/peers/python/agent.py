"""An agent on the official Python SDK that does what accord-bench asks of it."""

import asyncio
import itertools

from acp import run_agent
from acp.schema import (
    AgentCapabilities,
    AgentMessageChunk,
    FileEditToolCallContent,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)

LINE = "The quick brown fox jumps over the lazy dog; fn main() {}\n"


def text(size):
    return (LINE * (size // len(LINE) + 1))[:size]


def chunk(words):
    content = TextContentBlock(type="text", text=words)
    return AgentMessageChunk(session_update="agent_message_chunk", content=content)


class Agent:
    def __init__(self):
        self.numbers = itertools.count(1)

    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        return InitializeResponse(protocol_version=protocol_version, agent_capabilities=AgentCapabilities())

    async def new_session(self, cwd, mcp_servers=None, **_):
        return NewSessionResponse(session_id=f"sess-{next(self.numbers)}")

    async def prompt(self, prompt, session_id, **_):
        words = prompt[0].text
        if words.startswith("echo "):
            await self.update(session_id, chunk(words.removeprefix("echo ")))
        elif words != "ping":
            name, *numbers = words.split(" ")
            await getattr(self, name)(session_id, *map(int, numbers))
        return PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id, **_):
        pass

    async def update(self, session_id, body):
        await self.client.session_update(session_id=session_id, update=body)

    async def stream(self, session_id, count, size):
        words = text(size)
        for _ in range(count):
            await self.update(session_id, chunk(words))

    async def tools(self, session_id, count):
        edited = text(2048)
        for number in range(count):
            call = f"call-{number}"
            start = ToolCallStart(
                session_update="tool_call", tool_call_id=call, title="Edit src/main.rs", kind="edit", status="pending"
            )
            await self.update(session_id, start)
            diff = FileEditToolCallContent(type="diff", path="/project/src/main.rs", new_text=edited)
            end = ToolCallProgress(
                session_update="tool_call_update", tool_call_id=call, status="completed", content=[diff]
            )
            await self.update(session_id, end)

    async def permit(self, session_id, count):
        options = [
            PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
            PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
        ]
        for number in range(count):
            call = ToolCallUpdate(tool_call_id=f"call-{number}", title="Edit src/main.rs")
            await self.client.request_permission(session_id=session_id, tool_call=call, options=options)


asyncio.run(run_agent(Agent()))
