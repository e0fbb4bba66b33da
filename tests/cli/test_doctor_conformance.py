"""`bascule doctor --conformance`: an installed agent tried in a throw-away folder, and nothing left of it."""

import io
import json
import os
import pty
import sys
from pathlib import Path

import pytest
from tests.acp.sharing import gone
from tests.cli.program import Finished, OnTerminal, bascule

from bascule.commands import conformance
from bascule.commands.console import Console, Keyboard
from bascule.link.machine import AgentInfo

pytestmark = pytest.mark.anyio
SECONDS = 120  # a server, and an agent for each scene
FAKE = Path(__file__).parents[1] / "fakes" / "obedient.py"


def add_agent(data: Path, *flags: str) -> None:
    folder = data / "config" / "agents"
    folder.mkdir(parents=True)
    file = folder / "obedient.toml"
    args = json.dumps(["-E", "-S", str(FAKE), *flags])
    head = f'name = "obedient"\ntitle = "Obedient"\nsearch = [{json.dumps(sys.executable)}]\n'
    file.write_text(f'{head}[[drivers]]\nname = "acp"\nargs = {args}\n')
    file.chmod(0o600)
    (data / "tmp").mkdir()


async def run(data: Path, *words: str, **more: str) -> Finished:
    more = {"TMPDIR": str(data / "tmp"), **more}
    return await bascule(data, "doctor", "--conformance", *words, seconds=SECONDS, **more)


@pytest.mark.row("X8")
async def test_an_agent_that_behaves_holds_in_every_scene_and_nothing_is_left(short_dir: Path) -> None:
    add_agent(short_dir)
    done = await run(short_dir, "obedient", "--yes")
    assert done.code == 0, done.out + done.err
    lines = done.out.splitlines()
    assert [line[:2] for line in lines[1:-1]] == ["ok"] * 5, done.out
    assert lines[-1] == "All checks passed."
    assert list((short_dir / "tmp").iterdir()) == []
    assert not (short_dir / "server.json").exists(), "the person's own state folder was used"


@pytest.mark.row("X8")
async def test_a_key_that_the_person_passes_on_reaches_the_agent_on_trial(short_dir: Path) -> None:
    add_agent(short_dir, "--needs-key")
    config = short_dir / "config" / "config.toml"
    config.write_text('[pass_on]\nobedient = ["MODELS_KEY"]\n')
    done = await run(short_dir, "obedient", "--yes", MODELS_KEY="not-a-real-key")
    assert done.code == 0, done.out + done.err
    config.unlink()
    done = await run(short_dir, "obedient", "--yes", MODELS_KEY="not-a-real-key")
    assert done.code != 0, done.out + done.err


@pytest.mark.row("X8")
async def test_an_agent_that_never_asks_is_detected(short_dir: Path) -> None:
    add_agent(short_dir, "--never-asks")
    done = await run(short_dir, "obedient", "--yes")
    assert done.code == 1, done.out + done.err
    assert (
        "no  asks before a command, and runs it when allowed: it ran the command without asking" in done.out
    )
    assert "no  does not run what was denied: it ran without asking" in done.out


@pytest.mark.row("X8")
async def test_an_ignored_deny_is_a_fault_and_an_unexpected_model_answer_is_none(
    short_dir: Path,
) -> None:
    add_agent(short_dir, "--ignores-no", "--forgets")
    done = await run(short_dir, "obedient", "--yes")
    assert done.code == 1, done.out + done.err
    assert "no  does not run what was denied: the command ran although it was denied" in done.out
    assert "?   takes up an ended conversation" in done.out


@pytest.mark.row("X8")
async def test_no_model_is_used_before_a_person_agreed(short_dir: Path) -> None:
    add_agent(short_dir)
    unasked = await run(short_dir, "obedient")
    assert unasked.code == 2
    assert "Use --yes" in unasked.out
    async with OnTerminal(short_dir, "doctor", "--conformance", "obedient") as person:
        await person.sees("Continue? [y/N]")
        person.type("n")
        await person.sees("Nothing was started.")
        assert await person.code() == 2


class Quick(Console):
    """On it sits somebody who has answered before the question is wholly there."""

    def __init__(self, keyboard: int) -> None:
        super().__init__(io.StringIO(), interactive=True)
        self._keyboard = keyboard

    def say(self, text: str) -> None:
        super().say(text)
        os.write(self._keyboard, b"y\n")


@pytest.mark.row("X8")
async def test_text_typed_before_the_question_is_no_answer_and_text_typed_right_after_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs, ours = pty.openpty()
    monkeypatch.setattr(conformance, "Keyboard", lambda: Keyboard(ours))
    os.write(theirs, b"n\n")
    assert await conformance._agreed(Quick(theirs), AgentInfo("obedient", "Obedient", True))
    os.close(theirs)
    os.close(ours)


@pytest.mark.row("X8")
async def test_a_trial_whose_terminal_is_closed_leaves_nothing(short_dir: Path) -> None:
    add_agent(short_dir)
    words = ("doctor", "--conformance", "obedient", "--yes")
    async with OnTerminal(short_dir, *words, TMPDIR=str(short_dir / "tmp")) as person:
        await person.sees("ok")
        [trial] = (short_dir / "tmp").iterdir()
        keeper = json.loads((trial / "data" / "keeper" / "keeper.lock").read_text())["pid"]
        person.hang_up()
        assert await person.code() == 130
    assert list((short_dir / "tmp").iterdir()) == []
    await gone(keeper)


@pytest.mark.row("X8")
async def test_an_agent_that_is_not_installed_is_reported(short_dir: Path) -> None:
    (short_dir / "tmp").mkdir()
    done = await run(short_dir, "nobody")
    assert done.code == 1
    assert "There is no agent 'nobody'" in done.out
