"""`bascule audit` and `bascule doctor`, the real program, mostly without a server."""

import asyncio
import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.agent_script import play, replies
from tests.cli.program import bascule

from bascule.model.events import SessionStarted
from bascule.store.base import AuditRecord, Batch
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


async def write_audit(folder: Path, count: int) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    store = SqliteStore.open(folder / "bascule.db", clock=time.time, loop=asyncio.get_running_loop())
    await store.audit([AuditRecord(action="input", actor="ana", detail=f"n {n}") for n in range(count)])
    await store.close()
    return folder / "bascule.db"


@pytest.mark.row("S49")
async def test_audit_verify_works_without_a_server(tmp_path: Path):
    await write_audit(tmp_path / "d", 5)
    done = await bascule(tmp_path / "d", "audit", "verify")
    assert (done.code, done.out) == (0, "ok: 5 records, each follows from the one before.\n")


@pytest.mark.row("S49")
async def test_audit_verify_finds_a_changed_record(tmp_path: Path):
    path = await write_audit(tmp_path / "d", 5)
    with sqlite3.connect(path) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE audit SET body = CAST(replace(body, 'n 2', 'n 9') AS BLOB) WHERE n = 3")
    connection.close()
    done = await bascule(tmp_path / "d", "audit", "verify")
    assert done.code == 1
    assert "after record 2" in done.err


async def test_audit_list_and_export_page_through_everything(tmp_path: Path):
    def line(n: int) -> dict[str, Any]:
        record = {"action": "input", "actor": "ana\x1b[2J", "detail": f"detail {n}"}
        return {"entry": {"n": n, "at": "2026", "record": record}, "prev_hash": "a", "hash": "b"}

    async with play(tmp_path) as scene:

        async def page(_: object, frame: dict[str, Any]) -> Any:
            numbers = range(frame["after"] + 1, min(frame["after"] + 3, 6))
            return {"records": [line(n) for n in numbers], "last": frame["after"] + len(numbers)}

        scene.server.handlers["audit:list"] = page
        exported = await bascule(tmp_path, "audit", "export")
        listed = await bascule(tmp_path, "audit", "list")
    assert [json.loads(one)["entry"]["n"] for one in exported.out.splitlines()] == [1, 2, 3, 4, 5]
    assert "detail 5" in listed.out
    assert "\x1b" not in listed.out


async def test_doctor_finds_nothing_wrong_on_a_fresh_machine(tmp_path: Path):
    done = await bascule(tmp_path / "d", "doctor")
    assert done.code == 0
    assert "server: not running  → start it with: bascule" in done.out
    assert "fail" not in done.out
    assert "\nok    web push: " in done.out
    assert "\nok    desktop notifications: " in done.out
    assert "\nok    cage: " in done.out


async def test_doctor_names_folders_and_files_that_are_open_to_others(tmp_path: Path):
    data = tmp_path / "d"
    await write_audit(data, 2)
    (data / "loose.txt").touch(0o644)
    (data / "loose.txt").chmod(0o644)
    data.chmod(0o755)
    done = await bascule(data, "doctor")
    assert done.code == 1
    assert f"fail  state folder: {data} is open to others (mode 755)  → chmod 700 {data}" in done.out
    assert "others may read loose.txt" in done.out
    assert "audit log: 2 records verified" in done.out


async def test_doctor_names_a_wrong_setting_and_a_dead_server(tmp_path: Path):
    data = tmp_path / "d"
    data.mkdir(mode=0o700)
    done = await bascule(data, "doctor", PORT="x")
    assert done.code == 1
    assert "PORT: 'x' is not a whole number" in done.out
    note = {"pid": os.getpid(), "url": "http://127.0.0.1:9", "key": "k"}
    (data / "server.json").write_text(json.dumps(note))
    (data / "server.json").chmod(0o600)
    done = await bascule(data, "doctor")
    assert done.code == 1
    assert "server.log" in done.out


async def test_doctor_lists_agents_of_a_running_server(tmp_path: Path):
    async with play(tmp_path / "d") as scene:
        told = {"acp": ["This agent runs MCP tools without asking."], "codex": ["Not of this way."]}
        ways = {"drivers": ["acp", "codex"], "unasked": told}
        agents = [{"name": "demo", "title": "Demo", "available": True, "version": "1.2", **ways}]
        scene.server.handlers["agents:list"] = replies({"agents": agents})
        done = await bascule(tmp_path / "d", "doctor")
        listed = await bascule(tmp_path / "d", "agents")
    assert "server: running at http://127.0.0.1:" in done.out
    assert "agent: Demo 1.2" in done.out
    assert done.code == 0
    for out in (done.out, listed.out):
        assert "This agent runs MCP tools without asking." in out
        assert "Not of this way." not in out


@pytest.mark.row("F11", "S49")
async def test_an_audit_log_without_records_in_an_old_folder_is_a_fault(tmp_path: Path):
    path = await write_audit(tmp_path / "d", 3)
    store = SqliteStore.open(path, clock=time.time, loop=asyncio.get_running_loop())
    started = SessionStarted(agent="a", driver="stream_json", cwd="/", by="ana")
    await store.append(Batch("s1", 1, "2026-01-02T03:04:05.000Z", [started]))
    await store.close()
    with sqlite3.connect(path) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM audit")
        connection.execute("DELETE FROM meta WHERE name = 'audit_head'")
    connection.close()
    done = await bascule(tmp_path / "d", "audit", "verify")
    assert done.code == 1
    assert "no records, though this folder is old (since 2026-01-02" in done.err
    checked = await bascule(tmp_path / "d", "doctor")
    assert checked.code == 1
    assert "no records, though" in checked.out


@pytest.mark.row("F11", "S49")
async def test_a_folder_in_which_nothing_was_done_has_no_records_and_is_fine(tmp_path: Path):
    (tmp_path / "d").mkdir(mode=0o700)
    loop = asyncio.get_running_loop()
    await SqliteStore.open(tmp_path / "d" / "bascule.db", clock=time.time, loop=loop).close()
    done = await bascule(tmp_path / "d", "audit", "verify")
    assert done.code == 0
