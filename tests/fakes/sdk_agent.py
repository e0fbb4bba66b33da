"""An agent written with the official ACP SDK, to be driven by our driver: it plans, edits and asks."""

import asyncio
from typing import Any

import acp
from acp import schema

DIFF = acp.tool_diff_content("/home/dev/project/a.txt", "new\nline\n", "old\nline\n")


class SdkAgent:
    def on_connect(self, conn: Any) -> None:
        self.client = conn
        self.sessions = 0
        self.cancels: dict[str, asyncio.Event] = {}

    def cancelled(self, session_id: str) -> asyncio.Event:
        return self.cancels.setdefault(session_id, asyncio.Event())

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=schema.AgentCapabilities(load_session=True),
            agent_info=schema.Implementation(name="sdk", version="0.1.0"),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        modes = schema.SessionModeState(
            current_mode_id="ask", available_modes=[schema.SessionMode(id="ask", name="Ask")]
        )
        self.sessions += 1
        return schema.NewSessionResponse(session_id=f"sdk-{self.sessions}", modes=modes)

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        await self.client.session_update(session_id, acp.update_user_message_text("earlier words"))
        await self.client.session_update(session_id, acp.update_agent_message_text("earlier answer"))
        return schema.LoadSessionResponse()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        return schema.SetSessionModeResponse()

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.cancelled(session_id).set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        tell, said = self.client.session_update, prompt[0].text
        if said == "wait":
            await tell(session_id, acp.update_agent_message_text("waiting"))
            await self.cancelled(session_id).wait()
            return schema.PromptResponse(stop_reason="cancelled")
        if said.startswith("read "):
            read = await self.client.read_text_file(path=said[5:], session_id=session_id)
            await tell(session_id, acp.update_agent_message_text(f"{session_id} read {read.content}"))
            return schema.PromptResponse(stop_reason="end_turn")
        if said.startswith("run "):
            made = await self.client.create_terminal(
                command=said.split()[1], session_id=session_id, args=said.split()[2:], output_byte_limit=1000
            )
            ended = await self.client.wait_for_terminal_exit(
                session_id=session_id, terminal_id=made.terminal_id
            )
            shown = await self.client.terminal_output(session_id=session_id, terminal_id=made.terminal_id)
            await self.client.release_terminal(session_id=session_id, terminal_id=made.terminal_id)
            words = f"{session_id} ran {shown.output.strip()} {ended.exit_code}"
            await tell(session_id, acp.update_agent_message_text(words))
            return schema.PromptResponse(stop_reason="end_turn")
        await tell(session_id, acp.update_agent_thought_text("thinking"))
        await tell(session_id, acp.update_plan([acp.plan_entry("Change it", status="in_progress")]))
        await tell(session_id, acp.start_edit_tool_call("t1", "Edit a.txt", "/home/dev/project/a.txt", DIFF))
        options = [
            schema.PermissionOption(option_id="never", name="Never", kind="reject_always"),
            schema.PermissionOption(option_id="ok", name="OK", kind="allow_once"),
        ]
        call = schema.ToolCallUpdate(tool_call_id="t1", title="Edit a.txt", kind="edit", content=[DIFF])
        given = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        chosen = getattr(given.outcome, "option_id", "none")
        await tell(session_id, acp.update_tool_call("t1", status="completed" if chosen == "ok" else "failed"))
        await tell(session_id, acp.update_agent_message_text(f"chosen: {chosen}"))
        return schema.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(SdkAgent()))  # pyright: ignore
