"""Whether an agent is signed in is told without a model and without a look at a secret."""

import os
from pathlib import Path

import pytest
from tests.agents.test_locate import program

from bascule.agents.catalogue import BadAgentFile, Catalogue, parse
from bascule.agents.login import signed_in

pytestmark = pytest.mark.anyio
SPEC = """name = "mine"
title = "Mine"
search = ["mine"]

[environment]
pass = ["MINE_*"]

[login]
variables = ["MINE_KEY", "OTHER_KEY"]
files = ["$MINE_HOME/auth.json", "~/.mine/auth.json"]
status = ["login", "status"]
how = "mine login"

[[drivers]]
name = "acp"
"""
MINE = parse(SPEC.encode(), "mine.toml")


def home(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", **more}


@pytest.mark.row("R22")
async def test_a_key_in_the_environment_means_signed_in_if_the_agent_gets_it(tmp_path: Path) -> None:
    assert await signed_in(MINE, None, home(tmp_path, MINE_KEY="x")) == "yes"
    assert await signed_in(MINE, None, home(tmp_path, MINE_KEY="")) == "unknown"
    assert await signed_in(MINE, None, home(tmp_path, OTHER_KEY="x")) == "unknown", "it is not passed on"


@pytest.mark.row("R22")
async def test_a_credential_file_is_looked_for_and_never_opened(tmp_path: Path) -> None:
    file = tmp_path / ".mine" / "auth.json"
    assert await signed_in(MINE, None, home(tmp_path)) == "unknown"
    file.parent.mkdir()
    os.mkfifo(file)  # whoever opened it would wait for ever
    assert await signed_in(MINE, None, home(tmp_path)) == "unknown", "a pipe is no file"
    file.unlink()
    file.write_text("secret")
    file.chmod(0)
    assert await signed_in(MINE, None, home(tmp_path)) == "yes"
    elsewhere = {"MINE_HOME": str(tmp_path / "none"), "HOME": ""}
    assert await signed_in(MINE, None, elsewhere) == "unknown"
    assert await signed_in(MINE, None, {"MINE_HOME": str(tmp_path / ".mine"), "HOME": ""}) == "yes"


@pytest.mark.row("R22")
@pytest.mark.parametrize(("body", "told"), [("exit 0", "yes"), ("exit 1", "no"), ("exit 2", "unknown")])
async def test_only_the_agents_own_command_can_report_not_signed_in(
    body: str, told: str, tmp_path: Path
) -> None:
    path = program(tmp_path / "mine", f'[ "$*" = "login status" ] || exit 9\n{body}')
    assert await signed_in(MINE, str(path), home(tmp_path)) == told


async def test_a_status_command_that_hangs_is_given_up(tmp_path: Path) -> None:
    path = program(tmp_path / "mine", "exec sleep 60")
    assert await signed_in(MINE, str(path), home(tmp_path), seconds=0.2) == "unknown"


async def test_an_agent_without_accounts_has_no_such_state() -> None:
    demo = Catalogue.load("/nonexistent").get("demo")
    assert await signed_in(demo, "/bin/false", {}) is None


def test_a_place_that_depends_on_the_current_folder_is_refused() -> None:
    with pytest.raises(BadAgentFile) as caught:
        parse(SPEC.replace("~/.mine", "mine").encode(), "mine.toml")
    assert caught.value.fields["key"] == "login.files"


@pytest.mark.row("B10")
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('model_provider = "mistral"\n', "unknown"),
        ('model_provider = "openai"\n', "no"),
        ('model = "x"\n', "no"),
        ("not TOML", "no"),
        (None, "no"),
    ],
)
async def test_with_another_provider_codex_login_says_nothing(
    settings: str | None, told: str, tmp_path: Path
) -> None:
    codex = Catalogue.load("/nonexistent").get("codex")
    path = program(tmp_path / "codex", "exit 1")
    if settings is not None:
        (tmp_path / ".codex").mkdir()
        (tmp_path / ".codex" / "config.toml").write_text(settings)
    assert await signed_in(codex, str(path), home(tmp_path)) == told
