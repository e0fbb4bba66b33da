"""The other commands, the real program against a scripted server or none at all."""

import asyncio
import json
import os
import re
import sqlite3
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.cli.agent_script import SESSION, permission, play, said
from tests.cli.program import OnTerminal, bascule
from tests.client.scripted import Handler

from bascule.daemon.trusted_browsers import BrowserBook
from bascule.model.events import SessionStarted
from bascule.state_folder import UnsafeFolder, prepare
from bascule.store.base import AuditRecord, Batch
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


def replies(body: Any) -> Handler:
    async def handler(*_: object) -> Any:
        return body

    return handler


def open_request(command: str) -> dict[str, Any]:
    asked = permission("r1", command)
    return {
        "session_id": SESSION,
        "session_title": "t",
        "request_id": "r1",
        "kind": "permission",
        "state": "open",
        "input_sha256": asked["input_sha256"],
        "opened_at": "",
        "seq": 1,
        "asked": asked,
    }


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


# Settings


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


# Sessions


@pytest.mark.row("B10")
async def test_the_list_shows_phase_title_and_what_waits(tmp_path: Path):
    async with play(tmp_path) as scene:
        row = {
            "session_id": SESSION,
            "phase": "running",
            "agent": "demo",
            "title": "a\u202eb",
            "open_requests": 2,
        }
        scene.server.handlers["session:list"] = replies({"sessions": [row]})
        done = await bascule(tmp_path, "sessions", "list")
        assert SESSION in done.out
        assert "running" in done.out
        assert "a\\u{202e}b" in done.out
        assert "2 waiting for you" in done.out
        done = await bascule(tmp_path, "sessions", "list", "--json")
        assert json.loads(done.out)[0]["session_id"] == SESSION


async def test_show_prints_the_transcript_and_returns(tmp_path: Path):
    async with play(tmp_path) as scene:
        await scene.add(*said("what was said"))
        scene.server.handlers["session:show"] = replies(
            {"session": {"session_id": SESSION, "phase": "waiting", "seq": 3}}
        )
        scene.server.handlers["requests:list"] = replies({"requests": []})
        done = await bascule(tmp_path, "sessions", "show", SESSION)
    assert (done.code, done.out) == (0, "what was said\n")


