"""`bascule service …`: the server as a service of this user, and what opens `bascule://` links."""

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from bascule.client.address import ServerFile
from bascule.commands import exits
from bascule.commands.server_address import data_dir_of, running_server
from bascule.config.load import OTHER_NAMES, SEED_NAMES
from bascule.service.link_handler import LinkHandler
from bascule.service.programs import run_program
from bascule.service.this_service import PASSED, user_service
from bascule.service.user_service import UserService

START_SECONDS = 120.0
_EPHEMERAL = ("/archive-v0/", "/builds-v0/", "/environments-v2/", "/.cache/uv/")


async def install(args: argparse.Namespace) -> int:
    problem = _not_lasting(sys.prefix) or _runs_by_hand(args)
    if problem:
        print(problem, file=sys.stderr)
        return exits.FAILED
    service = _service(args)
    before = _server(args)
    changed = service.install(restart=args.restart)
    server = await _answering(args, before.pid if before and (changed or args.restart) else None)
    if server is None:
        print(
            f"The service was started, but no server answers. See: {service.log_command()}", file=sys.stderr
        )
        return exits.FAILED
    state = service.state()
    print(f"{'Installed' if changed else 'Already installed'}: {state.file}")
    print(f"Bascule runs at {server.url} and starts on its own {state.starts or 'no longer'}.")
    if state.advice:
        print(state.advice)
    _install_links(args)
    for name in _left_out(os.environ):
        print(f"Not part of the service: {name}. Put it into config.toml.", file=sys.stderr)
    print("A link to open it: bascule trust generate NAME --role owner")
    return exits.OK


def status(args: argparse.Namespace) -> int:
    service = _service(args)
    state = service.state()
    server = _server(args)
    if not state.installed:
        print("The service is not installed. Install it with: bascule service install")
    else:
        print(f"Installed: {state.file}")
        print(f"Starts on its own: {state.starts or 'no'}")
        if state.advice:
            print(state.advice)
        if not state.current:
            print(
                "Its file is not what this version would write; bring it up to date: bascule service install"
            )
    if server is not None:
        how = "as the service" if state.running else "started by hand"
        print(f"Running at {server.url} (pid {server.pid}), {how}")
        return exits.OK
    print("Not running." + (f" See: {service.log_command()}" if state.installed else ""))
    return exits.UNREACHABLE


def uninstall(args: argparse.Namespace) -> int:
    removed = _service(args).uninstall()
    links = _links(args)
    if links is not None and links.uninstall():
        print("bascule:// links are no longer opened by Bascule.")
    if not removed:
        print("The service is not installed.")
        return exits.OK
    print("The service was stopped and removed. Sessions, settings and running agents stay;")
    print("`bascule down` ends the agents.")
    return exits.OK


def _service(args: argparse.Namespace) -> UserService:
    return user_service(args.data, os.environ)


def _links(args: argparse.Namespace) -> LinkHandler | None:
    """None on macOS, where only an application bundle can open links."""
    if sys.platform == "darwin":
        return None
    words = [sys.executable, "-m", "bascule", "open-link"]
    if args.data:
        words += ["--data", os.path.abspath(args.data)]
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return LinkHandler(words, data, run_program)


def _install_links(args: argparse.Namespace) -> None:
    links = _links(args)
    if links is not None and links.install():
        print("bascule:// links open a terminal with their prompt typed in.")
    elif links is not None:
        problem = "This desktop does not open bascule:// links with Bascule yet (is xdg-utils installed?):"
        print(f"{problem} {links.file}", file=sys.stderr)


def _not_lasting(prefix: str) -> str:
    """An environment of uvx lies in a cache, which is emptied without asking."""
    cache = os.environ.get("UV_CACHE_DIR", "")
    if any(part in f"{prefix}/" for part in _EPHEMERAL) or (cache and prefix.startswith(cache)):
        return (
            "This Bascule runs from uv's cache, which may be emptied at any time. Install it first, then the "
            "service: uv tool install bascule && bascule service install"
        )
    return ""


def _runs_by_hand(args: argparse.Namespace) -> str:
    server = _server(args)
    if server is None or _service(args).state().running:
        return ""
    return (
        f"Bascule already runs at {server.url} (pid {server.pid}), started by hand. Stop it (Ctrl-C; agents "
        "keep running), then install the service again."
    )


def _server(args: argparse.Namespace) -> ServerFile | None:
    """The server that runs now with this state folder."""
    return running_server(data_dir_of(args))


async def _answering(args: argparse.Namespace, before: int | None) -> ServerFile | None:
    """The server, once it runs; not the one from `before` the restart."""
    try:
        async with asyncio.timeout(START_SECONDS):
            while (server := _server(args)) is None or server.pid == before:  # noqa: ASYNC110 - another process writes the file
                await asyncio.sleep(0.1)
    except TimeoutError:
        return None
    return server


def _left_out(environ: Mapping[str, str]) -> list[str]:
    """Settings in this shell that the service will not see."""
    own = {name for name in environ if name.startswith("BASCULE_")} | {*SEED_NAMES} & {*environ}
    return sorted(own - {*PASSED, *OTHER_NAMES})
