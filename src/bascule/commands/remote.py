"""`bascule daemon install|remove user@host`: Bascule on another machine, set up and joined over plain ssh."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable

from bascule import __version__
from bascule.client import Client
from bascule.client.address import is_local
from bascule.client.pairing import hub_url
from bascule.commands import exits
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.server_address import connected
from bascule.model.errors import BasculeError, InvalidInput
from bascule.remote.far_side import Far, FarSide
from bascule.remote.payload import pack
from bascule.remote.ssh import RemoteFailed, Ssh

Undo = Callable[[], Awaitable[object]]


def _step(text: str) -> None:
    print(f"- {text}", flush=True)


async def install(args: argparse.Namespace) -> int:
    """Each step is printed; when one fails, those before it are undone."""
    async with await connected(args) as client, Ssh(args.host) as ssh:
        installing = Installing(client, Far(ssh), args.through_ssh, args.hub_may_widen)
        try:
            url = await _chosen_url(client, args)
            await installing.run(url)
        except BasculeError as error:
            print(flat(error.message), file=sys.stderr)
            await installing.roll_back()
            return exits.USAGE if isinstance(error, InvalidInput) else exits.FAILED
        except asyncio.CancelledError:  # Ctrl-C
            await installing.roll_back()
            raise
    return exits.OK


async def _chosen_url(client: Client, args: argparse.Namespace) -> str:
    """The address by which that machine reaches this hub; empty when it will be a tunnel's."""
    if args.through_ssh:
        return ""
    public = [address.url for address in await client.addresses() if address.kind == "public"]
    url = args.hub_url or (public[0] if public else "")
    if url and not is_local(hub_url(url)):
        return hub_url(url)
    problem = (
        f"{hub_url(url)} means, on {args.host}, that machine itself."
        if url
        else "This hub has no address that another machine could reach (public_url)."
    )
    raise InvalidInput(
        f"{problem} Name one with --hub-url https://…, or let this hub keep a tunnel: "
        f"{command_line('daemon', 'install', '--through-ssh', args.host)}"
    )


