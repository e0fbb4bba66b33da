"""What all commands share, and the small ones: the real program, with a scripted server or none."""

import json
import os
import re
from pathlib import Path

import pytest
from tests.cli.agent_script import open_request, play, replies
from tests.cli.program import bascule

from bascule.state_folder import UnsafeFolder, prepare

pytestmark = pytest.mark.anyio


async def test_version_is_printed_without_importing_the_rooms(tmp_path: Path):
    done = await bascule(tmp_path, "--version", PYTHONPROFILEIMPORTTIME="1")
    assert done.code == 0
    assert done.out.startswith("bascule ")
    for slow in ("msgspec", "asyncio", "websockets", "starlette"):
        assert slow not in done.err


async def test_exit_codes_are_in_the_help(tmp_path: Path):
    done = await bascule(tmp_path, "--help")
    assert "exit status:" in done.out
    assert "130  interrupted" in done.out


async def test_a_wrong_word_is_wrong_usage(tmp_path: Path):
    assert (await bascule(tmp_path, "fly")).code == 2
    assert (await bascule(tmp_path, "sessions")).code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "list"),
        ("sessions", "show", "x"),
        ("sessions", "kill-all"),
        ("trust", "list"),
        ("agents",),
        ("audit", "list"),
        ("daemon", "pause"),
    ],
)
async def test_without_a_server_each_command_says_how_to_start_one(tmp_path: Path, words: tuple[str, ...]):
    done = await bascule(tmp_path, *words)
    assert done.code == 3
    assert done.err.endswith("start one with: bascule\n")


async def test_another_server_is_named_by_the_environment(tmp_path: Path):
    async with play(tmp_path / "other") as scene:
        scene.server.handlers["agents:list"] = replies({"agents": []})
        url = scene.server.url
        done = await bascule(tmp_path, "agents", BASCULE_SERVER=url, BASCULE_TOKEN="token-of-the-test")
        assert done.code == 0
        done = await bascule(tmp_path, "agents", BASCULE_SERVER=url, BASCULE_TOKEN="wrong")
        assert done.code == 4
        assert "does not know this token" in done.err
        assert "wrong" not in done.err


# Settings and folders


@pytest.mark.row("REL-24")
async def test_a_wrong_setting_stops_the_start_with_one_sentence(tmp_path: Path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text("# mine\nprot = 1\n")
    done = await bascule(tmp_path, "--no-open")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"{tmp_path}/config/config.toml:2: prot: is not a setting; did you mean port?\n"


@pytest.mark.row("S10")
async def test_a_non_loopback_address_without_tls_is_refused_before_listening(tmp_path: Path):
    done = await bascule(tmp_path, "up", "--host", "0.0.0.0", "--port", "0", "--no-open")
    assert done.code == 2
    assert done.err.startswith("--host: Bascule won't listen on 0.0.0.0 without TLS")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.row("F11")
async def test_a_state_folder_that_can_not_be_written_is_one_sentence(tmp_path: Path):
    (tmp_path / "log" / "server.log").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for place in (
        "/proc/bascule",
        str(tmp_path / "file"),
        str(tmp_path / "file" / "in"),
        str(tmp_path / "log"),
    ):
        done = await bascule(tmp_path / "home", "up", "--no-open", "--port", "0", "--data", place)
        assert done.code == 1, (place, done)
        assert len(done.err.splitlines()) == 1, done.err
        assert place in done.err
        assert "Traceback" not in done.err


@pytest.mark.row("F11")
def test_a_read_only_folder_is_noticed_before_anything_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tmp_path.chmod(0o700)
    monkeypatch.setattr(
        os, "access", lambda *_: False
    )  # as on a read-only disk; root may write anywhere else
    with pytest.raises(UnsafeFolder, match="can't be written to"):
        prepare(tmp_path)


@pytest.mark.row("F11")
async def test_a_state_folder_that_is_read_only_is_told_in_one_line(tmp_path: Path):
    prepare(data := tmp_path / "data")
    data.chmod(0o500)
    if os.access(data, os.W_OK):
        pytest.skip("this user writes into a folder of mode 0500, as root does")
    try:
        before = sorted(data.rglob("*"))
        done = await bascule(tmp_path / "home", "up", "--no-open", "--port", "0", "--data", str(data))
        assert done.code == 1, done
        assert len(done.err.splitlines()) == 1, done.err
        assert f"{data} can't be written to" in done.err
        assert sorted(data.rglob("*")) == before
    finally:
        data.chmod(0o700)


# Agents, the daemon and our faults


async def test_agents_says_what_is_missing(tmp_path: Path):
    async with play(tmp_path) as scene:
        agents = [
            {"name": "demo", "title": "Demo", "available": True, "version": "1", "demo": True},
            {"name": "claude-code", "title": "Claude Code", "available": False, "problem": "Install it."},
        ]
        scene.server.handlers["agents:list"] = replies({"agents": agents})
        done = await bascule(tmp_path, "agents")
    assert "Demo (demo)" in done.out
    assert "Install it." in done.out


async def test_daemon_pause_and_resume(tmp_path: Path):
    async with play(tmp_path) as scene:
        await bascule(tmp_path, "daemon", "pause")
        await bascule(tmp_path, "daemon", "resume")
    assert scene.server.kinds() == ["daemon:pause", "daemon:resume"]


@pytest.mark.row("S62")
async def test_a_fault_of_ours_is_a_sentence_with_an_id_and_the_rest_is_in_a_private_file(tmp_path: Path):
    nonsense = open_request("rm x") | {"asked": {"type": "turn_ended", "stop_reason": "end_turn"}}
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [nonsense]})
        done = await bascule(tmp_path, "sessions", "answer")
    assert done.code == 1
    assert "Traceback" not in done.err
    file = tmp_path / "command.log"
    found = re.fullmatch(
        rf"Something went wrong inside Bascule \(fault ([0-9a-f]{{8}})\); {file} says what.\n", done.err
    )
    assert found, done.err
    [line] = [json.loads(one) for one in file.read_text().splitlines()]
    assert found[1] in line["message"]
    assert "Traceback" in line["error"]
    assert file.stat().st_mode & 0o777 == 0o600
