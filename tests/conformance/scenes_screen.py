"""Scenes in which one conversation is had as a chat and on the CLI's own screen, one after the other."""

from __future__ import annotations

from tests.conformance.talk import Talk, holds
from tests.conformance.terminals import COLS, ROWS, Looking
from tests.terminal.viewing import terminal, viewing

from bascule.model.events import SessionEnded, SessionReady

AT_PROMPT = "manual mode on"


async def chat_to_terminal_and_back(talk: Talk) -> None:
    """What was said in the chat stands on the terminal's screen; what is said there, the chat knows."""
    await talk.open("::text The heron stands in the reeds.")
    await talk.turn_ends()
    conversation = (await talk.record())["agent_session_id"]
    await talk.command("session:end")
    await talk.next(SessionEnded)
    answer = await talk.live.http.post(
        "/api/projects/trusted", json={"path": str(talk.project), "trusted": True}
    )
    holds(answer.status_code == 200, f"trusting the folder was answered {answer.text}")

    where = {"cwd": str(talk.project), "cols": COLS, "rows": ROWS}
    screen = await terminal(talk.live, talk.agent, resume=conversation, **where)
    try:
        async with viewing(talk.live, screen, after=0) as viewer:
            await viewer.line.resize(COLS, ROWS)
            looking = Looking(viewer)
            await looking.until(
                lambda text: "● The heron stands in the reeds." in text and AT_PROMPT in text,
                "the earlier answer",
            )
            await viewer.type("::text It flew to the other bank.")
            await looking.until(lambda text: "other bank." in text, "what was typed")
            await viewer.type("\r")
            await looking.until(lambda text: "● It flew to the other bank." in text, "the answer")
    finally:
        await talk.live.http.delete(f"/api/sessions/{screen}")
    await talk.live.wait_for(screen, SessionEnded)

    await talk.command("session:resume")
    await talk.next(SessionReady)
    talk.model.requests.clear()
    await talk.send("::text And it is back.")
    await talk.text("And it is back.")
    await talk.turn_ends()
    told = "".join(str(block) for one in talk.requests() for block in one.messages)
    for said in ("The heron stands in the reeds.", "It flew to the other bank."):
        holds(said in told, f"the model was not told {said!r}")


SCREEN = {"chat, terminal, chat again": chat_to_terminal_and_back}
