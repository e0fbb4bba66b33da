"""The command that goes on with a session in a terminal is made of this machine's agents and folders."""

import shlex
from pathlib import Path

import pytest
from tests.daemon.running_daemon import running_daemon

from bascule.link.found import ShowResumeCommand
from bascule.model.commands import EndSession
from bascule.model.errors import Refused
from bascule.model.events import SessionEnded, SessionReady

pytestmark = pytest.mark.anyio


@pytest.mark.row("L5", "X13")
async def test_an_ended_session_goes_on_by_its_agents_own_program_in_its_folder(short_dir: Path) -> None:
    async with running_daemon(short_dir) as made:
        await made.start(prompt="hello")
        await made.until(SessionReady)
        with pytest.raises(Refused) as running:
            await made.ask(ShowResumeCommand(session_id="s1"))
        assert running.value.refusal().message.startswith("This session is running in Bascule.")
        await made.ask(EndSession(session_id="s1"))
        await made.until(SessionEnded)
        shown = await made.ask(ShowResumeCommand(session_id="s1"))
        record = await made.store.session("s1")
        assert record is not None
        argv = [*made.launcher.argv["mini"], f"--resume={record.agent_session_id}"]
        assert shown == {"argv": argv, "command": f"cd {made.work} && {shlex.join(argv)}"}


async def test_a_session_that_is_not_there_is_named(short_dir: Path) -> None:
    async with running_daemon(short_dir) as made:
        with pytest.raises(Refused) as refused:
            await made.ask(ShowResumeCommand(session_id="nobodys"))
        assert refused.value.refusal().code == "SESSION_NOT_FOUND"
