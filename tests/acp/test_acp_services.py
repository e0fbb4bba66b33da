"""What an agent has done for it: files of its folder and programs in it, asked for and never outside."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acp.sharing import PATIENT, add_agent, pid_of, told
from tests.acp.test_acp_live import answer, said
from tests.live import LiveServer
from tests.parts import Part

from bascule.daemon.files.confined import ConfinedFolder, FileForbidden
from bascule.daemon.files.file_writing import write_file
from bascule.daemon.sessions.agent_services import AgentServices, ReadParams, WriteParams, relative
from bascule.drivers.acp.service_calls import command_line
from bascule.model.events import PermissionRequested, PromptSent, TurnEnded
from bascule.policy.shell import exact_argv

pytestmark = pytest.mark.anyio


class Caller:
    """One session whose agent makes calls when it is told to."""

    def __init__(self, server: LiveServer, session: str) -> None:
        self.server = server
        self.session = session
        self.seq = 0

    async def begin(self, method: str, **params: Any) -> None:
        self.seq = (await self.server.log(self.session))[-1].seq
        await self.server.send(self.session, f"call {method} {json.dumps(params)}")

    async def result(self) -> Any:
        row = await self.server.wait_for(self.session, TurnEnded, after=self.seq)
        rows = await self.server.log(self.session, self.seq)
        return json.loads(said([one.event for one in rows if one.seq <= row.seq]))

    async def call(self, method: str, **params: Any) -> Any:
        await self.begin(method, **params)
        return await self.result()

    async def asked(self) -> PermissionRequested:
        asked = (await self.server.wait_for(self.session, PermissionRequested, after=self.seq)).event
        assert isinstance(asked, PermissionRequested)
        return asked

    async def decided(self, decision: str, method: str, **params: Any) -> tuple[PermissionRequested, Any]:
        await self.begin(method, **params)
        asked = await self.asked()
        await answer(self.server, self.session, asked, decision)
        return asked, await self.result()


@pytest.mark.row("A1", "S30", "S33", "S42")
async def test_an_agent_reads_writes_and_runs_only_in_its_folder_and_what_was_allowed(
    short_dir: Path, part: Part
):
    server = LiveServer(short_dir, env={**PATIENT, "MY_PASSWORD": "hush"})
    log = add_agent(server, services='"read", "write", "terminal"')
    work = server.work
    (work / "notes.txt").write_text("one\ntwo\nthree\n")
    (server.folder / "secret.txt").write_text("secret")
    (work / "link.txt").symlink_to(server.folder / "secret.txt")
    (work / "out").symlink_to(server.folder)
    # A hostile folder: nothing of it may reach the agent's process or a program it has run.
    (work / ".env").write_text("CANARY=tweet\nPATH=/nowhere\n")
    (work / ".bascule").mkdir()
    (work / ".bascule" / "config.toml").write_text('roots = ["/"]\n')
    async with server:
        session = await server.create("hello", agent="scripted")
        await server.wait_for(session, TurnEnded)
        with part("files and terminals are offered to the agent"):
            offered = next(line for line in told(log) if line.get("method") == "initialize")
            assert offered["params"]["clientCapabilities"]["fs"] == {
                "readTextFile": True,
                "writeTextFile": True,
            }
        one = Caller(server, session)

        read = "fs/read_text_file"
        with part("files of the folder are read"):
            assert await one.call(read, path=f"{work}/notes.txt") == {"content": "one\ntwo\nthree\n"}
            assert await one.call(read, path=f"{work}/notes.txt", line=2, limit=1) == {"content": "two\n"}
        with part("nothing outside the folder is read"):
            for path in (
                f"{server.folder}/secret.txt",
                f"{work}/../secret.txt",
                f"{work}/link.txt",
                f"{work}/out/secret.txt",
                "/proc/self/environ",
                "notes.txt",
            ):
                refused = await one.call(read, path=path)
                assert refused["error"]["code"] == -32000, path
        with part("an unknown method is refused"):
            assert (await one.call("fs/delete_file", path="x"))["error"]["code"] == -32601

        write = "fs/write_text_file"
        with part("a denied write changes nothing"):
            asked, denied = await one.decided("deny", write, path=f"{work}/new/a.txt", content="hi")
            assert (asked.kind, asked.tool) == ("edit", "write_text_file")
            assert denied["error"]["message"].startswith("Denied")
            assert not (work / "new").exists()
        with part("only the exact request can be allowed"):
            await one.begin(write, path=f"{work}/new/a.txt", content="hi")
            asked = await one.asked()
            wrong: list[dict[str, Any]] = [
                {"option": "no-such-option"},
                {"inputSha256": "0" * 64},
                {"updatedInput": {"path": "/etc/passwd"}},
                {"requestId": "another"},
            ]
            for more in wrong:
                body = {"requestId": asked.request_id, "decision": "allow", **more}
                refused = await server.http.post(f"/api/sessions/{session}/permissions", json=body)
                assert refused.status_code in (400, 404, 409), more
            await answer(server, session, asked, "allow")
            assert await one.result() == {}
            assert (work / "new" / "a.txt").read_text() == "hi"
        with part("nothing outside the folder is written"):
            for path in (f"{work}/link.txt", f"{work}/out/secret.txt", f"{server.folder}/secret.txt"):
                _, refused = await one.decided("allow", write, path=path, content="stolen")
                assert refused["error"]["code"] == -32000, path
            assert (server.folder / "secret.txt").read_text() == "secret"

        make = "terminal/create"
        with part("a denied program is not started"):
            _, denied = await one.decided("deny", make, command="touch", args=["b.txt"])
            assert "Denied" in denied["error"]["message"]
        with part("an allowed program runs and is read until it is released"):
            script = "import sys; print('to out', flush=True); print('to err', file=sys.stderr); sys.exit(3)"
            asked, made = await one.decided(
                "allow", make, command=sys.executable, args=["-c", script], outputByteLimit=1000
            )
            assert asked.kind == "execute"
            assert script.split(";")[0] in json.loads(bytes(asked.input))["command"]
            mine = {"terminalId": made["terminalId"]}
            assert await one.call("terminal/wait_for_exit", **mine) == {"exitCode": 3, "signal": None}
            assert await one.call("terminal/output", **mine) == {
                "output": "to out\nto err\n",
                "truncated": False,
                "exitStatus": {"exitCode": 3, "signal": None},
            }
            assert await one.call("terminal/release", **mine) == {}
            assert "error" in await one.call("terminal/output", **mine)
        with part("no program runs outside the folder"):
            _, refused = await one.decided(
                "allow", make, command="touch", args=["c.txt"], cwd=str(server.folder)
            )
            assert f"outside the session's folder, {server.work}" in refused["error"]["message"]
            assert not (server.folder / "c.txt").exists()

        with part("a program gets no secret and nothing of a hostile folder"):
            _, made = await one.decided("allow", make, command="env")
            mine = {"terminalId": made["terminalId"]}
            await one.call("terminal/wait_for_exit", **mine)
            shown = (await one.call("terminal/output", **mine))["output"]
            assert f"HOME={server.home}" in shown
            seen = shown + Path(f"/proc/{await pid_of(server, session)}/environ").read_text()
            assert not any(word in seen for word in ("hush", "tweet", "/nowhere", server.token))
        with part("dangerous variables cannot be set"):
            for name in ("LD_PRELOAD", "BASCULE_TOKEN", "A=B", ""):
                chosen = [{"name": name, "value": "x"}]
                _, refused = await one.decided("allow", make, command="env", env=chosen)
                assert "can't be set" in refused["error"]["message"], name

        # A program outlives the server, and so does the request to know how it ends.
        # The folder's name tells this program from that of another run of this test.
        endless = (
            f"import time  # {server.folder}\nprint('x' * 5000, flush=True)\nwhile True: time.sleep(0.05)"
        )
        _, made = await one.decided(
            "allow", make, command=sys.executable, args=["-c", endless], outputByteLimit=100
        )
        mine = {"terminalId": made["terminalId"]}
        while not (await one.call("terminal/output", **mine))["truncated"]:
            pass  # each look is a turn of its own, so this is no busy loop
        await one.begin("terminal/wait_for_exit", **mine)
        await server.wait_for(session, PromptSent, after=one.seq)
        other = Caller(server, await server.create("hello", agent="scripted"))
        await server.wait_for(other.session, TurnEnded)
        await server.kill()
        await server.start()
        assert "error" in await other.call("terminal/kill", **mine)  # another session's
        os.kill(_pid_with(endless), 9)
        assert await one.result() == {"exitCode": None, "signal": "SIGKILL"}
        shown = await one.call("terminal/output", **mine)
        assert (len(shown["output"]), shown["truncated"]) == (100, True)
        requests = [line for line in told(log) if (line.get("result") or {}).get("signal") == "SIGKILL"]
        assert len(requests) == 1


def _pid_with(script: str) -> int:
    """The program that was started with these words."""
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except (OSError, NotADirectoryError):
            continue
        if words[1:3] == [b"-c", script.encode()]:
            return int(folder.name)
    raise AssertionError("it does not run")


# Without a server ----------------------------------------------------------------------------------------


@pytest.mark.row("S43")
@pytest.mark.parametrize(
    ("call", "plain"),
    [
        ({"command": "git", "args": ["status"]}, True),
        ({"command": "git status; rm x", "args": []}, False),
        ({"command": "git", "args": ["status", "; rm x"]}, False),
        ({"command": "git", "args": ["status\nrm"]}, False),
        ({"command": "git", "args": ["status"], "env": [{"name": "GIT_PAGER", "value": "x"}]}, False),
        ({"command": "git", "args": ["status"], "cwd": "/repo/sub"}, False),
        ({"command": "git", "args": ["status"], "cwd": "/repo/"}, True),
        ({"command": "git", "args": ["status", 1]}, False),
    ],
)
def test_a_rule_covers_a_command_only_when_nothing_else_changes_what_it_does(
    call: dict[str, Any], plain: bool
):
    argv = exact_argv(command_line(call, "/repo"))
    assert (argv == ("git", "status")) is plain


@pytest.fixture
def own(tmp_path: Path) -> Callable[[], ConfinedFolder]:
    (tmp_path / "root").mkdir()
    (tmp_path / "data").mkdir()
    return lambda: ConfinedFolder(str(tmp_path / "root"), (str(tmp_path / "data"),))


@pytest.mark.row("S30")
def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path, own: Callable[[], ConfinedFolder]):
    script = tmp_path / "root" / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    write_file(own(), "run.sh", b"new")
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o750)
    assert sorted(one.name for one in (tmp_path / "root").iterdir()) == ["run.sh"]


@pytest.mark.row("S30")
@pytest.mark.parametrize("path", ["../x", "/etc/x", "", ".", "a/../../x", "x\0y", "~/x", "..\\x"])
def test_a_path_that_leads_elsewhere_is_not_written(path: str, own: Callable[[], ConfinedFolder]):
    with pytest.raises(FileForbidden):
        write_file(own(), path, b"x")


@pytest.mark.row("S30")
def test_links_devices_folders_and_second_names_are_not_written(
    tmp_path: Path, own: Callable[[], ConfinedFolder]
):
    root, outside = tmp_path / "root", tmp_path / "outside.txt"
    outside.write_text("mine")
    (root / "link").symlink_to(outside)
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    os.link(outside, root / "second")
    (root / "way").symlink_to(tmp_path)
    for path in ("link", "folder", "pipe", "second", "way/outside.txt", "link/x"):
        with pytest.raises(FileForbidden):
            write_file(own(), path, b"x")
    assert outside.read_text() == "mine"
    assert not (tmp_path / "data").is_symlink()


@pytest.mark.row("S30")
@pytest.mark.parametrize("path", ["relative.txt", "/repo2/a", "/", "/repository/a", "/repo"])
def test_only_paths_below_the_folder_are_served(path: str):
    with pytest.raises(FileForbidden):
        relative(path, "/repo")


@pytest.mark.row("REL-31")
def test_what_is_too_large_or_no_text_is_refused(tmp_path: Path):
    services = AgentServices.__new__(AgentServices)
    services._own = ()  # pyright: ignore[reportPrivateUsage]
    (tmp_path / "blob").write_bytes(b"\xff\xfe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(11 * 1024 * 1024)
    for name in ("blob", "huge"):
        with pytest.raises(FileForbidden):
            services._read(str(tmp_path), ReadParams(f"{tmp_path}/{name}"))  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(FileForbidden):
        services._write(str(tmp_path), WriteParams(f"{tmp_path}/x", "x" * (11 * 1024 * 1024)))  # pyright: ignore[reportPrivateUsage]
