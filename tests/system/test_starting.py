"""Starting: settings that work, settings that are refused, and places that are taken."""

import os
import re
import socket
import sqlite3
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.live import LIMITS, LiveServer
from tests.waiting import within

from bascule.model.events import TurnEnded

pytestmark = [pytest.mark.anyio, pytest.mark.joined("how a server starts, and what keeps it from starting")]

Make = Callable[..., LiveServer]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening_on(pid: int) -> list[tuple[str, int]]:
    """Addresses the process accepts TCP connections on, as the kernel has them."""
    inodes: set[str] = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(entry))
        if found:
            inodes.add(found[1])
    addresses: list[tuple[str, int]] = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                address, port = fields[1].split(":")
                addresses.append((address, int(port, 16)))
    return addresses


@pytest.mark.row("C5", "C1")
async def test_the_settings_of_the_specification_come_from_the_environment(make_server: Make):
    port = free_port()
    server = make_server(
        config=LIMITS, env={"HOST": "127.0.0.1", "PORT": str(port), "CLAUDE_DEFAULT_MODEL": "some-model"}
    )
    fake = server.folder / "my claude; touch x"
    ledger = server.folder / "ledger"
    records = Path(__file__).parents[1] / "fakes" / "records.py"
    fake.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{records}" "{ledger}" "$@"\n')
    fake.chmod(0o700)
    server.env["CLAUDE_BIN"] = str(fake)
    server.port_flag = False
    await server.start()
    assert server.url == f"http://127.0.0.1:{port}"
    answer = await server.post("/api/sessions", cwd=str(server.work), prompt="hello")
    assert answer.json()["model"] == "some-model"
    session = answer.json()["id"]
    assert (await server.http.get(f"/api/sessions/{session}")).json()["agent"] == "claude-code"
    await server.wait_for(session, TurnEnded)
    argv = next(line for line in ledger.read_text().splitlines() if '"stream-json"' in line)
    for word in ("--input-format", "--output-format", "--verbose", "--permission-prompt-tool", "stdio"):
        assert f'"{word}"' in argv
    assert '"--model=some-model"' in argv


@pytest.mark.row("C5", "S10")
async def test_it_listens_on_loopback_alone_and_beyond_only_when_told(make_server: Make):
    server = make_server()
    await server.start()
    assert listening_on(server.pid) == [("0100007F", int(server.url.rsplit(":", 1)[1]))]
    other = make_server("other")
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        code, said = await other.refused("--host", host, "--port", "0")
        assert code == 2, said
        assert "Traceback" not in said
        assert len(said.splitlines()) == 1
        assert "--insecure-bind" in said or "TLS" in said


@pytest.mark.row("REL-24", "S15", "S07")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('token = ""\n', "secrets have no place"),
        ('token = "changeme"\n', "secrets have no place"),
        ('[auth]\nsecret = " "\n', "secrets have no place"),
        ('allowed_origins = ["https://*.example"]\n', "allowed_origins"),
        ("port = \n", "config.toml:1: port"),
        ("prot = 1\n", "did you mean port?"),
        ("device_name = 3\n", "config.toml:1: device_name: expected str"),
        ("port = 1\nport = 2\n", "config.toml:2: port: is set twice"),
        ('claude_bin = "/nonexistent/claude"\n', "there is no program"),
        ('roots = ["relative"]\n', "config.toml:1: roots"),
        ("\ufeffport = 1\n", "byte order mark"),
        ("# " + "x" * 11_000_000, "larger than"),
    ],
)
async def test_a_wrong_setting_stops_the_start_with_one_sentence(make_server: Make, text: str, words: str):
    server = make_server()
    (server.config / "config.toml").write_text(text)
    code, said = await server.refused("--port", "0")
    assert code == 2, said
    assert words in said
    assert str(server.config / "config.toml") in said
    assert len(said.splitlines()) == 1
    assert "changeme" not in said
    assert not server.data.exists() or not (server.data / "bascule.db").exists()


@pytest.mark.row("REL-24")
async def test_a_config_that_anybody_can_write_is_refused(make_server: Make):
    server = make_server()
    (server.config / "config.toml").chmod(0o666)
    code, said = await server.refused("--port", "0")
    assert code == 2
    assert "chmod o-w" in said


