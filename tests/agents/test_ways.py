"""Which ways to talk to an agent can be gone on this machine, and which is taken when nobody says."""

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.agents.test_locate import program

from bascule.agents.catalogue import Catalogue
from bascule.agents.command import Launch, build_argv
from bascule.agents.spec import FoundProgram
from bascule.daemon.launching import launching
from bascule.daemon.launching.launching import Launcher
from bascule.link.machine import AgentInfo
from bascule.model.errors import AgentNotInstalled, NotSupported
from bascule.model.events import SessionStarted
from bascule.model.settings import Settings

pytestmark = pytest.mark.anyio
CATALOGUE = Catalogue.load("/nonexistent")


def launcher(folder: Path, **more: str) -> Launcher:
    env = {"HOME": str(folder), "PATH": f"{folder}/bin", **more}
    own = str(folder / "own")
    return Launcher(CATALOGUE, Settings(data_dir=own, config_dir=own, roots=(str(folder),)), env)


async def info(made: Launcher, name: str) -> AgentInfo:
    return next(one for one in await made.agents(refresh=True) if one.name == name)


def start(agent: str, driver: str, cwd: Path) -> SessionStarted:
    return SessionStarted(agent, driver, str(cwd), "ana", "here")


@pytest.mark.row("R22")
async def test_only_drivers_whose_program_is_installed_are_offered(tmp_path: Path) -> None:
    made = launcher(tmp_path)
    nothing = await info(made, "codex")
    assert not nothing.available
    assert "npm install -g @openai/codex" in (nothing.problem or "")
    program(tmp_path / "bin/codex-acp")
    adapter = await info(made, "codex")
    assert (adapter.available, adapter.drivers, adapter.version) == (True, ("acp",), None)
    program(tmp_path / "bin/codex", 'case "$1" in login) exit 1;; esac; echo "codex-cli 0.166.0"')
    both = await info(made, "codex")
    assert both.drivers == ("codex", "acp", "terminal")
    assert both.version == "0.166.0"
    assert (both.signed_in, both.login) == ("no", "codex login")
    assert "ask" in both.modes


@pytest.mark.row("R22")
async def test_the_first_installed_driver_is_the_default_and_others_are_chosen_by_name(
    tmp_path: Path,
) -> None:
    made = launcher(tmp_path)
    program(tmp_path / "bin/codex-acp")
    assert (await made.complete(start("codex", "", tmp_path), str(tmp_path))).driver == "acp"
    program(tmp_path / "bin/codex")
    assert (await made.complete(start("codex", "", tmp_path), str(tmp_path))).driver == "codex"
    chosen = await made.complete(start("codex", "acp", tmp_path), str(tmp_path))
    assert made.plan(chosen, "s").argv == (f"{tmp_path}/bin/codex-acp",)
    with pytest.raises(NotSupported, match="it takes codex, acp, terminal"):
        await made.complete(start("codex", "plain", tmp_path), str(tmp_path))


@pytest.mark.row("R22")
async def test_an_adapters_command_of_a_persons_own_is_started_as_it_is(tmp_path: Path) -> None:
    mine = program(tmp_path / "elsewhere/adapter")
    made = launcher(tmp_path, CLAUDE_ACP_CMD=f"{mine} --fast 'two words'")
    chosen = await made.complete(start("claude-code", "acp", tmp_path), str(tmp_path))
    assert made.plan(chosen, "s").argv == (str(mine), "--fast", "two words")
    with pytest.raises(AgentNotInstalled, match="CLAUDE_ACP_CMD"):
        await launcher(tmp_path, CLAUDE_ACP_CMD="nothing").complete(
            start("claude-code", "acp", tmp_path), str(tmp_path)
        )


