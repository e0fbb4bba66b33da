"""A notification on this machine's desktop. Where there is no desktop, or no package for it, nothing happens.

Needs `desktop-notifier` (the extra `bascule[desktop]`), which is imported when it is first used.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from typing import Any

log = logging.getLogger(__name__)

MISSING = "Desktop notifications need the package desktop-notifier: pip install 'bascule[desktop]'."
SERVICE_SECONDS = 5.0  # that the desktop has to take one

_notifier: Any = None
_turn = asyncio.Lock()  # two first notifications at once would each connect, and one connection would be lost
_running: set[asyncio.Task[None]] = set()


def is_available() -> bool:
    return find_spec("desktop_notifier") is not None


async def show(
    title: str, body: str, actions: Mapping[str, Callable[[], Awaitable[None]]], seconds: float
) -> None:
    """Show it with a button for each action, for so many seconds. Returns once the desktop has taken it.

    A missing package or service is no error: it is logged, and nothing is shown.
    """
    if not is_available():
        log.info("no desktop notification: %s", MISSING)
        return
    try:
        async with asyncio.timeout(SERVICE_SECONDS), _turn:
            await _show(title, body, actions, seconds)
    except Exception as error:  # noqa: BLE001 - what a desktop's service may raise is not ours to know
        forget()  # the desktop may be another one by the next time
        log.info("no desktop notification: %s", error or type(error).__name__)


def forget() -> None:
    """Disconnect; the next notification connects again."""
    global _notifier
    # The package has no way to end its connection, which would report the end of the desktop as an error.
    bus = getattr(getattr(_notifier, "_backend", None), "bus", None)
    if bus is not None:
        bus.disconnect()
    _notifier = None


async def _show(
    title: str, body: str, actions: Mapping[str, Callable[[], Awaitable[None]]], seconds: float
) -> None:
    import desktop_notifier  # noqa: PLC0415 - an extra, and slow to load

    global _notifier
    kit: Any = desktop_notifier
    if _notifier is None:
        _notifier = kit.DesktopNotifier(app_name="Bascule")
    buttons = [kit.Button(title=name, on_pressed=_pressed(name, act)) for name, act in actions.items()]
    from html import escape  # noqa: PLC0415 - its tables are half a megabyte

    # On Linux the body may hold markup; links and images that somebody wrote into a prompt stay text.
    words = escape(body, quote=False) if sys.platform == "linux" else body
    await _notifier.send(title=title, message=words, buttons=buttons, timeout=round(seconds))
    if getattr(_notifier._backend, "interface", kit) is None:  # a missing service is only logged over there
        raise ConnectionError("no service on this desktop takes them")


def _pressed(name: str, act: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """The desktop calls back outside any task of ours."""
    loop = asyncio.get_running_loop()

    async def run() -> None:
        try:
            await act()
        except Exception:
            log.exception("the button %s of a desktop notification failed", name)

    def start() -> None:
        task = loop.create_task(run(), name=f"desktop button {name}")
        _running.add(task)
        task.add_done_callback(_running.discard)

    return lambda: loop.call_soon_threadsafe(start) and None
