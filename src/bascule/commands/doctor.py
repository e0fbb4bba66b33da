"""`bascule doctor`: checks everything a start needs and prints, line by line, what to do next."""

import argparse
import asyncio
import os
import platform
import shutil
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from msgspec import structs

import bascule
from bascule.agents.catalogue import Catalogue
from bascule.client import Client, Unreachable
from bascule.client.address import read_server_file
from bascule.commands import exits
from bascule.commands.audit import DATABASE, verify_file
from bascule.commands.conformance import conformance
from bascule.commands.console import Console, Style
from bascule.commands.doctor_extras import extras
from bascule.commands.doctor_line import Finding, Level
from bascule.commands.doctor_log import log_findings
from bascule.commands.request_prompt import flat
from bascule.config import ConfigError, load
from bascule.daemon.launching.launching import Launcher
from bascule.launch.errors import LaunchError
from bascule.launch_setup import launches_of
from bascule.link.machine import AgentInfo
from bascule.model.errors import BasculeError
from bascule.model.settings import Settings
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper import KeeperConnection

LITTLE_SPACE, NO_SPACE = 1024**3, 100 * 1024**2
ANSWER_SECONDS = 5
AGENTS_SECONDS = 10  # for their versions, which each of them is started for
STILL_LOOKING = "(still looking for its version)"

_STYLES: dict[Level, Style] = {"ok": "green", "warn": "yellow", "fail": "red"}


async def doctor(args: argparse.Namespace) -> int:
    if args.conformance:
        return await conformance(args)
    terminal = Console()
    worst = "ok"
    async for finding in _examine(args):
        mark = terminal.style(f"{finding.level:<4}", _STYLES[finding.level])
        advice = terminal.style(f"  → {flat(finding.advice)}", "bold") if finding.advice else ""
        terminal.line(f"{mark}  {flat(finding.what)}{advice}")
        worst = "fail" if finding.level == "fail" else worst
    return exits.FAILED if worst == "fail" else exits.OK


async def _examine(args: argparse.Namespace) -> AsyncIterator[Finding]:
    yield Finding("ok", f"bascule {bascule.__version__}, Python {platform.python_version()}")
    try:
        settings = load({"data_dir": args.data})
    except ConfigError as error:
        yield Finding("fail", f"settings: {error.message}")
        return
    for finding in (*_settings(settings), *_folders(settings), *_space(settings)):
        yield finding
    keeper, kept = await _keeper(settings)
    yield keeper
    for finding in await asyncio.to_thread(list, log_findings(Path(settings.data_dir) / DATABASE, kept)):
        yield finding
    async for finding in _server(settings):
        yield finding
    yield await asyncio.to_thread(_launch_terminal, settings)
    for finding in await asyncio.to_thread(list, extras(settings, os.environ)):
        yield finding
    yield await asyncio.to_thread(_audit, settings)


def _settings(settings: Settings) -> Iterator[Finding]:
    file = Path(settings.config_dir) / "config.toml"
    yield Finding("ok", f"settings: {file}" if file.exists() else f"settings: defaults (no {file})")


# Files ----------------------------------------------------------------------------------------------


def _folders(settings: Settings) -> Iterator[Finding]:
    config = Path(settings.config_dir)
    if config.exists():
        yield _folder("config folder", config, 0o022, "chmod go-w")
    data = Path(settings.data_dir)
    if not data.exists():
        yield Finding("ok", f"state folder: {data} (made at the first start)")
        return
    yield _folder("state folder", data, 0o077, "chmod 700")
    loose = sorted(_loose_files(data))
    if loose:
        names = ", ".join(str(path.relative_to(data)) for path in loose[:5])
        more = f" and {len(loose) - 5} more" if len(loose) > 5 else ""
        yield Finding("warn", f"others may read {names}{more}", f"chmod -R go= {data}")


def _folder(name: str, path: Path, forbidden: int, command: str) -> Finding:
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return Finding("fail", f"{name}: {path} is not a folder", "move it away")
    if status.st_uid != os.getuid():
        return Finding("fail", f"{name}: {path} belongs to another user", "choose another folder")
    mode = stat.S_IMODE(status.st_mode)
    if mode & forbidden:
        return Finding("fail", f"{name}: {path} is open to others (mode {mode:o})", f"{command} {path}")
    if not os.access(path, os.W_OK | os.X_OK) and forbidden == 0o077:
        return Finding("fail", f"{name}: {path} can't be written to", "check its owner, mode and disk")
    return Finding("ok", f"{name}: {path} (mode {mode:o})")


def _loose_files(data: Path) -> Iterator[Path]:
    for path in data.rglob("*"):
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:  # a running server makes and removes files
            continue
        if (stat.S_ISREG(mode) or stat.S_ISSOCK(mode)) and mode & 0o077:
            yield path


def _space(settings: Settings) -> Iterator[Finding]:
    folder = Path(settings.data_dir)
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    words = f"disk: {free / 1024**3:.1f} GB free for {settings.data_dir}"
    level: Level = "ok" if free >= LITTLE_SPACE else "warn" if free >= NO_SPACE else "fail"
    yield Finding(level, words, "" if level == "ok" else "make room; sessions stop being recorded at zero")