class Installing:
    def __init__(self, client: Client, far: Far, through_ssh: bool, may_widen: bool) -> None:
        self._client, self._far, self._through_ssh = client, far, through_ssh
        self._may_widen = ["--hub-may-widen"] if may_widen else []
        self._host = far.ssh.host
        self._undo: list[tuple[str, Undo]] = []

    async def run(self, url: str) -> None:
        far = self._far
        _step(f"reach {self._host}")
        await far.ssh.run("exit 0")
        _step("read the PATH of its login shell")
        if not await far.user_path():
            print("  it could not be read; agents are looked for on the PATH of a plain ssh command")
        _step("find Python 3.11 or newer")
        found = await far.look()
        print(f"  {found.words}: {flat(found.python)}")
        if self._through_ssh:
            url = await self._open_tunnel()
        await self._check_reach(url)
        await self._copy(found)
        await self._start()
        await self._join(url)

    async def roll_back(self) -> None:
        log = ""
        while self._undo:
            words, undo = self._undo.pop()
            try:
                if words.startswith("remove") and not log:
                    log = await self._far.log_tail()
                print(f"- undo: {words}", flush=True)
                await undo()
            except BasculeError as error:
                print(f"  that failed: {flat(error.message)}", file=sys.stderr)
        if log:
            print(f"The end of its log was:\n{_indented(log)}", file=sys.stderr)

    async def _open_tunnel(self) -> str:
        known = [tunnel.port for tunnel in await self._client.tunnels() if tunnel.host == self._host]
        port = known[0] if known else int((await self._far.program("port"))["port"])
        _step(f"keep a tunnel open: port {port} there leads to this hub")
        if not known:
            self._undo.append(("close the tunnel", lambda: self._client.close_tunnel(self._host)))
        status = await self._client.open_tunnel(self._host, port)
        if status.state != "open":
            raise RemoteFailed(
                f"The tunnel does not open: {status.message or 'ssh takes too long'}. The hub opens it with "
                f"nobody at the keyboard, so this must ask nothing: ssh -o BatchMode=yes {self._host}"
            )
        return f"http://127.0.0.1:{port}"

    async def _check_reach(self, url: str) -> None:
        _step(f"check whether {url} answers from there")
        answer = await self._far.program("reach", url)
        if not answer.get("answers"):
            raise RemoteFailed(f"{self._host} does not reach this hub at {url}: {answer.get('why')}")

    async def _copy(self, found: FarSide) -> None:
        if found.installed:
            ran = await self._far.bascule("--version")
            version = ran.out.strip()
            if version != f"bascule {__version__}":
                raise RemoteFailed(
                    f"Another version is installed there ({version or ran.said or 'it does not run'}); "
                    f"remove it first: {command_line('daemon', 'remove', self._host)}"
                )
            _step(f"Bascule {__version__} is there already")
            return
        _step("copy Bascule and what it needs")
        data = pack(found)
        print(f"  {len(data) / 1e6:.0f} MB")
        what = "" if found.state else "all"
        self._undo.append(("remove what was installed", lambda: _removed(self._far, what)))
        await self._far.program("unpack", data=data)
        ran = await self._far.bascule("--version")
        if ran.code != 0:
            raise RemoteFailed(f"It does not run there: {ran.said}")

    async def _start(self) -> None:
        _step("start it as a service of its user")
        ran = await self._far.bascule("service", "install")
        if ran.code == 0:
            return
        print(f"  no service there: {flat(ran.said.splitlines()[0] if ran.said else 'no reason')}")
        _step("start it in the background; it will not start again after a reboot")
        ran = await self._far.bascule("daemon", "start")
        if ran.code not in (exits.OK, exits.REFUSED, exits.UNREACHABLE):  # an earlier hub is no matter
            raise RemoteFailed(f"It does not start there: {ran.said}")

    async def _join(self, url: str) -> None:
        device, name = await _device(self._far)
        _step(f"let {flat(name)} in, as the machine {device} alone")
        earlier = [grant.id for grant in await self._client.grants() if grant.device == device]
        made = await self._client.create_device_grant(name[:100] or self._host, device)
        self._undo.append(("take back its grant", lambda: self._client.revoke_grant(made.grant.id)))
        self._undo.append(("leave this hub", lambda: self._far.bascule("daemon", "leave")))
        _step(f"join {url}")
        words = ["daemon", "join", url, "--token-stdin", *self._may_widen]
        ran = await self._far.bascule(*words, data=f"{made.token}\n".encode())
        if ran.code != 0:
            raise RemoteFailed(f"It did not connect: {ran.said}")
        for grant_id in earlier:
            await self._client.revoke_grant(grant_id)
        _step(ran.out.strip().splitlines()[-1])


async def remove(args: argparse.Namespace) -> int:
    """Sessions there are ended and stay in its log; its grants and its tunnel here are taken back."""
    async with await connected(args) as client, Ssh(args.host) as ssh:
        far = Far(ssh)
        _step(f"reach {args.host}")
        await far.user_path()
        found = await far.look()
        if not found.installed:
            print(f"Bascule is not installed on {args.host}.")
        else:
            device, name = await _device(far)
            _step(f"end the sessions of {flat(name)}, and remove the program")
            await _removed(far, "")
            _step("take back its grant")
            for grant in await client.grants():
                if grant.device == device:
                    await client.revoke_grant(grant.id)
        await client.close_tunnel(args.host)
    print("Removed. Its settings and the log of its sessions are still there: ~/.local/state/bascule")
    return exits.OK


async def _device(far: Far) -> tuple[str, str]:
    ran = await far.bascule("daemon", "status", "--json")
    try:
        answer = json.loads(ran.out)
        return str(answer["device"]), str(answer["name"])
    except (ValueError, KeyError, TypeError) as error:
        raise RemoteFailed(f"It does not say which machine it is: {ran.said}") from error


async def _removed(far: Far, what: str) -> None:
    """A program that is only half there can't end anything; its files are removed all the same."""
    for words in (("daemon", "leave"), ("service", "uninstall"), ("down",)):
        await far.bascule(*words)
    answer = await far.program("remove", what)
    if answer.get("left"):
        raise RemoteFailed(f"Not all of ~/.local/share/bascule on {far.ssh.host} could be removed.")


def _indented(text: str) -> str:
    return "\n".join(f"  {flat(line)}" for line in text.splitlines())
