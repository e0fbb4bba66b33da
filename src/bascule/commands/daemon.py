"""`bascule daemon …`: runs this machine's server in the background, and joins it to a hub."""

import argparse
import asyncio
import getpass
import socket
import subprocess
import sys
from pathlib import Path

from bascule import __version__
from bascule.api.bodies import PairingBody
from bascule.client import Client
from bascule.client.address import ServerFile
from bascule.client.pairing import ask_to_join, hub_url, outcome
from bascule.commands import exits, hub_permission
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.server_address import running_server, stop_server
from bascule.config import load
from bascule.daemon.device import Device
from bascule.link.uplink import UplinkStatus
from bascule.model.settings import Settings
from bascule.state_folder import HubNote, prepare, read_hub_note, remove_hub_note, write_hub_note

START_SECONDS = 60.0
CONNECT_SECONDS = 20.0
OUTPUT = "daemon.log"  # what the server prints before its own log is open


async def start(args: argparse.Namespace) -> int:
    settings = load({"data_dir": args.data})
    server = running_server(settings.data_dir)
    if server is not None:
        print(f"Already running at {server.url} (pid {server.pid}).")
    else:
        server = await _start(settings)
        if server is None:
            return exits.FAILED
        print(f"Running at {server.url} (pid {server.pid}). Stop it with: {command_line('daemon', 'stop')}")
    if read_hub_note(Path(settings.data_dir)) is None:
        print(f"It has not joined a hub. Join one with: {command_line('daemon', 'join', 'URL')}")
        return exits.OK
    return _tell(await _uplink(settings))


async def _start(settings: Settings) -> ServerFile | None:
    folder = Path(settings.data_dir)
    prepare(folder)
    process = _spawn(folder)
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        if process.poll() is not None:
            break
        server = running_server(settings.data_dir)
        if server is not None and server.pid == process.pid:
            return server
        await asyncio.sleep(0.05)
    said = (folder / OUTPUT).read_text(errors="replace").strip()
    print(said or f"The server did not start; its log is {folder / 'bascule.log'}.", file=sys.stderr)
    return None


def _spawn(folder: Path) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "bascule", "up", "--no-open", "--data", str(folder)]
    with open(folder / OUTPUT, "wb") as output:
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output, start_new_session=True
        )


async def stop(args: argparse.Namespace) -> int:
    settings = load({"data_dir": args.data})
    server = running_server(settings.data_dir)
    if server is None:
        print("Not running.")
        return exits.OK
    if not await stop_server(server.pid):
        print(f"The server (pid {server.pid}) did not stop.", file=sys.stderr)
        return exits.FAILED
    print("Stopped. Agents keep running; `bascule down` ends them.")
    return exits.OK


async def status(args: argparse.Namespace) -> int:
    settings = load({"data_dir": args.data})
    device = _device(settings)
    server = running_server(settings.data_dir)
    if args.json:
        linked = await _uplink(settings, wait=0) if server is not None else UplinkStatus()
        print(_as_json(device, server, linked))
        return exits.OK
    print(f"This machine: {flat(device.name)} ({device.id})")
    note = read_hub_note(Path(settings.data_dir))
    if server is None:
        where = f" It has joined {note.url}." if note else ""
        print(f"Not running.{where} Start it with: {command_line('daemon', 'start')}")
        if note is not None:
            print(hub_permission.stands(settings, note))
        return exits.UNREACHABLE
    print(f"Running at {server.url} (pid {server.pid})")
    if note is None:
        print("Not joined to a hub.")
        return exits.OK
    linked = await _uplink(settings, wait=0)
    print(_widening(settings, linked))
    return _tell(linked)


def _widening(settings: Settings, linked: UplinkStatus) -> str:
    configured = settings.starts.hub_may_widen is not None
    return hub_permission.words(linked.url, may_widen=linked.may_widen, configured=configured)


def _as_json(device: Device, server: ServerFile | None, linked: UplinkStatus) -> str:
    import msgspec

    running = {"url": server.url, "pid": server.pid} if server is not None else None
    state = {"device": device.id, "name": device.name, "server": running, "hub": linked}
    return msgspec.json.encode(state).decode()


async def join(args: argparse.Namespace) -> int:
    """The token is never an argument: other users of the machine could read it there."""
    settings = load({"data_dir": args.data})
    url = hub_url(args.url, insecure=settings.insecure_hub)
    prepare(Path(settings.data_dir))
    may_widen = await hub_permission.chosen(args, settings, url)
    token = sys.stdin.readline().strip() if args.token_stdin else await _pair(settings, url)
    if not token:
        print("Nothing was joined." if not args.token_stdin else "No token came on stdin.", file=sys.stderr)
        return exits.REFUSED
    if running_server(settings.data_dir) is not None:
        async with await Client.local(settings.data_dir) as client:
            await client.join_hub(url, token, may_widen=may_widen)
    else:
        write_hub_note(Path(settings.data_dir), HubNote(url, token, may_widen))
        if args.no_start:
            print(f"Joined. Connect with: {command_line('daemon', 'start')}")
            return exits.OK
        if await _start(settings) is None:
            return exits.FAILED
    linked = await _uplink(settings)
    print(_widening(settings, linked))
    return _tell(linked)


async def _pair(settings: Settings, url: str) -> str:
    """The token, once the owner has allowed it; empty when the answer was no."""
    device = _device(settings)
    user = getpass.getuser()[:100]
    asked = PairingBody(device=device.id, name=device.name[:100], user=user, version=__version__)
    made = await ask_to_join(url, asked)
    print(f"Code: {made.code}")
    print(f"Open {url}, and let {flat(device.name)} in if it shows the same code.", flush=True)
    while (answer := await outcome(url, made.secret)).state == "waiting":
        pass
    if answer.state == "denied":
        print(f"{flat(answer.by) or 'The owner'} did not let this machine in.", file=sys.stderr)
    return answer.token or ""


async def leave(args: argparse.Namespace) -> int:
    settings = load({"data_dir": args.data})
    note = read_hub_note(Path(settings.data_dir))
    if note is None:
        print("This machine has not joined a hub.")
        return exits.OK
    if running_server(settings.data_dir) is not None:
        async with await Client.local(settings.data_dir) as client:
            await client.leave_hub()
    else:
        remove_hub_note(Path(settings.data_dir))
    print(
        f"Left {note.url}. What it has copied stays there; forget this machine in its page to end its grant."
    )
    return exits.OK


def _tell(linked: UplinkStatus) -> int:
    """One of three answers: connected, refused because …, unreachable."""
    match linked.state:
        case "connected":
            print(f"Connected to {flat(linked.hub or linked.url)} ({linked.url}).")
            return exits.OK
        case "refused":
            print(f"Refused by {linked.url}: {flat(linked.message)}", file=sys.stderr)
            return exits.REFUSED
        case "none":
            print("Not joined to a hub.")
            return exits.OK
        case _:
            why = f": {flat(linked.message)}" if linked.message else "."
            print(f"Not connected to {linked.url}{why} It keeps trying.", file=sys.stderr)
            return exits.UNREACHABLE


async def _uplink(settings: Settings, wait: float = CONNECT_SECONDS) -> UplinkStatus:
    async with await Client.local(settings.data_dir) as client:
        return await client.uplink(wait)


def _device(settings: Settings) -> Device:
    folder = Path(settings.data_dir)
    prepare(folder)
    return Device.of(folder, settings.device_name or socket.gethostname())