# Processes ------------------------------------------------------------------------------------------


async def _keeper(settings: Settings) -> tuple[Finding, list[str]]:
    """The keeper's state, and the names of its sessions."""
    folder = Path(settings.data_dir) / "keeper"
    if not (folder / "keeper.sock").exists():
        return Finding("ok", "keeper: not running (the server starts it)"), []
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            connection = await KeeperConnection.connect(folder)
            hello = await connection.hello()
            sessions = await connection.list()
            await connection.aclose()
    except KeeperGone:
        return Finding("ok", "keeper: not running (it left a socket behind; the next start clears it)"), []
    except (KeeperError, TimeoutError) as error:
        why = str(error) or "no answer"
        return Finding("fail", f"keeper: does not answer ({why})", f"look at {folder / 'keeper.log'}"), []
    words = f"keeper: running (pid {hello.pid}, {hello.version}), {len(sessions)} agents kept"
    return Finding("ok", words), [session.session for session in sessions]


async def _server(settings: Settings) -> AsyncIterator[Finding]:
    try:
        note = read_server_file(settings.data_dir)
        async with asyncio.timeout(ANSWER_SECONDS), await Client.local(settings.data_dir) as client:
            await client.ping()
    except (Unreachable, TimeoutError) as error:
        if isinstance(error, Unreachable) and error.code == "SERVER_NOT_RUNNING":
            yield Finding("ok", "server: not running", "start it with: bascule")
        else:
            why = str(error) or f"no answer within {ANSWER_SECONDS} s"
            yield Finding("fail", f"server: {why}", f"look at {settings.data_dir}/server.log")
        async for finding in _agents_without_server(settings):
            yield finding
        return
    except BasculeError as error:
        yield Finding("fail", f"server: {error.message}", "stop it and start it again")
        return
    yield Finding("ok", f"server: running at {client.address.url} (pid {note.pid if note else 'unknown'})")
    try:
        async with asyncio.timeout(AGENTS_SECONDS), await Client.local(settings.data_dir) as client:
            agents = await client.agents()
    except TimeoutError:
        async for finding in _agents_without_server(settings, at_once=True):
            yield finding
        return
    except BasculeError as error:
        yield Finding("fail", f"agents: {error.message}", "try again")
        return
    for agent in agents:
        for finding in _agent(agent):
            yield finding


async def _agents_without_server(settings: Settings, *, at_once: bool = False) -> AsyncIterator[Finding]:
    """The same search the server makes, here. A program that is slow to tell its version is still found."""
    try:
        catalogue = Catalogue.load(settings.config_dir).passing(settings.pass_on)
    except BasculeError as error:
        yield Finding("fail", f"agents: {error.message}", "correct or remove that file")
        return
    launcher = Launcher(catalogue, settings, os.environ)
    try:
        async with asyncio.timeout(0 if at_once else AGENTS_SECONDS):
            agents = await launcher.agents()
    except TimeoutError:
        glanced = await asyncio.to_thread(launcher.at_first_glance)
        agents = tuple(
            structs.replace(agent, version=STILL_LOOKING) if agent.available and not agent.demo else agent
            for agent in glanced
        )
    for agent in agents:
        for finding in _agent(agent):
            yield finding


def _agent(agent: AgentInfo | AgentInfo) -> Iterator[Finding]:
    name = agent.title or agent.name
    if not agent.available:
        yield Finding("warn", f"agent: {name} is not available", agent.problem or "")
        return
    facts = [name, agent.version, agent.path, f"by {', '.join(agent.drivers)}" if agent.drivers else ""]
    if agent.signed_in is not None:
        facts.append(f"signed in: {agent.signed_in}")
    advice = f"sign in with: {agent.login}" if agent.signed_in == "no" and agent.login else ""
    yield Finding("warn" if advice else "ok", f"agent: {' '.join(fact for fact in facts if fact)}", advice)
    for said in agent.unasked.get(agent.drivers[0], ()) if agent.drivers else ():
        yield Finding("warn", f"agent: {name}: {said}")


def _launch_terminal(settings: Settings) -> Finding:
    """The terminal that a launch would open now, and why that one."""
    try:
        catalogue = Catalogue.load(settings.config_dir).passing(settings.pass_on)
        terminal = launches_of(settings, catalogue).launches.terminal()
    except LaunchError as error:
        advice = "only launching in a desktop terminal needs one"
        return Finding("warn", f"terminal for launches: {error.message}", advice)
    except BasculeError:  # an agent file that can't be used is listed with the agents
        return Finding("ok", "terminal for launches: not looked for")
    return Finding("ok", f"terminal for launches: {terminal.name} ({terminal.program}), by {terminal.rule}")


def _audit(settings: Settings) -> Finding:
    verdict = verify_file(Path(settings.data_dir) / DATABASE)
    if verdict is None:
        return Finding("ok", "audit log: none yet")
    if verdict.ok:
        return Finding("ok", f"audit log: {verdict.count} records verified")
    return Finding("fail", f"audit log: {verdict.problem}", "keep a copy of the state folder")