@pytest.mark.row("R22")
async def test_an_adapters_command_of_a_persons_own_is_the_first_way(tmp_path: Path) -> None:
    mine = program(tmp_path / "elsewhere/adapter")
    program(tmp_path / "bin/claude")
    program(tmp_path / "bin/codex")
    made = launcher(tmp_path, CLAUDE_ACP_CMD=str(mine), CODEX_ACP_CMD=str(mine))
    for agent in ("claude-code", "codex"):
        assert (await made.complete(start(agent, "", tmp_path), str(tmp_path))).driver == "acp"
        assert (await info(made, agent)).drivers[0] == "acp"
    chosen = await made.complete(start("claude-code", "stream_json", tmp_path), str(tmp_path))
    assert chosen.driver == "stream_json"


@pytest.mark.row("C5")
async def test_a_default_model_holds_for_its_agent_alone_when_none_is_named(tmp_path: Path) -> None:
    for name in ("claude", "codex"):
        program(tmp_path / "bin" / name)
    made = launcher(tmp_path, CLAUDE_DEFAULT_MODEL="opus")

    async def model(agent: str, **more: str) -> str | None:
        wanted = replace(start(agent, "", tmp_path), **more)
        return (await made.complete(wanted, str(tmp_path))).model

    assert await model("claude-code") == "opus"
    assert await model("claude-code", model="haiku") == "haiku"
    assert await model("claude-code", resumed_from="abc") is None
    assert await model("codex") is None


async def test_a_shell_is_the_persons_login_shell_with_their_environment(tmp_path: Path) -> None:
    own = {"SHELL": "/bin/sh", "GOPATH": "/go", "PYTHONPATH": "/lib", "MY_TOKEN": "t"}
    made = launcher(tmp_path, **own, BASCULE_TOKEN="secret", CLAUDECODE="1")
    program(tmp_path / "bin/claude")
    shell = made.plan(await made.complete(start("shell", "", tmp_path), str(tmp_path)), "s")
    assert shell.argv == ("/bin/sh", "-l")
    assert own.items() <= shell.env.items()
    assert not {"BASCULE_TOKEN", "CLAUDECODE"} & shell.env.keys()
    # An agent in a terminal gets what its file lists.
    claude = made.plan(await made.complete(start("claude-code", "terminal", tmp_path), str(tmp_path)), "s")
    assert not {"GOPATH", "PYTHONPATH", "MY_TOKEN"} & claude.env.keys()


@pytest.mark.row("P2")
async def test_a_look_up_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()

    def hangs(*_: object) -> FoundProgram:
        answers.wait()
        return FoundProgram("/bin/codex")

    assert launching.SEARCH_SECONDS == 5
    monkeypatch.setattr(launching, "locate", hangs)
    monkeypatch.setattr(launching, "SEARCH_SECONDS", 0.01)
    try:
        with pytest.raises(AgentNotInstalled, match="Codex was not found within"):
            await launcher(tmp_path).complete(start("codex", "", tmp_path), str(tmp_path))
    finally:
        answers.set()


@pytest.mark.row("S33")
@pytest.mark.parametrize(
    ("agent", "driver", "words"),
    [
        ("codex", "terminal", ["--ask-for-approval=on-request", "--sandbox=read-only"]),
        ("gemini", "terminal", ["--approval-mode=default"]),
        ("qwen", "terminal", ["--approval-mode=default"]),
        ("gemini", "acp", ["--acp"]),
        ("copilot", "acp", ["--acp"]),
        ("opencode", "acp", ["acp"]),
        ("cursor", "acp", ["acp"]),
        ("goose", "acp", ["acp"]),
        ("qwen", "acp", ["--acp"]),
        ("codex", "codex", ["app-server"]),
    ],
)
def test_each_agent_is_started_with_the_arguments_of_its_file_and_told_to_ask(
    agent: str, driver: str, words: list[str]
) -> None:
    argv = build_argv(CATALOGUE.get(agent), FoundProgram("/bin/it"), Launch(driver=driver))
    assert argv == ["/bin/it", *words]