async def test_end_and_kill_all(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["kill-all"] = replies({"ended": 2})
        assert (await bascule(tmp_path, "sessions", "end", SESSION)).code == 0
        done = await bascule(tmp_path, "sessions", "kill-all")
    assert done.out == "Stopped 2 sessions.\n"
    assert scene.server.kinds() == ["session:end", "kill-all"]


async def test_allowing_by_words_needs_the_input_that_was_seen(tmp_path: Path):
    sha = sha256(b"rm x").hexdigest()
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        words = ("sessions", "answer", SESSION, "r1", "allow")
        for more in ((), ("--sha", "0" * 12), ("--sha", sha[:4])):
            done = await bascule(tmp_path, *words, *more)
            assert done.code == 2
            assert "$ rm x" in done.err
            assert f"--sha {sha[:12]}" in done.err
        assert scene.answers() == []
        assert (await bascule(tmp_path, *words, "--sha", sha[:12])).code == 0
        answer = scene.answers()[0]
        assert (answer["decision"], answer["inputSha256"]) == ("allow", sha)


async def test_denying_by_words_needs_no_more(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        done = await bascule(tmp_path, "sessions", "answer", SESSION, "r1", "deny", "--message", "no")
    assert done.code == 0
    assert scene.answers()[0]["message"] == "no"


async def test_answer_alone_lists_what_waits_and_an_unknown_request_is_said(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        done = await bascule(tmp_path, "sessions", "answer")
        assert "$ rm x" in done.out
        assert (await bascule(tmp_path, "sessions", "answer", SESSION, "r9", "deny")).code == 4


async def test_on_a_terminal_answer_asks(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        async with OnTerminal(tmp_path, "sessions", "answer", SESSION, "r1") as screen:
            await screen.sees("[y allow once")
            screen.type("y")
            assert await screen.code() == 0
    assert scene.answers()[0]["decision"] == "allow"


@pytest.mark.row("R17")
async def test_a_machine_that_takes_one_answer_at_a_time_is_offered_no_more_on_a_terminal(tmp_path: Path):
    laptop = {
        "device": "d-2",
        "name": "laptop",
        "version": "1",
        "online": True,
        "epoch": 1,
        "ownerOnly": True,
    }
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        scene.server.handlers["device:list"] = replies({"devices": [laptop]})
        shown = {"session_id": SESSION, "phase": "waiting", "seq": 3, "device": "d-2"}
        scene.server.handlers["session:show"] = replies({"session": shown})
        async with OnTerminal(tmp_path, "sessions", "answer", SESSION, "r1") as screen:
            await screen.sees("laptop takes an answer for more than one request only on laptop itself")
            await screen.sees("[y allow once, n [reason] deny")
            screen.type("s")
            await screen.sees("Nothing was answered.")
            screen.type("y")
            assert await screen.code() == 0
    (answer,) = scene.answers()
    assert (answer["decision"], answer.get("remember", False)) == ("allow", False)


# Trust, agents, daemon


def grant(name: str, identity: str) -> dict[str, Any]:
    return {"id": identity, "name": name, "role": "operator", "createdAt": "", "expiresAt": "2026-02-01"}


async def test_trust_prints_the_link_alone_on_stdout_and_the_code_beside_it(tmp_path: Path):
    link = "http://127.0.0.1:3333/#token=abc"
    async with play(tmp_path) as scene:
        made = {"grant": grant("phone", "g1"), "token": "abc", "link": link}
        scene.server.handlers["grants:create"] = replies(made)
        done = await bascule(tmp_path, "trust", "generate", "phone", "--days", "7", "--qr")
    assert done.out == link + "\n"
    assert "bascule trust revoke g1" in done.err
    assert "▄" in done.err or "█" in done.err
    asked = scene.server.asked[0]
    assert (asked["name"], asked["role"], asked["expiresIn"]) == ("phone", "operator", 7 * 86400)


async def test_trust_is_revoked_by_name_or_id_but_not_by_a_name_two_have(tmp_path: Path):
    async with play(tmp_path) as scene:
        grants = [grant("phone", "g1"), grant("tablet", "g2"), grant("tablet", "g3")]
        scene.server.handlers["grants:list"] = replies({"grants": grants})
        assert (await bascule(tmp_path, "trust", "revoke", "phone")).code == 0
        assert (await bascule(tmp_path, "trust", "revoke", "g3")).code == 0
        assert (await bascule(tmp_path, "trust", "revoke", "tablet")).code == 4
        assert (await bascule(tmp_path, "trust", "revoke", "watch")).code == 4
        assert "phone" in (await bascule(tmp_path, "trust", "list")).out
    revoked = [frame["grantId"] for frame in scene.server.asked if frame["type"] == "grants:revoke"]
    assert revoked == ["g1", "g3"]


@pytest.mark.row("R17")
async def test_trusted_browsers_are_listed_with_their_end_and_revoked_by_name(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["grants:list"] = replies({"grants": []})
        book, now = BrowserBook(tmp_path), time.time()
        phone = book.make("my phone", now)
        book.make("old tablet", now - 8 * 86400, 7 * 86400.0)
        listed = (await bascule(tmp_path, "trust", "list")).out
        revoked = await bascule(tmp_path, "trust", "revoke", "my phone")
        after = (await bascule(tmp_path, "trust", "list")).out
    until = time.strftime("%Y-%m-%d", time.localtime(phone.expires_at))
    assert "Browsers whose signed starts this machine takes:" in listed
    assert f"{phone.id}  my phone  until {until}\n" in listed
    assert re.search(r"old tablet  until \S+  expired\n", listed)
    assert phone.code not in listed
    assert "no more starts signed by my phone" in revoked.out
    assert "my phone" not in after


@pytest.mark.row("L8")
async def test_a_trusted_site_is_listed_apart_and_revoked_by_its_address(tmp_path: Path):
    site = {**grant("https://tool.example", "s1"), "role": "site", "createdAt": "2026-01-18T14:30:00.000Z"}
    async with play(tmp_path) as scene:
        scene.server.handlers["grants:list"] = replies({"grants": [site]})
        alone = await bascule(tmp_path, "trust", "list")
        scene.server.handlers["grants:list"] = replies({"grants": [site, grant("phone", "g1")]})
        both = await bascule(tmp_path, "trust", "list")
        revoked = await bascule(tmp_path, "trust", "revoke", "https://tool.example")
    assert alone.out.startswith("Nobody has a link.")
    lines = both.out.splitlines()
    assert lines[0].startswith("g1  operator  phone")
    assert lines[1] == "Websites that may launch agents without the launch window:"
    assert lines[2] == "s1  https://tool.example  trusted since 2026-01-18T14:30:00.000Z"
    assert revoked.out.startswith("https://tool.example is no longer trusted.")
    assert [one["grantId"] for one in scene.server.asked if one["type"] == "grants:revoke"] == ["s1"]


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


# Audit and doctor, with no server


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
    assert "audit log: 2 records hold" in done.out


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
