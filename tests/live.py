"""A real Bascule for tests: the real command, its own state folder, killed and started again at will."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import msgspec
from tests.ports import kept_port, number
from tests.waiting import PATIENCE
from tests.warm import WarmProcess, can_be_warm, reason_not_to_hide, source
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from bascule.commands.audit import DATABASE, verify_file
from bascule.daemon.device import Device
from bascule.model.codec import Logged, decode_logged
from bascule.model.events import AnyEvent
from bascule.state_folder import HubNote, prepare, read_note, write_hub_note

FAKES = Path(__file__).parent / "fakes"
# Hub and daemon in two processes with a state folder each, instead of in one: the same tests must hold.
SPLIT = os.environ.get("BASCULE_TEST_MODE", "joined") == "split"
FELL_BEHIND = 4008
# The hub of split mode is its owner's, as the one in the same process is.
ITS_OWNERS_HUB = {"BASCULE_STARTS_HUB_MAY_WIDEN": "true", "BASCULE_STARTS_APPROVAL": "auto"}
LIMITS = "[limits]\nsessions = 0\nspawns_per_minute = 100000\ninputs_per_minute = 100000\noutput_bytes = 0\n"


class _Page(msgspec.Struct):
    """Rows as they are: an agent's own bytes must not be read and written again on their way."""

    events: list[msgspec.Raw]


