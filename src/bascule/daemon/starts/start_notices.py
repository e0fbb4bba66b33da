"""Tells people of starts from elsewhere: by a notification on this machine, a webhook, a command."""

import asyncio
import logging
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import msgspec

from bascule.model.settings import StartsSettings
from bascule.model.starts import StartDecision, WaitingStart
from bascule.policy.visible import visible

log = logging.getLogger(__name__)

SHOWN_SECONDS = 30.0
SEND_SECONDS = 10.0
PASSED_ON = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
)


class Desktop(Protocol):
    """Shows one notification. Returns when it is gone; a machine without a desktop shows nothing."""

    async def __call__(
        self, title: str, body: str, actions: Mapping[str, Callable[[], Awaitable[None]]], seconds: float
    ) -> None: ...


class Outside(Protocol):
    """Sends a message beyond this machine by every way that is set, and returns those that failed. Raises
    `OSError` when all did."""

    async def __call__(
        self, settings: StartsSettings, start: WaitingStart, link: str, text: str
    ) -> tuple[str, ...]: ...


async def no_desktop(
    title: str, body: str, actions: Mapping[str, Callable[[], Awaitable[None]]], seconds: float
) -> None:
    """Where there is none, the command line and the page have to do."""


def body_of(start: WaitingStart) -> str:
    """Folder, first words, who from which browser and address: one line each, nothing hidden in them."""
    via = f", by {start.via}" if start.via else ""
    lines = [
        f"{start.what} in {start.folder}" if start.folder else start.what,
        f"“{start.words}”" if start.words else "",
        f"{start.by}, {start.browser} ({start.address or 'no address'}{via})",
        f"Unusual: {'; '.join(start.reasons)}" if start.reasons else "",
    ]
    return "\n".join(visible(" ".join(line.split())) for line in lines if line)


def message_of(device: str, start: WaitingStart, link: str, minutes: int) -> str:
    """The text of a message beyond this machine."""
    return (
        f"Somebody asks to start a session on {device}.\n\n{body_of(start)}\n\n"
        f"Approve, deny or block: {link}\nThe link opens a page; nothing happens until a button is pressed "
        f"there. It works once, for {minutes} minutes.\n"
    )


class StartNotices:
    """`decide` and `end` are what the buttons do; `open_page` shows a session in the browser."""

    def __init__(
        self,
        settings: StartsSettings,
        device: str,
        desktop: Desktop,
        link: Callable[[str], str],
        open_page: Callable[[str], Awaitable[None]],
        outside: Outside | None = None,
    ) -> None:
        self._settings, self._device = settings, device
        self._desktop, self._link, self._open_page = desktop, link, open_page
        self._outside = outside or send_outside
        self._tasks: set[asyncio.Task[None]] = set()

    def started(self, start: WaitingStart, end: Callable[[], Awaitable[None]]) -> None:
        """It runs: awareness, and a way to stop it."""
        actions = {"View": lambda: self._open_page(start.session_id), "End": end}
        self._show(f"Session started on {self._device}", body_of(start), actions, SHOWN_SECONDS)

    def asked(self, start: WaitingStart, decide: Callable[[StartDecision], Awaitable[None]]) -> None:
        hours = max(1, self._settings.block_seconds // 3600)
        actions = {
            "Approve": lambda: decide("approve"),
            "Deny": lambda: decide("deny"),
            f"Block all for {hours} h": lambda: decide("block"),
        }
        title = f"Allow a session on {self._device}?"
        self._show(title, body_of(start), actions, float(self._settings.wait_seconds))

    def send(self, start: WaitingStart, token: str, failed: Callable[[str], None]) -> None:
        """By webhook and command. `failed` gets the reason when one or both could not be sent."""
        link = self._link(token)
        text = message_of(self._device, start, link, max(1, self._settings.wait_seconds // 60))
        self._spawn(self._send(start, link, text, failed), "start message")

    async def _send(self, start: WaitingStart, link: str, text: str, failed: Callable[[str], None]) -> None:
        try:
            broken = await self._outside(self._settings, start, link, text)
        except OSError as error:
            log.warning("the message about a start that waits was not sent: %s", error)
            failed("The message to its owner could not be sent; it can be approved on the machine itself.")
            return
        if broken:
            names = " and ".join(broken)
            failed(f"The message to its owner was sent, but not by the {names}; its log says why.")

    def _show(
        self, title: str, body: str, actions: Mapping[str, Callable[[], Awaitable[None]]], seconds: float
    ) -> None:
        self._spawn(self._shown(title, body, actions, seconds), "start notification")

    async def _shown(
        self, title: str, body: str, actions: Mapping[str, Callable[[], Awaitable[None]]], seconds: float
    ) -> None:
        try:
            await self._desktop(title, body, actions, seconds)
        except Exception as error:  # noqa: BLE001 - a notification service may fail in any way; none is needed
            log.info("no desktop notification: %s", error)

    def _spawn(self, work: Awaitable[None], name: str) -> None:
        task = asyncio.ensure_future(work)
        task.set_name(name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def send_outside(
    settings: StartsSettings, start: WaitingStart, link: str, text: str
) -> tuple[str, ...]:
    """To the webhook and to the command, whichever is set, at once: one that fails delays no other."""
    ways: dict[str, Awaitable[None]] = {}
    if settings.webhook:
        ways["webhook"] = _post(settings.webhook, start, link, text)
    if settings.command:
        ways["command"] = _run(settings.command, text)
    ended = await asyncio.gather(*ways.values(), return_exceptions=True)
    failures: dict[str, OSError] = {}
    for name, error in zip(ways, ended, strict=True):
        if isinstance(error, OSError):  # a timeout is one
            failures[name] = error
        elif error is not None:
            raise error
    if failures and len(failures) == len(ways):
        raise OSError("; ".join(f"{name}: {_why(error)}" for name, error in failures.items()))
    for name, error in failures.items():
        log.warning("the %s that tells of starts failed: %s", name, _why(error))
    return tuple(failures)


def _why(error: OSError) -> str:
    return str(error) or "it took too long"


async def _post(webhook: str, start: WaitingStart, link: str, text: str) -> None:
    from bascule.daemon.starts.start_webhook import post  # noqa: PLC0415 - few have one

    body = msgspec.json.encode({"text": text, "link": link, "start": start})
    await asyncio.to_thread(post, webhook, body, SEND_SECONDS)


async def _run(command: tuple[str, ...], text: str) -> None:
    """No shell, and of our environment only what a program needs: it reads the text from its stdin."""
    # A file without a name: a program that does not read it is no trouble, as it would be with a pipe.
    with tempfile.TemporaryFile() as stdin:
        stdin.write(text.encode())
        stdin.seek(0)
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=stdin,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
        )
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise OSError(f"{os.path.basename(command[0])} ended with status {process.returncode}")


def silent_notices(settings: StartsSettings, device: str) -> StartNotices:
    """Without a desktop and a page: messages beyond this machine are still sent."""

    async def nothing(_: str) -> None:
        return None

    return StartNotices(settings, device, no_desktop, lambda token: f"#approve={token}", nothing)