@pytest.mark.row("REL-24", "S22")
async def test_a_bad_agent_file_stops_the_start_and_is_named(make_server: Make):
    server = make_server()
    server.add_agent("mine", "well_behaved.py")
    path = server.config / "agents" / "mine.toml"
    path.chmod(0o644)
    code, said = await server.refused("--port", "0")
    assert code != 0
    assert f"{path}: may be used by others" in said
    assert "Traceback" not in said
    path.chmod(0o600)
    path.write_text(path.read_text().replace("title =", "titel ="))
    code, said = await server.refused("--port", "0")
    assert code != 0
    assert str(path) in said
    assert "titel" in said
    assert "Traceback" not in said
    assert server.keeper_pid() is None


@pytest.mark.row("REL-22", "REL-23")
async def test_a_second_server_on_the_same_folder_is_told_which_one_runs(make_server: Make):
    server = make_server()
    await server.start()
    port = server.url.rsplit(":", 1)[1]
    for chosen in ("0", port):  # with the port taken by ourselves, the answer is the same
        with within(5):
            code, said = await server.refused("--port", chosen)
        assert code == 1
        assert f"already runs at {server.url} (pid {server.pid})" in said
        assert len(said.splitlines()) == 1
    assert (await server.http.get("/health")).json() == {"status": "ok"}
    assert server.note_key()


@pytest.mark.row("REL-23")
async def test_a_port_used_by_another_program_is_said_in_one_sentence(make_server: Make):
    server = make_server()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with within(5):
            code, said = await server.refused("--port", str(port))
    assert code == 1
    assert said.startswith(f"127.0.0.1 port {port} is in use; stop what uses it")
    assert len(said.splitlines()) == 1
    assert server.keeper_pid() is None
    await server.start()
    assert (await server.http.get("/health")).status_code == 200


@pytest.mark.row("REL-21")
@pytest.mark.parametrize("damage", ["zero header", "half", "garbage"])
async def test_a_damaged_database_is_put_aside_and_said(make_server: Make, damage: str):
    server = make_server()
    await server.start()
    session = await server.create("count 3 1")
    await server.wait_for(session, TurnEnded)
    await server.stop()
    await server.end_keeper()
    path = server.data / "bascule.db"
    data = path.read_bytes()
    match damage:
        case "zero header":
            path.write_bytes(bytes(100) + data[100:])
        case "half":
            path.write_bytes(data[: len(data) // 2])
        case _:
            path.write_bytes(os.urandom(len(data)))
    damaged = path.read_bytes()
    code, said = await server.refused("--port", "0")
    (kept,) = server.data.glob("bascule.db.corrupt-*")
    assert code == 1
    assert said.endswith(f"It was moved to {kept}; the next start begins empty.\n")
    assert len(said.splitlines()) == 1
    assert kept.read_bytes() == damaged
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    server.token = ""
    await server.start()
    listed = (await server.http.get("/api/sessions")).json()
    assert listed == {"sessions": [], "damaged": [], "next": None}
    again = await server.create("count 3 1")
    await server.wait_for(again, TurnEnded)


@pytest.mark.row("REL-21")
@pytest.mark.parametrize("kind", ["foreign", "newer"])
async def test_a_database_that_is_not_ours_to_change_is_left_alone(make_server: Make, kind: str):
    server = make_server()
    server.data.mkdir(mode=0o700)
    path = server.data / "bascule.db"
    if kind == "newer":
        await server.start()
        await server.stop()
        await server.end_keeper()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)" if kind == "foreign" else "PRAGMA user_version = 999")
    other.close()
    path.chmod(0o600)
    before = path.read_bytes()
    code, said = await server.refused("--port", "0")
    assert code == 1
    assert str(path) in said
    assert len(said.splitlines()) == 1
    assert path.read_bytes() == before


@pytest.mark.row("S12")
async def test_the_link_is_printed_once_and_only_its_hash_is_kept(make_server: Make):
    server = make_server()
    await server.start()
    first = server.token
    assert len(first) >= 43
    await server.http.get("/api/sessions")
    assert await server.stop() == 0
    await server.start()
    assert server.output[0] != server.output[1]
    assert (await server.http.get("/api/sessions")).status_code == 200  # the one that was used stays
    stored = b"".join(one.read_bytes() for one in server.data.iterdir() if one.is_file())
    assert first.encode() not in stored
    assert stat.S_IMODE((server.data / "bascule.db").stat().st_mode) == 0o600
    assert first not in server.stderr()