class _Frame(msgspec.Struct, rename="camel"):
    type: str = ""
    session_id: str = ""
    entries: list[msgspec.Raw] = []
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class LiveServer:
    """`bascule up` in a process of its own. `folder` must be short: unix sockets live below it.

    In split mode people reach it by a hub that is another process, which it has joined.
    """

    def __init__(
        self,
        folder: Path,
        *,
        config: str = "",
        env: dict[str, str] | None = None,
        under: tuple[str, ...] = (),
        command: str = "up",
    ) -> None:
        self.folder = folder
        self.command = command  # up, or hub: a server without agents
        self.under = under  # a program and its arguments that start ours, such as a tracer
        self.hidden: tuple[Path, ...] = ()  # folders that are empty for it, where the system can do that
        self.data = folder / "data"
        self.config = folder / "config"
        self.work = folder / "work"
        self.home = folder / "home"
        for made in (self.config, self.work, self.home):
            made.mkdir(mode=0o700, exist_ok=True)
        # Tests start many sessions at once; a test of the limits sets its own.
        text = f'roots = ["{folder}"]\n' + (config or LIMITS)
        (self.config / "config.toml").write_text(text)
        (self.config / "config.toml").chmod(0o600)
        self.env = {} if env is None else env
        self.port_flag = True  # whether the port is given by a flag
        self.first_port = ""  # of the first start; one that is kept for this server, unless it is given
        self.url = ""  # by which people reach it
        self.own_url = ""  # of this process, which is not the one that they reach in split mode
        self.token = ""
        self.process: asyncio.subprocess.Process | WarmProcess | None = None
        self.output: list[str] = []
        self.hub = self._own_hub(config) if SPLIT and command == "up" else None
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        await self.end_keeper()

    def _own_hub(self, config: str) -> "LiveServer":
        """With the same settings: people meet those of the hub and those of the machine, whichever counts."""
        folder = self.folder / "hub"
        folder.mkdir(mode=0o700, exist_ok=True)
        made = LiveServer(folder, config=config, env=self.env, command="hub")
        made.hidden = (self.data, self.config, self.work, self.home)
        return made

    @property
    def front(self) -> "LiveServer":
        """The process that people connect to."""
        return self.hub or self

    async def start(self, *flags: str) -> None:
        """Start it and wait for the line with the link."""
        if self.hub is None:
            await self._start(*flags)
            self.own_url = self.url
            return
        try:
            await self._start_split(self.hub, *flags)
        except BaseException:
            # Nobody stops what never was there whole: its hub would outlive the run, which waits for it.
            await self.hub.abandon()
            await self.abandon()
            raise

    async def _start_split(self, hub: "LiveServer", *flags: str) -> None:
        if not self.data.exists():
            prepare(self.data)
        if hub.process is None or hub.process.returncode is not None:
            await hub.start(*flags)
        if not (self.data / "hub.json").exists():
            device = Device.of(self.data, "machine")
            made = await hub.post("/api/grants", name="machine", role="daemon", device=device.id)
            assert made.status_code == 200, made.text
            write_hub_note(self.data, HubNote(hub.url, made.json()["token"]))
        if self.process is None or self.process.returncode is not None:
            await self._start(port="0")
            # Viewers that come back while it starts find the hub, never the machine's own address.
            self.own_url, self.url, self.token = self.url, hub.url, hub.token
        async with asyncio.timeout(PATIENCE):
            while not (await self.http.get("/api/daemon/status")).json()["connected"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def _start(self, *flags: str, port: str = "") -> None:
        last = self.url.rsplit(":", 1)[-1].rstrip("/") if self.url else self.first_port
        port = port or last or self._kept_port()
        where = ["--port", port] if self.port_flag else []
        with open(self.folder / "stderr.txt", "ab") as stderr:  # noqa: ASYNC230 - handed to the child
            self.process = await self._spawn([*where, *flags], stderr.fileno())
        assert self.process.stdout is not None
        line = (await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)).decode().strip()
        if "#token=" not in line:
            raise AssertionError(f"no link but {line!r}\n{self.stderr()}")
        self.output.append(line)
        if self._client is not None:
            await self._client.aclose()
        self._client = None
        self.url, secret = line.split("/#token=")
        self.token = self.token or secret

    def _kept_port(self) -> str:
        """One that the system gives to nobody else while this server is down between two starts."""
        kept = kept_port()
        weakref.finalize(self, kept.close)
        return str(number(kept))

    async def _spawn(self, flags: list[str], stderr: int) -> asyncio.subprocess.Process | WarmProcess:
        environment = self._environment()
        if not self.under and can_be_warm(environment):
            hidden = [] if reason_not_to_hide() else [str(one) for one in self.hidden if one.exists()]
            return await source().start(self._words(*flags), environment, stderr, hidden)
        return await asyncio.create_subprocess_exec(
            *(*self.under, *self._command(*flags)),
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )

    async def refused(self, *flags: str) -> tuple[int, str]:
        """Start it where it can't: the code it ended with and all it said."""
        process = await asyncio.create_subprocess_exec(
            *self._command(*flags),
            env=self._environment(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        return process.returncode or 0, said.decode()

    def _command(self, *flags: str) -> list[str]:
        return [sys.executable, "-m", "bascule", *self._words(*flags)]

    def _words(self, *flags: str) -> list[str]:
        return [self.command, "--data", str(self.data), "--no-open", *flags]

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "BASCULE_CONFIG_DIR": str(self.config),
            # Many servers of tests run side by side: the bridge's well-known port is for none of them.
            "BASCULE_LAUNCH_ENABLED": "false",
            # Where it is meant, a test has a program of its own for it.
            "BASCULE_KEEP_AWAKE": "false",
            **(ITS_OWNERS_HUB if self.hub is not None else {}),
            **self.env,
        }

    @property
    def http(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(
                base_url=self.url,
                headers={"authorization": f"Bearer {self.token}"},
                trust_env=False,
                timeout=PATIENCE,
                verify=False,  # plain HTTP: to read the list of authorities takes 40 ms
            )
        return self._client

    def stderr(self) -> str:
        return (self.folder / "stderr.txt").read_text(errors="replace")

    async def kill(self) -> None:
        """`kill -9`, and nothing said."""
        if self.hub is not None:
            await self.hub.kill()
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def abandon(self) -> None:
        """Kill what runs of this process, and close what was opened to it."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """The code it ended with."""
        if self.hub is not None and self.hub.process is not None:
            await self.hub.stop(sign)
        if self._client is not None:
            await self._client.aclose()
            self._client = None
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(sign)
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    def keeper_pid(self) -> int | None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = (self.data / "keeper" / "keeper.lock").read_text()
            return int(json.loads(text)["pid"] if text.startswith("{") else text.split()[0])
        return None

    async def end_keeper(self) -> None:
        """Stop the keeper, which ends its agents, and wait until all of it is gone."""
        pid = self.keeper_pid()
        if pid is not None:
            await self._end(pid)
        # A tracer or a program left behind may still hold the server's output, and with it our loop's pipe.
        if self.process is not None and self.process.returncode is not None and self.process.stdout:
            await asyncio.wait_for(self.process.stdout.read(), PATIENCE)

    async def _end(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
            watch = os.pidfd_open(pid)
            loop = asyncio.get_running_loop()
            gone = loop.create_future()
            loop.add_reader(watch, lambda: gone.done() or gone.set_result(None))
            try:
                await asyncio.wait_for(gone, PATIENCE)
            finally:
                loop.remove_reader(watch)
                os.close(watch)

    # What it costs

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def memory(self) -> int:
        """Bytes of memory it has now, with its hub's; the peak is counted from here."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        return self._status("VmRSS") + (self.hub.memory() if self.hub is not None else 0)

    def peak(self) -> int:
        """The most bytes it had since `memory` was asked."""
        return self._status("VmHWM") + (self.hub.peak() if self.hub is not None else 0)

    def _status(self, name: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

    # Agents of its own

    def add_agent(
        self, name: str, script: str | Path, *words: str, passed: tuple[str, ...] = (), argv0: str = ""
    ) -> None:
        """A script of `tests/fakes` as a person's own agent. To be called before the start."""
        args = [] if argv0 else ["-E", "-S", str(FAKES / script)]
        text = (
            f"name = {json.dumps(name)}\ntitle = {json.dumps(name)}\n"
            f"search = {json.dumps([argv0 or sys.executable])}\n"
            f"[environment]\npass = {json.dumps(passed)}\n"
            f'[[drivers]]\nname = "stream_json"\nargs = {json.dumps([*args, *words])}\n'
            'model = ["--model={value}"]\nresume = ["--resume={value}"]\n'
        )
        self.add_agent_file(name, text)

    def add_agent_file(self, name: str, text: str) -> None:
        """A person's own agent, as its file describes it."""
        folder = self.config / "agents"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{name}.toml"
        path.write_text(text)
        path.chmod(0o600)

    # Talking to it

    async def create(self, prompt: str | None = None, **body: Any) -> str:
        """Start a session with the demo agent, unless told otherwise, and give its id."""
        answer = await self.http.post(
            "/api/sessions", json={"agent": "demo", "cwd": str(self.work), "prompt": prompt, **body}
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["id"]

    async def clear(self) -> None:
        """End and archive every session, for the next test that shares this server."""
        assert self.process is not None
        if self.process.returncode is not None:
            await self.start()
        for one in await self.sessions():
            await self.http.delete(f"/api/sessions/{one['id']}")
            answer = await self.post(f"/api/sessions/{one['id']}/archive", archived=True)
            assert answer.status_code == 200, answer.text

    async def post(self, path: str, **body: Any) -> httpx.Response:
        return await self.http.post(path, json=body)

    async def sessions(self) -> list[dict[str, Any]]:
        """Every session of the list, page by page."""
        listed: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = await self.http.get("/api/sessions", params={"cursor": cursor} if cursor else None)
            listed += page.json()["sessions"]
            if (cursor := page.json()["next"]) is None:
                return listed

    async def audit(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The machine's audit log, and whether it holds. In split mode the hub's copy, when complete."""
        named = await self._copied_audit() if self.hub is not None else {}
        records: list[dict[str, Any]] = []
        while True:
            page = await self.http.get("/api/audit", params={**named, "after": len(records)})
            assert page.status_code == 200, page.text
            if not page.json()["records"]:
                return records, (await self.http.get("/api/audit/verify", params=named)).json()
            records += page.json()["records"]

    async def _copied_audit(self) -> dict[str, str]:
        named = {"device": (self.data / "device").read_text().strip()}
        written = verify_file(self.data / DATABASE)
        assert written is not None
        async with asyncio.timeout(PATIENCE):
            while (await self.http.get("/api/audit/verify", params=named)).json()["count"] < written.count:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return named

    async def fetch_found(self, session: str) -> None:
        """Open a session that was begun outside Bascule: a hub has its log once somebody has done so."""
        if self.hub is not None:
            device = (self.data / "device").read_text().strip()
            answer = await self.post(f"/api/found-sessions/{session}/fetch", device=device)
            assert answer.status_code == 200, answer.text

    async def send(self, session: str, text: str) -> None:
        answer = await self.post(f"/api/sessions/{session}/send", text=text)
        assert answer.status_code == 200, answer.text

    async def log(self, session: str, after: int = 0) -> list[Logged]:
        """All rows there are now."""
        rows: list[Logged] = []
        while True:
            answer = await self.http.get(
                f"/api/sessions/{session}/events", params={"after": after, "limit": 1000}
            )
            assert answer.status_code == 200, answer.text
            page = [decode_logged(one) for one in msgspec.json.decode(answer.content, type=_Page).events]
            if not page:
                return rows
            rows += page
            after = rows[-1].seq

    async def follow(self, session: str, after: int = 0) -> AsyncIterator[Logged]:
        """Rows as a browser gets them, until the connection breaks."""
        async with contextlib.aclosing(self.follow_bytes(session, after)) as rows:
            async for row in rows:
                yield decode_logged(row)

    async def follow_bytes(self, session: str, after: int = 0) -> AsyncGenerator[bytes]:
        """The same, each row as its bytes are."""
        url = self.url.replace("http", "ws", 1) + "/ws"
        headers = {"authorization": f"Bearer {self.token}"}
        # No clock but the caller's: a server that is stopped or has much to do for a minute is followed on.
        async with connect(
            url,
            additional_headers=headers,
            max_size=None,
            proxy=None,
            open_timeout=PATIENCE,
            ping_interval=None,
        ) as socket:
            await socket.send(
                json.dumps({"id": 1, "type": "session:subscribe", "sessionId": session, "after": after})
            )
            async for message in socket:
                frame = msgspec.json.decode(message, type=_Frame)
                if frame.type == "session:events" and frame.session_id == session:
                    for one in frame.entries:
                        yield bytes(one)
                elif (
                    frame.error is not msgspec.UNSET and not frame.session_id
                ):  # news of a session is no answer
                    raise AssertionError(message)

    async def wait_for(
        self,
        session: str,
        wanted: type[AnyEvent] | Callable[[AnyEvent], bool],
        after: int = 0,
        *,
        seconds: float = PATIENCE,
    ) -> Logged:
        """The first row that is (of) what is wanted. Who is dropped as too slow goes on there."""
        fits = (lambda event: isinstance(event, wanted)) if isinstance(wanted, type) else wanted
        async with asyncio.timeout(seconds):
            while True:
                try:
                    async with contextlib.aclosing(self.follow(session, after)) as rows:
                        async for row in rows:
                            after = row.seq
                            if fits(row.event):
                                return row
                except ConnectionClosedError as closed:
                    if closed.rcvd is None or closed.rcvd.code != FELL_BEHIND:
                        raise
                else:
                    raise AssertionError(f"the stream of {session} ended before {wanted} came")

    def note_key(self) -> str:
        note = read_note(self.data)
        assert note is not None
        return note.key
